// The stored form of each kind: its slot, and its row when a command has room. See save_inside.h.
#include "core/base/fair_share.h"
#include "core/world/save/save_inside.h"

#include "core/base/limits.h"
#include "core/sim/chunk_coord.h"

#include <string.h>

static Text net_text(Text text)
{
    return (Text){text.data, (uint32_t)text.bytes};
}

// --- structures ---------------------------------------------------------------------------------

SavedStructure *save_structure_slot(Saves *saves, uint64_t net_id, uint32_t *slot)
{
    *slot = id_map_find(&saves->structure_map, net_id);
    if (*slot != 0) {
        return pool_at(&saves->structures, *slot);
    }
    const Handle handle = pool_acquire(&saves->structures);
    if (handle_is_none(handle)) {
        return NULL;
    }
    *slot = handle.index;
    id_map_put(&saves->structure_map, net_id, handle.index);
    SavedStructure *saved = pool_at(&saves->structures, handle.index);
    saved->net_id = net_id;
    return saved;
}

// NULL if it is not a structure, is being removed, or belongs to the server: scripts build those
// again when the world starts.
static const Entity *stored_structure(const Saves *saves, uint64_t net_id)
{
    const Entity *entity = sim_entity(saves->config.sim, sim_find(saves->config.sim, net_id));
    return entity != NULL && entity->type == ENTITY_STRUCTURE && !entity->removing &&
                   entity->owner_id != 0
               ? entity
               : NULL;
}

// False if there is no room, because the owner is behind. It is tried again.
static bool structure_changed(Saves *saves, uint64_t net_id)
{
    const bool known = id_map_find(&saves->structure_map, net_id) != 0;
    if (!known && stored_structure(saves, net_id) == NULL) {
        return true; // never stored: nothing to delete
    }
    uint32_t slot = 0;
    SavedStructure *saved = save_structure_slot(saves, net_id, &slot);
    if (saved == NULL) {
        saves->structure_live = UINT32_MAX;
        saves->counters.structures_waiting += 1;
        return false;
    }
    save_queue(saves, SAVE_STRUCTURE, slot, &saved->queued);
    return true;
}

void save_structure(Saves *saves, uint64_t net_id, const Session *waiting, uint32_t command_seq)
{
    if (structure_changed(saves, net_id)) {
        save_ask(saves, waiting, command_seq);
    }
}

static void write_structure(Saves *saves, const SavedStructure *saved, ByteWriter *writer)
{
    const Entity *entity = stored_structure(saves, saved->net_id);
    if (entity == NULL) {
        if (saved->stored) {
            row_delete_structure(saved->net_id, writer);
        }
        return;
    }
    ASSERT(entity->net_id == saved->net_id && entity->net_id != 0);
    const RowStructure row = {.desc = {.net_id = entity->net_id,
                                       .owner_id = entity->owner_id,
                                       .piece = entity->part.piece,
                                       .cell = entity->part.cell,
                                       .turn = entity->part.turn},
                              .health = entity->part.health};
    row_put_structure(&row, writer);
}

static void structure_done(Saves *saves, uint32_t slot)
{
    SavedStructure *saved = pool_at(&saves->structures, slot);
    const Entity *entity = stored_structure(saves, saved->net_id);
    saved->queued = false;
    saved->stored = true;
    saved->health = entity != NULL ? entity->part.health : 0;
    if (entity == NULL) {
        id_map_remove(&saves->structure_map, saved->net_id);
        (void)pool_release(&saves->structures, pool_handle(&saves->structures, slot));
    }
}

// Scripts build for players too, and events can be lost: if the counts differ, all are compared.
static void count_structures(Saves *saves)
{
    Sim *sim = saves->config.sim;
    const uint32_t count = sim_count(sim, ENTITY_STRUCTURE);
    if (count == saves->structure_live) {
        return;
    }
    saves->structure_live = count;
    const uint32_t mask = ENTITY_MASK(ENTITY_STRUCTURE);
    for (Handle h = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(h);
         h = sim_next(sim, h, mask)) {
        const uint64_t net_id = sim_entity(sim, h)->net_id;
        if (id_map_find(&saves->structure_map, net_id) == 0) {
            (void)structure_changed(saves, net_id);
        }
    }
    for (uint32_t i = pool_next(&saves->structures, 1); i != 0;
         i = pool_next(&saves->structures, i + 1)) {
        const SavedStructure *saved = pool_at(&saves->structures, i);
        if (!saved->queued && stored_structure(saves, saved->net_id) == NULL) {
            (void)structure_changed(saves, saved->net_id);
        }
    }
}

static void look_at_health(Saves *saves)
{
    for (uint32_t i = pool_next(&saves->structures, 1); i != 0;
         i = pool_next(&saves->structures, i + 1)) {
        const SavedStructure *saved = pool_at(&saves->structures, i);
        const Entity *entity = saved->queued ? NULL : stored_structure(saves, saved->net_id);
        if (entity != NULL && entity->part.health != saved->health) {
            (void)structure_changed(saves, saved->net_id);
        }
    }
}

void save_update_structures(Saves *saves, bool checkpoint)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(saves->config.sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type == SIM_EVENT_STRUCTURE_REMOVED &&
            id_map_find(&saves->structure_map, events[i].subject) != 0) {
            (void)structure_changed(saves, events[i].subject);
        }
    }
    count_structures(saves);
    if (checkpoint) {
        look_at_health(saves);
    }
}

// --- chunks -------------------------------------------------------------------------------------

uint32_t save_chunk_slot(Saves *saves, ChunkCoord at)
{
    const uint64_t id = chunk_coord_key(at);
    uint32_t slot = id_map_find(&saves->chunk_map, id);
    if (slot == 0) {
        if (saves->chunk_count == saves->chunk_max) {
            return UINT32_MAX;
        }
        slot = ++saves->chunk_count;
        saves->chunks[slot - 1] = (SavedChunk){.at = at};
        id_map_put(&saves->chunk_map, id, slot);
    }
    return slot - 1;
}

void save_chunk(Saves *saves, ChunkCoord at, const Session *waiting, uint32_t command_seq)
{
    const uint32_t slot = save_chunk_slot(saves, at);
    ASSERT(slot != UINT32_MAX); // as many slots as the terrain has chunks
    save_queue(saves, SAVE_CHUNK, slot, &saves->chunks[slot].queued);
    save_ask(saves, waiting, command_seq);
}

static void write_chunk(Saves *saves, ChunkCoord at, ByteWriter *writer)
{
    ByteWriter chunk = byte_writer(saves->chunk_bytes, sizeof saves->chunk_bytes);
    sim_add_work(saves->config.sim, CHUNK_WRITE_STEPS);
    terrain_write_difference(sim_terrain_view(saves->config.sim), at, &chunk);
    ASSERT(chunk.status == STATUS_OK);
    row_put_chunk(at, saves->chunk_bytes, chunk.at, writer);
}

// --- accounts -----------------------------------------------------------------------------------

// Makes room by dropping the account that was not used for the longest time. Its stored rows stay
// stored, but this run of the world does not know them any more.
static SavedAccount *evict(Saves *saves)
{
    SavedAccount *oldest = NULL;
    for (uint32_t i = 0; i < saves->account_count; i++) {
        SavedAccount *account = &saves->accounts[i];
        const bool here = account->player.present && saves->config.clock->tick > 0 &&
                          session_of_player(saves->config.sessions, account->player.player) != NULL;
        if (!account->player_queued && !account->profiles_queued && !here &&
            (oldest == NULL || account->touched_tick < oldest->touched_tick)) {
            oldest = account;
        }
    }
    if (oldest != NULL) {
        id_map_remove(&saves->account_map, oldest->account);
        saves->counters.accounts_evicted += 1;
    }
    return oldest;
}

static SavedAccount *account_find(const Saves *saves, uint64_t account)
{
    const uint32_t slot = account != 0 ? id_map_find(&saves->account_map, account) : 0;
    return slot != 0 ? &saves->accounts[slot - 1] : NULL;
}

SavedAccount *save_account(Saves *saves, uint64_t account)
{
    SavedAccount *saved = account_find(saves, account);
    if (saved == NULL && account != 0) {
        saved = saves->account_count < saves->account_max ? &saves->accounts[saves->account_count++]
                                                          : evict(saves);
        if (saved == NULL) {
            return NULL;
        }
        memset(saved, 0, sizeof *saved);
        saved->account = account;
        id_map_put(&saves->account_map, account, (uint32_t)(saved - saves->accounts) + 1);
    }
    if (saved != NULL) {
        saved->touched_tick = saves->config.clock->tick;
    }
    return saved;
}

static Text keep_text(char to[64], Text text)
{
    const size_t bytes = text.bytes < 64 ? text.bytes : 64;
    if (bytes > 0) {
        memmove(to, text.data, bytes);
    }
    return (Text){to, bytes};
}

void save_account_put(SavedAccount *account, const RowPlayer *row)
{
    account->has_player = true;
    account->player = *row;
    account->player.name = keep_text(account->name, row->name);
    account->player.team = keep_text(account->team, row->team);
}

static Vec3 inside(Vec3 v)
{
    const float most = (float)WORLD_EXTENT_M;
    return (Vec3){math_clamp(v.x, -most, most), math_clamp(v.y, -most, most),
                  math_clamp(v.z, -most, most)};
}

static bool player_equal(const RowPlayer *a, const RowPlayer *b)
{
    return a->player == b->player && a->entity == b->entity &&
           vec3_equal(a->position, b->position) && vec3_equal(a->velocity, b->velocity) &&
           a->yaw == b->yaw && a->health == b->health && a->present == b->present &&
           text_equal(a->name, b->name) && text_equal(a->team, b->team);
}

void save_player(Saves *saves, const Session *session, bool present)
{
    SavedAccount *account = session->player != 0 ? save_account(saves, session->account) : NULL;
    if (account == NULL) {
        return; // no account, or no room: counted
    }
    RowPlayer row = account->player;
    row.account = session->account;
    row.player = session->player;
    row.entity = session->entity;
    row.present = present;
    row.name = text_from(session->name);
    const RosterPlayer *player =
        roster_find(authority_roster(saves->config.authority), session->player);
    row.team = player != NULL ? (Text){player->team.data, player->team.bytes} : (Text){"", 0};
    const Entity *body = session_body(saves->config.sim, session);
    if (body != NULL) {
        row.position = inside(body->position);
        row.velocity = inside(body->velocity);
        row.yaw = body->character.input.yaw;
        row.health = body->character.health;
    } else if (!account->has_player) {
        return; // it never had a position
    }
    if (!account->has_player || !player_equal(&row, &account->player)) {
        save_account_put(account, &row);
        save_queue(saves, SAVE_PLAYER, (uint32_t)(account - saves->accounts),
                   &account->player_queued);
    }
}

static void write_player(const SavedAccount *account, ByteWriter *writer)
{
    ASSERT(account->has_player && account->player.account == account->account);
    ASSERT(account->player.player != 0);
    row_put_player(&account->player, writer);
}

Status save_profiles_check(Saves *saves, uint64_t account)
{
    if (account == 0) {
        return STATUS_DENIED;
    }
    return save_account(saves, account) != NULL ? STATUS_OK : STATUS_LIMIT;
}

void save_profiles(Saves *saves, const Session *session, const RowProfiles *profiles,
                   uint32_t command_seq)
{
    SavedAccount *account = save_account(saves, session->account);
    if (account == NULL) {
        return;
    }
    ASSERT(profiles->account == session->account);
    ByteWriter writer = byte_writer(account->profiles, sizeof account->profiles);
    row_put_profiles(profiles, &writer);
    ASSERT(writer.status == STATUS_OK);
    account->profile_bytes = (uint32_t)writer.at;
    save_queue(saves, SAVE_PROFILES, (uint32_t)(account - saves->accounts),
               &account->profiles_queued);
    save_ask(saves, command_seq != 0 ? session : NULL, command_seq);
}

bool save_find_player(const Saves *saves, uint64_t account, RowPlayer *out)
{
    const SavedAccount *saved = account_find(saves, account);
    if (saved == NULL || !saved->has_player) {
        return false;
    }
    *out = saved->player;
    return true;
}

bool save_find_profiles(const Saves *saves, uint64_t account, RowProfiles *out)
{
    const SavedAccount *saved = account_find(saves, account);
    if (saved == NULL || saved->profile_bytes == 0) {
        return false;
    }
    ByteReader reader = byte_reader(saved->profiles, saved->profile_bytes);
    Row row;
    return row_read(&reader, &row) == STATUS_OK && row_profiles(&row, out) == STATUS_OK;
}

// --- resumes ------------------------------------------------------------------------------------

static uint64_t resume_id(const uint8_t token_hash[32])
{
    uint64_t id;
    memcpy(&id, token_hash, sizeof id);
    return id | 1;
}

// Makes room by dropping the one that expires first.
static void evict_resume(Saves *saves)
{
    uint32_t first = 0;
    for (uint32_t i = pool_next(&saves->resumes, 1); i != 0;
         i = pool_next(&saves->resumes, i + 1)) {
        const SavedResume *saved = pool_at(&saves->resumes, i);
        if (!saved->queued &&
            (first == 0 ||
             saved->row.expires_unix_ms <
                 ((SavedResume *)pool_at(&saves->resumes, first))->row.expires_unix_ms)) {
            first = i;
        }
    }
    if (first != 0) {
        const SavedResume *saved = pool_at(&saves->resumes, first);
        id_map_remove(&saves->resume_map, resume_id(saved->row.token_hash));
        (void)pool_release(&saves->resumes, pool_handle(&saves->resumes, first));
    }
}

Status save_put_resume(Saves *saves, const RowResume *row, uint32_t *slot)
{
    *slot = id_map_find(&saves->resume_map, resume_id(row->token_hash));
    if (*slot == 0) {
        Handle handle = pool_acquire(&saves->resumes);
        if (handle_is_none(handle)) {
            evict_resume(saves);
            handle = pool_acquire(&saves->resumes);
        }
        if (handle_is_none(handle)) {
            return STATUS_LIMIT;
        }
        *slot = handle.index;
        id_map_put(&saves->resume_map, resume_id(row->token_hash), handle.index);
    }
    SavedResume *saved = pool_at(&saves->resumes, *slot);
    saved->row = *row;
    saved->gone = false;
    return STATUS_OK;
}

void save_resume(Saves *saves, const RowResume *resume)
{
    uint32_t slot = 0;
    if (save_put_resume(saves, resume, &slot) != STATUS_OK) {
        return; // it cannot be resumed after a restart; nothing else is lost
    }
    SavedResume *saved = pool_at(&saves->resumes, slot);
    saved->gone = resume->expires_unix_ms <= saves->config.clock->unix_ms;
    save_queue(saves, SAVE_RESUME, slot, &saved->queued);
}

bool save_find_resume(const Saves *saves, const uint8_t token_hash[32], RowResume *out)
{
    const uint32_t slot = id_map_find(&saves->resume_map, resume_id(token_hash));
    if (slot == 0) {
        return false;
    }
    const SavedResume *saved = pool_at(&saves->resumes, slot);
    if (saved->gone || saved->row.expires_unix_ms <= saves->config.clock->unix_ms ||
        memcmp(saved->row.token_hash, token_hash, 32) != 0) {
        return false;
    }
    *out = saved->row;
    return true;
}

void save_forget_resumes(Saves *saves, uint64_t account)
{
    for (uint32_t i = pool_next(&saves->resumes, 1); i != 0;
         i = pool_next(&saves->resumes, i + 1)) {
        RowResume row = ((const SavedResume *)pool_at(&saves->resumes, i))->row;
        if (row.account == account && row.expires_unix_ms != 0) {
            row.expires_unix_ms = 0;
            save_resume(saves, &row);
        }
    }
}

void save_update_resumes(Saves *saves)
{
    for (uint32_t i = pool_next(&saves->resumes, 1); i != 0;
         i = pool_next(&saves->resumes, i + 1)) {
        SavedResume *saved = pool_at(&saves->resumes, i);
        if (!saved->gone && saved->row.expires_unix_ms <= saves->config.clock->unix_ms) {
            saved->gone = true;
            save_queue(saves, SAVE_RESUME, i, &saved->queued);
        }
    }
}

static void resume_done(Saves *saves, uint32_t slot)
{
    SavedResume *saved = pool_at(&saves->resumes, slot);
    saved->queued = false;
    if (saved->gone) {
        id_map_remove(&saves->resume_map, resume_id(saved->row.token_hash));
        (void)pool_release(&saves->resumes, pool_handle(&saves->resumes, slot));
    }
}

// --- attributes ---------------------------------------------------------------------------------

static uint64_t attribute_id(Text name, uint64_t number)
{
    if (name.bytes == 0) {
        return number;
    }
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, name.data, name.bytes);
    return hash.state | 1ull << 63; // above every number
}

SavedAttributes *save_attribute_slot(Saves *saves, Text name, uint64_t number, bool make)
{
    ASSERT(name.bytes <= WORLD_NAME_BYTES_MAX);
    const uint64_t id = attribute_id(name, number);
    const uint32_t slot = id_map_find(&saves->attribute_map, id);
    if (slot != 0) {
        SavedAttributes *found = &saves->attributes[slot - 1];
        return attribute_table_name_equal(&found->name, name) ? found : NULL;
    }
    if (!make || saves->attribute_count == ATTRIBUTE_ROWS_MAX) {
        return NULL;
    }
    SavedAttributes *saved = &saves->attributes[saves->attribute_count++];
    saved->name.bytes = (uint8_t)name.bytes;
    if (name.bytes > 0) {
        memcpy(saved->name.data, name.data, name.bytes);
    }
    saved->number = name.bytes > 0 ? 0 : number;
    id_map_put(&saves->attribute_map, id, saves->attribute_count);
    return saved;
}

bool save_has_attributes(Saves *saves, Text name)
{
    return save_attribute_slot(saves, name, 0, false) != NULL;
}

// What an entity is called in the next life of the world: by its name if it is the first of that
// name, by its id in the scene if it is of the scene. Its net id would be another one as soon as
// the creator puts something before it. False: nobody will know it.
static bool identity(const Saves *saves, uint64_t net_id, Text *name, uint64_t *number)
{
    ScriptWorld *script_world = authority_world(saves->config.authority);
    *name = script_world->methods->name(script_world, net_id);
    *number = ROW_SCENE_ID | place_scene_id(saves->config.place, net_id);
    if (name->bytes > 0 && name->bytes <= WORLD_NAME_BYTES_MAX &&
        script_world->methods->find(script_world, *name) == net_id) {
        return true;
    }
    *name = (Text){"", 0};
    return *number != ROW_SCENE_ID;
}

static bool net_value(const ScriptValue *from, NetValue *to)
{
    *to = (NetValue){.boolean = from->boolean,
                     .number = from->number,
                     .text = net_text(from->text),
                     .vector = from->vector,
                     .entity = from->entity};
    switch (from->type) {
    case SCRIPT_BOOL:
        to->type = NET_VALUE_BOOL;
        return true;
    case SCRIPT_NUMBER:
        to->type = NET_VALUE_NUMBER;
        return true;
    case SCRIPT_TEXT:
        to->type = NET_VALUE_TEXT;
        return true;
    case SCRIPT_VECTOR:
        to->type = NET_VALUE_VECTOR;
        return true;
    case SCRIPT_ENTITY:
        to->type = NET_VALUE_ENTITY;
        return true;
    case SCRIPT_NIL:
        break;
    }
    return false;
}

// How often the name of a persistent attribute stands among the tags of its row: once for
// visibility "server", twice for "owner". Programs that know only the first keep both to the
// server.
static uint32_t tag_count(uint32_t flags)
{
    if ((flags & ATTRIBUTE_PERSISTENT) == 0 || attribute_is_public(flags)) {
        return 0;
    }
    return attribute_is_owners(flags) ? 2 : 1;
}

// The persistent attributes as bytes (net.h); their tags are the names of those that not everybody
// may see. What does not fit is left out and counted. 0: there are none.
static size_t encode_attributes(Saves *saves, const AttributeTable *attributes,
                                const Record *record)
{
    size_t reserved = 2; // for the ends, and the names among the tags
    for (AttributeEntry entry = {0}; attribute_table_attribute_next(attributes, record, &entry);) {
        reserved += tag_count(entry.flags) * (entry.name.bytes + 2);
    }
    ByteWriter writer = byte_writer(saves->attributes_bytes, NET_ATTRIBUTES_BYTES_MAX);
    net_attributes_write_name(&writer, (Text){"", 0});
    uint32_t written = 0;
    for (AttributeEntry entry = {0}; attribute_table_attribute_next(attributes, record, &entry);) {
        NetValue value;
        ByteWriter trial = writer;
        if ((entry.flags & ATTRIBUTE_PERSISTENT) == 0 || !net_value(&entry.value, &value)) {
            continue;
        }
        net_attributes_write_one(&trial, net_text(entry.name), &value);
        if (trial.status != STATUS_OK || trial.at + reserved > NET_ATTRIBUTES_BYTES_MAX) {
            saves->counters.attributes_cut += 1;
            continue;
        }
        writer = trial;
        written += 1;
    }
    net_attributes_write_end(&writer);
    for (AttributeEntry entry = {0}; attribute_table_attribute_next(attributes, record, &entry);) {
        for (uint32_t i = tag_count(entry.flags); i > 0; i--) {
            net_attributes_write_tag(&writer, net_text(entry.name));
        }
    }
    net_attributes_write_end(&writer);
    if (writer.status != STATUS_OK) {
        saves->counters.attributes_refused += 1;
        return 0;
    }
    return written > 0 ? writer.at : 0;
}

// A row for what has none yet. Rows that came from the store are nobody's.
static SavedAttributes *make_row(Saves *saves, Text name, uint64_t number, const Record *record)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < saves->attribute_count; i++) {
        own += saves->attributes[i].maker == record->maker;
    }
    SavedAttributes *saved = NULL;
    if (record->maker == 0 || fair_share_allows(own, saves->attribute_count, ATTRIBUTE_ROWS_MAX)) {
        saved = save_attribute_slot(saves, name, number, true);
    }
    if (saved != NULL) {
        saved->maker = record->maker;
    }
    return saved;
}

static void queue_row(Saves *saves, SavedAttributes *saved)
{
    save_queue(saves, SAVE_ATTRIBUTE, (uint32_t)(saved - saves->attributes), &saved->queued);
}

// An entity that had no name when it was stored and has one now has one row, not two.
static void forget_number(Saves *saves, uint64_t number)
{
    SavedAttributes *saved = save_attribute_slot(saves, (Text){"", 0}, number, false);
    if (saved != NULL && saved->byte_count > 0) {
        saved->byte_count = 0;
        queue_row(saves, saved);
    }
}

static void look_at_record(Saves *saves, const Record *record)
{
    Text name;
    uint64_t number;
    if (!identity(saves, record->net_id, &name, &number)) {
        return;
    }
    SavedAttributes *saved = save_attribute_slot(saves, name, number, false);
    if (saved != NULL && saved->waits) {
        save_apply_attributes(saves, saved, record->net_id);
        return;
    }
    const size_t bytes =
        encode_attributes(saves, authority_attributes(saves->config.authority), record);
    if (bytes == 0 && (saved == NULL || saved->byte_count == 0)) {
        return;
    }
    saved = saved != NULL ? saved : make_row(saves, name, number, record);
    if (saved == NULL) {
        saves->counters.attributes_refused += 1;
        return;
    }
    if (saved->byte_count != bytes || memcmp(saved->bytes, saves->attributes_bytes, bytes) != 0) {
        memcpy(saved->bytes, saves->attributes_bytes, bytes);
        saved->byte_count = (uint32_t)bytes;
        queue_row(saves, saved);
    }
    if (name.bytes > 0) {
        forget_number(saves, number);
    }
}

void save_update_attributes(Saves *saves, bool checkpoint)
{
    const AttributeTable *attributes = authority_attributes(saves->config.authority);
    // Attributes that wait for their entity do not wait until the next checkpoint.
    if (attributes->version == saves->attributes_version ||
        (!checkpoint && saves->attributes_waiting == 0)) {
        return;
    }
    const uint64_t since = saves->attributes_version;
    const uint64_t now = attributes->version; // applying raises it; that is for the next time
    for (uint32_t i = attribute_table_next(attributes, 0); i != 0;
         i = attribute_table_next(attributes, i)) {
        const Record *record = attribute_table_at(attributes, i);
        if (record->version > since) {
            look_at_record(saves, record);
        }
    }
    saves->attributes_version = now;
}

static void write_attributes(const SavedAttributes *saved, ByteWriter *writer)
{
    const Text name = {saved->name.data, saved->name.bytes};
    if (saved->byte_count == 0) {
        row_delete_attributes(name, saved->number, writer);
    } else {
        row_put_attributes(name, saved->number, saved->bytes, saved->byte_count, writer);
    }
}

// At most 512 keys of 9 bytes: they fit one command.
static void delete_old_attributes(const Saves *saves, ByteWriter *writer)
{
    for (uint32_t i = 0; i < saves->old_row_count; i++) {
        row_delete_attributes((Text){"", 0}, saves->old_rows[i], writer);
    }
}

// --- all of them --------------------------------------------------------------------------------

Status save_write_item(Saves *saves, SaveItem item, ByteWriter *writer)
{
    switch ((SaveKind)item.kind) {
    case SAVE_META:
        row_put_meta(&saves->meta, writer);
        break;
    case SAVE_STRUCTURE:
        write_structure(saves, pool_at(&saves->structures, item.slot), writer);
        break;
    case SAVE_CHUNK:
        write_chunk(saves, saves->chunks[item.slot].at, writer);
        break;
    case SAVE_ATTRIBUTE:
        write_attributes(&saves->attributes[item.slot], writer);
        break;
    case SAVE_OLD_ATTRIBUTES:
        delete_old_attributes(saves, writer);
        break;
    case SAVE_PLAYER:
        write_player(&saves->accounts[item.slot], writer);
        break;
    case SAVE_PROFILES:
        ASSERT(saves->accounts[item.slot].profile_bytes > 0); // a whole row
        byte_write_bytes(writer, saves->accounts[item.slot].profiles,
                         saves->accounts[item.slot].profile_bytes);
        break;
    case SAVE_RESUME: {
        const SavedResume *saved = pool_at(&saves->resumes, item.slot);
        if (saved->gone) {
            row_delete_resume(saved->row.token_hash, writer);
        } else {
            ASSERT(saved->row.account != 0); // nobody could resume with it
            row_put_resume(&saved->row, writer);
        }
        break;
    }
    }
    return writer->status;
}

void save_item_done(Saves *saves, SaveItem item)
{
    switch ((SaveKind)item.kind) {
    case SAVE_META:
        saves->meta_queued = false;
        break;
    case SAVE_STRUCTURE:
        structure_done(saves, item.slot);
        break;
    case SAVE_CHUNK:
        saves->chunks[item.slot].queued = false;
        break;
    case SAVE_ATTRIBUTE:
        saves->attributes[item.slot].queued = false;
        break;
    case SAVE_OLD_ATTRIBUTES:
        saves->old_rows_queued = false;
        break;
    case SAVE_PLAYER:
        saves->accounts[item.slot].player_queued = false;
        break;
    case SAVE_PROFILES:
        saves->accounts[item.slot].profiles_queued = false;
        break;
    case SAVE_RESUME:
        resume_done(saves, item.slot);
        break;
    }
}
