// See http_place.h. All of this waits for the disk, and runs on the pool.
#define _GNU_SOURCE
#include "server/serve/publish/http_place.h"
#include "server/serve/order/http_order.h"

#include "core/base/json_member.h"
#include "core/base/text.h"
#include "server/serve/http/body.h"
#include "server/serve/http/openapi.h"
#include "server/serve/http/time_text.h"
#include "server/serve/listing/http_listing.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/spell_use.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES (128u << 10) // a description whose every byte is escaped, and a team
#define LIST_MAX   100
#define LIST_BYTES (512u << 10) // a hundred, each with the longest reason of an operator
#define SLUG_BYTES 33

// --- what all of them need ----------------------------------------------------------------------

// Routes of spells are answered by the same handlers, and never with a place.
static StorePackageKind kind_of(const HttpRequest *request)
{
    static const char spells[] = "/api/spells/";
    return strncmp(http_route(request)->path, spells, sizeof spells - 1) == 0 ? STORE_SPELL
                                                                              : STORE_PLACE;
}

// Of one in the trash, or removed, its owner may do little; that is not a lack of rights.
static bool refuse_state(HttpRequest *request, HttpResponse *response, const PlaceAsk *ask)
{
    const bool is_removed = (ask->package.flags & STORE_PACKAGE_REMOVED) != 0;
    if (ask->package.trashed_unix_ms != 0 && openapi_may_answer(http_route(request), 409)) {
        http_fail(request, response, 409, "trashed",
                  "this is in the trash; restore it first, or delete it for good");
        return true;
    }
    if (is_removed) {
        http_fail(request, response, 403, "removed", "an operator has removed this");
    }
    return is_removed;
}

bool place_enter(Serve *serve, HttpRequest *request, HttpResponse *response, uint32_t needs,
                 PlaceAsk *out)
{
    const char *place_id = http_path_part(request, 0);
    const StorePackageKind kind = kind_of(request);
    const Status status =
        serve->control == NULL || place_id == NULL || strlen(place_id) > 64
            ? STATUS_NOT_FOUND
            : rights_find(serve->store, place_id, serve_who(request), &out->package, &out->rights);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && out->package.kind != kind)) {
        http_fail(request, response, 404, "not_found",
                  kind == STORE_SPELL ? "there is no such spell" : "there is no such place");
        return false;
    }
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        return false;
    }
    if ((out->rights & needs) != needs && refuse_state(request, response, out)) {
        return false;
    }
    if ((out->rights & needs) != needs) {
        http_fail(request, response, 403, "denied",
                  (needs & RIGHT_OWN) != 0                    ? "this is for the owner"
                  : (needs & (RIGHT_EDIT | RIGHT_DRAFT)) != 0 ? "this is for those who work on it"
                  : (needs & RIGHT_PLAY) != 0                 ? "you may not play this place"
                                                              : "the sources are not open");
        return false;
    }
    return true;
}

bool place_enter_revision(Serve *serve, HttpRequest *request, HttpResponse *response,
                          uint32_t needs, PlaceAsk *out, StoreRevision *revision)
{
    uint32_t number = 0;
    if (!place_enter(serve, request, response, needs, out)) {
        return false;
    }
    const Status status =
        revision_id_read(http_path_part(request, 1), &number)
            ? store_revision_find(serve->store, out->package.package_id, number, revision)
            : STATUS_NOT_FOUND;
    // Others know of those that they can play.
    const bool is_known = (out->rights & RIGHT_READ) != 0 ||
                          (number == out->package.live && number != 0) ||
                          (number == out->package.beta && (out->rights & RIGHT_TEST) != 0);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !is_known)) {
        http_fail(request, response, 404, "not_found", "there is no such revision");
        return false;
    }
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

void place_write_revision_id(JsonWriter *json, const char *name, uint32_t revision)
{
    char id[REVISION_ID_BYTES];
    revision_id_write(revision, id);
    serve_write_member(json, name, revision != 0 ? id : NULL);
}

void place_refuse_store(HttpRequest *request, HttpResponse *response, Status status)
{
    if (status == STATUS_MALFORMED) {
        http_fail(request, response, 500, "damaged", "what is stored of this place is damaged");
    } else {
        http_fail(request, response, 503, "unavailable",
                  "it could not be read or stored now; try again");
    }
}

void place_refuse_quota(Serve *serve, uint64_t account, uint64_t wanted, HttpRequest *request,
                        HttpResponse *response)
{
    char text[384];
    uint64_t used = 0;
    status_ignore(store_account_bytes(serve->store, account, &used)); // then it says 0
    snprintf(text, sizeof text,
             "%" PRIu64 " bytes do not fit: %" PRIu64 " of %" PRIu64
             " bytes are used. Delete old revisions, the draft, pictures or places, also those in "
             "the trash (DELETE /api/places/<id>?purge=1), or ask the operator for more",
             wanted, used, serve_account_bytes_max(serve));
    http_fail(request, response, 413, "quota", text);
}

bool place_check_title(HttpRequest *request, HttpResponse *response, const char *title)
{
    const size_t bytes = strlen(title);
    const bool is_good = bytes > 0 && bytes < STORE_TITLE_BYTES && name_is_plain_line(title) &&
                         title[0] != ' ' && title[bytes - 1] != ' ';
    if (!is_good) {
        http_fail(request, response, 400, "invalid_title",
                  "a title is one line of 1 to 128 bytes that neither begins nor ends with a "
                  "space, without characters that show nothing or turn the direction of text");
    }
    return is_good &&
           !serve_refuse_words(http_user(request), request, response, "the title", title);
}

static const char *const visibility_names[] = {"private", "unlisted", "listed"};

const char *place_visibility_name(StoreVisibility visibility)
{
    return visibility_names[visibility];
}

bool place_visibility_read(const char *text, StoreVisibility *out)
{
    for (size_t i = 0; i < sizeof visibility_names / sizeof visibility_names[0]; i++) {
        if (strcmp(text, visibility_names[i]) == 0) {
            *out = (StoreVisibility)i;
            return true;
        }
    }
    return false;
}

// Small letters and digits of the title, with one - for everything between them.
static void make_slug(const char *title, char out[SLUG_BYTES])
{
    size_t at = 0;
    for (; *title != '\0' && at + 1 < SLUG_BYTES; title++) {
        const char c = (char)(*title >= 'A' && *title <= 'Z' ? *title | 0x20 : *title);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            out[at++] = c;
        } else if (at > 0 && out[at - 1] != '-') {
            out[at++] = '-';
        }
    }
    while (at > 0 && out[at - 1] == '-') {
        at -= 1;
    }
    out[at] = '\0';
}

void place_make_id(const char *title, char out[65])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789"; // 32
    char slug[SLUG_BYTES];
    uint8_t random[6];
    make_slug(title, slug);
    entropy_fill(random, sizeof random);
    size_t at = (size_t)snprintf(out, 65, "place_%s%s", slug, slug[0] != '\0' ? "-" : "");
    for (size_t i = 0; i < sizeof random; i++) {
        out[at++] = letters[random[i] % 32];
    }
    out[at] = '\0';
}

// --- a page -------------------------------------------------------------------------------------

static void write_time(JsonWriter *json, const char *name, uint64_t unix_ms)
{
    char text[TIME_TEXT_BYTES];
    time_text(unix_ms, text);
    serve_write_member(json, name, unix_ms != 0 ? text : NULL);
}

void place_write_creator(Serve *serve, JsonWriter *json, uint64_t owner, const Identity *who)
{
    StoreAccount account;
    json_write_name(json, "creator");
    if (owner == STORE_BUILT_IN_ACCOUNT ||
        store_account_find(serve->store, owner, &account) != STATUS_OK) {
        json_write_null(json);
        return;
    }
    pupil_name_show(serve, who, &account);
    json_write_object_begin(json);
    serve_write_member(json, "username", account.name);
    serve_write_member(json, "shown_name",
                       account.shown_name[0] != '\0' ? account.shown_name : account.name);
    json_write_object_end(json);
}

static void write_rights(JsonWriter *json, uint32_t rights)
{
    static const char *const names[] = {"see", "play", "test", "read", "edit", "own", "draft"};
    json_write_name(json, "rights");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((rights & 1u << i) != 0) {
            json_write_text(json, names[i]);
        }
    }
    json_write_array_end(json);
}

static void write_pictures(Serve *serve, JsonWriter *json, const char *place_id)
{
    uint32_t numbers[PICTURES_MAX], count = 0;
    status_ignore(store_pictures(serve->store, place_id, numbers, PICTURES_MAX, &count));
    json_write_name(json, "pictures");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_integer(json, numbers[i]);
    }
    json_write_array_end(json);
}

bool place_waits(const Serve *serve, const StorePackage *package)
{
    return control_approves(serve->control) && package->kind == STORE_PLACE && package->live != 0 &&
           !listing_shows(package, true) && listing_shows(package, false);
}

// In short, for lists; the page has more.
static void write_short(Serve *serve, const PlaceAsk *ask, const Identity *who, JsonWriter *json)
{
    const StorePackage *package = &ask->package;
    const uint64_t now = clock_unix_ms();
    serve_write_member(json, "place_id", package->package_id);
    serve_write_member(json, "title", package->title);
    place_write_creator(serve, json, package->owner_id, who);
    serve_write_member(json, "visibility", place_visibility_name(package->visibility));
    json_member_bool(json, "open", (package->flags & STORE_PACKAGE_OPEN) != 0);
    serve_write_number(json, "revisions", package->last_revision);
    place_write_revision_id(json, "live", package->live);
    place_write_revision_id(json, "beta", (ask->rights & RIGHT_TEST) != 0 ? package->beta : 0);
    write_time(json, "created_at", package->created_unix_ms);
    write_time(json, "updated_at", package->updated_unix_ms);
    serve_write_number(json, "updated_s",
                       now > package->updated_unix_ms ? (now - package->updated_unix_ms) / 1000
                                                      : 0);
    write_time(json, "trashed_at", package->trashed_unix_ms);
    json_member_bool(json, "waits_for_approval", place_waits(serve, package));
    json_member_bool(json, "removed", (package->flags & STORE_PACKAGE_REMOVED) != 0);
    write_rights(json, ask->rights);
    serve_write_number(json, "version", package->version);
}

// How many a world of the live revision has at most; null while the place is not open here.
static uint32_t write_player_max(const Serve *serve, JsonWriter *json, const char *place_id)
{
    ServePlace *place = places_find_id(serve, place_id);
    const uint32_t most = place != NULL ? place->place->numbers.player_max : 0;
    serve_place_release(place);
    json_write_name(json, "player_max");
    if (most > 0) {
        json_write_integer(json, most);
    } else {
        json_write_null(json);
    }
    return most;
}

uint64_t place_write(Serve *serve, const PlaceAsk *ask, const Identity *who, JsonWriter *json)
{
    json_write_object_begin(json);
    write_short(serve, ask, who, json);
    serve_write_member(json, "description", ask->package.description);
    serve_write_member(json, "forked_from",
                       ask->package.forked_from[0] != '\0' ? ask->package.forked_from : NULL);
    write_pictures(serve, json, ask->package.package_id);
    // Of a removed one nobody else sees the page.
    if ((ask->rights & RIGHT_EDIT) != 0 || (ask->package.flags & STORE_PACKAGE_REMOVED) != 0) {
        serve_write_moderation(serve, json, ask->package.package_id);
    }
    uint64_t counts = listing_write_counts(serve, json, ask->package.package_id);
    counts ^= (uint64_t)write_player_max(serve, json, ask->package.package_id) << 40;
    counts ^= spell_write_updates(serve, ask, who, json);
    if ((ask->rights & RIGHT_TEST) != 0) {
        const bool has_draft = draft_exists(serve->drafts, ask->package.package_id);
        json_member_bool(json, "draft", has_draft);
        counts ^= (uint64_t)has_draft << 63;
    }
    if ((ask->rights & RIGHT_EDIT) != 0) {
        StoreBlobRef blob;
        json_member_bool(json, "own_thumbnail",
                         store_blob_used(serve->store, ask->package.package_id,
                                         STORE_BLOB_OWN_THUMBNAIL, 0, &blob) == STATUS_OK);
        counts ^= place_reload_write(serve, ask->package.package_id, json);
    }
    json_write_object_end(json);
    return counts;
}

// The tag is of the row, of what whoever asks may do, and of how much it is played, which changes
// without another version.
static void answer_page(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const PlaceAsk *ask)
{
    ServeAnswer answer;
    char *tag = arena_alloc(http_arena(request), 64);
    serve_answer_begin_large(&answer, request, PAGE_BYTES);
    const uint64_t counts = place_write(serve, ask, serve_who(request), &answer.json);
    serve_answer_end(&answer, response);
    if (tag != NULL) {
        snprintf(tag, 64, "\"%" PRIu64 ".%x.%" PRIx64 "\"", ask->package.version, ask->rights,
                 counts);
        response->tag = tag;
    }
}

void serve_get_place(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    if (place_enter(user, request, response, RIGHT_SEE, &ask)) {
        answer_page(user, request, response, &ask);
    }
}

// --- changing it --------------------------------------------------------------------------------

bool place_matches(HttpRequest *request, HttpResponse *response, const StorePackage *package)
{
    const char *wanted = http_header(request, "If-Match");
    char mine[32];
    const int bytes = snprintf(mine, sizeof mine, "\"%" PRIu64, package->version);
    const bool fits = wanted == NULL || strcmp(wanted, "*") == 0 ||
                      (strncmp(wanted, mine, (size_t)bytes) == 0 &&
                       (wanted[bytes] == '.' || wanted[bytes] == '"'));
    if (!fits) {
        http_fail(request, response, 412, "changed",
                  "somebody else has changed this place meanwhile; read it again");
    }
    return fits;
}

bool place_change(Serve *serve, HttpRequest *request, HttpResponse *response, StorePackage *package)
{
    const Status status = store_package_change(serve->store, package);
    if (status == STATUS_MISMATCH) {
        http_fail(request, response, 412, "changed",
                  "somebody else has changed this place meanwhile; try again");
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such place");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

bool place_read_patch(const Serve *serve, HttpRequest *request, HttpResponse *response,
                      StorePackage *package)
{
    char visibility[16] = "";
    const bool was_open = (package->flags & STORE_PACKAGE_OPEN) != 0;
    bool is_open = was_open;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL ||
        !serve_body_text(request, response, body, "title", package->title, sizeof package->title) ||
        !serve_body_text(request, response, body, "description", package->description,
                         sizeof package->description) ||
        !serve_body_text(request, response, body, "visibility", visibility, sizeof visibility) ||
        !serve_body_bool(request, response, body, "open", &is_open)) {
        return false;
    }
    if (json_find(body, "title") != NULL && !place_check_title(request, response, package->title)) {
        return false;
    }
    if (!name_is_plain_text(package->description)) {
        http_fail(request, response, 400, "malformed",
                  "the description has characters that show nothing or turn the direction of text");
        return false;
    }
    if (json_find(body, "description") != NULL &&
        serve_refuse_words(serve, request, response, "the description", package->description)) {
        return false;
    }
    if (visibility[0] != '\0' && !place_visibility_read(visibility, &package->visibility)) {
        http_fail(request, response, 400, "malformed", "visibility is private, unlisted or listed");
        return false;
    }
    package->flags = is_open ? package->flags | STORE_PACKAGE_OPEN
                             : package->flags & ~(uint32_t)STORE_PACKAGE_OPEN;
    return true;
}

void serve_patch_place(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    if (place_enter(user, request, response, RIGHT_EDIT, &ask) &&
        place_matches(request, response, &ask.package) &&
        place_read_patch(user, request, response, &ask.package) &&
        place_change(user, request, response, &ask.package)) {
        serve_place_changed(user, ask.package.package_id); // who may play it, and who finds it
        answer_page(user, request, response, &ask);
    }
}

// --- the trash ----------------------------------------------------------------------------------

void serve_restore_place(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    if (!place_enter(serve, request, response, RIGHT_OWN, &ask)) {
        return;
    }
    if (ask.package.trashed_unix_ms == 0) {
        http_fail(request, response, 409, "not_in_trash", "this place is not in the trash");
        return;
    }
    ask.package.trashed_unix_ms = 0;
    if (place_change(serve, request, response, &ask.package)) {
        serve_place_changed(serve, ask.package.package_id);
        status_ignore(rights_find(serve->store, ask.package.package_id, serve_who(request),
                                  &ask.package, &ask.rights)); // as it was just written
        answer_page(serve, request, response, &ask);
    }
}

// --- one's own ----------------------------------------------------------------------------------

// False: the response says what is wrong with `limit`.
static bool read_limit(HttpRequest *request, HttpResponse *response, uint64_t *limit)
{
    *limit = LIST_MAX;
    if (serve_query_number(request, "limit", LIST_MAX, limit) && *limit > 0) {
        return true;
    }
    http_fail(request, response, 400, "malformed", "limit is a number from 1 to 100");
    return false;
}

// What somebody is to a place of their lists.
static const char *role_of(Serve *serve, const StorePackage *package, uint64_t account)
{
    static const char *const names[] = {
        [STORE_EDITOR] = "editor", [STORE_TESTER] = "tester", [STORE_BLOCKED] = "blocked"};
    StorePackageRole role = STORE_NOBODY;
    if (package->owner_id == account) {
        return "owner";
    }
    status_ignore(store_package_role(serve->store, package->package_id, account, &role));
    return role != STORE_NOBODY ? names[role] : NULL;
}

typedef Status (*ListPackages)(Store *store, uint64_t account, const char *after, StorePackage *out,
                               uint32_t max, uint32_t *count);

static void answer_mine(Serve *serve, HttpRequest *request, HttpResponse *response,
                        ListPackages list)
{
    const Identity *who = serve_who(request);
    const char *after = http_query(request, "after");
    uint64_t limit;
    uint32_t count = 0;
    if (!read_limit(request, response, &limit)) {
        return;
    }
    StorePackage *packages = malloc((limit + 1) * sizeof *packages);
    http_keep(request, packages);
    Status status = packages == NULL ? STATUS_LIMIT
                                     : list(serve->store, who->account, after != NULL ? after : "",
                                            packages, (uint32_t)limit + 1, &count);
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, LIST_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "places");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count && i < limit; i++) {
        PlaceAsk ask;
        if (packages[i].kind == STORE_PLACE &&
            rights_find(serve->store, packages[i].package_id, who, &ask.package, &ask.rights) ==
                STATUS_OK) {
            json_write_object_begin(&answer.json);
            write_short(serve, &ask, serve_who(request), &answer.json);
            serve_write_member(&answer.json, "role", role_of(serve, &ask.package, who->account));
            if ((ask.rights & RIGHT_EDIT) != 0 ||
                (ask.package.flags & STORE_PACKAGE_REMOVED) != 0) {
                serve_write_moderation(serve, &answer.json, ask.package.package_id);
            }
            json_write_object_end(&answer.json);
        }
    }
    json_write_array_end(&answer.json);
    serve_write_member(&answer.json, "next", count > limit ? packages[limit - 1].package_id : NULL);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_get_my_places(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_mine(user, request, response, store_packages_of);
}

static void write_use(Serve *serve, JsonWriter *json, const StorePackage *package)
{
    uint64_t bytes = 0, data_keys = 0, data_bytes = 0;
    const StoreConfig limits = store_config_default();
    status_ignore(store_package_bytes(serve->store, package->package_id, &bytes));
    status_ignore(store_place_data(serve->store, package->package_id, &data_keys, &data_bytes));
    json_write_object_begin(json);
    serve_write_member(json, "place_id", package->package_id);
    serve_write_member(json, "title", package->title);
    serve_write_number(json, "bytes", bytes);
    serve_write_number(json, "datastore_keys", data_keys);
    serve_write_number(json, "datastore_keys_max", limits.data_keys_max);
    serve_write_number(json, "datastore_bytes", data_bytes);
    serve_write_number(json, "datastore_bytes_max", limits.data_bytes_max);
    json_member_bool(json, "trashed", package->trashed_unix_ms != 0);
    json_write_object_end(json);
}

void serve_get_quota(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const Identity *who = serve_who(request);
    uint64_t used = 0;
    uint32_t count = 0;
    StorePackage *packages = malloc(PACKAGES_PER_ACCOUNT_MAX * sizeof *packages);
    http_keep(request, packages);
    Status status = packages == NULL ? STATUS_LIMIT
                                     : store_packages_of(serve->store, who->account, "", packages,
                                                         PACKAGES_PER_ACCOUNT_MAX, &count);
    if (status == STATUS_OK) {
        status = store_account_bytes(serve->store, who->account, &used);
    }
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, LIST_BYTES);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "bytes_used", used);
    serve_write_number(&answer.json, "bytes_max", serve_account_bytes_max(serve));
    serve_write_number(&answer.json, "places_max", PACKAGES_PER_ACCOUNT_MAX);
    json_write_name(&answer.json, "places");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        if (packages[i].owner_id == who->account) {
            write_use(serve, &answer.json, &packages[i]);
        }
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- channels -----------------------------------------------------------------------------------

// The revision that the body names, 0 for null.
static bool read_revision(HttpRequest *request, HttpResponse *response, uint32_t *number)
{
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL) {
        return false;
    }
    const JsonNode *id = json_find(body, "revision_id");
    *number = 0;
    if (id->kind == JSON_NULL || (id->kind == JSON_STRING && strlen(id->text) == id->count &&
                                  revision_id_read(id->text, number))) {
        return true;
    }
    http_fail(request, response, 400, "malformed",
              "revision_id is one of the place's, such as \"r3\", or null");
    return false;
}

static void refuse_channel(HttpRequest *request, HttpResponse *response, Status status)
{
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such revision");
    } else if (status == STATUS_DENIED) {
        http_fail(request, response, 409, "not_ready",
                  "this revision is not ready: its build has not ended, or has failed");
    } else {
        place_refuse_store(request, response, status);
    }
}

void serve_post_channel(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    uint32_t number = 0, before = 0;
    const char *name = http_path_part(request, 1);
    const StoreChannel channel = strcmp(name, "live") == 0 ? STORE_LIVE : STORE_BETA;
    if (!place_enter(serve, request, response, RIGHT_EDIT, &ask)) {
        return;
    }
    if (channel == STORE_BETA && strcmp(name, "beta") != 0) {
        http_fail(request, response, 404, "not_found", "the channels are beta and live");
        return;
    }
    if (!read_revision(request, response, &number)) {
        return;
    }
    const Status status = store_channel_set(serve->store, ask.package.package_id, channel, number,
                                            clock_unix_ms(), &before);
    if (status != STATUS_OK) {
        refuse_channel(request, response, status);
        return;
    }
    place_build_record(serve, serve_who(request)->account, ask.package.package_id, name, number);
    if (number != before) {
        serve_place_changed(serve, ask.package.package_id);
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", ask.package.package_id);
    serve_write_member(&answer.json, "channel", name);
    place_write_revision_id(&answer.json, "revision_id", number);
    place_write_revision_id(&answer.json, "before", before);
    json_member_bool(&answer.json, "waits_for_approval",
                     store_package_find(serve->store, ask.package.package_id, &ask.package) ==
                             STATUS_OK &&
                         place_waits(serve, &ask.package));
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}
