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
#define CHILD_LOOK_MS      50 // how often the flag that cancels is looked at

typedef struct Child {
    Process process;
    int stream; // our end; -1: none runs
    int life;   // the end of a pipe by which it knows that we are alive; -1: there is none
} Child;

Child child_none(void);
bool child_runs(const Child *child);
// Its end of the stream is descriptor 3; with `has_life` the pipe is 4. The config's descriptors
// are not looked at. On failure nothing runs, and errno says more where the status does not.
MUST_USE Status child_start(Child *child, ProcessConfig config, bool has_life);
// Ends it, and gives how it ended: one that is dead already keeps its own code.
int child_end(Child *child);
// One that died or spoke without being asked since the last call is ended; nobody need know.
void child_drop_stale(Child *child);

typedef struct ChildMessage {
    uint8_t kind;
    uint8_t *body; // whoever keeps it sets it to NULL here, and frees it with free()
    size_t bytes;
} ChildMessage;

typedef enum ChildStep {
    CHILD_GO_ON,
    CHILD_DONE,     // that was the answer
    CHILD_STOP,     // the caller has had enough, and knows why
    CHILD_NONSENSE, // no such message is expected
} ChildStep;

typedef enum ChildResult {
    CHILD_ANSWERED,
    CHILD_DIED, // child_end says how
    CHILD_CANCELLED,
    CHILD_QUIET,     // gave no sign for quiet_ms
    CHILD_LATE,      // took more than call_ms
    CHILD_INVALID,   // `invalid` says what it answered
    CHILD_STOPPED,   // `take` or `watch` wanted that
    CHILD_NO_MEMORY, // ours
} ChildResult;

typedef struct ChildCall {
    const void *parts[2]; // what is sent, one after the other
    size_t part_bytes[2];
    uint32_t quiet_ms, call_ms;
    const atomic_bool *cancel; // NULL: none
    // How many bytes a message of that kind may have, which is said to have `bytes`; 0: there may
    // be no such message.
    uint64_t (*body_max)(void *user, uint8_t kind, uint64_t bytes);
    ChildStep (*take)(void *user, ChildMessage *message);
    bool (*watch)(void *user); // every CHILD_LOOK_MS; false: stop; may be NULL
    void *user;
    const char *invalid; // filled in: "nonsense", "too much"
} ChildCall;

// The child is left as it is, whatever comes back: who wants it gone ends it.
MUST_USE ChildResult child_call(Child *child, ChildCall *call);
