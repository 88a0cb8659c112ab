// Backups that an operator asks for: `sandlot backup` as a process of its own, so that it gives way
// to worlds and a fault in it harms nobody. The file lies in a folder beside the data folder, never
// inside it, and is not sent over the network: it holds the keys.
#define _GNU_SOURCE
#include "server/serve/operate/http_operate.h"

#include "core/base/limits.h"
#include "server/serve/http/time_text.h"
#include "server/sys/clock.h"
#include "server/sys/disk.h"
#include "server/sys/file.h"
#include "server/sys/process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES   64
#define FOLDER_MODE  0700
#define NAME_BEGINS  "sandlot-"
#define NAME_ENDS    ".tar"
#define FAILED_WORDS "it failed; the server's log says why"

typedef enum BackupState {
    BACKUP_NONE,
    BACKUP_RUNNING,
    BACKUP_DONE,
    BACKUP_FAILED,
    BACKUP_CANCELLED
} BackupState;

// The last one. `process` is the main thread's; the rest is behind the lock.
struct ServeBackup {
    pthread_mutex_t lock;
    Process process;
    BackupState state;
    bool is_unwanted; // somebody cancelled it: the main thread ends the process
    char name[NAME_BYTES];
    uint64_t began_unix_ms, ended_unix_ms;
};

Status serve_backup_open(Serve *serve)
{
    serve->backup = calloc(1, sizeof *serve->backup);
    if (serve->backup == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&serve->backup->lock, NULL);
    return STATUS_OK;
}

static void end_backup(struct ServeBackup *backup, int code)
{
    pthread_mutex_lock(&backup->lock);
    backup->state = code == 0             ? BACKUP_DONE
                    : backup->is_unwanted ? BACKUP_CANCELLED
                                          : BACKUP_FAILED;
    backup->ended_unix_ms = clock_unix_ms();
    pthread_mutex_unlock(&backup->lock);
}

void serve_backup_close(Serve *serve)
{
    int code = 0;
    if (serve->backup != NULL) {
        if (serve->backup->state == BACKUP_RUNNING) {
            process_kill(&serve->backup->process, SIGTERM); // it removes what it began
            process_wait(&serve->backup->process, &code);
        }
        pthread_mutex_destroy(&serve->backup->lock);
        free(serve->backup);
    }
}

void serve_backup_step(Serve *serve)
{
    struct ServeBackup *backup = serve->backup;
    int code = 0;
    if (backup == NULL || backup->state != BACKUP_RUNNING) {
        return;
    }
    if (process_ended(&backup->process, &code)) {
        end_backup(backup, code);
        const bool is_cancelled = backup->state == BACKUP_CANCELLED;
        serve_log(code == 0 || is_cancelled ? LOG_INFO : LOG_ERROR, "backup", "%s %s", backup->name,
                  code == 0      ? "is written"
                  : is_cancelled ? "was cancelled"
                                 : "failed");
        return;
    }
    pthread_mutex_lock(&backup->lock);
    const bool is_unwanted = backup->is_unwanted;
    pthread_mutex_unlock(&backup->lock);
    if (is_unwanted) {
        process_kill(&backup->process, SIGTERM); // it removes what it began; again does no harm
    }
}

// --- where they lie -----------------------------------------------------------------------------

static bool folder_path(const Serve *serve, char out[SERVE_PATH_BYTES])
{
    size_t bytes = strlen(serve->data);
    while (bytes > 1 && serve->data[bytes - 1] == '/') {
        bytes -= 1;
    }
    const int count = snprintf(out, SERVE_PATH_BYTES, "%.*s-backups", (int)bytes, serve->data);
    return count > 0 && count < SERVE_PATH_BYTES;
}

// Only names that we make ourselves: nothing else in that folder is shown or deleted.
static bool is_name(const char *name)
{
    const size_t bytes = strlen(name), begins = strlen(NAME_BEGINS), ends = strlen(NAME_ENDS);
    return bytes > begins + ends && bytes < NAME_BYTES && strncmp(name, NAME_BEGINS, begins) == 0 &&
           strcmp(name + bytes - ends, NAME_ENDS) == 0 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzTZ0123456789-.") == bytes;
}

typedef struct BackupFile {
    char name[NAME_BYTES];
    uint64_t bytes, unix_ms;
} BackupFile;

static int newest_first(const void *a, const void *b)
{
    return strcmp(((const BackupFile *)b)->name, ((const BackupFile *)a)->name);
}

static uint32_t list_files(const char *folder, BackupFile *out, uint32_t max)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    uint32_t count = 0;
    while (list != NULL && count < max && (entry = readdir(list)) != NULL) {
        struct stat about;
        if (is_name(entry->d_name) && fstatat(dirfd(list), entry->d_name, &about, 0) == 0 &&
            S_ISREG(about.st_mode)) {
            BackupFile *file = &out[count++];
            snprintf(file->name, sizeof file->name, "%.63s", entry->d_name);
            file->bytes = (uint64_t)about.st_size;
            file->unix_ms = (uint64_t)about.st_mtime * 1000;
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    qsort(out, count, sizeof *out, newest_first);
    return count;
}

// --- asking -------------------------------------------------------------------------------------

static uint64_t part_bytes(const char *folder, const char *name)
{
    char path[SERVE_PATH_BYTES + NAME_BYTES + 8];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s.part", folder, name);
    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

static void write_state(struct ServeBackup *backup, const char *folder, JsonWriter *json)
{
    static const char *const names[] = {"none", "running", "done", "failed", "cancelled"};
    pthread_mutex_lock(&backup->lock);
    const BackupState state = backup->state;
    char name[NAME_BYTES];
    memcpy(name, backup->name, sizeof name);
    const uint64_t began = backup->began_unix_ms, ended = backup->ended_unix_ms;
    pthread_mutex_unlock(&backup->lock);
    serve_write_member(json, "state", names[state]);
    serve_write_member(json, "name", state != BACKUP_NONE ? name : NULL);
    if (state != BACKUP_NONE) {
        serve_write_time(json, "began", began);
    } else {
        serve_write_member(json, "began", NULL);
    }
    if (state != BACKUP_NONE && state != BACKUP_RUNNING) {
        serve_write_time(json, "ended", ended);
    } else {
        serve_write_member(json, "ended", NULL);
    }
    serve_write_number(json, "bytes_written", part_bytes(folder, name));
    serve_write_member(json, "reason", state == BACKUP_FAILED ? FAILED_WORDS : NULL);
    serve_write_member(json, "folder", folder);
}

void serve_admin_get_backups(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    char folder[SERVE_PATH_BYTES];
    BackupFile *files = arena_alloc(http_arena(request), BACKUPS_KEPT_MAX * sizeof *files);
    if (files == NULL || !folder_path(serve, folder)) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    write_state(serve->backup, folder, &answer.json);
    json_write_name(&answer.json, "backups");
    json_write_array_begin(&answer.json);
    const uint32_t count = list_files(folder, files, BACKUPS_KEPT_MAX);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&answer.json);
        serve_write_member(&answer.json, "name", files[i].name);
        serve_write_number(&answer.json, "bytes", files[i].bytes);
        serve_write_time(&answer.json, "made", files[i].unix_ms);
        json_write_object_end(&answer.json);
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- making and deleting ------------------------------------------------------------------------

static Status run_backup(const Serve *serve, const char *folder, const char *name, Process *out)
{
    char file[SERVE_PATH_BYTES + NAME_BYTES];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    const char *const arguments[] = {"sandlot", "backup", "--data", serve->data, file, NULL};
    return process_start(&(ProcessConfig){.arguments = arguments}, out);
}

static void name_now(char out[NAME_BYTES])
{
    const time_t now = (time_t)(clock_unix_ms() / 1000);
    struct tm parts;
    char when[24] = "";
    if (gmtime_r(&now, &parts) != NULL) {
        strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &parts);
    }
    snprintf(out, NAME_BYTES, NAME_BEGINS "%s" NAME_ENDS, when);
}

// On the main thread, after it is in the audit.
static bool begin_backup(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    struct ServeBackup *backup = serve->backup;
    HttpRequest *request = http_deferred_request(deferred);
    char folder[SERVE_PATH_BYTES], name[NAME_BYTES];
    BackupFile files[BACKUPS_KEPT_MAX];
    name_now(name);
    if (serve->config.store != NULL) {
        http_fail(request, response, 409, "on_postgresql",
                  "what is stored is on a PostgreSQL server: back it up there (pg_basebackup, "
                  "pg_dump), or copy it with `sandlot store copy`");
    } else if (backup->state == BACKUP_RUNNING) {
        http_fail(request, response, 409, "running", "a backup is being made already");
    } else if (!folder_path(serve, folder) ||
               (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST)) {
        char text[256];
        snprintf(text, sizeof text,
                 "the folder beside the data folder cannot be made (%s); make it, and let the "
                 "server write there",
                 strerror(errno));
        http_fail(request, response, 503, "unavailable", text);
    } else if (list_files(folder, files, BACKUPS_KEPT_MAX) == BACKUPS_KEPT_MAX) {
        http_fail(request, response, 409, "too_many",
                  "there are as many backups as are kept; delete one first");
    } else if (run_backup(serve, folder, name, &backup->process) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "no process could be started; try again");
    } else {
        pthread_mutex_lock(&backup->lock);
        backup->state = BACKUP_RUNNING;
        backup->is_unwanted = false;
        memcpy(backup->name, name, sizeof name);
        backup->began_unix_ms = clock_unix_ms();
        pthread_mutex_unlock(&backup->lock);
        ServeAnswer answer;
        serve_answer_begin(&answer, request);
        json_write_object_begin(&answer.json);
        serve_write_member(&answer.json, "state", "running");
        serve_write_member(&answer.json, "name", name);
        json_write_object_end(&answer.json);
        serve_answer_end(&answer, response);
        response->status = 202;
    }
    return true;
}

void serve_admin_post_backup(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (!serve_refuse_upload(serve, serve->data, request, response)) {
        serve_act(serve, "backup", begin_backup, request, response);
    }
}

static void answer_name(HttpRequest *request, HttpResponse *response, const char *name)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "name", name);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static bool is_being_made(struct ServeBackup *backup, const char *name)
{
    pthread_mutex_lock(&backup->lock);
    const bool is_made = backup->state == BACKUP_RUNNING && strcmp(backup->name, name) == 0;
    pthread_mutex_unlock(&backup->lock);
    return is_made;
}

// If it is complete by now, it stays.
static void cancel_backup(Serve *serve, const char *name, HttpRequest *request,
                          HttpResponse *response)
{
    struct ServeBackup *backup = serve->backup;
    if (serve_record(serve, "backup_cancel", request, response)) {
        pthread_mutex_lock(&backup->lock);
        backup->is_unwanted = backup->state == BACKUP_RUNNING && strcmp(backup->name, name) == 0;
        pthread_mutex_unlock(&backup->lock);
        answer_name(request, response, name);
    }
}

void serve_admin_delete_backup(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *name = http_path_part(request, 0);
    if (is_being_made(serve->backup, name)) {
        cancel_backup(serve, name, request, response);
        return;
    }
    char folder[SERVE_PATH_BYTES], path[SERVE_PATH_BYTES + NAME_BYTES];
    struct stat about;
    if (!is_name(name) || !folder_path(serve, folder) ||
        snprintf(path, sizeof path, "%s/%s", folder, name) <= 0 || lstat(path, &about) != 0 ||
        !S_ISREG(about.st_mode)) {
        http_fail(request, response, 404, "not_found", "there is no such backup");
        return;
    }
    if (!serve_record(serve, "backup_delete", request, response)) {
        return;
    }
    if (unlink(path) != 0) {
        http_fail(request, response, 503, "unavailable", "it cannot be deleted; try again");
        return;
    }
    answer_name(request, response, name);
}
