// From what the host begins with to a document. The log is what was told, and the files are the
// truth: so the document is the one of the log, and what differs on disk from what was written last
// is a change that somebody made meanwhile.
//
// A server that was killed may have written files and not have stored that it did, or the other way
// round. So what the disk has is no change either if it is what the log says of a moment after the
// last write: taken as one, it would be put over what came later.
#include "server/shell/edit/edit_process.h"

#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status fail(EditReport *failed, Status status, const char *what, const char *why)
{
    *failed = (EditReport){.type = EDIT_LINK_FAILED};
    snprintf(failed->text, sizeof failed->text, "%s: %s", what, why);
    return status;
}

static Status fail_text(EditReport *failed, const PlaceError *error)
{
    *failed = (EditReport){.type = EDIT_LINK_FAILED, .line = error->where.line};
    snprintf(failed->name, sizeof failed->name, "%.64s", error->path);
    snprintf(failed->text, sizeof failed->text, "%.100s %.128s", error->where.path,
             error->where.message[0] != '\0' ? error->where.message : status_text(error->status));
    return error->status;
}

static Status open_session(EditProcess *process, uint64_t seq, uint64_t seed)
{
    const EditSessionConfig config = {.user = process,
                                      .store = edit_order_store,
                                      .send = edit_order_send,
                                      .defers = true,
                                      .seed = seed,
                                      .seq = seq};
    return edit_session_create(&process->heap, process->doc, &config, &process->session);
}

// The files that a text does not have.
static Status take_files(EditProcess *process, EditReport *failed)
{
    EditBuffer ops = edit_buffer(&process->heap, EDIT_INVERSE_BYTES_MAX);
    EditInverse inverse = edit_inverse(&process->heap);
    EditError error = {0};
    edit_ops_begin(&ops);
    for (uint32_t i = 0; i < process->disk.count; i++) {
        edit_op_file(&ops, text_from(process->disk.items[i].path), process->disk.items[i].hash,
                     NULL);
    }
    Status status = ops.status;
    if (status == STATUS_OK) {
        status = edit_apply(process->doc, ops.data, ops.bytes, &inverse, &error);
    }
    if (status != STATUS_OK) {
        status = fail(failed, status, "the files of the draft", error.message);
    }
    edit_inverse_free(&inverse);
    edit_buffer_free(&ops);
    return status;
}

static Status open_new(EditProcess *process, const EditBeginning *beginning, EditReport *failed)
{
    PlaceError error = {0};
    const EditTexts texts = {beginning->disk.settings, beginning->disk.scene};
    Status status = edit_text_open(&process->heap, edit_order_clips(process), texts, &process->text,
                                   &process->doc, &error);
    if (status != STATUS_OK) {
        return fail_text(failed, &error);
    }
    status = edit_file_list(&beginning->disk, &process->disk);
    status = status == STATUS_OK ? take_files(process, failed) : status;
    status = status == STATUS_OK ? open_session(process, 0, beginning->seed) : status;
    if (status == STATUS_OK) {
        process->log = beginning->epoch;
        edit_order_checkpoint(process, true);
    }
    return status;
}

// Which files there were when everything was last written.
static Status keep_files(EditProcess *process)
{
    const uint32_t count = edit_doc_file_count(process->doc);
    process->disk.items = calloc(count + 1u, sizeof *process->disk.items);
    if (process->disk.items == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < count; i++) {
        const EditFile *file = edit_doc_file_at(process->doc, i);
        EditKept *kept = &process->disk.items[i];
        snprintf(kept->path, sizeof kept->path, "%.*s", (int)file->path.bytes, file->path.data);
        memcpy(kept->hash, file->hash, sizeof kept->hash);
    }
    process->disk.count = count;
    return STATUS_OK;
}

// --- what the session itself wrote --------------------------------------------------------------

// Each state that a file had after the last write, as the log has it. A hash of zeros: no file.
typedef struct OwnFiles {
    EditKept *items;
    uint32_t count, capacity;
} OwnFiles;

static const uint8_t no_file[SHA256_BYTES];

static Status own_add(OwnFiles *own, Text path, const uint8_t hash[SHA256_BYTES])
{
    if (path.bytes >= sizeof own->items[0].path) {
        return STATUS_OK; // refused when it was applied
    }
    if (own->count == own->capacity) {
        const uint32_t more = own->capacity > 0 ? own->capacity * 2 : 64;
        EditKept *items = realloc(own->items, more * sizeof *items);
        if (items == NULL) {
            return STATUS_LIMIT;
        }
        own->items = items;
        own->capacity = more;
    }
    EditKept *kept = &own->items[own->count++];
    *kept = (EditKept){0};
    memcpy(kept->path, path.data, path.bytes);
    memcpy(kept->hash, hash, SHA256_BYTES);
    return STATUS_OK;
}

static Status own_add_row(OwnFiles *own, const uint8_t *row, size_t bytes)
{
    EditDown told;
    EditError error = {0};
    EditOp op;
    Status status = edit_down_read(row, bytes, &told);
    ByteReader reader = byte_reader(told.ops, status == STATUS_OK ? told.ops_bytes : 0);
    status = status == STATUS_OK ? edit_ops_open(&reader, &error) : status;
    while (status == STATUS_OK && edit_op_read(&reader, &op, &error)) {
        if (op.type == EDIT_FILE) {
            status = own_add(own, op.path, op.hash);
        } else if (op.type == EDIT_RENAME) {
            status = own_add(own, op.path, no_file);
            status = status == STATUS_OK ? own_add(own, op.path_to, op.known_hash) : status;
        }
    }
    return status;
}

static EditKept *kept_find(const EditKeptList *list, const char *path)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].path, path) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

// The last write is taken to be what the disk has of those files that have one of their own states.
static Status own_take(EditProcess *process, const OwnFiles *own, const EditKeptList *now)
{
    EditKeptList *disk = &process->disk;
    for (uint32_t i = 0; i < own->count; i++) {
        const EditKept *state = &own->items[i];
        const EditKept *there = kept_find(now, state->path);
        const uint8_t *hash = there != NULL ? there->hash : no_file;
        EditKept *known = kept_find(disk, state->path);
        if (memcmp(hash, state->hash, SHA256_BYTES) != 0) {
            continue;
        }
        if (there == NULL && known != NULL) {
            memmove(known, known + 1,
                    (size_t)(disk->items + disk->count - known - 1) * sizeof *known);
            disk->count -= 1;
        } else if (there != NULL && known != NULL) {
            *known = *there;
        } else if (there != NULL) {
            EditKept *items = realloc(disk->items, (disk->count + 1u) * sizeof *items);
            if (items == NULL) {
                return STATUS_LIMIT;
            }
            uint32_t at = disk->count++;
            for (; at > 0 && strcmp(items[at - 1].path, there->path) > 0; at--) {
                items[at] = items[at - 1];
            }
            items[at] = *there;
            disk->items = items;
        }
    }
    return STATUS_OK;
}

// The same for the two texts: a text on disk that says what the document said after the last write
// was written by the session itself, or not yet written over.
typedef struct OwnTexts {
    EditTexts disk;
    EditText *text; // NULL: they cannot be read
    EditDoc *doc;
} OwnTexts;

static void own_texts_open(EditProcess *process, const EditBeginning *beginning, OwnTexts *own)
{
    PlaceError ignored = {0}; // edit_file_take_texts says it
    own->disk = (EditTexts){beginning->disk.settings, beginning->disk.scene};
    status_ignore(
        edit_text_open(&process->heap, (EditBlobs){0}, own->disk, &own->text, &own->doc, &ignored));
}

static void own_texts_close(OwnTexts *own)
{
    edit_text_close(own->text);
    edit_doc_destroy(own->doc);
}

static Status own_texts_compare(EditProcess *process, OwnTexts *own)
{
    EditTexts same = {text_from(""), text_from("")};
    if (own->text == NULL) {
        return STATUS_OK;
    }
    if (edit_doc_says_same(own->doc, process->doc, EDIT_SETTINGS)) {
        same.settings = own->disk.settings;
    }
    if (edit_doc_says_same(own->doc, process->doc, EDIT_SCENE)) {
        same.scene = own->disk.scene;
        edit_text_adopt(own->text, process->doc);
    }
    return edit_text_take_sent(process->text, own->text, same);
}

// --- the log ------------------------------------------------------------------------------------

// What was written is not known any more, at least of one text: it is what the document says.
static Status print_texts(EditProcess *process, EditTexts *base, EditText **printed)
{
    const EditTexts least = {text_from("{\"format\": 1, \"name\": \"A\"}\n"),
                             text_from("{\n  \"format\": 1,\n  \"entities\": []\n}\n")};
    EditDoc *read = NULL;
    PlaceError error = {0};
    Status status = edit_text_open(&process->heap, (EditBlobs){0}, least, printed, &read, &error);
    if (status == STATUS_OK) {
        edit_text_rebind(*printed);
        status = edit_text_write(*printed, process->doc);
    }
    if (status == STATUS_OK) {
        const EditTexts now = edit_text_now(*printed);
        base->settings = base->settings.bytes > 0 ? base->settings : now.settings;
        base->scene = base->scene.bytes > 0 ? base->scene : now.scene;
    }
    edit_doc_destroy(read);
    return status;
}

// The document is as of what the files on disk were written from.
static Status keep_written(EditProcess *process, const EditBeginning *beginning)
{
    EditTexts base = {beginning->base_settings, beginning->base_scene};
    EditText *printed = NULL;
    EditDoc *read = NULL;
    PlaceError error = {0};
    process->written_seq = edit_session_seq(process->session);
    Status status = keep_files(process);
    if (status == STATUS_OK && (base.settings.bytes == 0 || base.scene.bytes == 0)) {
        status = print_texts(process, &base, &printed);
    }
    if (status == STATUS_OK) {
        status =
            edit_text_open(&process->heap, (EditBlobs){0}, base, &process->text, &read, &error);
    }
    if (status == STATUS_OK) {
        edit_text_adopt(process->text, process->doc);
    }
    edit_text_close(printed);
    edit_doc_destroy(read);
    return status;
}

static Status replay(EditProcess *process, const EditBeginning *beginning, ByteReader *rows,
                     OwnFiles *own)
{
    size_t bytes = 0;
    const uint8_t *row = edit_read_block(rows, &bytes);
    Status status = rows->status == STATUS_OK ? edit_session_replay(process->session, row, bytes)
                                              : rows->status;
    if (status == STATUS_OK && own != NULL) {
        status = own_add_row(own, row, bytes);
    }
    if (edit_session_seq(process->session) > beginning->newest_seq) {
        process->rows_since += 1;
        process->row_bytes_since += bytes;
    }
    return status;
}

static Status open_log(EditProcess *process, const EditBeginning *beginning, OwnFiles *files)
{
    Status status = edit_doc_open(&process->heap, edit_order_clips(process),
                                  (const uint8_t *)beginning->checkpoint.data,
                                  beginning->checkpoint.bytes, &process->doc);
    status = status == STATUS_OK ? open_session(process, beginning->checkpoint_seq, beginning->seed)
                                 : status;
    OwnTexts texts = {0};
    if (status == STATUS_OK) {
        own_texts_open(process, beginning, &texts);
    }
    ByteReader rows = byte_reader(beginning->rows, beginning->row_bytes);
    bool is_kept = false;
    for (uint32_t i = 0; i <= beginning->row_count && status == STATUS_OK; i++) {
        if (!is_kept && (edit_session_seq(process->session) >= beginning->written_seq ||
                         i == beginning->row_count)) {
            is_kept = true;
            status = keep_written(process, beginning);
        }
        if (is_kept && status == STATUS_OK) {
            status = own_texts_compare(process, &texts);
        }
        if (i < beginning->row_count && status == STATUS_OK) {
            status = replay(process, beginning, &rows, is_kept ? files : NULL);
        }
    }
    own_texts_close(&texts);
    return status;
}

// What cannot be used of the log is given up, and the files begin a new one.
static void close_log(EditProcess *process)
{
    edit_session_destroy(process->session);
    edit_text_close(process->text);
    edit_doc_destroy(process->doc);
    free(process->disk.items);
    process->session = NULL;
    process->text = NULL;
    process->doc = NULL;
    process->disk = (EditKeptList){0};
    process->rows_since = 0;
    process->row_bytes_since = 0;
    process->written_seq = 0;
}

Status edit_open(EditProcess *process, const uint8_t *bytes, size_t count, EditReport *failed)
{
    EditBeginning beginning;
    const Status status = edit_beginning_read(bytes, count, &beginning);
    if (status != STATUS_OK) {
        return fail(failed, status, "the beginning", status_text(status));
    }
    process->rng = rng_make(beginning.seed, 2);
    process->epoch = beginning.epoch;
    process->log = beginning.log;
    process->is_stored = true;
    process->checkpoint_seq = beginning.newest_seq;
    process->kept_seq = beginning.written_seq;
    if (!beginning.has_log) {
        return open_new(process, &beginning, failed);
    }
    OwnFiles own = {0};
    const Status opened = open_log(process, &beginning, &own);
    if (opened != STATUS_OK) {
        free(own.items);
        fprintf(stderr, "sandlot: the log of a draft cannot be used (%s); its files begin anew\n",
                status_text(opened));
        close_log(process);
        return open_new(process, &beginning, failed);
    }
    EditKeptList now = {0};
    Status listed = edit_file_list(&beginning.disk, &now);
    listed = listed == STATUS_OK ? own_take(process, &own, &now) : listed;
    free(own.items);
    if (listed != STATUS_OK) {
        free(now.items);
        return fail(failed, listed, "the files of the draft", status_text(listed));
    }
    edit_file_take_texts(process, (EditTexts){beginning.disk.settings, beginning.disk.scene});
    edit_file_take_files(process, &now);
    free(now.items);
    if (edit_session_seq(process->session) != process->written_seq) {
        process->changed_ms = 1; // to be written soon
    }
    return STATUS_OK;
}
