// Who may not come in, or not talk. These wait for the disk; they are for a pool's threads and the
// command line.
#pragma once

#include "server/store/store.h"

#define STORE_REASON_TEXT_BYTES 97 // of what people are told, with its terminator

typedef enum BanKind {
    BAN_ENTER = 1, // may not come in
    BAN_CHAT = 2   // a mute: may not chat
} BanKind;

typedef struct StoreBan {
    uint64_t account_id; // never 0
    char world_id[65];   // "": everywhere
    BanKind kind;
    uint64_t until_unix_ms; // STORE_BAN_FOREVER: for good
    char reason[STORE_REASON_TEXT_BYTES];
    uint64_t maker_id; // who did it
    uint64_t created_unix_ms;
} StoreBan;
#define STORE_BAN_FOREVER INT64_MAX

// Takes the place of one for the same account, world and kind.
MUST_USE Status store_ban_put(Store *store, const StoreBan *ban);
MUST_USE Status store_ban_delete(Store *store, uint64_t account_id, const char *world_id,
                                 BanKind kind); // STATUS_NOT_FOUND
// All of them, also those that are over. The sink must not call the store.
typedef void (*StoreBanSink)(void *user, const StoreBan *ban);
MUST_USE Status store_bans(Store *store, StoreBanSink sink, void *user);
