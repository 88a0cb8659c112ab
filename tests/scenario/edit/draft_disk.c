// What is between the parts of a draft run: links with delays, and the disk. See draft.h.
#include "tests/scenario/edit/draft_inside.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

// --- links --------------------------------------------------------------------------------------

uint8_t *draft_copy_of(const void *bytes, size_t count)
{
    uint8_t *copy = heap_alloc(&run.heap, count + 1);
    ASSERT(copy != NULL);
    if (count > 0) {
        memcpy(copy, bytes, count);
    }
    return copy;
}

void draft_queue_add(Queue *queue, uint32_t type, const void *bytes, size_t count, uint32_t delay)
{
    if (queue->count == QUEUE_MAX) {
        draft_fail("a queue is full");
        return;
    }
    const uint32_t last = queue->count == 0 ? 0 : queue->packets[queue->count - 1].at;
    const uint32_t at = run.step + 1 + rng_below(&run.rng, delay);
    queue->packets[queue->count++] =
        (Packet){draft_copy_of(bytes, count), count, at > last ? at : last, type};
}

void draft_queue_clear(Queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        heap_free(&run.heap, queue->packets[i].data);
    }
    queue->count = 0;
}

bool draft_queue_take(Queue *queue, Packet *out)
{
    if (queue->count == 0 || queue->packets[0].at > run.step) {
        return false;
    }
    *out = queue->packets[0];
    queue->count -= 1;
    memmove(&queue->packets[0], &queue->packets[1], queue->count * sizeof queue->packets[0]);
    return true;
}

// --- the disk -----------------------------------------------------------------------------------

uint32_t draft_blob_add(const void *bytes, size_t count, bool is_kept)
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(bytes, count, hash);
    for (uint32_t i = 0; i < run.blob_count; i++) {
        if (memcmp(run.blobs[i].hash, hash, sizeof hash) == 0) {
            run.blobs[i].is_kept = run.blobs[i].is_kept || is_kept;
            return i;
        }
    }
    ASSERT(run.blob_count < BLOBS_MAX);
    Blob *blob = &run.blobs[run.blob_count];
    *blob = (Blob){draft_copy_of(bytes, count), count, {0}, is_kept};
    memcpy(blob->hash, hash, sizeof hash);
    return run.blob_count++;
}

Text draft_blob_text(uint32_t blob)
{
    return (Text){(const char *)run.blobs[blob].data, run.blobs[blob].bytes};
}

DiskFile *draft_file_find(const char *path)
{
    for (uint32_t i = 0; i < run.file_count; i++) {
        if (strcmp(run.files[i].path, path) == 0) {
            return &run.files[i];
        }
    }
    return NULL;
}

void draft_file_set(const char *path, const uint8_t *hash)
{
    DiskFile *file = draft_file_find(path);
    if (hash == NULL) {
        if (file != NULL) {
            *file = run.files[--run.file_count];
        }
        return;
    }
    if (file == NULL) {
        ASSERT(run.file_count < FILES_MAX);
        file = &run.files[run.file_count++];
        (void)snprintf(file->path, sizeof file->path, "%s", path);
    }
    memcpy(file->hash, hash, SHA256_BYTES);
}

EditDisk draft_disk_now(EditBuffer *files)
{
    for (uint32_t i = 0; i < run.file_count; i++) {
        edit_disk_file_write(text_from(run.files[i].path), run.files[i].hash, files);
    }
    return (EditDisk){.settings = draft_blob_text(run.texts[0]),
                      .scene = draft_blob_text(run.texts[1]),
                      .file_count = run.file_count,
                      .files = files->data,
                      .file_bytes = files->bytes};
}
