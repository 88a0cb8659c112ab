// What takes a transaction back: for each change that was made, the operation that undoes it and
// what it found afterwards (the guards). Taken back at once, from the last to the first, a document
// is exactly as it was. Taken back later (undo.h), a guard tells whether somebody else has changed
// that member since.
#pragma once

#include "core/edit/op.h"

typedef struct EditChunk {
    uint32_t at, bytes; // the operation
    uint32_t guard_at;  // u64 each, one for each target
    uint32_t guard_count;
} EditChunk;

typedef struct EditInverse {
    EditBuffer ops;    // without a head
    EditBuffer guards; // u64 in the machine's order: never sent, never stored
    EditBuffer chunks; // EditChunk each
} EditInverse;

EditInverse edit_inverse(Heap *heap);
void edit_inverse_free(EditInverse *inverse);
size_t edit_inverse_bytes(const EditInverse *inverse); // of memory
Status edit_inverse_status(const EditInverse *inverse);
uint32_t edit_inverse_count(const EditInverse *inverse);
EditChunk edit_inverse_chunk(const EditInverse *inverse, uint32_t index);
uint64_t edit_inverse_guard(const EditInverse *inverse, const EditChunk *chunk, uint32_t index);

// An operation is appended to `ops` between the two.
void edit_inverse_begin(EditInverse *inverse);
void edit_inverse_guard_add(EditInverse *inverse, uint64_t guard);
void edit_inverse_end(EditInverse *inverse);
// Forgets all chunks from that one on.
void edit_inverse_cut(EditInverse *inverse, uint32_t count);
