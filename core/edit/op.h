// Operations as bytes. A transaction is what one person does at once: a head and some operations,
// which apply together or not at all, and are one step of undo.
//
//   head      u8 format 1, varint mark of the tables (edit_member_mark)
//   then operations until the bytes end, each a u8 type and:
//   create 1  where, block record           an entity; the record has its id and its parent
//   delete 2  u8 kind, targets              with everything below them
//   set    3  u8 kind, varint member, u8 shared; shared: block value, targets; else varint count
//             and each a varint id and a block value. Of settings and scene the one id is 0
//   move   4  u8 flags (1 parent, 2 where), [varint parent], [where], targets    of entities
//   fill   5  varint id, where, block record                    a box or a chunk of terrain
//   paste  6  32 bytes hash of a clip, varint seed, varint parent, 3 f32 offset
//   file   7  block path, 32 bytes hash, 32 bytes known hash    all zero: there is no file
//   rename 8  block from, block to, 32 bytes known hash
//
//   where     u8: 0 at the end, 1 at the begin, 2 after: varint id
//   targets   varint count, each a varint id
//   block     varint length, bytes
//
// Any bytes may be read: what does not follow this is refused with a status and a reason.
#pragma once

#include "core/edit/doc_inside.h"

typedef enum EditOpType {
    EDIT_CREATE = 1,
    EDIT_DELETE,
    EDIT_SET,
    EDIT_MOVE,
    EDIT_FILL,
    EDIT_PASTE,
    EDIT_FILE,
    EDIT_RENAME
} EditOpType;

// An operation that was read; everything points into its bytes.
typedef struct EditOp {
    EditOpType type;
    EditKind kind;
    uint32_t id; // fill
    bool has_where, has_parent;
    EditWhere where;
    uint32_t parent;
    const uint8_t *record; // create, fill
    size_t record_bytes;
    uint32_t member; // set
    bool is_shared;
    const uint8_t *value; // set, if it is shared
    size_t value_bytes;
    uint32_t target_count;
    ByteReader targets; // a copy of it is read with edit_op_target
    const uint8_t *hash, *known_hash;
    uint32_t seed;
    Vec3 offset;
    Text path, path_to;
} EditOp;

// What is wrong with a transaction, for people.
typedef struct EditError {
    Status status;
    uint32_t op; // from 0
    uint32_t id; // of the object; 0: none
    char message[128];
} EditError;
Status edit_error(EditError *error, Status status, uint32_t id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Reads the head; the reader is then at the first operation.
MUST_USE Status edit_ops_open(ByteReader *reader, EditError *error);
// The next operation; false at the end or on failure, which the reader's status tells apart.
bool edit_op_read(ByteReader *reader, EditOp *out, EditError *error);
// The next target of a copy of `targets`; of `set` also its value.
uint32_t edit_op_target(const EditOp *op, ByteReader *targets, const uint8_t **value,
                        size_t *value_bytes);

void edit_ops_begin(EditBuffer *out);
void edit_op_create(EditBuffer *out, EditWhere where, const uint8_t *record, size_t bytes);
void edit_op_delete(EditBuffer *out, EditKind kind, const uint32_t *ids, uint32_t count);
// Each target has its own value: after this come `count` edit_op_set_target.
void edit_op_set(EditBuffer *out, EditKind kind, uint32_t member, uint32_t count);
void edit_op_set_target(EditBuffer *out, uint32_t id, const uint8_t *value, size_t bytes);
// The same value for all.
void edit_op_set_all(EditBuffer *out, EditKind kind, uint32_t member, const uint32_t *ids,
                     uint32_t count, const uint8_t *value, size_t bytes);
// NULL: it stays.
void edit_op_move(EditBuffer *out, const uint32_t *parent, const EditWhere *where,
                  const uint32_t *ids, uint32_t count);
void edit_op_fill(EditBuffer *out, uint32_t id, EditWhere where, const uint8_t *record,
                  size_t bytes);
void edit_op_paste(EditBuffer *out, const uint8_t hash[SHA256_BYTES], uint32_t seed,
                   uint32_t parent, Vec3 offset);
// NULL: none.
void edit_op_file(EditBuffer *out, Text path, const uint8_t *hash, const uint8_t *known_hash);
void edit_op_rename(EditBuffer *out, Text from, Text to, const uint8_t known_hash[SHA256_BYTES]);
