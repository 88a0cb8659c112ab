// Orders to running worlds: kicks, mutes, chat rules, announcements. Each is an entry of the world,
// so that it is in the journal and a replay does the same.
#define _GNU_SOURCE
#include "server/host/host_inside.h"

#include "core/base/text.h"
#include "core/wire/error_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define KICK_BYTES (HOST_REASON_BYTES + 32)

// connection 0: of the account that the text begins with.
static void send_bytes(HostWorld *world, uint64_t connection, const char *name, const char *text,
                       size_t bytes)
{
    const Entry order = {.type = ENTRY_ADMIN,
                         .connection = connection,
                         .name = name,
                         .name_bytes = (uint32_t)strlen(name),
                         .bytes = (const uint8_t *)text,
                         .byte_count = bytes};
    hosted_send_entry(world, &order);
}

static void send_order(HostWorld *world, const char *name, const char *text)
{
    send_bytes(world, 0, name, text, strlen(text));
}

// A paused world has nobody in it, and an order would wake it. Who was let in since it said so is
// in it all the same. One that stops has people in it until its process has ended.
static bool has_somebody(const HostWorld *world)
{
    const bool is_paused = world->stats.paused != 0 && world->admitted[0] + world->admitted[1] == 0;
    const bool is_up = world->state == WORLD_RUNNING || world->state == WORLD_STOPPING;
    return is_up && hosted_has_process(world) && !is_paused;
}

static uint32_t send_orders(Host *host, const char *where, const char *name, const char *text)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (has_somebody(world) && (where[0] == '\0' || world == host_world(host, where))) {
            send_order(world, name, text);
            told += 1;
        }
    }
    return told;
}

static void clean_reason(const char *reason, char out[HOST_REASON_BYTES])
{
    out[text_clean(reason, strlen(reason), out, HOST_REASON_BYTES - 1)] = '\0';
}

// " until 2026-01-02T03:04:05Z"; "" for good.
static void write_until(uint64_t until_unix_ms, char out[32])
{
    struct tm parts;
    const time_t seconds = (time_t)(until_unix_ms / 1000);
    out[0] = '\0';
    if (until_unix_ms > 0 && until_unix_ms < HOST_BAN_FOREVER &&
        gmtime_r(&seconds, &parts) != NULL) {
        strftime(out, 32, " until %Y-%m-%dT%H:%M:%SZ", &parts);
    }
}

// The reason begins with the time, which the world knows no calendar for.
static void write_mute(uint64_t account, uint64_t until_unix_ms, const char *reason, char *out,
                       size_t bytes)
{
    char until[32];
    write_until(until_unix_ms, until);
    snprintf(out, bytes, "%" PRIu64 " %" PRIu64 "%s%s%s", account, until_unix_ms, until,
             until[0] == '\0'    ? " "
             : reason[0] != '\0' ? ": "
                                 : "",
             reason);
}

static void write_kick(uint64_t account, const char *reason, char out[KICK_BYTES])
{
    char clean[HOST_REASON_BYTES];
    clean_reason(reason, clean);
    snprintf(out, KICK_BYTES, "%" PRIu64 " %s", account, clean);
}

uint32_t host_kick(Host *host, uint64_t account, const char *where, const char *reason)
{
    char text[KICK_BYTES];
    write_kick(account, reason, text);
    host_end_tickets(host, account, where);
    return send_orders(host, where, "remove", text);
}

uint32_t host_kick_from_place(Host *host, uint64_t account, const char *place_id,
                              const char *reason)
{
    char text[KICK_BYTES];
    uint32_t told = 0;
    write_kick(account, reason, text);
    host_end_tickets(host, account, place_id);
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (has_somebody(world) && strcmp(world->row.place_id, place_id) == 0) {
            send_order(world, "remove", text);
            told += 1;
        }
    }
    return told;
}

void host_close_socket(Host *host, uint64_t life, uint64_t number)
{
    uint8_t bytes[sizeof number];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_u64(&writer, number);
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (hosted_has_process(world) && host_world_life(world) == life) {
            // A world that does not read its channel is ended by the next entry.
            status_ignore(world->link->face->put(world->link, CHANNEL_CLOSE, bytes, writer.at, -1));
        }
    }
}

uint32_t host_announce(Host *host, const char *where, const char *text)
{
    return send_orders(host, where, "say", text);
}

// --- bans and mutes -----------------------------------------------------------------------------

HostRules hosted_rules(const HostWorld *world, uint64_t account)
{
    HostRules rules = {0};
    const HostOutside *outside = &world->host->config.outside;
    if (outside->rules != NULL) {
        outside->rules(outside->user, account, world->row.world_id, &rules);
    }
    return rules;
}

void host_ban_text(const HostRules *rules, char *out, size_t bytes)
{
    char until[32];
    write_until(rules->banned_until_unix_ms, until);
    snprintf(out, bytes, "you are banned here%s%s%s", until,
             rules->ban_reason[0] != '\0' ? ": " : "", rules->ban_reason);
}

void hosted_refuse_auth(HostWorld *world, uint64_t connection, const char *error, const char *why)
{
    const Entry entry = {.type = ENTRY_AUTH,
                         .connection = connection,
                         .name = error,
                         .name_bytes = (uint32_t)strlen(error),
                         .bytes = (const uint8_t *)why,
                         .byte_count = strlen(why)};
    hosted_send_entry(world, &entry);
}

bool hosted_refuse_banned(HostWorld *world, uint64_t connection, uint64_t account)
{
    const HostRules rules = hosted_rules(world, account);
    if (rules.banned_until_unix_ms == 0) {
        return false;
    }
    char why[160];
    host_ban_text(&rules, why, sizeof why);
    hosted_refuse_auth(world, connection, error_name(ERROR_BANNED), why);
    return true;
}

// --- chat ---------------------------------------------------------------------------------------

static void tell_blocks(HostWorld *world, uint64_t connection, uint64_t account)
{
    static uint64_t blocked[BLOCKS_PER_ACCOUNT_MAX]; // a host has one thread
    static char text[(BLOCKS_PER_ACCOUNT_MAX + 1) * 21 + 1];
    const HostOutside *outside = &world->host->config.outside;
    const uint32_t count =
        outside->blocks != NULL
            ? outside->blocks(outside->user, account, blocked, BLOCKS_PER_ACCOUNT_MAX)
            : 0;
    size_t bytes = (size_t)snprintf(text, sizeof text, "%" PRIu64, account);
    for (uint32_t i = 0; i < count && i < BLOCKS_PER_ACCOUNT_MAX; i++) {
        bytes += (size_t)snprintf(text + bytes, sizeof text - bytes, " %" PRIu64, blocked[i]);
    }
    send_bytes(world, connection, "blocks", text, bytes);
}

static void tell_rule(HostWorld *world, uint64_t connection, uint64_t account, ChatRule rule)
{
    char text[48];
    const int bytes = snprintf(text, sizeof text, "%" PRIu64 " %u", account, (unsigned)rule);
    send_bytes(world, connection, "chat", text, (size_t)bytes);
}

// Of what was never told, nothing need be told while it is nothing: a world begins without rules.
static void tell_chat(HostWorld *world, bool is_new)
{
    HostChat chat = {.rule = CHAT_FREE, .words = "", .phrases = ""};
    const HostOutside *outside = &world->host->config.outside;
    if (outside->chat != NULL) {
        outside->chat(outside->user, world->row.place_id, &chat);
    }
    if (!is_new || chat.word_bytes > 0) {
        send_bytes(world, 0, "words", chat.words, chat.word_bytes);
    }
    if (!is_new || chat.phrase_bytes > 0) {
        send_bytes(world, 0, "phrases", chat.phrases, chat.phrase_bytes);
    }
    if (!is_new || chat.rule != CHAT_FREE) {
        tell_rule(world, 0, 0, chat.rule);
    }
}

void hosted_tell_chat(HostWorld *world)
{
    tell_chat(world, true);
}

// Also to one that is paused: whoever comes next is held to it.
void host_chat_changed(Host *host, const char *place_id)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (world->state == WORLD_RUNNING && hosted_has_process(world) &&
            (place_id[0] == '\0' || strcmp(world->row.place_id, place_id) == 0)) {
            tell_chat(world, false);
        }
    }
}

void host_blocks_changed(Host *host, uint64_t account)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (has_somebody(world) && host_account_is_in(world, account)) {
            tell_blocks(world, 0, account);
        }
    }
}

// --- what holds for one player ------------------------------------------------------------------

static void tell_mute(HostWorld *world, uint64_t connection, uint64_t account,
                      const HostRules *rules)
{
    char text[HOST_REASON_BYTES + 192];
    write_mute(account, rules->muted_until_unix_ms, rules->mute_reason, text, sizeof text);
    send_bytes(world, connection, "mute", text, strlen(text));
}

static void remove_banned(HostWorld *world, uint64_t account, const HostRules *rules)
{
    char why[160], text[HOST_REASON_BYTES + 192];
    host_ban_text(rules, why, sizeof why);
    snprintf(text, sizeof text, "%" PRIu64 " %s", account, why);
    send_order(world, "remove", text);
}

void hosted_tell_rules(HostWorld *world, uint64_t connection, uint64_t account)
{
    const HostRules rules = hosted_rules(world, account);
    const bool by_token = connection == 0; // about which nobody was asked
    if (by_token && rules.banned_until_unix_ms != 0) {
        remove_banned(world, account, &rules);
        return;
    }
    if (rules.muted_until_unix_ms != 0) {
        tell_mute(world, connection, account, &rules);
    }
    if (world->host->config.outside.blocks != NULL) {
        tell_blocks(world, connection, account);
    }
    if (by_token || rules.chat != CHAT_FREE) { // whoever came by a token waits for this
        tell_rule(world, connection, account, rules.chat);
    }
}

void host_rules_changed(Host *host, uint64_t account, const char *where)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (!has_somebody(world) || (where[0] != '\0' && world != host_world(host, where))) {
            continue;
        }
        const HostRules rules = hosted_rules(world, account);
        if (rules.banned_until_unix_ms != 0) {
            remove_banned(world, account, &rules);
        } else {
            tell_mute(world, 0, account, &rules);
            tell_rule(world, 0, account, rules.chat);
        }
    }
}
