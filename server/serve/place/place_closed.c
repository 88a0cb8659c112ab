// A place that is private from now on: whoever plays it and may not any more leaves its worlds, as
// one who is banned does. Who is inside is known on the main thread; who may stay is looked up on
// the pool.
#define _GNU_SOURCE
#include "server/control/order/rights.h"
#include "server/serve/place/places_inside.h"
#include "server/serve/remote/remote_worlds.h"

#include <stdio.h>
#include <stdlib.h>

#define ACCOUNTS_MAX 16384
#define REASON       "this place is private now"

typedef struct Closed {
    Serve *serve;
    char place_id[PLACE_KEY_BYTES];
    uint64_t accounts[ACCOUNTS_MAX];
    uint32_t count;
} Closed;

static bool may_stay(const Closed *closed, uint64_t account)
{
    Store *store = closed->serve->store;
    StoreAccount row;
    StorePackage package;
    uint32_t rights = 0;
    char package_id[PLACE_KEY_BYTES];
    Identity who = {.account = account};
    if (store_account_find(store, account, &row) == STATUS_OK) {
        who.roles = row.roles;
    }
    place_id_package(closed->place_id, package_id);
    const uint32_t needs = place_channel_rights(place_id_channel(closed->place_id));
    return rights_find(store, package_id, &who, &package, &rights) == STATUS_OK &&
           (rights & needs) == needs;
}

static void kick_all(void *user, void *what)
{
    Closed *closed = what;
    for (uint32_t i = 0; i < closed->count; i++) {
        serve_kick_from_place(user, closed->accounts[i], closed->place_id, REASON);
    }
    free(closed);
}

// On the pool.
static void look_all(void *user, bool is_cancelled)
{
    Closed *closed = user;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < closed->count && !is_cancelled; i++) {
        if (!may_stay(closed, closed->accounts[i])) {
            closed->accounts[kept++] = closed->accounts[i];
        }
    }
    closed->count = kept;
    if (is_cancelled || mailbox_post(closed->serve->mailbox, kick_all, closed) != STATUS_OK) {
        free(closed);
    }
}

void places_closed(Serve *serve, const char *place_id)
{
    Closed *closed = calloc(1, sizeof *closed);
    if (closed == NULL) {
        return; // they get no other ticket
    }
    closed->serve = serve;
    snprintf(closed->place_id, sizeof closed->place_id, "%s", place_id);
    closed->count = host_accounts_in(serve->host, place_id, closed->accounts, ACCOUNTS_MAX);
    closed->count += remote_accounts_in(serve, place_id, closed->accounts + closed->count,
                                        ACCOUNTS_MAX - closed->count);
    if (closed->count == 0 || work_pool_submit(serve->pool, look_all, closed) != STATUS_OK) {
        free(closed);
    }
}
