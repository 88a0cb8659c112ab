// Rows of a hostile world in the database: any bytes are rejected as a whole or fit the tables, and
// an accepted row is returned as the same bytes.
#include "core/base/check.h"
#include "server/store/store_inside.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Sql sql;

static void open_once(void)
{
    char reason[256];
    StoreStats stats = {0};
    if (sql.connection == NULL) {
        Status status = sql_connect(&sql, ":memory:", reason, sizeof reason);
        ASSERT(status == STATUS_OK);
        status = schema_open(&sql, NULL, true, &stats, reason, sizeof reason);
        ASSERT(status == STATUS_OK);
    }
    sql_exec(&sql, "DELETE FROM world_meta; DELETE FROM structures; DELETE FROM chunks;"
                   "DELETE FROM attributes; DELETE FROM player_checkpoints;"
                   "DELETE FROM presence_players; DELETE FROM character_profiles;"
                   "DELETE FROM active_character_profiles; DELETE FROM resume_sessions;"
                   "DELETE FROM world_players");
    ASSERT(sql.error == SQL_NO_ERROR);
}

typedef struct Back {
    const uint8_t *data;
    size_t size;
    uint32_t count;
    bool alone; // there is one row, and this is it
} Back;

static void take(void *user, const uint8_t *row, size_t bytes)
{
    Back *back = user;
    ByteReader reader = byte_reader(row, bytes);
    Row given;
    const Status status = row_read(&reader, &given);
    ASSERT(status == STATUS_OK);
    if (given.type == ROW_PROFILES) {
        return; // the account's: whoever was in the world has some
    }
    back->count += 1;
    ASSERT(!back->alone || (bytes == back->size && memcmp(row, back->data, bytes) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t count = 0;
    if (rows_check(data, size, &count) != STATUS_OK || count == 0) {
        return 0;
    }
    open_once();
    static Store store; // what it keeps in memory, of the input before
    players_forget(&store);
    rows_apply(&store, &sql, &(Save){"world", 1, data, size});
    ASSERT(sql.error == SQL_NO_ERROR);
    RowsFound found = store.found;
    ByteReader reader = byte_reader(data, size);
    Row first;
    const Status read = row_read(&reader, &first);
    ASSERT(read == STATUS_OK);
    Back back = {.data = data, .size = size, .alone = count == 1};
    const Status status = rows_read(&sql, "world", take, &back, &found);
    ASSERT(status == STATUS_OK && found.damaged == 0 && found.repaired == 0);
    ASSERT(back.count <= count);
    const bool is_kept = first.value_bytes > 0 && first.type != ROW_PROFILES;
    ASSERT(count > 1 || back.count == is_kept);
    return 0;
}
