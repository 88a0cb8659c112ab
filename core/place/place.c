// From bytes to a Place; see place.h. The bytes are read into a doc (wire/place_doc.h), which is
// where everything is checked; then everything a Place points to is counted, taken as one block
// that begins with a copy of the bytes, and filled. Texts point into that copy.
#include "core/place/place.h"
#include "core/place/place_entity.h"

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/wire/patch.h"
#include "core/wire/place_doc.h"

#include <string.h>

_Static_assert((int)PLACE_ATTRIBUTE_PERSISTENT == (int)ATTRIBUTE_PERSISTENT &&
                   (int)PLACE_ATTRIBUTE_PRIVATE == (int)ATTRIBUTE_PRIVATE &&
                   (int)PLACE_ATTRIBUTE_OWNER == (int)ATTRIBUTE_OWNER,
               "flags are kept as they are");
_Static_assert((int)PLACE_PREFAB_PART == (int)PREFAB_PART &&
                   (int)PLACE_PREFAB_PROP == (int)PREFAB_PROP &&
                   (int)PLACE_PREFAB_NPC == (int)PREFAB_NPC &&
                   (int)PLACE_PREFAB_PROJECTILE == (int)PREFAB_PROJECTILE,
               "kinds are kept as they are");

typedef struct Counts {
    uint32_t attributes, tags, bindings, extras;
} Counts;

typedef struct Build {
    Heap *heap;
    PlaceScratch scratch;
    PlaceDoc doc;
    const uint8_t *source; // the bytes that the doc was read from
    size_t source_bytes;
    Counts counts;
    // The block; while `measures`, only its size is added up.
    bool measures;
    size_t need;
    Arena arena;
    // Its pieces.
    Place *place;
    char *bytes;
    uint32_t *scene_ids;
    Text *scene_names, *piece_names, *actions, *voxel_names, *tags, *assets;
    Paint *paints, *piece_paints;
    PlaceVoxelLook *voxel_looks;
    Prefab *prefabs;
    PlaceSpawn *spawns;
    PlaceWeapon *weapons;
    PlaceEntity *entities;
    PlaceBinding *bindings;
    PlaceExtra *extras;
    PrefabAttribute *attributes;
    Counts used;
    const uint8_t *rows; // of a scene with its patches; row_bytes 0: none
    size_t row_bytes;
    uint64_t patch_tick;
    uint8_t *kept_rows;
    uint64_t *gone; // a bit for each part
} Build;

// --- the block ----------------------------------------------------------------------------------

static void *take_array(Build *build, size_t count, size_t item_bytes)
{
    // One more than needed, so that no list is NULL.
    const size_t bytes = heap_array_bytes(count + 1, item_bytes);
    if (build->measures) {
        build->need += arena_need(bytes);
        return NULL;
    }
    void *taken = arena_alloc(&build->arena, bytes);
    ASSERT(taken != NULL);
    return taken;
}

static void take_all(Build *build)
{
    const PlaceDoc *doc = &build->doc;
    const PlaceSettingsDoc *settings = &doc->settings;
    build->place = take_array(build, 1, sizeof(Place));
    build->bytes = take_array(build, build->source_bytes, 1);
    build->scene_names = take_array(build, doc->part_count, sizeof(Text));
    build->gone = take_array(build, doc->part_count / 64, sizeof(uint64_t));
    build->kept_rows = take_array(build, build->row_bytes, 1);
    const size_t numbered = (size_t)doc->part_count + doc->entity_count;
    build->paints = take_array(build, numbered, sizeof(Paint));
    build->scene_ids = take_array(build, numbered, sizeof(uint32_t));
    build->piece_names = take_array(build, settings->catalogue.count, sizeof(Text));
    build->piece_paints = take_array(build, settings->catalogue.count, sizeof(Paint));
    build->voxel_names = take_array(build, settings->voxel_kinds.count, sizeof(Text));
    build->voxel_looks = take_array(build, settings->voxel_kinds.count, sizeof(PlaceVoxelLook));
    build->actions = take_array(build, settings->actions.count, sizeof(Text));
    build->prefabs = take_array(build, doc->prefab_count, sizeof(Prefab));
    build->assets = take_array(build, doc->asset_count, sizeof(Text));
    build->spawns = take_array(build, doc->spawn_count, sizeof(PlaceSpawn));
    build->weapons = take_array(build, settings->weapons.count, sizeof(PlaceWeapon));
    build->entities = take_array(build, doc->entity_count, sizeof(PlaceEntity));
    build->bindings = take_array(build, build->counts.bindings, sizeof(PlaceBinding));
    build->extras = take_array(build, build->counts.extras, sizeof(PlaceExtra));
    build->attributes = take_array(build, build->counts.attributes, sizeof(PrefabAttribute));
    build->tags = take_array(build, build->counts.tags, sizeof(Text));
}

static void count_all(Build *build)
{
    const PlaceDoc *doc = &build->doc;
    Counts *counts = &build->counts;
    for (uint32_t i = 0; i < doc->scene.entities.count; i++) {
        const PlaceEntityDoc *entity = place_entity(doc, i);
        const PlaceBodyDoc *body = &entity->body;
        counts->attributes += body->attributes.count;
        counts->tags += body->tags.count;
        if (entity->role == PLACE_ROLE_SCENE_PART) {
            counts->bindings += place_script(body).bytes != 0;
            counts->extras += body->attributes.count + body->tags.count != 0;
        }
    }
    for (uint32_t i = 0; i < doc->spawned_count; i++) {
        counts->bindings += doc->spawned[i].script_path.bytes != 0;
    }
    for (uint32_t i = 0; i < doc->prefab_count; i++) {
        counts->attributes += doc->prefabs[i].body.attributes.count;
        counts->tags += doc->prefabs[i].body.tags.count;
    }
}

static Status take_block(Build *build)
{
    count_all(build);
    build->measures = true;
    take_all(build);
    void *block = heap_alloc(build->heap, build->need);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    build->measures = false;
    arena_init(&build->arena, block, build->need);
    take_all(build);
    ASSERT((void *)build->place == block);
    memcpy(build->bytes, build->source, build->source_bytes);
    return STATUS_OK;
}

// --- texts, looks, attributes -------------------------------------------------------------------

// The same characters in the copy. The constant "" of the tables is not in it.
static Text text_of(const Build *build, Text text)
{
    if (text.bytes == 0) {
        return (Text){"", 0};
    }
    const size_t at = (size_t)((const uint8_t *)text.data - build->source);
    ASSERT(at < build->source_bytes);
    return (Text){build->bytes + at, text.bytes};
}

static ScriptValue value_of(const Build *build, const PlaceAttribute *attribute)
{
    switch (attribute->type) {
    case PLACE_VALUE_BOOL:
        return (ScriptValue){.type = SCRIPT_BOOL, .boolean = attribute->boolean};
    case PLACE_VALUE_NUMBER:
        return (ScriptValue){.type = SCRIPT_NUMBER, .number = attribute->number};
    case PLACE_VALUE_TEXT:
        return (ScriptValue){.type = SCRIPT_TEXT, .text = text_of(build, attribute->text)};
    case PLACE_VALUE_VECTOR:
        return (ScriptValue){.type = SCRIPT_VECTOR, .vector = attribute->vector};
    case PLACE_VALUE_ENTITY:
    case PLACE_VALUE_TYPE_COUNT:
        break;
    }
    return (ScriptValue){.type = SCRIPT_ENTITY, .entity = attribute->net_id};
}

static const PrefabAttribute *attributes_of(Build *build, const PlaceBodyDoc *body)
{
    PrefabAttribute *first = build->attributes + build->used.attributes;
    const PlaceAttribute *attributes = body->attributes.items;
    for (uint32_t i = 0; i < body->attributes.count; i++) {
        first[i] = (PrefabAttribute){text_of(build, attributes[i].name),
                                     value_of(build, &attributes[i]), attributes[i].flags};
    }
    build->used.attributes += body->attributes.count;
    return first;
}

static const Text *tags_of(Build *build, const PlaceBodyDoc *body)
{
    Text *first = build->tags + build->used.tags;
    const Text *tags = body->tags.items;
    for (uint32_t i = 0; i < body->tags.count; i++) {
        first[i] = text_of(build, tags[i]);
    }
    build->used.tags += body->tags.count;
    return first;
}

// --- place.json ---------------------------------------------------------------------------------

static uint32_t interval_of(const PlaceWeaponDoc *weapon)
{
    if (weapon->rate > 0) {
        const int32_t interval = math_floor_i32(1000 / weapon->rate + 0.5f);
        return interval < 1 ? 1 : interval > 600000 ? 600000 : (uint32_t)interval;
    }
    return weapon->interval_ms != 0 ? weapon->interval_ms : PLACE_WEAPON_INTERVAL_MS;
}

static void fill_weapons(Build *build)
{
    const PlaceWeaponDoc *weapons = build->doc.settings.weapons.items;
    for (uint32_t i = 0; i < build->doc.settings.weapons.count; i++) {
        const PlaceWeaponDoc *weapon = &weapons[i];
        build->weapons[i] = (PlaceWeapon){.name = text_of(build, weapon->name),
                                          .interval_ms = interval_of(weapon),
                                          .speed = weapon->speed,
                                          .damage = build->doc.stripped ? 0 : weapon->damage,
                                          .gravity = weapon->gravity,
                                          .radius = weapon->radius,
                                          .lifetime_ms = weapon->lifetime_ms,
                                          .kind = weapon->kind};
    }
}

static void fill_settings(Build *build)
{
    const PlaceSettingsDoc *settings = &build->doc.settings;
    const PlacePieceDoc *pieces = settings->catalogue.items;
    for (uint32_t i = 0; i < settings->catalogue.count; i++) {
        build->piece_names[i] = text_of(build, pieces[i].name);
        build->piece_paints[i] = place_look_paint(&pieces[i].look, place_assets(&build->doc));
    }
    const PlaceVoxelDoc *voxels = settings->voxel_kinds.items;
    for (uint32_t i = 0; i < settings->voxel_kinds.count; i++) {
        build->voxel_names[i] = text_of(build, voxels[i].name);
        build->voxel_looks[i] =
            (PlaceVoxelLook){text_from(paint_material_name(voxels[i].material)), voxels[i].colour};
    }
    for (uint32_t i = 0; i < build->doc.asset_count; i++) {
        build->assets[i] = text_of(build, build->doc.assets[i]);
    }
    const Text *actions = settings->actions.items;
    for (uint32_t i = 0; i < settings->actions.count; i++) {
        build->actions[i] = text_of(build, actions[i]);
    }
    fill_weapons(build);
}

// --- entities and prefabs -----------------------------------------------------------------------

static NpcDesc npc_of(const PlaceNpcDoc *npc, Pose frame, Pose pose, uint64_t net_id)
{
    NpcDesc desc = {
        .net_id = net_id,
        .position = pose.position,
        .yaw = place_yaw(pose.rotation),
        .tuning = {.sight_m = npc->sight,
                   .sight_cos = npc->sight_cos,
                   .feel_m = npc->feel,
                   .rise = npc->rise,
                   .decay = npc->decay,
                   .suspicious_at = npc->suspicious_at,
                   .alert_at = npc->alert_at,
                   .calm_at = npc->calm_at,
                   .stop_m = npc->stop,
                   .turn_speed = npc->turn_speed,
                   .interval_ticks = npc->interval_ticks,
                   .lose_ms = npc->lose_ms,
                   .search_ms = npc->search_ms,
                   .travel_ms = npc->travel_ms,
                   .pause_ms = npc->pause_ms},
        .patrol_count = npc->patrol.count,
    };
    const PlaceRotation none = {0};
    const Vec3 *points = npc->patrol.items;
    for (uint32_t i = 0; i < npc->patrol.count; i++) {
        desc.patrol[i] = place_pose(frame, points[i], &none).position;
    }
    return desc;
}

static PlaceBinding binding_of(const Build *build, const PlaceEntityDoc *entity, uint64_t net_id)
{
    return (PlaceBinding){.net_id = net_id,
                          .script_path = text_of(build, place_script(&entity->body)),
                          .parameters = text_of(build, entity->body.parameters),
                          .enabled = entity->enabled};
}

// What the stripped form contains of entities that come by replication.
static void fill_spawned(Build *build)
{
    for (uint32_t i = 0; i < build->doc.spawned_count; i++) {
        const PlaceSpawnedDoc *spawned = &build->doc.spawned[i];
        if (spawned->script_path.bytes != 0) {
            build->bindings[build->used.bindings++] =
                (PlaceBinding){.net_id = spawned->net_id,
                               .script_path = text_of(build, spawned->script_path),
                               .parameters = text_of(build, spawned->parameters),
                               .enabled = spawned->enabled};
        }
    }
}

Status place_entity_make(const PlaceEntityDoc *doc, uint32_t tick_rate, PlaceEntity *out)
{
    static const PrefabKind kinds[] = {PREFAB_PART, PREFAB_PROP, PREFAB_NPC};
    ASSERT(doc->type <= PLACE_TYPE_NPC);
    *out = (PlaceEntity){.net_id = doc->net_id,
                         .server_only = doc->body.server_only,
                         .kind = kinds[doc->type],
                         .part = place_part(&doc->body, doc->pose)};
    if (doc->type == PLACE_TYPE_NPC) {
        out->npc = npc_of(&doc->body.npc, doc->frame, doc->pose, doc->net_id);
        return STATUS_OK;
    }
    return place_motion(doc, tick_rate, out->segments, &out->segment_count, &out->loop_ticks);
}

static Status fill_entity(Build *build, const PlaceEntityDoc *doc, PlaceEntity *entity)
{
    const PlaceBodyDoc *body = &doc->body;
    const Status status = place_entity_make(doc, build->doc.settings.tick_rate, entity);
    entity->name = text_of(build, doc->name);
    entity->attributes = attributes_of(build, body);
    entity->attribute_count = body->attributes.count;
    entity->tags = tags_of(build, body);
    entity->tag_count = body->tags.count;
    entity->binding = binding_of(build, doc, 0);
    build->paints[doc->net_id - 1] = place_look_paint(&body->look, place_assets(&build->doc));
    return status;
}

static void fill_scene_part(Build *build, const PlaceEntityDoc *doc, PartDesc *part)
{
    const PlaceBodyDoc *body = &doc->body;
    const uint32_t index = (uint32_t)(doc->net_id - 1);
    *part = place_part(body, doc->pose);
    build->scene_names[index] = text_of(build, doc->name);
    build->paints[index] = place_look_paint(&body->look, place_assets(&build->doc));
    if (place_script(body).bytes != 0) {
        build->bindings[build->used.bindings++] = binding_of(build, doc, doc->net_id);
    }
    if (body->attributes.count + body->tags.count != 0) {
        build->extras[build->used.extras++] =
            (PlaceExtra){.net_id = doc->net_id,
                         .attributes = attributes_of(build, body),
                         .attribute_count = body->attributes.count,
                         .tags = tags_of(build, body),
                         .tag_count = body->tags.count};
    }
}

// The anchored parts go to `parts`, by scene index.
static Status fill_entities(Build *build, PartDesc *parts)
{
    const PlaceDoc *doc = &build->doc;
    uint32_t spawn_count = 0;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < doc->scene.entities.count && status == STATUS_OK; i++) {
        const PlaceEntityDoc *entity = place_entity(doc, i);
        if (entity->role == PLACE_ROLE_SCENE_PART || entity->role == PLACE_ROLE_ENTITY) {
            build->scene_ids[entity->net_id - 1] = entity->id;
        }
        switch (entity->role) {
        case PLACE_ROLE_SCENE_PART:
            fill_scene_part(build, entity, &parts[entity->net_id - 1]);
            break;
        case PLACE_ROLE_ENTITY:
            status =
                fill_entity(build, entity, &build->entities[entity->net_id - 1 - doc->part_count]);
            break;
        case PLACE_ROLE_SPAWN:
            build->spawns[spawn_count++] = (PlaceSpawn){.name = text_of(build, entity->name),
                                                        .position = entity->pose.position,
                                                        .yaw = place_yaw(entity->pose.rotation),
                                                        .team = text_of(build, entity->team),
                                                        .id = entity->id};
            break;
        case PLACE_ROLE_NONE:
            break;
        }
    }
    ASSERT(status != STATUS_OK || spawn_count == doc->spawn_count);
    return status;
}

static void fill_prefab(Build *build, const PlacePrefabDoc *doc, Prefab *prefab)
{
    const PlaceBodyDoc *body = &doc->body;
    const PlaceProjectileDoc *flying = &doc->projectile;
    const uint64_t ticks =
        ((uint64_t)flying->lifetime_ms * build->doc.settings.tick_rate + 999) / 1000;
    const Pose pose = {VEC3_ZERO, place_rotation(&doc->rotation)};
    const Text script = text_of(build, place_script(body));
    const Text parameters = text_of(build, body->parameters);
    const Paint paint = place_look_paint(&body->look, place_assets(&build->doc));
    *prefab = (Prefab){
        .name = text_of(build, doc->name),
        .kind = (PrefabKind)doc->kind,
        .part = place_part(body, pose),
        .npc = npc_of(&body->npc, (Pose){VEC3_ZERO, QUAT_IDENTITY}, pose, 0),
        .projectile = {.radius = flying->radius,
                       .gravity = flying->gravity,
                       .damage = build->doc.stripped ? 0 : flying->damage,
                       .lifetime_ticks = (uint32_t)(ticks < 1 ? 1 : ticks),
                       .kind = flying->kind},
        .paint = paint,
        .painted = paint_difference(&paint_default, &paint),
        .attributes = attributes_of(build, body),
        .attribute_count = body->attributes.count,
        .tags = tags_of(build, body),
        .tag_count = body->tags.count,
        .server_only = body->server_only,
        .script_path = script.bytes == 0 ? NULL : script.data,
        .parameters = parameters.bytes == 0 ? NULL : parameters.data,
        .parameters_bytes = parameters.bytes,
    };
}

// --- the scene ----------------------------------------------------------------------------------

static void fill_pieces(const Build *build, PieceDesc *out)
{
    const PlacePieceDoc *pieces = build->doc.settings.catalogue.items;
    for (uint32_t i = 0; i < build->doc.settings.catalogue.count; i++) {
        out[i] = (PieceDesc){.cells_x = (uint8_t)pieces[i].cells[0],
                             .cells_y = (uint8_t)pieces[i].cells[1],
                             .cells_z = (uint8_t)pieces[i].cells[2],
                             .flags = pieces[i].ground_only ? PIECE_GROUND_ONLY : 0,
                             .health = pieces[i].health};
    }
}

// Parts as a running world had them.
static Status apply_patches(const Build *build, PartDesc *parts)
{
    ByteReader reader = byte_reader(build->rows, build->row_bytes);
    PatchRow row = {0};
    while (byte_reader_left(&reader) > 0) {
        if (!patch_row_read(&reader, row.net_id, &row)) {
            return reader.status;
        }
        if (row.net_id > build->doc.part_count) {
            return STATUS_RANGE;
        }
        const uint64_t index = row.net_id - 1;
        PartDesc *part = &parts[index];
        part->pose.position =
            (row.groups & PATCH_POSITION) != 0 ? row.pose.position : part->pose.position;
        part->pose.rotation =
            (row.groups & PATCH_ROTATION) != 0 ? row.pose.rotation : part->pose.rotation;
        part->data = (row.groups & PATCH_PART_DATA) != 0 ? row.data : part->data;
        build->gone[index / 64] |= (uint64_t)row.gone << (index % 64);
        build->paints[index] = (row.groups & PATCH_PAINT) != 0 ? row.paint : build->paints[index];
    }
    memcpy(build->kept_rows, build->rows, build->row_bytes);
    return reader.status;
}

static Status make_scene(Build *build, const PartDesc *parts, const PieceDesc *pieces,
                         ChunkStore **chunks, Scene **scene)
{
    const PlaceDoc *doc = &build->doc;
    ChunkStore *store = NULL;
    uint32_t bad = 0;
    Status status = place_terrain(build->heap, doc, &store, &bad);
    if (status != STATUS_OK) {
        return status;
    }
    const SceneDesc desc = {.chunks = store,
                            .parts = parts,
                            .part_count = doc->part_count,
                            .pieces = pieces,
                            .piece_count = doc->settings.catalogue.count,
                            .bounds = {doc->scene.bounds.min, doc->scene.bounds.max}};
    status = scene_create(build->heap, &desc, scene, &bad);
    if (status != STATUS_OK) {
        chunk_store_destroy(build->heap, store);
        return status;
    }
    *chunks = store;
    return STATUS_OK;
}

// --- the whole ----------------------------------------------------------------------------------

static bool has_secrets(const Build *build)
{
    for (uint32_t i = 0; i < build->doc.entity_count; i++) {
        if (build->entities[i].server_only) {
            return true;
        }
    }
    for (uint32_t i = 0; i < build->doc.prefab_count; i++) {
        if (build->prefabs[i].server_only) {
            return true;
        }
    }
    return false;
}

static void fill_place(const Build *build, const ChunkStore *chunks, const Scene *scene)
{
    const PlaceDoc *doc = &build->doc;
    const PlaceSettingsDoc *settings = &doc->settings;
    *build->place = (Place){
        .name = text_of(build, settings->name),
        .stripped = doc->stripped,
        .tick_rate = settings->tick_rate,
        .snapshot_rate = settings->snapshot_rate,
        .player_max = settings->limits.players,
        .view_radius = settings->limits.view_radius,
        .reach_m = settings->limits.reach,
        .players_build = settings->permissions.build,
        .players_terraform = settings->permissions.terraform,
        .respawn_ms = settings->respawn_ms,
        .character = settings->character,
        .scene = scene,
        .chunks = chunks,
        .scene_names = build->scene_names,
        .scene_ids = build->scene_ids,
        .piece_names = build->piece_names,
        .prefabs = {build->prefabs, doc->prefab_count},
        .paints = {build->paints, doc->part_count + doc->entity_count, build->piece_paints,
                   settings->catalogue.count},
        .assets = {build->assets, doc->asset_count},
        .spawns = build->spawns,
        .spawn_count = doc->spawn_count,
        .weapons = build->weapons,
        .weapon_count = settings->weapons.count,
        .entities = build->entities,
        .entity_count = doc->entity_count,
        .bindings = build->bindings,
        .binding_count = build->used.bindings,
        .extras = build->extras,
        .extra_count = build->used.extras,
        .actions = build->actions,
        .action_count = settings->actions.count,
        .entity_max = settings->limits.entities,
        .voxel_kind_names = build->voxel_names,
        .voxel_kind_looks = build->voxel_looks,
        .voxel_kind_count = settings->voxel_kinds.count,
        .has_secrets = has_secrets(build),
        .patch_tick = build->patch_tick,
        .scene_gone = build->gone,
        .patch_rows = build->kept_rows,
        .patch_row_bytes = build->row_bytes,
    };
}

static Status load(Build *build)
{
    PlaceDoc *doc = &build->doc;
    Status status = place_doc_read(build->source, build->source_bytes, &build->scratch, doc);
    if (status == STATUS_OK) {
        status = take_block(build);
    }
    if (status != STATUS_OK) {
        return status;
    }
    PartDesc *parts = place_scratch_take(&build->scratch, doc->part_count + 1u, sizeof *parts);
    PieceDesc *pieces =
        place_scratch_take(&build->scratch, doc->settings.catalogue.count + 1u, sizeof *pieces);
    if (parts == NULL || pieces == NULL) {
        return STATUS_LIMIT;
    }
    fill_settings(build);
    fill_pieces(build, pieces);
    for (uint32_t i = 0; i < doc->prefab_count; i++) {
        fill_prefab(build, &doc->prefabs[i], &build->prefabs[i]);
    }
    ChunkStore *chunks = NULL;
    Scene *scene = NULL;
    status = fill_entities(build, parts);
    fill_spawned(build);
    if (status == STATUS_OK && build->row_bytes > 0) {
        status = doc->stripped ? apply_patches(build, parts) : STATUS_MISMATCH;
    }
    if (status == STATUS_OK) {
        status = make_scene(build, parts, pieces, &chunks, &scene);
    }
    if (status == STATUS_OK) {
        fill_place(build, chunks, scene);
    }
    return status;
}

uint32_t place_scene_id(const Place *place, uint64_t net_id)
{
    const uint64_t count = (uint64_t)scene_part_count(place->scene) + place->entity_count;
    return place->scene_ids != NULL && net_id > 0 && net_id <= count ? place->scene_ids[net_id - 1]
                                                                     : 0;
}

Paint place_paint(const PlacePaints *paints, uint64_t net_id, const Entity *entity)
{
    if (net_id > 0 && net_id <= paints->scene_count) {
        return paints->scene[net_id - 1];
    }
    if (entity != NULL && entity->type == ENTITY_STRUCTURE &&
        entity->part.piece < paints->piece_count) {
        return paints->pieces[entity->part.piece];
    }
    return paint_default;
}

static Status load_bytes(Heap *heap, const uint8_t *bytes, size_t count, ByteWriter *stripped,
                         Place **out)
{
    PatchScene patched = {.stripped = bytes, .stripped_bytes = count};
    (void)patch_scene_open(bytes, count, &patched);
    Build build = {.heap = heap,
                   .scratch = {.heap = heap},
                   .source = patched.stripped,
                   .source_bytes = patched.stripped_bytes,
                   .rows = patched.rows,
                   .row_bytes = patched.row_bytes,
                   .patch_tick = patched.tick};
    Status status = load(&build);
    if (status == STATUS_OK) {
        if (stripped == NULL) {
            sha256_of(bytes, count, build.place->hash);
        } else {
            status = place_doc_strip(&build.doc, &build.scratch, stripped);
        }
        if (status != STATUS_OK) {
            place_unload(heap, build.place);
            build.place = NULL;
        }
    }
    place_scratch_free(&build.scratch);
    if (status != STATUS_OK) {
        heap_free(heap, build.place);
        return status;
    }
    *out = build.place;
    return STATUS_OK;
}

Status place_load(Heap *heap, const uint8_t *bytes, size_t count, Place **out)
{
    return load_bytes(heap, bytes, count, NULL, out);
}

Status place_load_whole(Heap *heap, const uint8_t *whole, size_t count, ByteWriter *stripped,
                        Place **out)
{
    return load_bytes(heap, whole, count, stripped, out);
}

void place_unload(Heap *heap, Place *place)
{
    if (place != NULL) {
        scene_destroy(heap, (Scene *)place->scene);
        chunk_store_destroy(heap, (ChunkStore *)place->chunks);
        heap_free(heap, place);
    }
}
