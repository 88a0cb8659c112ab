// The true positions on the server in the last two seconds, and how far from them a client's view
// may be. The limit is the formula of docs/PROTOCOL.md:
//
//   E = tolerance + quantum + j * d + a * d * d / 2,   at most 2 * v * d
//
// where d is the time between the two frames around the shown moment, or since the last frame if
// there is no later one; normally it is one snapshot interval. During that time the client cannot
// know of a change. j is the largest sudden change of velocity (a jump, a wall, a landing before a
// jump), a and v are the highest acceleration and speed of an entity that moves.
#include "tests/scenario/net/net_inside.h"

#define TOLERANCE_M    0.016f // of the curve, and of rounding to the grid
#define ACCELERATION_M 85.0f  // 60 on the ground and 25 of gravity
#define IMPULSE_M      8.0f
#define SPEED_M        40.0f // falling from the highest place there is
#define CLEAN_P99_M    0.05f

void positions_record(Net *net)
{
    Positions *positions = net->positions;
    Sim *sim = world_sim(net->world);
    const uint64_t tick = sim_tick(sim);
    const uint32_t at = (uint32_t)(tick % POSITION_TICKS);
    const uint32_t before = (uint32_t)((tick + POSITION_TICKS - 1) % POSITION_TICKS);
    positions->ticks[at] = tick;
    for (uint32_t slot = 0; slot <= NET_ENTITY_MAX; slot++) {
        positions->entries[at][slot].net_id = 0;
    }
    const uint32_t mask = ENTITY_MASK_CHARACTERS | ENTITY_MASK(ENTITY_PROJECTILE);
    for (Handle handle = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(handle);
         handle = sim_next(sim, handle, mask)) {
        const Entity *entity = sim_entity(sim, handle);
        const PositionEntry *last = &positions->entries[before][handle.index];
        PositionEntry *entry = &positions->entries[at][handle.index];
        *entry = (PositionEntry){.net_id = entity->net_id, .position = entity->position};
        if (entity->type != ENTITY_PROJECTILE) {
            entry->health = entity->character.health;
            entry->pushed = !vec3_equal(entity->character.push, VEC3_ZERO);
        }
        if (positions->ticks[before] + 1 == tick && last->net_id == entity->net_id &&
            entity->type != ENTITY_PROJECTILE) {
            entry->jumped = vec3_length(vec3_sub(entity->position, last->position)) > 0.5f;
        }
    }
}

const PositionEntry *positions_at(const Net *net, uint64_t tick, uint64_t net_id)
{
    const uint32_t at = (uint32_t)(tick % POSITION_TICKS);
    if (net->positions->ticks[at] != tick) {
        return NULL;
    }
    const Handle handle = sim_find(world_sim(net->world), net_id);
    if (handle_is_none(handle)) {
        return NULL;
    }
    const PositionEntry *entry = &net->positions->entries[at][handle.index];
    return entry->net_id == net_id ? entry : NULL;
}

// Did it jump, appear or go between two ticks? Then there is nothing to compare with.
static bool is_broken(const Net *net, uint64_t from, uint64_t to, uint64_t net_id)
{
    for (uint64_t tick = from; tick <= to; tick++) {
        const PositionEntry *entry = positions_at(net, tick, net_id);
        if (entry == NULL || entry->jumped) {
            return true;
        }
    }
    return false;
}

static void note_error(Net *net, float error)
{
    if (net->error_count < NET_ERRORS_MAX) {
        net->errors[net->error_count++] = error;
    }
    net->result.error_max_m = math_max(net->result.error_max_m, error);
}

static void check_entity(Net *net, NetClient *client, const ClientEntity *entity, double view)
{
    const uint64_t low = (uint64_t)view;
    const uint64_t now = sim_tick(world_sim(net->world));
    const uint64_t rate = net->whole->tick_rate;
    const uint64_t interval = rate / net->whole->snapshot_rate;
    if (low < interval * 4 || low + 1 > now || now - low + interval * 4 >= POSITION_TICKS) {
        return;
    }
    // For how long the client could get no news: between the frames around the shown moment, or
    // since the last one.
    uint64_t before, after;
    frame_check_around(&client->frames, low, &before, &after);
    const uint64_t end = after != 0 ? after : low + 1;
    const uint64_t gap = before == 0 || end - before < interval ? interval : end - before;
    const uint64_t first = before == 0 ? low - interval : before;
    if (before == 0 || gap > POSITION_TICKS / 2 ||
        is_broken(net, first > interval ? first - interval : first, end < now ? end : now,
                  entity->net_id)) {
        return;
    }
    const Vec3 a = positions_at(net, low, entity->net_id)->position;
    const Vec3 b = positions_at(net, low + 1, entity->net_id)->position;
    const Vec3 truth = vec3_lerp(a, b, (float)(view - (double)low));
    const float error = vec3_length(vec3_sub(entity->pose.position, truth));
    const float d = (float)gap / (float)rate;
    const float speed = entity->kind == NET_PROJECTILE
                            ? math_max(SPEED_M, vec3_length(entity->pose.velocity))
                            : SPEED_M;
    const float impulse = IMPULSE_M + math_max(0, -entity->pose.velocity.y);
    const float bound =
        TOLERANCE_M + math_min(impulse * d + ACCELERATION_M * d * d / 2, 2 * speed * d);
    net->result.checks += 1;
    if (gap == interval && after != 0) {
        note_error(net, error);
    }
    if (error > bound) {
        net_fail(net,
                 "client %u shows %llu (kind %d) %.3f m from the truth at tick %.2f; the bound is "
                 "%.3f m (frames %llu and %llu)",
                 client->index, (unsigned long long)entity->net_id, (int)entity->kind,
                 (double)error, view, (double)bound, (unsigned long long)before,
                 (unsigned long long)after);
    }
}

void positions_check(Net *net, NetClient *client)
{
    // A picture takes a moment to fill after the door was opened.
    if (client->client == NULL || client_state(client->client) != CLIENT_PLAYING ||
        client->playing_us == 0 || net->now_us < client->playing_us + 1500000) {
        return;
    }
    const double view = client_view_time(client->client);
    for (uint32_t slot = client_next(client->client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client->client, slot)) {
        const ClientEntity entity = client_entity(client->client, slot);
        // Of what was before it came into view nothing is known.
        const bool is_known = (double)client->frames.entered[slot] <= view;
        if (net_kind_moves(entity.kind) && entity.net_id != client->frames.own && is_known &&
            !net->scenario->has_slow_links) {
            check_entity(net, client, &entity, view);
        }
    }
    const ClientStats stats = client_stats(client->client);
    if (!client->has_settled) {
        client->settled = stats.predict;
        client->has_settled = true;
    }
    if (stats.predict.corrections_without_cause > 0) {
        net_fail(net, "client %u had a correction without a cause", client->index);
    }
}
