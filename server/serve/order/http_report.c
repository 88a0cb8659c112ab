// Reports: made by whoever is signed in, over HTTP or from a game, and read by operators alone. A
// report is made in three hops: the main thread has the evidence, the pool has the disk.
//
//   POST /api/reports ──▶ main thread: world, evidence ──▶ pool: account, place, store ──▶ answer
//   a world says REPORT ──▶          the same                       the same
#define _GNU_SOURCE
#include "server/control/order/rights.h"
#include "server/host/host_people.h"
#include "server/serve/http/body.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/order/http_order.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/store/people/store_report.h"
#include "server/sys/clock.h"

#include "core/base/text.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>

#define REPORTS_MAX  100
#define ANSWER_BYTES (2u << 20)
#define NO_WORLD     "there is no such world here"
#define NOTE_RULE    "note and text are at most 500 bytes, without control or bidirectional characters"

bool serve_refuse_without_accounts(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    if (serve->control == NULL) {
        http_fail(request, response, 409, "no_accounts",
                  "this server has no accounts; `sandlot up` has");
    }
    return serve->control == NULL;
}

// --- a report on its way ------------------------------------------------------------------------

typedef struct ReportJob {
    Serve *serve;
    HttpDeferred *deferred; // NULL: from a game
    Identity who;           // of one over HTTP
    char account_text[64];  // the same: a name or client_id; "": none
    bool is_place_here;     // a place that this server runs
    bool names_world;       // what is reported is a world
    bool was_there;         // the one who reports was in the world, and the place is that of it
    bool is_elsewhere;      // the world runs on another machine, whose host has the evidence
    StoreReport report;
    StoreReportLine *lines; // a ring of EVIDENCE_LINES_MAX: the newest stay
    uint32_t line_first, line_count;
} ReportJob;

static void free_job(ReportJob *job)
{
    free(job->lines);
    free(job);
}

static void take_line(void *user, const HostHeard *heard)
{
    ReportJob *job = user;
    const bool is_full = job->line_count == EVIDENCE_LINES_MAX;
    StoreReportLine *line = &job->lines[(job->line_first + job->line_count) % EVIDENCE_LINES_MAX];
    job->line_first = (job->line_first + is_full) % EVIDENCE_LINES_MAX;
    job->line_count += !is_full;
    *line = (StoreReportLine){.kind = (uint8_t)heard->kind,
                              .is_known = heard->is_known,
                              .account_id = heard->account,
                              .unix_ms = heard->unix_ms};
    memcpy(line->text, heard->text.data, heard->text.bytes);
}

static ReportJob *make_job(Serve *serve, HostWorld *world)
{
    ReportJob *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return NULL;
    }
    job->serve = serve;
    job->report = (StoreReport){.state = STORE_REPORT_OPEN, .created_unix_ms = clock_unix_ms()};
    if (world != NULL) {
        const StoreWorld *row = host_world_view(world).row;
        memcpy(job->report.world_id, row->world_id, sizeof job->report.world_id);
        memcpy(job->report.place_id, row->place_id, sizeof job->report.place_id);
        job->lines = calloc(EVIDENCE_LINES_MAX, sizeof *job->lines);
        if (job->lines == NULL) {
            free_job(job);
            return NULL;
        }
        host_evidence(world, take_line, job);
        job->is_elsewhere = remote_world_report(serve, world) != NULL;
    }
    return job;
}

// The oldest first.
static void turn_lines(ReportJob *job)
{
    const uint32_t first = job->line_first;
    if (first == 0) {
        return;
    }
    StoreReportLine *turned = calloc(EVIDENCE_LINES_MAX, sizeof *turned);
    if (turned == NULL) {
        return; // out of order, with their times
    }
    for (uint32_t i = 0; i < job->line_count; i++) {
        turned[i] = job->lines[(first + i) % EVIDENCE_LINES_MAX];
    }
    free(job->lines);
    job->lines = turned;
}

// --- on the pool --------------------------------------------------------------------------------

// A place without a package is a folder that this host runs, which everybody may see. Who was in
// the world knows it, also if the place was closed since.
static bool may_see_place(const ReportJob *job)
{
    StorePackage package;
    uint32_t rights;
    if (job->report.place_id[0] == '\0' || job->was_there) {
        return true;
    }
    const Status status = store_package_find(job->serve->store, job->report.place_id, &package);
    return status == STATUS_NOT_FOUND ? job->is_place_here
                                      : rights_find(job->serve->store, job->report.place_id,
                                                    &job->who, &package, &rights) == STATUS_OK;
}

// Whoever reports must be able to see what it is about; false: the response says that it is not
// there.
static bool find_subject(ReportJob *job, HttpRequest *request, HttpResponse *response)
{
    StoreAccount account;
    if (job->account_text[0] != '\0') {
        if (!serve_find_account(job->serve, job->account_text, request, response, &account)) {
            return false;
        }
        job->report.account_id = account.account_id;
    }
    if (!may_see_place(job)) {
        http_fail(request, response, 404, "not_found",
                  job->names_world ? NO_WORLD : "there is no such place");
        return false;
    }
    return true;
}

static void answer_made(const StoreReport *report, HttpRequest *request, HttpResponse *response)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "report_id", report->report_id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    response->status = 201;
}

typedef struct EvidenceAsk {
    char world_id[65];
    uint64_t report_id;
} EvidenceAsk;

// On the main thread.
static void ask_evidence(void *user, void *what)
{
    const EvidenceAsk *ask = what;
    remote_world_ask_evidence(user, ask->world_id, ask->report_id);
    free(what);
}

// Without evidence a report is still one, so it is not waited for.
static void ask_elsewhere(const ReportJob *job)
{
    EvidenceAsk *ask = malloc(sizeof *ask);
    if (ask != NULL) {
        memcpy(ask->world_id, job->report.world_id, sizeof ask->world_id);
        ask->report_id = job->report.report_id;
        if (mailbox_post(job->serve->mailbox, ask_evidence, ask) != STATUS_OK) {
            free(ask);
        }
    }
}

static Status write_report(ReportJob *job)
{
    turn_lines(job);
    const Status status = store_report_add(job->serve->store, &job->report, job->lines,
                                           job->line_count, REPORTS_OPEN_MAX);
    if (status == STATUS_OK) {
        serve_log(LOG_INFO, "report", "report %llu: %s", (unsigned long long)job->report.report_id,
                  job->report.reason);
    }
    if (status == STATUS_OK && job->is_elsewhere) {
        ask_elsewhere(job);
    }
    return status;
}

static void store_job(void *user, bool is_cancelled)
{
    ReportJob *job = user;
    if (job->deferred == NULL) {
        if (!is_cancelled && write_report(job) != STATUS_OK) {
            serve_log(LOG_WARN, "report", "a report could not be stored: %s", job->report.reason);
        }
        free_job(job);
        return;
    }
    HttpDeferred *deferred = job->deferred;
    HttpRequest *request = http_deferred_request(deferred);
    HttpResponse response = http_response_default();
    if (is_cancelled) {
        http_fail(request, &response, 503, "stopping", "this server is going down");
    } else if (find_subject(job, request, &response)) {
        const Status status = write_report(job);
        if (status == STATUS_OK) {
            answer_made(&job->report, request, &response);
        } else {
            http_fail(request, &response, 503, status == STATUS_LIMIT ? "full" : "unavailable",
                      status == STATUS_LIMIT ? "too many reports are open; try again later"
                                             : "it could not be stored; try again");
        }
    }
    free_job(job);
    http_complete(deferred, &response);
}

static Status submit(ReportJob *job)
{
    const Status status = work_pool_submit(job->serve->pool, store_job, job);
    if (status != STATUS_OK) {
        free_job(job);
    }
    return status;
}

// --- from a game; on the main thread ------------------------------------------------------------

void serve_reported(void *user, HostWorld *world, const HostReport *report)
{
    Serve *serve = user;
    uint32_t wait_s;
    if (!control_may_report(serve->control, report->reporter, 0, &wait_s)) {
        return; // the same limit as over HTTP, and as silent as a report that nobody reads
    }
    ReportJob *job = make_job(serve, world);
    if (job == NULL) {
        return;
    }
    job->report.source = STORE_REPORT_GAME;
    job->report.reporter_id = report->reporter;
    job->report.account_id = report->account;
    memcpy(job->report.reason, report->reason.data, report->reason.bytes);
    memcpy(job->report.text, report->text.data, report->text.bytes);
    status_ignore(submit(job)); // too much waits: as if it had not been made
}

// --- over HTTP ----------------------------------------------------------------------------------

typedef struct ReportBody {
    char reason[REPORT_REASON_BYTES], text[STORE_REPORT_TEXT_BYTES];
    char account[64], world[65], place[65];
} ReportBody;

static bool read_report(HttpRequest *request, HttpResponse *response, ReportBody *out)
{
    const JsonNode *root = serve_body_object(request, response);
    *out = (ReportBody){0};
    if (root == NULL ||
        !serve_body_text(request, response, root, "reason", out->reason, sizeof out->reason) ||
        !serve_body_text(request, response, root, "text", out->text, sizeof out->text) ||
        !serve_body_text(request, response, root, "account", out->account, sizeof out->account) ||
        !serve_body_text(request, response, root, "world_id", out->world, sizeof out->world) ||
        !serve_body_text(request, response, root, "place_id", out->place, sizeof out->place)) {
        return false;
    }
    const char *wrong = NULL;
    if (!report_reason_is_valid(text_from(out->reason))) {
        wrong = "reason is one of: " REPORT_REASONS;
    } else if (!name_is_plain_line(out->text)) {
        wrong = NOTE_RULE;
    } else if (out->account[0] == '\0' && out->world[0] == '\0' && out->place[0] == '\0') {
        wrong = "name what is reported: account, world_id or place_id";
    }
    if (wrong != NULL) {
        http_fail(request, response, 400, "malformed", wrong);
    }
    return wrong == NULL;
}

static bool may_report_world(const HostWorld *world, const Identity *who)
{
    const Ticket ticket = host_people_ticket(who);
    return !host_world_view(world).row->is_private || host_world_is_open_to(world, &ticket) ||
           host_account_was_in(world, who->account);
}

static HostWorld *last_world(Serve *serve, uint64_t account)
{
    const char *elsewhere = remote_world_of(serve, account);
    HostWorld *here = host_world_of(serve->host, account);
    return here == NULL && elsewhere != NULL ? host_world(serve->host, elsewhere) : here;
}

// The evidence is that of the world which is named, or where the one who reports was last.
static bool take_report(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const Identity *who = serve_who(request);
    ReportBody body;
    if (!read_report(request, response, &body)) {
        return true;
    }
    HostWorld *world = body.world[0] != '\0' ? host_world(serve->host, body.world)
                                             : last_world(serve, who->account);
    if (body.world[0] != '\0' && (world == NULL || !may_report_world(world, who))) {
        http_fail(request, response, 404, "not_found", NO_WORLD);
        return true;
    }
    ReportJob *job = make_job(serve, world);
    if (job == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    job->deferred = deferred;
    job->who = *who;
    job->report.source = STORE_REPORT_PAGE;
    job->report.reporter_id = who->account;
    job->is_place_here = world != NULL;
    job->names_world = body.world[0] != '\0';
    job->was_there = world != NULL && host_account_was_in(world, who->account) &&
                     (body.place[0] == '\0' || strcmp(body.place, job->report.place_id) == 0);
    if (body.place[0] != '\0') {
        memcpy(job->report.place_id, body.place, sizeof job->report.place_id);
        job->is_place_here = host_place(serve->host, body.place) != NULL;
    }
    memcpy(job->account_text, body.account, sizeof job->account_text);
    memcpy(job->report.reason, body.reason, sizeof job->report.reason);
    memcpy(job->report.text, body.text, sizeof job->report.text);
    if (submit(job) != STATUS_OK) {
        http_fail(request, response, 503, "busy", "too much work waits; try again");
        return true;
    }
    return false;
}

void serve_post_report(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    ReportBody body;
    uint32_t wait_s = 0;
    if (serve_refuse_without_accounts(serve, request, response) ||
        !read_report(request, response, &body)) {
        return;
    }
    if (!control_may_report(serve->control, serve_who(request)->account,
                            serve_address_key(serve, request), &wait_s)) {
        http_fail(request, response, 429, "too_many", "you have reported a lot; try again later");
        response->retry_after_s = wait_s;
        return;
    }
    mailbox_ask(serve->mailbox, request, response, take_report);
}

// --- operators ----------------------------------------------------------------------------------

static const char *const state_names[] = {"any", "open", "dismissed", "acted"};

static bool read_state(const char *text, StoreReportState *out)
{
    for (uint32_t i = STORE_REPORT_OPEN; i <= STORE_REPORT_ACTED; i++) {
        if (strcmp(text, state_names[i]) == 0) {
            *out = (StoreReportState)i;
            return true;
        }
    }
    return false;
}

// As the API writes accounts; null for nobody, and a number for somebody who was deleted.
static void write_account(const Serve *serve, JsonWriter *json, const char *name, uint64_t number)
{
    char id[32];
    StoreAccount account;
    const Status status =
        number != 0 ? store_account_find(serve->store, number, &account) : STATUS_NOT_FOUND;
    serve_account_text(number, status == STATUS_OK && account.name[0] == '\0', id);
    serve_write_member(json, name, number != 0 ? id : NULL);
}

// What others read of them in a game.
static void write_shown_name(const Serve *serve, JsonWriter *json, const char *name,
                             uint64_t number)
{
    StoreAccount account;
    const bool is_known =
        number != 0 && store_account_find(serve->store, number, &account) == STATUS_OK;
    serve_write_member(json, name, is_known ? account.shown_name : NULL);
}

// Beside each account of a report its name, so that nobody has to look up numbers.
static void write_names(const Serve *serve, JsonWriter *json, const StoreReport *report)
{
    serve_write_name(serve, json, "reporter_name", report->reporter_id);
    serve_write_name(serve, json, "account_name", report->account_id);
    serve_write_name(serve, json, "handler_name", report->handler_id);
    write_shown_name(serve, json, "reporter_shown_name", report->reporter_id);
    write_shown_name(serve, json, "account_shown_name", report->account_id);
}

static void write_title(const Serve *serve, JsonWriter *json, const char *place_id)
{
    StorePackage package;
    const bool is_known =
        place_id[0] != '\0' && store_package_find(serve->store, place_id, &package) == STATUS_OK;
    serve_write_member(json, "place_title", is_known ? package.title : NULL);
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void write_members(const Serve *serve, JsonWriter *json, const StoreReport *report)
{
    serve_write_number(json, "report_id", report->report_id);
    serve_write_member(json, "state", state_names[report->state]);
    serve_write_member(json, "source", report->source == STORE_REPORT_GAME ? "game" : "page");
    write_account(serve, json, "reporter", report->reporter_id);
    write_account(serve, json, "account", report->account_id);
    serve_write_member(json, "place_id", or_null(report->place_id));
    write_title(serve, json, report->place_id);
    serve_write_member(json, "world_id", or_null(report->world_id));
    serve_write_member(json, "reason", report->reason);
    serve_write_member(json, "text", report->text);
    serve_write_member(json, "note", report->note);
    write_account(serve, json, "handler", report->handler_id);
    write_names(serve, json, report);
    StoreReportHost host;
    const bool is_hosts = store_report_host(serve->store, report->report_id, &host) == STATUS_OK;
    serve_write_member(json, "from_host", is_hosts ? host.host_id : NULL);
    serve_write_time(json, "created", report->created_unix_ms);
    if (report->handled_unix_ms != 0) {
        serve_write_time(json, "handled", report->handled_unix_ms);
    } else {
        serve_write_member(json, "handled", NULL);
    }
}

static void write_line(const Serve *serve, JsonWriter *json, const StoreReportLine *line)
{
    static const char *const kinds[] = {[HEARD_SAID] = "said",
                                        [HEARD_REFUSED] = "refused",
                                        [HEARD_CAME] = "came",
                                        [HEARD_LEFT] = "left"};
    StoreAccount account;
    const bool is_named = store_account_find(serve->store, line->account_id, &account) == STATUS_OK;
    json_write_object_begin(json);
    serve_write_time(json, "at", line->unix_ms);
    serve_write_member(json, "kind",
                       line->kind >= HEARD_SAID && line->kind <= HEARD_LEFT ? kinds[line->kind]
                                                                            : NULL);
    write_account(serve, json, "account", line->account_id);
    serve_write_member(json, "shown_name", is_named ? account.shown_name : NULL);
    serve_write_member(json, "text", line->text);
    json_write_name(json, "known");
    json_write_bool(json, line->is_known);
    json_write_object_end(json);
}

void serve_admin_get_reports(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *wanted = http_query(request, "state");
    StoreReportState state = STORE_REPORT_ANY;
    uint64_t below = STORE_REPORT_ALL, limit = 50;
    uint32_t count = 0;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    if ((wanted != NULL && !read_state(wanted, &state)) ||
        !serve_query_number(request, "before", STORE_REPORT_ALL, &below) ||
        !serve_query_number(request, "limit", REPORTS_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed",
                  "state is open, dismissed or acted, before the number of a report, limit 1 to "
                  "100");
        return;
    }
    StoreReport *rows = malloc(limit * sizeof *rows);
    ServeAnswer answer;
    http_keep(request, rows);
    if (rows == NULL ||
        store_reports(serve->store, state, below, rows, (uint32_t)limit, &count) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "reports cannot be read; try again");
        return;
    }
    serve_answer_begin_large(&answer, request, ANSWER_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "reports");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&answer.json);
        write_members(serve, &answer.json, &rows[i]);
        json_write_object_end(&answer.json);
    }
    json_write_array_end(&answer.json);
    if (count == limit) {
        serve_write_number(&answer.json, "next", rows[count - 1].report_id);
    } else {
        serve_write_member(&answer.json, "next", NULL);
    }
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// The report that the path names; false: the response says why not.
static bool find_report(Serve *serve, HttpRequest *request, HttpResponse *response,
                        StoreReport *out)
{
    uint64_t number = 0;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return false;
    }
    const char *text = http_path_part(request, 0);
    char *end = NULL;
    number = strtoull(text, &end, 10);
    const bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0';
    const Status status = is_number && number < STORE_REPORT_ALL
                              ? store_report_find(serve->store, number, out)
                              : STATUS_NOT_FOUND;
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such report");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "the report cannot be read; try again");
    }
    return status == STATUS_OK;
}

void serve_admin_get_report(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreReport report;
    ServeAnswer answer;
    uint32_t count = 0;
    if (!find_report(serve, request, response, &report)) {
        return;
    }
    StoreReportLine *lines = malloc(EVIDENCE_LINES_MAX * sizeof *lines);
    http_keep(request, lines);
    if (lines == NULL || store_report_lines(serve->store, report.report_id, lines,
                                            EVIDENCE_LINES_MAX, &count) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "the evidence cannot be read; try again");
        return;
    }
    // Who reads what people said is on record too.
    if (!serve_record(serve, "report.read", request, response)) {
        return;
    }
    serve_answer_begin_large(&answer, request, ANSWER_BYTES);
    json_write_object_begin(&answer.json);
    write_members(serve, &answer.json, &report);
    json_write_name(&answer.json, "evidence");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        write_line(serve, &answer.json, &lines[i]);
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_admin_post_report(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreReport report;
    char state[16] = "";
    const JsonNode *root = serve_body_object(request, response);
    if (root == NULL || !find_report(serve, request, response, &report) ||
        !serve_body_text(request, response, root, "state", state, sizeof state) ||
        !serve_body_text(request, response, root, "note", report.note, sizeof report.note)) {
        return;
    }
    if (!read_state(state, &report.state) || !name_is_plain_line(report.note)) {
        http_fail(request, response, 400, "malformed",
                  "state is open, dismissed or acted; " NOTE_RULE);
        return;
    }
    const Identity *who = serve_who(request);
    report.handler_id = who != NULL ? who->account : 0;
    report.handled_unix_ms = report.state != STORE_REPORT_OPEN ? clock_unix_ms() : 0;
    if (!serve_record(serve, "report.close", request, response)) {
        return;
    }
    if (store_report_close(serve->store, &report) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    write_members(serve, &answer.json, &report);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}
