// Trails, lights and emitters with the place where they are drawn: movers where they are shown
// between two snapshots, everything else where the sim has it.
#include "core/client/client_inside.h"

#define BODY_MIDDLE_M 1.0f // of a character, whose position is its feet

static bool is_body(NetKind kind)
{
    return kind == NET_PLAYER || kind == NET_NPC;
}

// False: it moves, and is not in sight.
static bool mover_at(const Client *client, uint64_t net_id, Vec3 *out)
{
    for (uint32_t slot = client_next(client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client, slot)) {
        if (client->merge.slots[slot].net_id != net_id) {
            continue;
        }
        const ClientEntity entity = client_entity(client, slot);
        if (!net_kind_moves(entity.kind)) {
            return false;
        }
        *out = entity.pose.position;
        out->y += is_body(entity.kind) ? BODY_MIDDLE_M : 0;
        return true;
    }
    return false;
}

static bool place_of(const Client *client, uint64_t net_id, VisualKind kind, Vec3 *out)
{
    const PredictView own = client_own(client);
    if (own.present && own.net_id == net_id) {
        *out = vec3_add(own.position, vec3(0, BODY_MIDDLE_M, 0));
        return true;
    }
    if (mover_at(client, net_id, out)) {
        return true;
    }
    ScriptWorld *world = view_world(client->script.view);
    ScriptEntityInfo info;
    if (!world->methods->entity(world, net_id, &info)) {
        return false;
    }
    *out = info.position;
    out->y += kind == VISUAL_EMITTER ? info.size.y * 0.5f : 0; // from its upper side
    return true;
}

uint32_t client_visuals(const Client *client, ViewVisual *out, uint32_t max)
{
    if (client->script.view == NULL || client->predict == NULL) {
        return 0;
    }
    const uint32_t found = view_visuals(client->script.view, out, max);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found; i++) {
        out[count] = out[i];
        count += place_of(client, out[count].net_id, out[count].kind, &out[count].position);
    }
    return count;
}
