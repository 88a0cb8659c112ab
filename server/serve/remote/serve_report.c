// What a host on another machine says of its world to the control plane, once a second, and does as
// it is answered (remote_worlds.h has the other side). One request is under way at a time, on the
// pool; what was ordered is done on the main thread before the next report says so. Orders have
// rising numbers: one that was done is never done again. Between reports the host fetches lists
// that have changed and sends evidence that waits.
#define _GNU_SOURCE
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/text.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/remote/remote_http.h"
#include "server/serve/remote/serve_ordered.h"
#include "server/serve/remote/serve_remote.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <stdio.h>

#define REPORT_BYTES     (16u << 10)
#define ANSWER_BYTES     (256u << 10)
#define ANSWER_NODES_MAX 512
#define ARENA_BYTES      (512u << 10)
#define LISTS_BYTES      (2u << 20)
#define URGENT_MS        100u // between reports, if there is something to ask for
#define STOP_MS          4500

typedef enum ReportState { REPORT_NONE, REPORT_SENT, REPORT_ANSWERED } ReportState;
typedef enum RequestKind { REQUEST_REPORT, REQUEST_LISTS, REQUEST_EVIDENCE } RequestKind;

struct ServeReport {
    RemoteHttp *http;
    atomic_bool cancel;
    atomic_int state; // ReportState; while it is SENT, all that follows is the pool's
    RequestKind kind; // of the request under way
    uint64_t sent_ns; // the last report
    uint64_t wait_ns; // nothing else is asked for before
    uint64_t lists;   // the version that the control plane has
    bool is_urgent;   // there is more to be told
    const uint8_t *evidence;
    size_t evidence_bytes;
    char text[REPORT_BYTES];
    size_t bytes;
    uint64_t accounts[REMOTE_ACCOUNTS_PER_REPORT]; // in that report
    uint32_t account_count;
    uint64_t done; // the last order
    RemoteHttpReply reply;
    _Alignas(16) uint8_t arena[ARENA_BYTES];
};

Status serve_report_open(Serve *serve, const char *key)
{
    struct ServeReport *report = calloc(1, sizeof *report);
    if (report == NULL) {
        return STATUS_LIMIT;
    }
    serve->report = report;
    const Status status = serve_ordered_open(serve);
    if (status != STATUS_OK) {
        return status;
    }
    return remote_http_create(serve->config.control_plane, key, &report->cancel, &report->http);
}

void serve_report_stop(Serve *serve)
{
    if (serve->report != NULL) {
        atomic_store(&serve->report->cancel, true);
    }
}

void serve_report_close(Serve *serve)
{
    if (serve->report != NULL) {
        remote_http_destroy(serve->report->http);
        free(serve->report->reply.body);
        free(serve->report);
        serve->report = NULL;
    }
    serve_ordered_close(serve);
}

// --- what is said -------------------------------------------------------------------------------

static void write_accounts(struct ServeReport *report, JsonWriter *json)
{
    json_write_name(json, "accounts");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < report->account_count; i++) {
        char id[32];
        serve_account_text(report->accounts[i], false, id);
        json_write_text(json, id);
    }
    json_write_array_end(json);
}

static bool write_report(Serve *serve)
{
    struct ServeReport *report = serve->report;
    const HostWorldView view = host_world_view(serve->one_world);
    const HostLink *link = host_world_link(serve->one_world);
    char boot[2 * TICKET_BOOT_BYTES + 1];
    for (size_t i = 0; i < TICKET_BOOT_BYTES; i++) {
        snprintf(boot + 2 * i, 3, "%02x", serve->boot[i]);
    }
    report->account_count =
        host_accounts_new(serve->host, report->accounts, REMOTE_ACCOUNTS_PER_REPORT);
    ByteWriter writer = byte_writer(report->text, sizeof report->text);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    serve_write_member(&json, "world_id", view.row->world_id);
    serve_write_member(&json, "boot", boot);
    serve_write_number(&json, "done", report->done);
    serve_write_member(&json, "state", serve_state_name(view.state));
    serve_write_number(&json, "players", view.players);
    serve_write_number(&json, "tick", view.stats->tick);
    serve_write_number(&json, "late_p99_us", view.stats->late_p99_us);
    serve_write_number(&json, "work_max_us", view.stats->work_max_us);
    serve_write_number(&json, "memory_bytes", process_resident_bytes(link_process_pid(link)));
    serve_write_number(&json, "uptime_seconds", view.up_ns / HOST_SECOND_NS);
    serve_write_number(&json, "crashes", view.crashes);
    write_accounts(report, &json);
    serve_reload_write(serve, &json);
    json_write_object_end(&json);
    report->bytes = writer.at;
    return json_writer_finish(&json) == STATUS_OK;
}

static void run_report(void *user, bool is_cancelled)
{
    struct ServeReport *report = user;
    if (is_cancelled) {
        report->reply = (RemoteHttpReply){.end = REMOTE_HTTP_UNSENT};
    } else if (report->kind == REQUEST_LISTS) {
        report->reply =
            remote_http_ask(report->http, "/api/hosts/lists", NULL, NULL, 0, LISTS_BYTES);
    } else if (report->kind == REQUEST_EVIDENCE) {
        report->reply = remote_http_ask(report->http, "/api/hosts/evidence", "application/json",
                                        report->evidence, report->evidence_bytes, ANSWER_BYTES);
    } else {
        report->reply = remote_http_ask(report->http, "/api/hosts/report", "application/json",
                                        report->text, report->bytes, ANSWER_BYTES);
    }
    atomic_store(&report->state, REPORT_ANSWERED);
}

// --- what is done -------------------------------------------------------------------------------

typedef struct Order {
    uint64_t number, account, until_unix_ms, report_id;
    const char *name, *text, *blocks;
    ChatRule chat;
    uint8_t place_hash[32], revision[32];
    bool is_now;
} Order;

static ChatRule read_chat(const JsonNode *node, JsonError *error)
{
    ChatRule rule = CHAT_OFF;
    const char *name = json_read_text(node, 16, error);
    if (error->status == STATUS_OK && !chat_rule_read(text_from(name), &rule)) {
        error->status = STATUS_MALFORMED;
    }
    return rule;
}

// What a "rules" order has besides.
static void read_rules(const JsonNode *node, Order *order, JsonError *error)
{
    const JsonNode *until = json_read_member(node, "until_unix_ms", error);
    if (until != NULL && until->kind != JSON_NULL) {
        order->until_unix_ms = (uint64_t)json_read_integer(until, 0, (int64_t)1 << 53, error);
    }
    order->chat = read_chat(json_read_member(node, "chat", error), error);
    order->blocks =
        json_read_text(json_read_member(node, "blocks", error), BLOCKS_PER_ACCOUNT_MAX * 21, error);
}

static void read_hash_member(const JsonNode *node, uint8_t out[32], JsonError *error)
{
    const char *text = json_read_text(node, 64, error);
    if (error->status == STATUS_OK && !serve_remote_read_hex(text, out)) {
        error->status = STATUS_MALFORMED;
    }
}

static Order read_order(const JsonNode *node, JsonError *error)
{
    const JsonNode *account = json_find(node, "account");
    Order order = {.until_unix_ms = HOST_BAN_FOREVER};
    const int64_t most = (int64_t)1 << 53;
    order.number =
        (uint64_t)json_read_integer(json_read_member(node, "number", error), 1, most, error);
    order.name = json_read_text(json_read_member(node, "order", error), 32, error);
    order.text = json_read_text(json_read_member(node, "text", error), 512, error);
    if (strcmp(order.name, "rules") == 0) {
        read_rules(node, &order, error);
    } else if (strcmp(order.name, "evidence") == 0) {
        order.report_id =
            (uint64_t)json_read_integer(json_read_member(node, "report_id", error), 1, most, error);
    } else if (strcmp(order.name, "reload") == 0) {
        read_hash_member(json_read_member(node, "place_hash", error), order.place_hash, error);
        read_hash_member(json_read_member(node, "revision", error), order.revision, error);
        order.is_now = json_read_bool(json_read_member(node, "restart", error), error);
    }
    if (account != NULL && account->kind != JSON_NULL &&
        !serve_account_read(json_read_text(account, 31, error), &order.account)) {
        error->status = STATUS_MALFORMED;
    }
    return order;
}

static void do_rules(Serve *serve, const Order *order)
{
    OrderedPerson person = {
        .account = order->account,
        .rules = {.muted_until_unix_ms = order->until_unix_ms, .chat = order->chat},
        .blocks = order->blocks};
    snprintf(person.rules.mute_reason, sizeof person.rules.mute_reason, "%s", order->text);
    serve_ordered_put(serve, &person);
}

// As an operator does it where the world is of the same process.
static void do_order(Serve *serve, const Order *order)
{
    if (strcmp(order->name, "rules") == 0) {
        do_rules(serve, order);
        return;
    }
    serve_log(LOG_INFO, "host", "the control plane orders: %.16s: %.120s", order->name,
              order->text);
    if (strcmp(order->name, "kick") == 0) {
        (void)host_kick(serve->host, order->account, "", order->text);
    } else if (strcmp(order->name, "evidence") == 0) {
        serve_ordered_evidence(serve, order->report_id);
    } else if (strcmp(order->name, "reload") == 0) {
        serve_reload_order(serve, order->number, order->place_hash, order->revision, order->is_now);
    } else if (strcmp(order->name, "announce") == 0) {
        (void)host_announce(serve->host, "", order->text);
    } else if (strcmp(order->name, "stop") == 0) {
        host_world_shut(serve->one_world, order->text);
        atomic_store(&serve->is_stopping, true);
        host_stop(serve->host, STOP_MS); // this process is its world
    }
}

static void do_orders(Serve *serve, const JsonNode *root)
{
    struct ServeReport *report = serve->report;
    JsonError error = {0};
    const bool drains = json_read_bool(json_read_member(root, "draining", &error), &error);
    const bool again = json_read_bool(json_read_member(root, "again", &error), &error);
    const ChatRule chat = read_chat(json_read_member(root, "chat", &error), &error);
    const uint64_t lists = (uint64_t)json_read_integer(json_read_member(root, "lists", &error), 1,
                                                       (int64_t)1 << 53, &error);
    const bool is_more = json_read_bool(json_read_member(root, "more", &error), &error);
    const JsonNode *node = json_read_array(json_read_member(root, "orders", &error), 0,
                                           REMOTE_ORDERS_PER_ANSWER, &error);
    if (error.status != STATUS_OK) {
        return;
    }
    const JsonNode *wants = json_find(root, "wants_scripts");
    serve_reload_wants_costs(serve, wants != NULL && wants->kind == JSON_BOOL && wants->boolean);
    report->lists = lists;
    report->is_urgent = is_more || again;
    serve_ordered_chat(serve, chat);
    host_accounts_known(serve->host, report->accounts, report->account_count);
    if (again) {
        host_accounts_unknown(serve->host);
    }
    host_drain(serve->host, drains);
    atomic_store(&serve->is_draining, drains);
    for (; node != NULL; node = node->next) {
        const Order order = read_order(node, &error);
        if (error.status != STATUS_OK) {
            serve_log(LOG_WARN, "host", "the control plane's orders make no sense");
            return;
        }
        if (order.number > report->done) {
            report->done = order.number;
            do_order(serve, &order);
        }
    }
}

static void take_orders(Serve *serve, const RemoteHttpReply *reply)
{
    struct ServeReport *report = serve->report;
    const JsonNode *root = NULL;
    Arena arena;
    arena_init(&arena, report->arena, sizeof report->arena);
    const JsonConfig config = {.arena = &arena,
                               .bytes_max = ANSWER_BYTES,
                               .node_count_max = ANSWER_NODES_MAX,
                               .depth_max = 8};
    if (json_parse(&config, (const char *)reply->body, reply->bytes, &root, NULL) == STATUS_OK) {
        do_orders(serve, root);
    }
}

// One that the control plane does not want is not sent again.
static void take_evidence(Serve *serve, const RemoteHttpReply *reply)
{
    const bool is_answered = reply->end == REMOTE_HTTP_ANSWERED;
    if (is_answered && reply->status < 500) {
        if (reply->status != 200) {
            serve_log(LOG_WARN, "host", "the control plane refused a report: %ld", reply->status);
        }
        serve_ordered_sent(serve);
    } else {
        serve->report->wait_ns = clock_ns() + REMOTE_REPORT_MS * HOST_MS_NS;
    }
}

// If there is a newer version already, or none came, it is asked for a second later.
static void take_lists(Serve *serve, const RemoteHttpReply *reply)
{
    struct ServeReport *report = serve->report;
    if (reply->end == REMOTE_HTTP_ANSWERED && reply->status == 200) {
        status_ignore(serve_ordered_take_lists(serve, reply->body, reply->bytes));
    }
    if (serve_ordered_lists_version(serve) != report->lists) {
        report->wait_ns = clock_ns() + REMOTE_REPORT_MS * HOST_MS_NS;
    }
}

static void take_answer(Serve *serve)
{
    struct ServeReport *report = serve->report;
    const RemoteHttpReply *reply = &report->reply;
    if (report->kind == REQUEST_LISTS) {
        take_lists(serve, reply);
    } else if (report->kind == REQUEST_EVIDENCE) {
        take_evidence(serve, reply);
    } else if (reply->end == REMOTE_HTTP_ANSWERED && reply->status == 200) {
        take_orders(serve, reply);
    }
    free(report->reply.body);
    report->reply = (RemoteHttpReply){.body = NULL};
}

static bool is_report_due(Serve *serve)
{
    struct ServeReport *report = serve->report;
    const uint64_t since = clock_ns() - report->sent_ns;
    report->is_urgent = serve_ordered_is_urgent(serve) || report->is_urgent;
    return since >= (report->is_urgent ? URGENT_MS : REMOTE_REPORT_MS) * HOST_MS_NS;
}

// What is sent next: a report if it is time, else what waits. False: nothing.
static bool choose_request(Serve *serve)
{
    struct ServeReport *report = serve->report;
    if (is_report_due(serve)) {
        report->kind = REQUEST_REPORT;
        report->sent_ns = clock_ns();
        report->is_urgent = false;
        return write_report(serve);
    }
    if (clock_ns() < report->wait_ns) {
        return false;
    }
    if (report->lists != serve_ordered_lists_version(serve)) {
        report->kind = REQUEST_LISTS;
        return true;
    }
    report->kind = REQUEST_EVIDENCE;
    report->evidence = serve_ordered_waiting(serve, &report->evidence_bytes);
    return report->evidence != NULL;
}

// A control plane that is away is asked again a second later; the store says so in the log.
void serve_report_step(Serve *serve)
{
    struct ServeReport *report = serve->report;
    if (report == NULL || atomic_load(&report->state) == REPORT_SENT) {
        return;
    }
    if (atomic_load(&report->state) == REPORT_ANSWERED) {
        take_answer(serve);
        atomic_store(&report->state, REPORT_NONE);
    }
    if (serve->one_world == NULL || host_world_link(serve->one_world) == NULL ||
        host_is_stopping(serve->host)) {
        return;
    }
    if (choose_request(serve)) {
        atomic_store(&report->state, REPORT_SENT);
        if (work_pool_submit(serve->pool, run_report, report) != STATUS_OK) {
            atomic_store(&report->state, REPORT_NONE);
        }
    }
}
