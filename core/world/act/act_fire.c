// The fire button. Only the server decides where the shot starts, how fast it is, how often, and
// what it damages. The client only sends where it looks, and how old the picture was that it aimed
// at (at most HISTORY_REWIND_MS).
#include "core/world/act/act_inside.h"

#include "core/base/limits.h"
#include "core/sim/projectile.h"

// Only entities that the shooter has been sent can be hit: not those outside its interest.
bool fire_may_hit(void *user, uint64_t shooter_net_id, uint64_t target_net_id)
{
    const Acts *acts = user;
    const Session *session = session_of_entity(acts->config.sessions, shooter_net_id);
    return session == NULL || session->state != SESSION_PLAYING ||
           replicator_sees(acts->config.replicator, session_number(acts->config.sessions, session),
                           target_net_id);
}

// The weapon in the character's attribute `weapon`, or the place's first.
static const PlaceWeapon *weapon_of(const Acts *acts, const Session *session)
{
    const Place *place = acts->config.place;
    ScriptValue value;
    const Text attribute = {"weapon", 6};
    if (!attribute_table_attribute(authority_attributes(acts->config.authority), session->entity,
                                   attribute, &value, NULL)) {
        return place->weapon_count > 0 ? &place->weapons[0] : NULL;
    }
    for (uint32_t i = 0; i < place->weapon_count && value.type == SCRIPT_TEXT; i++) {
        const Text name = place->weapons[i].name;
        if (text_equal((Text){name.data, (uint32_t)name.bytes},
                       (Text){value.text.data, (uint32_t)value.text.bytes})) {
            return &place->weapons[i];
        }
    }
    return NULL; // a script removed it
}

static Vec3 look(const WireInputFrame *input)
{
    const float turn = 2 * MATH_PI / 65536;
    const float yaw = (float)(input->yaw & 0xffff) * turn;
    const float pitch = math_clamp((float)input->pitch, -16384, 16384) * turn;
    const float flat = math_cos(pitch);
    return vec3_normalise(vec3(math_sin(yaw) * flat, math_sin(pitch), math_cos(yaw) * flat));
}

static uint32_t rewind_of(const Acts *acts, const Session *session)
{
    const WorldClock *clock = acts->config.clock;
    const uint32_t most = HISTORY_REWIND_MS * clock->tick_rate / 1000;
    const uint64_t seen = session->input.view_tick;
    if (seen == 0 || seen >= clock->tick) {
        return 0; // not given, or in the future
    }
    const uint64_t ago = clock->tick - seen;
    return ago < most ? (uint32_t)ago : most;
}

uint32_t fire_rewind(void *user, uint64_t player_id)
{
    const Acts *acts = user;
    const Session *session = session_of_player(acts->config.sessions, player_id);
    return session != NULL && session->state == SESSION_PLAYING ? rewind_of(acts, session) : 0;
}

void act_fire(Acts *acts, Session *session, const WireInputFrame *input)
{
    const WorldClock *clock = acts->config.clock;
    Sim *sim = acts->config.sim;
    if ((input->buttons & INPUT_FIRE) == 0 || clock->tick < session->fire_tick ||
        !session_plays(session)) {
        return;
    }
    const Entity *body = session_body(sim, session);
    const PlaceWeapon *weapon = weapon_of(acts, session);
    if (body == NULL || body->removing || !(body->character.health > 0) || weapon == NULL) {
        return;
    }
    const uint32_t lifetime = world_ticks(clock, weapon->lifetime_ms);
    const ProjectileDesc desc = {
        .owner_id = session->player,
        .shooter = sim_find(sim, session->entity),
        .position = sim_eye(sim, body),
        .velocity = vec3_scale(look(input), weapon->speed),
        .radius = weapon->radius,
        .gravity = weapon->gravity,
        .damage = weapon->damage,
        .lifetime_ticks = lifetime < 1 ? 1 : lifetime,
        .rewind_ticks = rewind_of(acts, session),
        .kind = weapon->kind,
    };
    Handle handle;
    if (projectile_fire(sim, &desc, &handle) != STATUS_OK) {
        acts->config.stats->commands_denied += 1; // too many projectiles, or outside the place
        return;
    }
    const uint32_t pause = world_ticks(clock, weapon->interval_ms);
    session->fire_tick = clock->tick + (pause < 1 ? 1 : pause);
}
