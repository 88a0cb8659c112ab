// What an edit session and a page say to each other, as bytes. An edit session is not a session of
// a world: it is the one who orders the changes to a place.
//
//   up    ops 1      varint n, varint seq, block label, block transaction
//         undo 2     varint n, varint seq, varint seq of the transaction
//   down  told 1     varint seq, varint editor, varint n, varint undone, block label, block
//   transaction
//         refused 2  varint n, u8 status, block message
//         welcome 3  varint seq, varint n: the last of this editor that was decided
//         hash 4     varint seq, u64 hash of the document
//         reload 5   the page knows too old a document
//
// n counts what an editor sends, from 1. The seq in what goes up is the last that the page had
// seen. Everybody gets `told`, the author too, in the same order.
#pragma once

#include "core/base/text.h"
#include "core/edit/buffer.h"

typedef enum EditUpType { EDIT_UP_OPS = 1, EDIT_UP_UNDO } EditUpType;
typedef struct EditUp {
    EditUpType type;
    uint64_t n, seq;
    uint64_t undo; // seq of what is taken back
    Text label;
    const uint8_t *ops;
    size_t ops_bytes;
} EditUp;

typedef enum EditDownType {
    EDIT_DOWN_TOLD = 1,
    EDIT_DOWN_REFUSED,
    EDIT_DOWN_WELCOME,
    EDIT_DOWN_HASH,
    EDIT_DOWN_RELOAD
} EditDownType;
typedef struct EditDown {
    EditDownType type;
    uint64_t seq, n;
    uint32_t editor;
    uint64_t undone; // seq of what this takes back; 0: none
    Status status;
    Text text; // label or message
    const uint8_t *ops;
    size_t ops_bytes;
    uint64_t hash;
} EditDown;

void edit_up_write(const EditUp *up, EditBuffer *out);
void edit_down_write(const EditDown *down, EditBuffer *out);
// Any bytes; everything points into them.
MUST_USE Status edit_up_read(const uint8_t *bytes, size_t count, EditUp *out);
MUST_USE Status edit_down_read(const uint8_t *bytes, size_t count, EditDown *out);
// Of a `told` of which only the beginning is there (EDIT_TOLD_BEGIN_BYTES are always enough): the
// seq of what it takes back. 0: of nothing, or it is no `told`.
#define EDIT_TOLD_BEGIN_BYTES 41
uint64_t edit_told_undone(const uint8_t *bytes, size_t count);
