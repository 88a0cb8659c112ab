// Drafts over HTTP: a place's files while it is being made. For those who may edit it, and for the
// teacher of a class to read; see docs/HTTP.md.
#pragma once

#include "core/base/limits.h"
#include "server/build/place/template.h"
#include "server/net/http.h"
#include "server/serve/http/upload.h"

void serve_post_draft_new(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_draft(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_draft(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_draft(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_draft_file(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_draft_file(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_draft_file(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_draft_move(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_draft_history(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_draft_restore(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_draft_publish(void *user, HttpRequest *request, HttpResponse *response);

// Writes the files of a template into a folder that is to become a draft; the place has that title.
MUST_USE Status draft_fill_template(const char *folder, const char *template, bool typescript,
                                    const char *title, char reason[WORKER_REASON_BYTES]);

// clang-format off
#define SERVE_DRAFT_BODY_BYTES (16u << 10)
#define SERVE_DRAFT_FILE       "path bytes:integer hash version:integer job_id?:any"
#define SERVE_DRAFT_ROUTES                                                                         \
    {"POST", "/api/drafts", serve_post_draft_new, .body_max = SERVE_DRAFT_BODY_BYTES,              \
     .access = ACCESS_CREATOR, .blocks = true, .takes = "title template? typescript?:boolean",     \
     .gives = "place_id title files:array", .fails = "409 507",                                    \
     .summary = "A new place from a template, to be worked on"},                                   \
    {"POST", "/api/places/*/draft", serve_post_draft, .names = "place_id",                         \
     .body_max = SERVE_DRAFT_BODY_BYTES, .access = ACCESS_SIGNED_IN, .blocks = true,               \
     .takes = "revision_id? replace?:boolean", .gives = "place_id files:array", .fails = "403 404 409 507",         \
     .summary = "A draft from a revision, by default the newest; replace: in place of the one that is there, by default from the live one"}, \
    {"DELETE", "/api/places/*/draft", .handler = serve_delete_draft, .names = "place_id",          \
     .access = ACCESS_SIGNED_IN, .blocks = true, .gives = "place_id", .fails = "403 404 409",      \
     .summary = "Throws the draft and its history away"},                                          \
    {"GET", "/api/places/*/draft", .handler = serve_get_draft, .names = "place_id",                \
     .access = ACCESS_SIGNED_IN, .blocks = true, .fails = "403 404 409",                               \
     .gives = "place_id files:array bytes_used:integer bytes_allowed:integer",                     \
     .summary = "The files of a draft, with their hashes"},                                        \
    {"GET", "/api/places/*/draft/files/**", .handler = serve_get_draft_file,                       \
     .names = "place_id path", .access = ACCESS_SIGNED_IN, .blocks = true,                         \
     .gives = "application/octet-stream", .fails = "403 404 409",                                      \
     .summary = "A file of a draft; its ETag is its hash"},                                        \
    {"PUT", "/api/places/*/draft/files/**", serve_put_draft_file, .names = "place_id path",        \
     .body_max = DRAFT_FILE_BYTES_MAX, .body_taker = &serve_upload_body,                           \
     .access = ACCESS_SIGNED_IN, .blocks = true,                                                   \
     .takes = "application/octet-stream", .gives = SERVE_DRAFT_FILE,                               \
     .fails = "403 404 409 412 413 428 507",                                                       \
     .summary = "Writes a file; If-Match names what it replaces, If-None-Match: * says it is new"},\
    {"DELETE", "/api/places/*/draft/files/**", .handler = serve_delete_draft_file,                 \
     .names = "place_id path", .access = ACCESS_SIGNED_IN, .blocks = true,                         \
     .gives = "path job_id:any", .fails = "403 404 409 412 428",                                   \
     .summary = "Deletes a file; its history stays"},                                              \
    {"POST", "/api/places/*/draft/move", serve_post_draft_move, .names = "place_id",               \
     .body_max = SERVE_DRAFT_BODY_BYTES, .access = ACCESS_SIGNED_IN, .blocks = true,               \
     .takes = "from to hash", .gives = SERVE_DRAFT_FILE, .fails = "403 404 409 412",               \
     .summary = "Gives a file another name"},                                                      \
    {"GET", "/api/places/*/draft/history/**", .handler = serve_get_draft_history,                  \
     .names = "place_id path", .access = ACCESS_SIGNED_IN, .blocks = true,                         \
     .takes = "version?:integer after?:integer limit?:integer",                                    \
     .gives = "path versions:array next?:any", .fails = "403 404 409",                                 \
     .summary = "What a file was, newest first; with version, its bytes then"},                    \
    {"POST", "/api/places/*/draft/restore", serve_post_draft_restore, .names = "place_id",         \
     .body_max = SERVE_DRAFT_BODY_BYTES, .access = ACCESS_SIGNED_IN, .blocks = true,               \
     .takes = "path version:integer hash?", .gives = SERVE_DRAFT_FILE,                             \
     .fails = "403 404 409 412", .summary = "Writes an earlier version again"},                    \
    {"POST", "/api/places/*/draft/publish", serve_post_draft_publish, .names = "place_id",         \
     .body_max = SERVE_DRAFT_BODY_BYTES, .access = ACCESS_SIGNED_IN, .blocks = true,               \
     .is_slow = true, .takes = "notes channel?", .gives = "202 place_id revision_id job_id waits_for_approval:boolean", \
     .fails = "403 404 409 413 429 507",                                                               \
     .summary = "Makes a revision of the draft as it is, and builds it"}
// clang-format on
