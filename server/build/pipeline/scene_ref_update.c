// See scene_ref_update.h. The files are edited in memory first, because what is
// compiled is what will be on disk; they are written when everything else went well.
#define _GNU_SOURCE
#include "server/build/pipeline/scene_ref_update.h"

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "server/build/place/place_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool may_refer(const PlaceFile *file, SceneRefKind *kind)
{
    *kind = strcmp(file->path, "scene.json") == 0 ? SCENE_REF_SCENE : SCENE_REF_PREFAB;
    return *kind == SCENE_REF_SCENE || place_path_is_prefab(file->path);
}

// Most files name no script at all, and are not sent through the worker.
static bool has_reference(const PlaceFile *file)
{
    return file->bytes <= JSON_BYTES_MAX &&
           (memmem(file->data, file->bytes, "criptRef", strlen("criptRef")) != NULL ||
            memmem(file->data, file->bytes, "criptPath", strlen("criptPath")) != NULL);
}

// --- in memory ----------------------------------------------------------------------------------

// The folder has the edited text from now on, and the changes the one before.
static void change(PlaceFolder *folder, PlaceFile *file, Buffer *edited, SceneRefChanges *changes)
{
    changes->items[changes->count++] =
        (SceneRefChange){.file = file, .data = file->data, .bytes = file->bytes};
    folder->bytes += edited->bytes - file->bytes;
    file->data = edited->data;
    file->bytes = edited->bytes;
}

typedef struct Update {
    const BuildContext *context;
    PlaceFolder *folder;
    const SceneRefScript *scripts;
    uint32_t script_count;
    uint8_t *used;
    SceneRefChanges *changes;
} Update;

// Is there a bool for each script?
static bool has_used(const Update *update, const Buffer *reply, size_t at)
{
    ByteReader reader = byte_reader(reply->data + at, reply->bytes - at);
    for (uint32_t i = 0; i < update->script_count; i++) {
        (void)byte_read_bool(&reader);
    }
    return reader.status == STATUS_OK;
}

static void take_used(const Update *update, const uint8_t *used)
{
    for (uint32_t i = 0; i < update->script_count; i++) {
        update->used[i] |= used[i];
    }
}

typedef struct Asked {
    const Update *update;
    PlaceFile *file;
    SceneRefKind kind;
} Asked;

static Status write_question(void *user, Buffer *request)
{
    const Asked *asked = user;
    const Update *update = asked->update;
    buffer_put_u32(request, asked->kind);
    buffer_put_block(request, asked->file->path, strlen(asked->file->path));
    buffer_put_u32(request, update->script_count);
    for (uint32_t i = 0; i < update->script_count; i++) {
        const SceneRefScript *script = &update->scripts[i];
        buffer_put_block(request, script->path, strlen(script->path));
        buffer_put_u32(request, script->language);
        buffer_put_u32(request, script->in_soul);
        buffer_put(request, script->code_hash, sizeof script->code_hash);
    }
    buffer_put_block(request, asked->file->data, asked->file->bytes);
    return STATUS_OK;
}

// The answer may be any bytes at all.
static Status read_answer(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    const Update *update = asked->update;
    PlaceFile *file = asked->file;
    size_t used = 0; // where they begin; the edits are behind them
    Buffer edited = buffer_of(JSON_BYTES_MAX);
    DiagnosticList diagnostics = {0};
    bool changed = false;
    Status status = diagnostic_list_read(reply->data, reply->bytes, &used, &diagnostics);
    if (status == STATUS_OK && !has_used(update, reply, used)) {
        status = STATUS_MALFORMED;
    }
    if (status == STATUS_OK) {
        status = scene_ref_apply((const char *)file->data, file->bytes, update->scripts,
                                 update->script_count, reply->data + used + update->script_count,
                                 reply->bytes - used - update->script_count, &edited, &changed);
    }
    if (status == STATUS_OK && changed) {
        change(update->folder, file, &edited, update->changes);
        edited = (Buffer){0};
    }
    buffer_free(&edited);
    // One that has no room for its references is left as it is.
    status = status == STATUS_MALFORMED ? status : STATUS_OK;
    if (status == STATUS_OK) {
        take_used(update, reply->data + used);
        diagnostic_list_append(update->context->diagnostics, &diagnostics);
    }
    diagnostic_list_free(&diagnostics);
    return status;
}

static Status update_file(const Update *update, PlaceFile *file, SceneRefKind kind)
{
    Asked asked = {.update = update, .file = file, .kind = kind};
    WorkerQuestion question = {
        .op = WORKER_SCENE_REF, .write = write_question, .read = read_answer, .user = &asked};
    const Status status = context_ask(update->context, &question);
    const bool is_no_json = status == STATUS_MALFORMED || status == STATUS_LIMIT ||
                            status == STATUS_RANGE || status == STATUS_TRUNCATED;
    return is_no_json ? STATUS_OK : status; // whoever compiles the scene says where and why
}

Status scene_ref_update(const BuildContext *context, PlaceFolder *folder,
                        const SceneRefScript *scripts, uint32_t script_count, uint8_t *used,
                        SceneRefChanges *out)
{
    out->items = calloc(folder->file_count + 1u, sizeof *out->items);
    if (out->items == NULL) {
        return context_fail(context, STATUS_LIMIT, "scene.json: out of memory");
    }
    const Update update = {context, folder, scripts, script_count, used, out};
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < folder->file_count && status == STATUS_OK; i++) {
        PlaceFile *file = &folder->files[i];
        SceneRefKind kind;
        if (may_refer(file, &kind) && has_reference(file)) {
            status = update_file(&update, file, kind);
        }
    }
    return status;
}

void scene_ref_undo(PlaceFolder *folder, SceneRefChanges *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        SceneRefChange *item = &changes->items[i];
        folder->bytes += item->bytes - item->file->bytes;
        free((void *)(uintptr_t)item->file->data);
        item->file->data = item->data;
        item->file->bytes = item->bytes;
    }
    free(changes->items);
    *changes = (SceneRefChanges){0};
}

void scene_ref_changes_free(SceneRefChanges *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        free((void *)(uintptr_t)changes->items[i].data);
    }
    free(changes->items);
    *changes = (SceneRefChanges){0};
}

// --- on disk ------------------------------------------------------------------------------------

static Status write_file(const char *place, const SceneRefChange *item)
{
    const PlaceFile *file = item->file;
    uint8_t *now = NULL;
    size_t now_bytes = 0;
    const Status status = place_file_read(place, file->path, JSON_BYTES_MAX, &now, &now_bytes);
    const bool same =
        status == STATUS_OK && now_bytes == item->bytes && memcmp(now, item->data, now_bytes) == 0;
    free(now);
    return same ? place_file_write(place, file->path, file->data, file->bytes, false) : STATUS_OK;
}

Status scene_ref_write(const char *place, const SceneRefChanges *changes,
                       char reason[WORKER_REASON_BYTES])
{
    for (uint32_t i = 0; i < changes->count; i++) {
        const Status status = write_file(place, &changes->items[i]);
        if (status != STATUS_OK) {
            snprintf(reason, WORKER_REASON_BYTES,
                     "%s cannot be written (%s): codeHash and scriptPath of its scripts belong "
                     "there",
                     changes->items[i].file->path, status_text(status));
            return status;
        }
    }
    return STATUS_OK;
}
