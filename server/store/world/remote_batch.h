// What a host on another machine asks of the control plane's store, and what it is answered: the
// bodies of `POST /api/hosts/batch` (remote_batch.c has the bytes). One batch is about one world.
//
// Both readers are total: the control plane reads what a host sent as a stranger's bytes, and a
// host does the same with the answer. What was read points into the bytes.
#pragma once

#include "server/store/store.h"

#define REMOTE_BATCH_FORMAT    1
#define REMOTE_BATCH_BYTES_MAX (8u << 20)
#define REMOTE_REPLY_BYTES_MAX (128u << 20) // a world that is taken comes with all its rows
#define REMOTE_JOBS_MAX        256
#define REMOTE_REVISION_BYTES  32
#define REMOTE_LEASE_MS_MAX    60000

typedef enum RemoteJobType {
    REMOTE_RENEW = 1,
    REMOTE_TAKE,
    REMOTE_RELEASE,
    REMOTE_SAVE,
    REMOTE_REQUEST,
    REMOTE_JOB_TYPE_END
} RemoteJobType;

typedef struct RemoteBatch {
    // Rises by one with each batch of a boot. A batch that got no answer is sent once more with the
    // same number and this flag, and what it asks is done once.
    uint64_t number;
    bool is_again;
    uint8_t boot[STORE_BOOT_BYTES];
    char world_id[65];
    uint8_t revision[REMOTE_REVISION_BYTES]; // of the place that the host runs, as it was told
    uint32_t job_count;
} RemoteBatch;

typedef struct RemoteJob {
    RemoteJobType type;
    // REMOTE_RENEW
    Text address;
    bool draining;
    uint32_t duration_ms;
    // REMOTE_RELEASE, REMOTE_SAVE, REMOTE_REQUEST
    uint64_t epoch, seq;
    const uint8_t *rows;
    size_t row_bytes;
    StoreRequest request;
} RemoteJob;

void remote_batch_write(const RemoteBatch *batch, ByteWriter *writer);
void remote_job_write(const RemoteJob *job, ByteWriter *writer);
// jobs has room for REMOTE_JOBS_MAX.
MUST_USE Status remote_batch_read(const uint8_t *bytes, size_t count, RemoteBatch *out,
                                  RemoteJob *jobs);

typedef struct RemoteReply {
    uint64_t number;
    uint64_t unix_ms; // when it was written, by the control plane's clock
    StoreDisk disk;   // of the control plane
    uint32_t answer_count;
} RemoteReply;

// As a StoreCompletion. The rows of a world that was taken, and its manifests in `bytes`.
typedef struct RemoteAnswer {
    RemoteJobType type;
    Status status;
    bool ok, damaged;
    uint64_t epoch;
    const uint8_t *bytes;
    size_t byte_count;
    const uint8_t *rows;
    size_t row_bytes;
} RemoteAnswer;

void remote_reply_write(const RemoteReply *reply, ByteWriter *writer);
void remote_answer_write(const RemoteAnswer *answer, ByteWriter *writer);
// answers has room for REMOTE_JOBS_MAX.
MUST_USE Status remote_reply_read(const uint8_t *bytes, size_t count, RemoteReply *out,
                                  RemoteAnswer *answers);
