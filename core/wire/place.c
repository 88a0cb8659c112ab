// Compiling, stripping and printing a place; see place.h. The bytes:
//
//   0   u32   magic "SLPC"
//   4   u8    version of this layout, 2
//   5   u8    form: 0 whole, 1 stripped
//   6   six sections in this order, each a u8 tag, a u32 length and so many bytes:
//         1   place.json    the table place_table_settings
//         2   scene.json    the table place_table_scene
//         3   chunk files   for each terrain item that names one: u32 length, bytes
//         4   prefabs       varint count, each a name and the table place_table_prefab; by name
//         5   spawned       varint count, each the table place_table_spawned; by net id
//         6   assets        varint count, each the path of a file in assets/; by bytes
//
// Tables as bytes are described in place_table.h, the tables themselves in docs/FORMATS.md.
//
// The stripped form is the same layout with less in it. Its entities are the anchored parts, in
// order, with the id n for net id n and with world poses instead of parents, and the spawns.
// Attributes that name an entity have its net id there. Of what is spawned at the start it has the
// scripts that run on both sides, by net id; the whole form has none of section 5.
#include "core/wire/place.h"

#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/wire/place_doc.h"

#include <stdio.h>
#include <string.h>

#define MAGIC         0x43504c53u // "SLPC"
#define LAYOUT        2
#define FORM_WHOLE    0
#define FORM_STRIPPED 1
#define HEAD_BYTES    6

enum {
    SECTION_SETTINGS = 1,
    SECTION_SCENE,
    SECTION_CHUNKS,
    SECTION_PREFABS,
    SECTION_SPAWNED,
    SECTION_ASSETS
};

// --- errors -------------------------------------------------------------------------------------

void place_error_text(const PlaceError *error, char *text, size_t bytes)
{
    if (error->status == STATUS_OK) {
        (void)snprintf(text, bytes, "%s", status_text(STATUS_OK));
    } else if (error->where.line == 0) {
        (void)snprintf(text, bytes, "%s %s", error->path, error->where.message);
    } else {
        char where[JSON_ERROR_TEXT_BYTES];
        json_error_text(&error->where, where);
        (void)snprintf(text, bytes, "%s %s", error->path, where);
    }
}

static Status fail_file(PlaceError *error, const char *path, Status status, const char *message)
{
    *error = (PlaceError){.status = status, .where = {.status = status}};
    (void)snprintf(error->path, sizeof error->path, "%s", path);
    (void)snprintf(error->where.message, sizeof error->where.message, "%s", message);
    return status;
}

static Status fail_json(PlaceError *error, const char *path, const JsonError *where)
{
    *error = (PlaceError){.status = where->status, .where = *where};
    (void)snprintf(error->path, sizeof error->path, "%s", path);
    return where->status;
}

// --- the doc as bytes ---------------------------------------------------------------------------

static void write_chunks(const PlaceDoc *doc, ByteWriter *writer)
{
    for (uint32_t i = 0; i < doc->scene.terrain.count; i++) {
        const PlaceFillDoc *fill = place_fill(doc, i);
        if (fill->chunk.bytes != 0) {
            byte_write_u32(writer, fill->data_bytes);
            byte_write_bytes(writer, fill->data, fill->data_bytes);
        }
    }
}

static void write_section(const PlaceDoc *doc, uint32_t section, ByteWriter *writer)
{
    switch (section) {
    case SECTION_SETTINGS:
        place_table_write(&place_table_settings, &doc->settings, doc->stripped, writer);
        break;
    case SECTION_SCENE:
        place_table_write(&place_table_scene, &doc->scene, doc->stripped, writer);
        break;
    case SECTION_CHUNKS:
        write_chunks(doc, writer);
        break;
    case SECTION_PREFABS:
        byte_write_varint(writer, doc->prefab_count);
        for (uint32_t i = 0; i < doc->prefab_count; i++) {
            place_text_write(writer, doc->prefabs[i].name);
            place_table_write(&place_table_prefab, &doc->prefabs[i], doc->stripped, writer);
        }
        break;
    case SECTION_ASSETS:
        byte_write_varint(writer, doc->asset_count);
        for (uint32_t i = 0; i < doc->asset_count; i++) {
            place_text_write(writer, doc->assets[i]);
        }
        break;
    default:
        byte_write_varint(writer, doc->spawned_count);
        for (uint32_t i = 0; i < doc->spawned_count; i++) {
            place_table_write(&place_table_spawned, &doc->spawned[i], doc->stripped, writer);
        }
        break;
    }
}

void place_doc_write(const PlaceDoc *doc, ByteWriter *writer)
{
    byte_write_u32(writer, MAGIC);
    byte_write_u8(writer, LAYOUT);
    byte_write_u8(writer, doc->stripped ? FORM_STRIPPED : FORM_WHOLE);
    for (uint32_t section = SECTION_SETTINGS; section <= SECTION_ASSETS; section++) {
        byte_write_u8(writer, (uint8_t)section);
        const size_t at = writer->at;
        byte_write_u32(writer, 0); // its length, known at its end
        write_section(doc, section, writer);
        const size_t length = writer->at - at - 4;
        if (length > UINT32_MAX) {
            writer->status = STATUS_LIMIT;
        }
        if (writer->status == STATUS_OK && writer->data != NULL) {
            ByteWriter head = byte_writer(writer->data + at, 4);
            byte_write_u32(&head, (uint32_t)length);
        }
    }
}

static bool is_prefab_name(Text name)
{
    for (uint32_t i = 0; i < name.bytes; i++) {
        const char c = name.data[i];
        const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!is_good) {
            return false;
        }
    }
    return name.bytes >= 1 && name.bytes <= PLACE_NAME_BYTES;
}

static void read_chunks(ByteReader *reader, PlaceDoc *doc)
{
    for (uint32_t i = 0; i < doc->scene.terrain.count; i++) {
        PlaceFillDoc *fill = place_fill(doc, i);
        if (fill->chunk.bytes != 0) {
            fill->data_bytes = byte_read_u32(reader);
            fill->data = byte_read_bytes(reader, fill->data_bytes);
        }
    }
}

static void read_prefabs(ByteReader *reader, PlaceScratch *scratch, PlaceDoc *doc)
{
    const uint32_t count = byte_read_count(reader, PLACE_PREFABS_MAX);
    if (count > byte_reader_left(reader)) {
        byte_reader_fail(reader, STATUS_TRUNCATED);
        return;
    }
    doc->prefabs = place_scratch_take(scratch, count + 1u, sizeof doc->prefabs[0]);
    if (doc->prefabs == NULL) {
        byte_reader_fail(reader, STATUS_LIMIT);
        return;
    }
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        PlacePrefabDoc *prefab = &doc->prefabs[i];
        const Text name = place_text_read(reader, 1, PLACE_NAME_BYTES);
        place_table_read(&place_table_prefab, reader, scratch, prefab);
        prefab->name = name;
        if (!is_prefab_name(name) || (i > 0 && text_compare(doc->prefabs[i - 1].name, name) >= 0)) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
    }
    doc->prefab_count = count;
}

static void read_spawned(ByteReader *reader, PlaceScratch *scratch, PlaceDoc *doc)
{
    const uint32_t count = byte_read_count(reader, doc->stripped ? WORLD_ENTITIES_MAX : 0);
    if (count > byte_reader_left(reader)) {
        byte_reader_fail(reader, STATUS_TRUNCATED);
        return;
    }
    doc->spawned = place_scratch_take(scratch, count + 1u, sizeof doc->spawned[0]);
    if (doc->spawned == NULL) {
        byte_reader_fail(reader, STATUS_LIMIT);
        return;
    }
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        place_table_read(&place_table_spawned, reader, scratch, &doc->spawned[i]);
        if (i > 0 && doc->spawned[i - 1].net_id >= doc->spawned[i].net_id) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
    }
    doc->spawned_count = count;
}

static void read_assets(ByteReader *reader, PlaceScratch *scratch, PlaceDoc *doc)
{
    const uint32_t count = byte_read_count(reader, PAINT_ASSETS_MAX);
    if (count > byte_reader_left(reader)) {
        byte_reader_fail(reader, STATUS_TRUNCATED);
        return;
    }
    doc->assets = place_scratch_take(scratch, count + 1u, sizeof doc->assets[0]);
    if (doc->assets == NULL) {
        byte_reader_fail(reader, STATUS_LIMIT);
        return;
    }
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        doc->assets[i] = place_text_read(reader, 1, ASSET_PATH_BYTES_MAX);
        if (!asset_name_is_asset(doc->assets[i]) ||
            (i > 0 && text_compare(doc->assets[i - 1], doc->assets[i]) >= 0)) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
    }
    doc->asset_count = reader->status == STATUS_OK ? count : 0;
}

static Status read_section(ByteReader *bytes, uint32_t section, PlaceScratch *scratch,
                           PlaceDoc *doc)
{
    const uint8_t tag = byte_read_u8(bytes);
    const uint32_t length = byte_read_u32(bytes);
    const uint8_t *data = byte_read_bytes(bytes, length);
    if (bytes->status != STATUS_OK) {
        return bytes->status;
    }
    if (tag != section) {
        return STATUS_MALFORMED;
    }
    ByteReader reader = byte_reader(data, length);
    switch (section) {
    case SECTION_SETTINGS:
        place_table_read(&place_table_settings, &reader, scratch, &doc->settings);
        break;
    case SECTION_SCENE:
        place_table_read(&place_table_scene, &reader, scratch, &doc->scene);
        break;
    case SECTION_CHUNKS:
        read_chunks(&reader, doc);
        break;
    case SECTION_PREFABS:
        read_prefabs(&reader, scratch, doc);
        break;
    case SECTION_ASSETS:
        read_assets(&reader, scratch, doc);
        break;
    default:
        read_spawned(&reader, scratch, doc);
        break;
    }
    return byte_reader_finish(&reader);
}

Status place_doc_read(const uint8_t *bytes, size_t count, PlaceScratch *scratch, PlaceDoc *doc)
{
    ByteReader reader = byte_reader(bytes, count);
    const uint32_t magic = byte_read_u32(&reader);
    const uint8_t layout = byte_read_u8(&reader);
    const uint8_t form = byte_read_u8(&reader);
    if (reader.status != STATUS_OK) {
        return reader.status;
    }
    if (magic != MAGIC || form > FORM_STRIPPED) {
        return STATUS_MALFORMED;
    }
    if (layout != LAYOUT) {
        return STATUS_UNSUPPORTED;
    }
    *doc = (PlaceDoc){.stripped = form == FORM_STRIPPED};
    for (uint32_t section = SECTION_SETTINGS; section <= SECTION_ASSETS; section++) {
        const Status status = read_section(&reader, section, scratch, doc);
        if (status != STATUS_OK) {
            return status;
        }
    }
    const Status status = byte_reader_finish(&reader);
    PlaceFault fault;
    return status != STATUS_OK ? status : place_check(doc, scratch, &fault);
}

// --- compiling ----------------------------------------------------------------------------------

typedef struct Compile {
    Heap *heap;
    PlaceScratch scratch;
    const PlaceFile *files;
    uint32_t file_count;
    PlaceError *error;
    PlaceDoc doc;
    const JsonNode *settings; // NULL, as scene: there was no text
    const JsonNode *scene;
    const JsonNode **prefabs; // as in doc.prefabs
    const char **prefab_paths;
} Compile;

static const PlaceFile *find_file(const Compile *compile, Text path)
{
    for (uint32_t i = 0; i < compile->file_count; i++) {
        if (strcmp(compile->files[i].path, path.data) == 0) {
            return &compile->files[i];
        }
    }
    return NULL;
}

static Status parse_file(Compile *compile, const PlaceFile *file, const PlaceTable *table,
                         void *out, const JsonNode **root)
{
    JsonError where = {0};
    Status status =
        place_json_parse(&compile->scratch, (const char *)file->data, file->bytes, root, &where);
    if (status == STATUS_OK) {
        const JsonNode *format = json_find(*root, "format");
        if (format != NULL && format->kind == JSON_NUMBER && format->is_integer &&
            format->integer != PLACE_FORMAT) {
            json_fail(&where, STATUS_UNSUPPORTED, format,
                      "is %lld, but this program knows format %d", (long long)format->integer,
                      PLACE_FORMAT);
        }
        place_table_from_json(table, *root, &compile->scratch, out, &where);
        status = where.status;
    }
    return status == STATUS_OK ? status : fail_json(compile->error, file->path, &where);
}

static Status parse_named(Compile *compile, const char *path, const PlaceTable *table, void *out,
                          const JsonNode **root)
{
    const PlaceFile *file = find_file(compile, text_from(path));
    if (file == NULL) {
        return fail_file(compile->error, path, STATUS_NOT_FOUND, "is missing; every place has one");
    }
    return parse_file(compile, file, table, out, root);
}

// The name in "prefabs/<Name>.json"; false for any other file.
static bool prefab_name(const char *path, Text *name)
{
    const size_t bytes = strlen(path);
    if (bytes < 13 || strncmp(path, "prefabs/", 8) != 0 || strcmp(path + bytes - 5, ".json") != 0) {
        return false;
    }
    *name = (Text){path + 8, (uint32_t)(bytes - 13)};
    return true;
}

// By name: the order of files does not reach the bytes.
static uint32_t insert_prefab(Compile *compile, Text name)
{
    PlaceDoc *doc = &compile->doc;
    uint32_t at = doc->prefab_count++;
    for (; at > 0 && text_compare(doc->prefabs[at - 1].name, name) > 0; at--) {
        doc->prefabs[at] = doc->prefabs[at - 1];
        compile->prefabs[at] = compile->prefabs[at - 1];
        compile->prefab_paths[at] = compile->prefab_paths[at - 1];
    }
    return at;
}

static Status parse_prefabs(Compile *compile)
{
    PlaceDoc *doc = &compile->doc;
    const uint32_t most = compile->file_count + 1;
    doc->prefabs = place_scratch_take(&compile->scratch, most, sizeof doc->prefabs[0]);
    compile->prefabs = place_scratch_take(&compile->scratch, most, sizeof compile->prefabs[0]);
    compile->prefab_paths =
        place_scratch_take(&compile->scratch, most, sizeof compile->prefab_paths[0]);
    if (doc->prefabs == NULL || compile->prefabs == NULL || compile->prefab_paths == NULL) {
        return fail_file(compile->error, "prefabs", STATUS_LIMIT, "need too much memory");
    }
    for (uint32_t i = 0; i < compile->file_count; i++) {
        const PlaceFile *file = &compile->files[i];
        Text name;
        if (!prefab_name(file->path, &name)) {
            continue;
        }
        if (!is_prefab_name(name)) {
            return fail_file(compile->error, file->path, STATUS_RANGE,
                             "must have a name of letters, digits, _ and -, at most 64");
        }
        if (doc->prefab_count == PLACE_PREFABS_MAX) {
            _Static_assert(PLACE_PREFABS_MAX == 1024, "said below");
            return fail_file(compile->error, file->path, STATUS_LIMIT,
                             "is one prefab too many: a place has at most 1024");
        }
        PlacePrefabDoc prefab = {0};
        const JsonNode *root = NULL;
        const Status status = parse_file(compile, file, &place_table_prefab, &prefab, &root);
        if (status != STATUS_OK) {
            return status;
        }
        prefab.name = name;
        const uint32_t at = insert_prefab(compile, name);
        doc->prefabs[at] = prefab;
        compile->prefabs[at] = root;
        compile->prefab_paths[at] = file->path;
        if (at > 0 && text_equal(doc->prefabs[at - 1].name, name)) {
            return fail_file(compile->error, file->path, STATUS_EXISTS, "is there twice");
        }
    }
    return STATUS_OK;
}

// The paths of the assets, sorted: the order of files does not reach the bytes. Their contents are
// not part of a scene.
static Status list_assets(Compile *compile)
{
    PlaceDoc *doc = &compile->doc;
    doc->assets =
        place_scratch_take(&compile->scratch, compile->file_count + 1u, sizeof doc->assets[0]);
    if (doc->assets == NULL) {
        return fail_file(compile->error, "assets", STATUS_LIMIT, "need too much memory");
    }
    for (uint32_t i = 0; i < compile->file_count; i++) {
        const Text path = text_from(compile->files[i].path);
        if (!asset_name_is_asset(path) || !text_is_valid(path.data, path.bytes)) {
            continue;
        }
        if (doc->asset_count == PAINT_ASSETS_MAX) {
            _Static_assert(PAINT_ASSETS_MAX == 4000, "said below");
            return fail_file(compile->error, compile->files[i].path, STATUS_LIMIT,
                             "is one asset too many: a place has at most 4000");
        }
        uint32_t at = doc->asset_count++;
        for (; at > 0 && text_compare(doc->assets[at - 1], path) > 0; at--) {
            doc->assets[at] = doc->assets[at - 1];
        }
        doc->assets[at] = path;
        if (at > 0 && text_equal(doc->assets[at - 1], path)) {
            return fail_file(compile->error, compile->files[i].path, STATUS_EXISTS,
                             "is there twice");
        }
    }
    return STATUS_OK;
}

// Extents that a shape does not use do not make two places different.
static void tidy_shape(PlaceShapeDoc *shape)
{
    if (shape->kind == SHAPE_SPHERE) {
        shape->size = vec3(shape->size.x, shape->size.x, shape->size.x);
    } else if (shape->kind == SHAPE_CYLINDER) {
        shape->size.z = shape->size.x;
    }
}

// Nor does how an asset is called; its path is found fastest.
static void tidy_asset(const PlaceDoc *doc, PaintMember member, Text *name)
{
    const AssetNames assets = place_assets(doc);
    const uint32_t number = asset_name_find(&assets, member, *name);
    *name = number != 0 ? doc->assets[number - 1] : *name;
}

static void tidy_look(const PlaceDoc *doc, PlaceLookDoc *look)
{
    tidy_asset(doc, PAINT_TEXTURE, &look->texture);
    tidy_asset(doc, PAINT_MODEL, &look->model);
}

// Nor does which text of a script the scene was last built with: the manifest has the scripts.
static void tidy_body(const PlaceDoc *doc, PlaceBodyDoc *body)
{
    tidy_shape(&body->shape);
    tidy_look(doc, &body->look);
    body->script_ref.code_hash = PLACE_TEXT_NONE;
}

static void tidy(Compile *compile)
{
    PlaceDoc *doc = &compile->doc;
    for (uint32_t i = 0; i < doc->scene.entities.count; i++) {
        tidy_body(doc, &place_entity(doc, i)->body);
    }
    for (uint32_t i = 0; i < doc->prefab_count; i++) {
        tidy_body(doc, &doc->prefabs[i].body);
    }
    PlacePieceDoc *pieces = doc->settings.catalogue.items;
    for (uint32_t i = 0; i < doc->settings.catalogue.count; i++) {
        tidy_look(doc, &pieces[i].look);
    }
    for (uint32_t i = 0; i < doc->scene.terrain.count; i++) {
        PlaceFillDoc *fill = place_fill(doc, i);
        const PlaceFile *file = fill->chunk.bytes == 0 ? NULL : find_file(compile, fill->chunk);
        if (file != NULL && file->bytes <= UINT32_MAX) {
            fill->data = file->data;
            fill->data_bytes = (uint32_t)file->bytes;
        }
    }
}

// Of a document there is no line.
static Status report_object(Compile *compile, const char *path, const PlaceFault *fault)
{
    *compile->error = (PlaceError){.status = fault->status, .where = {.status = fault->status}};
    char *message = compile->error->where.message;
    ByteWriter out = byte_writer(message, JSON_MESSAGE_BYTES - 1); // longer ones are cut
    char where[48] = "";
    if (fault->entity != 0) {
        (void)snprintf(where, sizeof where, "entity %u: ", (unsigned)fault->entity);
    } else if (fault->list != NULL) {
        (void)snprintf(where, sizeof where, "%.24s[%u]: ", fault->list, (unsigned)fault->index);
    }
    const char *const words[] = {where, fault->member != NULL ? fault->member : "",
                                 fault->member != NULL ? " " : "", fault->message};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t room = out.capacity - out.at, bytes = strlen(words[i]);
        byte_write_bytes(&out, words[i], bytes < room ? bytes : room);
    }
    message[out.at] = '\0';
    (void)snprintf(compile->error->path, sizeof compile->error->path, "%s", path);
    return fault->status;
}

static Status report(Compile *compile, const PlaceFault *fault)
{
    const JsonNode *node = fault->part == PLACE_PART_SETTINGS ? compile->settings
                           : fault->part == PLACE_PART_SCENE  ? compile->scene
                                                              : compile->prefabs[fault->prefab];
    const char *path = fault->part == PLACE_PART_SETTINGS ? "place.json"
                       : fault->part == PLACE_PART_SCENE  ? "scene.json"
                                                          : compile->prefab_paths[fault->prefab];
    if (node == NULL) {
        return report_object(compile, path, fault);
    }
    if (fault->list != NULL) {
        node = json_at(json_find(node, fault->list), fault->index);
        ASSERT(node != NULL);
    }
    const JsonNode *member = fault->member == NULL ? node : json_find(node, fault->member);
    JsonError where = {0};
    if (member != NULL) {
        json_fail(&where, fault->status, member, "%s", fault->message);
    } else {
        json_fail_member(&where, fault->status, node, fault->member, "%s", fault->message);
    }
    return fail_json(compile->error, path, &where);
}

static Status check_all(Compile *compile)
{
    PlaceFault fault;
    if (place_check(&compile->doc, &compile->scratch, &fault) != STATUS_OK) {
        return report(compile, &fault);
    }
    ChunkStore *store = NULL;
    uint32_t bad = UINT32_MAX;
    const Status status = place_terrain(compile->heap, &compile->doc, &store, &bad);
    chunk_store_destroy(compile->heap, store);
    if (status != STATUS_OK) {
        fault = (PlaceFault){.status = status, .part = PLACE_PART_SCENE, .list = "terrain"};
        fault.index = bad;
        if (bad == UINT32_MAX) {
            fault.list = NULL;
            fault.member = "terrain";
        }
        (void)snprintf(fault.message, sizeof fault.message, "cannot be made: %s",
                       status_text(status));
        return report(compile, &fault);
    }
    return STATUS_OK;
}

// Whatever is not in place.json and scene.json, and the rules.
static Status finish_place(Compile *compile)
{
    Status status = parse_prefabs(compile);
    if (status == STATUS_OK) {
        status = list_assets(compile);
    }
    if (status == STATUS_OK) {
        tidy(compile);
        status = check_all(compile);
    }
    return status;
}

Status place_compile(Heap *heap, const PlaceFile *files, uint32_t file_count, ByteWriter *whole,
                     PlaceError *error)
{
    PlaceError ignored;
    Compile compile = {.heap = heap,
                       .scratch = {.heap = heap},
                       .files = files,
                       .file_count = file_count,
                       .error = error != NULL ? error : &ignored};
    *compile.error = (PlaceError){0};
    Status status = parse_named(&compile, "place.json", &place_table_settings,
                                &compile.doc.settings, &compile.settings);
    if (status == STATUS_OK) {
        status = parse_named(&compile, "scene.json", &place_table_scene, &compile.doc.scene,
                             &compile.scene);
    }
    if (status == STATUS_OK) {
        status = finish_place(&compile);
    }
    if (status == STATUS_OK) {
        place_doc_write(&compile.doc, whole);
        status = whole->status;
        if (status != STATUS_OK) {
            (void)fail_file(compile.error, "scene.json", status, "is too large when compiled");
        }
    }
    place_scratch_free(&compile.scratch);
    return status;
}

Status place_doc_finish(PlaceDoc *doc, PlaceScratch *scratch, const PlaceFile *files,
                        uint32_t file_count, PlaceError *error)
{
    Compile compile = {.heap = scratch->heap,
                       .scratch = *scratch,
                       .files = files,
                       .file_count = file_count,
                       .error = error,
                       .doc = *doc};
    *error = (PlaceError){0};
    const Status status = finish_place(&compile);
    *scratch = compile.scratch;
    *doc = compile.doc;
    return status;
}

// --- stripping ----------------------------------------------------------------------------------

static PlaceRotation exact_rotation(Quat q)
{
    if (memcmp(&q, &QUAT_IDENTITY, sizeof q) == 0) {
        return (PlaceRotation){0};
    }
    return (PlaceRotation){PLACE_ROTATION_QUATERNION, {q.x, q.y, q.z, q.w}};
}

// The attributes that clients may have, in place: entities by net id, nothing about saving.
static void strip_attributes(PlaceList *list)
{
    PlaceAttribute *attributes = list->items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        PlaceAttribute attribute = attributes[i];
        const uint32_t hidden = PLACE_ATTRIBUTE_PRIVATE | PLACE_ATTRIBUTE_OWNER;
        if ((attribute.flags & hidden) != 0 || attribute.is_hidden) {
            continue;
        }
        attribute.flags = 0;
        attribute.entity = (uint32_t)attribute.net_id;
        attributes[kept++] = attribute;
    }
    list->count = kept;
}

// By its service, or because of `contexts` in the place (NULL: none).
static bool is_kept_from_clients(Text script, const JsonNode *contexts)
{
    for (const JsonNode *row = contexts != NULL ? contexts->first : NULL; row != NULL;
         row = row->next) {
        if (row->name_bytes == script.bytes && memcmp(row->name, script.data, script.bytes) == 0) {
            return !json_text_equal(row, "Both") && !json_text_equal(row, "Client");
        }
    }
    return place_script_is_server_only(script);
}

static void strip_body(PlaceBodyDoc *body, const JsonNode *contexts)
{
    strip_attributes(&body->attributes);
    body->script_path = place_script_plain(place_script(body));
    body->script_ref = (PlaceScriptDoc){PLACE_TEXT_NONE, PLACE_TEXT_NONE};
    if (body->script_path.bytes != 0 && is_kept_from_clients(body->script_path, contexts)) {
        body->script_path = PLACE_TEXT_NONE;
        body->parameters = PLACE_TEXT_NONE;
    }
}

static Status strip_entities(const PlaceDoc *doc, const JsonNode *contexts, PlaceScratch *scratch,
                             PlaceList *out)
{
    const uint32_t most = doc->part_count + doc->spawn_count;
    PlaceEntityDoc *kept = place_scratch_take(scratch, most + 1u, sizeof *kept);
    if (kept == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t count = 0;
    uint32_t spawn_id = doc->part_count + doc->entity_count;
    for (uint32_t i = 0; i < doc->scene.entities.count; i++) {
        PlaceEntityDoc entity = *place_entity(doc, i);
        if (entity.role != PLACE_ROLE_SCENE_PART && entity.role != PLACE_ROLE_SPAWN) {
            continue;
        }
        const bool is_spawn = entity.role == PLACE_ROLE_SPAWN;
        strip_body(&entity.body, contexts);
        entity.id = is_spawn ? ++spawn_id : (uint32_t)entity.net_id;
        entity.enabled = entity.enabled || entity.body.script_path.bytes == 0;
        entity.parent = 0;
        entity.transform.position = entity.pose.position;
        entity.transform.rotation = exact_rotation(entity.pose.rotation);
        kept[count++] = entity;
    }
    *out = (PlaceList){kept, count};
    return STATUS_OK;
}

// The scripts of entities that are spawned; all else of them is replicated.
static Status strip_spawned(PlaceDoc *doc, const JsonNode *contexts, PlaceScratch *scratch)
{
    doc->spawned = place_scratch_take(scratch, doc->entity_count + 1u, sizeof doc->spawned[0]);
    if (doc->spawned == NULL) {
        return STATUS_LIMIT;
    }
    doc->spawned_count = 0;
    for (uint32_t i = 0; i < doc->scene.entities.count; i++) {
        const PlaceEntityDoc *entity = place_entity(doc, i);
        if (entity->role != PLACE_ROLE_ENTITY || entity->body.server_only) {
            continue;
        }
        PlaceBodyDoc body = entity->body;
        body.attributes.count = 0; // these are replicated
        strip_body(&body, contexts);
        if (body.script_path.bytes != 0) {
            doc->spawned[doc->spawned_count++] =
                (PlaceSpawnedDoc){.net_id = (uint32_t)entity->net_id,
                                  .script_path = body.script_path,
                                  .parameters = body.parameters,
                                  .enabled = entity->enabled};
        }
    }
    return STATUS_OK;
}

static void strip_prefabs(PlaceDoc *doc, const JsonNode *contexts)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < doc->prefab_count; i++) {
        PlacePrefabDoc prefab = doc->prefabs[i];
        if (!prefab.body.server_only) {
            strip_body(&prefab.body, contexts);
            doc->prefabs[kept++] = prefab;
        }
    }
    doc->prefab_count = kept;
}

Status place_doc_strip(PlaceDoc *doc, PlaceScratch *scratch, ByteWriter *stripped)
{
    PlaceList entities = {0};
    const JsonNode *contexts = NULL;
    Status status = doc->stripped ? STATUS_MISMATCH : STATUS_OK;
    if (status == STATUS_OK && doc->settings.contexts.bytes > 0) {
        const Text text = doc->settings.contexts;
        JsonError error = {0};
        status = place_json_parse(scratch, text.data, text.bytes, &contexts, &error);
    }
    if (status == STATUS_OK && contexts != NULL && contexts->kind != JSON_OBJECT) {
        status = STATUS_MALFORMED; // then it is unknown what to hide from clients
    }
    if (status == STATUS_OK) {
        status = strip_spawned(doc, contexts, scratch);
    }
    if (status == STATUS_OK) {
        status = strip_entities(doc, contexts, scratch, &entities);
    }
    if (status == STATUS_OK) {
        strip_prefabs(doc, contexts);
        doc->scene.entities = entities;
        doc->stripped = true;
        place_doc_write(doc, stripped);
        status = stripped->status;
    }
    return status;
}

Status place_strip(Heap *heap, const uint8_t *whole, size_t bytes, ByteWriter *stripped)
{
    PlaceScratch scratch = {.heap = heap};
    PlaceDoc doc;
    Status status = place_doc_read(whole, bytes, &scratch, &doc);
    if (status == STATUS_OK) {
        status = place_doc_strip(&doc, &scratch, stripped);
    }
    place_scratch_free(&scratch);
    return status;
}

// --- the files again ----------------------------------------------------------------------------

static Status print_file(PlaceScratch *scratch, const char *path, const PlaceTable *table,
                         const void *item, PlaceFileSink sink, void *user)
{
    ByteWriter out = byte_counter();
    uint8_t *text = NULL;
    for (uint32_t pass = 0; pass < 2; pass++) {
        JsonWriter writer = json_writer(&out, 2);
        place_table_to_json(table, item, scratch, &writer);
        byte_write_u8(&out, '\n');
        const Status status = json_writer_finish(&writer);
        if (status != STATUS_OK) {
            return status;
        }
        if (pass == 0) {
            text = place_scratch_take(scratch, out.at, 1);
            if (text == NULL) {
                return STATUS_LIMIT;
            }
            out = byte_writer(text, out.at);
        }
    }
    sink(user, &(PlaceFile){path, text, out.at});
    return STATUS_OK;
}

static Status print_all(PlaceScratch *scratch, const PlaceDoc *doc, PlaceFileSink sink, void *user)
{
    Status status =
        print_file(scratch, "place.json", &place_table_settings, &doc->settings, sink, user);
    if (status == STATUS_OK) {
        status = print_file(scratch, "scene.json", &place_table_scene, &doc->scene, sink, user);
    }
    for (uint32_t i = 0; i < doc->prefab_count && status == STATUS_OK; i++) {
        char path[8 + PLACE_NAME_BYTES + 6];
        (void)snprintf(path, sizeof path, "prefabs/%s.json", doc->prefabs[i].name.data);
        status = print_file(scratch, path, &place_table_prefab, &doc->prefabs[i], sink, user);
    }
    for (uint32_t i = 0; i < doc->scene.terrain.count && status == STATUS_OK; i++) {
        const PlaceFillDoc *fill = place_fill(doc, i);
        bool is_new = fill->chunk.bytes != 0;
        for (uint32_t before = 0; before < i && is_new; before++) {
            is_new = !text_equal(place_fill(doc, before)->chunk, fill->chunk);
        }
        if (is_new) {
            sink(user, &(PlaceFile){fill->chunk.data, fill->data, fill->data_bytes});
        }
    }
    for (uint32_t i = 0; i < doc->asset_count && status == STATUS_OK; i++) {
        sink(user, &(PlaceFile){doc->assets[i].data, (const uint8_t *)"", 0});
    }
    return status;
}

Status place_decompile(Heap *heap, const uint8_t *whole, size_t bytes, PlaceFileSink sink,
                       void *user)
{
    PlaceScratch scratch = {.heap = heap};
    PlaceDoc doc;
    Status status = place_doc_read(whole, bytes, &scratch, &doc);
    if (status == STATUS_OK) {
        status = print_all(&scratch, &doc, sink, user);
    }
    place_scratch_free(&scratch);
    return status;
}
