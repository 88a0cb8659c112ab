// Transactions: what editors sent is applied in the order in which it came, goes to the host as one
// batch of rows, and is told once those are stored. If they cannot be, all of it is taken back.
#include "server/shell/edit/edit_process.h"

#include "core/base/check.h"
#include "server/build/package/package_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (8u << 20) // no further transaction is added to a batch of that size

// --- the session's functions --------------------------------------------------------------------

Status edit_order_store(void *user, uint64_t seq, const uint8_t *row, size_t bytes)
{
    EditProcess *process = user;
    EditDown told;
    if (process->batch.row_count == EDIT_BATCH_MAX) {
        return STATUS_LIMIT;
    }
    const Status status = edit_down_read(row, bytes, &told);
    ASSERT(status == STATUS_OK && told.type == EDIT_DOWN_TOLD); // the session wrote it
    process->batch.rows[process->batch.row_count++] = (EditReportRow){
        .seq = seq, .editor = told.editor, .label = told.text, .row = row, .row_bytes = bytes};
    process->batch_bytes += bytes;
    process->has_own = process->has_own || told.editor == 0;
    return STATUS_OK;
}

void edit_order_send(void *user, uint32_t editor, const uint8_t *bytes, size_t count)
{
    edit_people_send(user, editor, bytes, count);
}

static bool has_room(const EditProcess *process)
{
    return process->batch.row_count < EDIT_BATCH_MAX && process->batch_bytes < BATCH_BYTES;
}

// --- the host -----------------------------------------------------------------------------------

void edit_report(EditProcess *process, const EditReport *report)
{
    EditBuffer message = edit_buffer(&process->heap, EDIT_LINK_BYTES_MAX);
    edit_report_write(report, &message);
    if (message.status != STATUS_OK ||
        edit_put(process, report->type, message.data, message.bytes) != STATUS_OK) {
        edit_end(process, "the host does not read");
    }
    edit_buffer_free(&message);
}

void edit_order_put(EditProcess *process)
{
    if (!process->is_stored || process->batch.row_count == 0) {
        return;
    }
    process->batch.type = EDIT_LINK_ROWS;
    edit_report(process, &process->batch);
    process->is_stored = false;
}

static void note_change(EditProcess *process)
{
    process->last_ms = process->now_ms;
    if (process->changed_ms == 0) {
        process->changed_ms = process->now_ms;
    }
}

void edit_order_stored(EditProcess *process, Status status)
{
    process->is_stored = true;
    if (process->batch.row_count == 0) { // it was a checkpoint
        if (status != STATUS_OK && process->log == process->epoch &&
            edit_session_seq(process->session) == 0) {
            edit_end(process, "the new log cannot be stored");
        }
        return;
    }
    if (status == STATUS_OK) {
        process->rows_since += process->batch.row_count;
        process->row_bytes_since += process->batch_bytes;
        edit_session_commit(process->session);
        note_change(process);
    } else if (process->has_own || status == STATUS_DENIED) {
        // Somebody else has the draft, or what the disk says is not in the document: begin anew.
        edit_end(process, "rows cannot be stored");
    } else {
        edit_session_roll_back(process->session, status);
    }
    process->batch.row_count = 0;
    process->batch_bytes = 0;
    process->has_own = false;
    const EditSessionCounts counts = edit_session_counts(process->session);
    process->counts.told = counts.told;
    process->counts.refused = counts.refused;
    process->counts.undone = counts.undone;
}

// The document as it is, from which a later process starts.
void edit_order_checkpoint(EditProcess *process, bool is_new)
{
    EditBuffer document = edit_buffer(&process->heap, EDIT_DOCUMENT_BYTES_MAX);
    edit_doc_write(process->doc, &document);
    if (document.status == STATUS_OK) {
        const EditReport report = {.type = EDIT_LINK_CHECKPOINT,
                                   .seq = edit_session_seq(process->session),
                                   .flag = is_new,
                                   .bytes = document.data,
                                   .byte_count = document.bytes};
        edit_report(process, &report);
        process->is_stored = false;
    } else if (is_new) {
        edit_end(process, "the document is too large");
    }
    process->rows_since = 0;
    process->row_bytes_since = 0;
    process->checkpoint_seq = edit_session_seq(process->session);
    edit_buffer_free(&document);
}

bool edit_order_own(EditProcess *process, const char *label, const EditBuffer *ops)
{
    EditError error = {0};
    const Status status =
        ops->status == STATUS_OK
            ? edit_session_edit(process->session, text_from(label), ops->data, ops->bytes, &error)
            : ops->status;
    return status == STATUS_OK;
}

// --- contents of files --------------------------------------------------------------------------

static bool is_known(const EditProcess *process, const uint8_t hash[SHA256_BYTES])
{
    for (uint32_t i = 0; i < EDIT_KNOWN_BLOBS; i++) {
        if (memcmp(process->known_blobs[i], hash, SHA256_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

// Whether the clip of the first message is here. It pastes one: a second is refused by the session.
static bool has_clip(const EditProcess *process, const EditPerson *person)
{
    return process->clip.connection == person->connection && process->clip.data != NULL;
}

static bool waits_for_clip(const EditProcess *process, const EditPerson *person)
{
    return person->waits_for_blob && process->clip.connection == person->connection &&
           process->clip.data == NULL;
}

static void drop_clip(EditProcess *process)
{
    free(process->clip.data);
    process->clip = (EditClip){0};
}

// False: somebody else's is here, and comes first.
static bool claim_clip(EditProcess *process, const EditPerson *person, const uint8_t *hash)
{
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        const EditPerson *other = &process->people[i];
        if (other != person && other->connection != 0 && !other->is_leaving &&
            other->connection == process->clip.connection) {
            return false;
        }
    }
    drop_clip(process);
    process->clip.connection = person->connection;
    memcpy(process->clip.hash, hash, SHA256_BYTES);
    return true;
}

static const uint8_t *find_clip(void *user, const uint8_t hash[SHA256_BYTES], size_t *bytes)
{
    const EditProcess *process = user;
    *bytes = process->clip.bytes;
    return memcmp(process->clip.hash, hash, SHA256_BYTES) == 0 ? process->clip.data : NULL;
}

EditBlobs edit_order_clips(EditProcess *process)
{
    return (EditBlobs){process, find_clip};
}

// A content that the host may not have, or a clip that is not here; NULL: none. What cannot be read
// is refused later.
static const uint8_t *find_unknown(const EditProcess *process, const EditPerson *person,
                                   const EditUp *up, bool *is_clip)
{
    static const uint8_t none[SHA256_BYTES] = {0};
    ByteReader reader = byte_reader(up->ops, up->ops_bytes);
    EditError error = {0};
    EditOp op;
    if (up->type != EDIT_UP_OPS || edit_ops_open(&reader, &error) != STATUS_OK) {
        return NULL;
    }
    while (edit_op_read(&reader, &op, &error)) {
        if (op.type == EDIT_FILE && memcmp(op.hash, none, sizeof none) != 0 &&
            !is_known(process, op.hash)) {
            *is_clip = false;
            return op.hash;
        }
        if (op.type == EDIT_PASTE && !has_clip(process, person)) {
            *is_clip = true;
            return op.hash;
        }
    }
    return NULL;
}

// A name that no file of a place may have, which the host would not write either.
static bool names_no_file(const EditUp *up, char reason[WORKER_REASON_BYTES])
{
    static const uint8_t none[SHA256_BYTES] = {0};
    ByteReader reader = byte_reader(up->ops, up->ops_bytes);
    EditError error = {0};
    EditOp op;
    if (up->type != EDIT_UP_OPS || edit_ops_open(&reader, &error) != STATUS_OK) {
        return false;
    }
    while (edit_op_read(&reader, &op, &error)) {
        const bool is_made = op.type == EDIT_FILE && memcmp(op.hash, none, sizeof none) != 0;
        const Text path = op.type == EDIT_RENAME ? op.path_to : op.path;
        char name[EDIT_PATH_BYTES_MAX + 1];
        PackageKind kind;
        if ((is_made || op.type == EDIT_RENAME) && path.bytes < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)path.bytes, path.data);
            if (package_name_check(name, &kind, reason) != STATUS_OK) {
                return true;
            }
        }
    }
    return false;
}

static void drop_first(EditProcess *process, EditPerson *person)
{
    if (process->clip.connection == person->connection) {
        drop_clip(process);
    }
    EditInbox *first = person->inbox;
    person->inbox = first->next;
    if (person->inbox == NULL) {
        person->inbox_end = &person->inbox;
    }
    person->inbox_bytes -= first->bytes;
    free(first);
}

// The host has answered; if what was named is missing, `refusal` says so.
static void end_wait(EditProcess *process, EditPerson *person, const char *refusal)
{
    person->waits_for_blob = false;
    if (refusal != NULL && person->inbox != NULL) {
        edit_session_refuse(process->session, person->editor, person->inbox->data,
                            person->inbox->bytes, STATUS_NOT_FOUND, refusal);
        process->counts.refused += 1;
        drop_first(process, person);
    }
}

void edit_order_blob(EditProcess *process, const uint8_t hash[SHA256_BYTES], bool is_there)
{
    if (is_there) {
        memcpy(process->known_blobs[process->known_blob_next], hash, SHA256_BYTES);
        process->known_blob_next = (process->known_blob_next + 1) % EDIT_KNOWN_BLOBS;
    }
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection == 0 || !person->waits_for_blob || waits_for_clip(process, person) ||
            memcmp(person->blob, hash, SHA256_BYTES) != 0) {
            continue;
        }
        end_wait(process, person, is_there ? NULL : "names a file whose content was not uploaded");
    }
}

void edit_order_clip(EditProcess *process, const uint8_t hash[SHA256_BYTES], bool is_there,
                     const uint8_t *data, size_t bytes)
{
    EditClip *clip = &process->clip;
    for (uint32_t i = 0; i < EDIT_PEOPLE_MAX; i++) {
        EditPerson *person = &process->people[i];
        if (person->connection == 0 || !waits_for_clip(process, person) ||
            memcmp(clip->hash, hash, SHA256_BYTES) != 0) {
            continue;
        }
        clip->data = is_there && data != NULL ? malloc(bytes + 1) : NULL; // it may be empty
        if (clip->data == NULL) {
            end_wait(process, person, "pastes something that was not uploaded; copy it again");
            return;
        }
        memcpy(clip->data, data, bytes);
        clip->bytes = bytes;
        end_wait(process, person, NULL);
        return;
    }
}

// --- what editors sent --------------------------------------------------------------------------

// False: it has to wait for the host.
static bool take_first(EditProcess *process, EditPerson *person)
{
    const EditInbox *first = person->inbox;
    EditUp up;
    char reason[WORKER_REASON_BYTES];
    if (!person->can_write) {
        edit_session_refuse(process->session, person->editor, first->data, first->bytes,
                            STATUS_DENIED, "you may read this place, and not change it");
    } else if (first->limited) {
        process->counts.limited += 1;
        edit_session_refuse(process->session, person->editor, first->data, first->bytes,
                            STATUS_LIMIT, "too many changes at once; wait a moment");
    } else if (edit_up_read(first->data, first->bytes, &up) != STATUS_OK) {
        process->counts.malformed += 1;
        edit_people_dismiss(process, person, "malformed", "a message cannot be read",
                            EDIT_CLOSE_POLICY);
    } else if (names_no_file(&up, reason)) {
        edit_session_refuse(process->session, person->editor, first->data, first->bytes,
                            STATUS_MALFORMED, reason);
        process->counts.refused += 1;
    } else {
        bool is_clip;
        const uint8_t *hash = find_unknown(process, person, &up, &is_clip);
        if (hash != NULL && is_clip && !claim_clip(process, person, hash)) {
            return false;
        }
        if (hash != NULL) {
            memcpy(person->blob, hash, SHA256_BYTES);
            person->waits_for_blob = true;
            edit_report(
                process,
                &(EditReport){.type = EDIT_LINK_NEED, .hash = person->blob, .flag = is_clip});
            return false;
        }
        edit_session_receive(process->session, person->editor, first->data, first->bytes);
    }
    drop_first(process, person);
    return true;
}

void edit_order_take(EditProcess *process)
{
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (uint32_t i = 0; i < EDIT_PEOPLE_MAX && has_room(process); i++) {
            EditPerson *person = &process->people[i];
            if (person->connection != 0 && person->has_joined && person->inbox != NULL &&
                !person->waits_for_blob && !person->is_leaving) {
                is_more = take_first(process, person) || is_more;
            }
        }
        is_more = is_more && has_room(process);
    }
}

// --- each turn ----------------------------------------------------------------------------------

// A later process begins at the older of two checkpoints, and compares the disk with what was
// written last. So that must not be older, unless nothing can be written for very long.
static bool needs_checkpoint(const EditProcess *process)
{
    const bool is_due =
        process->rows_since >= EDIT_ROWS_EACH || process->row_bytes_since >= EDIT_ROW_BYTES;
    const bool is_late =
        process->rows_since >= EDIT_ROWS_LATE || process->row_bytes_since >= EDIT_LATE_BYTES;
    return is_late || (is_due && process->kept_seq >= process->checkpoint_seq);
}

void edit_turn(EditProcess *process)
{
    if (process->is_stored && process->batch.row_count == 0) {
        edit_people_join(process);
        edit_file_step(process);
    }
    if (process->is_stored && process->batch.row_count == 0 && needs_checkpoint(process)) {
        edit_order_checkpoint(process, false);
    }
    if (process->is_stored && process->batch.row_count == 0 && process->hold_count == 0 &&
        !process->waits_for_disk) {
        edit_order_take(process);
    }
    edit_order_put(process);
}
