// See compile.h.
#include "core/edit/compile.h"

#include "core/edit/doc_inside.h"

#include <stdio.h>
#include <string.h>

static Status fill_list(const EditDoc *doc, EditKind kind, size_t item_bytes, PlaceScratch *scratch,
                        PlaceList *out)
{
    const uint32_t count = edit_doc_count(doc, kind);
    uint8_t *items = place_scratch_take(scratch, count + 1u, item_bytes);
    if (items == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t id = edit_doc_first(doc, kind);
    for (uint32_t i = 0; i < count; i++, id = edit_doc_next(doc, kind, id)) {
        size_t bytes;
        const uint8_t *record = edit_doc_record(doc, kind, id, &bytes);
        ByteReader reader = byte_reader(record, bytes);
        place_table_read(edit_kind_table(kind), &reader, scratch, items + i * item_bytes);
        const Status status = byte_reader_finish(&reader);
        if (status != STATUS_OK) {
            return status;
        }
    }
    *out = (PlaceList){items, count};
    return STATUS_OK;
}

static Status list_terrain(const EditDoc *doc, PlaceScratch *scratch, uint32_t **out)
{
    const uint32_t count = edit_doc_count(doc, EDIT_TERRAIN);
    uint32_t *ids = place_scratch_take(scratch, count + 1u, sizeof *ids);
    if (ids == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t id = edit_doc_first(doc, EDIT_TERRAIN);
    for (uint32_t i = 0; i < count; i++, id = edit_doc_next(doc, EDIT_TERRAIN, id)) {
        ids[i] = id;
    }
    *out = ids;
    return STATUS_OK;
}

Status edit_place_doc(const EditDoc *doc, PlaceScratch *scratch, PlaceDoc *place,
                      uint32_t **terrain)
{
    *place = (PlaceDoc){0};
    EditObject object;
    Status status = list_terrain(doc, scratch, terrain);
    if (status == STATUS_OK) {
        status = edit_doc_read(doc, EDIT_SETTINGS, 0, scratch, &object);
    }
    if (status == STATUS_OK) {
        place->settings = object.settings;
        status = edit_doc_read(doc, EDIT_SCENE, 0, scratch, &object);
    }
    if (status == STATUS_OK) {
        place->scene = object.scene;
        status = fill_list(doc, EDIT_TERRAIN, sizeof(PlaceFillDoc), scratch, &place->scene.terrain);
    }
    return status != STATUS_OK ? status
                               : fill_list(doc, EDIT_ENTITY, sizeof(PlaceEntityDoc), scratch,
                                           &place->scene.entities);
}

static void write_place(const void *user, ByteWriter *writer)
{
    place_doc_write(user, writer);
}

Status edit_compile(const EditDoc *doc, const PlaceFile *files, uint32_t file_count,
                    EditBuffer *out, PlaceError *error)
{
    PlaceScratch scratch = {.heap = edit_doc_heap(doc)};
    PlaceDoc place;
    uint32_t *terrain;
    *error = (PlaceError){0};
    Status status = edit_place_doc(doc, &scratch, &place, &terrain);
    if (status == STATUS_OK) {
        status = place_doc_finish(&place, &scratch, files, file_count, error);
    }
    if (status == STATUS_OK) {
        // About what it takes, so that it is written once.
        (void)edit_buffer_reserve(out, doc->record_bytes + doc->record_bytes / 8 + 65536);
        edit_buffer_write(out, write_place, &place);
        status = out->status;
    }
    place_scratch_free(&scratch);
    if (status != STATUS_OK && error->status == STATUS_OK) {
        *error = (PlaceError){.status = status, .path = "scene.json"};
        (void)snprintf(error->where.message, sizeof error->where.message, "%s",
                       status_text(status));
    }
    return status;
}
