// See pending.h.
#include "core/edit/pending.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/edit/renumber.h"

#include <string.h>

typedef struct Entry {
    uint64_t n;
    uint64_t undo; // seq; 0: operations
    char label[EDIT_LABEL_BYTES_MAX];
    size_t label_bytes;
    EditBuffer ops;
    EditInverse inverse;
    bool is_applied;
} Entry;

struct EditPending {
    Heap *heap;
    EditDoc *doc;
    uint32_t editor;
    uint64_t seq;
    uint64_t n; // the last that was given
    Entry entries[EDIT_PENDING_MAX];
    uint32_t count;
};

Status edit_pending_create(Heap *heap, EditDoc *doc, uint32_t editor, uint64_t seq,
                           EditPending **out)
{
    EditPending *pending = heap_alloc(heap, sizeof *pending);
    if (pending == NULL) {
        return STATUS_LIMIT;
    }
    pending->heap = heap;
    pending->doc = doc;
    pending->editor = editor;
    pending->seq = seq;
    *out = pending;
    return STATUS_OK;
}

static void entry_free(Entry *entry)
{
    edit_buffer_free(&entry->ops);
    edit_inverse_free(&entry->inverse);
}

void edit_pending_destroy(EditPending *pending)
{
    if (pending == NULL) {
        return;
    }
    for (uint32_t i = 0; i < pending->count; i++) {
        entry_free(&pending->entries[i]);
    }
    heap_free(pending->heap, pending);
}

void edit_pending_set_editor(EditPending *pending, uint32_t editor)
{
    pending->editor = editor;
}

// --- one's own ----------------------------------------------------------------------------------

void edit_pending_message(const EditPending *pending, uint32_t index, EditBuffer *message)
{
    ASSERT(index < pending->count);
    const Entry *entry = &pending->entries[index];
    const EditUp up = {.type = entry->undo != 0 ? EDIT_UP_UNDO : EDIT_UP_OPS,
                       .n = entry->n,
                       .seq = pending->seq,
                       .undo = entry->undo,
                       .label = {entry->label, entry->label_bytes},
                       .ops = entry->ops.data,
                       .ops_bytes = entry->ops.bytes};
    edit_up_write(&up, message);
}

static Entry *entry_add(EditPending *pending)
{
    Entry *entry = &pending->entries[pending->count++];
    *entry = (Entry){.n = ++pending->n,
                     .ops = edit_buffer(pending->heap, EDIT_INVERSE_BYTES_MAX),
                     .inverse = edit_inverse(pending->heap)};
    return entry;
}

static void entry_undo_add(EditPending *pending)
{
    entry_free(&pending->entries[--pending->count]);
    pending->n -= 1;
}

Status edit_pending_edit(EditPending *pending, Text label, const uint8_t *ops, size_t bytes,
                         EditBuffer *message, EditError *error)
{
    *error = (EditError){0};
    if (bytes > EDIT_TRANSACTION_BYTES_MAX || pending->count == EDIT_PENDING_MAX) {
        return edit_error(error, STATUS_LIMIT, 0,
                          bytes > EDIT_TRANSACTION_BYTES_MAX
                              ? "is too much at once; do it in smaller steps"
                              : "waits for the server; try again");
    }
    Entry *entry = entry_add(pending);
    edit_buffer_append(&entry->ops, ops, bytes);
    entry->label_bytes = label.bytes < sizeof entry->label ? label.bytes : sizeof entry->label;
    memcpy(entry->label, label.data, entry->label_bytes);
    Status status = entry->ops.status;
    if (status == STATUS_OK) {
        status = edit_apply(pending->doc, ops, bytes, &entry->inverse, error);
    }
    if (status != STATUS_OK) {
        entry_undo_add(pending);
        return status;
    }
    entry->is_applied = true;
    edit_pending_message(pending, pending->count - 1, message);
    return STATUS_OK;
}

Status edit_pending_undo(EditPending *pending, uint64_t seq, EditBuffer *message)
{
    if (pending->count == EDIT_PENDING_MAX || seq == 0) {
        return STATUS_LIMIT;
    }
    entry_add(pending)->undo = seq;
    edit_pending_message(pending, pending->count - 1, message);
    return STATUS_OK;
}

// --- taking back and applying again -------------------------------------------------------------

static void take_back(EditPending *pending)
{
    for (uint32_t i = pending->count; i > 0; i--) {
        Entry *entry = &pending->entries[i - 1];
        if (entry->is_applied) {
            edit_take_back(pending->doc, &entry->inverse);
            edit_inverse_cut(&entry->inverse, 0);
            entry->is_applied = false;
        }
    }
}

// What cannot be applied any more waits for the session, which will refuse it.
static void apply_again(EditPending *pending)
{
    EditError ignored;
    for (uint32_t i = 0; i < pending->count; i++) {
        Entry *entry = &pending->entries[i];
        if (entry->undo == 0 && !entry->is_applied) {
            entry->is_applied = edit_apply(pending->doc, entry->ops.data, entry->ops.bytes,
                                           &entry->inverse, &ignored) == STATUS_OK;
        }
    }
}

// Drops the entries from `from` to before `to`, which are taken back.
static void drop(EditPending *pending, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        entry_free(&pending->entries[i]);
    }
    memmove(&pending->entries[from], &pending->entries[to],
            (pending->count - to) * sizeof pending->entries[0]);
    pending->count -= to - from;
}

// How many entries at the front have a number of at most n.
static uint32_t count_up_to(const EditPending *pending, uint64_t n)
{
    uint32_t count = 0;
    while (count < pending->count && pending->entries[count].n <= n) {
        count += 1;
    }
    return count;
}

// --- news ---------------------------------------------------------------------------------------

// The ids that the session has changed, by going through both forms of a transaction.
static uint32_t find_changed(EditPending *pending, const Entry *entry, const EditDown *told,
                             EditRenumber *pairs)
{
    ByteReader mine = byte_reader(entry->ops.data, entry->ops.bytes);
    ByteReader theirs = byte_reader(told->ops, told->ops_bytes);
    EditError error;
    EditOp a;
    EditOp b;
    uint32_t count = 0;
    if (edit_ops_open(&mine, &error) != STATUS_OK || edit_ops_open(&theirs, &error) != STATUS_OK) {
        return 0;
    }
    while (edit_op_read(&mine, &a, &error) && edit_op_read(&theirs, &b, &error)) {
        const uint32_t from = edit_op_created(pending->heap, &a);
        const uint32_t to = edit_op_created(pending->heap, &b);
        if (from != to && a.type == b.type && count < EDIT_RENUMBERED_MAX) {
            pairs[count++] = (EditRenumber){a.kind, from, to};
        }
    }
    return count;
}

static void renumber_rest(EditPending *pending, uint32_t from, EditRenumbers pairs)
{
    for (uint32_t i = from; i < pending->count; i++) {
        Entry *entry = &pending->entries[i];
        EditBuffer again = edit_buffer(pending->heap, EDIT_INVERSE_BYTES_MAX);
        if (entry->undo == 0 && edit_renumber_ops(pending->heap, entry->ops.data, entry->ops.bytes,
                                                  pairs, &again) == STATUS_OK) {
            edit_buffer_free(&entry->ops);
            entry->ops = again;
        } else {
            edit_buffer_free(&again);
        }
    }
}

static bool is_as_sent(const EditPending *pending, const EditDown *told)
{
    const Entry *first = &pending->entries[0];
    return first->n == told->n && first->is_applied && first->ops.bytes == told->ops_bytes &&
           memcmp(first->ops.data, told->ops, told->ops_bytes) == 0;
}

static void receive_told(EditPending *pending, const EditDown *told, EditNews *news)
{
    if (told->seq <= pending->seq) {
        return; // it came before the connection was lost
    }
    news->is_stale = told->seq != pending->seq + 1;
    if (news->is_stale) {
        return;
    }
    pending->seq = told->seq;
    const uint32_t own = told->editor == pending->editor ? count_up_to(pending, told->n) : 0;
    news->is_own = own != 0 && pending->entries[own - 1].n == told->n;
    if (own == 1 && is_as_sent(pending, told)) {
        drop(pending, 0, 1); // it is there already, below the others
        return;
    }
    take_back(pending);
    if (news->is_own && pending->entries[own - 1].undo == 0) {
        EditRenumber *pairs =
            heap_alloc(pending->heap, heap_array_bytes(EDIT_RENUMBERED_MAX, sizeof *pairs));
        const uint32_t count =
            pairs == NULL ? 0 : find_changed(pending, &pending->entries[own - 1], told, pairs);
        if (count != 0) {
            renumber_rest(pending, own, (EditRenumbers){pairs, count});
        }
        heap_free(pending->heap, pairs);
    }
    drop(pending, 0, own);
    EditInverse inverse = edit_inverse(pending->heap);
    EditError error;
    news->is_stale =
        edit_apply(pending->doc, told->ops, told->ops_bytes, &inverse, &error) != STATUS_OK;
    edit_inverse_free(&inverse);
    apply_again(pending);
}

static void receive_refused(EditPending *pending, const EditDown *down, EditNews *news)
{
    for (uint32_t i = 0; i < pending->count; i++) {
        if (pending->entries[i].n == down->n) {
            news->is_own = true;
            take_back(pending);
            drop(pending, i, i + 1);
            apply_again(pending);
            return;
        }
    }
}

// Transactions that were decided, and of which no news came, were refused.
static void receive_welcome(EditPending *pending, const EditDown *down, EditNews *news)
{
    news->is_stale = down->seq != pending->seq;
    pending->n = pending->n > down->n ? pending->n : down->n;
    const uint32_t decided = count_up_to(pending, down->n);
    if (decided != 0) {
        take_back(pending);
        drop(pending, 0, decided);
        apply_again(pending);
    }
}

static void receive_hash(EditPending *pending, const EditDown *down, EditNews *news)
{
    if (down->seq != pending->seq) {
        return;
    }
    take_back(pending);
    news->is_stale = edit_doc_hash(pending->doc) != down->hash;
    apply_again(pending);
}

Status edit_pending_receive(EditPending *pending, const uint8_t *bytes, size_t count,
                            EditNews *news)
{
    EditNews out = {0};
    const Status status = edit_down_read(bytes, count, &out.down);
    if (status != STATUS_OK) {
        return status;
    }
    switch (out.down.type) {
    case EDIT_DOWN_TOLD:
        receive_told(pending, &out.down, &out);
        break;
    case EDIT_DOWN_REFUSED:
        receive_refused(pending, &out.down, &out);
        break;
    case EDIT_DOWN_WELCOME:
        receive_welcome(pending, &out.down, &out);
        break;
    case EDIT_DOWN_HASH:
        receive_hash(pending, &out.down, &out);
        break;
    case EDIT_DOWN_RELOAD:
        out.is_stale = true;
        break;
    }
    *news = out;
    return STATUS_OK;
}

uint32_t edit_pending_count(const EditPending *pending)
{
    return pending->count;
}

void edit_pending_reset(EditPending *pending, EditDoc *doc, uint64_t seq)
{
    for (uint32_t i = 0; i < pending->count; i++) {
        edit_inverse_cut(&pending->entries[i].inverse, 0);
        pending->entries[i].is_applied = false;
    }
    pending->doc = doc;
    pending->seq = seq;
    apply_again(pending);
}

uint64_t edit_pending_seq(const EditPending *pending)
{
    return pending->seq;
}
