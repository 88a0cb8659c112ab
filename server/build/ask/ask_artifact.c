// See ask_artifact.h.
#include "server/build/ask/ask_artifact.h"

#include "core/base/byte_values.h"
#include "core/base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the manifest ----------------------------------------------------------------------

static Text read_net_text(ByteReader *reader)
{
    size_t bytes = 0;
    const uint8_t *text = byte_read_block(reader, &bytes);
    return (Text){text != NULL ? (const char *)text : "", (uint32_t)bytes};
}

// Reads a count of items that take at least 4 bytes each.
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
    row->path = read_net_text(reader);
    byte_read_exact(reader, row->rune_hash, sizeof row->rune_hash);
    row->size_bytes = byte_read_u32(reader);
    row->run_context = read_net_text(reader);
    row->service = read_net_text(reader);
    row->replicate = byte_read_bool(reader);
    const uint32_t count = read_count(reader, MANIFEST_REQUIRES_MAX);
    Text *requires = arena_array(arena, count + 1u, sizeof *requires);
    if (requires == NULL) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        requires[i] = read_net_text(reader);
    }
    row->requires = requires;
    row->require_count = count;
}

static bool is_before(Text a, Text b)
{
    const size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order < 0 || (order == 0 && a.bytes < b.bytes);
}

// What manifest_write relies on. The signature proves the rest.
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
    read.cdn_base = read_net_text(&reader);
    *is_signed = byte_read_bool(&reader);
    byte_read_exact(&reader, signature, MANIFEST_SIGNATURE_BYTES);
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

typedef struct Asked {
    const void *text;
    size_t bytes;
    Arena *arena;
    ManifestList *list;
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool is_signed;
    AssetList *assets;
} Asked;

static Status read_manifest(void *user, Status said, const Buffer *reply)
{
    (void)said;
    Asked *asked = user;
    return manifest_read_reply(reply, asked->arena, asked->list, asked->signature,
                               &asked->is_signed);
}

Status manifest_ask(const BuildContext *context, Arena *arena, const PlaceFile *file,
                    const SigningPublicKeys *halves, ManifestList *list, uint32_t *which)
{
    Asked asked = {.text = file->data, .bytes = file->bytes, .arena = arena, .list = list};
    WorkerQuestion question = {.op = WORKER_MANIFEST,
                               .request = file->data,
                               .request_bytes = file->bytes,
                               .read = read_manifest,
                               .user = &asked};
    const size_t mark = arena_mark(arena);
    Status status = context_ask(context, &question);
    if (status == STATUS_OK) {
        status =
            asked.is_signed ? manifest_check(list, asked.signature, halves, which) : STATUS_DENIED;
    }
    if (status != STATUS_OK) {
        arena_rewind(arena, mark);
    }
    return status;
}

// --- the list of assets ----------------------------------------------------------------

static void read_asset(ByteReader *reader, BuildAsset *asset)
{
    const Text path = read_net_text(reader);
    const uint8_t kind = byte_read_u8(reader);
    byte_read_exact(reader, asset->hash, sizeof asset->hash);
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

// Whether the text is exactly what a build would write for this list.
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
    byte_read_exact(&reader, thumbnail, SHA256_BYTES);
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

static Status read_asset_list(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    return asset_list_read_reply(reply, asked->arena, asked->text, asked->bytes, asked->assets);
}

Status asset_list_ask(const BuildContext *context, Arena *arena, const PlaceFile *file,
                      AssetList *out)
{
    Asked asked = {.text = file->data, .bytes = file->bytes, .arena = arena, .assets = out};
    WorkerQuestion question = {.op = WORKER_ASSET_LIST,
                               .request = file->data,
                               .request_bytes = file->bytes,
                               .read = read_asset_list,
                               .user = &asked};
    return context_ask(context, &question);
}
