// What a page draws: the place, its terrain as faces, and everything that moves, as rows of
// numbers. See exports.c for how results are given back.
#include "core/client/terrain_mesh.h"
#include "core/wasm/exports_inside.h"

#include <string.h>

#define PARTS_A_PAGE 128

// --- what moves ---------------------------------------------------------------------------------

// Movers in sight, 16 doubles each: net id, owner, kind, position, velocity, yaw, pitch, flags,
// health, NPC state, projectile kind, radius.
EXPORT("clientMovers") const void *export_client_movers(const Client *client)
{
    double *numbers = exports_numbers();
    size_t count = 0;
    for (uint32_t slot = client_next(client, UINT32_MAX);
         slot != UINT32_MAX && count + 16 <= EXPORTS_NUMBERS_MAX;
         slot = client_next(client, slot)) {
        const ClientEntity entity = client_entity(client, slot);
        if (!net_kind_moves(entity.kind)) {
            continue;
        }
        const InterpolatePose *pose = &entity.pose;
        const double row[16] = {(double)entity.net_id,
                                (double)entity.owner_id,
                                entity.kind,
                                pose->position.x,
                                pose->position.y,
                                pose->position.z,
                                pose->velocity.x,
                                pose->velocity.y,
                                pose->velocity.z,
                                pose->yaw,
                                pose->pitch,
                                pose->flags,
                                pose->health,
                                pose->npc_state,
                                entity.state.projectile_kind,
                                entity.state.projectile_radius / 128.0};
        memcpy(&numbers[count], row, sizeof row);
        count += 16;
    }
    return exports_result(numbers, count * sizeof numbers[0]);
}

// Shapes that are no anchored part of the scene, 16 doubles each: net id, type, kind of shape,
// position, rotation, half size, piece, part flags.
EXPORT("clientShapes") const void *export_client_shapes(const Client *client)
{
    double *numbers = exports_numbers();
    const Sim *sim = client_sim(client);
    size_t count = 0;
    for (Handle handle = sim == NULL ? HANDLE_NONE : sim_next(sim, HANDLE_NONE, ENTITY_MASK_SHAPES);
         !handle_is_none(handle) && count + 16 <= EXPORTS_NUMBERS_MAX;
         handle = sim_next(sim, handle, ENTITY_MASK_SHAPES)) {
        const Entity *entity = sim_entity(sim, handle);
        const Part *part = &entity->part;
        const double row[16] = {
            (double)entity->net_id, entity->type,       part->shape.kind,   entity->position.x,
            entity->position.y,     entity->position.z, entity->rotation.x, entity->rotation.y,
            entity->rotation.z,     entity->rotation.w, part->shape.half.x, part->shape.half.y,
            part->shape.half.z,     part->piece,        part->data.flags,   0};
        memcpy(&numbers[count], row, sizeof row);
        count += 16;
    }
    return exports_result(numbers, count * sizeof numbers[0]);
}

// The own body, 13 doubles: present, net id, position, velocity, yaw, pitch, health, 1 grounded |
// 2 climbing, and by how much scripts have turned the player (client_turn).
EXPORT("clientOwn") const void *export_client_own(const Client *client)
{
    double *numbers = exports_numbers();
    const PredictView own = client_own(client);
    const double row[13] = {
        own.present,        (double)own.net_id, own.position.x,
        own.position.y,     own.position.z,     own.velocity.x,
        own.velocity.y,     own.velocity.z,     own.yaw,
        own.pitch,          own.health,         (own.grounded ? 1 : 0) + (own.climbing ? 2 : 0),
        client_turn(client)};
    memcpy(numbers, row, sizeof row);
    return exports_result(numbers, sizeof row);
}

// --- the place ----------------------------------------------------------------------------------

static void write_floats(JsonWriter *json, const char *name, const float *values, uint32_t count)
{
    json_write_name(json, name);
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_f32(json, values[i]);
    }
    json_write_array_end(json);
}

static void write_vector(JsonWriter *json, const char *name, Vec3 v)
{
    write_floats(json, name, (const float[]){v.x, v.y, v.z}, 3);
}

static void write_label(JsonWriter *json, const char *name, Text text)
{
    json_write_name(json, name);
    json_write_text_bytes(json, text.data, text.bytes);
}

static void write_look(JsonWriter *json, const PlaceLook *look)
{
    write_label(json, "material", look->material);
    exports_write_count(json, "colour", look->colour);
}

static void write_pieces(JsonWriter *json, const Place *place)
{
    json_write_name(json, "pieces");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < scene_piece_count(place->scene); i++) {
        const PieceDesc *piece = scene_piece(place->scene, i);
        json_write_object_begin(json);
        write_label(json, "name", place->piece_names[i]);
        write_look(json, &place->piece_looks[i]);
        write_floats(json, "cells", (const float[]){piece->cells_x, piece->cells_y, piece->cells_z},
                     3);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_voxel_kinds(JsonWriter *json, const Place *place)
{
    json_write_name(json, "voxelKinds");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < place->voxel_kind_count; i++) {
        json_write_object_begin(json);
        write_label(json, "name", place->voxel_kind_names[i]);
        write_look(json, &place->voxel_kind_looks[i]);
        json_write_name(json, "solid");
        json_write_bool(
            json, place->chunks == NULL ||
                      voxel_kind_is_solid(chunk_store_kinds(place->chunks), (VoxelKind)(i + 1)));
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_entity_looks(JsonWriter *json, const Place *place)
{
    json_write_name(json, "looks");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < place->entity_look_count; i++) {
        json_write_object_begin(json);
        exports_write_count(json, "id", place->entity_looks[i].net_id);
        write_look(json, &place->entity_looks[i].look);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// The place without its parts:
// {"name","tickRate","viewRadius","reach","build","terraform","actions","bounds",
// "radius","height","partCount","pieces","voxelKinds","looks"}; looks are of what is spawned at the
// start. 0 before the scene is there.
EXPORT("clientPlace") const void *export_client_place(const Client *client)
{
    const Place *place = client_place(client);
    if (place == NULL) {
        return NULL;
    }
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_object_begin(&json);
    write_label(&json, "name", place->name);
    exports_write_count(&json, "tickRate", place->tick_rate);
    exports_write_number(&json, "viewRadius", (double)place->view_radius);
    exports_write_number(&json, "reach", (double)place->reach_m);
    json_write_name(&json, "build");
    json_write_bool(&json, place->players_build);
    json_write_name(&json, "terraform");
    json_write_bool(&json, place->players_terraform);
    json_write_name(&json, "actions");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < place->action_count; i++) {
        json_write_text_bytes(&json, place->actions[i].data, place->actions[i].bytes);
    }
    json_write_array_end(&json);
    const Aabb bounds = scene_bounds(place->scene);
    write_vector(&json, "min", bounds.min);
    write_vector(&json, "max", bounds.max);
    exports_write_number(&json, "radius", (double)place->character.radius);
    exports_write_number(&json, "height", (double)place->character.height);
    exports_write_count(&json, "partCount", scene_part_count(place->scene));
    write_pieces(&json, place);
    write_voxel_kinds(&json, place);
    write_entity_looks(&json, place);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}

static void write_part(JsonWriter *json, const Place *place, uint32_t index)
{
    const PartDesc *part = &scene_part(place->scene, index)->desc;
    const Quat turn = part->pose.rotation;
    json_write_object_begin(json);
    exports_write_count(json, "id", index + 1ull);
    exports_write_count(json, "shape", (uint64_t)part->shape.kind);
    write_vector(json, "p", part->pose.position);
    write_floats(json, "r", (const float[]){turn.x, turn.y, turn.z, turn.w}, 4);
    write_vector(json, "half", part->shape.half);
    exports_write_count(json, "flags", part->data.flags);
    write_look(json, &place->scene_looks[index]);
    json_write_object_end(json);
}

// Anchored parts from an index on, as a list of {"id","shape","p","r","half","flags","material",
// "colour"}; an empty list is the end.
EXPORT("clientParts") const void *export_client_parts(const Client *client, uint32_t from)
{
    const Place *place = client_place(client);
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_array_begin(&json);
    const uint32_t count = place == NULL ? 0 : scene_part_count(place->scene);
    for (uint32_t i = from; i < count && i - from < PARTS_A_PAGE; i++) {
        write_part(&json, place, i);
    }
    json_write_array_end(&json);
    return exports_end_json(&json, &writer);
}

// Net ids of anchored parts that are not where they are in the scene, as doubles.
EXPORT("clientHidden") const void *export_client_hidden(const Client *client)
{
    double *numbers = exports_numbers();
    const Sim *sim = client_sim(client);
    size_t count = 0;
    for (uint32_t at = sim == NULL ? UINT32_MAX : sim_next_hidden(sim, 0);
         at != UINT32_MAX && count < EXPORTS_NUMBERS_MAX; at = sim_next_hidden(sim, at + 1)) {
        numbers[count++] = at + 1.0;
    }
    return exports_result(numbers, count * sizeof numbers[0]);
}

// What a ray meets first of terrain, parts and structures that block, 7 doubles: distance, point,
// normal. NULL: nothing, or no ray.
EXPORT("clientRay")
const void *export_client_ray(const Client *client, double x, double y, double z, double dx,
                              double dy, double dz, double distance)
{
    const Sim *sim = client_sim(client);
    const Vec3 origin = vec3((float)x, (float)y, (float)z);
    const Vec3 direction = vec3((float)dx, (float)dy, (float)dz);
    const float length = vec3_length(direction);
    if (sim == NULL || !vec3_is_finite(origin) || !(length > 0.5f && length < 2) ||
        !(distance > 0 && distance < 1000)) {
        return NULL;
    }
    const SimRay ray = {.origin = origin,
                        .direction = vec3_scale(direction, 1 / length),
                        .distance_max = (float)distance,
                        .type_mask = ENTITY_MASK_SHAPES,
                        .terrain = true};
    SimRayHit hit;
    if (!sim_ray(sim, &ray, &hit)) {
        return NULL;
    }
    double *numbers = exports_numbers();
    const double row[7] = {hit.distance, hit.point.x,  hit.point.y, hit.point.z,
                           hit.normal.x, hit.normal.y, hit.normal.z};
    memcpy(numbers, row, sizeof row);
    return exports_result(numbers, sizeof row);
}

// --- terrain ------------------------------------------------------------------------------------

// A number that changes whenever terrain does.
EXPORT("clientTerrain") uint32_t export_client_terrain(const Client *client)
{
    const Sim *sim = client_sim(client);
    return sim == NULL ? 0 : terrain_edit_count(sim_terrain_view(sim));
}

// Chunks of terrain, 4 doubles each: coordinate, version. Those of the scene come first, then those
// that were changed (again, if they are of the scene); from that number on; nothing is the end.
EXPORT("clientChunks") const void *export_client_chunks(const Client *client, uint32_t from)
{
    double *numbers = exports_numbers();
    const Sim *sim = client_sim(client);
    if (sim == NULL) {
        return exports_result(numbers, 0);
    }
    const Terrain *terrain = sim_terrain_view(sim);
    const ChunkStore *base = client_place(client)->chunks;
    const uint32_t base_count = base == NULL ? 0 : chunk_store_chunk_count(base);
    const uint32_t all = base_count + terrain_changed_chunk_count(terrain);
    size_t count = 0;
    for (uint32_t i = from; i < all && count + 4 <= EXPORTS_NUMBERS_MAX; i++) {
        const ChunkCoord at = i < base_count ? chunk_store_coord(base, i)
                                             : terrain_changed_chunk(terrain, i - base_count);
        const double row[4] = {at.x, at.y, at.z, terrain_chunk_version(terrain, at)};
        memcpy(&numbers[count], row, sizeof row);
        count += 4;
    }
    return exports_result(numbers, count * sizeof numbers[0]);
}

// The faces of a chunk: TerrainQuad, 8 bytes each (core/client/terrain_mesh.h).
EXPORT("clientChunkMesh")
const void *export_client_chunk_mesh(const Client *client, int32_t x, int32_t y, int32_t z)
{
    _Static_assert(sizeof(TerrainQuad) == 8, "the page reads them so");
    _Static_assert(TERRAIN_QUADS_MAX * sizeof(TerrainQuad) <= EXPORTS_SCRATCH_BYTES,
                   "any chunk fits");
    void *scratch = exports_scratch();
    const Sim *sim = client_sim(client);
    if (sim == NULL) {
        return exports_result(scratch, 0);
    }
    const ChunkStore *base = client_place(client)->chunks;
    const VoxelKinds kinds = base != NULL ? *chunk_store_kinds(base) : voxel_kinds_default();
    const uint32_t count = terrain_mesh(sim_terrain_view(sim), &kinds, (ChunkCoord){x, y, z},
                                        scratch, TERRAIN_QUADS_MAX);
    return exports_result(scratch, count * sizeof(TerrainQuad));
}
