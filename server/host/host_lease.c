// The host's row in the store: a world's lease is good while the row of its host is, so one renewal
// every three seconds serves all worlds. A host that cannot renew for seven tenths of its lease
// stops its worlds: when the row expires another host may take them.
#include "server/host/host_inside.h"

static uint64_t stop_ns(const Host *host)
{
    return host->config.lease_ms * HOST_MS_NS / 10 * 7;
}

// Often enough that two may get lost.
static uint64_t renew_ns(const Host *host)
{
    const uint64_t often = host->config.lease_ms * HOST_MS_NS / 10 * 3;
    return often < HOST_LEASE_RENEW_MS * HOST_MS_NS ? often : HOST_LEASE_RENEW_MS * HOST_MS_NS;
}

static StoreHost own_row(const Host *host)
{
    StoreHost row = {.draining = host->stopping || host->draining};
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
    host_log(host, LOG_ERROR, "host", "the lease of this host is lost: %s; its worlds stop here",
             why);
    for (uint32_t i = 0; i < host->world_count; i++) {
        if (host->worlds[i]->has_lease) {
            hosted_fence(host->worlds[i], "the lease of this host is lost");
        }
    }
}

void host_lease_answer(Host *host, const StoreCompletion *done)
{
    const uint64_t sent = host->renew_sent_ns;
    host->renew_sent_ns = 0;
    // A full disk takes no renewal. Nobody else reaches a private store, so the lease stays ours;
    // who shares a store must stop when the row expires.
    const bool kept = done->status == STATUS_BLOCKED && host->config.store_is_private;
    if (done->status == STATUS_OK || kept) {
        host->renewed_ns = sent; // counted from before it was sent
        host->has_row = host->has_row || done->status == STATUS_OK;
        host->lease_lost = !host->config.store_is_private && host_now(host) - sent > stop_ns(host);
        host->counts.renewals += 1;
        return;
    }
    host->counts.renewals_failed += 1;
    if (done->status == STATUS_DENIED) {
        lose(host, host->config.remote
                       ? "the control plane refuses it: its key was revoked, another process uses "
                         "it, or the place has changed"
                       : "another process uses this host's name");
    }
}

bool host_lease_is_good(const Host *host)
{
    return host->has_row && !host->lease_lost;
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
    const StoreHost row = own_row(host);
    if (store_host_renew(host->config.store, &row, host_unix_ms(host), host->config.lease_ms,
                         host_tag(TAG_RENEW, NULL, 0)) == STATUS_OK) {
        host->renew_sent_ns = now;
        host->renew_next_ns = now + renew_ns(host);
    } else {
        host->renew_next_ns = now + 100 * HOST_MS_NS;
    }
}
