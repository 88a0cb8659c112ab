// Ranges of addresses from which nobody comes in. All of them are in memory, and each change is in
// the store first. A loopback address is never banned: whoever is on the machine can mend a
// mistake.
#pragma once

#include "server/net/http_client.h"
#include "server/store/people/store_moderate.h"

typedef struct Control Control;

typedef struct AddressBan {
    HttpPeerRange range;
    StoreAddressBan row;
} AddressBan;

// The first of them that holds for this address at that time; NULL: none.
const AddressBan *address_ban_find(const AddressBan *bans, uint32_t count, const HttpPeer *peer,
                                   uint64_t unix_ms);
// As it is kept: "192.0.2.0/24", "2001:db8::/32"; a single address has all its bits. False: it is
// no range, or its address has bits after the prefix.
bool address_range_read(const char *text, HttpPeerRange *out, char written[STORE_RANGE_BYTES]);

// These wait for the disk. It takes the place of one for the same range. STATUS_MALFORMED: no range
// as it is kept, or the reason is invalid. STATUS_LIMIT: too many.
MUST_USE Status control_ban_addresses(Control *control, const StoreAddressBan *ban);
MUST_USE Status control_unban_addresses(Control *control, const char *range); // STATUS_NOT_FOUND
// Does one hold for this address? Does not wait.
bool control_find_address_ban(Control *control, const HttpPeer *peer, StoreAddressBan *out);
// Those that hold; at most max. Gives how many there are.
uint32_t control_address_bans(Control *control, StoreAddressBan *out, uint32_t max);
