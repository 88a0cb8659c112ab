// What a world keeps, from rows of bytes to columns and back. A row is decoded before anything is
// written, so only what core/world/save/row.h can read gets in; reading makes the same bytes again
// from the columns, and a row whose checksum does not fit is refused. Every function that puts a
// row and the one that reads it name the columns in the same order.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/text.h"

#include <stdlib.h>
#include <string.h>

// --- checking -----------------------------------------------------------------------------------

typedef union AnyRow {
    RowMeta meta;
    RowPlayer player;
    RowResume resume;
    RowProfiles profiles;
    RowStructure structure;
} AnyRow;

static Status check_content(const Row *row)
{
    AnyRow any;
    ChunkCoord at;
    Text name;
    uint64_t net_id;
    const uint8_t *data;
    size_t bytes;
    switch (row->type) {
    case ROW_META:
        return row_meta(row, &any.meta);
    case ROW_STRUCTURE:
        return row_structure(row, &any.structure);
    case ROW_CHUNK:
        return row_chunk(row, &at, &data, &bytes);
    case ROW_ATTRIBUTE:
        return row_attributes(row, &name, &net_id, &data, &bytes);
    case ROW_PLAYER:
        return row_player(row, &any.player);
    case ROW_RESUME:
        return row_resume(row, &any.resume);
    case ROW_PROFILES: {
        const Status status = row_profiles(row, &any.profiles);
        // A world keeps valid sets only; the tables have no place for two profiles of one id.
        const bool broken = status == STATUS_OK && row_repair(&any.profiles, (Text){"", 0});
        return broken ? STATUS_MALFORMED : status;
    }
    default:
        return STATUS_UNSUPPORTED;
    }
}

static uint64_t key_number(const Row *row)
{
    ByteReader reader = byte_reader(row->key, row->key_bytes);
    const uint64_t number = byte_read_u64(&reader);
    return byte_reader_finish(&reader) == STATUS_OK ? number : 0;
}

typedef struct EntityKey {
    Text name;
    uint64_t net_id; // or ROW_SCENE_ID and the scene's id
} EntityKey;

static bool key_entity(const Row *row, EntityKey *out)
{
    return row_attribute_key(row, &out->name, &out->net_id) == STATUS_OK;
}

// A deletion has nothing but its key.
static bool key_is_valid(const Row *row)
{
    EntityKey key;
    switch (row->type) {
    case ROW_META:
        return row->key_bytes == 0;
    case ROW_STRUCTURE:
    case ROW_PLAYER:
    case ROW_PROFILES:
        return key_number(row) != 0;
    case ROW_CHUNK:
        return row->key_bytes == 12;
    case ROW_ATTRIBUTE:
        return key_entity(row, &key);
    case ROW_RESUME:
        return row->key_bytes == 32;
    default:
        return false;
    }
}

Status rows_check(const uint8_t *rows, size_t bytes, uint32_t *count)
{
    ByteReader reader = byte_reader(rows, bytes);
    uint32_t seen = 0;
    while (byte_reader_left(&reader) > 0) {
        Row row;
        if (row_read(&reader, &row) != STATUS_OK) {
            return STATUS_MALFORMED;
        }
        const bool ok =
            row.value_bytes == 0 ? key_is_valid(&row) : check_content(&row) == STATUS_OK;
        if (!ok) {
            return STATUS_MALFORMED;
        }
        seen += 1;
    }
    *count = seen;
    return STATUS_OK;
}

// --- writing ------------------------------------------------------------------------------------

static void put_meta(Sql *sql, const char *world_id, const Row *from)
{
    RowMeta meta;
    if (row_meta(from, &meta) != STATUS_OK) {
        SqlRow gone = sql_open(sql, SQL_META_DELETE, TABLE_NONE);
        sql_put_string(&gone, world_id);
        (void)sql_run(&gone);
        return;
    }
    SqlRow row = sql_open(sql, SQL_META_PUT, TABLE_META);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, meta.next_net_id);
    sql_put_u64(&row, meta.next_player);
    sql_put_u64(&row, meta.tick);
    sql_put_u64(&row, meta.manifest_version);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static uint64_t from_i32(int32_t value)
{
    return (uint64_t)(int64_t)value;
}

static int32_t to_i32(uint64_t value)
{
    const int64_t number = (int64_t)value;
    return number >= INT32_MIN && number <= INT32_MAX ? (int32_t)number : 0;
}

static void put_structure(Sql *sql, const char *world_id, const Row *from)
{
    RowStructure structure;
    if (row_structure(from, &structure) != STATUS_OK) {
        sql_run_with_key(sql, SQL_STRUCTURE_DELETE, world_id, key_number(from));
        return;
    }
    SqlRow row = sql_open(sql, SQL_STRUCTURE_PUT, TABLE_STRUCTURES);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, structure.desc.net_id);
    sql_put_u64(&row, structure.desc.owner_id);
    sql_put_u64(&row, structure.desc.piece);
    sql_put_u64(&row, from_i32(structure.desc.cell.x));
    sql_put_u64(&row, from_i32(structure.desc.cell.y));
    sql_put_u64(&row, from_i32(structure.desc.cell.z));
    sql_put_u64(&row, structure.desc.turn);
    sql_put_f32(&row, structure.health);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static void put_chunk(Sql *sql, const char *world_id, const Row *from)
{
    ChunkCoord at = {0};
    const uint8_t *difference = NULL;
    size_t bytes = 0;
    const bool exists = row_chunk(from, &at, &difference, &bytes) == STATUS_OK;
    if (!exists) {
        ByteReader key = byte_reader(from->key, from->key_bytes);
        at.x = (int32_t)byte_read_u32(&key);
        at.y = (int32_t)byte_read_u32(&key);
        at.z = (int32_t)byte_read_u32(&key);
    }
    SqlRow row = sql_open(sql, exists ? SQL_CHUNK_PUT : SQL_CHUNK_DELETE, TABLE_CHUNKS);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, from_i32(at.x));
    sql_put_u64(&row, from_i32(at.y));
    sql_put_u64(&row, from_i32(at.z));
    if (exists) {
        sql_put_bytes(&row, difference, bytes);
        sql_put_checksum(&row);
    }
    (void)sql_run(&row);
}

static void put_attributes(Sql *sql, const char *world_id, const Row *from)
{
    EntityKey key;
    const uint8_t *attributes = NULL;
    size_t bytes = 0;
    const bool exists =
        row_attributes(from, &key.name, &key.net_id, &attributes, &bytes) == STATUS_OK;
    if (!exists) {
        const bool valid = key_entity(from, &key);
        ASSERT(valid);
    }
    SqlRow row = sql_open(sql, exists ? SQL_ATTRIBUTE_PUT : SQL_ATTRIBUTE_DELETE, TABLE_ATTRIBUTES);
    sql_put_string(&row, world_id);
    sql_put_bytes(&row, key.name.data, key.name.bytes);
    sql_put_u64(&row, key.net_id);
    if (exists) {
        sql_put_bytes(&row, attributes, bytes);
        sql_put_checksum(&row);
    }
    (void)sql_run(&row);
}

static void put_profiles(Sql *sql, const char *world_id, const Row *from)
{
    (void)world_id;
    RowProfiles profiles;
    if (row_profiles(from, &profiles) == STATUS_OK) {
        profiles_write(sql, &profiles);
    } else {
        profiles_delete(sql, key_number(from));
    }
}

static void put_resume(Sql *sql, const char *world_id, const Row *from)
{
    RowResume resume;
    const bool exists = row_resume(from, &resume) == STATUS_OK;
    SqlRow row = sql_open(sql, exists ? SQL_RESUME_PUT : SQL_RESUME_DELETE, TABLE_RESUMES);
    sql_put_string(&row, world_id);
    sql_put_bytes(&row, from->key, from->key_bytes);
    if (exists) {
        sql_put_u64(&row, resume.account);
        sql_put_u64(&row, resume.player);
        sql_put_u64(&row, resume.expires_unix_ms);
        sql_put_u64(&row, resume.roles);
        sql_put_checksum(&row);
    }
    (void)sql_run(&row);
}

void rows_apply(Store *store, Sql *sql, const Save *save)
{
    static void (*const put[ROW_TYPE_COUNT])(Sql *, const char *, const Row *) = {
        [ROW_META] = put_meta,         [ROW_STRUCTURE] = put_structure,
        [ROW_CHUNK] = put_chunk,       [ROW_ATTRIBUTE] = put_attributes,
        [ROW_PROFILES] = put_profiles, [ROW_RESUME] = put_resume,
    };
    PlayerList players = {.count = 0};
    ByteReader reader = byte_reader(save->rows, save->row_bytes);
    while (byte_reader_left(&reader) > 0 && sql->error == SQL_NO_ERROR) {
        Row row;
        const size_t start = reader.at;
        const Status status = row_read(&reader, &row);
        ASSERT(status == STATUS_OK); // rows_check has seen it
        if (row.type != ROW_PLAYER) {
            put[row.type](sql, save->world_id, &row);
        } else if (!players_list_add(&players, &row, save->rows + start, reader.at - start)) {
            sql_fail(sql, SQL_ERROR_DISK);
        }
    }
    if (players.count > 0 && sql->error == SQL_NO_ERROR) {
        players_apply(store, sql, save, &players);
    }
    players_list_free(&players);
}

// --- reading ------------------------------------------------------------------------------------

typedef struct Reading {
    Sql *sql;
    const char *world_id;
    StoreRowSink sink;
    void *user;
    RowsFound found;
    uint8_t bytes[ROW_VALUE_BYTES + ROW_KEY_BYTES + 16];
} Reading;

static ByteWriter begin_row(Reading *reading)
{
    return byte_writer(reading->bytes, sizeof reading->bytes);
}

// What was read is checked as if a stranger had sent it: a checksum tells that bytes are the same,
// not that they were right.
static void give_row(Reading *reading, const ByteWriter *writer)
{
    uint32_t count = 0;
    if (writer->status != STATUS_OK ||
        rows_check(reading->bytes, writer->at, &count) != STATUS_OK || count != 1) {
        reading->found.damaged += 1;
        return;
    }
    reading->sink(reading->user, reading->bytes, writer->at);
}

static SqlRow open_read(Reading *reading, SqlName name)
{
    SqlRow row = sql_open(reading->sql, name, TABLE_NONE);
    sql_put_string(&row, reading->world_id);
    return row;
}

static void take_key(SqlRow *row, SqlTable table)
{
    size_t bytes = 0;
    sql_take_table(row, table);
    (void)sql_take_text(row, STORE_ID_BYTES, &bytes);
}

static void read_meta(Reading *reading)
{
    SqlRow row = open_read(reading, SQL_META_READ);
    while (sql_next(&row)) {
        RowMeta meta;
        take_key(&row, TABLE_META);
        meta.next_net_id = sql_take_u64(&row);
        meta.next_player = sql_take_u64(&row);
        meta.tick = sql_take_u64(&row);
        meta.manifest_version = sql_take_u64(&row);
        if (!sql_take_checksum(&row)) {
            reading->found.damaged += 1;
            continue;
        }
        ByteWriter writer = begin_row(reading);
        row_put_meta(&meta, &writer);
        give_row(reading, &writer);
    }
}

static void read_structures(Reading *reading)
{
    SqlRow row = open_read(reading, SQL_STRUCTURE_READ);
    while (sql_next(&row)) {
        RowStructure structure;
        take_key(&row, TABLE_STRUCTURES);
        structure.desc.net_id = sql_take_u64(&row);
        structure.desc.owner_id = sql_take_u64(&row);
        structure.desc.piece = (uint32_t)sql_take_u64(&row);
        structure.desc.cell.x = to_i32(sql_take_u64(&row));
        structure.desc.cell.y = to_i32(sql_take_u64(&row));
        structure.desc.cell.z = to_i32(sql_take_u64(&row));
        structure.desc.turn = (uint32_t)sql_take_u64(&row);
        structure.health = sql_take_f32(&row);
        if (!sql_take_checksum(&row)) {
            reading->found.damaged += 1;
            continue;
        }
        ByteWriter writer = begin_row(reading);
        row_put_structure(&structure, &writer);
        give_row(reading, &writer);
    }
}

static void read_chunks(Reading *reading)
{
    SqlRow row = open_read(reading, SQL_CHUNK_READ);
    while (sql_next(&row)) {
        ChunkCoord at;
        size_t bytes = 0;
        take_key(&row, TABLE_CHUNKS);
        at.x = to_i32(sql_take_u64(&row));
        at.y = to_i32(sql_take_u64(&row));
        at.z = to_i32(sql_take_u64(&row));
        const uint8_t *difference = sql_take_bytes(&row, ROW_VALUE_BYTES - 1, &bytes);
        if (!sql_take_checksum(&row)) {
            reading->found.damaged += 1;
            continue;
        }
        ByteWriter writer = begin_row(reading);
        row_put_chunk(at, difference, bytes, &writer);
        give_row(reading, &writer);
    }
}

static void read_attributes(Reading *reading)
{
    SqlRow row = open_read(reading, SQL_ATTRIBUTE_READ);
    while (sql_next(&row)) {
        size_t name_bytes = 0, bytes = 0;
        take_key(&row, TABLE_ATTRIBUTES);
        const char *name = sql_take_text(&row, WORLD_NAME_BYTES_MAX, &name_bytes);
        const uint64_t net_id = sql_take_u64(&row);
        const uint8_t *attributes = sql_take_bytes(&row, ROW_VALUE_BYTES - 1, &bytes);
        if (!sql_take_checksum(&row)) {
            reading->found.damaged += 1;
            continue;
        }
        ByteWriter writer = begin_row(reading);
        row_put_attributes((Text){name, (uint32_t)name_bytes}, net_id, attributes, bytes, &writer);
        give_row(reading, &writer);
    }
}

// Those who are there.
static void read_present(Reading *reading)
{
    SqlRow row = open_read(reading, SQL_PLAYERS_READ);
    while (sql_next(&row)) {
        const uint8_t *rows = NULL;
        size_t bytes = 0;
        if (!players_take_all(&row, &rows, &bytes)) {
            reading->found.damaged += 1;
            continue;
        }
        ByteReader reader = byte_reader(rows, bytes);
        while (byte_reader_left(&reader) > 0) {
            const size_t start = reader.at;
            Row unused;
            if (row_read(&reader, &unused) != STATUS_OK) {
                reading->found.damaged += 1;
                break;
            }
            ByteWriter writer = begin_row(reading);
            byte_write_bytes(&writer, rows + start, reader.at - start);
            give_row(reading, &writer);
        }
    }
}

// Those who are away.
static void read_checkpoints(Reading *reading)
{
    SqlRow row = open_read(reading, SQL_CHECKPOINT_READ);
    while (sql_next(&row)) {
        RowPlayer player;
        if (!players_take_checkpoint(&row, &player)) {
            reading->found.damaged += 1;
            continue;
        }
        ByteWriter writer = begin_row(reading);
        row_put_player(&player, &writer);
        give_row(reading, &writer);
    }
}

static void read_profiles(Reading *reading)
{
    ProfileSet set;
    SqlRow row = open_read(reading, SQL_PROFILE_USERS);
    while (sql_next(&row)) {
        const uint64_t account = sql_take_u64(&row);
        if (account == 0) {
            reading->found.damaged += 1;
            continue;
        }
        (void)profiles_load(reading->sql, reading->world_id, account, &set, &reading->found);
        ByteWriter writer = begin_row(reading);
        row_put_profiles(&set.row, &writer);
        give_row(reading, &writer);
    }
}

static void read_resumes(Reading *reading)
{
    SqlRow row = open_read(reading, SQL_RESUME_READ);
    while (sql_next(&row)) {
        RowResume resume = {0};
        size_t bytes = 0;
        take_key(&row, TABLE_RESUMES);
        const uint8_t *hash = sql_take_bytes(&row, sizeof resume.token_hash, &bytes);
        memcpy(resume.token_hash, hash, bytes);
        resume.account = sql_take_u64(&row);
        resume.player = sql_take_u64(&row);
        resume.expires_unix_ms = sql_take_u64(&row);
        resume.roles = sql_take_u64(&row);
        if (!sql_take_checksum(&row) || resume.roles > ROW_ROLES_ALL ||
            bytes != sizeof resume.token_hash) {
            reading->found.damaged += 1;
            continue;
        }
        ByteWriter writer = begin_row(reading);
        row_put_resume(&resume, &writer);
        give_row(reading, &writer);
    }
}

Status rows_read(Sql *sql, const char *world_id, StoreRowSink sink, void *user, RowsFound *found)
{
    Reading *reading = malloc(sizeof *reading);
    if (reading == NULL) {
        return STATUS_LIMIT;
    }
    reading->sql = sql; // the buffer is large, and not emptied
    reading->world_id = world_id;
    reading->sink = sink;
    reading->user = user;
    reading->found = (RowsFound){0};
    read_meta(reading);
    read_chunks(reading);
    read_structures(reading);
    read_attributes(reading);
    read_present(reading);
    read_checkpoints(reading);
    read_profiles(reading);
    read_resumes(reading);
    Status status = sql_status(sql);
    if (status == STATUS_OK && reading->found.damaged > 0) {
        status = STATUS_MALFORMED;
    }
    *found = reading->found;
    free(reading);
    return status;
}

Status store_rows(Store *store, const char *world_id, StoreRowSink sink, void *user)
{
    RowsFound found = {0};
    if (!store_id_is_valid(world_id)) {
        return STATUS_MALFORMED;
    }
    store_read_begin(store);
    Sql *sql = store->reader;
    // One transaction, so that all tables are of one moment.
    sql_begin_read(sql);
    const Status status = rows_read(sql, world_id, sink, user, &found);
    sql_clear(sql);
    sql_commit(sql);
    sql_clear(sql);
    pthread_mutex_unlock(&store->read_lock);
    pthread_mutex_lock(&store->lock);
    store->stats.damaged += found.damaged;
    store->stats.repaired += found.repaired;
    store->stats.backfilled += found.backfilled;
    pthread_mutex_unlock(&store->lock);
    return status;
}
