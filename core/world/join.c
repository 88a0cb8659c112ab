// How players come in: who they are, which body they get, and what they are sent first. There are
// three ways to a welcome: a ticket or session token that the owner has checked (ENTRY_AUTH), a
// resume token, or, in development, the given player id. A ticket or session token always takes
// precedence: a resume token beside it counts only if it belongs to the same account.
// A resume token is valid once: every welcome contains a new one, of which only the hash is kept.
// A person has at most one body, and one address has at most GUESTS_PER_ADDRESS_MAX guests. If
// there is no room, bodies whose players are gone are removed.
#include "core/world/world_inside.h"

#include "core/base/limits.h"
#include "core/base/name_text.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

#define TOKEN_CHARACTERS  32
#define PRESENCE_PER_TICK 16 // players that a newcomer gets per tick

// --- names --------------------------------------------------------------------------------------

static bool id_is_valid(Text id)
{
    for (uint32_t i = 0; i < id.bytes; i++) {
        const char c = id.data[i];
        const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!fine) {
            return false;
        }
    }
    return id.bytes >= 1 && id.bytes <= 64;
}

static void set_text(char out[65], Text text)
{
    ASSERT(text.bytes <= 64);
    memcpy(out, text.data, text.bytes);
    out[text.bytes] = '\0';
}

// Makes a name from the player's number, if none was given or it was invalid.
static void name_default(Session *session)
{
    if (session->player_id[0] == '\0') {
        (void)snprintf(session->player_id, sizeof session->player_id, "p_%llu",
                       (unsigned long long)session->player);
    }
    if (session->name[0] == '\0') {
        (void)snprintf(session->name, sizeof session->name, "Player %llu",
                       (unsigned long long)session->player);
    }
}

static uint64_t account_of(Text player_id)
{
    uint8_t digest[SHA256_BYTES];
    sha256_of(player_id.data, player_id.bytes, digest);
    ByteReader reader = byte_reader(digest, sizeof digest);
    const uint64_t account = byte_read_u64(&reader) & SIM_NET_ID_MAX;
    return account != 0 ? account : 1;
}

// --- tokens -------------------------------------------------------------------------------------

static void make_token(World *world, const Session *session, char out[TOKEN_CHARACTERS + 1])
{
    uint8_t bytes[64];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    world->token_count += 1;
    byte_write_u64(&writer, world->config.epoch);
    byte_write_u64(&writer, world->clock.tick);
    byte_write_u64(&writer, world->clock.unix_ms);
    byte_write_u64(&writer, session->player);
    byte_write_u64(&writer, world->token_count);
    ASSERT(writer.status == STATUS_OK);
    Sha256 sha;
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_init(&sha);
    sha256_update(&sha, world->config.secret, sizeof world->config.secret);
    sha256_update(&sha, bytes, writer.at);
    sha256_final(&sha, digest);
    sha256_hex(digest, hex);
    memcpy(out, hex, TOKEN_CHARACTERS);
    out[TOKEN_CHARACTERS] = '\0';
}

void join_keep_token(World *world, Session *session)
{
    session->resume_tick = world->clock.tick;
    if (session->account == 0) {
        return; // without an account there is nothing to resume
    }
    RowResume row = {
        .account = session->account,
        .player = session->player,
        .expires_unix_ms = world->clock.unix_ms + world->config.resume_ms,
        .roles = (session->guest ? ROW_GUEST : 0u) | (session->operator_role ? ROW_OPERATOR : 0u) |
                 (session->debug ? ROW_DEBUG : 0u) | (session->fixed_name ? ROW_FIXED_NAME : 0u)};
    memcpy(row.token_hash, session->resume_hash, sizeof row.token_hash);
    save_resume(world->saves, &row);
}

static void spend_token(Saves *saves, const uint8_t token_hash[32])
{
    RowResume row;
    if (save_find_resume(saves, token_hash, &row)) {
        row.expires_unix_ms = 0;
        save_resume(saves, &row);
    }
}

// --- the welcome --------------------------------------------------------------------------------

static void send_welcome(World *world, Session *session)
{
    const Place *place = world->config.place;
    char token[TOKEN_CHARACTERS + 1];
    make_token(world, session, token);
    sha256_of(token, TOKEN_CHARACTERS, session->resume_hash);
    MessageWelcome welcome = {
        .schema = PROTOCOL_SCHEMA,
        .world_id = text_from(world->config.world_id),
        .room_code = text_from(world->config.room_code),
        .player_id = text_from(session->player_id),
        .player = session->player,
        .entity_id = session->entity,
        .tick = world->clock.tick,
        .tick_rate = world->clock.tick_rate,
        .snapshot_rate = world->clock.tick_rate / world->clock.snapshot_ticks,
        .resume_token = {token, TOKEN_CHARACTERS},
        .resumed = session->resumed,
        .manifest_version = world->run.manifest_version,
        .scene_bytes = world->scene.count,
        .place_name = {place->name.data,
                       (uint32_t)utf8_cut(place->name.data, place->name.bytes, 128)},
        .view_radius = place->view_radius,
        .epoch = world->config.epoch,
    };
    memcpy(welcome.scene_hash.bytes, world->scene.hash, sizeof welcome.scene_hash.bytes);
    session_send(world->sessions, session, MESSAGE_WELCOME, &welcome);
}

// The session has its body: it gets the world from the next frame on.
static void welcome(World *world, Session *session)
{
    const uint32_t number = session_number(world->sessions, session);
    const Entity *body = session_body(world->sim, session);
    session->state = SESSION_PLAYING;
    session->state_tick = world->clock.tick;
    session->presence_at = 0;
    session->presence_end = world->sessions->high;
    input_reset(&session->input);
    memset(&session->flow, 0, sizeof session->flow);
    replicator_open(world->replicator, number, session->player);
    replicator_set_eye(world->replicator, number, session->entity,
                       body != NULL ? body->position
                                    : authority_spawn_point(world->authority, session->player));
    send_welcome(world, session);
    prediction_reset(world->sessions, session);
    join_keep_token(world, session);
    save_player(world->saves, session, true);
    world->stats.resumes += session->resumed;
    chat_note(world->acts, session, HEARD_CAME, text_from(session->name));
    script_host_welcome(world->script_host, session);
}

// --- the body -----------------------------------------------------------------------------------

static void join_failed(World *world, Session *session, ErrorCode code, const char *why)
{
    const Status left = authority_player_leave(world->authority, session->player);
    ASSERT(left == STATUS_OK || left == STATUS_NOT_FOUND); // it may not have got that far
    id_map_remove(&world->sessions->players, session->player);
    session->player = 0;
    session->entity = 0;
    session->joining = false;
    session_error(world->sessions, session, 0, code, "%s", why);
}

static void restore_health(Sim *sim, Session *session, float health)
{
    const Handle handle = sim_find(sim, session->entity);
    CharacterState state = character_state(sim, handle);
    if (health > 0 && health < state.health) {
        state.health = health;
        const Status status = character_state_apply(sim, handle, &state);
        ASSERT(status == STATUS_OK);
    }
}

static void make_body(World *world, Session *session)
{
    Status status =
        authority_player_join(world->authority, session->player, text_from(session->name));
    if (status == STATUS_EXISTS) {
        if (!session->joining) { // the last body is still leaving; wait for the next tick
            session->joining = true;
            session->state = SESSION_PLAYING;
            session->state_tick = world->clock.tick;
        }
        return;
    }
    session->joining = false;
    RowPlayer row;
    const bool known = save_find_player(world->saves, session->account, &row) && row.health > 0 &&
                       vec3_is_finite(row.position);
    const Vec3 spawn = authority_spawn_point(world->authority, session->player);
    if (status == STATUS_OK) {
        status =
            authority_player_spawn(world->authority, session->player, known ? row.position : spawn);
    }
    if (status != STATUS_OK && known) { // the stored position may be outside a changed place
        status = authority_player_spawn(world->authority, session->player, spawn);
    }
    if (status != STATUS_OK) {
        join_failed(world, session, ERROR_WORLD_FULL, "there is no room for another body");
        return;
    }
    const RosterPlayer *player = roster_find(authority_roster(world->authority), session->player);
    ASSERT(player != NULL && player->entity != 0);
    session->entity = player->entity;
    if (known) {
        restore_health(world->sim, session, row.health);
    }
    welcome(world, session);
    profile_announce(world->acts, session, NULL);
}

// A player's number is its account's: the same in every world, and exact in Lua and JSON. Who has
// none gets the next one of this world.
static void choose_number(World *world, Session *session)
{
    uint64_t number = session->account <= SIM_NET_ID_MAX ? session->account : 0;
    while (number == 0 || id_map_find(&world->sessions->players, number) != 0) {
        number = world->run.next_player++;
    }
    session->player = number;
    id_map_put(&world->sessions->players, number, session_number(world->sessions, session) + 1);
}

// Continues with the body of an earlier session.
static void go_on(World *world, Session *before, Session *session)
{
    life_take_over(world, before, session);
    session->resumed = true;
    profile_open(world->acts, session);
    if (session->joining) {
        session->state = SESSION_PLAYING;
        session->state_tick = world->clock.tick;
        return;
    }
    welcome(world, session);
    profile_announce(world->acts, session, session);
}

static bool is_guest_from(const Session *session, uint64_t address)
{
    return session->player != 0 && session->guest && session->address == address;
}

// Makes room by removing a body whose player is gone (address 0: any; otherwise a guest's from
// there): guests first, then the one that is gone longest. False: there is none.
static bool give_way(World *world, uint64_t address)
{
    Session *found = NULL;
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        Session *session = &world->sessions->all[i];
        const bool is_gone = session->player != 0 && (session->state == SESSION_DROPPED ||
                                                      session->state == SESSION_CLOSING);
        if (!is_gone || (address != 0 && !is_guest_from(session, address))) {
            continue;
        }
        if (found == NULL || session->guest > found->guest ||
            (session->guest == found->guest && session->state_tick < found->state_tick)) {
            found = session;
        }
    }
    if (found == NULL) {
        return false;
    }
    world->stats.bodies_gave_way += 1;
    life_leave(world, found);
    return true;
}

static bool address_has_room(World *world, const Session *session)
{
    if (!session->guest || session->address == 0) {
        return true;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        count += is_guest_from(&world->sessions->all[i], session->address);
    }
    return count < GUESTS_PER_ADDRESS_MAX || give_way(world, session->address);
}

// The identity is known.
static void enter(World *world, Session *session)
{
    Session *before = session_of_account(world->sessions, session->account);
    if (before != NULL) {
        go_on(world, before, session);
        return;
    }
    if (!address_has_room(world, session)) {
        session_error(world->sessions, session, 0, ERROR_ADDRESS_FULL,
                      "there are %d guests from your address here already", GUESTS_PER_ADDRESS_MAX);
        return;
    }
    if (session_player_count(world->sessions) >= world->player_max && !give_way(world, 0)) {
        session_error(world->sessions, session, 0, ERROR_WORLD_FULL,
                      "there are %u players here already", world->player_max);
        return;
    }
    choose_number(world, session);
    name_default(session);
    profile_open(world->acts, session);
    make_body(world, session);
}

// --- the ways in --------------------------------------------------------------------------------

// Finds the owner of the handshake's token: the session that has it, or a row that has not expired.
// False: none.
static bool find_token(World *world, const Session *session, Session **before, RowResume *row)
{
    if (!session->has_token) {
        return false;
    }
    *before = session_of_token(world->sessions, session->token_hash);
    const bool stored = save_find_resume(world->saves, session->token_hash, row) &&
                        row->account != 0 && row->expires_unix_ms > world->clock.unix_ms;
    return *before != NULL || stored;
}

// The owner has identified the player. Another player's token is ignored and stays valid.
static void use_own_token(World *world, Session *session)
{
    Session *before = NULL;
    RowResume row;
    RowPlayer player;
    if (find_token(world, session, &before, &row) &&
        (before != NULL ? before->account : row.account) == session->account) {
        spend_token(world->saves, session->token_hash);
        session->resumed = save_find_player(world->saves, session->account, &player);
    }
}

// The token alone identifies the player. True if it was valid.
static bool enter_by_token(World *world, Session *session, const MessageHandshake *command)
{
    Session *before = NULL;
    RowResume row;
    if (!find_token(world, session, &before, &row)) {
        return false;
    }
    spend_token(world->saves, session->token_hash);
    if (before != NULL) {
        go_on(world, before, session);
        return true;
    }
    RowPlayer player;
    session->account = row.account;
    session->guest = (row.roles & ROW_GUEST) != 0;
    session->operator_role = (row.roles & ROW_OPERATOR) != 0;
    session->fixed_name = (row.roles & ROW_FIXED_NAME) != 0;
    // The earlier run may have been in development mode.
    session->debug = (row.roles & ROW_DEBUG) != 0 && world->config.development;
    if (save_find_player(world->saves, row.account, &player)) {
        session->resumed = true;
        if (row_name_is_valid(player.name)) {
            set_text(session->name, player.name);
        }
    }
    if (id_is_valid(command->player_id) && account_of(command->player_id) == row.account) {
        set_text(session->player_id, command->player_id);
    }
    // The owner may know that they are in another world of the place.
    const Command came = {.type = COMMAND_CAME, .account = session->account};
    status_ignore(save_command(world->saves, &came)); // no room: it is not told
    session->chat_waits = !world->config.development;
    enter(world, session);
    return true;
}

static void ask_owner(World *world, Session *session, uint32_t seq, const MessageHandshake *command)
{
    const Text proof = command->ticket.bytes > 0 ? command->ticket : command->session_token;
    if (proof.bytes == 0) {
        session_error(world->sessions, session, seq, ERROR_AUTH_REQUIRED,
                      "a ticket or a session token is needed here");
        return;
    }
    const Command question = {.type = COMMAND_AUTH,
                              .connection = session->connection,
                              .bytes = (const uint8_t *)proof.data,
                              .byte_count = proof.bytes};
    if (save_command(world->saves, &question) != STATUS_OK) {
        session_error(world->sessions, session, seq, ERROR_BUSY, "too many come in at once");
        return;
    }
    session->state = SESSION_VERIFYING;
    session->state_tick = world->clock.tick;
}

// A given name must be valid, whether it is used or not. False: the session has ended.
static bool names_are_valid(Sessions *sessions, Session *session, uint32_t seq,
                            const MessageHandshake *command)
{
    if (command->player_id.bytes > 0 && !id_is_valid(command->player_id)) {
        session_error(sessions, session, seq, ERROR_INVALID_NAME,
                      "a playerId has 1 to 64 letters, digits, _ and - only");
        return false;
    }
    if (command->name.bytes > 0 && !row_name_is_valid(command->name)) {
        session_error(sessions, session, seq, ERROR_INVALID_NAME, NAME_TEXT_RULE);
        return false;
    }
    return true;
}

void join_handshake(World *world, Session *session, uint32_t seq, const MessageHandshake *command)
{
    // In JSON the version is in the envelope, and has been checked.
    if (command->version != PROTOCOL_VERSION && !(session->json && command->version == 0)) {
        session_error(world->sessions, session, seq, ERROR_UNSUPPORTED_VERSION,
                      "this world speaks version %d", PROTOCOL_VERSION);
        return;
    }
    if (session->json && session->merge == NULL) {
        session_error(world->sessions, session, seq, ERROR_WORLD_FULL,
                      "there are %u JSON sessions here already", world->sessions->merge_count);
        return;
    }
    if (world->run.stopping) {
        session_error(world->sessions, session, seq, ERROR_STOPPING, "this world is about to end");
        return;
    }
    if (!names_are_valid(world->sessions, session, seq, command)) {
        return;
    }
    session->has_token = command->resume_token.bytes == TOKEN_CHARACTERS;
    if (session->has_token) {
        sha256_of(command->resume_token.data, TOKEN_CHARACTERS, session->token_hash);
    }
    // Even if no ticket or session token is required, one that is given is used.
    const bool has_proof = command->ticket.bytes > 0 || command->session_token.bytes > 0;
    if (!has_proof && enter_by_token(world, session, command)) {
        return;
    }
    if (!world->config.development || has_proof) {
        ask_owner(world, session, seq, command);
        return;
    }
    if (command->player_id.bytes > 0) {
        set_text(session->player_id, command->player_id);
        session->account = account_of(command->player_id);
    }
    if (command->name.bytes > 0) {
        set_text(session->name, command->name);
    }
    session->guest = true;
    enter(world, session);
}

// The owner may say why, by the name of an error.
static void refuse_auth(Sessions *sessions, Session *session, const Entry *entry)
{
    static const ErrorCode codes[] = {ERROR_BANNED, ERROR_FORBIDDEN, ERROR_WORLD_FULL, ERROR_BUSY};
    char why[160];
    const size_t bytes = text_clean(entry->bytes, entry->byte_count, why, sizeof why - 1);
    why[bytes] = '\0';
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (text_equal(text_from(error_name(codes[i])), (Text){entry->name, entry->name_bytes})) {
            session_error(sessions, session, 0, codes[i], "%s", why);
            return;
        }
    }
    session_error(sessions, session, 0, ERROR_AUTH_FAILED,
                  "this ticket or sign-in is not valid (any more); ask /join for a new one");
}

Status join_auth(World *world, const Entry *entry)
{
    Session *session = session_of_connection(world->sessions, entry->connection);
    if (session == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (session->state != SESSION_VERIFYING) {
        return STATUS_MISMATCH;
    }
    if ((entry->flags & ENTRY_OK) == 0 || entry->number == 0) {
        refuse_auth(world->sessions, session, entry);
        return STATUS_OK;
    }
    session->account = entry->number;
    session->guest = (entry->flags & ENTRY_GUEST) != 0;
    session->operator_role = (entry->flags & ENTRY_OPERATOR) != 0;
    session->fixed_name = (entry->flags & ENTRY_FIXED_NAME) != 0;
    session->debug = (entry->flags & ENTRY_DEBUG) != 0;
    const Text name = {entry->name, entry->name_bytes};
    if (row_name_is_valid(name)) {
        set_text(session->name, name);
    }
    Status status = STATUS_OK;
    if (entry->byte_count > 0) { // invalid ones are as good as none
        status =
            save_take_profiles(world->saves, session->account, entry->bytes, entry->byte_count);
    }
    use_own_token(world, session);
    enter(world, session);
    return status;
}

void join_tick(World *world, Session *session)
{
    if (session->joining) {
        if (world->clock.tick - session->state_tick > world->clock.tick_rate) {
            join_failed(world, session, ERROR_BUSY, "the body of before did not go");
            return;
        }
        make_body(world, session);
        return;
    }
    for (uint32_t i = 0; i < PRESENCE_PER_TICK && session->presence_at < session->presence_end;
         i++) {
        const Session *other = &world->sessions->all[session->presence_at++];
        if (other->player != 0 && other != session) {
            profile_announce(world->acts, other, session);
        }
    }
    if (world->clock.tick - session->resume_tick >
        world_ticks(&world->clock, world->config.resume_ms) / 2) {
        join_keep_token(world, session);
    }
}
