// See build_aim.h.
#include "core/client/build_aim.h"

#include "core/client/client_inside.h"
#include "core/sim/structure.h"

// --- where --------------------------------------------------------------------------------------

static bool ray_hit(const Client *client, const BuildWish *wish, SimRayHit *hit)
{
    const SimRay ray = {.origin = wish->origin,
                        .direction = wish->direction,
                        .distance_max = client->place->reach_m,
                        .type_mask = ENTITY_MASK_SHAPES,
                        .terrain = true};
    return sim_ray(client_sim(client), &ray, hit);
}

// The lowest cell along one axis of something so long: away from a face it touches it, or goes into
// it (digging); along a face it has the point in its middle.
static int32_t lowest(float point, float normal, bool is_face, bool inwards, int32_t length)
{
    if (!is_face) {
        return math_floor_i32(point - (float)length * 0.5f + 0.5f);
    }
    if ((normal > 0) == inwards) { // it ends at the face
        return math_floor_i32(point + STRUCTURE_OVERLAP_M) - length;
    }
    return -math_floor_i32(-(point - STRUCTURE_OVERLAP_M));
}

static void place_at(const SimRayHit *hit, bool inwards, const int32_t size[3], BuildAim *out)
{
    const float point[3] = {hit->point.x, hit->point.y, hit->point.z};
    const float normal[3] = {hit->normal.x, hit->normal.y, hit->normal.z};
    uint32_t face = 0;
    for (uint32_t axis = 1; axis < 3; axis++) {
        if (math_abs(normal[axis]) > math_abs(normal[face])) {
            face = axis;
        }
    }
    int32_t min[3];
    for (uint32_t axis = 0; axis < 3; axis++) {
        const bool is_face = axis == face;
        min[axis] = lowest(point[axis], normal[axis], is_face, inwards, size[axis]);
    }
    out->min = (VoxelCoord){min[0], min[1], min[2]};
    out->max = (VoxelCoord){min[0] + size[0] - 1, min[1] + size[1] - 1, min[2] + size[2] - 1};
}

// --- may it -------------------------------------------------------------------------------------

static const Entity *living_body(const Client *client)
{
    const Sim *sim = client_sim(client);
    const Entity *body = sim_entity(sim, sim_find(sim, client->own_entity));
    return body != NULL && body->character.health > 0 ? body : NULL;
}

static BuildReason reason_of(Status status)
{
    switch (status) {
    case STATUS_OK:
        return BUILD_OK;
    case STATUS_BLOCKED:
        return BUILD_BLOCKED;
    case STATUS_DENIED:
        return BUILD_UNSUPPORTED;
    case STATUS_LIMIT:
        return BUILD_FULL;
    default:
        return BUILD_OUTSIDE;
    }
}

static BuildReason piece_reason(const Client *client, const StructureDesc *desc)
{
    const Sim *sim = client_sim(client);
    const Entity *body = living_body(client);
    if (!client->place->players_build) {
        return BUILD_FORBIDDEN;
    }
    if (body == NULL) {
        return BUILD_DEAD;
    }
    if (structure_distance(sim, desc, sim_eye(sim, body)) > client->place->reach_m) {
        return BUILD_FAR;
    }
    return reason_of(structure_check(sim, desc));
}

static bool voxels_differ(const Client *client, const BuildAim *aim, VoxelKind kind)
{
    const Terrain *terrain = sim_terrain_view(client_sim(client));
    for (int32_t z = aim->min.z; z <= aim->max.z; z++) {
        for (int32_t y = aim->min.y; y <= aim->max.y; y++) {
            for (int32_t x = aim->min.x; x <= aim->max.x; x++) {
                if (terrain_voxel(terrain, (VoxelCoord){x, y, z}) != kind) {
                    return true;
                }
            }
        }
    }
    return false;
}

static BuildReason voxel_reason(const Client *client, const BuildWish *wish, const BuildAim *aim)
{
    const Sim *sim = client_sim(client);
    const Entity *body = living_body(client);
    const float reach = client->place->reach_m;
    if (!client->place->players_terraform) {
        return BUILD_FORBIDDEN;
    }
    if (body == NULL) {
        return BUILD_DEAD;
    }
    const float half = (float)wish->edge * 0.5f;
    const Vec3 low = vec3((float)aim->min.x, (float)aim->min.y, (float)aim->min.z);
    const Vec3 centre = vec3_add(low, vec3(half, half, half));
    if (vec3_length(vec3_sub(centre, sim_eye(sim, body))) > reach || half > math_max(reach, 0.5f)) {
        return BUILD_FAR;
    }
    return voxels_differ(client, aim, wish->voxel_kind) ? BUILD_OK : BUILD_NO_CHANGE;
}

// --- both ---------------------------------------------------------------------------------------

static void find_target(const Client *client, const SimRayHit *hit, BuildAim *out)
{
    const Entity *entity = sim_entity(client_sim(client), hit->entity);
    if (entity != NULL && entity->type == ENTITY_STRUCTURE) {
        out->target = entity->net_id;
        out->target_piece = entity->part.piece;
        out->target_is_own = entity->owner_id == client->player;
    }
}

static void aim_piece(const Client *client, const BuildWish *wish, const SimRayHit *hit,
                      BuildAim *out)
{
    const Scene *scene = client->place->scene;
    if (wish->piece >= scene_piece_count(scene)) {
        return;
    }
    const PieceDesc *piece = scene_piece(scene, wish->piece);
    const bool swapped = wish->turn % 2 == 1;
    const int32_t size[3] = {swapped ? piece->cells_z : piece->cells_x, piece->cells_y,
                             swapped ? piece->cells_x : piece->cells_z};
    place_at(hit, false, size, out);
    const StructureDesc desc = {
        .owner_id = client->player, .piece = wish->piece, .cell = out->min, .turn = wish->turn % 4};
    out->reason = piece_reason(client, &desc);
}

BuildAim build_aim(const Client *client, const BuildWish *wish)
{
    BuildAim out = {.hit = false};
    SimRayHit hit;
    if (client_sim(client) == NULL || !ray_hit(client, wish, &hit)) {
        return out;
    }
    out.hit = true;
    find_target(client, &hit, &out);
    if (!wish->terrain) {
        aim_piece(client, wish, &hit, &out);
    } else if (wish->edge >= 1 && wish->edge <= VOXEL_EDIT_BOX_EDGE_MAX) {
        const int32_t edge = (int32_t)wish->edge;
        place_at(&hit, wish->voxel_kind == 0, (const int32_t[3]){edge, edge, edge}, &out);
        out.reason = voxel_reason(client, wish, &out);
    }
    return out;
}
