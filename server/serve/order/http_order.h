// Keeping order over HTTP: reports, chat rules, people whom others block, the operator's lists. See
// docs/HTTP.md and docs/OPERATIONS.md, "Keeping order".
#pragma once

#include "server/control/name.h"
#include "server/serve/http/http_routes.h"

// --- http_report.c ------------------------------------------------------------------------------
void serve_post_report(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_reports(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_report(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_report(void *user, HttpRequest *request, HttpResponse *response);
void serve_reported(void *user, HostWorld *world, const HostReport *report); // HostOutside

// --- http_act.c ---------------------------------------------------------------------------------
void serve_admin_post_package(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_approvals(void *user, HttpRequest *request, HttpResponse *response);
// "moderation": what an operator did about it last and why, for its owner; null: nothing. On the
// pool.
void serve_write_moderation(Serve *serve, JsonWriter *json, const char *package_id);

// --- http_address.c -----------------------------------------------------------------------------
void serve_admin_get_addresses(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_address(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_delete_address(void *user, HttpRequest *request, HttpResponse *response);
// Whoever plays from there is cut off, soon. From any thread.
void serve_cut_off(Serve *serve, const HttpPeerRange *range);
// From a banned address? True: the response says so.
bool serve_refuse_address(const Serve *serve, const HttpRoute *route, HttpRequest *request,
                          HttpResponse *response, const Identity *who);

// --- http_chat.c --------------------------------------------------------------------------------
void serve_get_chat(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_place_chat(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_put_user_chat(void *user, HttpRequest *request, HttpResponse *response);
void serve_get_blocks(void *user, HttpRequest *request, HttpResponse *response);
void serve_put_block(void *user, HttpRequest *request, HttpResponse *response);
void serve_delete_block(void *user, HttpRequest *request, HttpResponse *response);
// Of words and of phrases, by the route.
void serve_admin_get_list(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_put_list(void *user, HttpRequest *request, HttpResponse *response);
void serve_chat(void *user, const char *place_id, HostChat *out);                 // HostOutside
uint32_t serve_blocks(void *user, uint64_t account, uint64_t *out, uint32_t max); // HostOutside
void serve_chat_step(Serve *serve); // on the main thread: worlds hear what has changed
// Has a title, name or description a word of the operator's list? True: the response says so.
bool serve_refuse_words(const Serve *serve, HttpRequest *request, HttpResponse *response,
                        const char *what, const char *text);

// True: this server has no accounts, and the response says so.
bool serve_refuse_without_accounts(const Serve *serve, HttpRequest *request,
                                   HttpResponse *response);
// May this rule hold? Nobody could say anything by the rule `phrases` without phrases. True: the
// response says so.
bool serve_refuse_rule(const Serve *serve, HttpRequest *request, HttpResponse *response,
                       ChatRule rule);

// clang-format off
#define SERVE_ORDER_REPORT \
    "report_id:integer state source reporter:any account:any place_id:any world_id:any reason " \
    "text note handler:any reporter_name:any account_name:any handler_name:any from_host:any " \
    "reporter_shown_name:any account_shown_name:any place_title:any created handled:any"
#define SERVE_ORDER_ROUTES \
    {"POST", "/api/reports", serve_post_report, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_SIGNED_IN, .takes = "reason text? account? world_id? place_id?", \
     .gives = "201 report_id:integer", .fails = "404 409 429", \
     .summary = "Reports a person, a world or a place to the operators"}, \
    {"GET", "/admin/reports", .handler = serve_admin_get_reports, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "state? before?:integer limit?:integer", \
     .gives = "reports:array next:any", .fails = "409", \
     .summary = "Reports, the newest first: state=open, dismissed or acted; next goes on as before="}, \
    {"GET", "/admin/reports/*", .handler = serve_admin_get_report, .access = ACCESS_MACHINE, \
     .blocks = true, .gives = SERVE_ORDER_REPORT " evidence:array", .fails = "404 409", \
     .summary = "A report with its evidence: what a world said was said there, and who was there"}, \
    {"POST", "/admin/reports/*", serve_admin_post_report, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .blocks = true, .takes = "state note?", \
     .gives = SERVE_ORDER_REPORT, .fails = "404 409", \
     .summary = "Closes a report as dismissed or acted, or opens it again"}, \
    {"GET", "/admin/bans/addresses", .handler = serve_admin_get_addresses, \
     .access = ACCESS_MACHINE, .gives = "bans:array total:integer", .fails = "409", \
     .summary = "Ranges of addresses from which nobody comes in"}, \
    {"POST", "/admin/bans/addresses", serve_admin_post_address, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .blocks = true, \
     .takes = "range minutes?:integer reason? force?:boolean", \
     .gives = "range until:any reason by:any since", .fails = "409", \
     .summary = "Nobody comes in from these addresses, and who plays from there is cut off"}, \
    {"DELETE", "/admin/bans/addresses", .handler = serve_admin_delete_address, \
     .access = ACCESS_MACHINE, .blocks = true, .takes = "range", .gives = "range", \
     .fails = "404 409", .summary = "Lifts such a ban"}, \
    {"POST", "/admin/packages/*", serve_admin_post_package, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .blocks = true, .takes = "act reason?", \
     .gives = "package_id moderation:any", .fails = "404 409", \
     .summary = "Unlists, removes, restores, approves or refuses a place or spell; the owner reads why"}, \
    {"GET", "/admin/approvals", .handler = serve_admin_get_approvals, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "after? limit?:integer", .gives = "approvals:array next:any", \
     .fails = "409", \
     .summary = "Places that wait to be approved before they are listed; next goes on as after="}, \
    {"GET", "/api/chat", .handler = serve_get_chat, .blocks = true, .takes = "place_id?", \
     .gives = "rule guest:boolean phrases:array", \
     .summary = "What may be said: by everybody, in a place, and by the account that asks; the phrases"}, \
    {"PUT", "/api/places/*/chat", serve_put_place_chat, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_ACCOUNT, .blocks = true, .takes = "rule", .gives = "rule", \
     .fails = "403 404 409", .summary = "What may be said in a place: free, phrases or off"}, \
    {"PUT", "/admin/users/*/chat", serve_admin_put_user_chat, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .blocks = true, .takes = "rule", .gives = "rule", \
     .fails = "404 409", .summary = "What somebody may say: free, phrases or off"}, \
    {"GET", "/api/me/blocks", .handler = serve_get_blocks, .access = ACCESS_SIGNED_IN, \
     .blocks = true, .gives = "blocks:array", .fails = "409", \
     .summary = "Whose chat you do not see"}, \
    {"PUT", "/api/me/blocks/*", .handler = serve_put_block, .access = ACCESS_SIGNED_IN, \
     .blocks = true, .names = "account", .gives = "account", .fails = "404 409", \
     .summary = "Hides somebody's chat from you, everywhere; they are not told"}, \
    {"DELETE", "/api/me/blocks/*", .handler = serve_delete_block, .access = ACCESS_SIGNED_IN, \
     .blocks = true, .names = "account", .gives = "account", .fails = "404 409", \
     .summary = "Shows you somebody's chat again"}, \
    {"GET", "/admin/words", .handler = serve_admin_get_list, .access = ACCESS_MACHINE, \
     .gives = "text/plain", .fails = "409", \
     .summary = "Words that are not said in chat and not used in names and titles, one per line"}, \
    {"PUT", "/admin/words", serve_admin_put_list, .body_max = WORD_LIST_BYTES_MAX, \
     .access = ACCESS_MACHINE, .blocks = true, .takes = "text/plain", .gives = "count:integer", \
     .fails = "409", .summary = "Takes the place of that list; word* and *word* match inside words"}, \
    {"GET", "/admin/phrases", .handler = serve_admin_get_list, .access = ACCESS_MACHINE, \
     .gives = "text/plain", .fails = "409", .summary = "The phrases of the rule `phrases`"}, \
    {"PUT", "/admin/phrases", serve_admin_put_list, .body_max = WORD_LIST_BYTES_MAX, \
     .access = ACCESS_MACHINE, .blocks = true, .takes = "text/plain", .gives = "count:integer", \
     .fails = "409", .summary = "Takes the place of those phrases, one per line"}
// clang-format on
