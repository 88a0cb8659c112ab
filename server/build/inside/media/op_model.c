// Inside the worker: a model whose parts are files beside it. Asked in two steps, so that only what
// a model names has to be sent, and nobody outside reads its JSON.
//
//   MODEL_FILES  request   block path, the rest is the .gltf
//                reply     blocks: paths of the files that it names
//   MODEL        request   block path, u32 files; each: block path, u64 bytes, data; the .gltf
//                reply     AssetInfo
#define _GNU_SOURCE
#include "server/build/inside/media/asset.h"
#include "server/build/inside/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status refuse_request(WorkerCall *call)
{
    return worker_refuse(call, STATUS_MALFORMED, "not a request for a model");
}

static Status no_memory(WorkerCall *call)
{
    return worker_refuse(call, STATUS_LIMIT, "out of memory");
}

static Status read_path(WorkerCall *call, char path[PACKAGE_PATH_BYTES], PackageKind *kind)
{
    ByteReader *in = &call->request;
    size_t bytes;
    const uint8_t *at = byte_read_block(in, &bytes);
    if (in->status != STATUS_OK || bytes >= PACKAGE_PATH_BYTES) {
        return refuse_request(call);
    }
    Status status = package_path_check((const char *)at, bytes, call->reason);
    if (status == STATUS_OK) {
        memcpy(path, at, bytes);
        path[bytes] = '\0';
        status = package_path_fits(path, call->reason);
    }
    return status == STATUS_OK ? package_kind_of(path, kind, call->reason) : status;
}

// The rest of the request is the model itself.
static Status read_model(WorkerCall *call, const char *path, PackageKind kind, AssetJob *job)
{
    job->path = path;
    job->reason = call->reason;
    job->bytes = byte_reader_left(&call->request);
    job->data = byte_read_bytes(&call->request, job->bytes);
    if (kind != KIND_GLTF) {
        return refuse_request(call);
    }
    return package_size_check(path, kind, job->bytes, call->reason);
}

Status worker_model_files(WorkerCall *call)
{
    char path[PACKAGE_PATH_BYTES];
    PackageKind kind = KIND_COUNT;
    AssetJob job = {0};
    Status status = read_path(call, path, &kind);
    status = status == STATUS_OK ? read_model(call, path, kind, &job) : status;
    return status == STATUS_OK ? asset_gltf_files(&job, &call->reply) : status;
}

// The data is not copied: it stays in the request.
static Status read_file(WorkerCall *call, PackageItem *item)
{
    char path[PACKAGE_PATH_BYTES];
    const Status status = read_path(call, path, &item->kind);
    if (status != STATUS_OK) {
        return status;
    }
    const uint64_t bytes = byte_read_u64(&call->request);
    if (call->request.status != STATUS_OK || bytes > byte_reader_left(&call->request)) {
        return refuse_request(call);
    }
    item->bytes = (size_t)bytes;
    item->data = (uint8_t *)(uintptr_t)byte_read_bytes(&call->request, item->bytes);
    item->path = strdup(path);
    return item->path != NULL ? STATUS_OK : no_memory(call);
}

static Status check(WorkerCall *call, const char *path, PackageKind kind, PackageItem *items,
                    uint32_t count)
{
    const PackageList list = {.items = items, .count = count, .reason = call->reason};
    AssetPackage package = {.list = &list};
    AssetJob job = {.package = &package};
    AssetInfo info = {0};
    for (uint32_t i = 0; i < count; i++) {
        const Status status = read_file(call, &items[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (count > 0) {
        qsort(items, count, sizeof *items,
              package_item_compare); // package_list_find needs this order
    }
    Status status = read_model(call, path, kind, &job);
    status = status == STATUS_OK ? asset_check(&job, kind, &info) : status;
    if (status == STATUS_OK) {
        asset_info_write(&info, &call->reply);
        status = call->reply.status;
    }
    return status;
}

Status worker_model(WorkerCall *call)
{
    char path[PACKAGE_PATH_BYTES];
    PackageKind kind = KIND_COUNT;
    Status status = read_path(call, path, &kind);
    if (status != STATUS_OK) {
        return status;
    }
    const uint32_t count = byte_read_u32(&call->request);
    if (call->request.status != STATUS_OK || count > ASSET_MODEL_FILES_MAX) {
        return refuse_request(call);
    }
    PackageItem *items = calloc((size_t)count + 1, sizeof *items);
    if (items == NULL) {
        return no_memory(call);
    }
    status = check(call, path, kind, items, count);
    for (uint32_t i = 0; i < count; i++) {
        free(items[i].path);
    }
    free(items);
    return status;
}
