// A client's view: creation, what its owner sets and shows, and local entities; see view.h. The
// functions that scripts call are in view_methods.c.
#include "core/script/bridge/view_inside.h"

#include "core/base/check.h"

#include <string.h>

ViewConfig view_config_default(void)
{
    return (ViewConfig){.attributes = attribute_table_config_view(),
                        .player_max = WORLD_PLAYERS_DEFAULT,
                        .local_max = 256,
                        .paint_max = VIEW_PAINTS_MAX,
                        .effect_max = 512,
                        .effect_bytes_max = 512u << 10};
}

// --- creation -----------------------------------------------------------------------------------

static size_t block_bytes(const ViewConfig *config)
{
    size_t bytes = arena_need(sizeof(View));
    bytes += attribute_table_bytes(&config->attributes);
    bytes += scene_names_bytes(sim_scene(config->sim), config->scene_names);
    bytes += roster_bytes(config->player_max);
    bytes += effect_bytes(config->effect_max, config->effect_bytes_max);
    bytes += pool_bytes(config->local_max, sizeof(ViewLocal));
    bytes += id_map_bytes(config->local_max);
    bytes += arena_need(config->local_max * sizeof(uint64_t));
    bytes += view_paint_bytes(config);
    bytes += view_ui_bytes(config);
    bytes += arena_need(VIEW_RADIUS_MAX * sizeof(SimRef));
    return bytes;
}

static Status fill_block(View *view, Arena *arena)
{
    const ViewConfig *config = &view->config;
    Status status = attribute_table_init(&view->attributes, arena, &config->attributes);
    if (status == STATUS_OK) {
        status = scene_names_init(&view->scene_names, arena, sim_scene(config->sim),
                                  config->scene_names);
    }
    if (status == STATUS_OK) {
        status = roster_init(&view->roster, arena, config->player_max);
    }
    if (status == STATUS_OK) {
        status = effect_init(&view->effects, arena, config->effect_max, config->effect_bytes_max);
    }
    if (status == STATUS_OK) {
        status = pool_init(&view->locals, arena, config->local_max, sizeof(ViewLocal));
    }
    if (status == STATUS_OK) {
        status = id_map_init(&view->local_map, arena, config->local_max);
    }
    if (status == STATUS_OK) {
        status = view_paint_init(view, arena);
    }
    view->gone = arena_array(arena, config->local_max, sizeof(uint64_t));
    if (status == STATUS_OK) {
        status = view_ui_init(view, arena);
    }
    view->refs = arena_array(arena, VIEW_RADIUS_MAX, sizeof(SimRef));
    return view->gone == NULL || view->refs == NULL ? STATUS_LIMIT : status;
}

Status view_create(Heap *heap, const ViewConfig *config, View **out)
{
    ASSERT(config->sim != NULL);
    const size_t bytes = block_bytes(config);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, bytes);
    View *view = arena_alloc(&arena, sizeof *view);
    ASSERT(view != NULL);
    view->world.methods = view_methods();
    view->config = *config;
    view->sim = config->sim;
    view->next_local = VIEW_LOCAL_FIRST;
    view->sky = sky_default();
    view->camera.wanted.field_of_view = CAMERA_FIELD_NORMAL;
    const Status status = fill_block(view, &arena);
    if (status != STATUS_OK) {
        heap_free(heap, block);
        return status;
    }
    ASSERT(arena.used == bytes);
    *out = view;
    return STATUS_OK;
}

void view_destroy(Heap *heap, View *view)
{
    heap_free(heap, view); // the first thing in its block
}

ScriptWorld *view_world(View *view)
{
    return &view->world;
}

// --- what the owner says ------------------------------------------------------------------------

AttributeTable *view_attributes(View *view)
{
    return &view->attributes;
}

static void view_changed(void *user, uint64_t net_id, Text name, const ScriptValue *now,
                         const ScriptValue *before)
{
    const View *view = user;
    if (view->listener.changed != NULL && net_id < VIEW_LOCAL_FIRST) {
        view->listener.changed(view->listener.user, net_id, name, now, before);
    }
}

static void view_tagged(void *user, uint64_t net_id, Text tag, bool on)
{
    const View *view = user;
    const bool is_scripts = net_id >= VIEW_LOCAL_FIRST && view_local_find(view, net_id) != NULL;
    if (view->listener.tagged != NULL && !is_scripts) {
        view->listener.tagged(view->listener.user, net_id, tag, on);
    }
}

void view_set_listener(View *view, const AttributeListener *listener)
{
    view->listener = *listener;
    view->attributes.listener =
        (AttributeListener){.user = view, .changed = view_changed, .tagged = view_tagged};
}

Roster *view_roster(View *view)
{
    return &view->roster;
}

void view_set_camera(View *view, Vec3 position, Vec3 forward)
{
    const Vec3 unit = vec3_normalise(forward);
    if (vec3_is_finite(position) && !vec3_equal(unit, VEC3_ZERO)) {
        view->has_camera = true;
        view->camera_position = position;
        view->camera_forward = unit;
    }
}

// --- what the owner shows -----------------------------------------------------------------------

const Effect *view_effects(const View *view, uint32_t *count)
{
    *count = view->effects.count;
    return view->effects.items;
}

void view_effects_clear(View *view)
{
    effect_clear(&view->effects);
    view->sounds_taken = 0;
}

Status view_sound(View *view, const ScriptSound *sound, uint32_t maker)
{
    SoundTable *table = sound->is_own ? &view->own_sounds : &view->sounds;
    const Status checked = effect_sound_check(sound);
    if (checked != STATUS_OK) {
        return checked;
    }
    if (sound->act == SCRIPT_SOUND_PLAY) {
        return sound->loop ? sound_table_add(table, sound, maker)
                           : effect_sound(&view->effects, sound);
    }
    // A server does not say again whether it loops.
    const bool goes_on = sound->loop || sound_table_has(table, sound->id) ||
                         sound->act == SCRIPT_SOUND_MUSIC || sound->act == SCRIPT_SOUND_FORGET;
    if (goes_on) {
        sound_table_apply(table, sound, maker);
        return STATUS_OK;
    }
    return effect_sound(&view->effects, sound);
}

Status view_play(View *view, const ScriptSound *sound)
{
    ASSERT(!sound->is_own);
    return view_sound(view, sound, 0);
}

void view_forget_sounds(View *view)
{
    sound_table_clear(&view->sounds);
}

const SoundTable *view_sounds(const View *view, bool is_own)
{
    return is_own ? &view->own_sounds : &view->sounds;
}

const ScriptSound *view_sound_take(View *view)
{
    while (view->sounds_taken < view->effects.count) {
        const Effect *effect = &view->effects.items[view->sounds_taken++];
        if (effect->type == EFFECT_SOUND) {
            return &effect->sound;
        }
    }
    return NULL;
}

ViewCounters view_counters(const View *view)
{
    return (ViewCounters){.effects_dropped = view->effects.dropped_count,
                          .records_refused =
                              view->attributes.limit_count + view->roster.limit_count,
                          .locals_refused = view->locals_refused,
                          .denied_count = view->denied_count,
                          .moments_dropped = view->moments_dropped};
}

// --- local entities -----------------------------------------------------------------------------

uint32_t view_local_next(const View *view, uint32_t after)
{
    return pool_next(&view->locals, after + 1);
}

const ViewLocal *view_local_at(const View *view, uint32_t slot)
{
    return pool_at(&view->locals, slot);
}

ViewLocal *view_local_find(const View *view, uint64_t net_id)
{
    const uint32_t slot = id_map_find(&view->local_map, net_id);
    return slot == 0 ? NULL : (ViewLocal *)pool_at(&view->locals, slot);
}

bool view_find(const View *view, uint64_t net_id, WorldThing *out)
{
    WorldThing thing;
    if (!world_read_find(view->sim, net_id, &thing) ||
        (thing.entity != NULL && thing.entity->removing)) {
        return false;
    }
    *out = thing;
    return true;
}

// Returns false if its time is over.
static bool local_move(const View *view, ViewLocal *local)
{
    const float seconds = sim_tick_seconds(view->sim);
    const uint64_t tick = sim_tick(view->sim);
    if (local->motion.count > 0) {
        const Vec3 before = local->pose.position;
        local->pose = motion_pose(&local->motion, local->pose, tick, seconds);
        motion_forget(&local->motion, &local->pose, tick, seconds);
        local->velocity = vec3_scale(vec3_sub(local->pose.position, before),
                                     (float)sim_config(view->sim)->tick_rate);
    } else {
        local->velocity.y -= local->gravity * seconds;
        local->pose.position = vec3_mad(local->pose.position, local->velocity, seconds);
    }
    if (local->ticks_left > 0) {
        local->ticks_left -= 1;
        if (local->ticks_left == 0) {
            return false;
        }
    }
    const float extent = (float)WORLD_EXTENT_M;
    const Vec3 at = local->pose.position;
    return math_abs(at.x) <= extent && math_abs(at.y) <= extent && math_abs(at.z) <= extent;
}

static void local_release(View *view, uint32_t slot)
{
    const uint64_t net_id = view_local_at(view, slot)->net_id;
    id_map_remove(&view->local_map, net_id);
    attribute_table_remove(&view->attributes, net_id); // after it: its tags end with it
    view->paint_version += 1;
    (void)pool_release(&view->locals, pool_handle(&view->locals, slot));
    if (view->gone_count < view->config.local_max) {
        view->gone[view->gone_count++] = net_id;
    }
}

void view_step(View *view)
{
    for (uint32_t slot = view_local_next(view, 0); slot != 0; slot = view_local_next(view, slot)) {
        ViewLocal *local = pool_at(&view->locals, slot);
        if (local->removing || !local_move(view, local)) {
            local_release(view, slot);
        }
    }
    sound_table_follow(&view->own_sounds, &view->world);
}

uint32_t view_local_gone(View *view, uint64_t *out, uint32_t max)
{
    const uint32_t count = view->gone_count < max ? view->gone_count : max;
    memcpy(out, view->gone, count * sizeof *out);
    view->gone_count -= count;
    memmove(view->gone, view->gone + count, view->gone_count * sizeof *out);
    return count;
}
