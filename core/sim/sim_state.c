// Saving, restoring and hashing a whole sim: one walk over all state (see state.h), then everything
// that follows from it (grid, masks, placed shapes, indices) is built anew.
//
//   u8 format = 1 · u64 scene hash · u64 config hash · the fields below in order · terrain
#include "core/sim/sim_internal.h"

#define STATE_FORMAT 1
#define TYPE_PUPPET  16u // added to the type of a puppet
#define TYPE_MAKER   8   // the maker is above this bit
#define PENDING_WORK 2   // added to whether geometry is pending: what makers used follows
_Static_assert(ENTITY_TYPE_COUNT <= TYPE_PUPPET, "types and the bit above them");

static uint64_t config_hash(const SimConfig *config)
{
    const CharacterTuning *t = &config->character;
    const uint32_t numbers[] = {config->tick_rate,
                                config->entity_max,
                                config->character_max,
                                config->npc_max,
                                config->structures_per_player_max,
                                config->structures_max,
                                config->path_nodes_per_tick,
                                config->path_cells_max,
                                config->authority,
                                t->coyote_ms,
                                t->jump_buffer_ms,
                                t->damage_pause_ms};
    const float reals[] = {t->radius,           t->height,      t->walk_speed,
                           t->run_speed,        t->climb_speed, t->ground_acceleration,
                           t->air_acceleration, t->gravity,     t->fall_speed_max,
                           t->jump_speed,       t->step_height, t->slope_cos,
                           t->push_speed,       t->health_max};
    Hash64 hash = HASH64_INIT;
    for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        hash_u32(&hash, numbers[i]);
    }
    for (uint32_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        hash_f32(&hash, reals[i]);
    }
    return hash.state;
}

static void visit_input(SimInput *input, StateIo *io)
{
    state_u32(io, &input->seq, UINT32_MAX);
    state_f32(io, &input->move_x);
    state_f32(io, &input->move_z);
    state_f32(io, &input->yaw);
    state_f32(io, &input->pitch);
    state_u32(io, &input->buttons, INPUT_BUTTONS_ALL);
    // Checked, not sanitised again: that could change the last bit.
    const float move_squared = input->move_x * input->move_x + input->move_z * input->move_z;
    if (io->mode == STATE_READ && !(move_squared <= 1.0001f && math_abs(input->yaw) <= 3.1416f &&
                                    math_abs(input->pitch) <= 1.5708f)) {
        state_fail(io, STATUS_RANGE);
    }
}

static void visit_character(Sim *sim, Character *character, StateIo *io)
{
    visit_input(&character->input, io);
    state_f32(io, &character->health);
    state_vec3(io, &character->push);
    state_vec3(io, &character->ground_normal);
    state_u64(io, &character->ground_net_id);
    state_handle(io, &character->platform);
    state_bool(io, &character->grounded);
    state_bool(io, &character->climbing);
    state_bool(io, &character->jump_held);
    state_u8(io, &character->coyote_ticks, UINT8_MAX);
    state_u8(io, &character->jump_buffer_ticks, UINT8_MAX);
    state_u8(io, &character->damage_pause_ticks, UINT8_MAX);
    state_u8(io, &character->trigger_count, CHARACTER_TRIGGERS_MAX);
    for (uint32_t i = 0; i < character->trigger_count; i++) {
        state_u64(io, &character->triggers[i]);
    }
    state_u32(io, &character->history_slot, sim->history != NULL ? sim->config.character_max : 0);
    state_u32(io, &character->npc_slot, sim->config.npc_max);
    const CharacterTuning *tuning = &sim->config.character;
    if (io->mode == STATE_READ &&
        !(character->health >= 0 && character->health <= tuning->health_max &&
          vec3_length(character->push) <= 1.001f * tuning->push_speed &&
          vec3_length(character->ground_normal) <= 1.001f)) {
        state_fail(io, STATUS_RANGE);
    }
}

static void visit_pose(Pose *pose, StateIo *io)
{
    state_vec3(io, &pose->position);
    state_quat(io, &pose->rotation);
}

static void visit_motion(Motion *motion, StateIo *io)
{
    state_u32(io, &motion->count, MOTION_SEGMENTS_MAX);
    for (uint32_t i = 0; i < motion->count; i++) {
        MotionSegment *segment = &motion->segments[i];
        visit_pose(&segment->pose, io);
        state_vec3(io, &segment->velocity);
        state_vec3(io, &segment->angular_velocity);
        state_u64(io, &segment->tick_from);
        state_u64(io, &segment->tick_to);
    }
}

// Segments that were read are checked like those that scripts append.
static void check_motion(Part *part, StateIo *io)
{
    const Motion read = part->motion;
    part->motion.count = 0;
    for (uint32_t i = 0; i < read.count; i++) {
        if (motion_append(&part->motion, &read.segments[i], vec3_length(part->shape.half), 0) !=
            STATUS_OK) {
            state_fail(io, STATUS_RANGE);
            return;
        }
    }
}

static void visit_part(Sim *sim, Entity *entity, StateIo *io)
{
    Part *part = &entity->part;
    uint32_t kind = (uint32_t)part->shape.kind;
    state_u32(io, &kind, SHAPE_KIND_COUNT - 1);
    part->shape.kind = (ShapeKind)kind;
    state_vec3(io, &part->shape.half);
    state_u32(io, &part->data.flags, PART_FLAGS_ALL);
    state_f32(io, &part->data.bounce_speed);
    state_f32(io, &part->data.damage);
    state_vec3(io, &part->data.conveyor_speed);
    visit_pose(&part->pose_previous, io);
    visit_pose(&part->rest, io);
    visit_motion(&part->motion, io);
    state_bool(io, &part->moving);
    if (entity->type == ENTITY_STRUCTURE) {
        structure_visit(sim, part, io);
    }
    if (io->mode != STATE_READ || !state_ok(io)) {
        return;
    }
    part->shape = shape_tidy(part->shape);
    const PartDesc desc = {part->shape, {entity->position, entity->rotation}, part->data};
    const PartDesc before = {part->shape, part->pose_previous, part->data};
    if (part_desc_check(&desc) != STATUS_OK || part_desc_check(&before) != STATUS_OK ||
        sim_part_jumps(part, part->pose_previous, desc.pose) ||
        (entity->type == ENTITY_PROP && (part->data.flags & PART_GHOST) == 0)) {
        state_fail(io, STATUS_RANGE);
        return;
    }
    check_motion(part, io);
    part->placed = shape_place(part->shape, desc.pose);
}

static void visit_entity(Sim *sim, uint32_t slot, StateIo *io)
{
    Entity *entity = sim_at(sim, slot);
    // The maker of a thing has no effect as long as there is enough work for all, so it is stored
    // but not hashed; otherwise the hash contains which makers were cut (work.h).
    const uint32_t made_by = io->mode == STATE_HASH ? 0 : entity->maker;
    uint32_t packed = (uint32_t)entity->type | (entity->puppet ? TYPE_PUPPET : 0);
    packed |= made_by << TYPE_MAKER;
    state_u32(io, &packed, UINT32_MAX);
    const uint32_t low = packed % (1u << TYPE_MAKER);
    const uint32_t type = low % TYPE_PUPPET;
    entity->puppet = (low & TYPE_PUPPET) != 0;
    entity->type = (EntityType)type;
    if (io->mode == STATE_READ) {
        const uint32_t maker = packed >> TYPE_MAKER;
        const bool authority = sim->config.authority;
        if (low > ENTITY_TYPE_COUNT - 1 + (authority ? 0 : TYPE_PUPPET) ||
            maker > (authority ? SIM_MAKERS_MAX : 0)) {
            state_fail(io, STATUS_RANGE);
            return;
        }
        entity->maker = (uint16_t)maker;
    }
    state_u64(io, &entity->net_id);
    state_u64(io, &entity->owner_id);
    state_bool(io, &entity->removing);
    state_vec3(io, &entity->position);
    state_vec3(io, &entity->velocity);
    state_quat(io, &entity->rotation);
    if (io->mode == STATE_READ) {
        const float extent = 2 * (float)WORLD_EXTENT_M;
        const bool is_body = type >= ENTITY_PLAYER && type <= ENTITY_PROJECTILE;
        if (type == ENTITY_NONE || type >= ENTITY_TYPE_COUNT || (entity->puppet && !is_body) ||
            entity->net_id == 0 || entity->net_id > SIM_NET_ID_MAX ||
            !(vec3_length(entity->position) <= extent) ||
            !(vec3_length(entity->velocity) <= 2 * PROJECTILE_SPEED_MAX)) {
            state_fail(io, STATUS_RANGE);
        }
        if (!state_ok(io)) {
            return;
        }
    }
    if (entity_is_character(entity)) {
        visit_character(sim, &entity->character, io);
    } else if (entity->type == ENTITY_PROJECTILE) {
        projectile_visit(sim, &entity->projectile, io);
    } else {
        visit_part(sim, entity, io);
    }
}

static void visit_hidden(Sim *sim, StateIo *io)
{
    const uint32_t part_count = sim->scene == NULL ? 0 : scene_part_count(sim->scene);
    uint32_t count = sim->hidden_count;
    state_u32(io, &count, part_count);
    if (io->mode == STATE_READ) {
        for (uint32_t i = 0; i < count && state_ok(io); i++) {
            uint32_t index = 0;
            state_u32(io, &index, part_count - 1);
            if (state_ok(io) && sim_hide_part(sim, (uint64_t)index + 1) != STATUS_OK) {
                state_fail(io, STATUS_MALFORMED);
            }
        }
        return;
    }
    for (uint32_t i = 0; i < part_count && count > 0; i++) {
        if (sim_part_is_hidden(sim, i)) {
            state_u32(io, &i, part_count - 1);
            count -= 1;
        }
    }
}

static bool geometry_is_pending(const Sim *sim)
{
    return sim->geometry_changed || terrain_edit_count(sim->terrain) != sim->edit_count_seen;
}

static void visit(Sim *sim, StateIo *io)
{
    state_u64(io, &sim->tick);
    state_u64(io, &sim->next_net_id);
    state_u64(io, &sim->rng.state);
    state_u64(io, &sim->rng.stream);
    visit_hidden(sim, io);
    uint8_t pending = geometry_is_pending(sim) ? 1 : 0;
    pending = (uint8_t)(pending + (work_is_tight(sim) ? PENDING_WORK : 0));
    state_u8(io, &pending, sim->work != NULL ? 1 + PENDING_WORK : 1);
    if ((pending & PENDING_WORK) != 0) {
        work_visit(sim, io);
    }
    state_pool(io, &sim->entities);
    for (uint32_t i = pool_next(&sim->entities, 1); i != 0 && state_ok(io);
         i = pool_next(&sim->entities, i + 1)) {
        visit_entity(sim, i, io);
        if (io->mode == STATE_READ && state_ok(io)) {
            if (!handle_is_none(sim_find(sim, sim_at(sim, i)->net_id))) {
                state_fail(io, STATUS_EXISTS);
                break;
            }
            sim_index_slot(sim, i);
        }
    }
    if (state_ok(io) && sim->history != NULL) {
        history_visit(sim->history, io);
    }
    if (state_ok(io)) {
        npc_visit(sim, io);
    }
    if (state_ok(io)) {
        structure_visit_all(sim, io);
    }
    if (io->mode == STATE_READ) {
        sim->geometry_changed = (pending & 1) != 0;
    }
}

uint64_t sim_hash(const Sim *sim)
{
    StateIo io = {.mode = STATE_HASH, .hash = HASH64_INIT};
    visit((Sim *)sim, &io); // only reading changes what it walks
    terrain_hash(sim->terrain, &io.hash);
    return io.hash.state;
}

void sim_write(const Sim *sim, ByteWriter *writer)
{
    byte_write_u8(writer, STATE_FORMAT);
    byte_write_u64(writer, sim->scene == NULL ? 0 : scene_hash(sim->scene));
    byte_write_u64(writer, config_hash(&sim->config));
    StateIo io = {.mode = STATE_WRITE, .writer = writer};
    visit((Sim *)sim, &io);
    terrain_write(sim->terrain, writer);
}

// Parts refer to each other by slot; what was read must be consistent.
static bool references_hold(const Sim *sim)
{
    if (sim->type_counts[ENTITY_PLAYER] + sim->type_counts[ENTITY_NPC] >
        sim->config.character_max) {
        return false;
    }
    for (uint32_t i = pool_next(&sim->entities, 1); i != 0; i = pool_next(&sim->entities, i + 1)) {
        const Entity *entity = sim_at(sim, i);
        if (entity->net_id >= sim->next_net_id) {
            return false;
        }
        if (!entity_is_character(entity)) {
            continue;
        }
        const Character *character = &entity->character;
        const bool thinks = entity->type == ENTITY_NPC && !entity->puppet;
        if ((character->npc_slot != 0) != thinks) {
            return false;
        }
        if (sim->history != NULL && character->history_slot != 0 &&
            !history_belongs(sim->history, character->history_slot, i)) {
            return false;
        }
    }
    return true;
}

// Two characters must not share a history ring.
static bool history_is_unshared(const Sim *sim)
{
    if (sim->history == NULL) {
        return true;
    }
    uint32_t used = 0;
    uint64_t seen[(WORLD_ENTITIES_MAX + 64) / 64] = {0};
    for (uint32_t i = pool_next(&sim->entities, 1); i != 0; i = pool_next(&sim->entities, i + 1)) {
        const Entity *entity = sim_at(sim, i);
        const uint32_t slot = entity_is_character(entity) ? entity->character.history_slot : 0;
        if (slot == 0) {
            continue;
        }
        if ((seen[slot / 64] >> (slot % 64) & 1) != 0) {
            return false;
        }
        seen[slot / 64] |= 1ull << (slot % 64);
        used += 1;
    }
    return used == history_used_count(sim->history);
}

static Status read_all(Sim *sim, ByteReader *reader)
{
    const uint8_t format = byte_read_u8(reader);
    const uint64_t scene = byte_read_u64(reader);
    const uint64_t config = byte_read_u64(reader);
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    if (format != STATE_FORMAT) {
        return STATUS_UNSUPPORTED;
    }
    if (scene != (sim->scene == NULL ? 0 : scene_hash(sim->scene)) ||
        config != config_hash(&sim->config)) {
        return STATUS_MISMATCH;
    }
    StateIo io = {.mode = STATE_READ, .reader = reader};
    visit(sim, &io);
    if (!state_ok(&io)) {
        return reader->status;
    }
    const Status status = terrain_read(sim->terrain, reader);
    if (status != STATUS_OK) {
        return status;
    }
    if (!references_hold(sim) || !history_is_unshared(sim)) {
        return STATUS_MALFORMED;
    }
    for (uint32_t i = pool_next(&sim->entities, 1); i != 0; i = pool_next(&sim->entities, i + 1)) {
        sim_place(sim, i);
    }
    sim->edit_count_seen = terrain_edit_count(sim->terrain);
    sim->tick_latest = sim->tick;
    return structure_rebuild(sim);
}

Status sim_read(Sim *sim, ByteReader *reader)
{
    sim_clear(sim);
    const Status status = read_all(sim, reader);
    if (status != STATUS_OK) {
        sim_clear(sim);
    }
    return status;
}
