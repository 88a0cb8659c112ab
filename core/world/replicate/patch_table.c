// Captures of changed scene parts; see patch_table.h.
#include "core/world/replicate/patch_table.h"

#include "core/base/check.h"
#include "core/sim/chunk_coord.h"
#include "core/world/replicate/record_bytes.h"

#include <string.h>

// --- creation -----------------------------------------------------------------------------------

static uint32_t parts_of(const Sim *sim)
{
    return sim_scene(sim) == NULL ? 0 : scene_part_count(sim_scene(sim));
}

// Every part may be in a cell of its own.
size_t patch_table_bytes(const Sim *sim)
{
    const size_t parts = (size_t)parts_of(sim) + 1;
    return arena_array_need(parts, sizeof(PatchPart)) + arena_array_need(parts, sizeof(PatchCell)) +
           5 * arena_array_need(parts, sizeof(uint32_t)) + id_map_bytes((uint32_t)parts) +
           arena_need(NET_ATTRIBUTES_BYTES_MAX);
}

static int32_t cell_axis(float metres)
{
    const int32_t at = math_floor_i32(metres / CHUNK_EDGE);
    return at < -CHUNK_COORD_MAX   ? -CHUNK_COORD_MAX
           : at >= CHUNK_COORD_MAX ? CHUNK_COORD_MAX - 1
                                   : at;
}

static ChunkCoord cell_of(Vec3 position)
{
    return (ChunkCoord){cell_axis(position.x), cell_axis(position.y), cell_axis(position.z)};
}

static void find_cells(PatchTable *table, const Scene *scene)
{
    for (uint32_t i = 0; i < table->part_count; i++) {
        const ScenePart *part = scene_part(scene, i);
        const ChunkCoord at = cell_of(part->desc.pose.position);
        uint32_t number = id_map_find(&table->map, chunk_coord_key(at));
        if (number == 0) {
            number = ++table->cell_count;
            table->cells[number - 1] = (PatchCell){.at = at, .box = part->placed.bounds};
            id_map_put(&table->map, chunk_coord_key(at), number);
        }
        PatchCell *cell = &table->cells[number - 1];
        cell->box = aabb_union(cell->box, part->placed.bounds);
        cell->count += 1;
        table->part_cells[i] = number - 1;
        table->parts[i].pose = part->desc.pose;
        table->parts[i].data = part->desc.data;
        table->parts[i].paint = paint_default;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < table->cell_count; i++) {
        table->cells[i].first = first;
        first += table->cells[i].count;
        table->cells[i].count = 0;
    }
    for (uint32_t i = 0; i < table->part_count; i++) {
        PatchCell *cell = &table->cells[table->part_cells[i]];
        table->cell_parts[cell->first + cell->count++] = i;
    }
}

Status patch_table_init(PatchTable *table, Arena *arena, const Sim *sim,
                        const AttributeTable *attributes)
{
    const uint32_t parts = parts_of(sim);
    *table =
        (PatchTable){.sim = sim,
                     .attributes = attributes,
                     .part_count = parts,
                     .rest_ticks = (uint64_t)PATCH_REST_MS * sim_config(sim)->tick_rate / 1000};
    table->parts = arena_array(arena, (size_t)parts + 1, sizeof *table->parts);
    table->cells = arena_array(arena, (size_t)parts + 1, sizeof *table->cells);
    table->part_cells = arena_array(arena, (size_t)parts + 1, sizeof *table->part_cells);
    table->cell_parts = arena_array(arena, (size_t)parts + 1, sizeof *table->cell_parts);
    table->changed = arena_array(arena, (size_t)parts + 1, sizeof *table->changed);
    table->painted = arena_array(arena, (size_t)parts + 1, sizeof *table->painted);
    table->labelled = arena_array(arena, (size_t)parts + 1, sizeof *table->labelled);
    table->scratch = arena_alloc(arena, NET_ATTRIBUTES_BYTES_MAX);
    if (table->labelled == NULL || table->scratch == NULL || table->parts == NULL ||
        table->cells == NULL || table->part_cells == NULL || table->cell_parts == NULL ||
        table->changed == NULL || table->painted == NULL ||
        id_map_init(&table->map, arena, parts + 1) != STATUS_OK) {
        return STATUS_LIMIT;
    }
    if (parts > 0) {
        find_cells(table, sim_scene(sim));
    }
    return STATUS_OK;
}

// --- capture ------------------------------------------------------------------------------------

// When the part last changed; 0: never.
static uint64_t last_tick(const PatchPart *part)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < PATCH_GROUP_COUNT; i++) {
        last = part->ticks[i] > last ? part->ticks[i] : last;
    }
    return last;
}

static void stamp(PatchTable *table, uint32_t index, uint32_t groups)
{
    PatchPart *part = &table->parts[index];
    const uint64_t tick = sim_tick(table->sim);
    const uint32_t number = table->part_cells[index];
    PatchCell *cell = &table->cells[number];
    const uint64_t last = last_tick(part);
    table->patched_count += last == 0 ? 1 : 0;
    table->fresh_count += last <= table->fold_tick ? 1 : 0;
    for (uint32_t i = 0; i < PATCH_GROUP_COUNT; i++) {
        part->ticks[i] = (groups >> i & 1) != 0 ? tick : part->ticks[i];
    }
    if (cell->version != tick) {
        cell->version_before = cell->version;
        cell->version = tick;
        table->changed[table->changed_count++] = number;
    }
}

// Bit for bit: minus zero is another number for prediction.
static uint32_t difference(const PatchPart *part, const Entity *entity)
{
    uint32_t groups = 0;
    groups |=
        memcmp(&part->pose.position, &entity->position, sizeof(Vec3)) != 0 ? PATCH_POSITION : 0;
    groups |=
        memcmp(&part->pose.rotation, &entity->rotation, sizeof(Quat)) != 0 ? PATCH_ROTATION : 0;
    groups |= memcmp(&part->data, &entity->part.data, sizeof(PartData)) != 0 ? PATCH_PART_DATA : 0;
    return groups;
}

static void take(PatchTable *table, uint32_t index, const Entity *entity, uint32_t groups)
{
    PatchPart *part = &table->parts[index];
    PatchCell *cell = &table->cells[table->part_cells[index]];
    part->pose = (Pose){entity->position, entity->rotation};
    part->data = entity->part.data;
    cell->box = aabb_union(cell->box, entity->part.placed.bounds);
    stamp(table, index, groups);
}

// One that came to rest is taken whole, a capture after clients were told that it is no entity any
// more: so the row comes after that.
static void visit(PatchTable *table, uint32_t index, const Entity *entity)
{
    PatchPart *part = &table->parts[index];
    const uint64_t tick = sim_tick(table->sim);
    if (entity->part.motion.count > 0 || entity->part.moving) {
        part->motion = PATCH_MOVES;
        part->moved_tick = tick;
        return;
    }
    if (part->motion == PATCH_MOVES) {
        part->motion = tick - part->moved_tick >= table->rest_ticks ? PATCH_SETTLES : PATCH_MOVES;
        return;
    }
    const uint32_t groups = part->motion == PATCH_SETTLES
                                ? PATCH_POSITION | PATCH_ROTATION | PATCH_PART_DATA
                                : difference(part, entity);
    part->motion = PATCH_RESTS;
    if (groups != 0) {
        take(table, index, entity, groups);
    }
}

static void visit_hidden(PatchTable *table)
{
    for (uint32_t i = sim_next_hidden(table->sim, 0); i != UINT32_MAX;
         i = sim_next_hidden(table->sim, i + 1)) {
        if (!table->parts[i].gone && handle_is_none(sim_find(table->sim, (uint64_t)i + 1))) {
            table->parts[i].gone = true;
            table->parts[i].motion = PATCH_RESTS;
            stamp(table, i, PATCH_GONE);
        }
    }
}

void patch_table_paint(PatchTable *table, uint64_t net_id, const Paint *paint)
{
    if (net_id < 1 || net_id > table->part_count) {
        return;
    }
    PatchPart *part = &table->parts[net_id - 1];
    const uint32_t bit = 4;
    _Static_assert(PATCH_PAINT == 1 << 4, "its bit");
    if (part->ticks[bit] != 0 && !part->paint_due && paint_equal(&part->paint, paint)) {
        return;
    }
    part->paint = *paint;
    if (!part->paint_due) {
        part->paint_due = true;
        table->painted[table->painted_count++] = (uint32_t)net_id - 1;
    }
}

// True if what clients may know of a part's attributes is not what they know. From then on they do.
static bool attributes_differ(PatchTable *table, uint64_t net_id)
{
    PatchPart *part = &table->parts[net_id - 1];
    bool whole = true;
    const uint32_t count = record_encode(table->attributes, net_id, false, table->scratch, &whole);
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, table->scratch, count);
    if ((count == RECORD_EMPTY_BYTES && part->attributes_hash == 0) ||
        hash.state == part->attributes_hash) {
        return false;
    }
    if (part->attributes_hash == 0) {
        table->labelled[table->labelled_count++] = (uint32_t)net_id - 1;
    }
    table->attributes_cut += whole ? 0 : 1;
    part->attributes_hash = hash.state != 0 ? hash.state : 1;
    return true;
}

static void visit_attributes(PatchTable *table, uint64_t net_id, bool is_known)
{
    if (!table->parts[net_id - 1].gone && attributes_differ(table, net_id) && !is_known) {
        stamp(table, (uint32_t)net_id - 1, PATCH_ATTRIBUTES);
    }
}

// A record that is gone is found by its part.
static void scan_attributes(PatchTable *table, bool is_known)
{
    const AttributeTable *attributes = table->attributes;
    if (attributes == NULL || attributes->version == table->attributes_version) {
        return;
    }
    for (uint32_t i = attribute_table_next(attributes, 0); i != 0;
         i = attribute_table_next(attributes, i)) {
        const Record *record = attribute_table_at(attributes, i);
        if (record->version > table->attributes_version && record->net_id <= table->part_count) {
            visit_attributes(table, record->net_id, is_known);
        }
    }
    const bool some_went = attributes->removed_count != table->attributes_removed;
    for (uint32_t i = 0; some_went && i < table->labelled_count; i++) {
        const uint64_t net_id = (uint64_t)table->labelled[i] + 1;
        if (attribute_table_find(attributes, net_id) == NULL) {
            visit_attributes(table, net_id, is_known);
        }
    }
    table->attributes_version = attributes->version;
    table->attributes_removed = attributes->removed_count;
}

void patch_table_attributes_known(PatchTable *table)
{
    scan_attributes(table, true);
}

void patch_table_capture(PatchTable *table)
{
    table->changed_count = 0;
    if (table->part_count == 0) {
        return;
    }
    const uint32_t mask = ENTITY_MASK(ENTITY_PART);
    for (Handle h = sim_next(table->sim, HANDLE_NONE, mask); !handle_is_none(h);
         h = sim_next(table->sim, h, mask)) {
        const Entity *entity = sim_entity(table->sim, h);
        if (entity->net_id <= table->part_count && !entity->removing) {
            visit(table, (uint32_t)entity->net_id - 1, entity);
        }
    }
    visit_hidden(table);
    scan_attributes(table, false);
    for (uint32_t i = 0; i < table->painted_count; i++) {
        table->parts[table->painted[i]].paint_due = false;
        stamp(table, table->painted[i], PATCH_PAINT);
    }
    table->painted_count = 0;
}

// --- reading ------------------------------------------------------------------------------------

uint32_t patch_table_find(const PatchTable *table, ChunkCoord at)
{
    const bool inside = at.x >= -CHUNK_COORD_MAX && at.x < CHUNK_COORD_MAX &&
                        at.y >= -CHUNK_COORD_MAX && at.y < CHUNK_COORD_MAX &&
                        at.z >= -CHUNK_COORD_MAX && at.z < CHUNK_COORD_MAX;
    const uint32_t number = inside ? id_map_find(&table->map, chunk_coord_key(at)) : 0;
    return number == 0 ? UINT32_MAX : number - 1;
}

static uint32_t groups_after(const PatchPart *part, uint64_t version)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < PATCH_GROUP_COUNT; i++) {
        groups |= part->ticks[i] > version ? 1u << i : 0;
    }
    return part->gone ? groups & PATCH_GONE : groups;
}

// Its attributes are valid until the next row.
static PatchRow row_of(const PatchTable *table, uint32_t index, uint32_t groups)
{
    const PatchPart *part = &table->parts[index];
    bool whole = true;
    const uint32_t attributes_bytes =
        (groups & PATCH_ATTRIBUTES) != 0
            ? record_encode(table->attributes, (uint64_t)index + 1, false, table->scratch, &whole)
            : 0;
    return (PatchRow){.attributes = table->scratch,
                      .attributes_bytes = attributes_bytes,
                      .net_id = (uint64_t)index + 1,
                      .groups = groups,
                      .pose = part->pose,
                      .data = part->data,
                      .gone = part->gone,
                      .paint = part->paint};
}

bool patch_table_write(const PatchTable *table, uint32_t cell, uint64_t version, uint32_t *next,
                       ByteWriter *writer)
{
    const PatchCell *from = &table->cells[cell];
    uint64_t before = 0;
    sim_add_work(table->sim, (uint64_t)(from->count - *next) * PATCH_ROW_STEPS);
    for (; *next < from->count; *next += 1) {
        const uint32_t index = table->cell_parts[from->first + *next];
        const PatchPart *part = &table->parts[index];
        // The pose of one that moves comes with the entity, and again when it rests.
        const uint32_t moves = part->motion != PATCH_RESTS ? PATCH_GROUPS_SOLID : 0;
        const PatchRow row = row_of(table, index, groups_after(part, version) & ~moves);
        if (row.groups == 0) {
            continue;
        }
        const size_t at = writer->at;
        patch_row_write(writer, before, &row);
        if (writer->status != STATUS_OK) {
            writer->at = at;
            writer->status = STATUS_OK;
            return false;
        }
        before = row.net_id;
    }
    return true;
}

// One that moves is where it last rested: whoever sees it gets the entity.
bool patch_table_fold(PatchTable *table, ByteWriter *writer)
{
    uint64_t before = 0;
    sim_add_work(table->sim, (uint64_t)table->part_count * PATCH_ROW_STEPS);
    for (uint32_t i = 0; i < table->part_count; i++) {
        const PatchRow row = row_of(table, i, groups_after(&table->parts[i], 0));
        if (row.groups != 0) {
            patch_row_write(writer, before, &row);
            before = row.net_id;
        }
    }
    if (writer->status != STATUS_OK) {
        return false;
    }
    table->fold_tick = sim_tick(table->sim);
    table->fresh_count = 0;
    return true;
}

void patch_table_hash(const PatchTable *table, Hash64 *hash)
{
    hash_u32(hash, table->patched_count);
    hash_u32(hash, table->changed_count);
    for (uint32_t i = 0; i < table->changed_count; i++) {
        const PatchCell *cell = &table->cells[table->changed[i]];
        hash_u64(hash, chunk_coord_key(cell->at));
        hash_u64(hash, cell->version);
    }
}
