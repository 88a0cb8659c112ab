// How far each client is with the scripts of the current manifest, as its ScriptVerify messages
// say. A client may lie, so nothing follows from it: operators see it, and that is all.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct ClientVerdicts {
    uint64_t account;
    uint32_t version; // of the manifest that it was sent last
    uint32_t wanted; // scripts of it that clients fetch at once: what runs by itself, and what that
                     // requires
    uint32_t verified; // scripts of it that the client says it has; modules that it required later
                       // included
    uint32_t failed;   // scripts of it that the client could not verify
    bool is_settled;   // it has the current manifest, and has verified all that is wanted
} ClientVerdicts;
