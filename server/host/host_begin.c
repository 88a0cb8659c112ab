// What a world begins with: what the store has of it, the scripts of its place, and a manifest that
// is signed for this life.
#include "server/host/host_inside.h"

#include "core/world/journal.h"
#include "core/world/save/row.h"
#include "server/host/host_bounds.h"

typedef struct Beginning {
    uint8_t *bytes;
    size_t count, capacity;
    bool failed;
    RowMeta meta; // of the life before; all zero: there was none
} Beginning;

static void begin_with(Beginning *all, const Entry *entry)
{
    ByteWriter counter = byte_counter();
    entry_write(entry, &counter);
    if (counter.at > all->capacity - all->count) {
        const size_t more = 2 * all->capacity + counter.at + 65536;
        uint8_t *grown = realloc(all->bytes, more);
        if (grown == NULL) {
            all->failed = true;
            return;
        }
        all->bytes = grown;
        all->capacity = more;
    }
    ByteWriter writer = byte_writer(all->bytes + all->count, counter.at);
    entry_write(entry, &writer);
    ASSERT(writer.status == STATUS_OK);
    all->count += writer.at;
}

// How far the life before came. A row that cannot be read is refused by the world too; a version
// that it had given is then given again, which clients find out.
static void take_meta(Beginning *all, const Row *row)
{
    RowMeta meta;
    if (row->type == ROW_META && row_meta(row, &meta) == STATUS_OK && meta.tick <= SIM_NET_ID_MAX) {
        all->meta = meta;
    }
}

static Status begin_with_rows(Beginning *all, bool same_place, const uint8_t *rows, size_t bytes)
{
    ByteReader reader = byte_reader(rows, bytes);
    while (byte_reader_left(&reader) > 0 && !all->failed) {
        const size_t at = bytes - byte_reader_left(&reader);
        Row row;
        const Status status = row_read(&reader, &row);
        if (status != STATUS_OK) {
            return status;
        }
        take_meta(all, &row);
        const Entry entry = {.type = ENTRY_ROW,
                             .flags = same_place ? ENTRY_OK : 0,
                             .bytes = rows + at,
                             .byte_count = bytes - byte_reader_left(&reader) - at};
        if (entry.byte_count <= ENTRY_BYTES_MAX) {
            begin_with(all, &entry);
        }
    }
    return STATUS_OK;
}

static void begin_with_runes(Beginning *all, const BuildResult *built)
{
    for (uint32_t i = 0; i < built->rune_count && !all->failed; i++) {
        const BuildRune *rune = &built->runes[i];
        Entry entry = {.type = ENTRY_SCRIPT,
                       .flags = rune->replicate ? ENTRY_REPLICATE : 0u,
                       .number = entry_context(rune->context),
                       .name = rune->path,
                       .name_bytes = (uint32_t)strlen(rune->path),
                       .bytes = rune->bytes,
                       .byte_count = rune->count};
        begin_with(all, &entry);
        if (rune->packed != NULL && !all->failed) {
            entry.flags = ENTRY_PACKED;
            entry.number = built->packing;
            entry.bytes = rune->packed;
            entry.byte_count = rune->packed_count;
            begin_with(all, &entry);
        }
    }
}

static void begin_with_manifest(Beginning *all, const HostManifests *manifests)
{
    const Entry entry = {.type = ENTRY_RELOAD,
                         .number = manifests->version,
                         .bytes = manifests->client.data,
                         .byte_count = manifests->client.bytes};
    begin_with(all, &entry);
}

// How far another host may be ahead of what is known here of its world's versions, which is all of
// them unless this process began after it. So one that lies does not use all of them up.
#define VERSIONS_AHEAD (1u << 20)

// A world that ended before its first save has stored no version, but players have seen one.
static Status sign_for(const HostWorld *world, const HostPlace *place, const RowMeta *meta,
                       HostManifests *out)
{
    const uint64_t stored = meta->manifest_version;
    const uint64_t before = stored > world->manifest_version ? stored : world->manifest_version;
    const Status status = host_place_sign(place, world->host->config.key, before, meta->tick, out);
    ASSERT(status != STATUS_OK || out->version > world->manifest_version);
    return status;
}

// Signed here, or by the control plane that gave the world.
static Status find_manifests(const HostWorld *world, const StoreCompletion *taken,
                             const RowMeta *meta, HostManifests *out)
{
    if (world->host->config.remote) {
        return host_manifests_read(taken->bytes, taken->byte_count, out);
    }
    return sign_for(world, world->place, meta, out);
}

static Status make_beginning(HostWorld *world, const StoreCompletion *taken, Beginning *all,
                             HostManifests *manifests)
{
    Status status = begin_with_rows(all, !world->other_place, taken->rows, taken->row_bytes);
    if (status != STATUS_OK) {
        hosted_log(world, LOG_ERROR, "what was stored cannot be read: %s", status_text(status));
        return status;
    }
    status = find_manifests(world, taken, &all->meta, manifests);
    if (status != STATUS_OK) {
        hosted_log(world, LOG_ERROR, "the manifest cannot be signed: %s", status_text(status));
        return status;
    }
    begin_with_runes(all, &world->place->built);
    begin_with_manifest(all, manifests);
    return all->failed ? STATUS_LIMIT : STATUS_OK;
}

static void make_config(HostWorld *world)
{
    const HostOutside *outside = &world->host->config.outside;
    world->config = world->place->numbers;
    memcpy(world->config.world_id, world->row.world_id, sizeof world->config.world_id);
    memcpy(world->config.room_code, world->row.room_code, sizeof world->config.room_code);
    world->config.epoch = world->epoch;
    outside->random(outside->user, world->config.secret, sizeof world->config.secret);
    outside->random(outside->user, &world->config.seed, sizeof world->config.seed);
}

static Status send_beginning(HostWorld *world, const Beginning *all, const HostManifests *manifests)
{
    const HostPlace *place = world->place;
    const WorldNeed need = {.player_max = world->config.player_max,
                            .entity_max = world->config.entity_max,
                            .json_session_max = world->config.json_session_max,
                            .place_bytes = place->built.whole_bytes + place->built.stripped_bytes,
                            .beginning_bytes = all->count + manifests->server.bytes};
    uint8_t header[JOURNAL_HEADER_BYTES];
    ByteWriter writer = byte_writer(header, sizeof header);
    journal_write_header(&world->config, &writer);
    ASSERT(writer.status == STATUS_OK);
    const HostBeginning beginning = {.place = place,
                                     .memory_bytes_max = world_memory_bytes(&need),
                                     .header = header,
                                     .header_bytes = writer.at,
                                     .public_key = world->host->config.key->public_half,
                                     .manifest = manifests->server.data,
                                     .manifest_bytes = manifests->server.bytes,
                                     .entries = all->bytes,
                                     .entry_bytes = all->count};
    return world->link->face->begin(world->link, &beginning);
}

Status host_world_sign(HostWorld *world, const HostPlace *place, uint32_t version, uint64_t tick,
                       HostManifests *out)
{
    const uint32_t most = world->manifest_version < UINT32_MAX - VERSIONS_AHEAD
                              ? world->manifest_version + VERSIONS_AHEAD
                              : UINT32_MAX;
    const uint32_t known = version < most ? version : most;
    const uint32_t before = known > world->manifest_version ? known : world->manifest_version;
    const Status status = host_place_sign(place, world->host->config.key, before, tick, out);
    if (status == STATUS_OK) {
        world->manifest_version = out->version;
    }
    return status;
}

Status host_world_sign_rows(HostWorld *world, const HostPlace *place, const uint8_t *rows,
                            size_t bytes, HostManifests *out)
{
    Beginning all = {0};
    ByteReader reader = byte_reader(rows, bytes);
    Row row;
    while (byte_reader_left(&reader) > 0) {
        const Status status = row_read(&reader, &row);
        if (status != STATUS_OK) {
            return status;
        }
        take_meta(&all, &row);
    }
    const Status status = sign_for(world, place, &all.meta, out);
    if (status == STATUS_OK) {
        world->manifest_version = out->version;
    }
    return status;
}

Status hosted_begin(HostWorld *world, const StoreCompletion *taken)
{
    Beginning all = {0};
    HostManifests manifests = {0};
    make_config(world);
    Status status = make_beginning(world, taken, &all, &manifests);
    if (status == STATUS_OK) {
        status = send_beginning(world, &all, &manifests);
    }
    if (status == STATUS_OK) {
        world->manifest_version = manifests.version;
    }
    host_manifests_free(&manifests);
    free(all.bytes);
    return status;
}
