// Bots: each behaviour decides where to go and what to press only from what its own client shows.
#include "core/wire/message.h"
#include "tests/scenario/net/net_inside.h"

#include <string.h>

#define BUTTON_FIRE INPUT_FIRE

void bot_init(Bot *bot, BotKind kind, uint64_t seed)
{
    *bot = (Bot){.kind = kind, .rng = rng_make(seed, 7)};
}

static Vec3 random_goal(Bot *bot, float edge)
{
    const float x = rng_range(&bot->rng, -edge, edge);
    const float z = rng_range(&bot->rng, -edge, edge);
    return vec3(x, 0, z);
}

// Picks a random moving part that the client has.
static bool find_platform(NetClient *client, Bot *bot, Vec3 *out)
{
    const Sim *sim = client_sim(client->client);
    uint32_t seen = 0;
    const uint32_t mask = ENTITY_MASK(ENTITY_PART);
    for (Handle part = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(part);
         part = sim_next(sim, part, mask)) {
        const Entity *entity = sim_entity(sim, part);
        seen += 1;
        if (rng_below(&bot->rng, seen) == 0) {
            *out = entity->position;
        }
    }
    return seen > 0;
}

static bool find_enemy(NetClient *client, Vec3 from, Vec3 *out)
{
    float nearest = 1.0e9f;
    for (uint32_t slot = client_next(client->client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client->client, slot)) {
        const ClientEntity entity = client_entity(client->client, slot);
        const float distance = vec3_length(vec3_sub(entity.pose.position, from));
        const bool is_enemy = (entity.kind == NET_PLAYER || entity.kind == NET_NPC) &&
                              entity.net_id != client_own(client->client).net_id &&
                              (entity.pose.flags & NET_DEAD) == 0;
        if (is_enemy && distance < nearest) {
            nearest = distance;
            *out = entity.pose.position;
        }
    }
    return nearest < 1.0e9f;
}

static void choose_goal(Net *net, NetClient *client, Vec3 from)
{
    Bot *bot = &client->bot;
    bot->run = rng_below(&bot->rng, 3) == 0;
    bot->next_us = net->now_us + 500000 + rng_below(&bot->rng, 2500000);
    switch (bot->kind) {
    case BOT_CROWD:
        bot->goal = random_goal(bot, 2.0f);
        break;
    case BOT_FIGHT:
        if (!find_enemy(client, from, &bot->goal)) {
            bot->goal = random_goal(bot, 20.0f);
        }
        bot->next_us = net->now_us + 200000;
        break;
    case BOT_RIDE:
        if (!find_platform(client, bot, &bot->goal)) {
            bot->goal = random_goal(bot, 25.0f);
        }
        break;
    case BOT_STAND:
        bot->goal = from;
        break;
    default:
        bot->goal = random_goal(bot, 26.0f);
        break;
    }
}

static void remember(NetClient *client, uint32_t seq, PendingCommand command)
{
    if (seq != 0 && client->pending_count < 16) {
        command.seq = seq;
        client->pending[client->pending_count++] = command;
    }
}

static void build_something(NetClient *client, Vec3 from)
{
    Bot *bot = &client->bot;
    const uint32_t what = rng_below(&bot->rng, 10);
    const int32_t dx = (int32_t)rng_below(&bot->rng, 7) - 3;
    const int32_t dz = (int32_t)rng_below(&bot->rng, 7) - 3;
    const VoxelCoord feet = voxel_at(vec3_add(from, vec3(0, 0.1f, 0)));
    const WireCoord cell = {feet.x + dx, feet.y, feet.z + dz};
    if (what < 5) {
        MessageBuildPlace place = {.piece = rng_below(&bot->rng, 2), .cell = cell};
        place.turn = rng_below(&bot->rng, 4);
        remember(client, client_send(client->client, MESSAGE_BUILD_PLACE, &place),
                 (PendingCommand){.is_chunk = false});
    } else if (what < 8) {
        const bool dig = rng_below(&bot->rng, 2) == 0;
        const int32_t y = dig ? feet.y - 1 : feet.y;
        const MessageTerraform edit = {
            .min = {cell.x, y, cell.z}, .max = {cell.x, y, cell.z}, .voxel_kind = dig ? 0 : 1};
        remember(
            client, client_send(client->client, MESSAGE_TERRAFORM, &edit),
            (PendingCommand){.is_chunk = true, .at = voxel_chunk((VoxelCoord){cell.x, y, cell.z})});
    } else if (what == 8 && bot->built_count > 0) {
        const MessageBuildRemove remove = {.entity_id = bot->built[--bot->built_count]};
        remember(client, client_send(client->client, MESSAGE_BUILD_REMOVE, &remove),
                 (PendingCommand){.is_removal = true, .net_id = remove.entity_id});
    } else {
        const MessageBuildPreview preview = {.active = true, .piece = 0, .cell = cell};
        (void)client_send(client->client, MESSAGE_BUILD_PREVIEW, &preview);
    }
}

static void say_something(NetClient *client)
{
    static const char *const words[] = {"hello", "over here", "\xc3\xa9\xc3\xa0", "go", "wait"};
    const char *word = words[rng_below(&client->bot.rng, 5)];
    const MessageChatSay say = {.text = {word, (uint32_t)strlen(word)}};
    (void)client_send(client->client, MESSAGE_CHAT_SAY, &say);
}

void bot_play(Net *net, NetClient *client)
{
    Bot *bot = &client->bot;
    if (client_state(client->client) != CLIENT_PLAYING) {
        return;
    }
    const PredictView own = client_own(client->client);
    if (!own.present) {
        return;
    }
    if (net->is_ending) {
        const ClientInput still = {.yaw = own.yaw};
        client_set_input(client->client, &still);
        return;
    }
    if (net->now_us >= bot->next_us) {
        choose_goal(net, client, own.position);
    }
    if (net->now_us >= bot->command_us) {
        bot->command_us = net->now_us + 300000 + rng_below(&bot->rng, 700000);
        if (bot->kind == BOT_BUILD) {
            build_something(client, own.position);
        }
        if (rng_below(&bot->rng, 20) == 0) {
            say_something(client);
        }
        if (own.health <= 0) {
            const MessageRespawn respawn = {0};
            (void)client_send(client->client, MESSAGE_RESPAWN, &respawn);
        }
    }
    Vec3 way = vec3_sub(bot->goal, own.position);
    const float up = way.y;
    way.y = 0;
    const float distance = vec3_length(way);
    ClientInput input = {.yaw = own.yaw};
    if (distance > 0.3f) {
        input.yaw = math_atan2(way.x, way.z);
    }
    const float stop = bot->kind == BOT_FIGHT ? 6.0f : 0.7f;
    input.move_z = distance > stop ? 1.0f : 0.0f;
    input.buttons = bot->run ? INPUT_RUN : 0;
    if (bot->kind != BOT_STAND && (rng_below(&bot->rng, 90) == 0 || up > 1.0f)) {
        input.buttons |= INPUT_JUMP;
    }
    if (bot->kind == BOT_FIGHT) {
        input.buttons |= BUTTON_FIRE;
        input.pitch = math_atan2(up, math_max(distance, 0.5f));
    }
    client_set_input(client->client, &input);
}

// Mostly almost right: a valid message with a few bytes changed gets further than noise.
bool bot_noise(Net *net, NetClient *client, uint8_t *out, size_t capacity, size_t *bytes)
{
    Bot *bot = &client->bot;
    if (net->is_ending || bot->kind != BOT_HOSTILE || rng_below(&bot->rng, 6) != 0) {
        return false;
    }
    ByteWriter writer = byte_writer(out, capacity);
    const uint32_t what = rng_below(&bot->rng, 6);
    if (what == 0) {
        const uint32_t count = rng_below(&bot->rng, 64);
        for (uint32_t i = 0; i < count; i++) {
            byte_write_u8(&writer, (uint8_t)rng_u32(&bot->rng));
        }
        if (count > 0 && rng_below(&bot->rng, 2) == 0) {
            out[0] = (uint8_t)(MESSAGE_INPUT_BATCH + rng_below(&bot->rng, 4));
        }
    } else if (what == 1) {
        const MessageTerraform edit = {.shape = 2,
                                       .centre = {rng_range(&bot->rng, -16000, 16000), 0, 0},
                                       .radius = 24,
                                       .voxel_kind = 3};
        message_encode(&(Message){.number = MESSAGE_TERRAFORM, .seq = 1, .body = &edit}, &writer);
    } else if (what == 2) {
        WireInputFrame frames[8];
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t tick = rng_u32(&bot->rng);
            const int32_t move = (int32_t)rng_below(&bot->rng, 255) - 127;
            frames[i] = (WireInputFrame){
                .seq = tick, .tick = tick, .move_x = move, .move_z = -move, .buttons = 0xffff};
        }
        const MessageInputBatch batch = {.last_snapshot = rng_u32(&bot->rng),
                                         .view_tick = rng_u32(&bot->rng),
                                         .inputs = frames,
                                         .inputs_count = 8};
        message_encode(&(Message){.number = MESSAGE_INPUT_BATCH, .seq = 1, .body = &batch},
                       &writer);
    } else if (what == 3) {
        const MessageBuildRemove remove = {.entity_id = rng_below(&bot->rng, 4000)};
        message_encode(&(Message){.number = MESSAGE_BUILD_REMOVE, .seq = 1, .body = &remove},
                       &writer);
    } else if (what == 4) {
        const MessageBlobRequest ask = {.from_chunk = rng_u32(&bot->rng)};
        message_encode(&(Message){.number = MESSAGE_BLOB_REQUEST, .seq = 1, .body = &ask}, &writer);
    } else {
        const MessageChunkRequest ask = {0};
        message_encode(&(Message){.number = MESSAGE_CHUNK_REQUEST, .seq = 1, .body = &ask},
                       &writer);
    }
    *bytes = writer.at;
    if (*bytes > 0 && rng_below(&bot->rng, 3) == 0) {
        out[rng_below(&bot->rng, (uint32_t)*bytes)] ^= (uint8_t)(1u << rng_below(&bot->rng, 8));
    }
    return *bytes > 0;
}
