// Worlds over HTTP: rooms, the list of worlds, new ones, who is invited. See docs/HTTP.md.
#pragma once

#include "core/base/limits.h"
#include "server/net/http.h"
#include "server/serve/http/upload.h"

void serve_get_room(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_worlds(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_worlds(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_guest(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_guest(void *user, HttpRequest *request, HttpResponse *response);

// http_world_file.c: a world as one file.
void serve_get_world(void *user, HttpRequest *request, HttpResponse *response);
void serve_export_world(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_world(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_world(void *user, HttpRequest *request, HttpResponse *response);
// http_scripts.c: what the scripts of a world cost.
void serve_get_scripts(void *user, HttpRequest *request, HttpResponse *response);
struct Serve;
void serve_scripts_step(struct Serve *serve); // on the main thread: answers those who follow
void serve_scripts_stop(struct Serve *serve);
// http_kick.c: owners remove players.
void serve_get_world_rights(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_world_kick(void *user, HttpRequest *request, HttpResponse *response);
// http_profiles.c: the characters of whoever asks.
void serve_get_profiles(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_profiles(void *user, HttpRequest *request, HttpResponse *response);
#define SERVE_PROFILES_BODY_BYTES (16u << 10)

// clang-format off
#define SERVE_WORLD_FILE "version:integer world_id metadata:object chunks:array entities:array"
#define SERVE_WORLD_MADE "world_id room_code place_id name private:boolean created_at"
#define SERVE_WORLD_IMPORT                                                                         \
    serve_post_world, .names = "world_id", .access = ACCESS_SIGNED_IN, .blocks = true,             \
    .body_max = WORLD_FILE_BYTES_MAX, .body_taker = &serve_upload_body,                             \
    .takes = "version?:integer world_id? metadata:object chunks:array entities:array",             \
    .gives = SERVE_WORLD_MADE, .fails = "403 404 409 507",                                         \
    .summary = "Puts a world's file in place of what is stored; 409 while it runs"

#define SERVE_WORLD_ROUTES                                                                         \
    {"GET", "/worlds", .handler = serve_get_worlds, .takes = "after? limit?:integer mine?",        \
     .gives = "worlds:array next? hostsSilent:integer", .fails = "403",                            \
     .summary = "The public worlds, and one's own; an operator sees all"},                         \
    {"GET", "/world/*", .handler = serve_get_world, .names = "world_id", .blocks = true,           \
     .access = ACCESS_SIGNED_IN, .gives = SERVE_WORLD_FILE, .fails = "403 404",                    \
     .summary = "What is stored of a world, for its owner and operators"},                         \
    {"GET", "/world/*/export", .handler = serve_export_world, .names = "world_id", .blocks = true, \
     .access = ACCESS_SIGNED_IN, .gives = SERVE_WORLD_FILE, .fails = "403 404",                    \
     .summary = "The same, as a download"},                                                        \
    {"POST", "/world/*", SERVE_WORLD_IMPORT},                                                      \
    {"POST", "/world/*/import", SERVE_WORLD_IMPORT},                                               \
    {"DELETE", "/world/*", .handler = serve_delete_world, .names = "world_id", .blocks = true,     \
     .access = ACCESS_SIGNED_IN, .gives = "world_id", .fails = "403 404 409",                      \
     .summary = "Deletes a world; 409 while it runs"},                                             \
    {"GET", "/api/rooms/*", .handler = serve_get_room, .names = "code", .fails = "404 429",        \
     .gives = "roomCode worldId placeId placeName name createdAt state ready:boolean "             \
              "players:integer playerMax:integer tickRate:integer sceneHash sceneBytes:integer "   \
              "isPrivate:boolean isReported:boolean",                                              \
     .summary = "A world by its id or room code"},                                                 \
    {"GET", "/api/worlds/*/scripts", .handler = serve_get_scripts, .names = "world_id",            \
     .takes = "follow?:integer after?:integer", .fails = "404 429 503",                            \
     .gives = "version:integer epoch:integer reported:boolean tick:integer scriptCount:integer "   \
              "scripts:array entities:array remotes:array faults:array lines:array clients:object", \
     .summary = "What the scripts of a world cost, for the owner and editors of its place"},       \
    {"GET", "/api/account/profiles", .handler = serve_get_profiles, .blocks = true,                \
     .access = ACCESS_SIGNED_IN, .gives = "active profiles:array",                                 \
     .summary = "One's characters, which all worlds share"},                                       \
    {"PUT", "/api/account/profiles", serve_put_profiles, .blocks = true,                           \
     .body_max = SERVE_PROFILES_BODY_BYTES, .access = ACCESS_SIGNED_IN,                            \
     .takes = "active profiles:array", .gives = "active profiles:array",                           \
     .summary = "Puts these in place of one's characters"},                                        \
    {"POST", "/api/worlds", serve_post_worlds, .body_max = SERVE_BODY_BYTES,                       \
     .access = ACCESS_SIGNED_IN, .takes = "place_id? name? private?:boolean",                      \
     .gives = "201 " SERVE_WORLD_MADE, .fails = "404 409 429",                                     \
     .summary = "Makes a world of one's own"},                                                     \
    {"POST", "/api/worlds/*/guests", serve_post_guest, .names = "world_id", .blocks = true,        \
     .body_max = SERVE_BODY_BYTES, .access = ACCESS_SIGNED_IN, .takes = "username",                \
     .gives = "world_id username room_code", .fails = "403 404 409",                               \
     .summary = "Invites an account to a private world"},                                          \
    {"DELETE", "/api/worlds/*/guests/*", serve_delete_guest, .names = "world_id username",         \
     .blocks = true, .access = ACCESS_SIGNED_IN, .gives = "world_id username room_code",           \
     .fails = "403 404", .summary = "Takes an invitation back; the world's private code changes"}, \
    {"GET", "/api/worlds/*/rights", .handler = serve_get_world_rights, .names = "world_id",        \
     .blocks = true, .access = ACCESS_SIGNED_IN,                                                   \
     .gives = "world_id kick:boolean scripts:boolean", .fails = "404",                             \
     .summary = "What one may do in a world: remove players, see what its scripts cost"},          \
    {"POST", "/api/worlds/*/kick", serve_post_world_kick, .names = "world_id", .blocks = true,     \
     .body_max = SERVE_BODY_BYTES, .access = ACCESS_SIGNED_IN, .takes = "player reason?",          \
     .gives = "world_id player reason", .fails = "403 404 409 429",                                \
     .summary = "Removes a player from a world; for its owner, the place's owner and operators"}
// clang-format on
