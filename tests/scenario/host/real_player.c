// Players of a real world: real clients (core/client) on a good line, who walk, build and take
// down. They remember what they were told is durable.
#include "tests/scenario/host/real_world.h"

#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPDATE_US 50000

static double now_ms(const StubProcess *process)
{
    return (double)process->hosts->now_us / 1000.0;
}

// --- coming and going ---------------------------------------------------------------------------

static RealPlayer *free_player(RealWorld *real)
{
    for (uint32_t i = 0; i < REAL_PLAYERS_MAX; i++) {
        if (real->players[i].connection == 0) {
            return &real->players[i];
        }
    }
    return NULL;
}

static void report_closed(StubProcess *process, uint64_t socket)
{
    (void)stub_report(process, &(ChannelReport){.type = CHANNEL_CLOSED, .socket = socket});
}

static Client *make_client(StubProcess *process, RealPlayer *player, const char *ticket)
{
    static ClientConfig config;
    config = client_config_default();
    config.place = process->hosts->real_place->stripped;
    config.scripts = true;
    config.verify = real_set_verify;
    config.verify_user = process;
    player->process = process;
    player->log = (LogSink){.write = real_set_client_log, .user = player, .level_min = LOG_INFO};
    config.script.log = &player->log;
    snprintf(config.name, sizeof config.name, "real");
    snprintf(config.ticket, sizeof config.ticket, "%s", ticket);
    Client *client = NULL;
    const Status status = client_create(&process->real->client_heap, &config, &client);
    ASSERT(status == STATUS_OK);
    return client;
}

void real_player_add(StubProcess *process, const StubMessage *message)
{
    Hosts *hosts = process->hosts;
    ASSERT(message->count > CHANNEL_CONNECT_BYTES);
    ByteReader reader = byte_reader(message->bytes, CHANNEL_CONNECT_BYTES);
    (void)byte_read_u8(&reader);
    (void)byte_read_u64(&reader);
    const uint64_t socket = byte_read_u64(&reader);
    RealPlayer *player = free_player(process->real);
    const Entry connect = {.type = ENTRY_CONNECT, .connection = (uint64_t)message->descriptor};
    if (player == NULL || world_enter(process->real->world, &connect) != STATUS_OK) {
        report_closed(process, socket);
        return;
    }
    message->bytes[message->count] = '\0'; // there is one byte more
    *player = (RealPlayer){.connection = connect.connection, .socket = socket};
    player->client =
        make_client(process, player, (const char *)message->bytes + CHANNEL_CONNECT_BYTES);
    player->leave_us = hosts->now_us + 3000000 + rng_below(&hosts->rng, 15000000);
    client_connect(player->client, now_ms(process));
}

void real_player_gone(StubProcess *process, RealPlayer *player)
{
    const Entry gone = {.type = ENTRY_DISCONNECT, .connection = player->connection};
    status_ignore(world_enter(process->real->world, &gone)); // the world may have ended it first
    report_closed(process, player->socket);
    client_destroy(&process->real->client_heap, player->client);
    *player = (RealPlayer){0};
}

uint32_t real_sessions(const StubProcess *process, StubSession *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < REAL_PLAYERS_MAX; i++) {
        const RealPlayer *player = &process->real->players[i];
        uint64_t number, entity;
        const Pass *pass = people_pass(process->hosts, player->connection);
        if (player->connection != 0 && pass != NULL &&
            world_player(process->real->world, player->connection, &number, &entity)) {
            out[count++] = (StubSession){.account = pass->account, .connection = pass->number};
        }
    }
    return count;
}

void real_players_free(StubProcess *process)
{
    for (uint32_t i = 0; i < REAL_PLAYERS_MAX; i++) {
        RealPlayer *player = &process->real->players[i];
        if (player->connection != 0) {
            client_destroy(&process->real->client_heap, player->client);
        }
    }
}

// --- what is durable ----------------------------------------------------------------------------

static SimStructure *find_structure(SimWorld *world, uint64_t net_id)
{
    for (uint32_t i = 0; i < world->structure_count; i++) {
        if (world->structures[i].net_id == net_id) {
            return &world->structures[i];
        }
    }
    return NULL;
}

static void add_structure(SimWorld *world, uint64_t net_id, StructureState state)
{
    if (world->structure_count < STRUCTURES_MAX) {
        world->structures[world->structure_count++] = (SimStructure){net_id, state};
    }
}

static void note_built(StubProcess *process, uint64_t net_id)
{
    SimWorld *world = &process->hosts->worlds[process->world];
    process->hosts->structures += 1;
    if (process->epoch == world->epoch_begun) {
        if (find_structure(world, net_id) == NULL) {
            add_structure(world, net_id, STRUCTURE_STANDS);
        }
        return;
    }
    // It may have been stored before the next life was made from it.
    for (uint32_t i = 0; i < world->begun_with_count; i++) {
        if (world->begun_with[i] == net_id) {
            return;
        }
    }
    hosts_fail(process->hosts,
               "world %u: life %llu was told that structure %llu is durable, but life %llu has "
               "begun without it",
               process->world, (unsigned long long)process->epoch, (unsigned long long)net_id,
               (unsigned long long)world->epoch_begun);
}

static void note_removed(StubProcess *process, uint64_t net_id)
{
    SimWorld *world = &process->hosts->worlds[process->world];
    SimStructure *known = find_structure(world, net_id);
    if (known != NULL && process->epoch == world->epoch_begun) {
        known->state = STRUCTURE_IS_GONE;
    }
}

// From now on it may be gone, if this life can still store anything. That it was built may become
// durable only later, with what took it down.
static void note_removing(StubProcess *process, uint64_t net_id)
{
    SimWorld *world = &process->hosts->worlds[process->world];
    if (process->epoch != world->epoch_begun) {
        return;
    }
    SimStructure *known = find_structure(world, net_id);
    if (known != NULL) {
        known->state = STRUCTURE_MAY_STAND;
    } else {
        add_structure(world, net_id, STRUCTURE_MAY_STAND);
    }
}

static RealPending *find_pending(RealPlayer *player, uint64_t seq)
{
    for (uint32_t i = 0; i < REAL_PENDING_MAX; i++) {
        if (player->pending[i].seq == seq) {
            return &player->pending[i];
        }
    }
    return NULL;
}

static void take_ack(RealPlayer *player, const MessageAck *ack)
{
    RealPending *pending = find_pending(player, ack->command_seq);
    if (pending == NULL || pending->is_removal) {
        return;
    }
    pending->net_id = ack->entity_id;
    if (player->built_count < REAL_PENDING_MAX) {
        player->built[player->built_count++] = ack->entity_id;
    }
}

static void take_durable(StubProcess *process, RealPlayer *player, const MessageDurable *durable)
{
    RealPending *pending = find_pending(player, durable->command_seq);
    if (pending == NULL) {
        return;
    }
    if (pending->is_removal) {
        note_removed(process, pending->net_id);
    } else {
        note_built(process, pending->net_id);
    }
    *pending = (RealPending){0};
}

static void take_events(StubProcess *process, RealPlayer *player)
{
    const ClientEvent *event;
    while ((event = client_event(player->client)) != NULL) {
        const Message *message = &event->message;
        if (message->number == MESSAGE_ACK) {
            take_ack(player, message->body);
        } else if (message->number == MESSAGE_DURABLE) {
            take_durable(process, player, message->body);
        } else if (message->number == MESSAGE_ERROR) {
            const MessageError *error = message->body;
            RealPending *pending = find_pending(player, error->command_seq);
            if (error->command_seq != 0 && pending != NULL) {
                *pending = (RealPending){0};
            }
        }
    }
}

// --- what they do -------------------------------------------------------------------------------

#define GROUND_Y 0 // the first cell above the flat ground of test_place

static void send_command(StubProcess *process, RealPlayer *player, RealPending *pending, Vec3 from)
{
    Rng *rng = &process->hosts->rng;
    if (player->built_count > 0 && rng_below(rng, 3) == 0) {
        const MessageBuildRemove remove = {.entity_id = player->built[--player->built_count]};
        note_removing(process, remove.entity_id);
        *pending = (RealPending){.seq = client_send(player->client, MESSAGE_BUILD_REMOVE, &remove),
                                 .is_removal = true,
                                 .net_id = remove.entity_id};
        return;
    }
    const VoxelCoord feet = voxel_at(vec3_add(from, vec3(0, 0.1f, 0)));
    // On the ground: a piece on another one falls with it, which is not told to be durable.
    const int32_t x = (int32_t)rng_below(rng, 11) - 5, z = (int32_t)rng_below(rng, 11) - 5;
    const MessageBuildPlace place = {.piece = 0, .cell = {feet.x + x, GROUND_Y, feet.z + z}};
    *pending = (RealPending){.seq = client_send(player->client, MESSAGE_BUILD_PLACE, &place)};
}

static void play(StubProcess *process, RealPlayer *player)
{
    Rng *rng = &process->hosts->rng;
    const PredictView own = client_own(player->client);
    if (client_state(player->client) != CLIENT_PLAYING || !own.present ||
        process->hosts->now_us < player->command_us) {
        return;
    }
    player->command_us = process->hosts->now_us + 200000 + rng_below(rng, 600000);
    const ClientInput input = {.yaw = rng_range(rng, -3, 3), .move_z = (float)rng_below(rng, 2)};
    client_set_input(player->client, &input);
    RealPending *pending = find_pending(player, 0);
    if (pending != NULL) {
        send_command(process, player, pending, own.position);
    }
}

static void exchange(StubProcess *process, RealPlayer *player)
{
    World *world = process->real->world;
    const uint8_t *bytes;
    size_t count;
    while (client_output(player->client, &bytes, &count)) {
        const Entry entry = {.type = ENTRY_MESSAGE,
                             .connection = player->connection,
                             .bytes = bytes,
                             .byte_count = count};
        status_ignore(world_enter(world, &entry)); // its session may be over
        client_output_take(player->client);
    }
    while (world_output(world, player->connection, &bytes, &count)) {
        client_receive(player->client, now_ms(process), bytes, count);
        world_output_take(world, player->connection);
    }
    take_events(process, player);
}

static void step_player(StubProcess *process, RealPlayer *player)
{
    const uint64_t now_us = process->hosts->now_us;
    if (now_us >= player->update_us) {
        player->update_us = now_us + UPDATE_US;
        play(process, player);
        client_update(player->client, now_ms(process));
    }
    exchange(process, player);
    real_set_check_player(process, player);
    if (now_us >= player->leave_us || client_state(player->client) == CLIENT_CLOSED) {
        real_player_gone(process, player);
    }
}

static void close_finished(StubProcess *process)
{
    RealWorld *real = process->real;
    for (uint64_t id = world_closing(real->world); id != 0; id = world_closing(real->world)) {
        for (uint32_t i = 0; i < REAL_PLAYERS_MAX; i++) {
            if (real->players[i].connection == id) {
                real_player_gone(process, &real->players[i]);
            }
        }
    }
}

void real_players_step(StubProcess *process)
{
    for (uint32_t i = 0; i < REAL_PLAYERS_MAX; i++) {
        if (process->real->players[i].connection != 0) {
            step_player(process, &process->real->players[i]);
        }
    }
    close_finished(process);
}
