// Rights that were lost. A ticket is good for its 30 seconds, and may be older than the moment in
// which whoever has it was removed: from a team, from a private world, with their account. The host
// remembers these moments for as long as a ticket or a join can be older than they are.
//
// The table has a slot for each hash of account and place. Where two moments that still count share
// one, it counts for everybody whose hash leads there: they ask for a new ticket, and nobody who
// was removed slips through.
#include "server/host/host_inside.h"

#define ENDED_MS (TICKET_MS + HOST_JOIN_MS)

// `where` is the id of a world or place; "": everywhere. Never 0, which a shared slot has.
static uint64_t key_of(uint64_t account, const char *where)
{
    uint64_t hash = 0xcbf29ce484222325ull ^ (account * 0x9e3779b97f4a7c15ull);
    for (; *where != '\0'; where++) {
        hash = (hash ^ (uint8_t)*where) * 0x100000001b3ull;
    }
    hash = (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15ull;
    return hash | 1;
}

static HostEnded *slot_of(const Host *host, uint64_t key)
{
    return &host->ended[(key >> 40) % HOST_ENDED_SLOTS];
}

// A moment far ahead is of a clock that was set back.
static bool counts(const HostEnded *ended, uint64_t now_unix_ms)
{
    return ended->unix_ms + ENDED_MS > now_unix_ms && ended->unix_ms <= now_unix_ms + ENDED_MS;
}

void host_end_tickets(Host *host, uint64_t account, const char *where)
{
    const HostWorld *world = where[0] != '\0' ? host_world(host, where) : NULL;
    const uint64_t key = key_of(account, world != NULL ? world->row.world_id : where);
    const uint64_t now = host_unix_ms(host);
    HostEnded *slot = slot_of(host, key);
    if (!counts(slot, now)) {
        *slot = (HostEnded){.key = key, .unix_ms = now};
        return;
    }
    slot->key = slot->key == key ? key : 0;
    slot->unix_ms = slot->unix_ms > now ? slot->unix_ms : now;
}

bool hosted_has_ended(const HostWorld *world, uint64_t account, uint64_t since_unix_ms)
{
    const Host *host = world->host;
    const char *const names[] = {"", world->row.world_id, world->row.place_id};
    bool has_ended = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const uint64_t key = key_of(account, names[i]);
        const HostEnded *slot = slot_of(host, key);
        has_ended =
            has_ended || ((slot->key == key || slot->key == 0) &&
                          counts(slot, host_unix_ms(host)) && since_unix_ms <= slot->unix_ms);
    }
    return has_ended;
}
