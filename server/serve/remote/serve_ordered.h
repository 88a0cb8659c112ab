// What a control plane ordered a host on another machine to keep to: the chat rule of its world,
// the operator's lists, what holds for each player, and ranges of addresses from which nobody comes
// in. Until it was told, nobody chats: a mute or a rule must not be got around by being quick. And
// reports that wait to be sent, with their evidence.
//
// The main thread's, but for serve_ordered_ban. All of it does nothing in other servers.
#pragma once

#include "server/serve/serve_inside.h"

MUST_USE Status serve_ordered_open(Serve *serve);
void serve_ordered_close(Serve *serve);

// --- what it was told ---------------------------------------------------------------------------
typedef struct OrderedPerson {
    uint64_t account;
    HostRules rules;    // without bans: who is banned is kicked
    const char *blocks; // "12 55 81"
} OrderedPerson;
void serve_ordered_put(Serve *serve, const OrderedPerson *person);
void serve_ordered_chat(Serve *serve, ChatRule rule);
// The version of the lists that it has; 0: none yet.
uint64_t serve_ordered_lists_version(const Serve *serve);
// The answer to GET /api/hosts/lists. Whoever plays from a range that is new is cut off.
MUST_USE Status serve_ordered_take_lists(Serve *serve, const uint8_t *json, size_t bytes);
// From any thread: does a ban hold for this address?
bool serve_ordered_ban(const Serve *serve, const HttpPeer *peer, StoreAddressBan *out);
// Somebody came in of whom it was not told yet, since the last call.
bool serve_ordered_is_urgent(Serve *serve);

// --- what it has to send ------------------------------------------------------------------------
void serve_ordered_evidence(Serve *serve, uint64_t report_id); // that the control plane asks for
// The oldest that waits, as the body of POST /api/hosts/evidence; NULL: none.
const uint8_t *serve_ordered_waiting(const Serve *serve, size_t *bytes);
void serve_ordered_sent(Serve *serve); // it is over with that one

// --- HostOutside --------------------------------------------------------------------------------
void serve_ordered_rules(void *user, uint64_t account, const char *world_id, HostRules *out);
void serve_ordered_chat_of(void *user, const char *place_id, HostChat *out);
uint32_t serve_ordered_blocks(void *user, uint64_t account, uint64_t *out, uint32_t max);
void serve_ordered_reported(void *user, HostWorld *world, const HostReport *report);
