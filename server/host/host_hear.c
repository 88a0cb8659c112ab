// What a world process says. It runs strangers' scripts, so every message is taken with suspicion:
// one that makes no sense, or too many of them, end the process and disturb nobody else.
#include "server/host/host_inside.h"

#include "core/wire/error_code.h"
#include "server/sys/jail.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define MESSAGES_PER_SECOND 20000
#define BYTES_PER_SECOND    (64u << 20)
#define LOGS_PER_SECOND     500
#define MESSAGES_PER_ROUND  4096               // then the others have a turn
#define LOOK_NS_MAX         (150 * HOST_MS_NS) // how much of a pause counts: a stopped host blames nobody

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif
// A sanitizer is slow, and its first tick reads everything.
#define STUCK_MS        (SANITIZED ? 10000u : 1000u)
#define STARVED_MAX     10 // times as long, if it got no processor
#define PAUSED_STUCK_MS (STUCK_MS + 2 * CHANNEL_PAUSED_BEAT_MS)

// --- each kind of message -----------------------------------------------------------------------

static void hear_ready(HostWorld *world, const ChannelReport *report)
{
    if (world->state != WORLD_STARTING) {
        return;
    }
    char jail[160], bounds[160];
    world->link->face->describe(world->link, bounds, sizeof bounds);
    jail_layers_describe(report->layers, jail, sizeof jail);
    const bool is_weak = (report->layers & JAIL_LAYERS_ALL) != JAIL_LAYERS_ALL;
    hosted_log(world, is_weak ? LOG_WARN : LOG_INFO,
               "the world runs: epoch %" PRIu64 ", manifest %u, jail: %s, %s", world->epoch,
               world->manifest_version, jail, bounds);
    world->state = WORLD_RUNNING;
    hosted_changed(world);
    world->deadline_ns = 0;
    world->state_ns = host_now(world->host);
    world->empty_ns = 0;
    world->ever_ready = true;
    world->layers = report->layers;
    hosted_tell_chat(world);
    hosted_pass_sockets(world);
    host_joins_answer(world);
}

static uint32_t entry_flags(const Ticket *ticket)
{
    return ENTRY_OK | ((ticket->flags & TICKET_GUEST) != 0 ? ENTRY_GUEST : 0u) |
           ((ticket->flags & TICKET_OPERATOR) != 0 ? ENTRY_OPERATOR : 0u) |
           ((ticket->flags & TICKET_DEBUG) != 0 ? ENTRY_DEBUG : 0u) |
           ((ticket->flags & TICKET_FIXED_NAME) != 0 ? ENTRY_FIXED_NAME : 0u);
}

static void refuse_ticket(HostWorld *world, uint64_t connection)
{
    world->host->counts.tickets_refused += 1;
    hosted_admit(world, connection, NULL);
}

// True: they are banned, or were removed after they got the ticket, and the world is told so.
static bool refuse_unwanted(HostWorld *world, uint64_t connection, const Ticket *ticket)
{
    if (hosted_refuse_banned(world, connection, ticket->account)) {
        world->host->counts.tickets_refused += 1;
        return true;
    }
    const bool has_ended =
        hosted_has_ended(world, ticket->account, ticket->expires_unix_ms - TICKET_MS);
    if (has_ended) {
        refuse_ticket(world, connection);
    }
    return has_ended;
}

void hosted_send_auth(HostWorld *world, uint64_t connection, const Ticket *ticket,
                      const uint8_t *profiles, size_t bytes)
{
    if (!hosted_has_process(world)) { // it has ended while something was asked about them
        world->host->counts.tickets_refused += 1;
        return;
    }
    if (refuse_unwanted(world, connection, ticket)) { // since they were asked about
        return;
    }
    const Entry entry = {.type = ENTRY_AUTH,
                         .connection = connection,
                         .flags = entry_flags(ticket),
                         .number = ticket->account,
                         .name = ticket->name,
                         .name_bytes = (uint32_t)strlen(ticket->name),
                         .bytes = profiles,
                         .byte_count = bytes};
    hosted_tell_rules(world, connection, ticket->account);
    world->admitted[0] += 1;
    if (world->host->config.outside.entered != NULL) {
        world->host->config.outside.entered(world->host->config.outside.user, world, ticket);
    }
    hosted_send_entry(world, &entry);
}

void hosted_admit(HostWorld *world, uint64_t connection, const Ticket *ticket)
{
    if (ticket == NULL) {
        hosted_send_entry(world, &(Entry){.type = ENTRY_AUTH, .connection = connection});
        return;
    }
    host_account_note(world, ticket->account);
    if (!host_profiles_ask(world, connection, ticket)) {
        hosted_send_auth(world, connection, ticket, NULL, 0);
    }
}

// Who is known goes on to what holds for them here.
static void admit_known(HostWorld *world, uint64_t connection, const Ticket *ticket)
{
    if (!refuse_unwanted(world, connection, ticket) &&
        !host_move_begin(world, connection, ticket)) {
        hosted_admit(world, connection, ticket);
    }
}

// A sign-in in place of a ticket: nobody kept a slot for it, and it opens no private world.
static void admit_signed_in(HostWorld *world, uint64_t connection, const Ticket *who)
{
    const char *error = NULL, *why = NULL;
    if (world->row.is_private && !host_world_is_open_to(world, who)) {
        error = error_name(ERROR_FORBIDDEN);
        why = "this world is private; ask for its code or an invitation";
    } else if (world->place->needs_ticket && !hosted_take_given(world, who->account)) {
        error = error_name(ERROR_FORBIDDEN);
        why = "not everybody may play this place; join it first";
    } else if (hosted_session_count(world) >= world->place->numbers.player_max &&
               !host_account_is_in(world, who->account)) {
        error = error_name(ERROR_WORLD_FULL);
        why = "there are as many players here as may be";
    }
    if (error != NULL) {
        world->host->counts.tickets_refused += 1;
        hosted_refuse_auth(world, connection, error, why);
        return;
    }
    admit_known(world, connection, who);
}

// Whose key a ticket must be signed with: ours, or that of the peer whose key it names.
static const uint8_t *signer_of(Host *host, const char *text, size_t bytes)
{
    uint8_t key[SIGNING_PUBLIC_BYTES];
    const uint8_t *own = host->config.key->public_half;
    if (!host_has_peers(host) || ticket_signer(text, bytes, key) != STATUS_OK ||
        memcmp(key, own, sizeof key) == 0) {
        return own;
    }
    const StoreHost *peer = host_peer_by_key(host, key);
    return peer != NULL ? peer->public_key : own;
}

static void judge_auth(HostWorld *world, uint64_t connection, const char *text, size_t bytes,
                       bool is_again)
{
    Host *host = world->host;
    const HostOutside *outside = &host->config.outside;
    const uint8_t *signer = signer_of(host, text, bytes);
    const bool is_peers = signer != host->config.key->public_half;
    const TicketExpected expected = {.public_half = signer,
                                     .ahead_ms = is_peers ? TICKET_PEER_AHEAD_MS : 0,
                                     .world_id = world->row.world_id,
                                     .epoch = world->epoch,
                                     .boot = host->config.boot,
                                     .development = host->config.development};
    Ticket ticket;
    Status status =
        ticket_admit(&host->used_tickets, &expected, text, bytes, host_unix_ms(host), &ticket);
    if (status == STATUS_OK) {
        host->counts.tickets_admitted += 1;
        hosted_invite_used(world, &ticket);
        admit_known(world, connection, &ticket);
        return;
    }
    // What is no ticket at all may be a sign-in; a ticket that was used before is not asked about.
    status = status == STATUS_MALFORMED && outside->who != NULL
                 ? outside->who(outside->user, text, bytes, &ticket)
                 : STATUS_DENIED;
    if (status == STATUS_OK) {
        ticket.expires_unix_ms = host_unix_ms(host) + TICKET_MS; // as one that is given now
        admit_signed_in(world, connection, &ticket);
    } else if (status == STATUS_BLOCKED && !is_again && outside->identify != NULL) {
        outside->identify(outside->user, world, connection, text, bytes);
    } else {
        refuse_ticket(world, connection);
    }
}

static void hear_auth(HostWorld *world, const ChannelReport *report)
{
    judge_auth(world, report->connection, (const char *)report->bytes, report->byte_count, false);
}

void host_auth_again(Host *host, const char *world_id, uint64_t life, uint64_t connection,
                     const char *token, size_t bytes)
{
    HostWorld *world = host_world(host, world_id);
    if (world != NULL && host_world_link(world) != NULL && world->state == WORLD_RUNNING &&
        host_world_life(world) == life) {
        judge_auth(world, connection, token, bytes, true);
    }
}

static void hear_log(HostWorld *world, const ChannelReport *report)
{
    world->second_logs += 1;
    if (world->second_logs > LOGS_PER_SECOND) {
        return;
    }
    if (world->host->config.one_world) {
        host_log(world->host, report->level, report->area, "tick %" PRIu64 ": %s", report->tick,
                 report->text);
    } else {
        hosted_log(world, report->level, "tick %" PRIu64 ": %s: %s", report->tick, report->area,
                   report->text);
    }
}

static void hear_scripts(HostWorld *world, const ChannelReport *report)
{
    if (world->scripts == NULL) {
        world->scripts = malloc(sizeof *world->scripts);
    }
    world->scripts_version += 1;
    if (world->scripts != NULL &&
        script_table_read(report->bytes, report->byte_count, world->scripts) != STATUS_OK) {
        *world->scripts = (ScriptTable){0};
        hosted_kill(world, "it sent an invalid table of scripts");
    }
}

static void hear_clients(HostWorld *world, const ChannelReport *report)
{
    if (world->clients == NULL) {
        world->clients = calloc(1, sizeof *world->clients);
    }
    if (world->clients != NULL &&
        client_table_read(report->bytes, report->byte_count, world->clients) != STATUS_OK) {
        hosted_kill(world, "it sent an invalid table of clients");
    }
}

static void hear_stop(HostWorld *world, const ChannelReport *report)
{
    hosted_log(world, LOG_INFO, "the world ends: %s", report->text);
    world->heard_stop = true;
    world->quiet_ns = host_now(world->host) + HOST_SECOND_NS / 5;
    if (world->state == WORLD_RUNNING) { // it wants to; only a refused save makes it
        world->told_stop = true;
        world->state = WORLD_STOPPING;
        hosted_changed(world);
        world->deadline_ns = host_now(world->host) + HOST_SECOND_NS;
        if (world->host->config.one_world) {
            world->host->failed = true;
            world->wanted = false;
            host_stop(world->host, 3000);
        }
    }
}

static void hear(HostWorld *world, const ChannelReport *report)
{
    const HostOutside *outside = &world->host->config.outside;
    world->silent_ns = 0;
    switch (report->type) {
    case CHANNEL_READY:
        hear_ready(world, report);
        break;
    case CHANNEL_FAILED:
        memcpy(world->failed, report->text, sizeof world->failed);
        break;
    case CHANNEL_AUTH:
        hear_auth(world, report);
        break;
    case CHANNEL_SAVE:
        hosted_save_receive(world, report);
        break;
    case CHANNEL_STORE:
        hosted_request_receive(world, report);
        break;
    case CHANNEL_STOP:
        hear_stop(world, report);
        break;
    case CHANNEL_CAME:
        host_move_came(world, report->account);
        hosted_tell_rules(world, 0, report->account);
        break;
    case CHANNEL_HEARD:
        hosted_heard(world, report);
        break;
    case CHANNEL_REPORT:
        hosted_reported(world, report);
        break;
    case CHANNEL_RELOADED:
        hosted_reloaded(world, report);
        break;
    case CHANNEL_LEFT:
        host_move_left(world, report->account);
        if (outside->left != NULL) {
            outside->left(outside->user, world, report->account);
        }
        break;
    case CHANNEL_CLOSED:
        if (outside->socket_closed != NULL) {
            outside->socket_closed(outside->user, world, report->socket);
        }
        break;
    case CHANNEL_LOG:
        hear_log(world, report);
        break;
    case CHANNEL_STATS:
        world->stats = report->stats;
        world->admitted[1] = world->admitted[0];
        world->admitted[0] = 0;
        break;
    case CHANNEL_SCRIPTS:
        hear_scripts(world, report);
        break;
    case CHANNEL_CLIENTS:
        hear_clients(world, report);
        break;
    case CHANNEL_JOURNAL:
        world->link->face->journal(world->link, report->bytes, report->byte_count, report->gap);
        break;
    default: // CHANNEL_BEAT
        break;
    }
}

// --- listening ----------------------------------------------------------------------------------

static bool can_hear(const HostWorld *world)
{
    return hosted_has_process(world) && world->state != WORLD_ENDING;
}

// False when there is nothing more, or the world has been ended for what it said.
static bool receive_one(HostWorld *world)
{
    ChannelMessage message;
    Status status = world->link->face->take(world->link, &message);
    if (status == STATUS_NOT_FOUND || status == STATUS_TRUNCATED) {
        return false; // nothing now, or its end follows
    }
    if (status == STATUS_OK && message.descriptor >= 0) {
        close(message.descriptor); // nothing that a world sends has one
        status = STATUS_MALFORMED;
    }
    static ChannelReport report; // large, and a host has one thread
    if (status == STATUS_OK) {
        status = channel_read_report(message.type, message.bytes, message.count, &report);
    }
    if (status != STATUS_OK) {
        hosted_kill(world, "it sent an invalid message");
        return false;
    }
    world->second_messages += 1;
    world->second_bytes += message.count;
    if (world->second_messages > MESSAGES_PER_SECOND || world->second_bytes > BYTES_PER_SECOND) {
        hosted_kill(world, "it sent too many messages");
        return false;
    }
    hear(world, &report);
    return can_hear(world);
}

void host_world_receive(HostWorld *world)
{
    hosted_wake(world);
    for (uint32_t i = 0; i < MESSAGES_PER_ROUND && can_hear(world); i++) {
        if (!receive_one(world)) {
            break;
        }
    }
    if (hosted_has_process(world)) {
        world->link->face->flush(world->link);
        if (!can_hear(world) || !world->link->face->listens(world->link)) {
            hosted_look_for_end(world);
        }
    }
}

// What it said before it ended counts, saves above all. Nothing is heard of one that was killed.
void hosted_hear_rest(HostWorld *world)
{
    for (uint32_t i = 0; i < MESSAGES_PER_SECOND && can_hear(world) && receive_one(world); i++) {
    }
}

// A world that waits for a processor on a busy machine is not stuck: another start would cost that
// machine more. So that time does not count, up to a bound.
static bool is_stuck(HostWorld *world, uint64_t stuck_ns)
{
    uint64_t (*const starved_ns)(HostLink * link) = world->link->face->starved_ns;
    if (world->silent_ns <= stuck_ns / 2) {
        world->is_half_stuck = false;
        return false;
    }
    if (!world->is_half_stuck) {
        world->is_half_stuck = true;
        world->starved_ns = starved_ns != NULL ? starved_ns(world->link) : 0;
    }
    if (world->silent_ns <= stuck_ns) {
        return false;
    }
    const uint64_t starved = starved_ns != NULL ? starved_ns(world->link) - world->starved_ns : 0;
    return world->silent_ns > stuck_ns + starved || world->silent_ns > STARVED_MAX * stuck_ns;
}

void hosted_tell_until(HostWorld *world)
{
    const uint64_t until_ns = host_lease_worlds_end_ns(world->host);
    if (until_ns == world->told_until_ns) {
        return;
    }
    uint8_t bytes[sizeof until_ns];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_u64(&writer, until_ns);
    if (world->link->face->put(world->link, CHANNEL_UNTIL, bytes, writer.at, -1) == STATUS_OK) {
        world->told_until_ns = until_ns;
    }
}

void hosted_watch(HostWorld *world)
{
    const uint64_t now = host_now(world->host);
    const uint64_t passed_ns = now - world->looked_ns;
    world->looked_ns = now;
    if (now - world->second_ns >= HOST_SECOND_NS) {
        world->second_ns = now;
        world->second_messages = 0;
        world->second_bytes = 0;
        world->second_logs = 0;
    }
    world->silent_ns += passed_ns < LOOK_NS_MAX ? passed_ns : LOOK_NS_MAX;
    const bool speaks = world->state == WORLD_RUNNING || world->state == WORLD_STOPPING;
    const uint64_t stuck_ms = world->stats.paused != 0 ? PAUSED_STUCK_MS : STUCK_MS;
    if (speaks && is_stuck(world, stuck_ms * HOST_MS_NS)) {
        hosted_kill(world, "it does not respond");
    } else if (speaks) {
        hosted_tell_until(world);
    }
}
