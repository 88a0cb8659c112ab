// Which world somebody gets: the one they named, one of the place they named, or a new one, within
// what accounts, places and the machine may have.
#include "server/host/host_inside.h"

#include "core/base/limits.h"

#include <stdio.h>
#include <strings.h>

#define WORLD_ID_LETTERS 12

static void make_world_id(const Host *host, char out[65])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    uint8_t random[WORLD_ID_LETTERS];
    host->config.outside.random(host->config.outside.user, random, sizeof random);
    const int at = snprintf(out, 65, "world_");
    for (uint32_t i = 0; i < WORLD_ID_LETTERS; i++) {
        out[at + (int)i] = letters[random[i] % (sizeof letters - 1)];
    }
    out[at + WORLD_ID_LETTERS] = '\0';
}

// --- how full ------------------------------------------------------------------------------------

static uint32_t coming(const HostWorld *world)
{
    return world->admitted[0] + world->admitted[1] + world->arriving + hosted_invited(world) +
           world->waiting;
}

uint32_t hosted_player_count(const HostWorld *world)
{
    return (uint32_t)world->stats.players + coming(world);
}

uint32_t hosted_session_count(const HostWorld *world)
{
    return (uint32_t)world->stats.sessions + coming(world);
}

bool hosted_is_empty(const HostWorld *world)
{
    return world->stats.sessions == 0 && world->socket_count == 0 &&
           hosted_player_count(world) == 0;
}

#define AWAY_KNOWN_NS (10 * HOST_SECOND_NS) // how long what a peer said of its players counts

// With those at the host that runs it.
static uint32_t known_players(const HostWorld *world)
{
    const bool is_away = !hosted_has_process(world) && world->elsewhere_ns != 0 &&
                         host_now(world->host) - world->elsewhere_ns < AWAY_KNOWN_NS;
    return hosted_player_count(world) + (is_away ? world->away_players : 0);
}

static bool has_room(const HostWorld *world)
{
    return known_players(world) < world->place->numbers.player_max;
}

bool hosted_is_full_elsewhere(const HostWorld *world)
{
    return !hosted_has_process(world) && world->place != NULL && !has_room(world);
}

static bool has_accounts(const Host *host)
{
    return host->config.outside.rules != NULL;
}

// --- room for processes -------------------------------------------------------------------------

// The world that has been empty for the longest time; NULL: all are needed.
static HostWorld *find_idle(const Host *host)
{
    HostWorld *found = NULL;
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (host->look_ns[i] != LOOK_NEVER && world->state == WORLD_RUNNING &&
            world->empty_ns != 0 && hosted_is_empty(world) &&
            (found == NULL || world->empty_ns < found->empty_ns)) {
            found = world;
        }
    }
    return found;
}

bool host_make_room(Host *host, const HostWorld *world)
{
    if (host_has_room(host, world)) {
        return true;
    }
    HostWorld *idle = host->config.one_world ? NULL : find_idle(host);
    if (idle == NULL) {
        return false;
    }
    hosted_log(idle, LOG_INFO, "the world stops: nobody is in it, and another one needs the room");
    idle->gives_way = true;
    hosted_stop(idle);
    return true;
}

// --- new worlds ---------------------------------------------------------------------------------

static HostWorld *free_slot(Host *host)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        if (host->worlds[i]->row.world_id[0] == '\0' && host->worlds[i]->state == WORLD_STOPPED) {
            return host->worlds[i];
        }
    }
    HostWorld *world = NULL;
    return host_add_world(host, &(StoreWorld){0}, &world) == STATUS_OK ? world : NULL;
}

// Worlds are counted when one is made, which is seldom.
static HostRefusal refuse_another(const Host *host, const HostPlace *place, const HostMake *make)
{
    uint32_t owned = 0, of_place = 0, of_address = 0;
    for (uint32_t i = 0; i < host->world_count; i++) {
        const HostWorld *world = host->worlds[i];
        if (world->row.world_id[0] != '\0') {
            owned += make->account != 0 && world->row.owner_id == make->account;
            of_place += strcmp(world->row.place_id, place->place_id) == 0;
            of_address += make->address != 0 && world->maker_address == make->address;
        }
    }
    const uint32_t own_max = make->is_guest ? 1 : WORLDS_PER_ACCOUNT_MAX;
    if (make->account != 0 && owned >= own_max) {
        return REFUSED_QUOTA;
    }
    if (make->is_guest && of_address >= WORLDS_PER_ADDRESS_MAX) {
        return REFUSED_ADDRESS;
    }
    return of_place >= WORLDS_PER_PLACE_MAX ? REFUSED_PLACE_FULL : REFUSED_NOT;
}

static HostWorld *make_world(Host *host, HostPlace *place, const HostMake *make, HostRefusal *why)
{
    *why = refuse_another(host, place, make);
    HostWorld *world = *why == REFUSED_NOT ? free_slot(host) : NULL;
    if (world == NULL) {
        *why = *why == REFUSED_NOT ? REFUSED_FULL : *why;
        return NULL;
    }
    hosted_set_place(world, place);
    world->other_place = false;
    world->make_tries = 0;
    world->make_tag = make->tag;
    world->maker_address = make->is_guest ? make->address : 0;
    world->row = (StoreWorld){.created_unix_ms = host_unix_ms(host),
                              .owner_id = make->account,
                              .maker_id = make->account,
                              .is_private = make->is_private,
                              .is_named = make->name[0] != '\0'};
    make_world_id(host, world->row.world_id);
    snprintf(world->row.name, sizeof world->row.name, "%s",
             make->name[0] != '\0' ? make->name : place->built.facts.name);
    memcpy(world->row.place_id, place->place_id, sizeof world->row.place_id);
    memcpy(world->row.place_hash, place->scene_hash, sizeof world->row.place_hash);
    hosted_make(world);
    return world;
}

void hosted_made(HostWorld *world, HostRefusal refusal)
{
    const HostOutside *outside = &world->host->config.outside;
    const uint64_t tag = world->make_tag;
    world->make_tag = 0;
    if (tag != 0 && outside->made != NULL) {
        outside->made(outside->user, tag, world, refusal);
    }
}

void host_make(Host *host, const HostMake *make)
{
    const HostOutside *outside = &host->config.outside;
    HostPlace *place = host_place(host, make->place);
    HostRefusal refusal = host->stopping ? REFUSED_ENDING : REFUSED_NO_PLACE;
    if (!host->stopping && place != NULL && make_world(host, place, make, &refusal) != NULL) {
        return; // hosted_made
    }
    if (outside->made != NULL) {
        outside->made(outside->user, make->tag, NULL, refusal);
    }
}

// --- which world --------------------------------------------------------------------------------

static bool is_banned(const Host *host, uint64_t account, const HostWorld *world)
{
    HostRules rules = {0};
    const HostOutside *outside = &host->config.outside;
    if (outside->rules != NULL) {
        outside->rules(outside->user, account, world != NULL ? world->row.world_id : "", &rules);
    }
    return rules.banned_until_unix_ms != 0;
}

// Those who are in it play to the end; others get one with the place as it is now.
static bool is_outdated_elsewhere(const Host *host, const HostWorld *world)
{
    const HostOutside *outside = &host->config.outside;
    return !hosted_has_process(world) && outside->is_outdated != NULL &&
           outside->is_outdated(outside->user, world);
}

// The fullest that has room: players want company. One that runs before one that does not.
static HostWorld *choose(Host *host, const HostPlace *place, uint64_t account)
{
    HostWorld *best = NULL;
    uint32_t best_score = 0;
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (world->place != place || world->row.world_id[0] == '\0' || world->row.is_private ||
            !has_room(world)) {
            continue;
        }
        const uint32_t score =
            1 + 2 * known_players(world) + (world->state == WORLD_RUNNING ? 1 : 0);
        if (score > best_score && !is_banned(host, account, world) &&
            !is_outdated_elsewhere(host, world)) {
            best = world;
            best_score = score;
        }
    }
    return best;
}

bool host_world_is_open_to(const HostWorld *world, const Ticket *who)
{
    bool is_open = !world->row.is_private || (who->flags & TICKET_OPERATOR) != 0 ||
                   (who->account != 0 && world->row.owner_id == who->account);
    for (uint32_t i = 0; i < world->guest_count && !is_open; i++) {
        is_open = world->guests[i] == who->account;
    }
    return is_open;
}

static HostRefusal refuse_named(const HostWorld *world, const HostJoin *join)
{
    const bool by_code = strcasecmp(world->row.room_code, join->world) == 0;
    if (!by_code && !host_world_is_open_to(world, &join->who)) {
        return REFUSED_FORBIDDEN;
    }
    const bool is_full = hosted_session_count(world) >= world->place->numbers.player_max;
    return has_accounts(world->host) && is_full && !host_account_is_in(world, join->who.account)
               ? REFUSED_WORLD_FULL
               : REFUSED_NOT;
}

static HostWorld *find_named(Host *host, const HostJoin *join, HostRefusal *why)
{
    HostWorld *world = host_world(host, join->world);
    *why = world != NULL && hosted_has_place(world) ? refuse_named(world, join) : REFUSED_NO_WORLD;
    return *why == REFUSED_NOT ? world : NULL;
}

// What a guest has made by joining is given again.
static HostWorld *find_own(const Host *host, const HostPlace *place, uint64_t account)
{
    for (uint32_t i = 0; i < host->world_count && account != 0; i++) {
        HostWorld *world = host->worlds[i];
        if (world->row.maker_id == account && world->place == place && !world->row.is_named) {
            return world;
        }
    }
    return NULL;
}

static HostWorld *find_any(Host *host, const HostJoin *join, HostRefusal *why)
{
    HostPlace *place = host_place(host, join->place);
    if (place == NULL) {
        *why = REFUSED_NO_PLACE;
        return NULL;
    }
    const bool is_guest = (join->who.flags & TICKET_GUEST) != 0;
    const bool is_own = join->place[0] == '\0' && has_accounts(host);
    // With nothing named there is a new world, or the only one.
    const bool any = join->place[0] != '\0' || host->config.one_world;
    HostWorld *world = any                  ? choose(host, place, join->who.account)
                       : is_own && is_guest ? find_own(host, place, join->who.account)
                                            : NULL;
    if (world == NULL && host->config.one_world) {
        world = host->world_count > 0 ? host->worlds[0] : NULL; // it says itself that it is full
    }
    *why = REFUSED_FULL;
    // Nothing is made for who cannot come in. What a place makes for everybody is nobody's.
    const bool can_be_elsewhere = host_peers_can_take(host);
    if (world == NULL && host->draining && !can_be_elsewhere) {
        *why = REFUSED_DRAINING;
    } else if (world == NULL && (can_be_elsewhere || host_make_room(host, NULL))) {
        const HostMake make = {.account = is_own ? join->who.account : 0,
                               .is_guest = is_own && is_guest,
                               .address = join->address};
        world = make_world(host, place, &make, why);
    }
    return world;
}

HostWorld *host_choose(Host *host, const HostJoin *join, HostRefusal *why)
{
    // Nothing is made for who is banned everywhere; in one world they may be banned too.
    HostWorld *world = join->world[0] != '\0' ? find_named(host, join, why) : NULL;
    if (is_banned(host, join->who.account, world)) {
        *why = REFUSED_BANNED;
        return NULL;
    }
    if (join->world[0] == '\0') {
        world = find_any(host, join, why);
    }
    if (world != NULL && is_banned(host, join->who.account, world)) {
        *why = REFUSED_BANNED;
        return NULL;
    }
    return world;
}

// --- guests, and the end ------------------------------------------------------------------------

Status host_world_invite(HostWorld *world, uint64_t account, bool is_invited)
{
    uint32_t at = 0;
    while (at < world->guest_count && world->guests[at] != account) {
        at += 1;
    }
    if (at < world->guest_count) {
        if (!is_invited) {
            world->guests[at] = world->guests[--world->guest_count];
        }
        return STATUS_OK;
    }
    if (is_invited) {
        uint64_t *grown = realloc(world->guests, (world->guest_count + 1) * sizeof *grown);
        if (grown == NULL) {
            return STATUS_LIMIT;
        }
        world->guests = grown;
        world->guests[world->guest_count++] = account;
    }
    return STATUS_OK;
}

uint32_t host_world_guests(const HostWorld *world, const uint64_t **accounts)
{
    *accounts = world->guests;
    return world->guest_count;
}

bool host_world_is_stopped(const HostWorld *world)
{
    return world->state == WORLD_STOPPED && !world->wanted;
}

bool host_world_let_go(HostWorld *world)
{
    if (world->state == WORLD_RUNNING && hosted_is_empty(world)) {
        hosted_stop(world);
    }
    return host_world_is_stopped(world);
}

void host_world_replace(HostWorld *world, const StoreWorld *row)
{
    memcpy(world->row.name, row->name, sizeof world->row.name);
    memcpy(world->row.place_hash, row->place_hash, sizeof world->row.place_hash);
    world->other_place = world->place != NULL && memcmp(row->place_hash, world->place->scene_hash,
                                                        sizeof row->place_hash) != 0;
}

void host_world_forget(HostWorld *world)
{
    if (!host_world_is_stopped(world)) {
        hosted_fence(world, "this world was deleted");
    }
    host_joins_refuse(world, REFUSED_NO_WORLD);
    host_index_remove(world);
    world->row = (StoreWorld){0}; // its slot is used for the next one
    hosted_changed(world);
    hosted_renew_place(world);
    world->guest_count = 0;
    world->maker_address = 0;
    world->epoch = 0;
    world->manifest_version = 0;
}
