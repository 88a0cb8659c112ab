// What the files that read and write texts share.
#pragma once

#include "core/edit/doc_inside.h"
#include "core/edit/text.h"

typedef struct EditSpan {
    uint32_t id;
    uint32_t version; // of the object when it was read or written; 0: look at it again
    uint32_t from, to;
} EditSpan;

typedef struct EditSpans {
    EditSpan *items;
    uint32_t count;
} EditSpans;

struct EditText {
    Heap *heap;
    EditBuffer settings, scene;
    EditSpans spans[2]; // of terrain and of entities, in the order of the text
    bool is_blocked;
};

// Reads both texts into a new document. `terrain` are the ids of terrain, or NULL: 1, 2, 3, ….
MUST_USE Status edit_text_read(Heap *heap, EditBlobs blobs, EditTexts texts,
                               const uint32_t *terrain, EditDoc **out, PlaceError *error);
// Where the objects of a scene.json that was read are in it.
MUST_USE Status edit_text_spans(Heap *heap, const EditDoc *doc, Text scene, EditKind kind,
                                EditSpans *out);
