// See apply.h. Every change writes what takes it back before it is made, so that a transaction that
// fails in the middle is taken back like any other.
#include "core/edit/apply_inside.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"

#include <string.h>

// --- guards -------------------------------------------------------------------------------------

static uint64_t hash_of(const uint8_t *bytes, size_t count)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, bytes, count);
    return hash.state;
}

void edit_forget_built(EditObject *entity)
{
    PlaceBodyDoc *body = &entity->entity.body;
    if (body->script_ref.path.bytes != 0) {
        body->script_ref.code_hash = PLACE_TEXT_NONE;
        body->script_path = PLACE_TEXT_NONE;
    }
}

static uint64_t guard_of(EditDoc *doc, EditKind kind, const uint8_t *record, size_t bytes)
{
    PlaceScratch scratch = {.heap = doc->heap};
    EditObject object;
    uint64_t guard = hash_of(record, bytes);
    if (kind == EDIT_ENTITY &&
        edit_record_read(kind, record, bytes, &scratch, &object) == STATUS_OK &&
        object.entity.body.script_ref.path.bytes != 0) {
        EditBuffer plain = edit_buffer(doc->heap, EDIT_TRANSACTION_BYTES_MAX);
        edit_forget_built(&object);
        edit_record_write(kind, &object, &plain);
        guard = hash_of(plain.data, plain.bytes);
        edit_buffer_free(&plain);
    }
    place_scratch_free(&scratch);
    return guard;
}

uint64_t edit_guard_record(EditDoc *doc, EditKind kind, uint32_t id)
{
    size_t bytes;
    const uint8_t *record = edit_doc_record(doc, kind, id, &bytes);
    return guard_of(doc, kind, record, bytes);
}

uint64_t edit_guard_value(EditDoc *doc, EditKind kind, uint32_t id, uint32_t member)
{
    PlaceScratch scratch = {.heap = doc->heap};
    EditObject object;
    EditMember row;
    edit_buffer_clear(&doc->work);
    if (edit_member_at(edit_kind_table(kind), member, &row) &&
        edit_doc_read(doc, kind, id, &scratch, &object) == STATUS_OK) {
        edit_value_write(&row, &object, &doc->work);
    }
    place_scratch_free(&scratch);
    return hash_of(doc->work.data, doc->work.bytes);
}

// --- helpers ------------------------------------------------------------------------------------

static Status no_memory(EditApply *apply, Status status, uint32_t id)
{
    return edit_error(apply->error, status, id, "passes a limit of the document: %s",
                      status_text(status));
}

static Status check_inverse(EditApply *apply)
{
    const Status status = apply->inverse == NULL ? STATUS_OK : edit_inverse_status(apply->inverse);
    return status == STATUS_OK ? STATUS_OK
                               : edit_error(apply->error, status, 0,
                                            "changes too much at once; do it in smaller steps");
}

static void clear_marks(EditDoc *doc, EditKind kind)
{
    if (kind < EDIT_TERRAIN) {
        doc->single[kind].is_marked = false;
        return;
    }
    EditList *list = edit_list(doc, kind);
    for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
        list->items[slot].is_marked = false;
    }
}

static void clear_marks_of(EditDoc *doc, const EditOp *op)
{
    ByteReader targets = op->targets;
    const uint8_t *value;
    size_t bytes;
    for (uint32_t i = 0; i < op->target_count; i++) {
        EditItem *item =
            edit_item_find(doc, op->kind, edit_op_target(op, &targets, &value, &bytes));
        if (item != NULL) {
            item->is_marked = false;
        }
    }
}

// Marks the targets: each must exist and be named once.
static Status mark_targets(EditApply *apply, const EditOp *op)
{
    ByteReader targets = op->targets;
    const uint8_t *value;
    size_t bytes;
    for (uint32_t i = 0; i < op->target_count; i++) {
        const uint32_t id = edit_op_target(op, &targets, &value, &bytes);
        EditItem *item = edit_item_find(apply->doc, op->kind, id);
        if (item == NULL || item->is_marked) {
            const bool is_twice = item != NULL;
            clear_marks_of(apply->doc, op);
            return is_twice
                       ? edit_error(apply->error, STATUS_EXISTS, id, "names %u twice", (unsigned)id)
                       : edit_error(apply->error, STATUS_NOT_FOUND, id,
                                    "names %u, which is not there any more", (unsigned)id);
        }
        item->is_marked = true;
    }
    return STATUS_OK;
}

static Status check_parent(EditApply *apply, uint32_t id, uint32_t parent, uint32_t height)
{
    if (parent != 0 && !edit_doc_has(apply->doc, EDIT_ENTITY, parent)) {
        return edit_error(apply->error, STATUS_NOT_FOUND, id,
                          "has the parent %u, which is not there", (unsigned)parent);
    }
    if (edit_depth_below(apply->doc, parent) + height > PLACE_PARENTS_MAX) {
        return edit_error(apply->error, STATUS_LIMIT, id, "would have more than %d above it",
                          PLACE_PARENTS_MAX);
    }
    return STATUS_OK;
}

// --- create and fill ----------------------------------------------------------------------------

Status edit_apply_record(EditApply *apply, EditKind kind, const uint8_t *bytes, size_t count,
                         EditObject *object)
{
    Status status = edit_record_read(kind, bytes, count, &apply->scratch, object);
    if (status == STATUS_OK) {
        status = edit_object_tidy(kind, &apply->scratch, object);
    }
    if (status != STATUS_OK) {
        return edit_error(apply->error, status, 0, "has an object with invalid members: %s",
                          status_text(status));
    }
    edit_buffer_clear(&apply->doc->work);
    edit_record_write(kind, object, &apply->doc->work);
    return apply->doc->work.status == STATUS_OK ? STATUS_OK
                                                : no_memory(apply, apply->doc->work.status, 0);
}

Status edit_apply_add(EditApply *apply, EditKind kind, uint32_t id, uint32_t parent,
                      EditWhere where)
{
    EditDoc *doc = apply->doc;
    if (id == 0 || edit_doc_has(doc, kind, id)) {
        return edit_error(apply->error, STATUS_EXISTS, id, "creates %u, which is there already",
                          (unsigned)id);
    }
    Status status = check_parent(apply, id, parent, 0);
    if (status != STATUS_OK) {
        return status;
    }
    const uint32_t kept = apply->inverse == NULL ? 0 : edit_inverse_count(apply->inverse);
    if (apply->inverse != NULL) {
        edit_inverse_begin(apply->inverse);
        edit_op_delete(&apply->inverse->ops, kind, &id, 1);
        edit_inverse_guard_add(apply->inverse,
                               guard_of(doc, kind, doc->work.data, doc->work.bytes));
        edit_inverse_end(apply->inverse);
    }
    status = check_inverse(apply);
    if (status == STATUS_OK) {
        status = edit_item_add(doc, kind, id, parent, where, doc->work.data, doc->work.bytes);
        status = status == STATUS_OK ? STATUS_OK : no_memory(apply, status, id);
    }
    if (status != STATUS_OK && apply->inverse != NULL) {
        edit_inverse_cut(apply->inverse, kept);
    }
    return status;
}

static Status apply_create(EditApply *apply, const EditOp *op)
{
    EditObject object;
    const Status status =
        edit_apply_record(apply, EDIT_ENTITY, op->record, op->record_bytes, &object);
    return status != STATUS_OK ? status
                               : edit_apply_add(apply, EDIT_ENTITY, object.entity.id,
                                                object.entity.parent, op->where);
}

static Status apply_fill(EditApply *apply, const EditOp *op)
{
    EditObject object;
    const Status status =
        edit_apply_record(apply, EDIT_TERRAIN, op->record, op->record_bytes, &object);
    return status != STATUS_OK ? status : edit_apply_add(apply, EDIT_TERRAIN, op->id, 0, op->where);
}

// --- delete -------------------------------------------------------------------------------------

// Gives how many there are in all, and whether any of them has something below.
static uint32_t mark_below(EditDoc *doc, const EditOp *op, bool *has_children)
{
    ByteReader targets = op->targets;
    const uint8_t *value;
    size_t bytes;
    *has_children = false;
    for (uint32_t i = 0; i < op->target_count; i++) {
        const uint32_t id = edit_op_target(op, &targets, &value, &bytes);
        *has_children |= edit_item_find(doc, op->kind, id)->child_count != 0;
    }
    uint32_t count = op->target_count;
    if (!*has_children) {
        return count;
    }
    EditList *list = edit_list(doc, op->kind);
    for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
        EditItem *item = &list->items[slot];
        for (uint32_t at = item->parent; at != 0 && !item->is_marked;) {
            const EditItem *above = edit_item_find(doc, EDIT_ENTITY, at);
            count += above->is_marked;
            item->is_marked = above->is_marked;
            at = above->parent;
        }
    }
    return count;
}

static Status delete_one(EditApply *apply, EditKind kind, uint32_t id)
{
    EditDoc *doc = apply->doc;
    if (apply->inverse != NULL) {
        size_t bytes;
        const uint8_t *record = edit_doc_record(doc, kind, id, &bytes);
        const uint32_t kept = edit_inverse_count(apply->inverse);
        edit_inverse_begin(apply->inverse);
        if (kind == EDIT_ENTITY) {
            edit_op_create(&apply->inverse->ops, edit_where_of(doc, kind, id), record, bytes);
        } else {
            edit_op_fill(&apply->inverse->ops, id, edit_where_of(doc, kind, id), record, bytes);
        }
        edit_inverse_end(apply->inverse);
        const Status status = check_inverse(apply);
        if (status != STATUS_OK) {
            edit_inverse_cut(apply->inverse, kept);
            return status;
        }
    }
    edit_item_remove(doc, kind, id);
    return STATUS_OK;
}

// From the last to the first, and what has nothing below it: so a pass removes most, and each
// comes back after its parent.
static Status delete_marked(EditApply *apply, EditKind kind, uint32_t count)
{
    EditList *list = edit_list(apply->doc, kind);
    Status status = STATUS_OK;
    while (count > 0 && status == STATUS_OK) {
        uint32_t before;
        for (uint32_t slot = list->last; slot != 0 && status == STATUS_OK; slot = before) {
            const EditItem *item = &list->items[slot];
            before = item->before;
            if (item->is_marked && item->child_count == 0) {
                status = delete_one(apply, kind, item->id);
                count -= 1;
            }
        }
    }
    return status;
}

static Status apply_delete(EditApply *apply, const EditOp *op)
{
    Status status = mark_targets(apply, op);
    if (status != STATUS_OK) {
        return status;
    }
    bool has_children;
    const uint32_t count = mark_below(apply->doc, op, &has_children);
    if (has_children) {
        status = delete_marked(apply, op->kind, count);
    } else {
        ByteReader targets = op->targets;
        const uint8_t *value;
        size_t bytes;
        for (uint32_t i = 0; i < op->target_count && status == STATUS_OK; i++) {
            status = delete_one(apply, op->kind, edit_op_target(op, &targets, &value, &bytes));
        }
    }
    if (status != STATUS_OK) {
        clear_marks(apply->doc, op->kind);
    }
    return status;
}

// --- set ----------------------------------------------------------------------------------------

static Status set_one(EditApply *apply, const EditOp *op, const EditMember *member, uint32_t id,
                      const uint8_t *value, size_t value_bytes)
{
    EditDoc *doc = apply->doc;
    EditItem *item = edit_item_find(doc, op->kind, id);
    EditObject object;
    Status status = edit_record_read(op->kind, item->record, item->bytes, &apply->scratch, &object);
    ASSERT(status == STATUS_OK || status == STATUS_LIMIT);
    if (status != STATUS_OK) {
        return no_memory(apply, status, id);
    }
    if (apply->inverse != NULL) {
        edit_buffer_clear(&doc->work);
        edit_value_write(member, &object, &doc->work);
        edit_op_set_target(&apply->inverse->ops, id, doc->work.data, doc->work.bytes);
    }
    status = edit_value_read(member, value, value_bytes, &apply->scratch, &object);
    if (status != STATUS_OK) {
        return edit_error(apply->error, status, id, "sets %s to something it cannot be: %s",
                          member->field->name, status_text(status));
    }
    if (apply->inverse != NULL) {
        edit_buffer_clear(&doc->work);
        edit_value_write(member, &object, &doc->work);
        edit_inverse_guard_add(apply->inverse, hash_of(doc->work.data, doc->work.bytes));
    }
    edit_buffer_clear(&doc->work);
    edit_record_write(op->kind, &object, &doc->work);
    status = check_inverse(apply);
    if (status == STATUS_OK) {
        status = doc->work.status != STATUS_OK
                     ? doc->work.status
                     : edit_item_record(doc, op->kind, item, doc->work.data, doc->work.bytes);
        status = status == STATUS_OK ? STATUS_OK : no_memory(apply, status, id);
    }
    return status;
}

// Takes back the first `count` targets of a set that failed.
static void unset(EditApply *apply, const EditOp *op, const EditMember *member, size_t from,
                  uint32_t count)
{
    EditInverse *inverse = apply->inverse;
    EditApply back = {.doc = apply->doc, .scratch = {.heap = apply->doc->heap}};
    EditError error;
    back.error = &error;
    if (inverse == NULL) {
        ASSERT(count == 0); // what is taken back cannot fail
        return;
    }
    ByteReader reader = byte_reader(inverse->ops.data + from, inverse->ops.bytes - from);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t id = (uint32_t)byte_read_varint(&reader);
        size_t bytes;
        const uint8_t *value = edit_read_block(&reader, &bytes);
        const Status status = set_one(&back, op, member, id, value, bytes);
        ASSERT(status == STATUS_OK);
    }
    place_scratch_free(&back.scratch);
}

static Status set_marked(EditApply *apply, const EditOp *op, const EditMember *member)
{
    EditInverse *inverse = apply->inverse;
    const uint32_t kept = inverse == NULL ? 0 : edit_inverse_count(inverse);
    size_t from = 0;
    if (inverse != NULL) {
        edit_inverse_begin(inverse);
        edit_op_set(&inverse->ops, op->kind, op->member, op->target_count);
        from = inverse->ops.bytes;
    }
    ByteReader targets = op->targets;
    Status status = check_inverse(apply);
    uint32_t done = 0;
    for (; done < op->target_count && status == STATUS_OK; done++) {
        const uint8_t *value;
        size_t bytes;
        const uint32_t id = edit_op_target(op, &targets, &value, &bytes);
        status = set_one(apply, op, member, id, value, bytes);
    }
    if (status != STATUS_OK) {
        unset(apply, op, member, from, done == 0 ? 0 : done - 1);
        if (inverse != NULL) {
            edit_inverse_cut(inverse, kept);
        }
    } else if (inverse != NULL) {
        edit_inverse_end(inverse);
    }
    return status;
}

static Status apply_set(EditApply *apply, const EditOp *op)
{
    EditMember member;
    if (!edit_member_at(edit_kind_table(op->kind), op->member, &member) ||
        !edit_member_can_set(op->kind, &member)) {
        return edit_error(apply->error, STATUS_UNSUPPORTED, 0, "sets a member that cannot be set");
    }
    Status status = mark_targets(apply, op);
    if (status == STATUS_OK) {
        status = set_marked(apply, op, &member);
        clear_marks_of(apply->doc, op);
    }
    return status;
}

// --- move ---------------------------------------------------------------------------------------

// How many levels there are below the marked ones.
static uint32_t height_of_marked(EditDoc *doc)
{
    EditList *list = edit_list(doc, EDIT_ENTITY);
    uint32_t height = 0;
    for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
        uint32_t steps = 0;
        for (uint32_t at = list->items[slot].id; at != 0; steps++) {
            const EditItem *item = edit_item_find(doc, EDIT_ENTITY, at);
            if (item->is_marked && steps > height) {
                height = steps;
            }
            at = item->parent;
        }
    }
    return height;
}

static Status check_move(EditApply *apply, const EditOp *op)
{
    EditDoc *doc = apply->doc;
    bool has_children = false;
    ByteReader targets = op->targets;
    const uint8_t *value;
    size_t bytes;
    for (uint32_t i = 0; i < op->target_count; i++) {
        const uint32_t id = edit_op_target(op, &targets, &value, &bytes);
        has_children |= edit_item_find(doc, EDIT_ENTITY, id)->child_count != 0;
    }
    uint32_t at = op->parent;
    for (uint32_t i = 0; at != 0 && i <= PLACE_PARENTS_MAX; i++) {
        const EditItem *above = edit_item_find(doc, EDIT_ENTITY, at);
        if (above != NULL && above->is_marked) {
            return edit_error(apply->error, STATUS_BLOCKED, at,
                              "would put %u inside itself; choose another parent", (unsigned)at);
        }
        at = above == NULL ? 0 : above->parent;
    }
    return check_parent(apply, 0, op->parent, has_children ? height_of_marked(doc) : 0);
}

Status edit_apply_parent(EditApply *apply, uint32_t id, uint32_t parent)
{
    EditDoc *doc = apply->doc;
    EditItem *item = edit_item_find(doc, EDIT_ENTITY, id);
    EditObject object;
    Status status =
        edit_record_read(EDIT_ENTITY, item->record, item->bytes, &apply->scratch, &object);
    if (status == STATUS_OK) {
        object.entity.parent = parent;
        edit_buffer_clear(&doc->work);
        edit_record_write(EDIT_ENTITY, &object, &doc->work);
        status = doc->work.status;
    }
    if (status == STATUS_OK) {
        status = edit_item_record(doc, EDIT_ENTITY, item, doc->work.data, doc->work.bytes);
    }
    if (status != STATUS_OK) {
        return no_memory(apply, status, id);
    }
    edit_item_parent(doc, item, parent);
    return STATUS_OK;
}

static Status move_one(EditApply *apply, const EditOp *op, uint32_t id, EditWhere where)
{
    EditDoc *doc = apply->doc;
    const uint32_t parent = edit_doc_parent(doc, id);
    const uint32_t kept = apply->inverse == NULL ? 0 : edit_inverse_count(apply->inverse);
    if (apply->inverse != NULL) {
        const EditWhere old = edit_where_of(doc, EDIT_ENTITY, id);
        edit_inverse_begin(apply->inverse);
        edit_op_move(&apply->inverse->ops, op->has_parent ? &parent : NULL,
                     op->has_where ? &old : NULL, &id, 1);
        edit_inverse_guard_add(apply->inverse, op->has_parent ? op->parent : parent);
        edit_inverse_end(apply->inverse);
    }
    Status status = check_inverse(apply);
    if (status == STATUS_OK && op->has_parent && parent != op->parent) {
        status = edit_apply_parent(apply, id, op->parent);
    }
    if (status != STATUS_OK) {
        if (apply->inverse != NULL) {
            edit_inverse_cut(apply->inverse, kept);
        }
        return status;
    }
    if (op->has_where) {
        edit_item_place(doc, EDIT_ENTITY, id, where);
    }
    return STATUS_OK;
}

static Status apply_move(EditApply *apply, const EditOp *op)
{
    Status status = mark_targets(apply, op);
    if (status != STATUS_OK) {
        return status;
    }
    if (op->has_parent) {
        status = check_move(apply, op);
    }
    ByteReader targets = op->targets;
    EditWhere where = op->where;
    for (uint32_t i = 0; i < op->target_count && status == STATUS_OK; i++) {
        const uint8_t *value;
        size_t bytes;
        const uint32_t id = edit_op_target(op, &targets, &value, &bytes);
        status = move_one(apply, op, id, where);
        where = (EditWhere){EDIT_AFTER, id};
    }
    clear_marks_of(apply->doc, op);
    return status;
}

// --- files --------------------------------------------------------------------------------------

static const uint8_t no_hash[SHA256_BYTES];

// Another text is there than the author saw: somebody has to decide.
static Status check_known(EditApply *apply, Text path, const uint8_t known[SHA256_BYTES])
{
    const EditFile *file = edit_doc_file_find(apply->doc, path);
    const uint8_t *hash = file == NULL ? no_hash : file->hash;
    if (memcmp(hash, known, SHA256_BYTES) == 0) {
        return STATUS_OK;
    }
    char now[2 * SHA256_BYTES + 1];
    sha256_hex(hash, now);
    return edit_error(apply->error, STATUS_MISMATCH, 0,
                      "changes %.*s, which was changed meanwhile; it is now %.8s",
                      (int)utf8_cut(path.data, path.bytes, 40), path.data, now);
}

static Status put_files(EditApply *apply, const EditOp *op, bool is_rename)
{
    EditInverse *inverse = apply->inverse;
    uint8_t hash[SHA256_BYTES];
    memcpy(hash, is_rename ? op->known_hash : op->hash, SHA256_BYTES);
    const uint32_t kept = inverse == NULL ? 0 : edit_inverse_count(inverse);
    if (inverse != NULL) {
        edit_inverse_begin(inverse);
        if (is_rename) {
            edit_op_rename(&inverse->ops, op->path_to, op->path, hash);
        } else {
            edit_op_file(&inverse->ops, op->path, op->known_hash, hash);
        }
        edit_inverse_end(inverse);
    }
    Status status = check_inverse(apply);
    // The old name first: a full table has room for the new one then.
    if (status == STATUS_OK && is_rename) {
        status = edit_file_put(apply->doc, op->path, no_hash);
    }
    if (status == STATUS_OK) {
        status = edit_file_put(apply->doc, is_rename ? op->path_to : op->path, hash);
        if (status != STATUS_OK && is_rename) {
            const Status back = edit_file_put(apply->doc, op->path, hash);
            ASSERT(back == STATUS_OK);
        }
        status = status == STATUS_OK ? STATUS_OK : no_memory(apply, status, 0);
    }
    if (status != STATUS_OK && inverse != NULL) {
        edit_inverse_cut(inverse, kept);
    }
    return status;
}

static Status apply_file(EditApply *apply, const EditOp *op)
{
    const Status status = check_known(apply, op->path, op->known_hash);
    return status != STATUS_OK ? status : put_files(apply, op, false);
}

static Status apply_rename(EditApply *apply, const EditOp *op)
{
    if (edit_hash_is_none(op->known_hash) || edit_doc_file_find(apply->doc, op->path) == NULL) {
        return edit_error(apply->error, STATUS_NOT_FOUND, 0,
                          "renames a file that is not there any more");
    }
    if (edit_doc_file_find(apply->doc, op->path_to) != NULL) {
        return edit_error(apply->error, STATUS_EXISTS, 0,
                          "renames a file to a name that is there already; choose another");
    }
    const Status status = check_known(apply, op->path, op->known_hash);
    return status != STATUS_OK ? status : put_files(apply, op, true);
}

// --- all ----------------------------------------------------------------------------------------

static Status apply_op(EditApply *apply, const EditOp *op)
{
    switch (op->type) {
    case EDIT_CREATE:
        return apply_create(apply, op);
    case EDIT_DELETE:
        return apply_delete(apply, op);
    case EDIT_SET:
        return apply_set(apply, op);
    case EDIT_MOVE:
        return apply_move(apply, op);
    case EDIT_FILL:
        return apply_fill(apply, op);
    case EDIT_PASTE:
        return edit_apply_paste(apply, op);
    case EDIT_FILE:
        return apply_file(apply, op);
    case EDIT_RENAME:
        return apply_rename(apply, op);
    }
    return STATUS_UNSUPPORTED;
}

// From the last change back to, and with, number `from`.
static void take_back_from(EditDoc *doc, const EditInverse *inverse, uint32_t from)
{
    EditError error = {0};
    EditApply apply = {.doc = doc, .scratch = {.heap = doc->heap}, .error = &error};
    for (uint32_t i = edit_inverse_count(inverse); i > from; i--) {
        const EditChunk chunk = edit_inverse_chunk(inverse, i - 1);
        ByteReader reader = byte_reader(inverse->ops.data + chunk.at, chunk.bytes);
        EditOp op;
        const bool is_read = edit_op_read(&reader, &op, &error);
        ASSERT(is_read);
        const Status status = apply_op(&apply, &op);
        ASSERT(status == STATUS_OK);
    }
    place_scratch_free(&apply.scratch);
}

void edit_take_back(EditDoc *doc, const EditInverse *inverse)
{
    take_back_from(doc, inverse, 0);
}

Status edit_apply_op(EditDoc *doc, const EditOp *op, EditInverse *inverse, EditError *error)
{
    EditApply apply = {
        .doc = doc, .scratch = {.heap = doc->heap}, .inverse = inverse, .error = error};
    const uint32_t kept = edit_inverse_count(inverse);
    const Status status = apply_op(&apply, op);
    if (status != STATUS_OK) {
        take_back_from(doc, inverse, kept);
        edit_inverse_cut(inverse, kept);
    }
    place_scratch_free(&apply.scratch);
    return status;
}

Status edit_apply(EditDoc *doc, const uint8_t *bytes, size_t count, EditInverse *inverse,
                  EditError *error)
{
    ASSERT(edit_inverse_count(inverse) == 0);
    EditApply apply = {
        .doc = doc, .scratch = {.heap = doc->heap}, .inverse = inverse, .error = error};
    ByteReader reader = byte_reader(bytes, count);
    Status status = edit_ops_open(&reader, error);
    uint32_t ops = 0;
    EditOp op;
    for (; status == STATUS_OK && edit_op_read(&reader, &op, error); ops++) {
        error->op = ops;
        status = apply_op(&apply, &op);
    }
    if (status == STATUS_OK && reader.status != STATUS_OK) {
        error->op = ops;
        status = reader.status;
    }
    if (status != STATUS_OK) {
        take_back_from(doc, inverse, 0);
        edit_inverse_cut(inverse, 0);
    }
    place_scratch_free(&apply.scratch);
    return status;
}
