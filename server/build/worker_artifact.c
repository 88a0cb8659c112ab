// See worker_artifact.h; both sides of the pipe.
#include "server/build/worker_artifact.h"

#include "server/build/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- inside -------------------------------------------------------------------------------------

static Status refuse_json(WorkerCall *call, const JsonError *error)
{
    char why[JSON_ERROR_TEXT_BYTES];
    json_error_text(error, why);
    return worker_refuse(call, error->status, why);
}

static void write_text(Buffer *out, NetText text)
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

static Status answer(WorkerCall *call, size_t arena_bytes,
                     Status (*read)(WorkerCall *call, Arena *arena, const char *text, size_t bytes))
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
    return answer(call, MANIFEST_ARENA_BYTES, answer_manifest);
}

Status worker_asset_list(WorkerCall *call)
{
    return answer(call, ASSET_LIST_ARENA_BYTES, answer_assets);
}

// --- outside: the manifest ----------------------------------------------------------------------

static NetText read_text(ByteReader *reader)
{
    size_t bytes = 0;
    const uint8_t *text = byte_read_block(reader, &bytes);
    return (NetText){text != NULL ? (const char *)text : "", (uint32_t)bytes};
}

static void read_bytes(ByteReader *reader, uint8_t *out, size_t count)
{
    const uint8_t *bytes = byte_read_bytes(reader, count);
    if (bytes != NULL) {
        memcpy(out, bytes, count);
    }
}

// A count of things of at least 4 bytes each.
static uint32_t read_count(ByteReader *reader, uint32_t most)
{
    const uint32_t count = byte_read_u32(reader);
    if (count > most || count > byte_reader_left(reader) / 4) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return 0;
    }
    return count;
}

static void read_row(ByteReader *reader, Arena *arena, ManifestRow *row)
{
    row->path = read_text(reader);
    read_bytes(reader, row->rune_hash, sizeof row->rune_hash);
    row->size_bytes = byte_read_u32(reader);
    row->run_context = read_text(reader);
    row->service = read_text(reader);
    row->replicate = byte_read_bool(reader);
    const uint32_t count = read_count(reader, MANIFEST_REQUIRES_MAX);
    NetText *requires = arena_array(arena, count + 1u, sizeof *requires);
    if (requires == NULL) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        requires[i] = read_text(reader);
    }
    row->requires = requires;
    row->require_count = count;
}

static bool is_before(NetText a, NetText b)
{
    const size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order < 0 || (order == 0 && a.bytes < b.bytes);
}

// What whoever writes a list relies on; that the rest is right the signature says.
static bool is_list(const ManifestList *list)
{
    bool is_good = list->server_tick <= MANIFEST_TICK_MAX;
    for (uint32_t i = 1; i < list->row_count; i++) {
        is_good = is_good && is_before(list->rows[i - 1].path, list->rows[i].path);
    }
    return is_good;
}

Status manifest_read_reply(const Buffer *reply, Arena *arena, ManifestList *list,
                           uint8_t signature[MANIFEST_SIGNATURE_BYTES], bool *is_signed)
{
    uint8_t *own = arena_alloc(arena, reply->bytes + 1); // the texts point into it
    if (own == NULL) {
        return STATUS_MALFORMED;
    }
    if (reply->bytes > 0) {
        memcpy(own, reply->data, reply->bytes);
    }
    ByteReader reader = byte_reader(own, reply->bytes);
    ManifestList read = {.version = byte_read_u32(&reader)};
    read.server_tick = byte_read_u64(&reader);
    read.cdn_base = read_text(&reader);
    *is_signed = byte_read_bool(&reader);
    read_bytes(&reader, signature, MANIFEST_SIGNATURE_BYTES);
    read.row_count = read_count(&reader, MANIFEST_ROWS_MAX);
    ManifestRow *rows = arena_array(arena, read.row_count + 1u, sizeof *rows);
    for (uint32_t i = 0; rows != NULL && i < read.row_count; i++) {
        read_row(&reader, arena, &rows[i]);
    }
    read.rows = rows;
    if (rows == NULL || byte_reader_finish(&reader) != STATUS_OK || !is_list(&read)) {
        return STATUS_MALFORMED;
    }
    *list = read;
    return STATUS_OK;
}

Status manifest_ask(Worker *worker, Arena *arena, const void *text, size_t bytes,
                    const SigningHalves *halves, ManifestList *list, uint32_t *which,
                    char reason[WORKER_REASON_BYTES])
{
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool is_signed = false;
    Buffer reply = {0};
    Status status = worker_call(worker, WORKER_MANIFEST, text, bytes, &reply, reason);
    const size_t mark = arena_mark(arena);
    if (status == STATUS_OK &&
        manifest_read_reply(&reply, arena, list, signature, &is_signed) != STATUS_OK) {
        status = worker_distrust(worker, reason);
    } else if (status == STATUS_OK) {
        status = is_signed ? manifest_check(list, signature, halves, which) : STATUS_DENIED;
    }
    buffer_free(&reply);
    if (status != STATUS_OK) {
        arena_rewind(arena, mark);
    }
    return status;
}

// --- outside: the list of assets ----------------------------------------------------------------

static void read_asset(ByteReader *reader, BuildAsset *asset)
{
    const NetText path = read_text(reader);
    const uint8_t kind = byte_read_u8(reader);
    read_bytes(reader, asset->hash, sizeof asset->hash);
    asset->bytes = byte_read_u64(reader);
    asset->info = (AssetInfo){.width = byte_read_u32(reader)};
    asset->info.height = byte_read_u32(reader);
    asset->info.triangle_count = byte_read_u32(reader);
    asset->info.duration_ms = byte_read_u32(reader);
    if (path.bytes >= sizeof asset->path || kind >= KIND_COUNT) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    memcpy(asset->path, path.data, path.bytes);
    asset->info.kind = (PackageKind)kind;
}

// The only text that a build would have written from this list.
static bool is_text_of(const AssetList *list, const void *text, size_t bytes)
{
    uint8_t *block = malloc(bytes + 1);
    if (block == NULL) {
        return false;
    }
    ByteWriter writer = byte_writer(block, bytes);
    const bool is_same = asset_list_write(list, &writer) == STATUS_OK && writer.at == bytes &&
                         memcmp(block, text, bytes) == 0;
    free(block);
    return is_same;
}

Status asset_list_read_reply(const Buffer *reply, Arena *arena, const void *text, size_t bytes,
                             AssetList *out)
{
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    const bool has_thumbnail = byte_read_bool(&reader);
    uint8_t *thumbnail = arena_alloc(arena, SHA256_BYTES);
    if (thumbnail == NULL) {
        return STATUS_MALFORMED;
    }
    read_bytes(&reader, thumbnail, SHA256_BYTES);
    const uint32_t count = read_count(&reader, ASSET_LIST_COUNT_MAX);
    BuildAsset *assets = arena_array(arena, count + 1u, sizeof *assets);
    for (uint32_t i = 0; assets != NULL && i < count; i++) {
        read_asset(&reader, &assets[i]);
    }
    const AssetList list = {
        .assets = assets, .count = count, .thumbnail = has_thumbnail ? thumbnail : NULL};
    if (assets == NULL || byte_reader_finish(&reader) != STATUS_OK ||
        !is_text_of(&list, text, bytes)) {
        return STATUS_MALFORMED;
    }
    *out = list;
    return STATUS_OK;
}

Status asset_list_ask(Worker *worker, Arena *arena, const void *text, size_t bytes, AssetList *out,
                      char reason[WORKER_REASON_BYTES])
{
    Buffer reply = {0};
    Status status = worker_call(worker, WORKER_ASSET_LIST, text, bytes, &reply, reason);
    if (status == STATUS_OK &&
        asset_list_read_reply(&reply, arena, text, bytes, out) != STATUS_OK) {
        status = worker_distrust(worker, reason);
    }
    buffer_free(&reply);
    return status;
}
