// A body that a script has turned. Players look where their inputs say, so the client is told to
// look elsewhere, and until it knows, the world puts the new direction into the inputs that it made
// before:
//
//   tick the script turned it     client knows (it confirms a frame)       first input of its own
//   ───────────┼───────────────────────────┼───────────────────────────────────────┼──────▶
//              └── inputs of these ticks look where the script said ──┘ until_tick
//
// The client puts the direction into the same inputs and predicts them again, so both do the same,
// and nothing is corrected.
#include "core/world/session/session.h"

void turn_take_input(Session *session, bool is_new, uint64_t tick, WireInputFrame *frame)
{
    SessionTurn *turn = &session->turn;
    const bool is_over =
        tick >= turn->end_tick || (turn->until_tick != 0 && is_new && tick > turn->until_tick);
    turn->is_on = turn->is_on && !is_over;
    if (turn->is_on) {
        frame->yaw = turn->yaw;
    }
    turn->look_yaw = input_frame_sim(frame).yaw;
    turn->look_tick = tick;
}

void turn_confirm(Session *session, uint64_t now)
{
    SessionTurn *turn = &session->turn;
    if (!turn->is_on || turn->until_tick != 0 || session->flow.acked < turn->frame) {
        return;
    }
    turn->until_tick = now;
    for (uint64_t tick = now + 1; tick <= now + INPUT_BUFFER; tick++) {
        if (session->input.present[tick % INPUT_BUFFER]) {
            turn->until_tick = tick;
        }
    }
}

void turn_before_step(Sessions *sessions, Session *session)
{
    Sim *sim = sessions->config.sim;
    const WorldClock *clock = sessions->config.clock;
    const Entity *body = session_body(sim, session);
    SessionTurn *turn = &session->turn;
    if (body == NULL || turn->look_tick != clock->tick + 1 ||
        body->character.input.yaw == turn->look_yaw) {
        return;
    }
    SimInput input = body->character.input;
    turn->yaw = input_frame_quantise(&input).yaw;
    input.yaw = input_frame_sim(&(WireInputFrame){.yaw = turn->yaw}).yaw;
    sim_set_input(sim, session_handle(sim, session), &input);
    turn->is_on = true;
    turn->until_tick = 0;
    turn->frame = session->flow.sent + 1;
    turn->end_tick = clock->tick + 1 + world_ticks(clock, TURN_HELD_MS);
    // What it predicted before it knew is not compared.
    session->prediction.frame = turn->frame;
    prediction_cause(sessions, session, NET_CAUSE_SCRIPT);
    const MessageTurned turned = {
        .entity_id = session->entity, .tick = clock->tick + 1, .yaw = turn->yaw};
    session_send(sessions, session, MESSAGE_TURNED, &turned);
}
