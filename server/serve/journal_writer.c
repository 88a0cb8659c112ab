// See journal_writer.h.
#define _GNU_SOURCE
#include "server/serve/journal_writer.h"

#include "core/base/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_MAX (64u << 20)

typedef enum JobType { JOB_OPEN, JOB_APPEND, JOB_END, JOB_CLOSE } JobType;

typedef struct Job {
    struct Job *next;
    JobType type;
    Journal *journal;
    size_t count;
    uint8_t bytes[];
} Job;

struct Journal {
    JournalWriter *writer;
    JournalFile file; // the thread's
    uint64_t bytes_max;
    bool gap; // something was left out: nothing more is queued
    char path[4096];
};

struct JournalWriter {
    JournalLog log;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Job *first, *last;
    size_t waiting;
    bool stop;
};

// --- the thread ---------------------------------------------------------------------------------

static void say(const Journal *journal, Status status)
{
    char text[256];
    snprintf(text, sizeof text, "%.120s: ends after %" PRIu64 " bytes: %s", journal->path,
             journal->file.bytes, status_text(status));
    journal->writer->log(text);
}

static void run(Job *job)
{
    Journal *journal = job->journal;
    JournalFile *file = &journal->file;
    Status status = STATUS_OK;
    switch (job->type) {
    case JOB_OPEN:
        status = journal_file_open(file, journal->path, journal->bytes_max);
        break;
    case JOB_APPEND:
        if (file->descriptor >= 0 && !file->ended) {
            status = journal_file_append(file, job->bytes, job->count);
        }
        break;
    case JOB_END:
        if (file->descriptor >= 0 && !file->ended) {
            journal_file_end(file);
            status = STATUS_TRUNCATED;
        }
        break;
    case JOB_CLOSE:
        journal_file_close(file);
        free(journal);
        return;
    }
    if (status != STATUS_OK) {
        say(journal, status);
    }
}

static void *thread_main(void *user)
{
    JournalWriter *writer = user;
    pthread_mutex_lock(&writer->lock);
    while (!writer->stop || writer->first != NULL) {
        Job *job = writer->first;
        if (job == NULL) {
            pthread_cond_wait(&writer->wake, &writer->lock);
            continue;
        }
        writer->first = job->next;
        writer->waiting -= job->count;
        pthread_mutex_unlock(&writer->lock);
        run(job);
        free(job);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

Status journal_writer_create(JournalLog log, JournalWriter **out)
{
    JournalWriter *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return STATUS_LIMIT;
    }
    writer->log = log;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->wake, NULL);
    if (pthread_create(&writer->thread, NULL, thread_main, writer) != 0) {
        free(writer);
        return STATUS_LIMIT;
    }
    *out = writer;
    return STATUS_OK;
}

void journal_writer_destroy(JournalWriter *writer)
{
    if (writer == NULL) {
        return;
    }
    pthread_mutex_lock(&writer->lock);
    writer->stop = true;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->wake);
    free(writer);
}

// --- what is queued -----------------------------------------------------------------------------

// False: there is no room, or no memory.
static bool queue(Journal *journal, JobType type, const void *bytes, size_t count)
{
    JournalWriter *writer = journal->writer;
    Job *job = malloc(sizeof *job + count);
    if (job == NULL) {
        return false;
    }
    *job = (Job){.type = type, .journal = journal, .count = count};
    if (count > 0) {
        memcpy(job->bytes, bytes, count);
    }
    pthread_mutex_lock(&writer->lock);
    const bool fits = writer->waiting + count <= WAITING_MAX || count == 0;
    if (fits) {
        if (writer->first == NULL) {
            writer->first = job;
        } else {
            writer->last->next = job;
        }
        writer->last = job;
        writer->waiting += count;
        pthread_cond_signal(&writer->wake);
    }
    pthread_mutex_unlock(&writer->lock);
    if (!fits) {
        free(job);
    }
    return fits;
}

void journal_append(Journal *journal, const void *bytes, size_t count, bool gap)
{
    if (journal->gap) {
        return;
    }
    journal->gap = gap || !queue(journal, JOB_APPEND, bytes, count);
    if (journal->gap) {
        (void)queue(journal, JOB_END, NULL, 0);
    }
}

Journal *journal_begin(JournalWriter *writer, const char *path, uint64_t bytes_max,
                       const void *header, size_t header_bytes, const void *entries,
                       size_t entry_bytes)
{
    Journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) {
        return NULL;
    }
    *journal = (Journal){.writer = writer, .file = {.descriptor = -1}, .bytes_max = bytes_max};
    snprintf(journal->path, sizeof journal->path, "%s", path);
    if (!queue(journal, JOB_OPEN, NULL, 0)) {
        free(journal);
        return NULL;
    }
    journal_append(journal, header, header_bytes, false);
    journal_append(journal, entries, entry_bytes, false);
    return journal;
}

void journal_close(Journal *journal)
{
    if (journal != NULL && !queue(journal, JOB_CLOSE, NULL, 0)) {
        journal->writer->log("out of memory while a journal was closed; its file stays open");
    }
}
