// Reading the two texts of a document, and where things are in them. See text.h.
#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/edit/scan.h"
#include "core/edit/text_inside.h"

#include <stdio.h>
#include <string.h>

typedef struct Read {
    EditDoc *doc;
    PlaceScratch scratch;
    PlaceError *error;
} Read;

static Status fail(Read *read, const char *path, const JsonError *where)
{
    *read->error = (PlaceError){.status = where->status, .where = *where};
    (void)snprintf(read->error->path, sizeof read->error->path, "%s", path);
    return where->status;
}

static Status parse_file(Read *read, const char *path, Text text, EditKind kind, EditObject *object,
                         const JsonNode **root)
{
    JsonError where = {0};
    Status status = place_json_parse(&read->scratch, text.data, text.bytes, root, &where);
    if (status == STATUS_OK) {
        memset(object, 0, sizeof *object);
        place_table_from_json(edit_kind_table(kind), *root, &read->scratch, object, &where);
        status = where.status;
    }
    return status == STATUS_OK ? STATUS_OK : fail(read, path, &where);
}

static Status fail_entity(Read *read, const JsonNode *node, Status status)
{
    JsonError where = {0};
    const JsonNode *id = json_find(node, "id");
    const JsonNode *parent = json_find(node, "parent");
    if (status == STATUS_EXISTS) {
        json_fail(&where, status, id, "is used by an entity before; take another");
    } else if (status == STATUS_NOT_FOUND) {
        json_fail(&where, status, parent, "must be the id of an entity");
    } else if (parent != NULL) {
        json_fail(&where, status, parent, "has itself or more than %d others above it",
                  PLACE_PARENTS_MAX);
    } else {
        json_fail(&where, status, node, "is too much for one place");
    }
    return fail(read, "scene.json", &where);
}

static Status load_entities(Read *read, const PlaceList *list, const JsonNode *first)
{
    const PlaceEntityDoc *entities = list->items;
    const JsonNode *node = first;
    for (uint32_t i = 0; i < list->count; i++, node = node->next) {
        const EditObject object = {.entity = entities[i]};
        const Status status = edit_item_load(read->doc, EDIT_ENTITY, entities[i].id, &object);
        if (status != STATUS_OK) {
            return fail_entity(read, node, status);
        }
    }
    uint32_t bad = 0;
    const Status status = edit_doc_link(read->doc, &bad);
    for (uint32_t i = 0; i < list->count && status != STATUS_OK; i++, first = first->next) {
        if (entities[i].id == bad) {
            return fail_entity(read, first, status);
        }
    }
    return status;
}

static Status load_terrain(Read *read, const PlaceList *list, const uint32_t *ids)
{
    const PlaceFillDoc *fills = list->items;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < list->count && status == STATUS_OK; i++) {
        const EditObject object = {.fill = fills[i]};
        status = edit_item_load(read->doc, EDIT_TERRAIN, ids != NULL ? ids[i] : i + 1, &object);
    }
    if (status != STATUS_OK) {
        JsonError where = {.status = status, .path = "$.terrain"};
        (void)snprintf(where.message, sizeof where.message, "is too much for one place");
        return fail(read, "scene.json", &where);
    }
    return STATUS_OK;
}

static Status read_both(Read *read, EditTexts texts, const uint32_t *terrain)
{
    EditObject object;
    const JsonNode *root = NULL;
    Status status = parse_file(read, "place.json", texts.settings, EDIT_SETTINGS, &object, &root);
    if (status == STATUS_OK) {
        status = edit_item_load(read->doc, EDIT_SETTINGS, 0, &object);
    }
    if (status == STATUS_OK) {
        status = parse_file(read, "scene.json", texts.scene, EDIT_SCENE, &object, &root);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const PlaceSceneDoc scene = object.scene;
    object.scene.terrain = object.scene.entities = (PlaceList){0};
    status = edit_item_load(read->doc, EDIT_SCENE, 0, &object);
    if (status == STATUS_OK) {
        status = load_terrain(read, &scene.terrain, terrain);
    }
    if (status == STATUS_OK && scene.entities.count != 0) {
        status = load_entities(read, &scene.entities, json_find(root, "entities")->first);
    }
    return status;
}

Status edit_text_read(Heap *heap, EditBlobs blobs, EditTexts texts, const uint32_t *terrain,
                      EditDoc **out, PlaceError *error)
{
    *error = (PlaceError){0};
    Read read = {.scratch = {.heap = heap}, .error = error};
    Status status = edit_doc_create(heap, blobs, &read.doc);
    if (status != STATUS_OK) {
        error->status = error->where.status = status;
        return status;
    }
    status = read_both(&read, texts, terrain);
    place_scratch_free(&read.scratch);
    if (status != STATUS_OK) {
        error->status = error->where.status = status;
        edit_doc_destroy(read.doc);
        return status;
    }
    *out = read.doc;
    return STATUS_OK;
}

// --- spans --------------------------------------------------------------------------------------

static size_t begin_of(Text text)
{
    const bool has_mark = text.bytes >= 3 && memcmp(text.data, JSON_MARK, 3) == 0;
    return edit_scan_space(text.data, text.bytes, has_mark ? 3 : 0);
}

// The array of that name in the root; 0: there is none. Names in these files are found as written:
// the table has read the text, so there is no other spelling of them but escapes.
static size_t find_array(Text text, const char *name)
{
    EditScan scan = edit_scan(text.data, text.bytes, begin_of(text));
    EditPiece piece;
    const size_t bytes = strlen(name);
    while (edit_scan_next(&scan, &piece)) {
        if (piece.begin + bytes + 2 <= text.bytes && text.data[piece.begin + bytes + 1] == '"' &&
            memcmp(text.data + piece.begin + 1, name, bytes) == 0) {
            return piece.value_from;
        }
    }
    return 0;
}

Status edit_text_spans(Heap *heap, const EditDoc *doc, Text scene, EditKind kind, EditSpans *out)
{
    const uint32_t count = edit_doc_count(doc, kind);
    EditSpans spans = {.count = count};
    spans.items = heap_alloc(heap, heap_array_bytes(count + 1u, sizeof *spans.items));
    if (spans.items == NULL) {
        return STATUS_LIMIT;
    }
    const size_t array = find_array(scene, kind == EDIT_TERRAIN ? "terrain" : "entities");
    EditScan scan = edit_scan(scene.data, scene.bytes, array);
    uint32_t id = edit_doc_first(doc, kind);
    for (uint32_t i = 0; i < count; i++, id = edit_doc_next(doc, kind, id)) {
        EditPiece piece;
        if (array == 0 || !edit_scan_next(&scan, &piece)) {
            heap_free(heap, spans.items);
            return STATUS_UNSUPPORTED; // a name that is written with escapes
        }
        spans.items[i] = (EditSpan){id, edit_doc_version(doc, kind, id), (uint32_t)piece.value_from,
                                    (uint32_t)piece.value_to};
    }
    *out = spans;
    return STATUS_OK;
}
