// A store on another machine: the same face, but each batch is sent to the control plane, which
// commits it and answers. The queue, its bounds and its completions are those of store.h, so a host
// does not know the difference.
//
// A batch that gets no answer is sent again until it has one, so nothing that was asked is lost
// while the control plane is away, and the order stays. The control plane does a batch once (see
// RemoteBatch.is_again). A DataStore request that changes something is done at most once: if the
// control plane died in between, it is answered STATUS_BLOCKED.
//
// Only the asynchronous functions about the one world may be used: store_host_renew,
// store_world_take, store_world_release, store_save, store_request, store_poll, store_descriptor,
// store_stats. There is no row that could be read here.
#pragma once

#include "server/store/world/remote_batch.h"

typedef enum RemoteEnd {
    REMOTE_ANSWERED,
    REMOTE_UNSENT,     // perhaps later; nothing of it was done
    REMOTE_UNANSWERED, // perhaps later; it may have been done
    REMOTE_REFUSED     // for ever: the key was revoked, or the control plane runs something else
} RemoteEnd;

typedef struct StoreRemoteConfig {
    char world_id[65];
    uint8_t boot[STORE_BOOT_BYTES];
    uint8_t revision[REMOTE_REVISION_BYTES];
    // What it is now, if it may change; on the store's thread. May be NULL.
    void (*revision_now)(void *user, uint8_t out[REMOTE_REVISION_BYTES]);
    uint32_t commit_ms;       // at most one batch in so many
    size_t bytes_waiting_max; // as in StoreConfig
    uint32_t retry_ms;        // between two tries
    // Sends a batch and waits for its answer, on the store's thread. The reply is from malloc.
    RemoteEnd (*exchange)(void *user, const uint8_t *batch, size_t bytes, uint8_t **reply,
                          size_t *reply_bytes);
    // What time it is there, as each reply says; on the store's thread. May be NULL.
    void (*told_time)(void *user, uint64_t unix_ms);
    void *user;
    bool manual; // as in StoreConfig; a batch is tried once
} StoreRemoteConfig;
StoreRemoteConfig store_remote_config_default(void);

MUST_USE Status store_remote_open(const StoreRemoteConfig *config, Store **out);
