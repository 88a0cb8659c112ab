// See blob.h. Everything is relative to the descriptor of the folder, opened once.
#define _GNU_SOURCE
#include "server/store/place/blob.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "server/store/place/blob_cache.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE "aside" // where a blob is written before it gets its name

#define PUTS_MAX    65536
#define FETCH_TRIES 3 // if what comes is not what its name says
#define TROUBLE_NS  (10 * UINT64_C(1000000000))

// That a blob was put, and when.
typedef struct BlobPut {
    uint8_t hash[SHA256_BYTES];
    uint64_t at_ns;
} BlobPut;

struct BlobStore {
    int folder;
    atomic_uint next; // number of the next file in ASIDE
    bool is_remote;   // the folder is a cache of:
    BlobRemote remote;
    uint64_t cache_max;
    _Atomic uint64_t cache_bytes; // about
    pthread_mutex_t trim_lock;
    atomic_bool is_away;
    _Atomic uint64_t told_ns[BLOB_TROUBLE_COUNT];
    BlobTroubled troubled;
    void *troubled_user;

    pthread_mutex_t lock; // what follows, and that no blob gets its name while one is removed
    BlobPut *puts;        // oldest first
    size_t put_count, put_max;
    uint64_t unknown_until_ns; // there was no memory for all of them: nothing is removed until then
};

// "ab/cdef…"
typedef struct BlobPath {
    char text[2 * SHA256_BYTES + 2];
} BlobPath;

static BlobPath path_of(const uint8_t hash[SHA256_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    BlobPath path;
    sha256_hex(hash, hex);
    snprintf(path.text, sizeof path.text, "%.2s/%s", hex, hex + 2);
    return path;
}

Status blob_parse(const char *name, size_t bytes, uint8_t hash[SHA256_BYTES])
{
    return bytes_from_hex(name, bytes, hash, SHA256_BYTES) ? STATUS_OK : STATUS_MALFORMED;
}

// --- opening ------------------------------------------------------------------------------------

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static Status make_folder(int at, const char *name)
{
    if (mkdirat(at, name, 0700) == 0) {
        return fsync(at) == 0 ? STATUS_OK : STATUS_BLOCKED;
    }
    return errno == EEXIST ? STATUS_OK : STATUS_BLOCKED;
}

// Files of a process that is gone; another one may be writing right now.
static bool is_left_over(const char *name)
{
    const long pid = strtol(name, NULL, 10);
    return pid <= 0 || pid == (long)getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

static void clear_aside(int folder)
{
    const int aside = open_folder(folder, ASIDE);
    DIR *entries = aside >= 0 ? fdopendir(aside) : NULL;
    if (entries == NULL) {
        if (aside >= 0) {
            close(aside);
        }
        return;
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (entry->d_name[0] != '.' && is_left_over(entry->d_name)) {
            (void)unlinkat(aside, entry->d_name, 0); // a leftover does no harm
        }
    }
    closedir(entries);
}

static Status open_named(const char *data_folder, const char *name, BlobStore **out)
{
    const int data = open(data_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (data < 0) {
        return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_BLOCKED;
    }
    Status status = make_folder(data, name);
    const int folder = status == STATUS_OK ? open_folder(data, name) : -1;
    close(data);
    if (folder < 0) {
        return STATUS_BLOCKED;
    }
    status = make_folder(folder, ASIDE);
    BlobStore *blobs = status == STATUS_OK ? calloc(1, sizeof *blobs) : NULL;
    if (blobs == NULL) {
        close(folder);
        return status == STATUS_OK ? STATUS_LIMIT : status;
    }
    clear_aside(folder);
    blobs->folder = folder;
    atomic_init(&blobs->next, 0);
    pthread_mutex_init(&blobs->lock, NULL);
    pthread_mutex_init(&blobs->trim_lock, NULL);
    *out = blobs;
    return STATUS_OK;
}

Status blob_open(const char *data_folder, BlobStore **out)
{
    return open_named(data_folder, "blobs", out);
}

Status blob_open_remote(const char *data_folder, const BlobRemote *remote, uint64_t cache_bytes_max,
                        BlobStore **out)
{
    BlobStore *blobs = NULL;
    const Status status = open_named(data_folder, BLOB_CACHE_FOLDER, &blobs);
    if (status != STATUS_OK) {
        remote->close(remote->user);
        return status;
    }
    blobs->is_remote = true;
    blobs->remote = *remote;
    blobs->cache_max = cache_bytes_max;
    blobs->cache_bytes = blob_cache_trim(blobs->folder, cache_bytes_max);
    *out = blobs;
    return STATUS_OK;
}

// So many bytes more are in the cache. With a tenth of it free it need not be done each time.
static void cache_grew(BlobStore *blobs, uint64_t bytes)
{
    if (!blobs->is_remote ||
        atomic_fetch_add(&blobs->cache_bytes, bytes) + bytes <= blobs->cache_max) {
        return;
    }
    pthread_mutex_lock(&blobs->trim_lock);
    if (blobs->cache_bytes > blobs->cache_max) {
        blobs->cache_bytes =
            blob_cache_trim(blobs->folder, blobs->cache_max - blobs->cache_max / 10);
    }
    pthread_mutex_unlock(&blobs->trim_lock);
}

void blob_close(BlobStore *blobs)
{
    if (blobs != NULL) {
        if (blobs->is_remote) {
            blobs->remote.close(blobs->remote.user);
        }
        close(blobs->folder);
        pthread_mutex_destroy(&blobs->trim_lock);
        pthread_mutex_destroy(&blobs->lock);
        free(blobs->puts);
        free(blobs);
    }
}

// --- trouble ------------------------------------------------------------------------------------

void blob_watch(BlobStore *blobs, BlobTroubled troubled, void *user)
{
    blobs->troubled = troubled;
    blobs->troubled_user = user;
}

bool blob_is_away(const BlobStore *blobs)
{
    return atomic_load(&blobs->is_away);
}

static void tell_trouble(BlobStore *blobs, BlobTrouble trouble, const uint8_t *hash)
{
    const uint64_t now = clock_ns();
    uint64_t last = atomic_load(&blobs->told_ns[trouble]);
    const bool is_due = last == 0 || now - last >= TROUBLE_NS;
    if (blobs->troubled != NULL && is_due &&
        atomic_compare_exchange_strong(&blobs->told_ns[trouble], &last, now)) {
        blobs->troubled(blobs->troubled_user, trouble, hash);
    }
}

// After each question to the remote.
static Status note_answer(BlobStore *blobs, Status status)
{
    const bool is_away = status == STATUS_BLOCKED || status == STATUS_DENIED;
    const bool was_away = atomic_exchange(&blobs->is_away, is_away);
    if (is_away || was_away) {
        tell_trouble(blobs, is_away ? BLOB_AWAY : BLOB_BACK, NULL);
    }
    return status;
}

// --- writing ------------------------------------------------------------------------------------

struct BlobWriter {
    BlobStore *blobs;
    int file;
    char aside[48];
    size_t bytes, bytes_max;
    bool has_failed; // to write: what is in the file is not what was hashed
    Sha256 sha;
};

static Status sync_folder(int at, const char *name)
{
    const int folder = open_folder(at, name);
    if (folder < 0) {
        return STATUS_BLOCKED;
    }
    const int result = fsync(folder);
    close(folder);
    return result == 0 ? STATUS_OK : STATUS_BLOCKED;
}

Status blob_begin(BlobStore *blobs, size_t bytes_max, BlobWriter **out)
{
    BlobWriter *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return STATUS_LIMIT;
    }
    writer->blobs = blobs;
    writer->bytes_max = bytes_max < BLOB_BYTES_MAX ? bytes_max : BLOB_BYTES_MAX;
    snprintf(writer->aside, sizeof writer->aside, ASIDE "/%ld-%u", (long)getpid(),
             atomic_fetch_add(&blobs->next, 1));
    writer->file = openat(blobs->folder, writer->aside,
                          O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (writer->file < 0) {
        free(writer);
        return STATUS_BLOCKED;
    }
    sha256_init(&writer->sha);
    *out = writer;
    return STATUS_OK;
}

Status blob_append(BlobWriter *writer, const void *data, size_t bytes)
{
    if (writer->has_failed || bytes > writer->bytes_max - writer->bytes) {
        writer->has_failed = true;
        return STATUS_LIMIT;
    }
    if (!file_write_whole(writer->file, data, bytes)) {
        writer->has_failed = true;
        return STATUS_BLOCKED;
    }
    sha256_update(&writer->sha, data, bytes);
    writer->bytes += bytes;
    return STATUS_OK;
}

void blob_abort(BlobWriter *writer)
{
    if (writer != NULL) {
        close(writer->file);
        (void)unlinkat(writer->blobs->folder, writer->aside, 0);
        free(writer);
    }
}

static void forget_puts(BlobStore *blobs, uint64_t before_ns)
{
    size_t old = 0;
    while (old < blobs->put_count && blobs->puts[old].at_ns < before_ns) {
        old += 1;
    }
    if (old > 0) {
        blobs->put_count -= old;
        memmove(blobs->puts, blobs->puts + old, blobs->put_count * sizeof *blobs->puts);
    }
}

// With the lock held.
static void remember_put(BlobStore *blobs, const uint8_t hash[SHA256_BYTES])
{
    const uint64_t now = clock_ns(), kept = BLOB_KEPT_MS * NS_PER_MS;
    if (blobs->put_count == blobs->put_max) {
        forget_puts(blobs, now > kept ? now - kept : 0);
    }
    if (blobs->put_count == blobs->put_max && blobs->put_max < PUTS_MAX) {
        const size_t more = blobs->put_max > 0 ? 2 * blobs->put_max : 64;
        BlobPut *puts = realloc(blobs->puts, more * sizeof *puts);
        blobs->puts = puts != NULL ? puts : blobs->puts;
        blobs->put_max = puts != NULL ? more : blobs->put_max;
    }
    if (blobs->put_count == blobs->put_max) {
        blobs->unknown_until_ns = now + kept;
        return;
    }
    BlobPut *put = &blobs->puts[blobs->put_count++];
    memcpy(put->hash, hash, sizeof put->hash);
    put->at_ns = now;
}

// Gives it its name. Also if one of that name is there: that one may be damaged, or not on disk
// yet.
static Status name_it(BlobStore *blobs, const char *aside, const uint8_t digest[SHA256_BYTES],
                      bool is_put)
{
    const BlobPath path = path_of(digest);
    char shelf[3];
    snprintf(shelf, sizeof shelf, "%.2s", path.text);
    pthread_mutex_lock(&blobs->lock);
    Status status = make_folder(blobs->folder, shelf);
    if (status == STATUS_OK && renameat(blobs->folder, aside, blobs->folder, path.text) != 0) {
        status = STATUS_BLOCKED;
    }
    if (status == STATUS_OK && is_put) {
        remember_put(blobs, digest);
    }
    pthread_mutex_unlock(&blobs->lock);
    return status == STATUS_OK ? sync_folder(blobs->folder, shelf) : status;
}

Status blob_commit(BlobWriter *writer, uint8_t hash[SHA256_BYTES], uint64_t *bytes)
{
    uint8_t digest[SHA256_BYTES];
    Status status = !writer->has_failed && fsync(writer->file) == 0 ? STATUS_OK : STATUS_BLOCKED;
    sha256_final(&writer->sha, digest);
    BlobStore *blobs = writer->blobs;
    if (status == STATUS_OK && blobs->is_remote) {
        status = note_answer(
            blobs, blobs->remote.put(blobs->remote.user, digest, writer->file, writer->bytes));
    }
    if (status == STATUS_OK) {
        status = name_it(blobs, writer->aside, digest, true);
    }
    if (status == STATUS_OK) {
        memcpy(hash, digest, sizeof digest);
        *bytes = writer->bytes;
        cache_grew(blobs, writer->bytes);
    }
    blob_abort(writer); // there is no file aside any more if it got its name
    return status;
}

Status blob_put(BlobStore *blobs, const void *data, size_t bytes, uint8_t hash[SHA256_BYTES])
{
    BlobWriter *writer = NULL;
    uint64_t count;
    if (bytes > BLOB_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    Status status = blob_begin(blobs, bytes, &writer);
    if (status == STATUS_OK && (status = blob_append(writer, data, bytes)) != STATUS_OK) {
        blob_abort(writer);
    } else if (status == STATUS_OK) {
        status = blob_commit(writer, hash, &count);
    }
    return status;
}

// --- removing -----------------------------------------------------------------------------------

static bool was_just_put(const BlobStore *blobs, const uint8_t hash[SHA256_BYTES], uint32_t kept_ms)
{
    const uint64_t now = clock_ns();
    for (size_t i = blobs->put_count; i > 0; i--) {
        const BlobPut *put = &blobs->puts[i - 1];
        if (now - put->at_ns >= kept_ms * NS_PER_MS) {
            return false;
        }
        if (memcmp(put->hash, hash, sizeof put->hash) == 0) {
            return true;
        }
    }
    return false;
}

static Status remove_one(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], uint32_t kept_ms,
                         BlobCollected *out)
{
    struct stat info;
    const BlobPath path = path_of(hash);
    Status status = STATUS_OK;
    pthread_mutex_lock(&blobs->lock);
    const bool stays = clock_ns() < blobs->unknown_until_ns || was_just_put(blobs, hash, kept_ms) ||
                       fstatat(blobs->folder, path.text, &info, AT_SYMLINK_NOFOLLOW) != 0;
    if (!stays && unlinkat(blobs->folder, path.text, 0) == 0) {
        out->removed += 1;
        out->bytes += (uint64_t)info.st_size;
    } else if (!stays) {
        status = STATUS_BLOCKED;
    }
    pthread_mutex_unlock(&blobs->lock);
    return status;
}

// One of the folders "00" … "ff".
static Status collect_shelf(BlobStore *blobs, const char *shelf, BlobUsed is_used, void *user,
                            uint32_t kept_ms, BlobCollected *out)
{
    const int folder = open_folder(blobs->folder, shelf);
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    Status status = STATUS_OK;
    if (entries == NULL) {
        if (folder >= 0) {
            close(folder);
        }
        return STATUS_OK; // nothing has such a name yet
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL && status == STATUS_OK;
         entry = readdir(entries)) {
        char name[2 * SHA256_BYTES + 2];
        uint8_t hash[SHA256_BYTES];
        bool used = true;
        snprintf(name, sizeof name, "%.2s%.63s", shelf, entry->d_name);
        if (blob_parse(name, strlen(name), hash) != STATUS_OK) {
            continue;
        }
        out->seen += 1;
        status = is_used(user, hash, &used);
        if (status == STATUS_OK && !used) {
            status = remove_one(blobs, hash, kept_ms, out);
        }
    }
    closedir(entries);
    return status;
}

typedef struct RemoteCollect {
    BlobStore *blobs;
    BlobUsed is_used;
    void *user;
    uint32_t kept_ms;
    BlobCollected *out;
} RemoteCollect;

// Another host may have put it again since the list was made, so its age is asked once more, right
// before it goes.
static Status collect_remote(void *user, const uint8_t hash[SHA256_BYTES], uint64_t bytes,
                             uint64_t age_ms)
{
    const RemoteCollect *collect = user;
    BlobStore *blobs = collect->blobs;
    const BlobPath path = path_of(hash);
    bool used = true;
    collect->out->seen += 1;
    if (age_ms < collect->kept_ms) {
        return STATUS_OK;
    }
    Status status = collect->is_used(collect->user, hash, &used);
    if (status != STATUS_OK || used) {
        return status;
    }
    pthread_mutex_lock(&blobs->lock);
    const bool stays =
        clock_ns() < blobs->unknown_until_ns || was_just_put(blobs, hash, collect->kept_ms);
    pthread_mutex_unlock(&blobs->lock);
    status =
        stays ? STATUS_NOT_FOUND : blobs->remote.find(blobs->remote.user, hash, &bytes, &age_ms);
    if (status != STATUS_OK || age_ms < collect->kept_ms) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    status = blobs->remote.remove(blobs->remote.user, hash);
    if (status == STATUS_OK) {
        (void)unlinkat(blobs->folder, path.text, 0);
        collect->out->removed += 1;
        collect->out->bytes += bytes;
    }
    return status;
}

Status blob_collect(BlobStore *blobs, BlobUsed is_used, void *user, uint32_t kept_ms,
                    BlobCollected *out)
{
    Status status = STATUS_OK;
    *out = (BlobCollected){0};
    if (blobs->is_remote) {
        RemoteCollect collect = {blobs, is_used, user, kept_ms, out};
        return blobs->remote.list(blobs->remote.user, collect_remote, &collect);
    }
    for (uint32_t i = 0; i < 256 && status == STATUS_OK; i++) {
        char shelf[3];
        snprintf(shelf, sizeof shelf, "%02x", i);
        status = collect_shelf(blobs, shelf, is_used, user, kept_ms, out);
    }
    return status;
}

// --- reading ------------------------------------------------------------------------------------

bool blob_exists(BlobStore *blobs, const uint8_t hash[SHA256_BYTES])
{
    struct stat info;
    uint64_t bytes, age_ms;
    const BlobPath path = path_of(hash);
    if (blobs->is_remote) { // a copy here may be of one that is gone
        return note_answer(blobs, blobs->remote.find(blobs->remote.user, hash, &bytes, &age_ms)) ==
               STATUS_OK;
    }
    return fstatat(blobs->folder, path.text, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(info.st_mode);
}

static Status read_file(int file, size_t bytes_max, uint8_t **data, size_t *bytes)
{
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        return STATUS_NOT_FOUND;
    }
    if (info.st_size < 0 || (uint64_t)info.st_size > bytes_max) {
        return STATUS_LIMIT;
    }
    const size_t size = (size_t)info.st_size;
    uint8_t *buffer = malloc(size + 1);
    if (buffer == NULL) {
        return STATUS_LIMIT;
    }
    size_t at = 0;
    while (at < size) {
        const ssize_t count = read(file, buffer + at, size - at);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            free(buffer);
            return count == 0 ? STATUS_MISMATCH : STATUS_BLOCKED;
        }
        at += count > 0 ? (size_t)count : 0;
    }
    *data = buffer;
    *bytes = size;
    return STATUS_OK;
}

// Is the file, from its begin on, what the name says? It is read from the begin on afterwards too.
static Status compare_file(int file, const uint8_t hash[SHA256_BYTES], uint64_t *bytes)
{
    uint8_t block[16384], digest[SHA256_BYTES];
    Sha256 sha;
    off_t at = 0;
    sha256_init(&sha);
    for (ssize_t count; (count = pread(file, block, sizeof block, at)) != 0;) {
        if (count < 0 && errno != EINTR) {
            return STATUS_BLOCKED;
        }
        at += count > 0 ? count : 0;
        sha256_update(&sha, block, count > 0 ? (size_t)count : 0);
    }
    sha256_final(&sha, digest);
    *bytes = (uint64_t)at;
    return lseek(file, 0, SEEK_SET) == 0 && memcmp(digest, hash, sizeof digest) == 0
               ? STATUS_OK
               : STATUS_MISMATCH;
}

// Into the cache; the caller gets the file. What comes back is not believed.
static Status fetch_blob(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], int *out)
{
    char aside[48];
    uint64_t bytes = 0;
    snprintf(aside, sizeof aside, ASIDE "/%ld-%u", (long)getpid(),
             atomic_fetch_add(&blobs->next, 1));
    const int file =
        openat(blobs->folder, aside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        return STATUS_BLOCKED;
    }
    Status status = STATUS_MISMATCH;
    for (uint32_t i = 0; i < FETCH_TRIES && status == STATUS_MISMATCH; i++) {
        if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) {
            status = STATUS_BLOCKED;
            break;
        }
        status =
            note_answer(blobs, blobs->remote.fetch(blobs->remote.user, hash, BLOB_BYTES_MAX, file));
        status = status == STATUS_OK ? compare_file(file, hash, &bytes) : status;
        if (status == STATUS_MISMATCH) {
            tell_trouble(blobs, BLOB_WRONG, hash);
        }
    }
    status = status == STATUS_MISMATCH ? STATUS_BLOCKED : status; // it may be mended there
    status = status == STATUS_OK ? name_it(blobs, aside, hash, false) : status;
    if (status != STATUS_OK) {
        close(file);
        (void)unlinkat(blobs->folder, aside, 0);
        return status;
    }
    cache_grew(blobs, bytes);
    *out = file;
    return STATUS_OK;
}

// A copy that is damaged is fetched again; one that is good was used now.
static Status open_copy(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], int *file)
{
    uint64_t bytes;
    const BlobPath path = path_of(hash);
    const int copy =
        openat(blobs->folder, path.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (copy >= 0 && compare_file(copy, hash, &bytes) == STATUS_OK) {
        (void)futimens(copy, NULL);
        *file = copy;
        return STATUS_OK;
    }
    if (copy >= 0) {
        close(copy);
        (void)unlinkat(blobs->folder, path.text, 0);
    }
    return fetch_blob(blobs, hash, file);
}

// Not waiting: something that is no file must not hold us.
static Status open_blob(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], int *file)
{
    const BlobPath path = path_of(hash);
    if (blobs->is_remote) {
        return open_copy(blobs, hash, file);
    }
    *file = openat(blobs->folder, path.text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (*file >= 0) {
        return STATUS_OK;
    }
    return errno == ENOENT || errno == ELOOP ? STATUS_NOT_FOUND : STATUS_BLOCKED;
}

Status blob_file(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], int *file, uint64_t *bytes)
{
    struct stat info;
    int opened = -1;
    const Status status = open_blob(blobs, hash, &opened);
    if (status != STATUS_OK) {
        return status;
    }
    if (fstat(opened, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0) {
        close(opened);
        return STATUS_NOT_FOUND;
    }
    *file = opened;
    *bytes = (uint64_t)info.st_size;
    return STATUS_OK;
}

Status blob_read(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], size_t bytes_max,
                 uint8_t **data, size_t *bytes)
{
    int file = -1;
    Status status = open_blob(blobs, hash, &file);
    if (status != STATUS_OK) {
        return status;
    }
    uint8_t *buffer = NULL;
    size_t size = 0;
    status = read_file(file, bytes_max, &buffer, &size);
    close(file);
    if (status != STATUS_OK) {
        return status;
    }
    uint8_t digest[SHA256_BYTES];
    sha256_of(buffer, size, digest);
    if (memcmp(digest, hash, sizeof digest) != 0) {
        free(buffer);
        return STATUS_MISMATCH;
    }
    *data = buffer;
    *bytes = size;
    return STATUS_OK;
}
