// Captures: compares the sim with the versions that were last sent; see net_table.h.
#include "core/world/replicate/net_table.h"

#include "core/base/check.h"
#include "core/base/heap.h"
#include "core/sim/npc.h"
#include "core/sim/puppet.h"
#include "core/world/replicate/record_bytes.h"

#include <string.h>

#define LOOK_STEP       2  // a larger change of yaw or pitch is sent at once
#define LOOK_REST       3  // a smaller one after so many captures
#define MOVER_BYTES_MAX 54 // of a record without shape and attributes

// --- creation -----------------------------------------------------------------------------------

size_t net_table_bytes(const NetTableConfig *config)
{
    const SimConfig *sim = sim_config(config->sim);
    const size_t entries = (size_t)sim->entity_max + 1;
    size_t bytes =
        arena_array_need(entries, sizeof(NetEntry)) + arena_array_need(entries, sizeof(NetDetail));
    bytes += arena_array_need(entries, sizeof(NetSpan));
    bytes += arena_array_need(entries, sizeof(NetShape));
    bytes += arena_array_need(sim->character_max, sizeof(NetState[NET_RING]));
    bytes += arena_array_need(sim->character_max, sizeof(uint32_t));
    bytes += id_map_bytes((uint32_t)entries);
    bytes += 3 * arena_array_need(entries, sizeof(uint32_t));
    bytes += arena_need(NET_SHAPE_BYTES_MAX + NET_ATTRIBUTES_BYTES_MAX);
    return bytes;
}

static bool take_arrays(NetTable *table, Arena *arena, uint32_t ring_max)
{
    const size_t entries = (size_t)table->entity_max + 1;
    table->entries = arena_array(arena, entries, sizeof *table->entries);
    table->spans = arena_array(arena, entries, sizeof *table->spans);
    table->details = arena_array(arena, entries, sizeof *table->details);
    table->shapes = arena_array(arena, entries, sizeof *table->shapes);
    table->rings = arena_array(arena, ring_max, sizeof *table->rings);
    table->ring_free = arena_array(arena, ring_max, sizeof *table->ring_free);
    table->active = arena_array(arena, entries, sizeof *table->active);
    table->active_before = arena_array(arena, entries, sizeof *table->active_before);
    table->offers = arena_array(arena, entries, sizeof *table->offers);
    table->scratch = arena_alloc(arena, NET_SHAPE_BYTES_MAX + NET_ATTRIBUTES_BYTES_MAX);
    return table->entries != NULL && table->spans != NULL && table->details != NULL &&
           table->shapes != NULL && table->rings != NULL && table->ring_free != NULL &&
           table->active != NULL && table->active_before != NULL && table->offers != NULL &&
           table->scratch != NULL;
}

Status net_table_init(NetTable *table, Arena *arena, const NetTableConfig *config)
{
    static const PatchTable no_patches;
    const SimConfig *sim = sim_config(config->sim);
    const float tolerance = config->tolerance_m * NET_POSITION_PER_M;
    if (!(tolerance >= 1 && tolerance <= 10 * NET_POSITION_PER_M)) {
        return STATUS_RANGE;
    }
    *table = (NetTable){.sim = config->sim,
                        .attributes = config->attributes,
                        .patches = config->patches != NULL ? config->patches : &no_patches,
                        .is_secret = config->is_secret,
                        .secret_user = config->secret_user,
                        .paint_of = config->paint_of,
                        .paint_user = config->paint_user,
                        .tick_rate = sim->tick_rate,
                        .tolerance = math_floor_i32(tolerance),
                        .entity_max = sim->entity_max};
    if (!take_arrays(table, arena, sim->character_max)) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < sim->character_max; i++) {
        table->ring_free[table->ring_free_count++] = sim->character_max - 1 - i;
    }
    return id_map_init(&table->map, arena, table->entity_max + 1);
}

// --- entries ------------------------------------------------------------------------------------

static void forget_entry(NetTable *table, uint32_t entry)
{
    NetDetail *detail = &table->details[entry];
    if (id_map_find(&table->map, detail->net_id) == entry) {
        id_map_remove(&table->map, detail->net_id);
    }
    if (detail->ring != 0) {
        table->ring_free[table->ring_free_count++] = detail->ring - 1;
    }
    table->entries[entry].serial = 0;
    *detail = (NetDetail){0};
}

static void offer(NetTable *table, uint32_t entry)
{
    table->entries[entry].jumped = table->capture;
    table->offers[table->offer_count++] = entry;
}

static NetDetail *make_detail(NetTable *table, uint32_t entry, NetKind kind, uint64_t net_id,
                              uint64_t owner_id)
{
    NetDetail *detail = &table->details[entry];
    *detail = (NetDetail){.net_id = net_id, .owner_id = owner_id, .kind = kind};
    detail->now = net_state_none;
    detail->attributes_stale = table->attributes != NULL;
    detail->is_scene_part = net_id >= 1 && net_id <= table->patches->part_count;
    if ((kind == NET_PLAYER || kind == NET_NPC) && table->ring_free_count > 0) {
        detail->ring = 1 + table->ring_free[--table->ring_free_count];
    }
    table->serial += 1;
    table->entries[entry] = (NetEntry){.serial = table->serial};
    id_map_put(&table->map, net_id, entry);
    offer(table, entry);
    return detail;
}

static void keep_position(NetTable *table, uint32_t entry, Vec3 position)
{
    NetEntry *hot = &table->entries[entry];
    const Vec3 step = vec3_sub(position, hot->position);
    if (vec3_length_squared(step) > NET_TABLE_JUMP_M * NET_TABLE_JUMP_M &&
        hot->jumped != table->capture) {
        offer(table, entry);
    }
    hot->position = position;
    table->details[entry].step = step;
    table->details[entry].stamp = table->capture;
    table->active[table->active_count++] = entry;
}

typedef struct News {
    bool has_detail; // shape or attributes differ
    bool is_public;  // somebody else than the owner can see the difference
    bool only_paint; // nothing but the paint differs
} News;

// The state in detail->now is the entity's next version.
static void publish(NetTable *table, uint32_t entry, News news)
{
    NetDetail *detail = &table->details[entry];
    NetSpan *span = &table->spans[entry];
    detail->now.version += 1;
    const uint32_t version = detail->now.version;
    table->entries[entry].version = version;
    table->versions_made += 1;
    if (detail->ring != 0) {
        table->rings[detail->ring - 1][version % NET_RING] = detail->now;
    }
    const uint32_t in_ring = version > NET_RING ? version - NET_RING + 1 : 1;
    const uint32_t same = news.only_paint && version != 1 ? span->oldest : version;
    span->oldest = detail->ring == 0 && same > in_ring ? same : in_ring;
    span->detail_since = news.has_detail || version == 1 ? version : span->detail_since;
    span->public_since = news.is_public || version == 1 ? version : span->public_since;
}

// --- attributes
// --------------------------------------------------------------------------------------

// True if the public attributes differ from what was sent last.
static bool refresh_public(NetTable *table, NetDetail *detail)
{
    const Record *record = attribute_table_find(table->attributes, detail->net_id);
    if (record == NULL && detail->now.attributes_version == 0) {
        return false;
    }
    bool whole = true;
    uint8_t *bytes = table->scratch;
    const uint32_t count = record_encode(table->attributes, detail->net_id, false, bytes, &whole);
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, bytes, count);
    const bool is_empty = count == RECORD_EMPTY_BYTES && detail->now.attributes_version == 0;
    if (is_empty || (hash.state == detail->attributes_hash && count == detail->attributes_bytes)) {
        return false;
    }
    table->attributes_cut += whole ? 0 : 1;
    detail->attributes_hash = hash.state;
    detail->attributes_bytes = count;
    detail->now.attributes_version += 1;
    return true;
}

static bool record_has_owners(const AttributeTable *attributes, const Record *record)
{
    AttributeEntry attribute = {0};
    while (attribute_table_attribute_next(attributes, record, &attribute)) {
        if (attribute_is_owners(attribute.flags) && !attribute_is_public(attribute.flags)) {
            return true;
        }
    }
    return false;
}

// True if what its owner sees besides the public attributes may differ from what was sent last.
static bool refresh_owners(NetTable *table, NetDetail *detail)
{
    const Record *record =
        detail->owner_id == 0 ? NULL : attribute_table_find(table->attributes, detail->net_id);
    bool whole = true;
    uint32_t count = 0;
    Hash64 hash = HASH64_INIT;
    if (record != NULL && record_has_owners(table->attributes, record)) {
        count = record_encode(table->attributes, detail->net_id, true, table->scratch, &whole);
        hash_bytes(&hash, table->scratch, count);
    }
    if (count == detail->owner_bytes && (count == 0 || hash.state == detail->owner_hash)) {
        return false;
    }
    table->attributes_cut += whole ? 0 : 1;
    detail->owner_hash = hash.state;
    detail->owner_bytes = count;
    detail->now.owner_version += 1;
    return true;
}

typedef struct Refreshed {
    bool is_public; // everybody sees a difference
    bool any;       // at least the owner does
    bool paint;     // it looks different
} Refreshed;

static bool refresh_paint(const NetTable *table, NetDetail *detail)
{
    if (table->paint_of == NULL) {
        return false;
    }
    const Paint paint = table->paint_of(table->paint_user, detail->net_id);
    const bool is_other = !paint_equal(&paint, &detail->now.paint);
    detail->now.paint = paint;
    return is_other;
}

// Compares attributes and paint with what was sent last, if they may have changed. The attributes
// of a part of the scene that moves are in the patch of its cell, as those of one that rests are.
static Refreshed refresh_attributes(NetTable *table, NetDetail *detail)
{
    Refreshed refreshed = {0};
    if (detail->attributes_stale) {
        detail->attributes_stale = false;
        if (!detail->is_scene_part) {
            refreshed.is_public = refresh_public(table, detail);
            refreshed.any = refresh_owners(table, detail) || refreshed.is_public;
        }
        refreshed.paint = refresh_paint(table, detail);
    }
    return refreshed;
}

// Marks the entities whose attributes have to be compared again.
static void scan_attributes(NetTable *table)
{
    const AttributeTable *attributes = table->attributes;
    if (attributes == NULL || attributes->version == table->attributes_version) {
        return;
    }
    for (uint32_t i = attribute_table_next(attributes, 0); i != 0;
         i = attribute_table_next(attributes, i)) {
        const Record *record = attribute_table_at(attributes, i);
        const uint32_t entry = record->version > table->attributes_version
                                   ? id_map_find(&table->map, record->net_id)
                                   : 0;
        if (entry != 0) {
            table->details[entry].attributes_stale = true;
        }
    }
    const bool some_went = attributes->removed_count != table->attributes_removed;
    for (uint32_t i = 0; some_went && i < table->active_count; i++) {
        NetDetail *detail = &table->details[table->active[i]];
        detail->attributes_stale =
            detail->attributes_stale || detail->now.attributes_version != 0 ||
            detail->now.owner_version != 0 || !paint_equal(&detail->now.paint, &paint_default);
    }
}

// --- movers -------------------------------------------------------------------------------------

static uint16_t whole_health(float health)
{
    const float clamped = math_clamp(health, 0, 65535);
    const uint16_t floor = (uint16_t)clamped;
    return (uint16_t)(floor + ((float)floor < clamped ? 1 : 0));
}

// Radians in units of 1/256 turn.
static int32_t turn_units(float radians)
{
    return math_floor_i32(radians * (128.0f / MATH_PI) + 0.5f);
}

static float fall_of(const NetTable *table, const Entity *entity)
{
    if (entity->type == ENTITY_PROJECTILE) {
        return entity->projectile.gravity;
    }
    const Character *character = &entity->character;
    const CharacterTuning *tuning = &sim_config(table->sim)->character;
    const bool falls = !character->grounded && !character->climbing && character->health > 0 &&
                       entity->velocity.y > -tuning->fall_speed_max;
    return falls ? tuning->gravity : 0;
}

// The state of a mover besides its curve, as it would be sent.
typedef struct Fare {
    uint8_t yaw;
    int8_t pitch;
    uint8_t flags;
    uint8_t npc_state;
    uint16_t health;
} Fare;

static Fare fare_of(const NetTable *table, const Entity *entity, Handle handle)
{
    Fare fare = {0};
    if (entity->type == ENTITY_PROJECTILE) {
        return fare;
    }
    const Character *character = &entity->character;
    fare.yaw = (uint8_t)(turn_units(character->input.yaw) & 255);
    fare.pitch = (int8_t)math_clamp((float)turn_units(character->input.pitch), -64, 64);
    fare.health = whole_health(character->health);
    fare.flags = (uint8_t)((character->grounded ? NET_GROUNDED : 0) |
                           (character->climbing ? NET_CLIMBING : 0) |
                           (character->health > 0 ? 0 : NET_DEAD) |
                           ((character->input.buttons & INPUT_RUN) != 0 ? NET_RUNNING : 0) |
                           ((character->input.buttons & INPUT_CROUCH) != 0 ? NET_CROUCHING : 0));
    if (entity->type == ENTITY_NPC) {
        const Npc *npc = npc_at(table->sim, handle);
        fare.npc_state = npc == NULL ? 0 : (uint8_t)npc->state;
    }
    return fare;
}

static uint32_t apart(int32_t a, int32_t b)
{
    return (uint32_t)(a > b ? a - b : b - a);
}

// Whether the look must be sent: it differs much from the last one sent, or has stayed different.
static bool look_is_due(NetDetail *detail, Fare fare)
{
    const NetState *now = &detail->now;
    if (fare.yaw == now->yaw && fare.pitch == now->pitch) {
        detail->look_rest = 0;
        return false;
    }
    const uint32_t yaw = (uint8_t)(fare.yaw - now->yaw);
    if ((yaw < 128 ? yaw : 256 - yaw) >= LOOK_STEP || apart(fare.pitch, now->pitch) >= LOOK_STEP) {
        return true;
    }
    const bool rests = fare.yaw == detail->look_yaw && fare.pitch == detail->look_pitch;
    detail->look_rest = (uint8_t)(rests ? detail->look_rest + 1 : 0);
    detail->look_yaw = fare.yaw;
    detail->look_pitch = fare.pitch;
    return detail->look_rest >= LOOK_REST;
}

// The velocity to predict a mover with: its own, or, if something else carries it (a platform, a
// slope, a push), its movement since the last capture: the one that would have predicted this
// capture better.
static Vec3 velocity_of(const NetTable *table, uint32_t entry, const Entity *entity, uint64_t ticks,
                        bool was_grounded)
{
    if (entity_is_character(entity) && !(entity->character.health > 0)) {
        return VEC3_ZERO;
    }
    const NetDetail *detail = &table->details[entry];
    if (entity->type == ENTITY_PROJECTILE || !entity->character.grounded) {
        return entity->velocity;
    }
    // Right after a landing a body still has the speed of its fall, but goes no deeper.
    const Vec3 level = vec3(entity->velocity.x, 0, entity->velocity.z);
    if (!was_grounded || ticks == 0) {
        return level;
    }
    const float seconds = (float)ticks / (float)table->tick_rate;
    const Vec3 step = vec3_sub(entity->position, table->entries[entry].position);
    const Vec3 by_velocity = vec3_sub(step, vec3_scale(level, seconds));
    const Vec3 by_step = vec3_sub(step, detail->step);
    if (vec3_length_squared(by_step) * 4 < vec3_length_squared(by_velocity)) {
        return vec3_scale(step, 1 / seconds);
    }
    return level;
}

static void fill_projectile(NetState *state, const Projectile *projectile)
{
    state->projectile_kind =
        (uint16_t)(projectile->kind < UINT16_MAX ? projectile->kind : UINT16_MAX);
    state->projectile_radius = (uint8_t)math_clamp(projectile->radius * 128 + 0.5f, 0, 255);
}

static void visit_mover(NetTable *table, uint32_t entry, const Entity *entity, Handle handle,
                        uint64_t ticks)
{
    NetDetail *detail = &table->details[entry];
    NetState *now = &detail->now;
    const bool is_new = now->version == 0;
    const bool was_grounded = (now->flags & NET_GROUNDED) != 0;
    const Fare fare = fare_of(table, entity, handle);
    const bool turned = look_is_due(detail, fare);
    const bool fares =
        fare.flags != now->flags || fare.npc_state != now->npc_state || fare.health != now->health;
    const bool left = is_new || !net_motion_holds(&now->motion, entity->position, table->tick,
                                                  table->tick_rate, table->tolerance);
    const Refreshed attributes = refresh_attributes(table, detail);
    const bool is_public = left || turned || fares || attributes.is_public;
    if (is_public) {
        now->yaw = fare.yaw;
        now->pitch = fare.pitch;
        now->flags = fare.flags;
        now->npc_state = fare.npc_state;
        now->health = fare.health;
        if (left) {
            const Vec3 velocity = velocity_of(table, entry, entity, ticks, was_grounded);
            table->entries[entry].speed = vec3_length(velocity);
            now->motion = net_motion_quantise(entity->position, velocity, fall_of(table, entity),
                                              table->tick);
        }
        if (is_new && entity->type == ENTITY_PROJECTILE) {
            fill_projectile(now, &entity->projectile);
        }
    }
    if (is_public || attributes.any || attributes.paint) {
        publish(table, entry,
                (News){.has_detail = attributes.any,
                       .is_public = is_public || attributes.paint,
                       .only_paint = !is_public && !attributes.any});
    }
}

// --- shapes -------------------------------------------------------------------------------------

static bool segment_equal(const MotionSegment *a, const MotionSegment *b)
{
    // Bit for bit, without the padding before the ticks.
    return memcmp(&a->pose, &b->pose, sizeof a->pose) == 0 &&
           memcmp(&a->velocity, &b->velocity, sizeof a->velocity) == 0 &&
           memcmp(&a->angular_velocity, &b->angular_velocity, sizeof a->angular_velocity) == 0 &&
           a->tick_from == b->tick_from && a->tick_to == b->tick_to;
}

static bool motion_equal(const Motion *a, const Motion *b)
{
    bool equal = a->count == b->count;
    for (uint32_t i = 0; equal && i < a->count; i++) {
        equal = segment_equal(&a->segments[i], &b->segments[i]);
    }
    return equal;
}

static bool shape_equal(const NetShape *said, const Part *part, bool is_structure)
{
    return memcmp(&said->rest, &part->rest, sizeof part->rest) == 0 &&
           memcmp(&said->data, &part->data, sizeof part->data) == 0 &&
           motion_equal(&said->motion, &part->motion) &&
           (!is_structure || said->health == whole_health(part->health));
}

// True if clients must get it: segments that have passed do not count, because clients drop them.
static bool refresh_shape(NetTable *table, uint32_t entry, const Entity *entity)
{
    NetShape *said = &table->shapes[entry];
    const Part *part = &entity->part;
    const bool is_structure = entity->type == ENTITY_STRUCTURE;
    const bool is_new = table->details[entry].now.version == 0;
    if (!is_new) {
        if (shape_equal(said, part, is_structure)) {
            return false;
        }
        motion_forget(&said->motion, &said->rest, table->tick, sim_tick_seconds(table->sim));
        if (shape_equal(said, part, is_structure)) {
            return false;
        }
    }
    *said = (NetShape){.shape = part->shape,
                       .data = part->data,
                       .rest = part->rest,
                       .motion = part->motion,
                       .piece = part->piece,
                       .turn = part->turn,
                       .cell = part->cell,
                       .health = is_structure ? whole_health(part->health) : (uint16_t)0};
    ByteWriter writer = byte_writer(table->scratch, NET_SHAPE_BYTES_MAX);
    net_shape_write(said, &writer);
    ASSERT(writer.status == STATUS_OK);
    table->details[entry].shape_bytes = (uint32_t)writer.at;
    table->details[entry].now.shape_version += 1;
    return true;
}

static void visit_shape(NetTable *table, uint32_t entry, const Entity *entity)
{
    NetDetail *detail = &table->details[entry];
    if (detail->now.version == 0) {
        table->entries[entry].reach = vec3_length(entity->part.placed.half);
    }
    const bool shape = refresh_shape(table, entry, entity);
    const Refreshed attributes = refresh_attributes(table, detail);
    if (shape || attributes.any || attributes.paint) {
        publish(table, entry,
                (News){.has_detail = shape || attributes.any,
                       .is_public = shape || attributes.is_public || attributes.paint,
                       .only_paint = !shape && !attributes.any});
    }
}

// --- capture ------------------------------------------------------------------------------------

static NetKind kind_of(EntityType type)
{
    static const NetKind kinds[ENTITY_TYPE_COUNT] = {
        [ENTITY_PLAYER] = NET_PLAYER,
        [ENTITY_NPC] = NET_NPC,
        [ENTITY_PROJECTILE] = NET_PROJECTILE,
        [ENTITY_PART] = NET_PART,
        [ENTITY_PROP] = NET_PROP,
        [ENTITY_STRUCTURE] = NET_STRUCTURE,
    };
    return kinds[type];
}

static void visit(NetTable *table, Handle handle, uint64_t ticks)
{
    const Entity *entity = sim_entity(table->sim, handle);
    const uint32_t entry = handle.index;
    NetEntry *hot = &table->entries[entry];
    if (entity->removing || patch_table_holds(table->patches, entity->net_id)) {
        return;
    }
    // Who owns it decides what is sent of it, so with another owner it is another entry.
    if (hot->serial != 0 && (table->details[entry].net_id != entity->net_id ||
                             table->details[entry].owner_id != entity->owner_id)) {
        forget_entry(table, entry);
    }
    if (hot->serial == 0) {
        if (table->is_secret != NULL && table->is_secret(table->secret_user, entity)) {
            return;
        }
        (void)make_detail(table, entry, kind_of(entity->type), entity->net_id, entity->owner_id);
        hot->position = entity->position;
    }
    if (entity_has_shape(entity)) {
        visit_shape(table, entry, entity);
    } else {
        visit_mover(table, entry, entity, handle, ticks);
    }
    keep_position(table, entry, entity->position);
}

static void sweep_entities(NetTable *table, uint32_t before_count)
{
    for (uint32_t i = 0; i < before_count; i++) {
        const uint32_t entry = table->active_before[i];
        if (table->entries[entry].serial != 0 && table->details[entry].stamp != table->capture) {
            forget_entry(table, entry);
        }
    }
}

void net_table_capture(NetTable *table)
{
    const uint64_t tick = sim_tick(table->sim);
    const uint64_t ticks = table->capture == 0 ? 0 : tick - table->tick;
    table->tick = tick;
    table->capture += 1;
    table->offer_count = 0;
    scan_attributes(table);
    uint32_t *swap = table->active_before;
    table->active_before = table->active;
    table->active = swap;
    const uint32_t before_count = table->active_count;
    table->active_count = 0;
    for (Handle handle = sim_next(table->sim, HANDLE_NONE, ENTITY_MASK_ALL);
         !handle_is_none(handle); handle = sim_next(table->sim, handle, ENTITY_MASK_ALL)) {
        visit(table, handle, ticks);
    }
    sweep_entities(table, before_count);
    if (table->attributes != NULL) {
        table->attributes_version = table->attributes->version;
        table->attributes_removed = table->attributes->removed_count;
    }
}

// --- reading ------------------------------------------------------------------------------------

uint32_t net_table_find(const NetTable *table, uint64_t net_id)
{
    return id_map_find(&table->map, net_id);
}

const NetState *net_table_past(const NetTable *table, uint32_t entry, uint32_t version)
{
    const NetDetail *detail = &table->details[entry];
    const uint32_t now = detail->now.version;
    if (detail->ring == 0 || version == 0 || version > now || now - version >= NET_RING) {
        return NULL;
    }
    const NetState *state = &table->rings[detail->ring - 1][version % NET_RING];
    ASSERT(state->version == version);
    return state;
}

// An earlier version that differs from now in its paint alone. Which one it had does not matter,
// because a paint is written the same for every base.
static NetState paint_past(const NetState *now)
{
    NetState past = *now;
    past.paint.visible ^= 1;
    return past;
}

// A state as its owner gets it: both kinds of attributes are one list.
static NetState owner_state(const NetState *state)
{
    NetState joined = *state;
    joined.attributes_version += state->owner_version;
    return joined;
}

void net_table_encode(NetTable *table, uint32_t entry, uint32_t base, bool is_owner,
                      BitWriter *writer)
{
    const NetDetail *detail = &table->details[entry];
    const NetState *past = net_table_past(table, entry, base);
    const NetState *now = &detail->now;
    NetState owner_past, owner_now, other_paint;
    if (past == NULL && net_table_age(table, entry, base) != 0) {
        other_paint = paint_past(now);
        past = &other_paint;
    }
    if (is_owner) {
        owner_now = owner_state(now);
        now = &owner_now;
        owner_past = past != NULL ? owner_state(past) : net_state_none;
        past = past != NULL ? &owner_past : NULL;
    }
    const bool shape = now->shape_version != (past == NULL ? 0 : past->shape_version);
    const bool attributes =
        now->attributes_version != (past == NULL ? 0 : past->attributes_version);
    DeltaDetail bytes = {0};
    if (shape) {
        ByteWriter shapes = byte_writer(table->scratch, NET_SHAPE_BYTES_MAX);
        net_shape_write(&table->shapes[entry], &shapes);
        ASSERT(shapes.status == STATUS_OK);
        bytes.shape = table->scratch;
        bytes.shape_bytes = (uint32_t)shapes.at;
    }
    if (attributes) {
        bool whole = true;
        uint8_t *out = table->scratch + NET_SHAPE_BYTES_MAX;
        bytes.attributes = out;
        bytes.attributes_bytes =
            record_encode(table->attributes, detail->net_id, is_owner, out, &whole);
    }
    delta_encode(detail->kind, past, now, &bytes, table->tick, table->tick_rate, writer);
}

uint32_t net_table_bound(const NetTable *table, uint32_t entry, uint32_t base)
{
    if (net_table_age(table, entry, base) != 0 && base >= table->spans[entry].detail_since) {
        return MOVER_BYTES_MAX;
    }
    const NetDetail *detail = &table->details[entry];
    const uint32_t attributes_bytes = detail->owner_bytes > detail->attributes_bytes
                                          ? detail->owner_bytes
                                          : detail->attributes_bytes;
    return MOVER_BYTES_MAX + detail->shape_bytes + attributes_bytes;
}

static void hash_state(const NetState *state, Hash64 *hash)
{
    hash_u32(hash, state->version);
    hash_u64(hash, state->motion.tick);
    for (uint32_t i = 0; i < 3; i++) {
        hash_u32(hash, (uint32_t)state->motion.position[i]);
        hash_u32(hash, (uint32_t)state->motion.velocity[i]);
    }
    hash_u32(hash, state->motion.gravity);
    hash_u32(hash, (uint32_t)state->yaw << 8 | (uint8_t)state->pitch);
    hash_u32(hash, (uint32_t)state->flags << 8 | state->npc_state);
    hash_u32(hash, state->health);
    hash_u32(hash, (uint32_t)state->projectile_kind << 8 | state->projectile_radius);
    hash_u32(hash, state->shape_version);
    hash_u32(hash, state->attributes_version);
    if (!paint_equal(&state->paint, &paint_default)) {
        for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
            hash_u32(hash, paint_value(&state->paint, i));
        }
    }
    if (state->owner_version != 0) {
        hash_u32(hash, state->owner_version);
    }
}

void net_table_hash(const NetTable *table, Hash64 *hash)
{
    hash_u64(hash, table->tick);
    hash_u32(hash, table->active_count);
    for (uint32_t i = 0; i < table->active_count; i++) {
        const NetDetail *detail = &table->details[table->active[i]];
        hash_u64(hash, detail->net_id);
        hash_u32(hash, detail->kind);
        hash_state(&detail->now, hash);
    }
}
