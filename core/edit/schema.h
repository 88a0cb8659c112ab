// What there is to edit, as JSON, for a page that makes its fields from it (GET /api/schema):
//
//   {"mark":N, "kinds":{"settings":[member…],"scene":[…],"terrain":[…],"entity":[…]}}
//
// A member: {"number","name","type","unit","help","default","required","server","can_set"}, and
// where it has them "low", "high", "choices", and of a list of objects their "members". The types
// are those of PlaceFieldType in small letters; the texts come from core/wire/place_help.c. Members
// of an object are taken apart as in member.h: "transform.position".
#pragma once

#include "core/edit/member.h"

MUST_USE Status edit_schema_write(Heap *heap, EditBuffer *out);
