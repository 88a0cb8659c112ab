// See draft.h. The host is a model of server/serve/edit (edit_draft.c, edit_files.c): it does the
// same in the same order, but each step of a write is a step of virtual time, and it may be the
// last.
//
// Who may change what tells whether something was lost. Editors have files of their own and the
// scene's lower bound, other programs have files of their own and the name of the place:
//   seed % 3 = 0   nothing else writes: no row may be a change on disk
//   seed % 3 = 1   other programs change what is theirs: no change on disk has anything of an
//   editor's seed % 3 = 2   other programs change anything, and write texts that cannot be read
#include "tests/scenario/edit/draft.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/edit/pending.h"
#include "server/shell/edit/edit_process.h"
#include "tests/support/edit_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES  (512u << 20)
#define EDITORS_MAX 8
#define STEP_MS     10
#define STEPS       600
#define QUIET_STEPS 1000
#define QUEUE_MAX   2048
#define ROWS_MAX    4096
#define BLOBS_MAX   4096
#define FILES_MAX   64
#define IDS         60
#define OWN_MAX     256

typedef struct Packet {
    uint8_t *data;
    size_t bytes;
    uint32_t at;   // the step in which it arrives
    uint32_t type; // EditLinkType, or one of these
} Packet;
enum { SAYS_MESSAGE, SAYS_DOCUMENT }; // to a page; a document begins with u64 log and u64 seq

typedef struct Queue {
    Packet packets[QUEUE_MAX];
    uint32_t count;
} Queue;

typedef struct Page {
    EditDoc *doc;
    EditPending *pending;
    uint64_t log, connection; // 0: not connected
    bool is_welcome;
    Queue up, down;
    uint64_t own[OWN_MAX]; // what it may undo
    uint32_t own_count, own_writes;
} Page;

typedef struct Blob { // a text
    uint8_t *data;
    size_t bytes;
    uint8_t hash[SHA256_BYTES];
    bool is_kept; // by its hash; else it is only on disk
} Blob;

typedef struct DiskFile {
    char path[EDIT_PATH_BYTES_MAX + 1];
    uint8_t hash[SHA256_BYTES];
} DiskFile;

typedef struct Head {
    uint64_t epoch, log, written;
    uint8_t hashes[2][SHA256_BYTES]; // place.json, scene.json
} Head;

typedef struct Checkpoint {
    uint64_t seq;
    uint8_t *data;
    size_t bytes;
} Checkpoint;

// A write of the host's file thread, under way.
typedef struct Job {
    uint8_t *bytes; // NULL: none
    EditReport report;
    uint32_t life, at;
    uint64_t epoch;
    Status status;
    EditBuffer failed;
    uint32_t failed_count;
    char path[EDIT_PATH_BYTES_MAX + 1];
    uint8_t hashes[2][SHA256_BYTES]; // of the texts that the disk has
} Job;

typedef struct Run {
    Heap heap;
    Rng rng;
    uint32_t step, mode;
    bool is_quiet;
    uint32_t page_count;
    Page pages[EDITORS_MAX + 1];
    // The store and the disk, which outlive everything.
    Head head;
    Checkpoint checkpoints[2]; // the older one first
    Packet rows[ROWS_MAX];
    uint32_t row_count;
    Blob blobs[BLOBS_MAX];
    uint32_t blob_count;
    uint32_t texts[2]; // which blobs are place.json and scene.json
    DiskFile files[FILES_MAX];
    uint32_t file_count;
    // The server.
    bool keeps_history; // `sandlot dev` has none: texts are kept after the write
    Job job;
    uint64_t written_seq; // in its memory
    uint32_t starts_at;   // no process before that
    uint32_t life, disk_told_at;
    uint8_t begun[2][SHA256_BYTES];
    uint64_t hold_next, hold;
    Queue to_host, to_process;
    // The process.
    EditProcess *process;
    Packet heard;   // which it looks at
    bool is_ending; // it gives up, which is allowed
    uint64_t connection_next;
    // Other programs.
    uint32_t outside_count;
    uint8_t outside_hash[SHA256_BYTES]; // of their file
    bool has_outside, is_broken;
    uint64_t told_max;
    EditorsResult result;
    Hash64 trace;
} Run;

static Run run;
static jmp_buf process_end;

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
    if (run.result.has_failed) {
        return;
    }
    run.result.has_failed = true;
    va_list arguments;
    va_start(arguments, format);
    const int at = snprintf(run.result.why, sizeof run.result.why, "step %u: ", (unsigned)run.step);
    (void)vsnprintf(run.result.why + at, sizeof run.result.why - (size_t)at, format, arguments);
    va_end(arguments);
}

static bool chance(uint32_t one_in)
{
    return !run.is_quiet && rng_below(&run.rng, one_in) == 0;
}

// --- links --------------------------------------------------------------------------------------

static uint8_t *copy_of(const void *bytes, size_t count)
{
    uint8_t *copy = heap_alloc(&run.heap, count + 1);
    ASSERT(copy != NULL);
    if (count > 0) {
        memcpy(copy, bytes, count);
    }
    return copy;
}

static void queue_add(Queue *queue, uint32_t type, const void *bytes, size_t count, uint32_t delay)
{
    if (queue->count == QUEUE_MAX) {
        fail("a queue is full");
        return;
    }
    const uint32_t last = queue->count == 0 ? 0 : queue->packets[queue->count - 1].at;
    const uint32_t at = run.step + 1 + rng_below(&run.rng, delay);
    queue->packets[queue->count++] =
        (Packet){copy_of(bytes, count), count, at > last ? at : last, type};
}

static void queue_clear(Queue *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        heap_free(&run.heap, queue->packets[i].data);
    }
    queue->count = 0;
}

static bool queue_take(Queue *queue, Packet *out)
{
    if (queue->count == 0 || queue->packets[0].at > run.step) {
        return false;
    }
    *out = queue->packets[0];
    queue->count -= 1;
    memmove(&queue->packets[0], &queue->packets[1], queue->count * sizeof queue->packets[0]);
    return true;
}

// --- the disk -----------------------------------------------------------------------------------

static uint32_t blob_add(const void *bytes, size_t count, bool is_kept)
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(bytes, count, hash);
    for (uint32_t i = 0; i < run.blob_count; i++) {
        if (memcmp(run.blobs[i].hash, hash, sizeof hash) == 0) {
            run.blobs[i].is_kept = run.blobs[i].is_kept || is_kept;
            return i;
        }
    }
    ASSERT(run.blob_count < BLOBS_MAX);
    Blob *blob = &run.blobs[run.blob_count];
    *blob = (Blob){copy_of(bytes, count), count, {0}, is_kept};
    memcpy(blob->hash, hash, sizeof hash);
    return run.blob_count++;
}

static Text blob_text(uint32_t blob)
{
    return (Text){(const char *)run.blobs[blob].data, run.blobs[blob].bytes};
}

static DiskFile *file_find(const char *path)
{
    for (uint32_t i = 0; i < run.file_count; i++) {
        if (strcmp(run.files[i].path, path) == 0) {
            return &run.files[i];
        }
    }
    return NULL;
}

static void file_set(const char *path, const uint8_t *hash)
{
    DiskFile *file = file_find(path);
    if (hash == NULL) {
        if (file != NULL) {
            *file = run.files[--run.file_count];
        }
        return;
    }
    if (file == NULL) {
        ASSERT(run.file_count < FILES_MAX);
        file = &run.files[run.file_count++];
        (void)snprintf(file->path, sizeof file->path, "%s", path);
    }
    memcpy(file->hash, hash, SHA256_BYTES);
}

static EditDisk disk_now(EditBuffer *files)
{
    for (uint32_t i = 0; i < run.file_count; i++) {
        edit_disk_file_write(text_from(run.files[i].path), run.files[i].hash, files);
    }
    return (EditDisk){.settings = blob_text(run.texts[0]),
                      .scene = blob_text(run.texts[1]),
                      .file_count = run.file_count,
                      .files = files->data,
                      .file_bytes = files->bytes};
}

// --- the process: what it asks of edit_main.c and edit_people.c ---------------------------------

Status edit_put(EditProcess *process, EditLinkType type, const void *bytes, size_t count)
{
    (void)process;
    queue_add(&run.to_host, type, bytes, count, 4);
    return STATUS_OK;
}

_Noreturn void edit_end(EditProcess *process, const char *what)
{
    (void)process;
    if (!run.is_ending) {
        fail("the process gives up: %s", what);
    }
    longjmp(process_end, 1);
}

void edit_people_say_written(EditProcess *process)
{
    (void)process;
}

void edit_people_say_blocked(EditProcess *process)
{
    if (process->is_blocked && run.mode != 2) {
        fail("blocked: %s", process->blocked);
    }
}

void edit_people_say_failed(EditProcess *process, Text file, const char *message)
{
    (void)process;
    (void)file;
    (void)message;
}

void edit_people_dismiss(EditProcess *process, EditPerson *person, const char *code,
                         const char *message, uint16_t close_code)
{
    (void)process;
    (void)person;
    (void)close_code;
    fail("an editor is dismissed: %s, %s", code, message);
}

void edit_people_send(EditProcess *process, uint32_t editor, const uint8_t *bytes, size_t count)
{
    (void)process;
    if (run.pages[editor].connection != 0) {
        queue_add(&run.pages[editor].down, SAYS_MESSAGE, bytes, count, 12);
    }
}

static void send_document(const EditProcess *process, Page *page)
{
    EditBuffer message = edit_buffer(&run.heap, EDIT_DOCUMENT_BYTES_MAX);
    edit_buffer_u64(&message, process->log);
    edit_buffer_u64(&message, edit_session_seq(process->session));
    edit_doc_write(process->doc, &message);
    queue_add(&page->down, SAYS_DOCUMENT, message.data, message.bytes, 12);
    edit_buffer_free(&message);
}

void edit_people_join(EditProcess *process)
{
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection == 0 || person->has_joined) {
            continue;
        }
        const uint64_t seq = edit_session_seq(process->session);
        const bool knows = person->known_epoch == process->log && person->known_epoch != 0 &&
                           person->known_seq <= seq &&
                           person->known_seq + 1 >= edit_session_log_from(process->session);
        if (person->known_epoch == process->log && person->known_seq > seq) {
            fail("editor %u knows %u, the session %u", (unsigned)person->editor,
                 (unsigned)person->known_seq, (unsigned)seq);
        }
        person->has_joined = true;
        if (!knows) {
            send_document(process, &run.pages[person->editor]);
        }
        edit_session_join(process->session, person->editor, knows ? person->known_seq : seq);
    }
}

static void person_free(EditPerson *person)
{
    for (EditInbox *next = person->inbox; next != NULL;) {
        EditInbox *after = next->next;
        free(next);
        next = after;
    }
    *person = (EditPerson){0};
}

static void disconnect(uint32_t number)
{
    Page *page = &run.pages[number];
    queue_clear(&page->up);
    queue_clear(&page->down);
    page->connection = 0;
    page->is_welcome = false;
    if (run.process != NULL) {
        EditPerson *person = &run.process->people[number - 1];
        if (person->has_joined) {
            edit_session_leave(run.process->session, number);
        }
        person_free(person);
    }
}

static void connect(uint32_t number)
{
    Page *page = &run.pages[number];
    EditPerson *person = &run.process->people[number - 1];
    page->connection = ++run.connection_next;
    *person = (EditPerson){.connection = page->connection,
                           .editor = number,
                           .is_admitted = true,
                           .can_write = true,
                           .known_epoch = page->log};
    person->known_seq = page->pending != NULL ? edit_pending_seq(page->pending) : 0;
    person->inbox_end = &person->inbox;
}

static void inbox_add(uint32_t number, const Packet *packet)
{
    EditPerson *person = &run.process->people[number - 1];
    EditInbox *inbox = malloc(sizeof *inbox + packet->bytes);
    ASSERT(inbox != NULL);
    *inbox = (EditInbox){.bytes = packet->bytes};
    memcpy(inbox->data, packet->data, packet->bytes);
    *person->inbox_end = inbox;
    person->inbox_end = &inbox->next;
    person->inbox_bytes += packet->bytes;
}

// --- its life -----------------------------------------------------------------------------------

static void count_up(const EditSession *session)
{
    const EditSessionCounts counts = edit_session_counts(session);
    run.result.told += counts.told;
    run.result.refused += counts.refused;
    run.result.renumbered += counts.renumbered;
    run.result.undone += counts.undone;
}

static void process_free(void)
{
    EditProcess *process = run.process;
    if (process == NULL) {
        return;
    }
    if (process->session != NULL) {
        count_up(process->session);
    }
    edit_session_destroy(process->session);
    edit_text_close(process->text);
    edit_text_close(process->text_before);
    edit_text_close(process->text_sent);
    edit_doc_destroy(process->doc);
    free(process->disk.items);
    free(process->sent.items);
    free(process->reverts.items);
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        person_free(&process->people[i]);
    }
    if (process->heap.bytes_now != 0) {
        fail("%llu bytes of the process were not given back",
             (unsigned long long)process->heap.bytes_now);
    }
    free(process);
    run.process = NULL;
    for (uint32_t i = 1; i <= run.page_count; i++) {
        disconnect(i);
    }
}

// kill -9 of the process. A write that the host has begun goes on.
static void kill_process(void)
{
    run.result.deaths += 1;
    run.is_ending = false;
    process_free();
    queue_clear(&run.to_host);
    queue_clear(&run.to_process);
    run.starts_at = run.step + 1 + rng_below(&run.rng, 20);
}

static void job_free(void)
{
    heap_free(&run.heap, run.job.bytes);
    edit_buffer_free(&run.job.failed);
    run.job = (Job){0};
}

// kill -9 of the server, and with it of the process.
static void kill_server(void)
{
    kill_process();
    if (run.job.bytes != NULL) {
        job_free();
    }
    run.hold = 0;
}

static Text base_text(uint32_t which)
{
    if (memcmp(run.blobs[run.texts[which]].hash, run.head.hashes[which], SHA256_BYTES) == 0) {
        return blob_text(run.texts[which]);
    }
    for (uint32_t i = 0; i < run.blob_count; i++) {
        if (run.blobs[i].is_kept &&
            memcmp(run.blobs[i].hash, run.head.hashes[which], SHA256_BYTES) == 0) {
            return blob_text(i);
        }
    }
    return text_from("");
}

static void write_beginning(EditBuffer *out)
{
    EditBuffer files = edit_buffer(&run.heap, 1u << 20), rows = edit_buffer(&run.heap, 64u << 20);
    EditBeginning beginning = {.epoch = run.head.epoch, .log = run.head.log};
    beginning.seed = rng_u64(&run.rng);
    beginning.disk = disk_now(&files);
    const Checkpoint *from =
        run.checkpoints[0].data != NULL ? &run.checkpoints[0] : &run.checkpoints[1];
    if (from->data != NULL) {
        beginning.has_log = true;
        beginning.checkpoint_seq = from->seq;
        beginning.newest_seq = run.checkpoints[1].seq;
        beginning.checkpoint = (Text){(const char *)from->data, from->bytes};
        beginning.written_seq = run.head.written;
        beginning.base_settings = base_text(0);
        beginning.base_scene = base_text(1);
        for (uint32_t i = (uint32_t)from->seq; i < run.row_count; i++) {
            edit_buffer_block(&rows, run.rows[i].data, run.rows[i].bytes);
            beginning.row_count += 1;
        }
        beginning.rows = rows.data;
        beginning.row_bytes = rows.bytes;
    }
    edit_beginning_write(&beginning, out);
    ASSERT(out->status == STATUS_OK);
    edit_buffer_free(&files);
    edit_buffer_free(&rows);
}

static void start_process(void)
{
    EditBuffer bytes = edit_buffer(&run.heap, 128u << 20);
    EditReport failed = {0};
    run.head.epoch += 1;
    run.life += 1;
    run.written_seq = run.head.written;
    for (uint32_t i = 0; i < 2; i++) {
        memcpy(run.begun[i], run.blobs[run.texts[i]].hash, SHA256_BYTES);
    }
    write_beginning(&bytes);
    EditProcess *process = calloc(1, sizeof *process);
    ASSERT(process != NULL);
    run.process = process;
    process->heap = heap_make(HEAP_BYTES);
    process->now_ms = 1000 + (uint64_t)run.step * STEP_MS;
    const Status status = edit_open(process, bytes.data, bytes.bytes, &failed);
    edit_buffer_free(&bytes);
    if (status != STATUS_OK) {
        fail("it cannot begin: %s", failed.text);
    } else if (run.head.log != 0 && process->log != run.head.log) {
        fail("the log was given up");
    } else if (edit_session_seq(process->session) < run.told_max) {
        fail("transaction %u was told and is missing", (unsigned)run.told_max);
    }
    run.disk_told_at = run.step + 1;
}

// --- the store ----------------------------------------------------------------------------------

static bool is_outsiders(Text path)
{
    return path.bytes > 13 && memcmp(path.data, "Workspace/Out", 13) == 0;
}

// A change on disk must be one that another program has made: what the process wrote itself, or did
// not write any more, is none. It would put an old value over a newer one.
static void check_row(const EditReportRow *row)
{
    EditDown told;
    EditOp op;
    EditError error = {0};
    const Status status = edit_down_read(row->row, row->row_bytes, &told);
    ASSERT(status == STATUS_OK);
    if (told.editor != 0 || !text_equal(told.text, text_from("Changed on disk"))) {
        return;
    }
    if (run.mode == 0) {
        fail("row %u is a change on disk that nobody made", (unsigned)row->seq);
    }
    ByteReader reader = byte_reader(told.ops, told.ops_bytes);
    if (run.mode != 1 || edit_ops_open(&reader, &error) != STATUS_OK) {
        return;
    }
    while (edit_op_read(&reader, &op, &error)) {
        const bool is_file = op.type == EDIT_FILE || op.type == EDIT_RENAME;
        if (is_file ? !is_outsiders(op.path) : op.type != EDIT_SET || op.kind != EDIT_SETTINGS) {
            fail("row %u takes what an editor did for a change on disk", (unsigned)row->seq);
        }
    }
}

static void answer(EditLinkType type, const EditBuffer *message)
{
    queue_add(&run.to_process, type, message->data, message->bytes, 4);
}

static void answer_stored(Status status)
{
    EditBuffer message = edit_buffer(&run.heap, 64);
    edit_buffer_u8(&message, (uint8_t)status);
    answer(EDIT_LINK_STORED, &message);
    edit_buffer_free(&message);
}

static void store_rows(const EditReport *report)
{
    if (chance(40)) {
        answer_stored(STATUS_LIMIT); // the disk of the store is full for a moment
        return;
    }
    if (chance(60)) {
        kill_server(); // before they are stored
        return;
    }
    for (uint32_t i = 0; i < report->row_count; i++) {
        const EditReportRow *row = &report->rows[i];
        ASSERT(run.row_count < ROWS_MAX && row->seq == run.row_count + 1u);
        check_row(row);
        run.rows[run.row_count++] =
            (Packet){copy_of(row->row, row->row_bytes), row->row_bytes, 0, 0};
    }
    if (chance(60)) {
        kill_server(); // after they are stored, before anybody was told
        return;
    }
    answer_stored(STATUS_OK);
}

static void store_checkpoint(const EditReport *report)
{
    if (report->flag) {
        run.head.log = run.head.epoch;
        run.head.written = run.written_seq = report->seq;
        memcpy(run.head.hashes, run.begun, sizeof run.head.hashes);
    }
    heap_free(&run.heap, run.checkpoints[0].data);
    run.checkpoints[0] = run.checkpoints[1];
    run.checkpoints[1] =
        (Checkpoint){report->seq, copy_of(report->bytes, report->byte_count), report->byte_count};
    answer_stored(STATUS_OK);
}

// --- writing files ------------------------------------------------------------------------------

static void begin_write(const Packet *packet)
{
    ASSERT(run.job.bytes == NULL);
    run.job = (Job){.bytes = copy_of(packet->data, packet->bytes),
                    .life = run.life,
                    .epoch = run.head.epoch,
                    .failed = edit_buffer(&run.heap, 1u << 20)};
    const Status status =
        edit_report_read(EDIT_LINK_WRITE, run.job.bytes, packet->bytes, &run.job.report);
    ASSERT(status == STATUS_OK);
    memcpy(run.job.hashes[0], run.job.report.settings_known, SHA256_BYTES);
    memcpy(run.job.hashes[1], run.job.report.scene_known, SHA256_BYTES);
}

// Which texts the disk is about to have.
static void announce_texts(void)
{
    const EditReport *report = &run.job.report;
    if (!report->has_settings && !report->has_scene) {
        return;
    }
    memcpy(run.head.hashes, run.job.hashes, sizeof run.head.hashes);
    if (report->has_settings) {
        sha256_of(report->settings.data, report->settings.bytes, run.head.hashes[0]);
    }
    if (report->has_scene) {
        sha256_of(report->scene.data, report->scene.bytes, run.head.hashes[1]);
    }
}

static Status write_file(const EditReportFile *file)
{
    (void)snprintf(run.job.path, sizeof run.job.path, "%.*s", (int)file->path.bytes,
                   file->path.data);
    const DiskFile *there = file_find(run.job.path);
    const bool is_known =
        there == NULL ? file->known == NULL
                      : file->known != NULL && memcmp(there->hash, file->known, SHA256_BYTES) == 0;
    if (!is_known) {
        return STATUS_MISMATCH;
    }
    if (!is_outsiders(file->path) && chance(40)) {
        edit_buffer_block(&run.job.failed, run.job.path, strlen(run.job.path));
        edit_buffer_block(&run.job.failed, "full", 4);
        run.job.failed_count += 1;
        return STATUS_OK;
    }
    file_set(run.job.path, file->hash);
    return STATUS_OK;
}

static Status write_text(uint32_t which, Text text, const uint8_t *known)
{
    (void)snprintf(run.job.path, sizeof run.job.path, "%s",
                   which == 0 ? "place.json" : "scene.json");
    if (memcmp(run.blobs[run.texts[which]].hash, known, SHA256_BYTES) != 0) {
        return STATUS_MISMATCH;
    }
    if (chance(60)) {
        return STATUS_LIMIT;
    }
    run.texts[which] = blob_add(text.data, text.bytes, run.keeps_history);
    memcpy(run.job.hashes[which], run.blobs[run.texts[which]].hash, SHA256_BYTES);
    return STATUS_OK;
}

static void answer_write(void)
{
    EditBuffer message = edit_buffer(&run.heap, 1u << 20);
    const bool is_bad = run.job.status != STATUS_OK;
    edit_buffer_u8(&message, (uint8_t)run.job.status);
    edit_buffer_block(&message, run.job.path, is_bad ? strlen(run.job.path) : 0);
    edit_buffer_block(&message, "", 0);
    edit_buffer_u64(&message, is_bad ? 0 : run.job.failed_count);
    edit_buffer_append(&message, run.job.failed.data, is_bad ? 0 : run.job.failed.bytes);
    if (run.job.life == run.life && run.process != NULL) {
        answer(EDIT_LINK_WRITTEN, &message);
    }
    edit_buffer_free(&message);
    job_free();
}

// One step of it. The server may die before and after each.
static void step_write(void)
{
    Job *job = &run.job;
    const EditReport *report = &job->report;
    const uint32_t files_end = 1 + report->file_count;
    const uint32_t at = job->at++;
    if (at == 0) {
        announce_texts();
    } else if (at < files_end) {
        ByteReader files = report->files;
        EditReportFile file;
        for (uint32_t i = 0; i < at; i++) {
            edit_report_file(&files, &file);
        }
        job->status = write_file(&file);
    } else if (at == files_end && report->has_settings) {
        job->status = write_text(0, report->settings, report->settings_known);
    } else if (at == files_end + 1 && report->has_scene) {
        job->status = write_text(1, report->scene, report->scene_known);
    } else if (at == files_end + 2) {
        for (uint32_t i = 0; i < 2 && !run.keeps_history; i++) {
            run.blobs[run.texts[i]].is_kept = true;
        }
    } else if (at == files_end + 3) {
        run.written_seq = job->failed_count > 0 ? run.written_seq : report->seq;
        run.head.written = run.written_seq;
        memcpy(run.head.hashes, job->hashes, sizeof run.head.hashes);
    } else if (at == files_end + 4) {
        answer_write();
        return;
    }
    if (job->status != STATUS_OK) {
        memcpy(run.head.hashes, job->hashes, sizeof run.head.hashes);
        answer_write();
    }
}

// --- the host -----------------------------------------------------------------------------------

static void tell_disk(void)
{
    EditBuffer files = edit_buffer(&run.heap, 1u << 20),
               message = edit_buffer(&run.heap, 64u << 20);
    const EditDisk disk = disk_now(&files);
    edit_disk_write(&disk, &message);
    answer(EDIT_LINK_DISK, &message);
    edit_buffer_free(&files);
    edit_buffer_free(&message);
    run.disk_told_at = 0;
}

static void outside_file(void);

static void release(void)
{
    EditBuffer message = edit_buffer(&run.heap, 64);
    if (run.mode != 0) {
        outside_file();
    }
    edit_buffer_u64(&message, run.hold);
    answer(EDIT_LINK_RELEASE, &message);
    edit_buffer_free(&message);
    run.hold = 0;
}

static void hear_process(const Packet *packet)
{
    static EditReport report;
    const Status status =
        edit_report_read((EditLinkType)packet->type, packet->data, packet->bytes, &report);
    ASSERT(status == STATUS_OK);
    EditBuffer message = edit_buffer(&run.heap, 64);
    switch (packet->type) {
    case EDIT_LINK_ROWS:
        store_rows(&report);
        break;
    case EDIT_LINK_CHECKPOINT:
        store_checkpoint(&report);
        break;
    case EDIT_LINK_WRITE:
        begin_write(packet);
        break;
    case EDIT_LINK_LOOK:
        run.disk_told_at = run.step + 1 + rng_below(&run.rng, 10);
        break;
    case EDIT_LINK_NEED:
        edit_buffer_append(&message, report.hash, SHA256_BYTES);
        edit_buffer_u8(&message, chance(20) ? 0 : 1);
        answer(EDIT_LINK_BLOB, &message);
        break;
    case EDIT_LINK_HELD:
        if (report.number == run.hold) {
            release();
        }
        break;
    default:
        break;
    }
    edit_buffer_free(&message);
}

static void step_host(void)
{
    Packet packet;
    if (run.process == NULL && run.job.bytes == NULL && run.step >= run.starts_at) {
        start_process();
    }
    while (run.process != NULL && queue_take(&run.to_host, &packet)) {
        hear_process(&packet);
        heap_free(&run.heap, packet.data);
    }
    if (run.job.bytes != NULL) {
        if (chance(25)) {
            kill_server();
            return;
        }
        step_write();
    }
    if (run.process != NULL && run.job.bytes == NULL && run.disk_told_at != 0 &&
        run.step >= run.disk_told_at) {
        tell_disk();
    }
    if (run.process != NULL && run.hold == 0 && chance(150)) {
        EditBuffer message = edit_buffer(&run.heap, 64);
        run.hold = ++run.hold_next;
        edit_buffer_u64(&message, run.hold);
        answer(EDIT_LINK_HOLD, &message);
        edit_buffer_free(&message);
    }
}

// --- the process, a turn ------------------------------------------------------------------------

static void hear_host(const Packet *packet)
{
    EditProcess *process = run.process;
    ByteReader reader = byte_reader(packet->data, packet->bytes);
    switch (packet->type) {
    case EDIT_LINK_STORED: {
        const Status status = (Status)byte_read_u8(&reader);
        run.is_ending = status != STATUS_OK && process->has_own;
        edit_order_stored(process, status);
        break;
    }
    case EDIT_LINK_WRITTEN: {
        const Status status = (Status)byte_read_u8(&reader);
        size_t path_bytes = 0, reason_bytes = 0;
        const uint8_t *path = edit_read_block(&reader, &path_bytes);
        (void)edit_read_block(&reader, &reason_bytes);
        edit_file_written(process, status, (Text){(const char *)path, path_bytes}, "", &reader);
        break;
    }
    case EDIT_LINK_DISK:
        edit_file_disk(process, packet->data, packet->bytes);
        break;
    case EDIT_LINK_HOLD:
        edit_file_hold(process, byte_read_u64(&reader));
        break;
    case EDIT_LINK_RELEASE:
        edit_file_release(process, byte_read_u64(&reader));
        break;
    case EDIT_LINK_BLOB: {
        const uint8_t *hash = byte_read_bytes(&reader, SHA256_BYTES);
        edit_order_blob(process, hash, byte_read_bool(&reader));
        break;
    }
    default:
        break;
    }
}

static void turn(void)
{
    Packet packet;
    run.process->now_ms = 1000 + (uint64_t)run.step * STEP_MS;
    while (queue_take(&run.to_process, &run.heard)) {
        hear_host(&run.heard);
        heap_free(&run.heap, run.heard.data);
        run.heard.data = NULL;
    }
    for (uint32_t i = 1; i <= run.page_count; i++) {
        while (run.pages[i].connection != 0 && queue_take(&run.pages[i].up, &packet)) {
            inbox_add(i, &packet);
            heap_free(&run.heap, packet.data);
        }
    }
    if (chance(40)) {
        run.process->rows_since = EDIT_ROWS_EACH; // a checkpoint, which else comes seldom
    }
    edit_turn(run.process);
    hash_u64(&run.trace, edit_doc_hash(run.process->doc));
}

static void step_process(void)
{
    if (run.process == NULL || run.result.has_failed) {
        return;
    }
    if (setjmp(process_end) != 0) {
        heap_free(&run.heap, run.heard.data);
        run.heard.data = NULL;
        kill_process();
        return;
    }
    turn();
}

// --- pages --------------------------------------------------------------------------------------

static void send_pending(Page *page)
{
    for (uint32_t i = 0; i < edit_pending_count(page->pending); i++) {
        EditBuffer message = edit_buffer(&run.heap, 8u << 20);
        edit_pending_message(page->pending, i, &message);
        queue_add(&page->up, SAYS_MESSAGE, message.data, message.bytes, 12);
        edit_buffer_free(&message);
    }
}

static void load(Page *page, uint32_t number, const Packet *packet)
{
    ByteReader reader = byte_reader(packet->data, packet->bytes);
    page->log = byte_read_u64(&reader);
    const uint64_t seq = byte_read_u64(&reader);
    EditDoc *doc = NULL;
    const Status status =
        edit_doc_open(&run.heap, (EditBlobs){0}, packet->data + 16, packet->bytes - 16, &doc);
    ASSERT(status == STATUS_OK);
    if (page->pending == NULL) {
        const Status made = edit_pending_create(&run.heap, doc, number, seq, &page->pending);
        ASSERT(made == STATUS_OK);
    } else {
        edit_pending_reset(page->pending, doc, seq);
        edit_doc_destroy(page->doc);
    }
    page->doc = doc;
}

static void hear(uint32_t number, const Packet *packet)
{
    Page *page = &run.pages[number];
    EditNews news;
    if (packet->type == SAYS_DOCUMENT) {
        load(page, number, packet);
        return;
    }
    const Status status = edit_pending_receive(page->pending, packet->data, packet->bytes, &news);
    if (status != STATUS_OK || news.is_stale) {
        fail("a page must load again: %s", status_name(status));
        return;
    }
    if (news.down.type == EDIT_DOWN_TOLD) {
        run.told_max = news.down.seq > run.told_max ? news.down.seq : run.told_max;
        if (news.is_own && page->own_count < OWN_MAX &&
            text_equal(news.down.text, text_from("Act"))) {
            page->own[page->own_count++] = news.down.seq;
        }
    } else if (news.down.type == EDIT_DOWN_WELCOME) {
        page->is_welcome = true;
        send_pending(page);
    }
}

// What only this page changes.
static void act_own(Page *page, uint32_t number, EditBuffer *ops)
{
    char text[64];
    uint8_t hash[SHA256_BYTES] = {(uint8_t)number, 1};
    page->own_writes += 1;
    memcpy(hash + 2, &page->own_writes, sizeof page->own_writes);
    if (number == 1 && page->own_writes % 2 == 0) {
        (void)snprintf(text, sizeof text, "[-%u.5, -40, -40]", 40 + (unsigned)page->own_writes);
        edit_fixture_set(ops, EDIT_SCENE, 0, "bounds.min", text);
        return;
    }
    (void)snprintf(text, sizeof text, "Workspace/Own%u.lua", (unsigned)number);
    const EditFile *file = edit_doc_file_find(page->doc, text_from(text));
    const bool is_gone = file != NULL && rng_below(&run.rng, 4) == 0;
    edit_op_file(ops, text_from(text), is_gone ? NULL : hash, file != NULL ? file->hash : NULL);
}

static void act(uint32_t number)
{
    Page *page = &run.pages[number];
    if (page->pending == NULL) {
        return;
    }
    EditBuffer message = edit_buffer(&run.heap, 8u << 20);
    if (page->own_count != 0 && rng_below(&run.rng, 5) == 0) {
        const uint32_t back = rng_below(&run.rng, page->own_count < 4 ? page->own_count : 4);
        status_ignore(edit_pending_undo(page->pending, page->own[page->own_count - 1 - back],
                                        &message)); // too many unconfirmed: not now
    } else {
        EditBuffer ops = edit_fixture_ops(&run.heap);
        EditError error;
        const bool is_own = rng_below(&run.rng, 3) == 0;
        if (is_own) {
            act_own(page, number, &ops);
        } else {
            edit_fixture_random(page->doc, &run.rng, IDS, &ops);
        }
        status_ignore(edit_pending_edit(page->pending, text_from(is_own ? "Own" : "Act"), ops.data,
                                        ops.bytes, &message, &error)); // refused by the page
        edit_buffer_free(&ops);
    }
    if (message.bytes != 0 && page->is_welcome) {
        queue_add(&page->up, SAYS_MESSAGE, message.data, message.bytes, 12);
    }
    edit_buffer_free(&message);
}

static void step_pages(void)
{
    for (uint32_t i = 1; i <= run.page_count; i++) {
        Page *page = &run.pages[i];
        Packet packet;
        while (page->connection != 0 && queue_take(&page->down, &packet)) {
            hear(i, &packet);
            heap_free(&run.heap, packet.data);
        }
        if (page->connection == 0 && run.process != NULL &&
            (run.is_quiet || rng_below(&run.rng, 10) == 0)) {
            connect(i);
        } else if (chance(600)) {
            disconnect(i);
        }
        if (chance(20)) {
            act(i);
        }
    }
}

// --- other programs -----------------------------------------------------------------------------

static void outside_file(void)
{
    run.outside_count += 1;
    run.has_outside = true;
    run.outside_hash[0] = 200;
    memcpy(run.outside_hash + 1, &run.outside_count, sizeof run.outside_count);
    file_set("Workspace/Out.lua", run.outside_hash);
}

// A text editor that reads both texts, changes something, and writes them.
static void outside_text(bool is_any)
{
    EditDoc *doc = NULL;
    EditText *text = NULL;
    PlaceError error;
    char name[64];
    const EditTexts now = {blob_text(run.texts[0]), blob_text(run.texts[1])};
    Status status = edit_text_open(&run.heap, (EditBlobs){0}, now, &text, &doc, &error);
    ASSERT(status == STATUS_OK);
    EditBuffer ops = edit_fixture_ops(&run.heap);
    (void)snprintf(name, sizeof name, "\"Out %u\"", (unsigned)++run.outside_count);
    if (is_any) {
        edit_fixture_random(doc, &run.rng, IDS, &ops);
    } else {
        edit_fixture_set(&ops, EDIT_SETTINGS, 0, "name", name);
    }
    status_ignore(edit_fixture_apply(doc, &ops, NULL)); // some are refused
    status = edit_text_write(text, doc);
    ASSERT(status == STATUS_OK);
    const EditTexts then = edit_text_now(text);
    run.texts[0] = blob_add(then.settings.data, then.settings.bytes, false);
    run.texts[1] = blob_add(then.scene.data, then.scene.bytes, false);
    edit_text_close(text);
    edit_doc_destroy(doc);
}

static void break_text(void)
{
    static uint32_t good;
    if (!run.is_broken) {
        good = run.texts[1];
        run.texts[1] = blob_add("{\"format\": 1, \"entities\": [", 27, false);
    } else {
        run.texts[1] = good;
    }
    run.is_broken = !run.is_broken;
}

static void step_outside(void)
{
    const bool is_time = run.is_quiet ? run.is_broken : run.mode != 0 && chance(40);
    if (!is_time) {
        return;
    }
    const uint32_t dice = rng_below(&run.rng, 10);
    if (run.is_broken || (run.mode == 2 && dice == 0 && run.head.log != 0)) {
        break_text();
    } else if (dice < 4) {
        outside_file();
    } else {
        outside_text(run.mode == 2 && dice < 8);
    }
    run.result.disk_edits += 1;
    // The host notices a little later.
    run.disk_told_at =
        run.disk_told_at != 0 ? run.disk_told_at : run.step + 1 + rng_below(&run.rng, 40);
}

// --- a run --------------------------------------------------------------------------------------

static void check_files(void)
{
    const EditDoc *doc = run.process->doc;
    if (edit_doc_file_count(doc) != run.file_count) {
        fail("the document has %u files, the disk %u", (unsigned)edit_doc_file_count(doc),
             (unsigned)run.file_count);
    }
    for (uint32_t i = 0; i < run.file_count; i++) {
        const EditFile *file = edit_doc_file_find(doc, text_from(run.files[i].path));
        if (file == NULL || memcmp(file->hash, run.files[i].hash, SHA256_BYTES) != 0) {
            fail("%s on disk is not the document's", run.files[i].path);
        }
    }
    const DiskFile *outside = file_find("Workspace/Out.lua");
    if (run.has_outside && (outside == NULL || memcmp(outside->hash, run.outside_hash,
                                                      sizeof run.outside_hash) != 0)) {
        fail("what another program wrote is gone");
    }
}

static void check_texts(void)
{
    EditDoc *doc = NULL;
    EditText *text = NULL;
    PlaceError error;
    const EditTexts now = {blob_text(run.texts[0]), blob_text(run.texts[1])};
    const Status status = edit_text_open(&run.heap, (EditBlobs){0}, now, &text, &doc, &error);
    if (status != STATUS_OK) {
        fail("the texts cannot be read: %s", error.where.message);
        return;
    }
    if (!edit_doc_says_same(doc, run.process->doc, EDIT_SETTINGS) ||
        !edit_doc_says_same(doc, run.process->doc, EDIT_SCENE)) {
        fail("the texts on disk are another document");
    }
    edit_text_close(text);
    edit_doc_destroy(doc);
}

// After quiet: everybody has the same document, and the disk has it too.
static void check_end(void)
{
    if (run.process == NULL || run.process->written_seq != run.row_count || run.row_count == 0) {
        fail("not everything is written after quiet");
        return;
    }
    for (uint32_t i = 1; i <= run.page_count; i++) {
        const Page *page = &run.pages[i];
        if (page->pending == NULL || edit_pending_count(page->pending) != 0 ||
            edit_pending_seq(page->pending) != run.row_count ||
            edit_doc_hash(page->doc) != edit_doc_hash(run.process->doc)) {
            fail("editor %u has another document after quiet", (unsigned)i);
        }
    }
    check_files();
    check_texts();
}

static void open_run(uint64_t seed)
{
    memset(&run, 0, sizeof run);
    run.heap = heap_make(HEAP_BYTES);
    run.rng = rng_make(seed, 5);
    run.trace = HASH64_INIT;
    run.mode = (uint32_t)(seed % 3);
    run.keeps_history = seed % 2 == 0;
    run.page_count = 2 + rng_below(&run.rng, EDITORS_MAX - 1);
    run.texts[0] = blob_add(EDIT_PLACE, strlen(EDIT_PLACE), run.keeps_history);
    run.texts[1] = blob_add(EDIT_SCENE_TEXT, strlen(EDIT_SCENE_TEXT), run.keeps_history);
}

static void close_run(void)
{
    process_free();
    if (run.job.bytes != NULL) {
        job_free();
    }
    queue_clear(&run.to_host);
    queue_clear(&run.to_process);
    for (uint32_t i = 1; i <= run.page_count; i++) {
        disconnect(i);
        edit_pending_destroy(run.pages[i].pending);
        edit_doc_destroy(run.pages[i].doc);
    }
    for (uint32_t i = 0; i < run.row_count; i++) {
        heap_free(&run.heap, run.rows[i].data);
    }
    for (uint32_t i = 0; i < run.blob_count; i++) {
        heap_free(&run.heap, run.blobs[i].data);
    }
    for (uint32_t i = 0; i < 2; i++) {
        heap_free(&run.heap, run.checkpoints[i].data);
    }
    if (run.heap.bytes_now != 0) {
        fail("%llu bytes were not given back", (unsigned long long)run.heap.bytes_now);
    }
}

EditorsResult draft_run(uint64_t seed)
{
    open_run(seed);
    for (run.step = 0; run.step < STEPS + QUIET_STEPS && !run.result.has_failed; run.step++) {
        run.is_quiet = run.step >= STEPS;
        step_outside();
        if (run.process != NULL && chance(300)) {
            kill_process();
        }
        step_host();
        step_process();
        step_pages();
    }
    if (!run.result.has_failed) {
        check_end();
    }
    run.result.hash = run.trace.state;
    close_run();
    return run.result;
}
