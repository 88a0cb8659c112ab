// Models whose parts are files beside them, outside the jail; see inside/media/op_model.c and
// package.h.
#define _GNU_SOURCE
#include "server/build/package/package.h"

#include <stdio.h>
#include <string.h>

static Status distrust(char reason[WORKER_REASON_BYTES])
{
    snprintf(reason, WORKER_REASON_BYTES, "the build worker's answer is not of its form");
    return STATUS_MALFORMED;
}

static Status no_memory(const char *path, char reason[WORKER_REASON_BYTES])
{
    return package_refuse(reason, path, strlen(path), RULE_MEMORY, "out of memory");
}

bool package_model_files_read(const uint8_t *bytes, size_t count, PackageModelFiles *out)
{
    ByteReader reader = byte_reader(bytes, count);
    out->count = 0;
    while (byte_reader_left(&reader) > 0) {
        size_t length;
        const uint8_t *path = byte_read_block(&reader, &length);
        if (reader.status != STATUS_OK || length >= PACKAGE_PATH_BYTES || length == 0 ||
            memchr(path, 0, length) != NULL || out->count == ASSET_MODEL_FILES_MAX) {
            out->count = 0;
            return false;
        }
        memcpy(out->paths[out->count], path, length);
        out->paths[out->count++][length] = '\0';
    }
    return true;
}

Status package_model_files(Worker *worker, const char *path, const void *data, size_t bytes,
                           PackageModelFiles *out, char reason[WORKER_REASON_BYTES])
{
    Buffer request = buffer_of(bytes + PACKAGE_NAME_BYTES), reply = {0};
    buffer_put_block(&request, path, strlen(path));
    buffer_put(&request, data, bytes);
    Status status =
        request.status == STATUS_OK
            ? worker_call(worker, WORKER_MODEL_FILES, request.data, request.bytes, &reply, reason)
            : no_memory(path, reason);
    if (status == STATUS_OK && !package_model_files_read(reply.data, reply.bytes, out)) {
        status = distrust(reason);
    }
    buffer_free(&request);
    buffer_free(&reply);
    return status;
}

Status package_check_model(Worker *worker, const PlaceFile *model, const PlaceFile *files,
                           uint32_t file_count, AssetInfo *out, char reason[WORKER_REASON_BYTES])
{
    Buffer request = buffer_of(WORKER_REQUEST_MAX), reply = {0};
    buffer_put_block(&request, model->path, strlen(model->path));
    buffer_put_u32(&request, file_count);
    for (uint32_t i = 0; i < file_count; i++) {
        buffer_put_block(&request, files[i].path, strlen(files[i].path));
        buffer_put_u64(&request, files[i].bytes);
        buffer_put(&request, files[i].data, files[i].bytes);
    }
    buffer_put(&request, model->data, model->bytes);
    Status status = request.status == STATUS_OK ? worker_call(worker, WORKER_MODEL, request.data,
                                                              request.bytes, &reply, reason)
                                                : no_memory(model->path, reason);
    if (status == STATUS_OK) {
        ByteReader reader = byte_reader(reply.data, reply.bytes);
        const AssetInfo info = asset_info_read(&reader);
        if (byte_reader_finish(&reader) != STATUS_OK || info.kind != KIND_GLTF) {
            status = distrust(reason);
        } else {
            *out = info;
        }
    }
    buffer_free(&request);
    buffer_free(&reply);
    return status;
}
