// Worlds, their leases, and the number of their last save. An epoch is never given twice, not even
// to a world that was deleted and made again: the row with it stays.
//
//   leases      who may run a world, until when, as which epoch
//   world_head  the current epoch and the last save in it: the fence
//
// Both change in one transaction; a save is refused by world_head alone.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <string.h>

bool store_id_is_valid(const char *id)
{
    return row_id_is_valid((Text){id, (uint32_t)strnlen(id, STORE_ID_BYTES + 1)});
}

// False if it is damaged, too long, or there is a zero in it.
static void take_string(SqlRow *row, char *out, size_t out_bytes)
{
    size_t bytes = 0;
    const char *text = sql_take_text(row, out_bytes - 1, &bytes);
    memcpy(out, text, bytes);
    out[bytes] = '\0';
}

// --- worlds -------------------------------------------------------------------------------------

static bool take_world(SqlRow *row, StoreWorld *out)
{
    StoreWorld world;
    size_t bytes = 0;
    memset(&world, 0, sizeof world);
    sql_take_table(row, TABLE_WORLDS);
    take_string(row, world.world_id, sizeof world.world_id);
    take_string(row, world.room_code, sizeof world.room_code);
    take_string(row, world.name, sizeof world.name);
    const uint8_t *hash = sql_take_blob(row, sizeof world.place_hash, &bytes);
    memcpy(world.place_hash, hash, bytes);
    world.created_unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row) || bytes != sizeof world.place_hash) {
        return false;
    }
    *out = world;
    return true;
}

static Status find_world(Sql *sql, SqlName name, const char *key, StoreWorld *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_string(&row, key);
    if (sql_next(&row)) {
        status = take_world(&row, out) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

static Status world_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreWorld *world = user;
    StoreWorld other;
    if (world->room_code[0] != '\0') {
        const Status status = find_world(sql, SQL_WORLD_BY_CODE, world->room_code, &other);
        if (status == STATUS_OK && strcmp(other.world_id, world->world_id) != 0) {
            return STATUS_EXISTS;
        }
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            return status;
        }
    }
    SqlRow row = sql_open(sql, SQL_WORLD_PUT, TABLE_WORLDS);
    sql_put_string(&row, world->world_id);
    sql_put_string(&row, world->room_code);
    sql_put_string(&row, world->name);
    sql_put_blob(&row, world->place_hash, sizeof world->place_hash);
    sql_put_u64(&row, world->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_world_put(Store *store, const StoreWorld *world)
{
    StoreWorld copy = *world;
    const size_t code_bytes = strnlen(copy.room_code, sizeof copy.room_code);
    const size_t name_bytes = strnlen(copy.name, sizeof copy.name);
    if (!store_id_is_valid(copy.world_id) || code_bytes == sizeof copy.room_code ||
        (code_bytes > 0 && !row_id_is_valid((Text){copy.room_code, (uint32_t)code_bytes})) ||
        name_bytes == sizeof copy.name || !text_is_valid(copy.name, name_bytes)) {
        return STATUS_MALFORMED;
    }
    return store_call(store, world_put, &copy);
}

Status store_world_find(Store *store, const char *world_id_or_code, StoreWorld *out)
{
    if (!store_id_is_valid(world_id_or_code)) {
        return STATUS_NOT_FOUND;
    }
    pthread_mutex_lock(&store->read_lock);
    Sql *sql = &store->reader;
    Status status = find_world(sql, SQL_WORLD_FIND, world_id_or_code, out);
    if (status == STATUS_NOT_FOUND) {
        status = find_world(sql, SQL_WORLD_BY_CODE, world_id_or_code, out);
    }
    sql_clear(sql);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

uint32_t store_worlds(Store *store, StoreWorld *out, uint32_t max)
{
    uint32_t count = 0;
    uint64_t damaged = 0;
    pthread_mutex_lock(&store->read_lock);
    SqlRow row = sql_open(&store->reader, SQL_WORLD_LIST, TABLE_NONE);
    while (count < max && sql_next(&row)) {
        if (take_world(&row, &out[count])) {
            count += 1;
        } else {
            damaged += 1;
        }
    }
    sql_close(&row);
    sql_clear(&store->reader);
    pthread_mutex_unlock(&store->read_lock);
    pthread_mutex_lock(&store->lock);
    store->stats.damaged += damaged;
    pthread_mutex_unlock(&store->lock);
    return count;
}

// --- leases -------------------------------------------------------------------------------------

typedef struct Lease {
    char host_id[STORE_ID_BYTES + 1];
    uint64_t epoch, expires_unix_ms;
} Lease;

static Status find_lease(Sql *sql, const char *world_id, Lease *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_LEASE_FIND, TABLE_NONE);
    sql_put_string(&row, world_id);
    if (sql_next(&row)) {
        char unused[STORE_ID_BYTES + 1];
        Lease lease;
        sql_take_table(&row, TABLE_LEASES);
        take_string(&row, unused, sizeof unused);
        take_string(&row, lease.host_id, sizeof lease.host_id);
        lease.epoch = sql_take_u64(&row);
        lease.expires_unix_ms = sql_take_u64(&row);
        status = sql_take_checksum(&row) ? STATUS_OK : STATUS_MALFORMED;
        if (status == STATUS_OK) {
            *out = lease;
        }
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

static void put_lease(Sql *sql, const char *world_id, const Lease *lease)
{
    ASSERT(lease->epoch > 0 && lease->epoch <= STORE_EPOCH_MAX);
    SqlRow row = sql_open(sql, SQL_LEASE_PUT, TABLE_LEASES);
    sql_put_string(&row, world_id);
    sql_put_string(&row, lease->host_id);
    sql_put_u64(&row, lease->epoch);
    sql_put_u64(&row, lease->expires_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static void put_head(Sql *sql, const char *world_id, uint64_t epoch, uint64_t seq)
{
    ASSERT(epoch > 0 && epoch <= STORE_EPOCH_MAX);
    SqlRow row = sql_open(sql, SQL_HEAD_PUT, TABLE_HEAD);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, epoch);
    sql_put_u64(&row, seq);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

typedef struct LeaseCall {
    const char *world_id, *host_id;
    uint64_t now, duration, epoch;
} LeaseCall;

static uint64_t lease_end(const LeaseCall *call)
{
    const uint64_t most = INT64_MAX;
    return call->now < most && call->duration < most - call->now ? call->now + call->duration
                                                                 : most;
}

static Status lease_take(Store *store, Sql *sql, void *user)
{
    (void)store;
    LeaseCall *call = user;
    StoreWorld world;
    Lease lease = {.epoch = 0};
    Status status = find_world(sql, SQL_WORLD_FIND, call->world_id, &world);
    if (status != STATUS_OK) {
        return status;
    }
    status = find_lease(sql, call->world_id, &lease);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    if (status == STATUS_OK && lease.expires_unix_ms > call->now &&
        strcmp(lease.host_id, call->host_id) != 0) {
        return STATUS_EXISTS;
    }
    if (lease.epoch >= STORE_EPOCH_MAX) {
        return STATUS_LIMIT; // only a database that somebody wrote by hand has such a number
    }
    memcpy(lease.host_id, call->host_id, strlen(call->host_id) + 1);
    lease.epoch += 1;
    lease.expires_unix_ms = lease_end(call);
    put_lease(sql, call->world_id, &lease);
    put_head(sql, call->world_id, lease.epoch, 0);
    call->epoch = lease.epoch;
    return STATUS_OK;
}

Status store_lease_take(Store *store, const char *world_id, const char *host_id,
                        uint64_t now_unix_ms, uint64_t duration_ms, uint64_t *epoch)
{
    LeaseCall call = {world_id, host_id, now_unix_ms, duration_ms, 0};
    if (!store_id_is_valid(world_id) || !store_id_is_valid(host_id)) {
        return STATUS_MALFORMED;
    }
    const Status status = store_call(store, lease_take, &call);
    if (status == STATUS_OK) {
        *epoch = call.epoch;
    }
    return status;
}

// Moves the end of a lease; one that somebody else took is not ours to move.
static Status lease_move(Store *store, Sql *sql, void *user)
{
    (void)store;
    const LeaseCall *call = user;
    Lease lease;
    const Status status = find_lease(sql, call->world_id, &lease);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_DENIED : status;
    }
    if (lease.epoch != call->epoch) {
        return STATUS_DENIED;
    }
    lease.expires_unix_ms = lease_end(call);
    put_lease(sql, call->world_id, &lease);
    return STATUS_OK;
}

Status store_lease_renew(Store *store, const char *world_id, uint64_t epoch, uint64_t now_unix_ms,
                         uint64_t duration_ms)
{
    LeaseCall call = {world_id, "", now_unix_ms, duration_ms, epoch};
    return store_id_is_valid(world_id) ? store_call(store, lease_move, &call) : STATUS_MALFORMED;
}

void store_lease_release(Store *store, const char *world_id, uint64_t epoch)
{
    LeaseCall call = {world_id, "", 0, 0, epoch};
    if (store_id_is_valid(world_id)) {
        // If it fails the lease ends by itself.
        (void)!store_call(store, lease_move, &call);
    }
}

static Status world_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    static const char *const tables[] = {
        "worlds",           "world_meta",         "structures",
        "chunks",           "attributes",         "player_checkpoints",
        "presence_players", "character_profiles", "active_character_profiles",
        "resume_sessions",  "datastore",          "datastore_versions",
        "datastore_use"};
    const char *world_id = user;
    Lease lease = {.epoch = 0};
    StoreWorld world;
    Status status = find_world(sql, SQL_WORLD_FIND, world_id, &world);
    if (status == STATUS_NOT_FOUND || status == STATUS_BLOCKED) {
        return status; // a damaged one can be deleted
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char text[96]; // the id has neither quotes nor anything else to escape
        sqlite3_snprintf(sizeof text, text, "DELETE FROM %s WHERE world_id = ", tables[i]);
        char *whole = sqlite3_mprintf("%s%Q", text, world_id);
        if (whole == NULL) {
            sql->error = SQLITE_NOMEM;
            return STATUS_BLOCKED;
        }
        sql_exec(sql, whole);
        sqlite3_free(whole);
    }
    status = find_lease(sql, world_id, &lease);
    if (status == STATUS_OK && lease.epoch >= STORE_EPOCH_MAX) {
        return STATUS_LIMIT;
    }
    if (status == STATUS_OK) {
        lease.host_id[0] = '\0';
        lease.epoch += 1;
        lease.expires_unix_ms = 0;
        put_lease(sql, world_id, &lease);
        put_head(sql, world_id, lease.epoch, 0);
    }
    return STATUS_OK;
}

Status store_world_delete(Store *store, const char *world_id)
{
    char copy[STORE_ID_BYTES + 1];
    if (!store_id_is_valid(world_id)) {
        return STATUS_NOT_FOUND;
    }
    memcpy(copy, world_id, strlen(world_id) + 1);
    return store_call(store, world_delete, copy);
}

// --- the head -----------------------------------------------------------------------------------

static bool find_head(Sql *sql, const char *world_id, uint64_t *epoch, uint64_t *seq)
{
    bool found = false;
    SqlRow row = sql_open(sql, SQL_HEAD_FIND, TABLE_NONE);
    sql_put_string(&row, world_id);
    if (sql_next(&row)) {
        size_t bytes = 0;
        sql_take_table(&row, TABLE_HEAD);
        (void)sql_take_text(&row, STORE_ID_BYTES, &bytes);
        *epoch = sql_take_u64(&row);
        *seq = sql_take_u64(&row);
        found = sql_take_checksum(&row);
        sql_close(&row);
    }
    return found;
}

bool head_epoch_is(Sql *sql, const char *world_id, uint64_t epoch)
{
    uint64_t current = 0, seq = 0;
    return find_head(sql, world_id, &current, &seq) && current == epoch;
}

static uint64_t head_checksum(const char *world_id, uint64_t epoch, uint64_t seq)
{
    Sql nowhere = {.error = SQLITE_ABORT}; // binds nothing, only hashes
    SqlRow row = sql_open(&nowhere, SQL_HEAD_PUT, TABLE_HEAD);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, epoch);
    sql_put_u64(&row, seq);
    return sql_checksum(&row);
}

static BlockedWorld *find_blocked(Store *store, const char *world_id)
{
    for (uint32_t i = 0; i < store->blocked_count; i++) {
        if (strcmp(store->blocked[i].world_id, world_id) == 0) {
            return &store->blocked[i];
        }
    }
    return NULL;
}

void head_blocked(Store *store, const char *world_id, uint64_t epoch, uint64_t seq)
{
    BlockedWorld *world = find_blocked(store, world_id);
    if (world == NULL) {
        // When there are too many, the one that was noted longest ago makes room.
        const uint32_t at = store->blocked_count < STORE_BLOCKED_MAX
                                ? store->blocked_count++
                                : store->blocked_next++ % STORE_BLOCKED_MAX;
        world = &store->blocked[at];
        *world = (BlockedWorld){.epoch = epoch, .last = seq};
        memcpy(world->world_id, world_id, strlen(world_id) + 1);
    }
    if (world->epoch != epoch || seq > world->last) {
        world->epoch = epoch;
        world->last = seq;
    }
}

Status head_advance(Store *store, Sql *sql, const char *world_id, uint64_t epoch, uint64_t seq)
{
    if (seq == 0 || seq > INT64_MAX || epoch == 0) {
        return STATUS_DENIED;
    }
    SqlRow row = sql_open(sql, SQL_HEAD_NEXT, TABLE_NONE);
    sql_put_u64(&row, seq);
    sql_put_u64(&row, head_checksum(world_id, epoch, seq));
    sql_put_string(&row, world_id);
    sql_put_u64(&row, epoch);
    sql_put_u64(&row, head_checksum(world_id, epoch, seq - 1));
    if (sql_run(&row) || sql->error != SQLITE_OK) {
        return STATUS_OK;
    }
    // One before it was refused by the disk and not tried again yet: this is no fence.
    uint64_t current = 0, last = 0;
    const BlockedWorld *blocked = find_blocked(store, world_id);
    if (blocked != NULL && blocked->epoch == epoch && find_head(sql, world_id, &current, &last) &&
        current == epoch && seq > last + 1 && blocked->last > last) {
        head_blocked(store, world_id, epoch, seq);
        return STATUS_BLOCKED;
    }
    return STATUS_DENIED;
}
