// What may be said, over HTTP: rules of places and people, whose chat somebody does not see, and
// the operator's lists. What holds is in control/chat.h; worlds that run hear of changes.
#define _GNU_SOURCE
#include "server/control/order/rights.h"
#include "server/serve/http/body.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/sys/clock.h"

#include "core/base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define RULE_RULE "rule is free, phrases or off"

// --- what worlds are told; on the main thread ---------------------------------------------------

void serve_chat(void *user, const char *place_id, HostChat *out)
{
    Serve *serve = user;
    if (serve->list_text == NULL) {
        serve->list_text = malloc(2 * CONTROL_LIST_BYTES);
    }
    char package_id[PLACE_KEY_BYTES];
    place_id_package(place_id, package_id); // what holds for a place holds for its beta
    *out = (HostChat){.rule = control_chat_in(serve->control, package_id)};
    out->words = out->phrases = "";
    if (serve->list_text == NULL) {
        return;
    }
    char *words = serve->list_text, *phrases = serve->list_text + CONTROL_LIST_BYTES;
    out->words = words;
    out->word_bytes = control_list_read(serve->control, STORE_LIST_WORDS, words);
    out->phrases = phrases;
    out->phrase_bytes = control_list_read(serve->control, STORE_LIST_PHRASES, phrases);
}

uint32_t serve_blocks(void *user, uint64_t account, uint64_t *out, uint32_t max)
{
    static StoreBlock blocks[BLOCKS_PER_ACCOUNT_MAX]; // the main thread's
    const Serve *serve = user;
    const uint32_t count = control_blocks(serve->control, account, blocks, BLOCKS_PER_ACCOUNT_MAX);
    uint32_t given = 0;
    for (; given < count && given < max && given < BLOCKS_PER_ACCOUNT_MAX; given++) {
        out[given] = blocks[given].blocked_id;
    }
    return given;
}

// The worlds of a place, of its beta and of its draft; "": of every place.
static void tell_worlds(Serve *serve, const char *place_id)
{
    static const char *const endings[] = {"", PLACE_BETA_ENDING, PLACE_DRAFT_ENDING};
    for (size_t i = 0; i < (place_id[0] != '\0' ? sizeof endings / sizeof *endings : 1); i++) {
        char id[PLACE_KEY_BYTES];
        if (snprintf(id, sizeof id, "%s%s", place_id, endings[i]) < (int)sizeof id) {
            host_chat_changed(serve->host, id);
        }
    }
}

void serve_chat_step(Serve *serve)
{
    ControlChatChange change;
    while (serve->control != NULL && control_take_chat_change(serve->control, &change)) {
        switch (change.kind) {
        case CHAT_CHANGED_WORLDS:
            tell_worlds(serve, change.place_id);
            break;
        case CHAT_CHANGED_RULE:
            serve_rules_changed(serve, change.account, "");
            break;
        case CHAT_CHANGED_BLOCKS:
            serve_blocks_changed(serve, change.account);
            break;
        }
    }
}

// --- rules --------------------------------------------------------------------------------------

static bool read_rule(HttpRequest *request, HttpResponse *response, ChatRule *out)
{
    char text[16] = "";
    const JsonNode *root = serve_body_object(request, response);
    if (root == NULL || !serve_body_text(request, response, root, "rule", text, sizeof text)) {
        return false;
    }
    if (!chat_rule_read(text_from(text), out)) {
        http_fail(request, response, 400, "malformed", RULE_RULE);
        return false;
    }
    return true;
}

bool serve_refuse_rule(const Serve *serve, HttpRequest *request, HttpResponse *response,
                       ChatRule rule)
{
    if (rule != CHAT_PHRASES || control_has_phrases(serve->control)) {
        return false;
    }
    http_fail(
        request, response, 409, "no_phrases",
        "there are no phrases yet, so nobody could say anything: PUT /admin/phrases first, or "
        "take the rule off");
    return true;
}

static void answer_rule(HttpRequest *request, HttpResponse *response, ChatRule rule)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "rule", chat_rule_name(rule));
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static void set_rule(Serve *serve, HttpRequest *request, HttpResponse *response,
                     StoreChatRule *rule)
{
    const Identity *who = serve_who(request);
    if (serve_refuse_rule(serve, request, response, rule->rule)) {
        return;
    }
    rule->maker_id = who != NULL ? who->account : 0;
    rule->unix_ms = clock_unix_ms();
    const Status status = control_set_chat_rule(serve->control, rule);
    if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
        return;
    }
    answer_rule(request, response, rule->rule);
}

void serve_put_place_chat(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreChatRule rule = {.scope = STORE_CHAT_PLACE};
    StorePackage package;
    uint32_t rights = 0;
    if (serve_refuse_without_accounts(serve, request, response) ||
        !read_rule(request, response, &rule.rule)) {
        return;
    }
    const char *place_id = http_path_part(request, 0);
    if (rights_find(serve->store, place_id, serve_who(request), &package, &rights) != STATUS_OK ||
        package.kind != STORE_PLACE) {
        http_fail(request, response, 404, "not_found", "there is no such place");
        return;
    }
    if ((rights & RIGHT_EDIT) == 0) {
        http_fail(request, response, 403, "denied", "only who works on a place may do this");
        return;
    }
    memcpy(rule.subject, package.package_id, sizeof rule.subject);
    set_rule(serve, request, response, &rule);
}

void serve_admin_put_user_chat(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreChatRule rule = {.scope = STORE_CHAT_ACCOUNT};
    StoreAccount account;
    if (serve_refuse_without_accounts(serve, request, response) ||
        !read_rule(request, response, &rule.rule) ||
        !serve_find_account(serve, http_path_part(request, 0), request, response, &account) ||
        !serve_record(serve, "chat", request, response)) {
        return;
    }
    rule.account_id = account.account_id;
    set_rule(serve, request, response, &rule);
}

static void write_lines(JsonWriter *json, const char *name, const char *text, size_t bytes)
{
    json_write_name(json, name);
    json_write_array_begin(json);
    for (size_t at = 0; at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : bytes - at;
        if (length > 0) {
            json_write_text_bytes(json, text + at, length);
        }
        at += length + 1;
    }
    json_write_array_end(json);
}

void serve_get_chat(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    const char *place_id = http_query(request, "place_id");
    const Identity *who = serve_who(request);
    ChatRule rule = CHAT_FREE;
    bool is_guest_rule = false; // with an account one might say more
    char *text = malloc(CONTROL_LIST_BYTES);
    http_keep(request, text);
    if (text == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    size_t bytes = 0;
    if (serve->control != NULL) {
        // Who may not see a place does not learn from its rule that it is there.
        StorePackage package;
        uint32_t rights = 0;
        const bool is_seen = place_id != NULL && rights_find(serve->store, place_id, who, &package,
                                                             &rights) == STATUS_OK;
        rule = control_chat_in(serve->control, is_seen ? place_id : "");
        if (who != NULL) {
            rule = chat_rule_stricter(rule, control_chat_of(serve->control, who->account));
        }
        is_guest_rule = who != NULL && who->is_guest && rule != CHAT_FREE &&
                        control_guest_chat(serve->control) == rule &&
                        control_chat_in(serve->control, is_seen ? place_id : "") != rule;
        bytes = control_list_read(serve->control, STORE_LIST_PHRASES, text);
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "rule", chat_rule_name(rule));
    json_write_name(&answer.json, "guest");
    json_write_bool(&answer.json, is_guest_rule);
    write_lines(&answer.json, "phrases", text, bytes);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- blocks -------------------------------------------------------------------------------------

static void write_account(Serve *serve, JsonWriter *json, const Identity *who, uint64_t number)
{
    char id[32];
    StoreAccount account;
    const bool is_there = store_account_find(serve->store, number, &account) == STATUS_OK;
    if (is_there) {
        pupil_name_show(serve, who, &account);
    }
    serve_account_text(number, is_there && account.name[0] == '\0', id);
    serve_write_member(json, "account", id);
    serve_write_member(json, "shown_name", is_there ? account.shown_name : NULL);
}

void serve_get_blocks(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    StoreBlock *blocks = malloc(BLOCKS_PER_ACCOUNT_MAX * sizeof *blocks);
    const size_t room = 256u * (BLOCKS_PER_ACCOUNT_MAX + 1);
    http_keep(request, blocks);
    if (blocks == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    const uint32_t count =
        control_blocks(serve->control, serve_who(request)->account, blocks, BLOCKS_PER_ACCOUNT_MAX);
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, room);
    JsonWriter *json = &answer.json;
    json_write_object_begin(json);
    json_write_name(json, "blocks");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count && i < BLOCKS_PER_ACCOUNT_MAX; i++) {
        json_write_object_begin(json);
        write_account(serve, json, serve_who(request), blocks[i].blocked_id);
        serve_write_time(json, "since", blocks[i].created_unix_ms);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
    serve_answer_end(&answer, response);
}

// The account that the path names, which is not one's own; 0: the response says why not.
static uint64_t find_other(Serve *serve, HttpRequest *request, HttpResponse *response)
{
    StoreAccount account;
    if (serve_refuse_without_accounts(serve, request, response) ||
        !serve_find_account(serve, http_path_part(request, 0), request, response, &account)) {
        return 0;
    }
    if (account.account_id == serve_who(request)->account) {
        http_fail(request, response, 409, "yourself", "you cannot block yourself");
        return 0;
    }
    return account.account_id;
}

static void answer_block(HttpRequest *request, HttpResponse *response, uint64_t account,
                         Status status)
{
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "too_many", "you block as many people as one may");
        return;
    }
    if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
        return;
    }
    char id[32];
    serve_account_text(account, false, id);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "account", id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_put_block(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const uint64_t other = find_other(serve, request, response);
    if (other != 0) {
        answer_block(request, response, other,
                     control_block(serve->control, serve_who(request)->account, other));
    }
}

void serve_delete_block(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const uint64_t other = find_other(serve, request, response);
    if (other != 0) {
        answer_block(request, response, other,
                     control_unblock(serve->control, serve_who(request)->account, other));
    }
}

// --- lists --------------------------------------------------------------------------------------

static StoreList list_of(const HttpRequest *request)
{
    return strcmp(http_route(request)->path, "/admin/words") == 0 ? STORE_LIST_WORDS
                                                                  : STORE_LIST_PHRASES;
}

void serve_admin_get_list(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    char *text = malloc(CONTROL_LIST_BYTES);
    http_keep(request, text);
    if (text == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    response->bytes = control_list_read(serve->control, list_of(request), text);
    response->body = (const uint8_t *)text;
    response->body_is_static = true;
    response->content_type = "text/plain; charset=utf-8";
}

static void refuse_line(HttpRequest *request, HttpResponse *response, StoreList list, Status status,
                        uint32_t line)
{
    char text[200];
    const bool are_words = list == STORE_LIST_WORDS;
    if (status == STATUS_LIMIT) {
        snprintf(text, sizeof text, "there are too many: at most %d",
                 are_words ? WORD_LIST_WORDS_MAX : CHAT_PHRASES_MAX);
    } else if (are_words) {
        snprintf(text, sizeof text,
                 "line %u is not one word of 2 to %d letters, with a star before or after it or "
                 "not",
                 line, WORD_LIST_LETTERS_MAX);
    } else {
        snprintf(text, sizeof text,
                 "line %u is not a phrase of at most %d bytes, without control characters and "
                 "spaces at its ends",
                 line, CHAT_PHRASE_BYTES_MAX);
    }
    http_fail(request, response, 400, "malformed", text);
}

void serve_admin_put_list(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const StoreList list = list_of(request);
    const Identity *who = serve_who(request);
    size_t bytes = 0;
    uint32_t line = 0, count = 0;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    const char *body = (const char *)http_body(request, &bytes);
    const char *text = bytes > 0 ? body : "";
    if (!text_is_valid(text, bytes)) {
        http_fail(request, response, 400, "malformed", "the list is UTF-8, one entry per line");
        return;
    }
    if (!serve_record(serve, list == STORE_LIST_WORDS ? "words" : "phrases", request, response)) {
        return;
    }
    const Status status =
        control_set_list(serve->control, list, text, bytes, who != NULL ? who->account : 0, &line);
    if (status == STATUS_MALFORMED || (status == STATUS_LIMIT && line > 0)) {
        refuse_line(request, response, list, status, line);
        return;
    }
    if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
        return;
    }
    if (list == STORE_LIST_PHRASES && bytes == 0) {
        serve_log(LOG_WARN, "chat",
                  "there are no phrases any more: where the rule is `phrases`, "
                  "nobody can say anything");
    }
    for (size_t i = 0; i < bytes; i++) {
        count += text[i] != '\n' && (i + 1 == bytes || text[i + 1] == '\n');
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "count", count);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

bool serve_refuse_words(const Serve *serve, HttpRequest *request, HttpResponse *response,
                        const char *what, const char *text)
{
    if (serve->control == NULL || text == NULL || !control_has_word(serve->control, text)) {
        return false;
    }
    char message[96];
    snprintf(message, sizeof message, "%s has a word that is not allowed here", what);
    http_fail(request, response, 400, "word_not_allowed", message);
    return true;
}
