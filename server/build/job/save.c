// See save.h. Nobody else may save between comparing the file and replacing it: a mutex in this
// process and a lock file for other processes. A plain editor takes no lock; what it writes in that
// moment is seen by the next save, and a new file never replaces one that appeared.
#define _GNU_SOURCE
#include "server/build/job/save.h"

#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "core/wire/script_path.h"
#include "server/build/package/package_rules.h"
#include "server/build/place/place_file.h"
#include "server/build/typescript/typescript.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_TRY_MS  20
#define LOCK_TRIES   10 // a fifth of a second, during which the host serves nobody
#define LOCK_FOLDER  ".sandlot"
#define LOCK_NAME    "save.lock"
#define SOUL_ENDINGS SOUL_LANGUAGE_COUNT

static pthread_mutex_t save_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((format(printf, 3, 4))) static Status refuse(char reason[WORKER_REASON_BYTES],
                                                           Status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return status;
}

// --- may it be saved at all ---------------------------------------------------------------------

static bool is_hash(const char *text)
{
    return strlen(text) == 2 * SHA256_BYTES && strspn(text, "0123456789abcdef") == 2 * SHA256_BYTES;
}

static bool is_soul(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (uint32_t i = 0; dot != NULL && i < SOUL_ENDINGS; i++) {
        if (strcmp(dot, soul_language_ending((SoulLanguage)i)) == 0) {
            return true;
        }
    }
    return false;
}

// The same script's path under the other root: with SoulService/ before it, or without.
static void other_root(const char *path, char out[PLACE_FILE_PATH_BYTES])
{
    const size_t bytes = script_path_soul_bytes(path, strlen(path));
    snprintf(out, PLACE_FILE_PATH_BYTES, "%s%s", bytes > 0 ? "" : SCRIPT_SOUL_FOLDER, path + bytes);
}

// Checks the path as a build would, together with the files that could be the same script.
static Status check_path(const SaveRequest *request, char reason[WORKER_REASON_BYTES])
{
    PlaceFile files[1 + 2 * SOUL_ENDINGS];
    char others[2 * SOUL_ENDINGS][PLACE_FILE_PATH_BYTES], other[PLACE_FILE_PATH_BYTES];
    uint32_t count = 0;
    if (!is_soul(request->path)) {
        return refuse(reason, STATUS_MALFORMED,
                      "%s is not a script: scripts end with .lua, .luau, .ts or .soul",
                      request->path);
    }
    other_root(request->path, other);
    files[count++] = (PlaceFile){.path = request->path, .data = (const uint8_t *)""};
    for (uint32_t i = 0; request->known_hash == NULL && i < 2 * SOUL_ENDINGS; i++) {
        const char *path = i < SOUL_ENDINGS ? request->path : other;
        snprintf(others[i], sizeof others[i], "%.*s%s", (int)(strrchr(path, '.') - path), path,
                 soul_language_ending((SoulLanguage)(i % SOUL_ENDINGS)));
        uint8_t *text = NULL;
        size_t bytes;
        if (strcmp(others[i], request->path) != 0 &&
            place_file_read(request->place, others[i], VM_SOURCE_BYTES_MAX, &text, &bytes) ==
                STATUS_OK) {
            files[count++] = (PlaceFile){.path = others[i], .data = (const uint8_t *)""};
        }
        free(text);
    }
    const PlaceFolder folder = {.files = files, .file_count = count};
    SoulList souls = {0};
    DiagnosticList diagnostics = {0};
    Status status = soul_scan(&folder, &souls, &diagnostics);
    if (status == STATUS_OK && diagnostics.error_count > 0) {
        status = refuse(reason, STATUS_MALFORMED, "%s: %s", diagnostics.items[0].file,
                        diagnostics.items[0].message);
    } else if (status == STATUS_OK &&
               (souls.count != 1 || strcmp(souls.items[0].file->path, request->path) != 0)) {
        status =
            refuse(reason, STATUS_MALFORMED,
                   "%s is not a script: scripts end with .lua, .luau, .ts or .soul", request->path);
    } else if (status == STATUS_OK && strcmp(souls.items[0].path, TYPESCRIPT_LIBRARY) == 0) {
        status = refuse(reason, STATUS_MALFORMED,
                        "%s: this name is kept for TypeScript's own library; choose another",
                        request->path);
    } else if (status != STATUS_OK) {
        refuse(reason, status, "%s: %s", request->path, status_text(status));
    }
    soul_list_free(&souls);
    diagnostic_list_free(&diagnostics);
    return status;
}

// A new file needs a name that every system can hold, or the place could not be packed.
static Status check_name(const char *path, char reason[WORKER_REASON_BYTES])
{
    const Status status = package_path_check(path, strlen(path), reason);
    return status == STATUS_OK ? package_path_fits(path, reason) : status;
}

static Status check_request(const SaveRequest *request, char reason[WORKER_REASON_BYTES])
{
    if (strlen(request->path) >= SCRIPT_PATH_BYTES) {
        return refuse(reason, STATUS_MALFORMED, "the path of a script has at most %u bytes",
                      SCRIPT_PATH_BYTES - 1);
    }
    if (request->known_hash != NULL && !is_hash(request->known_hash)) {
        return refuse(reason, STATUS_MALFORMED, "knownHash must be 64 hex digits, or null");
    }
    if (request->code_bytes > VM_SOURCE_BYTES_MAX) {
        return refuse(reason, STATUS_LIMIT, "a script has at most %u KiB",
                      (unsigned)(VM_SOURCE_BYTES_MAX >> 10));
    }
    const Status status = check_path(request, reason);
    return status == STATUS_OK && request->known_hash == NULL ? check_name(request->path, reason)
                                                              : status;
}

// --- what is there ------------------------------------------------------------------------------

static Status read_refusal(Status status, const char *path, char reason[WORKER_REASON_BYTES])
{
    switch (status) {
    case STATUS_OK:
    case STATUS_NOT_FOUND:
        return status;
    case STATUS_DENIED:
        return refuse(reason, STATUS_DENIED, "%s is a link or no plain file", path);
    case STATUS_MALFORMED:
        return refuse(reason, STATUS_MALFORMED, "%s is no path in a place", path);
    case STATUS_LIMIT:
        return refuse(reason, STATUS_LIMIT, "%s on disk is larger than a script may be", path);
    default:
        return refuse(reason, status, "%s cannot be read", path);
    }
}

static void hash_of(const void *data, size_t bytes, char hex[2 * SHA256_BYTES + 1])
{
    uint8_t digest[SHA256_BYTES];
    sha256_of(data, bytes, digest);
    sha256_hex(digest, hex);
}

Status save_read(const char *place, const char *path, SaveAnswer *out,
                 char reason[WORKER_REASON_BYTES])
{
    // Any hash, so that the path is checked like that of an existing script.
    char any[2 * SHA256_BYTES + 1];
    hash_of("", 0, any);
    const SaveRequest request = {.place = place, .path = path, .code = "", .known_hash = any};
    uint8_t *text = NULL;
    size_t bytes = 0;
    Status status = check_request(&request, reason);
    if (status == STATUS_OK) {
        status = read_refusal(place_file_read(place, path, VM_SOURCE_BYTES_MAX, &text, &bytes),
                              path, reason);
    }
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? refuse(reason, status, "there is no script %s", path)
                                          : status;
    }
    SaveAnswer answer = {.current = (char *)text, .current_bytes = bytes};
    snprintf(answer.path, sizeof answer.path, "%s", path);
    hash_of(text, bytes, answer.hash);
    *out = answer;
    return STATUS_OK;
}

// --- saving -------------------------------------------------------------------------------------

// The folder may have come with the place, as a link to somewhere else.
static int open_lock_folder(const char *place)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    const int root = open(place, flags);
    if (root < 0) {
        return -1;
    }
    (void)mkdirat(root, LOCK_FOLDER, 0700); // may exist already; openat checks that it is a folder
    const int folder = openat(root, LOCK_FOLDER, flags | O_NOFOLLOW);
    close(root);
    return folder;
}

static Status lock_place(const char *place, int *lock, char reason[WORKER_REASON_BYTES])
{
    const int folder = open_lock_folder(place);
    if (folder < 0) {
        return refuse(reason, STATUS_BLOCKED,
                      "the folder " LOCK_FOLDER " cannot be made, or is a link");
    }
    Status status = STATUS_EXISTS;
    for (uint32_t i = 0; status == STATUS_EXISTS && i < LOCK_TRIES; i++) {
        if (i > 0) {
            clock_sleep_until(clock_ns() + LOCK_TRY_MS * NS_PER_MS);
        }
        status = file_lock_in(folder, LOCK_NAME, lock);
    }
    close(folder);
    if (status == STATUS_EXISTS) {
        return refuse(reason, STATUS_BLOCKED, "another program is saving in this place; try again");
    }
    return status == STATUS_OK
               ? status
               : refuse(reason, status, LOCK_FOLDER "/" LOCK_NAME " cannot be made");
}

// A conflict: returns what is there now.
static Status conflict(const SaveRequest *request, SaveAnswer *out, uint8_t *text, size_t bytes,
                       char reason[WORKER_REASON_BYTES])
{
    out->current = (char *)text;
    out->current_bytes = bytes;
    if (text != NULL) {
        hash_of(text, bytes, out->hash);
    }
    const char *what = text == NULL                  ? "is not there any more"
                       : request->known_hash == NULL ? "is there already"
                                                     : "has been changed meanwhile";
    return refuse(reason, STATUS_MISMATCH, "%s %s; nothing was written", request->path, what);
}

// --- names that differ by case alone ------------------------------------------------------------

// Compares two names of one folder by the rule of packages.
static bool is_other_case(const char *a, const char *b)
{
    const char *const names[] = {a, b};
    char unused[WORKER_REASON_BYTES];
    return strcmp(a, b) != 0 && utf8_is_valid(a, strlen(a)) && utf8_is_valid(b, strlen(b)) &&
           package_paths_differ(names, 2, unused) == STATUS_MALFORMED;
}

// Door.lua and Door.ts are both the script Door.
static void cut_ending(char *name)
{
    char *dot = strrchr(name, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
}

// Finds a name in the folder that differs from `name` only in case, and copies it to `found`.
// Scripts are compared without their endings, as their artifacts have the same one.
static bool find_other_case(int folder, const char *name, char found[NAME_MAX + 1])
{
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = own >= 0 ? fdopendir(own) : NULL;
    const struct dirent *entry;
    bool is_found = false;
    if (list == NULL && own >= 0) {
        close(own);
    }
    while (list != NULL && !is_found && (entry = readdir(list)) != NULL) {
        char there[NAME_MAX + 1], wanted[NAME_MAX + 1];
        snprintf(there, sizeof there, "%s", entry->d_name);
        snprintf(wanted, sizeof wanted, "%s", name);
        if (is_soul(there) && is_soul(wanted)) {
            cut_ending(there);
            cut_ending(wanted);
        }
        is_found = is_other_case(there, wanted);
        if (is_found) {
            snprintf(found, NAME_MAX + 1, "%s", entry->d_name);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    return is_found;
}

// On other systems the two would be one file, and neither a package nor a repository could hold
// both. Checks from the place's folder down to the first missing folder; the writer rejects links.
// `path`: the script's own, or the one under the other root, whose first name is given.
static Status check_case(const SaveRequest *request, const char *path,
                         char reason[WORKER_REASON_BYTES])
{
    int folder = open(request->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    Status status = STATUS_OK;
    for (const char *at = path; folder >= 0 && status == STATUS_OK;) {
        char name[NAME_MAX + 1], found[NAME_MAX + 1];
        const size_t bytes = strcspn(at, "/");
        snprintf(name, sizeof name, "%.*s", (int)bytes, at);
        if ((path == request->path || at != path) && find_other_case(folder, name, found)) {
            status = refuse(reason, STATUS_MALFORMED,
                            "%s: \"%.*s%s\" is there, which differs in nothing but case; on many "
                            "systems the two are one file. Choose another name, or write it so",
                            request->path, (int)(at - path), path, found);
        }
        if (at[bytes] == '\0') {
            break;
        }
        const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        close(folder);
        folder = inner;
        at += bytes + 1;
    }
    if (folder >= 0) {
        close(folder);
    }
    return status;
}

// If both roots hold the same name, their artifacts would be one file.
static Status check_cases(const SaveRequest *request, char reason[WORKER_REASON_BYTES])
{
    char other[PLACE_FILE_PATH_BYTES];
    const Status status = check_case(request, request->path, reason);
    other_root(request->path, other);
    return status == STATUS_OK ? check_case(request, other, reason) : status;
}

// --- writing ------------------------------------------------------------------------------------

// Called with the locks held.
static Status compare_and_write(const SaveRequest *request, SaveAnswer *out,
                                char reason[WORKER_REASON_BYTES])
{
    uint8_t *text = NULL;
    size_t bytes = 0;
    Status status = read_refusal(
        place_file_read(request->place, request->path, VM_SOURCE_BYTES_MAX, &text, &bytes),
        request->path, reason);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    char now[2 * SHA256_BYTES + 1] = "";
    if (text != NULL) {
        hash_of(text, bytes, now);
    }
    const bool is_new = request->known_hash == NULL;
    const bool fits = is_new ? text == NULL : strcmp(request->known_hash, now) == 0;
    if (!fits) {
        return conflict(request, out, text, bytes, reason);
    }
    free(text);
    text = NULL;
    status = is_new ? check_cases(request, reason) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    status =
        place_file_write(request->place, request->path, request->code, request->code_bytes, is_new);
    if (status == STATUS_EXISTS || (status == STATUS_NOT_FOUND && !is_new)) {
        // It was created or removed in this very moment.
        status = place_file_read(request->place, request->path, VM_SOURCE_BYTES_MAX, &text, &bytes);
        return status == STATUS_OK || status == STATUS_NOT_FOUND
                   ? conflict(request, out, text, bytes, reason)
                   : read_refusal(status, request->path, reason);
    }
    if (status != STATUS_OK) {
        return refuse(reason, status, "%s cannot be written: %s", request->path,
                      status == STATUS_DENIED ? "a link is in the way" : "the disk refuses");
    }
    hash_of(request->code, request->code_bytes, out->hash);
    return STATUS_OK;
}

Status save_script(JobQueue *queue, const SaveRequest *request, SaveAnswer *out,
                   char reason[WORKER_REASON_BYTES])
{
    Status status = check_request(request, reason);
    if (status != STATUS_OK) {
        return status;
    }
    SaveAnswer answer = {0};
    snprintf(answer.path, sizeof answer.path, "%s", request->path);
    int lock = -1;
    pthread_mutex_lock(&save_lock);
    status = lock_place(request->place, &lock, reason);
    if (status == STATUS_OK) {
        status = compare_and_write(request, &answer, reason);
        close(lock);
    }
    pthread_mutex_unlock(&save_lock);
    if (status == STATUS_OK) {
        // It is saved; if too many jobs wait it is just not built now.
        bool joined;
        const Status started = job_start_for(queue,
                                             &(JobWish){.place = request->place,
                                                        .writes = request->writes,
                                                        .account = request->account},
                                             answer.job_id, &joined);
        if (started != STATUS_OK) {
            answer.job_id[0] = '\0';
        }
    }
    if (status == STATUS_OK || status == STATUS_MISMATCH) {
        *out = answer;
    }
    return status;
}
