// Editing a draft over HTTP: tickets, the socket, contents of files, what was done. See
// docs/HTTP.md; what is said on the socket is in docs/decisions/0111.
#pragma once

#include "core/base/limits.h"
#include "server/serve/http/upload.h"

#define EDIT_PROTOCOL "sandlot.edit.v1"

void serve_post_edit(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_edit(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_edit_blob(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_edit_blob(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_edit_ops(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_schema(void *user, HttpRequest *request, HttpResponse *response); // http_schema.c

// clang-format off
#define SERVE_EDIT_ROUTES                                                                         \
    {"POST", "/api/places/*/edit", .handler = serve_post_edit, .names = "place_id",               \
     .access = ACCESS_SIGNED_IN, .blocks = true, .gives = "ticket address can_write:boolean",     \
     .fails = "403 404 409 503",                                                                  \
     .summary = "Opens the draft for editing; a ticket for its socket, once, within 30 s"},       \
    {"GET", "/api/places/*/edit", .handler = serve_get_edit, .names = "place_id", .gives = "101", \
     .takes = "ticket?", .fails = "400 403 404 426 429",                                          \
     .summary = "The WebSocket of who edits the draft, with the subprotocol " EDIT_PROTOCOL},     \
    {"PUT", "/api/places/*/blob/*", serve_put_edit_blob, .names = "place_id sha256",              \
     .body_max = DRAFT_FILE_BYTES_MAX, .body_taker = &serve_upload_body,                          \
     .access = ACCESS_SIGNED_IN, .blocks = true, .takes = "application/octet-stream",             \
     .gives = "hash bytes:integer", .fails = "403 404 409 507",                                   \
     .summary = "The content of a file, which an operation of the editor then names by its hash"},\
    {"GET", "/api/places/*/blob/*", .handler = serve_get_edit_blob, .names = "place_id sha256",   \
     .access = ACCESS_SIGNED_IN, .blocks = true, .gives = "application/octet-stream",             \
     .fails = "403 404 409 416",                                                                  \
     .summary = "The content of a file of the draft, now or earlier"},                            \
    {"GET", "/api/places/*/ops", .handler = serve_get_edit_ops, .names = "place_id",              \
     .access = ACCESS_SIGNED_IN, .blocks = true, .takes = "from?:integer limit?:integer",         \
     .gives = "ops:array next:any", .fails = "403 404 409",                                       \
     .summary = "What editors did, the oldest that is kept first; from: after that number"},      \
    {"GET", "/api/schema", .handler = serve_get_schema, .blocks = true,                           \
     .gives = "mark:integer kinds:object",                                                        \
     .summary = "The members of place.json and scene.json: type, range, default, unit, help"}
// clang-format on
