// What keeps order beside bans and reports: acts of operators about packages, chat rules, people
// whom others block, banned ranges of addresses, and the operator's lists. These wait for the disk.
#pragma once

#include "core/wire/moderation.h"
#include "server/store/people/store_ban.h"
#include "server/store/place/store_package.h"

// --- packages -----------------------------------------------------------------------------------
typedef enum StoreActState {
    STORE_ACT_NONE = 0,
    STORE_ACT_UNLISTED = 1, // by an operator: it is found by its address alone
    STORE_ACT_REMOVED = 2,  // nobody plays it
    STORE_ACT_APPROVED = 3, // may be listed
    STORE_ACT_REFUSED = 4   // may not, until its owner asks again
} StoreActState;

typedef struct StorePackageAct {
    char package_id[65];
    StoreActState state;
    char reason[STORE_NOTES_BYTES]; // for its owner
    uint64_t maker_id, unix_ms;
} StorePackageAct;

// STORE_ACT_NONE forgets it.
MUST_USE Status store_package_act_put(Store *store, const StorePackageAct *act);
// One without a row is STORE_ACT_NONE.
MUST_USE Status store_package_act_find(Store *store, const char *package_id, StorePackageAct *out);
// Places that would be listed if an operator approved them, by id, from behind that one on.
MUST_USE Status store_approvals(Store *store, const char *after, StorePackage *out, uint32_t max,
                                uint32_t *count);

// --- chat rules ---------------------------------------------------------------------------------
typedef enum StoreChatScope {
    STORE_CHAT_PLACE = 1,
    STORE_CHAT_CLASS = 2,
    STORE_CHAT_ACCOUNT = 3
} StoreChatScope;

typedef struct StoreChatRule {
    StoreChatScope scope;
    uint64_t account_id; // of an account, else 0
    char subject[65];    // the id of a place or class, else ""
    ChatRule rule;
    uint64_t maker_id, unix_ms;
} StoreChatRule;

// CHAT_FREE forgets it.
MUST_USE Status store_chat_rule_put(Store *store, const StoreChatRule *rule);
// All of them. The sink must not call the store.
typedef void (*StoreChatRuleSink)(void *user, const StoreChatRule *rule);
MUST_USE Status store_chat_rules(Store *store, StoreChatRuleSink sink, void *user);

// --- people whom others block -------------------------------------------------------------------
typedef struct StoreBlock {
    uint64_t account_id, blocked_id, created_unix_ms;
} StoreBlock;
MUST_USE Status store_block_put(Store *store, const StoreBlock *block);
MUST_USE Status store_block_delete(Store *store, uint64_t account_id, uint64_t blocked_id);
// All of them, by account and then by whom they block. The sink must not call the store.
typedef void (*StoreBlockSink)(void *user, const StoreBlock *block);
MUST_USE Status store_blocks(Store *store, StoreBlockSink sink, void *user);

// --- ranges of addresses ------------------------------------------------------------------------
#define STORE_RANGE_BYTES 64
typedef struct StoreAddressBan {
    char range[STORE_RANGE_BYTES]; // "192.0.2.0/24", as it is written shortest
    uint64_t until_unix_ms;        // STORE_BAN_FOREVER: for good
    char reason[STORE_REASON_TEXT_BYTES];
    uint64_t maker_id, created_unix_ms;
} StoreAddressBan;
MUST_USE Status store_address_ban_put(Store *store, const StoreAddressBan *ban);
MUST_USE Status store_address_ban_delete(Store *store, const char *range); // STATUS_NOT_FOUND
typedef void (*StoreAddressBanSink)(void *user, const StoreAddressBan *ban);
MUST_USE Status store_address_bans(Store *store, StoreAddressBanSink sink, void *user);

// --- lists --------------------------------------------------------------------------------------
typedef enum StoreList { STORE_LIST_WORDS = 1, STORE_LIST_PHRASES = 2, STORE_LIST_COUNT } StoreList;
MUST_USE Status store_list_put(Store *store, StoreList list, const char *text, size_t bytes,
                               uint64_t maker_id, uint64_t unix_ms);
// At most `capacity` bytes, which one that was put fits into; none is empty.
MUST_USE Status store_list_find(Store *store, StoreList list, char *out, size_t capacity,
                                size_t *bytes);
