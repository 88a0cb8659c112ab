// See store_remote.h: what the writer thread does with a batch instead of a transaction.
#define _GNU_SOURCE
#include "server/store/world/store_remote.h"

#include "server/store/store_inside.h"

#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOB_BYTES_AROUND 512 // what a job takes beside rows, names and values

struct StoreRemote {
    StoreRemoteConfig config;
    uint64_t number; // of the last batch
    bool is_again;   // it may have been done before, and the reply may be an old one
    uint8_t *bytes;  // of the batch, REMOTE_BATCH_BYTES_MAX
    RemoteAnswer answers[REMOTE_JOBS_MAX];
};

StoreRemoteConfig store_remote_config_default(void)
{
    const StoreConfig usual = store_config_default();
    return (StoreRemoteConfig){
        .commit_ms = 20, .retry_ms = 250, .bytes_waiting_max = usual.bytes_waiting_max};
}

// --- what is asked ------------------------------------------------------------------------------

static bool is_for_remote(const Job *job)
{
    return job->type != JOB_MAKE && job->type != JOB_CALL && job->type != JOB_PEERS &&
           job->type != JOB_HOST_END;
}

static RemoteJob remote_job(const Job *job)
{
    RemoteJob out = {.epoch = job->epoch, .seq = job->seq};
    switch (job->type) {
    case JOB_HOST:
        out.type = REMOTE_RENEW;
        out.address = (Text){job->host->address, (uint32_t)strlen(job->host->address)};
        out.draining = job->host->draining;
        out.duration_ms =
            (uint32_t)(job->duration < REMOTE_LEASE_MS_MAX ? job->duration : REMOTE_LEASE_MS_MAX);
        break;
    case JOB_TAKE:
        out.type = REMOTE_TAKE;
        break;
    case JOB_RELEASE:
        out.type = REMOTE_RELEASE;
        break;
    case JOB_SAVE:
        out.type = REMOTE_SAVE;
        out.rows = job->rows;
        out.row_bytes = job->row_bytes;
        break;
    default:
        ASSERT(job->type == JOB_REQUEST);
        out.type = REMOTE_REQUEST;
        out.request = job->request;
        break;
    }
    return out;
}

// Writes as many jobs as fit, from *next on; gives the bytes.
static size_t write_batch(struct StoreRemote *remote, Job **next, uint32_t *count)
{
    RemoteBatch batch = {.number = remote->number, .is_again = remote->is_again};
    memcpy(batch.boot, remote->config.boot, sizeof batch.boot);
    memcpy(batch.world_id, remote->config.world_id, sizeof batch.world_id);
    memcpy(batch.revision, remote->config.revision, sizeof batch.revision);
    if (remote->config.revision_now != NULL) {
        remote->config.revision_now(remote->config.user, batch.revision);
    }
    size_t bytes = JOB_BYTES_AROUND;
    Job *job = *next;
    for (; job != NULL && batch.job_count < REMOTE_JOBS_MAX && is_for_remote(job);
         job = job->next) {
        bytes += job->cost + JOB_BYTES_AROUND;
        if (bytes > REMOTE_BATCH_BYTES_MAX && batch.job_count > 0) {
            break;
        }
        batch.job_count += 1;
    }
    ByteWriter writer = byte_writer(remote->bytes, REMOTE_BATCH_BYTES_MAX);
    remote_batch_write(&batch, &writer);
    Job *at = *next;
    for (uint32_t i = 0; i < batch.job_count; i++, at = at->next) {
        const RemoteJob out = remote_job(at);
        remote_job_write(&out, &writer);
    }
    *count = batch.job_count;
    *next = job;
    return writer.status == STATUS_OK ? writer.at : 0;
}

// --- what is answered ---------------------------------------------------------------------------

static uint8_t *copy_bytes(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = count > 0 ? malloc(count) : NULL;
    if (copy != NULL) {
        memcpy(copy, bytes, count);
    }
    return copy;
}

static void take_answer(Job *job, const RemoteAnswer *answer)
{
    StoreCompletion *to = &job->answer;
    to->status = answer->status;
    to->ok = answer->ok;
    to->damaged = answer->damaged;
    to->epoch = answer->epoch;
    job->answer_bytes = copy_bytes(answer->bytes, answer->byte_count);
    to->bytes = job->answer_bytes;
    to->byte_count = job->answer_bytes != NULL ? answer->byte_count : 0;
    to->rows = copy_bytes(answer->rows, answer->row_bytes);
    to->row_bytes = to->rows != NULL ? answer->row_bytes : 0;
    if (to->byte_count != answer->byte_count || to->row_bytes != answer->row_bytes) {
        job_refuse(job, STATUS_BLOCKED); // out of memory
    }
}

// False: it is no answer to these jobs.
static bool take_reply(Store *store, const uint8_t *bytes, size_t count, Job *jobs,
                       uint32_t job_count)
{
    struct StoreRemote *remote = store->remote;
    RemoteReply reply;
    if (remote_reply_read(bytes, count, &reply, remote->answers) != STATUS_OK ||
        reply.number != remote->number || reply.answer_count != job_count) {
        return false;
    }
    const Job *job = jobs;
    for (uint32_t i = 0; i < job_count; i++, job = job->next) {
        if (remote->answers[i].type != remote_job(job).type) {
            return false;
        }
    }
    Job *to = jobs;
    for (uint32_t i = 0; i < job_count; i++, to = to->next) {
        take_answer(to, &remote->answers[i]);
    }
    store->disk = reply.disk;
    if (remote->config.told_time != NULL && !remote->is_again) {
        remote->config.told_time(remote->config.user, reply.unix_ms);
    }
    return true;
}

// --- sending ------------------------------------------------------------------------------------

static void pause_ms(uint32_t ms)
{
    const struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    (void)nanosleep(&time, NULL);
}

static RemoteEnd send_once(Store *store, size_t bytes, Job *jobs, uint32_t count)
{
    const StoreRemoteConfig *config = &store->remote->config;
    uint8_t *reply = NULL;
    size_t reply_bytes = 0;
    RemoteEnd end =
        config->exchange(config->user, store->remote->bytes, bytes, &reply, &reply_bytes);
    if (end == REMOTE_ANSWERED && !take_reply(store, reply, reply_bytes, jobs, count)) {
        end = REMOTE_UNANSWERED;
    }
    free(reply);
    return end;
}

static void refuse_jobs(Job *job, uint32_t count, Status status)
{
    for (uint32_t i = 0; i < count; i++, job = job->next) {
        job_refuse(job, status);
    }
}

// Sends the jobs from *next on that fit into one batch, until they are answered.
static void send_some(Store *store, Job **next)
{
    struct StoreRemote *remote = store->remote;
    Job *jobs = *next;
    uint32_t count = 0;
    remote->number += 1;
    remote->is_again = false;
    size_t bytes = write_batch(remote, next, &count);
    RemoteEnd end = bytes > 0 ? send_once(store, bytes, jobs, count) : REMOTE_UNSENT;
    while (bytes > 0 && (end == REMOTE_UNSENT || end == REMOTE_UNANSWERED) &&
           !remote->config.manual && !queue_is_closing(store)) {
        pause_ms(remote->config.retry_ms);
        remote->is_again = remote->is_again || end == REMOTE_UNANSWERED;
        Job *from = jobs;
        bytes = write_batch(remote, &from, &count);
        end = send_once(store, bytes, jobs, count);
    }
    if (end != REMOTE_ANSWERED) {
        refuse_jobs(jobs, count, end == REMOTE_REFUSED ? STATUS_DENIED : STATUS_BLOCKED);
    }
}

static bool remote_run(Store *store, const JobList *batch)
{
    store->disk = STORE_DISK_FINE;
    Job *next = batch->first;
    while (next != NULL) {
        if (is_for_remote(next)) {
            send_some(store, &next);
        } else {
            job_refuse(next, STATUS_UNSUPPORTED);
            next = next->next;
        }
    }
    return store->disk == STORE_DISK_FINE;
}

// --- opening ------------------------------------------------------------------------------------

Status store_remote_open(const StoreRemoteConfig *config, Store **out)
{
    Store *store = calloc(1, sizeof *store);
    struct StoreRemote *remote = calloc(1, sizeof *remote);
    uint8_t *bytes = malloc(REMOTE_BATCH_BYTES_MAX);
    if (store == NULL || remote == NULL || bytes == NULL) {
        free(store);
        free(remote);
        free(bytes);
        return STATUS_LIMIT;
    }
    *remote = (struct StoreRemote){.config = *config, .bytes = bytes};
    store->config = store_config_default();
    store->config.commit_ms = config->commit_ms;
    store->config.bytes_waiting_max = config->bytes_waiting_max;
    store->config.manual = config->manual;
    store->run = remote_run;
    store->remote = remote;
    const Status status = queue_start(store);
    if (status != STATUS_OK) {
        remote_free(store);
        free(store);
        return status;
    }
    *out = store;
    return STATUS_OK;
}

void remote_free(Store *store)
{
    free(store->remote->bytes);
    free(store->remote);
    store->remote = NULL;
}
