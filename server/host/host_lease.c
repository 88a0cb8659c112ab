// The host's row in the store: a world's lease is good while the row of its host is, so one renewal
// every three seconds serves all worlds. A host that cannot renew for seven tenths of its lease
// stops its worlds: when the row expires another host may take them.
#include "server/host/host_inside.h"
#include "server/host/placement.h"

#define RETRY_NS (500 * HOST_MS_NS) // after a renewal that failed

// Parts of the lease on a database that others use too. It may fail over, and is away for some
// seconds then, for everybody: worlds go on for as long as nobody can take them. If a peer can
// write, it is we who are cut off, and we stop soon. Of 30 s: renewed every 3, late after 6,
// stopped after 7 or 25, at 27 a world ends by itself if its host could not stop it; and nobody
// takes worlds before they could write for 6, so that all who were cut off by the same outage have
// renewed their rows.
static uint64_t part_ns(const Host *host, uint32_t thirtieths)
{
    return host->config.lease_ms * HOST_MS_NS / 30 * thirtieths;
}

bool host_lease_is_late(const Host *host)
{
    return host->has_row && host_now(host) - host->renewed_ns > part_ns(host, 6);
}

static uint64_t stop_ns(const Host *host)
{
    if (!host_has_peers(host)) {
        return host->config.lease_ms * HOST_MS_NS / 10 * 7;
    }
    // After we could not: an outage ends everybody's renewals within the time between two of them.
    // And once it is over, everybody needs a moment to renew.
    const bool others_write =
        host->peers_write_ns != 0 && host_now(host) - host->peers_write_ns > part_ns(host, 4);
    return part_ns(host, others_write ? 7 : 25);
}

// Often enough that two may get lost.
static uint64_t renew_ns(const Host *host)
{
    if (host_has_peers(host)) {
        return part_ns(host, 3);
    }
    const uint64_t often = host->config.lease_ms * HOST_MS_NS / 10 * 3;
    return often < HOST_LEASE_RENEW_MS * HOST_MS_NS ? often : HOST_LEASE_RENEW_MS * HOST_MS_NS;
}

static StoreHost own_row(const Host *host)
{
    StoreHost row = host->own_load;
    row.draining = host->stopping || host->draining || host->config.no_worlds;
    if (host_has_peers(host) && !host_lease_may_take(host)) {
        row.memory = PLACEMENT_LOAD_MAX; // others first
    }
    row.is_peer = host_has_peers(host);
    memcpy(row.host_id, host->config.host_id, sizeof host->config.host_id);
    memcpy(row.boot, host->config.boot, sizeof row.boot);
    memcpy(row.address, host->config.address, sizeof host->config.address);
    memcpy(row.public_key, host->config.key->public_half, sizeof row.public_key);
    return row;
}

static void lose(Host *host, const char *why)
{
    if (host->lease_lost) {
        return;
    }
    host->lease_lost = true;
    host->counts.leases_lost += 1;
    host_log(host, LOG_ERROR, "host", "the lease of this host is lost: %s; its worlds stop here",
             why);
    for (uint32_t i = 0; i < host->world_count; i++) {
        if (host->worlds[i]->has_lease) {
            hosted_fence(host->worlds[i], "the lease of this host is lost");
        }
    }
}

void host_lease_peer_wrote(Host *host, uint64_t wrote_ns)
{
    if (host->has_row && host->peers_write_ns == 0 &&
        wrote_ns > host->renewed_ns + part_ns(host, 6)) {
        host->peers_write_ns = host_now(host);
    }
}

// Nothing of what it held runs any more.
bool host_lease_has_stopped(const Host *host)
{
    bool is_running = false;
    for (uint32_t i = 0; host->lease_lost && !is_running && i < host->world_count; i++) {
        is_running = hosted_has_process(host->worlds[i]);
    }
    return host->lease_lost && !is_running;
}

// Others have ended its row, or were told that its worlds have stopped and may end it any moment.
// What it held may be theirs by now, so it begins anew: nothing that was said to or of the old boot
// counts for it.
static void begin_anew(Host *host)
{
    if (host->config.remote || host->stopping || !host_lease_has_stopped(host)) {
        return;
    }
    host->config.outside.random(host->config.outside.user, host->config.boot,
                                sizeof host->config.boot);
    host_log(host, LOG_WARN, "host", "others may have its worlds: this host begins anew");
    host->lease_lost = host->has_row = host->said_stopped = false;
    host->renewed_ns = host->renew_next_ns = host->peers_write_ns = 0;
    host->writable_ns = host_now(host);
}

void host_lease_answer(Host *host, const StoreCompletion *done)
{
    const uint64_t sent = host->renew_sent_ns;
    host->renew_sent_ns = 0;
    // A full disk takes no renewal. Nobody else reaches a private store, so the lease stays ours;
    // who shares a store must stop when the row expires.
    const bool kept = done->status == STATUS_BLOCKED && host->config.store_is_private;
    if (done->status == STATUS_OK || kept) {
        if (host->renewed_ns == 0 || host_now(host) - host->renewed_ns > part_ns(host, 7)) {
            host->writable_ns = host_now(host);
        }
        host->peers_write_ns = 0;
        host->renewed_ns = sent; // counted from before it was sent
        host->has_row = host->has_row || done->status == STATUS_OK;
        host->counts.renewals += 1;
        if (host->said_stopped) {
            begin_anew(host);
            return;
        }
        host->lease_lost = !host->config.store_is_private && host_now(host) - sent > stop_ns(host);
        return;
    }
    host->counts.renewals_failed += 1;
    host->writable_ns = host_now(host); // not before the next one
    // A database that is away for 20 s of a lease of 30 s must find us trying when it is back.
    host->renew_next_ns = host_now(host) + RETRY_NS;
    if (done->status == STATUS_DENIED) {
        lose(host, host->config.remote
                       ? "the control plane refuses it: its key was revoked, another process uses "
                         "it, or the place has changed"
                       : "other hosts have ended its row, or another process uses this host's "
                         "name");
        if (host_has_peers(host) && !host->own_row_is_there) {
            begin_anew(host);
        }
    }
}

const uint8_t *host_boot(const Host *host)
{
    return host->config.boot;
}

bool host_lease_is_good(const Host *host)
{
    return host->has_row && !host->lease_lost;
}

// If this process stands still it cannot stop its worlds, and others take them when its row
// expires.
uint64_t host_lease_worlds_end_ns(const Host *host)
{
    return !host->config.store_is_private && host->renewed_ns != 0
               ? host->renewed_ns + part_ns(host, 27)
               : 0;
}

// A host that is alone waits for nobody.
bool host_lease_may_take(const Host *host)
{
    if (!host_lease_is_good(host) || !host_has_peers(host)) {
        return host_lease_is_good(host);
    }
    return host->peers_known &&
           (host->peer_count == 0 || host_now(host) - host->writable_ns >= part_ns(host, 6));
}

// Nobody else reaches a private store, so its worlds wait for a host that stood still.
void host_lease_watch(Host *host)
{
    if (host->has_row && !host->config.store_is_private &&
        host_now(host) - host->renewed_ns > stop_ns(host)) {
        lose(host, "it could not be renewed in time");
    }
}

void host_lease_step(Host *host)
{
    const uint64_t now = host_now(host);
    if (host->renew_sent_ns != 0 || now < host->renew_next_ns) {
        return;
    }
    if (host_has_peers(host)) {
        host->config.outside.load(host->config.outside.user, &host->own_load);
        host->own_placed = 0;
        host_peers_refresh(host);
    }
    const StoreHost row = own_row(host);
    if (store_host_renew(host->config.store, &row, host_unix_ms(host), host->config.lease_ms,
                         host_tag(TAG_RENEW, NULL, 0)) == STATUS_OK) {
        host->renew_sent_ns = now;
        host->renew_next_ns = now + renew_ns(host);
    } else {
        host->renew_next_ns = now + 100 * HOST_MS_NS;
    }
}
