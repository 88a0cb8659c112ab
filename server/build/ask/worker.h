// The build worker, seen from outside: our own program once more, locked in like a world. Whatever
// a stranger sent (archives, images, JSON, Lua) is looked at in there and nowhere else; what comes
// back is taken for hostile too. One request at a time; a worker is started when it is first needed
// and again after it died.
//
// A worker that crashes, takes more memory than it may, or gives no sign of progress for
// `quiet_ms`, is killed: that request fails with a reason for people, and the next one works.
//
// On the wire (a stream pair): first u8 allow_weak_jail, u64 memory_bytes_max; request = u32 op,
// u64 bytes, bytes; from the worker u8 kind, u64 bytes, bytes: READY (u32 layers of the jail) once,
// PROGRESS (u32 done, u32 total) any number of times, then RESULT (u32 status, block reason, the
// rest is the op's own). REFUSED (the reason) in place of READY: this machine has no such jail.
#pragma once

#include "server/build/base/buffer.h"
#include "server/build/base/reason.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKER_MEMORY_BYTES (1ull << 30)
#define WORKER_QUIET_MS     10000
#define WORKER_CALL_MS      600000 // a request, whatever progress it shows
#define WORKER_REQUEST_MAX  (320u << 20)
#define WORKER_REPLY_MAX    (320u << 20)

// What a worker can do; each has its function in worker_op.def's order (worker_op.h).
typedef enum WorkerOp {
#define WORKER_OP(name, function, rank) WORKER_##name,
#include "server/build/ask/worker_op.def"
#undef WORKER_OP
    WORKER_OP_COUNT
} WorkerOp;

typedef struct WorkerConfig {
    const char *program; // kept; NULL: this program itself (tests: tests/support/worker_entry.c)
    bool allow_weak_jail;
    uint64_t memory_bytes_max; // 0: none (sanitizers); WORKER_MEMORY_BYTES
    uint32_t quiet_ms;         // WORKER_QUIET_MS
    const atomic_bool *cancel; // looked at while waiting; NULL: none
    void (*progress)(void *user, uint32_t done, uint32_t total); // may be NULL
    void *user;
} WorkerConfig;

typedef struct Worker Worker;

WorkerConfig worker_config_default(void);
// One for each place: whatever somebody's files have done to the process never meets the next
// person's. Starts nothing yet.
MUST_USE Status worker_create(const WorkerConfig *config, Worker **out);
void worker_destroy(Worker *worker); // NULL is allowed
// For the next calls: whom to tell, and what cancels them.
void worker_watch(Worker *worker, const atomic_bool *cancel,
                  void (*progress)(void *user, uint32_t done, uint32_t total), void *user);
// The op's own status, with its reason; STATUS_BLOCKED: the worker died, was killed or could not be
// started (the reason says which); STATUS_DENIED: cancelled. *reply is the caller's to free; it is
// empty unless the op answered, which some do when they fail (diagnostics).
MUST_USE Status worker_call(Worker *worker, WorkerOp op, const void *request, size_t bytes,
                            Buffer *reply, char reason[WORKER_REASON_BYTES]);
// For an answer that is not of its op's form: the process is ended, `reason` says so,
// STATUS_BLOCKED.
MUST_USE Status worker_reply_invalid(Worker *worker, char reason[WORKER_REASON_BYTES]);
pid_t worker_pid(const Worker *worker);       // 0: none runs; for tests
uint32_t worker_layers(const Worker *worker); // of its jail (JailLayer); 0 before its first answer
