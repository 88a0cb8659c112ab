// From what the host begins with to a document. The log is what was told, and the files are the
// truth: so the document is the one of the log, and what differs on disk from what was written last
// is a change that somebody made meanwhile.
#include "server/shell/edit/edit_process.h"

#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>

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
    Status status = edit_text_open(&process->heap, (EditBlobs){0}, texts, &process->text,
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

// The document is as of what the files on disk were written from.
static Status keep_written(EditProcess *process, const EditBeginning *beginning)
{
    const EditTexts base = {beginning->base_settings, beginning->base_scene};
    EditDoc *read = NULL;
    PlaceError error = {0};
    process->written_seq = edit_session_seq(process->session);
    Status status = keep_files(process);
    if (status == STATUS_OK) {
        status =
            edit_text_open(&process->heap, (EditBlobs){0}, base, &process->text, &read, &error);
    }
    if (status == STATUS_OK) {
        edit_text_adopt(process->text, process->doc);
    }
    edit_doc_destroy(read);
    return status;
}

static Status open_log(EditProcess *process, const EditBeginning *beginning)
{
    Status status =
        edit_doc_open(&process->heap, (EditBlobs){0}, (const uint8_t *)beginning->checkpoint.data,
                      beginning->checkpoint.bytes, &process->doc);
    status = status == STATUS_OK ? open_session(process, beginning->checkpoint_seq, beginning->seed)
                                 : status;
    ByteReader rows = byte_reader(beginning->rows, beginning->row_bytes);
    bool is_kept = false;
    for (uint32_t i = 0; i <= beginning->row_count && status == STATUS_OK; i++) {
        if (!is_kept && (edit_session_seq(process->session) >= beginning->written_seq ||
                         i == beginning->row_count)) {
            is_kept = true;
            status = keep_written(process, beginning);
        }
        if (i < beginning->row_count && status == STATUS_OK) {
            size_t bytes = 0;
            const uint8_t *row = edit_read_block(&rows, &bytes);
            status = rows.status == STATUS_OK ? edit_session_replay(process->session, row, bytes)
                                              : rows.status;
            if (edit_session_seq(process->session) > beginning->newest_seq) {
                process->rows_since += 1;
                process->row_bytes_since += bytes;
            }
        }
    }
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
    if (!beginning.has_log) {
        return open_new(process, &beginning, failed);
    }
    const Status opened = open_log(process, &beginning);
    if (opened != STATUS_OK) {
        fprintf(stderr, "sandlot: the log of a draft cannot be used (%s); its files begin anew\n",
                status_text(opened));
        close_log(process);
        return open_new(process, &beginning, failed);
    }
    EditKeptList now = {0};
    const Status listed = edit_file_list(&beginning.disk, &now);
    if (listed != STATUS_OK) {
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
