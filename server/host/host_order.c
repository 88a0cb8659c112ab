// Orders to running worlds: kicks, mutes, announcements. Each is an entry of the world, so that it
// is in the journal and a replay does the same.
#define _GNU_SOURCE
#include "server/host/host_inside.h"

#include "core/base/text.h"
#include "core/wire/error_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static void send_order(HostWorld *world, const char *name, const char *text)
{
    const Entry order = {.type = ENTRY_ADMIN,
                         .name = name,
                         .name_bytes = (uint32_t)strlen(name),
                         .bytes = (const uint8_t *)text,
                         .byte_count = strlen(text)};
    hosted_send_entry(world, &order);
}

// A paused world has nobody in it, and an order would wake it. Who was let in since it said so is
// in it all the same.
static bool has_somebody(const HostWorld *world)
{
    const bool is_paused = world->stats.paused != 0 && world->admitted[0] + world->admitted[1] == 0;
    return world->state == WORLD_RUNNING && hosted_has_process(world) && !is_paused;
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

uint32_t host_kick(Host *host, uint64_t account, const char *where, const char *reason)
{
    char clean[HOST_REASON_BYTES], text[HOST_REASON_BYTES + 32];
    clean_reason(reason, clean);
    snprintf(text, sizeof text, "%" PRIu64 " %s", account, clean);
    return send_orders(host, where, "remove", text);
}

uint32_t host_mute(Host *host, uint64_t account, const char *where, uint64_t until_unix_ms,
                   const char *reason)
{
    char clean[HOST_REASON_BYTES], text[HOST_REASON_BYTES + 96];
    clean_reason(reason, clean);
    write_mute(account, until_unix_ms, clean, text, sizeof text);
    return send_orders(host, where, "mute", text);
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

static void apply(HostWorld *world, uint64_t account, bool unmutes)
{
    const HostRules rules = hosted_rules(world, account);
    char text[HOST_REASON_BYTES + 192];
    if (rules.banned_until_unix_ms != 0) { // by a resume token, about which nobody was asked
        char why[160];
        host_ban_text(&rules, why, sizeof why);
        snprintf(text, sizeof text, "%" PRIu64 " %s", account, why);
        send_order(world, "remove", text);
    } else if (rules.muted_until_unix_ms != 0 || unmutes) {
        write_mute(account, rules.muted_until_unix_ms, rules.mute_reason, text, sizeof text);
        send_order(world, "mute", text);
    }
}

void hosted_apply_rules(HostWorld *world, uint64_t account)
{
    apply(world, account, false);
}

void host_rules_changed(Host *host, uint64_t account, const char *where)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (has_somebody(world) && (where[0] == '\0' || world == host_world(host, where))) {
            apply(world, account, true);
        }
    }
}
