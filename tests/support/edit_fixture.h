// Documents and operations for tests of core/edit, written as JSON. A failure here is a bug in the
// test, so these functions end the program.
#pragma once

#include "core/edit/apply.h"
#include "core/edit/text.h"

extern const char EDIT_PLACE[]; // place.json
extern const char EDIT_SCENE_TEXT[];

EditDoc *edit_fixture_doc(Heap *heap, const char *scene);
EditText *edit_fixture_open(Heap *heap, const char *scene, EditDoc **doc);

// Appends operations to a transaction that edit_fixture_ops began.
EditBuffer edit_fixture_ops(Heap *heap);
void edit_fixture_create(EditBuffer *ops, EditWhere where, const char *json);
void edit_fixture_fill(EditBuffer *ops, uint32_t id, const char *json);
void edit_fixture_set(EditBuffer *ops, EditKind kind, uint32_t id, const char *member,
                      const char *json);
void edit_fixture_delete(EditBuffer *ops, EditKind kind, uint32_t id);
void edit_fixture_move(EditBuffer *ops, uint32_t id, uint32_t parent, uint32_t after);

// Applies, and frees the operations and the inverse. The status, with the error's message for whom
// it interests.
Status edit_fixture_apply(EditDoc *doc, EditBuffer *ops, EditError *error);
// A member's value as JSON.
const char *edit_fixture_value(EditDoc *doc, EditKind kind, uint32_t id, const char *member);

// Some random operations, from a seed: anything an editor does, on things that are there, sometimes
// on things that are not. Ids are below `ids`, so that two editors take the same ones.
void edit_fixture_random(EditDoc *doc, Rng *rng, uint32_t ids, EditBuffer *ops);
