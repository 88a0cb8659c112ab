// The rows of look.def; see paint.h. Everything walks the same table, so a member that is added
// there is sent, read and printed without another line.
#include "core/wire/paint.h"

#include "core/base/check.h"

static const PaintRow rows[PAINT_MEMBER_COUNT] = {
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    [PAINT_##NAME] = {scene, #Property, PAINT_KIND_##kind, most, bits, fallback, about},
#include "core/wire/look.def"
};

#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about)             \
    _Static_assert((most) < 1ull << (bits) && (fallback) <= (most) && (most) <= (type) ~(type)0, \
                   "the values of " #member " fit");
#include "core/wire/look.def"

#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) +(bits)
_Static_assert(PAINT_MEMBER_COUNT
#include "core/wire/look.def"
                   <= PAINT_BITS_MAX,
               "a whole paint fits");

const Paint paint_default = {
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    .member = fallback,
#include "core/wire/look.def"
};

const PaintRow *paint_row(PaintMember member)
{
    ASSERT(member < PAINT_MEMBER_COUNT);
    return &rows[member];
}

const char *paint_material_name(uint32_t material)
{
    static const char *const names[PAINT_MATERIAL_COUNT] = {
#define LOOK_MATERIAL(name) #name,
#include "core/wire/look.def"
    };
    ASSERT(material < PAINT_MATERIAL_COUNT);
    return names[material];
}

uint32_t paint_value(const Paint *paint, PaintMember member)
{
    switch (member) {
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    case PAINT_##NAME:                                                               \
        return paint->member;
#include "core/wire/look.def"
    default:
        ASSERT(false);
        return 0;
    }
}

void paint_set(Paint *paint, PaintMember member, uint32_t value)
{
    ASSERT(value <= paint_row(member)->most);
    switch (member) {
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    case PAINT_##NAME:                                                               \
        paint->member = (type)value;                                                 \
        break;
#include "core/wire/look.def"
    default:
        ASSERT(false);
    }
}

uint32_t paint_difference(const Paint *a, const Paint *b)
{
    uint32_t mask = 0;
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    mask |= a->member != b->member ? 1u << PAINT_##NAME : 0;
#include "core/wire/look.def"
    return mask;
}

bool paint_equal(const Paint *a, const Paint *b)
{
    return paint_difference(a, b) == 0;
}

Paint paint_merge(const Paint *paint, const Paint *over, uint32_t mask)
{
    Paint out = *paint;
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        if ((mask & 1u << i) != 0) {
            paint_set(&out, i, paint_value(over, i));
        }
    }
    return out;
}

void paint_write(BitWriter *writer, const Paint *base, const Paint *paint)
{
    const uint32_t mask = paint_difference(base, paint);
    bit_write(writer, mask, PAINT_MEMBER_COUNT);
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        if ((mask & 1u << i) != 0) {
            bit_write(writer, paint_value(paint, i), rows[i].bits);
        }
    }
}

void paint_read(BitReader *reader, const Paint *base, Paint *out)
{
    Paint paint = *base;
    const uint32_t mask = (uint32_t)bit_read(reader, PAINT_MEMBER_COUNT);
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT && reader->status == STATUS_OK; i++) {
        if ((mask & 1u << i) == 0) {
            continue;
        }
        const uint32_t value = (uint32_t)bit_read(reader, rows[i].bits);
        if (value > rows[i].most) {
            reader->status = STATUS_RANGE;
        } else {
            paint_set(&paint, i, value);
        }
    }
    if (reader->status == STATUS_OK) {
        *out = paint;
    }
}

static void write_colour(JsonWriter *json, uint32_t colour)
{
    static const char digits[] = "0123456789abcdef";
    char text[7] = "#";
    for (uint32_t i = 0; i < 6; i++) {
        text[1 + i] = digits[colour >> (20 - 4 * i) & 15];
    }
    json_write_text_bytes(json, text, sizeof text);
}

void paint_write_json(JsonWriter *json, const Paint *paint, uint32_t mask)
{
    json_write_object_begin(json);
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        if ((mask & 1u << i) == 0) {
            continue;
        }
        const uint32_t value = paint_value(paint, i);
        json_write_name(json, rows[i].name);
        switch (rows[i].kind) {
        case PAINT_KIND_COLOUR:
            write_colour(json, value);
            break;
        case PAINT_KIND_SHARE:
            json_write_number(json, paint_share_value(value));
            break;
        case PAINT_KIND_WORD:
            json_write_text(json, paint_material_name(value));
            break;
        case PAINT_KIND_BOOL:
            json_write_bool(json, value != 0);
            break;
        case PAINT_KIND_ASSET:
            json_write_integer(json, value);
            break;
        }
    }
    json_write_object_end(json);
}

uint32_t paint_share(double value)
{
    if (!(value > 0)) {
        return 0;
    }
    return value >= 1 ? PAINT_SHARE_HUNDREDS : (uint32_t)(value * PAINT_SHARE_HUNDREDS + 0.5);
}

double paint_share_value(uint32_t hundredths)
{
    return (double)hundredths / PAINT_SHARE_HUNDREDS;
}
