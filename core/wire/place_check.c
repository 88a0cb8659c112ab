// Checks the members of a doc against each other: unique names, existing parents, motion that a sim
// accepts, scripts in a service. The same checks for JSON and for bytes; a fault names the wrong
// member and its object, and place.c finds its line.
//
// A build stops at the first fault. An editor shows all of them: then fail() hands each to the sink
// and says STATUS_OK, so that every check below goes on to the next thing. Whatever is returned but
// STATUS_OK ends the walk.
#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "core/wire/place_doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const Text air = {"air", 3};

typedef struct Check {
    PlaceDoc *doc;
    PlaceScratch *scratch;
    PlaceFault *fault;   // the first, where the check ends
    PlaceFaultSink sink; // or all of them; NULL: only the first
    void *user;
    uint32_t *slots; // open addressing: index + 1 of the entity with an id
    uint32_t slot_mask;
    // By type and kind: bit i says that member i of the table must be left out.
    uint64_t entity_banned[PLACE_TYPE_GROUP + 1];
    uint64_t prefab_banned[PLACE_PREFAB_PROJECTILE + 1];
    // The object that is being checked.
    PlacePart part;
    uint32_t prefab;
    const char *list;
    uint32_t index;
} Check;

__attribute__((format(printf, 4, 5))) static Status
fail(const Check *check, Status status, const char *member, const char *format, ...)
{
    PlaceFault fault = {.status = status,
                        .part = check->part,
                        .prefab = check->prefab,
                        .list = check->list,
                        .index = check->index,
                        .member = member};
    if (check->part == PLACE_PART_SCENE && check->list != NULL &&
        strcmp(check->list, "entities") == 0) {
        fault.entity = place_entity(check->doc, check->index)->id;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(fault.message, sizeof fault.message, format, arguments);
    va_end(arguments);
    if (check->sink != NULL) {
        check->sink(check->user, &fault);
        return STATUS_OK;
    }
    *check->fault = fault;
    return status;
}

static void look_at(Check *check, PlacePart part, const char *list, uint32_t index)
{
    check->part = part;
    check->list = list;
    check->index = index;
}

// --- place.json ---------------------------------------------------------------------------------

// Items of a list begin with their name.
static Status check_names(Check *check, const char *list, const PlaceList *items, size_t item_bytes)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < items->count && status == STATUS_OK; i++) {
        const Text *name = (const Text *)((const uint8_t *)items->items + i * item_bytes);
        for (uint32_t before = 0; before < i; before++) {
            const Text *other = (const Text *)((const uint8_t *)items->items + before * item_bytes);
            if (text_equal(*name, *other)) {
                look_at(check, PLACE_PART_SETTINGS, list, i);
                status =
                    fail(check, STATUS_EXISTS, "name", "is there already; choose another name");
                break;
            }
        }
    }
    return status;
}

static Status check_rates(Check *check)
{
    const PlaceSettingsDoc *settings = &check->doc->settings;
    look_at(check, PLACE_PART_SETTINGS, NULL, 0);
    Status status = STATUS_OK;
    if (settings->tick_rate != TICK_RATE_DEFAULT && settings->tick_rate != TICK_RATE_LOW) {
        status = fail(check, STATUS_RANGE, "tickRate", "must be %d or %d", TICK_RATE_LOW,
                      TICK_RATE_DEFAULT);
    } else if (settings->tick_rate % settings->snapshot_rate != 0) {
        status = fail(check, STATUS_RANGE, "snapshotRate", "must divide tickRate: 10%s is good",
                      settings->tick_rate == TICK_RATE_LOW ? " or 15" : ", 15 or 20");
    }
    if (status != STATUS_OK) {
        return status;
    }
    SimConfig config = sim_config_default();
    config.character = settings->character;
    if (sim_config_check(&config) != STATUS_OK) {
        return fail(check, STATUS_RANGE, "character",
                    "has sizes that do not fit: height at least twice radius, stepHeight less");
    }
    return STATUS_OK;
}

static Status check_settings(Check *check)
{
    const PlaceSettingsDoc *settings = &check->doc->settings;
    Status status = check_rates(check);
    if (status == STATUS_OK) {
        status = check_names(check, "catalogue", &settings->catalogue, sizeof(PlacePieceDoc));
    }
    if (status == STATUS_OK) {
        status = check_names(check, "weapons", &settings->weapons, sizeof(PlaceWeaponDoc));
    }
    if (status == STATUS_OK) {
        status = check_names(check, "voxelKinds", &settings->voxel_kinds, sizeof(PlaceVoxelDoc));
    }
    const PlaceVoxelDoc *voxels = settings->voxel_kinds.items;
    for (uint32_t i = 0; i < settings->voxel_kinds.count && status == STATUS_OK; i++) {
        if (text_equal(voxels[i].name, air)) {
            look_at(check, PLACE_PART_SETTINGS, "voxelKinds", i);
            status = fail(check, STATUS_EXISTS, "name", "is kind 0 already; choose another name");
        }
    }
    const PlaceWeaponDoc *weapons = settings->weapons.items;
    for (uint32_t i = 0; i < settings->weapons.count && status == STATUS_OK; i++) {
        if (weapons[i].rate != 0 && weapons[i].interval_ms != 0) {
            look_at(check, PLACE_PART_SETTINGS, "weapons", i);
            status = fail(check, STATUS_MALFORMED, "rate",
                          "and intervalMs say the same; take one of them out");
        }
    }
    return status;
}

// --- terrain ------------------------------------------------------------------------------------

static bool find_kind(const PlaceDoc *doc, Text name, uint32_t *kind)
{
    if (text_equal(name, air)) {
        *kind = VOXEL_AIR;
        return true;
    }
    const PlaceVoxelDoc *voxels = doc->settings.voxel_kinds.items;
    for (uint32_t i = 0; i < doc->settings.voxel_kinds.count; i++) {
        if (text_equal(voxels[i].name, name)) {
            *kind = i + 1;
            return true;
        }
    }
    return false;
}

static uint64_t chunks_along(int32_t min, int32_t max)
{
    return (uint64_t)((max >> 5) - (min >> 5) + 1);
}

static Status check_fill(Check *check, PlaceFillDoc *fill)
{
    PlaceDoc *doc = check->doc;
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (fill->min[axis] > fill->max[axis]) {
            return fail(check, STATUS_RANGE, "max", "must not be below min; exchange them");
        }
    }
    if (!find_kind(doc, fill->kind, &fill->kind_number)) {
        return fail(check, STATUS_NOT_FOUND, "kind",
                    "must be \"air\" or a name from voxelKinds in place.json");
    }
    const uint64_t touched = chunks_along(fill->min[0], fill->max[0]) *
                             chunks_along(fill->min[1], fill->max[1]) *
                             chunks_along(fill->min[2], fill->max[2]);
    if (touched > PLACE_TOUCHED_MAX - doc->touched_count) {
        return fail(check, STATUS_LIMIT, NULL, "and those before touch more than %d chunks",
                    PLACE_TOUCHED_MAX);
    }
    doc->touched_count += (uint32_t)touched;
    return STATUS_OK;
}

// "chunks/-1_0_12.chunk", in exactly this form.
bool place_chunk_path(Text path, ChunkCoord *at)
{
    int32_t numbers[3] = {0};
    const char *text = path.data;
    if (strncmp(text, "chunks/", 7) != 0) {
        return false;
    }
    text += 7;
    for (uint32_t i = 0; i < 3; i++) {
        const bool negative = *text == '-';
        text += negative;
        for (uint32_t digits = 0; digits < 3 && *text >= '0' && *text <= '9'; digits++, text++) {
            numbers[i] = numbers[i] * 10 + (*text - '0');
        }
        numbers[i] = negative ? -numbers[i] : numbers[i];
        if (i < 2 && *text++ != '_') {
            return false;
        }
    }
    char again[48];
    (void)snprintf(again, sizeof again, "chunks/%d_%d_%d.chunk", (int)numbers[0], (int)numbers[1],
                   (int)numbers[2]);
    *at = (ChunkCoord){numbers[0], numbers[1], numbers[2]};
    return strcmp(again, path.data) == 0;
}

static bool is_chunk_coord(int32_t value)
{
    return value >= -CHUNK_COORD_MAX && value < CHUNK_COORD_MAX;
}

static Status check_chunk(Check *check, PlaceFillDoc *fill)
{
    PlaceDoc *doc = check->doc;
    if (fill->kind.bytes != 0) {
        return fail(check, STATUS_MALFORMED, "kind",
                    "does not go with chunk; take one of them out");
    }
    if (!place_chunk_path(fill->chunk, &fill->at) || !is_chunk_coord(fill->at.x) ||
        !is_chunk_coord(fill->at.y) || !is_chunk_coord(fill->at.z)) {
        return fail(check, STATUS_RANGE, "chunk",
                    "must be chunks/<x>_<y>_<z>.chunk with numbers from -512 to 511");
    }
    if (fill->data == NULL) {
        return fail(check, STATUS_NOT_FOUND, "chunk", "names a file that is not in the place");
    }
    if (doc->touched_count == PLACE_TOUCHED_MAX || fill->data_bytes > CHUNK_BYTES_MAX) {
        return fail(check, STATUS_LIMIT, "chunk", "is too much terrain");
    }
    doc->touched_count += 1;
    doc->chunk_page_count += fill->data_bytes / 4096 + 2;
    return STATUS_OK;
}

static Status check_terrain(Check *check)
{
    PlaceDoc *doc = check->doc;
    doc->touched_count = 0;
    doc->chunk_page_count = 0;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < doc->scene.terrain.count && status == STATUS_OK; i++) {
        PlaceFillDoc *fill = place_fill(doc, i);
        look_at(check, PLACE_PART_SCENE, "terrain", i);
        status = fill->chunk.bytes != 0 ? check_chunk(check, fill) : check_fill(check, fill);
    }
    return status;
}

// --- ids, parents, roles ------------------------------------------------------------------------

static PlaceEntityDoc *find_entity(const Check *check, uint32_t id)
{
    uint32_t slot = (uint32_t)hash_mix(id) & check->slot_mask;
    for (; check->slots[slot] != 0; slot = (slot + 1) & check->slot_mask) {
        PlaceEntityDoc *entity = place_entity(check->doc, check->slots[slot] - 1);
        if (entity->id == id) {
            return entity;
        }
    }
    return NULL;
}

static Status index_ids(Check *check)
{
    const uint32_t count = check->doc->scene.entities.count;
    uint32_t size = 16;
    while (size < 2 * count) {
        size *= 2;
    }
    check->slots = place_scratch_take(check->scratch, size, sizeof check->slots[0]);
    check->slot_mask = size - 1;
    look_at(check, PLACE_PART_SCENE, NULL, 0);
    if (check->slots == NULL) {
        (void)fail(check, STATUS_LIMIT, "entities", "need more memory than there is");
        return STATUS_LIMIT;
    }
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const uint32_t id = place_entity(check->doc, i)->id;
        if (find_entity(check, id) != NULL) {
            look_at(check, PLACE_PART_SCENE, "entities", i);
            status = fail(check, STATUS_EXISTS, "id", "is used by an entity before; take another");
            continue;
        }
        uint32_t slot = (uint32_t)hash_mix(id) & check->slot_mask;
        while (check->slots[slot] != 0) {
            slot = (slot + 1) & check->slot_mask;
        }
        check->slots[slot] = i + 1;
    }
    return status;
}

// Gives an entity whose parents are wrong the pose it has without them, for the checks that follow.
static void stand_alone(PlaceEntityDoc *entity)
{
    entity->frame = (Pose){VEC3_ZERO, QUAT_IDENTITY};
    entity->pose =
        place_pose(entity->frame, entity->transform.position, &entity->transform.rotation);
}

// Computes the poses of an entity and of everything above it. A pose that is not computed yet has a
// rotation of all zeros.
static Status resolve(Check *check, PlaceEntityDoc *entity)
{
    PlaceEntityDoc *chain[PLACE_PARENTS_MAX + 1];
    uint32_t depth = 0;
    Pose frame = {VEC3_ZERO, QUAT_IDENTITY};
    for (PlaceEntityDoc *at = entity;;) {
        if (depth == PLACE_PARENTS_MAX + 1) {
            stand_alone(entity);
            return fail(check, STATUS_LIMIT, "parent", "has itself or more than %d others above it",
                        PLACE_PARENTS_MAX);
        }
        chain[depth++] = at;
        if (at->parent == 0) {
            break;
        }
        PlaceEntityDoc *above = find_entity(check, at->parent);
        if (above == NULL && at != entity && check->sink != NULL) {
            break; // a fault of that parent, and not of this entity
        }
        if (above == NULL) {
            stand_alone(entity);
            return fail(check, STATUS_NOT_FOUND, "parent", "must be the id of an entity");
        }
        at = above;
        if (at->role != PLACE_ROLE_NONE || at->pose.rotation.w != 0 || at->pose.rotation.x != 0 ||
            at->pose.rotation.y != 0 || at->pose.rotation.z != 0) {
            frame = at->pose;
            break;
        }
    }
    while (depth > 0) {
        PlaceEntityDoc *at = chain[--depth];
        at->frame = frame;
        at->pose = place_pose(frame, at->transform.position, &at->transform.rotation);
        frame = at->pose;
    }
    return STATUS_OK;
}

static bool has_motion(const PlaceEntityDoc *entity)
{
    return entity->motion.waypoints.count != 0 || entity->motion.segments.count != 0;
}

static PlaceRole role_of(const PlaceEntityDoc *entity)
{
    switch ((PlaceType)entity->type) {
    case PLACE_TYPE_PART:
        return entity->anchored && !entity->body.server_only && !has_motion(entity)
                   ? PLACE_ROLE_SCENE_PART
                   : PLACE_ROLE_ENTITY;
    case PLACE_TYPE_PROP:
    case PLACE_TYPE_NPC:
        return PLACE_ROLE_ENTITY;
    case PLACE_TYPE_SPAWN:
        return PLACE_ROLE_SPAWN;
    case PLACE_TYPE_GROUP:
        break;
    }
    return PLACE_ROLE_NONE;
}

static Status number_entities(Check *check)
{
    PlaceDoc *doc = check->doc;
    const uint32_t count = doc->scene.entities.count;
    doc->part_count = doc->entity_count = doc->spawn_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        PlaceEntityDoc *entity = place_entity(doc, i);
        entity->role = role_of(entity);
        doc->part_count += entity->role == PLACE_ROLE_SCENE_PART;
        doc->entity_count += entity->role == PLACE_ROLE_ENTITY;
        doc->spawn_count += entity->role == PLACE_ROLE_SPAWN;
    }
    uint64_t part = 1;
    uint64_t other = (uint64_t)doc->part_count + 1;
    for (uint32_t i = 0; i < count; i++) {
        PlaceEntityDoc *entity = place_entity(doc, i);
        entity->net_id = entity->role == PLACE_ROLE_SCENE_PART ? part++
                         : entity->role == PLACE_ROLE_ENTITY   ? other++
                                                               : 0;
    }
    look_at(check, PLACE_PART_SCENE, NULL, 0);
    Status status = STATUS_OK;
    if (doc->part_count > SCENE_PARTS_MAX || doc->spawn_count > PLACE_SPAWNS_MAX ||
        doc->entity_count > doc->settings.limits.entities) {
        status = fail(check, STATUS_LIMIT, "entities",
                      "are too many: %d anchored parts, %d spawns, and limits.entities of others",
                      SCENE_PARTS_MAX, PLACE_SPAWNS_MAX);
    }
    if (status == STATUS_OK && doc->spawn_count == 0) {
        return fail(check, STATUS_NOT_FOUND, "entities",
                    "must have at least one of type spawn, where players begin");
    }
    if (status == STATUS_OK && doc->stripped && doc->entity_count != 0) {
        return fail(check, STATUS_MALFORMED, "entities", "must be stripped");
    }
    return status;
}

// --- what a body may have -----------------------------------------------------------------------

#define ALWAYS  " id name type parent transform format kind "
#define LOOKS   " colour transparency material visible glow texture model"
#define SCRIPTS " scriptRef scriptPath parameters enabled serverOnly attributes tags" LOOKS " "
#define SHAPES  " shape rotation trigger ghost ladder bounce damage conveyor "

static bool is_listed(const char *list, const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name)) {
        if (at[-1] == ' ' && at[bytes] == ' ') {
            return true;
        }
    }
    return false;
}

static uint64_t banned_members(const PlaceTable *table, const char *allowed)
{
    uint64_t banned = 0;
    for (uint32_t i = 0; i < table->field_count; i++) {
        const char *name = table->fields[i].name;
        banned |= (uint64_t)(!is_listed(ALWAYS, name) && !is_listed(allowed, name)) << i;
    }
    return banned;
}

static void list_banned(Check *check)
{
    static const char *const of_type[] = {SHAPES SCRIPTS " anchored motion ",
                                          SHAPES SCRIPTS " motion ", SCRIPTS " npc ", " team ",
                                          " "};
    static const char *const of_kind[] = {SHAPES SCRIPTS, SHAPES SCRIPTS, SCRIPTS " npc ",
                                          SCRIPTS " projectile "};
    for (uint32_t i = 0; i <= PLACE_TYPE_GROUP; i++) {
        check->entity_banned[i] = banned_members(&place_table_entity, of_type[i]);
    }
    for (uint32_t i = 0; i <= PLACE_PREFAB_PROJECTILE; i++) {
        check->prefab_banned[i] = banned_members(&place_table_prefab, of_kind[i]);
    }
}

// A member without an effect is an error and not ignored.
static Status check_members(Check *check, const PlaceTable *table, const void *item,
                            uint64_t banned, const char *what)
{
    Status status = STATUS_OK;
    for (; banned != 0 && status == STATUS_OK; banned &= banned - 1) {
        const PlaceField *field = &table->fields[__builtin_ctzll(banned)];
        if (!place_field_is_left_out(field, item, false)) {
            status = fail(check, STATUS_UNSUPPORTED, field->name,
                          "means nothing for type %s; take it out", what);
        }
    }
    return status;
}

static Status check_asset(Check *check, PaintMember member, Text name)
{
    const AssetNames assets = place_assets(check->doc);
    if (name.bytes == 0 || asset_name_find(&assets, member, name) != 0) {
        return STATUS_OK;
    }
    char near[ASSET_NEAR_BYTES];
    asset_name_near(&assets, member, name, near);
    return fail(check, STATUS_NOT_FOUND, paint_row(member)->name, "is \"%.*s\": %s",
                (int)(name.bytes < 64 ? name.bytes : 64), name.data, near);
}

static Status check_look(Check *check, const PlaceLookDoc *look)
{
    const Status status = check_asset(check, PAINT_TEXTURE, look->texture);
    return status != STATUS_OK ? status : check_asset(check, PAINT_MODEL, look->model);
}

static Status check_script(Check *check, Text path, Text parameters, const char *member)
{
    if (path.bytes == 0 && parameters.bytes != 0) {
        return fail(check, STATUS_NOT_FOUND, "scriptPath", "is missing, but parameters are not");
    }
    if (path.bytes != 0 && !place_script_has_entity(path)) {
        return fail(check, STATUS_NOT_FOUND, member,
                    "must be in Workspace/ or ServerScriptService/: scripts there have an entity");
    }
    if (parameters.bytes != 0 && parameters.data[0] != '{') {
        return fail(check, STATUS_MALFORMED, "parameters", "must be an object");
    }
    return STATUS_OK;
}

static Status check_body_script(Check *check, const PlaceBodyDoc *body)
{
    return check_script(check, place_script(body), body->parameters,
                        body->script_path.bytes != 0 ? "scriptPath" : "scriptRef");
}

// Name, attributes and tags travel in one record.
static Status check_attributes(Check *check, Text name, const PlaceBodyDoc *body)
{
    uint64_t bytes = 4 + name.bytes;
    PlaceAttribute *attributes = body->attributes.items;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < body->attributes.count && status == STATUS_OK; i++) {
        PlaceAttribute *attribute = &attributes[i];
        bytes += attribute->name.bytes + attribute->text.bytes + 16;
        const bool is_reference = attribute->type == PLACE_VALUE_ENTITY;
        if (is_reference && check->part == PLACE_PART_PREFAB) {
            status = fail(check, STATUS_UNSUPPORTED, "attributes",
                          "of a prefab cannot name an entity of the scene");
            continue;
        }
        attribute->net_id = attribute->entity;
        if (!is_reference || check->doc->stripped) {
            continue;
        }
        const PlaceEntityDoc *entity = find_entity(check, attribute->entity);
        if (entity == NULL || entity->net_id == 0) {
            status = fail(check, STATUS_NOT_FOUND, "attributes",
                          "name entity %u, which must be a part, prop or npc",
                          (unsigned)attribute->entity);
            continue;
        }
        attribute->net_id = entity->net_id;
        attribute->is_hidden = entity->body.server_only;
    }
    const Text *tags = body->tags.items;
    for (uint32_t i = 0; i < body->tags.count; i++) {
        bytes += tags[i].bytes + 2;
    }
    if (status == STATUS_OK && bytes > PLACE_ATTRIBUTES_BYTES_MAX) {
        return fail(check, STATUS_LIMIT, "attributes",
                    "with tags and name take %u bytes, at most %d are possible", (unsigned)bytes,
                    PLACE_ATTRIBUTES_BYTES_MAX);
    }
    return status;
}

bool place_is_in_world(Vec3 p)
{
    const float most = WORLD_EXTENT_M;
    return math_abs(p.x) <= most && math_abs(p.y) <= most && math_abs(p.z) <= most;
}

static Status check_npc(Check *check, const PlaceNpcDoc *npc, Pose frame)
{
    if (!(npc->calm_at <= npc->suspicious_at && npc->suspicious_at <= npc->alert_at)) {
        return fail(check, STATUS_RANGE, "npc", "must have calmAt <= suspiciousAt <= alertAt");
    }
    const PlaceRotation none = {0};
    const Vec3 *points = npc->patrol.items;
    for (uint32_t i = 0; i < npc->patrol.count; i++) {
        if (!place_is_in_world(place_pose(frame, points[i], &none).position)) {
            return fail(check, STATUS_RANGE, "npc", "has a patrol that leaves the world");
        }
    }
    return STATUS_OK;
}

static Status check_part(Check *check, const PlaceBodyDoc *body, Pose pose)
{
    const PartDesc part = place_part(body, pose);
    if (part_desc_check(&part) != STATUS_OK) {
        return fail(check, STATUS_RANGE, "conveyor", "must be at most 50 m/s");
    }
    return STATUS_OK;
}

static Status check_motion(Check *check, const PlaceEntityDoc *entity)
{
    if (entity->motion.waypoints.count != 0 && entity->motion.segments.count != 0) {
        return fail(check, STATUS_MALFORMED, "motion", "must have waypoints or segments, not both");
    }
    if (entity->motion.loop && !has_motion(entity)) {
        return fail(check, STATUS_NOT_FOUND, "motion", "must have waypoints or segments");
    }
    MotionSegment segments[MOTION_SEGMENTS_MAX];
    uint32_t count;
    uint32_t loop_ticks;
    switch (place_motion(entity, check->doc->settings.tick_rate, segments, &count, &loop_ticks)) {
    case STATUS_OK:
        return STATUS_OK;
    case STATUS_LIMIT:
        return fail(check, STATUS_LIMIT, "motion", "must have at most %d waypoints without loop",
                    MOTION_SEGMENTS_MAX - 1);
    case STATUS_MISMATCH:
        return fail(check, STATUS_MISMATCH, "motion",
                    "must come back to where it begins, because it loops: add a last waypoint");
    default:
        return fail(check, STATUS_RANGE, "motion",
                    "is faster than %.0f m/s, leaves the world, or has segments out of order",
                    (double)MOTION_SPEED_MAX);
    }
}

static Status check_entity(Check *check, PlaceEntityDoc *entity)
{
    static const char *const words[] = {"part", "prop", "npc", "spawn", "group"};
    if (check->doc->stripped && entity->role == PLACE_ROLE_SCENE_PART &&
        entity->id != entity->net_id) {
        return fail(check, STATUS_MALFORMED, "id", "must be its net id");
    }
    Status status = check_members(check, &place_table_entity, entity,
                                  check->entity_banned[entity->type], words[entity->type]);
    if (status == STATUS_OK && !place_is_in_world(entity->pose.position)) {
        status = fail(check, STATUS_RANGE, "transform", "with its parents is outside the world");
    }
    if (status == STATUS_OK && entity->type <= PLACE_TYPE_PROP) {
        status = check_part(check, &entity->body, entity->pose);
        if (status == STATUS_OK) {
            status = check_motion(check, entity);
        }
    }
    if (status == STATUS_OK && entity->type == PLACE_TYPE_NPC) {
        status = check_npc(check, &entity->body.npc, entity->frame);
    }
    if (status == STATUS_OK) {
        status = check_body_script(check, &entity->body);
    }
    if (status == STATUS_OK) {
        status = check_look(check, &entity->body.look);
    }
    return status != STATUS_OK ? status : check_attributes(check, entity->name, &entity->body);
}

static Status check_prefab(Check *check, PlacePrefabDoc *prefab)
{
    static const char *const words[] = {"part", "prop", "npc", "projectile"};
    Status status = check_members(check, &place_table_prefab, prefab,
                                  check->prefab_banned[prefab->kind], words[prefab->kind]);
    const Pose pose = {VEC3_ZERO, place_rotation(&prefab->rotation)};
    if (status == STATUS_OK && prefab->kind <= PLACE_PREFAB_PROP) {
        status = check_part(check, &prefab->body, pose);
    }
    if (status == STATUS_OK && prefab->kind == PLACE_PREFAB_NPC) {
        status = check_npc(check, &prefab->body.npc, (Pose){VEC3_ZERO, QUAT_IDENTITY});
    }
    if (status == STATUS_OK) {
        status = check_body_script(check, &prefab->body);
    }
    if (status == STATUS_OK) {
        status = check_look(check, &prefab->body.look);
    }
    return status != STATUS_OK ? status : check_attributes(check, PLACE_TEXT_NONE, &prefab->body);
}

// --- the whole ----------------------------------------------------------------------------------

static Status check_bounds(Check *check)
{
    const PlaceBoundsDoc *bounds = &check->doc->scene.bounds;
    const Vec3 size = vec3_sub(bounds->max, bounds->min);
    look_at(check, PLACE_PART_SCENE, NULL, 0);
    if (vec3_equal(size, VEC3_ZERO) && vec3_equal(bounds->min, VEC3_ZERO)) {
        return STATUS_OK;
    }
    return size.x > 0 && size.y > 0 && size.z > 0
               ? STATUS_OK
               : fail(check, STATUS_RANGE, "bounds", "must have each number of max above min");
}

static Status check_scene(Check *check)
{
    Status status = check_bounds(check);
    if (status == STATUS_OK) {
        status = check_terrain(check);
    }
    if (status == STATUS_OK) {
        status = index_ids(check);
    }
    const uint32_t count = check->doc->scene.entities.count;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        look_at(check, PLACE_PART_SCENE, "entities", i);
        status = resolve(check, place_entity(check->doc, i));
    }
    if (status == STATUS_OK) {
        status = number_entities(check);
    }
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        look_at(check, PLACE_PART_SCENE, "entities", i);
        status = check_entity(check, place_entity(check->doc, i));
    }
    return status;
}

static Status check_spawned(Check *check)
{
    const PlaceDoc *doc = check->doc;
    look_at(check, PLACE_PART_SCENE, NULL, 0);
    for (uint32_t i = 0; i < doc->spawned_count; i++) {
        const PlaceSpawnedDoc *spawned = &doc->spawned[i];
        const Status status = check_script(check, spawned->script_path, spawned->parameters, NULL);
        if (status != STATUS_OK) {
            return status;
        }
        if (spawned->net_id <= doc->part_count ||
            place_script_is_server_only(spawned->script_path)) {
            return fail(check, STATUS_MALFORMED, NULL, "has anchored parts that are spawned");
        }
    }
    return STATUS_OK;
}

static Status check_whole(Check *check)
{
    const PlaceDoc *doc = check->doc;
    list_banned(check);
    Status status = check_settings(check);
    if (status == STATUS_OK) {
        status = check_scene(check);
    }
    const PlacePieceDoc *pieces = doc->settings.catalogue.items;
    for (uint32_t i = 0; i < doc->settings.catalogue.count && status == STATUS_OK; i++) {
        look_at(check, PLACE_PART_SETTINGS, "catalogue", i);
        status = check_look(check, &pieces[i].look);
    }
    for (uint32_t i = 0; i < doc->prefab_count && status == STATUS_OK; i++) {
        look_at(check, PLACE_PART_PREFAB, NULL, 0);
        check->prefab = i;
        status = check_prefab(check, &doc->prefabs[i]);
    }
    return status != STATUS_OK ? status : check_spawned(check);
}

Status place_check(PlaceDoc *doc, PlaceScratch *scratch, PlaceFault *fault)
{
    Check check = {.doc = doc, .scratch = scratch, .fault = fault};
    return check_whole(&check);
}

Status place_check_all(PlaceDoc *doc, PlaceScratch *scratch, PlaceFaultSink sink, void *user)
{
    Check check = {.doc = doc, .scratch = scratch, .sink = sink, .user = user};
    return check_whole(&check);
}
