// The files of the draft. They are written a moment after the last change, and at the latest
// WRITE_MS after the first; the host writes them only over what this process last knew of the disk,
// and says so if that has changed. Changes on disk are taken as a difference. What cannot be read
// is shown to the editors and is not overwritten.
#include "server/shell/edit/edit_process.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET_MS 250 // after the last change
#define WRITE_MS 700 // after the first one
#define RETRY_MS 1000
#define LOOK_MS  3000 // until the host is asked again how the disk is

#define FAILED_TOLD 8 // files of one write that editors are told of

// --- lists of files -----------------------------------------------------------------------------

static int by_path(const void *a, const void *b)
{
    return strcmp(((const EditKept *)a)->path, ((const EditKept *)b)->path);
}

static const EditKept *find_kept(const EditKeptList *list, const char *path)
{
    EditKept wanted;
    snprintf(wanted.path, sizeof wanted.path, "%s", path);
    return list->count > 0 ? bsearch(&wanted, list->items, list->count, sizeof wanted, by_path)
                           : NULL;
}

// Files that a document cannot have (place.json, scene.json, odd names) are left out.
Status edit_file_list(const EditDisk *disk, EditKeptList *out)
{
    EditKept *items = calloc(disk->file_count + 1u, sizeof *items);
    if (items == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t count = 0;
    ByteReader reader = byte_reader(disk->files, disk->file_bytes);
    for (uint32_t i = 0; i < disk->file_count; i++) {
        Text path;
        const uint8_t *hash;
        if (!edit_disk_file_read(&reader, &path, &hash)) {
            break; // it was read once before
        }
        if (edit_path_is_valid(path)) {
            memcpy(items[count].path, path.data, path.bytes);
            memcpy(items[count].hash, hash, SHA256_BYTES);
            count += 1;
        }
    }
    qsort(items, count, sizeof *items, by_path);
    free(out->items);
    *out = (EditKeptList){items, count};
    return STATUS_OK;
}

static Status list_document(const EditDoc *doc, EditKeptList *out)
{
    const uint32_t count = edit_doc_file_count(doc);
    EditKept *items = calloc(count + 1u, sizeof *items);
    if (items == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < count; i++) {
        const EditFile *file = edit_doc_file_at(doc, i);
        memcpy(items[i].path, file->path.data, file->path.bytes);
        memcpy(items[i].hash, file->hash, SHA256_BYTES);
    }
    qsort(items, count, sizeof *items, by_path);
    free(out->items);
    *out = (EditKeptList){items, count};
    return STATUS_OK;
}

// --- writing ------------------------------------------------------------------------------------

static uint32_t write_differences(const EditProcess *process, EditBuffer *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < process->disk.count; i++) { // first what goes: a name may change case
        const EditKept *old = &process->disk.items[i];
        if (find_kept(&process->sent, old->path) == NULL) {
            edit_report_file_write(
                &(EditReportFile){.path = text_from(old->path), .known = old->hash}, out);
            count += 1;
        }
    }
    for (uint32_t i = 0; i < process->sent.count; i++) {
        const EditKept *next = &process->sent.items[i];
        const EditKept *old = find_kept(&process->disk, next->path);
        if (old == NULL || memcmp(old->hash, next->hash, SHA256_BYTES) != 0) {
            edit_report_file_write(&(EditReportFile){.path = text_from(next->path),
                                                     .hash = next->hash,
                                                     .known = old != NULL ? old->hash : NULL},
                                   out);
            count += 1;
        }
    }
    return count;
}

static void say_is_written(EditProcess *process, uint64_t seq)
{
    process->written_seq = seq;
    process->changed_ms = edit_session_committed(process->session) == seq ? 0 : process->now_ms;
    edit_people_say_written(process);
}

static bool text_differs(Text a, Text b)
{
    return a.bytes != b.bytes || (a.bytes > 0 && memcmp(a.data, b.data, a.bytes) != 0);
}

// The texts cannot be made; the editors are told, and it is tried again after the next change.
static void give_up(EditProcess *process, Status status)
{
    edit_text_close(process->text_before);
    process->text_before = NULL;
    process->retry_ms = process->now_ms + RETRY_MS;
    edit_people_say_failed(process, text_from("scene.json"), status_text(status));
}

static void write_files(EditProcess *process)
{
    uint8_t settings_known[SHA256_BYTES], scene_known[SHA256_BYTES];
    EditReport report = {.type = EDIT_LINK_WRITE, .seq = edit_session_committed(process->session)};
    Status status = edit_text_copy(process->text, &process->text_before);
    status = status == STATUS_OK ? edit_text_write(process->text, process->doc) : status;
    status = status == STATUS_OK ? list_document(process->doc, &process->sent) : status;
    if (status != STATUS_OK) {
        give_up(process, status);
        return;
    }
    const EditTexts before = edit_text_now(process->text_before);
    const EditTexts now = edit_text_now(process->text);
    EditBuffer files = edit_buffer(&process->heap, EDIT_INVERSE_BYTES_MAX);
    EditBuffer message = edit_buffer(&process->heap, EDIT_LINK_BYTES_MAX);
    report.settings = now.settings;
    report.scene = now.scene;
    report.has_settings = text_differs(before.settings, now.settings);
    report.has_scene = text_differs(before.scene, now.scene);
    report.file_count = write_differences(process, &files);
    report.settings_known = settings_known;
    report.scene_known = scene_known;
    sha256_of(before.settings.data, before.settings.bytes, settings_known);
    sha256_of(before.scene.data, before.scene.bytes, scene_known);
    edit_report_write(&report, &message); // also if nothing differs: the host keeps how far it is
    edit_buffer_append(&message, files.data, files.bytes);
    if (files.status != STATUS_OK || message.status != STATUS_OK ||
        edit_put(process, EDIT_LINK_WRITE, message.data, message.bytes) != STATUS_OK) {
        edit_end(process, "the files are too large to be written");
    }
    process->sent_seq = report.seq;
    process->is_writing = true;
    edit_buffer_free(&files);
    edit_buffer_free(&message);
}

// Files cannot be written: the document goes back to what the disk has of them, all at once.
static void revert_files(EditProcess *process)
{
    EditBuffer ops = edit_buffer(&process->heap, EDIT_INVERSE_BYTES_MAX);
    edit_ops_begin(&ops);
    for (uint32_t i = 0; i < process->reverts.count; i++) {
        const Text path = text_from(process->reverts.items[i].path);
        const EditFile *file = edit_doc_file_find(process->doc, path);
        const EditKept *kept = find_kept(&process->disk, process->reverts.items[i].path);
        if (file != NULL || kept != NULL) {
            edit_op_file(&ops, path, kept != NULL ? kept->hash : NULL,
                         file != NULL ? file->hash : NULL);
        }
    }
    (void)edit_order_own(process, "Could not be written", &ops); // or it fails again, and is told
    edit_buffer_free(&ops);
    free(process->reverts.items);
    process->reverts = (EditKeptList){0};
}

// Which files the host could not write, into `reverts`. The editors are told of the first ones.
static void take_failed(EditProcess *process, ByteReader *reader)
{
    const uint64_t count = byte_read_u64(reader);
    if (reader->status != STATUS_OK || count == 0 || count > 2 * PLACE_FILES_MAX) {
        return;
    }
    EditKept *items = calloc((size_t)count, sizeof *items);
    if (items == NULL) {
        edit_end(process, "out of memory");
    }
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t path_bytes = 0, reason_bytes = 0;
        const uint8_t *path = edit_read_block(reader, &path_bytes);
        const uint8_t *reason = edit_read_block(reader, &reason_bytes);
        if (reader->status != STATUS_OK || path_bytes >= sizeof items[0].path) {
            break; // the host wrote it, so this is never so
        }
        memcpy(items[taken].path, path, path_bytes);
        if (taken < FAILED_TOLD) {
            char text[CHANNEL_REASON_BYTES];
            snprintf(text, sizeof text, "%.*s", (int)reason_bytes, (const char *)reason);
            edit_people_say_failed(process, text_from(items[taken].path), text);
        }
        taken += 1;
    }
    qsort(items, taken, sizeof *items, by_path);
    free(process->reverts.items);
    process->reverts = (EditKeptList){items, taken};
}

// What is on disk after a write: what was sent, but for the files that could not be written.
static void keep_sent(EditProcess *process)
{
    EditKept *items = calloc(process->sent.count + process->reverts.count + 1u, sizeof *items);
    uint32_t count = 0;
    if (items == NULL) {
        edit_end(process, "out of memory");
    }
    for (uint32_t i = 0; i < process->sent.count; i++) {
        if (find_kept(&process->reverts, process->sent.items[i].path) == NULL) {
            items[count++] = process->sent.items[i];
        }
    }
    for (uint32_t i = 0; i < process->reverts.count; i++) {
        const EditKept *old = find_kept(&process->disk, process->reverts.items[i].path);
        if (old != NULL) {
            items[count++] = *old;
        }
    }
    qsort(items, count, sizeof *items, by_path);
    free(process->disk.items);
    free(process->sent.items);
    process->disk = (EditKeptList){items, count};
    process->sent = (EditKeptList){0};
}

void edit_file_written(EditProcess *process, Status status, Text path, const char *reason,
                       ByteReader *failed)
{
    if (!process->is_writing) {
        return;
    }
    process->is_writing = false;
    if (status == STATUS_OK) {
        edit_text_close(process->text_before);
        process->text_before = NULL;
        take_failed(process, failed);
        process->kept_seq = process->reverts.count == 0 ? process->sent_seq : process->kept_seq;
        keep_sent(process);
        say_is_written(process, process->sent_seq);
    } else {
        // The disk has what was there before, but for what was written before it failed.
        process->text_sent = process->text;
        process->text = process->text_before;
        process->text_before = NULL;
        edit_text_rebind(process->text);
        process->must_look = true;
        process->retry_ms = process->now_ms + (status == STATUS_MISMATCH ? 0 : RETRY_MS);
        if (status != STATUS_MISMATCH) {
            edit_people_say_failed(process, path, reason);
        }
    }
}

// --- changes on disk ----------------------------------------------------------------------------

// A write failed on the way. What it has written until then is no change on disk: taken as one, it
// would be put over what editors changed since.
static void keep_reached(EditProcess *process, EditTexts texts, const EditKeptList *now)
{
    EditKept *items = calloc(process->disk.count + process->sent.count + 1u, sizeof *items);
    uint32_t count = 0;
    if (items == NULL ||
        edit_text_take_sent(process->text, process->text_sent, texts) != STATUS_OK) {
        edit_end(process, "out of memory");
    }
    for (uint32_t i = 0; i < process->disk.count; i++) {
        const EditKept *old = &process->disk.items[i];
        const EditKept *sent = find_kept(&process->sent, old->path);
        const EditKept *there = find_kept(now, old->path);
        if (sent == NULL && there == NULL) {
            continue; // it was deleted
        }
        const bool is_ours = sent != NULL && there != NULL &&
                             memcmp(there->hash, sent->hash, sizeof sent->hash) == 0;
        items[count++] = is_ours ? *sent : *old;
    }
    for (uint32_t i = 0; i < process->sent.count; i++) {
        const EditKept *sent = &process->sent.items[i];
        const EditKept *there = find_kept(now, sent->path);
        if (find_kept(&process->disk, sent->path) == NULL && there != NULL &&
            memcmp(there->hash, sent->hash, sizeof sent->hash) == 0) {
            items[count++] = *sent;
        }
    }
    qsort(items, count, sizeof *items, by_path);
    free(process->disk.items);
    free(process->sent.items);
    process->disk = (EditKeptList){items, count};
    process->sent = (EditKeptList){0};
    edit_text_close(process->text_sent);
    process->text_sent = NULL;
}

void edit_file_block(EditProcess *process, const PlaceError *error)
{
    snprintf(process->blocked_file, sizeof process->blocked_file, "%.64s",
             error->path[0] != '\0' ? error->path : "scene.json");
    snprintf(process->blocked, sizeof process->blocked, "%.100s %.128s", error->where.path,
             error->where.message[0] != '\0' ? error->where.message : status_text(error->status));
    process->blocked_line = error->where.line;
    process->is_blocked = true;
    edit_people_say_blocked(process);
}

// Whether all it changes is what a build writes beside the path of a script: nobody has changed
// anything then, and lists of what was done leave it out.
static bool is_built(const EditBuffer *ops)
{
    ByteReader reader = byte_reader(ops->data, ops->bytes);
    EditError ignored = {0};
    EditOp op;
    bool is_all = edit_ops_open(&reader, &ignored) == STATUS_OK;
    while (is_all && edit_op_read(&reader, &op, &ignored)) {
        char name[EDIT_MEMBER_NAME_BYTES] = "";
        EditMember member;
        if (op.type == EDIT_SET && op.kind == EDIT_ENTITY &&
            edit_member_at(edit_kind_table(op.kind), op.member, &member)) {
            edit_member_name(&member, name);
        }
        is_all = strcmp(name, "scriptRef.codeHash") == 0 || strcmp(name, "scriptPath") == 0;
    }
    return is_all;
}

void edit_file_take_texts(EditProcess *process, EditTexts texts)
{
    const EditTexts before = edit_text_now(process->text);
    if (!process->is_blocked && !text_differs(before.settings, texts.settings) &&
        !text_differs(before.scene, texts.scene)) {
        return;
    }
    EditBuffer ops = edit_buffer(&process->heap, EDIT_INVERSE_BYTES_MAX);
    PlaceError error = {0};
    const Status status =
        edit_text_take(process->text, process->doc, texts, &process->rng, &ops, &error);
    if (status != STATUS_OK) {
        error.status = error.status != STATUS_OK ? error.status : status;
        edit_file_block(process, &error);
    } else {
        ByteReader reader = byte_reader(ops.data, ops.bytes);
        EditError ignored = {0};
        EditOp op;
        // Only spaces may have changed, or the order of members.
        if (edit_ops_open(&reader, &ignored) == STATUS_OK && edit_op_read(&reader, &op, &ignored) &&
            !edit_order_own(process, is_built(&ops) ? EDIT_LABEL_BUILT : "Changed on disk", &ops)) {
            edit_end(process, "a change on disk cannot be applied");
        }
        if (process->is_blocked) {
            process->is_blocked = false;
            edit_people_say_blocked(process);
        }
    }
    edit_buffer_free(&ops);
}

static void change_file(EditProcess *process, const char *path, const uint8_t *hash,
                        EditBuffer *ops, uint32_t *count)
{
    const EditFile *file = edit_doc_file_find(process->doc, text_from(path));
    const bool is_same =
        hash == NULL ? file == NULL : file != NULL && memcmp(file->hash, hash, SHA256_BYTES) == 0;
    if (!is_same) {
        edit_op_file(ops, text_from(path), hash, file != NULL ? file->hash : NULL);
        *count += 1;
    }
}

void edit_file_take_files(EditProcess *process, const EditKeptList *now)
{
    uint32_t count = 0;
    EditBuffer ops = edit_buffer(&process->heap, EDIT_INVERSE_BYTES_MAX);
    edit_ops_begin(&ops);
    for (uint32_t i = 0; i < process->disk.count; i++) {
        const EditKept *old = &process->disk.items[i];
        if (find_kept(now, old->path) == NULL) {
            change_file(process, old->path, NULL, &ops, &count);
        }
    }
    for (uint32_t i = 0; i < now->count; i++) {
        const EditKept *old = find_kept(&process->disk, now->items[i].path);
        if (old == NULL || memcmp(old->hash, now->items[i].hash, SHA256_BYTES) != 0) {
            change_file(process, now->items[i].path, now->items[i].hash, &ops, &count);
        }
    }
    if (count > 0 && !edit_order_own(process, "Changed on disk", &ops)) {
        edit_end(process, "files that changed on disk cannot be taken");
    }
    edit_buffer_free(&ops);
    EditKept *copy = calloc(now->count + 1u, sizeof *copy);
    if (copy == NULL) {
        edit_end(process, "out of memory");
    }
    if (now->count > 0) {
        memcpy(copy, now->items, now->count * sizeof *copy);
    }
    free(process->disk.items);
    process->disk = (EditKeptList){copy, now->count};
}

// While rows or a write are on their way, it may be older than those: it is asked for again.
void edit_file_disk(EditProcess *process, const uint8_t *bytes, size_t count)
{
    EditDisk disk;
    EditKeptList now = {0};
    ByteReader reader = byte_reader(bytes, count);
    if (!process->is_stored || process->is_writing || process->batch.row_count > 0) {
        process->must_look = true;
        return;
    }
    if (edit_disk_read(&reader, &disk) != STATUS_OK || edit_file_list(&disk, &now) != STATUS_OK) {
        edit_end(process, "the host's list of files is invalid");
    }
    if (process->text_sent != NULL) {
        keep_reached(process, (EditTexts){disk.settings, disk.scene}, &now);
    }
    edit_file_take_texts(process, (EditTexts){disk.settings, disk.scene});
    edit_file_take_files(process, &now);
    process->waits_for_disk = false;
    free(now.items);
}

// --- somebody else writes -----------------------------------------------------------------------

void edit_file_hold(EditProcess *process, uint64_t number)
{
    for (uint32_t i = 0; i < process->hold_count; i++) {
        if (process->holds[i] == number) {
            return; // the host asked the process before this one too
        }
    }
    if (process->hold_count < EDIT_HOLDS_MAX) {
        process->holds[process->hold_count++] = number;
    }
}

void edit_file_release(EditProcess *process, uint64_t number)
{
    for (uint32_t i = 0; i < process->hold_count; i++) {
        if (process->holds[i] == number) {
            memmove(&process->holds[i], &process->holds[i + 1],
                    (process->hold_count - i - 1) * sizeof process->holds[0]);
            process->hold_count -= 1;
            process->is_held = process->is_held && i != 0;
            process->must_look = true;
            process->waits_for_disk = true;
            return;
        }
    }
}

// --- each turn ----------------------------------------------------------------------------------

static bool is_due(const EditProcess *process)
{
    if (process->is_blocked || process->is_writing || process->must_look ||
        process->waits_for_disk || process->now_ms < process->retry_ms ||
        edit_session_committed(process->session) == process->written_seq) {
        return false;
    }
    return process->hold_count > 0 || process->now_ms - process->changed_ms >= WRITE_MS ||
           process->now_ms - process->last_ms >= QUIET_MS;
}

// Called when nothing waits to be stored.
void edit_file_step(EditProcess *process)
{
    const bool is_late = process->waits_for_disk && process->now_ms - process->looked_ms >= LOOK_MS;
    if ((process->must_look || is_late) && !process->is_writing) {
        process->must_look = false;
        process->looked_ms = process->now_ms;
        edit_report(process, &(EditReport){.type = EDIT_LINK_LOOK});
        process->waits_for_disk = true;
    }
    if (process->reverts.count > 0 && !process->waits_for_disk) {
        revert_files(process);
        return; // first that is stored
    }
    if (is_due(process)) {
        write_files(process);
    }
    const bool is_written =
        process->is_blocked || edit_session_committed(process->session) == process->written_seq;
    if (process->hold_count > 0 && !process->is_held && is_written && !process->is_writing &&
        !process->waits_for_disk) {
        process->is_held = true;
        edit_report(process, &(EditReport){.type = EDIT_LINK_HELD, .number = process->holds[0]});
    }
}
