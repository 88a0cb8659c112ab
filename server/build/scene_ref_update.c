// See scene_ref.h: the builder's side. The worker gives whole texts back, for the very files that
// it was asked about and no larger than JSON may be; they are read in the worker again by the next
// build, so a worker that went wrong reaches nothing new by them.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/build/place_file.h"
#include "server/build/scene_ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_BYTES_MAX ((size_t)JSON_BYTES_MAX + (1u << 20))

static bool may_refer(const PlaceFile *file, SceneRefKind *kind)
{
    static const char folder[] = "prefabs/", ending[] = ".json";
    const size_t bytes = strlen(file->path);
    *kind = strcmp(file->path, "scene.json") == 0 ? SCENE_REF_SCENE : SCENE_REF_PREFAB;
    return *kind == SCENE_REF_SCENE ||
           (strncmp(file->path, folder, sizeof folder - 1) == 0 && bytes > sizeof ending &&
            strcmp(file->path + bytes - (sizeof ending - 1), ending) == 0);
}

// Most files name no script at all, and are not sent through the worker.
static bool has_reference(const PlaceFile *file)
{
    return file->bytes <= JSON_BYTES_MAX &&
           memmem(file->data, file->bytes, "criptRef", strlen("criptRef")) != NULL;
}

static Buffer request_of(const PlaceFile *file, SceneRefKind kind, const BuildRune *runes,
                         uint32_t rune_count)
{
    Buffer request = buffer_of(REQUEST_BYTES_MAX);
    buffer_put_u32(&request, kind);
    buffer_put_u32(&request, rune_count);
    for (uint32_t i = 0; i < rune_count; i++) {
        buffer_put_block(&request, runes[i].path, strlen(runes[i].path));
        buffer_put_u32(&request, runes[i].language);
        buffer_put(&request, runes[i].code_hash, sizeof runes[i].code_hash);
    }
    buffer_put_block(&request, file->data, file->bytes);
    return request;
}

// On disk, if it is still what was read.
static Status write_file(const char *place, const PlaceFile *file, const uint8_t *text,
                         size_t bytes)
{
    uint8_t *now = NULL;
    size_t now_bytes = 0;
    Status status = place_file_read(place, file->path, JSON_BYTES_MAX, &now, &now_bytes);
    const bool same =
        status == STATUS_OK && now_bytes == file->bytes && memcmp(now, file->data, now_bytes) == 0;
    free(now);
    return same ? place_file_write(place, file->path, text, bytes, false) : STATUS_OK;
}

// Takes over a text that the worker gave.
static Status take_text(const char *place, PlaceFolder *folder, PlaceFile *file,
                        const uint8_t *text, size_t bytes, bool write,
                        char reason[WORKER_REASON_BYTES])
{
    uint8_t *copy = malloc(bytes + 1);
    if (copy == NULL) {
        snprintf(reason, WORKER_REASON_BYTES, "%s: out of memory", file->path);
        return STATUS_LIMIT;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    const Status status = write ? write_file(place, file, text, bytes) : STATUS_OK;
    if (status != STATUS_OK) {
        free(copy);
        snprintf(reason, WORKER_REASON_BYTES,
                 "%s cannot be written (%s): codeHash and scriptPath of its scripts belong there",
                 file->path, status_text(status));
        return status;
    }
    folder->bytes += bytes - file->bytes;
    free((void *)(uintptr_t)file->data);
    file->data = copy;
    file->bytes = bytes;
    return STATUS_OK;
}

Status scene_ref_update(Worker *worker, const char *place, PlaceFolder *folder,
                        const BuildRune *runes, uint32_t rune_count, bool write,
                        uint32_t *changed_count, char reason[WORKER_REASON_BYTES])
{
    uint32_t changed = 0;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < folder->file_count && status == STATUS_OK; i++) {
        PlaceFile *file = &folder->files[i];
        SceneRefKind kind;
        if (!may_refer(file, &kind) || !has_reference(file)) {
            continue;
        }
        Buffer request = request_of(file, kind, runes, rune_count);
        Buffer reply = {0};
        status = request.status != STATUS_OK ? request.status
                                             : worker_call(worker, WORKER_SCENE_REF, request.data,
                                                           request.bytes, &reply, reason);
        buffer_free(&request);
        const bool is_new = status == STATUS_OK && reply.bytes > 1 && reply.data[0] != 0;
        if (is_new && reply.bytes <= JSON_BYTES_MAX) {
            status = take_text(place, folder, file, reply.data + 1, reply.bytes - 1, write, reason);
            changed += status == STATUS_OK;
        } else if (status == STATUS_MALFORMED || status == STATUS_LIMIT || status == STATUS_RANGE ||
                   status == STATUS_TRUNCATED) {
            status = STATUS_OK; // no JSON: whoever compiles the scene says where and why
        }
        buffer_free(&reply);
    }
    if (status == STATUS_OK) {
        *changed_count = changed;
    }
    return status;
}
