// Operations as a page writes them, as JSON, turned into a transaction (op.h). A list of:
//
//   {"op":"create","entity":{…as in scene.json…},"after":ID}     after: 0 is the begin; left out:
//   the end
//   {"op":"delete","ids":[…]}                                    "kind": "entity" (left out) or
//   "terrain"
//   {"op":"set","member":"transform.position","ids":[…],"value":…}      the same value for all
//   {"op":"set","member":"transform.position","values":[[ID,…],…]}      each its own
//                                     null: as it is by default. "kind": "entity", "terrain",
//                                     "settings"
//   {"op":"move","ids":[…],"parent":ID,"after":ID}               what is left out stays
//   {"op":"fill","id":ID,"box":{"min","max","kind"},"after":ID}  a box of terrain
//   {"op":"file","path":"…","hash":"…64 hex…" or null,"known":… or null}
//   {"op":"rename","from":"…","to":"…","known":"…"}
//
// The same tables read the values as read the files of a place.
#pragma once

#include "core/edit/op.h"

// Appends a whole transaction to `out`. On failure the error says where and why, and what was
// appended is worth nothing.
MUST_USE Status edit_ops_from_json(Heap *heap, const char *text, size_t bytes, EditBuffer *out,
                                   JsonError *error);
