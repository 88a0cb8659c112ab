// See session.h.
#include "core/edit/session.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"
#include "core/edit/clip.h"
#include "core/edit/renumber.h"

#include <stdio.h>
#include <string.h>

#define LOG_MIN 64

typedef struct Entry {
    uint64_t seq, n;
    uint64_t undone; // seq of what this takes back; 0: none
    uint64_t hash;   // of the document, every EDIT_HASH_EVERY
    uint32_t editor;
    bool is_undone;
    EditBuffer row;
    EditInverse inverse;
} Entry;

typedef struct Renumbered {
    uint64_t seq; // of the transaction that tells the editor
    EditRenumber pair;
} Renumbered;

typedef struct Editor {
    bool is_here;
    uint64_t n; // the last that was decided
    Renumbered *renumbered;
    uint32_t renumbered_count;
} Editor;

struct EditSession {
    Heap *heap;
    EditDoc *doc;
    EditSessionConfig config;
    Rng rng;
    uint64_t seq, committed;
    Entry *log; // a ring
    uint32_t log_max, log_first, log_count;
    size_t log_bytes;
    EditSize size; // of the document, after the last transaction
    Editor editors[EDIT_EDITORS_MAX + 1];
    EditSessionCounts counts;
};

// --- the log ------------------------------------------------------------------------------------

static Entry *entry_at(EditSession *session, uint32_t index)
{
    return &session->log[(session->log_first + index) % session->log_max];
}

static Entry *entry_find(EditSession *session, uint64_t seq)
{
    const uint64_t first = session->seq - session->log_count + 1;
    return seq < first || seq > session->seq ? NULL : entry_at(session, (uint32_t)(seq - first));
}

static void entry_free(Entry *entry)
{
    edit_buffer_free(&entry->row);
    edit_inverse_free(&entry->inverse);
}

static size_t entry_bytes(const Entry *entry)
{
    return sizeof *entry + entry->row.capacity + edit_inverse_bytes(&entry->inverse);
}

static void log_drop(EditSession *session)
{
    Entry *oldest = entry_at(session, 0);
    session->log_bytes -= entry_bytes(oldest);
    entry_free(oldest);
    session->log_first = (session->log_first + 1) % session->log_max;
    session->log_count -= 1;
}

static Status log_grow(EditSession *session)
{
    const uint32_t log_max = session->log_max == 0 ? LOG_MIN : session->log_max * 2;
    Entry *log = heap_alloc(session->heap, heap_array_bytes(log_max, sizeof *log));
    if (log == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < session->log_count; i++) {
        log[i] = *entry_at(session, i);
    }
    heap_free(session->heap, session->log);
    session->log = log;
    session->log_max = log_max;
    session->log_first = 0;
    return STATUS_OK;
}

static void log_add(EditSession *session, const Entry *entry)
{
    session->log_bytes += entry_bytes(entry);
    session->log_count += 1;
    *entry_at(session, session->log_count - 1) = *entry;
    session->seq = entry->seq;
}

// What waits to be committed must stay: it may have to be taken back.
static void log_trim(EditSession *session)
{
    while (session->log_count > EDIT_LOG_MAX ||
           (session->log_bytes > EDIT_LOG_BYTES_MAX && session->log_count > 1)) {
        log_drop(session);
    }
}

// --- creating -----------------------------------------------------------------------------------

Status edit_session_create(Heap *heap, EditDoc *doc, const EditSessionConfig *config,
                           EditSession **out)
{
    EditSession *session = heap_alloc(heap, sizeof *session);
    if (session == NULL) {
        return STATUS_LIMIT;
    }
    session->heap = heap;
    session->doc = doc;
    session->config = *config;
    session->seq = session->committed = config->seq;
    session->rng = rng_make(config->seed, 1);
    const Status status = edit_doc_measure(doc);
    if (status != STATUS_OK) {
        heap_free(heap, session);
        return status;
    }
    session->size = edit_doc_size(doc);
    *out = session;
    return STATUS_OK;
}

void edit_session_destroy(EditSession *session)
{
    if (session == NULL) {
        return;
    }
    while (session->log_count > 0) {
        log_drop(session);
    }
    for (uint32_t i = 0; i <= EDIT_EDITORS_MAX; i++) {
        heap_free(session->heap, session->editors[i].renumbered);
    }
    heap_free(session->heap, session->log);
    heap_free(session->heap, session);
}

// --- telling ------------------------------------------------------------------------------------

static void send(EditSession *session, uint32_t editor, const EditDown *down)
{
    EditBuffer message = edit_buffer(session->heap, EDIT_MESSAGE_BYTES_MAX);
    edit_down_write(down, &message);
    if (message.status == STATUS_OK) {
        session->config.send(session->config.user, editor, message.data, message.bytes);
    }
    edit_buffer_free(&message);
}

static void refuse(EditSession *session, uint32_t editor, uint64_t n, const EditError *error)
{
    session->counts.refused += 1;
    send(session, editor,
         &(EditDown){.type = EDIT_DOWN_REFUSED,
                     .n = n,
                     .status = error->status,
                     .text = text_from(error->message)});
}

static void tell_all(EditSession *session, const Entry *entry)
{
    session->counts.told += 1;
    const bool has_hash = entry->seq % EDIT_HASH_EVERY == 0;
    for (uint32_t i = 1; i <= EDIT_EDITORS_MAX; i++) {
        if (!session->editors[i].is_here) {
            continue;
        }
        session->config.send(session->config.user, i, entry->row.data, entry->row.bytes);
        if (has_hash) {
            send(session, i,
                 &(EditDown){.type = EDIT_DOWN_HASH, .seq = entry->seq, .hash = entry->hash});
        }
    }
}

// --- ordering -----------------------------------------------------------------------------------

// What has been applied and is about to be stored.
typedef struct Step {
    uint32_t editor;
    uint64_t n;
    uint64_t undone;
    Text label;
    const uint8_t *ops;
    size_t ops_bytes;
    EditInverse inverse;
} Step;

_Static_assert(EDIT_SCENE_NODES_MAX <= JSON_NODES_MAX, "what is accepted can be read");
_Static_assert(EDIT_SCENE_BYTES_MAX <= EDIT_TEXT_BYTES_MAX, "and written");
_Static_assert(EDIT_SCENE_BYTES_MAX <= DRAFT_FILE_BYTES_MAX, "as a file of a draft");

// Whether scene.json can be written and read with what was applied. Somebody may always make it
// less, and what comes from the file has been read.
static Status check_size(const EditSession *session, const Step *step, EditError *error)
{
    const EditSize size = edit_doc_size(session->doc);
    if (step->editor == 0) {
        return STATUS_OK;
    }
    if (size.nodes > EDIT_SCENE_NODES_MAX && size.nodes > session->size.nodes) {
        return edit_error(error, STATUS_LIMIT, 0,
                          "is too much for one place: scene.json would have more than %u values; "
                          "remove something first",
                          (unsigned)EDIT_SCENE_NODES_MAX);
    }
    if (size.bytes > EDIT_SCENE_BYTES_MAX && size.bytes > session->size.bytes) {
        return edit_error(error, STATUS_LIMIT, 0,
                          "is too much for one place: scene.json would be longer than %u MiB; "
                          "remove something first",
                          (unsigned)(EDIT_SCENE_BYTES_MAX >> 20));
    }
    return STATUS_OK;
}

// Stores what was applied, and tells everybody; or takes it back.
static Status commit(EditSession *session, Step *step, EditError *error)
{
    Entry entry = {.seq = session->seq + 1,
                   .n = step->n,
                   .undone = step->undone,
                   .editor = step->editor,
                   .row = edit_buffer(session->heap, EDIT_MESSAGE_BYTES_MAX),
                   .inverse = step->inverse};
    Status status = check_size(session, step, error);
    if (status != STATUS_OK) {
        edit_take_back(session->doc, &entry.inverse);
        entry_free(&entry);
        return status;
    }
    edit_down_write(&(EditDown){.type = EDIT_DOWN_TOLD,
                                .seq = entry.seq,
                                .editor = step->editor,
                                .n = step->n,
                                .undone = step->undone,
                                .text = step->label,
                                .ops = step->ops,
                                .ops_bytes = step->ops_bytes},
                    &entry.row);
    status = entry.row.status;
    if (status == STATUS_OK && session->log_count == session->log_max) {
        status = log_grow(session);
    }
    if (status == STATUS_OK) {
        status =
            session->config.store(session->config.user, entry.seq, entry.row.data, entry.row.bytes);
    }
    if (status != STATUS_OK) {
        edit_take_back(session->doc, &entry.inverse);
        entry_free(&entry);
        return edit_error(error, status, 0, "could not be stored; it was not done: %s",
                          status_text(status));
    }
    Entry *undone = entry_find(session, step->undone);
    if (undone != NULL) {
        undone->is_undone = true;
    }
    if (entry.seq % EDIT_HASH_EVERY == 0) {
        entry.hash = edit_doc_hash(session->doc);
    }
    log_add(session, &entry);
    session->size = edit_doc_size(session->doc);
    if (!session->config.defers) {
        edit_session_commit(session);
    }
    return STATUS_OK;
}

void edit_session_commit(EditSession *session)
{
    while (session->committed < session->seq) {
        session->committed += 1;
        tell_all(session, entry_find(session, session->committed));
    }
    log_trim(session);
}

// Gives other ids to what the transaction creates and the document has already. `count` is 0 if it
// cannot be read, or there is none.
static void find_taken(EditSession *session, const uint8_t *ops, size_t bytes, EditRenumber *pairs,
                       uint32_t *count)
{
    ByteReader reader = byte_reader(ops, bytes);
    EditError error;
    EditOp op;
    *count = 0;
    if (edit_ops_open(&reader, &error) != STATUS_OK) {
        return;
    }
    while (edit_op_read(&reader, &op, &error) && *count < EDIT_RENUMBERED_MAX) {
        const uint32_t id = edit_op_created(session->heap, &op);
        if (id != 0 && edit_doc_has(session->doc, op.kind, id)) {
            const uint32_t other = edit_doc_new_id(session->doc, op.kind, &session->rng);
            pairs[(*count)++] = (EditRenumber){op.kind, id, other};
        }
    }
}

static bool remember(EditSession *session, uint32_t editor, const EditRenumber *pairs,
                     uint32_t count)
{
    Editor *at = &session->editors[editor];
    if (count == 0) {
        return true;
    }
    if (at->renumbered == NULL) {
        at->renumbered = heap_alloc(
            session->heap, heap_array_bytes(EDIT_RENUMBERED_MAX, sizeof at->renumbered[0]));
    }
    if (at->renumbered == NULL || count > EDIT_RENUMBERED_MAX - at->renumbered_count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        at->renumbered[at->renumbered_count++] = (Renumbered){session->seq + 1, pairs[i]};
    }
    session->counts.renumbered += count;
    return true;
}

// Applies; if an id is taken, with another one. `again` keeps the changed transaction.
static Status apply_renumbered(EditSession *session, Step *step, EditBuffer *again,
                               EditError *error)
{
    Status status = edit_apply(session->doc, step->ops, step->ops_bytes, &step->inverse, error);
    if (status != STATUS_EXISTS || step->editor == 0) {
        return status;
    }
    EditRenumber *pairs =
        heap_alloc(session->heap, heap_array_bytes(EDIT_RENUMBERED_MAX, sizeof *pairs));
    uint32_t count = 0;
    if (pairs != NULL) {
        find_taken(session, step->ops, step->ops_bytes, pairs, &count);
    }
    EditBuffer other = edit_buffer(session->heap, EDIT_INVERSE_BYTES_MAX);
    if (count != 0 && edit_renumber_ops(session->heap, step->ops, step->ops_bytes,
                                        (EditRenumbers){pairs, count}, &other) == STATUS_OK) {
        status = edit_apply(session->doc, other.data, other.bytes, &step->inverse, error);
        if (status == STATUS_OK && !remember(session, step->editor, pairs, count)) {
            edit_take_back(session->doc, &step->inverse);
            edit_inverse_cut(&step->inverse, 0);
            status = edit_error(error, STATUS_LIMIT, 0, "uses ids that others have; try again");
        }
    }
    if (status == STATUS_OK) {
        edit_buffer_free(again);
        *again = other;
        step->ops = other.data;
        step->ops_bytes = other.bytes;
    } else {
        edit_buffer_free(&other);
    }
    heap_free(session->heap, pairs);
    return status;
}

static void forget_renumbered(EditSession *session, uint32_t editor)
{
    Editor *at = &session->editors[editor];
    while (at->renumbered_count > 0 &&
           at->renumbered[at->renumbered_count - 1].seq > session->seq) {
        at->renumbered_count -= 1; // of a transaction that could not be stored
    }
}

void edit_session_roll_back(EditSession *session, Status status)
{
    EditError error = {0};
    (void)edit_error(&error, status, 0, "could not be stored; it was not done: %s",
                     status_text(status));
    for (uint64_t seq = session->committed + 1; seq <= session->seq; seq++) {
        const Entry *entry = entry_find(session, seq);
        if (entry->editor != 0) {
            refuse(session, entry->editor, entry->n, &error);
        }
    }
    while (session->seq > session->committed) {
        Entry *newest = entry_at(session, session->log_count - 1);
        Entry *undone = entry_find(session, newest->undone);
        if (undone != NULL) {
            undone->is_undone = false;
        }
        edit_take_back(session->doc, &newest->inverse);
        session->log_bytes -= entry_bytes(newest);
        entry_free(newest);
        session->log_count -= 1;
        session->seq -= 1;
    }
    session->size = edit_doc_size(session->doc);
    for (uint32_t i = 1; i <= EDIT_EDITORS_MAX; i++) {
        forget_renumbered(session, i);
    }
}

static Status order(EditSession *session, Step *step, EditError *error)
{
    EditBuffer again = edit_buffer(session->heap, EDIT_INVERSE_BYTES_MAX);
    EditBuffer pasted = edit_buffer(session->heap, EDIT_INVERSE_BYTES_MAX);
    *error = (EditError){0};
    step->inverse = edit_inverse(session->heap);
    Status status = edit_paste_expand(session->doc, step->ops, step->ops_bytes, &pasted, error);
    if (status == STATUS_OK && pasted.bytes != 0) {
        step->ops = pasted.data;
        step->ops_bytes = pasted.bytes;
    }
    if (status == STATUS_OK) {
        status = apply_renumbered(session, step, &again, error);
    }
    if (status == STATUS_OK) {
        status = commit(session, step, error);
        forget_renumbered(session, step->editor);
    } else {
        edit_inverse_free(&step->inverse);
    }
    edit_buffer_free(&again);
    edit_buffer_free(&pasted);
    return status;
}

// --- what editors send --------------------------------------------------------------------------

// The ids in what an editor sent before it was told of their change. Gives the operations with the
// new ids, in `again` if there are any.
static Status catch_up(EditSession *session, uint32_t editor, const EditUp *up, EditBuffer *again)
{
    Editor *at = &session->editors[editor];
    EditRenumber *pairs =
        heap_alloc(session->heap, heap_array_bytes(at->renumbered_count + 1u, sizeof *pairs));
    if (pairs == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < at->renumbered_count; i++) {
        if (at->renumbered[i].seq > up->seq) {
            pairs[kept] = at->renumbered[i].pair;
            at->renumbered[kept++] = at->renumbered[i];
        }
    }
    at->renumbered_count = kept;
    const Status status = kept == 0 ? STATUS_OK
                                    : edit_renumber_ops(session->heap, up->ops, up->ops_bytes,
                                                        (EditRenumbers){pairs, kept}, again);
    heap_free(session->heap, pairs);
    return status;
}

// Labels are shown to everybody, also in lists and logs.
static Text clean_label(Text label, char out[EDIT_LABEL_BYTES_MAX + 1])
{
    ASSERT(label.bytes <= EDIT_LABEL_BYTES_MAX); // edit_up_read
    memcpy(out, label.data, label.bytes);
    out[label.bytes] = '\0';
    utf8_clean(out);
    return text_from(out);
}

static Status receive_ops(EditSession *session, uint32_t editor, const EditUp *up, EditError *error)
{
    EditBuffer again = edit_buffer(session->heap, EDIT_INVERSE_BYTES_MAX);
    Status status = catch_up(session, editor, up, &again);
    if (status != STATUS_OK) {
        status = edit_error(error, status, 0, "cannot be read: %s", status_text(status));
    } else {
        char label[EDIT_LABEL_BYTES_MAX + 1];
        Step step = {.editor = editor, .n = up->n, .label = clean_label(up->label, label)};
        step.ops = again.bytes != 0 ? again.data : up->ops;
        step.ops_bytes = again.bytes != 0 ? again.bytes : up->ops_bytes;
        status = order(session, &step, error);
    }
    edit_buffer_free(&again);
    return status;
}

static Status receive_undo(EditSession *session, uint32_t editor, const EditUp *up,
                           EditError *error)
{
    Entry *entry = entry_find(session, up->undo);
    if (entry == NULL || entry->editor != editor || entry->is_undone) {
        return edit_error(error, STATUS_NOT_FOUND, 0,
                          "cannot be undone: it is not yours, too old, or undone already");
    }
    EditBuffer ops = edit_buffer(session->heap, EDIT_INVERSE_BYTES_MAX);
    Step step = {.editor = editor,
                 .n = up->n,
                 .undone = up->undo,
                 .label = text_from("Undo"),
                 .inverse = edit_inverse(session->heap)};
    EditUndone undone;
    Status status = edit_undo(session->doc, &entry->inverse, &ops, &step.inverse, &undone);
    if (status == STATUS_OK && undone.changed == 0) {
        status = edit_error(error, STATUS_BLOCKED, 0,
                            "cannot be undone: others have changed all of it since");
    } else if (status != STATUS_OK) {
        status = edit_error(error, status, 0, "cannot be undone: %s", status_text(status));
    }
    if (status == STATUS_OK) {
        step.ops = ops.data;
        step.ops_bytes = ops.bytes;
        status = commit(session, &step, error);
        session->counts.undone += status == STATUS_OK;
        session->counts.undo_skipped += status == STATUS_OK ? undone.skipped : 0;
    } else {
        edit_inverse_free(&step.inverse);
    }
    edit_buffer_free(&ops);
    return status;
}

void edit_session_receive(EditSession *session, uint32_t editor, const uint8_t *bytes, size_t count)
{
    ASSERT(editor >= 1 && editor <= EDIT_EDITORS_MAX);
    EditUp up;
    EditError error = {0};
    const Status read = edit_up_read(bytes, count, &up);
    if (read != STATUS_OK) {
        session->counts.malformed += 1;
        (void)edit_error(&error, read, 0, "cannot be read: %s", status_text(read));
        refuse(session, editor, 0, &error);
        return;
    }
    Editor *at = &session->editors[editor];
    if (up.n <= at->n) {
        session->counts.repeated += 1; // sent again after a lost connection
        return;
    }
    if (up.n - at->n > EDIT_NUMBER_AHEAD_MAX) { // all that follow would look as if sent again
        (void)edit_error(&error, STATUS_RANGE, 0, "has a number that is not the next one");
        refuse(session, editor, up.n, &error);
        return;
    }
    at->n = up.n;
    const Status status = up.type == EDIT_UP_UNDO ? receive_undo(session, editor, &up, &error)
                                                  : receive_ops(session, editor, &up, &error);
    if (status != STATUS_OK) {
        refuse(session, editor, up.n, &error);
    }
}

void edit_session_refuse(EditSession *session, uint32_t editor, const uint8_t *bytes, size_t count,
                         Status status, const char *message)
{
    ASSERT(editor >= 1 && editor <= EDIT_EDITORS_MAX);
    EditUp up;
    EditError error = {0};
    Editor *at = &session->editors[editor];
    const Status read = edit_up_read(bytes, count, &up);
    if (read == STATUS_OK && up.n <= at->n) {
        return; // it was decided before
    }
    if (read == STATUS_OK && up.n - at->n <= EDIT_NUMBER_AHEAD_MAX) {
        at->n = up.n;
    }
    (void)edit_error(&error, status, 0, "%s", message);
    refuse(session, editor, read == STATUS_OK ? up.n : 0, &error);
}

Status edit_session_edit(EditSession *session, Text label, const uint8_t *ops, size_t bytes,
                         EditError *error)
{
    Step step = {.label = label, .ops = ops, .ops_bytes = bytes};
    return order(session, &step, error);
}

// --- joining ------------------------------------------------------------------------------------

void edit_session_join(EditSession *session, uint32_t editor, uint64_t seq)
{
    ASSERT(editor >= 1 && editor <= EDIT_EDITORS_MAX);
    Editor *at = &session->editors[editor];
    ASSERT(session->committed == session->seq);
    at->is_here = true;
    if (seq > session->seq || seq + 1 < edit_session_log_from(session)) {
        send(session, editor, &(EditDown){.type = EDIT_DOWN_RELOAD});
        return;
    }
    for (uint64_t next = seq + 1; next <= session->seq; next++) {
        const Entry *entry = entry_find(session, next);
        session->config.send(session->config.user, editor, entry->row.data, entry->row.bytes);
    }
    send(session, editor, &(EditDown){.type = EDIT_DOWN_WELCOME, .seq = session->seq, .n = at->n});
}

void edit_session_leave(EditSession *session, uint32_t editor)
{
    ASSERT(editor >= 1 && editor <= EDIT_EDITORS_MAX);
    session->editors[editor].is_here = false;
}

Status edit_session_replay(EditSession *session, const uint8_t *row, size_t bytes)
{
    EditDown told;
    Status status = edit_down_read(row, bytes, &told);
    if (status == STATUS_OK && (told.type != EDIT_DOWN_TOLD || told.seq != session->seq + 1)) {
        status = STATUS_MISMATCH;
    }
    if (status == STATUS_OK && session->log_count == session->log_max) {
        status = log_grow(session);
    }
    if (status != STATUS_OK) {
        return status;
    }
    Entry entry = {.seq = told.seq,
                   .n = told.n,
                   .editor = told.editor,
                   .row = edit_buffer(session->heap, EDIT_MESSAGE_BYTES_MAX),
                   .inverse = edit_inverse(session->heap)};
    EditError error;
    edit_buffer_append(&entry.row, row, bytes);
    status = entry.row.status;
    if (status == STATUS_OK) {
        status = edit_apply(session->doc, told.ops, told.ops_bytes, &entry.inverse, &error);
    }
    if (status != STATUS_OK) {
        entry_free(&entry);
        return status;
    }
    Entry *undone = entry_find(session, told.undone);
    if (undone != NULL) {
        undone->is_undone = true;
    }
    Editor *editor = &session->editors[told.editor];
    editor->n = told.n > editor->n ? told.n : editor->n;
    log_add(session, &entry);
    session->committed = session->seq;
    session->size = edit_doc_size(session->doc);
    log_trim(session);
    return STATUS_OK;
}

uint64_t edit_session_seq(const EditSession *session)
{
    return session->seq;
}

uint64_t edit_session_committed(const EditSession *session)
{
    return session->committed;
}

uint64_t edit_session_log_from(const EditSession *session)
{
    return session->seq - session->log_count + 1;
}

EditSessionCounts edit_session_counts(const EditSession *session)
{
    return session->counts;
}
