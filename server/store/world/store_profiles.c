// Character profiles and which is active. Users come in three ages: known by their presence alone,
// with profiles but nothing active, and whole; and any row of theirs may be damaged. Whatever is
// found becomes a valid set: a default profile, and an active one that exists. Whoever never chose
// anything has nothing stored, which is no damage.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "server/store/world/store_profile.h"

#include <stdlib.h>

#include <string.h>

#define NO_WORLD "" // they are the account's

void profiles_delete(Sql *sql, uint64_t account)
{
    static const SqlName names[] = {SQL_PROFILE_DELETE, SQL_ACTIVE_DELETE};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SqlRow row = sql_open(sql, names[i], TABLE_NONE);
        sql_put_string(&row, NO_WORLD);
        sql_put_u64(&row, account);
        (void)sql_run(&row);
    }
}

static void write_profile(Sql *sql, uint64_t account, uint32_t position, const WireProfile *profile)
{
    SqlRow row = sql_open(sql, SQL_PROFILE_PUT, TABLE_PROFILES);
    sql_put_string(&row, NO_WORLD);
    sql_put_u64(&row, account);
    sql_put_bytes(&row, profile->character_id.data, profile->character_id.bytes);
    sql_put_u64(&row, position);
    sql_put_bytes(&row, profile->name.data, profile->name.bytes);
    sql_put_u64(&row, profile->body);
    sql_put_u64(&row, profile->colour_skin);
    sql_put_u64(&row, profile->colour_shirt);
    sql_put_u64(&row, profile->colour_legs);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

void profiles_write(Sql *sql, const RowProfiles *profiles)
{
    ASSERT(profiles->count <= PROFILES_MAX);
    profiles_delete(sql, profiles->account);
    for (uint32_t i = 0; i < profiles->count; i++) {
        write_profile(sql, profiles->account, i, &profiles->profiles[i]);
    }
    SqlRow row = sql_open(sql, SQL_ACTIVE_PUT, TABLE_ACTIVE);
    sql_put_string(&row, NO_WORLD);
    sql_put_u64(&row, profiles->account);
    sql_put_bytes(&row, profiles->active.data, profiles->active.bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// --- reading ------------------------------------------------------------------------------------

// Columns are gone with the next row: the set keeps its own copies.
static Text take_copied_text(SqlRow *row, ProfileSet *set)
{
    size_t bytes = 0;
    const char *text = sql_take_text(row, sizeof set->texts[0], &bytes);
    ASSERT(set->text_count < sizeof set->texts / sizeof set->texts[0]);
    char *copy = set->texts[set->text_count++];
    memcpy(copy, text, bytes);
    return (Text){copy, (uint32_t)bytes};
}

static bool take_number(SqlRow *row, uint64_t max, uint64_t *out)
{
    const uint64_t value = sql_take_u64(row);
    *out = value <= max ? value : 0;
    return value <= max;
}

static bool take_profile(SqlRow *row, ProfileSet *set, WireProfile *out)
{
    size_t bytes = 0;
    WireProfile profile = {0};
    sql_take_table(row, TABLE_PROFILES);
    (void)sql_take_text(row, STORE_ID_BYTES, &bytes);
    (void)sql_take_u64(row);
    profile.character_id = take_copied_text(row, set);
    (void)sql_take_u64(row);
    profile.name = take_copied_text(row, set);
    bool ok = take_number(row, 0xff, &profile.body);
    ok = take_number(row, 0xffffff, &profile.colour_skin) && ok;
    ok = take_number(row, 0xffffff, &profile.colour_shirt) && ok;
    ok = take_number(row, 0xffffff, &profile.colour_legs) && ok;
    *out = profile;
    return sql_take_checksum(row) && ok;
}

static void load_profiles(Sql *sql, ProfileSet *set)
{
    SqlRow row = sql_open(sql, SQL_PROFILE_READ, TABLE_NONE);
    sql_put_string(&row, NO_WORLD);
    sql_put_u64(&row, set->row.account);
    while (sql_next(&row)) {
        if (set->row.count == PROFILES_MAX) {
            set->damaged_count += 1; // nobody wrote so many
            sql_close(&row);
            return;
        }
        const uint32_t text_count = set->text_count;
        WireProfile profile;
        if (take_profile(&row, set, &profile)) {
            set->row.profiles[set->row.count++] = profile;
        } else {
            set->damaged_count += 1;
            set->text_count = text_count;
        }
    }
}

// The text of a row (world, user, text, …) of that table; "" if there is none or it is damaged.
static Text load_text(Sql *sql, SqlName name, SqlTable table, const char *world_id, ProfileSet *set)
{
    Text text = {"", 0};
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, set->row.account);
    if (sql_next(&row)) {
        size_t bytes = 0;
        sql_take_table(&row, table);
        (void)sql_take_text(&row, STORE_ID_BYTES, &bytes);
        (void)sql_take_u64(&row);
        text = take_copied_text(&row, set);
        if (table == TABLE_PRESENCE) {
            (void)sql_take_u64(&row);
        }
        if (!sql_take_checksum(&row)) {
            set->damaged_count += 1;
            text = (Text){"", 0};
        }
        sql_close(&row);
    }
    return text;
}

bool profiles_load(Sql *sql, const char *world_id, uint64_t account, ProfileSet *out,
                   RowsFound *found)
{
    out->row = (RowProfiles){.account = account};
    out->text_count = 0;
    out->damaged_count = 0;
    load_profiles(sql, out);
    out->row.active = load_text(sql, SQL_ACTIVE_FIND, TABLE_ACTIVE, NO_WORLD, out);
    const uint32_t damaged_count = out->damaged_count;
    const bool is_new = out->row.count == 0 && out->row.active.bytes == 0 && damaged_count == 0;
    const Text name = load_text(sql, SQL_PRESENCE_FIND, TABLE_PRESENCE, world_id, out);
    out->damaged_count = damaged_count; // the name is only a help
    const bool is_repaired = row_repair(&out->row, name) || damaged_count > 0;
    found->backfilled += is_new;
    found->repaired += is_repaired && !is_new;
    return is_repaired;
}

void profiles_repair_all(Sql *sql, RowsFound *found)
{
    ProfileSet set;
    // The union is complete before its first row comes out, so the tables may change meanwhile.
    SqlRow row = sql_open(sql, SQL_PROFILE_USERS_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        char world_id[STORE_ID_BYTES + 1];
        size_t bytes = 0;
        const char *text = sql_take_text(&row, STORE_ID_BYTES, &bytes);
        memcpy(world_id, text, bytes);
        world_id[bytes] = '\0';
        const uint64_t account = sql_take_u64(&row);
        // A key that no world could have written belongs to nobody.
        if (!row.ok || account == 0 || (bytes > 0 && !store_id_is_valid(world_id))) {
            continue;
        }
        if (profiles_load(sql, world_id, account, &set, found)) {
            profiles_write(sql, &set.row);
        }
    }
}

// --- one account --------------------------------------------------------------------------------

// As a row; nothing for who never chose anything.
static Status write_row(Sql *sql, uint64_t account, RowsFound *found, uint8_t **rows, size_t *bytes)
{
    ProfileSet set;
    RowsFound unused = {0};
    (void)profiles_load(sql, NO_WORLD, account, &set, &unused);
    found->repaired += unused.repaired;
    *rows = NULL;
    *bytes = 0;
    if (unused.backfilled > 0) {
        return STATUS_OK;
    }
    uint8_t *row = malloc(STORE_PROFILES_BYTES);
    ByteWriter writer = byte_writer(row, row != NULL ? STORE_PROFILES_BYTES : 0);
    row_put_profiles(&set.row, &writer);
    if (writer.status != STATUS_OK) {
        free(row);
        return STATUS_LIMIT;
    }
    *rows = row;
    *bytes = writer.at;
    return STATUS_OK;
}

Status profiles_answer(Store *store, Sql *sql, Job *job)
{
    free(job->answer.rows);
    job->answer.rows = NULL;
    return write_row(sql, job->epoch, &store->found, &job->answer.rows, &job->answer.row_bytes);
}

static Status profiles_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    profiles_write(sql, user);
    return STATUS_OK;
}

Status store_profiles_put(Store *store, const RowProfiles *profiles)
{
    RowProfiles copy = *profiles;
    if (profiles->account == 0 || profiles->count > PROFILES_MAX) {
        return STATUS_MALFORMED;
    }
    return store_call(store, profiles_put, &copy);
}

Status store_profiles_read(Store *store, uint64_t account, uint8_t **row, size_t *bytes)
{
    RowsFound found = {0};
    store_read_begin(store);
    sql_begin_read(store->reader);
    const Status status = write_row(store->reader, account, &found, row, bytes);
    const Status error = sql_status(store->reader);
    sql_clear(store->reader);
    sql_commit(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return error != STATUS_OK ? error : status;
}
