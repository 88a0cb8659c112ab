// Worlds: what they are called and which place they are of. Who runs them is in store_lease.c.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/limits.h"
#include "core/base/text.h"

#include <string.h>

bool store_id_is_valid(const char *id)
{
    return row_id_is_valid((Text){id, (uint32_t)strnlen(id, STORE_ID_BYTES + 1)});
}

// False if it is damaged, too long, or there is a zero in it.
void world_take_string(SqlRow *row, char *out, size_t out_bytes)
{
    size_t bytes = 0;
    const char *text = sql_take_text(row, out_bytes - 1, &bytes);
    memcpy(out, text, bytes);
    out[bytes] = '\0';
}

// A world without such a row is everybody's.
static bool take_about(SqlRow *row, StoreWorld *world)
{
    char world_id[sizeof world->world_id];
    if (sql_take_null(row)) {
        return true;
    }
    sql_take_table(row, TABLE_WORLD_ABOUT);
    world_take_string(row, world_id, sizeof world_id);
    world->owner_id = sql_take_u64(row);
    world->maker_id = sql_take_u64(row);
    world->is_private = sql_take_u64(row) != 0;
    world->is_named = sql_take_u64(row) != 0;
    return sql_take_checksum(row);
}

static bool take_world(SqlRow *row, StoreWorld *out)
{
    StoreWorld world;
    size_t bytes = 0;
    memset(&world, 0, sizeof world);
    sql_take_table(row, TABLE_WORLDS);
    world_take_string(row, world.world_id, sizeof world.world_id);
    world_take_string(row, world.room_code, sizeof world.room_code);
    world_take_string(row, world.name, sizeof world.name);
    const uint8_t *hash = sql_take_bytes(row, sizeof world.place_hash, &bytes);
    memcpy(world.place_hash, hash, bytes);
    world.created_unix_ms = sql_take_u64(row);
    world_take_string(row, world.place_id, sizeof world.place_id);
    if (!sql_take_checksum(row) || bytes != sizeof world.place_hash || !take_about(row, &world)) {
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

Status world_find(Sql *sql, const char *world_id, StoreWorld *out)
{
    return find_world(sql, SQL_WORLD_FIND, world_id, out);
}

static void put_about(Sql *sql, const StoreWorld *world)
{
    const bool is_plain =
        world->owner_id == 0 && world->maker_id == 0 && !world->is_private && !world->is_named;
    SqlRow row = sql_open(sql, is_plain ? SQL_ABOUT_DELETE : SQL_ABOUT_PUT, TABLE_WORLD_ABOUT);
    sql_put_string(&row, world->world_id);
    if (!is_plain) {
        sql_put_u64(&row, world->owner_id);
        sql_put_u64(&row, world->maker_id);
        sql_put_u64(&row, world->is_private);
        sql_put_u64(&row, world->is_named);
        sql_put_checksum(&row);
    }
    (void)sql_run(&row);
}

Status world_write(Sql *sql, const StoreWorld *world)
{
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
    sql_put_bytes(&row, world->place_hash, sizeof world->place_hash);
    sql_put_u64(&row, world->created_unix_ms);
    sql_put_string(&row, world->place_id);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    put_about(sql, world);
    return STATUS_OK;
}

static Status world_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    return world_write(sql, user);
}

Status world_make(Store *store, Sql *sql, const Job *job)
{
    StoreWorld *world = job->user, other;
    const Status status = world_find(sql, world->world_id, &other);
    if (status == STATUS_NOT_FOUND) {
        return world_put(store, sql, world);
    }
    return status == STATUS_OK ? STATUS_EXISTS : status;
}

bool world_is_valid(const StoreWorld *world)
{
    const size_t code_bytes = strnlen(world->room_code, sizeof world->room_code);
    const size_t name_bytes = strnlen(world->name, sizeof world->name);
    return store_id_is_valid(world->world_id) && store_id_is_valid(world->place_id) &&
           code_bytes < sizeof world->room_code &&
           (code_bytes == 0 || row_id_is_valid((Text){world->room_code, (uint32_t)code_bytes})) &&
           name_bytes < sizeof world->name && text_is_valid(world->name, name_bytes);
}

Status store_world_put(Store *store, const StoreWorld *world)
{
    StoreWorld copy = *world;
    if (copy.place_id[0] == '\0') {
        memcpy(copy.place_id, copy.world_id, sizeof copy.place_id);
    }
    return world_is_valid(&copy) ? store_call(store, world_put, &copy) : STATUS_MALFORMED;
}

Status store_world_find(Store *store, const char *world_id_or_code, StoreWorld *out)
{
    if (!store_id_is_valid(world_id_or_code)) {
        return STATUS_NOT_FOUND;
    }
    store_read_begin(store);
    Sql *sql = store->reader;
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
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_WORLD_LIST, TABLE_NONE);
    while (count < max && sql_next(&row)) {
        if (take_world(&row, &out[count])) {
            count += 1;
        } else {
            damaged += 1;
        }
    }
    sql_close(&row);
    status_ignore(store_read_end(store, STATUS_OK, damaged));
    return count;
}

static void run_each(Sql *sql, const SqlName *names, size_t count, const char *world_id)
{
    for (size_t i = 0; i < count; i++) {
        SqlRow row = sql_open(sql, names[i], TABLE_NONE);
        sql_put_string(&row, world_id);
        (void)sql_run(&row);
    }
}

void world_clear(Sql *sql, const char *world_id)
{
    static const SqlName names[] = {SQL_META_DELETE,     SQL_STRUCTURE_CLEAR, SQL_CHUNK_CLEAR,
                                    SQL_ATTRIBUTE_CLEAR, SQL_PLAYERS_CLEAR,   SQL_CHECKPOINT_CLEAR,
                                    SQL_PRESENCE_CLEAR,  SQL_RESUME_CLEAR};
    run_each(sql, names, sizeof names / sizeof names[0], world_id);
}

Status world_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    static const SqlName names[] = {SQL_WORLD_DELETE, SQL_ABOUT_DELETE, SQL_GUEST_CLEAR};
    const char *world_id = user;
    StoreWorld world;
    const Status status = world_find(sql, world_id, &world);
    if (status == STATUS_NOT_FOUND || status == STATUS_BLOCKED) {
        return status; // a damaged one can be deleted
    }
    run_each(sql, names, sizeof names / sizeof names[0], world_id);
    world_clear(sql, world_id);
    return world_fence(sql, world_id);
}

Status store_world_delete(Store *store, const char *world_id)
{
    char copy[STORE_ID_BYTES + 1];
    if (!store_id_is_valid(world_id)) {
        return STATUS_NOT_FOUND;
    }
    memcpy(copy, world_id, strlen(world_id) + 1);
    return store_call_world(store, copy, world_delete, copy);
}

// --- who is invited -----------------------------------------------------------------------------

typedef struct GuestCall {
    char world_id[STORE_ID_BYTES + 1];
    uint64_t account, now;
    char room_code[17]; // of guest_delete
} GuestCall;

static Status guest_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const GuestCall *call = user;
    uint64_t count = 0;
    SqlRow counted = sql_open(sql, SQL_GUEST_COUNT, TABLE_NONE);
    sql_put_string(&counted, call->world_id);
    if (sql_next(&counted)) {
        count = sql_take_u64(&counted);
        sql_close(&counted);
    }
    if (count >= WORLD_GUESTS_MAX) {
        return STATUS_LIMIT;
    }
    SqlRow row = sql_open(sql, SQL_GUEST_PUT, TABLE_WORLD_GUESTS);
    sql_put_string(&row, call->world_id);
    sql_put_u64(&row, call->account);
    sql_put_u64(&row, call->now);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

// A private world gets the new code with it: whoever was invited knows the old one.
static Status guest_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    const GuestCall *call = user;
    StoreWorld world, other;
    Status status = world_find(sql, call->world_id, &world);
    if (status == STATUS_OK && world.is_private) {
        status = find_world(sql, SQL_WORLD_BY_CODE, call->room_code, &other);
        status = status == STATUS_NOT_FOUND ? STATUS_OK
                 : status == STATUS_OK      ? STATUS_EXISTS
                                            : status;
    }
    if (status != STATUS_OK) {
        return status;
    }
    SqlRow row = sql_open(sql, SQL_GUEST_DELETE, TABLE_NONE);
    sql_put_string(&row, call->world_id);
    sql_put_u64(&row, call->account);
    if (!sql_run(&row)) {
        return STATUS_NOT_FOUND;
    }
    if (!world.is_private) {
        return STATUS_OK;
    }
    memcpy(world.room_code, call->room_code, sizeof world.room_code);
    return world_write(sql, &world);
}

static Status guest_call(Store *store, JobCall run, const char *world_id, GuestCall call)
{
    if (call.account == 0 || !store_id_is_valid(world_id)) {
        return STATUS_MALFORMED;
    }
    memcpy(call.world_id, world_id, strlen(world_id) + 1);
    return store_call(store, run, &call);
}

Status store_guest_put(Store *store, const char *world_id, uint64_t account, uint64_t now_unix_ms)
{
    return guest_call(store, guest_put, world_id,
                      (GuestCall){.account = account, .now = now_unix_ms});
}

Status store_guest_delete(Store *store, const char *world_id, uint64_t account,
                          const char *room_code)
{
    GuestCall call = {.account = account};
    const size_t bytes = strnlen(room_code, sizeof call.room_code);
    if (bytes >= sizeof call.room_code || !row_id_is_valid((Text){room_code, (uint32_t)bytes})) {
        return STATUS_MALFORMED;
    }
    memcpy(call.room_code, room_code, bytes + 1);
    return guest_call(store, guest_delete, world_id, call);
}

bool store_guest_is_invited(Store *store, const char *world_id, uint64_t account)
{
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_GUEST_FIND, TABLE_NONE);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, account);
    bool is_invited = false;
    if (sql_next(&row)) {
        is_invited = sql_take_u64(&row) > 0;
        sql_close(&row);
    }
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return is_invited;
}

Status store_guests(Store *store, StoreGuestSink sink, void *user)
{
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_GUEST_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        char world_id[STORE_ID_BYTES + 1];
        sql_take_table(&row, TABLE_WORLD_GUESTS);
        world_take_string(&row, world_id, sizeof world_id);
        const uint64_t account = sql_take_u64(&row);
        (void)sql_take_u64(&row);
        if (sql_take_checksum(&row)) { // who is not invited any more asks again
            sink(user, world_id, account);
        }
    }
    const Status status = sql_status(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}
