// See blob.h. Everything is relative to the descriptor of the folder, opened once.
#define _GNU_SOURCE
#include "server/store/blob.h"

#include "core/base/check.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE "aside" // where a blob is written before it gets its name

struct BlobStore {
    int folder;
    atomic_uint next; // number of the next file in ASIDE
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

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Status blob_parse(const char *name, size_t bytes, uint8_t hash[SHA256_BYTES])
{
    uint8_t result[SHA256_BYTES];
    if (bytes != 2 * (size_t)SHA256_BYTES) {
        return STATUS_MALFORMED;
    }
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        const int high = hex_digit(name[2 * i]);
        const int low = hex_digit(name[2 * i + 1]);
        if (high < 0 || low < 0) {
            return STATUS_MALFORMED;
        }
        result[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(hash, result, sizeof result);
    return STATUS_OK;
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

Status blob_open(const char *data_folder, BlobStore **out)
{
    const int data = open(data_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (data < 0) {
        return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_BLOCKED;
    }
    Status status = make_folder(data, "blobs");
    const int folder = status == STATUS_OK ? open_folder(data, "blobs") : -1;
    close(data);
    if (folder < 0) {
        return STATUS_BLOCKED;
    }
    status = make_folder(folder, ASIDE);
    BlobStore *blobs = status == STATUS_OK ? malloc(sizeof *blobs) : NULL;
    if (blobs == NULL) {
        close(folder);
        return status == STATUS_OK ? STATUS_LIMIT : status;
    }
    clear_aside(folder);
    blobs->folder = folder;
    atomic_init(&blobs->next, 0);
    *out = blobs;
    return STATUS_OK;
}

void blob_close(BlobStore *blobs)
{
    if (blobs != NULL) {
        close(blobs->folder);
        free(blobs);
    }
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
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
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

// Gives it its name. Also if one of that name is there: that one may be damaged, or not on disk
// yet.
static Status name_it(BlobStore *blobs, const char *aside, const uint8_t digest[SHA256_BYTES])
{
    const BlobPath path = path_of(digest);
    char shelf[3];
    snprintf(shelf, sizeof shelf, "%.2s", path.text);
    Status status = make_folder(blobs->folder, shelf);
    if (status == STATUS_OK && renameat(blobs->folder, aside, blobs->folder, path.text) != 0) {
        status = STATUS_BLOCKED;
    }
    return status == STATUS_OK ? sync_folder(blobs->folder, shelf) : status;
}

Status blob_commit(BlobWriter *writer, uint8_t hash[SHA256_BYTES], uint64_t *bytes)
{
    uint8_t digest[SHA256_BYTES];
    Status status = !writer->has_failed && fsync(writer->file) == 0 ? STATUS_OK : STATUS_BLOCKED;
    sha256_final(&writer->sha, digest);
    if (status == STATUS_OK) {
        status = name_it(writer->blobs, writer->aside, digest);
    }
    if (status == STATUS_OK) {
        memcpy(hash, digest, sizeof digest);
        *bytes = writer->bytes;
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

// --- reading ------------------------------------------------------------------------------------

bool blob_exists(BlobStore *blobs, const uint8_t hash[SHA256_BYTES])
{
    struct stat info;
    const BlobPath path = path_of(hash);
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

// Not waiting: something that is no file must not hold us.
static Status open_blob(BlobStore *blobs, const uint8_t hash[SHA256_BYTES], int *file)
{
    const BlobPath path = path_of(hash);
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
