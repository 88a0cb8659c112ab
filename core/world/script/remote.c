// Remotes: messages from client scripts to server scripts, and back. A client's message is limited
// in rate and size and must contain valid values; one from scripts of another manifest version is
// not delivered, because it may mean something else now. A call without an answer within ten
// seconds fails. An unreliable message waits while the link is busy, and is replaced by a newer one
// of its name.
#include "core/world/script/script_host_inside.h"

#include "core/script/bridge/latest.h"
#include "core/script/runtime/value.h"

#include <string.h>

typedef struct Invoke {
    uint64_t id;
    uint64_t due_tick;
    uint32_t cost; // the row of its name (remote_cost.h)
} Invoke;

typedef struct RemoteCalls {
    Invoke items[INVOKES_MAX]; // oldest first
    uint32_t count;
} RemoteCalls;

typedef struct Remotes {
    RemoteCalls *calls;  // by session
    uint32_t open_count; // of all sessions
    Latest *latest;      // by session; unreliable messages that wait
    uint64_t stale, malformed, refused, unanswered, unasked, unsent, dropped;
} Remotes;

Status remote_create(ScriptHost *host)
{
    host->remotes = heap_alloc(host->config.heap, sizeof(Remotes));
    if (host->remotes == NULL) {
        return STATUS_LIMIT;
    }
    host->remotes->calls = heap_alloc(
        host->config.heap, heap_array_bytes(host->config.sessions->count, sizeof(RemoteCalls)));
    host->remotes->latest = heap_alloc(
        host->config.heap, heap_array_bytes(host->config.sessions->count, sizeof(Latest)));
    return host->remotes->calls != NULL && host->remotes->latest != NULL ? STATUS_OK : STATUS_LIMIT;
}

void remote_destroy(ScriptHost *host)
{
    if (host->remotes != NULL) {
        heap_free(host->config.heap, host->remotes->latest);
        heap_free(host->config.heap, host->remotes->calls);
        heap_free(host->config.heap, host->remotes);
        host->remotes = NULL;
    }
}

void remote_forget(ScriptHost *host, const Session *session)
{
    RemoteCalls *calls = &host->remotes->calls[session_number(host->config.sessions, session)];
    host->remotes->open_count -= calls->count;
    calls->count = 0;
    latest_clear(&host->remotes->latest[session_number(host->config.sessions, session)]);
}

static RemoteCalls *calls_of(ScriptHost *host, const Session *session)
{
    return &host->remotes->calls[session_number(host->config.sessions, session)];
}

static bool call_take(Remotes *remotes, RemoteCalls *calls, uint64_t id, uint32_t *cost)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        if (calls->items[i].id == id) {
            *cost = calls->items[i].cost;
            calls->count -= 1;
            remotes->open_count -= 1;
            memmove(&calls->items[i], &calls->items[i + 1], (calls->count - i) * sizeof(Invoke));
            return true;
        }
    }
    return false;
}

static bool call_is_open(const RemoteCalls *calls, uint64_t id)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        if (calls->items[i].id == id) {
            return true;
        }
    }
    return false;
}

static void refuse_remote(ScriptHost *host, const Session *session, uint64_t invoke_id,
                          const char *why);

static void message_dropped(void *user, const ScriptEvent *event)
{
    ScriptHost *host = user;
    Session *session = session_of_player(host->config.sessions, event->player_id);
    uint32_t row = 0;
    host->remotes->stale += 1;
    if (event->invoke_id != 0 && session != NULL && session->state == SESSION_PLAYING &&
        call_take(host->remotes, calls_of(host, session), event->invoke_id, &row)) {
        refuse_remote(host, session, event->invoke_id, "the scripts have changed");
    }
}

void remote_forget_waiting(ScriptHost *host)
{
    for (uint32_t i = 0; i < host->config.sessions->high; i++) {
        latest_clear(&host->remotes->latest[i]);
    }
    script_drop_messages(host->system, message_dropped, host);
}

// --- down ---------------------------------------------------------------------------------------

static RemoteCost *cost_at(ScriptHost *host, uint32_t row)
{
    return &script_remotes(host->system)->rows[row];
}

static void count_down(RemoteCost *cost, const MessageRemoteDown *event, uint32_t count)
{
    cost->down_count += count;
    cost->down_bytes += (uint64_t)count * (event->name.bytes + event->payload.bytes);
}

// `cost` may be NULL.
static void send_one(ScriptHost *host, const Session *session, const MessageRemoteDown *event,
                     RemoteCost *cost)
{
    const bool is_sent =
        event_send(host->config.sessions, session, MESSAGE_REMOTE_DOWN, event, NULL) == STATUS_OK;
    host->remotes->dropped += !is_sent; // the replicator counts it too
    if (cost != NULL && is_sent) {
        count_down(cost, event, 1);
    } else if (cost != NULL) {
        cost->dropped_count += 1;
    }
}

static bool is_busy(const Session *session)
{
    return session->flow.behind_since != 0 || session_waiting(session) > REMOTE_SOFT_BYTES;
}

static void count_dropped(ScriptHost *host, RemoteCost *cost)
{
    host->remotes->dropped += 1;
    cost->dropped_count += 1;
}

// Sent at once, or when the link is free again if no newer one of its name has come until then.
static void send_unreliable(ScriptHost *host, const Session *session,
                            const MessageRemoteDown *event, RemoteCost *cost)
{
    Sessions *sessions = host->config.sessions;
    Latest *latest = &host->remotes->latest[session_number(sessions, session)];
    if (!is_busy(session)) {
        if (latest_remove(latest, event->name)) {
            count_dropped(host, cost);
        }
        if (event_send(sessions, session, MESSAGE_REMOTE_DOWN, event, NULL) == STATUS_OK) {
            count_down(cost, event, 1);
            return;
        }
    }
    const LatestMessage message = {.name = event->name,
                                   .payload = event->payload.data,
                                   .payload_bytes = event->payload.bytes,
                                   .maker = host->config.run->effect_maker};
    if (latest_put(latest, &message) != LATEST_KEPT) {
        count_dropped(host, cost);
    }
}

static void flush_latest(ScriptHost *host, const Session *session, Latest *latest)
{
    Sessions *sessions = host->config.sessions;
    RemoteCosts *costs = script_remotes(host->system);
    LatestMessage first;
    while (latest_first(latest, &first)) {
        const MessageRemoteDown event = {.name = first.name,
                                         .payload = {first.payload, first.payload_bytes},
                                         .generation = host->config.run->manifest_version};
        host->config.run->effect_maker = first.maker;
        if (event_send(sessions, session, MESSAGE_REMOTE_DOWN, &event, NULL) != STATUS_OK) {
            break; // again in the next tick
        }
        count_down(&costs->rows[remote_cost_find(costs, first.name)], &event, 1);
        (void)latest_remove(latest, first.name);
    }
    host->config.run->effect_maker = 0;
}

static void refuse_remote(ScriptHost *host, const Session *session, uint64_t invoke_id,
                          const char *why)
{
    const MessageRemoteDown event = {.name = {"refusal", 7},
                                     .payload = {(const uint8_t *)why, (uint32_t)strlen(why)},
                                     .invoke_id = invoke_id,
                                     .generation = host->config.run->manifest_version};
    send_one(host, session, &event, NULL);
}

static void answer(ScriptHost *host, const ScriptMessage *message, const MessageRemoteDown *event)
{
    uint32_t row = REMOTE_COST_OTHERS;
    Session *session = session_of_player(host->config.sessions, message->player_id);
    if (session == NULL || session->state != SESSION_PLAYING ||
        !call_take(host->remotes, calls_of(host, session), message->invoke_id, &row)) {
        host->remotes->unasked += 1;
        return;
    }
    send_one(host, session, event, cost_at(host, row));
}

static uint32_t count_playing(Sessions *sessions)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sessions->high; i++) {
        count += session_at(sessions, i)->state == SESSION_PLAYING;
    }
    return count;
}

void remote_down(ScriptHost *host, const ScriptMessage *message)
{
    Sessions *sessions = host->config.sessions;
    Remotes *remotes = host->remotes;
    const MessageRemoteDown event = {
        .name = {message->name.data, (uint32_t)message->name.bytes},
        .payload = {message->payload, (uint32_t)message->payload_bytes},
        .invoke_id = message->invoke_id,
        .generation = host->config.run->manifest_version,
    };
    if (message->name.bytes > 64 || message->payload_bytes > VALUE_BYTES_MAX ||
        message->invoke_id > SIM_NET_ID_MAX) {
        remotes->malformed += 1;
        return;
    }
    if (message->invoke_id != 0) {
        answer(host, message, &event);
        return;
    }
    RemoteCosts *costs = script_remotes(host->system);
    RemoteCost *cost = &costs->rows[remote_cost_add(costs, message->name)];
    if (message->player_id == 0 && message->reliable) {
        event_broadcast(sessions, MESSAGE_REMOTE_DOWN, &event, NULL);
        count_down(cost, &event, count_playing(sessions));
        return;
    }
    bool sent = false;
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = session_at(sessions, i);
        if (session->state != SESSION_PLAYING ||
            (message->player_id != 0 && session->player != message->player_id)) {
            continue;
        }
        sent = true;
        if (message->reliable) {
            send_one(host, session, &event, cost);
        } else {
            send_unreliable(host, session, &event, cost);
        }
    }
    remotes->unsent += !sent;
}

// --- up -----------------------------------------------------------------------------------------

// Why it cannot be delivered to the scripts; NULL: it can.
static const char *why_not(ScriptHost *host, Session *session, const MessageRemoteUp *command,
                           RemoteRefusal *refusal)
{
    Remotes *remotes = host->remotes;
    *refusal = REMOTE_REFUSED_RATE;
    if (!rate_take(host->config.stats, session, RATE_REMOTE, 1)) {
        return "too many messages";
    }
    if (host->system == NULL) {
        return "this world runs no scripts";
    }
    if (command->generation != host->config.run->manifest_version) {
        remotes->stale += 1;
        *refusal = REMOTE_REFUSED_COUNT; // nobody did anything wrong
        return "the scripts have changed";
    }
    *refusal = REMOTE_REFUSED_MALFORMED;
    if (command->name.bytes < 1 ||
        value_check(command->payload.data, command->payload.bytes) != STATUS_OK) {
        remotes->malformed += 1;
        return "the message is no list of values";
    }
    *refusal = REMOTE_REFUSED_BUSY;
    if (command->invoke_id != 0 && (calls_of(host, session)->count == INVOKES_MAX ||
                                    call_is_open(calls_of(host, session), command->invoke_id))) {
        remotes->refused += 1;
        return "too many calls without an answer";
    }
    const ScriptEvent event = {.type = SCRIPT_EVENT_MESSAGE,
                               .player_id = session->player,
                               .invoke_id = command->invoke_id,
                               .name = {command->name.data, command->name.bytes},
                               .payload = command->payload.data,
                               .payload_bytes = command->payload.bytes};
    if (script_event(host->system, &event) != STATUS_OK) {
        remotes->refused += 1;
        return "the server is busy";
    }
    return NULL;
}

// The row of its name. What clients call it makes no row.
static uint32_t count_up(ScriptHost *host, const MessageRemoteUp *command)
{
    if (host->system == NULL) {
        return REMOTE_COST_OTHERS;
    }
    const Text name = {command->name.data, command->name.bytes};
    const uint32_t row = remote_cost_find(script_remotes(host->system), name);
    RemoteCost *cost = cost_at(host, row);
    cost->up_count += 1;
    cost->up_bytes += command->name.bytes + command->payload.bytes;
    return row;
}

static void refuse_up(ScriptHost *host, const Session *session, const MessageRemoteUp *command,
                      RemoteRefusal refusal, const char *why)
{
    const Text name = {command->name.data, command->name.bytes};
    host->config.stats->commands_denied += 1;
    if (host->system != NULL && refusal == REMOTE_REFUSED_COUNT) {
        cost_at(host, remote_cost_find(script_remotes(host->system), name))->dropped_count += 1;
    } else if (host->system != NULL) {
        script_remote_refused(host->system, name, session->player, refusal, why);
    }
    if (command->invoke_id != 0) {
        refuse_remote(host, session, command->invoke_id, why);
    }
}

void remote_up(ScriptHost *host, Session *session, const MessageRemoteUp *command)
{
    const WorldClock *clock = host->config.clock;
    RemoteRefusal refusal;
    const char *why = why_not(host, session, command, &refusal);
    const uint32_t row = count_up(host, command);
    if (why != NULL) {
        refuse_up(host, session, command, refusal, why);
        return;
    }
    if (command->invoke_id != 0) {
        RemoteCalls *calls = calls_of(host, session);
        host->remotes->open_count += 1;
        calls->items[calls->count++] =
            (Invoke){command->invoke_id, clock->tick + world_ticks(clock, INVOKE_MS), row};
    }
}

void remote_tick(ScriptHost *host)
{
    Sessions *sessions = host->config.sessions;
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = session_at(sessions, i);
        Latest *latest = &host->remotes->latest[i];
        if (latest->count > 0 && session->state == SESSION_PLAYING && !is_busy(session)) {
            flush_latest(host, session, latest);
        }
    }
    for (uint32_t i = 0; i < sessions->high && host->remotes->open_count > 0; i++) {
        RemoteCalls *calls = &host->remotes->calls[i];
        while (calls->count > 0 && calls->items[0].due_tick <= host->config.clock->tick) {
            const uint64_t id = calls->items[0].id;
            uint32_t row;
            (void)call_take(host->remotes, calls, id, &row);
            host->remotes->unanswered += 1;
            refuse_remote(host, session_at(sessions, i), id, "the server did not answer");
        }
    }
}

void remote_hash(const ScriptHost *host, Hash64 *hash)
{
    for (uint32_t i = 0; i < host->config.sessions->high; i++) {
        const RemoteCalls *calls = &host->remotes->calls[i];
        hash_u64(hash, calls->count);
        for (uint32_t c = 0; c < calls->count; c++) {
            hash_u64(hash, calls->items[c].id);
            hash_u64(hash, calls->items[c].due_tick);
        }
        const Latest *latest = &host->remotes->latest[i];
        if (latest->count > 0) {
            hash_bytes(hash, latest->bytes, latest->used);
        }
    }
}
