// The own body of a player: the client predicts it, the server decides it, and both should come to
// the same. The client says with a hash what it came to after an input; where that differs from
// the truth it is sent the state, together with everything that it could not have known.
//
// A hash counts only if the client had processed the last correction when it sent it: what it
// predicted before that is known to be wrong.
#include "core/world/world_inside.h"

#include <string.h>

// How long after something happened predictions may still be in flight that did not know of it,
// beyond the round trip: the way of an input through buffers, and a snapshot that just went out.
#define CAUSE_SLACK_TICKS 8
// So long may it take until all that is around a body has been sent and asked for.
#define FILLING_SECONDS 3

static uint32_t bit_of(NetCause cause)
{
    return (uint32_t)__builtin_ctz((unsigned)cause);
}

void own_cause(World *world, Session *session, NetCause cause)
{
    session->own.cause_tick[bit_of(cause)] = world->tick + 1;
}

void own_reset(World *world, Session *session)
{
    Own *own = &session->own;
    memset(own, 0, sizeof *own);
    const Entity *body = session_body(world, session);
    if (body != NULL) {
        const CharacterState state = character_state(world->sim, session_handle(world, session));
        own->hash = character_state_hash(&state);
        own->alive = state.health > 0;
    }
    own->wanted = true;
    own->frame = session->flow.sent + 1;
    own_cause(world, session, NET_CAUSE_SPAWN);
}

static uint32_t causes_now(const World *world, const Session *session)
{
    const Own *own = &session->own;
    const uint64_t window =
        session->flow.rtt_eighths / 8 + 2 * world->snapshot_ticks + CAUSE_SLACK_TICKS;
    uint32_t causes = 0;
    for (uint32_t bit = 0; bit < 8; bit++) {
        const uint64_t tick = own->cause_tick[bit];
        if (tick != 0 && (tick > own->match_tick || tick + window >= world->tick)) {
            causes |= 1u << bit;
        }
    }
    // What changed around it may matter much later, until the client has heard of it.
    if (session->geometry_tick != 0 && (session->geometry_tick + world->tick_rate >= world->tick ||
                                        session->geometry_tick >= own->match_known)) {
        causes |= NET_CAUSE_GEOMETRY;
    }
    // Who comes back, perhaps from another life of the world, goes on at once and learns what is
    // around it piece by piece.
    if (session->resumed &&
        world->tick - session->state_tick < (uint64_t)FILLING_SECONDS * world->tick_rate) {
        causes |= NET_CAUSE_GEOMETRY;
    }
    return causes;
}

static uint64_t tick_of_frame(const Session *session, uint32_t frame)
{
    const Flow *flow = &session->flow;
    const bool kept = frame != 0 && frame <= flow->sent && flow->sent - frame < FLOW_FRAMES;
    return kept ? flow->ticks[frame % FLOW_FRAMES] : 0;
}

static void compare(World *world, Session *session, uint64_t tick, const OwnCheck *predicted,
                    uint32_t truth)
{
    Own *own = &session->own;
    if (own->wanted || predicted->frame < own->frame) {
        return; // it will know better, or does not know better yet
    }
    if (predicted->hash == truth) {
        if (tick > own->match_tick) {
            own->match_tick = tick;
            own->match_known = tick_of_frame(session, predicted->frame);
        }
        return;
    }
    own->wanted = true;
    own->frame = session->flow.sent + 1;
    world->stats.corrections += 1;
    if (causes_now(world, session) == 0) {
        world->stats.corrections_without_cause += 1;
        log_write(world->config.log, world->tick, LOG_WARN, "world",
                  "player %llu was predicted wrongly at tick %llu, and nothing explains it",
                  (unsigned long long)session->player, (unsigned long long)tick);
    }
}

// The tick of an input that waits or was taken lately; 0 when there is none.
static uint64_t tick_of_input(const World *world, const Session *session, uint32_t seq)
{
    const uint64_t now = world->tick;
    if (!session->json) {
        const int32_t ahead = (int32_t)(seq - (uint32_t)now); // seq is the low part of the tick
        return ahead > -INPUT_BUFFER && ahead <= INPUT_BUFFER &&
                       (ahead > 0 || now >= (uint64_t)-ahead)
                   ? now + (uint64_t)(int64_t)ahead
                   : 0;
    }
    for (uint32_t i = 0; i < INPUT_BUFFER; i++) {
        if (session->input.present[i] && session->input.frames[i].seq == seq) {
            return session->input.frames[i].tick;
        }
        const uint64_t past = now >= i ? now - i : 0;
        if (past != 0 && session->own.truth[past % INPUT_BUFFER].seq == seq) {
            return past;
        }
    }
    return 0;
}

void own_predicted(World *world, Session *session, const MessageInputBatch *batch)
{
    if (batch->state_hash == 0 || session->entity == 0) {
        return;
    }
    const OwnCheck predicted = {(uint32_t)batch->state_seq, (uint32_t)batch->state_hash,
                                session->flow.acked};
    const uint64_t tick = tick_of_input(world, session, predicted.seq);
    if (tick == 0) {
        return;
    }
    Own *own = &session->own;
    if (tick > world->tick) {
        own->predicted[tick % INPUT_BUFFER] = predicted;
        return;
    }
    const OwnCheck *truth = &own->truth[tick % INPUT_BUFFER];
    if (truth->hash != 0 && truth->seq == predicted.seq) {
        compare(world, session, tick, &predicted, truth->hash);
    }
}

void own_before(World *world, Session *session)
{
    const Entity *body = session_body(world, session);
    if (body == NULL) {
        return;
    }
    const CharacterState state = character_state(world->sim, session_handle(world, session));
    if (!vec3_equal(state.push, VEC3_ZERO)) {
        own_cause(world, session, NET_CAUSE_PUSH);
    }
    if (session->own.hash != 0 && character_state_hash(&state) != session->own.hash) {
        own_cause(world, session, NET_CAUSE_SCRIPT);
    }
}

static void note_life(World *world, Session *session, bool alive)
{
    if (alive == session->own.alive) {
        return;
    }
    session->own.alive = alive;
    own_cause(world, session, NET_CAUSE_DAMAGE);
    if (alive) {
        const MessageRespawned event = {.entity_id = session->entity};
        const ReplicatorEvent where = {.subject = session->entity};
        event_broadcast(world, MESSAGE_RESPAWNED, &event, &where);
    }
}

void own_after(World *world, Session *session)
{
    Own *own = &session->own;
    const uint32_t slot = (uint32_t)(world->tick % INPUT_BUFFER);
    const OwnCheck predicted = own->predicted[slot];
    own->predicted[slot] = (OwnCheck){0};
    own->truth[slot] = (OwnCheck){0};
    if (session_body(world, session) == NULL) {
        own->hash = 0;
        return;
    }
    const CharacterState state = character_state(world->sim, session_handle(world, session));
    own->hash = character_state_hash(&state);
    note_life(world, session, state.health > 0);
    const bool taken = session->input.started && session->input.repeated == 0;
    own->truth[slot].hash = own->hash;
    // A binary client means the tick; it is also asked about where its input was not in time.
    own->truth[slot].seq = !session->json ? (uint32_t)world->tick
                           : taken        ? session->input.ack_seq
                                          : 0;
    if (predicted.hash != 0 && predicted.seq == own->truth[slot].seq) {
        compare(world, session, world->tick, &predicted, own->hash);
    }
}

bool own_state(World *world, Session *session, NetOwn *out)
{
    Own *own = &session->own;
    if (session_body(world, session) == NULL ||
        (!own->wanted && world->tick - own->sent_tick < world->tick_rate)) {
        return false;
    }
    *out = (NetOwn){.net_id = session->entity,
                    .tick = world->tick,
                    .causes = causes_now(world, session),
                    .state = character_state(world->sim, session_handle(world, session))};
    if (!own->wanted) {
        out->causes |= NET_CAUSE_PERIODIC;
    }
    own->wanted = false;
    own->sent_tick = world->tick;
    return true;
}
