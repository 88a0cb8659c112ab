// GET and PUT /api/account/profiles: the characters of whoever asks, which all worlds share. On the
// pool.
#include "core/base/name_text.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/world/http_world.h"
#include "server/store/world/store_profile.h"

#include <stdio.h>

static void write_profiles(JsonWriter *json, const RowProfiles *profiles)
{
    json_write_object_begin(json);
    json_write_name(json, "active");
    json_write_text_bytes(json, profiles->active.data, profiles->active.bytes);
    json_write_name(json, "profiles");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < profiles->count; i++) {
        const WireProfile *profile = &profiles->profiles[i];
        json_write_object_begin(json);
        json_write_name(json, "character_id");
        json_write_text_bytes(json, profile->character_id.data, profile->character_id.bytes);
        json_write_name(json, "name");
        json_write_text_bytes(json, profile->name.data, profile->name.bytes);
        serve_write_number(json, "body", profile->body);
        serve_write_number(json, "colour_skin", profile->colour_skin);
        serve_write_number(json, "colour_shirt", profile->colour_shirt);
        serve_write_number(json, "colour_legs", profile->colour_legs);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

static void answer_profiles(HttpRequest *request, HttpResponse *response,
                            const RowProfiles *profiles)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    write_profiles(&answer.json, profiles);
    serve_answer_end(&answer, response);
}

static bool refuse_without_accounts(const Serve *serve, HttpRequest *request,
                                    HttpResponse *response)
{
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "there are no accounts here");
    }
    return serve->control == NULL;
}

void serve_get_profiles(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (refuse_without_accounts(serve, request, response)) {
        return;
    }
    const Identity *who = serve_who(request);
    RowProfiles profiles = {.account = who->account};
    Status status = store_profiles_read(serve->store, who->account, &bytes, &count);
    if (status == STATUS_OK && bytes != NULL) {
        Row row;
        ByteReader reader = byte_reader(bytes, count);
        status = row_read(&reader, &row);
        status = status == STATUS_OK ? row_profiles(&row, &profiles) : status;
    }
    if (status == STATUS_OK) {
        char shown_name[STORE_SHOWN_BYTES];
        pupil_name_own(serve, who, shown_name);
        (void)row_repair(&profiles, text_from(shown_name));
        answer_profiles(request, response, &profiles);
    } else {
        http_fail(request, response, 503, "unavailable", "they cannot be read now; try again");
    }
    free(bytes);
}

// --- changing -----------------------------------------------------------------------------------

static void read_profile(const JsonNode *node, WireProfile *out, JsonError *error)
{
    static const char *const names[] = {"character_id", "name",         "body",
                                        "colour_skin",  "colour_shirt", "colour_legs"};
    const char *id = json_read_text(json_read_member(node, names[0], error), 64, error);
    const char *name = json_read_text(json_read_member(node, names[1], error), 64, error);
    json_read_only(node, names, 6, error);
    *out = (WireProfile){
        .character_id = text_from(id != NULL ? id : ""),
        .name = text_from(name != NULL ? name : ""),
        .body =
            (uint64_t)json_read_integer(json_read_member(node, names[2], error), 0, 0xff, error),
        .colour_skin = (uint64_t)json_read_integer(json_read_member(node, names[3], error), 0,
                                                   0xffffff, error),
        .colour_shirt = (uint64_t)json_read_integer(json_read_member(node, names[4], error), 0,
                                                    0xffffff, error),
        .colour_legs = (uint64_t)json_read_integer(json_read_member(node, names[5], error), 0,
                                                   0xffffff, error)};
}

// False: the response says what is wrong. The texts are in the request's memory.
static bool read_profiles(HttpRequest *request, HttpResponse *response, RowProfiles *out)
{
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL) {
        return false;
    }
    JsonError error = {0};
    const char *active = json_read_text(json_read_member(body, "active", &error), 64, &error);
    const JsonNode *item =
        json_read_array(json_read_member(body, "profiles", &error), 1, PROFILES_MAX, &error);
    out->active = text_from(active != NULL ? active : "");
    for (; item != NULL && error.status == STATUS_OK; item = item->next) {
        WireProfile *profile = &out->profiles[out->count++];
        read_profile(item, profile, &error);
        if (error.status == STATUS_OK &&
            (!row_id_is_valid(profile->character_id) || !row_name_is_valid(profile->name))) {
            http_fail(request, response, 400, "invalid_name",
                      "a character_id has letters, digits, _ and - only; " NAME_TEXT_RULE);
            return false;
        }
        if (error.status == STATUS_OK &&
            serve_refuse_words(http_user(request), request, response, "a character's name",
                               profile->name.data)) { // JSON texts are terminated
            return false;
        }
    }
    if (error.status != STATUS_OK) {
        char text[JSON_ERROR_TEXT_BYTES];
        json_error_words(&error, text);
        http_fail(request, response, 400, "malformed", text);
        return false;
    }
    RowProfiles copy = *out;
    if (row_repair(&copy, text_from("x"))) {
        http_fail(
            request, response, 400, "malformed",
            "each character_id is there once, `default` is one of them, and active names one");
        return false;
    }
    return true;
}

typedef struct ProfileChange {
    uint64_t account;
    size_t bytes;
    uint8_t row[STORE_PROFILES_BYTES];
} ProfileChange;

static void tell_worlds(void *user, void *what)
{
    const Serve *serve = user;
    ProfileChange *change = what;
    host_profiles_changed(serve->host, change->account, change->row, change->bytes);
    free(change);
}

// A world that hears of it too late would store what it knew; then the player's next change wins.
static void post_profiles(Serve *serve, const RowProfiles *profiles)
{
    ProfileChange *change = malloc(sizeof *change);
    if (change == NULL) {
        return;
    }
    ByteWriter writer = byte_writer(change->row, sizeof change->row);
    row_put_profiles(profiles, &writer);
    change->account = profiles->account;
    change->bytes = writer.at;
    if (writer.status != STATUS_OK ||
        mailbox_post(serve->mailbox, tell_worlds, change) != STATUS_OK) {
        free(change);
    }
}

void serve_put_profiles(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (refuse_without_accounts(serve, request, response)) {
        return;
    }
    RowProfiles profiles = {.account = serve_who(request)->account};
    if (!read_profiles(request, response, &profiles)) {
        return;
    }
    if (store_profiles_put(serve->store, &profiles) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "they could not be stored; try again");
        return;
    }
    post_profiles(serve, &profiles);
    answer_profiles(request, response, &profiles);
}
