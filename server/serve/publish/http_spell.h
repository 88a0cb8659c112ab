// Spells over HTTP: script packages that places use. A spell is a package like a place (the same
// tables, revisions, channels and rights) with modules in it, which its build checks as those of a
// place. See docs/HTTP.md.
#pragma once

#include "server/serve/publish/http_build.h"
#include "server/serve/publish/http_place.h"

void serve_post_spell_build(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_spell_publish(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_spell(void *user, HttpRequest *request, HttpResponse *response);
void serve_patch_spell(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_spell(void *user, HttpRequest *request, HttpResponse *response);
void serve_restore_spell(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_spell_file(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_spell_module(void *user, HttpRequest *request, HttpResponse *response);

// clang-format off
#define SERVE_SPELL_PAGE                                                                          \
    "spell_id title description visibility open:boolean revisions:integer live:any beta:any "     \
    "created_at updated_at trashed_at:any removed:boolean version:integer"
#define SERVE_SPELL_ROUTES                                                                        \
    {"POST", "/api/spells/*/build", serve_post_spell_build, .blocks = true, .names = "spell_id",  \
     .access = ACCESS_CREATOR, .body_max = SERVE_BUILD_BODY_BYTES,                                \
     .takes = "prompt?:any code?:any modules?:any options?:any", .gives = "202 job_id spell_id",               \
     .fails = "404 409 429 507",                                                                  \
     .summary = "Makes a revision of a spell from code, or from a prompt, and builds it"},        \
    {"POST", "/api/spells/*/publish", serve_post_spell_publish, .blocks = true,                   \
     .names = "spell_id", .access = ACCESS_ACCOUNT, .body_max = SERVE_BODY_BYTES,                 \
     .takes = "revision_id channel", .gives = "spell_id revision_id channel manifest:any",        \
     .fails = "404 409", .summary = "Lets beta or live name this revision"},                      \
    {"GET", "/api/spells/*", .handler = serve_get_spell, .blocks = true, .names = "spell_id",     \
     .gives = SERVE_SPELL_PAGE, .fails = "404", .summary = "A spell"},                            \
    {"PATCH", "/api/spells/*", serve_patch_spell, .blocks = true, .names = "spell_id",            \
     .access = ACCESS_ACCOUNT, .body_max = SERVE_PLACE_BODY_BYTES,                                \
     .takes = "title? description? visibility? open?:boolean", .gives = SERVE_SPELL_PAGE,         \
     .fails = "404 412", .summary = "Changes who may use a spell, and what is said of it"},       \
    {"DELETE", "/api/spells/*", .handler = serve_delete_spell, .blocks = true,                    \
     .names = "spell_id", .access = ACCESS_ACCOUNT, .gives = SERVE_SPELL_PAGE, .fails = "404 412",\
     .summary = "Puts a spell into the trash; places that took it keep it"},                      \
    {"POST", "/api/spells/*/restore", .handler = serve_restore_spell, .blocks = true,             \
     .names = "spell_id", .access = ACCESS_ACCOUNT, .gives = SERVE_SPELL_PAGE,                    \
     .fails = "404 409 412", .summary = "Takes a spell out of the trash"},                        \
    {"GET", "/api/spells/*/revisions", .handler = serve_get_revisions, .blocks = true,            \
     .names = "spell_id", .takes = "limit?:integer after? live?",                                 \
     .gives = "revisions:array next:any", .fails = "404",                                         \
     .summary = "Its revisions, newest first; with live=1, and for those who may not read it, only those that are or were live"},\
    {"GET", "/api/spells/*/revisions/*/manifest", .handler = serve_get_manifest, .blocks = true,  \
     .names = "spell_id revision_id", .gives = "application/json", .fails = "404",                \
     .summary = "Its manifest: complete for those who may read it, else the players' part of the live one"},\
    {"GET", "/api/spells/*/revisions/*/files", .handler = serve_get_files, .blocks = true,        \
     .names = "spell_id revision_id", .gives = "files:array", .fails = "403 404",                 \
     .summary = "The files of its package, for those who may read it"},                                 \
    {"GET", "/api/spells/*/revisions/*/files/**", .handler = serve_get_spell_file,                \
     .blocks = true, .names = "spell_id revision_id path", .gives = "application/octet-stream",   \
     .fails = "403 404 416",                                                                      \
     .summary = "One of them, or the Lua that was made of a prompt, as a download"},              \
    {"GET", "/api/spells/*/revisions/*/module", .handler = serve_get_spell_module,                \
     .blocks = true, .names = "spell_id revision_id", .gives = "application/octet-stream",        \
     .fails = "403 404 416",                                                                      \
     .summary = "What a place takes of it: its Lua, or several modules as JSON"}
// clang-format on
