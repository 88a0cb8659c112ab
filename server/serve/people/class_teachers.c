// Teachers of a class over HTTP. Each of them has all rights of a teacher, also to take out others;
// the last one stays.
#define _GNU_SOURCE
#include "server/serve/http/body.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/people/http_class.h"
#include "server/serve/publish/http_place.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <stdio.h>

static void write_teacher(Serve *serve, JsonWriter *json, uint64_t account)
{
    StoreAccount row;
    const bool is_there = store_account_find(serve->store, account, &row) == STATUS_OK;
    json_write_object_begin(json);
    serve_write_number(json, "account", account);
    serve_write_member(json, "username", is_there ? row.name : NULL);
    serve_write_member(json, "shown_name", is_there ? row.shown_name : NULL);
    json_write_object_end(json);
}

void class_write_teachers(Serve *serve, JsonWriter *json, const StoreClass *class)
{
    uint64_t others[CLASS_TEACHERS_MAX];
    uint32_t count = 0;
    if (store_teachers(serve->store, class->class_id, others, CLASS_TEACHERS_MAX, &count) !=
        STATUS_OK) {
        count = 0;
    }
    json_write_name(json, "teachers");
    json_write_array_begin(json);
    write_teacher(serve, json, class->teacher_id);
    for (uint32_t i = 0; i < count; i++) {
        write_teacher(serve, json, others[i]);
    }
    json_write_array_end(json);
}

static void change_teachers(Serve *serve, HttpRequest *request, HttpResponse *response, bool adds)
{
    StoreClass class;
    StoreAccount account;
    char detail[32];
    if (!class_enter(serve, request, response, &class) ||
        !serve_find_account(serve, http_path_part(request, 1), request, response, &account)) {
        return;
    }
    if (adds && (account.roles & ROLE_TEACHER) == 0) {
        http_fail(request, response, 409, "no_teacher",
                  "this account is no teacher; an operator can make it one");
        return;
    }
    snprintf(detail, sizeof detail, "%" PRIu64, account.account_id);
    if (!class_record(serve, request, response, adds ? "add teacher" : "remove teacher",
                      class.class_id, detail)) {
        return;
    }
    const Status status =
        adds ? store_teacher_add(serve->store, class.class_id, account.account_id, clock_unix_ms(),
                                 CLASS_TEACHERS_MAX)
             : store_teacher_remove(serve->store, class.class_id, account.account_id);
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, adds ? "quota" : "last_teacher",
                  adds ? "this class has as many teachers as it may have"
                       : "this is the last teacher; add another one first, or delete the class");
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such teacher in this class");
    } else if (status != STATUS_OK ||
               store_class_find(serve->store, class.class_id, &class) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    } else {
        class_answer(serve, request, response, &class);
    }
}

void serve_put_teacher(void *user, HttpRequest *request, HttpResponse *response)
{
    change_teachers(user, request, response, true);
}

void serve_delete_teacher(void *user, HttpRequest *request, HttpResponse *response)
{
    change_teachers(user, request, response, false);
}
