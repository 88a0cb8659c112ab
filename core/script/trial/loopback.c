// Server and clients in one process; see loopback.h.
#include "core/script/trial/loopback.h"

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/script/runtime/value.h"

#include <string.h>

typedef struct Invoke {
    uint64_t id; // of the client's request
    uint64_t due_tick;
} Invoke;

// Budgets are counted in 1/tick_rate of a message, so that a tick refills a whole number.
typedef struct Client {
    uint64_t player_id; // 0: free
    View *view;
    ScriptPort port;
    uint32_t message_budget;
    Invoke invokes[LOOPBACK_INVOKES_MAX];
    uint32_t invoke_count;
    uint64_t attribute_version;
    uint64_t roster_version;
} Client;

// An answer of the store that is under way; the delay is the same for all, so they arrive in order.
typedef struct Answer {
    uint64_t request_id;
    uint64_t due_tick;
    bool ok;
    size_t bytes;
} Answer;

struct Loopback {
    LoopbackConfig config;
    Client *clients;
    MemoryStore *store;
    Rng rng;
    Answer *answers;
    uint32_t answer_count;
    uint8_t *answer_bytes; // of all answers, one after another
    size_t answer_bytes_used;
    LoopbackCounters counters;
};

LoopbackConfig loopback_config_default(void)
{
    return (LoopbackConfig){.client_max = 8,
                            .seed = 1,
                            .store_ticks = 3,
                            .store_answer_max = 1024,
                            .store_answer_bytes_max = 1u << 20,
                            .store = memory_store_config_default()};
}

Status loopback_create(Heap *heap, const LoopbackConfig *config, Loopback **out)
{
    const size_t bytes = arena_need(sizeof(Loopback)) +
                         arena_need(config->client_max * sizeof(Client)) +
                         arena_need(config->store_answer_max * sizeof(Answer)) +
                         arena_need(config->store_answer_bytes_max);
    void *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, bytes);
    Loopback *loopback = arena_alloc(&arena, sizeof *loopback);
    ASSERT(loopback != NULL);
    loopback->config = *config;
    loopback->clients = arena_array(&arena, config->client_max, sizeof(Client));
    loopback->answers = arena_array(&arena, config->store_answer_max, sizeof(Answer));
    loopback->answer_bytes = arena_alloc(&arena, config->store_answer_bytes_max);

    ASSERT(loopback->answer_bytes != NULL);
    loopback->rng = rng_make(config->seed, 7);
    const Status status = memory_store_create(heap, &config->store, &loopback->store);
    if (status != STATUS_OK) {
        heap_free(heap, block);
        return status;
    }
    *out = loopback;
    return STATUS_OK;
}

void loopback_destroy(Heap *heap, Loopback *loopback)
{
    if (loopback != NULL) {
        memory_store_destroy(heap, loopback->store);
        heap_free(heap, loopback); // the first thing in its block
    }
}

LoopbackCounters loopback_counters(const Loopback *loopback)
{
    return loopback->counters;
}

static uint32_t tick_rate(const Loopback *loopback)
{
    return sim_config(authority_sim(loopback->config.authority))->tick_rate;
}

static uint64_t tick_now(const Loopback *loopback)
{
    return sim_tick(authority_sim(loopback->config.authority));
}

// --- clients ------------------------------------------------------------------------------------

static Client *client_find(const Loopback *loopback, uint64_t player_id)
{
    for (uint32_t i = 0; i < loopback->config.client_max; i++) {
        if (loopback->clients[i].player_id == player_id) {
            return &loopback->clients[i];
        }
    }
    return NULL;
}

static void client_changed(void *user, uint64_t net_id, Text name, const ScriptValue *now,
                           const ScriptValue *before)
{
    const Client *client = user;
    if (visual_is_reserved(name)) {
        return;
    }
    uint8_t bytes[VALUE_ATTRIBUTES_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    value_write_attributes((const ScriptValue[]){*now, *before}, 2, &writer);
    const ScriptEvent event = {.type = SCRIPT_EVENT_ATTRIBUTE,
                               .entity = net_id,
                               .name = name,
                               .payload = bytes,
                               .payload_bytes = writer.at};
    (void)!client->port.event(client->port.user, &event); // a full queue is counted by the scripts
}

static void client_tagged(void *user, uint64_t net_id, Text tag, bool on)
{
    const Client *client = user;
    const ScriptEvent event = {
        .type = SCRIPT_EVENT_TAG, .entity = net_id, .name = tag, .value = on ? 1 : 0};
    (void)!client->port.event(client->port.user, &event);
}

Status loopback_join(Loopback *loopback, uint64_t player_id, View *view, ScriptPort port)
{
    if (player_id == 0) {
        return STATUS_RANGE;
    }
    if (client_find(loopback, player_id) != NULL) {
        return STATUS_EXISTS;
    }
    Client *client = client_find(loopback, 0);
    if (client == NULL) {
        return STATUS_LIMIT;
    }
    *client = (Client){.player_id = player_id,
                       .view = view,
                       .port = port,
                       .message_budget = LOOPBACK_MESSAGES_PER_SECOND * tick_rate(loopback),
                       .roster_version = UINT64_MAX};
    view_set_listener(
        view,
        &(AttributeListener){.user = client, .changed = client_changed, .tagged = client_tagged});
    return STATUS_OK;
}

void loopback_leave(Loopback *loopback, uint64_t player_id)
{
    Client *client = player_id != 0 ? client_find(loopback, player_id) : NULL;
    if (client != NULL) {
        view_set_listener(client->view, &(AttributeListener){0});
        *client = (Client){0};
    }
}

static bool take_budget(uint32_t *budget, uint32_t cost)
{
    if (*budget < cost) {
        return false;
    }
    *budget -= cost;
    return true;
}

static void refill(Client *client, uint32_t rate)
{
    const uint32_t messages_max = LOOPBACK_MESSAGES_PER_SECOND * rate;
    client->message_budget += LOOPBACK_MESSAGES_PER_SECOND;
    client->message_budget =
        client->message_budget < messages_max ? client->message_budget : messages_max;
}

static bool give_event(Loopback *loopback, const ScriptPort *port, const ScriptEvent *event)
{
    if (port->event(port->user, event) != STATUS_OK) {
        loopback->counters.events_refused += 1;
        return false;
    }
    return true;
}

// It is no error if nobody waits: its script may have ended.
static void complete(const ScriptPort *port, uint64_t request_id, bool ok, const uint8_t *bytes,
                     size_t count)
{
    (void)!port->complete(port->user, request_id, ok, bytes, count);
}

static void complete_failed(const ScriptPort *port, uint64_t request_id, const char *message)
{
    complete(port, request_id, false, (const uint8_t *)message, strlen(message));
}

static bool is_lost(Loopback *loopback, const ScriptMessage *message)
{
    if (message->reliable || message->invoke_id != 0 || !(loopback->config.drop_chance > 0)) {
        return false;
    }
    const bool lost = rng_unit(&loopback->rng) < loopback->config.drop_chance;
    loopback->counters.messages_lost += lost;
    return lost;
}

static ScriptEvent message_event(const ScriptMessage *message, uint64_t from)
{
    return (ScriptEvent){.type = SCRIPT_EVENT_MESSAGE,
                         .player_id = from,
                         .invoke_id = message->invoke_id,
                         .name = message->name,
                         .payload = message->payload,
                         .payload_bytes = message->payload_bytes};
}

// --- from a client to the server ----------------------------------------------------------------

static const char *refuse_message(Loopback *loopback, Client *client, const ScriptMessage *message)
{
    if (!take_budget(&client->message_budget, tick_rate(loopback))) {
        loopback->counters.messages_over_rate += 1;
        return "too many messages";
    }
    if (value_check(message->payload, message->payload_bytes) != STATUS_OK) {
        loopback->counters.messages_malformed += 1;
        return "the message is no list of values";
    }
    if (message->invoke_id != 0 && client->invoke_count == LOOPBACK_INVOKES_MAX) {
        loopback->counters.invokes_refused += 1;
        return "too many calls without an answer";
    }
    return NULL;
}

static void carry_up(Loopback *loopback, Client *client, const ScriptMessage *message)
{
    const char *refused = refuse_message(loopback, client, message);
    if (refused == NULL && is_lost(loopback, message)) {
        return;
    }
    const ScriptEvent event = message_event(message, client->player_id);
    if (refused == NULL && !give_event(loopback, &loopback->config.server, &event)) {
        refused = "the server is busy";
    }
    if (refused != NULL) {
        if (message->invoke_id != 0) {
            complete_failed(&client->port, message->invoke_id, refused);
        }
        return;
    }
    loopback->counters.messages_carried += 1;
    if (message->invoke_id != 0) {
        client->invokes[client->invoke_count++] =
            (Invoke){message->invoke_id,
                     tick_now(loopback) + (uint64_t)LOOPBACK_INVOKE_SECONDS * tick_rate(loopback)};
    }
}

static void hear(const Loopback *loopback, uint64_t player_id, const Effect *sound)
{
    if (loopback->config.sound != NULL) {
        loopback->config.sound(loopback->config.sound_user, player_id, sound);
    }
}

static void take_effects_of_client(Loopback *loopback, Client *client)
{
    uint32_t count = 0;
    const Effect *effects = view_effects(client->view, &count);
    for (uint32_t i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->type == EFFECT_MESSAGE) {
            carry_up(loopback, client, &effect->message);
        } else if (effect->type == EFFECT_SOUND) {
            hear(loopback, client->player_id, effect);
        }
    }
    view_effects_clear(client->view);
}

// --- from the server to clients -----------------------------------------------------------------

static bool invoke_take(Client *client, uint64_t id)
{
    for (uint32_t i = 0; i < client->invoke_count; i++) {
        if (client->invokes[i].id == id) {
            client->invoke_count -= 1;
            memmove(&client->invokes[i], &client->invokes[i + 1],
                    (client->invoke_count - i) * sizeof(Invoke));
            return true;
        }
    }
    return false;
}

static bool is_refusal(const ScriptMessage *answer)
{
    static const char refusal[] = "refusal";
    return answer->name.bytes == sizeof refusal - 1 &&
           memcmp(answer->name.data, refusal, sizeof refusal - 1) == 0;
}

static void carry_answer(Loopback *loopback, const ScriptMessage *answer)
{
    Client *client = answer->player_id != 0 ? client_find(loopback, answer->player_id) : NULL;
    if (client == NULL || !invoke_take(client, answer->invoke_id)) {
        loopback->counters.answers_unasked += 1;
        return;
    }
    const bool refused = is_refusal(answer);
    if (!refused && value_check(answer->payload, answer->payload_bytes) != STATUS_OK) {
        loopback->counters.messages_malformed += 1;
        complete_failed(&client->port, answer->invoke_id, "the answer is no list of values");
        return;
    }
    loopback->counters.messages_carried += 1;
    complete(&client->port, answer->invoke_id, !refused, answer->payload, answer->payload_bytes);
}

static bool is_for(const Client *client, uint64_t player_id)
{
    return client->player_id != 0 && (player_id == 0 || client->player_id == player_id);
}

static void carry_down(Loopback *loopback, const ScriptMessage *message)
{
    if (message->invoke_id != 0) {
        carry_answer(loopback, message);
        return;
    }
    if (value_check(message->payload, message->payload_bytes) != STATUS_OK) {
        loopback->counters.messages_malformed += 1;
        return;
    }
    if (message->player_id != 0 && client_find(loopback, message->player_id) == NULL) {
        loopback->counters.messages_unsent += 1;
        return;
    }
    const ScriptEvent event = message_event(message, 0);
    for (uint32_t i = 0; i < loopback->config.client_max; i++) {
        const Client *client = &loopback->clients[i];
        if (is_for(client, message->player_id) && !is_lost(loopback, message) &&
            give_event(loopback, &client->port, &event)) {
            loopback->counters.messages_carried += 1;
        }
    }
}

static void run_store(Loopback *loopback, const StoreRequest *request, double unix_seconds)
{
    loopback->counters.store_requests += 1;
    // A request that cannot be answered is not executed.
    if (loopback->answer_count == loopback->config.store_answer_max ||
        loopback->config.store_answer_bytes_max - loopback->answer_bytes_used < STORE_ANSWER_MAX) {
        loopback->counters.store_refused += 1;
        complete_failed(&loopback->config.server, request->request_id,
                        "too many requests to the store wait; put task.wait() between them");
        return;
    }
    ByteWriter writer =
        byte_writer(loopback->answer_bytes + loopback->answer_bytes_used, STORE_ANSWER_MAX);
    const bool ok = memory_store_run(loopback->store, request, unix_seconds, &writer);
    ASSERT(writer.status == STATUS_OK);
    const uint32_t ticks = loopback->config.store_ticks > 0 ? loopback->config.store_ticks : 1;
    loopback->answers[loopback->answer_count++] = (Answer){.request_id = request->request_id,
                                                           .due_tick = tick_now(loopback) + ticks,
                                                           .ok = ok,
                                                           .bytes = writer.at};
    loopback->answer_bytes_used += writer.at;
}

static void give_answers(Loopback *loopback)
{
    uint32_t given = 0;
    size_t bytes = 0;
    while (given < loopback->answer_count &&
           loopback->answers[given].due_tick <= tick_now(loopback)) {
        const Answer *answer = &loopback->answers[given];
        complete(&loopback->config.server, answer->request_id, answer->ok,
                 loopback->answer_bytes + bytes, answer->bytes);
        bytes += answer->bytes;
        given += 1;
    }
    loopback->answer_count -= given;
    loopback->answer_bytes_used -= bytes;
    memmove(loopback->answers, loopback->answers + given, loopback->answer_count * sizeof(Answer));
    memmove(loopback->answer_bytes, loopback->answer_bytes + bytes, loopback->answer_bytes_used);
}

static void say(Loopback *loopback, const Effect *chat)
{
    const ScriptEvent event = {.type = SCRIPT_EVENT_CHAT, .name = chat->text};
    for (uint32_t i = 0; i < loopback->config.client_max; i++) {
        if (is_for(&loopback->clients[i], chat->player_id)) {
            (void)give_event(loopback, &loopback->clients[i].port, &event);
        }
    }
}

static void take_effects_of_server(Loopback *loopback, double unix_seconds)
{
    uint32_t count = 0;
    const Effect *effects = authority_effects(loopback->config.authority, &count);
    for (uint32_t i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->type == EFFECT_MESSAGE) {
            carry_down(loopback, &effect->message);
        } else if (effect->type == EFFECT_CHAT) {
            say(loopback, effect);
        } else if (effect->type == EFFECT_STORE) {
            run_store(loopback, &effect->store, unix_seconds);
        } else if (effect->type == EFFECT_KICK) {
            status_ignore(authority_player_leave(loopback->config.authority, effect->player_id));
        } else if (effect->type == EFFECT_SOUND) {
            for (uint32_t c = 0; c < loopback->config.client_max; c++) {
                if (is_for(&loopback->clients[c], effect->player_id)) {
                    hear(loopback, loopback->clients[c].player_id, effect);
                }
            }
        }
    }
    authority_effects_clear(loopback->config.authority);
}

// --- what happened in the world -----------------------------------------------------------------

static bool is_public(ScriptEventType type)
{
    return type == SCRIPT_EVENT_PLAYER_ADDED || type == SCRIPT_EVENT_PLAYER_REMOVING ||
           type == SCRIPT_EVENT_DIED || type == SCRIPT_EVENT_RESPAWNED ||
           type == SCRIPT_EVENT_CHAT || type == SCRIPT_EVENT_DESTROYED ||
           type == SCRIPT_EVENT_DAMAGED || type == SCRIPT_EVENT_HIT ||
           type == SCRIPT_EVENT_STRUCTURE_PLACED || type == SCRIPT_EVENT_STRUCTURE_REMOVED;
}

static void tell_events(Loopback *loopback)
{
    Authority *authority = loopback->config.authority;
    authority_collect(authority);
    uint32_t count = 0;
    uint32_t told = 0;
    const ScriptEvent *events = authority_events(authority, &count);
    // What the server's scripts have no room for waits in the authority.
    while (told < count && give_event(loopback, &loopback->config.server, &events[told])) {
        for (uint32_t i = 0; i < loopback->config.client_max && is_public(events[told].type); i++) {
            if (loopback->clients[i].player_id != 0) {
                (void)give_event(loopback, &loopback->clients[i].port, &events[told]);
            }
        }
        told += 1;
    }
    authority_events_take(authority, told);
}

typedef struct Replication {
    ScriptWorld *server;
    uint64_t player_id;
} Replication;

static bool client_owns(void *user, uint64_t net_id)
{
    const Replication *replication = user;
    ScriptEntityInfo info;
    return replication->server->methods->entity(replication->server, net_id, &info) &&
           info.owner_id == replication->player_id;
}

static void replicate(Loopback *loopback, Client *client)
{
    Replication replication = {authority_world(loopback->config.authority), client->player_id};
    const AttributeTable *attributes = authority_attributes(loopback->config.authority);
    const Roster *roster = authority_roster(loopback->config.authority);
    if (client->attribute_version != attributes->version) {
        attribute_table_copy_visible(attributes, view_attributes(client->view),
                                     client->attribute_version, client_owns, &replication);
        client->attribute_version = attributes->version;
    }
    if (client->roster_version != roster->version) {
        roster_copy(roster, view_roster(client->view));
        client->roster_version = roster->version;
    }
    uint64_t sky_version = 0;
    view_set_sky(client->view, authority_sky(loopback->config.authority, &sky_version));
}

static void tell_local_ends(Loopback *loopback, Client *client)
{
    uint64_t gone[64];
    uint32_t count = 0;
    while ((count = view_local_gone(client->view, gone, 64)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            const ScriptEvent event = {.type = SCRIPT_EVENT_DESTROYED, .entity = gone[i]};
            (void)give_event(loopback, &client->port, &event);
        }
    }
}

static void end_late_invokes(Loopback *loopback, Client *client)
{
    while (client->invoke_count > 0 && client->invokes[0].due_tick <= tick_now(loopback)) {
        const uint64_t id = client->invokes[0].id;
        (void)invoke_take(client, id);
        loopback->counters.invokes_unanswered += 1;
        complete_failed(&client->port, id, "the server did not answer");
    }
}

void loopback_step(Loopback *loopback, double unix_seconds)
{
    for (uint32_t i = 0; i < loopback->config.client_max; i++) {
        if (loopback->clients[i].player_id != 0) {
            replicate(loopback, &loopback->clients[i]);
            refill(&loopback->clients[i], tick_rate(loopback));
            tell_local_ends(loopback, &loopback->clients[i]);
        }
    }
    take_effects_of_server(loopback, unix_seconds);
    for (uint32_t i = 0; i < loopback->config.client_max; i++) {
        if (loopback->clients[i].player_id != 0) {
            take_effects_of_client(loopback, &loopback->clients[i]);
            end_late_invokes(loopback, &loopback->clients[i]);
        }
    }
    tell_events(loopback);
    give_answers(loopback);
}
