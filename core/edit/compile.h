// A document as the compiled scene that a world is made from (wire/place.h), without a text between
// them: the bytes are those of place_compile with the document's files.
#pragma once

#include "core/edit/doc.h"

// `files` has prefabs, chunks and the paths of assets; others are skipped. The error names the
// entity, or the file.
MUST_USE Status edit_compile(const EditDoc *doc, const PlaceFile *files, uint32_t file_count,
                             EditBuffer *out, PlaceError *error);

// Settings and scene of a document as a PlaceDoc, neither finished nor checked: texts point into
// the document, lists into scratch. *terrain: the ids of the terrain, in order.
MUST_USE Status edit_place_doc(const EditDoc *doc, PlaceScratch *scratch, PlaceDoc *place,
                               uint32_t **terrain);
