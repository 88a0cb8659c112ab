// The middle of a tick: inputs are applied, the sim steps, and its events are sent to clients.
// Scripts also cause events of the sim between two steps, and the next step clears them, so they
// are read twice a tick.
#include "core/world/world_inside.h"

#include "core/wire/input_frame.h"

#define DAMAGE_LIMIT   1e6f
#define POSITION_LIMIT 16400.0f

// --- inputs -------------------------------------------------------------------------------------

static void take_input(World *world, Session *session)
{
    WireInputFrame frame;
    const uint32_t hold = world_ticks(&world->clock, INPUT_HOLD_MS);
    const InputTaken taken = input_take(&session->input, world->clock.tick + 1, hold, &frame);
    if (taken != INPUT_TAKEN) {
        world->stats.inputs_repeated += 1;
        prediction_cause(world->sessions, session, NET_CAUSE_LATE_INPUT);
    }
    if (session_body(world->sim, session) == NULL) {
        return;
    }
    turn_take_input(session, taken == INPUT_TAKEN, world->clock.tick + 1, &frame);
    const SimInput input = input_frame_sim(&frame);
    sim_set_input(world->sim, session_handle(world->sim, session), &input);
    act_fire(world->acts, session, &frame);
}

void step_inputs(World *world)
{
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        Session *session = &world->sessions->all[i];
        if (session->state == SESSION_PLAYING && !session->joining) {
            take_input(world, session);
        }
    }
}

// --- events -------------------------------------------------------------------------------------

static Vec3 bounded(Vec3 v, float limit)
{
    return vec3(math_clamp(v.x, -limit, limit), math_clamp(v.y, -limit, limit),
                math_clamp(v.z, -limit, limit));
}

static void tell_hit(Sessions *sessions, const SimEvent *event)
{
    const Vec3 at = bounded(event->position, POSITION_LIMIT);
    const MessageProjectileHit hit = {.entity_id = event->subject,
                                      .other = event->other,
                                      .shooter = event->shooter,
                                      .projectile_kind = event->detail & 0xffff,
                                      .position = at,
                                      .normal = bounded(event->normal, 1)};
    const ReplicatorEvent where = {.maker = EVENT_MAKER_SIM,
                                   .subject = event->subject,
                                   .other = event->other,
                                   .has_position = true,
                                   .position = at};
    event_broadcast(sessions, MESSAGE_PROJECTILE_HIT, &hit, &where);
}

static void tell_damage(Sessions *sessions, const SimEvent *event)
{
    const MessageDamaged damaged = {.entity_id = event->subject,
                                    .cause = event->other,
                                    .amount =
                                        math_clamp(event->value, -DAMAGE_LIMIT, DAMAGE_LIMIT)};
    const ReplicatorEvent where = {.maker = EVENT_MAKER_SIM, .subject = event->subject};
    event_broadcast(sessions, MESSAGE_DAMAGED, &damaged, &where);
}

static void tell_death(Sessions *sessions, const SimEvent *event)
{
    const MessageDied died = {.entity_id = event->subject, .cause = event->other};
    const ReplicatorEvent where = {.maker = EVENT_MAKER_SIM, .subject = event->subject};
    event_broadcast(sessions, MESSAGE_DIED, &died, &where);
    Session *session = session_of_entity(sessions, event->subject);
    if (session != NULL) {
        prediction_cause(sessions, session, NET_CAUSE_DAMAGE);
    }
}

static void tell_npc(Sessions *sessions, const SimEvent *event)
{
    const MessageNpcEvent npc = {.entity_id = event->subject,
                                 .old_state = event->detail >> 8 & 3,
                                 .new_state = event->detail & 3,
                                 .target = event->other};
    const ReplicatorEvent where = {.maker = EVENT_MAKER_SIM, .subject = event->subject};
    event_broadcast(sessions, MESSAGE_NPC_EVENT, &npc, &where);
}

static void tell_structure(Sessions *sessions, const SimEvent *event)
{
    const Vec3 at = bounded(event->position, POSITION_LIMIT);
    const MessageStructureRemoved removed = {
        .entity_id = event->subject, .reason = event->detail, .position = at};
    const ReplicatorEvent where = {
        .maker = EVENT_MAKER_SIM, .subject = event->subject, .has_position = true, .position = at};
    event_broadcast(sessions, MESSAGE_STRUCTURE_REMOVED, &removed, &where);
}

static void tell_events(World *world)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    for (; world->events_seen < count; world->events_seen++) {
        const SimEvent *event = &events[world->events_seen];
        switch (event->type) {
        case SIM_EVENT_PROJECTILE_HIT:
            tell_hit(world->sessions, event);
            break;
        case SIM_EVENT_DAMAGED:
            tell_damage(world->sessions, event);
            break;
        case SIM_EVENT_DIED:
            tell_death(world->sessions, event);
            break;
        case SIM_EVENT_NPC_STATE:
            tell_npc(world->sessions, event);
            break;
        case SIM_EVENT_STRUCTURE_REMOVED:
            tell_structure(world->sessions, event);
            break;
        default: // the rest is for scripts, or visible in states
            break;
        }
    }
}

// --- the step -----------------------------------------------------------------------------------

void step_sim(World *world)
{
    tell_events(world);
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        if (session_plays(&world->sessions->all[i])) {
            turn_before_step(world->sessions, &world->sessions->all[i]);
            prediction_before_step(world->sessions, &world->sessions->all[i]);
        }
    }
    sim_step(world->sim);
    world->clock.tick = sim_tick(world->sim);
    world->events_seen = 0;
    act_step(world->acts);
    geometry_tick(world->geometry);
    prediction_geometry(world->sessions, world->geometry);
    tell_events(world);
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        if (session_plays(&world->sessions->all[i])) {
            prediction_after_step(world->sessions, &world->sessions->all[i]);
        }
    }
}
