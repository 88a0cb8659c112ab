// Rows to bytes and back. Every value begins with the number of its layout, so that a later version
// can tell; every reader reads into a local, checks that nothing is left over, and only then writes
// its output. Rows come back from outside: nothing in them is believed.
#include "core/world/save/row.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/name_text.h"
#include "core/base/text.h"

#include <float.h>
#include <string.h>

#define ROW_FORMAT 1

// --- reading without calls ----------------------------------------------------------------------

// Saves are read several times each, so what is nearly always the case is decided here. What is
// not, or fails, is left to bytes.h.

static inline const uint8_t *take_bytes(ByteReader *reader, size_t count)
{
    if (reader->status == STATUS_OK && count <= reader->size - reader->at) {
        const uint8_t *bytes = reader->data + reader->at;
        reader->at += count;
        return bytes;
    }
    return byte_read_bytes(reader, count);
}

static inline uint64_t take_varint(ByteReader *reader)
{
    if (reader->status == STATUS_OK && reader->at < reader->size &&
        reader->data[reader->at] < 0x80) {
        return reader->data[reader->at++];
    }
    return byte_read_varint(reader);
}

static inline uint32_t take_count(ByteReader *reader, uint32_t max)
{
    if (reader->status == STATUS_OK && reader->at < reader->size &&
        reader->data[reader->at] < 0x80 && reader->data[reader->at] <= max) {
        return reader->data[reader->at++];
    }
    return byte_read_count(reader, max);
}

// --- texts --------------------------------------------------------------------------------------

bool row_name_is_valid(Text name)
{
    return name_text_is_valid(name.data, name.bytes);
}

bool row_id_is_valid(Text id)
{
    if (id.bytes < 1 || id.bytes > 64) {
        return false;
    }
    for (uint32_t i = 0; i < id.bytes; i++) {
        const char c = id.data[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') {
            return false;
        }
    }
    return true;
}

static void write_text(ByteWriter *writer, Text text)
{
    byte_write_varint(writer, text.bytes);
    byte_write_bytes(writer, text.data, text.bytes);
}

static Text read_text(ByteReader *reader, uint32_t bytes_max)
{
    const uint32_t bytes = take_count(reader, bytes_max);
    const uint8_t *data = take_bytes(reader, bytes);
    if (data == NULL || !text_is_valid(data, bytes)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return (Text){"", 0};
    }
    return (Text){(const char *)data, bytes};
}

// Position, velocity, yaw and health of a player. A position must be inside the world; a speed has
// the same limit, which is far above any real one.
#define PLAYER_FLOATS 8
static void read_player_floats(ByteReader *reader, float out[PLAYER_FLOATS])
{
    const uint8_t *bytes = take_bytes(reader, PLAYER_FLOATS * sizeof *out);
    memset(out, 0, PLAYER_FLOATS * sizeof *out);
    if (bytes == NULL) {
        return;
    }
    float values[PLAYER_FLOATS];
    memcpy(values, bytes, sizeof values);
    bool ok = true;
    for (int i = 0; i < PLAYER_FLOATS; i++) { // also false for what is no number
        const float most = i < 6 ? (float)WORLD_EXTENT_M : FLT_MAX;
        ok = ok && values[i] >= -most && values[i] <= most;
    }
    if (!ok) {
        byte_reader_fail(reader, STATUS_RANGE);
        return;
    }
    memcpy(out, values, sizeof values);
}

static int32_t read_i32(ByteReader *reader, int32_t magnitude)
{
    const uint32_t bits = byte_read_u32(reader);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    if (value < -magnitude || value > magnitude) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return value;
}

static uint64_t read_id(ByteReader *reader)
{
    const uint64_t id = take_varint(reader);
    if (id > SIM_NET_ID_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return id;
}

// --- a row --------------------------------------------------------------------------------------

void row_write(const Row *row, ByteWriter *writer)
{
    ASSERT(row->type > ROW_NONE && row->type < ROW_TYPE_COUNT);
    ASSERT(row->key_bytes <= ROW_KEY_BYTES && row->value_bytes <= ROW_VALUE_BYTES);
    byte_write_u8(writer, (uint8_t)row->type);
    byte_write_varint(writer, row->key_bytes);
    byte_write_bytes(writer, row->key, row->key_bytes);
    byte_write_varint(writer, row->value_bytes);
    byte_write_bytes(writer, row->value, row->value_bytes);
}

Status row_read(ByteReader *reader, Row *out)
{
    const uint8_t *first = take_bytes(reader, 1);
    const uint8_t type = first != NULL ? *first : ROW_NONE;
    const uint32_t key_bytes = take_count(reader, ROW_KEY_BYTES);
    const uint8_t *key = take_bytes(reader, key_bytes);
    const uint32_t value_bytes = take_count(reader, ROW_VALUE_BYTES);
    const uint8_t *value = take_bytes(reader, value_bytes);
    if (reader->status == STATUS_OK && (type == ROW_NONE || type >= ROW_TYPE_COUNT)) {
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
    }
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    out->type = (RowType)type;
    out->key_bytes = key_bytes;
    if (key_bytes == 8) { // most of them: without a call
        memcpy(out->key, key, 8);
    } else if (key_bytes > 0) {
        memcpy(out->key, key, key_bytes);
    }
    out->value = value;
    out->value_bytes = value_bytes;
    return STATUS_OK;
}

typedef struct RowKey {
    uint8_t data[ROW_KEY_BYTES];
    uint32_t bytes;
} RowKey;

static RowKey key_u64(uint64_t id)
{
    RowKey key = {.bytes = 8};
    ByteWriter writer = byte_writer(key.data, sizeof key.data);
    byte_write_u64(&writer, id);
    return key;
}

static RowKey key_hash(const uint8_t hash[32])
{
    RowKey key = {.bytes = 32};
    memcpy(key.data, hash, 32);
    return key;
}

static RowKey key_chunk(ChunkCoord at)
{
    RowKey key = {.bytes = 12};
    ByteWriter writer = byte_writer(key.data, sizeof key.data);
    byte_write_u32(&writer, (uint32_t)at.x);
    byte_write_u32(&writer, (uint32_t)at.y);
    byte_write_u32(&writer, (uint32_t)at.z);
    return key;
}

static RowKey key_entity(Text name, uint64_t number)
{
    RowKey key = {0};
    ByteWriter writer = byte_writer(key.data, sizeof key.data);
    if (name.bytes > 0) {
        byte_write_u8(&writer, 'n');
        byte_write_bytes(&writer, name.data, name.bytes);
    } else if ((number & ROW_SCENE_ID) != 0) {
        byte_write_u8(&writer, 's');
        byte_write_u32(&writer, (uint32_t)number);
    } else {
        byte_write_u8(&writer, 'i');
        byte_write_u64(&writer, number);
    }
    ASSERT(writer.status == STATUS_OK);
    key.bytes = (uint32_t)writer.at;
    return key;
}

static void write_head(ByteWriter *writer, RowType type, const RowKey *key, size_t value_bytes)
{
    byte_write_u8(writer, (uint8_t)type);
    byte_write_varint(writer, key->bytes);
    byte_write_bytes(writer, key->data, key->bytes);
    byte_write_varint(writer, value_bytes);
}

// `fill` writes the value; it is called once to measure the length.
static void write_row(ByteWriter *writer, RowType type, RowKey key,
                      void (*fill)(ByteWriter *writer, const void *object), const void *object)
{
    ByteWriter counter = byte_counter();
    fill(&counter, object);
    ASSERT(counter.at < ROW_VALUE_BYTES);
    write_head(writer, type, &key, counter.at + 1);
    byte_write_u8(writer, ROW_FORMAT);
    fill(writer, object);
}

// Opens a row of that type: its key, and its value after the format number.
static Status open(const Row *row, RowType type, ByteReader *key, ByteReader *value)
{
    if (row->type != type) {
        return STATUS_MISMATCH;
    }
    if (row->value_bytes == 0) {
        return STATUS_NOT_FOUND;
    }
    *key = byte_reader(row->key, row->key_bytes);
    *value = byte_reader(row->value, row->value_bytes);
    const uint8_t format = byte_read_u8(value);
    return value->status == STATUS_OK && format != ROW_FORMAT ? STATUS_UNSUPPORTED : value->status;
}

static Status finish_row(const ByteReader *key, const ByteReader *value)
{
    const Status status = byte_reader_finish(key);
    return status != STATUS_OK ? status : byte_reader_finish(value);
}

// --- meta ---------------------------------------------------------------------------------------

static void fill_meta(ByteWriter *writer, const void *object)
{
    const RowMeta *meta = object;
    byte_write_varint(writer, meta->next_net_id);
    byte_write_varint(writer, meta->next_player);
    byte_write_varint(writer, meta->tick);
    byte_write_varint(writer, meta->manifest_version);
}

void row_put_meta(const RowMeta *meta, ByteWriter *writer)
{
    write_row(writer, ROW_META, (RowKey){0}, fill_meta, meta);
}

Status row_meta(const Row *row, RowMeta *out)
{
    ByteReader key, value;
    Status status = open(row, ROW_META, &key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    RowMeta meta;
    meta.next_net_id = read_id(&value);
    meta.next_player = read_id(&value);
    meta.tick = read_id(&value);
    meta.manifest_version = byte_read_count(&value, UINT32_MAX);
    status = finish_row(&key, &value);
    if (status == STATUS_OK) {
        *out = meta;
    }
    return status;
}

// --- players ------------------------------------------------------------------------------------

static void fill_player(ByteWriter *writer, const void *object)
{
    const RowPlayer *player = object;
    byte_write_varint(writer, player->player);
    byte_write_varint(writer, player->entity);
    byte_write_vec3(writer, player->position);
    byte_write_vec3(writer, player->velocity);
    byte_write_f32(writer, player->yaw);
    byte_write_f32(writer, player->health);
    write_text(writer, player->name);
    write_text(writer, player->team);
    byte_write_bool(writer, player->present);
}

void row_put_player(const RowPlayer *player, ByteWriter *writer)
{
    write_row(writer, ROW_PLAYER, key_u64(player->account), fill_player, player);
}

Status row_player(const Row *row, RowPlayer *out)
{
    ByteReader key, value;
    Status status = open(row, ROW_PLAYER, &key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    RowPlayer player;
    player.account = byte_read_u64(&key);
    player.player = read_id(&value);
    player.entity = read_id(&value);
    float floats[PLAYER_FLOATS];
    read_player_floats(&value, floats);
    player.position = (Vec3){floats[0], floats[1], floats[2]};
    player.velocity = (Vec3){floats[3], floats[4], floats[5]};
    player.yaw = floats[6];
    player.health = floats[7];
    player.name = read_text(&value, 64);
    player.team = read_text(&value, 64);
    player.present = byte_read_bool(&value);
    status = finish_row(&key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    if (player.account == 0 || player.player == 0 ||
        !(player.health >= 0 && player.health < 1e9f) || !(player.yaw >= -7 && player.yaw <= 7)) {
        return STATUS_RANGE;
    }
    *out = player;
    return STATUS_OK;
}

bool row_player_is_present(const uint8_t *bytes, size_t byte_count, Text *name)
{
    ByteReader value = byte_reader(bytes, byte_count);
    (void)take_bytes(&value, 1);
    (void)take_varint(&value);
    (void)take_varint(&value);
    (void)take_bytes(&value, PLAYER_FLOATS * sizeof(float));
    const uint32_t name_bytes = take_count(&value, 64);
    const uint8_t *data = take_bytes(&value, name_bytes);
    (void)take_bytes(&value, take_count(&value, 64));
    const uint8_t *present = take_bytes(&value, 1);
    const bool is_present = present != NULL && *present == 1;
    *name = is_present ? (Text){(const char *)data, name_bytes} : (Text){"", 0};
    return is_present;
}

// --- resumes ------------------------------------------------------------------------------------

static void fill_resume(ByteWriter *writer, const void *object)
{
    const RowResume *resume = object;
    byte_write_u64(writer, resume->account);
    byte_write_varint(writer, resume->player);
    byte_write_varint(writer, resume->expires_unix_ms);
    byte_write_varint(writer, resume->roles);
}

void row_put_resume(const RowResume *resume, ByteWriter *writer)
{
    write_row(writer, ROW_RESUME, key_hash(resume->token_hash), fill_resume, resume);
}

void row_delete_resume(const uint8_t token_hash[32], ByteWriter *writer)
{
    const RowKey key = key_hash(token_hash);
    write_head(writer, ROW_RESUME, &key, 0);
}

Status row_resume(const Row *row, RowResume *out)
{
    ByteReader key, value;
    Status status = open(row, ROW_RESUME, &key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    RowResume resume;
    const uint8_t *hash = byte_read_bytes(&key, sizeof resume.token_hash);
    resume.account = byte_read_u64(&value);
    resume.player = read_id(&value);
    resume.expires_unix_ms = read_id(&value);
    resume.roles = byte_read_varint(&value);
    status = finish_row(&key, &value);
    if (status == STATUS_OK && resume.roles > ROW_ROLES_ALL) {
        status = STATUS_RANGE;
    }
    if (status == STATUS_OK) {
        memcpy(resume.token_hash, hash, sizeof resume.token_hash);
        *out = resume;
    }
    return status;
}

// --- profiles -----------------------------------------------------------------------------------

static void fill_profiles(ByteWriter *writer, const void *object)
{
    const RowProfiles *profiles = object;
    write_text(writer, profiles->active);
    byte_write_varint(writer, profiles->count);
    for (uint32_t i = 0; i < profiles->count; i++) {
        const WireProfile *profile = &profiles->profiles[i];
        write_text(writer, profile->character_id);
        write_text(writer, profile->name);
        byte_write_varint(writer, profile->body);
        byte_write_varint(writer, profile->colour_skin);
        byte_write_varint(writer, profile->colour_shirt);
        byte_write_varint(writer, profile->colour_legs);
    }
}

void row_put_profiles(const RowProfiles *profiles, ByteWriter *writer)
{
    ASSERT(profiles->count <= PROFILES_MAX);
    write_row(writer, ROW_PROFILES, key_u64(profiles->account), fill_profiles, profiles);
}

Status row_profiles(const Row *row, RowProfiles *out)
{
    ByteReader key, value;
    Status status = open(row, ROW_PROFILES, &key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    RowProfiles profiles = {0};
    profiles.account = byte_read_u64(&key);
    profiles.active = read_text(&value, 64);
    profiles.count = byte_read_count(&value, PROFILES_MAX);
    for (uint32_t i = 0; i < profiles.count; i++) {
        WireProfile *profile = &profiles.profiles[i];
        profile->character_id = read_text(&value, 64);
        profile->name = read_text(&value, 64);
        profile->body = byte_read_count(&value, 0xff);
        profile->colour_skin = byte_read_count(&value, 0xffffff);
        profile->colour_shirt = byte_read_count(&value, 0xffffff);
        profile->colour_legs = byte_read_count(&value, 0xffffff);
    }
    status = finish_row(&key, &value);
    if (status == STATUS_OK && profiles.account == 0) {
        status = STATUS_RANGE;
    }
    if (status == STATUS_OK) {
        *out = profiles;
    }
    return status;
}

static uint32_t find_profile(const RowProfiles *profiles, Text id, uint32_t before)
{
    uint32_t i = 0;
    while (i < before && !text_equal(profiles->profiles[i].character_id, id)) {
        i += 1;
    }
    return i;
}

bool row_repair(RowProfiles *profiles, Text fallback_name)
{
    const Text fallback = row_name_is_valid(fallback_name) ? fallback_name : (Text){"Player", 6};
    bool repaired = profiles->count > PROFILES_MAX;
    const uint32_t count = repaired ? PROFILES_MAX : profiles->count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        WireProfile profile = profiles->profiles[i];
        if (!row_id_is_valid(profile.character_id) ||
            find_profile(profiles, profile.character_id, kept) < kept) {
            repaired = true;
            continue;
        }
        if (!row_name_is_valid(profile.name)) {
            profile.name = fallback;
            repaired = true;
        }
        profiles->profiles[kept++] = profile;
    }
    profiles->count = kept;
    if (find_profile(profiles, ROW_DEFAULT_PROFILE, kept) == kept) {
        // If there is no room, the last one is removed.
        kept = kept < PROFILES_MAX ? kept : PROFILES_MAX - 1;
        memmove(&profiles->profiles[1], &profiles->profiles[0], kept * sizeof(WireProfile));
        profiles->profiles[0] = (WireProfile){.character_id = ROW_DEFAULT_PROFILE,
                                              .name = fallback,
                                              .colour_skin = 0xe0b090,
                                              .colour_shirt = 0x3070c0,
                                              .colour_legs = 0x404050};
        profiles->count = kept + 1;
        repaired = true;
    }
    if (find_profile(profiles, profiles->active, profiles->count) == profiles->count) {
        profiles->active = ROW_DEFAULT_PROFILE;
        repaired = true;
    }
    return repaired;
}

// --- structures ---------------------------------------------------------------------------------

static void fill_structure(ByteWriter *writer, const void *object)
{
    const RowStructure *structure = object;
    byte_write_varint(writer, structure->desc.owner_id);
    byte_write_varint(writer, structure->desc.piece);
    byte_write_u32(writer, (uint32_t)structure->desc.cell.x);
    byte_write_u32(writer, (uint32_t)structure->desc.cell.y);
    byte_write_u32(writer, (uint32_t)structure->desc.cell.z);
    byte_write_u8(writer, (uint8_t)structure->desc.turn);
    byte_write_f32(writer, structure->health);
}

void row_put_structure(const RowStructure *structure, ByteWriter *writer)
{
    write_row(writer, ROW_STRUCTURE, key_u64(structure->desc.net_id), fill_structure, structure);
}

void row_delete_structure(uint64_t net_id, ByteWriter *writer)
{
    const RowKey key = key_u64(net_id);
    write_head(writer, ROW_STRUCTURE, &key, 0);
}

Status row_structure(const Row *row, RowStructure *out)
{
    ByteReader key, value;
    Status status = open(row, ROW_STRUCTURE, &key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    RowStructure structure;
    structure.desc.net_id = byte_read_u64(&key);
    structure.desc.owner_id = read_id(&value);
    structure.desc.piece = byte_read_count(&value, STRUCTURE_CATALOGUE_MAX - 1);
    structure.desc.cell.x = read_i32(&value, WORLD_EXTENT_M);
    structure.desc.cell.y = read_i32(&value, WORLD_EXTENT_M);
    structure.desc.cell.z = read_i32(&value, WORLD_EXTENT_M);
    structure.desc.turn = byte_read_u8(&value);
    structure.health = byte_read_f32(&value);
    status = finish_row(&key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    if (structure.desc.net_id == 0 || structure.desc.net_id > SIM_NET_ID_MAX ||
        structure.desc.turn > 3 || !(structure.health > 0 && structure.health < 1e9f)) {
        return STATUS_RANGE;
    }
    *out = structure;
    return STATUS_OK;
}

// --- chunks -------------------------------------------------------------------------------------

void row_put_chunk(ChunkCoord at, const uint8_t *difference, size_t bytes, ByteWriter *writer)
{
    ASSERT(bytes < ROW_VALUE_BYTES);
    const RowKey key = key_chunk(at);
    write_head(writer, ROW_CHUNK, &key, bytes + 1);
    byte_write_u8(writer, ROW_FORMAT);
    byte_write_bytes(writer, difference, bytes);
}

Status row_chunk(const Row *row, ChunkCoord *at, const uint8_t **difference, size_t *bytes)
{
    ByteReader key, value;
    Status status = open(row, ROW_CHUNK, &key, &value);
    if (status != STATUS_OK) {
        return status;
    }
    ChunkCoord coord;
    coord.x = read_i32(&key, CHUNK_COORD_MAX);
    coord.y = read_i32(&key, CHUNK_COORD_MAX);
    coord.z = read_i32(&key, CHUNK_COORD_MAX);
    status = byte_reader_finish(&key);
    if (status != STATUS_OK) {
        return status;
    }
    if (coord.x == CHUNK_COORD_MAX || coord.y == CHUNK_COORD_MAX || coord.z == CHUNK_COORD_MAX) {
        return STATUS_RANGE;
    }
    *at = coord;
    *difference = row->value + value.at;
    *bytes = row->value_bytes - value.at;
    return STATUS_OK;
}

// --- attributes ---------------------------------------------------------------------------------

void row_put_attributes(Text entity_name, uint64_t number, const uint8_t *attributes, size_t bytes,
                        ByteWriter *writer)
{
    ASSERT(bytes < ROW_VALUE_BYTES && entity_name.bytes <= 64);
    const RowKey key = key_entity(entity_name, number);
    write_head(writer, ROW_ATTRIBUTE, &key, bytes + 1);
    byte_write_u8(writer, ROW_FORMAT);
    byte_write_bytes(writer, attributes, bytes);
}

void row_delete_attributes(Text entity_name, uint64_t number, ByteWriter *writer)
{
    const RowKey key = key_entity(entity_name, number);
    write_head(writer, ROW_ATTRIBUTE, &key, 0);
}

static uint64_t read_entity_number(ByteReader *key, uint8_t by)
{
    const uint64_t number = by == 's' ? byte_read_u32(key) : byte_read_u64(key);
    if ((by != 's' && by != 'i') || number == 0 || number > SIM_NET_ID_MAX) {
        byte_reader_fail(key, STATUS_MALFORMED);
        return 0;
    }
    return by == 's' ? ROW_SCENE_ID | number : number;
}

Status row_attribute_key(const Row *row, Text *entity_name, uint64_t *number)
{
    if (row->type != ROW_ATTRIBUTE) {
        return STATUS_MISMATCH;
    }
    ByteReader key = byte_reader(row->key, row->key_bytes);
    Text name = {"", 0};
    uint64_t id = 0;
    const uint8_t by = byte_read_u8(&key);
    if (by == 'n') {
        // The key is copied into the row, so the name is valid as long as the row is.
        name = (Text){(const char *)row->key + 1, row->key_bytes - 1};
        if (byte_read_bytes(&key, name.bytes) == NULL || name.bytes < 1 || name.bytes > 64 ||
            !text_is_valid(name.data, name.bytes)) {
            return STATUS_MALFORMED;
        }
    } else {
        id = read_entity_number(&key, by);
    }
    const Status status = byte_reader_finish(&key);
    if (status == STATUS_OK) {
        *entity_name = name;
        *number = id;
    }
    return status;
}

Status row_attributes(const Row *row, Text *entity_name, uint64_t *number,
                      const uint8_t **attributes, size_t *bytes)
{
    ByteReader key, value;
    Status status = open(row, ROW_ATTRIBUTE, &key, &value);
    Text name;
    uint64_t id;
    if (status == STATUS_OK) {
        status = row_attribute_key(row, &name, &id);
    }
    if (status != STATUS_OK) {
        return status;
    }
    NetAttributesReader reader;
    Text unused;
    status =
        net_attributes_open(&reader, row->value + value.at, row->value_bytes - value.at, &unused);
    if (status != STATUS_OK) {
        return status;
    }
    *entity_name = name;
    *number = id;
    *attributes = row->value + value.at;
    *bytes = row->value_bytes - value.at;
    return STATUS_OK;
}
