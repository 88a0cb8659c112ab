// What differs between an anchored part of the scene and how a world has it now, as rows of bytes.
// The rows of one cell are sent together (PATCH_DATA). A row has only the groups that changed, and
// what it has is absolute: it holds whatever the reader had before, so a row may be read twice, and
// over any form of the scene.
//
//   varint  net id minus the net id of the row before; the first from 0. Never 0: ids ascend
//   u8      PatchGroup bits
//   f32 x3  position                                                        if PATCH_POSITION
//   f32 x4  rotation x, y, z, w                                             if PATCH_ROTATION
//   u8 part flags · f32 bounce speed, damage · f32 x3 conveyor speed        if PATCH_PART_DATA
//   u8      1: the part is not there, 0: it is                              if PATCH_GONE
//   bits    of paint.h against paint_default, filled up to a byte           if PATCH_PAINT
//   varint  bytes · name, attributes and tags (net_attributes.c)            if PATCH_ATTRIBUTES
#pragma once

#include "core/base/bytes.h"
#include "core/sim/scene.h"
#include "core/wire/net_attributes.h"
#include "core/wire/paint.h"

typedef enum PatchGroup {
    PATCH_POSITION = 1 << 0,
    PATCH_ROTATION = 1 << 1,
    PATCH_PART_DATA = 1 << 2,
    PATCH_GONE = 1 << 3,
    PATCH_PAINT = 1 << 4,
    PATCH_ATTRIBUTES = 1 << 5,
    PATCH_GROUPS_ALL = (1 << 6) - 1
} PatchGroup;
#define PATCH_GROUP_COUNT 6

// The groups that prediction needs.
#define PATCH_GROUPS_SOLID (PATCH_POSITION | PATCH_ROTATION | PATCH_PART_DATA | PATCH_GONE)

typedef struct PatchRow {
    uint64_t net_id;
    uint32_t groups; // PatchGroup; members of other groups are zero
    Pose pose;
    PartData data;
    bool gone;
    Paint paint;
    const uint8_t *attributes; // all that clients may know of it; read ones are in the reader
    uint32_t attributes_bytes; // at most NET_ATTRIBUTES_BYTES_MAX
} PatchRow;

// Without attributes, and with them.
#define PATCH_ROW_PLAIN_BYTES (10 + 1 + 12 + 16 + 21 + 1 + (PAINT_BITS_MAX + 7) / 8)
#define PATCH_ROW_BYTES_MAX   (PATCH_ROW_PLAIN_BYTES + 2 + NET_ATTRIBUTES_BYTES_MAX)

// The nearest position that readers accept: a part may come to rest outside the extent of the
// world.
Vec3 patch_inside_world(Vec3 p);

// `before` is the net id of the row before, 0 for the first. STATUS_LIMIT in the writer if it does
// not fit: the caller takes the writer back to where the row began.
void patch_row_write(ByteWriter *writer, uint64_t before, const PatchRow *row);
// Any bytes give a row that a sim takes, or a status in the reader and false.
bool patch_row_read(ByteReader *reader, uint64_t before, PatchRow *out);

// --- a scene with its patches
// --------------------------------------------------------------------- A stripped scene as a
// running world had it: for those who come in later.
//
//   u32  PATCH_SCENE_MAGIC · u32 bytes of the stripped scene · those bytes
//   u64  tick: everything that changed up to this one is in the rows
//   rows, to the end
#define PATCH_SCENE_MAGIC 0x31435053u // "SPC1"
#define PATCH_SCENE_HEAD  8u          // bytes before the stripped scene
#define PATCH_SCENE_MORE  16u         // bytes besides the stripped scene and the rows

typedef struct PatchScene {
    const uint8_t *stripped;
    size_t stripped_bytes;
    uint64_t tick;
    const uint8_t *rows;
    size_t row_bytes;
} PatchScene;

// False: it is no such scene; then it is taken as a stripped one without patches. The rows are not
// read yet.
bool patch_scene_open(const uint8_t *bytes, size_t count, PatchScene *out);
