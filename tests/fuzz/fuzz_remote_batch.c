// What hosts on other machines send to a control plane, and its replies: any bytes are a batch, a
// reply or an error status. What is accepted is written again as the same bytes.
#include "core/base/check.h"
#include "server/store/world/remote_batch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_batch(const uint8_t *data, size_t size, uint8_t *again)
{
    static RemoteJob jobs[REMOTE_JOBS_MAX];
    RemoteBatch batch;
    if (remote_batch_read(data, size, &batch, jobs) != STATUS_OK) {
        return;
    }
    ASSERT(batch.job_count <= REMOTE_JOBS_MAX && strlen(batch.world_id) < sizeof batch.world_id);
    ByteWriter writer = byte_writer(again, size);
    remote_batch_write(&batch, &writer);
    for (uint32_t i = 0; i < batch.job_count; i++) {
        ASSERT(jobs[i].type != REMOTE_RENEW || jobs[i].duration_ms <= REMOTE_LEASE_MS_MAX);
        ASSERT(jobs[i].address.bytes <= STORE_ADDRESS_BYTES);
        remote_job_write(&jobs[i], &writer);
    }
    ASSERT(writer.status == STATUS_OK && writer.at == size && memcmp(again, data, size) == 0);
}

static void look_at_reply(const uint8_t *data, size_t size, uint8_t *again)
{
    static RemoteAnswer answers[REMOTE_JOBS_MAX];
    RemoteReply reply;
    if (remote_reply_read(data, size, &reply, answers) != STATUS_OK) {
        return;
    }
    ByteWriter writer = byte_writer(again, size);
    remote_reply_write(&reply, &writer);
    for (uint32_t i = 0; i < reply.answer_count; i++) {
        ASSERT(answers[i].status < STATUS_COUNT);
        remote_answer_write(&answers[i], &writer);
    }
    ASSERT(writer.status == STATUS_OK && writer.at == size && memcmp(again, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *again = malloc(size + 1);
    ASSERT(again != NULL);
    look_at_batch(data, size, again);
    look_at_reply(data, size, again);
    free(again);
    return 0;
}
