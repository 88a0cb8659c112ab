// Worlds over HTTP: rooms, the list of worlds, new ones, who is invited. See docs/HTTP.md.
#pragma once

#include "server/net/http.h"

void serve_get_room(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_worlds(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_worlds(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_guest(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_guest(void *user, HttpRequest *request, HttpResponse *response);

#define SERVE_WORLD_ROUTES                                                                 \
    {"GET",                                                                                \
     "/worlds",                                                                            \
     .handler = serve_get_worlds,                                                          \
     .summary = "The public worlds, and one's own; an operator sees all",                  \
     .takes = "after? limit?:integer mine?",                                               \
     .gives = "worlds:array next?",                                                        \
     .fails = "400 403"},                                                                  \
        {"GET",                                                                            \
         "/api/rooms/*",                                                                   \
         .handler = serve_get_room,                                                        \
         .summary = "A world by its id or room code",                                      \
         .gives = "roomCode worldId placeId placeName name createdAt state ready:boolean " \
                  "players:integer playerMax:integer tickRate:integer sceneHash "          \
                  "sceneBytes:integer isPrivate:boolean",                                  \
         .fails = "404 429"},                                                              \
        {"POST",                                                                           \
         "/api/worlds",                                                                    \
         serve_post_worlds,                                                                \
         .body_max = SERVE_BODY_BYTES,                                                     \
         .access = ACCESS_SIGNED_IN,                                                       \
         .summary = "Makes a world that is one's own",                                     \
         .takes = "place_id? name? private?:boolean",                                      \
         .gives = "world_id room_code place_id name private:boolean created_at",           \
         .fails = "400 401 404 409 429 503"},                                              \
        {"POST",                                                                           \
         "/api/worlds/*/guests",                                                           \
         serve_post_guest,                                                                 \
         .body_max = SERVE_BODY_BYTES,                                                     \
         .access = ACCESS_SIGNED_IN,                                                       \
         .blocks = true,                                                                   \
         .summary = "Invites an account to a private world",                               \
         .takes = "username",                                                              \
         .gives = "world_id username",                                                     \
         .fails = "400 401 403 404 409"},                                                  \
    {                                                                                      \
        "DELETE", "/api/worlds/*/guests/*", serve_delete_guest,                            \
            .names = "world_id username", .access = ACCESS_SIGNED_IN, .blocks = true,      \
            .summary = "Takes an invitation back", .gives = "world_id username",           \
            .fails = "401 403 404"                                                         \
    }
