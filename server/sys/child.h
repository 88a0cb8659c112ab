// A process of ours that answers questions over a stream: started, asked, and watched. By the time
// it answers it may be a stranger's, so every call is one loop around poll that notices a child
// which is silent, dead, stopped or talks too much, wherever it is; nothing waits without a limit.
//
// On the stream both ways whatever the two agree on; what comes back is messages: u8 kind, u64
// bytes (little-endian), and as many bytes.
#pragma once

#include "server/sys/process.h"

#include <stdatomic.h>
#include <stddef.h>

#define CHILD_HEADER_BYTES 9  // u8 kind, u64 bytes
#define CHILD_LOOK_MS      50 // how often the cancel flag is checked

typedef struct Child {
    Process process;
    int stream; // our end; -1: none runs
    int life;   // our end of a pipe: it is closed if we die; -1: none
} Child;

Child child_none(void);
bool child_runs(const Child *child);
// Its end of the stream is descriptor 3; with `has_life` the pipe is 4. The config's descriptors
// are ignored. On failure nothing runs, and errno may have details.
MUST_USE Status child_start(Child *child, ProcessConfig config, bool has_life);
// Ends it and returns its exit code; one that is dead already keeps its own.
int child_end(Child *child);
// Ends a child that died, or sent something unasked, since the last call.
void child_drop_stale(Child *child);

typedef struct ChildMessage {
    uint8_t kind;
    uint8_t *body; // to keep it, set it to NULL here, and free it with free()
    size_t bytes;
} ChildMessage;

typedef enum ChildStep {
    CHILD_GO_ON,
    CHILD_DONE,     // that was the answer
    CHILD_STOP,     // the caller wants to stop
    CHILD_NONSENSE, // not a valid message
} ChildStep;

typedef enum ChildResult {
    CHILD_ANSWERED,
    CHILD_DIED, // child_end returns how
    CHILD_CANCELLED,
    CHILD_QUIET,     // no sign of life for quiet_ms
    CHILD_LATE,      // took longer than call_ms
    CHILD_INVALID,   // `invalid` says what was wrong
    CHILD_STOPPED,   // `take` or `watch` stopped the call
    CHILD_NO_MEMORY, // in this process
} ChildResult;

typedef struct ChildCall {
    const void *parts[2]; // what is sent, one after the other
    size_t part_bytes[2];
    uint32_t quiet_ms; // while it waits for a processor is not counted
    uint32_t call_ms;
    const atomic_bool *cancel; // NULL: none
    // The maximum size of a message of that kind that announces `bytes`; 0: it is not allowed.
    uint64_t (*body_max)(void *user, uint8_t kind, uint64_t bytes);
    ChildStep (*take)(void *user, ChildMessage *message);
    bool (*watch)(void *user); // called every CHILD_LOOK_MS; false: stop; may be NULL
    void *user;
    const char *invalid; // filled in: "nonsense", "too much"
} ChildCall;

// The child is not ended by a failure: the caller does that.
MUST_USE ChildResult child_call(Child *child, ChildCall *call);
