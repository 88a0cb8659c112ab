// See store_event.h. The row of event_head is written before an event gets its id, so transactions
// that add events follow each other: an id that can be read has no smaller one to come.
#include "server/store/world/store_event.h"

#include "server/store/store_inside.h"

#include <string.h>

#define HEAD_ID 1

_Static_assert(STORE_EVENT_SUBJECT_BYTES == SQL_SUBJECT_BYTES, "a note becomes an event");

// Statements whose first parameter says what has changed. Not among them is what readers look up
// when they need it (a sign-in that they do not know).
const uint8_t *event_kinds(void)
{
    static const uint8_t kinds[SQL_COUNT] = {[SQL_SIGN_IN_DELETE] = EVENT_SIGN_IN,
                                             [SQL_SIGN_IN_CLEAR] = EVENT_ACCOUNT,
                                             [SQL_ACCOUNT_PUT] = EVENT_ACCOUNT,
                                             [SQL_ACCOUNT_DELETE] = EVENT_ACCOUNT,
                                             [SQL_BAN_PUT] = EVENT_BAN,
                                             [SQL_BAN_DELETE] = EVENT_BAN,
                                             [SQL_PERSON_BANS_END] = EVENT_BAN,
                                             [SQL_CHAT_RULE_PUT] = EVENT_CHAT,
                                             [SQL_CHAT_RULE_DELETE] = EVENT_CHAT,
                                             [SQL_BLOCK_PUT] = EVENT_BLOCKS,
                                             [SQL_BLOCK_DELETE] = EVENT_BLOCKS,
                                             [SQL_TEXT_LIST_PUT] = EVENT_CHAT,
                                             [SQL_ADDRESS_BAN_PUT] = EVENT_ADDRESSES,
                                             [SQL_ADDRESS_BAN_DELETE] = EVENT_ADDRESSES,
                                             [SQL_PUPIL_PUT] = EVENT_CLASSES,
                                             [SQL_PUPIL_DELETE] = EVENT_CLASSES,
                                             [SQL_PUPILS_DELETE] = EVENT_CLASSES,
                                             [SQL_PERSON_CLASS_NAMES_END] = EVENT_CLASSES,
                                             [SQL_CLASS_PUT] = EVENT_CLASSES,
                                             [SQL_CLASS_DELETE] = EVENT_CLASSES,
                                             [SQL_CLASS_PLACE_PUT] = EVENT_CLASSES,
                                             [SQL_CLASS_PLACE_DELETE] = EVENT_CLASSES,
                                             [SQL_HOST_KEY_PUT] = EVENT_HOST_KEYS,
                                             [SQL_HOST_KEY_DELETE] = EVENT_HOST_KEYS,
                                             [SQL_SETTING_PUT] = EVENT_SETTING,
                                             [SQL_PACKAGE_PUT] = EVENT_PACKAGE,
                                             [SQL_PACKAGE_DELETE] = EVENT_PACKAGE,
                                             [SQL_PACKAGE_ACT_PUT] = EVENT_PACKAGE,
                                             [SQL_PACKAGE_ACT_DELETE] = EVENT_PACKAGE,
                                             [SQL_WORLD_PUT] = EVENT_WORLD,
                                             [SQL_WORLD_DELETE] = EVENT_WORLD,
                                             [SQL_ABOUT_PUT] = EVENT_WORLD,
                                             [SQL_GUEST_PUT] = EVENT_WORLD,
                                             [SQL_GUEST_DELETE] = EVENT_WORLD};
    return kinds;
}

uint64_t store_event_number(const StoreEvent *event)
{
    ByteReader reader = byte_reader(event->subject, event->bytes);
    const uint64_t number = byte_read_u64(&reader);
    return reader.status == STATUS_OK && byte_reader_left(&reader) == 0 ? number : 0;
}

// --- writing ------------------------------------------------------------------------------------

static void put_head(Sql *sql, SqlName name, uint64_t last)
{
    SqlRow row = sql_open(sql, name, TABLE_EVENT_HEAD);
    sql_put_u64(&row, HEAD_ID);
    sql_put_u64(&row, last);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static uint64_t find_head(Sql *sql)
{
    uint64_t last = 0;
    SqlRow row = sql_open(sql, SQL_EVENT_HEAD_FIND, TABLE_NONE);
    sql_put_u64(&row, HEAD_ID);
    if (sql_next(&row)) {
        last = sql_take_u64(&row);
        sql_close(&row);
    }
    return last;
}

// From here to the commit nobody else adds an event.
static uint64_t lock_head(Sql *sql)
{
    SqlRow row = sql_open(sql, SQL_EVENT_HEAD_LOCK, TABLE_NONE);
    sql_put_u64(&row, HEAD_ID);
    if (!sql_run(&row)) {
        put_head(sql, SQL_EVENT_HEAD_MAKE, 0);
        SqlRow again = sql_open(sql, SQL_EVENT_HEAD_LOCK, TABLE_NONE);
        sql_put_u64(&again, HEAD_ID);
        (void)sql_run(&again);
    }
    return find_head(sql);
}

void events_write(Store *store, Sql *sql)
{
    const uint32_t count = sql->note_count;
    sql->note_count = 0;
    if (count == 0 || !store->config.shared) {
        return;
    }
    uint64_t last = lock_head(sql);
    for (uint32_t i = 0; i < count; i++) {
        const SqlNote *note = &sql->notes[i];
        last += 1;
        SqlRow row = sql_open(sql, SQL_EVENT_PUT, TABLE_EVENTS);
        sql_put_u64(&row, last);
        sql_put_u64(&row, note->kind);
        sql_put_bytes(&row, note->subject, note->bytes);
        sql_put_bytes(&row, store->origin, sizeof store->origin);
        sql_put_u64(&row, store->now);
        sql_put_checksum(&row);
        (void)sql_run(&row);
    }
    put_head(sql, SQL_EVENT_HEAD_PUT, last);
    if (last > STORE_EVENTS_KEPT && last % 64 < count) {
        SqlRow row = sql_open(sql, SQL_EVENTS_FORGET, TABLE_NONE);
        sql_put_u64(&row, last - STORE_EVENTS_KEPT);
        (void)sql_run(&row);
    }
}

typedef struct EventCall {
    StoreEventKind kind;
    const void *subject;
    size_t bytes;
} EventCall;

static Status note_call(Store *store, Sql *sql, void *user)
{
    const EventCall *call = user;
    if (store->config.shared) {
        sql_note(sql, call->kind, call->subject, call->bytes);
    }
    return STATUS_OK;
}

Status store_event_put(Store *store, StoreEventKind kind, const void *subject, size_t bytes)
{
    EventCall call = {kind, subject, bytes};
    return bytes > STORE_EVENT_SUBJECT_BYTES ? STATUS_LIMIT : store_call(store, note_call, &call);
}

// --- reading ------------------------------------------------------------------------------------

// False: it is damaged, and counts as EVENT_ALL.
static bool take_event(SqlRow *row, StoreEvent *out, bool *is_ours, const uint8_t *origin)
{
    size_t origin_bytes = 0;
    StoreEvent event = {.id = 0};
    sql_take_table(row, TABLE_EVENTS);
    event.id = sql_take_u64(row);
    const uint64_t kind = sql_take_u64(row);
    const uint8_t *subject = sql_take_bytes(row, sizeof event.subject, &event.bytes);
    memcpy(event.subject, subject, event.bytes);
    const uint8_t *from = sql_take_bytes(row, STORE_BOOT_BYTES, &origin_bytes);
    *is_ours = origin_bytes == STORE_BOOT_BYTES && memcmp(from, origin, origin_bytes) == 0;
    (void)sql_take_u64(row);
    const bool is_whole = sql_take_checksum(row);
    // A later version may have kinds that this one does not know.
    event.kind = is_whole && kind < EVENT_KIND_COUNT ? (StoreEventKind)kind : EVENT_ALL;
    *out = event;
    return is_whole;
}

static uint64_t first_after(Sql *sql, uint64_t after)
{
    uint64_t first = 0;
    SqlRow row = sql_open(sql, SQL_EVENT_FIRST, TABLE_NONE);
    sql_put_u64(&row, after);
    if (sql_next(&row)) {
        first = sql_take_u64(&row);
        sql_close(&row);
    }
    return first;
}

Status store_events_since(Store *store, uint64_t after, uint64_t *last, StoreEvent *out,
                          uint32_t max, uint32_t *count)
{
    uint64_t damaged = 0, seen = after;
    uint32_t taken = 0;
    store_read_begin(store);
    const uint64_t first = first_after(store->reader, after);
    if (max > 0 && first > after + 1) { // those between are forgotten
        out[taken++] = (StoreEvent){.id = first, .kind = EVENT_ALL};
    }
    SqlRow row = sql_open(store->reader, SQL_EVENTS_AFTER, TABLE_NONE);
    sql_put_u64(&row, after);
    while (taken < max && sql_next(&row)) {
        StoreEvent event;
        bool is_ours = false;
        damaged += !take_event(&row, &event, &is_ours, store->origin);
        seen = event.id > seen ? event.id : seen;
        if (!is_ours) {
            out[taken++] = event;
        }
    }
    sql_close(&row);
    const Status status = store_read_end(store, STATUS_OK, damaged);
    if (status == STATUS_OK || damaged > 0) {
        *last = seen;
        *count = taken;
        return STATUS_OK;
    }
    return status;
}

Status store_events_last(Store *store, uint64_t *last)
{
    store_read_begin(store);
    const uint64_t found = find_head(store->reader);
    const Status status = store_read_end(store, STATUS_OK, 0);
    *last = status == STATUS_OK ? found : *last;
    return status;
}
