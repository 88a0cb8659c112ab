// The real edit process without its sockets: what it asks of its surroundings, its life, its turns.
// See draft.h.
#include "tests/scenario/edit/draft_inside.h"

#include "core/base/check.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf process_end;

// --- the process: what it asks of edit_main.c and edit_people.c ---------------------------------

Status edit_put(EditProcess *process, EditLinkType type, const void *bytes, size_t count)
{
    (void)process;
    draft_queue_add(&run.to_host, type, bytes, count, 4);
    return STATUS_OK;
}

_Noreturn void edit_end(EditProcess *process, const char *what)
{
    (void)process;
    if (!run.is_ending) {
        draft_fail("the process gives up: %s", what);
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
        draft_fail("blocked: %s", process->blocked);
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
    draft_fail("an editor is dismissed: %s, %s", code, message);
}

void edit_people_send(EditProcess *process, uint32_t editor, const uint8_t *bytes, size_t count)
{
    (void)process;
    if (run.pages[editor].connection != 0) {
        draft_queue_add(&run.pages[editor].down, SAYS_MESSAGE, bytes, count, 12);
    }
}

static void send_document(const EditProcess *process, Page *page)
{
    EditBuffer message = edit_buffer(&run.heap, EDIT_DOCUMENT_BYTES_MAX);
    edit_buffer_u64(&message, process->log);
    edit_buffer_u64(&message, edit_session_seq(process->session));
    edit_doc_write(process->doc, &message);
    draft_queue_add(&page->down, SAYS_DOCUMENT, message.data, message.bytes, 12);
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
            draft_fail("editor %u knows %u, the session %u", (unsigned)person->editor,
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

void draft_disconnect(uint32_t number)
{
    Page *page = &run.pages[number];
    draft_queue_clear(&page->up);
    draft_queue_clear(&page->down);
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

void draft_connect(uint32_t number)
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

void draft_process_free(void)
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
        draft_fail("%llu bytes of the process were not given back",
                   (unsigned long long)process->heap.bytes_now);
    }
    free(process);
    run.process = NULL;
    for (uint32_t i = 1; i <= run.page_count; i++) {
        draft_disconnect(i);
    }
}

// kill -9 of the process. A write that the host has begun goes on.
void draft_kill_process(void)
{
    run.result.deaths += 1;
    run.is_ending = false;
    draft_process_free();
    draft_queue_clear(&run.to_host);
    draft_queue_clear(&run.to_process);
    run.starts_at = run.step + 1 + rng_below(&run.rng, 20);
}

// kill -9 of the server, and with it of the process.
void draft_kill_server(void)
{
    draft_kill_process();
    if (run.job.bytes != NULL) {
        draft_job_free();
    }
    run.hold = 0;
}

static Text base_text(uint32_t which)
{
    if (memcmp(run.blobs[run.texts[which]].hash, run.head.hashes[which], SHA256_BYTES) == 0) {
        return draft_blob_text(run.texts[which]);
    }
    for (uint32_t i = 0; i < run.blob_count; i++) {
        if (run.blobs[i].is_kept &&
            memcmp(run.blobs[i].hash, run.head.hashes[which], SHA256_BYTES) == 0) {
            return draft_blob_text(i);
        }
    }
    return text_from("");
}

static void write_beginning(EditBuffer *out)
{
    EditBuffer files = edit_buffer(&run.heap, 1u << 20), rows = edit_buffer(&run.heap, 64u << 20);
    EditBeginning beginning = {.epoch = run.head.epoch, .log = run.head.log};
    beginning.seed = rng_u64(&run.rng);
    beginning.disk = draft_disk_now(&files);
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

void draft_start_process(void)
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
        draft_fail("it cannot begin: %s", failed.text);
    } else if (run.head.log != 0 && process->log != run.head.log) {
        draft_fail("the log was given up");
    } else if (edit_session_seq(process->session) < run.told_max) {
        draft_fail("transaction %u was told and is missing", (unsigned)run.told_max);
    }
    run.disk_told_at = run.step + 1;
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
    while (draft_queue_take(&run.to_process, &run.heard)) {
        hear_host(&run.heard);
        heap_free(&run.heap, run.heard.data);
        run.heard.data = NULL;
    }
    for (uint32_t i = 1; i <= run.page_count; i++) {
        while (run.pages[i].connection != 0 && draft_queue_take(&run.pages[i].up, &packet)) {
            inbox_add(i, &packet);
            heap_free(&run.heap, packet.data);
        }
    }
    if (draft_chance(40)) {
        run.process->rows_since = EDIT_ROWS_EACH; // a checkpoint, which else comes seldom
    }
    edit_turn(run.process);
    hash_u64(&run.trace, edit_doc_hash(run.process->doc));
}

void draft_step_process(void)
{
    if (run.process == NULL || run.result.has_failed) {
        return;
    }
    if (setjmp(process_end) != 0) {
        heap_free(&run.heap, run.heard.data);
        run.heard.data = NULL;
        draft_kill_process();
        return;
    }
    turn();
}
