// The files of an open draft: written as the process asks, and watched. A write says what it
// replaces; if that has changed, nothing is overwritten, and the process is told what is there.
#define _GNU_SOURCE
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "server/build/place/place_file.h"
#include "server/draft/draft_walk.h"
#include "server/serve/edit/edit_draft.h"
#include "server/serve/place/dev.h"
#include "server/serve/place/place_reload.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WATCH_MS   500
#define HEAP_BYTES (64ull << 20)

// --- what is there ------------------------------------------------------------------------------

typedef struct Look {
    const EditDraft *draft;
    Heap heap;
    EditBuffer files;
    uint32_t count;
    Hash64 print;
} Look;

// Name, size and time of one; 0: it is not there.
static uint64_t file_print(const EditDraft *draft, const char *path)
{
    char whole[SERVE_PATH_BYTES];
    struct stat about;
    if (snprintf(whole, sizeof whole, "%s/%s", draft->folder, path) >= (int)sizeof whole ||
        lstat(whole, &about) != 0) {
        return 0;
    }
    Hash64 one = HASH64_INIT;
    hash_bytes(&one, path, strlen(path));
    hash_u64(&one, (uint64_t)about.st_size);
    hash_u64(&one, (uint64_t)about.st_ino);
    hash_u64(&one, (uint64_t)about.st_mtim.tv_sec * 1000000000u + (uint64_t)about.st_mtim.tv_nsec);
    return one.state;
}

// A file is read only when one of these has changed.
static void look_at_file(void *user, const char *path)
{
    Look *look = user;
    look->print.state += file_print(look->draft, path); // in any order
}

static uint64_t fingerprint(const EditDraft *draft)
{
    Look look = {.draft = draft, .print = HASH64_INIT};
    status_ignore(draft_walk(draft->folder, look_at_file, &look)); // then it has no files
    return look.print.state;
}

static void add_file(Look *look, const char *path, const uint8_t hash[SHA256_BYTES])
{
    if (look->count < PLACE_FILES_MAX && strcmp(path, "place.json") != 0 &&
        strcmp(path, "scene.json") != 0) {
        edit_disk_file_write(text_from(path), hash, &look->files);
        look->count += 1;
    }
}

// A folder without a history: its files are read each time that something has changed, and kept as
// blobs, so that a change can be undone.
static void add_folder_file(void *user, const char *path)
{
    Look *look = user;
    uint8_t *data = NULL, hash[SHA256_BYTES];
    size_t bytes = 0;
    if (place_file_read(look->draft->folder, path, DRAFT_FILE_BYTES_MAX, &data, &bytes) ==
        STATUS_OK) {
        sha256_of(data, bytes, hash);
        if (blob_exists(look->draft->serve->blobs, hash) ||
            blob_put(look->draft->serve->blobs, data, bytes, hash) == STATUS_OK) {
            add_file(look, path, hash);
        }
    }
    free(data);
}

static Status list_files(EditDraft *draft, Look *look)
{
    if (draft->serve->drafts == NULL) {
        return draft_walk(draft->folder, add_folder_file, look);
    }
    StoreDraftFile *files = NULL;
    uint32_t count = 0;
    const Status status = draft_list(draft->serve->drafts, draft->place_id, &files, &count);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        add_file(look, files[i].path, files[i].hash);
    }
    free(files);
    return status;
}

// One that is missing or too large is empty.
static void read_text(const EditDraft *draft, const char *path, uint8_t **out, size_t *bytes,
                      uint8_t hash[SHA256_BYTES])
{
    *out = NULL;
    *bytes = 0;
    if (place_file_read(draft->folder, path, EDIT_TEXT_BYTES_MAX, out, bytes) != STATUS_OK) {
        *bytes = 0;
    }
    sha256_of(*out != NULL ? (const void *)*out : "", *bytes, hash);
    if (*out == NULL) {
        memset(hash, 0, SHA256_BYTES);
    }
}

Status edit_files_disk(EditDraft *draft, EditBuffer *out)
{
    Look look = {.draft = draft, .heap = heap_make(HEAP_BYTES)};
    look.files = edit_buffer(&look.heap, HEAP_BYTES);
    uint8_t *settings = NULL, *scene = NULL;
    size_t settings_bytes = 0, scene_bytes = 0;
    pthread_mutex_lock(&draft->disk_lock);
    draft->fingerprint = fingerprint(draft);
    Status status = list_files(draft, &look);
    read_text(draft, "place.json", &settings, &settings_bytes, draft->settings_hash);
    read_text(draft, "scene.json", &scene, &scene_bytes, draft->scene_hash);
    pthread_mutex_unlock(&draft->disk_lock);
    status = status == STATUS_OK ? look.files.status : status;
    if (status == STATUS_OK) {
        const EditDisk disk = {.settings = {(const char *)settings, settings_bytes},
                               .scene = {(const char *)scene, scene_bytes},
                               .file_count = look.count,
                               .files = look.files.data,
                               .file_bytes = look.files.bytes};
        edit_disk_write(&disk, out);
        status = out->status;
    }
    free(settings);
    free(scene);
    edit_buffer_free(&look.files);
    return status;
}

// The process waits for it: if it cannot be told now, it is tried again.
static void tell_disk(EditDraft *draft, uint32_t life)
{
    Heap heap = heap_make(2 * HEAP_BYTES);
    EditBuffer disk = edit_buffer(&heap, 2 * HEAP_BYTES);
    int descriptor = -1;
    if (edit_files_disk(draft, &disk) == STATUS_OK &&
        file_memory("sandlot-edit", disk.data, disk.bytes, NULL, 0, &descriptor) == STATUS_OK) {
        edit_mail_post(draft, EDIT_MAIL_DISK, 0, life, descriptor, NULL, 0);
    } else {
        pthread_mutex_lock(&draft->file_lock);
        draft->must_retry = true;
        pthread_mutex_unlock(&draft->file_lock);
    }
    edit_buffer_free(&disk);
}

// --- writing ------------------------------------------------------------------------------------

typedef struct Write {
    EditDraft *draft;
    uint64_t account;
    uint8_t settings_hash[SHA256_BYTES], scene_hash[SHA256_BYTES]; // of what the disk has
    char path[EDIT_PATH_BYTES_MAX + 1];                            // the last one that was tried
    char reason[WORKER_REASON_BYTES];
    uint32_t failed_count;
    EditBuffer failed; // files that cannot be written, each a block path and a block reason
} Write;

// Without a history: compared and written, with nobody between who follows our rules.
static Status write_folder(Write *write, const DraftWrite *wish)
{
    const char *folder = write->draft->folder;
    uint8_t *data = NULL, hash[SHA256_BYTES];
    size_t bytes = 0;
    Status status = place_file_read(folder, wish->path, DRAFT_FILE_BYTES_MAX, &data, &bytes);
    const bool is_there = status == STATUS_OK;
    if (is_there) {
        sha256_of(data, bytes, hash);
    }
    free(data);
    if ((is_there && (wish->known == NULL || memcmp(hash, wish->known, sizeof hash) != 0)) ||
        (status == STATUS_NOT_FOUND && wish->known != NULL)) {
        return STATUS_MISMATCH;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    status = wish->data != NULL
                 ? place_file_write(folder, wish->path, wish->data, wish->bytes, !is_there)
                 : place_file_delete(folder, wish->path);
    dev_changed(write->draft->serve);
    return status;
}

static bool is_on_disk(const EditDraft *draft, const char *path, const void *data, size_t bytes)
{
    uint8_t *read = NULL;
    size_t count = 0;
    const Status status = place_file_read(draft->folder, path, DRAFT_FILE_BYTES_MAX, &read, &count);
    const bool is_same = data == NULL ? status == STATUS_NOT_FOUND
                                      : status == STATUS_OK && count == bytes &&
                                            (bytes == 0 || memcmp(read, data, bytes) == 0);
    free(read);
    return is_same;
}

static Status put_file(Write *write, const void *data, size_t bytes, const uint8_t *known)
{
    EditDraft *draft = write->draft;
    StoreDraftFile now = {0};
    const DraftWrite wish = {.place_id = draft->place_id,
                             .path = write->path,
                             .data = data,
                             .bytes = bytes,
                             .known = known,
                             .maker = write->account};
    if (draft->serve->drafts == NULL) {
        return write_folder(write, &wish);
    }
    return data != NULL ? draft_write(draft->serve->drafts, &wish, &now, write->reason)
                        : draft_delete_file(draft->serve->drafts, &wish, &now, write->reason);
}

// Our own write is no change on disk, as long as the file is still what we wrote after its name,
// size and time were looked at.
static Status write_one(Write *write, const void *data, size_t bytes, const uint8_t *known)
{
    EditDraft *draft = write->draft;
    const uint64_t before = file_print(draft, write->path);
    const Status status = put_file(write, data, bytes, known);
    const uint64_t after = file_print(draft, write->path);
    if (status == STATUS_OK && is_on_disk(draft, write->path, data, bytes)) {
        draft->fingerprint += after - before;
    }
    return status;
}

static Status write_file(Write *write, const EditReportFile *file)
{
    uint8_t *data = NULL;
    size_t bytes = 0;
    snprintf(write->path, sizeof write->path, "%.*s", (int)file->path.bytes, file->path.data);
    if (file->hash == NULL) {
        return file->known != NULL ? write_one(write, NULL, 0, file->known) : STATUS_OK;
    }
    // A process that was taken over must not have contents of other places by their hash.
    Serve *serve = write->draft->serve;
    Status status = STATUS_NOT_FOUND;
    if (serve->drafts == NULL ||
        store_edit_has_blob(serve->store, write->draft->place_id, file->hash)) {
        status = blob_read(serve->blobs, file->hash, DRAFT_FILE_BYTES_MAX, &data, &bytes);
    }
    if (status != STATUS_OK) {
        snprintf(write->reason, sizeof write->reason, "its content is not here any more");
        return status == STATUS_BLOCKED ? status : STATUS_NOT_FOUND;
    }
    status = write_one(write, data, bytes, file->known);
    free(data);
    return status;
}

// Over what the process knows of the disk, which may be older than what was last seen here. `hash`
// becomes that of the text once it is written.
static Status write_text(Write *write, const char *path, Text text, const uint8_t *known,
                         uint8_t hash[SHA256_BYTES])
{
    snprintf(write->path, sizeof write->path, "%s", path);
    const Status status = write_one(write, text.data, text.bytes, known);
    if (status == STATUS_OK) {
        sha256_of(text.data, text.bytes, hash);
    }
    return status;
}

static const char *reason_of(const Write *write, Status status)
{
    return write->reason[0] != '\0' ? write->reason : status_text(status);
}

// Trying again would not help: the process takes the file back, and all others are written.
static bool is_final(Status status)
{
    return status == STATUS_NOT_FOUND || status == STATUS_LIMIT || status == STATUS_MALFORMED ||
           status == STATUS_DENIED;
}

static void note_failed(Write *write, Status status)
{
    const char *reason = reason_of(write, status);
    edit_buffer_block(&write->failed, write->path, strlen(write->path));
    edit_buffer_block(&write->failed, reason, strnlen(reason, CHANNEL_REASON_BYTES - 1));
    write->failed_count += 1;
    write->reason[0] = '\0';
}

static Status write_all(Write *write, const EditReport *report)
{
    Status status = STATUS_OK;
    ByteReader files = report->files;
    for (uint32_t i = 0; i < report->file_count && status == STATUS_OK; i++) {
        EditReportFile file;
        edit_report_file(&files, &file);
        status = write_file(write, &file);
        if (is_final(status)) {
            note_failed(write, status);
            status = write->failed.status;
        }
    }
    if (status == STATUS_OK && report->has_settings) {
        status = write_text(write, "place.json", report->settings, report->settings_known,
                            write->settings_hash);
    }
    if (status == STATUS_OK && report->has_scene) {
        status =
            write_text(write, "scene.json", report->scene, report->scene_known, write->scene_hash);
    }
    return status;
}

// What a later process compares the disk with: it must be there by its hash.
static void keep_texts(const EditDraft *draft)
{
    static const char *const paths[] = {"place.json", "scene.json"};
    for (uint32_t i = 0; draft->serve->drafts == NULL && i < 2; i++) {
        uint8_t *data = NULL, hash[SHA256_BYTES];
        size_t bytes = 0;
        if (place_file_read(draft->folder, paths[i], EDIT_TEXT_BYTES_MAX, &data, &bytes) ==
            STATUS_OK) {
            status_ignore(blob_put(draft->serve->blobs, data, bytes, hash)); // then it is not kept
        }
        free(data);
    }
}

static void answer_write(const Write *write, uint32_t life, Status status)
{
    Heap heap = heap_make(HEAP_BYTES);
    EditBuffer out = edit_buffer(&heap, HEAP_BYTES);
    const bool is_bad = status != STATUS_OK;
    const char *reason = reason_of(write, status);
    const size_t bytes = strnlen(reason, CHANNEL_REASON_BYTES - 1);
    edit_buffer_u8(&out, (uint8_t)status);
    edit_buffer_block(&out, write->path, is_bad ? strlen(write->path) : 0);
    edit_buffer_block(&out, reason, is_bad ? bytes : 0);
    edit_buffer_u64(&out, is_bad ? 0 : write->failed_count);
    edit_buffer_append(&out, write->failed.data, is_bad ? 0 : write->failed.bytes);
    edit_mail_post(write->draft, EDIT_MAIL_WRITTEN, 0, life, -1, out.data, out.bytes);
    edit_buffer_free(&out);
}

static bool is_current(EditDraft *draft, uint32_t life)
{
    pthread_mutex_lock(&draft->file_lock);
    const bool current = draft->file_life == life;
    pthread_mutex_unlock(&draft->file_lock);
    return current;
}

static Status keep_hashes(const Write *write, const EditReport *report, uint64_t epoch,
                          const uint8_t settings[SHA256_BYTES], const uint8_t scene[SHA256_BYTES])
{
    EditDraft *draft = write->draft;
    if (!report->has_settings && !report->has_scene) {
        return STATUS_OK;
    }
    pthread_mutex_lock(&draft->file_lock);
    const uint64_t seq = draft->written_seq;
    pthread_mutex_unlock(&draft->file_lock);
    return store_edit_written(draft->serve->store, draft->place_id, epoch, seq, settings, scene);
}

// Which texts the disk is about to have. If the server dies in between, the next process must not
// take our own text for somebody's change: it would undo what came after it.
static Status announce_texts(const Write *write, const EditReport *report, uint64_t epoch)
{
    uint8_t settings[SHA256_BYTES], scene[SHA256_BYTES];
    memcpy(settings, write->settings_hash, sizeof settings);
    memcpy(scene, write->scene_hash, sizeof scene);
    if (report->has_settings) {
        sha256_of(report->settings.data, report->settings.bytes, settings);
    }
    if (report->has_scene) {
        sha256_of(report->scene.data, report->scene.bytes, scene);
    }
    return keep_hashes(write, report, epoch, settings, scene);
}

// Everything is written. If some files could not be, the next process must still know what the disk
// had of them: else it takes that for a change, and puts it over what came since.
static Status keep_seq(const Write *write, const EditReport *report, uint64_t epoch)
{
    EditDraft *draft = write->draft;
    pthread_mutex_lock(&draft->file_lock);
    const uint64_t seq = write->failed_count > 0 ? draft->written_seq : report->seq;
    pthread_mutex_unlock(&draft->file_lock);
    const Status status = store_edit_written(draft->serve->store, draft->place_id, epoch, seq,
                                             write->settings_hash, write->scene_hash);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&draft->file_lock);
        draft->written_seq = seq;
        pthread_mutex_unlock(&draft->file_lock);
    }
    return status;
}

static void do_write(EditDraft *draft, const uint8_t *bytes, size_t count, uint32_t life,
                     uint64_t epoch, uint64_t account)
{
    Heap heap = heap_make(HEAP_BYTES);
    Write write = {
        .draft = draft, .account = account, .failed = edit_buffer(&heap, HEAP_BYTES / 2)};
    EditReport *report = malloc(sizeof *report);
    Status status =
        report != NULL ? edit_report_read(EDIT_LINK_WRITE, bytes, count, report) : STATUS_LIMIT;
    pthread_mutex_lock(&draft->disk_lock);
    // The next process reads the disk under this lock: what an old one wanted comes before that, or
    // never.
    status = status == STATUS_OK && !is_current(draft, life) ? STATUS_DENIED : status;
    if (status == STATUS_OK) {
        memcpy(write.settings_hash, report->settings_known, sizeof write.settings_hash);
        memcpy(write.scene_hash, report->scene_known, sizeof write.scene_hash);
        status = announce_texts(&write, report, epoch);
    }
    if (status == STATUS_OK) {
        status = write_all(&write, report);
        if (status != STATUS_OK) { // the disk has only some of them
            status_ignore(
                keep_hashes(&write, report, epoch, write.settings_hash, write.scene_hash));
        }
    }
    if (status == STATUS_OK) {
        keep_texts(draft);
        status = keep_seq(&write, report, epoch);
        write.path[0] = '\0';
    }
    pthread_mutex_unlock(&draft->disk_lock);
    if (status == STATUS_OK) {
        char job_id[JOB_ID_BYTES];
        const bool has_changed =
            report->has_settings || report->has_scene || report->file_count > 0;
        if (draft->serve->drafts != NULL && has_changed) {
            place_reload_draft(draft->serve, draft->place_id, account, job_id);
        }
    }
    answer_write(&write, life, status);
    edit_buffer_free(&write.failed);
    free(report);
}

// --- the thread ---------------------------------------------------------------------------------

static void wait_for_work(EditDraft *draft)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WATCH_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!draft->file_stop && !draft->file_look && draft->file_write == NULL) {
        if (pthread_cond_timedwait(&draft->file_wake, &draft->file_lock, &until) != 0) {
            return;
        }
    }
}

static uint64_t known_print(EditDraft *draft)
{
    pthread_mutex_lock(&draft->disk_lock);
    const uint64_t print = draft->fingerprint;
    pthread_mutex_unlock(&draft->disk_lock);
    return print;
}

void *edit_files_run(void *user)
{
    EditDraft *draft = user;
    for (bool is_running = true; is_running;) {
        pthread_mutex_lock(&draft->file_lock);
        wait_for_work(draft);
        uint8_t *write = draft->file_write;
        const size_t bytes = draft->file_write_bytes;
        const bool must_look = draft->file_look || draft->must_retry;
        const uint32_t life = draft->file_life;
        const uint64_t epoch = draft->file_epoch, account = draft->file_account;
        is_running = !draft->file_stop;
        draft->file_write = NULL;
        draft->file_look = draft->must_retry = false;
        pthread_mutex_unlock(&draft->file_lock);
        if (write != NULL) {
            do_write(draft, write, bytes, life, epoch, account);
            free(write);
        }
        if (is_running && life != 0 &&
            (must_look || (write == NULL && fingerprint(draft) != known_print(draft)))) {
            tell_disk(draft, life);
        }
    }
    return NULL;
}
