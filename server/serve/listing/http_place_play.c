// One place in the listing: its worlds with room, how much it is played, its tags, and what people
// say of it. All of this waits for the disk, and runs on the pool.
#define _GNU_SOURCE
#include "server/serve/http/body.h"
#include "server/serve/http/time_text.h"
#include "server/serve/listing/http_listing.h"
#include "server/serve/order/http_order.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_place.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define DAYS_DEFAULT 30
#define DAYS_MAX     366

// --- worlds with room ---------------------------------------------------------------------------

static void write_world(JsonWriter *json, const LiveWorld *world)
{
    json_write_object_begin(json);
    serve_write_member(json, "room_code", world->room_code);
    serve_write_member(json, "world_id", world->world_id);
    serve_write_member(json, "name", world->name);
    serve_write_number(json, "players", world->players);
    serve_write_number(json, "player_max", world->player_max);
    serve_write_time(json, "created_at", world->created_unix_ms);
    serve_write_number(json, "up_s", world->up_s);
    json_write_object_end(json);
}

// Which worlds are asked for, and the right that one needs to see them. False: there is no such
// channel.
static bool read_channel(const HttpRequest *request, const char **ending, uint32_t *right)
{
    const char *channel = http_query(request, "channel");
    const bool is_beta = channel != NULL && strcmp(channel, "beta") == 0;
    const bool is_draft = channel != NULL && strcmp(channel, "draft") == 0;
    *ending = is_beta ? PLACE_BETA_ENDING : is_draft ? PLACE_DRAFT_ENDING : "";
    *right = is_beta || is_draft ? RIGHT_TEST : RIGHT_PLAY;
    return channel == NULL || is_beta || is_draft || strcmp(channel, "live") == 0;
}

void serve_get_place_worlds(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *after = http_query(request, "after");
    PlaceAsk ask;
    ListingAnswer answer;
    uint32_t limit = 0, right = 0;
    const char *ending = "";
    char place_id[PLACE_KEY_BYTES + sizeof PLACE_DRAFT_ENDING];
    LiveWorld *worlds = malloc((LISTING_PAGE_MAX + 1) * sizeof *worlds);
    http_keep(request, worlds);
    if (!read_channel(request, &ending, &right)) {
        http_fail(request, response, 400, "malformed", "channel is live, beta or draft");
        return;
    }
    if (!place_enter(serve, request, response, right, &ask) ||
        !listing_read_limit(request, response, &limit)) {
        return;
    }
    if (worlds == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    snprintf(place_id, sizeof place_id, "%s%s", ask.package.package_id, ending);
    const uint32_t count =
        listing_feed_worlds(serve->feed, place_id, after != NULL ? after : "", worlds, limit + 1);
    if (!listing_answer_begin(&answer, request, response, count)) {
        return;
    }
    json_write_name(&answer.json, "worlds");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count && i < limit; i++) {
        write_world(&answer.json, &worlds[i]);
    }
    json_write_array_end(&answer.json);
    serve_write_member(&answer.json, "next", count > limit ? worlds[limit - 1].room_code : NULL);
    (void)listing_answer_end(&answer, response);
}

// --- statistics ---------------------------------------------------------------------------------

static void write_day(JsonWriter *json, const StoreDay *day)
{
    char text[TIME_TEXT_BYTES];
    time_text(day->day * LISTING_DAY_MS, text);
    text[sizeof "2026-11-16" - 1] = '\0';
    json_write_object_begin(json);
    serve_write_member(json, "day", text);
    serve_write_number(json, "visits", day->visits);
    serve_write_number(json, "unique_players", day->players);
    serve_write_number(json, "returned", day->returned);
    serve_write_number(json, "seconds_played", day->seconds);
    serve_write_number(json, "peak_players", day->peak);
    json_write_object_end(json);
}

// Every day from the first to today, also those on which nobody came.
static void write_days(JsonWriter *json, const StoreDay *days, uint32_t count, uint64_t first,
                       uint64_t today)
{
    uint32_t at = 0;
    json_write_name(json, "days");
    json_write_array_begin(json);
    for (uint64_t number = first; number <= today; number++) {
        const StoreDay nothing = {.day = number};
        while (at < count && days[at].day < number) {
            at += 1;
        }
        const bool is_there = at < count && days[at].day == number;
        write_day(json, is_there ? &days[at] : &nothing);
    }
    json_write_array_end(json);
}

void serve_get_place_stats(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const uint64_t today = clock_unix_ms() / LISTING_DAY_MS;
    uint64_t wanted = DAYS_DEFAULT;
    uint32_t count = 0;
    PlaceAsk ask;
    ListingAnswer answer;
    StoreDay *days = malloc(DAYS_MAX * sizeof *days);
    http_keep(request, days);
    if (!place_enter(serve, request, response, RIGHT_EDIT, &ask)) {
        return;
    }
    if (!serve_query_number(request, "days", DAYS_MAX, &wanted) || wanted == 0) {
        http_fail(request, response, 400, "malformed", "days is a number from 1 to 366");
        return;
    }
    const Status status = days != NULL ? store_days(serve->store, ask.package.package_id,
                                                    today - wanted, days, (uint32_t)wanted, &count)
                                       : STATUS_LIMIT;
    if (listing_refuse(request, response, status) ||
        !listing_answer_begin(&answer, request, response, (uint32_t)wanted)) {
        return;
    }
    serve_write_member(&answer.json, "place_id", ask.package.package_id);
    (void)listing_write_counts(serve, &answer.json, ask.package.package_id);
    write_days(&answer.json, days, count, today - wanted + 1, today);
    (void)listing_answer_end(&answer, response);
}

// --- tags ---------------------------------------------------------------------------------------

// False: the response says what is wrong.
static bool read_tags(HttpRequest *request, HttpResponse *response, const JsonNode *body,
                      const char *tags[TAGS_PER_PLACE_MAX], uint32_t *count)
{
    JsonError error = {0};
    bool is_good = true;
    *count = 0;
    const JsonNode *item =
        json_read_array(json_read_member(body, "tags", &error), 0, TAGS_PER_PLACE_MAX, &error);
    for (; item != NULL && error.status == STATUS_OK && is_good; item = item->next) {
        const char *tag = json_read_text(item, TAG_LETTERS_MAX, &error);
        is_good = error.status == STATUS_OK && store_tag_is_valid(tag);
        tags[*count] = tag;
        *count += is_good;
    }
    if (error.status != STATUS_OK || !is_good) {
        http_fail(request, response, 400, "malformed",
                  "tags are up to 8 texts of 1 to 24 letters of a-z, 0-9 and -");
    }
    return error.status == STATUS_OK && is_good;
}

static bool refuse_tags(HttpRequest *request, HttpResponse *response, const char *const *tags,
                        uint32_t count)
{
    bool is_refused = false;
    for (uint32_t i = 0; i < count && !is_refused; i++) {
        is_refused = serve_refuse_words(http_user(request), request, response, "a tag", tags[i]);
    }
    return is_refused;
}

void serve_put_tags(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *tags[TAGS_PER_PLACE_MAX];
    uint32_t count = 0;
    PlaceAsk ask;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        !read_tags(request, response, body, tags, &count) ||
        refuse_tags(request, response, tags, count) ||
        listing_refuse(request, response,
                       store_tags_put(serve->store, ask.package.package_id, tags, count))) {
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", ask.package.package_id);
    json_write_name(&answer.json, "tags");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_text(&answer.json, tags[i]);
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- votes and favourites -----------------------------------------------------------------------

static void answer_opinion(Serve *serve, HttpRequest *request, HttpResponse *response,
                           const char *place_id)
{
    StoreOpinion opinion;
    if (listing_refuse(
            request, response,
            store_opinion(serve->store, place_id, serve_who(request)->account, &opinion))) {
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", place_id);
    json_write_name(&answer.json, "vote");
    json_write_integer(&answer.json, opinion.vote);
    json_write_name(&answer.json, "favourite");
    json_write_bool(&answer.json, opinion.is_favourite);
    json_write_name(&answer.json, "played");
    json_write_bool(&answer.json, opinion.has_played);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_get_opinion(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    if (place_enter(user, request, response, RIGHT_SEE, &ask)) {
        answer_opinion(user, request, response, ask.package.package_id);
    }
}

void serve_put_vote(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    JsonError error = {0};
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !place_enter(serve, request, response, RIGHT_PLAY, &ask)) {
        return;
    }
    const int vote = (int)json_read_integer(json_read_member(body, "vote", &error), -1, 1, &error);
    if (error.status != STATUS_OK) {
        http_fail(request, response, 400, "malformed", "vote is 1, -1 or 0");
        return;
    }
    const Status status =
        store_vote_put(serve->store, ask.package.package_id, serve_who(request)->account, vote,
                       serve->config.vote_seconds);
    if (status == STATUS_DENIED) {
        char text[128];
        snprintf(
            text, sizeof text,
            "only who has played it for %u seconds in all may vote; time counts when you leave",
            serve->config.vote_seconds);
        http_fail(request, response, 403, "not_played", text);
    } else if (!listing_refuse(request, response, status)) {
        answer_opinion(serve, request, response, ask.package.package_id);
    }
}

static void change_favourite(Serve *serve, HttpRequest *request, HttpResponse *response,
                             bool is_favourite)
{
    PlaceAsk ask;
    if (!place_enter(serve, request, response, RIGHT_SEE, &ask)) {
        return;
    }
    const Status status = store_favourite_put(serve->store, ask.package.package_id,
                                              serve_who(request)->account, is_favourite);
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "too_many",
                  "you have 1,000 favourites; take one back first");
    } else if (!listing_refuse(request, response, status)) {
        answer_opinion(serve, request, response, ask.package.package_id);
    }
}

void serve_put_favourite(void *user, HttpRequest *request, HttpResponse *response)
{
    change_favourite(user, request, response, true);
}

void serve_delete_favourite(void *user, HttpRequest *request, HttpResponse *response)
{
    change_favourite(user, request, response, false);
}

// --- lists of one person ------------------------------------------------------------------------

typedef Status (*ReadList)(Store *store, uint64_t account, const char *after, uint32_t limit,
                           StoreListing *out, uint32_t *count, char next[LISTING_CURSOR_BYTES]);

// What is not in the listing is shown to who may see it: somebody's own place, or one by its
// address.
static bool may_see(Serve *serve, const HttpRequest *request, const StoreListing *row)
{
    StorePackage package;
    uint32_t rights = 0;
    return row->is_shown || rights_find(serve->store, row->package_id, serve_who(request), &package,
                                        &rights) == STATUS_OK;
}

static void answer_list(Serve *serve, HttpRequest *request, HttpResponse *response, ReadList read)
{
    StoreListing *rows = malloc(LISTING_PAGE_MAX * sizeof *rows);
    char next[LISTING_CURSOR_BYTES] = "";
    uint32_t count = 0, limit = 0;
    ListingAnswer answer;
    http_keep(request, rows);
    if (rows == NULL || serve->control == NULL) {
        http_fail(request, response, 503, "busy", "out of memory, or without accounts");
        return;
    }
    if (!listing_read_limit(request, response, &limit) ||
        listing_refuse(request, response,
                       read(serve->store, serve_who(request)->account, http_query(request, "after"),
                            limit, rows, &count, next)) ||
        !listing_answer_begin(&answer, request, response, count)) {
        return;
    }
    json_write_name(&answer.json, "places");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        if (may_see(serve, request, &rows[i])) {
            listing_write_row(serve, &answer.json, &rows[i]);
        }
    }
    json_write_array_end(&answer.json);
    serve_write_member(&answer.json, "next", next[0] != '\0' ? next : NULL);
    (void)listing_answer_end(&answer, response);
}

void serve_get_favourites(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_list(user, request, response, store_favourites);
}

void serve_get_recent(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_list(user, request, response, store_recent);
}
