// Unreliable messages that have to wait because what may be sent is used up: the newest of each
// name, in the order in which their names came. Both sides have one for each link.
#pragma once

#include "core/base/limits.h"
#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct LatestMessage {
    Text name;
    const uint8_t *payload;
    uint32_t payload_bytes;
    uint32_t maker; // the script that sent it
} LatestMessage;

typedef struct Latest {
    uint32_t count, used; // messages, and bytes of them
    uint8_t bytes[REMOTE_LATEST_BYTES];
} Latest;

typedef enum LatestResult {
    LATEST_KEPT,
    LATEST_REPLACED, // kept, and an older one of its name is gone
    LATEST_NO_ROOM   // nothing has changed
} LatestResult;

LatestResult latest_put(Latest *latest, const LatestMessage *message);
bool latest_remove(Latest *latest, Text name); // false: none of that name waits
// The one whose name came first; valid until the next change. False: none waits.
bool latest_first(const Latest *latest, LatestMessage *out);
void latest_clear(Latest *latest);
