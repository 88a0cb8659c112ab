// See scene_ref_update.h. What is compiled is what will be on disk, so the files are edited in
// memory first.
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

typedef struct Update {
    const BuildContext *context;
    const PlaceFolder *folder;
    const SceneRefScript *scripts;
    uint32_t script_count;
    uint8_t *used;
    SceneRefChanges *changes;
} Update;

typedef struct Asked {
    const Update *update;
    uint32_t at; // of the file
    SceneRefKind kind;
} Asked;

// About the file as it is in the folder that is edited.
static Status write_question(void *user, Buffer *request)
{
    const Asked *asked = user;
    const Update *update = asked->update;
    const PlaceFile *file = &update->changes->edited.files[asked->at];
    buffer_put_u32(request, asked->kind);
    buffer_put_block(request, file->path, strlen(file->path));
    buffer_put_u32(request, update->script_count);
    for (uint32_t i = 0; i < update->script_count; i++) {
        const SceneRefScript *script = &update->scripts[i];
        buffer_put_block(request, script->path, strlen(script->path));
        buffer_put_u32(request, script->language);
        buffer_put_u32(request, script->in_soul);
        buffer_put(request, script->code_hash, sizeof script->code_hash);
    }
    buffer_put_block(request, file->data, file->bytes);
    return STATUS_OK;
}

static void add_change(const Asked *asked, Buffer *edited)
{
    SceneRefChanges *changes = asked->update->changes;
    PlaceFile *file = &changes->edited.files[asked->at];
    changes->items[changes->count++] =
        (SceneRefChange){.file = &asked->update->folder->files[asked->at],
                         .data = edited->data,
                         .bytes = edited->bytes,
                         .answer = buffer_of(WORKER_REPLY_MAX)};
    changes->edited.bytes += edited->bytes - file->bytes;
    file->data = edited->data;
    file->bytes = edited->bytes;
    *edited = (Buffer){0};
}

// The answer may be any bytes at all: diagnostics, a bool for each script, edits.
static Status read_answer(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    const Update *update = asked->update;
    const PlaceFile *file = &update->folder->files[asked->at];
    DiagnosticList diagnostics = {0};
    size_t used = 0;
    if (diagnostic_list_read(reply->data, reply->bytes, &used, &diagnostics) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    ByteReader reader = byte_reader(reply->data + used, reply->bytes - used);
    for (uint32_t i = 0; i < update->script_count; i++) {
        (void)byte_read_bool(&reader);
    }
    Buffer edited = buffer_of(JSON_BYTES_MAX);
    bool is_changed = false;
    Status status = reader.status != STATUS_OK
                        ? STATUS_MALFORMED
                        : scene_ref_apply((const char *)file->data, file->bytes, update->scripts,
                                          update->script_count, reader.data + reader.at,
                                          byte_reader_left(&reader), &edited, &is_changed);
    if (status != STATUS_MALFORMED) {
        for (uint32_t i = 0; i < update->script_count; i++) {
            update->used[i] |= reply->data[used + i];
        }
        diagnostic_list_append(update->context->diagnostics, &diagnostics);
    }
    if (status == STATUS_OK && is_changed) {
        add_change(asked, &edited);
        if (diagnostics.count == 0) { // else lines may be others by now
            SceneRefChange *change = &update->changes->items[update->changes->count - 1];
            buffer_put(&change->answer, reply->data, used + update->script_count);
        }
    }
    buffer_free(&edited);
    diagnostic_list_free(&diagnostics);
    // One that has no room for its references is left as it is.
    return status == STATUS_MALFORMED ? status : STATUS_OK;
}

static Status update_file(const Update *update, uint32_t at, SceneRefKind kind)
{
    Asked asked = {.update = update, .at = at, .kind = kind};
    WorkerQuestion question = {
        .op = WORKER_SCENE_REF, .write = write_question, .read = read_answer, .user = &asked};
    const uint32_t count = update->changes->count;
    const Status status = context_ask(update->context, &question);
    if (status == STATUS_OK && update->changes->count > count) {
        SceneRefChange *change = &update->changes->items[count];
        if (!context_key(update->context, &question, &change->key)) {
            buffer_free(&change->answer);
        }
    }
    const bool is_no_json = status == STATUS_MALFORMED || status == STATUS_LIMIT ||
                            status == STATUS_RANGE || status == STATUS_TRUNCATED;
    return is_no_json ? STATUS_OK : status; // whoever compiles the scene says where and why
}

Status scene_ref_update(const BuildContext *context, const PlaceFolder *folder,
                        const SceneRefScript *scripts, uint32_t script_count, uint8_t *used,
                        SceneRefChanges *out)
{
    *out = (SceneRefChanges){.items = calloc(folder->file_count + 1u, sizeof *out->items),
                             .edited = *folder};
    out->edited.files = calloc(folder->file_count + 1u, sizeof *out->edited.files);
    if (out->items == NULL || out->edited.files == NULL) {
        return context_fail(context, STATUS_LIMIT, "scene.json: out of memory");
    }
    for (uint32_t i = 0; i < folder->file_count; i++) {
        out->edited.files[i] = folder->files[i];
    }
    const Update update = {context, folder, scripts, script_count, used, out};
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < folder->file_count && status == STATUS_OK; i++) {
        SceneRefKind kind;
        if (may_refer(&folder->files[i], &kind) && has_reference(&folder->files[i])) {
            status = update_file(&update, i, kind);
        }
    }
    return status;
}

void scene_ref_changes_free(SceneRefChanges *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        free(changes->items[i].data);
        buffer_free(&changes->items[i].answer);
    }
    free(changes->items);
    free(changes->edited.files);
    *changes = (SceneRefChanges){0};
}

// --- on disk ------------------------------------------------------------------------------------

static Status write_file(const char *place, const SceneRefChange *change)
{
    const PlaceFile *file = change->file;
    uint8_t *now = NULL;
    size_t now_bytes = 0;
    const Status status = place_file_read(place, file->path, JSON_BYTES_MAX, &now, &now_bytes);
    const bool is_same =
        status == STATUS_OK && now_bytes == file->bytes && memcmp(now, file->data, now_bytes) == 0;
    free(now);
    return is_same ? place_file_write(place, file->path, change->data, change->bytes, false)
                   : STATUS_OK;
}

Status scene_ref_write(const BuildContext *context, const char *place,
                       const SceneRefChanges *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        const SceneRefChange *change = &changes->items[i];
        const Status status = write_file(place, change);
        if (status != STATUS_OK) {
            return context_fail(context, status,
                                "%s cannot be written (%s): codeHash and scriptPath of its scripts "
                                "belong there",
                                change->file->path, status_text(status));
        }
        if (context->cache != NULL && change->answer.bytes > 0) {
            cache_keep(context->cache, &change->key, change->answer.data, change->answer.bytes);
        }
    }
    return STATUS_OK;
}
