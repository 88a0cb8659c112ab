// See store_class.h.
#define _GNU_SOURCE
#include "server/store/people/store_class.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "server/store/people/store_moderate.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_package_inside.h"
#include "server/store/store_inside.h"

#include <stdio.h>
#include <string.h>

#define CLASS_PAUSED       1u // in the column is_paused
#define CLASS_PUBLIC_NAMES 2u

// --- rows ---------------------------------------------------------------------------------------

static bool take_class(SqlRow *row, StoreClass *out)
{
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_CLASSES);
    world_take_string(row, out->class_id, sizeof out->class_id);
    out->teacher_id = sql_take_u64(row);
    world_take_string(row, out->name, sizeof out->name);
    const uint64_t flags = sql_take_u64(row);
    out->is_paused = (flags & CLASS_PAUSED) != 0;
    out->has_public_names = (flags & CLASS_PUBLIC_NAMES) != 0;
    out->created_unix_ms = sql_take_u64(row);
    return sql_take_checksum(row);
}

static void write_class(Sql *sql, const StoreClass *class)
{
    SqlRow row = sql_open(sql, SQL_CLASS_PUT, TABLE_CLASSES);
    sql_put_string(&row, class->class_id);
    sql_put_u64(&row, class->teacher_id);
    sql_put_string(&row, class->name);
    sql_put_u64(&row, (class->is_paused ? CLASS_PAUSED : 0u) |
                          (class->has_public_names ? CLASS_PUBLIC_NAMES : 0u));
    sql_put_u64(&row, class->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static bool take_pupil(SqlRow *row, StorePupil *out)
{
    size_t bytes = 0;
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_CLASS_PUPILS);
    world_take_string(row, out->class_id, sizeof out->class_id);
    out->account_id = sql_take_u64(row);
    const uint8_t *hash = sql_take_bytes(row, sizeof out->code_hash, &bytes);
    memcpy(out->code_hash, hash, bytes);
    out->created_unix_ms = sql_take_u64(row);
    return sql_take_checksum(row) && bytes == sizeof out->code_hash;
}

void class_write_pupil(Sql *sql, const StorePupil *pupil)
{
    SqlRow row = sql_open(sql, SQL_PUPIL_PUT, TABLE_CLASS_PUPILS);
    sql_put_string(&row, pupil->class_id);
    sql_put_u64(&row, pupil->account_id);
    sql_put_bytes(&row, pupil->code_hash, sizeof pupil->code_hash);
    sql_put_u64(&row, pupil->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    if (pupil->name[0] != '\0') {
        SqlRow name = sql_open(sql, SQL_CLASS_NAME_PUT, TABLE_CLASS_NAMES);
        sql_put_string(&name, pupil->class_id);
        sql_put_u64(&name, pupil->account_id);
        sql_put_string(&name, pupil->name);
        sql_put_checksum(&name);
        (void)sql_run(&name);
    }
}

static void write_place(Sql *sql, const char *package_id, const char *class_id, const char *handout,
                        uint64_t unix_ms)
{
    SqlRow row = sql_open(sql, SQL_CLASS_PLACE_PUT, TABLE_CLASS_PLACES);
    sql_put_string(&row, package_id);
    sql_put_string(&row, class_id);
    sql_put_string(&row, handout);
    sql_put_u64(&row, unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// The one row of a statement.
#define TAKE_ONE(row, take, out, status)                           \
    if (sql_next(&(row))) {                                        \
        status = take(&(row), out) ? STATUS_OK : STATUS_MALFORMED; \
        sql_close(&(row));                                         \
    }
// All of them, into an array.
#define TAKE_ALL(row, take, out, count, damaged) \
    while (sql_next(&(row))) {                   \
        if (take(&(row), &(out)[*(count)])) {    \
            *(count) += 1;                       \
        } else {                                 \
            (damaged) += 1;                      \
        }                                        \
    }

// --- classes ------------------------------------------------------------------------------------

static Status class_by_id(Sql *sql, const char *class_id, StoreClass *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_CLASS_FIND, TABLE_NONE);
    sql_put_string(&row, class_id);
    TAKE_ONE(row, take_class, out, status)
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

typedef struct MakeCall {
    const StoreClass *made;
    uint32_t count_max;
} MakeCall;

static Status class_make(Store *store, Sql *sql, void *user)
{
    (void)store;
    const MakeCall *call = user;
    StoreClass found;
    const Status status = class_by_id(sql, call->made->class_id, &found);
    if (status != STATUS_NOT_FOUND) {
        return status == STATUS_OK || status == STATUS_MALFORMED ? STATUS_EXISTS : status;
    }
    uint64_t count = 0;
    SqlRow row = sql_open(sql, SQL_CLASS_COUNT, TABLE_NONE);
    sql_put_u64(&row, call->made->teacher_id);
    if (sql_next(&row)) {
        count = sql_take_u64(&row);
        sql_close(&row);
    }
    if (count >= call->count_max) {
        return STATUS_LIMIT;
    }
    write_class(sql, call->made);
    return STATUS_OK;
}

Status store_class_make(Store *store, const StoreClass *made, uint32_t count_max)
{
    MakeCall call = {made, count_max};
    return store_id_is_valid(made->class_id) && made->teacher_id != 0 &&
                   text_is_valid(made->name, strlen(made->name))
               ? store_call(store, class_make, &call)
               : STATUS_MALFORMED;
}

Status store_class_find(Store *store, const char *class_id, StoreClass *out)
{
    if (!store_id_is_valid(class_id)) {
        return STATUS_NOT_FOUND;
    }
    store_read_begin(store);
    return store_read_end(store, class_by_id(store->reader, class_id, out), 0);
}

Status store_classes(Store *store, uint64_t teacher, const char *after, StoreClass *out,
                     uint32_t max, uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row =
        sql_open(store->reader, teacher != 0 ? SQL_CLASS_LIST : SQL_CLASS_LIST_ALL, TABLE_NONE);
    if (teacher != 0) {
        sql_put_u64(&row, teacher);
    }
    sql_put_string(&row, after);
    sql_put_u64(&row, max);
    TAKE_ALL(row, take_class, out, count, damaged)
    return store_read_end(store, STATUS_OK, damaged);
}

typedef struct ChangeCall {
    const char *class_id;
    const bool *is_paused, *has_public_names; // NULL: as it is
} ChangeCall;

static Status class_change(Store *store, Sql *sql, void *user)
{
    (void)store;
    const ChangeCall *call = user;
    StoreClass class;
    const Status status = class_by_id(sql, call->class_id, &class);
    if (status == STATUS_OK) {
        class.is_paused = call->is_paused != NULL ? *call->is_paused : class.is_paused;
        class.has_public_names =
            call->has_public_names != NULL ? *call->has_public_names : class.has_public_names;
        write_class(sql, &class);
    }
    return status;
}

Status store_class_pause(Store *store, const char *class_id, bool is_paused)
{
    ChangeCall call = {.class_id = class_id, .is_paused = &is_paused};
    return store_id_is_valid(class_id) ? store_call(store, class_change, &call) : STATUS_NOT_FOUND;
}

Status store_class_names(Store *store, const char *class_id, bool are_public)
{
    ChangeCall call = {.class_id = class_id, .has_public_names = &are_public};
    return store_id_is_valid(class_id) ? store_call(store, class_change, &call) : STATUS_NOT_FOUND;
}

// The key alone of a class.
static bool class_key(const char *class_id, StoreClass *out)
{
    *out = (StoreClass){0};
    if (!store_id_is_valid(class_id)) {
        return false;
    }
    memcpy(out->class_id, class_id, strlen(class_id) + 1);
    return true;
}

static Status class_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreClass *class = user;
    SqlRow rule = sql_open(sql, SQL_CHAT_RULE_DELETE, TABLE_NONE);
    sql_put_u64(&rule, STORE_CHAT_CLASS);
    sql_put_u64(&rule, 0);
    sql_put_string(&rule, class->class_id);
    (void)sql_run(&rule);
    static const SqlName parts[] = {SQL_PUPILS_DELETE, SQL_CLASS_NAMES_DELETE, SQL_TEACHERS_DELETE,
                                    SQL_HANDOUTS_DELETE};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        SqlRow part = sql_open(sql, parts[i], TABLE_NONE);
        sql_put_string(&part, class->class_id);
        (void)sql_run(&part);
    }
    SqlRow row = sql_open(sql, SQL_CLASS_DELETE, TABLE_NONE);
    sql_put_string(&row, class->class_id);
    return sql_run(&row) ? STATUS_OK : STATUS_NOT_FOUND;
}

Status store_class_delete(Store *store, const char *class_id)
{
    StoreClass class;
    return class_key(class_id, &class) ? store_call(store, class_delete, &class) : STATUS_NOT_FOUND;
}

// --- teachers -----------------------------------------------------------------------------------

static bool take_teacher(SqlRow *row, uint64_t *out)
{
    char class_id[65];
    sql_take_table(row, TABLE_CLASS_TEACHERS);
    world_take_string(row, class_id, sizeof class_id);
    *out = sql_take_u64(row);
    (void)sql_take_u64(row);
    return sql_take_checksum(row);
}

static bool run_teacher(Sql *sql, SqlName name, const char *class_id, uint64_t account)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_u64(&row, account);
    return sql_run(&row);
}

static uint64_t read_teachers(Sql *sql, const char *class_id, uint64_t *out, uint32_t max,
                              uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    SqlRow row = sql_open(sql, SQL_TEACHER_LIST, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_u64(&row, max);
    TAKE_ALL(row, take_teacher, out, count, damaged)
    return damaged;
}

Status store_teachers(Store *store, const char *class_id, uint64_t *out, uint32_t max,
                      uint32_t *count)
{
    store_read_begin(store);
    const uint64_t damaged = read_teachers(store->reader, class_id, out, max, count);
    return store_read_end(store, STATUS_OK, damaged);
}

static Status find_teacher(Sql *sql, const char *class_id, uint64_t account)
{
    Status status = STATUS_NOT_FOUND;
    uint64_t found = 0;
    SqlRow row = sql_open(sql, SQL_TEACHER_FIND, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_u64(&row, account);
    TAKE_ONE(row, take_teacher, &found, status)
    return status;
}

Status store_class_teaches(Store *store, const StoreClass *class, uint64_t account)
{
    if (account == 0 || account == class->teacher_id) {
        return account != 0 ? STATUS_OK : STATUS_NOT_FOUND;
    }
    store_read_begin(store);
    const Status status = find_teacher(store->reader, class->class_id, account);
    return store_read_end(store, status, 0);
}

typedef struct TeacherCall {
    const char *class_id;
    uint64_t account, unix_ms;
    uint32_t count_max;
} TeacherCall;

static Status teacher_add(Store *store, Sql *sql, void *user)
{
    (void)store;
    const TeacherCall *call = user;
    StoreClass class;
    uint64_t others[CLASS_TEACHERS_MAX + 1];
    uint32_t count = 0;
    const Status status = class_by_id(sql, call->class_id, &class);
    if (status != STATUS_OK) {
        return status;
    }
    if (class.teacher_id == call->account ||
        find_teacher(sql, call->class_id, call->account) == STATUS_OK) {
        return STATUS_OK;
    }
    (void)read_teachers(sql, call->class_id, others, CLASS_TEACHERS_MAX + 1, &count);
    if (count >= call->count_max) {
        return STATUS_LIMIT;
    }
    SqlRow row = sql_open(sql, SQL_TEACHER_PUT, TABLE_CLASS_TEACHERS);
    sql_put_string(&row, call->class_id);
    sql_put_u64(&row, call->account);
    sql_put_u64(&row, call->unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_teacher_add(Store *store, const char *class_id, uint64_t account, uint64_t unix_ms,
                         uint32_t count_max)
{
    TeacherCall call = {class_id, account, unix_ms, count_max};
    return account != 0 ? store_call(store, teacher_add, &call) : STATUS_MALFORMED;
}

// The oldest of the others takes the place of the one in the row. False: there is none.
static bool give_to_next(Sql *sql, StoreClass *class)
{
    uint64_t next = 0;
    uint32_t count = 0;
    (void)read_teachers(sql, class->class_id, &next, 1, &count);
    if (count == 0) {
        return false;
    }
    class->teacher_id = next;
    write_class(sql, class);
    (void)run_teacher(sql, SQL_TEACHER_DELETE, class->class_id, next);
    return true;
}

static Status teacher_remove(Store *store, Sql *sql, void *user)
{
    (void)store;
    const TeacherCall *call = user;
    StoreClass class;
    const Status status = class_by_id(sql, call->class_id, &class);
    if (status != STATUS_OK) {
        return status;
    }
    if (class.teacher_id != call->account) {
        return run_teacher(sql, SQL_TEACHER_DELETE, call->class_id, call->account)
                   ? STATUS_OK
                   : STATUS_NOT_FOUND;
    }
    return give_to_next(sql, &class) ? STATUS_OK : STATUS_LIMIT;
}

Status store_teacher_remove(Store *store, const char *class_id, uint64_t account)
{
    TeacherCall call = {.class_id = class_id, .account = account};
    return account != 0 ? store_call(store, teacher_remove, &call) : STATUS_NOT_FOUND;
}

// Before this the account was taken out of the table of others. One after the other, because a row
// cannot be written while it is read.
void class_give(Sql *sql, uint64_t account)
{
    for (bool is_more = true; is_more;) {
        StoreClass class;
        SqlRow row = sql_open(sql, SQL_PERSON_CLASSES, TABLE_NONE);
        sql_put_u64(&row, account);
        is_more = sql_next(&row);
        if (!is_more) {
            break;
        }
        (void)take_class(&row, &class); // a damaged one is nobody else's either
        sql_close(&row);
        if (!give_to_next(sql, &class)) {
            class.teacher_id = STORE_BUILT_IN_ACCOUNT;
            write_class(sql, &class);
        }
        is_more = sql_status(sql) == STATUS_OK;
    }
}

// --- pupils -------------------------------------------------------------------------------------

void store_pupil_alias(uint64_t account, char out[STORE_SHOWN_BYTES])
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, account);
    snprintf(out, STORE_SHOWN_BYTES, "Pupil %u", 10000 + (unsigned)(hash.state % 90000));
}

bool class_has_pupil(Sql *sql, uint64_t account)
{
    SqlRow row = sql_open(sql, SQL_PERSON_PUPIL, TABLE_NONE);
    sql_put_u64(&row, account);
    const bool is_one = sql_next(&row);
    if (is_one) {
        sql_close(&row);
    }
    return is_one;
}

Status store_pupils(Store *store, const char *class_id, StorePupil *out, uint32_t max,
                    uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_PUPIL_LIST, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_u64(&row, max);
    TAKE_ALL(row, take_pupil, out, count, damaged)
    return store_read_end(store, STATUS_OK, damaged);
}

Status store_pupil_find(Store *store, const char *class_id, uint64_t account, StorePupil *out)
{
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_PUPIL_FIND, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_u64(&row, account);
    TAKE_ONE(row, take_pupil, out, status)
    return store_read_end(store, status, 0);
}

Status store_pupil_by_code(Store *store, const uint8_t hash[STORE_TOKEN_BYTES], StorePupil *out)
{
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_PUPIL_BY_CODE, TABLE_NONE);
    sql_put_bytes(&row, hash, STORE_TOKEN_BYTES);
    TAKE_ONE(row, take_pupil, out, status)
    return store_read_end(store, status, 0);
}

static Status pupil_remove(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StorePupil *pupil = user;
    SqlRow name = sql_open(sql, SQL_CLASS_NAME_DELETE, TABLE_NONE);
    sql_put_string(&name, pupil->class_id);
    sql_put_u64(&name, pupil->account_id);
    (void)sql_run(&name);
    SqlRow row = sql_open(sql, SQL_PUPIL_DELETE, TABLE_NONE);
    sql_put_string(&row, pupil->class_id);
    sql_put_u64(&row, pupil->account_id);
    return sql_run(&row) ? STATUS_OK : STATUS_NOT_FOUND;
}

Status store_pupil_remove(Store *store, const char *class_id, uint64_t account)
{
    StorePupil pupil = {.account_id = account};
    if (!store_id_is_valid(class_id)) {
        return STATUS_NOT_FOUND;
    }
    memcpy(pupil.class_id, class_id, strlen(class_id) + 1);
    return store_call(store, pupil_remove, &pupil);
}

// The name is read with the row that it belongs to; a damaged one is none.
static bool take_pupil_and_name(SqlRow *row, StorePupil *out)
{
    const bool is_good = take_pupil(row, out);
    if (is_good && !sql_take_null(row)) {
        world_take_string(row, out->name, sizeof out->name);
    }
    return is_good;
}

Status store_pupils_all(Store *store, StorePupilSink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_PUPIL_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        StorePupil pupil;
        if (take_pupil_and_name(&row, &pupil)) {
            sink(user, pupil.class_id, pupil.account_id, pupil.name);
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

// --- places -------------------------------------------------------------------------------------

typedef struct PlaceCall {
    StorePackage *package;
    const char *class_id, *handout;
    uint32_t count_max;
} PlaceCall;

static Status place_make(Store *store, Sql *sql, void *user)
{
    (void)store;
    const PlaceCall *call = user;
    call->package->flags |= STORE_PACKAGE_CLASS;
    const Status status = package_make_in(sql, call->package, call->count_max);
    if (status == STATUS_OK) {
        write_place(sql, call->package->package_id, call->class_id, call->handout,
                    call->package->created_unix_ms);
    }
    return status;
}

Status store_class_place_make(Store *store, StorePackage *package, const char *class_id,
                              const char *handout, uint32_t count_max)
{
    PlaceCall call = {package, class_id, handout, count_max};
    return package_is_valid(package) && store_id_is_valid(class_id) &&
                   strlen(handout) < STORE_HANDOUT_BYTES
               ? store_call(store, place_make, &call)
               : STATUS_MALFORMED;
}

Status store_class_handed(Store *store, const char *class_id, const char *handout, uint64_t account,
                          StorePackage *out)
{
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_CLASS_HANDED, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_string(&row, handout);
    sql_put_u64(&row, account);
    TAKE_ONE(row, package_take, out, status)
    return store_read_end(store, status, 0);
}

Status store_class_places(Store *store, const char *class_id, const char *after, StorePackage *out,
                          uint32_t max, uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_CLASS_PLACE_LIST, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_string(&row, after);
    sql_put_u64(&row, max);
    TAKE_ALL(row, package_take, out, count, damaged)
    return store_read_end(store, STATUS_OK, damaged);
}

Status store_class_of(Store *store, const char *package_id, StoreClass *out)
{
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_CLASS_OF_PLACE, TABLE_NONE);
    sql_put_string(&row, package_id);
    TAKE_ONE(row, take_class, out, status)
    return store_read_end(store, status, 0);
}

Status store_class_places_all(Store *store, StoreClassPlaceSink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_CLASS_PLACE_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        char package_id[65], class_id[65], handout[STORE_HANDOUT_BYTES];
        sql_take_table(&row, TABLE_CLASS_PLACES);
        world_take_string(&row, package_id, sizeof package_id);
        world_take_string(&row, class_id, sizeof class_id);
        world_take_string(&row, handout, sizeof handout);
        (void)sql_take_u64(&row);
        if (sql_take_checksum(&row)) {
            sink(user, class_id, package_id);
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}
