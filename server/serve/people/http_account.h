// Accounts over HTTP: see docs/HTTP.md, "Accounts". What takes a password or waits for the disk
// runs on the pool.
#pragma once

#include "server/net/http.h"

#define SERVE_ACCOUNT_BODY_BYTES 4096

void serve_account_post_login(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_register(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_logout(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_password(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_recover(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_get(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_get_sign_ins(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_delete_sign_in(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_token(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_invitation(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_reset(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_roles(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_get_page(void *user, HttpRequest *request, HttpResponse *response);
void serve_account_post_link(void *user, HttpRequest *request, HttpResponse *response);

// http_person.c
void serve_person_delete(void *user, HttpRequest *request, HttpResponse *response);
void serve_person_export(void *user, HttpRequest *request, HttpResponse *response);
void serve_person_delete_other(void *user, HttpRequest *request, HttpResponse *response);
void serve_person_export_other(void *user, HttpRequest *request, HttpResponse *response);

// clang-format off
#define SERVE_EXPORTED                                                                             \
    "account:array sign_ins:array identities:array bans:array presence:array checkpoints:array "                    \
    "characters:array active_characters:array worlds:array invited_to:array "                      \
    "packages:array teams:array drafts:array edits:array classes:array pupil_of:array called_in_classes:array favourites:array votes:array " \
    "offers:array play_times:array teaches:array handouts:array played:array reports:array said:array chat_rule:array blocks:array "                          \
    "audit:array datastore:array datastore_values:array"

#define SERVE_PERSON_ROUTES                                                                        \
    {"DELETE", "/api/account", serve_person_delete, .body_max = SERVE_ACCOUNT_BODY_BYTES,          \
     .blocks = true, .is_slow = true, .access = ACCESS_SELF,                                                        \
     .summary = "Delete everything that is stored about you; guests have no password",             \
     .takes = "password?", .gives = "status", .fails = "404 409 429"},                                 \
    {"GET", "/api/account/export", .handler = serve_person_export, .blocks = true,                 \
     .access = ACCESS_SELF, .summary = "Everything that is stored about you",                      \
     .gives = SERVE_EXPORTED, .fails = "404 416"},                                              \
    {"DELETE", "/api/accounts/*", .handler = serve_person_delete_other, .blocks = true,            \
     .names = "name", .access = ACCESS_OPERATOR,                                                   \
     .summary = "Delete everything about somebody, by account name, or ~ and the user id",         \
     .gives = "status", .fails = "404 409"},                                                       \
    {"GET", "/api/accounts/*/export", .handler = serve_person_export_other, .blocks = true,        \
     .names = "name", .access = ACCESS_OPERATOR,                                                   \
     .summary = "Everything that is stored about somebody, by name, or ~ and the user id",         \
     .gives = SERVE_EXPORTED, .fails = "404 416"}

#define SERVE_ACCOUNT_ROUTES                                                                       \
    {"POST", "/register", serve_account_post_register, .body_max = SERVE_ACCOUNT_BODY_BYTES,       \
     .blocks = true, .is_slow = true, .access = ACCESS_ANYONE, .is_form = true,                                     \
     .summary = "Make an account; a guest keeps the user id and everything",                       \
     .takes = "username password shown_name? invitation?",                                         \
     .gives = "session_token? client_id username user_id:integer recovery_codes:array",            \
     .fails = "400 403 409 410 429 503"},                                                          \
    {"POST", "/logout", serve_account_post_logout, .body_max = SERVE_BODY_BYTES,                   \
     .blocks = true, .access = ACCESS_ANYONE, .is_form = true, .takes = "link?",                   \
     .summary = "End the sign-in that comes with the request", .gives = "status",                  \
     .fails = "400 401 403 503"},                                                                  \
    {"GET", "/api/account", .handler = serve_account_get, .access = ACCESS_SIGNED_IN,              \
     .summary = "Who you are",                                                                     \
     .gives = "user_id:integer username shown_name is_guest:boolean roles:array scopes:array",     \
     .fails = "401 403"},                                                                          \
    {"POST", "/api/account", serve_account_post, .body_max = SERVE_ACCOUNT_BODY_BYTES,             \
     .blocks = true, .access = ACCESS_SELF, .summary = "Change the name that others see",          \
     .takes = "shown_name", .gives = "status", .fails = "400 401 403 409 503"},                    \
    {"POST", "/api/account/password", serve_account_post_password,                                 \
     .body_max = SERVE_ACCOUNT_BODY_BYTES, .blocks = true, .is_slow = true, .access = ACCESS_SELF, .is_form = true, \
     .summary = "Change the password; all other sign-ins end", .takes = "old new",                 \
     .gives = "status", .fails = "400 401 403 429 503"},                                           \
    {"POST", "/api/account/recover", serve_account_post_recover,                                   \
     .body_max = SERVE_ACCOUNT_BODY_BYTES, .blocks = true, .is_slow = true, .access = ACCESS_ANYONE,                \
     .is_form = true,                                                                              \
     .summary = "Set a new password, by a recovery code or by a link",                             \
     .takes = "username? code? link? new",                                                         \
     .gives = "session_token? client_id username user_id:integer recovery_codes?:array",           \
     .fails = "400 401 403 410 429 503"},                                                          \
    {"GET", "/api/account/sign-ins", .handler = serve_account_get_sign_ins,                        \
     .access = ACCESS_SELF, .summary = "Your sign-ins and the tokens of your tools",               \
     .gives = "sign_ins:array", .fails = "401 403"},                                               \
    {"DELETE", "/api/account/sign-ins/*", .handler = serve_account_delete_sign_in, .blocks = true, \
     .access = ACCESS_SELF, .summary = "End one of your sign-ins", .gives = "status",              \
     .fails = "401 403 404 503"},                                                                  \
    {"POST", "/api/account/tokens", serve_account_post_token,                                      \
     .body_max = SERVE_ACCOUNT_BODY_BYTES, .blocks = true, .access = ACCESS_SELF,                  \
     .summary = "A named token for a tool; scopes are play, create, operate",                      \
     .takes = "name scope", .gives = "token id name scopes:array",                                 \
     .fails = "400 401 403 409 503"},                                                              \
    {"POST", "/api/invitations", serve_account_post_invitation,                                    \
     .body_max = SERVE_ACCOUNT_BODY_BYTES, .blocks = true, .access = ACCESS_TEACHER,               \
     .summary = "A link that makes an account with a role, once",                                  \
     .takes = "role? expires_h?:integer", .gives = "link", .fails = "400 401 403 503"},            \
    {"POST", "/api/accounts/*/reset", .names = "name", .handler = serve_account_post_reset,                                    \
     .blocks = true, .access = ACCESS_OPERATOR,              \
     .summary = "A link by which somebody sets a new password, once and within 24 hours",          \
     .gives = "link", .fails = "401 403 404 503"},                                                 \
    {"POST", "/api/accounts/*/roles", .names = "name", .handler = serve_account_post_roles,                                    \
     .body_max = SERVE_ACCOUNT_BODY_BYTES, .blocks = true, .access = ACCESS_OPERATOR,              \
     .summary = "Set the roles of an account, separated by spaces", .takes = "roles",              \
     .gives = "status", .fails = "400 401 403 404 409 503"},                                           \
    {"POST", "/api/account/link", serve_account_post_link, .body_max = SERVE_ACCOUNT_BODY_BYTES,   \
     .blocks = true, .access = ACCESS_ANYONE,                                                      \
     .summary = "What a link is for: register, or password", .takes = "link",                      \
     .gives = "purpose roles:array", .fails = "400 403 410 503"},                                  \
    {"GET", "/account", .handler = serve_account_get_page, .blocks = true,                         \
     .access = ACCESS_ANYONE, .summary = "The page of one's account; its forms need no JavaScript", \
     .takes = "link? done? next?", .gives = "text/html", .fails = "401 503"}
// clang-format on
