// Rows on their way back: read before the first tick, checked like anything else from outside, and
// applied when all are there. An invalid row is rejected and counted; the world starts without it.
#include "core/world/save/save_inside.h"

#include "core/base/limits.h"

#include <string.h>

// An invalid stored number must not exhaust the range of numbers.
#define NUMBER_MOST (SIM_NET_ID_MAX / 2)

// --- rows in ------------------------------------------------------------------------------------

static Status take_meta(Saves *saves, const Row *row)
{
    return row_meta(row, &saves->meta);
}

static Status take_structure(Saves *saves, const Row *row)
{
    RowStructure structure;
    const Status status = row_structure(row, &structure);
    if (status != STATUS_OK) {
        return status;
    }
    if (structure.desc.net_id > NUMBER_MOST) {
        return STATUS_RANGE;
    }
    uint32_t slot = 0;
    SavedStructure *saved = save_structure_slot(saves, structure.desc.net_id, &slot);
    if (saved == NULL) {
        return STATUS_LIMIT;
    }
    saved->stored = true;
    saved->health = structure.health;
    saved->row = structure;
    return STATUS_OK;
}

static Status take_chunk(Saves *saves, const Row *row)
{
    ChunkCoord at;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    const Status status = row_chunk(row, &at, &bytes, &count);
    if (status != STATUS_OK) {
        return status;
    }
    ByteReader reader = byte_reader(bytes, count);
    const Status read = terrain_read_chunk(sim_terrain(saves->config.sim), at, &reader);
    if (read != STATUS_OK) {
        return read;
    }
    if (save_chunk_slot(saves, at) == UINT32_MAX) {
        return STATUS_LIMIT;
    }
    // Bytes after the chunk are invalid, but the chunk itself is complete.
    return byte_reader_finish(&reader);
}

// Older programs stored what has no name by its net id, which follows the order of the scene: whose
// row it is, only the same place can tell. Whether it is used or not, it is deleted, and what is
// used is stored by the scene's id. False: it is not used.
static bool take_old_number(Saves *saves, uint64_t *number)
{
    const uint32_t scene_id = place_scene_id(saves->config.place, *number);
    saves->old_rows[saves->old_row_count++] = *number;
    *number = ROW_SCENE_ID | scene_id;
    if (!saves->same_place || scene_id == 0) {
        saves->counters.old_rows_dropped += 1;
        return false;
    }
    const SavedAttributes *newer = save_attribute_slot(saves, (Text){"", 0}, *number, false);
    return newer == NULL || !newer->waits;
}

static Status take_attributes(Saves *saves, const Row *row)
{
    Text name;
    uint64_t number = 0;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    const Status status = row_attributes(row, &name, &number, &bytes, &count);
    if (status != STATUS_OK) {
        return status;
    }
    if (count > NET_ATTRIBUTES_BYTES_MAX) {
        return STATUS_RANGE;
    }
    const bool is_old = name.bytes == 0 && (number & ROW_SCENE_ID) == 0;
    if (is_old && saves->old_row_count == ATTRIBUTE_ROWS_MAX) {
        return STATUS_LIMIT;
    }
    if (is_old && !take_old_number(saves, &number)) {
        return STATUS_OK;
    }
    SavedAttributes *saved = save_attribute_slot(saves, name, number, true);
    if (saved == NULL) {
        return STATUS_LIMIT;
    }
    saves->attributes_waiting += !saved->waits;
    saved->waits = true;
    saved->was_old = is_old;
    saved->byte_count = (uint32_t)count;
    memcpy(saved->bytes, bytes, count);
    return STATUS_OK;
}

static Status take_player(Saves *saves, const Row *row)
{
    RowPlayer player;
    const Status status = row_player(row, &player);
    if (status != STATUS_OK) {
        return status;
    }
    SavedAccount *account = save_account(saves, player.account);
    if (account == NULL) {
        return STATUS_LIMIT;
    }
    save_account_put(account, &player);
    return STATUS_OK;
}

static Status take_profiles(Saves *saves, const Row *row)
{
    RowProfiles profiles;
    const Status status = row_profiles(row, &profiles);
    if (status != STATUS_OK) {
        return status;
    }
    SavedAccount *account = save_account(saves, profiles.account);
    if (account == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(account->profiles, sizeof account->profiles);
    row_write(row, &writer);
    account->profile_bytes = writer.status == STATUS_OK ? (uint32_t)writer.at : 0;
    return writer.status;
}

Status save_take_profiles(Saves *saves, uint64_t account, const uint8_t *bytes, size_t count)
{
    Row row;
    RowProfiles profiles;
    ByteReader reader = byte_reader(bytes, count);
    Status status = row_read(&reader, &row);
    status = status == STATUS_OK ? byte_reader_finish(&reader) : status;
    status = status == STATUS_OK ? row_profiles(&row, &profiles) : status;
    if (status != STATUS_OK) {
        return status;
    }
    return profiles.account == account ? take_profiles(saves, &row) : STATUS_MISMATCH;
}

static Status take_resume(Saves *saves, const Row *row)
{
    RowResume resume;
    const Status status = row_resume(row, &resume);
    uint32_t slot = 0;
    return status != STATUS_OK ? status : save_put_resume(saves, &resume, &slot);
}

Status save_row(Saves *saves, const Entry *entry)
{
    static Status (*const take[ROW_TYPE_COUNT])(Saves * saves, const Row *row) = {
        [ROW_META] = take_meta,     [ROW_STRUCTURE] = take_structure,
        [ROW_CHUNK] = take_chunk,   [ROW_ATTRIBUTE] = take_attributes,
        [ROW_PLAYER] = take_player, [ROW_PROFILES] = take_profiles,
        [ROW_RESUME] = take_resume,
    };
    if (saves->config.run->started) {
        return STATUS_DENIED;
    }
    static const char *const names[ROW_TYPE_COUNT] = {
        [ROW_META] = "meta",           [ROW_STRUCTURE] = "structure", [ROW_CHUNK] = "chunk",
        [ROW_ATTRIBUTE] = "attribute", [ROW_PLAYER] = "player",       [ROW_PROFILES] = "profiles",
        [ROW_RESUME] = "resume"};
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    Row row = {0};
    Status status = row_read(&reader, &row);
    if (status == STATUS_OK) {
        status = byte_reader_finish(&reader);
    }
    saves->same_place = (entry->flags & ENTRY_OK) != 0;
    if (status == STATUS_OK) {
        status = row.value_bytes > 0 ? take[row.type](saves, &row) : STATUS_OK;
    }
    if (status != STATUS_OK) {
        saves->counters.rows_refused += 1;
        log_write(saves->config.log, saves->config.clock->tick, LOG_WARN, "world",
                  "a stored row (%s) was refused, and the world starts without it: %s",
                  names[row.type] != NULL ? names[row.type] : "unknown", status_text(status));
    }
    return status;
}

// --- structures ---------------------------------------------------------------------------------

static uint64_t order_of(const Saves *saves, uint32_t slot)
{
    return ((const SavedStructure *)pool_at(&saves->structures, slot))->net_id;
}

static void sift(const Saves *saves, uint32_t *heap, uint32_t at, uint32_t count)
{
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && order_of(saves, heap[child + 1]) > order_of(saves, heap[child])) {
            child += 1;
        }
        if (order_of(saves, heap[at]) >= order_of(saves, heap[child])) {
            return;
        }
        const uint32_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

// By ascending net id, in place; the queue's memory is free before the first tick.
static void sort_by_net_id(const Saves *saves, uint32_t *slots, uint32_t count)
{
    for (uint32_t i = count / 2; i > 0; i--) {
        sift(saves, slots, i - 1, count);
    }
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t last = slots[i - 1];
        slots[i - 1] = slots[0];
        slots[0] = last;
        sift(saves, slots, 0, i - 1);
    }
}

static void restore_health(Saves *saves, Handle handle, float health)
{
    const Entity *entity = sim_entity(saves->config.sim, handle);
    if (entity != NULL && health < entity->part.health) {
        (void)sim_damage(saves->config.sim, handle, entity->part.health - health, 0);
    }
}

// If the place has given the id to something else since, a new one is used.
static Status place_again(Saves *saves, SavedStructure *saved)
{
    Handle handle;
    StructureDesc desc = saved->row.desc;
    Status status = structure_restore(saves->config.sim, &desc, &handle);
    if (status == STATUS_EXISTS) {
        desc.net_id = 0;
        status = structure_restore(saves->config.sim, &desc, &handle);
    }
    if (status == STATUS_OK) {
        restore_health(saves, handle, saved->row.health);
    }
    return status;
}

static void restore_structures(Saves *saves)
{
    uint32_t *slots = (uint32_t *)(void *)saves->queue;
    uint32_t count = 0;
    for (uint32_t i = pool_next(&saves->structures, 1); i != 0;
         i = pool_next(&saves->structures, i + 1)) {
        slots[count++] = i;
    }
    sort_by_net_id(saves, slots, count);
    for (uint32_t i = 0; i < count; i++) {
        SavedStructure *saved = pool_at(&saves->structures, slots[i]);
        saved->placed = place_again(saves, saved);
    }
    memset(saves->queue, 0, ((size_t)saves->queue_mask + 1) * sizeof(SaveItem));
    for (uint32_t i = pool_next(&saves->structures, 1); i != 0;
         i = pool_next(&saves->structures, i + 1)) {
        const SavedStructure *saved = pool_at(&saves->structures, i);
        if (saved->placed != STATUS_OK) {
            saves->counters.structures_unfit += 1;
            log_write(saves->config.log, saves->config.clock->tick, LOG_WARN, "world",
                      "structure %llu no longer fits: %s", (unsigned long long)saved->net_id,
                      status_text(saved->placed));
            // Its row stays stored, because the place may change back. This run ignores it.
            id_map_remove(&saves->structure_map, saved->net_id);
            (void)pool_release(&saves->structures, pool_handle(&saves->structures, i));
        }
    }
}

// --- attributes ---------------------------------------------------------------------------------

// The visibility that the row has for an attribute: see tag_count in save_rows.c.
static uint32_t stored_visibility(const SavedAttributes *stored, Text name)
{
    NetAttributesReader reader;
    Text text;
    if (net_attributes_open(&reader, stored->bytes, stored->byte_count, &text) != STATUS_OK) {
        return ATTRIBUTE_PRIVATE;
    }
    uint32_t count = 0;
    while (net_attributes_next_tag(&reader, &text)) {
        count += text_equal(text, name);
    }
    return count == 0 ? 0 : count == 2 ? ATTRIBUTE_OWNER : ATTRIBUTE_PRIVATE;
}

static ScriptValue script_value(const NetValue *from)
{
    static const ScriptValueType types[NET_VALUE_TYPE_COUNT] = {
        [NET_VALUE_BOOL] = SCRIPT_BOOL,     [NET_VALUE_NUMBER] = SCRIPT_NUMBER,
        [NET_VALUE_TEXT] = SCRIPT_TEXT,     [NET_VALUE_VECTOR] = SCRIPT_VECTOR,
        [NET_VALUE_ENTITY] = SCRIPT_ENTITY,
    };
    return (ScriptValue){.type = types[from->type],
                         .boolean = from->boolean,
                         .number = from->number,
                         .text = {from->text.data, from->text.bytes},
                         .vector = from->vector,
                         .entity = from->entity};
}

void save_apply_attributes(Saves *saves, SavedAttributes *stored, uint64_t net_id)
{
    ASSERT(stored->waits);
    stored->waits = false;
    saves->attributes_waiting -= 1;
    ScriptWorld *script_world = authority_world(saves->config.authority);
    NetAttributesReader reader;
    Text name;
    NetValue value;
    if (net_attributes_open(&reader, stored->bytes, stored->byte_count, &name) != STATUS_OK) {
        return;
    }
    while (net_attributes_next(&reader, &name, &value)) {
        const ScriptValue script = script_value(&value);
        const uint32_t flags = ATTRIBUTE_PERSISTENT | stored_visibility(stored, name);
        if (script_world->methods->set_attribute(
                script_world, net_id, (Text){name.data, name.bytes}, &script, flags) != STATUS_OK) {
            saves->counters.attributes_refused += 1;
        }
    }
}

static void restore_on(Saves *saves, SavedAttributes *stored, uint64_t net_id)
{
    ScriptWorld *script_world = authority_world(saves->config.authority);
    ScriptEntityInfo info;
    if (stored->waits && net_id != 0 &&
        script_world->methods->entity(script_world, net_id, &info)) {
        save_apply_attributes(saves, stored, net_id);
    }
}

// By name last: what has a name now is stored by it from now on.
static void restore_attributes(Saves *saves)
{
    const Place *place = saves->config.place;
    ScriptWorld *script_world = authority_world(saves->config.authority);
    const uint64_t count = (uint64_t)scene_part_count(place->scene) + place->entity_count;
    for (uint64_t net_id = 1; net_id <= count && saves->attributes_waiting > 0; net_id++) {
        const uint64_t number = ROW_SCENE_ID | place_scene_id(place, net_id);
        SavedAttributes *stored = save_attribute_slot(saves, (Text){"", 0}, number, false);
        if (stored != NULL) {
            restore_on(saves, stored, net_id);
        }
    }
    for (uint32_t i = 0; i < saves->attribute_count; i++) {
        SavedAttributes *stored = &saves->attributes[i];
        const Text name = {stored->name.data, stored->name.bytes};
        if (name.bytes > 0) {
            restore_on(saves, stored, script_world->methods->find(script_world, name));
        }
    }
}

// Rows of older programs: first what they held is stored by the scene's ids, then they go.
static void replace_old_rows(Saves *saves)
{
    if (saves->old_row_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < saves->attribute_count; i++) {
        if (saves->attributes[i].was_old) {
            save_queue(saves, SAVE_ATTRIBUTE, i, &saves->attributes[i].queued);
        }
    }
    save_queue(saves, SAVE_OLD_ATTRIBUTES, 0, &saves->old_rows_queued);
    if (saves->counters.old_rows_dropped > 0) {
        log_write(saves->config.log, saves->config.clock->tick, LOG_WARN, "world",
                  "%llu stored rows of entities without a name were dropped: the place has changed "
                  "since, and they do not say whose they are",
                  (unsigned long long)saves->counters.old_rows_dropped);
    }
}

// --- players ------------------------------------------------------------------------------------

// Older programs numbered the players of each world from 1; today a player's number is its
// account's, so that Player.UserId is the same everywhere. What such a player built is theirs under
// the new number.
static void adopt_structures(Saves *saves)
{
    for (uint32_t i = 0; i < saves->account_count; i++) {
        const SavedAccount *account = &saves->accounts[i];
        if (!account->has_player || account->player.player == account->account) {
            continue;
        }
        for (uint32_t j = pool_next(&saves->structures, 1); j != 0;
             j = pool_next(&saves->structures, j + 1)) {
            SavedStructure *saved = pool_at(&saves->structures, j);
            if (!saved->is_adopted && saved->row.desc.owner_id == account->player.player) {
                saved->row.desc.owner_id = account->account;
                saved->is_adopted = true;
            }
        }
    }
}

// First the structures: once the player's row has its new number, nothing says whose they were.
static void store_adopted(Saves *saves)
{
    for (uint32_t i = pool_next(&saves->structures, 1); i != 0;
         i = pool_next(&saves->structures, i + 1)) {
        SavedStructure *saved = pool_at(&saves->structures, i);
        if (saved->is_adopted) {
            save_queue(saves, SAVE_STRUCTURE, i, &saved->queued);
        }
    }
    for (uint32_t i = 0; i < saves->account_count; i++) {
        SavedAccount *account = &saves->accounts[i];
        if (account->has_player && account->player.player != account->account) {
            account->player.player = account->account;
            save_queue(saves, SAVE_PLAYER, i, &account->player_queued);
        }
    }
}

// --- start --------------------------------------------------------------------------------------

// Accounts have numbers of their own, far above those that a world gives to players without one.
static uint64_t number_after(uint64_t next, uint64_t used)
{
    return used >= next && used < WORLD_PLAYER_NUMBERS ? used + 1 : next;
}

// Numbers are never reused, even if the row with the next numbers was lost.
static RowMeta numbers_used(const Saves *saves)
{
    RowMeta meta = saves->meta;
    for (uint32_t i = pool_next(&saves->structures, 1); i != 0;
         i = pool_next(&saves->structures, i + 1)) {
        const SavedStructure *saved = pool_at(&saves->structures, i);
        meta.next_net_id = meta.next_net_id > saved->net_id ? meta.next_net_id : saved->net_id + 1;
        meta.next_player = number_after(meta.next_player, saved->row.desc.owner_id);
    }
    for (uint32_t i = 0; i < saves->account_count; i++) {
        const RowPlayer *player = &saves->accounts[i].player;
        meta.next_net_id =
            meta.next_net_id > player->entity ? meta.next_net_id : player->entity + 1;
        meta.next_player = number_after(meta.next_player, player->player);
    }
    return meta;
}

void save_start(Saves *saves)
{
    saves->meta = numbers_used(saves);
    if (saves->meta.next_net_id < NUMBER_MOST &&
        saves->meta.next_net_id > sim_next_net_id(saves->config.sim)) {
        sim_raise_next_net_id(saves->config.sim, saves->meta.next_net_id);
    }
    if (saves->meta.next_player < NUMBER_MOST &&
        saves->meta.next_player > saves->config.run->next_player) {
        saves->config.run->next_player = saves->meta.next_player;
    }
    saves->tick_base = saves->meta.tick < NUMBER_MOST ? saves->meta.tick : 0;
    if (saves->meta.manifest_version >= saves->config.run->manifest_version &&
        saves->meta.manifest_version < UINT32_MAX) {
        saves->config.run->manifest_version = (uint32_t)saves->meta.manifest_version + 1;
    }
    saves->meta = (RowMeta){0}; // the first tick stores a new one, before everything else
    adopt_structures(saves);
    restore_structures(saves);
    store_adopted(saves);
    restore_attributes(saves);
    replace_old_rows(saves);
    // What is there now is what is stored; only what changes from here on goes out.
    saves->structure_live = UINT32_MAX;
}
