// Places over HTTP: uploads, revisions, channels, teams, pages. Who may do what is decided by
// server/control/order/rights.h alone; who may not see a place gets 404 from every route about it.
// See docs/HTTP.md.
#pragma once

#include "core/base/limits.h"
#include "server/build/package/package.h"
#include "server/control/order/rights.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/listing/http_listing.h"

// --- for the files of places --------------------------------------------------------------------

typedef struct PlaceAsk {
    StorePackage package;
    uint32_t rights;
} PlaceAsk;
// The place that the path names, of which whoever asks may do all that (a set of Right). False: the
// response says why not. Waits for the disk.
bool place_enter(Serve *serve, HttpRequest *request, HttpResponse *response, uint32_t needs,
                 PlaceAsk *out);
// Also the revision that the path names behind it.
bool place_enter_revision(Serve *serve, HttpRequest *request, HttpResponse *response,
                          uint32_t needs, PlaceAsk *out, StoreRevision *revision);
// An answer of any length.
void place_write_revision_id(JsonWriter *json, const char *name, uint32_t revision); // 0: null
void place_refuse_store(HttpRequest *request, HttpResponse *response, Status status);
// Also of a revision that is one too many.
void place_refuse_revision(HttpRequest *request, HttpResponse *response, Status status);
// It is stored and will be built (202).
void place_answer_begun(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const StorePackage *package, const StoreRevision *revision);
// How much is used and allowed (413).
void place_refuse_quota(Serve *serve, uint64_t account, uint64_t wanted, HttpRequest *request,
                        HttpResponse *response);
// Writes the row if nobody was quicker. False: the response says what is wrong.
bool place_change(Serve *serve, HttpRequest *request, HttpResponse *response,
                  StorePackage *package);
// As `who` may know them (pupil_name.h).
void place_write_creator(Serve *serve, JsonWriter *json, uint64_t owner, const Identity *who);
// By name, or as the API writes accounts. False: the response says that there is none.
bool place_find_account(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const char *text, StoreAccount *out);
// Would it be listed if an operator approved it?
bool place_waits(const Serve *serve, const StorePackage *package);
// "place_<words of the title>-<6 letters>"; of a title without words, the letters alone.
void place_make_id(const char *title, char out[65]);
// 1 to 128 bytes of text in one line. False: the response says so.
bool place_check_title(HttpRequest *request, HttpResponse *response, const char *title);
// False: If-Match names another version, and the response says so.
bool place_matches(HttpRequest *request, HttpResponse *response, const StorePackage *package);
// What a PATCH changes. False: the response says what is wrong.
bool place_read_patch(const Serve *serve, HttpRequest *request, HttpResponse *response,
                      StorePackage *package);
// A blob as a download. False: the response says why not.
bool place_put_blob(Serve *serve, HttpRequest *request, HttpResponse *response,
                    const uint8_t hash[SHA256_BYTES]);
const char *place_visibility_name(StoreVisibility visibility);
bool place_visibility_read(const char *text, StoreVisibility *out);
// The whole page; gives a hash of what changes without another version of the row.
uint64_t place_write(Serve *serve, const PlaceAsk *ask, const Identity *who, JsonWriter *json);

// --- handlers -----------------------------------------------------------------------------------

// http_place_upload.c
void serve_post_place(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_revision(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_fork(void *user, HttpRequest *request, HttpResponse *response);
extern const HttpBody serve_package_body;
// http_place.c
void serve_get_place(void *user, HttpRequest *request, HttpResponse *response);
void serve_patch_place(void *user, HttpRequest *request, HttpResponse *response);
void serve_restore_place(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_my_places(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_quota(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_channel(void *user, HttpRequest *request, HttpResponse *response);
// http_place_team.c
void serve_get_team(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_team(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_team(void *user, HttpRequest *request, HttpResponse *response);
// http_place_offer.c
void serve_post_give(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_give(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_accept(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_decline(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_offers(void *user, HttpRequest *request, HttpResponse *response);
// http_place_remove.c
void serve_delete_place(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_revision(void *user, HttpRequest *request, HttpResponse *response);
// http_place_file.c
void serve_get_revisions(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_revision(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_manifest(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_files(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_file(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_package(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_picture(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_picture(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_picture(void *user, HttpRequest *request, HttpResponse *response);

#define SERVE_PLACE_BODY_BYTES (64u << 10)

// clang-format off
#define SERVE_PLACE_PAGE                                                                          \
    "place_id title description creator:any visibility open:boolean revisions:integer live:any "  \
    "beta:any forked_from:any created_at updated_at updated_s:integer trashed_at:any "            \
    "waits_for_approval:boolean removed:boolean moderation?:any pictures:array rights:array team?:array version:integer "                    \
    "spell_updates:array player_max:any draft?:boolean own_thumbnail?:boolean reloads?:array "                                                                       \
    SERVE_LISTING_COUNTS
#define SERVE_REVISION                                                                            \
    "revision_id state notes maker:any created_at bytes:integer sha256:any job_id:any reason:any "\
    "live:boolean beta:boolean was_live:boolean"
#define SERVE_PERSON "account:integer username role"

#define SERVE_PLACE_ROUTES                                                                        \
    {"POST", "/api/places", serve_post_place, .blocks = true, .access = ACCESS_CREATOR,           \
     .body_max = PACKAGE_BYTES_MAX, .body_taker = &serve_package_body,                            \
     .takes = "application/octet-stream", .query = "notes title? visibility? channel?",           \
     .gives = "202 place_id revision_id job_id waits_for_approval:boolean", .fails = "409 429 507",                          \
     .summary = "Makes a place from a .game file, and starts its build"},                         \
    {"GET", "/api/me/places", .handler = serve_get_my_places, .blocks = true,                     \
     .access = ACCESS_ACCOUNT, .takes = "after? limit?:integer", .gives = "places:array next:any",\
     .summary = "The places that one owns or works on, also those in the trash"},                 \
    {"GET", "/api/me/quota", .handler = serve_get_quota, .blocks = true,                          \
     .access = ACCESS_ACCOUNT,                                                                    \
     .gives = "bytes_used:integer bytes_max:integer places_max:integer places:array",             \
     .summary = "What one stores and may store, and what each place keeps in its DataStores"},    \
    {"GET", "/api/places/*", .handler = serve_get_place, .blocks = true, .names = "place_id",     \
     .gives = SERVE_PLACE_PAGE, .fails = "404", .summary = "A place, for its page"},              \
    {"PATCH", "/api/places/*", serve_patch_place, .blocks = true, .names = "place_id",            \
     .body_max = SERVE_PLACE_BODY_BYTES, .access = ACCESS_ACCOUNT,                                \
     .takes = "title? description? visibility? open?:boolean", .gives = SERVE_PLACE_PAGE,         \
     .fails = "404 409 412",                                                                          \
     .summary = "Changes the page of a place; with If-Match only if nobody else did"},            \
    {"DELETE", "/api/places/*", .handler = serve_delete_place, .blocks = true,                    \
     .names = "place_id", .access = ACCESS_ACCOUNT, .query = "purge?",                            \
     .gives = "place_id trashed_at purged:boolean", .fails = "404 409 412",                       \
     .summary = "Puts a place into the trash, from which it can be restored; purge=1 deletes what is there for good"}, \
    {"POST", "/api/places/*/restore", .handler = serve_restore_place, .blocks = true,             \
     .names = "place_id", .access = ACCESS_ACCOUNT, .gives = SERVE_PLACE_PAGE,                    \
     .fails = "404 409 412", .summary = "Takes a place out of the trash"},                            \
    {"POST", "/api/places/*/revisions", serve_post_revision, .blocks = true, .names = "place_id", \
     .access = ACCESS_CREATOR, .body_max = PACKAGE_BYTES_MAX, .body_taker = &serve_package_body,  \
     .takes = "application/octet-stream", .query = "notes channel?",                              \
     .gives = "202 place_id revision_id job_id waits_for_approval:boolean", .fails = "404 409 429 507",                          \
     .summary = "Makes a revision from a .game file, and starts its build"},                      \
    {"GET", "/api/places/*/revisions", .handler = serve_get_revisions, .blocks = true,            \
     .names = "place_id", .takes = "limit?:integer after? live?",                                 \
     .gives = "revisions:array next:any", .fails = "404",                                         \
     .summary = "Its revisions, newest first; with live=1, and for those who may not read it, only those that are or were live"},\
    {"GET", "/api/places/*/revisions/*", .handler = serve_get_revision, .blocks = true,           \
     .names = "place_id revision_id", .gives = SERVE_REVISION, .fails = "404",                    \
     .summary = "One revision"},                                                                  \
    {"DELETE", "/api/places/*/revisions/*", .handler = serve_delete_revision, .blocks = true,     \
     .names = "place_id revision_id", .access = ACCESS_ACCOUNT, .gives = "place_id revision_id",  \
     .fails = "404 409",                                                                          \
     .summary = "Deletes a revision that no channel names and no world runs with, for good"},     \
    {"GET", "/api/places/*/revisions/*/manifest", .handler = serve_get_manifest, .blocks = true,  \
     .names = "place_id revision_id", .gives = "application/json", .fails = "404",                \
     .summary = "Its manifest: complete for those who may read it, else the players' part of the live one"},\
    {"GET", "/api/places/*/revisions/*/files", .handler = serve_get_files, .blocks = true,        \
     .names = "place_id revision_id", .gives = "files:array", .fails = "403 404",\
     .summary = "The files of its package, for those who may read it"},                                 \
    {"GET", "/api/places/*/revisions/*/files/**", .handler = serve_get_file, .blocks = true,      \
     .names = "place_id revision_id path", .gives = "application/octet-stream",  \
     .fails = "403 404 416", .summary = "One file of its package, as a download"},                \
    {"GET", "/api/places/*/package", .handler = serve_get_package, .blocks = true,                \
     .names = "place_id", .takes = "revision?", .gives = "application/octet-stream",              \
     .fails = "403 404 416", .summary = "The .game file of a revision; without one, the newest ready one"},\
    {"POST", "/api/places/*/channels/*", serve_post_channel, .blocks = true,                      \
     .names = "place_id channel", .body_max = SERVE_BODY_BYTES, .access = ACCESS_ACCOUNT,         \
     .takes = "revision_id:any", .gives = "place_id channel revision_id:any before:any waits_for_approval:boolean",          \
     .fails = "404 409",                                                                          \
     .summary = "Lets live or beta name this revision, also an older one; null: none"},           \
    {"POST", "/api/places/*/fork", serve_post_fork, .blocks = true, .names = "place_id",          \
     .body_max = SERVE_BODY_BYTES, .access = ACCESS_CREATOR, .takes = "title? revision_id?",      \
     .gives = "202 place_id revision_id job_id waits_for_approval:boolean", .fails = "404 409 429",                          \
     .summary = "Makes a place of one's own from a revision of one that one may read"},           \
    {"GET", "/api/places/*/team", .handler = serve_get_team, .blocks = true, .names = "place_id", \
     .access = ACCESS_ACCOUNT, .gives = "owner:any team:array offered_to:any", .fails = "404 409", \
     .summary = "Who works on it, for those who do"},                                             \
    {"PUT", "/api/places/*/team/*", serve_put_team, .blocks = true, .names = "place_id account",  \
     .body_max = SERVE_BODY_BYTES, .access = ACCESS_ACCOUNT, .takes = "role",                     \
     .gives = SERVE_PERSON, .fails = "404 409",                                                   \
     .summary = "Makes somebody, by name or number, an editor, a tester, or keeps them out"},     \
    {"DELETE", "/api/places/*/team/*", .handler = serve_delete_team, .blocks = true,              \
     .names = "place_id account", .access = ACCESS_ACCOUNT, .gives = SERVE_PERSON,                \
     .fails = "404", .summary = "Takes that back; everybody may leave a team themselves"},        \
    {"POST", "/api/places/*/give", serve_post_give, .blocks = true, .names = "place_id",          \
     .body_max = SERVE_BODY_BYTES, .access = ACCESS_ACCOUNT, .takes = "account",                  \
     .gives = "place_id account:integer given:boolean", .fails = "404 409",                       \
     .summary = "Offers a place to somebody, who accepts it; an operator gives it at once"},      \
    {"DELETE", "/api/places/*/give", .handler = serve_delete_give, .blocks = true,                \
     .names = "place_id", .access = ACCESS_ACCOUNT, .gives = "place_id account:integer",          \
     .fails = "404", .summary = "Takes an offer back"},                                           \
    {"POST", "/api/places/*/accept", .handler = serve_post_accept, .blocks = true,                \
     .names = "place_id", .access = ACCESS_ACCOUNT, .gives = "place_id account:integer",          \
     .fails = "404 409", .summary = "Accepts a place that was offered"},                          \
    {"POST", "/api/places/*/decline", .handler = serve_post_decline, .blocks = true,              \
     .names = "place_id", .access = ACCESS_ACCOUNT, .gives = "place_id account:integer",          \
     .fails = "404", .summary = "Declines a place that was offered"},                             \
    {"GET", "/api/me/offers", .handler = serve_get_offers, .blocks = true,                        \
     .access = ACCESS_ACCOUNT, .takes = "after? limit?:integer", .gives = "offers:array next:any",\
     .summary = "Places that others want to give you, until they expire"},                        \
    {"GET", "/api/places/*/pictures/*", .handler = serve_get_picture, .blocks = true,             \
     .names = "place_id number", .gives = "application/octet-stream", .fails = "404 416",         \
     .summary = "A picture of the place; 0 is the thumbnail, drawn if it has none"},              \
    {"PUT", "/api/places/*/pictures/*", serve_put_picture, .blocks = true,                        \
     .names = "place_id number", .body_max = PICTURE_BYTES_MAX, .access = ACCESS_ACCOUNT,         \
     .takes = "application/octet-stream", .gives = "place_id number:integer sha256",              \
     .fails = "404 409 507", .summary = "Puts a thumbnail (0) or a screenshot, PNG or JPEG, on it"},      \
    {"DELETE", "/api/places/*/pictures/*", .handler = serve_delete_picture, .blocks = true,       \
     .names = "place_id number", .access = ACCESS_ACCOUNT, .gives = "place_id number:integer",    \
     .fails = "404 409", .summary = "Takes a thumbnail of its own, or a screenshot, off the page"}
// clang-format on
