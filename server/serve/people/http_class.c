// See http_class.h.
#define _GNU_SOURCE
#include "server/serve/people/http_class.h"

#include "core/base/name_text.h"
#include "core/base/text.h"
#include "server/control/order/class.h"
#include "server/control/order/rights.h"
#include "server/serve/http/body.h"
#include "server/serve/order/http_order.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_place.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES    (2u << 20) // a hundred of them
#define LIST_MAX      100
#define CLASS_BYTES   (16u << 10) // one, with its teachers
#define ID_TRIES      4
#define HOUR_MS       3600000ull
#define CODE_CHANGED  "the code of this account was changed; sign in and join again"
#define REMOVED       "you were taken out of the class"
#define NAMES_CHANGED "your teacher changed who sees your name; join again"

// --- what all of them need ----------------------------------------------------------------------

bool class_enter(Serve *serve, HttpRequest *request, HttpResponse *response, StoreClass *out)
{
    ClassPart part = CLASS_NOBODY;
    if (!class_visit(serve, request, response, out, &part)) {
        return false;
    }
    if (part != CLASS_TEACHER) { // a pupil, who knows that it is there
        http_fail(request, response, 403, "denied", "this is for the teachers of the class");
    }
    return part == CLASS_TEACHER;
}

bool class_visit(Serve *serve, HttpRequest *request, HttpResponse *response, StoreClass *out,
                 ClassPart *part)
{
    const char *class_id = http_path_part(request, 0);
    const Identity *who = serve_who(request);
    StorePupil pupil;
    Status status = serve->control == NULL || class_id == NULL
                        ? STATUS_NOT_FOUND
                        : store_class_find(serve->store, class_id, out);
    if (status == STATUS_OK && rights_teaches(serve->store, out, who)) {
        *part = CLASS_TEACHER;
        return true;
    }
    if (status == STATUS_OK) {
        status = store_pupil_find(serve->store, out->class_id, who->account, &pupil);
        *part = CLASS_PUPIL;
    }
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such class");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

static pthread_mutex_t *lock_of(Serve *serve, const StoreClass *class)
{
    uint32_t hash = 0;
    for (const char *at = class->class_id; *at != '\0'; at++) {
        hash = hash * 31 + (uint8_t)*at;
    }
    return &serve->class_locks[hash % SERVE_CLASS_LOCKS];
}

bool class_lock(Serve *serve, HttpRequest *request, HttpResponse *response, const StoreClass *class)
{
    if (pthread_mutex_trylock(lock_of(serve, class)) == 0) {
        return true;
    }
    http_fail(request, response, 503, "busy", "this class is being changed; try again");
    response->retry_after_s = 2;
    return false;
}

void class_unlock(Serve *serve, const StoreClass *class)
{
    pthread_mutex_unlock(lock_of(serve, class));
}

static void refuse_store(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
}

bool class_record(Serve *serve, HttpRequest *request, HttpResponse *response, const char *action,
                  const char *about, const char *detail)
{
    const Identity *who = serve_who(request);
    StoreAudit row = {.unix_ms = clock_unix_ms(), .account_id = who != NULL ? who->account : 0};
    snprintf(row.action, sizeof row.action, "%s", action);
    snprintf(row.detail, sizeof row.detail, "%s%s%s", about, detail[0] != '\0' ? " " : "", detail);
    if (store_audit_add(serve->store, &row) == STATUS_OK) {
        return true;
    }
    http_fail(request, response, 503, "unavailable",
              "this could not be written into the audit, so it was not done; try again");
    return false;
}

// What was written within the hour is remembered for the last few hundred; more rows do no harm.
bool class_record_reading(Serve *serve, HttpRequest *request, HttpResponse *response,
                          const char *place_id)
{
    const uint64_t account = serve_who(request)->account, hour = clock_unix_ms() / HOUR_MS;
    bool is_known = false;
    pthread_mutex_lock(&serve->read_lock);
    for (uint32_t i = 0; i < SERVE_DRAFT_READS && !is_known; i++) {
        const ServeDraftRead *read = &serve->draft_reads[i];
        is_known =
            read->account == account && read->hour == hour && strcmp(read->place_id, place_id) == 0;
    }
    pthread_mutex_unlock(&serve->read_lock);
    if (is_known) {
        return true;
    }
    if (!class_record(serve, request, response, "read draft", place_id, "")) {
        return false;
    }
    pthread_mutex_lock(&serve->read_lock);
    ServeDraftRead *read = &serve->draft_reads[serve->draft_read_next++ % SERVE_DRAFT_READS];
    *read = (ServeDraftRead){.account = account, .hour = hour};
    snprintf(read->place_id, sizeof read->place_id, "%s", place_id);
    pthread_mutex_unlock(&serve->read_lock);
    return true;
}

// --- answers ------------------------------------------------------------------------------------

static void write_members(Serve *serve, JsonWriter *json, const StoreClass *class, ClassPart part)
{
    serve_write_member(json, "class_id", class->class_id);
    serve_write_member(json, "name", class->name);
    serve_write_member(json, "part", part == CLASS_TEACHER ? "teacher" : "pupil");
    json_write_name(json, "public_names");
    json_write_bool(json, class->has_public_names);
    json_write_name(json, "paused");
    json_write_bool(json, class->is_paused);
    serve_write_member(
        json, "chat",
        chat_rule_name(control_chat_rule(serve->control, STORE_CHAT_CLASS, 0, class->class_id)));
    serve_write_time(json, "created_at", class->created_unix_ms);
    class_write_teachers(serve, json, class);
}

void class_answer(Serve *serve, HttpRequest *request, HttpResponse *response,
                  const StoreClass *class)
{
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, CLASS_BYTES);
    json_write_object_begin(&answer.json);
    write_members(serve, &answer.json, class, CLASS_TEACHER);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// As the class calls them. With a code, if there is a new one ("": none).
static void write_pupil(const Serve *serve, JsonWriter *json, const StoreClass *class,
                        const StoreAccount *account, const char *code)
{
    char shown_name[STORE_SHOWN_BYTES];
    memcpy(shown_name, account->shown_name, sizeof shown_name);
    control_class_name(serve->control, class->class_id, account->account_id, shown_name);
    serve_write_number(json, "account", account->account_id);
    serve_write_member(json, "username", account->name);
    serve_write_member(json, "shown_name", shown_name);
    if (code[0] != '\0') {
        serve_write_member(json, "code", code);
    }
}

// --- classes ------------------------------------------------------------------------------------

static void make_id(char out[65])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789"; // 32
    uint8_t random[12];
    entropy_fill(random, sizeof random);
    size_t at = (size_t)snprintf(out, 65, "class_");
    for (size_t i = 0; i < sizeof random; i++) {
        out[at++] = letters[random[i] % 32];
    }
    out[at] = '\0';
}

void serve_post_class(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class = {.created_unix_ms = clock_unix_ms()};
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL ||
        !serve_body_text(request, response, body, "name", class.name, sizeof class.name)) {
        return;
    }
    if (!name_text_is_valid(class.name, strlen(class.name))) {
        http_fail(request, response, 400, "invalid_name", NAME_TEXT_RULE);
        return;
    }
    if (serve_refuse_words(serve, request, response, "the name", class.name)) {
        return;
    }
    class.teacher_id = serve_who(request)->account;
    Status status = STATUS_EXISTS;
    for (uint32_t i = 0; i < ID_TRIES && status == STATUS_EXISTS; i++) {
        make_id(class.class_id);
        status = control_make_class(serve->control, &class, CLASSES_PER_TEACHER_MAX);
    }
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "quota", "you have as many classes as you may have");
    } else if (status != STATUS_OK) {
        refuse_store(request, response);
    } else {
        class_answer(serve, request, response, &class);
    }
}

// Those that one is a pupil of; they are few, and stand on the first page alone.
static void write_pupils_classes(Serve *serve, JsonWriter *json, uint64_t account)
{
    char ids[CLASSES_OF_PUPIL_MAX][65];
    const uint32_t count = control_classes_of(serve->control, account, ids, CLASSES_OF_PUPIL_MAX);
    for (uint32_t i = 0; i < count; i++) {
        StoreClass class;
        if (store_class_find(serve->store, ids[i], &class) == STATUS_OK) {
            json_write_object_begin(json);
            write_members(serve, json, &class, CLASS_PUPIL);
            json_write_object_end(json);
        }
    }
}

void serve_get_classes(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const Identity *who = serve_who(request);
    const bool may_make = (who->roles & (ROLE_TEACHER | ROLE_OPERATOR)) != 0;
    const char *after = http_query(request, "after");
    uint64_t limit = LIST_MAX;
    uint32_t count = 0;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    if (!serve_query_number(request, "limit", LIST_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed", "limit is a number from 1 to 100");
        return;
    }
    StoreClass *classes = calloc(LIST_MAX, sizeof *classes);
    http_keep(request, classes);
    const bool sees_all = (who->roles & ROLE_OPERATOR) != 0;
    const Status status =
        classes == NULL ? STATUS_LIMIT
        : !may_make     ? STATUS_OK
                        : store_classes(serve->store, sees_all ? 0 : who->account,
                                    after != NULL ? after : "", classes, (uint32_t)limit, &count);
    if (status != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, PAGE_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "classes");
    json_write_array_begin(&answer.json);
    if (after == NULL || after[0] == '\0') {
        write_pupils_classes(serve, &answer.json, who->account);
    }
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&answer.json);
        write_members(serve, &answer.json, &classes[i], CLASS_TEACHER);
        json_write_object_end(&answer.json);
    }
    json_write_array_end(&answer.json);
    json_write_name(&answer.json, "may_make");
    json_write_bool(&answer.json, may_make);
    serve_write_member(&answer.json, "next", count == limit ? classes[count - 1].class_id : NULL);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// Free with the request. NULL: the response says why.
static StorePupil *read_pupils(Serve *serve, HttpRequest *request, HttpResponse *response,
                               const char *class_id, uint32_t *count)
{
    StorePupil *pupils = calloc(CLASS_PUPILS_MAX, sizeof *pupils);
    http_keep(request, pupils);
    if (pupils == NULL ||
        store_pupils(serve->store, class_id, pupils, CLASS_PUPILS_MAX, count) != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return NULL;
    }
    return pupils;
}

void serve_get_class(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    ClassPart part = CLASS_NOBODY;
    uint32_t count = 0;
    if (!class_visit(serve, request, response, &class, &part)) {
        return;
    }
    const StorePupil *pupils = read_pupils(serve, request, response, class.class_id, &count);
    if (pupils == NULL) {
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, PAGE_BYTES);
    json_write_object_begin(&answer.json);
    write_members(serve, &answer.json, &class, part);
    json_write_name(&answer.json, "pupils");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        StoreAccount account;
        if (store_account_find(serve->store, pupils[i].account_id, &account) == STATUS_OK) {
            json_write_object_begin(&answer.json);
            write_pupil(serve, &answer.json, &class, &account, "");
            json_write_object_end(&answer.json);
        }
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// ?accounts=delete or keep. False: it is something else.
static bool read_accounts(HttpRequest *request, HttpResponse *response, bool *deletes)
{
    const char *text = http_query(request, "accounts");
    *deletes = text != NULL && strcmp(text, "delete") == 0;
    if (text == NULL || *deletes || strcmp(text, "keep") == 0) {
        return true;
    }
    http_fail(request, response, 400, "malformed", "accounts is keep or delete");
    return false;
}

bool class_pupil_leads(Serve *serve, uint64_t account)
{
    StoreAccount row;
    return store_account_find(serve->store, account, &row) != STATUS_OK ||
           (row.roles & (ROLE_TEACHER | ROLE_OPERATOR)) != 0;
}

static bool refuse_leading(Serve *serve, HttpRequest *request, HttpResponse *response,
                           uint64_t account)
{
    const bool leads = class_pupil_leads(serve, account);
    if (leads) {
        http_fail(request, response, 403, "denied",
                  "this account may lead classes or run the server, so only an operator does that");
    }
    return leads;
}

static AccountResult remove_pupil(Serve *serve, const char *class_id, uint64_t account,
                                  bool deletes)
{
    const AccountResult result = account_remove_pupil(serve->control, class_id, account);
    if (result != ACCOUNT_OK) {
        return result;
    }
    serve_kick_soon(serve, account, REMOVED);
    return deletes ? serve_delete_person(serve, account) : ACCOUNT_OK;
}

void serve_delete_class(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    uint32_t count = 0;
    bool deletes;
    if (!class_enter(serve, request, response, &class) ||
        !read_accounts(request, response, &deletes) ||
        !class_lock(serve, request, response, &class)) {
        return;
    }
    const StorePupil *pupils = class_record(serve, request, response, "delete class",
                                            class.class_id, deletes ? "with accounts" : "")
                                   ? read_pupils(serve, request, response, class.class_id, &count)
                                   : NULL;
    AccountResult result = ACCOUNT_OK;
    for (uint32_t i = 0; pupils != NULL && i < count && result == ACCOUNT_OK; i++) {
        result = remove_pupil(serve, class.class_id, pupils[i].account_id,
                              deletes && !class_pupil_leads(serve, pupils[i].account_id));
    }
    Status status = result == ACCOUNT_OK ? STATUS_OK : STATUS_BLOCKED;
    if (pupils != NULL && status == STATUS_OK) {
        status = control_delete_class(serve->control, class.class_id);
    }
    class_unlock(serve, &class);
    if (pupils == NULL) {
        return;
    }
    if (status != STATUS_OK) {
        refuse_store(request, response);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "class_id", class.class_id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- pupils -------------------------------------------------------------------------------------

// Every name is looked at before an account is made. False: the response says which is wrong.
static bool check_names(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const JsonNode *names, uint32_t room)
{
    char text[256];
    if (names == NULL || names->kind != JSON_ARRAY || names->count == 0) {
        http_fail(request, response, 400, "malformed", "names is a list of at least one name");
        return false;
    }
    if (names->count > room) {
        snprintf(text, sizeof text, "a class has at most %d pupils; there is room for %u",
                 CLASS_PUPILS_MAX, room);
        http_fail(request, response, 409, "quota", text);
        return false;
    }
    for (const JsonNode *name = names->first; name != NULL; name = name->next) {
        const bool is_text = name->kind == JSON_STRING && strlen(name->text) == name->count;
        if (!is_text || account_check_pupil(serve->control, name->text) != ACCOUNT_OK) {
            snprintf(text, sizeof text, "“%.64s” is no name for a pupil: %s",
                     is_text ? name->text : "", NAME_TEXT_RULE);
            http_fail(request, response, 400, "invalid_name", text);
            return false;
        }
    }
    return true;
}

// All that could be made are in the answer, because their codes are shown only now.
static void make_pupils(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const StoreClass *class, const JsonNode *names)
{
    ServeAnswer answer;
    uint32_t count = 0;
    serve_answer_begin_large(&answer, request, PAGE_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "pupils");
    json_write_array_begin(&answer.json);
    for (const JsonNode *name = names->first; name != NULL; name = name->next, count++) {
        ClassPupil pupil;
        if (account_add_pupil(serve->control, class, name->text, &pupil) != ACCOUNT_OK) {
            break;
        }
        json_write_object_begin(&answer.json);
        serve_write_member(&answer.json, "name", name->text);
        write_pupil(serve, &answer.json, class, &pupil.account, pupil.code);
        json_write_object_end(&answer.json);
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    if (count == 0) {
        refuse_store(request, response);
        return;
    }
    serve_answer_end(&answer, response);
    response->cache = "no-store";
}

void serve_post_pupils(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    uint32_t count = 0;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !class_enter(serve, request, response, &class) ||
        !class_lock(serve, request, response, &class)) {
        return;
    }
    const JsonNode *names = json_find(body, "names");
    char detail[32];
    if (read_pupils(serve, request, response, class.class_id, &count) != NULL &&
        check_names(serve, request, response, names, CLASS_PUPILS_MAX - count)) {
        snprintf(detail, sizeof detail, "%u", (unsigned)names->count);
        if (class_record(serve, request, response, "add pupils", class.class_id, detail)) {
            make_pupils(serve, request, response, &class, names);
        }
    }
    class_unlock(serve, &class);
}

// The pupil of the class whom the path names, by name or number.
static bool find_pupil(Serve *serve, HttpRequest *request, HttpResponse *response,
                       const char *class_id, uint64_t *account)
{
    const char *text = http_path_part(request, 1);
    StoreAccount row;
    StorePupil pupil;
    Status status = STATUS_OK;
    if (text == NULL || !serve_account_read(text, account)) {
        status = text == NULL ? STATUS_NOT_FOUND : store_account_by_name(serve->store, text, &row);
        *account = status == STATUS_OK ? row.account_id : 0;
    }
    status =
        status == STATUS_OK ? store_pupil_find(serve->store, class_id, *account, &pupil) : status;
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such pupil in this class");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

void serve_delete_pupil(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    uint64_t account = 0;
    bool deletes;
    char detail[32];
    if (!class_enter(serve, request, response, &class) ||
        !read_accounts(request, response, &deletes) ||
        !find_pupil(serve, request, response, class.class_id, &account) ||
        (deletes && refuse_leading(serve, request, response, account))) {
        return;
    }
    snprintf(detail, sizeof detail, "%" PRIu64 "%s", account, deletes ? " account" : "");
    if (!class_record(serve, request, response, "remove pupil", class.class_id, detail)) {
        return;
    }
    if (remove_pupil(serve, class.class_id, account, deletes) != ACCOUNT_OK) {
        refuse_store(request, response);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "account", account);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_post_pupil_code(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    uint64_t account = 0;
    ClassPupil pupil;
    char detail[32];
    if (!class_enter(serve, request, response, &class) ||
        !find_pupil(serve, request, response, class.class_id, &account) ||
        refuse_leading(serve, request, response, account)) {
        return;
    }
    snprintf(detail, sizeof detail, "%" PRIu64, account);
    if (!class_record(serve, request, response, "reset code", class.class_id, detail)) {
        return;
    }
    if (account_reset_pupil(serve->control, class.class_id, account, &pupil) != ACCOUNT_OK) {
        refuse_store(request, response);
        return;
    }
    serve_kick_soon(serve, account, CODE_CHANGED);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    write_pupil(serve, &answer.json, &class, &pupil.account, pupil.code);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    response->cache = "no-store";
}

// --- what holds for all of them -----------------------------------------------------------------

void serve_put_class_chat(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    StoreChatRule rule = {.scope = STORE_CHAT_CLASS, .unix_ms = clock_unix_ms()};
    char text[16] = "";
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !serve_body_text(request, response, body, "rule", text, sizeof text) ||
        !class_enter(serve, request, response, &class)) {
        return;
    }
    if (!chat_rule_read(text_from(text), &rule.rule)) {
        http_fail(request, response, 400, "malformed", "rule is free, phrases or off");
        return;
    }
    if (serve_refuse_rule(serve, request, response, rule.rule)) {
        return;
    }
    rule.maker_id = serve_who(request)->account;
    memcpy(rule.subject, class.class_id, sizeof rule.subject);
    if (!class_record(serve, request, response, "class chat", class.class_id, text)) {
        return;
    }
    if (control_set_class_chat(serve->control, &rule) != STATUS_OK) {
        refuse_store(request, response);
        return;
    }
    class_answer(serve, request, response, &class);
}

// Whoever plays goes on with another name, so they join again.
void serve_put_class_names(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    bool are_public = false;
    uint32_t count = 0;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !serve_body_bool(request, response, body, "public", &are_public)) {
        return;
    }
    if (json_find(body, "public") == NULL) {
        http_fail(request, response, 400, "malformed", "public is true or false");
        return;
    }
    if (!class_enter(serve, request, response, &class)) {
        return;
    }
    const StorePupil *pupils = read_pupils(serve, request, response, class.class_id, &count);
    if (pupils == NULL || !class_record(serve, request, response, "class names", class.class_id,
                                        are_public ? "public" : "closed")) {
        return;
    }
    if (control_set_class_names(serve->control, class.class_id, are_public) != STATUS_OK) {
        refuse_store(request, response);
        return;
    }
    for (uint32_t i = 0; class.has_public_names != are_public && i < count; i++) {
        serve_kick_soon(serve, pupils[i].account_id, NAMES_CHANGED);
    }
    class.has_public_names = are_public;
    class_answer(serve, request, response, &class);
}

// Worlds that run hear of it place by place.
static Status tell_places(Serve *serve, const char *class_id)
{
    StorePackage *packages = calloc(LIST_MAX, sizeof *packages);
    char after[65] = "";
    uint32_t count = 0;
    Status status = packages != NULL ? STATUS_OK : STATUS_LIMIT;
    do {
        status = status == STATUS_OK
                     ? store_class_places(serve->store, class_id, after, packages, LIST_MAX, &count)
                     : status;
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            serve_place_changed(serve, packages[i].package_id);
            memcpy(after, packages[i].package_id, sizeof after);
        }
    } while (status == STATUS_OK && count == LIST_MAX);
    free(packages);
    return status;
}

static void set_paused(Serve *serve, HttpRequest *request, HttpResponse *response, bool is_paused)
{
    StoreClass class;
    if (!class_enter(serve, request, response, &class) ||
        !class_record(serve, request, response, is_paused ? "pause class" : "resume class",
                      class.class_id, "")) {
        return;
    }
    Status status = store_class_pause(serve->store, class.class_id, is_paused);
    status = status == STATUS_OK ? tell_places(serve, class.class_id) : status;
    if (status != STATUS_OK) {
        refuse_store(request, response);
        return;
    }
    class.is_paused = is_paused;
    class_answer(serve, request, response, &class);
}

void serve_post_class_pause(void *user, HttpRequest *request, HttpResponse *response)
{
    set_paused(user, request, response, true);
}

void serve_post_class_resume(void *user, HttpRequest *request, HttpResponse *response)
{
    set_paused(user, request, response, false);
}
