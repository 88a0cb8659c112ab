// Which worlds there are, for HTTP threads: a WebSocket for a world that is not there is refused
// before it becomes one. The main thread keeps it up to date.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Rooms Rooms;

MUST_USE Status rooms_create(Rooms **out);
void rooms_destroy(Rooms *rooms); // NULL is allowed
// The world of this number ("": none any more), and whether it runs. STATUS_LIMIT: no memory.
MUST_USE Status rooms_put(Rooms *rooms, uint32_t number, const char *world_id,
                          const char *room_code, bool is_ready, bool is_private);
// False: there is no such world. By id or room code.
bool rooms_find(Rooms *rooms, const char *name, bool *is_ready, bool *is_private);
// False: that address has asked for too many rooms that are not there. A miss is counted first.
bool rooms_may_guess(Rooms *rooms, uint64_t address, uint64_t now_ms, bool is_miss);
