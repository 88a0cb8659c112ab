// The entry function of a world, and the order of a tick; see world.h.
#include "core/world/world_inside.h"

#include <string.h>

#define LEAVING_TICKS   3
#define STOP_SCRIPTS_MS 2000 // how long scripts may store something when the world ends
#define STOP_SAVES      8    // commands with what is still to be stored when a world ends

// --- the tick -----------------------------------------------------------------------------------

static void start(World *world)
{
    world->run.started = true;
    act_start(world->acts); // terrain was restored with its rows
    save_start(world->saves);
    script_host_start(world->script_host);
}

// A dropped player's body is a session until it is removed.
bool world_is_paused(const World *world)
{
    return world->run.started && world->sessions->high == 0 && world->run.leaving_count == 0 &&
           !world->run.ending &&
           world->clock.tick - world->run.busy_tick >= world_ticks(&world->clock, WORLD_EMPTY_MS);
}

bool world_is_ending(const World *world)
{
    return world->run.stopping;
}

// Those who were told to leave: their owner hears of it once scripts have seen it and have had a
// few ticks to store something.
static void leaving_tick(World *world)
{
    WorldRun *run = &world->run;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->leaving_count; i++) {
        const Command left = {.type = COMMAND_LEFT, .account = run->leaving[i].account};
        const bool is_due = world->clock.tick >= run->leaving[i].tick + LEAVING_TICKS;
        if (!is_due || save_command(world->saves, &left) != STATUS_OK) {
            run->leaving[kept++] = run->leaving[i];
        }
    }
    run->leaving_count = kept;
}

static void ending_tick(World *world)
{
    WorldRun *run = &world->run;
    const uint64_t passed = world->clock.tick - run->end_tick;
    const bool is_done = passed >= LEAVING_TICKS && save_requests_out(world->saves) == 0;
    if (!run->ending || run->end_reason[0] == '\0' ||
        (!is_done && passed < world_ticks(&world->clock, STOP_SCRIPTS_MS))) {
        return;
    }
    const Command stop = {.type = COMMAND_STOP,
                          .bytes = (const uint8_t *)run->end_reason,
                          .byte_count = strlen(run->end_reason)};
    if (save_command(world->saves, &stop) == STATUS_OK) {
        run->end_reason[0] = '\0'; // said
    }
}

static void tick(World *world, uint64_t unix_ms)
{
    world->clock.unix_ms = unix_ms;
    if (!world->run.started) {
        start(world);
    }
    dispatch_tick(world);
    life_tick(world);
    place_spawn_tick(world->spawned);
    step_inputs(world);
    script_host_run(world->script_host);
    step_sim(world);
    script_host_events(world->script_host);
    script_host_effects(world->script_host);
    life_kicks(world);
    remote_tick(world->script_host);
    voxel_tick(world->acts);
    patch_tick(world->acts);
    preview_tick(world->acts);
    if (world->clock.tick % world->clock.snapshot_ticks == 0) {
        board_tick(world->acts);
        sky_tick(world->acts);
        replicator_capture(world->replicator);
        patch_snapshot(world->acts);
        fold_snapshot(world);
        snapshot_send_all(world->sessions);
    }
    debug_truth_tick(world->sessions);
    transfer_tick(world->script_host);
    save_tick(world->saves);
    leaving_tick(world);
    ending_tick(world);
    if (world->sessions->high > 0) {
        world->run.busy_tick = world->clock.tick;
    } else if (world_is_paused(world)) {
        save_all(world->saves); // there may be no other tick for hours
    }
}

// --- the operator -------------------------------------------------------------------------------

static void say_goodbye(Sessions *sessions, const Entry *entry)
{
    char reason[128];
    const size_t bytes = entry->byte_count < sizeof reason ? entry->byte_count : sizeof reason - 1;
    memcpy(reason, entry->bytes, bytes);
    reason[bytes] = '\0';
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        if (session->connection != 0) {
            const bool moves = entry->name_bytes == 4 && memcmp(entry->name, "move", 4) == 0;
            const bool is_shut = entry->name_bytes == 4 && memcmp(entry->name, "shut", 4) == 0;
            session_error(sessions, session, 0,
                          moves     ? ERROR_MOVED
                          : is_shut ? ERROR_KICKED
                                    : ERROR_STOPPED,
                          moves     ? "the world moves: %s"
                          : is_shut ? "%s"
                                    : "the world ends: %s",
                          reason);
        }
    }
}

// Rows are stored as they are now, so that everybody comes back to their body. Then scripts see
// everybody leave and may store something in DataStores; COMMAND_STOP follows in ending_tick.
static Status admin_stop(World *world, const Entry *entry)
{
    WorldRun *run = &world->run;
    if (run->ending) {
        return STATUS_OK;
    }
    say_goodbye(world->sessions, entry); // this stores every player
    for (uint32_t i = 0; i < STOP_SAVES; i++) {
        save_all(world->saves);
    }
    run->stopping = true;
    run->ending = true;
    run->end_tick = world->clock.tick;
    const size_t bytes =
        entry->byte_count < sizeof run->end_reason ? entry->byte_count : sizeof run->end_reason - 1;
    run->end_reason[0] = '-'; // without a reason
    run->end_reason[1] = '\0';
    if (bytes > 0) {
        memcpy(run->end_reason, entry->bytes, bytes);
        run->end_reason[bytes] = '\0';
    }
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        if (world->sessions->all[i].player != 0) {
            status_ignore(authority_player_leave(world->authority, world->sessions->all[i].player));
        }
    }
    return STATUS_OK;
}

static Status admin_kick(World *world, const Entry *entry)
{
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        Session *session = &world->sessions->all[i];
        const size_t bytes = strlen(session->player_id);
        if (session->player == 0 || bytes != entry->byte_count ||
            memcmp(session->player_id, entry->bytes, bytes) != 0) {
            continue;
        }
        if (session->connection != 0) {
            session_error(world->sessions, session, 0, ERROR_KICKED,
                          "an operator ended this session");
        }
        if (session->player != 0) {
            life_leave(world, session);
        }
        return STATUS_OK;
    }
    return STATUS_NOT_FOUND;
}

// The number at *at, and the space after it. False: there is none.
static bool read_number(const Entry *entry, size_t *at, uint64_t *number)
{
    const size_t begin = *at;
    *number = 0;
    for (; *at < entry->byte_count && entry->bytes[*at] != ' '; *at += 1) {
        const uint64_t digit = (uint64_t)entry->bytes[*at] - '0';
        if (digit > 9 || *number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    const bool is_there = *at > begin;
    *at += *at < entry->byte_count;
    return is_there;
}

static bool read_account(const Entry *entry, uint64_t *account)
{
    size_t at = 0;
    return read_number(entry, &at, account) && at == entry->byte_count &&
           entry->bytes[at - 1] != ' ' && *account != 0;
}

// What is left of an order from there on, as plain text.
static void read_reason(const Entry *entry, size_t at, char out[SESSION_REASON_BYTES])
{
    out[text_clean(entry->bytes + at, entry->byte_count - at, out, SESSION_REASON_BYTES - 1)] =
        '\0';
}

// Like kick, by account. A resume token would bring them back without anybody being asked.
static Status admin_remove(World *world, const Entry *entry)
{
    size_t at = 0;
    uint64_t account;
    char reason[SESSION_REASON_BYTES];
    if (!read_number(entry, &at, &account) || account == 0) {
        return STATUS_MALFORMED;
    }
    read_reason(entry, at, reason);
    Session *session = session_of_account(world->sessions, account);
    if (session != NULL && session->connection != 0) {
        session_error(world->sessions, session, 0, ERROR_KICKED,
                      "you were removed from this world%s%s", reason[0] != '\0' ? ": " : "",
                      reason);
    }
    if (session != NULL && session->player != 0) {
        memset(session->resume_hash, 0, sizeof session->resume_hash);
        life_leave(world, session);
    }
    save_forget_resumes(world->saves, account); // last: a session that ends keeps its token
    return session != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

// The account's characters were changed elsewhere.
static Status admin_profiles(World *world, const Entry *entry)
{
    Row row;
    RowProfiles profiles;
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    Status status = row_read(&reader, &row);
    status = status == STATUS_OK ? row_profiles(&row, &profiles) : status;
    if (status != STATUS_OK) {
        return status;
    }
    const Session *session = session_of_account(world->sessions, profiles.account);
    if (session == NULL) {
        return STATUS_NOT_FOUND;
    }
    status = save_take_profiles(world->saves, profiles.account, entry->bytes, entry->byte_count);
    if (status == STATUS_OK) {
        profile_open(world->acts, session);
        profile_announce(world->acts, session, NULL);
    }
    return status;
}

// The session that an order is about: by its connection, before it is known who it is, or by
// account.
static Session *ordered_session(Sessions *sessions, const Entry *entry, uint64_t account)
{
    return entry->connection != 0 ? session_of_connection(sessions, entry->connection)
                                  : session_of_account(sessions, account);
}

static Status admin_mute(World *world, const Entry *entry)
{
    size_t at = 0;
    uint64_t account, until_ms;
    if (!read_number(entry, &at, &account) || account == 0 || !read_number(entry, &at, &until_ms)) {
        return STATUS_MALFORMED;
    }
    Session *session = ordered_session(world->sessions, entry, account);
    if (session == NULL) {
        return STATUS_NOT_FOUND;
    }
    session->muted_until_ms = until_ms;
    read_reason(entry, at, session->mute_reason);
    return STATUS_OK;
}

static Status admin_chat(World *world, const Entry *entry)
{
    size_t at = 0;
    uint64_t account, rule;
    if (!read_number(entry, &at, &account) || !read_number(entry, &at, &rule) ||
        at != entry->byte_count) {
        return STATUS_MALFORMED;
    }
    if (account == 0) {
        return chat_set_world_rule(world->acts, rule);
    }
    Session *session = ordered_session(world->sessions, entry, account);
    return session != NULL ? chat_set_rule(session, rule) : STATUS_NOT_FOUND;
}

static Status admin_phrases(World *world, const Entry *entry)
{
    return chat_set_phrases(world->acts, entry->bytes, entry->byte_count);
}

static Status admin_words(World *world, const Entry *entry)
{
    return chat_set_words(world->acts, entry->bytes, entry->byte_count);
}

static Status admin_blocks(World *world, const Entry *entry)
{
    uint64_t account, blocked[BLOCKS_PER_ACCOUNT_MAX];
    uint32_t count = 0;
    size_t at = 0;
    if (!read_number(entry, &at, &account) || account == 0) {
        return STATUS_MALFORMED;
    }
    while (at < entry->byte_count) {
        if (count == BLOCKS_PER_ACCOUNT_MAX) {
            return STATUS_LIMIT;
        }
        if (!read_number(entry, &at, &blocked[count++])) {
            return STATUS_MALFORMED;
        }
    }
    Session *session = ordered_session(world->sessions, entry, account);
    return session != NULL ? chat_set_blocks(world->acts, session, blocked, count)
                           : STATUS_NOT_FOUND;
}

// The player goes to another world of the place: no body is kept for them here.
static Status admin_leave(World *world, const Entry *entry)
{
    uint64_t account;
    WorldRun *run = &world->run;
    if (!read_account(entry, &account)) {
        return STATUS_MALFORMED;
    }
    if (run->leaving_count == LEAVING_MAX) {
        return STATUS_LIMIT;
    }
    run->leaving[run->leaving_count].account = account;
    run->leaving[run->leaving_count++].tick = world->clock.tick;
    Session *session = session_of_account(world->sessions, account);
    if (session != NULL && session->connection != 0) {
        session_error(world->sessions, session, 0, ERROR_REPLACED,
                      "you have joined another world of this place");
    }
    if (session != NULL) {
        memset(session->resume_hash, 0, sizeof session->resume_hash);
        life_leave(world, session);
    }
    save_forget_resumes(world->saves, account); // last: a session that ends keeps its token
    return session != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

// Of player 0: what scripts say has no name, so no place can imitate it.
#define CHAT_OPERATOR "operator"

static Status admin_say(World *world, const Entry *entry)
{
    char text[CHAT_BYTES_MAX];
    const size_t bytes = text_clean(entry->bytes, entry->byte_count, text, sizeof text);
    if (bytes == 0) {
        return STATUS_MALFORMED;
    }
    const MessageChatSaid said = {.name = {CHAT_OPERATOR, sizeof CHAT_OPERATOR - 1},
                                  .text = {text, (uint32_t)bytes}};
    event_broadcast(world->sessions, MESSAGE_CHAT_SAID, &said, NULL);
    return STATUS_OK;
}

static Status admin_save(World *world, const Entry *entry)
{
    (void)entry;
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        if (session_plays(&world->sessions->all[i])) {
            save_player(world->saves, &world->sessions->all[i], true);
        }
    }
    save_tick(world->saves);
    return STATUS_OK;
}

static Status admin(World *world, const Entry *entry)
{
    static const struct {
        const char *name;
        Status (*run)(World *world, const Entry *entry);
    } orders[] = {
        {"kick", admin_kick},         {"say", admin_say},       {"stop", admin_stop},
        {"move", admin_stop},         {"shut", admin_stop},     {"save", admin_save},
        {"leave", admin_leave},       {"remove", admin_remove}, {"mute", admin_mute},
        {"profiles", admin_profiles}, {"chat", admin_chat},     {"phrases", admin_phrases},
        {"words", admin_words},       {"blocks", admin_blocks}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (strlen(orders[i].name) == entry->name_bytes &&
            memcmp(orders[i].name, entry->name, entry->name_bytes) == 0) {
            return orders[i].run(world, entry);
        }
    }
    return STATUS_UNSUPPORTED;
}

// --- the door -----------------------------------------------------------------------------------

static Status enter_message(Sessions *sessions, const Entry *entry)
{
    Session *session = session_of_connection(sessions, entry->connection);
    return session != NULL ? inbox_put(sessions, session, entry) : STATUS_NOT_FOUND;
}

static Status enter_stored(World *world, const Entry *entry)
{
    if (!save_is_store_request(entry->number)) {
        const Status status = save_stored(world->saves, entry);
        if (world_is_paused(world)) {
            save_all(world->saves); // what the commands before had no room for
        }
        return status;
    }
    save_store_answered(world->saves, entry->number);
    return script_host_stored(world->script_host, entry);
}

Status world_enter(World *world, const Entry *entry)
{
    switch (entry->type) {
    case ENTRY_TICK:
        tick(world, entry->number);
        return STATUS_OK;
    case ENTRY_CONNECT:
        return session_connect(world->sessions, entry);
    case ENTRY_MESSAGE:
        return enter_message(world->sessions, entry);
    case ENTRY_DISCONNECT:
        return life_disconnect(world, entry->connection);
    case ENTRY_AUTH:
        return join_auth(world, entry);
    case ENTRY_STORED:
        return enter_stored(world, entry);
    case ENTRY_ROW:
        return world->run.started ? STATUS_DENIED : save_row(world->saves, entry);
    case ENTRY_SCRIPT:
        return script_host_add(world->script_host, entry);
    case ENTRY_RELOAD:
        world->run.busy_tick = world->clock.tick;
        return script_host_reload(world->script_host, entry);
    case ENTRY_PARAMETERS:
        return script_parameters_add(world->script_host, entry);
    case ENTRY_UNSTAGE:
        script_host_unstage(world->script_host);
        return STATUS_OK;
    case ENTRY_EDIT:
        world->run.busy_tick = world->clock.tick;
        return edit_enter(world, entry);
    case ENTRY_ADMIN:
        world->run.busy_tick = world->clock.tick;
        return admin(world, entry);
    case ENTRY_NONE:
    case ENTRY_TYPE_COUNT:
        break;
    }
    return STATUS_MALFORMED;
}

// --- what comes out -----------------------------------------------------------------------------

bool world_output(const World *world, uint64_t connection, const uint8_t **bytes, size_t *count)
{
    return output_next(world->sessions, connection, bytes, count);
}

void world_output_take(World *world, uint64_t connection)
{
    output_take(world->sessions, connection);
}

uint64_t world_closing(World *world)
{
    return session_closing(world->sessions);
}

const Command *world_commands(const World *world, uint32_t *count)
{
    return save_commands(world->saves, count);
}

void world_commands_clear(World *world)
{
    save_commands_clear(world->saves);
}

// --- looking ------------------------------------------------------------------------------------

WorldStats world_stats(const World *world)
{
    WorldStats stats = world->stats;
    stats.tick = world->clock.tick;
    stats.sessions = 0;
    stats.json_sessions = 0;
    for (uint32_t i = 0; i < world->sessions->high; i++) {
        const Session *session = &world->sessions->all[i];
        stats.sessions += session->connection != 0;
        stats.json_sessions += session->connection != 0 && session->json;
    }
    stats.players = session_player_count(world->sessions);
    stats.replication = replicator_stats(world->replicator);
    return stats;
}

WorldCounters world_counters(const World *world)
{
    return (WorldCounters){.sim = *sim_counters(world->sim),
                           .authority = authority_counters(world->authority),
                           .saves = save_counters(world->saves)};
}

Paint world_paint(const World *world, uint64_t net_id)
{
    return authority_paint(world->authority, net_id);
}

Sim *world_sim(World *world)
{
    return world->sim;
}

const Replicator *world_replicator(const World *world)
{
    return world->replicator;
}

ScriptSystem *world_scripts(World *world)
{
    return script_host_system(world->script_host);
}

const ClientCosts *world_client_costs(const World *world)
{
    return client_costs(world->script_host);
}

uint32_t world_client_verdicts(const World *world, ClientVerdicts *out, uint32_t most)
{
    return client_verdicts(world->script_host, out, most);
}

bool world_session(const World *world, uint64_t connection, uint32_t *session)
{
    const uint32_t slot = id_map_find(&world->sessions->connections, connection);
    if (slot != 0) {
        *session = slot - 1;
    }
    return slot != 0;
}

bool world_player(const World *world, uint64_t connection, uint64_t *player, uint64_t *entity)
{
    uint32_t number = 0;
    if (!world_session(world, connection, &number) || world->sessions->all[number].player == 0) {
        return false;
    }
    *player = world->sessions->all[number].player;
    *entity = world->sessions->all[number].entity;
    return true;
}

uint64_t world_hash(const World *world)
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, sim_hash(world->sim));
    hash_u64(&hash, world->clock.unix_ms);
    hash_u64(&hash, world->run.next_player);
    if (world_is_paused(world)) { // before that it only says when a pause would begin
        hash_u64(&hash, world->run.busy_tick);
    }
    hash_u64(&hash, world->token_count);
    hash_u64(&hash, (uint64_t)world->run.manifest_version << 2 | (uint64_t)world->run.started << 1 |
                        world->run.stopping);
    place_spawn_hash(world->spawned, &hash);
    session_hash(world->sessions, &hash);
    inbox_hash(world->sessions, &hash);
    replicator_hash(world->replicator, &hash);
    act_hash(world->acts, &hash);
    remote_hash(world->script_host, &hash);
    transfer_hash(world->script_host, &hash);
    save_hash(world->saves, &hash);
    script_host_hash(world->script_host, &hash);
    return hash.state;
}
