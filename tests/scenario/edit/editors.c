// See editors.h.
#include "tests/scenario/edit/editors.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/edit/clip.h"
#include "core/edit/pending.h"
#include "core/edit/session.h"
#include "tests/support/edit_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEAP_BYTES  (512u << 20)
#define EDITORS_MAX 8
#define STEPS       300
#define QUIET_STEPS 200 // without edits, failures or lost connections
#define QUEUE_MAX   1024
#define ROWS_MAX    4096
#define IDS         60
#define OWN_MAX     512
#define WAITING_MAX 64

typedef struct Message {
    uint8_t *data;
    size_t bytes;
    uint32_t at; // the step in which it arrives
} Message;

typedef struct Queue {
    Message messages[QUEUE_MAX];
    uint32_t count;
} Queue;

typedef struct Editor {
    bool is_connected, is_welcome;
    EditDoc *doc;
    EditPending *pending;
    Queue up, down;
    uint64_t own[OWN_MAX]; // seqs of transactions that were confirmed to it
    uint32_t own_count;
} Editor;

typedef struct Run {
    Heap heap;
    Rng rng;
    uint32_t step;
    bool is_quiet;
    uint32_t editor_count;
    Editor editors[EDITORS_MAX + 1];
    EditDoc *doc;
    EditSession *session;
    EditText *text;
    EditBuffer clip; // what is pasted
    uint8_t clip_hash[SHA256_BYTES];
    Message rows[ROWS_MAX];
    uint32_t row_count;
    bool defers;
    Message waiting[WAITING_MAX]; // rows that the store has taken and not answered
    uint32_t waiting_count;
    bool dies_before, dies_after, is_dead; // of the session, at the next store
    uint64_t told_max;                     // the highest seq that any editor was told
    EditorsResult result;
    Hash64 trace;
} Run;

__attribute__((format(printf, 2, 3))) static void fail(Run *run, const char *format, ...)
{
    if (run->result.has_failed) {
        return;
    }
    run->result.has_failed = true;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(run->result.why, sizeof run->result.why, format, arguments);
    va_end(arguments);
}

// --- links --------------------------------------------------------------------------------------

static void queue_add(Run *run, Queue *queue, const uint8_t *bytes, size_t count)
{
    if (queue->count == QUEUE_MAX) {
        fail(run, "a queue is full");
        return;
    }
    const uint32_t last = queue->count == 0 ? 0 : queue->messages[queue->count - 1].at;
    const uint32_t at = run->step + 1 + rng_below(&run->rng, 12);
    Message message = {heap_alloc(&run->heap, count), count, at > last ? at : last};
    ASSERT(message.data != NULL);
    memcpy(message.data, bytes, count);
    queue->messages[queue->count++] = message;
}

static void queue_clear(Run *run, Queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        heap_free(&run->heap, queue->messages[i].data);
    }
    queue->count = 0;
}

static bool queue_take(Run *run, Queue *queue, Message *out)
{
    if (queue->count == 0 || queue->messages[0].at > run->step) {
        return false;
    }
    *out = queue->messages[0];
    queue->count -= 1;
    memmove(&queue->messages[0], &queue->messages[1], queue->count * sizeof queue->messages[0]);
    return true;
}

static void disconnect(Run *run, uint32_t number)
{
    Editor *editor = &run->editors[number];
    queue_clear(run, &editor->up);
    queue_clear(run, &editor->down);
    editor->is_connected = editor->is_welcome = false;
    if (run->session != NULL) {
        edit_session_leave(run->session, number);
    }
}

static void connect(Run *run, uint32_t number)
{
    run->editors[number].is_connected = true;
    edit_session_join(run->session, number, edit_pending_seq(run->editors[number].pending));
}

// --- the session --------------------------------------------------------------------------------

static Status take_row(Run *run, const uint8_t *row, size_t bytes)
{
    if (run->is_dead || run->waiting_count == WAITING_MAX) {
        return STATUS_LIMIT;
    }
    Message kept = {heap_alloc(&run->heap, bytes), bytes, 0};
    ASSERT(kept.data != NULL);
    memcpy(kept.data, row, bytes);
    run->waiting[run->waiting_count++] = kept;
    return STATUS_OK;
}

static void drop_waiting(Run *run)
{
    for (uint32_t i = 0; i < run->waiting_count; i++) {
        heap_free(&run->heap, run->waiting[i].data);
    }
    run->waiting_count = 0;
}

// The store answers for all that waits: it is on disk, or none of it.
static void settle(Run *run)
{
    if (run->waiting_count == 0 || run->is_dead) {
        return;
    }
    if (run->dies_before) {
        run->is_dead = true;
    } else if (!run->is_quiet && rng_below(&run->rng, 30) == 0) {
        drop_waiting(run); // the disk is full for a moment
        edit_session_roll_back(run->session, STATUS_LIMIT);
    } else {
        for (uint32_t i = 0; i < run->waiting_count; i++) {
            ASSERT(run->row_count < ROWS_MAX);
            run->rows[run->row_count++] = run->waiting[i];
        }
        run->waiting_count = 0;
        run->is_dead = run->dies_after;
        edit_session_commit(run->session); // a dead one sends nothing
    }
}

static Status store(void *user, uint64_t seq, const uint8_t *row, size_t bytes)
{
    Run *run = user;
    if (run->defers) {
        return take_row(run, row, bytes);
    }
    if (run->is_dead || run->dies_before) {
        run->is_dead = true;
        return STATUS_LIMIT;
    }
    if (!run->is_quiet && rng_below(&run->rng, 60) == 0) {
        return STATUS_LIMIT; // the disk is full for a moment
    }
    ASSERT(run->row_count < ROWS_MAX && seq == run->row_count + 1);
    Message kept = {heap_alloc(&run->heap, bytes), bytes, 0};
    ASSERT(kept.data != NULL);
    memcpy(kept.data, row, bytes);
    run->rows[run->row_count++] = kept;
    run->is_dead = run->dies_after;
    return STATUS_OK;
}

// A dead process sends nothing any more.
static void send_down(void *user, uint32_t number, const uint8_t *bytes, size_t count)
{
    Run *run = user;
    if (!run->is_dead && run->editors[number].is_connected) {
        queue_add(run, &run->editors[number].down, bytes, count);
    }
}

static const uint8_t *find_clip(void *user, const uint8_t hash[SHA256_BYTES], size_t *bytes)
{
    const Run *run = user;
    *bytes = run->clip.bytes;
    return memcmp(hash, run->clip_hash, SHA256_BYTES) == 0 ? run->clip.data : NULL;
}

static void open_session(Run *run)
{
    EditSessionConfig config = {
        .user = run, .store = store, .send = send_down, .defers = run->defers};
    config.seed = rng_u64(&run->rng);
    run->is_dead = run->dies_before = run->dies_after = false;
    // From the files as they were at first; the rows are all that happened since.
    run->doc = edit_fixture_doc(&run->heap, EDIT_SCENE_TEXT);
    Status status = edit_session_create(&run->heap, run->doc, &config, &run->session);
    ASSERT(status == STATUS_OK);
    for (uint32_t i = 0; i < run->row_count; i++) {
        status = edit_session_replay(run->session, run->rows[i].data, run->rows[i].bytes);
        if (status != STATUS_OK) {
            fail(run, "row %u cannot be applied again: %s", (unsigned)(i + 1), status_name(status));
        }
    }
    edit_doc_set_blobs(run->doc, (EditBlobs){run, find_clip}); // the rows do not need it
    if (edit_session_seq(run->session) < run->told_max) {
        fail(run, "transaction %u was told and is missing", (unsigned)run->told_max);
    }
}

static void count_up(Run *run)
{
    const EditSessionCounts counts = edit_session_counts(run->session);
    run->result.told += counts.told;
    run->result.refused += counts.refused;
    run->result.renumbered += counts.renumbered;
    run->result.undone += counts.undone;
}

static void bury(Run *run)
{
    run->result.deaths += 1;
    drop_waiting(run);
    count_up(run);
    edit_session_destroy(run->session);
    edit_doc_destroy(run->doc);
    run->session = NULL;
    for (uint32_t i = 1; i <= run->editor_count; i++) {
        disconnect(run, i);
    }
    open_session(run);
    edit_text_rebind(run->text);
}

// --- editors ------------------------------------------------------------------------------------

static void check_confirmed(Run *run, Editor *editor)
{
    if (edit_pending_count(editor->pending) == 0 &&
        edit_pending_seq(editor->pending) == edit_session_seq(run->session) &&
        edit_doc_hash(editor->doc) != edit_doc_hash(run->doc)) {
        fail(run, "step %u: a page knows everything and differs", (unsigned)run->step);
    }
}

static void send_pending(Run *run, Editor *editor)
{
    for (uint32_t i = 0; i < edit_pending_count(editor->pending); i++) {
        EditBuffer message = edit_buffer(&run->heap, 8u << 20);
        edit_pending_message(editor->pending, i, &message);
        queue_add(run, &editor->up, message.data, message.bytes);
        edit_buffer_free(&message);
    }
}

static void hear(Run *run, Editor *editor, const Message *message)
{
    EditNews news;
    const Status status =
        edit_pending_receive(editor->pending, message->data, message->bytes, &news);
    if (status != STATUS_OK || news.is_stale) {
        fail(run, "step %u: a page must load again: %s", (unsigned)run->step, status_name(status));
        return;
    }
    if (news.down.type == EDIT_DOWN_TOLD) {
        run->told_max = news.down.seq > run->told_max ? news.down.seq : run->told_max;
        if (news.is_own && editor->own_count < OWN_MAX) {
            editor->own[editor->own_count++] = news.down.seq;
        }
    } else if (news.down.type == EDIT_DOWN_WELCOME) {
        editor->is_welcome = true;
        send_pending(run, editor);
    }
    check_confirmed(run, editor);
}

static void act(Run *run, Editor *editor)
{
    EditBuffer message = edit_buffer(&run->heap, 8u << 20);
    if (editor->own_count != 0 && rng_below(&run->rng, 5) == 0) {
        const uint32_t back = rng_below(&run->rng, editor->own_count < 4 ? editor->own_count : 4);
        status_ignore(edit_pending_undo(editor->pending, editor->own[editor->own_count - 1 - back],
                                        &message)); // too many unconfirmed: not now
    } else {
        EditBuffer ops = edit_fixture_ops(&run->heap);
        EditError error;
        edit_fixture_random(editor->doc, &run->rng, IDS, &ops);
        if (rng_below(&run->rng, 12) == 0) {
            const uint32_t parent = 1 + rng_below(&run->rng, IDS); // maybe nobody
            const uint32_t at = rng_below(&run->rng, 8);
            const bool has_parent = rng_below(&run->rng, 2) == 0;
            edit_op_paste(&ops, run->clip_hash, at, has_parent ? parent : 0, VEC3_ZERO);
        }
        status_ignore(edit_pending_edit(editor->pending, text_from("Act"), ops.data, ops.bytes,
                                        &message, &error)); // what the page itself refuses
        edit_buffer_free(&ops);
    }
    if (message.bytes != 0 && editor->is_welcome) {
        queue_add(run, &editor->up, message.data, message.bytes);
    }
    edit_buffer_free(&message);
}

// --- the disk -----------------------------------------------------------------------------------

static void write_text(Run *run)
{
    settle(run);
    if (run->is_dead) {
        return;
    }
    const Status status = edit_text_write(run->text, run->doc);
    if (status != STATUS_OK) {
        fail(run, "the text cannot be written: %s", status_name(status));
    }
}

// Somebody changes scene.json with another program: it is the text of another document.
static void edit_disk(Run *run)
{
    settle(run);
    const EditTexts now = edit_text_now(run->text);
    EditDoc *other = NULL;
    EditText *text = NULL;
    PlaceError error;
    Status status = edit_text_open(&run->heap, (EditBlobs){0}, now, &text, &other, &error);
    ASSERT(status == STATUS_OK);
    for (uint32_t i = 0; i < 3; i++) {
        EditBuffer ops = edit_fixture_ops(&run->heap);
        edit_fixture_random(other, &run->rng, IDS, &ops);
        status_ignore(edit_fixture_apply(other, &ops, NULL)); // some are refused
    }
    status = edit_text_write(text, other);
    ASSERT(status == STATUS_OK);
    EditBuffer ops = edit_buffer(&run->heap, 8u << 20);
    status = edit_text_take(run->text, run->doc, edit_text_now(text), &run->rng, &ops, &error);
    if (status != STATUS_OK) {
        fail(run, "the changed text cannot be taken: %s", status_name(status));
    }
    EditError refused;
    run->is_quiet = true; // the owner stores until it succeeds
    status = edit_session_edit(run->session, text_from("Disk"), ops.data, ops.bytes, &refused);
    settle(run);
    run->is_quiet = false;
    if (status != STATUS_OK && !run->is_dead) {
        fail(run, "the disk's change is refused: %s", refused.message);
    }
    run->result.disk_edits += 1;
    edit_buffer_free(&ops);
    edit_text_close(text);
    edit_doc_destroy(other);
}

// The files are the truth: read again they are the document. Files by hash are not in the text.
static void check_text(Run *run)
{
    write_text(run);
    EditDoc *doc = NULL;
    EditText *text = NULL;
    PlaceError error;
    const Status status =
        edit_text_open(&run->heap, (EditBlobs){0}, edit_text_now(run->text), &text, &doc, &error);
    if (status != STATUS_OK) {
        fail(run, "the text cannot be read back: %s", error.where.message);
        return;
    }
    EditBuffer ops = edit_fixture_ops(&run->heap);
    for (uint32_t i = 0; i < edit_doc_file_count(run->doc); i++) {
        const EditFile *file = edit_doc_file_at(run->doc, i);
        edit_op_file(&ops, file->path, file->hash, NULL);
    }
    if (edit_fixture_apply(doc, &ops, NULL) != STATUS_OK ||
        edit_doc_hash(doc) != edit_doc_hash(run->doc)) {
        fail(run, "the text read back is another document");
    }
    edit_text_close(text);
    edit_doc_destroy(doc);
}

// --- a run --------------------------------------------------------------------------------------

static void step_links(Run *run)
{
    for (uint32_t i = 1; i <= run->editor_count; i++) {
        Editor *editor = &run->editors[i];
        Message message;
        while (queue_take(run, &editor->up, &message)) {
            edit_session_receive(run->session, i, message.data, message.bytes);
            heap_free(&run->heap, message.data);
            hash_u64(&run->trace, edit_doc_hash(run->doc));
            if (run->is_dead) {
                bury(run);
            }
        }
        while (queue_take(run, &editor->down, &message)) {
            hear(run, editor, &message);
            heap_free(&run->heap, message.data);
        }
        if (!editor->is_connected && run->waiting_count == 0 &&
            (run->is_quiet || rng_below(&run->rng, 10) == 0)) {
            connect(run, i);
        }
    }
    if (run->defers && (run->is_quiet || rng_below(&run->rng, 3) == 0)) {
        settle(run);
        if (run->is_dead) {
            bury(run);
        }
    }
}

static void step_trouble(Run *run)
{
    if (run->is_quiet) {
        return;
    }
    const uint32_t number = 1 + rng_below(&run->rng, run->editor_count);
    const uint32_t dice = rng_below(&run->rng, 400);
    if (dice < 6) {
        disconnect(run, number);
    } else if (dice == 6) {
        run->dies_before = true;
    } else if (dice == 7) {
        run->dies_after = true;
    } else if (dice < 12) {
        write_text(run);
    } else if (dice < 14 && !run->dies_before && !run->dies_after) {
        edit_disk(run);
    }
    for (uint32_t i = 1; i <= run->editor_count; i++) {
        if (rng_below(&run->rng, 6) == 0) {
            act(run, &run->editors[i]);
        }
    }
}

static void check_end(Run *run)
{
    for (uint32_t i = 1; i <= run->editor_count; i++) {
        const Editor *editor = &run->editors[i];
        if (edit_pending_count(editor->pending) != 0) {
            fail(run, "editor %u has unconfirmed changes after quiet", (unsigned)i);
        }
        if (edit_pending_seq(editor->pending) != edit_session_seq(run->session) ||
            edit_doc_hash(editor->doc) != edit_doc_hash(run->doc)) {
            fail(run, "editor %u has another document after quiet", (unsigned)i);
        }
    }
    check_text(run);
}

static void open_run(Run *run, uint64_t seed)
{
    memset(run, 0, sizeof *run);
    run->heap = heap_make(HEAP_BYTES);
    run->rng = rng_make(seed, 3);
    run->trace = HASH64_INIT;
    run->defers = seed % 2 == 0;
    run->editor_count = 2 + rng_below(&run->rng, EDITORS_MAX - 1);
    EditDoc *doc = NULL;
    run->text = edit_fixture_open(&run->heap, EDIT_SCENE_TEXT, &doc);
    const uint32_t hut = 10;
    run->clip = edit_buffer(&run->heap, 1u << 20);
    const Status copied = edit_clip_write(doc, &hut, 1, &run->clip);
    ASSERT(copied == STATUS_OK);
    sha256_of(run->clip.data, run->clip.bytes, run->clip_hash);
    edit_doc_destroy(doc);
    open_session(run);
    for (uint32_t i = 1; i <= run->editor_count; i++) {
        Editor *editor = &run->editors[i];
        editor->doc = edit_fixture_doc(&run->heap, EDIT_SCENE_TEXT);
        if (i % 2 == 1) { // the others cannot paste, and never need to
            edit_doc_set_blobs(editor->doc, (EditBlobs){run, find_clip});
        }
        const Status status = edit_pending_create(&run->heap, editor->doc, i, 0, &editor->pending);
        ASSERT(status == STATUS_OK);
        connect(run, i);
    }
}

static void close_run(Run *run)
{
    count_up(run);
    for (uint32_t i = 1; i <= run->editor_count; i++) {
        disconnect(run, i);
        edit_pending_destroy(run->editors[i].pending);
        edit_doc_destroy(run->editors[i].doc);
    }
    for (uint32_t i = 0; i < run->row_count; i++) {
        heap_free(&run->heap, run->rows[i].data);
    }
    edit_text_close(run->text);
    edit_buffer_free(&run->clip);
    edit_session_destroy(run->session);
    edit_doc_destroy(run->doc);
    if (run->heap.bytes_now != 0) {
        fail(run, "%llu bytes were not given back", (unsigned long long)run->heap.bytes_now);
    }
}

EditorsResult editors_run(uint64_t seed)
{
    static Run run;
    open_run(&run, seed);
    for (run.step = 0; run.step < STEPS + QUIET_STEPS && !run.result.has_failed; run.step++) {
        run.is_quiet = run.step >= STEPS;
        if (run.step == STEPS) {
            run.dies_before = run.dies_after = false;
        }
        step_trouble(&run);
        if (run.is_dead) {
            bury(&run);
        }
        step_links(&run);
    }
    if (!run.result.has_failed) {
        check_end(&run);
    }
    hash_u64(&run.trace, edit_doc_hash(run.doc));
    run.result.hash = run.trace.state;
    close_run(&run);
    return run.result;
}
