// A player's own body: the client predicts it, the server decides it, and both should get the same
// result. With its inputs the client sends a hash of the state it predicted. If the hash differs
// from the server's, the client is sent the state, together with everything that it could not have
// known.
//
// A hash counts only if the client had processed the last correction when it sent the hash: what it
// predicted before that is known to be wrong.
#include "core/world/session/session.h"

#include <string.h>

// How long after an event predictions may arrive that did not know of it, beyond the round trip:
// the time of an input in buffers, and a snapshot that was just sent.
#define CAUSE_SLACK_TICKS 8
// The maximum time until everything around a body has been sent and requested.
#define FILLING_SECONDS 3
#define NEAR_M          64.0f // a change within this distance may matter to a body

static uint32_t bit_of(NetCause cause)
{
    return (uint32_t)__builtin_ctz((unsigned)cause);
}

void prediction_cause(const Sessions *sessions, Session *session, NetCause cause)
{
    session->prediction.cause_tick[bit_of(cause)] = sessions->config.clock->tick + 1;
}

void prediction_reset(Sessions *sessions, Session *session)
{
    Sim *sim = sessions->config.sim;
    Prediction *own = &session->prediction;
    memset(own, 0, sizeof *own);
    session->turn = (SessionTurn){.is_on = false};
    const Entity *body = session_body(sim, session);
    if (body != NULL) {
        const CharacterState state = character_state(sim, session_handle(sim, session));
        own->hash = character_state_hash(&state);
        own->alive = state.health > 0;
    }
    own->wanted = true;
    own->frame = session->flow.sent + 1;
    prediction_cause(sessions, session, NET_CAUSE_SPAWN);
}

static uint32_t causes_now(const Sessions *sessions, const Session *session)
{
    const WorldClock *clock = sessions->config.clock;
    const Prediction *own = &session->prediction;
    const uint64_t window =
        session->flow.rtt_eighths / 8 + 2 * clock->snapshot_ticks + CAUSE_SLACK_TICKS;
    uint32_t causes = 0;
    for (uint32_t bit = 0; bit < 8; bit++) {
        const uint64_t tick = own->cause_tick[bit];
        if (tick != 0 && (tick > own->match_tick || tick + window >= clock->tick)) {
            causes |= 1u << bit;
        }
    }
    // A change nearby may matter much later, until the client has received it.
    if (session->geometry_tick != 0 && (session->geometry_tick + clock->tick_rate >= clock->tick ||
                                        session->geometry_tick >= own->match_known)) {
        causes |= NET_CAUSE_GEOMETRY;
    }
    // After a resume, perhaps in another run of the world, a player continues at once and gets its
    // surroundings piece by piece.
    if (session->resumed &&
        clock->tick - session->state_tick < (uint64_t)FILLING_SECONDS * clock->tick_rate) {
        causes |= NET_CAUSE_GEOMETRY;
    }
    return causes;
}

static uint64_t tick_of_frame(const Session *session, uint32_t frame)
{
    const SnapshotFlow *flow = &session->flow;
    const bool kept =
        frame != 0 && frame <= flow->sent && flow->sent - frame < SNAPSHOT_FLOW_FRAMES;
    return kept ? flow->ticks[frame % SNAPSHOT_FLOW_FRAMES] : 0;
}

static void compare(Sessions *sessions, Session *session, uint64_t tick,
                    const PredictionCheck *predicted, uint32_t truth)
{
    Prediction *own = &session->prediction;
    if (own->wanted || predicted->frame < own->frame) {
        return; // a correction is on its way, or the client does not have the change yet
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
    sessions->config.stats->corrections += 1;
    if (causes_now(sessions, session) == 0) {
        sessions->config.stats->corrections_without_cause += 1;
        log_write(sessions->config.log, sessions->config.clock->tick, LOG_WARN, "world",
                  "player %llu was predicted wrongly at tick %llu, and nothing explains it",
                  (unsigned long long)session->player, (unsigned long long)tick);
    }
}

// The tick of an input that waits or was used recently; 0 if there is none.
static uint64_t tick_of_input(const Sessions *sessions, const Session *session, uint32_t seq)
{
    const uint64_t now = sessions->config.clock->tick;
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
        if (past != 0 && session->prediction.truth[past % INPUT_BUFFER].seq == seq) {
            return past;
        }
    }
    return 0;
}

void prediction_reported(Sessions *sessions, Session *session, const MessageInputBatch *batch)
{
    if (batch->state_hash == 0 || session->entity == 0) {
        return;
    }
    const PredictionCheck predicted = {(uint32_t)batch->state_seq, (uint32_t)batch->state_hash,
                                       session->flow.acked};
    const uint64_t tick = tick_of_input(sessions, session, predicted.seq);
    if (tick == 0) {
        return;
    }
    Prediction *own = &session->prediction;
    if (tick > sessions->config.clock->tick) {
        own->predicted[tick % INPUT_BUFFER] = predicted;
        return;
    }
    const PredictionCheck *truth = &own->truth[tick % INPUT_BUFFER];
    if (truth->hash != 0 && truth->seq == predicted.seq) {
        compare(sessions, session, tick, &predicted, truth->hash);
    }
}

void prediction_before_step(Sessions *sessions, Session *session)
{
    Sim *sim = sessions->config.sim;
    const Entity *body = session_body(sim, session);
    if (body == NULL) {
        return;
    }
    const CharacterState state = character_state(sim, session_handle(sim, session));
    if (!vec3_equal(state.push, VEC3_ZERO)) {
        prediction_cause(sessions, session, NET_CAUSE_PUSH);
    }
    if (session->prediction.hash != 0 && character_state_hash(&state) != session->prediction.hash) {
        prediction_cause(sessions, session, NET_CAUSE_SCRIPT);
    }
}

static void note_life(Sessions *sessions, Session *session, bool alive)
{
    if (alive == session->prediction.alive) {
        return;
    }
    session->prediction.alive = alive;
    prediction_cause(sessions, session, NET_CAUSE_DAMAGE);
    if (alive) {
        const MessageRespawned event = {.entity_id = session->entity};
        const ReplicatorEvent where = {.maker = EVENT_MAKER_SIM, .subject = session->entity};
        event_broadcast(sessions, MESSAGE_RESPAWNED, &event, &where);
    }
}

void prediction_after_step(Sessions *sessions, Session *session)
{
    const WorldClock *clock = sessions->config.clock;
    Sim *sim = sessions->config.sim;
    Prediction *own = &session->prediction;
    const uint32_t slot = (uint32_t)(clock->tick % INPUT_BUFFER);
    const PredictionCheck predicted = own->predicted[slot];
    own->predicted[slot] = (PredictionCheck){0};
    own->truth[slot] = (PredictionCheck){0};
    if (session_body(sim, session) == NULL) {
        own->hash = 0;
        return;
    }
    const CharacterState state = character_state(sim, session_handle(sim, session));
    own->hash = character_state_hash(&state);
    note_life(sessions, session, state.health > 0);
    const bool taken = session->input.started && session->input.repeated == 0;
    own->truth[slot].hash = own->hash;
    // For a binary client seq is the tick; it is compared even if its input was late.
    own->truth[slot].seq = !session->json ? (uint32_t)clock->tick
                           : taken        ? session->input.ack_seq
                                          : 0;
    if (predicted.hash != 0 && predicted.seq == own->truth[slot].seq) {
        compare(sessions, session, clock->tick, &predicted, own->hash);
    }
}

bool prediction_state(Sessions *sessions, Session *session, NetOwn *out)
{
    const WorldClock *clock = sessions->config.clock;
    Sim *sim = sessions->config.sim;
    Prediction *own = &session->prediction;
    if (session_body(sim, session) == NULL ||
        (!own->wanted && clock->tick - own->sent_tick < clock->tick_rate)) {
        return false;
    }
    *out = (NetOwn){.net_id = session->entity,
                    .tick = clock->tick,
                    .causes = causes_now(sessions, session),
                    .state = character_state(sim, session_handle(sim, session))};
    if (!own->wanted) {
        out->causes |= NET_CAUSE_PERIODIC;
    }
    own->wanted = false;
    own->sent_tick = clock->tick;
    return true;
}

// --- what changed around bodies -----------------------------------------------------------------

static bool is_near(const Geometry *geometry, Vec3 position)
{
    for (uint32_t i = 0; i < geometry->change_count; i++) {
        if (vec3_length_squared(vec3_sub(position, geometry->changes[i])) <= NEAR_M * NEAR_M) {
            return true;
        }
    }
    return false;
}

void prediction_geometry(Sessions *sessions, const Geometry *geometry)
{
    if (geometry->change_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        const Entity *body = session_body(sessions->config.sim, session);
        if (geometry_changed_everywhere(geometry) ||
            (body != NULL && is_near(geometry, body->position))) {
            session->geometry_tick = sessions->config.clock->tick;
        }
    }
}
