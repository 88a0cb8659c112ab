// See renumber.h.
#include "core/edit/renumber.h"

#include "core/base/check.h"

uint32_t edit_renumber(EditRenumbers pairs, EditKind kind, uint32_t id)
{
    for (uint32_t i = 0; i < pairs.count; i++) {
        if (pairs.items[i].kind == kind && pairs.items[i].from == id) {
            return pairs.items[i].to;
        }
    }
    return id;
}

uint32_t edit_op_created(Heap *heap, const EditOp *op)
{
    if (op->type == EDIT_FILL) {
        return op->id;
    }
    if (op->type != EDIT_CREATE) {
        return 0;
    }
    PlaceScratch scratch = {.heap = heap};
    EditObject object;
    const Status status =
        edit_record_read(EDIT_ENTITY, op->record, op->record_bytes, &scratch, &object);
    place_scratch_free(&scratch);
    return status == STATUS_OK ? object.entity.id : 0;
}

static EditWhere where_of(EditRenumbers pairs, const EditOp *op)
{
    return (EditWhere){op->where.spot, edit_renumber(pairs, op->kind, op->where.id)};
}

static void renumber_attributes(EditRenumbers pairs, PlaceList *list)
{
    PlaceAttribute *attributes = list->items;
    for (uint32_t i = 0; i < list->count; i++) {
        attributes[i].entity = edit_renumber(pairs, EDIT_ENTITY, attributes[i].entity);
    }
}

static Status write_create(Heap *heap, const EditOp *op, EditRenumbers pairs, EditBuffer *out)
{
    PlaceScratch scratch = {.heap = heap};
    EditBuffer record = edit_buffer(heap, SIZE_MAX / 2);
    EditObject object;
    Status status = edit_record_read(EDIT_ENTITY, op->record, op->record_bytes, &scratch, &object);
    if (status == STATUS_OK) {
        object.entity.id = edit_renumber(pairs, EDIT_ENTITY, object.entity.id);
        object.entity.parent = edit_renumber(pairs, EDIT_ENTITY, object.entity.parent);
        renumber_attributes(pairs, &object.entity.body.attributes);
        edit_record_write(EDIT_ENTITY, &object, &record);
        status = record.status;
        edit_op_create(out, where_of(pairs, op), record.data, record.bytes);
    }
    edit_buffer_free(&record);
    place_scratch_free(&scratch);
    return status;
}

// A value that names an entity names it by its new id.
static Status write_value(Heap *heap, const EditMember *member, const uint8_t *value, size_t bytes,
                          EditRenumbers pairs, EditBuffer *out)
{
    if (member->field->type != PLACE_ATTRIBUTES) {
        edit_buffer_block(out, value, bytes);
        return STATUS_OK;
    }
    PlaceScratch scratch = {.heap = heap};
    EditBuffer again = edit_buffer(heap, SIZE_MAX / 2);
    EditObject object = {0};
    Status status = edit_value_read(member, value, bytes, &scratch, &object);
    if (status == STATUS_OK) {
        renumber_attributes(pairs, (PlaceList *)((uint8_t *)&object + member->offset));
        edit_value_write(member, &object, &again);
        status = again.status;
        edit_buffer_block(out, again.data, again.bytes);
    }
    edit_buffer_free(&again);
    place_scratch_free(&scratch);
    return status;
}

static Status write_set(Heap *heap, const EditOp *op, EditRenumbers pairs, EditBuffer *out)
{
    EditMember member;
    if (!edit_member_at(edit_kind_table(op->kind), op->member, &member)) {
        return STATUS_UNSUPPORTED;
    }
    edit_op_set(out, op->kind, op->member, op->target_count);
    ByteReader targets = op->targets;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < op->target_count && status == STATUS_OK; i++) {
        const uint8_t *value;
        size_t bytes;
        const uint32_t id = edit_op_target(op, &targets, &value, &bytes);
        edit_buffer_varint(out, edit_renumber(pairs, op->kind, id));
        status = write_value(heap, &member, value, bytes, pairs, out);
    }
    return status;
}

static Status write_targets(Heap *heap, const EditOp *op, EditRenumbers pairs, EditBuffer *out)
{
    uint32_t *ids = heap_alloc(heap, heap_array_bytes(op->target_count + 1u, sizeof *ids));
    if (ids == NULL) {
        return STATUS_LIMIT;
    }
    ByteReader targets = op->targets;
    for (uint32_t i = 0; i < op->target_count; i++) {
        const uint8_t *value;
        size_t bytes;
        ids[i] = edit_renumber(pairs, op->kind, edit_op_target(op, &targets, &value, &bytes));
    }
    if (op->type == EDIT_DELETE) {
        edit_op_delete(out, op->kind, ids, op->target_count);
    } else {
        const uint32_t parent = edit_renumber(pairs, EDIT_ENTITY, op->parent);
        const EditWhere where = where_of(pairs, op);
        edit_op_move(out, op->has_parent ? &parent : NULL, op->has_where ? &where : NULL, ids,
                     op->target_count);
    }
    heap_free(heap, ids);
    return STATUS_OK;
}

static Status write_op(Heap *heap, const EditOp *op, EditRenumbers pairs, EditBuffer *out)
{
    switch (op->type) {
    case EDIT_CREATE:
        return write_create(heap, op, pairs, out);
    case EDIT_SET:
        return write_set(heap, op, pairs, out);
    case EDIT_DELETE:
    case EDIT_MOVE:
        return write_targets(heap, op, pairs, out);
    case EDIT_FILL:
        edit_op_fill(out, edit_renumber(pairs, EDIT_TERRAIN, op->id), where_of(pairs, op),
                     op->record, op->record_bytes);
        return STATUS_OK;
    case EDIT_PASTE:
        edit_op_paste(out, op->hash, op->seed, edit_renumber(pairs, EDIT_ENTITY, op->parent),
                      op->offset);
        return STATUS_OK;
    case EDIT_FILE:
        edit_op_file(out, op->path, op->hash, op->known_hash);
        return STATUS_OK;
    case EDIT_RENAME:
        edit_op_rename(out, op->path, op->path_to, op->known_hash);
        return STATUS_OK;
    }
    return STATUS_UNSUPPORTED;
}

Status edit_renumber_ops(Heap *heap, const uint8_t *bytes, size_t count, EditRenumbers pairs,
                         EditBuffer *out)
{
    ByteReader reader = byte_reader(bytes, count);
    EditError error;
    Status status = edit_ops_open(&reader, &error);
    edit_ops_begin(out);
    EditOp op;
    while (status == STATUS_OK && edit_op_read(&reader, &op, &error)) {
        status = write_op(heap, &op, pairs, out);
    }
    status = status == STATUS_OK ? reader.status : status;
    return status != STATUS_OK ? status : out->status;
}
