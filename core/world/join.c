// Coming in: who is this, which body is theirs, and what they have to know first. Three ways lead
// to a welcome: a resume token (the token alone says who one is), a sign-in that the owner has
// checked (ENTRY_AUTH), or, in development, the player id that was given.
//
// A token is good once: every welcome gives a new one, of which only the hash is kept.
#include "core/world/world_inside.h"

#include "core/base/sha256.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

#define NAME_CHARACTERS_MAX 32
#define TOKEN_CHARACTERS    32
#define PRESENCE_PER_TICK   16 // players that a newcomer is told of

static NetText text_of(const char *text)
{
    return (NetText){text, (uint32_t)strlen(text)};
}

// --- names --------------------------------------------------------------------------------------

static bool id_is_valid(NetText id)
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

static bool name_is_valid(NetText name)
{
    if (name.bytes < 1 || name.bytes > 64 || !utf8_is_valid(name.data, name.bytes)) {
        return false;
    }
    const uint8_t *text = (const uint8_t *)name.data;
    uint32_t characters = 0;
    bool seen = false; // something other than space
    for (size_t at = 0; at < name.bytes;) {
        const size_t length = utf8_length(text + at, name.bytes - at);
        const uint32_t code = utf8_code_point(text + at, length);
        if (utf8_is_hidden(code)) {
            return false;
        }
        seen = seen || (code != ' ' && code != 0xa0);
        characters += 1;
        at += length;
    }
    return seen && characters <= NAME_CHARACTERS_MAX;
}

static void set_text(char out[65], NetText text)
{
    ASSERT(text.bytes <= 64);
    memcpy(out, text.data, text.bytes);
    out[text.bytes] = '\0';
}

// What has not been said, or was no name, is made from the number of the player.
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

static uint64_t account_of(NetText player_id)
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
    byte_write_u64(&writer, world->tick);
    byte_write_u64(&writer, world->unix_ms);
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
    session->resume_tick = world->tick;
    if (session->account == 0) {
        return; // nobody to come back as
    }
    RowResume row = {.account = session->account,
                     .player = session->player,
                     .expires_unix_ms = world->unix_ms + world->config.resume_ms,
                     .roles = (session->guest ? ROW_GUEST : 0u) |
                              (session->operator_role ? ROW_OPERATOR : 0u) |
                              (session->debug ? ROW_DEBUG : 0u)};
    memcpy(row.token_hash, session->resume_hash, sizeof row.token_hash);
    save_resume(world, &row);
}

static void spend_token(World *world, const uint8_t token_hash[32])
{
    RowResume row;
    if (save_find_resume(world, token_hash, &row)) {
        row.expires_unix_ms = 0;
        save_resume(world, &row);
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
        .world_id = text_of(world->config.world_id),
        .room_code = text_of(world->config.room_code),
        .player_id = text_of(session->player_id),
        .player = session->player,
        .entity_id = session->entity,
        .tick = world->tick,
        .tick_rate = world->tick_rate,
        .snapshot_rate = world->tick_rate / world->snapshot_ticks,
        .resume_token = {token, TOKEN_CHARACTERS},
        .resumed = session->resumed,
        .manifest_version = world->manifest_version,
        .scene_bytes = world->config.stripped_bytes,
        .place_name = {place->name.data,
                       (uint32_t)utf8_cut(place->name.data, place->name.bytes, 128)},
        .view_radius = place->view_radius,
        .epoch = world->config.epoch,
    };
    memcpy(welcome.scene_hash.bytes, world->scene_hash, sizeof welcome.scene_hash.bytes);
    session_send(world, session, MESSAGE_WELCOME, &welcome);
}

// The session has its body: it sees the world from the next frame on.
static void welcome(World *world, Session *session)
{
    const uint32_t number = session_number(world, session);
    const Entity *body = session_body(world, session);
    session->state = SESSION_PLAYING;
    session->state_tick = world->tick;
    session->presence_at = 0;
    session->presence_end = world->session_high;
    input_reset(&session->input);
    memset(&session->flow, 0, sizeof session->flow);
    replicator_open(world->replicator, number);
    replicator_set_eye(world->replicator, number, session->entity,
                       body != NULL ? body->position
                                    : authority_spawn_point(world->authority, session->player));
    send_welcome(world, session);
    own_reset(world, session);
    join_keep_token(world, session);
    save_player(world, session, true);
    world->stats.resumes += session->resumed;
    script_host_welcome(world, session);
}

// --- the body -----------------------------------------------------------------------------------

static void join_failed(World *world, Session *session, ErrorCode code, const char *why)
{
    const Status left = authority_player_leave(world->authority, session->player);
    ASSERT(left == STATUS_OK || left == STATUS_NOT_FOUND); // it may not have come so far
    id_map_remove(&world->players, session->player);
    session->player = 0;
    session->entity = 0;
    session->joining = false;
    session_error(world, session, 0, code, "%s", why);
}

static void restore_health(World *world, Session *session, float health)
{
    const Handle handle = sim_find(world->sim, session->entity);
    CharacterState state = character_state(world->sim, handle);
    if (health > 0 && health < state.health) {
        state.health = health;
        const Status status = character_state_apply(world->sim, handle, &state);
        ASSERT(status == STATUS_OK);
    }
}

static void make_body(World *world, Session *session)
{
    Status status = authority_player_join(world->authority, session->player,
                                          (Text){session->name, strlen(session->name)});
    if (status == STATUS_EXISTS) {
        if (!session->joining) { // it has just left; the next tick knows
            session->joining = true;
            session->state = SESSION_PLAYING;
            session->state_tick = world->tick;
        }
        return;
    }
    session->joining = false;
    RowPlayer row;
    const bool known = save_find_player(world, session->account, &row) && row.health > 0 &&
                       vec3_is_finite(row.position);
    const Vec3 spawn = authority_spawn_point(world->authority, session->player);
    if (status == STATUS_OK) {
        status =
            authority_player_spawn(world->authority, session->player, known ? row.position : spawn);
    }
    if (status != STATUS_OK && known) { // what was stored may lie outside a changed place
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
        restore_health(world, session, row.health);
    }
    welcome(world, session);
    profile_announce(world, session, NULL);
}

static void choose_number(World *world, Session *session)
{
    RowPlayer row;
    uint64_t number = 0;
    if (save_find_player(world, session->account, &row) && row.player != 0 &&
        row.player < SIM_NET_ID_MAX && id_map_find(&world->players, row.player) == 0) {
        number = row.player;
    }
    if (number == 0) {
        number = world->next_player;
    }
    if (number >= world->next_player) {
        world->next_player = number + 1;
    }
    session->player = number;
    id_map_put(&world->players, number, session_number(world, session) + 1);
}

// With the body of an earlier session.
static void go_on(World *world, Session *before, Session *session)
{
    session_take_over(world, before, session);
    session->resumed = true;
    profile_open(world, session);
    if (session->joining) {
        session->state = SESSION_PLAYING;
        session->state_tick = world->tick;
        return;
    }
    welcome(world, session);
    profile_announce(world, session, session);
}

// It is known who this is.
static void enter(World *world, Session *session)
{
    Session *before = session_of_account(world, session->account);
    if (before != NULL) {
        go_on(world, before, session);
        return;
    }
    if (session_player_count(world) >= world->player_max) {
        session_error(world, session, 0, ERROR_WORLD_FULL, "there are %u players here already",
                      world->player_max);
        return;
    }
    choose_number(world, session);
    name_default(session);
    profile_open(world, session);
    make_body(world, session);
}

// --- the ways in --------------------------------------------------------------------------------

// True if the token led somewhere.
static bool enter_by_token(World *world, Session *session, const MessageHandshake *command)
{
    uint8_t hash[SHA256_BYTES];
    if (command->resume_token.bytes != TOKEN_CHARACTERS) {
        return false;
    }
    sha256_of(command->resume_token.data, command->resume_token.bytes, hash);
    Session *before = session_of_token(world, hash);
    RowResume row;
    const bool stored = save_find_resume(world, hash, &row);
    spend_token(world, hash);
    if (before != NULL) {
        go_on(world, before, session);
        return true;
    }
    if (!stored || row.account == 0 || row.expires_unix_ms <= world->unix_ms) {
        return false;
    }
    RowPlayer player;
    session->account = row.account;
    session->guest = (row.roles & ROW_GUEST) != 0;
    session->operator_role = (row.roles & ROW_OPERATOR) != 0;
    // The world of before may have been one for development.
    session->debug = (row.roles & ROW_DEBUG) != 0 && world->config.development;
    if (save_find_player(world, row.account, &player)) {
        session->resumed = true;
        if (name_is_valid(player.name)) {
            set_text(session->name, player.name);
        }
    }
    if (id_is_valid(command->player_id) && account_of(command->player_id) == row.account) {
        set_text(session->player_id, command->player_id);
    }
    enter(world, session);
    return true;
}

static void ask_owner(World *world, Session *session, uint32_t seq, const MessageHandshake *command)
{
    const NetText proof = command->ticket.bytes > 0 ? command->ticket : command->session_token;
    if (proof.bytes == 0) {
        session_error(world, session, seq, ERROR_AUTH_REQUIRED,
                      "a ticket or a session token is needed here");
        return;
    }
    const Command question = {.type = COMMAND_AUTH,
                              .connection = session->connection,
                              .bytes = (const uint8_t *)proof.data,
                              .byte_count = proof.bytes};
    if (save_command(world, &question) != STATUS_OK) {
        session_error(world, session, seq, ERROR_BUSY, "too many come in at once");
        return;
    }
    session->state = SESSION_VERIFYING;
    session->state_tick = world->tick;
}

void join_handshake(World *world, Session *session, uint32_t seq, const MessageHandshake *command)
{
    // In JSON the envelope has the version, and its reader has looked at it.
    if (command->version != PROTOCOL_VERSION && !(session->json && command->version == 0)) {
        session_error(world, session, seq, ERROR_UNSUPPORTED_VERSION,
                      "this world speaks version %d", PROTOCOL_VERSION);
        return;
    }
    if (session->json && session->merge == NULL) {
        session_error(world, session, seq, ERROR_WORLD_FULL,
                      "there are %u JSON sessions here already", world->merge_count);
        return;
    }
    if (world->stopping) {
        session_error(world, session, seq, ERROR_STOPPING, "this world is about to end");
        return;
    }
    if (enter_by_token(world, session, command)) {
        return;
    }
    // Where nobody needs a ticket, one that is brought counts all the same.
    if (!world->config.development || command->ticket.bytes > 0) {
        ask_owner(world, session, seq, command);
        return;
    }
    if (id_is_valid(command->player_id)) {
        set_text(session->player_id, command->player_id);
        session->account = account_of(command->player_id);
    }
    if (name_is_valid(command->name)) {
        set_text(session->name, command->name);
    }
    session->guest = true;
    enter(world, session);
}

Status join_auth(World *world, const Entry *entry)
{
    Session *session = session_of_connection(world, entry->connection);
    if (session == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (session->state != SESSION_VERIFYING) {
        return STATUS_MISMATCH;
    }
    if ((entry->flags & ENTRY_OK) == 0 || entry->number == 0) {
        session_error(world, session, 0, ERROR_AUTH_FAILED, "this sign-in is not valid (any more)");
        return STATUS_OK;
    }
    session->account = entry->number;
    session->guest = (entry->flags & ENTRY_GUEST) != 0;
    session->operator_role = (entry->flags & ENTRY_OPERATOR) != 0;
    session->debug = (entry->flags & ENTRY_DEBUG) != 0;
    const NetText name = {entry->name, entry->name_bytes};
    if (name_is_valid(name)) {
        set_text(session->name, name);
    }
    enter(world, session);
    return STATUS_OK;
}

void join_tick(World *world, Session *session)
{
    if (session->joining) {
        if (world->tick - session->state_tick > world->tick_rate) {
            join_failed(world, session, ERROR_BUSY, "the body of before did not go");
            return;
        }
        make_body(world, session);
        return;
    }
    for (uint32_t i = 0; i < PRESENCE_PER_TICK && session->presence_at < session->presence_end;
         i++) {
        const Session *other = &world->sessions[session->presence_at++];
        if (other->player != 0 && other != session) {
            profile_announce(world, other, session);
        }
    }
    if (world->tick - session->resume_tick > world_ticks(world, world->config.resume_ms) / 2) {
        join_keep_token(world, session);
    }
}
