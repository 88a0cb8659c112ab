// What keeping order needs between a control plane and hosts on other machines, besides orders
// (remote_worlds.h): the operator's lists, which a host fetches when their version changes, and
// reports and evidence, which a host sends. A host may lie: what it sends is kept with its id, and
// whether an account was led to that world is looked up here.
#define _GNU_SOURCE
#include "core/base/hash.h"
#include "core/base/json_read.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/order/http_order.h"
#include "server/serve/remote/http_remote.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/store/people/store_report.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES_MAX   (EVIDENCE_LINES_MAX * 8 + 64)
#define ARENA_BYTES (2 * REMOTE_EVIDENCE_BYTES_MAX + NODES_MAX * 96)
#define NUMBER_MAX  ((int64_t)1 << 53)
#define LISTS_BYTES (2u << 20)
#define RANGE_LINE  (STORE_RANGE_BYTES + 32 + STORE_REASON_TEXT_BYTES)

// --- the operator's lists -----------------------------------------------------------------------

typedef struct Lists {
    char words[CONTROL_LIST_BYTES], phrases[CONTROL_LIST_BYTES];
    StoreAddressBan bans[ADDRESS_BANS_MAX];
    char ranges[ADDRESS_BANS_MAX * RANGE_LINE + 1];
} Lists;

// "192.0.2.0/24 1700000000000 reason", one per line.
static void read_lists(Serve *serve, Lists *out)
{
    size_t bytes = 0;
    (void)control_list_read(serve->control, STORE_LIST_WORDS, out->words);
    (void)control_list_read(serve->control, STORE_LIST_PHRASES, out->phrases);
    const uint32_t count = control_address_bans(serve->control, out->bans, ADDRESS_BANS_MAX);
    out->ranges[0] = '\0';
    for (uint32_t i = 0; i < count && i < ADDRESS_BANS_MAX; i++) {
        const StoreAddressBan *ban = &out->bans[i];
        bytes += (size_t)snprintf(out->ranges + bytes, RANGE_LINE, "%s %" PRIu64 " %s\n",
                                  ban->range, ban->until_unix_ms, ban->reason);
    }
}

void serve_hosts_lists(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "this server is no control plane");
        return;
    }
    // Read first: if a list changes meanwhile, the host has an older version and asks again.
    const uint64_t version = control_lists_version(serve->control);
    Lists *lists = malloc(sizeof *lists);
    http_keep(request, lists);
    if (lists == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    read_lists(serve, lists);
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, LISTS_BYTES);
    JsonWriter *json = &answer.json;
    json_write_object_begin(json);
    serve_write_number(json, "version", version);
    serve_write_member(json, "words", lists->words);
    serve_write_member(json, "phrases", lists->phrases);
    serve_write_member(json, "addresses", lists->ranges);
    json_write_object_end(json);
    serve_answer_end(&answer, response);
    response->cache = "no-store";
}

// --- a report, or the evidence of one -----------------------------------------------------------

typedef struct Evidence {
    StoreHolder holder;
    StoreReportHost host;
    uint64_t report_id; // that was asked for; 0: a report from the game
    StoreReport report;
    StoreReportLine lines[EVIDENCE_LINES_MAX];
    uint32_t line_count;
} Evidence;

static uint64_t read_account(const JsonNode *node, JsonError *error)
{
    uint64_t account = 0;
    if (node == NULL || node->kind == JSON_NULL) {
        return 0;
    }
    const char *text = json_read_text(node, 31, error);
    if (error->status == STATUS_OK && !serve_account_read(text, &account)) {
        error->status = STATUS_MALFORMED;
    }
    return account;
}

// Cleaned: it is shown to operators, and the host may have sent anything.
static void read_clean(const JsonNode *node, char *out, uint32_t capacity, JsonError *error)
{
    const char *text = json_read_text(node, capacity - 1, error);
    if (error->status == STATUS_OK) {
        out[text_clean(text, strlen(text), out, capacity - 1)] = '\0';
        utf8_clean(out);
    }
}

// Not from the future, and no older than evidence can be.
static uint64_t read_time(const JsonNode *node, JsonError *error)
{
    const uint64_t now = clock_unix_ms();
    const uint64_t then = (uint64_t)json_read_integer(node, 0, NUMBER_MAX, error);
    return then > now ? now : then + EVIDENCE_MS < now ? now - EVIDENCE_MS : then;
}

static void read_line(const Serve *serve, const JsonNode *node, Evidence *out, JsonError *error)
{
    static const char *const kinds[] = {"said", "refused", "came", "left"};
    static const HeardKind values[] = {HEARD_SAID, HEARD_REFUSED, HEARD_CAME, HEARD_LEFT};
    StoreReportLine *line = &out->lines[out->line_count++];
    *line = (StoreReportLine){.unix_ms = read_time(json_read_member(node, "at", error), error)};
    line->kind =
        (uint8_t)values[json_read_choice(json_read_member(node, "kind", error), kinds, 4, error)];
    line->account_id = read_account(json_read_member(node, "account", error), error);
    read_clean(json_read_member(node, "text", error), line->text, sizeof line->text, error);
    line->is_known = remote_world_was_led(serve, out->report.world_id, line->account_id);
}

static bool read_evidence(const Serve *serve, HttpRequest *request, const JsonNode *root,
                          Evidence *out)
{
    JsonError error = {0};
    StoreReport *report = &out->report;
    const char *world = json_read_text(json_read_member(root, "world_id", &error), 64, &error);
    const char *boot = json_read_text(json_read_member(root, "boot", &error), 32, &error);
    if (error.status != STATUS_OK || !remote_boot_read(boot, &out->holder)) {
        return false;
    }
    snprintf(report->world_id, sizeof report->world_id, "%s", world);
    remote_host_id(serve_host_key(request), world, out->holder.host_id);
    memcpy(out->host.host_id, out->holder.host_id, sizeof out->host.host_id);
    memcpy(out->host.boot, out->holder.boot, sizeof out->host.boot);
    out->report_id = (uint64_t)json_read_integer(json_read_member(root, "report_id", &error), 0,
                                                 NUMBER_MAX, &error);
    out->host.number = (uint64_t)json_read_integer(json_read_member(root, "number", &error), 0,
                                                   NUMBER_MAX, &error);
    report->reporter_id = read_account(json_find(root, "reporter"), &error);
    report->account_id = read_account(json_find(root, "account"), &error);
    report->created_unix_ms = read_time(json_read_member(root, "at", &error), &error);
    read_clean(json_read_member(root, "reason", &error), report->reason, sizeof report->reason,
               &error);
    read_clean(json_read_member(root, "text", &error), report->text, sizeof report->text, &error);
    const JsonNode *line =
        json_read_array(json_read_member(root, "lines", &error), 0, EVIDENCE_LINES_MAX, &error);
    for (; line != NULL && error.status == STATUS_OK; line = line->next) {
        read_line(serve, line, out, &error);
    }
    const bool is_report =
        report_reason_is_valid(text_from(report->reason)) && out->host.number > 0;
    return error.status == STATUS_OK && (is_report || out->report_id > 0);
}

static const JsonNode *parse_body(HttpRequest *request, HttpResponse *response)
{
    size_t bytes = 0;
    const char *body = (const char *)http_body(request, &bytes);
    void *memory = malloc(ARENA_BYTES);
    const JsonNode *root = NULL;
    http_keep(request, memory);
    if (memory == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return NULL;
    }
    Arena arena;
    arena_init(&arena, memory, ARENA_BYTES);
    const JsonConfig config = {.arena = &arena,
                               .bytes_max = REMOTE_EVIDENCE_BYTES_MAX,
                               .node_count_max = NODES_MAX,
                               .depth_max = 6};
    if (bytes == 0 || json_parse(&config, body, bytes, &root, NULL) != STATUS_OK ||
        root->kind != JSON_OBJECT) {
        http_fail(request, response, 400, "malformed", "the body is no JSON object");
        return NULL;
    }
    return serve_body_fits(root, request, response) ? root : NULL;
}

// One host reports as much as one address may, and each account as much as over HTTP. Who was not
// led to that world since this process began is not named: the host may have made them up.
static Status add_report(Serve *serve, Evidence *evidence, uint32_t *wait_s)
{
    StoreReport *report = &evidence->report;
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, evidence->host.host_id, strlen(evidence->host.host_id));
    if (!remote_world_was_led(serve, report->world_id, report->reporter_id)) {
        report->reporter_id = 0;
    }
    const uint64_t who = report->reporter_id != 0 ? report->reporter_id : hash.state;
    if (!control_may_report(serve->control, who, hash.state | 1, wait_s)) {
        return STATUS_LIMIT;
    }
    report->state = STORE_REPORT_OPEN;
    report->source = STORE_REPORT_GAME;
    return store_report_add_from(serve->store, &evidence->host, report, evidence->lines,
                                 evidence->line_count, REPORTS_OPEN_MAX);
}

static Status add_evidence(Serve *serve, Evidence *evidence)
{
    if (!remote_world_was_asked(serve, evidence->report.world_id, evidence->report_id)) {
        return STATUS_NOT_FOUND;
    }
    evidence->host.number = 0;
    evidence->report.report_id = evidence->report_id;
    const Status status =
        store_report_add_evidence(serve->store, &evidence->host, evidence->report_id,
                                  evidence->report.world_id, evidence->lines, evidence->line_count);
    return status == STATUS_EXISTS ? STATUS_OK : status; // it was sent again
}

static void answer(HttpRequest *request, HttpResponse *response, Status status,
                   const Evidence *evidence, uint32_t wait_s)
{
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 429, "too_many", "too many reports; try again later");
        response->retry_after_s = wait_s > 0 ? wait_s : 60;
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "nobody asked for this evidence");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    } else {
        ServeAnswer given;
        serve_answer_begin(&given, request);
        json_write_object_begin(&given.json);
        serve_write_number(&given.json, "report_id", evidence->report.report_id);
        json_write_object_end(&given.json);
        serve_answer_end(&given, response);
    }
}

void serve_hosts_evidence(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    uint32_t wait_s = 0;
    StoreWorld row;
    if (serve->remote_worlds == NULL) {
        http_fail(request, response, 404, "not_found", "this server is no control plane");
        return;
    }
    Evidence *evidence = calloc(1, sizeof *evidence);
    http_keep(request, evidence);
    if (evidence == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    const JsonNode *root = parse_body(request, response);
    if (root == NULL) {
        return;
    }
    if (!read_evidence(serve, request, root, evidence)) {
        http_fail(request, response, 400, "malformed",
                  "this is no report of a host: docs/HTTP.md says what is in one");
        return;
    }
    const char *world_id = evidence->report.world_id;
    if (store_world_is_held_by(serve->store, &evidence->holder, world_id, clock_unix_ms()) !=
            STATUS_OK ||
        store_world_find(serve->store, world_id, &row) != STATUS_OK) {
        http_fail(request, response, 409, "not_held", "this host does not hold the world");
        return;
    }
    memcpy(evidence->report.place_id, row.place_id, sizeof evidence->report.place_id);
    const Status status = evidence->report_id != 0 ? add_evidence(serve, evidence)
                                                   : add_report(serve, evidence, &wait_s);
    answer(request, response, status, evidence, wait_s);
}
