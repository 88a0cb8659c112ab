// See remote_worlds.h.
#define _GNU_SOURCE
#include "server/serve/remote/remote_worlds_inside.h"
#include "server/serve/remote/serve_fleet.h"

#include "core/base/hash.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/order/http_order.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/http_remote.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <stdio.h>

#define CHECK_NS   (3 * HOST_SECOND_NS) // how long the store's word on the lease is believed
#define NUMBER_MAX REMOTE_NUMBER_MAX

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
        if (worlds->items[i] != NULL) {
            free(worlds->items[i]->scripts);
        }
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

static uint64_t id_hash(const char *world_id)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, world_id, strlen(world_id));
    return hash.state;
}

static Checked *checked_slot(RemoteWorlds *worlds, const char *world_id)
{
    return &worlds->checked[id_hash(world_id) % REMOTE_HOSTS_MAX];
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

// --- what this process knows itself -------------------------------------------------------------

static LedTo *led_slot(RemoteWorlds *worlds, uint64_t account, uint64_t world)
{
    return &worlds->led[((account ^ world) * 0x9e3779b97f4a7c15ull >> 32) % REMOTE_LED_MAX];
}

void remote_world_led(Serve *serve, const char *world_id, uint64_t account)
{
    RemoteWorlds *worlds = serve->remote_worlds;
    const LedTo led = {account, id_hash(world_id)};
    if (worlds != NULL) {
        pthread_mutex_lock(&worlds->lock);
        *led_slot(worlds, led.account, led.world) = led;
        pthread_mutex_unlock(&worlds->lock);
    }
}

bool remote_world_was_led(const Serve *serve, const char *world_id, uint64_t account)
{
    RemoteWorlds *worlds = serve->remote_worlds;
    const uint64_t world = id_hash(world_id);
    pthread_mutex_lock(&worlds->lock);
    const LedTo led = *led_slot(worlds, account, world);
    pthread_mutex_unlock(&worlds->lock);
    return account != 0 && led.account == account && led.world == world;
}

bool remote_world_was_asked(const Serve *serve, const char *world_id, uint64_t report_id)
{
    RemoteWorlds *worlds = serve->remote_worlds;
    const uint64_t world = id_hash(world_id);
    bool was = false;
    pthread_mutex_lock(&worlds->lock);
    for (uint32_t i = 0; i < REMOTE_ASKED_MAX && !was; i++) {
        was = worlds->asked[i].report_id == report_id && worlds->asked[i].world == world;
    }
    pthread_mutex_unlock(&worlds->lock);
    return was && report_id != 0;
}

// --- the table ----------------------------------------------------------------------------------

bool remote_world_is_heard(const RemoteWorld *world)
{
    return world != NULL && world->world_id[0] != '\0' &&
           clock_ns() - world->heard_ns < REMOTE_SILENT_MS * HOST_MS_NS;
}

RemoteWorld *remote_world_find(const Serve *serve, const char *world_id)
{
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (remote_world_is_heard(world) && strcmp(world->world_id, world_id) == 0) {
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
        if (!remote_world_is_heard(*item)) {
            return *item;
        }
    }
    return NULL;
}

const RemoteReport *remote_world_report(const Serve *serve, const HostWorld *world)
{
    const RemoteWorld *found = host_world_link(world) == NULL
                                   ? remote_world_find(serve, host_world_view(world).row->world_id)
                                   : NULL;
    return found != NULL ? &found->report : NULL;
}

void remote_worlds_each(const Serve *serve, RemoteEach each, void *user)
{
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        const RemoteWorld *world = serve->remote_worlds->items[i];
        if (remote_world_is_heard(world)) {
            each(user, world->world_id, &world->report);
        }
    }
}

// One that was not heard of for too long, and whose place in the table nobody else has taken.
static RemoteWorld *find_silent(const Serve *serve, const char *world_id)
{
    for (uint32_t i = 0; i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (world != NULL && strcmp(world->world_id, world_id) == 0) {
            return world;
        }
    }
    return NULL;
}

// What is known of it goes, but for the form of its place that the same process was told of: new
// scripts that failed there are not sent again.
static void begin_anew(Serve *serve, RemoteWorld *world, const char *world_id,
                       const StoreHolder *holder, uint64_t next_number)
{
    uint8_t told[sizeof world->told_place] = {0};
    if (strcmp(world->world_id, world_id) == 0 && is_same(&world->holder, holder)) {
        memcpy(told, world->told_place, sizeof told);
    }
    remote_reload_forget(serve, world);
    memset(world, 0, sizeof *world); // too large for the stack
    world->holder = *holder;
    world->next_number = next_number;
    world->asks_again = true;
    snprintf(world->world_id, sizeof world->world_id, "%s", world_id);
    memcpy(world->told_place, told, sizeof told);
}

void remote_world_taken(Serve *serve, const char *world_id, const StoreHolder *holder,
                        const ServePlace *form)
{
    RemoteWorld *world = remote_world_find(serve, world_id);
    if (world == NULL || !is_same(&world->holder, holder) || form == NULL) {
        remote_world_end(serve, world_id);
        return;
    }
    remote_reload_taken(serve, world, form);
    begin_anew(serve, world, world_id, holder, world->next_number);
    world->heard_ns = clock_ns();
    world->report.state = WORLD_STARTING;
    memcpy(world->report.host_id, holder->host_id, sizeof world->report.host_id);
    sha256_hex(form->hash, world->report.place_hash);
}

void remote_world_end(Serve *serve, const char *world_id)
{
    RemoteWorld *world = remote_world_find(serve, world_id);
    forget_checked(serve->remote_worlds, world_id);
    if (world != NULL) {
        remote_reload_forget(serve, world);
        world->world_id[0] = '\0';
    }
}

const char *remote_world_of(const Serve *serve, uint64_t account)
{
    const RemoteWorld *best = NULL;
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        const RemoteWorld *world = serve->remote_worlds->items[i];
        for (uint32_t k = 0; remote_world_is_heard(world) && k < world->person_count; k++) {
            const RemotePerson *person = &world->people[k];
            best = person->account == account && person->has_come ? world : best;
        }
    }
    return best != NULL ? best->world_id : NULL;
}

uint32_t remote_accounts_in(const Serve *serve, const char *place_id, uint64_t *out, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        const RemoteWorld *world = serve->remote_worlds->items[i];
        const HostWorld *row =
            remote_world_is_heard(world) ? host_world(serve->host, world->world_id) : NULL;
        if (row == NULL || strcmp(host_world_view(row).row->place_id, place_id) != 0) {
            continue;
        }
        for (uint32_t k = 0; k < world->person_count && count < max; k++) {
            if (world->people[k].has_come) {
                out[count++] = world->people[k].account;
            }
        }
    }
    return count;
}

// --- orders -------------------------------------------------------------------------------------

bool remote_add_order(RemoteWorld *world, const RemoteOrder *order)
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
    return remote_world_is_heard(world) &&
           (where[0] == '\0' ||
            (named != NULL && strcmp(host_world_view(named).row->world_id, world->world_id) == 0));
}

static RemoteTold send_order(const Serve *serve, const char *where, const RemoteOrder *order)
{
    RemoteTold told = {0, 0};
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (is_meant(serve, world, where)) {
            const bool is_told = remote_add_order(world, order);
            told.told += is_told;
            told.busy += !is_told;
        }
    }
    return told;
}

RemoteTold serve_kick(Serve *serve, uint64_t account, const char *where, const char *reason)
{
    const RemoteOrder order = order_of(ORDER_KICK, account, reason);
    RemoteTold told = send_order(serve, where, &order);
    told.told += host_kick(serve->host, account, where, reason) + fleet_played(serve, where);
    serve_tell_kick(serve, account, where, reason);
    return told;
}

void serve_kick_from_place(Serve *serve, uint64_t account, const char *place_id, const char *reason)
{
    const RemoteOrder order = order_of(ORDER_KICK, account, reason);
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        const HostWorld *row =
            remote_world_is_heard(world) ? host_world(serve->host, world->world_id) : NULL;
        if (row != NULL && strcmp(host_world_view(row).row->place_id, place_id) == 0) {
            (void)remote_add_order(world, &order); // or the log says so
        }
    }
    (void)host_kick_from_place(serve->host, account, place_id, reason);
    char where[66];
    snprintf(where, sizeof where, "@%.64s", place_id);
    serve_tell_kick(serve, account, where, reason);
}

RemoteTold serve_announce(Serve *serve, const char *where, const char *text)
{
    const RemoteOrder order = order_of(ORDER_ANNOUNCE, 0, text);
    RemoteTold told = send_order(serve, where, &order);
    told.told += host_announce(serve->host, where, text) + fleet_played(serve, where);
    host_peers_say(serve->host, where, text);
    return told;
}

Status remote_world_stop(Serve *serve, const HostWorld *world, const char *reason)
{
    RemoteWorld *found = host_world_link(world) == NULL
                             ? remote_world_find(serve, host_world_view(world).row->world_id)
                             : NULL;
    const RemoteOrder order = order_of(ORDER_STOP, 0, reason);
    if (found == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (!remote_add_order(found, &order)) {
        return STATUS_LIMIT;
    }
    found->stop_ns = clock_ns();
    found->report.state = WORLD_STOPPING;
    return STATUS_OK;
}

bool remote_world_stops(const Serve *serve, const char *world_id)
{
    const RemoteWorld *world = remote_world_find(serve, world_id);
    return world != NULL && world->stop_ns != 0 &&
           clock_ns() - world->stop_ns < REMOTE_SILENT_MS * HOST_MS_NS;
}

void remote_world_ask_evidence(Serve *serve, const char *world_id, uint64_t report_id)
{
    RemoteWorlds *worlds = serve->remote_worlds;
    RemoteWorld *world = remote_world_find(serve, world_id);
    const RemoteOrder order = {.kind = ORDER_EVIDENCE, .report_id = report_id};
    if (world != NULL && remote_add_order(world, &order)) {
        pthread_mutex_lock(&worlds->lock);
        worlds->asked[worlds->asked_next++ % REMOTE_ASKED_MAX] =
            (Asked){report_id, id_hash(world_id)};
        pthread_mutex_unlock(&worlds->lock);
    }
}

// --- what holds for people ----------------------------------------------------------------------

static RemotePerson *find_person(RemoteWorld *world, uint64_t account)
{
    for (uint32_t i = 0; i < world->person_count; i++) {
        if (world->people[i].account == account) {
            return &world->people[i];
        }
    }
    return NULL;
}

// The oldest one gives way. Was it not told yet, the host reports everybody anew.
static RemotePerson *add_person(RemoteWorld *world, uint64_t account)
{
    RemotePerson *person = &world->people[world->person_next];
    world->person_next = (world->person_next + 1) % REMOTE_ACCOUNTS_MAX;
    world->person_count += world->person_count < REMOTE_ACCOUNTS_MAX;
    world->asks_again = world->asks_again || person->number != 0;
    *person = (RemotePerson){.account = account};
    return person;
}

static RemotePerson *person_of(RemoteWorld *world, uint64_t account)
{
    RemotePerson *person = find_person(world, account);
    return person != NULL ? person : add_person(world, account);
}

// Always with a new number: what was sent with the old one may be done already.
void serve_rules_changed(Serve *serve, uint64_t account, const char *where)
{
    host_rules_changed(serve->host, account, where);
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (is_meant(serve, world, where)) {
            person_of(world, account)->number = world->next_number++;
        }
    }
}

// Everybody may change these at any time, so only worlds that the account is in hear of it.
void serve_blocks_changed(Serve *serve, uint64_t account)
{
    host_blocks_changed(serve->host, account);
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        RemotePerson *person = remote_world_is_heard(world) ? find_person(world, account) : NULL;
        if (person == NULL && remote_world_is_heard(world) &&
            world->person_count == REMOTE_ACCOUNTS_MAX) {
            person = add_person(world, account); // it may be one who gave way
        }
        if (person != NULL) {
            person->number = world->next_number++;
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
    for (uint32_t i = 0; i < world->person_count; i++) {
        RemotePerson *person = &world->people[i];
        person->number = person->number > done ? person->number : 0;
    }
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
    RemoteReloadReport reload;
} Reported;

static uint64_t read_number(const JsonNode *root, const char *name, int64_t high, JsonError *error)
{
    return (uint64_t)json_read_integer(json_read_member(root, name, error), 0, high, error);
}

bool remote_boot_read(const char *text, StoreHolder *holder)
{
    if (strlen(text) != 2 * STORE_BOOT_BYTES ||
        strspn(text, "0123456789abcdef") != 2 * (size_t)STORE_BOOT_BYTES) {
        return false;
    }
    for (size_t i = 0; i < STORE_BOOT_BYTES; i++) {
        unsigned value = 0;
        (void)sscanf(text + 2 * i, "%2x", &value);
        holder->boot[i] = (uint8_t)value;
    }
    return true;
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
    if (error.status == STATUS_OK && !remote_boot_read(boot, &out->holder)) {
        error.status = STATUS_MALFORMED;
    }
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
    const JsonNode *hash = json_find(root, "place_hash"), *reload = json_find(root, "reload");
    if (hash != NULL) {
        snprintf(report->place_hash, sizeof report->place_hash, "%s",
                 json_read_text(hash, 64, &error));
    }
    remote_reload_read(reload, &out->reload, &error);
    if (error.status != STATUS_OK) {
        return false;
    }
    snprintf(out->world_id, sizeof out->world_id, "%s", world);
    return true;
}

static void write_until(JsonWriter *json, uint64_t until_unix_ms)
{
    json_write_name(json, "until_unix_ms");
    if (until_unix_ms < (uint64_t)NUMBER_MAX) {
        json_write_integer(json, (int64_t)until_unix_ms);
    } else {
        json_write_null(json); // for good
    }
}

static void begin_order(JsonWriter *json, uint64_t number, const char *name, uint64_t account,
                        const char *text)
{
    char id[32];
    serve_account_text(account, false, id);
    json_write_object_begin(json);
    serve_write_number(json, "number", number);
    serve_write_member(json, "order", name);
    serve_write_member(json, "account", account != 0 ? id : NULL);
    serve_write_member(json, "text", text);
}

static void write_order(JsonWriter *json, const RemoteOrder *order)
{
    static const char *const names[] = {[ORDER_KICK] = "kick",
                                        [ORDER_ANNOUNCE] = "announce",
                                        [ORDER_STOP] = "stop",
                                        [ORDER_EVIDENCE] = "evidence",
                                        [ORDER_RELOAD] = "reload"};
    begin_order(json, order->number, names[order->kind], order->account, order->text);
    if (order->kind == ORDER_EVIDENCE) {
        serve_write_number(json, "report_id", order->report_id);
    } else if (order->kind == ORDER_RELOAD) {
        char hex[65];
        sha256_hex(order->place_hash, hex);
        serve_write_member(json, "place_hash", hex);
        sha256_hex(order->revision, hex);
        serve_write_member(json, "revision", hex);
        json_write_name(json, "restart");
        json_write_bool(json, order->is_now);
    }
    json_write_object_end(json);
}

// "12 55 81": one text, because an answer has few nodes.
static void write_blocks(Serve *serve, JsonWriter *json, uint64_t account)
{
    static uint64_t blocked[BLOCKS_PER_ACCOUNT_MAX]; // the main thread's
    static char text[BLOCKS_PER_ACCOUNT_MAX * 21 + 1];
    const uint32_t count = serve_blocks(serve, account, blocked, BLOCKS_PER_ACCOUNT_MAX);
    size_t bytes = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        bytes += (size_t)snprintf(text + bytes, sizeof text - bytes, "%s%" PRIu64, i > 0 ? " " : "",
                                  blocked[i]);
    }
    serve_write_member(json, "blocks", text);
}

static void write_person(Serve *serve, JsonWriter *json, const RemoteWorld *world,
                         const RemotePerson *person)
{
    const HostRules rules = hosted_rules(host_world(serve->host, world->world_id), person->account);
    char text[ORDER_TEXT_BYTES];
    if (rules.banned_until_unix_ms != 0) {
        host_ban_text(&rules, text, sizeof text);
        begin_order(json, person->number, "kick", person->account, text);
    } else {
        begin_order(json, person->number, "rules", person->account, rules.mute_reason);
        write_until(json, rules.muted_until_unix_ms);
        serve_write_member(json, "chat", chat_rule_name(rules.chat));
        write_blocks(serve, json, person->account);
    }
    json_write_object_end(json);
}

static const RemotePerson *next_person(const RemoteWorld *world, uint64_t above)
{
    const RemotePerson *next = NULL;
    for (uint32_t i = 0; i < world->person_count; i++) {
        const RemotePerson *person = &world->people[i];
        if (person->number > above && (next == NULL || person->number < next->number)) {
            next = person;
        }
    }
    return next;
}

// In the order of their numbers, because the host says the highest one that it has done. False:
// there are more.
static bool write_orders(Serve *serve, JsonWriter *json, const RemoteWorld *world)
{
    uint64_t last = 0;
    uint32_t at = 0, count = 0;
    const RemotePerson *person = next_person(world, last);
    while ((at < world->order_count || person != NULL) && count < REMOTE_ORDERS_PER_ANSWER) {
        if (person == NULL ||
            (at < world->order_count && world->orders[at].number < person->number)) {
            write_order(json, &world->orders[at++]);
        } else {
            write_person(serve, json, world, person);
            last = person->number;
            person = next_person(world, last);
        }
        count += 1;
    }
    return at == world->order_count && person == NULL;
}

static ChatRule chat_rule_of(Serve *serve, const RemoteWorld *world)
{
    char package_id[PLACE_KEY_BYTES];
    place_id_package(host_world_view(host_world(serve->host, world->world_id)).row->place_id,
                     package_id);
    return control_chat_in(serve->control, package_id);
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
    serve_write_member(&json, "chat", chat_rule_name(chat_rule_of(serve, world)));
    serve_write_number(&json, "lists", control_lists_version(serve->control));
    json_write_name(&json, "orders");
    json_write_array_begin(&json);
    const bool is_all = write_orders(serve, &json, world);
    json_write_array_end(&json);
    json_write_name(&json, "more");
    json_write_bool(&json, !is_all);
    json_write_name(&json, "wants_scripts");
    json_write_bool(&json, remote_reload_wants_scripts(world));
    json_write_object_end(&json);
    serve_text_answer(serve, &json, &writer, request, response);
    world->asks_again = false;
}

// Somebody who is about to be told already gets no other number: what they are told is looked up.
static void take_account(RemoteWorld *world, uint64_t account)
{
    RemotePerson *person = person_of(world, account);
    person->has_come = true;
    person->number = person->number != 0 ? person->number : world->next_number++;
}

static void take_report(Serve *serve, RemoteWorld *world, const Reported *reported)
{
    world->heard_ns = clock_ns();
    world->report = reported->report;
    memcpy(world->report.host_id, reported->holder.host_id, sizeof world->report.host_id);
    if (remote_world_stops(serve, world->world_id)) {
        world->report.state = WORLD_STOPPING; // it was told so, perhaps not yet
    }
    forget_done(world, reported->done);
    for (uint32_t i = 0; i < reported->account_count; i++) {
        take_account(world, reported->accounts[i]);
    }
    remote_reload_heard(serve, world, &reported->reload);
    remote_reload_look(serve, world);
}

static void refuse_report(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 409, "not_held", "this host does not hold the world");
}

// False: the response says what is wrong.
static bool parse_report(HttpRequest *request, HttpResponse *response, Reported *out)
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
static RemoteWorld *begin_world(Serve *serve, RemoteWorld *world, const Reported *reported)
{
    world = world != NULL ? world : find_silent(serve, reported->world_id);
    world = world != NULL ? world : find_free(serve);
    if (world != NULL) {
        begin_anew(serve, world, reported->world_id, &reported->holder, reported->done + 1);
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
    if (!parse_report(request, response, &reported)) {
        return true;
    }
    const HostWorld *hosted = host_world(serve->host, reported.world_id);
    if (hosted == NULL || host_world_link(hosted) != NULL) { // it has come to this process since
        refuse_report(request, response);
        return true;
    }
    RemoteWorld *world = remote_world_find(serve, reported.world_id);
    if (world == NULL || !is_same(&world->holder, &reported.holder)) {
        world = begin_world(serve, world, &reported);
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
    MailHandler answer;
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
        mailbox_pass(check.serve->mailbox, check.deferred, check.answer);
        return;
    } else {
        refuse_report(request, &response);
    }
    http_complete(check.deferred, &response);
}

void remote_ask_held(Serve *serve, HttpRequest *request, HttpResponse *response,
                     const char *world_id, const StoreHolder *holder, MailHandler handler)
{
    if (was_checked(serve->remote_worlds, world_id, holder)) {
        mailbox_ask(serve->mailbox, request, response, handler);
        return;
    }
    Check *check = arena_alloc(http_arena(request), sizeof *check);
    if (check == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    *check = (Check){.serve = serve, .holder = *holder, .answer = handler};
    snprintf(check->world_id, sizeof check->world_id, "%s", world_id);
    check->deferred = http_defer(request, response);
    if (check->deferred != NULL && work_pool_submit(serve->pool, run_check, check) != STATUS_OK) {
        HttpResponse busy = http_response_default();
        http_fail(request, &busy, 503, "busy", "too much work waits; try again");
        http_complete(check->deferred, &busy);
    }
}

void serve_hosts_report(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    Reported *reported = arena_alloc(http_arena(request), sizeof *reported);
    if (serve->remote_worlds == NULL) {
        http_fail(request, response, 404, "not_found", "this server is no control plane");
        return;
    }
    if (reported == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    *reported = (Reported){.done = 0};
    if (parse_report(request, response, reported)) {
        remote_ask_held(serve, request, response, reported->world_id, &reported->holder,
                        answer_report);
    }
}
