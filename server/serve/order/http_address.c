// Ranges of addresses from which nobody comes in: the operator's routes, and the check of every
// request that changes something or opens a socket. Whoever plays from such a range is cut off.
#define _GNU_SOURCE
#include "server/serve/http/body.h"
#include "server/serve/http/openapi.h"
#include "server/serve/http/time_text.h"
#include "server/serve/order/http_order.h"
#include "server/serve/remote/serve_ordered.h"
#include "server/serve/remote/serve_peer.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define MINUTES_MAX (10ull * 366 * 24 * 60)
#define RANGE_RULE  "range is an address or a range of them, as 192.0.2.0/24 or 2001:db8::/32"
#define LIST_BYTES  (2u << 20)

// --- the check ----------------------------------------------------------------------------------

// Reading pages is harmless, and an operator can always mend what they did. Hosts on the same
// database prove by their keys who they are.
static bool is_checked(const HttpRoute *route, const HttpRequest *request)
{
    const bool changes = strcmp(route->method, "GET") != 0;
    return (changes || http_socket_wanted(request)) && openapi_may_answer(route, 403) &&
           route->handler != serve_post_peers;
}

static bool find_ban(const Serve *serve, const HttpPeer *peer, StoreAddressBan *out)
{
    return serve->control != NULL ? control_find_address_ban(serve->control, peer, out)
                                  : serve_ordered_ban(serve, peer, out);
}

bool serve_refuse_address(const Serve *serve, const HttpRoute *route, HttpRequest *request,
                          HttpResponse *response, const Identity *who)
{
    StoreAddressBan ban;
    const HttpPeer peer = http_peer(request);
    const bool is_operator = who != NULL && (who->roles & ROLE_OPERATOR) != 0;
    if (is_operator || http_is_loopback(request) || !is_checked(route, request) ||
        !find_ban(serve, &peer, &ban)) {
        return false;
    }
    char until[TIME_TEXT_BYTES] = "", text[256];
    if (ban.until_unix_ms < STORE_BAN_FOREVER) {
        time_text(ban.until_unix_ms, until);
    }
    snprintf(text, sizeof text, "your address is banned%s%s%s%s", until[0] != '\0' ? " until " : "",
             until, ban.reason[0] != '\0' ? ": " : "", ban.reason);
    http_fail(request, response, 403, "banned", text);
    return true;
}

// --- routes -------------------------------------------------------------------------------------

static void write_ban(JsonWriter *json, const StoreAddressBan *ban)
{
    char id[32];
    json_write_object_begin(json);
    serve_write_member(json, "range", ban->range);
    if (ban->until_unix_ms < STORE_BAN_FOREVER) {
        serve_write_time(json, "until", ban->until_unix_ms);
    } else {
        serve_write_member(json, "until", NULL);
    }
    serve_write_member(json, "reason", ban->reason);
    serve_account_text(ban->maker_id, false, id);
    serve_write_member(json, "by", ban->maker_id != 0 ? id : NULL);
    serve_write_time(json, "since", ban->created_unix_ms);
    json_write_object_end(json);
}

void serve_admin_get_addresses(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    StoreAddressBan *bans = malloc(ADDRESS_BANS_MAX * sizeof *bans);
    http_keep(request, bans);
    if (bans == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    const uint32_t count = control_address_bans(serve->control, bans, ADDRESS_BANS_MAX);
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, LIST_BYTES);
    JsonWriter *json = &answer.json;
    json_write_object_begin(json);
    json_write_name(json, "bans");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count && i < ADDRESS_BANS_MAX; i++) {
        write_ban(json, &bans[i]);
    }
    json_write_array_end(json);
    serve_write_number(json, "total", count);
    json_write_object_end(json);
    serve_answer_end(&answer, response);
}

static bool read_ban(Serve *serve, HttpRequest *request, HttpResponse *response,
                     StoreAddressBan *ban, HttpPeerRange *range)
{
    char given[STORE_RANGE_BYTES] = "", host[HTTP_SITE_BYTES], text[HTTP_SITE_BYTES + 256];
    bool is_forced = false;
    const JsonNode *root = serve_body_object(request, response);
    if (root == NULL || !serve_body_text(request, response, root, "range", given, sizeof given) ||
        !serve_body_text(request, response, root, "reason", ban->reason, sizeof ban->reason) ||
        !serve_body_bool(request, response, root, "force", &is_forced)) {
        return false;
    }
    const JsonNode *minutes = json_find(root, "minutes");
    const bool has_end = minutes != NULL && minutes->kind != JSON_NULL;
    const HttpPeer own = http_peer(request);
    const char *wrong = NULL;
    if (!address_range_read(given, range, ban->range)) {
        wrong = RANGE_RULE;
    } else if (!name_is_plain_line(ban->reason)) {
        wrong = "reason is one line, without control or bidirectional characters";
    } else if (has_end && (minutes->kind != JSON_NUMBER ||
                           !(minutes->number >= 1 && minutes->number <= (double)MINUTES_MAX))) {
        wrong = "minutes is a number from 1 to ten years";
    }
    if (wrong != NULL) {
        http_fail(request, response, 400, "malformed", wrong);
        return false;
    }
    if (!is_forced && http_peer_range_has(range, 1, &own)) {
        http_fail(request, response, 409, "yourself",
                  "your own address is in this range; it is banned all the same if the request has "
                  "\"force\": true");
        return false;
    }
    if (!is_forced && serve_peer_in_range(serve, range, host)) {
        snprintf(
            text, sizeof text,
            "this range has the address of %s, a machine of this server: whoever comes from "
            "behind it would be banned too. Name a smaller range; it is banned all the same if "
            "the request has \"force\": true",
            host);
        http_fail(request, response, 409, "own_host", text);
        return false;
    }
    ban->until_unix_ms =
        has_end ? clock_unix_ms() + (uint64_t)minutes->number * 60000 : STORE_BAN_FOREVER;
    return true;
}

// --- whoever plays from there -------------------------------------------------------------------

typedef struct CutOff {
    uint64_t number, owner;
} CutOff;

// On the main thread: the world that has the socket closes it.
static void cut_off(void *user, void *what)
{
    Serve *serve = user;
    const CutOff *socket = what;
    host_close_socket(serve->host, socket->owner, socket->number);
    free(what);
}

static void found_socket(void *user, uint64_t number, uint64_t owner)
{
    Serve *serve = user;
    CutOff *what = malloc(sizeof *what);
    if (what != NULL) {
        *what = (CutOff){number, owner};
        if (mailbox_post(serve->mailbox, cut_off, what) != STATUS_OK) {
            free(what);
        }
    }
}

void serve_cut_off(Serve *serve, const HttpPeerRange *range)
{
    http_sockets_of(serve->http, range, found_socket, serve);
}

void serve_admin_post_address(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const Identity *who = serve_who(request);
    StoreAddressBan ban = {.maker_id = who != NULL ? who->account : 0,
                           .created_unix_ms = clock_unix_ms()};
    HttpPeerRange range;
    if (serve_refuse_without_accounts(serve, request, response) ||
        !read_ban(serve, request, response, &ban, &range) ||
        !serve_record(serve, "ban.addresses", request, response)) {
        return;
    }
    if (control_ban_addresses(serve->control, &ban) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable",
                  "it could not be stored, or there are too many; try again");
        return;
    }
    serve_cut_off(serve, &range);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    write_ban(&answer.json, &ban);
    serve_answer_end(&answer, response);
}

void serve_admin_delete_address(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *text = http_query(request, "range");
    char written[STORE_RANGE_BYTES];
    HttpPeerRange range;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    if (text == NULL || !address_range_read(text, &range, written)) {
        http_fail(request, response, 400, "malformed", RANGE_RULE);
        return;
    }
    if (!serve_record(serve, "unban.addresses", request, response)) {
        return;
    }
    const Status status = control_unban_addresses(serve->control, written);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is nothing to lift");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    } else {
        ServeAnswer answer;
        serve_answer_begin(&answer, request);
        json_write_object_begin(&answer.json);
        serve_write_member(&answer.json, "range", written);
        json_write_object_end(&answer.json);
        serve_answer_end(&answer, response);
    }
}
