// What a player does: decided only from what its own client shows.
#include "core/sim/scene.h"
#include "server/bots/bots_inside.h"

#include <string.h>

#define HOME_RADIUS_M 24.0f
#define CROWD_M       2.0f
#define FIGHT_STOP_M  6.0f
#define GOAL_STOP_M   0.7f

// --- where to ------------------------------------------------------------------------------------

static Vec3 random_near(Bot *bot, Vec3 centre, float edge)
{
    const float x = rng_range(&bot->rng, -edge, edge);
    const float z = rng_range(&bot->rng, -edge, edge);
    return vec3_add(centre, vec3(x, 0, z));
}

// Picks a random moving part that the client has.
static bool find_platform(Bot *bot, Vec3 *out)
{
    const Sim *sim = client_sim(bot->client);
    const uint32_t mask = ENTITY_MASK(ENTITY_PART);
    uint32_t seen = 0;
    for (Handle part = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(part);
         part = sim_next(sim, part, mask)) {
        seen += 1;
        if (rng_below(&bot->rng, seen) == 0) {
            *out = sim_entity(sim, part)->position;
        }
    }
    return seen > 0;
}

static bool find_enemy(Bot *bot, const PredictView *own, Vec3 *out)
{
    float nearest = 1.0e9f;
    for (uint32_t slot = client_next(bot->client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(bot->client, slot)) {
        const ClientEntity entity = client_entity(bot->client, slot);
        const float distance = vec3_length(vec3_sub(entity.pose.position, own->position));
        if ((entity.kind == NET_PLAYER || entity.kind == NET_NPC) && entity.net_id != own->net_id &&
            (entity.pose.flags & NET_DEAD) == 0 && distance < nearest) {
            nearest = distance;
            *out = entity.pose.position;
        }
    }
    return nearest < 1.0e9f;
}

static void decide(Bots *bots, Bot *bot, const PredictView *own)
{
    const uint32_t pause = rng_below(&bot->rng, 2000);
    bot->decide_ms = bots->now_ms + 1000 + pause;
    bot->run = rng_below(&bot->rng, 3) == 0;
    switch (bot->behaviour) {
    case BOTS_CROWD: {
        const Place *place = client_place(bot->client);
        bot->goal = random_near(bot, place->spawns[0].position, CROWD_M);
        break;
    }
    case BOTS_FIGHT:
        if (!find_enemy(bot, own, &bot->goal)) {
            bot->goal = random_near(bot, bot->home, HOME_RADIUS_M);
        }
        bot->decide_ms = bots->now_ms + 200;
        break;
    case BOTS_PLATFORMS:
        if (!find_platform(bot, &bot->goal)) {
            bot->goal = random_near(bot, bot->home, HOME_RADIUS_M);
        }
        break;
    case BOTS_STAND:
        bot->goal = own->position;
        break;
    default:
        bot->goal = random_near(bot, bot->home, HOME_RADIUS_M);
        break;
    }
}

// --- commands -----------------------------------------------------------------------------------

static void remember(Bot *bot, const BotCommand *command)
{
    if (command->seq != 0 && bot->pending_count < BOTS_PENDING_MAX) {
        bot->pending[bot->pending_count++] = *command;
    }
}

static void place_piece(Bot *bot, VoxelCoord at)
{
    const uint32_t pieces = scene_piece_count(client_place(bot->client)->scene);
    if (pieces == 0) {
        return;
    }
    MessageBuildPlace place = {.cell = {at.x, at.y, at.z}};
    place.piece = rng_below(&bot->rng, pieces);
    place.turn = rng_below(&bot->rng, 4);
    remember(bot, &(BotCommand){.seq = client_send(bot->client, MESSAGE_BUILD_PLACE, &place),
                                .number = MESSAGE_BUILD_PLACE,
                                .bot = bot->index});
}

static void set_voxel(Bots *bots, Bot *bot, VoxelCoord at, VoxelKind kind)
{
    const WireCoord cell = {at.x, at.y, at.z};
    const MessageTerraform edit = {.min = cell, .max = cell, .voxel_kind = kind};
    const uint32_t seq = client_send(bot->client, MESSAGE_TERRAFORM, &edit);
    if (seq != 0) {
        ledger_doubt_voxel(&bots->ledger, at);
    }
    remember(bot,
             &(BotCommand){.seq = seq, .number = MESSAGE_TERRAFORM, .voxel = at, .kind = kind});
}

// Removes anybody's voxel, or a structure of its own.
static void take_down(Bots *bots, Bot *bot)
{
    Ledger *ledger = &bots->ledger;
    if (ledger->count == 0) {
        return;
    }
    LedgerItem *item = &ledger->items[rng_below(&bot->rng, ledger->count)];
    if (item->state != LEDGER_STORED || (item->is_structure && item->bot != bot->index)) {
        return;
    }
    if (!item->is_structure) {
        set_voxel(bots, bot, item->voxel, 0);
        return;
    }
    const MessageBuildRemove remove = {.entity_id = item->entity};
    const uint32_t seq = client_send(bot->client, MESSAGE_BUILD_REMOVE, &remove);
    item->state = seq != 0 ? LEDGER_UNSURE : item->state;
    remember(bot,
             &(BotCommand){.seq = seq, .number = MESSAGE_BUILD_REMOVE, .entity = item->entity});
}

// Everything is built on the original ground, and nobody digs that: so structures disappear only if
// a bot removes them, and stored ones can be told from lost ones.
static void build_something(Bots *bots, Bot *bot, const PredictView *own)
{
    const uint32_t what = rng_below(&bot->rng, 10);
    const int32_t dx = (int32_t)rng_below(&bot->rng, 9) - 4;
    const int32_t dz = (int32_t)rng_below(&bot->rng, 9) - 4;
    const VoxelCoord ground = voxel_at(vec3_add(bot->home, vec3(0, 0.1f, 0)));
    const VoxelCoord feet = voxel_at(vec3_add(own->position, vec3(0, 0.1f, 0)));
    const VoxelCoord cell = {feet.x + dx, ground.y, feet.z + dz};
    if (!own->grounded || feet.y != ground.y) {
        return;
    }
    if (what < 4) {
        place_piece(bot, cell);
    } else if (what < 8) {
        if (ledger_voxel(&bots->ledger, cell) == NULL) {
            set_voxel(bots, bot, cell, 1);
        }
    } else if (what == 8) {
        take_down(bots, bot);
    } else {
        const MessageBuildPreview preview = {
            .active = true, .piece = 0, .cell = {cell.x, cell.y, cell.z}};
        (void)client_send(bot->client, MESSAGE_BUILD_PREVIEW, &preview);
    }
}

static void say_something(Bot *bot)
{
    static const char *const words[] = {"hello", "over here", "\xc3\xa9\xc3\xa0", "go", "wait"};
    const char *word = words[rng_below(&bot->rng, 5)];
    const MessageChatSay say = {.text = text_from(word)};
    (void)client_send(bot->client, MESSAGE_CHAT_SAY, &say);
}

static void command(Bots *bots, Bot *bot, const PredictView *own)
{
    const uint32_t pause = rng_below(&bot->rng, 700);
    bot->command_ms = bots->now_ms + 300 + pause;
    if (own->health <= 0) {
        const MessageRespawn respawn = {0};
        (void)client_send(bot->client, MESSAGE_RESPAWN, &respawn);
        return;
    }
    if (bot->behaviour == BOTS_BUILD) {
        build_something(bots, bot, own);
    }
    if (bot->behaviour != BOTS_WALK && bot->behaviour != BOTS_STAND &&
        rng_below(&bot->rng, 60) == 0) {
        say_something(bot);
    }
}

void behaviour_take_answers(Bots *bots, Bot *bot)
{
    for (const ClientEvent *event = client_event(bot->client); event != NULL;
         event = client_event(bot->client)) {
        uint64_t seq = 0;
        uint64_t entity = 0;
        const uint8_t number = event->message.number;
        if (event->tick != 0) {
            continue;
        }
        if (number == MESSAGE_ACK) {
            const MessageAck *ack = event->message.body;
            seq = ack->command_seq;
            entity = ack->entity_id;
        } else if (number == MESSAGE_DURABLE) {
            seq = ((const MessageDurable *)event->message.body)->command_seq;
        } else if (number == MESSAGE_ERROR) {
            seq = ((const MessageError *)event->message.body)->command_seq;
        } else if (number == MESSAGE_WELCOME) {
            bots->report.resumes += ((const MessageWelcome *)event->message.body)->resumed;
        }
        for (uint32_t i = 0; seq != 0 && i < bot->pending_count; i++) {
            BotCommand *pending = &bot->pending[i];
            if (pending->seq != seq) {
                continue;
            }
            if (number == MESSAGE_ACK) {
                pending->acked = true;
                pending->entity = entity != 0 ? entity : pending->entity;
                break;
            }
            if (number == MESSAGE_DURABLE) {
                ledger_store(&bots->ledger, pending);
            }
            *pending = bot->pending[--bot->pending_count];
            break;
        }
    }
}

// --- every update -------------------------------------------------------------------------------

// Straight on; back if it is far from home.
static void walk(Bots *bots, Bot *bot, const PredictView *own)
{
    if (bots->now_ms >= bot->decide_ms) {
        const uint32_t pause = rng_below(&bot->rng, 2000);
        bot->decide_ms = bots->now_ms + 1000 + pause;
        bot->heading = rng_range(&bot->rng, -MATH_PI, MATH_PI);
    }
    const Vec3 way = vec3_sub(bot->home, own->position);
    if (way.x * way.x + way.z * way.z > HOME_RADIUS_M * HOME_RADIUS_M) {
        bot->heading = math_atan2(way.x, way.z);
    }
    client_set_input(bot->client, &(ClientInput){.yaw = bot->heading, .move_z = 1.0f});
}

static void go(Bots *bots, Bot *bot, const PredictView *own)
{
    if (bots->now_ms >= bot->decide_ms) {
        decide(bots, bot, own);
    }
    Vec3 way = vec3_sub(bot->goal, own->position);
    const float up = way.y;
    way.y = 0;
    const float distance = vec3_length(way);
    ClientInput input = {.yaw = distance > 0.3f ? math_atan2(way.x, way.z) : own->yaw};
    const float stop = bot->behaviour == BOTS_FIGHT ? FIGHT_STOP_M : GOAL_STOP_M;
    input.move_z = distance > stop ? 1.0f : 0.0f;
    input.buttons = bot->run ? INPUT_RUN : 0;
    if (bot->behaviour != BOTS_STAND && (rng_below(&bot->rng, 90) == 0 || up > 1.0f)) {
        input.buttons |= INPUT_JUMP;
    }
    if (bot->behaviour == BOTS_FIGHT) {
        input.buttons |= INPUT_FIRE;
        input.pitch = math_atan2(up, math_max(distance, 0.5f));
    }
    client_set_input(bot->client, &input);
}

void behaviour_act(Bots *bots, Bot *bot)
{
    const PredictView own = client_own(bot->client);
    if (!own.present) {
        return;
    }
    if (!bot->has_home && own.grounded) {
        bot->has_home = true;
        bot->home = own.position;
        bot->command_ms = bots->now_ms + 1000;
    }
    if (!bot->has_home) {
        return;
    }
    if (bots->now_ms >= bot->command_ms) {
        command(bots, bot, &own);
    }
    if (bot->behaviour == BOTS_WALK || bot->behaviour == BOTS_CHURN ||
        bot->behaviour == BOTS_SLOW) {
        walk(bots, bot, &own);
    } else {
        go(bots, bot, &own);
    }
}
