// Connections to an edit process: a ticket comes first, the host says who it is, and then editors
// send fragments of messages of the session (binary) and small notes (JSON): presence, and which
// file somebody writes.
#include "server/shell/edit/edit_process.h"

#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVE_MS      1000
#define NOTE_ARENA    (96u << 10)
#define NOTE_NODES    1024
#define NOTE_DEPTH    8
#define SAID_BYTES    (128u << 10) // of one note that we write
#define FLAG_MORE     1
#define KIND_MESSAGE  0
#define KIND_DOCUMENT 1

// --- finding ------------------------------------------------------------------------------------

static EditPerson *person_of(EditProcess *process, uint64_t connection)
{
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        if (process->people[i].connection == connection && connection != 0) {
            return &process->people[i];
        }
    }
    return NULL;
}

static EditPerson *person_of_editor(EditProcess *process, uint32_t editor)
{
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection != 0 && person->has_joined && person->editor == editor &&
            !person->is_leaving) {
            return person;
        }
    }
    return NULL;
}

static bool take_from(EditBucket *bucket, double amount, double per_second, double most,
                      uint64_t now_ms)
{
    if (bucket->at_ms == 0) {
        bucket->level = most;
    } else {
        bucket->level += (double)(now_ms - bucket->at_ms) * per_second / 1000.0;
        bucket->level = bucket->level < most ? bucket->level : most;
    }
    bucket->at_ms = now_ms;
    const bool is_enough = bucket->level >= amount;
    bucket->level -= is_enough ? amount : 0;
    return is_enough;
}

// --- sending ------------------------------------------------------------------------------------

static void leave(EditPerson *person, uint16_t close_code)
{
    if (!person->is_leaving) {
        person->is_leaving = true;
        person->close_code = close_code;
    }
}

static void queue(EditProcess *process, EditPerson *person, EditBlock *block)
{
    if (block == NULL || edit_queue_add(&person->out, block) != STATUS_OK ||
        person->out.bytes > EDIT_QUEUE_MAX + person->document_bytes) {
        process->counts.slow += 1;
        edit_queue_free(&person->out); // it joins again, from what it knows
        person->document_bytes = 0;
        leave(person, EDIT_CLOSE_LATER);
    }
}

static void send_note(EditProcess *process, EditPerson *person, const char *text, size_t bytes)
{
    EditBlock *block = edit_block_make(true, bytes);
    if (block != NULL) {
        memcpy(block->data, text, bytes);
    }
    queue(process, person, block);
    edit_block_release(block);
}

// In fragments, each with its head.
static void send_binary(EditProcess *process, EditPerson *person, uint8_t kind,
                        const uint8_t *bytes, size_t count)
{
    do {
        const size_t part =
            count < EDIT_FRAGMENT_BYTES_MAX - 1 ? count : EDIT_FRAGMENT_BYTES_MAX - 1;
        EditBlock *block = edit_block_make(false, part + 1);
        if (block != NULL) {
            block->data[0] = (uint8_t)(kind << 1 | (count > part ? FLAG_MORE : 0));
            memcpy(block->data + 1, bytes, part);
        }
        queue(process, person, block);
        edit_block_release(block);
        bytes += part;
        count -= part;
    } while (count > 0 && !person->is_leaving);
}

void edit_people_send(EditProcess *process, uint32_t editor, const uint8_t *bytes, size_t count)
{
    EditPerson *person = person_of_editor(process, editor);
    if (person != NULL) {
        send_binary(process, person, KIND_MESSAGE, bytes, count);
    }
}

void edit_people_say(EditProcess *process, const EditPerson *but, const char *text, size_t bytes)
{
    EditBlock *block = edit_block_make(true, bytes);
    if (block == NULL) {
        return;
    }
    memcpy(block->data, text, bytes);
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection != 0 && person->has_joined && !person->is_leaving && person != but) {
            queue(process, person, block);
        }
    }
    edit_block_release(block);
}

// --- notes that we write ------------------------------------------------------------------------

typedef struct Note {
    ByteWriter writer;
    JsonWriter json;
    char text[SAID_BYTES];
} Note;

static Note note; // one thread, one at a time

static void note_begin(const char *kind)
{
    note.writer = byte_writer(note.text, sizeof note.text);
    note.json = json_writer(&note.writer, 0);
    json_write_object_begin(&note.json);
    json_write_name(&note.json, "kind");
    json_write_text(&note.json, kind);
}

static void note_text(const char *name, const char *text)
{
    json_write_name(&note.json, name);
    json_write_text(&note.json, text);
}

static void note_number(const char *name, uint64_t number)
{
    json_write_name(&note.json, name);
    json_write_integer(&note.json, (int64_t)number);
}

// False: it does not fit, which no list that is bounded does.
static bool note_end(void)
{
    json_write_object_end(&note.json);
    return json_writer_finish(&note.json) == STATUS_OK;
}

static void note_to(EditProcess *process, EditPerson *person)
{
    if (note_end()) {
        send_note(process, person, note.text, note.writer.at);
    }
}

static void note_to_all(EditProcess *process, const EditPerson *but)
{
    if (note_end()) {
        edit_people_say(process, but, note.text, note.writer.at);
    }
}

static void write_editors(EditProcess *process)
{
    json_write_name(&note.json, "editors");
    json_write_array_begin(&note.json);
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        const EditPerson *person = &process->people[i];
        if (person->connection != 0 && person->has_joined && !person->is_leaving) {
            json_write_object_begin(&note.json);
            note_number("editor", person->editor);
            note_text("name", person->name);
            json_write_name(&note.json, "can_write");
            json_write_bool(&note.json, person->can_write);
            json_write_object_end(&note.json);
        }
    }
    json_write_array_end(&note.json);
}

static void write_writers(const EditProcess *process)
{
    json_write_name(&note.json, "writers");
    json_write_array_begin(&note.json);
    for (uint32_t i = 0; i < EDIT_WRITERS_MAX; i++) {
        if (process->writers[i].editor != 0) {
            json_write_object_begin(&note.json);
            note_text("path", process->writers[i].path);
            note_number("editor", process->writers[i].editor);
            json_write_object_end(&note.json);
        }
    }
    json_write_array_end(&note.json);
}

static void say_editors(EditProcess *process, const EditPerson *but)
{
    note_begin("editors");
    write_editors(process);
    note_to_all(process, but);
}

static void say_writers(EditProcess *process)
{
    note_begin("writers");
    write_writers(process);
    note_to_all(process, NULL);
}

void edit_people_say_written(EditProcess *process)
{
    note_begin("written");
    note_number("seq", process->written_seq);
    note_to_all(process, NULL);
}

static void begin_blocked(const EditProcess *process)
{
    note_begin(process->is_blocked ? "blocked" : "unblocked");
    if (process->is_blocked) {
        note_text("file", process->blocked_file);
        note_text("message", process->blocked);
        note_number("line", process->blocked_line);
    }
}

void edit_people_say_blocked(EditProcess *process)
{
    begin_blocked(process);
    note_to_all(process, NULL);
}

void edit_people_say_failed(EditProcess *process, Text file, const char *message)
{
    note_begin("failed");
    json_write_name(&note.json, "file");
    json_write_text_bytes(&note.json, file.data, file.bytes);
    note_text("message", message);
    note_to_all(process, NULL);
}

// The last note of a connection.
void edit_people_dismiss(EditProcess *process, EditPerson *person, const char *code,
                         const char *message, uint16_t close_code)
{
    if (person->is_leaving) {
        return;
    }
    note_begin("error");
    note_text("code", code);
    note_text("message", message);
    note_to(process, person);
    leave(person, close_code);
}

// --- leaving ------------------------------------------------------------------------------------

static void clear_inbox(EditPerson *person)
{
    while (person->inbox != NULL) {
        EditInbox *first = person->inbox;
        person->inbox = first->next;
        free(first);
    }
    person->inbox_end = &person->inbox;
    person->inbox_bytes = 0;
}

static void forget_person(EditProcess *process, EditPerson *person)
{
    const uint32_t editor = person->editor;
    const bool has_joined = person->has_joined, has_asked = person->has_asked;
    const uint64_t connection = person->connection;
    clear_inbox(person);
    edit_queue_free(&person->out);
    free(person->in);
    *person = (EditPerson){0};
    if (has_asked) {
        edit_report(process, &(EditReport){.type = EDIT_LINK_LEFT, .connection = connection});
    }
    if (!has_joined || person_of_editor(process, editor) != NULL) {
        return; // somebody has taken its place
    }
    edit_session_leave(process->session, editor);
    bool has_written = false;
    for (uint32_t i = 0; i < EDIT_WRITERS_MAX; i++) {
        if (process->writers[i].editor == editor) {
            process->writers[i].editor = 0;
            has_written = true;
        }
    }
    say_editors(process, NULL);
    if (has_written) {
        say_writers(process);
    }
}

static void forget_silent(EditProcess *process, uint64_t number)
{
    for (uint32_t i = 0; i < process->silent_count; i++) {
        if (process->silent[i] == number) {
            memmove(&process->silent[i], &process->silent[i + 1],
                    (process->silent_count - i - 1) * sizeof process->silent[0]);
            process->silent_count -= 1;
            return;
        }
    }
}

// A socket that says nothing takes nobody's place: the oldest of them gives way to a newcomer.
static void add_silent(EditProcess *process, uint64_t number)
{
    if (process->silent_count == EDIT_SILENT_MAX) {
        const uint64_t oldest = process->silent[0];
        forget_silent(process, oldest);
        sockets_close_number(process->sockets, oldest, EDIT_CLOSE_LATER);
    }
    process->silent[process->silent_count++] = number;
}

static void on_gone(void *user, uint64_t connection)
{
    EditPerson *person = person_of(user, connection);
    if (person != NULL) {
        forget_person(user, person);
    }
}

static void on_closed(void *user, const SocketsOrigin *from)
{
    forget_silent(user, from->number);
    if (from->number != 0) {
        edit_report(user, &(EditReport){.type = EDIT_LINK_OVER, .number = from->number});
    }
}

static bool on_output(void *user, uint64_t connection, const uint8_t **bytes, size_t *count,
                      bool *text)
{
    EditPerson *person = person_of(user, connection);
    const EditBlock *block = person != NULL ? edit_queue_next(&person->out) : NULL;
    if (block == NULL) {
        return false;
    }
    *bytes = block->data;
    *count = block->bytes;
    *text = block->text;
    return true;
}

static void on_taken(void *user, uint64_t connection)
{
    EditPerson *person = person_of(user, connection);
    ASSERT(person != NULL);
    edit_queue_take(&person->out);
    if (person->out.taken == person->out.count) {
        person->document_bytes = 0;
    }
}

void edit_people_flush(EditProcess *process)
{
    sockets_flush(process->sockets, process->now_ms);
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection == 0) {
            continue;
        }
        edit_queue_reclaim(&person->out);
        if (person->is_leaving && person->leaving_ms == 0) {
            person->leaving_ms = process->now_ms;
        }
        // Whoever does not read what is left for them is not waited for.
        if (person->is_leaving &&
            (person->out.count == 0 || process->now_ms - person->leaving_ms >= LEAVE_MS)) {
            sockets_close(process->sockets, person->connection, person->close_code);
        }
    }
}

// --- notes of editors ---------------------------------------------------------------------------

static uint64_t read_number(const JsonNode *root, const char *name)
{
    const JsonNode *node = json_find(root, name);
    return node != NULL && node->kind == JSON_NUMBER && node->is_integer && node->integer > 0
               ? (uint64_t)node->integer
               : 0;
}

static void take_hello(EditProcess *process, EditPerson *person, const JsonNode *root)
{
    EditReport ask = {.type = EDIT_LINK_ASK, .connection = person->connection};
    if (person->has_asked || !json_member_copy(root, "ticket", ask.text, EDIT_TICKET_BYTES)) {
        edit_people_dismiss(process, person, "malformed", "hello comes once, with a ticket",
                            EDIT_CLOSE_POLICY);
        return;
    }
    (void)json_member_copy(root, "resume", ask.name, sizeof ask.name); // it may have none
    person->known_epoch = read_number(root, "epoch");
    person->known_seq = read_number(root, "seq");
    person->has_asked = true;
    edit_report(process, &ask);
}

// No text in it that could hide or change how others are shown; the writer escapes controls.
static bool note_is_plain(void)
{
    const uint8_t *text = (const uint8_t *)note.text;
    for (size_t i = 0; i < note.writer.at;) {
        const size_t length = utf8_length(text + i, note.writer.at - i);
        const bool is_escape = text[i] == '\\' && i + 1 < note.writer.at && text[i + 1] == 'u';
        if (length == 0 || is_escape || utf8_is_hidden(utf8_code_point(text + i, length))) {
            return false;
        }
        i += length;
    }
    return true;
}

static void take_presence(EditProcess *process, EditPerson *person, const JsonNode *root,
                          size_t bytes)
{
    static const char *const members[] = {"camera", "selection", "drag"};
    if (bytes > EDIT_PRESENCE_BYTES_MAX ||
        !take_from(&person->presence, 1, EDIT_PRESENCE_PER_SECOND, EDIT_PRESENCE_PER_SECOND,
                   process->now_ms)) {
        process->counts.presence_dropped += 1;
        return;
    }
    process->counts.presence += 1;
    note_begin("presence");
    note_number("editor", person->editor);
    for (uint32_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const JsonNode *node = json_find(root, members[i]);
        if (node != NULL) {
            json_write_name(&note.json, members[i]);
            json_write_node(&note.json, node);
        }
    }
    if (!note_is_plain()) {
        process->counts.presence_dropped += 1;
        return;
    }
    note_to_all(process, person);
}

// Who writes a file is for people: nobody is kept from changing it.
static void take_writer(EditProcess *process, EditPerson *person, const JsonNode *root)
{
    char path[EDIT_PATH_BYTES_MAX + 1];
    const JsonNode *take = json_find(root, "take");
    const bool takes = take == NULL || take->kind != JSON_BOOL || take->boolean;
    EditWriter *free_one = NULL, *found = NULL;
    if (!person->can_write || !json_member_copy(root, "path", path, sizeof path) ||
        !edit_path_is_valid(text_from(path))) {
        return;
    }
    for (uint32_t i = 0; i < EDIT_WRITERS_MAX; i++) {
        EditWriter *writer = &process->writers[i];
        if (writer->editor == 0) {
            free_one = free_one != NULL ? free_one : writer;
        } else if (strcmp(writer->path, path) == 0) {
            found = writer;
        }
    }
    EditWriter *writer = found != NULL ? found : free_one;
    if (writer == NULL || (found != NULL && !takes)) {
        return; // somebody has it, or too many do
    }
    snprintf(writer->path, sizeof writer->path, "%s", path);
    writer->editor = person->editor;
    say_writers(process);
}

static void take_note(EditProcess *process, EditPerson *person, const uint8_t *bytes, size_t count)
{
    static uint8_t memory[NOTE_ARENA];
    Arena arena;
    const JsonNode *root = NULL;
    arena_init(&arena, memory, sizeof memory);
    const JsonConfig config = {.arena = &arena,
                               .bytes_max = EDIT_NOTE_BYTES_MAX,
                               .node_count_max = NOTE_NODES,
                               .depth_max = NOTE_DEPTH};
    const Status status = json_parse(&config, (const char *)bytes, count, &root, NULL);
    char kind[16] = "";
    if (status != STATUS_OK || root->kind != JSON_OBJECT ||
        !json_member_copy(root, "kind", kind, sizeof kind)) {
        process->counts.malformed += 1;
        edit_people_dismiss(process, person, "malformed", "a note is a JSON object with a kind",
                            EDIT_CLOSE_POLICY);
    } else if (strcmp(kind, "hello") == 0) {
        take_hello(process, person, root);
    } else if (!person->has_joined) {
        edit_people_dismiss(process, person, "malformed", "hello comes first", EDIT_CLOSE_POLICY);
    } else if (strcmp(kind, "presence") == 0) {
        take_presence(process, person, root, count);
    } else if (strcmp(kind, "writer") == 0) {
        take_writer(process, person, root);
    } // of a later version: nothing that we know
}

// --- messages of editors ------------------------------------------------------------------------

static bool add_fragment(EditPerson *person, const uint8_t *bytes, size_t count)
{
    const size_t needed = person->in_bytes + count;
    if (needed > EDIT_UP_BYTES_MAX) {
        return false;
    }
    if (needed > person->in_capacity) {
        const size_t capacity = needed > 2 * person->in_capacity ? needed : 2 * person->in_capacity;
        uint8_t *grown = realloc(person->in, capacity);
        if (grown == NULL) {
            return false;
        }
        person->in = grown;
        person->in_capacity = capacity;
    }
    memcpy(person->in + person->in_bytes, bytes, count);
    person->in_bytes = needed;
    return true;
}

static bool add_message(EditProcess *process, EditPerson *person, bool limited)
{
    EditInbox *inbox = malloc(sizeof *inbox + person->in_bytes);
    if (inbox == NULL || person->inbox_bytes + person->in_bytes > 2 * EDIT_BYTES_AT_ONCE) {
        free(inbox);
        return false;
    }
    limited = !take_from(&person->transactions, 1, EDIT_TRANSACTIONS_PER_SECOND,
                         EDIT_TRANSACTIONS_AT_ONCE, process->now_ms) ||
              limited;
    *inbox = (EditInbox){.bytes = person->in_bytes, .limited = limited};
    memcpy(inbox->data, person->in, person->in_bytes);
    *person->inbox_end = inbox;
    person->inbox_end = &inbox->next;
    person->inbox_bytes += inbox->bytes;
    free(person->in);
    person->in = NULL;
    person->in_bytes = person->in_capacity = 0;
    return true;
}

static void take_fragment(EditProcess *process, EditPerson *person, const uint8_t *bytes,
                          size_t count)
{
    const bool is_good = count >= 1 && count <= EDIT_FRAGMENT_BYTES_MAX &&
                         bytes[0] >> 1 == KIND_MESSAGE && person->has_joined;
    if (!is_good) {
        process->counts.malformed += 1;
        edit_people_dismiss(process, person, "malformed",
                            "a fragment has a head and at most 64 KiB, and comes after hello",
                            EDIT_CLOSE_POLICY);
        return;
    }
    const bool limited = !take_from(&person->sent, (double)count, EDIT_BYTES_PER_SECOND,
                                    EDIT_BYTES_AT_ONCE, process->now_ms);
    if (!add_fragment(person, bytes + 1, count - 1)) {
        process->counts.limited += 1;
        edit_people_dismiss(process, person, "too_large", "a transaction has at most 1 MiB",
                            EDIT_CLOSE_POLICY);
    } else if ((bytes[0] & FLAG_MORE) == 0 && !add_message(process, person, limited)) {
        process->counts.limited += 1;
        edit_people_dismiss(process, person, "too_much",
                            "too many changes wait; connect again later", EDIT_CLOSE_LATER);
    }
}

static EditPerson *person_add(EditProcess *process, uint64_t connection)
{
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection == 0) {
            *person = (EditPerson){.connection = connection};
            person->inbox_end = &person->inbox;
            return person;
        }
    }
    return NULL;
}

static bool on_message(void *user, uint64_t connection, const SocketsOrigin *from, bool text,
                       const uint8_t *bytes, size_t count)
{
    EditProcess *process = user;
    forget_silent(process, from->number);
    EditPerson *person = person_of(process, connection);
    person = person != NULL ? person : person_add(process, connection);
    if (person == NULL) {
        return false;
    }
    if (person->is_leaving) {
        return true; // it is not listened to any more
    }
    if (text && count > EDIT_NOTE_BYTES_MAX) {
        edit_people_dismiss(process, person, "too_large", "a note has at most 16 KiB",
                            EDIT_CLOSE_POLICY);
    } else if (text) {
        take_note(process, person, bytes, count);
    } else {
        take_fragment(process, person, bytes, count);
    }
    return true;
}

Status edit_people_open(EditProcess *process)
{
    const SocketsCallbacks face = {.user = process,
                                   .any_kind = true,
                                   .message = on_message,
                                   .gone = on_gone,
                                   .closed = on_closed,
                                   .output = on_output,
                                   .taken = on_taken};
    return sockets_create(process->epoll, EDIT_SOCKETS_MAX, &face, &process->sockets);
}

void edit_people_add(EditProcess *process, int socket, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    const SocketsOrigin from = {.number = byte_read_u64(&reader)};
    ASSERT(reader.status == STATUS_OK); // the host wrote it
    add_silent(process, from.number);
    sockets_add(process->sockets, socket, &from, bytes + reader.at, count - reader.at,
                process->now_ms);
}

// --- coming in ----------------------------------------------------------------------------------

void edit_people_admit(EditProcess *process, const EditAdmit *admit)
{
    EditPerson *person = person_of(process, admit->connection);
    if (person == NULL || person->is_leaving || person->is_admitted) {
        return; // it has left
    }
    if (admit->editor == 0) {
        edit_people_dismiss(process, person, "denied", admit->text, EDIT_CLOSE_POLICY);
        return;
    }
    person->is_admitted = true;
    person->editor = admit->editor;
    person->can_write = admit->can_write;
    snprintf(person->name, sizeof person->name, "%s", admit->name);
    snprintf(person->resume, sizeof person->resume, "%.64s", admit->text);
}

void edit_people_expel(EditProcess *process, uint64_t connection, EditExpelReason reason)
{
    EditPerson *person = person_of(process, connection);
    if (person != NULL && reason == EDIT_EXPEL_REPLACED) {
        edit_people_dismiss(process, person, "replaced", "you are connected from elsewhere",
                            EDIT_CLOSE_POLICY);
    } else if (person != NULL) {
        edit_people_dismiss(process, person, "denied",
                            "you are signed out, or may not work on this place any more",
                            EDIT_CLOSE_POLICY);
    }
}

static void send_document(EditProcess *process, EditPerson *person)
{
    EditBuffer document = edit_buffer(&process->heap, EDIT_DOCUMENT_BYTES_MAX);
    edit_buffer_u64(&document, edit_session_seq(process->session));
    edit_doc_write(process->doc, &document);
    if (document.status == STATUS_OK) {
        person->document_bytes += document.bytes + document.bytes / 1024;
        send_binary(process, person, KIND_DOCUMENT, document.data, document.bytes);
    } else {
        leave(person, EDIT_CLOSE_LATER);
    }
    edit_buffer_free(&document);
}

static void join(EditProcess *process, EditPerson *person)
{
    const uint64_t seq = edit_session_seq(process->session);
    const bool knows = person->known_epoch == process->log && person->known_epoch != 0 &&
                       person->known_seq <= seq &&
                       person->known_seq + 1 >= edit_session_log_from(process->session);
    person->has_joined = true;
    note_begin("welcome");
    note_number("editor", person->editor);
    note_number("epoch", process->log);
    note_number("seq", seq);
    json_write_name(&note.json, "can_write");
    json_write_bool(&note.json, person->can_write);
    note_text("resume", person->resume);
    note_number("written", process->written_seq);
    json_write_name(&note.json, "document"); // whether it follows
    json_write_bool(&note.json, !knows);
    write_editors(process);
    write_writers(process);
    note_to(process, person);
    if (!knows) {
        send_document(process, person);
    }
    edit_session_join(process->session, person->editor, knows ? person->known_seq : seq);
    if (process->is_blocked) {
        begin_blocked(process);
        note_to(process, person);
    }
    say_editors(process, person);
}

void edit_people_join(EditProcess *process)
{
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection != 0 && person->is_admitted && !person->has_joined &&
            !person->is_leaving) {
            join(process, person);
        }
    }
}
