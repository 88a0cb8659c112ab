// What players build and take down, and the previews of what they are about to do. A preview is
// shown to those in view and is over after five seconds, or when its player goes; the end of one is
// told to everybody, because who saw it may have gone elsewhere meanwhile.
#include "core/world/act/act_inside.h"

// --- previews -----------------------------------------------------------------------------------

void preview_begin(World *world, Session *session, bool terraform)
{
    session->preview_until[terraform] = world->tick + world_ticks(world, PREVIEW_MS);
}

void preview_end(World *world, Session *session, bool terraform)
{
    if (session->preview_until[terraform] == 0) {
        return;
    }
    session->preview_until[terraform] = 0;
    if (terraform) {
        const MessageTerraformPreviewed event = {.player = session->player};
        event_broadcast(world, MESSAGE_TERRAFORM_PREVIEWED, &event, NULL);
    } else {
        const MessageBuildPreviewed event = {.player = session->player};
        event_broadcast(world, MESSAGE_BUILD_PREVIEWED, &event, NULL);
    }
}

// A moment later is soon enough, and sessions are large: a few of them in each tick.
#define PREVIEW_TURNS 8
void preview_tick(World *world)
{
    for (uint32_t i = (uint32_t)(world->tick % PREVIEW_TURNS); i < world->session_high;
         i += PREVIEW_TURNS) {
        Session *session = world_session_at(world, i);
        for (uint32_t kind = 0; kind < 2; kind++) {
            const uint64_t until = session->preview_until[kind];
            if (until != 0 && world->tick >= until) {
                preview_end(world, session, kind == 1);
            }
        }
    }
}

// --- building -----------------------------------------------------------------------------------

static Aabb piece_box(const World *world, const StructureDesc *desc)
{
    const PieceDesc *piece = scene_piece(sim_scene(world->sim), desc->piece);
    const bool swaps = desc->turn % 2 == 1;
    const Vec3 size = vec3((float)(swaps ? piece->cells_z : piece->cells_x), (float)piece->cells_y,
                           (float)(swaps ? piece->cells_x : piece->cells_z));
    const Vec3 min = vec3_scale(vec3((float)desc->cell.x, (float)desc->cell.y, (float)desc->cell.z),
                                STRUCTURE_CELL_M);
    return (Aabb){min, vec3_add(min, vec3_scale(size, STRUCTURE_CELL_M))};
}

// Everything that does not depend on what stands there. The piece and turn are checked, so that the
// box is known.
static bool may_build(World *world, Session *session, uint32_t seq, const StructureDesc *desc)
{
    if (!act_rate(world, session, seq, RATE_BUILD)) {
        return false;
    }
    if (!world->config.place->players_build && !session->operator_role) {
        act_deny(world, session, seq, STATUS_DENIED, "Nothing can be built in this place.");
        return false;
    }
    if (desc->piece >= scene_piece_count(sim_scene(world->sim))) {
        act_deny(world, session, seq, STATUS_NOT_FOUND, "The catalogue has no such piece.");
        return false;
    }
    const WireCoord cell = {desc->cell.x, desc->cell.y, desc->cell.z};
    if (desc->turn > 3 || !act_coord_ok(cell)) {
        act_deny(world, session, seq, STATUS_RANGE, "That cell or turn does not exist.");
        return false;
    }
    const Entity *body = act_living(world, session, seq);
    if (body == NULL) {
        return false;
    }
    if (act_distance(act_eye(world, body), piece_box(world, desc)) > world->config.place->reach_m) {
        act_deny(world, session, seq, STATUS_DENIED, "That is out of reach; go nearer.");
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

void act_build_place(World *world, Session *session, uint32_t seq, const MessageBuildPlace *command)
{
    const StructureDesc desc = describe(session, command->piece, command->cell, command->turn);
    if (!may_build(world, session, seq, &desc)) {
        return;
    }
    Handle handle;
    const Status status = structure_place(world->sim, &desc, &handle);
    if (status != STATUS_OK) {
        act_deny(world, session, seq, status, why_not(status));
        return;
    }
    const uint64_t net_id = sim_entity(world->sim, handle)->net_id;
    preview_end(world, session, false);
    session_ack(world, session, seq, net_id);
    const MessageStructurePlaced event = {
        .entity_id = net_id, .player = session->player, .piece = desc.piece};
    const ReplicatorEvent where = {.subject = net_id};
    event_broadcast(world, MESSAGE_STRUCTURE_PLACED, &event, &where);
    save_structure(world, net_id, session, seq);
}

void act_build_remove(World *world, Session *session, uint32_t seq,
                      const MessageBuildRemove *command)
{
    if (!act_rate(world, session, seq, RATE_BUILD)) {
        return;
    }
    const Entity *body = act_living(world, session, seq);
    if (body == NULL) {
        return;
    }
    const Handle handle = sim_find(world->sim, command->entity_id);
    const Entity *structure = sim_entity(world->sim, handle);
    if (structure == NULL || structure->type != ENTITY_STRUCTURE || structure->removing) {
        act_deny(world, session, seq, STATUS_NOT_FOUND, "There is no such structure any more.");
        return;
    }
    const StructureDesc desc = {
        .piece = structure->part.piece, .cell = structure->part.cell, .turn = structure->part.turn};
    if (act_distance(act_eye(world, body), piece_box(world, &desc)) >
        world->config.place->reach_m) {
        act_deny(world, session, seq, STATUS_DENIED, "That is out of reach; go nearer.");
        return;
    }
    const uint64_t owner = session->operator_role ? 0 : session->player;
    const Status status = structure_remove(world->sim, handle, owner);
    if (status != STATUS_OK) {
        act_deny(world, session, seq, status, "Only who built it can take it down.");
        return;
    }
    session_ack(world, session, seq, command->entity_id);
    save_structure_gone(world, command->entity_id, session, seq);
}

void act_build_preview(World *world, Session *session, uint32_t seq,
                       const MessageBuildPreview *command)
{
    if (!command->active) {
        if (act_rate(world, session, seq, RATE_BUILD)) {
            preview_end(world, session, false);
            session_ack(world, session, seq, 0);
        }
        return;
    }
    const StructureDesc desc = describe(session, command->piece, command->cell, command->turn);
    if (!may_build(world, session, seq, &desc)) {
        return;
    }
    const MessageBuildPreviewed event = {.player = session->player,
                                         .active = true,
                                         .piece = command->piece,
                                         .cell = command->cell,
                                         .turn = command->turn};
    const Aabb box = piece_box(world, &desc);
    const ReplicatorEvent where = {.has_position = true,
                                   .position = vec3_scale(vec3_add(box.min, box.max), 0.5f)};
    event_broadcast(world, MESSAGE_BUILD_PREVIEWED, &event, &where);
    preview_begin(world, session, false);
    session_ack(world, session, seq, 0);
}
