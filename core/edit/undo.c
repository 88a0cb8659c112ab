// See undo.h. Each operation that takes something back is filtered by its guards, applied, and
// appended to the transaction that the others get. Objects first: whether the file of a script may
// go depends on what is left then, and settings that came with a script stay with it.
#include "core/edit/undo.h"

#include "core/base/check.h"

typedef struct Undo {
    EditDoc *doc;
    const EditInverse *done;
    EditChunk chunk;
    EditBuffer *out;
    EditInverse *inverse;
    EditUndone *undone;
    bool keeps_script; // somebody uses a script that was to be deleted
} Undo;

typedef enum Pass { OBJECTS, FILES, SETTINGS, PASSES } Pass;

// Whether the member is still as the transaction left it.
static bool is_kept(const Undo *undo, const EditOp *op, uint32_t index, uint32_t id)
{
    if (!edit_doc_has(undo->doc, op->kind, id)) {
        return false;
    }
    const uint64_t guard = edit_inverse_guard(undo->done, &undo->chunk, index);
    if (op->type == EDIT_SET) {
        return edit_guard_value(undo->doc, op->kind, id, op->member) == guard;
    }
    if (op->type == EDIT_MOVE) {
        return edit_doc_parent(undo->doc, id) == guard;
    }
    return edit_guard_record(undo->doc, op->kind, id) == guard &&
           edit_item_find(undo->doc, op->kind, id)->child_count == 0;
}

// Applies an operation that was appended to `out` from `at` on, or takes it out again.
static Status apply_appended(Undo *undo, size_t at, uint32_t target_count)
{
    if (undo->out->status != STATUS_OK) {
        return undo->out->status;
    }
    ByteReader reader = byte_reader(undo->out->data + at, undo->out->bytes - at);
    EditError error = {0};
    EditOp op;
    const bool is_read = edit_op_read(&reader, &op, &error);
    ASSERT(is_read);
    const Status status = edit_apply_op(undo->doc, &op, undo->inverse, &error);
    if (status == STATUS_OK) {
        undo->undone->changed += target_count;
    } else {
        undo->undone->skipped += target_count;
        undo->out->bytes = at;
    }
    return STATUS_OK;
}

// Each guard reads a whole object, so what is kept is found out once: a byte for each target.
static uint32_t list_kept(const Undo *undo, const EditOp *op, EditBuffer *kept)
{
    ByteReader targets = op->targets;
    const uint8_t *value;
    size_t bytes;
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->target_count; i++) {
        const bool is_same = is_kept(undo, op, i, edit_op_target(op, &targets, &value, &bytes));
        edit_buffer_u8(kept, is_same);
        count += is_same;
    }
    return count;
}

static Status undo_set(Undo *undo, const EditOp *op)
{
    EditBuffer kept = edit_buffer(undo->doc->heap, EDIT_TRANSACTION_BYTES_MAX);
    const uint32_t count = list_kept(undo, op, &kept);
    Status status = kept.status;
    if (status == STATUS_OK) {
        undo->undone->skipped += op->target_count - count;
    }
    if (status == STATUS_OK && count > 0) {
        const size_t at = undo->out->bytes;
        edit_op_set(undo->out, op->kind, op->member, count);
        ByteReader targets = op->targets;
        for (uint32_t i = 0; i < op->target_count; i++) {
            const uint8_t *value;
            size_t bytes;
            const uint32_t id = edit_op_target(op, &targets, &value, &bytes);
            if (kept.data[i] != 0) {
                edit_op_set_target(undo->out, id, value, bytes);
            }
        }
        status = apply_appended(undo, at, count);
    }
    edit_buffer_free(&kept);
    return status;
}

// A deleted entity comes back without its parent if that is gone.
static Status undo_delete(Undo *undo, const EditOp *op, const uint8_t *bytes, size_t count)
{
    const size_t at = undo->out->bytes;
    PlaceScratch scratch = {.heap = undo->doc->heap};
    EditObject object;
    Status status = edit_record_read(EDIT_ENTITY, op->record, op->record_bytes, &scratch, &object);
    if (status == STATUS_OK && object.entity.parent != 0 &&
        !edit_doc_has(undo->doc, EDIT_ENTITY, object.entity.parent)) {
        object.entity.parent = 0;
        EditBuffer record = edit_buffer(undo->doc->heap, SIZE_MAX / 2);
        edit_record_write(EDIT_ENTITY, &object, &record);
        edit_op_create(undo->out, op->where, record.data, record.bytes);
        status = record.status;
        edit_buffer_free(&record);
    } else {
        edit_buffer_append(undo->out, bytes, count);
    }
    place_scratch_free(&scratch);
    return status != STATUS_OK ? status : apply_appended(undo, at, 1);
}

static Pass pass_of(const EditOp *op)
{
    return op->type == EDIT_FILE || op->type == EDIT_RENAME    ? FILES
           : op->type == EDIT_SET && op->kind == EDIT_SETTINGS ? SETTINGS
                                                               : OBJECTS;
}

// Whether an entity has the script of this file.
static Status find_user(const Undo *undo, Text path, bool *is_used)
{
    const Text script = place_script_plain(path);
    PlaceScratch scratch = {.heap = undo->doc->heap};
    Status status = STATUS_OK;
    *is_used = false;
    for (uint32_t id = edit_doc_first(undo->doc, EDIT_ENTITY);
         id != 0 && status == STATUS_OK && !*is_used;
         id = edit_doc_next(undo->doc, EDIT_ENTITY, id)) {
        EditObject object;
        status = edit_doc_read(undo->doc, EDIT_ENTITY, id, &scratch, &object);
        if (status == STATUS_OK) {
            const Text own = place_script(&object.entity.body);
            *is_used = own.bytes > 0 && text_equal(place_script_plain(own), script);
        }
    }
    place_scratch_free(&scratch);
    return status;
}

static Status undo_chunk(Undo *undo, Pass pass)
{
    const uint8_t *bytes = undo->done->ops.data + undo->chunk.at;
    ByteReader reader = byte_reader(bytes, undo->chunk.bytes);
    EditError error = {0};
    EditOp op;
    const bool is_read = edit_op_read(&reader, &op, &error);
    ASSERT(is_read);
    if (pass_of(&op) != pass) {
        return STATUS_OK;
    }
    if (pass == FILES && op.type == EDIT_FILE && edit_hash_is_none(op.hash)) {
        bool is_used;
        const Status status = find_user(undo, op.path, &is_used);
        if (status != STATUS_OK || is_used) {
            undo->keeps_script = true;
            undo->undone->skipped += 1;
            return status;
        }
    }
    if (pass == SETTINGS && undo->keeps_script) {
        undo->undone->skipped += op.target_count;
        return STATUS_OK;
    }
    if (op.type == EDIT_SET) {
        return undo_set(undo, &op);
    }
    if (op.type == EDIT_CREATE) {
        return undo_delete(undo, &op, bytes, undo->chunk.bytes);
    }
    if (op.type == EDIT_DELETE || op.type == EDIT_MOVE) {
        const uint8_t *value;
        size_t value_bytes;
        ASSERT(op.target_count == 1); // as apply.c writes them
        ByteReader targets = op.targets;
        if (!is_kept(undo, &op, 0, edit_op_target(&op, &targets, &value, &value_bytes))) {
            undo->undone->skipped += 1;
            return STATUS_OK;
        }
    }
    // Files have what they knew in the operation itself.
    const size_t at = undo->out->bytes;
    edit_buffer_append(undo->out, bytes, undo->chunk.bytes);
    return apply_appended(undo, at, 1);
}

Status edit_undo(EditDoc *doc, const EditInverse *done, EditBuffer *out, EditInverse *inverse,
                 EditUndone *undone)
{
    ASSERT(edit_inverse_count(inverse) == 0 && out->bytes == 0);
    *undone = (EditUndone){0};
    Undo undo = {.doc = doc, .done = done, .out = out, .inverse = inverse, .undone = undone};
    edit_ops_begin(out);
    Status status = out->status;
    for (Pass pass = OBJECTS; pass < PASSES; pass++) {
        for (uint32_t i = edit_inverse_count(done); i > 0 && status == STATUS_OK; i--) {
            undo.chunk = edit_inverse_chunk(done, i - 1);
            status = undo_chunk(&undo, pass);
        }
    }
    if (status != STATUS_OK) {
        edit_take_back(doc, inverse);
        edit_inverse_cut(inverse, 0);
    }
    return status;
}
