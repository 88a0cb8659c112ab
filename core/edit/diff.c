// See diff.h. In this order, so that each operation is allowed when its turn comes: what gets
// another parent is put at the top; what is gone is deleted; in the order of the result, new things
// are created (at the top) and others moved behind the one before them; parents; and members. Of
// those in both documents, the longest run that is in order already is not moved.
#include "core/edit/diff.h"

#include "core/base/check.h"

#include <string.h>

typedef struct Diff {
    const EditDoc *from, *to;
    Heap *heap;
    EditBuffer *out;
    PlaceScratch scratch;
    EditKind kind;
    uint32_t count;   // of `to`
    uint32_t *ids;    // of `to`, in order
    bool *is_ordered; // is in `from` too, and needs no move
} Diff;

// --- order --------------------------------------------------------------------------------------

// Marks a longest ascending run of positions; a position of UINT32_MAX takes no part.
static Status mark_ordered(Diff *diff, const uint32_t *positions)
{
    uint32_t *memory = heap_alloc(diff->heap, heap_array_bytes(2u * diff->count + 2u, 4));
    if (memory == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t *tails = memory;                    // index of the last of the best run of each length
    uint32_t *before = memory + diff->count + 1; // index + 1 of the one before
    uint32_t length = 0;
    for (uint32_t i = 0; i < diff->count; i++) {
        if (positions[i] == UINT32_MAX) {
            continue;
        }
        uint32_t low = 0;
        uint32_t high = length;
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (positions[tails[middle]] < positions[i]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        before[i] = low == 0 ? 0 : tails[low - 1] + 1;
        tails[low] = i;
        length = low == length ? length + 1 : length;
    }
    uint32_t at = length == 0 ? 0 : tails[length - 1] + 1;
    for (; at != 0; at = before[at - 1]) {
        diff->is_ordered[at - 1] = true;
    }
    heap_free(diff->heap, memory);
    return STATUS_OK;
}

static Status find_order(Diff *diff)
{
    const EditDoc *from = diff->from;
    uint32_t *positions = heap_alloc(diff->heap, heap_array_bytes(diff->count + 1u, 4));
    // Positions in `from`, by slot.
    const EditList *list = &from->lists[diff->kind - EDIT_TERRAIN];
    uint32_t *by_slot = heap_alloc(diff->heap, heap_array_bytes(list->slot_count + 1u, 4));
    Status status = positions == NULL || by_slot == NULL ? STATUS_LIMIT : STATUS_OK;
    if (status == STATUS_OK) {
        uint32_t position = 0;
        for (uint32_t slot = list->first; slot != 0; slot = list->items[slot].after) {
            by_slot[slot] = position++;
        }
        for (uint32_t i = 0; i < diff->count; i++) {
            const uint32_t slot = edit_slot_find(from, diff->kind, diff->ids[i]);
            positions[i] = slot == 0 ? UINT32_MAX : by_slot[slot];
        }
        status = mark_ordered(diff, positions);
    }
    heap_free(diff->heap, positions);
    heap_free(diff->heap, by_slot);
    return status;
}

static EditWhere where_of(const Diff *diff, uint32_t index)
{
    return index == 0 ? (EditWhere){EDIT_AT_BEGIN, 0}
                      : (EditWhere){EDIT_AFTER, diff->ids[index - 1]};
}

// --- entities and terrain -----------------------------------------------------------------------

static Status create(Diff *diff, uint32_t index)
{
    const uint32_t id = diff->ids[index];
    EditObject object;
    Status status = edit_doc_read(diff->to, diff->kind, id, &diff->scratch, &object);
    if (status != STATUS_OK) {
        return status;
    }
    EditBuffer record = edit_buffer(diff->heap, SIZE_MAX / 2);
    if (diff->kind == EDIT_ENTITY) {
        object.entity.parent = 0;
    }
    edit_record_write(diff->kind, &object, &record);
    if (diff->kind == EDIT_ENTITY) {
        edit_op_create(diff->out, where_of(diff, index), record.data, record.bytes);
    } else {
        edit_op_fill(diff->out, id, where_of(diff, index), record.data, record.bytes);
    }
    status = record.status;
    edit_buffer_free(&record);
    return status;
}

static void unparent(Diff *diff)
{
    const uint32_t none = 0;
    for (uint32_t i = 0; i < diff->count; i++) {
        const uint32_t id = diff->ids[i];
        const uint32_t old = edit_doc_parent(diff->from, id);
        if (old != 0 && old != edit_doc_parent(diff->to, id)) {
            edit_op_move(diff->out, &none, NULL, &id, 1);
        }
    }
}

static void delete_gone(Diff *diff)
{
    const EditKind kind = diff->kind;
    for (uint32_t i = 0; kind == EDIT_TERRAIN && i < diff->count; i++) {
        // Terrain that is elsewhere in the order is made anew.
        if (!diff->is_ordered[i] && edit_doc_has(diff->from, kind, diff->ids[i])) {
            edit_op_delete(diff->out, kind, &diff->ids[i], 1);
        }
    }
    uint32_t id = edit_doc_first(diff->from, kind);
    for (; id != 0; id = edit_doc_next(diff->from, kind, id)) {
        const uint32_t parent = kind == EDIT_ENTITY ? edit_doc_parent(diff->from, id) : 0;
        // What lies below something that is gone goes with it.
        const bool goes_along = parent != 0 && !edit_doc_has(diff->to, kind, parent);
        if (!edit_doc_has(diff->to, kind, id) && !goes_along) {
            edit_op_delete(diff->out, kind, &id, 1);
        }
    }
}

static Status place_all(Diff *diff)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < diff->count && status == STATUS_OK; i++) {
        if (diff->is_ordered[i]) {
            continue;
        }
        if (diff->kind == EDIT_TERRAIN || !edit_doc_has(diff->from, diff->kind, diff->ids[i])) {
            status = create(diff, i);
        } else {
            const EditWhere where = where_of(diff, i);
            edit_op_move(diff->out, NULL, &where, &diff->ids[i], 1);
        }
    }
    return status;
}

static void reparent(Diff *diff)
{
    for (uint32_t i = 0; i < diff->count; i++) {
        const uint32_t id = diff->ids[i];
        const uint32_t parent = edit_doc_parent(diff->to, id);
        if (parent != 0 && parent != edit_doc_parent(diff->from, id)) {
            edit_op_move(diff->out, &parent, NULL, &id, 1);
        }
    }
}

static Status set_members(Diff *diff, uint32_t id)
{
    EditObject a;
    EditObject b;
    Status status = edit_doc_read(diff->from, diff->kind, id, &diff->scratch, &a);
    if (status == STATUS_OK) {
        status = edit_doc_read(diff->to, diff->kind, id, &diff->scratch, &b);
    }
    EditBuffer old = edit_buffer(diff->heap, SIZE_MAX / 2);
    EditBuffer new = edit_buffer(diff->heap, SIZE_MAX / 2);
    EditMember member;
    const PlaceTable *table = edit_kind_table(diff->kind);
    for (uint32_t i = 0; status == STATUS_OK && edit_member_at(table, i, &member); i++) {
        edit_buffer_clear(&old);
        edit_buffer_clear(&new);
        edit_value_write(&member, &a, &old);
        edit_value_write(&member, &b, &new);
        status = old.status != STATUS_OK ? old.status : new.status;
        if (status == STATUS_OK && edit_member_can_set(diff->kind, &member) &&
            (old.bytes != new.bytes || memcmp(old.data, new.data, old.bytes) != 0)) {
            edit_op_set(diff->out, diff->kind, i, 1);
            edit_op_set_target(diff->out, id, new.data, new.bytes);
        }
    }
    edit_buffer_free(&old);
    edit_buffer_free(&new);
    return status;
}

static Status diff_members(Diff *diff)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < diff->count && status == STATUS_OK; i++) {
        const uint32_t id = diff->ids[i];
        const bool was_made = diff->kind == EDIT_TERRAIN && !diff->is_ordered[i];
        if (!was_made && edit_doc_has(diff->from, diff->kind, id) &&
            !edit_doc_same(diff->from, diff->to, diff->kind, id)) {
            status = set_members(diff, id);
        }
    }
    return status;
}

static Status diff_list(Diff *diff)
{
    Status status = find_order(diff);
    if (status != STATUS_OK) {
        return status;
    }
    if (diff->kind == EDIT_ENTITY) {
        unparent(diff);
    }
    delete_gone(diff);
    status = place_all(diff);
    if (status == STATUS_OK && diff->kind == EDIT_ENTITY) {
        reparent(diff);
    }
    return status != STATUS_OK ? status : diff_members(diff);
}

static Status diff_kind(Diff *diff, EditKind kind)
{
    diff->kind = kind;
    if (kind < EDIT_TERRAIN) {
        return edit_doc_same(diff->from, diff->to, diff->kind, 0) ? STATUS_OK
                                                                  : set_members(diff, 0);
    }
    diff->count = edit_doc_count(diff->to, kind);
    diff->ids = heap_alloc(diff->heap, heap_array_bytes(diff->count + 1u, sizeof *diff->ids));
    diff->is_ordered = heap_alloc(diff->heap, diff->count + 1u);
    Status status = diff->ids == NULL || diff->is_ordered == NULL ? STATUS_LIMIT : STATUS_OK;
    if (status == STATUS_OK) {
        uint32_t id = edit_doc_first(diff->to, kind);
        for (uint32_t i = 0; i < diff->count; i++, id = edit_doc_next(diff->to, kind, id)) {
            diff->ids[i] = id;
        }
        status = diff_list(diff);
    }
    heap_free(diff->heap, diff->ids);
    heap_free(diff->heap, diff->is_ordered);
    return status;
}

Status edit_diff(const EditDoc *from, const EditDoc *to, EditBuffer *out)
{
    Diff diff = {
        .from = from, .to = to, .heap = from->heap, .out = out, .scratch = {.heap = from->heap}};
    edit_ops_begin(out);
    Status status = out->status;
    for (uint32_t kind = 0; kind < EDIT_KIND_COUNT && status == STATUS_OK; kind++) {
        status = diff_kind(&diff, (EditKind)kind);
    }
    place_scratch_free(&diff.scratch);
    return status != STATUS_OK ? status : out->status;
}
