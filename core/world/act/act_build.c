// Building and removing structures, and the previews of both. A preview is shown to players who see
// its place, and ends after five seconds or when its player leaves. Its end is sent to everybody,
// because somebody who saw it may have moved away.
#include "core/world/act/act_inside.h"

// --- previews -----------------------------------------------------------------------------------

void preview_begin(const Acts *acts, Session *session, bool terraform)
{
    const WorldClock *clock = acts->config.clock;
    session->preview_until[terraform] = clock->tick + world_ticks(clock, PREVIEW_MS);
}

void preview_end(Acts *acts, Session *session, bool terraform)
{
    Sessions *sessions = acts->config.sessions;
    if (session->preview_until[terraform] == 0) {
        return;
    }
    session->preview_until[terraform] = 0;
    if (terraform) {
        const MessageTerraformPreviewed event = {.player = session->player};
        event_broadcast(sessions, MESSAGE_TERRAFORM_PREVIEWED, &event, NULL);
    } else {
        const MessageBuildPreviewed event = {.player = session->player};
        event_broadcast(sessions, MESSAGE_BUILD_PREVIEWED, &event, NULL);
    }
}

// Only a few sessions are checked in each tick, because they are large; a small delay does no harm.
#define PREVIEW_TURNS 8
void preview_tick(Acts *acts)
{
    const WorldClock *clock = acts->config.clock;
    Sessions *sessions = acts->config.sessions;
    for (uint32_t i = (uint32_t)(clock->tick % PREVIEW_TURNS); i < sessions->high;
         i += PREVIEW_TURNS) {
        Session *session = session_at(sessions, i);
        for (uint32_t kind = 0; kind < 2; kind++) {
            const uint64_t until = session->preview_until[kind];
            if (until != 0 && clock->tick >= until) {
                preview_end(acts, session, kind == 1);
            }
        }
    }
}

// --- building -----------------------------------------------------------------------------------

// Checks everything that does not depend on what is built there already. Piece and turn are
// checked, so that the box is known.
static bool may_build(Acts *acts, Session *session, uint32_t seq, const StructureDesc *desc)
{
    Sessions *sessions = acts->config.sessions;
    if (!session_rate(sessions, session, seq, RATE_BUILD)) {
        return false;
    }
    if (!acts->config.place->players_build && !session->operator_role) {
        session_deny(sessions, session, seq, STATUS_DENIED, "Nothing can be built in this place.");
        return false;
    }
    if (desc->piece >= scene_piece_count(sim_scene(acts->config.sim))) {
        session_deny(sessions, session, seq, STATUS_NOT_FOUND, "The catalogue has no such piece.");
        return false;
    }
    const WireCoord cell = {desc->cell.x, desc->cell.y, desc->cell.z};
    if (desc->turn > 3 || !act_coord_ok(cell)) {
        session_deny(sessions, session, seq, STATUS_RANGE, "That cell or turn does not exist.");
        return false;
    }
    const Entity *body = act_living_body(acts, session, seq);
    if (body == NULL) {
        return false;
    }
    if (structure_distance(acts->config.sim, desc, sim_eye(acts->config.sim, body)) >
        acts->config.place->reach_m) {
        session_deny(sessions, session, seq, STATUS_DENIED, "That is out of reach; go nearer.");
        return false;
    }
    return true;
}

static const char *why_not(Status status)
{
    switch (status) {
    case STATUS_BLOCKED:
        return "Something is in the way; build beside it.";
    case STATUS_DENIED:
        return "Nothing would hold it up; build it on the ground or on another piece.";
    case STATUS_LIMIT:
        return "There are as many pieces as there may be; take one down first.";
    case STATUS_RANGE:
        return "That is outside the place.";
    default:
        return "That cannot be built.";
    }
}

static StructureDesc describe(const Session *session, uint64_t piece, WireCoord cell, uint64_t turn)
{
    return (StructureDesc){.owner_id = session->player,
                           .piece = (uint32_t)piece,
                           .cell = {cell.x, cell.y, cell.z},
                           .turn = (uint32_t)turn};
}

void act_build_place(Acts *acts, Session *session, uint32_t seq, const MessageBuildPlace *command)
{
    Sessions *sessions = acts->config.sessions;
    const StructureDesc desc = describe(session, command->piece, command->cell, command->turn);
    if (!may_build(acts, session, seq, &desc)) {
        return;
    }
    Handle handle;
    const Status status = structure_place(acts->config.sim, &desc, &handle);
    if (status != STATUS_OK) {
        session_deny(sessions, session, seq, status, why_not(status));
        return;
    }
    const uint64_t net_id = sim_entity(acts->config.sim, handle)->net_id;
    preview_end(acts, session, false);
    session_ack(sessions, session, seq, net_id);
    const MessageStructurePlaced event = {
        .entity_id = net_id, .player = session->player, .piece = desc.piece};
    const ReplicatorEvent where = {.subject = net_id};
    event_broadcast(sessions, MESSAGE_STRUCTURE_PLACED, &event, &where);
    authority_structure_placed(acts->config.authority, net_id, session->player);
    save_structure(acts->config.saves, net_id, session, seq);
}

void act_build_remove(Acts *acts, Session *session, uint32_t seq, const MessageBuildRemove *command)
{
    Sessions *sessions = acts->config.sessions;
    Sim *sim = acts->config.sim;
    if (!session_rate(sessions, session, seq, RATE_BUILD)) {
        return;
    }
    const Entity *body = act_living_body(acts, session, seq);
    if (body == NULL) {
        return;
    }
    const Handle handle = sim_find(sim, command->entity_id);
    const Entity *structure = sim_entity(sim, handle);
    if (structure == NULL || structure->type != ENTITY_STRUCTURE || structure->removing) {
        session_deny(sessions, session, seq, STATUS_NOT_FOUND,
                     "There is no such structure any more.");
        return;
    }
    const StructureDesc desc = {
        .piece = structure->part.piece, .cell = structure->part.cell, .turn = structure->part.turn};
    if (structure_distance(sim, &desc, sim_eye(sim, body)) > acts->config.place->reach_m) {
        session_deny(sessions, session, seq, STATUS_DENIED, "That is out of reach; go nearer.");
        return;
    }
    const uint64_t owner = session->operator_role ? 0 : session->player;
    const Status status = structure_remove(sim, handle, owner);
    if (status != STATUS_OK) {
        session_deny(sessions, session, seq, status, "Only who built it can take it down.");
        return;
    }
    session_ack(sessions, session, seq, command->entity_id);
    save_structure(acts->config.saves, command->entity_id, session, seq);
}

void act_build_preview(Acts *acts, Session *session, uint32_t seq,
                       const MessageBuildPreview *command)
{
    Sessions *sessions = acts->config.sessions;
    if (!command->active) {
        if (session_rate(sessions, session, seq, RATE_BUILD)) {
            preview_end(acts, session, false);
            session_ack(sessions, session, seq, 0);
        }
        return;
    }
    const StructureDesc desc = describe(session, command->piece, command->cell, command->turn);
    if (!may_build(acts, session, seq, &desc)) {
        return;
    }
    const MessageBuildPreviewed event = {.player = session->player,
                                         .active = true,
                                         .piece = command->piece,
                                         .cell = command->cell,
                                         .turn = command->turn};
    const Aabb box = structure_box(acts->config.sim, &desc);
    const ReplicatorEvent where = {.has_position = true,
                                   .position = vec3_scale(vec3_add(box.min, box.max), 0.5f)};
    event_broadcast(sessions, MESSAGE_BUILD_PREVIEWED, &event, &where);
    preview_begin(acts, session, false);
    session_ack(sessions, session, seq, 0);
}
