// See http_listing.h. Lists are the same for everybody, so their answers are kept ready
// (ready_cache.h) and asked for on the HTTP thread; what is not ready is made on the pool.
#define _GNU_SOURCE
#include "server/serve/listing/http_listing.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "server/control/order/class.h"
#include "server/serve/http/body.h"
#include "server/serve/http/time_text.h"
#include "server/serve/listing/ready_cache.h"
#include "server/serve/remote/http_remote.h"
#include "server/serve/remote/serve_fleet.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS_DEFAULT   24
#define ROW_BYTES      4096 // of JSON at most: a title and a description whose every byte is escaped
#define QUERY_BYTES    200
#define LIMIT_RULE     "limit is a number from 1 to 100"
#define TAGS_SHOWN_MAX 200

// --- the feed -----------------------------------------------------------------------------------

Status serve_listing_open(Serve *serve)
{
    if (serve->control == NULL) {
        return STATUS_OK;
    }
    // A full disk is no reason not to start: what was listed stays listed.
    status_ignore(store_listing_require_approval(serve->store, control_approves(serve->control)));
    const Status status =
        listing_feed_create(serve->store, serve->config.vote_seconds, &serve->feed);
    return status == STATUS_OK ? ready_cache_create(&serve->ready) : status;
}

typedef struct Others {
    Serve *serve;
    LiveWorld *worlds;
    uint32_t count, max;
    bool are_peers;
} Others;

// What its host says, who may lie: never more players than a world can have.
static void add_other(void *user, const char *world_id, const RemoteReport *report)
{
    Others *others = user;
    const HostWorld *world = host_world(others->serve->host, world_id);
    if (world == NULL || host_world_link(world) != NULL || report->state != WORLD_RUNNING ||
        others->count == others->max) {
        return;
    }
    LiveWorld *live = &others->worlds[others->count++];
    listing_live_of(world, live);
    live->up_s = report->uptime_s;
    live->is_counted_there = others->are_peers;
    live->player_max = live->player_max != 0 ? live->player_max : report->player_max;
    live->players = report->players < WORLD_PLAYERS_MAX ? report->players : WORLD_PLAYERS_MAX;
    if (live->player_max > 0 && live->players > live->player_max) {
        live->players = live->player_max;
    }
}

static void look(Serve *serve, uint64_t now_ns)
{
    Others others = {.serve = serve, .max = host_world_count(serve->host) + 1};
    others.worlds = malloc(others.max * sizeof *others.worlds);
    if (others.worlds != NULL) {
        remote_worlds_each(serve, add_other, &others);
        others.are_peers = true;
        fleet_each(serve, add_other, &others);
    }
    listing_feed_look(serve->feed, serve->host, others.worlds, others.count, now_ns);
    free(others.worlds);
}

void serve_listing_step(Serve *serve)
{
    const uint64_t now_ns = clock_ns();
    if (serve->feed == NULL) {
        return;
    }
    if (listing_feed_is_due(serve->feed, now_ns)) {
        look(serve, now_ns);
    }
    listing_feed_flush(serve->feed, serve->pool, now_ns, clock_unix_ms());
}

void serve_listing_close(Serve *serve)
{
    listing_feed_destroy(serve->feed, clock_unix_ms());
    ready_cache_destroy(serve->ready);
}

void serve_listing_entered(void *user, const HostWorld *world, const Ticket *who)
{
    const Serve *serve = user;
    if (serve->feed != NULL) {
        const StoreWorld *row = host_world_view(world).row;
        listing_feed_enter(serve->feed, &(FeedVisit){.place_id = row->place_id,
                                                     .world_id = row->world_id,
                                                     .account = who->account,
                                                     .unix_ms = clock_unix_ms(),
                                                     .is_guest = (who->flags & TICKET_GUEST) != 0});
    }
}

void serve_listing_left(void *user, const HostWorld *world, uint64_t account)
{
    const Serve *serve = user;
    if (serve->feed != NULL) {
        listing_feed_leave(serve->feed, host_world_view(world).row->world_id, account);
    }
}

// --- answers ------------------------------------------------------------------------------------

// NULL: nobody waits for it.
static void fail(HttpRequest *request, HttpResponse *response, uint32_t status, const char *code,
                 const char *message)
{
    if (request != NULL) {
        http_fail(request, response, status, code, message);
    }
}

bool listing_answer_begin(ListingAnswer *answer, HttpRequest *request, HttpResponse *response,
                          uint32_t rows)
{
    const size_t bytes = (rows + 1) * (size_t)ROW_BYTES;
    answer->request = request;
    answer->text = malloc(bytes + READY_TAG_BYTES);
    if (request != NULL) {
        http_keep(request, answer->text);
    }
    if (answer->text == NULL) {
        fail(request, response, 503, "busy", "out of memory; try again");
        return false;
    }
    answer->writer = byte_writer(answer->text, bytes);
    answer->json = json_writer(&answer->writer, 0);
    json_write_object_begin(&answer->json);
    return true;
}

bool listing_answer_end(ListingAnswer *answer, HttpResponse *response)
{
    json_write_object_end(&answer->json);
    if (json_writer_finish(&answer->json) != STATUS_OK) {
        fail(answer->request, response, 500, "too_large", "the answer does not fit");
        return false;
    }
    if (response != NULL) {
        response->body = answer->text;
        response->body_is_static = true; // it is the request's
        response->bytes = answer->writer.at;
    }
    return true;
}

bool listing_refuse(HttpRequest *request, HttpResponse *response, Status status)
{
    if (status == STATUS_NOT_FOUND) {
        fail(request, response, 404, "not_found", "there is no such place here");
    } else if (status == STATUS_MALFORMED) {
        fail(request, response, 400, "malformed",
             "after must be what `next` of the page before said");
    } else if (status != STATUS_OK) {
        fail(request, response, 503, "unavailable", "it cannot be read now; try again");
    }
    return status != STATUS_OK;
}

bool listing_read_limit(HttpRequest *request, HttpResponse *response, uint32_t *limit)
{
    uint64_t number = ROWS_DEFAULT;
    if (!serve_query_number(request, "limit", LISTING_PAGE_MAX, &number) || number == 0) {
        http_fail(request, response, 400, "malformed", LIMIT_RULE);
        return false;
    }
    *limit = (uint32_t)number;
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

static void write_time(JsonWriter *json, const char *name, uint64_t unix_ms)
{
    char text[TIME_TEXT_BYTES];
    time_text(unix_ms, text);
    serve_write_member(json, name, unix_ms > 0 ? text : NULL);
}

static void write_tags(JsonWriter *json, const char *tags)
{
    json_write_name(json, "tags");
    json_write_array_begin(json);
    for (const char *at = tags; *at != '\0';) {
        const size_t bytes = strcspn(at, " ");
        json_write_text_bytes(json, at, bytes);
        at += bytes + (at[bytes] == ' ');
    }
    json_write_array_end(json);
}

void listing_write_row(Serve *serve, JsonWriter *json, const StoreListing *row)
{
    char address[128] = "", creator[32];
    if (row->has_thumbnail) {
        snprintf(address, sizeof address, "/api/places/%s/pictures/0", row->package_id);
    }
    serve_account_text(row->owner_id, false, creator);
    json_write_object_begin(json);
    serve_write_member(json, "id", row->package_id);
    serve_write_member(json, "title", row->title);
    serve_write_member(json, "description", row->summary);
    serve_write_member(json, "thumbnail", row->has_thumbnail ? address : NULL);
    serve_write_member(json, "creator", row->creator[0] != '\0' ? row->creator : NULL);
    serve_write_member(json, "creator_id", creator);
    serve_write_number(json, "players", listing_feed_players(serve->feed, row->package_id));
    serve_write_number(json, "visits", row->counts.visits);
    serve_write_number(json, "unique_players", row->counts.players);
    serve_write_number(json, "votes_up", row->counts.votes_up);
    serve_write_number(json, "votes_down", row->counts.votes_down);
    write_time(json, "updated_at", row->updated_unix_ms);
    write_time(json, "published_at", row->published_unix_ms);
    write_tags(json, row->tags);
    json_write_name(json, "open");
    json_write_bool(json, row->is_open);
    json_write_object_end(json);
}

// {"tick_ms": 2.1, "players": 50}, or null.
static void write_cost(JsonWriter *json, const StoreCounts *counts)
{
    json_write_name(json, "cost");
    if (counts->cost_players == 0) {
        json_write_null(json);
        return;
    }
    json_write_object_begin(json);
    json_write_name(json, "tick_ms");
    json_write_number(json, (double)counts->cost_us / 1000);
    serve_write_number(json, "players", counts->cost_players);
    json_write_object_end(json);
}

uint64_t listing_write_counts(Serve *serve, JsonWriter *json, const char *place_id)
{
    StoreListing row;
    const size_t from = json->out->at;
    if (store_listing_find(serve->store, place_id, &row) != STATUS_OK) {
        memset(&row, 0, sizeof row);
    }
    serve_write_number(json, "players",
                       serve->feed != NULL ? listing_feed_players(serve->feed, place_id) : 0);
    serve_write_number(json, "visits", row.counts.visits);
    serve_write_number(json, "unique_players", row.counts.players);
    serve_write_number(json, "seconds_played", row.counts.seconds);
    serve_write_number(json, "peak_players", row.counts.peak);
    serve_write_number(json, "votes_up", row.counts.votes_up);
    serve_write_number(json, "votes_down", row.counts.votes_down);
    serve_write_number(json, "favourites", row.counts.favourites);
    write_cost(json, &row.counts);
    write_tags(json, row.tags);
    write_time(json, "published_at", row.published_unix_ms);
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, json->out->data + from, json->out->at - from);
    return hash.state;
}

// --- what is kept ready -------------------------------------------------------------------------

// A question: of a request, or of a key whose answer is made anew while nobody waits for it.
typedef struct Asked {
    HttpRequest *request; // NULL: nobody waits
    HttpResponse *response;
    const char *parts; // of a key: texts that end with 0, and an empty one
} Asked;

static const char *const asked_names[] = {"sort",  "q",     "tag",       "creator",
                                          "limit", "after", "collection"};
#define ASKED_NAMES (sizeof asked_names / sizeof asked_names[0])

// In a key each value stands behind a letter for its name.
static const char *asked_value(const Asked *asked, const char *name)
{
    if (asked->request != NULL) {
        return http_query(asked->request, name);
    }
    for (const char *at = asked->parts; *at != '\0'; at += strlen(at) + 1) {
        const size_t number = (size_t)(*at - 'a');
        if (number < ASKED_NAMES && strcmp(asked_names[number], name) == 0) {
            return at + 1;
        }
    }
    return NULL;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((uint8_t)*text < 0x20) {
            return true;
        }
    }
    return false;
}

// The question in lines. False: it is too long to be kept, or has lines itself.
static bool key_of(const HttpRequest *request, char out[READY_KEY_BYTES])
{
    size_t at = (size_t)snprintf(out, READY_KEY_BYTES, "%s", http_route(request)->path);
    for (size_t i = 0; i < ASKED_NAMES && at < READY_KEY_BYTES; i++) {
        const char *value = http_query(request, asked_names[i]);
        if (value != NULL && has_control(value)) {
            return false;
        }
        if (value != NULL) {
            at +=
                (size_t)snprintf(out + at, READY_KEY_BYTES - at, "\n%c%s", (char)('a' + i), value);
        }
    }
    return at < READY_KEY_BYTES;
}

// Asks again each time, and gets 304 if nothing has changed.
static void put_headers(HttpResponse *response, const char *tag)
{
    response->cache = "no-cache";
    response->tag = tag;
}

static void refuse_without_accounts(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 404, "not_found",
              "this server has no listing; `sandlot up` has one");
}

// Makes the answer, but for its end. False: it was refused. The answer's text is freed by the
// caller, if nobody waits.
typedef bool (*Build)(Serve *serve, const Asked *asked, ListingAnswer *answer);

// Ends an answer and keeps it; its tag, or NULL. The generation is that of before it was read.
static const char *keep_answer(Serve *serve, const char *key, ListingAnswer *answer,
                               HttpResponse *response, uint64_t generation)
{
    char *tag = (char *)answer->text + answer->writer.capacity; // there is room behind it
    if (!listing_answer_end(answer, response)) {
        return NULL;
    }
    ready_tag(answer->text, answer->writer.at, tag);
    if (key != NULL) {
        ready_cache_put(serve->ready, key, generation, clock_ns() / NS_PER_MS, answer->text,
                        answer->writer.at, tag);
    }
    return tag;
}

static void make_answer(Serve *serve, HttpRequest *request, HttpResponse *response, Build build)
{
    char key[READY_KEY_BYTES];
    const uint64_t generation = store_listing_generation(serve->store);
    const Asked asked = {.request = request, .response = response};
    ListingAnswer answer;
    if (build(serve, &asked, &answer)) {
        const char *tag =
            keep_answer(serve, key_of(request, key) ? key : NULL, &answer, response, generation);
        if (tag != NULL) {
            put_headers(response, tag);
        }
    }
}

typedef struct Renewal {
    Serve *serve;
    Build build;
    char key[READY_KEY_BYTES], parts[READY_KEY_BYTES + 2];
} Renewal;

static void renew(void *user, bool is_cancelled)
{
    Renewal *renewal = user;
    Serve *serve = renewal->serve;
    const uint64_t generation = store_listing_generation(serve->store);
    const Asked asked = {.parts = renewal->parts + strlen(renewal->parts) + 1}; // behind the path
    ListingAnswer answer = {.text = NULL};
    if (!is_cancelled && renewal->build(serve, &asked, &answer)) {
        (void)keep_answer(serve, renewal->key, &answer, NULL, generation);
    }
    free(answer.text);
    free(renewal);
}

// If the pool is full, it becomes too old, and the next request waits.
static void renew_soon(Serve *serve, const char *key, Build build)
{
    Renewal *renewal = calloc(1, sizeof *renewal);
    if (renewal == NULL) {
        return;
    }
    renewal->serve = serve;
    renewal->build = build;
    snprintf(renewal->key, sizeof renewal->key, "%s", key);
    for (size_t i = 0; key[i] != '\0'; i++) {
        renewal->parts[i] = key[i] == '\n' ? '\0' : key[i];
    }
    if (work_pool_submit(serve->pool, renew, renewal) != STATUS_OK) {
        free(renewal);
    }
}

// On the HTTP thread: what is ready, or the pool's answer.
static void answer_ready(Serve *serve, HttpRequest *request, HttpResponse *response,
                         HttpHandler work, Build build)
{
    char key[READY_KEY_BYTES];
    ReadyAnswer ready;
    if (serve->ready == NULL) {
        refuse_without_accounts(request, response);
        return;
    }
    if (!key_of(request, key) ||
        !ready_cache_find(serve->ready, key, store_listing_generation(serve->store),
                          clock_ns() / NS_PER_MS, &ready)) {
        http_work(request, response, work);
        return;
    }
    if (ready.is_old) {
        renew_soon(serve, key, build);
    }
    http_keep(request, ready.bytes);
    response->body = ready.bytes;
    response->bytes = ready.count;
    response->body_is_static = true;
    put_headers(response, ready.tag);
}

// --- places -------------------------------------------------------------------------------------

// A creator whom nobody knows has no places.
#define CREATOR_UNKNOWN UINT64_MAX

static uint64_t creator_of(Serve *serve, const char *text)
{
    StoreAccount account;
    uint64_t number = 0;
    if (text == NULL) {
        return 0;
    }
    if (strlen(text) < STORE_NAME_BYTES &&
        store_account_by_name(serve->store, text, &account) == STATUS_OK) {
        // Nobody learns by a pupil's name which places are theirs.
        return control_name_is_closed(serve->control, account.account_id, account.roles)
                   ? CREATOR_UNKNOWN
                   : account.account_id;
    }
    return serve_account_read(text, &number) ? number : CREATOR_UNKNOWN;
}

static bool query_is_good(const Asked *asked, const char *words, const char *tag)
{
    const bool are_words =
        words == NULL || (strlen(words) <= QUERY_BYTES && text_is_valid(words, strlen(words)));
    if (!are_words || (tag != NULL && !store_tag_is_valid(tag))) {
        fail(asked->request, asked->response, 400, "malformed",
             !are_words ? "q is a text of at most 200 bytes"
                        : "a tag has 1 to 24 letters of a-z, 0-9 and -");
        return false;
    }
    return true;
}

// False: the response says what is wrong.
static bool read_query(Serve *serve, const Asked *asked, StoreListQuery *out)
{
    const char *sort = asked_value(asked, "sort");
    out->words = asked_value(asked, "q");
    out->tag = asked_value(asked, "tag");
    out->after = asked_value(asked, "after");
    if (sort != NULL && strcmp(sort, "popular") != 0 && strcmp(sort, "new") != 0) {
        fail(asked->request, asked->response, 400, "malformed", "sort is popular, new or featured");
        return false;
    }
    out->sort = sort != NULL && strcmp(sort, "new") == 0 ? STORE_NEW : STORE_POPULAR;
    out->creator_id = creator_of(serve, asked_value(asked, "creator"));
    return query_is_good(asked, out->words, out->tag);
}

static bool is_featured(const Asked *asked)
{
    const char *sort = asked_value(asked, "sort");
    return sort != NULL && strcmp(sort, "featured") == 0;
}

// The places of a collection, in the operator's order. False: the response says what is wrong.
static bool read_featured(Serve *serve, const Asked *asked, StoreListing *rows, uint32_t limit,
                          uint32_t *count, char next[LISTING_CURSOR_BYTES])
{
    const char *name = asked_value(asked, "collection");
    if (asked_value(asked, "q") != NULL || asked_value(asked, "tag") != NULL ||
        asked_value(asked, "creator") != NULL ||
        (name != NULL && !store_collection_name_is_valid(name))) {
        fail(asked->request, asked->response, 400, "malformed",
             "featured places are those of a collection; q, tag and creator are for the other "
             "orders");
        return false;
    }
    return !listing_refuse(asked->request, asked->response,
                           store_collection(serve->store, name != NULL ? name : "featured",
                                            asked_value(asked, "after"), limit, rows, count, next));
}

static bool read_rows(Serve *serve, const Asked *asked, uint32_t limit, StoreListing *rows,
                      uint32_t *count, char next[LISTING_CURSOR_BYTES])
{
    StoreListQuery query = {.limit = limit};
    if (is_featured(asked)) {
        return read_featured(serve, asked, rows, limit, count, next);
    }
    return read_query(serve, asked, &query) &&
           !listing_refuse(asked->request, asked->response,
                           store_listing(serve->store, &query, rows, count, next));
}

// False: the response says what is wrong.
static bool read_limit(const Asked *asked, uint32_t *limit)
{
    const char *text = asked_value(asked, "limit");
    const size_t bytes = text != NULL ? strlen(text) : 0;
    const bool is_number =
        text == NULL || (bytes > 0 && bytes <= 3 && strspn(text, "0123456789") == bytes);
    *limit = text == NULL ? ROWS_DEFAULT : is_number ? (uint32_t)strtoul(text, NULL, 10) : 0;
    if (*limit == 0 || *limit > LISTING_PAGE_MAX) {
        fail(asked->request, asked->response, 400, "malformed", LIMIT_RULE);
        return false;
    }
    return true;
}

static bool build_places(Serve *serve, const Asked *asked, ListingAnswer *answer)
{
    char next[LISTING_CURSOR_BYTES] = "";
    uint32_t count = 0, limit = 0;
    if (!read_limit(asked, &limit)) {
        return false;
    }
    StoreListing *rows = malloc(limit * sizeof *rows);
    if (rows == NULL) {
        fail(asked->request, asked->response, 503, "busy", "out of memory; try again");
        return false;
    }
    const bool is_read = read_rows(serve, asked, limit, rows, &count, next) &&
                         listing_answer_begin(answer, asked->request, asked->response, count);
    if (is_read) {
        json_write_name(&answer->json, "places");
        json_write_array_begin(&answer->json);
        for (uint32_t i = 0; i < count; i++) {
            listing_write_row(serve, &answer->json, &rows[i]);
        }
        json_write_array_end(&answer->json);
        serve_write_member(&answer->json, "next", next[0] != '\0' ? next : NULL);
    }
    free(rows);
    return is_read;
}

static void make_places(void *user, HttpRequest *request, HttpResponse *response)
{
    make_answer(user, request, response, build_places);
}

void serve_get_places(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_ready(user, request, response, make_places, build_places);
}

// --- tags ---------------------------------------------------------------------------------------

static bool build_tags(Serve *serve, const Asked *asked, ListingAnswer *answer)
{
    StoreTagCount tags[TAGS_SHOWN_MAX];
    uint32_t count = 0;
    if (listing_refuse(asked->request, asked->response,
                       store_tag_counts(serve->store, tags, TAGS_SHOWN_MAX, &count)) ||
        !listing_answer_begin(answer, asked->request, asked->response, count)) {
        return false;
    }
    json_write_name(&answer->json, "tags");
    json_write_array_begin(&answer->json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&answer->json);
        serve_write_member(&answer->json, "tag", tags[i].tag);
        serve_write_number(&answer->json, "places", tags[i].places);
        json_write_object_end(&answer->json);
    }
    json_write_array_end(&answer->json);
    return true;
}

static void make_tags(void *user, HttpRequest *request, HttpResponse *response)
{
    make_answer(user, request, response, build_tags);
}

void serve_get_tags(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_ready(user, request, response, make_tags, build_tags);
}

// --- collections --------------------------------------------------------------------------------

static bool build_collections(Serve *serve, const Asked *asked, ListingAnswer *answer)
{
    StoreCollection rows[COLLECTIONS_MAX];
    uint32_t count = 0;
    if (listing_refuse(asked->request, asked->response,
                       store_collections(serve->store, rows, COLLECTIONS_MAX, &count)) ||
        !listing_answer_begin(answer, asked->request, asked->response, count)) {
        return false;
    }
    json_write_name(&answer->json, "collections");
    json_write_array_begin(&answer->json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&answer->json);
        serve_write_member(&answer->json, "name", rows[i].name);
        serve_write_member(&answer->json, "title", rows[i].title);
        serve_write_number(&answer->json, "places", rows[i].places);
        json_write_object_end(&answer->json);
    }
    json_write_array_end(&answer->json);
    return true;
}

static void make_collections(void *user, HttpRequest *request, HttpResponse *response)
{
    make_answer(user, request, response, build_collections);
}

void serve_get_collections(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_ready(user, request, response, make_collections, build_collections);
}

// The ids of the body. False: the response says what is wrong.
static bool read_places(HttpRequest *request, HttpResponse *response, const JsonNode *body,
                        char (*out)[65], uint32_t *count)
{
    JsonError error = {0};
    *count = 0;
    const JsonNode *item =
        json_read_array(json_read_member(body, "places", &error), 0, COLLECTION_PLACES_MAX, &error);
    for (; item != NULL && error.status == STATUS_OK; item = item->next) {
        const char *id = json_read_text(item, 64, &error);
        if (error.status == STATUS_OK) {
            snprintf(out[(*count)++], 65, "%s", id);
        }
    }
    if (error.status != STATUS_OK) {
        http_fail(request, response, 400, "malformed", "places are up to 100 ids of places");
    }
    return error.status == STATUS_OK;
}

static void refuse_collection(HttpRequest *request, HttpResponse *response, Status status,
                              const char *unknown)
{
    char text[128];
    snprintf(text, sizeof text, "there is no place %s", unknown);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", text);
    } else if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "too_many", "there are 64 collections already");
    } else {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    }
}

void serve_put_collection(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *name = http_path_part(request, 0);
    char title[STORE_TITLE_BYTES] = "";
    uint32_t count = 0, unknown = 0;
    const JsonNode *body = serve_body_object(request, response);
    char(*places)[65] = arena_alloc(http_arena(request), COLLECTION_PLACES_MAX * sizeof *places);
    if (body == NULL || places == NULL) {
        return; // the arena has room for both
    }
    if (serve->control == NULL) {
        refuse_without_accounts(request, response);
        return;
    }
    if (!store_collection_name_is_valid(name)) {
        http_fail(request, response, 400, "malformed",
                  "the name of a collection has 1 to 32 letters of a-z, 0-9 and -");
        return;
    }
    if (!serve_body_text(request, response, body, "title", title, sizeof title) ||
        !read_places(request, response, body, places, &count) ||
        !serve_record(serve, "collection", request, response)) {
        return;
    }
    const Status status = store_collection_put(
        serve->store, name, title, (const char(*)[65])(const void *)places, count, &unknown);
    if (status != STATUS_OK) {
        refuse_collection(request, response, status, count > 0 ? places[unknown] : "");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "name", name);
    serve_write_member(&answer.json, "title", title);
    serve_write_number(&answer.json, "places", count);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}
