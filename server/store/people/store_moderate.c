// See store_moderate.h.
#define _GNU_SOURCE
#include "server/store/people/store_moderate.h"

#include "core/base/text.h"
#include "server/store/store_inside.h"

#include <string.h>

// --- packages -----------------------------------------------------------------------------------

static bool take_act(SqlRow *row, StorePackageAct *out)
{
    StorePackageAct act;
    memset(&act, 0, sizeof act);
    sql_take_table(row, TABLE_PACKAGE_ACTS);
    world_take_string(row, act.package_id, sizeof act.package_id);
    act.state = (StoreActState)sql_take_u64(row);
    world_take_string(row, act.reason, sizeof act.reason);
    act.maker_id = sql_take_u64(row);
    act.unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row) || act.state > STORE_ACT_REFUSED) {
        return false;
    }
    *out = act;
    return true;
}

static Status act_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StorePackageAct *act = user;
    if (act->state == STORE_ACT_NONE) {
        SqlRow gone = sql_open(sql, SQL_PACKAGE_ACT_DELETE, TABLE_NONE);
        sql_put_string(&gone, act->package_id);
        (void)sql_run(&gone);
        return STATUS_OK;
    }
    SqlRow row = sql_open(sql, SQL_PACKAGE_ACT_PUT, TABLE_PACKAGE_ACTS);
    sql_put_string(&row, act->package_id);
    sql_put_u64(&row, act->state);
    sql_put_string(&row, act->reason);
    sql_put_u64(&row, act->maker_id);
    sql_put_u64(&row, act->unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_package_act_put(Store *store, const StorePackageAct *act)
{
    StorePackageAct copy = *act;
    return store_id_is_valid(act->package_id) && text_is_valid(act->reason, strlen(act->reason))
               ? store_call(store, act_put, &copy)
               : STATUS_MALFORMED;
}

Status store_package_act_find(Store *store, const char *package_id, StorePackageAct *out)
{
    StorePackageAct act = {0};
    bool is_damaged = false;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_PACKAGE_ACT_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        is_damaged = !take_act(&row, &act);
        sql_close(&row);
    }
    const Status status = store_read_end(store, STATUS_OK, is_damaged);
    *out = act;
    return status;
}

Status store_approvals(Store *store, const char *after, StorePackage *out, uint32_t max,
                       uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_APPROVAL_LIST, TABLE_NONE);
    sql_put_string(&row, after);
    sql_put_u64(&row, max);
    while (*count < max && sql_next(&row)) {
        if (package_take(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    sql_close(&row);
    return store_read_end(store, STATUS_OK, damaged);
}

// --- chat rules ---------------------------------------------------------------------------------

static bool take_rule(SqlRow *row, StoreChatRule *out)
{
    StoreChatRule rule;
    memset(&rule, 0, sizeof rule);
    sql_take_table(row, TABLE_CHAT_RULES);
    rule.scope = (StoreChatScope)sql_take_u64(row);
    rule.account_id = sql_take_u64(row);
    world_take_string(row, rule.subject, sizeof rule.subject);
    rule.rule = (ChatRule)sql_take_u64(row);
    rule.maker_id = sql_take_u64(row);
    rule.unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row) || rule.rule >= CHAT_RULE_COUNT) {
        return false;
    }
    *out = rule;
    return true;
}

static Status rule_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreChatRule *rule = user;
    if (rule->rule == CHAT_FREE) {
        SqlRow gone = sql_open(sql, SQL_CHAT_RULE_DELETE, TABLE_NONE);
        sql_put_u64(&gone, rule->scope);
        sql_put_u64(&gone, rule->account_id);
        sql_put_string(&gone, rule->subject);
        (void)sql_run(&gone);
        return STATUS_OK;
    }
    SqlRow row = sql_open(sql, SQL_CHAT_RULE_PUT, TABLE_CHAT_RULES);
    sql_put_u64(&row, rule->scope);
    sql_put_u64(&row, rule->account_id);
    sql_put_string(&row, rule->subject);
    sql_put_u64(&row, rule->rule);
    sql_put_u64(&row, rule->maker_id);
    sql_put_u64(&row, rule->unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_chat_rule_put(Store *store, const StoreChatRule *rule)
{
    StoreChatRule copy = *rule;
    const bool has_id = rule->scope == STORE_CHAT_PLACE || rule->scope == STORE_CHAT_CLASS;
    const bool is_valid = rule->rule < CHAT_RULE_COUNT &&
                          (has_id ? rule->account_id == 0 && store_id_is_valid(rule->subject)
                                  : rule->scope == STORE_CHAT_ACCOUNT && rule->account_id != 0 &&
                                        rule->subject[0] == '\0');
    return is_valid ? store_call(store, rule_put, &copy) : STATUS_MALFORMED;
}

Status store_chat_rules(Store *store, StoreChatRuleSink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_CHAT_RULE_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        StoreChatRule rule;
        if (take_rule(&row, &rule)) {
            sink(user, &rule);
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

// --- people whom others block -------------------------------------------------------------------

static Status block_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreBlock *block = user;
    SqlRow row = sql_open(sql, SQL_BLOCK_PUT, TABLE_BLOCKS);
    sql_put_u64(&row, block->account_id);
    sql_put_u64(&row, block->blocked_id);
    sql_put_u64(&row, block->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_block_put(Store *store, const StoreBlock *block)
{
    StoreBlock copy = *block;
    return block->account_id != 0 && block->blocked_id != 0 ? store_call(store, block_put, &copy)
                                                            : STATUS_MALFORMED;
}

static Status block_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreBlock *block = user;
    SqlRow row = sql_open(sql, SQL_BLOCK_DELETE, TABLE_NONE);
    sql_put_u64(&row, block->account_id);
    sql_put_u64(&row, block->blocked_id);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_block_delete(Store *store, uint64_t account_id, uint64_t blocked_id)
{
    StoreBlock block = {.account_id = account_id, .blocked_id = blocked_id};
    return store_call(store, block_delete, &block);
}

Status store_blocks(Store *store, StoreBlockSink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_BLOCK_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        StoreBlock block;
        sql_take_table(&row, TABLE_BLOCKS);
        block.account_id = sql_take_u64(&row);
        block.blocked_id = sql_take_u64(&row);
        block.created_unix_ms = sql_take_u64(&row);
        if (sql_take_checksum(&row)) {
            sink(user, &block);
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

// --- ranges of addresses ------------------------------------------------------------------------

static bool take_address_ban(SqlRow *row, StoreAddressBan *out)
{
    StoreAddressBan ban;
    memset(&ban, 0, sizeof ban);
    sql_take_table(row, TABLE_ADDRESS_BANS);
    world_take_string(row, ban.range, sizeof ban.range);
    ban.until_unix_ms = sql_take_u64(row);
    world_take_string(row, ban.reason, sizeof ban.reason);
    ban.maker_id = sql_take_u64(row);
    ban.created_unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row)) {
        return false;
    }
    *out = ban;
    return true;
}

static Status address_ban_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreAddressBan *ban = user;
    SqlRow row = sql_open(sql, SQL_ADDRESS_BAN_PUT, TABLE_ADDRESS_BANS);
    sql_put_string(&row, ban->range);
    sql_put_u64(&row, ban->until_unix_ms);
    sql_put_string(&row, ban->reason);
    sql_put_u64(&row, ban->maker_id);
    sql_put_u64(&row, ban->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_address_ban_put(Store *store, const StoreAddressBan *ban)
{
    StoreAddressBan copy = *ban;
    return ban->range[0] != '\0' && text_is_valid(ban->reason, strlen(ban->reason)) &&
                   ban->until_unix_ms <= STORE_BAN_FOREVER
               ? store_call(store, address_ban_put, &copy)
               : STATUS_MALFORMED;
}

static Status address_ban_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    SqlRow row = sql_open(sql, SQL_ADDRESS_BAN_DELETE, TABLE_NONE);
    sql_put_string(&row, user);
    return sql_run(&row) ? STATUS_OK : STATUS_NOT_FOUND;
}

Status store_address_ban_delete(Store *store, const char *range)
{
    char copy[STORE_RANGE_BYTES];
    const size_t bytes = strlen(range);
    if (bytes == 0 || bytes >= sizeof copy) {
        return STATUS_NOT_FOUND;
    }
    memcpy(copy, range, bytes + 1);
    return store_call(store, address_ban_delete, copy);
}

Status store_address_bans(Store *store, StoreAddressBanSink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_ADDRESS_BAN_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        StoreAddressBan ban;
        if (take_address_ban(&row, &ban)) {
            sink(user, &ban);
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

// --- lists --------------------------------------------------------------------------------------

typedef struct ListCall {
    StoreList list;
    const char *text;
    size_t bytes;
    uint64_t maker_id, unix_ms;
} ListCall;

static Status list_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const ListCall *call = user;
    SqlRow row = sql_open(sql, SQL_TEXT_LIST_PUT, TABLE_TEXT_LISTS);
    sql_put_u64(&row, call->list);
    sql_put_bytes(&row, call->text, call->bytes);
    sql_put_u64(&row, call->maker_id);
    sql_put_u64(&row, call->unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_list_put(Store *store, StoreList list, const char *text, size_t bytes,
                      uint64_t maker_id, uint64_t unix_ms)
{
    ListCall call = {list, text, bytes, maker_id, unix_ms};
    return text_is_valid(text, bytes) ? store_call(store, list_put, &call) : STATUS_MALFORMED;
}

Status store_list_find(Store *store, StoreList list, char *out, size_t capacity, size_t *bytes)
{
    bool is_damaged = false;
    *bytes = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_TEXT_LIST_FIND, TABLE_NONE);
    sql_put_u64(&row, list);
    if (sql_next(&row)) {
        size_t found = 0;
        sql_take_table(&row, TABLE_TEXT_LISTS);
        (void)sql_take_u64(&row);
        const uint8_t *text = sql_take_bytes(&row, capacity, &found);
        memcpy(out, text, found);
        (void)sql_take_u64(&row);
        (void)sql_take_u64(&row);
        is_damaged = !sql_take_checksum(&row);
        *bytes = is_damaged ? 0 : found;
        sql_close(&row);
    }
    return store_read_end(store, STATUS_OK, is_damaged);
}
