// Creates an authority, and handles its players and the events for its scripts; see authority.h.
// The functions that scripts call are in authority_methods.c.
#include "core/script/bridge/authority_inside.h"

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/fair_share.h"

#include <string.h>

AuthorityConfig authority_config_default(void)
{
    return (AuthorityConfig){.attributes = attribute_table_config_default(),
                             .player_max = WORLD_PLAYERS_DEFAULT,
                             .effect_max = 4096,
                             .effect_bytes_max = 2u << 20,
                             .event_max = 8192,
                             .event_bytes_max = 64u << 10,
                             .bind_max = 1024};
}

bool authority_has_room(const Authority *authority, uint32_t own)
{
    uint32_t used = 0;
    for (uint32_t type = 0; type < ENTITY_TYPE_COUNT; type++) {
        used += sim_count(authority->sim, (EntityType)type);
    }
    return fair_share_allows(own, used, sim_config(authority->sim)->entity_max);
}

// --- creation -----------------------------------------------------------------------------------

static size_t block_bytes(const AuthorityConfig *config)
{
    size_t bytes = arena_need(sizeof(Authority));
    bytes += attribute_table_bytes(&config->attributes);
    bytes += roster_bytes(config->player_max);
    bytes += effect_bytes(config->effect_max, config->effect_bytes_max);
    bytes += scene_names_bytes(sim_scene(config->sim), config->scene_names);
    bytes += arena_need(config->event_max * sizeof(ScriptEvent));
    bytes += arena_need(config->event_bytes_max);
    bytes += arena_need(config->bind_max * sizeof(AuthorityBind));
    bytes += arena_need(AUTHORITY_RADIUS_MAX * sizeof(SimRef));
    return bytes;
}

static Status fill_block(Authority *authority, Arena *arena)
{
    const AuthorityConfig *config = &authority->config;
    Status status = attribute_table_init(&authority->attributes, arena, &config->attributes);
    if (status == STATUS_OK) {
        status = roster_init(&authority->roster, arena, config->player_max);
    }
    if (status == STATUS_OK) {
        status =
            effect_init(&authority->effects, arena, config->effect_max, config->effect_bytes_max);
    }
    if (status == STATUS_OK) {
        status = scene_names_init(&authority->scene_names, arena, sim_scene(config->sim),
                                  config->scene_names);
    }
    authority->events = arena_array(arena, config->event_max, sizeof(ScriptEvent));
    authority->event_bytes = arena_alloc(arena, config->event_bytes_max);
    authority->binds = arena_array(arena, config->bind_max, sizeof(AuthorityBind));
    authority->refs = arena_array(arena, AUTHORITY_RADIUS_MAX, sizeof(SimRef));
    if (authority->events == NULL || authority->event_bytes == NULL || authority->binds == NULL ||
        authority->refs == NULL) {
        status = STATUS_LIMIT;
    }
    return status;
}

Status authority_create(Heap *heap, const AuthorityConfig *config, Authority **out)
{
    ASSERT(config->sim != NULL);
    const size_t bytes = block_bytes(config);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, bytes);
    Authority *authority = arena_alloc(&arena, sizeof *authority);
    ASSERT(authority != NULL);
    authority->world.methods = authority_methods();
    authority->config = *config;
    authority->sim = config->sim;
    authority->sky = sky_default();
    authority->collected_tick = sim_tick(config->sim);
    authority->charged_tick = sim_tick(config->sim);
    authority->harvested_tick = sim_tick(config->sim);
    (void)sim_events(config->sim, &authority->harvested_count);
    const Status status = fill_block(authority, &arena);
    if (status != STATUS_OK) {
        heap_free(heap, block);
        return status;
    }
    ASSERT(arena.used == bytes);
    *out = authority;
    return STATUS_OK;
}

void authority_destroy(Heap *heap, Authority *authority)
{
    heap_free(heap, authority); // the first thing in its block
}

// --- plain readers ------------------------------------------------------------------------------

ScriptWorld *authority_world(Authority *authority)
{
    return &authority->world;
}

Sim *authority_sim(Authority *authority)
{
    return authority->sim;
}

const AttributeTable *authority_attributes(const Authority *authority)
{
    return &authority->attributes;
}

const Roster *authority_roster(const Authority *authority)
{
    return &authority->roster;
}

const Effect *authority_effects(const Authority *authority, uint32_t *count)
{
    *count = authority->effects.count;
    return authority->effects.items;
}

void authority_effects_clear(Authority *authority)
{
    memset(authority->effect_counts, 0, sizeof authority->effect_counts);
    effect_clear(&authority->effects);
}

const ScriptEvent *authority_events(const Authority *authority, uint32_t *count)
{
    *count = authority->event_count;
    return authority->events;
}

const AuthorityBind *authority_binds(const Authority *authority, uint32_t *count)
{
    *count = authority->bind_count;
    return authority->binds;
}

void authority_binds_clear(Authority *authority)
{
    authority->bind_count = 0;
}

AuthorityCounters authority_counters(const Authority *authority)
{
    AuthorityCounters counters = authority->counters;
    counters.effects_dropped = authority->effects.dropped_count;
    counters.records_refused = authority->attributes.limit_count + authority->roster.limit_count;
    return counters;
}

bool authority_find(const Authority *authority, uint64_t net_id, WorldThing *out)
{
    WorldThing thing;
    if (!world_read_find(authority->sim, net_id, &thing)) {
        return false;
    }
    if (thing.entity != NULL && thing.entity->removing) {
        const Record *record = attribute_table_find(&authority->attributes, net_id);
        if (record == NULL || record->removed_tick != sim_tick(authority->sim)) {
            return false;
        }
    }
    *out = thing;
    return true;
}

void authority_set_painted(Authority *authority, AuthorityPainted painted, void *user)
{
    authority->painted = painted;
    authority->painted_user = user;
}

Paint authority_paint(const Authority *authority, uint64_t net_id)
{
    const Entity *entity = sim_entity(authority->sim, sim_find(authority->sim, net_id));
    const Paint own = place_paint(&authority->config.paints, net_id, entity);
    const Record *record = attribute_table_find(&authority->attributes, net_id);
    return record == NULL ? own : paint_merge(&own, &record->paint, record->painted);
}

// --- events -------------------------------------------------------------------------------------

bool authority_push(Authority *authority, const ScriptEvent *event)
{
    ASSERT(event->payload_bytes == 0);
    if (authority->event_count == authority->config.event_max ||
        event->name.bytes > authority->config.event_bytes_max - authority->event_bytes_used) {
        authority->counters.events_dropped += 1;
        return false;
    }
    ScriptEvent kept = *event;
    if (event->name.bytes > 0) {
        uint8_t *bytes = authority->event_bytes + authority->event_bytes_used;
        memcpy(bytes, event->name.data, event->name.bytes);
        authority->event_bytes_used += event->name.bytes;
        kept.name.data = (const char *)bytes;
    }
    authority->events[authority->event_count++] = kept;
    return true;
}

void authority_push_noise(Authority *authority, const ScriptEvent *event)
{
    const uint64_t tick = sim_tick(authority->sim);
    if (authority->noise_tick != tick) {
        authority->noise_tick = tick;
        authority->noise_count = 0;
    }
    if (authority->noise_count >= SCRIPT_NOISE_MAX ||
        authority->event_count >= authority->config.event_max / 2) {
        authority->counters.events_dropped += 1;
        return;
    }
    authority->noise_count += 1;
    (void)authority_push(authority, event);
}

void authority_events_take(Authority *authority, uint32_t count)
{
    ASSERT(count <= authority->event_count);
    authority->event_count -= count;
    for (uint32_t i = 0; i < authority->event_count; i++) {
        authority->events[i] = authority->events[i + count];
    }
    if (authority->event_count == 0) {
        authority->event_bytes_used = 0;
    }
}

// A zone reports who enters and leaves; a part that blocks reports who touches it.
static void push_trigger(Authority *authority, const SimEvent *event, bool entered)
{
    WorldThing thing;
    PartData data;
    if (!authority_find(authority, event->subject, &thing) ||
        !world_read_part_data(&thing, &data)) {
        return; // the zone was removed together with its scripts
    }
    const bool solid = (data.flags & PART_GHOST) == 0;
    if (solid && !entered) {
        return;
    }
    authority_push(authority, &(ScriptEvent){.type = solid     ? SCRIPT_EVENT_TOUCH
                                                     : entered ? SCRIPT_EVENT_TRIGGER_ENTER
                                                               : SCRIPT_EVENT_TRIGGER_LEAVE,
                                             .entity = event->subject,
                                             .other = event->other});
}

static void push_destroyed(Authority *authority, uint64_t net_id)
{
    // An entity with a record is reported when the record is removed.
    if (attribute_table_find(&authority->attributes, net_id) == NULL) {
        authority_push(authority, &(ScriptEvent){.type = SCRIPT_EVENT_DESTROYED, .entity = net_id});
    }
}

static uint64_t player_of(const Authority *authority, uint64_t net_id)
{
    const Entity *entity = sim_entity(authority->sim, sim_find(authority->sim, net_id));
    return entity != NULL && entity->type == ENTITY_PLAYER ? entity->owner_id : 0;
}

// player_id is whom to blame for faults of the handlers (blame.c).
static void push_damaged(Authority *authority, const SimEvent *event)
{
    authority_push_noise(authority,
                         &(ScriptEvent){.type = SCRIPT_EVENT_DAMAGED,
                                        .entity = event->subject,
                                        .other = event->other,
                                        .value = (double)event->value,
                                        .player_id = player_of(authority, event->other)});
}

static void push_step(Authority *authority, const SimEvent *event)
{
    authority_push_noise(
        authority, &(ScriptEvent){.type = event->type == SIM_EVENT_LANDED ? SCRIPT_EVENT_LANDED
                                                                          : SCRIPT_EVENT_JUMPED,
                                  .entity = event->subject,
                                  .value = (double)event->value,
                                  .player_id = player_of(authority, event->subject)});
}

static void push_hit(Authority *authority, const SimEvent *event)
{
    authority_push_noise(authority,
                         &(ScriptEvent){.type = SCRIPT_EVENT_HIT,
                                        .entity = event->subject,
                                        .other = event->other,
                                        .shooter = event->shooter,
                                        .position = event->position,
                                        .normal = event->normal,
                                        .player_id = player_of(authority, event->shooter)});
}

static void push_sim_event(Authority *authority, const SimEvent *event)
{
    switch (event->type) {
    case SIM_EVENT_DAMAGED:
        push_damaged(authority, event);
        break;
    case SIM_EVENT_LANDED:
    case SIM_EVENT_JUMPED:
        push_step(authority, event);
        break;
    case SIM_EVENT_TRIGGER_ENTERED:
    case SIM_EVENT_TRIGGER_LEFT:
        push_trigger(authority, event, event->type == SIM_EVENT_TRIGGER_ENTERED);
        break;
    case SIM_EVENT_DIED:
        authority_push(authority,
                       &(ScriptEvent){.type = SCRIPT_EVENT_DIED,
                                      .entity = event->subject,
                                      .other = event->other,
                                      .player_id = player_of(authority, event->subject)});
        break;
    case SIM_EVENT_PROJECTILE_HIT:
        push_hit(authority, event);
        if (event->other != 0) {
            authority_push(authority, &(ScriptEvent){.type = SCRIPT_EVENT_TOUCH,
                                                     .entity = event->subject,
                                                     .other = event->other});
        }
        push_destroyed(authority, event->subject);
        break;
    case SIM_EVENT_STRUCTURE_REMOVED:
        authority_push_noise(authority, &(ScriptEvent){.type = SCRIPT_EVENT_STRUCTURE_REMOVED,
                                                       .entity = event->subject,
                                                       .value = (double)event->detail,
                                                       .position = event->position});
        push_destroyed(authority, event->subject);
        break;
    case SIM_EVENT_PROJECTILE_ENDED:
        push_destroyed(authority, event->subject);
        break;
    case SIM_EVENT_NPC_STATE:
        authority_push(authority, &(ScriptEvent){.type = SCRIPT_EVENT_NPC,
                                                 .entity = event->subject,
                                                 .other = event->other,
                                                 .value = (double)(event->detail & 0xff)});
        break;
    default:
        break;
    }
}

static void forget_character(Authority *authority, uint64_t net_id)
{
    for (uint32_t i = 0; i < roster_count(&authority->roster); i++) {
        RosterPlayer *player = roster_at(&authority->roster, i);
        if (player->entity == net_id) {
            roster_set_entity(&authority->roster, player, 0);
        }
    }
}

static void push_lost_tags(Authority *authority, const Record *record)
{
    uint32_t index = 0;
    Text tag;
    while (record->tag_count > 0 &&
           attribute_table_tag_of(&authority->attributes, record, &index, &tag)) {
        authority_push_noise(
            authority,
            &(ScriptEvent){.type = SCRIPT_EVENT_TAG, .entity = record->net_id, .name = tag});
    }
}

// Removes records of entities that left the sim; one that cannot be reported yet waits for the next
// time.
static void forget_gone(Authority *authority)
{
    AttributeTable *attributes = &authority->attributes;
    for (uint32_t slot = attribute_table_next(attributes, 0); slot != 0;
         slot = attribute_table_next(attributes, slot)) {
        const Record *record = attribute_table_at(attributes, slot);
        if (handle_is_none(record->entity) || sim_entity(authority->sim, record->entity) != NULL) {
            continue;
        }
        const uint64_t net_id = record->net_id;
        if (authority->event_count == authority->config.event_max) {
            authority->counters.events_dropped += 1;
            return;
        }
        push_lost_tags(authority, record);
        if (!authority_push(authority,
                            &(ScriptEvent){.type = SCRIPT_EVENT_DESTROYED, .entity = net_id})) {
            return;
        }
        attribute_table_remove(attributes, net_id);
        forget_character(authority, net_id);
    }
}

static void forget_players(Authority *authority)
{
    for (uint32_t i = roster_count(&authority->roster); i > 0; i--) {
        const RosterPlayer *player = roster_at(&authority->roster, i - 1);
        if (player->leaving && sim_tick(authority->sim) > player->leaving_tick) {
            sim_remove(authority->sim, sim_find(authority->sim, player->entity));
            sound_table_forget_player(&authority->sounds, player->player_id);
            roster_remove(&authority->roster, player->player_id);
        }
    }
}

// Functions of the sim also emit events between two steps, and the next step clears them: after
// calling such a function on behalf of a script, call this.
void authority_harvest(Authority *authority)
{
    const uint64_t tick = sim_tick(authority->sim);
    if (tick != authority->harvested_tick) {
        authority->harvested_tick = tick;
        authority->harvested_count = 0;
    }
    uint32_t count = 0;
    const SimEvent *events = sim_events(authority->sim, &count);
    while (authority->harvested_count < count) {
        push_sim_event(authority, &events[authority->harvested_count++]);
    }
}

void authority_collect(Authority *authority)
{
    const uint64_t tick = sim_tick(authority->sim);
    authority_harvest(authority);
    if (tick != authority->collected_tick) {
        authority->collected_tick = tick;
        forget_gone(authority);
        forget_players(authority);
    }
}

// --- what players did ---------------------------------------------------------------------------

static Vec3 voxel_corner(VoxelCoord at)
{
    return vec3((float)at.x, (float)at.y, (float)at.z);
}

void authority_structure_placed(Authority *authority, uint64_t net_id, uint64_t player_id)
{
    authority_push_noise(authority, &(ScriptEvent){.type = SCRIPT_EVENT_STRUCTURE_PLACED,
                                                   .entity = net_id,
                                                   .player_id = player_id});
}

void authority_voxel_changed(Authority *authority, const VoxelChange *change, uint64_t player_id)
{
    authority_push_noise(authority, &(ScriptEvent){.type = SCRIPT_EVENT_VOXEL,
                                                   .position = voxel_corner(change->at),
                                                   .other = change->before,
                                                   .value = (double)change->now,
                                                   .player_id = player_id});
}

void authority_voxels_changed(Authority *authority, VoxelCoord min, VoxelCoord max, VoxelKind kind,
                              uint64_t player_id)
{
    authority_push_noise(authority, &(ScriptEvent){.type = SCRIPT_EVENT_VOXELS,
                                                   .position = voxel_corner(min),
                                                   .normal = voxel_corner(max),
                                                   .value = (double)kind,
                                                   .player_id = player_id});
}

// --- players ------------------------------------------------------------------------------------

Status authority_player_join(Authority *authority, uint64_t player_id, Text name)
{
    const Status status = roster_add(&authority->roster, player_id, name);
    if (status == STATUS_OK) {
        authority_push(authority,
                       &(ScriptEvent){.type = SCRIPT_EVENT_PLAYER_ADDED, .player_id = player_id});
    }
    return status;
}

Status authority_player_leave(Authority *authority, uint64_t player_id)
{
    RosterPlayer *player = roster_find(&authority->roster, player_id);
    if (player == NULL || player->leaving) {
        return STATUS_NOT_FOUND;
    }
    player->leaving = true;
    player->leaving_tick = sim_tick(authority->sim);
    authority_push(authority,
                   &(ScriptEvent){.type = SCRIPT_EVENT_PLAYER_REMOVING, .player_id = player_id});
    return STATUS_OK;
}

static Status spawn_body(Authority *authority, RosterPlayer *player, Vec3 position)
{
    const CharacterDesc desc = {.owner_id = player->player_id, .position = position};
    Handle handle = HANDLE_NONE;
    const Status status = sim_spawn_player(authority->sim, &desc, &handle);
    if (status != STATUS_OK) {
        return status;
    }
    const uint64_t net_id = sim_entity(authority->sim, handle)->net_id;
    Record *record = NULL;
    Status kept = attribute_table_open(&authority->attributes, net_id, &record);
    if (kept == STATUS_OK) {
        record->entity = handle;
        kept = attribute_table_set_name(&authority->attributes, net_id,
                                        (Text){player->name.data, player->name.bytes});
    }
    if (kept != STATUS_OK) {
        sim_remove(authority->sim, handle);
        return kept;
    }
    roster_set_entity(&authority->roster, player, net_id);
    return STATUS_OK;
}

Vec3 authority_spawn_point(const Authority *authority, uint64_t player_id)
{
    const SpawnPoints points = authority_spawns(authority);
    const RosterPlayer *player = roster_find(&authority->roster, player_id);
    if (player != NULL && player->has_spawn) {
        return player->spawn;
    }
    const Text team =
        player != NULL ? (Text){player->team.data, player->team.bytes} : (Text){"", 0};
    const PlaceSpawn *spawn = spawn_points_choose(&points, team, player_id);
    return spawn != NULL ? spawn->position : VEC3_ZERO;
}

void authority_set_spawns(Authority *authority, const PlaceSpawn *spawns, uint32_t count)
{
    authority->config.spawns = spawns;
    authority->config.spawn_count = count;
}

Status authority_player_spawn(Authority *authority, uint64_t player_id, Vec3 position)
{
    RosterPlayer *player = roster_find(&authority->roster, player_id);
    if (player == NULL || player->leaving) {
        return STATUS_NOT_FOUND;
    }
    const Handle body = sim_find(authority->sim, player->entity);
    const Entity *entity = sim_entity(authority->sim, body);
    const bool has_body = entity != NULL && !entity->removing;
    const Status status = has_body ? sim_revive(authority->sim, body, position)
                                   : spawn_body(authority, player, position);
    if (status == STATUS_OK) {
        authority_push(authority, &(ScriptEvent){.type = SCRIPT_EVENT_RESPAWNED,
                                                 .entity = player->entity,
                                                 .player_id = player_id});
    }
    return status;
}

Status authority_player_chat(Authority *authority, uint64_t player_id, Text text)
{
    if (roster_find(&authority->roster, player_id) == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (text.bytes < 1 || text.bytes > CHAT_BYTES_MAX) {
        return STATUS_RANGE;
    }
    const bool pushed = authority_push(
        authority, &(ScriptEvent){.type = SCRIPT_EVENT_CHAT, .player_id = player_id, .name = text});
    return pushed ? STATUS_OK : STATUS_LIMIT;
}

void authority_set_rewind(Authority *authority, AuthorityRewind rewind, void *user)
{
    authority->rewind = rewind;
    authority->rewind_user = user;
}

Status authority_set_name(Authority *authority, uint64_t net_id, Text name)
{
    WorldThing thing;
    if (!authority_find(authority, net_id, &thing)) {
        return STATUS_NOT_FOUND;
    }
    const Status status = attribute_table_set_name(&authority->attributes, net_id, name);
    if (status == STATUS_OK) {
        attribute_table_find(&authority->attributes, net_id)->entity = thing.handle;
    }
    return status;
}
