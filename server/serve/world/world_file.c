// See world_file.h: writing. Reading is world_file_read.c.
#define _GNU_SOURCE
#include "server/serve/world/world_file.h"

#include "core/base/json_member.h"
#include "server/build/ask/ask_zstd.h"

#include "core/base/check.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/world/save/row.h"
#include "server/serve/http/time_text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PACKED_BYTES_MAX (ROW_VALUE_BYTES + (64u << 10)) // what cannot be packed grows a little

typedef enum FilePart { PART_HEAD, PART_CHUNKS, PART_ENTITIES } FilePart;

typedef struct Writing {
    Worker *worker;
    int file;
    const StoreWorld *world;
    RowMeta meta;
    FilePart part;
    bool has_item; // in this part
    Status status; // the first failure
    uint8_t *packed;
    uint8_t *text; // WORLD_ITEM_BYTES_MAX
} Writing;

static void write_bytes(Writing *writing, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    while (count > 0 && writing->status == STATUS_OK) {
        const ssize_t done = write(writing->file, at, count);
        if (done < 0 && errno != EINTR) {
            writing->status = STATUS_BLOCKED;
        } else if (done > 0) {
            at += done;
            count -= (size_t)done;
        }
    }
}

static void put_text(Writing *writing, const char *text)
{
    write_bytes(writing, text, strlen(text));
}

static void put_json(Writing *writing, const JsonWriter *json, const ByteWriter *bytes)
{
    if (json_writer_finish(json) != STATUS_OK) {
        writing->status = writing->status == STATUS_OK ? STATUS_MALFORMED : writing->status;
        return;
    }
    write_bytes(writing, writing->text, bytes->at);
}

// --- the parts ----------------------------------------------------------------------------------

static void put_head(Writing *writing)
{
    char created[TIME_TEXT_BYTES], hash[65];
    const StoreWorld *world = writing->world;
    ByteWriter bytes = byte_writer(writing->text, WORLD_ITEM_BYTES_MAX);
    JsonWriter json = json_writer(&bytes, 0);
    time_text(world->created_unix_ms, created);
    sha256_hex(world->place_hash, hash);
    json_write_object_begin(&json);
    json_member_text(&json, "name", text_from(world->name));
    json_member_text(&json, "created_at", text_from(created));
    json_member_text(&json, "place_id", text_from(world->place_id));
    json_member_text(&json, "place_hash", text_from(hash));
    json_member_integer(&json, "tick", (int64_t)writing->meta.tick);
    json_member_integer(&json, "next_net_id", (int64_t)writing->meta.next_net_id);
    json_member_integer(&json, "next_player", (int64_t)writing->meta.next_player);
    json_member_integer(&json, "manifest_version", (int64_t)writing->meta.manifest_version);
    json_write_object_end(&json);
    put_text(writing, "{\"version\":1,\n\"world_id\":\"");
    put_text(writing, world->world_id); // letters, digits, _ and -
    put_text(writing, "\",\n\"metadata\":");
    put_json(writing, &json, &bytes);
    put_text(writing, ",\n\"chunks\":[");
    writing->part = PART_CHUNKS;
}

// Rows come in the order of the parts: the numbers of the world, chunks, and everything else.
static void begin_item(Writing *writing, FilePart part)
{
    if (writing->part == PART_HEAD) {
        put_head(writing);
    }
    if (writing->part == PART_CHUNKS && part == PART_ENTITIES) {
        put_text(writing, "],\n\"entities\":[");
        writing->part = PART_ENTITIES;
        writing->has_item = false;
    }
    ASSERT(writing->part == part);
    put_text(writing, writing->has_item ? ",\n" : "\n");
    writing->has_item = true;
}

static void write_chunk(Writing *writing, const Row *row, JsonWriter *json)
{
    ChunkCoord at;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    if (row_chunk(row, &at, &bytes, &count) != STATUS_OK) {
        writing->status = STATUS_MALFORMED;
        return;
    }
    size_t packed = 0;
    const Status status =
        zstd_ask(writing->worker, bytes, count, writing->packed, PACKED_BYTES_MAX, &packed);
    if (status != STATUS_OK) {
        writing->status = STATUS_BLOCKED;
        return;
    }
    json_member_integer(json, "x", at.x);
    json_member_integer(json, "y", at.y);
    json_member_integer(json, "z", at.z);
    json_write_name(json, "data");
    json_write_base64(json, writing->packed, packed);
}

static void write_structure(Writing *writing, const Row *row, JsonWriter *json)
{
    RowStructure structure;
    if (row_structure(row, &structure) != STATUS_OK) {
        writing->status = STATUS_MALFORMED;
        return;
    }
    json_member_text(json, "type", text_from("structure"));
    json_member_integer(json, "net_id", (int64_t)structure.desc.net_id);
    json_member_integer(json, "owner", (int64_t)structure.desc.owner_id);
    json_member_integer(json, "piece", structure.desc.piece);
    json_member_integer(json, "x", structure.desc.cell.x);
    json_member_integer(json, "y", structure.desc.cell.y);
    json_member_integer(json, "z", structure.desc.cell.z);
    json_member_integer(json, "turn", structure.desc.turn);
    json_member_f32(json, "health", structure.health);
}

static void write_player(Writing *writing, const Row *row, JsonWriter *json)
{
    RowPlayer player;
    if (row_player(row, &player) != STATUS_OK) {
        writing->status = STATUS_MALFORMED;
        return;
    }
    json_member_text(json, "type", text_from("player"));
    json_member_integer(json, "user_id", (int64_t)player.account);
    json_member_integer(json, "player", (int64_t)player.player);
    json_member_integer(json, "entity", (int64_t)player.entity);
    json_member_vec3(json, "position", player.position);
    json_member_vec3(json, "velocity", player.velocity);
    json_member_f32(json, "yaw", player.yaw);
    json_member_f32(json, "health", player.health);
    json_member_text(json, "name", player.name);
    json_member_text(json, "team", player.team);
}

// An entity with a name goes by it, one of the scene by its id there.
static void write_attributes(Writing *writing, const Row *row, JsonWriter *json)
{
    Text name;
    uint64_t number = 0;
    const uint8_t *attributes = NULL;
    size_t bytes = 0;
    if (row_attributes(row, &name, &number, &attributes, &bytes) != STATUS_OK) {
        writing->status = STATUS_MALFORMED;
        return;
    }
    const bool is_scene = (number & ROW_SCENE_ID) != 0;
    json_member_text(json, "type", text_from("attributes"));
    if (name.bytes > 0) {
        json_member_text(json, "name", name);
    } else {
        json_member_integer(json, is_scene ? "scene_id" : "net_id",
                            (int64_t)(number & ~ROW_SCENE_ID));
    }
    json_write_name(json, "data");
    json_write_base64(json, attributes, bytes);
}

static void take_row(void *user, const uint8_t *bytes, size_t count)
{
    Writing *writing = user;
    static void (*const write_entity[ROW_TYPE_COUNT])(Writing *, const Row *, JsonWriter *) = {
        [ROW_CHUNK] = write_chunk,
        [ROW_STRUCTURE] = write_structure,
        [ROW_ATTRIBUTE] = write_attributes,
        [ROW_PLAYER] = write_player};
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    if (writing->status != STATUS_OK || row_read(&reader, &row) != STATUS_OK) {
        return; // the store has checked it
    }
    if (row.type == ROW_META) {
        status_ignore(row_meta(&row, &writing->meta)); // or it begins with nothing
        return;
    }
    if (write_entity[row.type] == NULL) {
        return;
    }
    begin_item(writing, row.type == ROW_CHUNK ? PART_CHUNKS : PART_ENTITIES);
    ByteWriter text = byte_writer(writing->text, WORLD_ITEM_BYTES_MAX);
    JsonWriter json = json_writer(&text, 0);
    json_write_object_begin(&json);
    write_entity[row.type](writing, &row, &json);
    json_write_object_end(&json);
    put_json(writing, &json, &text);
}

Status world_file_write(Store *store, Worker *worker, const StoreWorld *world, int file)
{
    Writing writing = {.file = file, .world = world, .worker = worker};
    writing.text = malloc(WORLD_ITEM_BYTES_MAX);
    writing.packed = malloc(PACKED_BYTES_MAX);
    Status status = STATUS_LIMIT;
    if (writing.text != NULL && writing.packed != NULL) {
        status = store_rows(store, world->world_id, take_row, &writing);
    }
    if (status == STATUS_OK) {
        if (writing.part == PART_HEAD) {
            put_head(&writing);
        }
        put_text(&writing, writing.part == PART_CHUNKS ? "],\n\"entities\":[]}\n" : "]}\n");
        status = writing.status;
    }
    free(writing.text);
    free(writing.packed);
    return status;
}
