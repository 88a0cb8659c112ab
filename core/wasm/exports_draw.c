// What a page draws: the place, its terrain as faces, and everything that moves, as rows of
// numbers. See exports.c for how results are given back.
#include "core/base/json_member.h"
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

static bool put_shape(double *numbers, size_t *count, uint64_t net_id, uint32_t type,
                      const Shape *shape, Pose pose, uint32_t piece, uint32_t flags)
{
    if (*count + 16 > EXPORTS_NUMBERS_MAX) {
        return false;
    }
    const Vec3 p = pose.position;
    const Quat q = pose.rotation;
    const double row[16] = {
        (double)net_id, type,          shape->kind,   p.x,   p.y,   p.z, q.x, q.y, q.z, q.w,
        shape->half.x,  shape->half.y, shape->half.z, piece, flags, 0};
    memcpy(&numbers[*count], row, sizeof row);
    *count += 16;
    return true;
}

// What client scripts spawned for themselves.
static void put_locals(const View *view, double *numbers, size_t *count)
{
    for (uint32_t slot = view_local_next(view, 0); slot != 0; slot = view_local_next(view, slot)) {
        const ViewLocal *local = view_local_at(view, slot);
        const EntityType type = local->prefab->kind == PREFAB_PART ? ENTITY_PART : ENTITY_PROP;
        if (!put_shape(numbers, count, local->net_id, type, &local->shape, local->pose, 0,
                       local->data.flags)) {
            return;
        }
    }
}

// Shapes that are no anchored part of the scene, 16 doubles each: net id, type, kind of shape,
// position, rotation, half size, piece, part flags, 0.
EXPORT("clientShapes") const void *export_client_shapes(Client *client)
{
    double *numbers = exports_numbers();
    const Sim *sim = client_sim(client);
    size_t count = 0;
    for (Handle handle = sim == NULL ? HANDLE_NONE : sim_next(sim, HANDLE_NONE, ENTITY_MASK_SHAPES);
         !handle_is_none(handle); handle = sim_next(sim, handle, ENTITY_MASK_SHAPES)) {
        const Entity *entity = sim_entity(sim, handle);
        const Part *part = &entity->part;
        (void)put_shape(numbers, &count, entity->net_id, entity->type, &part->shape,
                        (Pose){entity->position, entity->rotation}, part->piece, part->data.flags);
    }
    const View *view = client_script_view(client);
    if (view != NULL) {
        put_locals(view, numbers, &count);
    }
    return exports_result(numbers, count * sizeof numbers[0]);
}

// --- how things look ----------------------------------------------------------------------------

// A number that changes whenever clientPaints may give something else.
EXPORT("clientPaintVersion") double export_client_paint_version(const Client *client)
{
    return (double)client_paint_version(client);
}

typedef struct PaintRows {
    double *numbers;
    size_t count;
    uint32_t skip; // so many rows were given before
} PaintRows;

static void put_paint(void *user, uint64_t net_id, const Paint *paint)
{
    PaintRows *rows = user;
    if (rows->skip > 0) {
        rows->skip -= 1;
        return;
    }
    if (rows->count + 1 + PAINT_MEMBER_COUNT > EXPORTS_NUMBERS_MAX) {
        return;
    }
    rows->numbers[rows->count++] = (double)net_id;
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        const uint32_t value = paint_value(paint, i);
        rows->numbers[rows->count++] =
            paint_row(i)->kind == PAINT_KIND_SHARE ? paint_share_value(value) : value;
    }
}

// How things look that are no anchored parts of the scene, or anchored parts that do not look as
// the scene has them, 8 doubles each: net id, colour, transparency, number of the material
// (materials of clientPlace), visible, glow, texture, model (1 + the number of an asset; 0: none).
// The rows of core/wire/look.def. Something may come twice, and is the same then. From a row on;
// none is the end.
EXPORT("clientPaints") const void *export_client_paints(const Client *client, uint32_t from)
{
    _Static_assert(PAINT_MEMBER_COUNT == 7, "the page reads rows of 8");
    PaintRows rows = {exports_numbers(), 0, from};
    client_painted(client, put_paint, &rows);
    return exports_result(rows.numbers, rows.count * sizeof rows.numbers[0]);
}

// The own body, 14 doubles: present, net id, position, velocity, yaw, pitch, health, 1 grounded |
// 2 climbing | 4 crouching, by how much scripts have turned the player (client_turn), and which
// buttons do anything here (client_buttons_used).
EXPORT("clientOwn") const void *export_client_own(const Client *client)
{
    double *numbers = exports_numbers();
    const PredictView own = client_own(client);
    const double row[14] = {own.present,
                            (double)own.net_id,
                            own.position.x,
                            own.position.y,
                            own.position.z,
                            own.velocity.x,
                            own.velocity.y,
                            own.velocity.z,
                            own.yaw,
                            own.pitch,
                            own.health,
                            (own.grounded ? 1 : 0) + (own.climbing ? 2 : 0) +
                                (own.crouching ? 4 : 0),
                            client_turn(client),
                            client_buttons_used(client)};
    memcpy(numbers, row, sizeof row);
    return exports_result(numbers, sizeof row);
}

// --- the place ----------------------------------------------------------------------------------

static void write_vector(JsonWriter *json, const char *name, Vec3 v)
{
    json_member_floats(json, name, (const float[]){v.x, v.y, v.z}, 3);
}

static void write_look(JsonWriter *json, Text material, uint32_t colour)
{
    json_member_text(json, "material", material);
    json_member_count(json, "colour", colour);
}

// Material and colour, and of the rest what differs from the default.
static void write_paint(JsonWriter *json, const Paint *paint)
{
    write_look(json, text_from(paint_material_name(paint->material)), paint->colour);
    for (PaintMember i = 0; i < PAINT_MEMBER_COUNT; i++) {
        const PaintRow *row = paint_row(i);
        const uint32_t value = paint_value(paint, i);
        if (i == PAINT_MATERIAL || i == PAINT_COLOUR || value == row->fallback) {
            continue;
        }
        json_write_name(json, row->name);
        if (row->kind == PAINT_KIND_BOOL) {
            json_write_bool(json, value != 0);
        } else {
            json_write_number(json, row->kind == PAINT_KIND_SHARE ? paint_share_value(value)
                                                                  : (double)value);
        }
    }
}

static void write_materials(JsonWriter *json)
{
    json_write_name(json, "materials");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < PAINT_MATERIAL_COUNT; i++) {
        json_write_text(json, paint_material_name(i));
    }
    json_write_array_end(json);
}

static void write_pieces(JsonWriter *json, const Place *place)
{
    json_write_name(json, "pieces");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < scene_piece_count(place->scene); i++) {
        const PieceDesc *piece = scene_piece(place->scene, i);
        json_write_object_begin(json);
        json_member_text(json, "name", place->piece_names[i]);
        write_paint(json, &place->paints.pieces[i]);
        json_member_floats(json, "cells",
                           (const float[]){piece->cells_x, piece->cells_y, piece->cells_z}, 3);
        json_member_number(json, "health", (double)piece->health);
        json_write_name(json, "groundOnly");
        json_write_bool(json, (piece->flags & PIECE_GROUND_ONLY) != 0);
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
        json_member_text(json, "name", place->voxel_kind_names[i]);
        write_look(json, place->voxel_kind_looks[i].material, place->voxel_kind_looks[i].colour);
        json_write_name(json, "solid");
        json_write_bool(
            json, place->chunks == NULL ||
                      voxel_kind_is_solid(chunk_store_kinds(place->chunks), (VoxelKind)(i + 1)));
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// The place without its parts:
// {"name","tickRate","viewRadius","reach","build","terraform","weapons","actions","bounds",
// "radius","height","partCount","pieces","voxelKinds","materials"}; materials are the names of the
// numbers in clientPaints. 0 before the scene is there.
EXPORT("clientPlace") const void *export_client_place(const Client *client)
{
    const Place *place = client_place(client);
    if (place == NULL) {
        return NULL;
    }
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_object_begin(&json);
    json_member_text(&json, "name", place->name);
    json_member_count(&json, "tickRate", place->tick_rate);
    json_member_number(&json, "viewRadius", (double)place->view_radius);
    json_member_number(&json, "reach", (double)place->reach_m);
    json_write_name(&json, "build");
    json_write_bool(&json, place->players_build);
    json_write_name(&json, "terraform");
    json_write_bool(&json, place->players_terraform);
    json_member_count(&json, "weapons", place->weapon_count);
    json_write_name(&json, "actions");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < place->action_count; i++) {
        json_write_text_bytes(&json, place->actions[i].data, place->actions[i].bytes);
    }
    json_write_array_end(&json);
    const Aabb bounds = scene_bounds(place->scene);
    write_vector(&json, "min", bounds.min);
    write_vector(&json, "max", bounds.max);
    json_member_number(&json, "radius", (double)place->character.radius);
    json_member_number(&json, "height", (double)place->character.height);
    json_member_count(&json, "partCount", scene_part_count(place->scene));
    write_pieces(&json, place);
    write_voxel_kinds(&json, place);
    write_materials(&json);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}

static void write_part(JsonWriter *json, const Place *place, uint32_t index)
{
    const PartDesc *part = &scene_part(place->scene, index)->desc;
    const Quat turn = part->pose.rotation;
    json_write_object_begin(json);
    json_member_count(json, "id", index + 1ull);
    json_member_count(json, "shape", (uint64_t)part->shape.kind);
    write_vector(json, "p", part->pose.position);
    json_member_floats(json, "r", (const float[]){turn.x, turn.y, turn.z, turn.w}, 4);
    write_vector(json, "half", part->shape.half);
    json_member_count(json, "flags", part->data.flags);
    write_paint(json, &place->paints.scene[index]);
    json_write_object_end(json);
}

// Anchored parts from an index on, as a list of {"id","shape","p","r","half","flags","material",
// "colour"}, and of the other members of look.def those that differ from the default; an empty list
// is the end.
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
