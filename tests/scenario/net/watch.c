// Checks the messages between one client and the world: frames are sent only as far as they are
// acknowledged, inputs arrive in time, events come in order and when the view has reached them,
// replies are true, and the body is the same after a lost connection.
#include "core/world/world_inside.h"
#include "tests/scenario/net/net_inside.h"

#include <stdio.h>
#include <string.h>

#define FLOW_SLACK_MS      100 // the formula of docs/PROTOCOL.md
#define FLOW_GUESS_MS      250
#define INBOX_TICKS        8       // in which a world has read all that it takes at once
#define SETTLED_US         3000000 // the clock has found its pace
#define STANDS_AFTER_MS    900     // half a second of patience, and the way to a stop
#define NONSENSE_MAX       12
#define TROUBLE_US         1000000 // the longest way of a correction there and back
#define GEOMETRY_US        2000000 // until a chunk is fetched, and somebody comes to it
#define STANDS_SPEED_MPS   0.2f
#define CHECKPOINT_NEAR_M  0.3f
#define RESUME_STEP_M      0.5f
#define DELAY_CLEAN_MAX_MS 400.0
#define LEAD_CLEAN_MAX     20.0 // ticks

static uint64_t ticks_of(const Net *net, uint64_t ms)
{
    return (ms * net->whole->tick_rate + 999) / 1000;
}

static uint64_t world_tick(const Net *net)
{
    return sim_tick(world_sim(net->world));
}

static bool is_judged(const NetClient *client)
{
    return !client->json && client->bot.kind != BOT_HOSTILE;
}

void watch_open(Net *net, NetClient *client)
{
    Watch *watch = &client->watch;
    Watch fresh = {
        .player = watch->player, .entity = watch->entity, .past_count = watch->past_count};
    if (net->world != NULL) {
        fresh.input_tick = world_tick(net);
    }
    memcpy(fresh.past, watch->past, sizeof fresh.past);
    if (client->client != NULL) {
        fresh.events_before = client_stats(client->client).events;
    }
    *watch = fresh;
}

// --- frames -------------------------------------------------------------------------------------

// ⌈(round trip + 100 ms) / interval⌉ may be unconfirmed; the longest round trip that there was is
// at least what the world has measured.
static uint32_t frames_max(const Net *net, const Watch *watch)
{
    const uint64_t rtt = watch->frame_acked != 0 ? watch->rtt_ticks : ticks_of(net, FLOW_GUESS_MS);
    const uint64_t interval = net->whole->tick_rate / net->whole->snapshot_rate;
    const uint64_t count = (rtt + ticks_of(net, FLOW_SLACK_MS) + interval - 1) / interval;
    return count < 2 ? 2 : (uint32_t)count;
}

void watch_frame(Net *net, NetClient *client, const SnapshotHeader *header)
{
    Watch *watch = &client->watch;
    watch->frame_sent = header->seq;
    watch->frame_ticks[header->seq % WATCH_FRAMES] = header->tick;
    const uint64_t acked = header->ack_seq; // the low part of a tick, and no run is that long
    if (is_judged(client) && acked != 0 && watch->in_time[acked % WATCH_INPUTS] != acked) {
        net_fail(net, "client %u is told that its input %llu was used, which was not in time",
                 client->index, (unsigned long long)acked);
    }
    const uint32_t unconfirmed = watch->frame_sent - watch->frame_acked;
    if (is_judged(client) && unconfirmed > frames_max(net, watch)) {
        net_fail(net, "client %u has %u unconfirmed frames; %u are allowed", client->index,
                 unconfirmed, frames_max(net, watch));
    }
}

static void note_ack(Net *net, Watch *watch, uint64_t frame)
{
    if (frame <= watch->frame_acked || frame > watch->frame_sent) {
        return;
    }
    watch->frame_acked = (uint32_t)frame;
    watch->acked_tick = world_tick(net);
    const uint64_t rtt = world_tick(net) - watch->frame_ticks[frame % WATCH_FRAMES];
    watch->rtt_ticks = rtt > watch->rtt_ticks ? rtt : watch->rtt_ticks;
    watch->rtt_least = watch->rtt_least == 0 || rtt < watch->rtt_least ? rtt : watch->rtt_least;
}

// Who has confirmed enough gets a frame with every snapshot: the shortest round trip that there was
// is at most what the world has measured. What comes in a bunch it reads in several ticks.
void watch_taken(Net *net, const NetClient *client)
{
    const Watch *watch = &client->watch;
    const uint64_t interval = net->whole->tick_rate / net->whole->snapshot_rate;
    uint64_t player;
    uint64_t body;
    if (!is_judged(client) || watch->frame_acked == 0 || client->playing_us == 0 ||
        watch->acked_tick + INBOX_TICKS > world_tick(net) ||
        !world_player(net->world, client->connection, &player, &body) || // it has left
        world_tick(net) % interval != 0 || client->waiting_bytes > MESSAGE_BYTES_MAX) {
        return;
    }
    const uint64_t allowed =
        (watch->rtt_least + ticks_of(net, FLOW_SLACK_MS) + interval - 1) / interval;
    const uint64_t last = watch->frame_ticks[watch->frame_sent % WATCH_FRAMES];
    if (last != world_tick(net) && watch->frame_sent - watch->frame_acked + 1 < allowed) {
        net_fail(net, "client %u gets no frame with %u unconfirmed; %llu are allowed",
                 client->index, watch->frame_sent - watch->frame_acked,
                 (unsigned long long)allowed);
    }
}

// --- inputs -------------------------------------------------------------------------------------

// Who sends nonsense is thrown out before long.
static void check_hostile(Net *net, NetClient *client, const uint8_t *message, size_t bytes)
{
    static _Alignas(16) uint8_t block[1 << 18];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    Message decoded;
    const Status status = message_decode(message, bytes, MESSAGE_UP, &arena, &decoded);
    client->watch.nonsense += status != STATUS_OK && status != STATUS_UNSUPPORTED;
    if (client->watch.nonsense > NONSENSE_MAX) {
        net_fail(net, "client %u sent nonsense %u times and nobody minds", client->index,
                 client->watch.nonsense);
    }
}

void watch_entered(Net *net, NetClient *client, const uint8_t *message, size_t bytes)
{
    static _Alignas(16) uint8_t block[1 << 14];
    if (client->bot.kind == BOT_HOSTILE && !client->json) {
        check_hostile(net, client, message, bytes);
    }
    if (!is_judged(client) || bytes == 0 || message[0] != MESSAGE_INPUT_BATCH) {
        return;
    }
    Arena arena;
    arena_init(&arena, block, sizeof block);
    Message decoded;
    if (message_decode(message, bytes, MESSAGE_UP, &arena, &decoded) != STATUS_OK) {
        net_fail(net, "client %u sends inputs that cannot be read", client->index);
        return;
    }
    Watch *watch = &client->watch;
    const MessageInputBatch *batch = decoded.body;
    note_ack(net, watch, batch->last_snapshot);
    for (uint32_t i = 0; i < batch->inputs_count; i++) {
        const uint64_t tick = batch->inputs[i].tick;
        watch->input_tick = tick > watch->input_tick ? tick : watch->input_tick;
    }
    const bool settled = client->playing_us != 0 && net->now_us >= client->playing_us + SETTLED_US;
    for (uint32_t i = 0; i < batch->inputs_count; i++) {
        const bool is_late = batch->inputs[i].tick <= world_tick(net);
        const bool is_early = batch->inputs[i].tick > world_tick(net) + INPUT_BUFFER;
        watch->inputs += settled;
        watch->inputs_late += settled && is_late;
        watch->inputs_early += is_early;
        watch->trouble_us = is_late || is_early ? net->now_us : watch->trouble_us;
        if (!is_late && !is_early) {
            watch->in_time[batch->inputs[i].tick % WATCH_INPUTS] = batch->inputs[i].tick;
        }
    }
}

// A client that sends nothing any more stands still soon; one whose connection was cut does so too,
// until it has its body again.
static void check_standing(Net *net, const NetClient *client)
{
    const Watch *watch = &client->watch;
    uint64_t player;
    uint64_t body;
    if (net->scenario->course || !is_judged(client) ||
        world_tick(net) < watch->input_tick + ticks_of(net, STANDS_AFTER_MS)) {
        return;
    }
    if (client->connection == 0 || !world_player(net->world, client->connection, &player, &body)) {
        body = watch->entity; // 0: there was none
    }
    Sim *sim = world_sim(net->world);
    const Entity *entity = sim_entity(sim, sim_find(sim, body));
    const PositionEntry *before = positions_at(net, world_tick(net) - 1, body);
    if (entity == NULL || !entity->character.grounded || before == NULL || before->pushed) {
        return;
    }
    const Vec3 level = vec3(entity->velocity.x, 0, entity->velocity.z);
    if (vec3_length(level) > STANDS_SPEED_MPS) {
        net_fail(net, "client %u says nothing and still walks, %.1f m/s", client->index,
                 (double)vec3_length(level));
    }
}

// --- corrections --------------------------------------------------------------------------------

// Everything that a client cannot know in advance, as it is seen from outside.
static bool is_trouble(const Net *net, uint64_t body)
{
    const uint64_t now = world_tick(net);
    const PositionEntry *entry = positions_at(net, now, body);
    const PositionEntry *before = positions_at(net, now - 1, body);
    return entry == NULL || before == NULL || entry->pushed || entry->jumped ||
           entry->health != before->health || entry->health <= 0;
}

static void note_trouble(Net *net, NetClient *client)
{
    uint64_t player;
    uint64_t body;
    if (client->connection == 0 || net->now_us < net->geometry_us + GEOMETRY_US ||
        client->watch.input_tick < world_tick(net) || // it is still on its way
        !world_player(net->world, client->connection, &player, &body) || is_trouble(net, body)) {
        client->watch.trouble_us = net->now_us;
    }
}

// Terrain and structures that change may be in anybody's way.
static void note_geometry(Net *net)
{
    const Sim *sim = world_sim(net->world);
    const uint64_t count = (uint64_t)terrain_edit_count(sim_terrain_view(sim)) << 32 |
                           sim_count(sim, ENTITY_STRUCTURE);
    if (count != net->geometry_count) {
        net->geometry_count = count;
        net->geometry_us = net->now_us;
    }
}

// A correction heals: without new trouble there is no other one.
static void check_corrections(Net *net, NetClient *client)
{
    Watch *watch = &client->watch;
    const PredictStats stats = client_stats(client->client).predict;
    const uint64_t corrections = stats.corrections;
    uint32_t causes = 0;
    for (uint32_t bit = 0; bit < 8; bit++) {
        causes |= (stats.corrections_by_cause[bit] != watch->causes[bit] ? 1u : 0u) << bit;
        watch->causes[bit] = stats.corrections_by_cause[bit];
    }
    const bool is_near = client->drawn != &link_slow && client->drawn != &link_stalling &&
                         client->drawn != &link_mobile; // others may hear of it much later
    if (corrections != watch->corrections && is_judged(client) && is_near &&
        client->playing_us != 0 && net->now_us > client->playing_us + SETTLED_US &&
        net->now_us > watch->trouble_us + TROUBLE_US) {
        net_fail(net,
                 "client %u was corrected %.2f s after the last thing that explains it, for causes "
                 "%#x",
                 client->index, (double)(net->now_us - watch->trouble_us) / 1e6, causes);
    }
    watch->corrections = corrections;
}

static void note_events(Net *net)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world_sim(net->world), &count);
    for (uint32_t i = 0; i < count; i++) {
        net->happened[net->happened_count++ % HAPPENED_MAX] =
            (Happened){world_tick(net), events[i].type, events[i].subject};
    }
}

void watch_stepped(Net *net)
{
    note_events(net);
    note_geometry(net);
    for (uint32_t i = 0; i < net->client_count; i++) {
        check_standing(net, &net->clients[i]);
        note_trouble(net, &net->clients[i]);
    }
}

// --- events and answers -------------------------------------------------------------------------

static void check_event(Net *net, NetClient *client, const ClientEvent *event)
{
    Watch *watch = &client->watch;
    if (event->message.number == MESSAGE_WELCOME) {
        watch->is_welcome = true;
    }
    if (event->tick == 0 || !watch->is_welcome) {
        return; // an answer, or of the session before
    }
    if (event->tick > client_view_tick(client->client)) {
        net_fail(net, "client %u shows an event of tick %llu while it shows tick %llu",
                 client->index, (unsigned long long)event->tick,
                 (unsigned long long)client_view_tick(client->client));
    }
    if (event->tick < watch->event_tick) {
        net_fail(net, "client %u shows an event of tick %llu after one of tick %llu", client->index,
                 (unsigned long long)event->tick, (unsigned long long)watch->event_tick);
    }
    watch->event_tick = event->tick;
}

static uint32_t roster_at_index(const Watch *watch, uint64_t player)
{
    uint32_t i = 0;
    while (i < watch->roster_count && watch->roster[i] != player) {
        i += 1;
    }
    return i;
}

static void note_roster(Watch *watch, const Message *message)
{
    if (message->number == MESSAGE_WELCOME) {
        watch->roster_count = 0;
        watch->event_tick = 0;
    } else if (message->number == MESSAGE_PLAYER_JOINED) {
        const uint64_t player = ((const MessagePlayerJoined *)message->body)->player;
        const uint32_t at = roster_at_index(watch, player);
        if (at == watch->roster_count && at < WATCH_ROSTER) {
            watch->roster[watch->roster_count++] = player;
        }
    } else if (message->number == MESSAGE_PLAYER_LEFT) {
        const uint64_t player = ((const MessagePlayerLeft *)message->body)->player;
        const uint32_t at = roster_at_index(watch, player);
        if (at < watch->roster_count) {
            watch->roster[at] = watch->roster[--watch->roster_count];
        }
    }
}

static void note_durable(NetClient *client, const PendingCommand *pending)
{
    if (client->durable_count < DURABLE_MAX && !pending->is_removal) {
        client->durable[client->durable_count++] = (DurableThing){
            .is_chunk = pending->is_chunk, .net_id = pending->net_id, .at = pending->at};
    }
}

// True when the command needs no further answer.
static bool note_answer(NetClient *client, PendingCommand *pending, const Message *message)
{
    if (message->number == MESSAGE_ACK &&
        ((const MessageAck *)message->body)->command_seq == pending->seq) {
        const uint64_t made = ((const MessageAck *)message->body)->entity_id;
        Bot *bot = &client->bot;
        pending->net_id = made != 0 ? made : pending->net_id;
        if (made != 0 && bot->built_count < 8) {
            bot->built[bot->built_count++] = made;
        }
    } else if (message->number == MESSAGE_DURABLE &&
               ((const MessageDurable *)message->body)->command_seq == pending->seq) {
        note_durable(client, pending);
        return true;
    }
    return message->number == MESSAGE_ERROR &&
           ((const MessageError *)message->body)->command_seq == pending->seq;
}

static void note_prediction(NetClient *client)
{
    const Sim *sim = client_sim(client->client);
    const PredictView own = client_own(client->client);
    if (sim == NULL || !own.present) {
        return;
    }
    const Entity *body = sim_entity(sim, sim_find(sim, own.net_id));
    client->watch.own[sim_tick(sim) % WATCH_OWN] = (WatchOwn){sim_tick(sim), body->position};
}

void watch_updated(Net *net, NetClient *client)
{
    const ClientEvent *event;
    while ((event = client_event(client->client)) != NULL) {
        note_roster(&client->watch, &event->message);
        check_event(net, client, event);
        for (uint32_t i = 0; i < client->pending_count; i++) {
            if (note_answer(client, &client->pending[i], &event->message)) {
                client->pending[i] = client->pending[--client->pending_count];
                break;
            }
        }
    }
    note_prediction(client);
    check_corrections(net, client);
}

// --- what is said to be durable -----------------------------------------------------------------

static void check_durable(Net *net, const NetClient *client, uint32_t seq)
{
    const Watch *watch = &client->watch;
    for (uint32_t i = 0; i < client->pending_count; i++) {
        const PendingCommand *pending = &client->pending[i];
        if (pending->seq != seq) {
            continue;
        }
        if (pending->is_chunk && !store_has_chunk(net, pending->at)) {
            net_fail(net, "client %u is told that an edit is durable, and it is not stored",
                     client->index);
        }
        if (pending->is_removal && store_has_structure(net, pending->net_id)) {
            net_fail(net, "client %u is told that a removal is durable, and it is not stored",
                     client->index);
        }
    }
    Sim *sim = world_sim(net->world);
    for (uint32_t i = 0; i < WATCH_MADE; i++) {
        const uint64_t made = watch->made[i].net_id;
        const Entity *entity = sim_entity(sim, sim_find(sim, made));
        if (made != 0 && watch->made[i].seq == seq && entity != NULL && !entity->removing &&
            !store_has_structure(net, made)) {
            net_fail(net, "client %u is told that %llu is durable, and it is not stored",
                     client->index, (unsigned long long)made);
        }
    }
}

void watch_sent(Net *net, NetClient *client, const uint8_t *message, size_t bytes)
{
    static _Alignas(16) uint8_t block[1 << 14];
    if (bytes == 0 || (message[0] != MESSAGE_ACK && message[0] != MESSAGE_DURABLE &&
                       message[0] != MESSAGE_WELCOME)) {
        return;
    }
    Arena arena;
    arena_init(&arena, block, sizeof block);
    Message decoded;
    if (message_decode(message, bytes, MESSAGE_DOWN, &arena, &decoded) != STATUS_OK) {
        net_fail(net, "message %u for client %u cannot be read", message[0], client->index);
        return;
    }
    Watch *watch = &client->watch;
    if (decoded.number == MESSAGE_WELCOME) {
        watch_welcomed(net, client);
    } else if (decoded.number == MESSAGE_ACK) {
        const MessageAck *ack = decoded.body;
        watch->made[watch->made_count++ % WATCH_MADE] =
            (WatchMade){(uint32_t)ack->command_seq, ack->entity_id};
    } else {
        check_durable(net, client, (uint32_t)((const MessageDurable *)decoded.body)->command_seq);
    }
}

// --- cuts ---------------------------------------------------------------------------------------

void watch_cut(Net *net, NetClient *client)
{
    Watch *watch = &client->watch;
    uint64_t player = 0;
    uint64_t body = 0;
    if (!is_judged(client) || !world_player(net->world, client->connection, &player, &body)) {
        return;
    }
    watch->player = player;
    watch->entity = body;
}

void watch_killed(Net *net, NetClient *client)
{
    Watch *watch = &client->watch;
    watch->player = watch->entity = 0; // bodies are new in a new life
    watch->past_count = 0;
    uint64_t player = 0;
    uint64_t body = 0;
    if (!is_judged(client) || client->connection == 0 || client->playing_us == 0 ||
        net->now_us < client->playing_us + 1500000 ||
        !world_player(net->world, client->connection, &player, &body)) {
        return;
    }
    const uint64_t now = world_tick(net);
    for (uint64_t tick = now - WATCH_PAST + 1; tick <= now; tick++) {
        const PositionEntry *entry = positions_at(net, tick, body);
        if (entry == NULL || entry->health <= 0 || entry->jumped) {
            watch->past_count = 0;
            return;
        }
        watch->past[watch->past_count++] = entry->position;
    }
}

static void check_checkpoint(Net *net, const NetClient *client, Vec3 position)
{
    const Watch *watch = &client->watch;
    float nearest = 1e9f;
    for (uint32_t i = 0; i < watch->past_count; i++) {
        // Something may have been built there since: then the body stands on it.
        const Vec3 off = vec3_sub(watch->past[i], position);
        nearest = math_min(nearest, vec3_length(vec3(off.x, 0, off.z)));
    }
    if (nearest > CHECKPOINT_NEAR_M) {
        net_fail(net,
                 "client %u stands %.2f m from where it was in the last second before the restart",
                 client->index, (double)nearest);
    }
}

void watch_welcomed(Net *net, NetClient *client)
{
    Watch *watch = &client->watch;
    uint64_t player = 0;
    uint64_t body = 0;
    if (!world_player(net->world, client->connection, &player, &body)) {
        return;
    }
    Sim *sim = world_sim(net->world);
    const Entity *entity = sim_entity(sim, sim_find(sim, body));
    if (entity != NULL && watch->past_count > 0) {
        check_checkpoint(net, client, entity->position);
    }
    if (watch->player != 0 && (watch->player != player || watch->entity != body)) {
        net_fail(net, "client %u came back as player %llu with body %llu; it was %llu with %llu",
                 client->index, (unsigned long long)player, (unsigned long long)body,
                 (unsigned long long)watch->player, (unsigned long long)watch->entity);
    }
    const PositionEntry *before = positions_at(net, world_tick(net) - 1, body);
    if (watch->player != 0 && entity != NULL && before != NULL && before->health > 0 &&
        vec3_length(vec3_sub(before->position, entity->position)) > RESUME_STEP_M) {
        net_fail(net, "client %u was moved when it came back", client->index);
    }
    watch->player = watch->entity = 0;
    watch->past_count = 0;
}

// --- at the end ---------------------------------------------------------------------------------

void watch_end(Net *net, const NetClient *client)
{
    const Watch *watch = &client->watch;
    const ClientStats stats = client_stats(client->client);
    if (net->verbose) {
        printf("client %u (%s): %llu of %llu inputs late, %llu early, delay %.0f ms, lead %.1f\n",
               client->index, client->drawn->name, (unsigned long long)watch->inputs_late,
               (unsigned long long)watch->inputs, (unsigned long long)watch->inputs_early,
               stats.clock.delay_ms, stats.clock.lead_ticks);
    }
    const uint64_t percent = client->drawn == &link_clean      ? 2
                             : client->drawn == &link_home     ? 4
                             : client->drawn == &link_stalling ? 100
                                                               : 10;
    if (watch->inputs > 100 && watch->inputs_late * 100 > watch->inputs * percent) {
        net_fail(net, "client %u (%s): %llu of %llu inputs were late", client->index,
                 client->drawn->name, (unsigned long long)watch->inputs_late,
                 (unsigned long long)watch->inputs);
    }
    const bool is_near = client->drawn == &link_clean || client->drawn == &link_home;
    if (is_near && watch->inputs_early > 0) {
        net_fail(net, "client %u (%s): %llu inputs were too early to keep", client->index,
                 client->drawn->name, (unsigned long long)watch->inputs_early);
    }
    if (client->drawn == &link_clean && stats.clock.delay_ms > DELAY_CLEAN_MAX_MS) {
        net_fail(net, "client %u on a clean link shows others %.0f ms late", client->index,
                 stats.clock.delay_ms);
    }
    const uint64_t newest =
        client->frames.delivered[(client->frames.delivered_count - 1) % DELIVERED_MAX];
    if (client->drawn == &link_clean && client_view_time(client->client) > (double)newest) {
        net_fail(net, "client %u on a clean link shows tick %.1f and knows of %llu", client->index,
                 client_view_time(client->client), (unsigned long long)newest);
    }
    if (client->drawn == &link_clean && stats.clock.lead_ticks > LEAD_CLEAN_MAX) {
        net_fail(net, "client %u on a clean link is %.1f ticks ahead", client->index,
                 stats.clock.lead_ticks);
    }
    if (stats.events - watch->events_before != client->frames.events_delivered) {
        net_fail(net, "client %u took %llu events of %llu", client->index,
                 (unsigned long long)(stats.events - watch->events_before),
                 (unsigned long long)client->frames.events_delivered);
    }
}
