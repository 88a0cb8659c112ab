// The end of a run: bots stand still, links are calm, and clients that lost their connection come
// back. After three seconds no difference is allowed any more: each client must have everything in
// its sight exactly as the server has it, and nothing else.
#include "core/world/world_inside.h"
#include "tests/scenario/net/net_inside.h"

#include <string.h>

#define CALM_WITHIN_US 50000
#define COME_BACK_US   200000
#define FILLED_US      1200000 // after a welcome a picture is complete
#define RESTED_TICKS   40
#define UNPUSHED_TICKS 70
#define OWN_TICKS      12
#define STANDING_M     0.03f // the curve's tolerance and the grid
#define INSIDE_PART    0.97f // of the radius: surely in sight

void final_check_begin(Net *net)
{
    net->is_ending = true;
    for (uint32_t i = 0; i < net->client_count; i++) {
        NetClient *client = &net->clients[i];
        client->profile = &link_clean;
        // One of those who come and go stays away: the others remove it.
        if (i == 0 && client->bot.kind == BOT_CHURN &&
            client_state(client->client) == CLIENT_PLAYING) {
            const MessageLeave leave = {0};
            client->leaves = client_send(client->client, MESSAGE_LEAVE, &leave) != 0;
        }
        stream_calm(client->up, net->now_us, CALM_WITHIN_US);
        stream_calm(client->down, net->now_us, CALM_WITHIN_US);
        if (client->reconnect_us > net->now_us + COME_BACK_US) {
            client->reconnect_us = net->now_us + COME_BACK_US;
        }
    }
}

// Where it has been for a while, and how it fares; false when that changed, or when somebody
// pushed.
static bool has_rested(const Net *net, uint64_t net_id)
{
    const uint64_t now = sim_tick(world_sim(net->world));
    const PositionEntry *last = positions_at(net, now, net_id);
    for (uint64_t tick = now - RESTED_TICKS; last != NULL && tick <= now; tick++) {
        const PositionEntry *entry = positions_at(net, tick, net_id);
        if (entry == NULL || entry->pushed || entry->health != last->health ||
            !vec3_equal(entry->position, last->position)) {
            return false;
        }
    }
    return last != NULL;
}

static uint16_t whole(float health)
{
    const uint16_t floor = (uint16_t)math_clamp(health, 0, 65535);
    return (uint16_t)(floor + ((float)floor < health ? 1 : 0));
}

static uint32_t slot_of(const NetClient *client, uint64_t net_id)
{
    uint32_t slot = client_next(client->client, UINT32_MAX);
    while (slot != UINT32_MAX && client_entity(client->client, slot).net_id != net_id) {
        slot = client_next(client->client, slot);
    }
    return slot;
}

// --- what is in sight ---------------------------------------------------------------------------

static void check_structure(Net *net, const NetClient *client, const Entity *truth)
{
    const Sim *sim = client_sim(client->client);
    const Entity *known = sim_entity(sim, sim_find(sim, truth->net_id));
    const Part *a = &truth->part;
    const Part *b = known != NULL ? &known->part : NULL;
    if (b == NULL || known->type != truth->type || a->piece != b->piece || a->turn != b->turn ||
        a->cell.x != b->cell.x || a->cell.y != b->cell.y || a->cell.z != b->cell.z ||
        (float)whole(a->health) != b->health || truth->owner_id != known->owner_id) {
        net_fail(net, "client %u has another structure %llu than the server", client->index,
                 (unsigned long long)truth->net_id);
    }
}

static void check_mover(Net *net, const NetClient *client, uint32_t slot, const Entity *truth)
{
    const ClientEntity shown = client_entity(client->client, slot);
    if (!has_rested(net, truth->net_id)) {
        return;
    }
    const float off = vec3_length(vec3_sub(shown.pose.position, truth->position));
    if (off > STANDING_M) {
        net_fail(net, "client %u shows %llu %.3f m from where it stands", client->index,
                 (unsigned long long)truth->net_id, (double)off);
    }
    const bool is_dead = truth->character.health <= 0;
    if (shown.pose.health != whole(truth->character.health) ||
        ((shown.pose.flags & NET_DEAD) != 0) != is_dead) {
        net_fail(net, "client %u shows %llu with health %u instead of %u", client->index,
                 (unsigned long long)truth->net_id, shown.pose.health,
                 whole(truth->character.health));
    }
    const Entity *puppet =
        sim_entity(client_sim(client->client), sim_find(client_sim(client->client), truth->net_id));
    if (truth->net_id != client->frames.own && (puppet == NULL || puppet->type != truth->type)) {
        net_fail(net, "client %u has no puppet for %llu", client->index,
                 (unsigned long long)truth->net_id);
    }
}

static float reach_of(const Entity *entity)
{
    return entity_has_shape(entity) ? vec3_length(entity->part.placed.half) : 0;
}

static bool is_scene_part(const Sim *sim, uint64_t net_id)
{
    return net_id <= scene_part_count(sim_scene(sim));
}

// A part of the scene that was moved and rests is where the patch of its cell has put it.
static void check_moved_part(Net *net, const NetClient *client, const Entity *truth)
{
    const Sim *known = client_sim(client->client);
    const Entity *own = sim_entity(known, sim_find(known, truth->net_id));
    const Vec3 at =
        own != NULL ? own->position
                    : scene_part(sim_scene(known), (uint32_t)truth->net_id - 1)->placed.position;
    if (memcmp(&at, &truth->position, sizeof at) != 0) {
        net_fail(net, "client %u has part %llu elsewhere than the world", client->index,
                 (unsigned long long)truth->net_id);
    }
}

static void check_known(Net *net, const NetClient *client, Vec3 eye)
{
    Sim *sim = world_sim(net->world);
    const uint32_t mask = ENTITY_MASK_ALL & ~ENTITY_MASK(ENTITY_PROJECTILE);
    for (Handle handle = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(handle);
         handle = sim_next(sim, handle, mask)) {
        const Entity *entity = sim_entity(sim, handle);
        const float distance = vec3_length(vec3_sub(entity->position, eye)) - reach_of(entity);
        const uint32_t slot = slot_of(client, entity->net_id);
        if (net_is_server_only(net, entity->net_id)) {
            continue; // frame_check.c checks that no client gets it
        }
        if (slot == UINT32_MAX && is_scene_part(sim, entity->net_id)) {
            if (distance < net->whole->view_radius * INSIDE_PART && !entity->removing) {
                check_moved_part(net, client, entity);
            }
            continue;
        }
        if (slot == UINT32_MAX) {
            if (distance < net->whole->view_radius * INSIDE_PART && !entity->removing) {
                net_fail(net, "client %u does not know of %llu (type %d), %.1f m away",
                         client->index, (unsigned long long)entity->net_id, (int)entity->type,
                         (double)distance);
            }
        } else if (entity->type == ENTITY_STRUCTURE) {
            check_structure(net, client, entity);
        } else if (!entity_has_shape(entity)) {
            check_mover(net, client, slot, entity);
        }
    }
}

static void check_unknown(Net *net, const NetClient *client, Vec3 eye)
{
    Sim *sim = world_sim(net->world);
    for (uint32_t slot = client_next(client->client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client->client, slot)) {
        const ClientEntity shown = client_entity(client->client, slot);
        const Entity *entity = sim_entity(sim, sim_find(sim, shown.net_id));
        if (shown.kind == NET_PROJECTILE) {
            continue;
        }
        if (entity == NULL) {
            net_fail(net, "client %u still has %llu, which is gone", client->index,
                     (unsigned long long)shown.net_id);
        } else if (vec3_length(vec3_sub(entity->position, eye)) - reach_of(entity) >
                   net->whole->view_radius * 1.1f + 1) {
            net_fail(net, "client %u still has %llu, which is far away", client->index,
                     (unsigned long long)shown.net_id);
        }
    }
    // Anything else in its sim was invented, or not removed.
    const Sim *known = client_sim(client->client);
    for (Handle handle = sim_next(known, HANDLE_NONE, ENTITY_MASK_ALL); !handle_is_none(handle);
         handle = sim_next(known, handle, ENTITY_MASK_ALL)) {
        const uint64_t net_id = sim_entity(known, handle)->net_id;
        if (slot_of(client, net_id) == UINT32_MAX && net_id != client->frames.own &&
            !is_scene_part(known, net_id) && sim_entity(known, handle)->type != ENTITY_PROJECTILE) {
            net_fail(net, "client %u has %llu in its sim and was not told of it", client->index,
                     (unsigned long long)net_id);
        }
    }
}

// --- terrain ------------------------------------------------------------------------------------

static float gap(float low, float high, float at)
{
    return at < low ? low - at : at > high ? at - high : 0;
}

static void check_terrain(Net *net, const NetClient *client, Vec3 eye)
{
    const Terrain *truth = sim_terrain_view(world_sim(net->world));
    const Terrain *known = sim_terrain_view(client_sim(client->client));
    const float edge = (float)CHUNK_EDGE;
    for (uint32_t i = 0; i < terrain_changed_chunk_count(truth); i++) {
        const ChunkCoord at = terrain_changed_chunk(truth, i);
        const Vec3 low = vec3((float)at.x * edge, (float)at.y * edge, (float)at.z * edge);
        const Vec3 away =
            vec3(gap(low.x, low.x + edge, eye.x), gap(low.y, low.y + edge, eye.y + 1.5f),
                 gap(low.z, low.z + edge, eye.z));
        if (vec3_length(away) > net->whole->view_radius * INSIDE_PART) {
            continue;
        }
        const uint32_t version = terrain_chunk_version(truth, at);
        if (terrain_chunk_version(known, at) != version ||
            restart_chunk_hash(known, at) != restart_chunk_hash(truth, at)) {
            net_fail(net, "client %u has chunk (%d, %d, %d) at version %u, the server at %u",
                     client->index, at.x, at.y, at.z, terrain_chunk_version(known, at), version);
        }
    }
}

// --- the own body and the others' names ---------------------------------------------------------

static void check_own(Net *net, const NetClient *client, const Entity *body)
{
    const PredictView own = client_own(client->client);
    if (!own.present || own.net_id != body->net_id) {
        net_fail(net, "client %u does not have its own body", client->index);
        return;
    }
    const uint64_t now = sim_tick(world_sim(net->world));
    bool was_pushed = false;
    for (uint64_t tick = now - UNPUSHED_TICKS; tick <= now; tick++) {
        const PositionEntry *truth = positions_at(net, tick, body->net_id);
        const WatchOwn *predicted = &client->watch.own[tick % WATCH_OWN];
        was_pushed = was_pushed || truth == NULL || truth->pushed || truth->health <= 0;
        // Of a push one learns a round trip later, and has predicted some ticks by then.
        if (was_pushed || tick + OWN_TICKS < now || predicted->tick != tick) {
            continue;
        }
        if (!vec3_equal(predicted->position, truth->position)) {
            net_fail(net, "client %u predicts itself %.3f m from where it is at tick %llu",
                     client->index,
                     (double)vec3_length(vec3_sub(predicted->position, truth->position)),
                     (unsigned long long)tick);
            return;
        }
    }
    if (has_rested(net, body->net_id) && own.health != body->character.health) {
        net_fail(net, "client %u shows itself with health %.1f instead of %.1f", client->index,
                 (double)own.health, (double)body->character.health);
    }
}

static void check_roster(Net *net, const NetClient *client)
{
    const Roster *roster = authority_roster(net->world->authority);
    const Watch *watch = &client->watch;
    for (uint32_t i = 0; i < roster_count(roster); i++) {
        const uint64_t player = roster_at(roster, i)->player_id;
        uint32_t at = 0;
        while (at < watch->roster_count && watch->roster[at] != player) {
            at += 1;
        }
        if (at == watch->roster_count) {
            net_fail(net, "client %u was not told that player %llu is here", client->index,
                     (unsigned long long)player);
        }
    }
    if (watch->roster_count != roster_count(roster)) {
        net_fail(net, "client %u thinks that %u are here; there are %u", client->index,
                 watch->roster_count, roster_count(roster));
    }
}

// --- attributes and tags ------------------------------------------------------------------------

static bool value_equal(const ScriptValue *a, const ScriptValue *b)
{
    if (a->type != b->type) {
        return false;
    }
    switch (a->type) {
    case SCRIPT_BOOL:
        return a->boolean == b->boolean;
    case SCRIPT_NUMBER:
        return a->number == b->number;
    case SCRIPT_TEXT:
        return text_equal((Text){a->text.data, (uint32_t)a->text.bytes},
                          (Text){b->text.data, (uint32_t)b->text.bytes});
    case SCRIPT_VECTOR:
        return vec3_equal(a->vector, b->vector);
    case SCRIPT_ENTITY:
        return a->entity == b->entity;
    default:
        return true;
    }
}

// How many public attributes of an entity one table has and the other does not.
static uint32_t attributes_apart(const AttributeTable *from, const AttributeTable *to,
                                 uint64_t net_id)
{
    const Record *record = attribute_table_find(from, net_id);
    uint32_t apart = 0;
    AttributeEntry entry = {0};
    while (record != NULL && attribute_table_attribute_next(from, record, &entry)) {
        ScriptValue value = {0};
        const bool is_private = (entry.flags & ATTRIBUTE_PRIVATE) != 0;
        const bool is_there = attribute_table_attribute(to, net_id, entry.name, &value, NULL);
        apart += is_private ? is_there : !is_there || !value_equal(&entry.value, &value);
    }
    uint32_t index = 0;
    Text tag;
    while (record != NULL && attribute_table_tag_of(from, record, &index, &tag)) {
        apart += !attribute_table_has_tag(to, net_id, tag);
        index += 1;
    }
    return apart;
}

static void check_attributes(Net *net, const NetClient *client, uint64_t net_id)
{
    const AttributeTable *truth = authority_attributes(net->world->authority);
    const AttributeTable *own = view_attributes(client_script_view(client->client));
    if (attributes_apart(truth, own, net_id) > 0 || attributes_apart(own, truth, net_id) > 0) {
        net_fail(net, "client %u has other attributes or tags of %llu than the server",
                 client->index, (unsigned long long)net_id);
    }
}

// Those of what is in sight, and of the parts of the scene near enough that their cells are told.
static void check_all_attributes(Net *net, const NetClient *client, Vec3 eye)
{
    View *view = client_script_view(client->client);
    if (view == NULL) {
        return;
    }
    for (uint32_t slot = client_next(client->client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client->client, slot)) {
        check_attributes(net, client, client_entity(client->client, slot).net_id);
    }
    const Sim *sim = world_sim(net->world);
    for (uint32_t i = 0; i < scene_part_count(sim_scene(sim)); i++) {
        const Vec3 at = scene_part(sim_scene(sim), i)->placed.position;
        if (vec3_length(vec3_sub(at, eye)) < net->whole->view_radius &&
            !sim_part_is_hidden(sim, i)) {
            check_attributes(net, client, (uint64_t)i + 1);
        }
    }
}

// --- all of it ----------------------------------------------------------------------------------

static void check_client(Net *net, const NetClient *client)
{
    if (client_state(client->client) != CLIENT_PLAYING || client->playing_us == 0) {
        net_fail(net, "client %u does not play after the calm end: %s", client->index,
                 client_closed_reason(client->client));
        return;
    }
    uint64_t player;
    uint64_t own;
    Sim *sim = world_sim(net->world);
    if (net->now_us < client->playing_us + FILLED_US ||
        !world_player(net->world, client->connection, &player, &own)) {
        net_fail(net, "client %u took too long to come back", client->index);
        return;
    }
    const Entity *body = sim_entity(sim, sim_find(sim, own));
    if (body == NULL) {
        net_fail(net, "client %u has no body after the calm end", client->index);
        return;
    }
    check_own(net, client, body);
    check_known(net, client, body->position);
    check_unknown(net, client, body->position);
    check_terrain(net, client, body->position);
    check_roster(net, client);
    check_all_attributes(net, client, body->position);
    watch_end(net, client);
}

void final_check_compare(Net *net)
{
    for (uint32_t i = 0; i < net->client_count && !net->result.failed; i++) {
        // What hostile ones have done to their own sessions is theirs to bear.
        const NetClient *client = &net->clients[i];
        if (client->client != NULL && !client->leaves && client->bot.kind != BOT_HOSTILE) {
            check_client(net, client);
        }
    }
}
