// Classes over HTTP: pupils with printed codes, templates handed out, chat rules, pausing. For the
// teachers of the class and operators; its pupils see what it is and what they may play; everybody
// else gets 404. See docs/HTTP.md.
#pragma once

#include "server/control/order/rights.h"
#include "server/serve/http/http_routes.h"
#include "server/store/people/store_class.h"

void serve_post_class(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_classes(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_class(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_class(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_pupils(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_pupil(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_pupil_code(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_class_names(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_class_chat(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_class_pause(void *user, HttpRequest *request, HttpResponse *response);
void serve_post_class_resume(void *user, HttpRequest *request, HttpResponse *response);
// class_teachers.c
void serve_put_teacher(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_teacher(void *user, HttpRequest *request, HttpResponse *response);
void class_write_teachers(Serve *serve, JsonWriter *json, const StoreClass *class);
// class_cards.c
void serve_post_cards(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_cards_style(void *user, HttpRequest *request, HttpResponse *response);
// http_handout.c
void serve_post_handout(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_handouts(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_handout(void *user, HttpRequest *request, HttpResponse *response);
void serve_cancel_handout(void *user, HttpRequest *request, HttpResponse *response);
void serve_handouts_recover(Serve *serve); // goes on with what the last life did not finish
void serve_get_class_places(void *user, HttpRequest *request, HttpResponse *response);

// --- for the files of classes -------------------------------------------------------------------

// Has the pupil a role by which others are led? An operator gave it. No teacher may then sign in as
// them by a new code, or delete them. Also true if that cannot be read.
bool class_pupil_leads(Serve *serve, uint64_t account);
// The class that the path names, for who may lead it. False: the response says why not (404).
bool class_enter(Serve *serve, HttpRequest *request, HttpResponse *response, StoreClass *out);
// Also for its pupils.
bool class_visit(Serve *serve, HttpRequest *request, HttpResponse *response, StoreClass *out,
                 ClassPart *part);
void class_answer(Serve *serve, HttpRequest *request, HttpResponse *response,
                  const StoreClass *class);
// One change of a class at a time. False: another one goes on, and the response says so.
bool class_lock(Serve *serve, HttpRequest *request, HttpResponse *response,
                const StoreClass *class);
void class_unlock(Serve *serve, const StoreClass *class);
// Into the audit. False: it could not be written, and the response says so.
bool class_record(Serve *serve, HttpRequest *request, HttpResponse *response, const char *action,
                  const char *about, const char *detail);
// A teacher reads somebody's draft: into the audit, once an hour for each place.
bool class_record_reading(Serve *serve, HttpRequest *request, HttpResponse *response,
                          const char *place_id);

// clang-format off
#define SERVE_CLASS_BODY_BYTES (16u << 10)
#define SERVE_CLASS                                                                                \
    "class_id name part paused:boolean chat public_names:boolean created_at teachers:array"
#define SERVE_HANDOUT                                                                              \
    "handout state title total:integer given:integer had:integer failed:integer reason:any"
#define SERVE_CLASS_ROUTES                                                                         \
    {"POST", "/api/classes", serve_post_class, .body_max = SERVE_CLASS_BODY_BYTES,                 \
     .access = ACCESS_TEACHER, .blocks = true, .takes = "name", .gives = SERVE_CLASS,              \
     .fails = "409", .summary = "Makes a class, which is its maker's"},                            \
    {"GET", "/api/classes", .handler = serve_get_classes, .access = ACCESS_ACCOUNT,                \
     .blocks = true, .takes = "after? limit?:integer",                                             \
     .gives = "classes:array may_make:boolean next:any",                                           \
     .summary = "The classes that one teaches or is a pupil of; for operators, all"},              \
    {"GET", "/api/classes/*", .handler = serve_get_class, .names = "class_id",                     \
     .access = ACCESS_ACCOUNT, .blocks = true, .gives = SERVE_CLASS " pupils:array",               \
     .fails = "404", .summary = "A class and its pupils, for those who are in it"},                                         \
    {"DELETE", "/api/classes/*", .handler = serve_delete_class, .names = "class_id",               \
     .access = ACCESS_ACCOUNT, .blocks = true, .takes = "accounts?", .gives = "class_id",          \
     .fails = "404 503",                                                                           \
     .summary = "Deletes a class and its codes; accounts=delete also the accounts of its pupils"}, \
    {"POST", "/api/classes/*/pupils", serve_post_pupils, .names = "class_id",                      \
     .body_max = SERVE_CLASS_BODY_BYTES, .access = ACCESS_ACCOUNT, .blocks = true,                 \
     .takes = "names:array", .gives = "pupils:array", .fails = "404 409 503",                      \
     .summary = "Makes an account for each name, with a code to sign in, which is shown once"},    \
    {"DELETE", "/api/classes/*/pupils/*", .handler = serve_delete_pupil,                           \
     .names = "class_id account", .access = ACCESS_ACCOUNT, .blocks = true, .takes = "accounts?",  \
     .gives = "account:integer", .fails = "404 503",                                               \
     .summary = "Takes a pupil out; accounts=delete also deletes the account"},                    \
    {"POST", "/api/classes/*/pupils/*/code", .handler = serve_post_pupil_code,                     \
     .names = "class_id account", .access = ACCESS_ACCOUNT, .blocks = true,                        \
     .gives = "account:integer username shown_name code", .fails = "404 503",                      \
     .summary = "A new code for a pupil; the old one and all their sign-ins end"},                 \
    {"PUT", "/api/classes/*/teachers/*", .handler = serve_put_teacher,                             \
     .names = "class_id account", .access = ACCESS_ACCOUNT, .blocks = true,                        \
     .gives = SERVE_CLASS, .fails = "404 409 503",                                                 \
     .summary = "Another teacher of a class, with all rights of a teacher"},                       \
    {"DELETE", "/api/classes/*/teachers/*", .handler = serve_delete_teacher,                       \
     .names = "class_id account", .access = ACCESS_ACCOUNT, .blocks = true,                        \
     .gives = SERVE_CLASS, .fails = "404 409 503",                                                 \
     .summary = "Takes a teacher out of a class; the last one stays"},                             \
    {"POST", "/api/classes/*/cards", serve_post_cards, .names = "class_id",                        \
     .body_max = SERVE_CLASS_BODY_BYTES, .access = ACCESS_ACCOUNT, .blocks = true,                 \
     .takes = "codes?:array renew?:boolean", .gives = "text/html", .fails = "404 409 503",         \
     .summary = "A page to print, a card for each code; renew makes new codes for all pupils"},    \
    {"GET", "/cards.css", .handler = serve_get_cards_style, .gives = "text/css",                   \
     .summary = "How that page looks"},                                                            \
    {"POST", "/api/classes/*/handout", serve_post_handout, .names = "class_id",                    \
     .body_max = SERVE_CLASS_BODY_BYTES, .access = ACCESS_ACCOUNT, .blocks = true,                 \
     .takes = "title place_id? template?", .gives = "202 " SERVE_HANDOUT,                          \
     .fails = "404 503 507",                                                                       \
     .summary = "Gives every pupil who has it not yet a place of their own, with a draft; a job"}, \
    {"GET", "/api/classes/*/handouts", .handler = serve_get_handouts, .names = "class_id",         \
     .access = ACCESS_ACCOUNT, .blocks = true, .gives = "handouts:array", .fails = "404",          \
     .summary = "What was handed out to a class, and what is being"},                              \
    {"GET", "/api/classes/*/handouts/*", .handler = serve_get_handout,                             \
     .names = "class_id handout", .access = ACCESS_ACCOUNT, .blocks = true,                        \
     .gives = SERVE_HANDOUT, .fails = "404", .summary = "How far a handout is"},                   \
    {"DELETE", "/api/classes/*/handouts/*", .handler = serve_cancel_handout,                       \
     .names = "class_id handout", .access = ACCESS_ACCOUNT, .blocks = true,                        \
     .gives = SERVE_HANDOUT, .fails = "404",                                                       \
     .summary = "Cancels a handout that runs; pupils who have their place keep it"},                      \
    {"GET", "/api/classes/*/places", .handler = serve_get_class_places, .names = "class_id",       \
     .access = ACCESS_ACCOUNT, .blocks = true, .takes = "after? limit?:integer",                   \
     .gives = "places:array next:any", .fails = "404",                                             \
     .summary = "The places of a class, with whose they are; for a pupil, their own and those "    \
                "that classmates show"},                                                           \
    {"PUT", "/api/classes/*/names", serve_put_class_names, .names = "class_id",                    \
     .body_max = SERVE_CLASS_BODY_BYTES, .access = ACCESS_ACCOUNT, .blocks = true,                 \
     .takes = "public:boolean", .gives = SERVE_CLASS, .fails = "404 503",                          \
     .summary = "Whether people outside see the names of a class's pupils, and pupils change "     \
                "theirs"},                                                                         \
    {"PUT", "/api/classes/*/chat", serve_put_class_chat, .names = "class_id",                      \
     .body_max = SERVE_CLASS_BODY_BYTES, .access = ACCESS_ACCOUNT, .blocks = true,                 \
     .takes = "rule", .gives = SERVE_CLASS, .fails = "404 409 503",                                    \
     .summary = "What may be said in a class's places and by its pupils: free, phrases or off"},   \
    {"POST", "/api/classes/*/pause", .handler = serve_post_class_pause, .names = "class_id",       \
     .access = ACCESS_ACCOUNT, .blocks = true, .gives = SERVE_CLASS, .fails = "404 503",           \
     .summary = "Stops all worlds of a class; nobody comes in until it goes on"},                  \
    {"POST", "/api/classes/*/resume", .handler = serve_post_class_resume, .names = "class_id",     \
     .access = ACCESS_ACCOUNT, .blocks = true, .gives = SERVE_CLASS, .fails = "404 503",           \
     .summary = "Lets a class go on"}
// clang-format on
