// Commands: requests of a world to its owner. world_commands returns them, oldest first.
#pragma once

#include "core/script/runtime/script.h"

typedef enum CommandType {
    COMMAND_AUTH,  // connection, bytes: ticket or session token: who is this? ENTRY_AUTH answers
    COMMAND_SAVE,  // rows (row.h), one after the other; (epoch, seq); ENTRY_STORED answers
    COMMAND_STORE, // a DataStore request of a script (store); ENTRY_STORED answers
    COMMAND_STOP,  // the world wants to end: reason in bytes
    COMMAND_LEFT,  // account: has no body any more, and scripts have seen that; answers "leave"
    COMMAND_CAME   // account: has come back by a resume token alone, which nobody was asked about
} CommandType;

typedef struct Command {
    CommandType type;
    uint64_t connection;
    uint64_t account;    // LEFT, CAME
    uint64_t request;    // for ENTRY_STORED
    uint64_t epoch, seq; // SAVE: seq is one more each
    const uint8_t *bytes;
    size_t byte_count;
    StoreRequest store;
} Command;
