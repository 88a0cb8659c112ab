// Bans and mutes: all of them are in memory, and each change is in the store first. Whoever runs
// worlds takes the changes (control_take_ban_change) and tells those that run.
#pragma once

#include "server/store/people/store_ban.h"

typedef struct Control Control;

// These wait for the disk. A ban takes the place of one for the same account, world and kind.
// STATUS_MALFORMED: the reason, the world's id or the time is invalid. STATUS_LIMIT: too many.
MUST_USE Status control_ban(Control *control, const StoreBan *ban);
MUST_USE Status control_unban(Control *control, uint64_t account, const char *world_id,
                              BanKind kind); // STATUS_NOT_FOUND

// Does one hold for this account in this world ("": everywhere)? That which ends last. Does not
// wait.
bool control_find_ban(Control *control, uint64_t account, const char *world_id, BanKind kind,
                      StoreBan *out);
// Those that hold, by account; at most max. Gives how many there are.
uint32_t control_bans(Control *control, StoreBan *out, uint32_t max);
// The next change since the last call; of one that was lifted until_unix_ms is 0. False: none.
bool control_take_ban_change(Control *control, StoreBan *out);
