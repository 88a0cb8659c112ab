// See store_report.h.
#define _GNU_SOURCE
#include "server/store/people/store_report.h"

#include "core/base/text.h"
#include "server/store/store_inside.h"

#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

static bool take_report(SqlRow *row, StoreReport *out)
{
    StoreReport report;
    memset(&report, 0, sizeof report);
    sql_take_table(row, TABLE_REPORTS);
    report.report_id = sql_take_u64(row);
    report.state = (StoreReportState)sql_take_u64(row);
    report.source = (StoreReportSource)sql_take_u64(row);
    report.reporter_id = sql_take_u64(row);
    report.account_id = sql_take_u64(row);
    world_take_string(row, report.place_id, sizeof report.place_id);
    world_take_string(row, report.world_id, sizeof report.world_id);
    world_take_string(row, report.reason, sizeof report.reason);
    world_take_string(row, report.text, sizeof report.text);
    world_take_string(row, report.note, sizeof report.note);
    report.handler_id = sql_take_u64(row);
    report.created_unix_ms = sql_take_u64(row);
    report.handled_unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row) || report.state < STORE_REPORT_OPEN ||
        report.state > STORE_REPORT_ACTED) {
        return false;
    }
    *out = report;
    return true;
}

static void put_report(Sql *sql, const StoreReport *report)
{
    SqlRow row = sql_open(sql, SQL_REPORT_PUT, TABLE_REPORTS);
    sql_put_u64(&row, report->report_id);
    sql_put_u64(&row, report->state);
    sql_put_u64(&row, report->source);
    sql_put_u64(&row, report->reporter_id);
    sql_put_u64(&row, report->account_id);
    sql_put_string(&row, report->place_id);
    sql_put_string(&row, report->world_id);
    sql_put_string(&row, report->reason);
    sql_put_string(&row, report->text);
    sql_put_string(&row, report->note);
    sql_put_u64(&row, report->handler_id);
    sql_put_u64(&row, report->created_unix_ms);
    sql_put_u64(&row, report->handled_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static bool take_line(SqlRow *row, StoreReportLine *out)
{
    StoreReportLine line;
    memset(&line, 0, sizeof line);
    sql_take_table(row, TABLE_REPORT_LINES);
    (void)sql_take_u64(row);
    (void)sql_take_u64(row);
    line.kind = (uint8_t)sql_take_u64(row);
    line.is_known = sql_take_u64(row) != 0;
    line.account_id = sql_take_u64(row);
    line.unix_ms = sql_take_u64(row);
    world_take_string(row, line.text, sizeof line.text);
    if (!sql_take_checksum(row)) {
        return false;
    }
    *out = line;
    return true;
}

static void put_line(Sql *sql, uint64_t report_id, uint32_t number, const StoreReportLine *line)
{
    SqlRow row = sql_open(sql, SQL_REPORT_LINE_PUT, TABLE_REPORT_LINES);
    sql_put_u64(&row, report_id);
    sql_put_u64(&row, number);
    sql_put_u64(&row, line->kind);
    sql_put_u64(&row, line->is_known);
    sql_put_u64(&row, line->account_id);
    sql_put_u64(&row, line->unix_ms);
    sql_put_string(&row, line->text);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static bool take_host(SqlRow *row, StoreReportHost *out, uint64_t *report_id)
{
    size_t bytes = 0;
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_REPORT_HOSTS);
    *report_id = sql_take_u64(row);
    world_take_string(row, out->host_id, sizeof out->host_id);
    const uint8_t *boot = sql_take_bytes(row, sizeof out->boot, &bytes);
    memcpy(out->boot, boot, bytes);
    out->number = sql_take_u64(row);
    return sql_take_checksum(row);
}

static void put_host(Sql *sql, uint64_t report_id, const StoreReportHost *host)
{
    SqlRow row = sql_open(sql, SQL_REPORT_HOST_PUT, TABLE_REPORT_HOSTS);
    sql_put_u64(&row, report_id);
    sql_put_string(&row, host->host_id);
    sql_put_bytes(&row, host->boot, sizeof host->boot);
    sql_put_u64(&row, host->number);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static Status find_host(Sql *sql, uint64_t report_id, StoreReportHost *out)
{
    SqlRow row = sql_open(sql, SQL_REPORT_HOST_FIND, TABLE_NONE);
    sql_put_u64(&row, report_id);
    if (!sql_next(&row)) {
        return STATUS_NOT_FOUND;
    }
    const bool is_whole = take_host(&row, out, &report_id);
    sql_close(&row);
    return is_whole ? STATUS_OK : STATUS_MALFORMED;
}

// The report that this host sent with that number; 0: none.
static uint64_t find_sent(Sql *sql, const StoreReportHost *host)
{
    StoreReportHost found;
    uint64_t report_id = 0;
    SqlRow row = sql_open(sql, SQL_REPORT_HOST_BY_NUMBER, TABLE_NONE);
    sql_put_string(&row, host->host_id);
    sql_put_bytes(&row, host->boot, sizeof host->boot);
    sql_put_u64(&row, host->number);
    if (sql_next(&row)) {
        report_id = take_host(&row, &found, &report_id) ? report_id : 0;
        sql_close(&row);
    }
    return report_id;
}

static uint64_t number_of(Sql *sql, SqlName name, uint64_t parameter)
{
    uint64_t number = 0;
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_u64(&row, parameter);
    if (sql_next(&row)) {
        number = sql_take_u64(&row);
        sql_close(&row);
    }
    return number;
}

static Status find_report(Sql *sql, uint64_t report_id, StoreReport *out)
{
    SqlRow row = sql_open(sql, SQL_REPORT_FIND, TABLE_NONE);
    sql_put_u64(&row, report_id);
    if (report_id == 0 || !sql_next(&row)) {
        return STATUS_NOT_FOUND;
    }
    const bool is_whole = take_report(&row, out);
    sql_close(&row);
    return is_whole ? STATUS_OK : STATUS_MALFORMED;
}

// --- making and closing -------------------------------------------------------------------------

typedef struct AddCall {
    StoreReport *report;
    const StoreReportLine *lines;
    uint32_t line_count, open_max;
    const StoreReportHost *host; // NULL: it was made here
} AddCall;

static Status report_add(Store *store, Sql *sql, void *user)
{
    (void)store;
    const AddCall *call = user;
    const uint64_t sent = call->host != NULL ? find_sent(sql, call->host) : 0;
    if (sent != 0) {
        call->report->report_id = sent;
        return STATUS_OK;
    }
    const uint64_t last = number_of(sql, SQL_REPORT_LAST, STORE_REPORT_ALL);
    if (number_of(sql, SQL_REPORT_COUNT, STORE_REPORT_OPEN) >= call->open_max ||
        last >= STORE_REPORT_ALL - 1) {
        return STATUS_LIMIT;
    }
    call->report->report_id = last + 1;
    put_report(sql, call->report);
    for (uint32_t i = 0; i < call->line_count; i++) {
        put_line(sql, call->report->report_id, i + 1, &call->lines[i]);
    }
    if (call->host != NULL) {
        put_host(sql, call->report->report_id, call->host);
    }
    return STATUS_OK;
}

static bool is_id(const char *id)
{
    return id[0] == '\0' || store_id_is_valid(id);
}

static Status add_checked(Store *store, AddCall *call)
{
    const StoreReport *report = call->report;
    if (!report_reason_is_valid(text_from(report->reason)) || !is_id(report->place_id) ||
        !is_id(report->world_id) || !text_is_valid(report->text, strlen(report->text))) {
        return STATUS_MALFORMED;
    }
    return store_call(store, report_add, call);
}

Status store_report_add(Store *store, StoreReport *report, const StoreReportLine *lines,
                        uint32_t line_count, uint32_t open_max)
{
    AddCall call = {report, lines, line_count, open_max, NULL};
    return add_checked(store, &call);
}

Status store_report_add_from(Store *store, const StoreReportHost *host, StoreReport *report,
                             const StoreReportLine *lines, uint32_t line_count, uint32_t open_max)
{
    AddCall call = {report, lines, line_count, open_max, host};
    return host->number > 0 ? add_checked(store, &call) : STATUS_MALFORMED;
}

typedef struct EvidenceCall {
    const StoreReportHost *host;
    uint64_t report_id;
    const char *world_id;
    const StoreReportLine *lines;
    uint32_t line_count;
} EvidenceCall;

static Status evidence_add(Store *store, Sql *sql, void *user)
{
    (void)store;
    const EvidenceCall *call = user;
    StoreReport report;
    StoreReportHost host;
    const Status status = find_report(sql, call->report_id, &report);
    if (status != STATUS_OK || strcmp(report.world_id, call->world_id) != 0) {
        return STATUS_NOT_FOUND;
    }
    if (find_host(sql, call->report_id, &host) != STATUS_NOT_FOUND) {
        return STATUS_EXISTS;
    }
    for (uint32_t i = 0; i < call->line_count; i++) {
        put_line(sql, call->report_id, i + 1, &call->lines[i]);
    }
    put_host(sql, call->report_id, call->host);
    return STATUS_OK;
}

Status store_report_add_evidence(Store *store, const StoreReportHost *host, uint64_t report_id,
                                 const char *world_id, const StoreReportLine *lines,
                                 uint32_t line_count)
{
    EvidenceCall call = {host, report_id, world_id, lines, line_count};
    return store_call(store, evidence_add, &call);
}

static Status report_close(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreReport *wanted = user;
    StoreReport report;
    const Status status = find_report(sql, wanted->report_id, &report);
    if (status != STATUS_OK) {
        return status;
    }
    report.state = wanted->state;
    memcpy(report.note, wanted->note, sizeof report.note);
    report.handler_id = wanted->handler_id;
    report.handled_unix_ms = wanted->handled_unix_ms;
    put_report(sql, &report);
    return STATUS_OK;
}

Status store_report_close(Store *store, const StoreReport *report)
{
    StoreReport copy = *report;
    return text_is_valid(copy.note, strlen(copy.note)) ? store_call(store, report_close, &copy)
                                                       : STATUS_MALFORMED;
}

typedef struct ExpireCall {
    uint64_t before, lines;
} ExpireCall;

static Status report_expire(Store *store, Sql *sql, void *user)
{
    (void)store;
    ExpireCall *call = user;
    const uint64_t changes = sql_change_count(sql);
    SqlRow row = sql_open(sql, SQL_REPORT_LINES_EXPIRE, TABLE_NONE);
    sql_put_u64(&row, call->before);
    (void)sql_run(&row);
    call->lines = sql_change_count(sql) - changes;
    return STATUS_OK;
}

Status store_report_expire(Store *store, uint64_t before_unix_ms, uint64_t *lines)
{
    ExpireCall call = {.before = before_unix_ms};
    const Status status = store_call(store, report_expire, &call);
    *lines = status == STATUS_OK ? call.lines : 0;
    return status;
}

// One after the other, because a row cannot be written while it is read. A damaged one stays as it
// is, and ends this.
void report_forget_maker(Sql *sql, uint64_t account)
{
    for (bool is_more = true; is_more;) {
        StoreReport report;
        SqlRow row = sql_open(sql, SQL_PERSON_REPORTS, TABLE_NONE);
        sql_put_u64(&row, account);
        is_more = sql_next(&row);
        if (is_more) {
            const bool is_whole = take_report(&row, &report);
            sql_close(&row);
            if (!is_whole) {
                return;
            }
            report.reporter_id = 0;
            report.text[0] = '\0';
            put_report(sql, &report);
            is_more = sql_status(sql) == STATUS_OK;
        }
    }
}

// --- reading ------------------------------------------------------------------------------------

Status store_report_find(Store *store, uint64_t report_id, StoreReport *out)
{
    store_read_begin(store);
    const Status found = find_report(store->reader, report_id, out);
    const Status status = store_read_end(store, STATUS_OK, found == STATUS_MALFORMED);
    return status != STATUS_OK ? status : found;
}

Status store_report_host(Store *store, uint64_t report_id, StoreReportHost *out)
{
    store_read_begin(store);
    const Status found = find_host(store->reader, report_id, out);
    const Status status = store_read_end(store, STATUS_OK, found == STATUS_MALFORMED);
    return status != STATUS_OK ? status : found;
}

Status store_reports(Store *store, StoreReportState state, uint64_t below, StoreReport *out,
                     uint32_t max, uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row =
        sql_open(store->reader, state == STORE_REPORT_ANY ? SQL_REPORT_LIST_ALL : SQL_REPORT_LIST,
                 TABLE_NONE);
    if (state != STORE_REPORT_ANY) {
        sql_put_u64(&row, state);
    }
    sql_put_u64(&row, below < STORE_REPORT_ALL ? below : STORE_REPORT_ALL);
    sql_put_u64(&row, max);
    while (*count < max && sql_next(&row)) {
        if (take_report(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    sql_close(&row);
    return store_read_end(store, STATUS_OK, damaged);
}

Status store_report_lines(Store *store, uint64_t report_id, StoreReportLine *out, uint32_t max,
                          uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_REPORT_LINES_OF, TABLE_NONE);
    sql_put_u64(&row, report_id);
    while (*count < max && sql_next(&row)) {
        if (take_line(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    sql_close(&row);
    return store_read_end(store, STATUS_OK, damaged);
}
