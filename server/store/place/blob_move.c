// See blob_move.h.
#define _GNU_SOURCE
#include "server/store/place/blob_move.h"

#include "server/store/place/blob.h"
#include "server/store/place/blob_postgres.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE_BYTES (64u << 10)

typedef struct Moving {
    BlobStore *folder;
    BlobRemote remote;
    bool (*is_cancelled)(void);
    BlobMoved *moved;
} Moving;

// Asked about each blob of the folder; none of them is removed.
static Status send_blob(void *user, const uint8_t hash[SHA256_BYTES], bool *is_used)
{
    Moving *moving = user;
    uint64_t bytes = 0, age_ms = 0;
    int file = -1;
    *is_used = true;
    if (moving->is_cancelled != NULL && moving->is_cancelled()) {
        return STATUS_LIMIT;
    }
    moving->moved->seen += 1;
    Status status = moving->remote.find(moving->remote.user, hash, &bytes, &age_ms);
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    status = blob_file(moving->folder, hash, &file, &bytes);
    if (status == STATUS_OK) {
        status = moving->remote.put(moving->remote.user, hash, file, bytes);
        moving->moved->copied += status == STATUS_OK;
        close(file);
    }
    return status;
}

static Status keep_file(BlobStore *folder, int file, const uint8_t hash[SHA256_BYTES])
{
    uint8_t piece[PIECE_BYTES], found[SHA256_BYTES];
    BlobWriter *writer = NULL;
    uint64_t bytes = 0;
    Status status = blob_begin(folder, BLOB_BYTES_MAX, &writer);
    if (status != STATUS_OK) {
        return status;
    }
    for (off_t at = 0; status == STATUS_OK;) {
        const ssize_t got = pread(file, piece, sizeof piece, at);
        if (got <= 0) {
            status = got == 0 ? STATUS_OK : STATUS_BLOCKED;
            break;
        }
        at += got;
        status = blob_append(writer, piece, (size_t)got);
    }
    if (status != STATUS_OK) {
        blob_abort(writer);
        return status;
    }
    status = blob_commit(writer, found, &bytes);
    return status == STATUS_OK && memcmp(found, hash, SHA256_BYTES) != 0 ? STATUS_MISMATCH : status;
}

static Status receive_blob(void *user, const uint8_t hash[SHA256_BYTES], uint64_t bytes,
                           uint64_t age_ms)
{
    Moving *moving = user;
    (void)bytes;
    (void)age_ms;
    if (moving->is_cancelled != NULL && moving->is_cancelled()) {
        return STATUS_LIMIT;
    }
    moving->moved->seen += 1;
    if (blob_exists(moving->folder, hash)) {
        return STATUS_OK;
    }
    const int file = memfd_create("blob", MFD_CLOEXEC);
    if (file < 0) {
        return STATUS_LIMIT;
    }
    Status status = moving->remote.fetch(moving->remote.user, hash, BLOB_BYTES_MAX, file);
    status = status == STATUS_OK ? keep_file(moving->folder, file, hash) : status;
    moving->moved->copied += status == STATUS_OK;
    close(file);
    return status;
}

Status blob_move(const char *data_folder, const char *url, bool is_back, bool (*is_cancelled)(void),
                 BlobMoved *out, char *reason, size_t bytes)
{
    Moving moving = {.is_cancelled = is_cancelled, .moved = out};
    BlobCollected unused;
    *out = (BlobMoved){0};
    Status status = blob_postgres_open(url, &moving.remote, reason, bytes);
    if (status != STATUS_OK) {
        return status;
    }
    status = blob_open(data_folder, &moving.folder);
    if (status == STATUS_OK) {
        status = is_back ? moving.remote.list(moving.remote.user, receive_blob, &moving)
                         : blob_collect(moving.folder, send_blob, &moving, 0, &unused);
        blob_close(moving.folder);
    }
    moving.remote.close(moving.remote.user);
    return status;
}
