// See predict.h. Two things are kept per tick in a ring: the input that led to it, and the state
// that came of it. The ring is what an answer of the server is compared with, and what is played
// again from there.
//
//            T: the server's word          now: the last predicted tick
//   ─────────┼──────────────────────────────┼──────▶ ticks
//            └── inputs of T+1 … now ───────┘ played again when T differs
#include "core/client/predict.h"

#include "core/base/check.h"
#include "core/sim/structure.h"
#include "core/wire/input_frame.h"

#define SMOOTH_SECONDS    0.1f // the rest of a correction falls to a third in this time
#define SMOOTH_DISTANCE_M 2.0f // a body that jumps farther was teleported, and is shown so
#define SMOOTH_DONE_M     0.0005f
#define TERRAIN_PAGES_MIN 64 // 4 KiB each; an edited chunk has two or three

typedef struct Prediction {
    uint64_t tick;  // 0: empty
    bool has_input; // false: before the first input, standing still
    WireInputFrame frame;
    bool has_body;
    uint32_t hash;
    CharacterState state;
} Prediction;

struct Predict {
    Sim *sim;
    const Place *place;
    uint64_t own_net_id; // 0: no body
    Handle own;
    Prediction ring[PREDICT_INPUTS_MAX]; // by tick % PREDICT_INPUTS_MAX
    uint64_t ack_tick;                   // inputs up to this one were acknowledged
    Vec3 offset;                         // shown minus predicted, on its way to zero
    PredictStats stats;
};

_Static_assert((PREDICT_INPUTS_MAX & (PREDICT_INPUTS_MAX - 1)) == 0, "seq and tick wrap alike");

// --- creation -----------------------------------------------------------------------------------

// What a running world has removed from the scene that it named.
static void hide_gone(Predict *predict)
{
    const Place *place = predict->place;
    const uint32_t parts = place->scene != NULL ? scene_part_count(place->scene) : 0;
    for (uint32_t i = 0; i < parts && place->scene_gone != NULL; i++) {
        if ((place->scene_gone[i / 64] >> (i % 64) & 1) != 0) {
            const Status hidden = sim_hide_part(predict->sim, (uint64_t)i + 1);
            ASSERT(hidden == STATUS_OK);
        }
    }
}

// Moved parts of the scene are entities of this sim, but none that is seen. If there is room for
// some of them only, what is seen has room of its own (has_room).
static uint32_t moved_parts_max(const Place *place, uint32_t visible_max)
{
    const uint32_t parts = place->scene != NULL ? scene_part_count(place->scene) : 0;
    const uint32_t most = visible_max * PATCH_PARTS_PER_VISIBLE;
    return parts <= most ? parts : most + visible_max;
}

Status predict_create(Heap *heap, const Place *place, uint32_t visible_max, Predict **out)
{
    if (visible_max < 1 || visible_max > NET_SLOTS_MAX) {
        return STATUS_RANGE;
    }
    SimConfig config = sim_config_client();
    config.tick_rate = place->tick_rate;
    config.character = place->character;
    config.character_max = visible_max + 1; // and the own body, while it is not seen yet
    config.structures_max = config.character_max;
    config.entity_max = config.character_max + moved_parts_max(place, visible_max);
    // A client that sees little is a bot, and a thousand of them share a machine. Chunks that do
    // not fit are dropped and requested again (chunk_cache.c).
    const uint32_t pages = visible_max * visible_max / 64;
    config.terrain.page_max = pages > TERRAIN_PAGES_MIN ? pages : TERRAIN_PAGES_MIN;
    config.terrain.chunk_max = config.terrain.page_max / 2;
    Predict *predict = heap_alloc(heap, sizeof *predict);
    if (predict == NULL) {
        return STATUS_LIMIT;
    }
    *predict = (Predict){.own = HANDLE_NONE, .place = place};
    const Status status = sim_create(heap, &config, place->scene, &predict->sim);
    if (status != STATUS_OK) {
        heap_free(heap, predict);
        return status;
    }
    hide_gone(predict);
    *out = predict;
    return STATUS_OK;
}

void predict_destroy(Heap *heap, Predict *predict)
{
    if (predict != NULL) {
        sim_destroy(heap, predict->sim);
        heap_free(heap, predict);
    }
}

Sim *predict_sim(Predict *predict)
{
    return predict->sim;
}

const PredictStats *predict_stats(const Predict *predict)
{
    return &predict->stats;
}

WireInputFrame predict_quantise(const SimInput *input)
{
    return input_frame_quantise(input);
}

SimInput predict_input(const WireInputFrame *frame)
{
    return input_frame_sim(frame);
}

// --- the ring -----------------------------------------------------------------------------------

static Prediction *ring_at(Predict *predict, uint64_t tick)
{
    return &predict->ring[tick % PREDICT_INPUTS_MAX];
}

// The prediction for that tick; NULL if it is not in the ring.
static const Prediction *ring_find(const Predict *predict, uint64_t tick)
{
    const Prediction *found = &predict->ring[tick % PREDICT_INPUTS_MAX];
    return tick != 0 && found->tick == tick ? found : NULL;
}

// The tick of a sequence number: the nearest one to now.
static uint64_t tick_of_seq(const Predict *predict, uint32_t seq)
{
    const uint64_t now = sim_tick(predict->sim);
    const uint32_t behind = (uint32_t)now - seq;
    if (behind < 1u << 31) {
        return now > behind ? now - behind : 0;
    }
    return now + (uint32_t)(seq - (uint32_t)now);
}

static void remember(Predict *predict, Prediction *prediction)
{
    prediction->has_body = predict->own_net_id != 0;
    prediction->hash = 0;
    if (prediction->has_body) {
        prediction->state = character_state(predict->sim, predict->own);
        prediction->hash = character_state_hash(&prediction->state);
    }
}

static uint64_t scene_part_max(const Predict *predict)
{
    const Scene *scene = sim_scene(predict->sim);
    return scene != NULL ? scene_part_count(scene) : 0;
}

// --- steps --------------------------------------------------------------------------------------

static void remove_own(Predict *predict)
{
    sim_remove_now(predict->sim, predict->own);
    predict->own = HANDLE_NONE;
    predict->own_net_id = 0;
    predict->offset = VEC3_ZERO;
}

void predict_reset(Predict *predict, uint64_t tick)
{
    Sim *sim = predict->sim;
    remove_own(predict);
    for (Handle at = sim_next(sim, HANDLE_NONE, ENTITY_MASK_ALL); !handle_is_none(at);
         at = sim_next(sim, at, ENTITY_MASK_ALL)) {
        const Entity *entity = sim_entity(sim, at);
        if (entity->type != ENTITY_PART || entity->net_id > scene_part_max(predict)) {
            sim_remove_now(sim, at);
        }
    }
    for (uint32_t i = 0; i < PREDICT_INPUTS_MAX; i++) {
        predict->ring[i].tick = 0;
    }
    predict->ack_tick = 0;
    sim_set_tick(sim, tick);
}

void predict_step(Predict *predict, WireInputFrame *frame)
{
    Sim *sim = predict->sim;
    const uint64_t tick = sim_tick(sim) + 1;
    frame->tick = tick;
    frame->seq = (uint32_t)tick;
    Prediction *prediction = ring_at(predict, tick);
    if (prediction->has_input && prediction->tick > predict->ack_tick) {
        predict->stats.inputs_dropped += 1;
    }
    prediction->tick = tick;
    prediction->has_input = true;
    prediction->frame = *frame;
    const SimInput input = input_frame_sim(frame);
    sim_set_input(sim, predict->own, &input);
    sim_step(sim);
    remember(predict, prediction);
}

uint64_t predict_tick(const Predict *predict)
{
    return sim_tick(predict->sim);
}

uint32_t predict_hash(const Predict *predict, uint32_t seq)
{
    const Prediction *found = ring_find(predict, tick_of_seq(predict, seq));
    return found != NULL ? found->hash : 0;
}

static bool has_input(const Predict *predict, uint64_t tick)
{
    const Prediction *found = ring_find(predict, tick);
    return found != NULL && found->has_input;
}

// The first stored input after that tick, and how many there are from it on.
static uint32_t inputs_after(const Predict *predict, uint64_t after, uint64_t *first)
{
    const uint64_t now = sim_tick(predict->sim);
    const uint64_t oldest = now >= PREDICT_INPUTS_MAX ? now - PREDICT_INPUTS_MAX + 1 : 1;
    uint64_t tick = after + 1 > oldest ? after + 1 : oldest;
    while (tick <= now && !has_input(predict, tick)) {
        tick += 1;
    }
    *first = tick;
    return tick <= now ? (uint32_t)(now - tick + 1) : 0;
}

uint32_t predict_pending(const Predict *predict, uint32_t ack_seq)
{
    uint64_t first = 0;
    return inputs_after(predict, tick_of_seq(predict, ack_seq), &first);
}

uint32_t predict_inputs(const Predict *predict, uint32_t after_seq, WireInputFrame *out,
                        uint32_t max)
{
    uint64_t first = 0;
    const uint32_t found = inputs_after(predict, tick_of_seq(predict, after_seq), &first);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found && count < max; i++) {
        if (has_input(predict, first + i)) {
            out[count++] = ring_find(predict, first + i)->frame;
        }
    }
    return count;
}

void predict_acknowledge(Predict *predict, uint32_t ack_seq)
{
    const uint64_t tick = tick_of_seq(predict, ack_seq);
    // 0 means "none yet", and inputs that were not made cannot be acknowledged.
    if (ack_seq != 0 && tick <= sim_tick(predict->sim) && tick > predict->ack_tick) {
        predict->ack_tick = tick;
    }
}

// --- the server's word on the own body ----------------------------------------------------------

static Vec3 own_position(const Predict *predict)
{
    const Entity *entity = sim_entity(predict->sim, predict->own);
    return entity != NULL ? entity->position : VEC3_ZERO;
}

// Spawns the body; false if the sim has no room for it.
static bool spawn_own(Predict *predict, const NetOwn *own)
{
    Sim *sim = predict->sim;
    remove_own(predict);
    sim_remove_now(sim, sim_find(sim, own->net_id)); // it was something else until now
    const CharacterDesc desc = {.net_id = own->net_id, .position = own->state.position};
    Handle handle = HANDLE_NONE;
    if (sim_spawn_player(sim, &desc, &handle) != STATUS_OK) {
        predict->stats.things_dropped += 1;
        return false;
    }
    predict->own = handle;
    predict->own_net_id = own->net_id;
    return true;
}

static void count_correction(Predict *predict, const NetOwn *own, const Prediction *predicted)
{
    PredictStats *stats = &predict->stats;
    const bool had_prediction = predicted != NULL && predicted->has_body;
    const uint32_t causes =
        (own->causes & NET_CAUSES_ALL) | (had_prediction ? 0 : (uint32_t)NET_CAUSE_SPAWN);
    stats->corrections += 1;
    for (uint32_t bit = 0; bit < 8; bit++) {
        stats->corrections_by_cause[bit] += causes >> bit & 1;
    }
    if ((causes & ~(uint32_t)NET_CAUSE_PERIODIC) == 0) {
        stats->corrections_without_cause += 1;
    }
    if (had_prediction) {
        const Vec3 off = vec3_sub(own->state.position, predicted->state.position);
        stats->correction_last_m = vec3_length(off);
        stats->correction_max_m = math_max(stats->correction_max_m, stats->correction_last_m);
    }
}

// The body has the server's state of T; steps it to `now` again.
static void replay(Predict *predict, uint64_t now)
{
    Sim *sim = predict->sim;
    WireInputFrame frame = {.seq = 0}; // stands still if no input is stored
    for (uint64_t tick = sim_tick(sim) + 1; tick <= now; tick++) {
        Prediction *prediction = ring_at(predict, tick);
        if (prediction->tick == tick && prediction->has_input) {
            frame = prediction->frame;
        } else {
            prediction->tick = tick;
            prediction->has_input = false;
        }
        const SimInput input = input_frame_sim(&frame);
        sim_set_input(sim, predict->own, &input);
        sim_step(sim);
        predict->stats.replayed_ticks += 1;
        remember(predict, prediction);
    }
}

// Takes the server's state of a tick, and replays the inputs since then.
static void correct(Predict *predict, const NetOwn *own)
{
    Sim *sim = predict->sim;
    const uint64_t now = sim_tick(sim);
    // A client that is behind, or had no answer for longer than its ring, starts here.
    const bool fresh = own->tick >= now || now - own->tick >= PREDICT_INPUTS_MAX;
    const uint64_t from = own->tick >= now || !fresh ? own->tick : now;
    sim_set_tick(sim, from);
    if (character_state_apply(sim, predict->own, &own->state) != STATUS_OK) {
        // Our own server never sends this; the body stays where it was.
        predict->stats.things_dropped += 1;
    }
    Prediction *prediction = ring_at(predict, from);
    if (prediction->tick != from) {
        prediction->tick = from;
        prediction->has_input = false;
    }
    remember(predict, prediction);
    if (!fresh) {
        replay(predict, now);
    }
}

// Only the server decides health: it is applied to the current state.
static void take_health(Predict *predict, float health)
{
    CharacterState state = character_state(predict->sim, predict->own);
    if (state.health > 0 && health > 0 && state.health != health) {
        state.health = health;
        if (character_state_apply(predict->sim, predict->own, &state) != STATUS_OK) {
            predict->stats.things_dropped += 1;
        }
    }
}

void predict_own(Predict *predict, const NetOwn *own)
{
    if (own->net_id == 0) {
        remove_own(predict);
        return;
    }
    const bool is_new = own->net_id != predict->own_net_id;
    if (is_new && !spawn_own(predict, own)) {
        return;
    }
    const Prediction *predicted = is_new ? NULL : ring_find(predict, own->tick);
    if (predicted != NULL && predicted->has_body &&
        predicted->hash == character_state_hash(&own->state)) {
        take_health(predict, own->state.health);
        return;
    }
    count_correction(predict, own, predicted);
    const Vec3 shown = vec3_add(own_position(predict), predict->offset);
    correct(predict, own);
    const Vec3 offset = vec3_sub(shown, own_position(predict));
    predict->offset = !is_new && vec3_length(offset) <= SMOOTH_DISTANCE_M ? offset : VEC3_ZERO;
}

void predict_turn(Predict *predict, uint64_t tick, uint64_t yaw)
{
    const uint64_t now = sim_tick(predict->sim);
    const Prediction *before = tick > 0 && tick <= now ? ring_find(predict, tick - 1) : NULL;
    for (uint32_t i = 0; i < PREDICT_INPUTS_MAX; i++) {
        if (predict->ring[i].tick >= tick) {
            predict->ring[i].frame.yaw = yaw;
        }
    }
    if (before == NULL || !before->has_body || predict->own_net_id == 0) {
        return; // if it matters, the server corrects
    }
    const NetOwn own = {.net_id = predict->own_net_id, .tick = tick - 1, .state = before->state};
    const Vec3 shown = vec3_add(own_position(predict), predict->offset);
    correct(predict, &own);
    const Vec3 offset = vec3_sub(shown, own_position(predict));
    predict->offset = vec3_length(offset) <= SMOOTH_DISTANCE_M ? offset : VEC3_ZERO;
}

// --- what others did ----------------------------------------------------------------------------

// A character that stands on it finds it again by its net id.
static void hold_ground(Predict *predict, uint64_t net_id)
{
    if (predict->own_net_id == 0) {
        return;
    }
    const CharacterState state = character_state(predict->sim, predict->own);
    if (state.ground_net_id == net_id) {
        const Status status = character_state_apply(predict->sim, predict->own, &state);
        ASSERT(status == STATUS_OK || status == STATUS_RANGE);
    }
}

static Status enter_mover(Predict *predict, const MergeSlot *entity)
{
    const NetState *state = &entity->state;
    const uint32_t rate = sim_config(predict->sim)->tick_rate;
    const double tick = (double)state->motion.tick;
    const PuppetDesc desc = {.type = entity->kind == NET_PLAYER ? ENTITY_PLAYER
                                     : entity->kind == NET_NPC  ? ENTITY_NPC
                                                                : ENTITY_PROJECTILE,
                             .net_id = entity->net_id,
                             .owner_id = entity->owner_id,
                             .position = net_motion_position(&state->motion, tick, rate),
                             .velocity = net_motion_velocity(&state->motion, tick, rate),
                             .yaw = (float)state->yaw * (MATH_PI / 128),
                             .radius = math_min((float)state->projectile_radius / 128, 1),
                             .kind = state->projectile_kind};
    Handle puppet = HANDLE_NONE;
    const Status status = puppet_spawn(predict->sim, &desc, &puppet);
    if (status == STATUS_OK) {
        puppet_set_health(predict->sim, puppet, (float)state->health);
    }
    return status;
}

static Status enter_structure(Predict *predict, const MergeSlot *entity, const NetShape *shape)
{
    const StructureDesc desc = {.net_id = entity->net_id,
                                .owner_id = entity->owner_id,
                                .piece = shape->piece,
                                .cell = shape->cell,
                                .turn = shape->turn};
    Handle structure = HANDLE_NONE;
    const Status status = structure_place(predict->sim, &desc, &structure);
    if (status == STATUS_OK) {
        puppet_set_health(predict->sim, structure, (float)shape->health);
    }
    return status;
}

static Status enter_part(Predict *predict, const MergeSlot *entity, const NetShape *shape)
{
    Sim *sim = predict->sim;
    const ShapeDesc desc = {.net_id = entity->net_id,
                            .owner_id = entity->owner_id,
                            .part = {shape->shape, shape->rest, shape->data}};
    const bool is_anchored = entity->net_id <= scene_part_max(predict) &&
                             !sim_part_is_hidden(sim, (uint32_t)entity->net_id - 1);
    if (is_anchored) {
        const Status hidden = sim_hide_part(sim, entity->net_id);
        ASSERT(hidden == STATUS_OK);
    }
    Handle part = HANDLE_NONE;
    Status status = entity->kind == NET_PART ? sim_spawn_part(sim, &desc, &part)
                                             : sim_spawn_prop(sim, &desc, &part);
    if (status == STATUS_OK) {
        status = sim_replace_motion(sim, part, shape->rest, &shape->motion);
        if (status != STATUS_OK) {
            sim_remove_now(sim, part);
        }
    }
    if (status != STATUS_OK && is_anchored) {
        sim_show_part(sim, entity->net_id);
    }
    return status;
}

void predict_enter(Predict *predict, const MergeSlot *entity, const NetShape *shape)
{
    if (entity->net_id == 0 || entity->net_id == predict->own_net_id) {
        return; // the own body is predicted, not shown as a puppet
    }
    sim_remove_now(predict->sim, sim_find(predict->sim, entity->net_id));
    Status status = STATUS_RANGE;
    if (net_kind_moves(entity->kind)) {
        status = enter_mover(predict, entity);
    } else if (entity->kind == NET_STRUCTURE && shape != NULL) {
        status = enter_structure(predict, entity, shape);
    } else if ((entity->kind == NET_PART || entity->kind == NET_PROP) && shape != NULL) {
        status = enter_part(predict, entity, shape);
    }
    if (status != STATUS_OK) {
        predict->stats.things_dropped += 1;
        return;
    }
    hold_ground(predict, entity->net_id);
}

static bool shape_equal(Shape a, Shape b)
{
    return a.kind == b.kind && vec3_equal(a.half, b.half);
}

// False if it has to be spawned again.
static bool update_part(Predict *predict, Handle handle, const NetShape *shape)
{
    Sim *sim = predict->sim;
    const Part *part = &sim_entity(sim, handle)->part;
    if (!shape_equal(part->shape, shape_tidy(shape->shape)) ||
        (!part_data_equal(&part->data, &shape->data) &&
         sim_set_part_data(sim, handle, &shape->data) != STATUS_OK)) {
        return false;
    }
    return sim_replace_motion(sim, handle, shape->rest, &shape->motion) == STATUS_OK;
}

static bool update_structure(Predict *predict, Handle handle, const NetShape *shape)
{
    const Part *part = &sim_entity(predict->sim, handle)->part;
    if (part->piece != shape->piece || part->turn != shape->turn || part->cell.x != shape->cell.x ||
        part->cell.y != shape->cell.y || part->cell.z != shape->cell.z) {
        return false;
    }
    puppet_set_health(predict->sim, handle, (float)shape->health);
    return true;
}

void predict_update(Predict *predict, const MergeSlot *entity, uint32_t components,
                    const NetShape *shape)
{
    const Handle handle = sim_find(predict->sim, entity->net_id);
    const Entity *known = sim_entity(predict->sim, handle);
    if (entity->net_id == predict->own_net_id) {
        return;
    }
    if (known == NULL && net_kind_moves(entity->kind)) {
        predict_enter(predict, entity, NULL);
        return;
    }
    if ((components & NET_SHAPE) == 0 || shape == NULL) {
        return; // interpolation places movers
    }
    const bool is_part =
        (entity->kind == NET_PART && known != NULL && known->type == ENTITY_PART) ||
        (entity->kind == NET_PROP && known != NULL && known->type == ENTITY_PROP);
    const bool is_structure =
        entity->kind == NET_STRUCTURE && known != NULL && known->type == ENTITY_STRUCTURE;
    if ((is_part && update_part(predict, handle, shape)) ||
        (is_structure && update_structure(predict, handle, shape))) {
        return;
    }
    predict_enter(predict, entity, shape);
}

void predict_leave(Predict *predict, const MergeSlot *entity)
{
    if (entity->net_id == 0) {
        return;
    }
    if (entity->net_id == predict->own_net_id) {
        remove_own(predict);
        return;
    }
    // A part of the scene stays where it is: it came to rest, or left our sight. The patch of its
    // cell says if that is wrong.
    const bool stays = entity->net_id <= scene_part_max(predict) && entity->kind == NET_PART;
    if (!stays) {
        sim_remove_now(predict->sim, sim_find(predict->sim, entity->net_id));
    }
}

// --- changed parts of the scene -----------------------------------------------------------------

// What can be seen always finds a slot.
static bool has_room(const Predict *predict)
{
    const SimConfig *config = sim_config(predict->sim);
    uint32_t count = 0;
    for (uint32_t type = ENTITY_NONE + 1; type < ENTITY_TYPE_COUNT; type++) {
        count += sim_count(predict->sim, (EntityType)type);
    }
    const uint64_t all = scene_part_max(predict) + config->character_max;
    return all <= config->entity_max || count + config->character_max < config->entity_max;
}

// The entity that stands for a part of the scene in this sim. HANDLE_NONE: there is no room.
static Handle patched_part(Predict *predict, uint64_t net_id)
{
    Handle part = sim_find(predict->sim, net_id);
    if (handle_is_none(part)) {
        if (!has_room(predict)) {
            return HANDLE_NONE;
        }
        sim_show_part(predict->sim, net_id);
        if (sim_thaw_part(predict->sim, net_id, &part) != STATUS_OK) {
            return HANDLE_NONE;
        }
    }
    return part;
}

static void remove_part(Predict *predict, uint64_t net_id)
{
    Sim *sim = predict->sim;
    sim_remove_now(sim, sim_find(sim, net_id));
    if (!sim_part_is_hidden(sim, (uint32_t)net_id - 1)) {
        const Status hidden = sim_hide_part(sim, net_id);
        ASSERT(hidden == STATUS_OK);
    }
}

Status predict_patch(Predict *predict, const PatchRow *row)
{
    Sim *sim = predict->sim;
    if (row->net_id == 0 || row->net_id > scene_part_max(predict)) {
        return STATUS_RANGE;
    }
    if ((row->groups & PATCH_GONE) != 0 && row->gone) {
        remove_part(predict, row->net_id);
        return STATUS_OK;
    }
    if ((row->groups & PATCH_GROUPS_SOLID) == 0) {
        return STATUS_OK;
    }
    const Handle part = patched_part(predict, row->net_id);
    const Entity *entity = sim_entity(sim, part);
    if (entity == NULL) {
        predict->stats.things_dropped += 1;
        return STATUS_LIMIT;
    }
    Pose pose = {entity->position, entity->rotation};
    pose.position = (row->groups & PATCH_POSITION) != 0 ? row->pose.position : pose.position;
    pose.rotation = (row->groups & PATCH_ROTATION) != 0 ? row->pose.rotation : pose.rotation;
    Status status = sim_replace_motion(sim, part, pose, &(Motion){.count = 0});
    if (status == STATUS_OK && (row->groups & PATCH_PART_DATA) != 0) {
        status = sim_set_part_data(sim, part, &row->data);
    }
    hold_ground(predict, row->net_id);
    return status;
}

void predict_unpatch(Predict *predict)
{
    Sim *sim = predict->sim;
    const uint64_t parts = scene_part_max(predict);
    for (uint64_t net_id = 1; net_id <= parts; net_id++) {
        sim_remove_now(sim, sim_find(sim, net_id));
        sim_show_part(sim, net_id);
    }
    hide_gone(predict);
}

void predict_pose(Predict *predict, uint64_t net_id, Vec3 position, Vec3 velocity, float yaw,
                  float pitch, float health)
{
    if (net_id == predict->own_net_id) {
        return;
    }
    const Handle puppet = sim_find(predict->sim, net_id);
    puppet_pose(predict->sim, puppet, position, velocity, yaw, pitch);
    puppet_set_health(predict->sim, puppet, health);
}

// --- the own body on the screen -----------------------------------------------------------------

// Clamped to 0..1; NaN is 0.
static float part_of_one(float x)
{
    return x > 0 ? math_min(x, 1) : 0;
}

void predict_smooth(Predict *predict, float seconds)
{
    const float x = part_of_one(seconds) / SMOOTH_SECONDS;
    // One over the first terms of exp(x): accurate enough, and the same in every build.
    const float left = 1 / (1 + x + x * x / 2 + x * x * x / 6);
    predict->offset = vec3_scale(predict->offset, left);
    if (vec3_length(predict->offset) < SMOOTH_DONE_M) {
        predict->offset = VEC3_ZERO;
    }
}

PredictView predict_view(const Predict *predict, float fraction)
{
    const Entity *entity = sim_entity(predict->sim, predict->own);
    if (entity == NULL) {
        return (PredictView){.present = false};
    }
    const uint64_t now = sim_tick(predict->sim);
    const Prediction *before = now != 0 ? ring_find(predict, now - 1) : NULL;
    Vec3 from = entity->position;
    if (before != NULL && before->has_body &&
        vec3_length(vec3_sub(before->state.position, from)) <= SMOOTH_DISTANCE_M) {
        from = before->state.position;
    }
    const Character *character = &entity->character;
    const Vec3 between = vec3_lerp(from, entity->position, part_of_one(fraction));
    return (PredictView){.present = true,
                         .net_id = entity->net_id,
                         .position = vec3_add(between, predict->offset),
                         .velocity = entity->velocity,
                         .yaw = character->input.yaw,
                         .pitch = character->input.pitch,
                         .health = character->health,
                         .grounded = character->grounded,
                         .climbing = character->climbing,
                         .crouching = (character->input.buttons & INPUT_CROUCH) != 0};
}
