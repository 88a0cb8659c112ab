// Records: the difference of two states in bits. docs/PROTOCOL.md ("Snapshot frames") has the same
// widths as tables. The widths were chosen by measuring walking characters: most records are a
// motion at the frame's own tick whose height does not change.
//
// A motion is written relative to the base's curve at the new anchor: first the change of velocity,
// then what is left of the position when that change is taken to have come evenly over the last
// few ticks. Encode and decode share every one of these steps (MotionGuess), so they cannot differ.
#include "core/wire/delta.h"

#include "core/base/check.h"

#include <string.h>

// How many bits a number has: a class, then that many with sign. The classes 3 and 4 have one bit
// more in their names. Of a velocity the first two mean: as the curve says, and now zero.
#define CLASS_COUNT 5
typedef const uint8_t ClassBits[CLASS_COUNT];
static ClassBits flat_velocity_bits = {0, 0, 9, 11, 19};
static ClassBits flat_position_bits = {2, 4, 7, 10, 24};
static ClassBits rise_velocity_bits = {0, 0, 10, 12, 19};
static ClassBits rise_position_bits = {0, 4, 8, 12, 24};

enum {
    CLASS_SAME = 0,
    CLASS_ZERO = 1,
    AGE_GROUP = 4,
    VERSION_GROUP = 8,      // of a full record
    PART_VERSION_GROUP = 3, // of shape and attributes, relative
    MASK_BITS = 8,
    YAW_NARROW_BITS = 4,
    HEALTH_NARROW_BITS = 7,
    SHAPE_LENGTH_BITS = 10,
    ATTRIBUTES_LENGTH_BITS = 13,
    // Speed changes evenly over at most so many ticks: one snapshot interval.
    EVEN_TICKS = 3
};
_Static_assert(NET_COMPONENTS_ALL == (1 << MASK_BITS) - 1, "the mask on the wire");
_Static_assert(NET_SHAPE_BYTES_MAX < 1 << SHAPE_LENGTH_BITS, "the length on the wire");
_Static_assert(NET_ATTRIBUTES_BYTES_MAX < 1 << ATTRIBUTES_LENGTH_BITS, "the length on the wire");
_Static_assert(NET_STATUS_ALL == 31, "five bits");

#define COMPONENTS_KNOWN ((NET_PRIVATE - 1u) | NET_PAINT)

static bool fits(int32_t value, uint32_t bits)
{
    return bits == 0 ? value == 0 : value >= -(1 << (bits - 1)) && value < 1 << (bits - 1);
}

// The first class from `first` on in which both fit.
static uint32_t class_of(ClassBits bits, uint32_t first, int32_t a, int32_t b)
{
    uint32_t number = first;
    while (number < CLASS_COUNT - 1 && !(fits(a, bits[number]) && fits(b, bits[number]))) {
        number++;
    }
    return number;
}

static void write_class(BitWriter *writer, uint32_t number)
{
    bit_write(writer, number < 3 ? number : number == 3 ? 3 : 7, number < 3 ? 2 : 3);
}

static uint32_t read_class(BitReader *reader)
{
    const uint32_t number = (uint32_t)bit_read(reader, 2);
    return number == 3 && bit_read_bool(reader) ? 4 : number;
}

// --- component masks ----------------------------------------------------------------------------
// Frequent masks have short names: so many ones, then a zero.
static const uint8_t mover_masks[] = {NET_MOTION, NET_MOTION | NET_LOOK, NET_LOOK,
                                      NET_MOTION | NET_STATUS};
static const uint8_t shape_masks[] = {NET_SHAPE, NET_PAINT};

static uint32_t short_masks(NetKind kind, const uint8_t **masks)
{
    *masks = net_kind_moves(kind) ? mover_masks : shape_masks;
    return net_kind_moves(kind) ? sizeof mover_masks : sizeof shape_masks;
}

static void write_mask(BitWriter *writer, NetKind kind, uint32_t mask)
{
    const uint8_t *masks = NULL;
    const uint32_t count = short_masks(kind, &masks);
    for (uint32_t i = 0; i < count; i++) {
        if (masks[i] == mask) {
            bit_write(writer, (1u << i) - 1, i + 1);
            return;
        }
    }
    bit_write(writer, (1u << count) - 1, count);
    bit_write(writer, mask, MASK_BITS);
}

static uint32_t read_mask(BitReader *reader, NetKind kind)
{
    const uint8_t *masks = NULL;
    const uint32_t count = short_masks(kind, &masks);
    for (uint32_t i = 0; i < count; i++) {
        if (!bit_read_bool(reader)) {
            return masks[i];
        }
    }
    return (uint32_t)bit_read(reader, MASK_BITS);
}

// --- motion -------------------------------------------------------------------------------------
typedef struct MotionGuess {
    NetMotion curve;    // the base's, at the new anchor
    int64_t even_ticks; // (n + 1) / 2 of them, doubled
    uint32_t tick_rate;
} MotionGuess;

static MotionGuess motion_guess(const NetMotion *base, uint64_t tick, uint32_t tick_rate)
{
    const uint64_t ticks = tick > base->tick ? tick - base->tick : 0;
    return (MotionGuess){net_motion_move(base, tick, tick_rate),
                         1 + (int64_t)(ticks < EVEN_TICKS ? ticks : EVEN_TICKS), tick_rate};
}

// Where one axis is expected, given its velocity now.
static int32_t guess_position(const MotionGuess *guess, uint32_t axis, int32_t velocity)
{
    const int64_t change = (int64_t)velocity - guess->curve.velocity[axis];
    // change / 64 m/s · even_ticks / 2 / rate s · 256, rounded towards zero, inside the range.
    const int64_t more = change * 2 * guess->even_ticks / guess->tick_rate;
    const int64_t limit = 1 << (NET_POSITION_BITS - 1);
    const int64_t position = guess->curve.position[axis] + more;
    return (int32_t)(position < -limit ? -limit : position >= limit ? limit - 1 : position);
}

// Where a curve that began earlier is taken to begin. By then it is at its end: see net_motion_at.
static uint64_t anchor_tick(const NetMotion *motion, uint64_t frame_tick)
{
    ASSERT(motion->tick <= frame_tick);
    const bool is_old = frame_tick - motion->tick > NET_MOTION_TICKS_MAX;
    return is_old ? frame_tick - NET_MOTION_TICKS_MAX : motion->tick;
}

static void write_anchor(BitWriter *writer, uint64_t age)
{
    bit_write_bool(writer, age != 0);
    if (age != 0) {
        bit_write_grouped(writer, age - 1, AGE_GROUP);
    }
}

static uint64_t read_anchor(BitReader *reader, uint64_t frame_tick)
{
    if (!bit_read_bool(reader)) {
        return frame_tick;
    }
    const uint64_t before = bit_read_grouped(reader, AGE_GROUP);
    if (before >= NET_MOTION_TICKS_MAX || before >= frame_tick) {
        if (reader->status == STATUS_OK) {
            reader->status = STATUS_RANGE;
        }
        return frame_tick;
    }
    return frame_tick - 1 - before;
}

static void write_pair(BitWriter *writer, ClassBits bits, uint32_t number, int32_t a, int32_t b)
{
    write_class(writer, number);
    bit_write_signed(writer, a, bits[number]);
    bit_write_signed(writer, b, bits[number]);
}

static void write_gravity(BitWriter *writer, uint16_t base, uint16_t now)
{
    bit_write_bool(writer, base != now);
    if (base != now) {
        bit_write_bool(writer, now != 0);
        bit_write(writer, now, now != 0 ? 16 : 0);
    }
}

static uint16_t read_gravity(BitReader *reader, uint16_t base)
{
    if (!bit_read_bool(reader)) {
        return base;
    }
    return (uint16_t)bit_read(reader, bit_read_bool(reader) ? 16 : 0);
}

static uint32_t velocity_class(ClassBits bits, int32_t a, int32_t b, bool is_zero_now)
{
    if (a == 0 && b == 0) {
        return CLASS_SAME;
    }
    return is_zero_now ? CLASS_ZERO : class_of(bits, CLASS_ZERO + 1, a, b);
}

// The height: velocity, gravity and, relative to a base, position.
static void write_rise(BitWriter *writer, const MotionGuess *guess, const NetMotion *now,
                       bool is_full)
{
    const int32_t velocity = now->velocity[1] - guess->curve.velocity[1];
    const int32_t position = now->position[1] - guess_position(guess, 1, now->velocity[1]);
    const bool same =
        velocity == 0 && now->gravity == guess->curve.gravity && (is_full || position == 0);
    bit_write_bool(writer, !same);
    if (same) {
        return;
    }
    write_gravity(writer, guess->curve.gravity, now->gravity);
    const uint32_t number = velocity_class(rise_velocity_bits, velocity, 0, now->velocity[1] == 0);
    write_class(writer, number);
    bit_write_signed(writer, number == CLASS_ZERO ? 0 : velocity, rise_velocity_bits[number]);
    if (!is_full) {
        const uint32_t left = class_of(rise_position_bits, 0, position, 0);
        write_class(writer, left);
        bit_write_signed(writer, position, rise_position_bits[left]);
    }
}

static void write_motion(BitWriter *writer, const NetMotion *base, const NetMotion *now,
                         uint64_t frame_tick, uint32_t tick_rate)
{
    ASSERT(net_motion_is_sane(now));
    static const NetMotion none = {0};
    const bool is_full = base == NULL;
    const uint64_t tick = anchor_tick(now, frame_tick);
    const MotionGuess guess = motion_guess(is_full ? &none : base, tick, tick_rate);
    write_anchor(writer, frame_tick - tick);
    write_rise(writer, &guess, now, is_full);
    const int32_t vx = now->velocity[0] - guess.curve.velocity[0];
    const int32_t vz = now->velocity[2] - guess.curve.velocity[2];
    const bool stands = now->velocity[0] == 0 && now->velocity[2] == 0;
    const uint32_t number = velocity_class(flat_velocity_bits, vx, vz, stands);
    const bool has_bits = number > CLASS_ZERO;
    write_pair(writer, flat_velocity_bits, number, has_bits ? vx : 0, has_bits ? vz : 0);
    if (is_full) {
        for (uint32_t i = 0; i < 3; i++) {
            bit_write_signed(writer, now->position[i], NET_POSITION_BITS);
        }
        return;
    }
    const int32_t x = now->position[0] - guess_position(&guess, 0, now->velocity[0]);
    const int32_t z = now->position[2] - guess_position(&guess, 2, now->velocity[2]);
    write_pair(writer, flat_position_bits, class_of(flat_position_bits, 0, x, z), x, z);
}

static int32_t read_velocity(BitReader *reader, uint32_t number, ClassBits bits, int32_t base)
{
    if (number == CLASS_ZERO) {
        return 0;
    }
    return base + (int32_t)bit_read_signed(reader, bits[number]);
}

static void read_rise(BitReader *reader, const MotionGuess *guess, bool is_full, NetMotion *now)
{
    now->gravity = guess->curve.gravity;
    now->velocity[1] = guess->curve.velocity[1];
    int32_t position = 0;
    if (bit_read_bool(reader)) {
        now->gravity = read_gravity(reader, guess->curve.gravity);
        const uint32_t number = read_class(reader);
        now->velocity[1] =
            read_velocity(reader, number, rise_velocity_bits, guess->curve.velocity[1]);
        if (!is_full) {
            const uint32_t width = rise_position_bits[read_class(reader)];
            position = (int32_t)bit_read_signed(reader, width);
        }
    }
    now->position[1] = guess_position(guess, 1, now->velocity[1]) + position;
}

static void read_motion(BitReader *reader, const NetMotion *base, uint64_t frame_tick,
                        uint32_t tick_rate, NetMotion *out)
{
    static const NetMotion none = {0};
    const bool is_full = base == NULL;
    NetMotion now = {.tick = read_anchor(reader, frame_tick)};
    const MotionGuess guess = motion_guess(is_full ? &none : base, now.tick, tick_rate);
    read_rise(reader, &guess, is_full, &now);
    const uint32_t number = read_class(reader);
    for (uint32_t i = 0; i < 3; i += 2) {
        now.velocity[i] =
            read_velocity(reader, number, flat_velocity_bits, guess.curve.velocity[i]);
    }
    if (is_full) {
        for (uint32_t i = 0; i < 3; i++) {
            now.position[i] = (int32_t)bit_read_signed(reader, NET_POSITION_BITS);
        }
    } else {
        const uint32_t width = flat_position_bits[read_class(reader)];
        for (uint32_t i = 0; i < 3; i += 2) {
            const int32_t left = (int32_t)bit_read_signed(reader, width);
            now.position[i] = guess_position(&guess, i, now.velocity[i]) + left;
        }
    }
    if (!net_motion_is_sane(&now) && reader->status == STATUS_OK) {
        reader->status = STATUS_RANGE;
    }
    *out = now;
}

// --- look and status ----------------------------------------------------------------------------
static void write_look(BitWriter *writer, const NetState *base, const NetState *now)
{
    const int32_t turn = (int8_t)(uint8_t)(now->yaw - base->yaw);
    const bool narrow = fits(turn, YAW_NARROW_BITS);
    bit_write_bool(writer, narrow);
    if (narrow) {
        bit_write_signed(writer, turn, YAW_NARROW_BITS);
    } else {
        bit_write(writer, now->yaw, 8);
    }
    bit_write_bool(writer, base->pitch != now->pitch);
    bit_write_signed(writer, base->pitch != now->pitch ? now->pitch : 0,
                     base->pitch != now->pitch ? 8 : 0);
}

static void read_look(BitReader *reader, NetState *state)
{
    if (bit_read_bool(reader)) {
        state->yaw = (uint8_t)(state->yaw + bit_read_signed(reader, YAW_NARROW_BITS));
    } else {
        state->yaw = (uint8_t)bit_read(reader, 8);
    }
    if (bit_read_bool(reader)) {
        state->pitch = (int8_t)bit_read_signed(reader, 8);
    }
}

static void write_status(BitWriter *writer, const NetState *base, const NetState *now)
{
    ASSERT((now->flags & ~NET_STATUS_ALL) == 0);
    bit_write_bool(writer, base->flags != now->flags);
    if (base->flags != now->flags) {
        bit_write(writer, now->flags, 5);
    }
    bit_write_bool(writer, base->npc_state != now->npc_state);
    if (base->npc_state != now->npc_state) {
        bit_write(writer, now->npc_state, 8);
    }
    bit_write_bool(writer, base->health != now->health);
    if (base->health != now->health) {
        const bool narrow = now->health < 1 << HEALTH_NARROW_BITS;
        bit_write_bool(writer, narrow);
        bit_write(writer, now->health, narrow ? HEALTH_NARROW_BITS : 16);
    }
}

static void read_status(BitReader *reader, NetState *state)
{
    if (bit_read_bool(reader)) {
        state->flags = (uint8_t)bit_read(reader, 5);
    }
    if (bit_read_bool(reader)) {
        state->npc_state = (uint8_t)bit_read(reader, 8);
    }
    if (bit_read_bool(reader)) {
        state->health = (uint16_t)bit_read(reader, bit_read_bool(reader) ? HEALTH_NARROW_BITS : 16);
    }
}

// --- shape and attributes
// ----------------------------------------------------------------------------- The version it has
// now; 0 says that there is none any more, and no bytes follow.
static void write_blob(BitWriter *writer, uint32_t base_version, uint32_t version,
                       const uint8_t *bytes, uint32_t count, uint32_t length_bits)
{
    bit_write_grouped(writer, version - base_version, PART_VERSION_GROUP);
    if (version != 0) {
        bit_write(writer, count, length_bits);
        bit_write_bits(writer, bytes, (size_t)count * 8);
    }
}

static void read_bytes(BitReader *reader, uint8_t *out, uint32_t count)
{
    for (uint32_t at = 0; at < count; at += 8) {
        const uint32_t step = count - at < 8 ? count - at : 8;
        const uint64_t word = bit_read(reader, step * 8);
        memcpy(out + at, &word, step);
    }
}

static uint32_t read_blob(BitReader *reader, uint32_t *version, uint8_t *out, uint32_t length_bits,
                          uint32_t bytes_max)
{
    const uint64_t rise = bit_read_grouped(reader, PART_VERSION_GROUP);
    const uint32_t count =
        (uint32_t)rise + *version != 0 ? (uint32_t)bit_read(reader, length_bits) : 0;
    if (reader->status == STATUS_OK && (rise > UINT32_MAX || count > bytes_max)) {
        reader->status = STATUS_RANGE;
    }
    if (reader->status != STATUS_OK) {
        return 0;
    }
    *version += (uint32_t)rise;
    read_bytes(reader, out, count);
    return count;
}

// --- records ------------------------------------------------------------------------------------
// Movers always have a motion, even if it is zero; nothing else has one.
static uint32_t record_mask(NetKind kind, const NetState *from, const NetState *now, bool is_full)
{
    const uint32_t mask = net_state_difference(from, now);
    if (!net_kind_moves(kind)) {
        return mask & ~(uint32_t)NET_MOTION;
    }
    return is_full ? mask | NET_MOTION : mask;
}

static bool mask_is_sane(NetKind kind, uint32_t mask, bool is_full)
{
    const bool has_motion = (mask & NET_MOTION) != 0;
    if (net_kind_moves(kind) ? is_full && !has_motion : has_motion) {
        return false;
    }
    return (mask & ~COMPONENTS_KNOWN) == 0;
}

void delta_encode(NetKind kind, const NetState *base, const NetState *now,
                  const DeltaDetail *detail, uint64_t frame_tick, uint32_t tick_rate,
                  BitWriter *writer)
{
    ASSERT(kind > NET_NONE && kind < NET_KIND_COUNT);
    const bool is_full = base == NULL;
    const NetState *from = is_full ? &net_state_none : base;
    const uint32_t mask = record_mask(kind, from, now, is_full);
    if (is_full) {
        ASSERT(now->version != 0);
        bit_write_grouped(writer, now->version, VERSION_GROUP);
        bit_write(writer, mask, MASK_BITS);
    } else {
        write_mask(writer, kind, mask);
    }
    if ((mask & NET_MOTION) != 0) {
        write_motion(writer, is_full ? NULL : &base->motion, &now->motion, frame_tick, tick_rate);
    }
    if ((mask & NET_LOOK) != 0) {
        write_look(writer, from, now);
    }
    if ((mask & NET_STATUS) != 0) {
        write_status(writer, from, now);
    }
    if ((mask & NET_SHAPE) != 0) {
        ASSERT(now->shape_version == 0 || detail->shape_bytes <= NET_SHAPE_BYTES_MAX);
        write_blob(writer, from->shape_version, now->shape_version,
                   now->shape_version == 0 ? NULL : detail->shape,
                   now->shape_version == 0 ? 0 : detail->shape_bytes, SHAPE_LENGTH_BITS);
    }
    if ((mask & NET_ATTRIBUTES) != 0) {
        ASSERT(now->attributes_version == 0 ||
               detail->attributes_bytes <= NET_ATTRIBUTES_BYTES_MAX);
        write_blob(writer, from->attributes_version, now->attributes_version,
                   now->attributes_version == 0 ? NULL : detail->attributes,
                   now->attributes_version == 0 ? 0 : detail->attributes_bytes,
                   ATTRIBUTES_LENGTH_BITS);
    }
    if ((mask & NET_PAINT) != 0) {
        paint_write(writer, &paint_default, &now->paint);
    }
    if (is_full && kind == NET_PROJECTILE) {
        bit_write(writer, now->projectile_kind, 16);
        bit_write(writer, now->projectile_radius, 8);
    }
}

// What only a full record holds before its mask.
static uint32_t read_full(BitReader *reader, NetState *state)
{
    const uint64_t version = bit_read_grouped(reader, VERSION_GROUP);
    if (reader->status == STATUS_OK && (version == 0 || version > UINT32_MAX)) {
        reader->status = STATUS_RANGE;
    }
    state->version = (uint32_t)version;
    return (uint32_t)bit_read(reader, MASK_BITS);
}

Status delta_decode(NetKind kind, const NetState *base, uint64_t frame_tick, uint32_t tick_rate,
                    BitReader *reader, uint8_t *scratch, DeltaRead *out)
{
    ASSERT(kind > NET_NONE && kind < NET_KIND_COUNT);
    const bool is_full = base == NULL;
    DeltaRead read = {.state = is_full ? net_state_none : *base,
                      .detail = {.shape = scratch, .attributes = scratch + NET_SHAPE_BYTES_MAX}};
    const uint32_t mask = is_full ? read_full(reader, &read.state) : read_mask(reader, kind);
    if (!mask_is_sane(kind, mask, is_full) && reader->status == STATUS_OK) {
        reader->status = STATUS_RANGE;
    }
    if ((mask & NET_MOTION) != 0) {
        read_motion(reader, is_full ? NULL : &base->motion, frame_tick, tick_rate,
                    &read.state.motion);
    }
    if ((mask & NET_LOOK) != 0) {
        read_look(reader, &read.state);
    }
    if ((mask & NET_STATUS) != 0) {
        read_status(reader, &read.state);
    }
    if ((mask & NET_SHAPE) != 0) {
        read.detail.shape_bytes = read_blob(reader, &read.state.shape_version, scratch,
                                            SHAPE_LENGTH_BITS, NET_SHAPE_BYTES_MAX);
    }
    if ((mask & NET_ATTRIBUTES) != 0) {
        read.detail.attributes_bytes =
            read_blob(reader, &read.state.attributes_version, scratch + NET_SHAPE_BYTES_MAX,
                      ATTRIBUTES_LENGTH_BITS, NET_ATTRIBUTES_BYTES_MAX);
    }
    if ((mask & NET_PAINT) != 0) {
        paint_read(reader, &paint_default, &read.state.paint);
    }
    if (is_full && kind == NET_PROJECTILE) {
        read.state.projectile_kind = (uint16_t)bit_read(reader, 16);
        read.state.projectile_radius = (uint8_t)bit_read(reader, 8);
    }
    if (reader->status == STATUS_OK) {
        read.components = mask;
        *out = read;
    }
    return reader->status;
}
