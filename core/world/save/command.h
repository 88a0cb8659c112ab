// Commands: requests of a world to its owner. world_commands returns them, oldest first.
#pragma once

#include "core/script/runtime/script.h"

typedef enum CommandType {
    COMMAND_AUTH,   // connection, bytes: ticket or session token: who is this? ENTRY_AUTH answers
    COMMAND_SAVE,   // rows (row.h), one after the other; (epoch, seq); ENTRY_STORED answers
    COMMAND_STORE,  // a DataStore request of a script (store); ENTRY_STORED answers
    COMMAND_STOP,   // the world wants to end: reason in bytes
    COMMAND_LEFT,   // account: has no body any more, and scripts have seen that; answers "leave"
    COMMAND_CAME,   // account: has come back by a resume token alone, which nobody was asked about
    COMMAND_HEARD,  // account, heard, bytes: a line of evidence for reports; kept by the owner
    COMMAND_REPORT, // account reports other (0: the world): reason, a line end, text in bytes
    COMMAND_RELOAD  // what has become of a set of scripts: reload, version, tick, reason in bytes
} CommandType;

// What has become of a set of scripts that entered a running world (ENTRY_RELOAD).
typedef enum ReloadResult {
    RELOAD_SWITCHED, // it runs since that tick
    RELOAD_GOOD,     // and has run for RELOAD_TRIAL_MS without failing
    RELOAD_FAILED,   // it runs, and has failed; the owner may send the set before it again
    RELOAD_REFUSED,  // it does not run, and nothing has changed; said by the owner's gate alone
    RELOAD_RESULT_COUNT
} ReloadResult;

// What a line of evidence says. These numbers are stored.
typedef enum HeardKind {
    HEARD_SAID = 1,
    HEARD_REFUSED = 2, // a rule or a mute did not let it be said
    HEARD_CAME = 3,
    HEARD_LEFT = 4
} HeardKind;

typedef struct Command {
    CommandType type;
    uint64_t connection;
    uint64_t account;    // LEFT, CAME, HEARD, REPORT
    uint64_t other;      // REPORT: who is reported
    HeardKind heard;     // HEARD
    ReloadResult reload; // RELOAD
    uint32_t version;    // RELOAD: of the manifest
    uint64_t tick;       // RELOAD
    uint64_t request;    // for ENTRY_STORED
    uint64_t epoch, seq; // SAVE: seq is one more each
    const uint8_t *bytes;
    size_t byte_count;
    StoreRequest store;
} Command;
