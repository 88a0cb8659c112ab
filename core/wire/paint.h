// How one thing looks, as plain numbers: the rows of look.def as a struct, as bits and as JSON. A
// Paint is a value: copied, compared member by member, never a pointer. Its numbers are rounded
// when they are set, so a client's Paint is the server's, bit for bit.
#pragma once

#include "core/base/bits.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/base/text.h"

#define PAINT_ASSETS_MAX     PLACE_FILES_MAX
#define PAINT_SHARE_HUNDREDS 100 // of a whole: LOOK_SHARE

typedef enum PaintMaterial {
#define LOOK_MATERIAL(name) PAINT_MATERIAL_##name,
#include "core/wire/look.def"
    PAINT_MATERIAL_COUNT
} PaintMaterial;

typedef struct Paint {
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) type member;
#include "core/wire/look.def"
} Paint;

typedef enum PaintMember {
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) PAINT_##NAME,
#include "core/wire/look.def"
    PAINT_MEMBER_COUNT
} PaintMember;
#define PAINT_MEMBERS_ALL ((1u << PAINT_MEMBER_COUNT) - 1)

typedef enum PaintKind {
    PAINT_KIND_COLOUR,
    PAINT_KIND_SHARE,
    PAINT_KIND_WORD,
    PAINT_KIND_BOOL,
    PAINT_KIND_ASSET
} PaintKind;

typedef struct PaintRow {
    const char *name;     // of the member, in JSON and in the scene
    const char *property; // of an entity, in scripts
    PaintKind kind;
    uint32_t most, bits, fallback;
    const char *about;
} PaintRow;
const PaintRow *paint_row(PaintMember member);
const char *paint_material_name(uint32_t material); // below PAINT_MATERIAL_COUNT

// What nobody has painted. All zero is another one: black, and not visible.
extern const Paint paint_default;
// The same as an initialiser; a test compares the two.
#define PAINT_NONE                       \
    {                                    \
        .colour = 0xa0a0a0, .visible = 1 \
    }

uint32_t paint_value(const Paint *paint, PaintMember member);
void paint_set(Paint *paint, PaintMember member, uint32_t value); // at most paint_row()->most
// Bits of the members (1 << PaintMember) that differ.
uint32_t paint_difference(const Paint *a, const Paint *b);
bool paint_equal(const Paint *a, const Paint *b);
// The members of `mask` from one, the others from the other.
Paint paint_merge(const Paint *paint, const Paint *over, uint32_t mask);

// A bit for each member, which says that it differs from the base and follows, in the order of the
// rows; then those members. Without a base of their own, both sides give &paint_default. The reader
// takes any bits: what lies outside its range is STATUS_RANGE in the reader, and *out untouched.
#define PAINT_BITS_MAX 80
void paint_write(BitWriter *writer, const Paint *base, const Paint *paint);
void paint_read(BitReader *reader, const Paint *base, Paint *out);
// The members of the mask as an object: {"colour":"#33aa55","transparency":0.5}
void paint_write_json(JsonWriter *json, const Paint *paint, uint32_t mask);

// 0..1 as hundredths, and back; what is outside is brought inside, not a number is 0.
uint32_t paint_share(double value);
double paint_share_value(uint32_t hundredths);
