// Reads a manifest and the list of assets, which are JSON, for those who may not. ask_artifact.h
// describes the requests and the replies.
#include "server/build/ask/ask_artifact.h"
#include "server/build/inside/asset_list_read.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <string.h>

static Status refuse_json(WorkerCall *call, const JsonError *error)
{
    char why[JSON_ERROR_TEXT_BYTES];
    json_error_text(error, why);
    return worker_refuse(call, error->status, why);
}

static void write_text(Buffer *out, Text text)
{
    buffer_put_block(out, text.data, text.bytes);
}

static void write_row(Buffer *out, const ManifestRow *row)
{
    write_text(out, row->path);
    buffer_put(out, row->rune_hash, sizeof row->rune_hash);
    buffer_put_u32(out, row->size_bytes);
    write_text(out, row->run_context);
    write_text(out, row->service);
    buffer_put_u8(out, row->replicate);
    buffer_put_u32(out, row->require_count);
    for (uint32_t i = 0; i < row->require_count; i++) {
        write_text(out, row->requires[i]);
    }
}

static Status answer_manifest(WorkerCall *call, Arena *arena, const char *text, size_t bytes)
{
    uint8_t signature[MANIFEST_SIGNATURE_BYTES] = {0};
    bool is_signed = false;
    ManifestList list;
    JsonError error = {0};
    if (manifest_read(arena, text, bytes, &list, signature, &is_signed, &error) != STATUS_OK) {
        return refuse_json(call, &error);
    }
    Buffer *out = &call->reply;
    buffer_put_u32(out, list.version);
    buffer_put_u64(out, list.server_tick);
    write_text(out, list.cdn_base);
    buffer_put_u8(out, is_signed);
    buffer_put(out, signature, sizeof signature);
    buffer_put_u32(out, list.row_count);
    for (uint32_t i = 0; i < list.row_count; i++) {
        write_row(out, &list.rows[i]);
    }
    return STATUS_OK;
}

static void write_asset(Buffer *out, const BuildAsset *asset)
{
    buffer_put_block(out, asset->path, strlen(asset->path));
    buffer_put_u8(out, (uint8_t)asset->info.kind);
    buffer_put(out, asset->hash, sizeof asset->hash);
    buffer_put_u64(out, asset->bytes);
    buffer_put_u32(out, asset->info.width);
    buffer_put_u32(out, asset->info.height);
    buffer_put_u32(out, asset->info.triangle_count);
    buffer_put_u32(out, asset->info.duration_ms);
}

static Status answer_assets(WorkerCall *call, Arena *arena, const char *text, size_t bytes)
{
    static const uint8_t none[SHA256_BYTES] = {0};
    AssetList list;
    JsonError error = {0};
    if (asset_list_read(arena, text, bytes, &list, &error) != STATUS_OK) {
        return refuse_json(call, &error);
    }
    Buffer *out = &call->reply;
    buffer_put_u8(out, list.thumbnail != NULL);
    buffer_put(out, list.thumbnail != NULL ? list.thumbnail : none, SHA256_BYTES);
    buffer_put_u32(out, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        write_asset(out, &list.assets[i]);
    }
    return STATUS_OK;
}

static Status answer_with(WorkerCall *call, size_t arena_bytes,
                          Status (*read)(WorkerCall *call, Arena *arena, const char *text,
                                         size_t bytes))
{
    const size_t bytes = byte_reader_left(&call->request);
    const char *text = (const char *)byte_read_bytes(&call->request, bytes);
    void *block = malloc(arena_bytes);
    if (block == NULL) {
        return worker_refuse(call, STATUS_LIMIT, "out of memory");
    }
    Arena arena;
    arena_init(&arena, block, arena_bytes);
    const Status status = read(call, &arena, text, bytes);
    free(block);
    return status;
}

Status worker_manifest(WorkerCall *call)
{
    return answer_with(call, MANIFEST_ARENA_BYTES, answer_manifest);
}

Status worker_asset_list(WorkerCall *call)
{
    return answer_with(call, ASSET_LIST_ARENA_BYTES, answer_assets);
}
