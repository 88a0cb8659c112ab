// See store_ban.h.
#define _GNU_SOURCE
#include "server/store/people/store_ban.h"

#include "core/base/text.h"
#include "server/store/store_inside.h"

#include <string.h>

static bool take_ban(SqlRow *row, StoreBan *out)
{
    StoreBan ban;
    memset(&ban, 0, sizeof ban);
    sql_take_table(row, TABLE_BANS);
    ban.account_id = sql_take_u64(row);
    world_take_string(row, ban.world_id, sizeof ban.world_id);
    ban.kind = (BanKind)sql_take_u64(row);
    ban.until_unix_ms = sql_take_u64(row);
    world_take_string(row, ban.reason, sizeof ban.reason);
    ban.maker_id = sql_take_u64(row);
    ban.created_unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row) || (ban.kind != BAN_ENTER && ban.kind != BAN_CHAT)) {
        return false;
    }
    *out = ban;
    return true;
}

static Status ban_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreBan *ban = user;
    SqlRow row = sql_open(sql, SQL_BAN_PUT, TABLE_BANS);
    sql_put_u64(&row, ban->account_id);
    sql_put_string(&row, ban->world_id);
    sql_put_u64(&row, ban->kind);
    sql_put_u64(&row, ban->until_unix_ms);
    sql_put_string(&row, ban->reason);
    sql_put_u64(&row, ban->maker_id);
    sql_put_u64(&row, ban->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

static bool is_valid(const StoreBan *ban)
{
    const size_t bytes = strnlen(ban->reason, sizeof ban->reason);
    return ban->account_id != 0 && (ban->kind == BAN_ENTER || ban->kind == BAN_CHAT) &&
           (ban->world_id[0] == '\0' || store_id_is_valid(ban->world_id)) &&
           bytes < sizeof ban->reason && text_is_valid(ban->reason, bytes) &&
           ban->until_unix_ms <= STORE_BAN_FOREVER;
}

Status store_ban_put(Store *store, const StoreBan *ban)
{
    StoreBan copy = *ban;
    return is_valid(ban) ? store_call(store, ban_put, &copy) : STATUS_MALFORMED;
}

static Status ban_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreBan *ban = user;
    SqlRow row = sql_open(sql, SQL_BAN_DELETE, TABLE_NONE);
    sql_put_u64(&row, ban->account_id);
    sql_put_string(&row, ban->world_id);
    sql_put_u64(&row, ban->kind);
    return sql_run(&row) ? STATUS_OK : STATUS_NOT_FOUND;
}

Status store_ban_delete(Store *store, uint64_t account_id, const char *world_id, BanKind kind)
{
    StoreBan ban = {.account_id = account_id, .kind = kind};
    if (account_id == 0 || strlen(world_id) >= sizeof ban.world_id) {
        return STATUS_NOT_FOUND;
    }
    memcpy(ban.world_id, world_id, strlen(world_id) + 1);
    return store_call(store, ban_delete, &ban);
}

Status store_bans(Store *store, StoreBanSink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_BAN_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        StoreBan ban;
        if (take_ban(&row, &ban)) {
            sink(user, &ban);
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}
