// What operators see of accounts, and the settings that they change while the server runs.
#define _GNU_SOURCE
#include "server/serve/operate/http_admin.h"

#include "server/control/account.h"
#include "server/serve/http/body.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/pupil_name.h"

#include <stdio.h>
#include <stdlib.h>

#define USERS_MAX    200
#define USERS_BYTES  (256u << 10)
#define BANS_SEEN    4096
#define SEARCHED_MAX 20000

// --- accounts -----------------------------------------------------------------------------------

static void write_roles(JsonWriter *json, uint32_t roles)
{
    static const struct {
        uint32_t role;
        const char *name;
    } names[] = {{ROLE_CREATOR, "creator"},
                 {ROLE_TEACHER, "teacher"},
                 {ROLE_OPERATOR, "operator"},
                 {ROLE_TRUSTED, "trusted"}};
    json_write_name(json, "roles");
    json_write_array_begin(json);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((roles & names[i].role) != 0) {
            json_write_text(json, names[i].name);
        }
    }
    json_write_array_end(json);
}

static void write_members(JsonWriter *json, const StoreAccount *account)
{
    char id[32];
    const bool is_guest = account->name[0] == '\0';
    serve_account_text(account->account_id, is_guest, id);
    serve_write_member(json, "account", id);
    serve_write_number(json, "user_id", account->account_id);
    serve_write_member(json, "username", is_guest ? NULL : account->name);
    serve_write_member(json, "shown_name", account->shown_name);
    json_write_name(json, "guest");
    json_write_bool(json, is_guest);
    write_roles(json, account->roles);
    serve_write_time(json, "created", account->created_unix_ms);
    serve_write_time(json, "last_sign_in", account->seen_unix_ms);
}

static bool has_text(const char *name, const char *text)
{
    return strcasestr(name, text) != NULL;
}

// Those with this text in a name, from behind that one on. The database has no index for it, so at
// most SEARCHED_MAX accounts are looked at; *last is where to go on, "": all were.
static Status find_accounts(Serve *serve, const char *text, char last[STORE_NAME_BYTES],
                            StoreAccount *out, uint32_t max, uint32_t *count)
{
    StoreAccount *some = malloc(USERS_MAX * sizeof *some);
    Status status = some != NULL ? STATUS_OK : STATUS_LIMIT;
    uint32_t looked_at = 0, got = USERS_MAX;
    *count = 0;
    while (status == STATUS_OK && got == USERS_MAX && *count < max && looked_at < SEARCHED_MAX) {
        status = store_accounts(serve->store, last, some, USERS_MAX, &got);
        uint32_t i = 0;
        for (; status == STATUS_OK && i < got && *count < max; i++) {
            if (has_text(some[i].name, text) || has_text(some[i].shown_name, text)) {
                out[(*count)++] = some[i];
            }
            memcpy(last, some[i].name, STORE_NAME_BYTES);
        }
        got = i < got ? USERS_MAX : got; // there are more behind the last one
        looked_at += i;
    }
    if (status == STATUS_OK && got < USERS_MAX) {
        last[0] = '\0';
    }
    free(some);
    return status;
}

void serve_admin_get_users(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *after = http_query(request, "after"), *wanted = http_query(request, "q");
    char last[STORE_NAME_BYTES] = "";
    uint64_t limit = 100;
    uint32_t count = 0;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    if (!serve_query_number(request, "limit", USERS_MAX, &limit) || limit == 0 ||
        (after != NULL && strlen(after) >= STORE_NAME_BYTES) ||
        (wanted != NULL && strlen(wanted) >= STORE_SHOWN_BYTES)) {
        http_fail(request, response, 400, "malformed",
                  "after is the name of an account, limit 1 to 200, q a part of a name");
        return;
    }
    snprintf(last, sizeof last, "%s", after != NULL ? after : "");
    StoreAccount *rows = malloc(limit * sizeof *rows);
    uint8_t *text = malloc(USERS_BYTES);
    http_keep(request, rows);
    http_keep(request, text);
    if (rows == NULL || text == NULL ||
        find_accounts(serve, wanted != NULL ? wanted : "", last, rows, (uint32_t)limit, &count) !=
            STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "accounts cannot be read; try again");
        return;
    }
    ByteWriter writer = byte_writer(text, USERS_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "users");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&json);
        write_members(&json, &rows[i]);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    serve_write_member(&json, "next", last[0] != '\0' ? last : NULL);
    json_write_object_end(&json);
    if (json_writer_finish(&json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = text;
    response->bytes = writer.at;
    response->body_is_static = true;
}

bool serve_find_account(Serve *serve, const char *text, HttpRequest *request,
                        HttpResponse *response, StoreAccount *out)
{
    uint64_t number = 0;
    Status status = store_account_by_name(serve->store, text, out);
    if (status == STATUS_OK && !pupil_name_is_known(serve, serve_who(request), out)) {
        status = STATUS_NOT_FOUND;
    }
    if (status == STATUS_NOT_FOUND && serve_account_read(text, &number)) {
        status = store_account_find(serve->store, number, out);
    }
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such account");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "accounts cannot be read; try again");
    }
    return status == STATUS_OK;
}

static bool is_banned(const Serve *serve, uint64_t account, BanKind kind)
{
    StoreBan ban;
    return control_find_ban(serve->control, account, "", kind, &ban);
}

void serve_admin_get_user(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreAccount account;
    if (serve_refuse_without_accounts(serve, request, response) ||
        !serve_find_account(serve, http_path_part(request, 0), request, response, &account)) {
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    write_members(&answer.json, &account);
    serve_write_number(&answer.json, "sign_ins",
                       control_sign_ins(serve->control, account.account_id, NULL, 0));
    json_write_name(&answer.json, "banned");
    json_write_bool(&answer.json, is_banned(serve, account.account_id, BAN_ENTER));
    json_write_name(&answer.json, "muted");
    json_write_bool(&answer.json, is_banned(serve, account.account_id, BAN_CHAT));
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- settings -----------------------------------------------------------------------------------

// What a page needs to let somebody change them.
typedef struct SettingAbout {
    const char *name, *values, *help; // the values with spaces between them
} SettingAbout;

static const SettingAbout settings_about[] = {
    {"registration", "open invite",
     "Who may make an account: everybody (open), or only people with an invitation (invite)."},
    {"chat", "free phrases off",
     "What people with an account may say: anything that the list of words allows (free), only "
     "the phrases (phrases), or nothing (off)."},
    {"guest_chat", "free phrases off", "The same for guests, who have no account."},
    {"approve_listing", "yes no",
     "Whether a new or changed place waits in the queue until an operator approves it, before "
     "everybody finds it."}};

static void write_values(JsonWriter *json, const char *values)
{
    json_write_name(json, "values");
    json_write_array_begin(json);
    while (*values != '\0') {
        const size_t bytes = strcspn(values, " ");
        json_write_text_bytes(json, values, bytes);
        values += bytes + (values[bytes] == ' ');
    }
    json_write_array_end(json);
}

static void write_about(JsonWriter *json)
{
    json_write_name(json, "about");
    json_write_array_begin(json);
    for (size_t i = 0; i < sizeof settings_about / sizeof settings_about[0]; i++) {
        json_write_object_begin(json);
        serve_write_member(json, "name", settings_about[i].name);
        write_values(json, settings_about[i].values);
        serve_write_member(json, "help", settings_about[i].help);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void answer_settings(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "registration",
                       control_registration_is_open(serve->control) ? "open" : "invite");
    serve_write_member(&answer.json, "chat", chat_rule_name(control_chat(serve->control)));
    serve_write_member(&answer.json, "guest_chat",
                       chat_rule_name(control_guest_chat(serve->control)));
    serve_write_member(&answer.json, "approve_listing",
                       control_approves(serve->control) ? "yes" : "no");
    write_about(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

typedef struct LiveSettings {
    bool has_registration, has_chat, has_guest_chat, has_approves;
    bool is_open, approves;
    ChatRule chat, guest_chat;
} LiveSettings;

// One of two words; false: it is there and neither of them.
static bool read_switch(const JsonNode *root, const char *name, const char *yes, const char *no,
                        bool *has, bool *out)
{
    const JsonNode *node = json_find(root, name);
    *has = node != NULL && node->kind != JSON_NULL;
    *out = json_text_equal(node, yes);
    return !*has || *out || json_text_equal(node, no);
}

static bool read_chat(const JsonNode *root, const char *name, bool *has, ChatRule *out)
{
    const JsonNode *node = json_find(root, name);
    *has = node != NULL && node->kind != JSON_NULL;
    return !*has ||
           (node->kind == JSON_STRING && chat_rule_read((Text){node->text, node->count}, out));
}

// NULL, or what is wrong.
static const char *read_settings(const JsonNode *root, LiveSettings *out)
{
    *out = (LiveSettings){.is_open = false};
    if (!read_switch(root, "registration", "open", "invite", &out->has_registration,
                     &out->is_open)) {
        return "registration is open or invite";
    }
    if (!read_switch(root, "approve_listing", "yes", "no", &out->has_approves, &out->approves)) {
        return "approve_listing is yes or no";
    }
    if (!read_chat(root, "chat", &out->has_chat, &out->chat)) {
        return "chat is free, phrases or off";
    }
    if (!read_chat(root, "guest_chat", &out->has_guest_chat, &out->guest_chat)) {
        return "guest_chat is free, phrases or off";
    }
    return out->has_chat || out->has_guest_chat || out->has_registration || out->has_approves
               ? NULL
               : "name what to change: registration, chat, guest_chat or approve_listing";
}

static Status change_settings(Control *control, const LiveSettings *wanted)
{
    Status status = STATUS_OK;
    if (wanted->has_registration) {
        status = control_set_registration(control, wanted->is_open);
    }
    if (wanted->has_chat && status == STATUS_OK) {
        status = control_set_chat(control, wanted->chat);
    }
    if (wanted->has_guest_chat && status == STATUS_OK) {
        status = control_set_guest_chat(control, wanted->guest_chat);
    }
    if (wanted->has_approves && status == STATUS_OK) {
        status = control_set_approves(control, wanted->approves);
    }
    return status;
}

void serve_admin_get_settings(void *user, HttpRequest *request, HttpResponse *response)
{
    if (!serve_refuse_without_accounts(user, request, response)) {
        answer_settings(user, request, response);
    }
}

void serve_admin_put_settings(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    const JsonNode *root = serve_body_object(request, response);
    if (root == NULL) {
        return;
    }
    LiveSettings wanted;
    const char *wrong = read_settings(root, &wanted);
    if (wrong != NULL) {
        http_fail(request, response, 400, "malformed", wrong);
        return;
    }
    if ((wanted.has_chat && serve_refuse_rule(serve, request, response, wanted.chat)) ||
        (wanted.has_guest_chat && serve_refuse_rule(serve, request, response, wanted.guest_chat)) ||
        !serve_record(serve, "settings", request, response)) {
        return;
    }
    if (change_settings(serve->control, &wanted) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
        return;
    }
    answer_settings(serve, request, response);
}
