// See remote_worlds.h.
#define _GNU_SOURCE
#include "server/serve/remote/remote_worlds.h"

#include "core/base/hash.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/remote/http_remote.h"
#include "server/sys/clock.h"

#include <stdio.h>

#define ORDER_TEXT_BYTES 257
#define CHECK_NS         (3 * HOST_SECOND_NS) // how long the store's word on the lease is believed
#define NUMBER_MAX       ((int64_t)1 << 53)   // what JSON keeps exactly

typedef enum OrderKind { ORDER_KICK, ORDER_MUTE, ORDER_ANNOUNCE, ORDER_STOP } OrderKind;

typedef struct RemoteOrder {
    uint64_t number;
    OrderKind kind;
    uint64_t account, until_unix_ms;
    char text[ORDER_TEXT_BYTES];
} RemoteOrder;

typedef struct RemoteWorld {
    char world_id[65]; // "": free
    StoreHolder holder;
    uint64_t heard_ns;
    RemoteReport report;
    RemoteOrder orders[REMOTE_ORDERS_MAX]; // oldest first
    uint32_t order_count;
    uint64_t next_number;
    bool asks_again;                        // rules were not told: the host reports everybody anew
    uint64_t accounts[REMOTE_ACCOUNTS_MAX]; // that came last, a ring
    uint32_t account_next;
} RemoteWorld;

// Who was found to hold a world, and when.
typedef struct Checked {
    char world_id[65];
    StoreHolder holder;
    uint64_t ns;
} Checked;

struct RemoteWorlds {
    RemoteWorld *items[REMOTE_HOSTS_MAX]; // from malloc; the main thread's
    pthread_mutex_t lock;                 // of what follows
    Checked checked[REMOTE_HOSTS_MAX];    // by the world's hash; the last one stays
};

Status remote_worlds_create(RemoteWorlds **out)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&(*out)->lock, NULL);
    return STATUS_OK;
}

void remote_worlds_destroy(RemoteWorlds *worlds)
{
    if (worlds == NULL) {
        return;
    }
    for (uint32_t i = 0; i < REMOTE_HOSTS_MAX; i++) {
        free(worlds->items[i]);
    }
    pthread_mutex_destroy(&worlds->lock);
    free(worlds);
}

// --- who holds a world --------------------------------------------------------------------------

static bool is_same(const StoreHolder *a, const StoreHolder *b)
{
    return strcmp(a->host_id, b->host_id) == 0 && memcmp(a->boot, b->boot, sizeof a->boot) == 0;
}

static Checked *checked_slot(RemoteWorlds *worlds, const char *world_id)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, world_id, strlen(world_id));
    return &worlds->checked[hash.state % REMOTE_HOSTS_MAX];
}

static bool was_checked(RemoteWorlds *worlds, const char *world_id, const StoreHolder *holder)
{
    pthread_mutex_lock(&worlds->lock);
    const Checked *slot = checked_slot(worlds, world_id);
    const bool was = strcmp(slot->world_id, world_id) == 0 && is_same(&slot->holder, holder) &&
                     clock_ns() - slot->ns < CHECK_NS;
    pthread_mutex_unlock(&worlds->lock);
    return was;
}

static void note_checked(RemoteWorlds *worlds, const char *world_id, const StoreHolder *holder)
{
    pthread_mutex_lock(&worlds->lock);
    Checked *slot = checked_slot(worlds, world_id);
    *slot = (Checked){.holder = *holder, .ns = clock_ns()};
    snprintf(slot->world_id, sizeof slot->world_id, "%s", world_id);
    pthread_mutex_unlock(&worlds->lock);
}

static void forget_checked(RemoteWorlds *worlds, const char *world_id)
{
    pthread_mutex_lock(&worlds->lock);
    checked_slot(worlds, world_id)->world_id[0] = '\0';
    pthread_mutex_unlock(&worlds->lock);
}

// --- the table ----------------------------------------------------------------------------------

static bool is_heard(const RemoteWorld *world)
{
    return world != NULL && world->world_id[0] != '\0' &&
           clock_ns() - world->heard_ns < REMOTE_SILENT_MS * HOST_MS_NS;
}

static RemoteWorld *find(const Serve *serve, const char *world_id)
{
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (is_heard(world) && strcmp(world->world_id, world_id) == 0) {
            return world;
        }
    }
    return NULL;
}

// A free one, or one that was not heard of for too long. NULL: there is none.
static RemoteWorld *find_free(const Serve *serve)
{
    for (uint32_t i = 0; i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld **item = &serve->remote_worlds->items[i];
        if (*item == NULL) {
            *item = calloc(1, sizeof **item);
            return *item;
        }
        if (!is_heard(*item)) {
            return *item;
        }
    }
    return NULL;
}

const RemoteReport *remote_world_report(const Serve *serve, const HostWorld *world)
{
    const RemoteWorld *found =
        host_world_link(world) == NULL ? find(serve, host_world_view(world).row->world_id) : NULL;
    return found != NULL ? &found->report : NULL;
}

void remote_worlds_each(const Serve *serve, RemoteEach each, void *user)
{
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        const RemoteWorld *world = serve->remote_worlds->items[i];
        if (is_heard(world)) {
            each(user, world->world_id, &world->report);
        }
    }
}

void remote_world_end(Serve *serve, const char *world_id)
{
    RemoteWorld *world = find(serve, world_id);
    forget_checked(serve->remote_worlds, world_id);
    if (world != NULL) {
        world->world_id[0] = '\0';
    }
}

const char *remote_world_of(const Serve *serve, uint64_t account)
{
    const RemoteWorld *best = NULL;
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        const RemoteWorld *world = serve->remote_worlds->items[i];
        for (uint32_t k = 0; is_heard(world) && k < REMOTE_ACCOUNTS_MAX; k++) {
            best = world->accounts[k] == account ? world : best;
        }
    }
    return best != NULL ? best->world_id : NULL;
}

// --- orders -------------------------------------------------------------------------------------

static bool add_order(RemoteWorld *world, const RemoteOrder *order)
{
    if (world->order_count == REMOTE_ORDERS_MAX) {
        serve_log(LOG_WARN, "host", "too many orders wait for the host of world %s",
                  world->world_id);
        return false;
    }
    world->orders[world->order_count] = *order;
    world->orders[world->order_count++].number = world->next_number++;
    return true;
}

static RemoteOrder order_of(OrderKind kind, uint64_t account, const char *text)
{
    RemoteOrder order = {.kind = kind, .account = account};
    snprintf(order.text, sizeof order.text, "%s", text);
    return order;
}

// Whether orders for `where` are for this one.
static bool is_meant(const Serve *serve, const RemoteWorld *world, const char *where)
{
    const HostWorld *named = where[0] != '\0' ? host_world(serve->host, where) : NULL;
    return is_heard(world) &&
           (where[0] == '\0' ||
            (named != NULL && strcmp(host_world_view(named).row->world_id, world->world_id) == 0));
}

static RemoteTold tell(const Serve *serve, const char *where, const RemoteOrder *order)
{
    RemoteTold told = {0, 0};
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (is_meant(serve, world, where)) {
            const bool is_told = add_order(world, order);
            told.told += is_told;
            told.busy += !is_told;
        }
    }
    return told;
}

RemoteTold serve_kick(Serve *serve, uint64_t account, const char *where, const char *reason)
{
    const RemoteOrder order = order_of(ORDER_KICK, account, reason);
    RemoteTold told = tell(serve, where, &order);
    told.told += host_kick(serve->host, account, where, reason);
    return told;
}

RemoteTold serve_announce(Serve *serve, const char *where, const char *text)
{
    const RemoteOrder order = order_of(ORDER_ANNOUNCE, 0, text);
    RemoteTold told = tell(serve, where, &order);
    told.told += host_announce(serve->host, where, text);
    return told;
}

Status remote_world_stop(Serve *serve, const HostWorld *world, const char *reason)
{
    RemoteWorld *found =
        host_world_link(world) == NULL ? find(serve, host_world_view(world).row->world_id) : NULL;
    const RemoteOrder order = order_of(ORDER_STOP, 0, reason);
    if (found == NULL) {
        return STATUS_NOT_FOUND;
    }
    return add_order(found, &order) ? STATUS_OK : STATUS_LIMIT;
}

// What holds for them in that world. A mute that was lifted is told only if `unmutes`.
static void add_rules(const Serve *serve, RemoteWorld *world, uint64_t account, bool unmutes)
{
    const HostWorld *hosted = host_world(serve->host, world->world_id);
    if (hosted == NULL) {
        return;
    }
    const HostRules rules = hosted_rules(hosted, account);
    RemoteOrder order = {.account = account};
    if (rules.banned_until_unix_ms != 0) {
        order.kind = ORDER_KICK;
        host_ban_text(&rules, order.text, sizeof order.text);
    } else if (rules.muted_until_unix_ms != 0 || unmutes) {
        order.kind = ORDER_MUTE;
        order.until_unix_ms = rules.muted_until_unix_ms;
        snprintf(order.text, sizeof order.text, "%s", rules.mute_reason);
    } else {
        return;
    }
    world->asks_again = !add_order(world, &order) || world->asks_again;
}

void serve_rules_changed(Serve *serve, uint64_t account, const char *where)
{
    host_rules_changed(serve->host, account, where);
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (is_meant(serve, world, where)) {
            add_rules(serve, world, account, true);
        }
    }
}

static void forget_done(RemoteWorld *world, uint64_t done)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->order_count; i++) {
        if (world->orders[i].number > done) {
            world->orders[kept++] = world->orders[i];
        }
    }
    world->order_count = kept;
    world->next_number = done >= world->next_number ? done + 1 : world->next_number;
}

// --- reports ------------------------------------------------------------------------------------

typedef struct Reported {
    char world_id[65];
    StoreHolder holder;
    uint64_t done;
    RemoteReport report;
    uint64_t accounts[REMOTE_ACCOUNTS_PER_REPORT];
    uint32_t account_count;
} Reported;

static uint64_t read_number(const JsonNode *root, const char *name, int64_t high, JsonError *error)
{
    return (uint64_t)json_read_integer(json_read_member(root, name, error), 0, high, error);
}

static void read_boot(const char *text, StoreHolder *holder, JsonError *error)
{
    if (error->status != STATUS_OK) {
        return;
    }
    if (strlen(text) != 2 * STORE_BOOT_BYTES ||
        strspn(text, "0123456789abcdef") != 2 * (size_t)STORE_BOOT_BYTES) {
        error->status = STATUS_MALFORMED;
        return;
    }
    for (size_t i = 0; i < STORE_BOOT_BYTES; i++) {
        unsigned value = 0;
        (void)sscanf(text + 2 * i, "%2x", &value);
        holder->boot[i] = (uint8_t)value;
    }
}

static void read_accounts(const JsonNode *root, Reported *out, JsonError *error)
{
    const JsonNode *item = json_read_array(json_read_member(root, "accounts", error), 0,
                                           REMOTE_ACCOUNTS_PER_REPORT, error);
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        const char *text = json_read_text(item, 31, error);
        if (error->status == STATUS_OK &&
            !serve_account_read(text, &out->accounts[out->account_count++])) {
            error->status = STATUS_MALFORMED;
        }
    }
}

// One that a world with a process can be in.
static HostWorldState read_state(const JsonNode *root, JsonError *error)
{
    static const HostWorldState states[] = {WORLD_STARTING, WORLD_RUNNING, WORLD_STOPPING};
    const char *names[3];
    for (uint32_t i = 0; i < 3; i++) {
        names[i] = serve_state_name(states[i]);
    }
    return states[json_read_choice(json_read_member(root, "state", error), names, 3, error)];
}

static bool read_report(const JsonNode *root, Reported *out)
{
    JsonError error = {0};
    RemoteReport *report = &out->report;
    const char *world = json_read_text(json_read_member(root, "world_id", &error), 64, &error);
    const char *boot = json_read_text(json_read_member(root, "boot", &error), 32, &error);
    read_boot(boot, &out->holder, &error);
    out->done = read_number(root, "done", NUMBER_MAX, &error);
    report->state = read_state(root, &error);
    report->players = (uint32_t)read_number(root, "players", WORLD_PLAYERS_MAX, &error);
    report->tick = read_number(root, "tick", NUMBER_MAX, &error);
    report->late_p99_us = read_number(root, "late_p99_us", NUMBER_MAX, &error);
    report->work_max_us = read_number(root, "work_max_us", NUMBER_MAX, &error);
    report->memory_bytes = read_number(root, "memory_bytes", NUMBER_MAX, &error);
    report->uptime_s = read_number(root, "uptime_seconds", NUMBER_MAX, &error);
    report->crashes = read_number(root, "crashes", NUMBER_MAX, &error);
    read_accounts(root, out, &error);
    if (error.status != STATUS_OK) {
        return false;
    }
    snprintf(out->world_id, sizeof out->world_id, "%s", world);
    return true;
}

static void write_order(JsonWriter *json, const RemoteOrder *order)
{
    static const char *const names[] = {[ORDER_KICK] = "kick",
                                        [ORDER_MUTE] = "mute",
                                        [ORDER_ANNOUNCE] = "announce",
                                        [ORDER_STOP] = "stop"};
    char account[32];
    serve_account_text(order->account, false, account);
    json_write_object_begin(json);
    serve_write_number(json, "number", order->number);
    serve_write_member(json, "order", names[order->kind]);
    serve_write_member(json, "account", order->account != 0 ? account : NULL);
    json_write_name(json, "until_unix_ms");
    if (order->until_unix_ms < (uint64_t)NUMBER_MAX) {
        json_write_integer(json, (int64_t)order->until_unix_ms);
    } else {
        json_write_null(json); // for good
    }
    serve_write_member(json, "text", order->text);
    json_write_object_end(json);
}

static void answer(Serve *serve, RemoteWorld *world, HttpRequest *request, HttpResponse *response)
{
    ByteWriter writer = byte_writer(serve_text(serve), SERVE_TEXT_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "draining");
    json_write_bool(&json, host_is_draining(serve->host));
    json_write_name(&json, "again");
    json_write_bool(&json, world->asks_again);
    json_write_name(&json, "orders");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < world->order_count && i < REMOTE_ORDERS_PER_ANSWER; i++) {
        write_order(&json, &world->orders[i]);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    serve_text_answer(serve, &json, &writer, request, response);
    world->asks_again = false;
}

static void note_account(RemoteWorld *world, uint64_t account)
{
    for (uint32_t i = 0; i < REMOTE_ACCOUNTS_MAX; i++) {
        if (world->accounts[i] == account) {
            return;
        }
    }
    world->accounts[world->account_next++ % REMOTE_ACCOUNTS_MAX] = account;
}

static void take_report(const Serve *serve, RemoteWorld *world, const Reported *reported)
{
    world->heard_ns = clock_ns();
    world->report = reported->report;
    memcpy(world->report.host_id, reported->holder.host_id, sizeof world->report.host_id);
    forget_done(world, reported->done);
    for (uint32_t i = 0; i < reported->account_count; i++) {
        note_account(world, reported->accounts[i]);
        add_rules(serve, world, reported->accounts[i], false);
    }
}

static void refuse_report(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 409, "not_held", "this host does not hold the world");
}

// False: the response says what is wrong.
static bool parse(HttpRequest *request, HttpResponse *response, Reported *out)
{
    const JsonNode *root = serve_body_object(request, response);
    if (root == NULL) {
        return false;
    }
    if (!read_report(root, out)) {
        http_fail(request, response, 400, "malformed",
                  "this is no report of a host: docs/HTTP.md says what is in one");
        return false;
    }
    remote_host_id(serve_host_key(request), out->world_id, out->holder.host_id);
    return true;
}

// Orders for another process went with its players. A process that is new here may have been told
// things by an earlier life of ours: its numbers go on, and it says again whom it let in.
static RemoteWorld *begin(const Serve *serve, RemoteWorld *world, const Reported *reported)
{
    world = world != NULL ? world : find_free(serve);
    if (world != NULL) {
        *world = (RemoteWorld){
            .holder = reported->holder, .next_number = reported->done + 1, .asks_again = true};
        memcpy(world->world_id, reported->world_id, sizeof world->world_id);
    }
    return world;
}

// On the main thread; that the host holds the world was looked up.
static bool answer_report(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    static Reported reported; // large, and the main thread's
    reported = (Reported){.done = 0};
    if (!parse(request, response, &reported)) {
        return true;
    }
    const HostWorld *hosted = host_world(serve->host, reported.world_id);
    if (hosted == NULL || host_world_link(hosted) != NULL) { // it has come to this process since
        refuse_report(request, response);
        return true;
    }
    RemoteWorld *world = find(serve, reported.world_id);
    if (world == NULL || !is_same(&world->holder, &reported.holder)) {
        world = begin(serve, world, &reported);
    }
    if (world == NULL) {
        http_fail(request, response, 503, "busy", "too many hosts report; try again");
        return true;
    }
    take_report(serve, world, &reported);
    answer(serve, world, request, response);
    return true;
}

// --- whose world it is --------------------------------------------------------------------------

typedef struct Check {
    Serve *serve;
    HttpDeferred *deferred;
    char world_id[65];
    StoreHolder holder;
} Check;

static void run_check(void *user, bool is_cancelled)
{
    const Check check = *(Check *)user; // it is the request's, and gone with it
    HttpResponse response = http_response_default();
    HttpRequest *request = http_deferred_request(check.deferred);
    if (is_cancelled) {
        http_fail(request, &response, 503, "stopping", "this server is going down");
    } else if (store_world_is_held_by(check.serve->store, &check.holder, check.world_id,
                                      clock_unix_ms()) == STATUS_OK) {
        note_checked(check.serve->remote_worlds, check.world_id, &check.holder);
        mailbox_pass(check.serve->mailbox, check.deferred, answer_report);
        return;
    } else {
        refuse_report(request, &response);
    }
    http_complete(check.deferred, &response);
}

void serve_hosts_report(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    Reported *reported = arena_alloc(http_arena(request), sizeof *reported);
    Check *check = arena_alloc(http_arena(request), sizeof *check);
    if (serve->remote_worlds == NULL) {
        http_fail(request, response, 404, "not_found", "this server is no control plane");
        return;
    }
    if (reported == NULL || check == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    *reported = (Reported){.done = 0};
    if (!parse(request, response, reported)) {
        return;
    }
    if (was_checked(serve->remote_worlds, reported->world_id, &reported->holder)) {
        mailbox_ask(serve->mailbox, request, response, answer_report);
        return;
    }
    *check = (Check){.serve = serve, .holder = reported->holder};
    memcpy(check->world_id, reported->world_id, sizeof check->world_id);
    check->deferred = http_defer(request, response);
    if (check->deferred != NULL && work_pool_submit(serve->pool, run_check, check) != STATUS_OK) {
        HttpResponse busy = http_response_default();
        http_fail(request, &busy, 503, "busy", "too much work waits; try again");
        http_complete(check->deferred, &busy);
    }
}
