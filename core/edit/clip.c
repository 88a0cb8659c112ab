// See clip.h. The clip comes from a stranger: any bytes are refused or give valid entities.
#include "core/edit/clip.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "core/edit/apply_inside.h"

#include <string.h>

#define FORMAT 1

// --- copying ------------------------------------------------------------------------------------

static bool is_below_marked(EditDoc *doc, uint32_t id)
{
    for (uint32_t at = id; at != 0; at = edit_doc_parent(doc, at)) {
        if (edit_item_find(doc, EDIT_ENTITY, at)->is_marked) {
            return true;
        }
    }
    return false;
}

static Status write_entity(EditDoc *doc, uint32_t id, bool is_top, EditBuffer *out)
{
    PlaceScratch scratch = {.heap = doc->heap};
    EditObject object;
    Status status = edit_doc_read(doc, EDIT_ENTITY, id, &scratch, &object);
    if (status == STATUS_OK) {
        object.entity.parent = is_top ? 0 : object.entity.parent;
        edit_buffer_clear(&doc->work);
        edit_record_write(EDIT_ENTITY, &object, &doc->work);
        edit_buffer_block(out, doc->work.data, doc->work.bytes);
        status = doc->work.status != STATUS_OK ? doc->work.status : out->status;
    }
    place_scratch_free(&scratch);
    return status;
}

// Level by level, so that parents come first.
static Status write_levels(EditDoc *doc, EditBuffer *out)
{
    const EditList *list = edit_list(doc, EDIT_ENTITY);
    Status status = STATUS_OK;
    for (uint32_t level = 0; level <= PLACE_PARENTS_MAX && status == STATUS_OK; level++) {
        for (uint32_t slot = list->first; slot != 0 && status == STATUS_OK;
             slot = list->items[slot].after) {
            const EditItem *item = &list->items[slot];
            if (edit_depth_below(doc, item->parent) == level && is_below_marked(doc, item->id)) {
                const bool is_top = item->parent == 0 || !is_below_marked(doc, item->parent);
                status = write_entity(doc, item->id, is_top, out);
            }
        }
    }
    return status;
}

Status edit_clip_write(EditDoc *doc, const uint32_t *ids, uint32_t count, EditBuffer *out)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < count; i++) {
        EditItem *item = edit_item_find(doc, EDIT_ENTITY, ids[i]);
        if (item == NULL) {
            status = STATUS_NOT_FOUND;
        } else {
            item->is_marked = true;
        }
    }
    const EditList *list = edit_list(doc, EDIT_ENTITY);
    uint32_t total = 0;
    for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
        total += is_below_marked(doc, list->items[slot].id);
    }
    if (status == STATUS_OK) {
        edit_buffer_u8(out, FORMAT);
        edit_buffer_varint(out, edit_member_mark());
        edit_buffer_varint(out, total);
        status = write_levels(doc, out);
    }
    for (uint32_t i = 0; i < count; i++) {
        EditItem *item = edit_item_find(doc, EDIT_ENTITY, ids[i]);
        if (item != NULL) {
            item->is_marked = false;
        }
    }
    return status;
}

// --- pasting ------------------------------------------------------------------------------------

typedef struct Paste {
    EditApply *apply;
    const EditOp *op;
    EditBuffer *out; // NULL: the entities are added to the document; else creations are written
    uint32_t count;
    uint32_t *new_ids;
    IdMap old; // id in the clip → index + 1
    IdMap taken;
    void *block;
} Paste;

static Status refuse(Paste *paste, Status status)
{
    return edit_error(paste->apply->error, status, 0, "pastes something that cannot be read: %s",
                      status_text(status));
}

static uint32_t paste_id(const Paste *paste, uint32_t index)
{
    for (uint64_t attempt = 0;; attempt++) {
        Hash64 hash = HASH64_INIT;
        hash_u32(&hash, paste->op->seed);
        hash_u32(&hash, index);
        hash_u64(&hash, attempt);
        const uint32_t id = (uint32_t)hash.state;
        if (id != 0 && !edit_doc_has(paste->apply->doc, EDIT_ENTITY, id) &&
            id_map_find(&paste->taken, id) == 0) {
            return id;
        }
    }
}

static Status make_maps(Paste *paste)
{
    Heap *heap = paste->apply->doc->heap;
    const size_t bytes = 2 * arena_need(id_map_bytes(paste->count + 1)) +
                         arena_need(heap_array_bytes(paste->count + 1u, sizeof(uint32_t))) + 64;
    paste->block = heap_alloc(heap, bytes);
    if (paste->block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, paste->block, bytes);
    Status status = id_map_init(&paste->old, &arena, paste->count + 1);
    if (status == STATUS_OK) {
        status = id_map_init(&paste->taken, &arena, paste->count + 1);
    }
    paste->new_ids = arena_array(&arena, paste->count + 1u, sizeof(uint32_t));
    return status == STATUS_OK && paste->new_ids == NULL ? STATUS_LIMIT : status;
}

// Gives every entity of the clip its new id, before any of them is made: they may name each other.
static Status number(Paste *paste, ByteReader reader)
{
    for (uint32_t i = 0; i < paste->count; i++) {
        size_t bytes;
        const uint8_t *record = edit_read_block(&reader, &bytes);
        if (record == NULL) {
            return reader.status;
        }
        EditObject object;
        const Status status =
            edit_record_read(EDIT_ENTITY, record, bytes, &paste->apply->scratch, &object);
        if (status != STATUS_OK) {
            return status;
        }
        if (id_map_find(&paste->old, object.entity.id) != 0) {
            return STATUS_EXISTS;
        }
        const uint32_t id = paste_id(paste, i);
        id_map_put(&paste->old, object.entity.id, i + 1);
        id_map_put(&paste->taken, id, 1);
        paste->new_ids[i] = id;
    }
    return byte_reader_finish(&reader);
}

static Status renew(Paste *paste, uint32_t index, PlaceEntityDoc *entity)
{
    if (entity->parent == 0) {
        entity->parent = paste->op->parent;
        entity->transform.position = vec3_add(entity->transform.position, paste->op->offset);
        if (!place_is_in_world(entity->transform.position)) {
            return STATUS_RANGE;
        }
    } else {
        const uint32_t above = id_map_find(&paste->old, entity->parent);
        if (above == 0 || above > index) {
            return STATUS_MALFORMED;
        }
        entity->parent = paste->new_ids[above - 1];
    }
    entity->id = paste->new_ids[index];
    PlaceAttribute *attributes = entity->body.attributes.items;
    for (uint32_t i = 0; i < entity->body.attributes.count; i++) {
        const uint32_t named = attributes[i].type == PLACE_VALUE_ENTITY
                                   ? id_map_find(&paste->old, attributes[i].entity)
                                   : 0;
        attributes[i].entity = named != 0 ? paste->new_ids[named - 1] : attributes[i].entity;
    }
    return STATUS_OK;
}

// The record is in doc->work.
static Status add_entity(Paste *paste, const PlaceEntityDoc *entity)
{
    EditDoc *doc = paste->apply->doc;
    const EditWhere where = {EDIT_AT_END, 0};
    if (paste->out == NULL) {
        return edit_apply_add(paste->apply, EDIT_ENTITY, entity->id, entity->parent, where);
    }
    edit_op_create(paste->out, where, doc->work.data, doc->work.bytes);
    return paste->out->status == STATUS_OK
               ? STATUS_OK
               : edit_error(paste->apply->error, paste->out->status, 0,
                            "pastes too much at once; copy it in smaller pieces");
}

static Status add_all(Paste *paste, ByteReader reader)
{
    EditDoc *doc = paste->apply->doc;
    for (uint32_t i = 0; i < paste->count; i++) {
        size_t bytes;
        const uint8_t *record = edit_read_block(&reader, &bytes);
        EditObject object;
        Status status = edit_apply_record(paste->apply, EDIT_ENTITY, record, bytes, &object);
        if (status != STATUS_OK) {
            return status;
        }
        status = renew(paste, i, &object.entity);
        if (status != STATUS_OK) {
            return refuse(paste, status);
        }
        edit_buffer_clear(&doc->work);
        edit_record_write(EDIT_ENTITY, &object, &doc->work);
        status = doc->work.status != STATUS_OK ? refuse(paste, doc->work.status)
                                               : add_entity(paste, &object.entity);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static Status paste_clip(Paste *paste, ByteReader *reader)
{
    const uint8_t format = byte_read_u8(reader);
    const uint64_t mark = byte_read_varint(reader);
    if (reader->status == STATUS_OK && (format != FORMAT || mark != edit_member_mark())) {
        return refuse(paste, STATUS_UNSUPPORTED);
    }
    const uint64_t count = byte_read_varint(reader);
    if (reader->status == STATUS_OK && count > EDIT_CLIP_ENTITIES_MAX) {
        return edit_error(paste->apply->error, STATUS_LIMIT, 0,
                          "pastes more than %d things at once; copy it in smaller pieces",
                          EDIT_CLIP_ENTITIES_MAX);
    }
    paste->count = (uint32_t)count;
    if (paste->count > byte_reader_left(reader)) {
        byte_reader_fail(reader, STATUS_TRUNCATED);
    }
    Status status = reader->status;
    if (status == STATUS_OK) {
        status = make_maps(paste);
    }
    if (status == STATUS_OK) {
        status = number(paste, *reader);
    }
    return status != STATUS_OK ? refuse(paste, status) : add_all(paste, *reader);
}

static Status paste_op(EditApply *apply, const EditOp *op, EditBuffer *out)
{
    EditDoc *doc = apply->doc;
    Paste paste = {.apply = apply, .op = op, .out = out};
    size_t bytes = 0;
    const uint8_t *clip =
        doc->blobs.find == NULL ? NULL : doc->blobs.find(doc->blobs.user, op->hash, &bytes);
    if (clip == NULL || bytes > EDIT_CLIP_BYTES_MAX) {
        return edit_error(apply->error, STATUS_NOT_FOUND, 0,
                          "pastes something that is not stored here; copy it again");
    }
    ByteReader reader = byte_reader(clip, bytes);
    const Status status = paste_clip(&paste, &reader);
    heap_free(doc->heap, paste.block);
    return status;
}

Status edit_apply_paste(EditApply *apply, const EditOp *op)
{
    return paste_op(apply, op, NULL);
}

// --- a paste as creations -----------------------------------------------------------------------

static uint32_t count_pastes(const uint8_t *ops, size_t bytes)
{
    ByteReader reader = byte_reader(ops, bytes);
    EditError error;
    EditOp op;
    uint32_t count = 0;
    if (edit_ops_open(&reader, &error) == STATUS_OK) {
        while (edit_op_read(&reader, &op, &error)) {
            count += op.type == EDIT_PASTE;
        }
    }
    return reader.status == STATUS_OK ? count : 0;
}

Status edit_paste_expand(EditDoc *doc, const uint8_t *ops, size_t bytes, EditBuffer *out,
                         EditError *error)
{
    const uint32_t count = count_pastes(ops, bytes);
    if (count == 0) {
        return STATUS_OK;
    }
    if (count > 1) {
        return edit_error(error, STATUS_UNSUPPORTED, 0, "pastes twice in one step");
    }
    EditApply apply = {.doc = doc, .scratch = {.heap = doc->heap}, .error = error};
    ByteReader reader = byte_reader(ops, bytes);
    Status status = edit_ops_open(&reader, error);
    edit_ops_begin(out);
    for (size_t from = reader.at; status == STATUS_OK; from = reader.at) {
        EditOp op;
        if (!edit_op_read(&reader, &op, error)) {
            break;
        }
        if (op.type == EDIT_PASTE) {
            status = paste_op(&apply, &op, out);
        } else {
            edit_buffer_append(out, ops + from, reader.at - from);
        }
    }
    place_scratch_free(&apply.scratch);
    if (status == STATUS_OK && out->status != STATUS_OK) {
        status = edit_error(error, out->status, 0, "is too much at once; do it in smaller steps");
    }
    return status;
}
