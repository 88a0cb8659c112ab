// The listing over HTTP: places in order and by search, tags, collections, the worlds of a place
// with room, how much it is played; what people say of it. See docs/HTTP.md and docs/LISTING.md.
#pragma once

#include "core/base/limits.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/listing/listing_feed.h"
#include "server/store/place/store_listing.h"

// --- for the files of places --------------------------------------------------------------------
// The members of a place's page that say how much it is played: players, visits, unique_players,
// seconds_played, peak_players, votes_up, votes_down, favourites, cost, tags, published_at. Reads
// the store; without a row everything is 0.
#define SERVE_LISTING_COUNTS                                                                \
    "players:integer visits:integer unique_players:integer seconds_played:integer "         \
    "peak_players:integer votes_up:integer votes_down:integer favourites:integer cost:any " \
    "tags:array published_at:any"
// Gives a hash of what it wrote.
uint64_t listing_write_counts(Serve *serve, JsonWriter *json, const char *place_id);

MUST_USE Status serve_listing_open(Serve *serve);
void serve_listing_step(Serve *serve);  // on the main thread
void serve_listing_close(Serve *serve); // after the pool, before the store
void serve_listing_entered(void *user, const HostWorld *world, const Ticket *who); // HostOutside
void serve_listing_left(void *user, const HostWorld *world, uint64_t account);

// --- for the files of the listing ---------------------------------------------------------------
// A page of rows in memory of its own.
typedef struct ListingAnswer {
    HttpRequest *request;
    uint8_t *text;
    ByteWriter writer;
    JsonWriter json;
} ListingAnswer;
// With room for so many rows. False: there is no memory, and the response says so.
bool listing_answer_begin(ListingAnswer *answer, HttpRequest *request, HttpResponse *response,
                          uint32_t rows);
// False: it does not fit, and the response says so.
bool listing_answer_end(ListingAnswer *answer, HttpResponse *response);
void listing_write_row(Serve *serve, JsonWriter *json, const StoreListing *row);
// limit= of the query; false: the response says what is wrong.
bool listing_read_limit(HttpRequest *request, HttpResponse *response, uint32_t *limit);
bool listing_refuse(HttpRequest *request, HttpResponse *response, Status status); // true: not OK

// --- handlers -----------------------------------------------------------------------------------
void serve_get_places(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_tags(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_collections(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_collection(void *user, HttpRequest *request, HttpResponse *response);
// http_place_play.c
void serve_get_place_worlds(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_place_stats(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_tags(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_opinion(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_vote(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_favourite(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_favourite(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_favourites(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_recent(void *user, HttpRequest *request, HttpResponse *response);

// clang-format off
#define SERVE_OPINION "place_id vote:integer favourite:boolean played:boolean"
#define SERVE_LISTING_ROUTES                                                                      \
    {"GET", "/api/places", .handler = serve_get_places,                                           \
     .takes = "sort? q? tag? creator? collection? limit?:integer after?",                         \
     .gives = "places:array next:any",                                                            \
     .summary = "Places that everybody may find: popular, new or featured, or by words"},         \
    {"GET", "/api/tags", .handler = serve_get_tags, .gives = "tags:array",                        \
     .summary = "The tags of listed places, the most used first"},                                \
    {"GET", "/api/collections", .handler = serve_get_collections, .gives = "collections:array",   \
     .summary = "The operator's collections; their places are at /api/places?sort=featured"},     \
    {"PUT", "/admin/collections/*", serve_put_collection, .blocks = true, .names = "name",        \
     .body_max = SERVE_LISTING_BODY_BYTES, .access = ACCESS_MACHINE,                              \
     .takes = "places:array title?", .gives = "name title places:integer", .fails = "404 409",    \
     .summary = "Puts places, in that order, into a collection; none: it is gone"},               \
    {"GET", "/api/places/*/worlds", .handler = serve_get_place_worlds, .blocks = true,            \
     .names = "place_id", .takes = "limit?:integer after? channel?", .gives = "worlds:array next:any",     \
     .fails = "403 404", .summary = "Public worlds of the place that run and have room"},         \
    {"GET", "/api/places/*/stats", .handler = serve_get_place_stats, .blocks = true,              \
     .names = "place_id", .access = ACCESS_ACCOUNT, .takes = "days?:integer",                     \
     .gives = "place_id " SERVE_LISTING_COUNTS " days:array", .fails = "403 404",                 \
     .summary = "How much it is played, by day, for those who work on it and operators"},         \
    {"PUT", "/api/places/*/tags", serve_put_tags, .blocks = true, .names = "place_id",            \
     .body_max = SERVE_BODY_BYTES, .access = ACCESS_ACCOUNT, .takes = "tags:array",               \
     .gives = "place_id tags:array", .fails = "403 404",                                          \
     .summary = "Puts these tags in place of those that it has"},                                 \
    {"GET", "/api/places/*/vote", .handler = serve_get_opinion, .blocks = true,                   \
     .names = "place_id", .access = ACCESS_SIGNED_IN, .gives = SERVE_OPINION, .fails = "404",     \
     .summary = "One's vote, whether it is a favourite, and whether one has played it"},          \
    {"PUT", "/api/places/*/vote", serve_put_vote, .blocks = true, .names = "place_id",            \
     .body_max = SERVE_BODY_BYTES, .access = ACCESS_ACCOUNT, .takes = "vote:integer",             \
     .gives = SERVE_OPINION, .fails = "403 404",                                                  \
     .summary = "1: for it, -1: against it, 0: neither; by an account that has played it"},                   \
    {"PUT", "/api/places/*/favourite", serve_put_favourite, .blocks = true, .names = "place_id",  \
     .access = ACCESS_ACCOUNT, .gives = SERVE_OPINION, .fails = "404 409",                        \
     .summary = "Makes it one of one's favourites"},                                              \
    {"DELETE", "/api/places/*/favourite", serve_delete_favourite, .blocks = true,                 \
     .names = "place_id", .access = ACCESS_ACCOUNT, .gives = SERVE_OPINION, .fails = "404",       \
     .summary = "Takes that back"},                                                               \
    {"GET", "/api/me/favourites", .handler = serve_get_favourites, .blocks = true,                \
     .access = ACCESS_ACCOUNT, .takes = "limit?:integer after?", .gives = "places:array next:any",\
     .summary = "One's favourites, the newest first"},                                            \
    {"GET", "/api/me/recent", .handler = serve_get_recent, .blocks = true,                        \
     .access = ACCESS_SIGNED_IN, .takes = "limit?:integer after?",                                \
     .gives = "places:array next:any", .summary = "What one has played, the last first"}
// clang-format on
#define SERVE_LISTING_BODY_BYTES (16u << 10)
