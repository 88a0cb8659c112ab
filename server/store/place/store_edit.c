// See store_edit.h.
#define _GNU_SOURCE
#include "server/store/place/store_edit.h"

#include "core/base/limits.h"
#include "server/store/store_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

Status edit_head_find(Sql *sql, const char *package_id, StoreEditHead *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_EDIT_HEAD_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        char id[STORE_ID_BYTES + 1];
        size_t settings_bytes = 0, scene_bytes = 0;
        memset(out, 0, sizeof *out);
        sql_take_table(&row, TABLE_EDIT_HEADS);
        world_take_string(&row, id, sizeof id);
        out->epoch = sql_take_u64(&row);
        out->log = sql_take_u64(&row);
        out->seq = sql_take_u64(&row);
        out->written = sql_take_u64(&row);
        const uint8_t *settings = sql_take_bytes(&row, 32, &settings_bytes);
        memcpy(out->settings_hash, settings, settings_bytes);
        const uint8_t *scene = sql_take_bytes(&row, 32, &scene_bytes);
        memcpy(out->scene_hash, scene, scene_bytes);
        status = sql_take_checksum(&row) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

static void write_head(Sql *sql, const char *package_id, const StoreEditHead *head)
{
    SqlRow row = sql_open(sql, SQL_EDIT_HEAD_PUT, TABLE_EDIT_HEADS);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, head->epoch);
    sql_put_u64(&row, head->log);
    sql_put_u64(&row, head->seq);
    sql_put_u64(&row, head->written);
    sql_put_bytes(&row, head->settings_hash, sizeof head->settings_hash);
    sql_put_bytes(&row, head->scene_hash, sizeof head->scene_hash);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// The head, if it is this session's.
static Status fence(Sql *sql, const char *package_id, uint64_t epoch, StoreEditHead *out)
{
    const Status status = edit_head_find(sql, package_id, out);
    if (status == STATUS_OK && out->epoch != epoch) {
        return STATUS_DENIED;
    }
    return status == STATUS_NOT_FOUND ? STATUS_DENIED : status;
}

static void write_row(Sql *sql, const char *package_id, const StoreEditRow *edit)
{
    SqlRow row = sql_open(sql, SQL_EDIT_ROW_PUT, TABLE_EDIT_ROWS);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, edit->seq);
    sql_put_u64(&row, edit->editor);
    sql_put_u64(&row, edit->maker_id);
    sql_put_u64(&row, edit->unix_ms);
    sql_put_string(&row, edit->label);
    sql_put_bytes(&row, edit->told, edit->bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// `told` points into the row.
static bool take_row(SqlRow *row, char package_id[STORE_ID_BYTES + 1], StoreEditRow *out)
{
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_EDIT_ROWS);
    world_take_string(row, package_id, STORE_ID_BYTES + 1);
    out->seq = sql_take_u64(row);
    out->editor = (uint32_t)sql_take_u64(row);
    out->maker_id = sql_take_u64(row);
    out->unix_ms = sql_take_u64(row);
    world_take_string(row, out->label, sizeof out->label);
    out->told = sql_take_bytes(row, EDIT_MESSAGE_BYTES_MAX, &out->bytes);
    return sql_take_checksum(row);
}

static void write_checkpoint(Sql *sql, const char *package_id, uint64_t seq, const void *document,
                             size_t bytes)
{
    SqlRow row = sql_open(sql, SQL_EDIT_CHECKPOINT_PUT, TABLE_EDIT_CHECKPOINTS);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, seq);
    sql_put_bytes(&row, document, bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static void delete_log(Sql *sql, const char *package_id)
{
    sql_run_with_key(sql, SQL_EDIT_ROWS_DELETE, package_id, INT64_MAX);
    sql_run_with_key(sql, SQL_EDIT_CHECKPOINTS_DELETE, package_id, INT64_MAX);
}

void edit_log_delete(Sql *sql, const char *package_id)
{
    delete_log(sql, package_id);
    SqlRow row = sql_open(sql, SQL_EDIT_HEAD_DELETE, TABLE_NONE);
    sql_put_string(&row, package_id);
    (void)sql_run(&row);
}

static Status edit_forget(Store *store, Sql *sql, void *user)
{
    (void)store;
    edit_log_delete(sql, user);
    return sql_status(sql);
}

Status store_edit_forget(Store *store, const char *package_id)
{
    char id[STORE_ID_BYTES + 1];
    if (!store_id_is_valid(package_id)) {
        return STATUS_MALFORMED;
    }
    snprintf(id, sizeof id, "%s", package_id);
    return store_call(store, edit_forget, id);
}

void edit_forget_maker(Sql *sql, uint64_t account)
{
    for (bool is_more = true; is_more;) {
        char package_id[STORE_ID_BYTES + 1];
        StoreEditRow found;
        SqlRow row = sql_open(sql, SQL_EDIT_MAKER_END, TABLE_NONE);
        sql_put_u64(&row, account);
        is_more = sql_next(&row);
        if (!is_more) {
            break;
        }
        (void)take_row(&row, package_id, &found);
        uint8_t *told = malloc(found.bytes + 1);
        if (told != NULL) { // the row is closed before another is written
            memcpy(told, found.told, found.bytes);
        }
        sql_close(&row);
        found.told = told;
        found.bytes = told != NULL ? found.bytes : 0;
        found.maker_id = 0;
        write_row(sql, package_id, &found);
        free(told);
        is_more = sql_status(sql) == STATUS_OK;
    }
}

// --- writing ------------------------------------------------------------------------------------

typedef struct EditCall {
    const char *package_id;
    uint64_t epoch, seq, now;
    const StoreEditHead *head;
    const StoreEditRow *rows;
    uint32_t count;
    const void *document;
    size_t bytes;
    const uint8_t *settings_hash, *scene_hash;
    StoreEditHead out;
} EditCall;

static Status edit_take(Store *store, Sql *sql, void *user)
{
    (void)store;
    EditCall *call = user;
    const Status status = edit_head_find(sql, call->package_id, &call->out);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_MALFORMED) {
        return status;
    }
    if (status != STATUS_OK) { // a head that is damaged names a log that cannot be believed
        delete_log(sql, call->package_id);
        call->out = (StoreEditHead){.epoch = call->now}; // a draft may be deleted and made again
    }
    call->out.epoch += 1;
    write_head(sql, call->package_id, &call->out);
    return STATUS_OK;
}

Status store_edit_take(Store *store, const char *package_id, uint64_t now_unix_ms,
                       StoreEditHead *out)
{
    EditCall call = {.package_id = package_id, .now = now_unix_ms};
    const Status status =
        store_id_is_valid(package_id) ? store_call(store, edit_take, &call) : STATUS_MALFORMED;
    if (status == STATUS_OK) {
        *out = call.out;
    }
    return status;
}

static Status edit_begin(Store *store, Sql *sql, void *user)
{
    (void)store;
    EditCall *call = user;
    const Status status = fence(sql, call->package_id, call->head->epoch, &call->out);
    if (status == STATUS_OK) {
        delete_log(sql, call->package_id);
        write_checkpoint(sql, call->package_id, call->head->seq, call->document, call->bytes);
        write_head(sql, call->package_id, call->head);
    }
    return status;
}

Status store_edit_begin(Store *store, const char *package_id, const StoreEditHead *head,
                        const void *document, size_t bytes)
{
    EditCall call = {.package_id = package_id, .head = head, .document = document, .bytes = bytes};
    return store_id_is_valid(package_id) ? store_call(store, edit_begin, &call) : STATUS_MALFORMED;
}

static Status edit_commit(Store *store, Sql *sql, void *user)
{
    (void)store;
    EditCall *call = user;
    const Status status = fence(sql, call->package_id, call->epoch, &call->out);
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < call->count; i++) {
        if (call->rows[i].seq != call->out.seq + 1 + i) {
            return STATUS_MISMATCH;
        }
    }
    for (uint32_t i = 0; i < call->count; i++) {
        write_row(sql, call->package_id, &call->rows[i]);
    }
    call->out.seq += call->count;
    write_head(sql, call->package_id, &call->out);
    return STATUS_OK;
}

Status store_edit_commit(Store *store, const char *package_id, uint64_t epoch,
                         const StoreEditRow *rows, uint32_t count)
{
    EditCall call = {.package_id = package_id, .epoch = epoch, .rows = rows, .count = count};
    return store_id_is_valid(package_id) ? store_call(store, edit_commit, &call) : STATUS_MALFORMED;
}

static uint64_t find_newest(Sql *sql, const char *package_id)
{
    uint64_t newest = 0;
    SqlRow row = sql_open(sql, SQL_EDIT_CHECKPOINT_NEWEST, TABLE_NONE);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        newest = sql_take_u64(&row);
        sql_close(&row);
    }
    return newest;
}

static Status edit_checkpoint(Store *store, Sql *sql, void *user)
{
    (void)store;
    EditCall *call = user;
    Status status = fence(sql, call->package_id, call->epoch, &call->out);
    if (status == STATUS_OK && call->out.seq != call->seq) {
        status = STATUS_MISMATCH;
    }
    if (status != STATUS_OK) {
        return status;
    }
    const uint64_t newest = find_newest(sql, call->package_id);
    sql_run_with_key(sql, SQL_EDIT_CHECKPOINTS_DELETE, call->package_id, newest);
    sql_run_with_key(sql, SQL_EDIT_ROWS_DELETE, call->package_id, newest);
    write_checkpoint(sql, call->package_id, call->seq, call->document, call->bytes);
    return STATUS_OK;
}

Status store_edit_checkpoint(Store *store, const char *package_id, uint64_t epoch, uint64_t seq,
                             const void *document, size_t bytes)
{
    EditCall call = {
        .package_id = package_id, .epoch = epoch, .seq = seq, .document = document, .bytes = bytes};
    return store_id_is_valid(package_id) ? store_call(store, edit_checkpoint, &call)
                                         : STATUS_MALFORMED;
}

static Status edit_written(Store *store, Sql *sql, void *user)
{
    (void)store;
    EditCall *call = user;
    const Status status = fence(sql, call->package_id, call->epoch, &call->out);
    if (status == STATUS_OK) {
        call->out.written = call->seq;
        memcpy(call->out.settings_hash, call->settings_hash, sizeof call->out.settings_hash);
        memcpy(call->out.scene_hash, call->scene_hash, sizeof call->out.scene_hash);
        write_head(sql, call->package_id, &call->out);
    }
    return status;
}

Status store_edit_written(Store *store, const char *package_id, uint64_t epoch, uint64_t seq,
                          const uint8_t settings_hash[32], const uint8_t scene_hash[32])
{
    EditCall call = {.package_id = package_id,
                     .epoch = epoch,
                     .seq = seq,
                     .settings_hash = settings_hash,
                     .scene_hash = scene_hash};
    return store_id_is_valid(package_id) ? store_call(store, edit_written, &call)
                                         : STATUS_MALFORMED;
}

// --- asking -------------------------------------------------------------------------------------

// Rows that follow each other, from the one after *seq on.
static Status load_rows(Sql *sql, const char *package_id, uint64_t seq, const StoreEditLoad *load)
{
    Status status = STATUS_OK;
    SqlRow row = sql_open(sql, SQL_EDIT_ROW_LIST, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, seq);
    sql_put_u64(&row, INT64_MAX);
    while (sql_next(&row)) {
        char id[STORE_ID_BYTES + 1];
        StoreEditRow found;
        if (!take_row(&row, id, &found) || found.seq != seq + 1) {
            sql_close(&row);
            return STATUS_MALFORMED;
        }
        seq = found.seq;
        load->row(load->user, &found);
    }
    return status;
}

static Status load_all(Sql *sql, const char *package_id, const StoreEditLoad *load)
{
    Status status = STATUS_NOT_FOUND;
    uint64_t seq = 0;
    const uint64_t newest = find_newest(sql, package_id);
    SqlRow row = sql_open(sql, SQL_EDIT_CHECKPOINT_FIRST, TABLE_NONE);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        char id[STORE_ID_BYTES + 1];
        size_t bytes = 0;
        sql_take_table(&row, TABLE_EDIT_CHECKPOINTS);
        world_take_string(&row, id, sizeof id);
        seq = sql_take_u64(&row);
        const uint8_t *document = sql_take_bytes(&row, EDIT_DOCUMENT_BYTES_MAX, &bytes);
        status = sql_take_checksum(&row) ? STATUS_OK : STATUS_MALFORMED;
        if (status == STATUS_OK) {
            load->checkpoint(load->user, seq, newest, document, bytes);
        }
        sql_close(&row);
    }
    return status == STATUS_OK ? load_rows(sql, package_id, seq, load) : status;
}

Status store_edit_load(Store *store, const char *package_id, const StoreEditLoad *load)
{
    store_read_begin(store);
    return store_read_end(store, load_all(store->reader, package_id, load), 0);
}

Status store_edit_rows(Store *store, const char *package_id, uint64_t from, StoreEditRow *out,
                       uint32_t max, uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_EDIT_ROW_LIST, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, from);
    sql_put_u64(&row, max);
    while (sql_next(&row)) {
        char id[STORE_ID_BYTES + 1];
        if (*count < max && take_row(&row, id, &out[*count])) {
            StoreEditRow *found = &out[*count];
            const size_t kept =
                found->bytes < sizeof found->begin ? found->bytes : sizeof found->begin;
            memcpy(found->begin, found->told, kept);
            found->begin_bytes = (uint8_t)kept;
            found->told = NULL;
            *count += 1;
        }
    }
    return store_read_end(store, STATUS_OK, 0);
}

bool store_edit_has_blob(Store *store, const char *package_id, const uint8_t hash[32])
{
    bool is_there = false;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_BLOB_USE_OF_PACKAGE, TABLE_NONE);
    sql_put_bytes(&row, hash, 32);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        is_there = sql_take_u64(&row) != 0;
        sql_close(&row);
    }
    return store_read_end(store, STATUS_OK, 0) == STATUS_OK && is_there;
}

Status store_edit_unwritten(Store *store, void (*sink)(void *user, const char *package_id),
                            void *user)
{
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_EDIT_HEAD_UNWRITTEN, TABLE_NONE);
    while (sql_next(&row)) {
        char id[STORE_ID_BYTES + 1];
        world_take_string(&row, id, sizeof id);
        if (row.ok) {
            sink(user, id);
        }
    }
    return store_read_end(store, STATUS_OK, 0);
}
