// Players who come from another world of the same place. DataStores belong to the place, and the
// world they left may still have to store what they have: scripts do that when a player leaves. So
// the new world hears of them once the old one has let them go and its saves are in the store, or
// after MOVE_MS.
#include "server/host/host_inside.h"

#include <inttypes.h>
#include <stdio.h>

#define MOVE_MS 5000u

static AccountPlace *account_slot(const Host *host, uint64_t account)
{
    return &host->accounts[(account * 0x9e3779b97f4a7c15ull) >> 48 & (HOST_ACCOUNTS - 1)];
}

void host_account_note(HostWorld *world, uint64_t account)
{
    *account_slot(world->host, account) = (AccountPlace){.account = account, .world = world};
}

const HostWorld *host_account_world(const Host *host, uint64_t account)
{
    const AccountPlace *last = account_slot(host, account);
    return last->account == account && host_account_is_in(last->world, account) ? last->world
                                                                                : NULL;
}

uint32_t host_accounts_new(const Host *host, uint64_t *out, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < HOST_ACCOUNTS && count < max; i++) {
        const AccountPlace *at = &host->accounts[i];
        if (at->account != 0 && !at->is_known) {
            out[count++] = at->account;
        }
    }
    return count;
}

uint32_t host_accounts_in(const Host *host, const char *place_id, uint64_t *out, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < HOST_ACCOUNTS && count < max; i++) {
        const AccountPlace *at = &host->accounts[i];
        if (at->account != 0 && strcmp(at->world->row.place_id, place_id) == 0) {
            out[count++] = at->account;
        }
    }
    return count;
}

void host_accounts_known(Host *host, const uint64_t *accounts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        AccountPlace *at = account_slot(host, accounts[i]);
        at->is_known = at->is_known || at->account == accounts[i];
    }
}

void host_accounts_unknown(Host *host)
{
    for (uint32_t i = 0; i < HOST_ACCOUNTS; i++) {
        host->accounts[i].is_known = false;
    }
}

bool host_account_was_let_in(const HostWorld *world, uint64_t account)
{
    return host_account_was_in(world, account) && !account_slot(world->host, account)->is_said;
}

HostWorld *host_world_of(Host *host, uint64_t account)
{
    const AccountPlace *last = account_slot(host, account);
    return account != 0 && last->account == account ? last->world : NULL;
}

bool host_account_was_in(const HostWorld *world, uint64_t account)
{
    const AccountPlace *last = account_slot(world->host, account);
    return last->account == account && last->world == world;
}

bool host_account_is_in(const HostWorld *world, uint64_t account)
{
    return host_account_was_in(world, account) && world->state == WORLD_RUNNING;
}

static bool may_still_save(const HostWorld *world)
{
    return hosted_has_process(world) || hosted_saves_wait(world);
}

static void tell_leave(HostWorld *from, uint64_t number)
{
    char account[24];
    snprintf(account, sizeof account, "%" PRIu64, number);
    const Entry leave = {.type = ENTRY_ADMIN,
                         .name = "leave",
                         .name_bytes = 5,
                         .bytes = (const uint8_t *)account,
                         .byte_count = strlen(account)};
    hosted_send_entry(from, &leave);
}

// They share DataStores, whichever revision of the place each of them runs with.
static bool is_same_place(const HostWorld *a, const HostWorld *b)
{
    return strcmp(a->row.place_id, b->row.place_id) == 0;
}

void host_move_came(HostWorld *to, uint64_t account)
{
    const AccountPlace *last = account_slot(to->host, account);
    if (last->account == account && last->world != to && is_same_place(last->world, to)) {
        tell_leave(last->world, account);
    }
    if (!host_account_was_in(to, account)) {
        *account_slot(to->host, account) =
            (AccountPlace){.account = account, .world = to, .is_said = true};
    }
    account_slot(to->host, account)->is_known = false; // a control plane says what holds for them
    to->admitted[0] += 1;
}

bool host_move_begin(HostWorld *to, uint64_t connection, const Ticket *ticket)
{
    Host *host = to->host;
    const AccountPlace *last = account_slot(host, ticket->account);
    HostWorld *from = last->world;
    if (last->account != ticket->account || from == to || !is_same_place(from, to) ||
        !may_still_save(from) || host->move_count == HOST_MOVES_MAX) {
        return false;
    }
    host->moves[host->move_count++] =
        (HostMove){.account = ticket->account,
                   .connection = connection,
                   .deadline_ns = host_now(host) + MOVE_MS * HOST_MS_NS,
                   .from = from,
                   .to = to,
                   .from_incarnation = from->incarnation,
                   .to_incarnation = to->incarnation,
                   .ticket = *ticket};
    to->arriving += 1;
    host->counts.moves_waited += 1;
    tell_leave(from, ticket->account);
    return true;
}

void host_move_left(HostWorld *from, uint64_t account)
{
    for (uint32_t i = 0; i < from->host->move_count; i++) {
        HostMove *move = &from->host->moves[i];
        if (move->from == from && move->account == account && !move->has_left) {
            move->has_left = true;
            move->until = from->saves.submitted;
        }
    }
}

static bool is_over(const HostMove *move)
{
    const HostWorld *from = move->from;
    return !may_still_save(from) || from->incarnation != move->from_incarnation ||
           (move->has_left && from->saves.completed >= move->until);
}

void host_moves_step(Host *host)
{
    const uint64_t now = host_now(host);
    for (uint32_t i = 0; i < host->move_count;) {
        const HostMove *move = &host->moves[i];
        const bool late = now >= move->deadline_ns;
        if (!is_over(move) && !late) {
            i += 1;
            continue;
        }
        const HostMove done = *move;
        host->moves[i] = host->moves[--host->move_count];
        host->counts.moves_late += late;
        if (done.to->incarnation == done.to_incarnation) {
            done.to->arriving -= 1;
            hosted_admit(done.to, done.connection, &done.ticket);
        }
    }
}
