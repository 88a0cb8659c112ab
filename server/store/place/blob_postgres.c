// See blob_postgres.h. The row in blob_files is written after all pieces: without it there is no
// blob. A connection of its own, one call at a time.
#define _GNU_SOURCE
#include "server/store/place/blob_postgres.h"

#include "core/base/check.h"
#include "server/store/sql/sql_driver.h"
#include "server/sys/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES (512u << 10)
#define REST_MS     20 // after a piece, at least; and twice as long as the piece took
#define LIST_ROWS   256
#define NOW         "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
#define FILE_COLUMNS \
    "SELECT hash, bytes, chunks, greatest(0, " NOW " - put_unix_ms) FROM blob_files "

typedef enum BlobText {
    PUT_CHUNK,
    PUT_FILE,
    FIND_FILE,
    GET_CHUNK,
    END_FILE,
    END_CHUNKS,
    LIST
} BlobText;
#define TEXT_COUNT (LIST + 1)

static const struct {
    const char *types, *text;
} texts[TEXT_COUNT] = {
    [PUT_CHUNK] = {"bib", "INSERT INTO blob_chunks(hash, number, data) VALUES($1, $2, $3) "
                          "ON CONFLICT DO NOTHING"},
    [PUT_FILE] = {"bii", "INSERT INTO blob_files(hash, bytes, chunks, put_unix_ms) "
                         "VALUES($1, $2, $3, " NOW ") ON CONFLICT(hash) DO UPDATE "
                         "SET put_unix_ms = excluded.put_unix_ms"},
    [FIND_FILE] = {"b", FILE_COLUMNS "WHERE hash = $1"},
    [GET_CHUNK] = {"bi", "SELECT data FROM blob_chunks WHERE hash = $1 AND number = $2"},
    [END_FILE] = {"b", "DELETE FROM blob_files WHERE hash = $1"},
    [END_CHUNKS] = {"b", "DELETE FROM blob_chunks WHERE hash = $1"},
    [LIST] = {"bi", FILE_COLUMNS "WHERE hash > $1 ORDER BY hash LIMIT $2"},
};

typedef struct Blobs {
    Sql sql;
    pthread_mutex_t lock;
    void *statements[TEXT_COUNT];
    uint8_t piece[CHUNK_BYTES];
} Blobs;

typedef struct FileRow {
    uint8_t hash[SHA256_BYTES];
    uint64_t bytes, chunks, age_ms;
} FileRow;

static void rest(double took_ms)
{
    const double ms = 2 * took_ms > REST_MS ? 2 * took_ms : REST_MS;
    const struct timespec pause = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000l};
    (void)nanosleep(&pause, NULL);
}

// The statement with its hash, ready to be bound further.
static void *open_text(Blobs *blobs, BlobText which, const uint8_t *hash, size_t hash_bytes)
{
    Sql *sql = &blobs->sql;
    sql_clear(sql);
    if (blobs->statements[which] == NULL) {
        sql_fail(sql, sql->driver->prepare(sql, texts[which].text, texts[which].types, SQL_COUNT,
                                           &blobs->statements[which]));
    }
    void *statement = blobs->statements[which];
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->bind_bytes(statement, 1, hash, hash_bytes));
    }
    return statement;
}

// Runs it; true: there is a row, until sql->driver->reset.
static bool run(Blobs *blobs, void *statement)
{
    bool is_row = false;
    Sql *sql = &blobs->sql;
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->step(sql, statement, &is_row));
    }
    return is_row && sql->error == SQL_NO_ERROR;
}

static Status status_of(const Blobs *blobs)
{
    return blobs->sql.error == SQL_NO_ERROR ? STATUS_OK : STATUS_BLOCKED;
}

static bool read_row(const Blobs *blobs, void *statement, FileRow *out)
{
    const SqlDriver *driver = blobs->sql.driver;
    size_t bytes = 0;
    const void *hash = driver->column_bytes(statement, 0, &bytes);
    if (bytes != SHA256_BYTES) {
        return false;
    }
    memcpy(out->hash, hash, bytes);
    out->bytes = (uint64_t)driver->column_integer(statement, 1);
    out->chunks = (uint64_t)driver->column_integer(statement, 2);
    out->age_ms = (uint64_t)driver->column_integer(statement, 3);
    return true;
}

static Status find_file(Blobs *blobs, const uint8_t hash[SHA256_BYTES], FileRow *out)
{
    void *statement = open_text(blobs, FIND_FILE, hash, SHA256_BYTES);
    const bool is_there = run(blobs, statement) && read_row(blobs, statement, out);
    blobs->sql.driver->reset(statement);
    const Status status = status_of(blobs);
    return status != STATUS_OK ? status : is_there ? STATUS_OK : STATUS_NOT_FOUND;
}

// A connection that was lost is made again by the next statement; each of these can be repeated.
static Status run_twice(Blobs *blobs, BlobText which, const uint8_t *hash, const int64_t *numbers,
                        uint32_t number_count, size_t piece_bytes)
{
    Status status = STATUS_BLOCKED;
    for (int tries = 0; tries < 2 && status != STATUS_OK; tries++) {
        void *statement = open_text(blobs, which, hash, SHA256_BYTES);
        for (uint32_t i = 0; i < number_count; i++) {
            sql_fail(&blobs->sql,
                     blobs->sql.driver->bind_integer(statement, (int)i + 2, numbers[i]));
        }
        if (which == PUT_CHUNK) {
            sql_fail(&blobs->sql,
                     blobs->sql.driver->bind_bytes(statement, 3, blobs->piece, piece_bytes));
        }
        (void)run(blobs, statement);
        blobs->sql.driver->reset(statement);
        status = status_of(blobs);
    }
    return status;
}

static bool read_piece(int file, uint64_t at, uint8_t *out, size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        const ssize_t part = pread(file, out + got, bytes - got, (off_t)(at + got));
        if (part <= 0) {
            return false;
        }
        got += (size_t)part;
    }
    return true;
}

static Status put_file(Blobs *blobs, const uint8_t hash[SHA256_BYTES], int file, uint64_t bytes)
{
    FileRow there;
    Status status = find_file(blobs, hash, &there);
    const bool is_there = status == STATUS_OK;
    status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    const uint64_t chunks = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    for (uint64_t i = 0; i < chunks && status == STATUS_OK && !is_there; i++) {
        const uint64_t at = i * CHUNK_BYTES;
        const size_t piece = bytes - at < CHUNK_BYTES ? (size_t)(bytes - at) : CHUNK_BYTES;
        const double began = clock_ms();
        const int64_t number = (int64_t)i;
        status = read_piece(file, at, blobs->piece, piece)
                     ? run_twice(blobs, PUT_CHUNK, hash, &number, 1, piece)
                     : STATUS_BLOCKED;
        if (i + 1 < chunks) {
            // Whoever puts a small one need not wait for a large one.
            pthread_mutex_unlock(&blobs->lock);
            rest(clock_ms() - began);
            pthread_mutex_lock(&blobs->lock);
        }
    }
    const int64_t numbers[] = {(int64_t)bytes, (int64_t)chunks};
    return status == STATUS_OK ? run_twice(blobs, PUT_FILE, hash, numbers, 2, 0) : status;
}

static Status pg_put(void *user, const uint8_t hash[SHA256_BYTES], int file, uint64_t bytes)
{
    Blobs *blobs = user;
    pthread_mutex_lock(&blobs->lock);
    const Status status = put_file(blobs, hash, file, bytes);
    pthread_mutex_unlock(&blobs->lock);
    return status;
}

static Status write_piece(int file, uint64_t at, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t part = pwrite(file, data, bytes, (off_t)at);
        if (part <= 0) {
            return STATUS_BLOCKED;
        }
        data += part;
        at += (uint64_t)part;
        bytes -= (size_t)part;
    }
    return STATUS_OK;
}

static Status fetch(Blobs *blobs, const uint8_t hash[SHA256_BYTES], uint64_t bytes_max, int file)
{
    FileRow there;
    uint64_t at = 0;
    Status status = find_file(blobs, hash, &there);
    if (status == STATUS_OK && there.bytes > bytes_max) {
        return STATUS_LIMIT;
    }
    for (uint64_t i = 0; status == STATUS_OK && i < there.chunks; i++) {
        void *statement = open_text(blobs, GET_CHUNK, hash, SHA256_BYTES);
        sql_fail(&blobs->sql, blobs->sql.driver->bind_integer(statement, 2, (int64_t)i));
        if (run(blobs, statement)) {
            size_t bytes = 0;
            const uint8_t *data = blobs->sql.driver->column_bytes(statement, 0, &bytes);
            status = at + bytes <= bytes_max ? write_piece(file, at, data, bytes) : STATUS_LIMIT;
            at += bytes;
        } else {
            status = status_of(blobs) != STATUS_OK ? status_of(blobs) : STATUS_NOT_FOUND;
        }
        blobs->sql.driver->reset(statement);
    }
    return status;
}

static Status pg_fetch(void *user, const uint8_t hash[SHA256_BYTES], uint64_t bytes_max, int file)
{
    Blobs *blobs = user;
    pthread_mutex_lock(&blobs->lock);
    const Status status = fetch(blobs, hash, bytes_max, file);
    pthread_mutex_unlock(&blobs->lock);
    return status;
}

static Status pg_find(void *user, const uint8_t hash[SHA256_BYTES], uint64_t *bytes,
                      uint64_t *age_ms)
{
    Blobs *blobs = user;
    FileRow there;
    pthread_mutex_lock(&blobs->lock);
    const Status status = find_file(blobs, hash, &there);
    pthread_mutex_unlock(&blobs->lock);
    if (status == STATUS_OK) {
        *bytes = there.bytes;
        *age_ms = there.age_ms;
    }
    return status;
}

static Status pg_remove(void *user, const uint8_t hash[SHA256_BYTES])
{
    Blobs *blobs = user;
    pthread_mutex_lock(&blobs->lock);
    Status status = run_twice(blobs, END_FILE, hash, NULL, 0, 0);
    status = status == STATUS_OK ? run_twice(blobs, END_CHUNKS, hash, NULL, 0, 0) : status;
    pthread_mutex_unlock(&blobs->lock);
    return status;
}

static Status read_list(Blobs *blobs, const FileRow *after, FileRow *rows, uint32_t *count)
{
    *count = 0;
    void *statement =
        open_text(blobs, LIST, after->hash, after->bytes == UINT64_MAX ? 0 : SHA256_BYTES);
    sql_fail(&blobs->sql, blobs->sql.driver->bind_integer(statement, 2, LIST_ROWS));
    while (run(blobs, statement) && *count < LIST_ROWS) {
        if (read_row(blobs, statement, &rows[*count])) {
            *count += 1;
        }
    }
    blobs->sql.driver->reset(statement);
    return status_of(blobs);
}

static Status pg_list(void *user, BlobListed sink, void *sink_user)
{
    Blobs *blobs = user;
    FileRow after = {.bytes = UINT64_MAX}; // before all
    FileRow *rows = calloc(LIST_ROWS, sizeof *rows);
    Status status = rows != NULL ? STATUS_OK : STATUS_LIMIT;
    uint32_t count = LIST_ROWS;
    while (status == STATUS_OK && count == LIST_ROWS) {
        pthread_mutex_lock(&blobs->lock);
        status = read_list(blobs, &after, rows, &count);
        pthread_mutex_unlock(&blobs->lock);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            status = sink(sink_user, rows[i].hash, rows[i].bytes, rows[i].age_ms);
        }
        if (count > 0) {
            after = rows[count - 1];
        }
    }
    free(rows);
    return status;
}

static void pg_close(void *user)
{
    Blobs *blobs = user;
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        blobs->sql.driver->finalize(blobs->statements[i]);
    }
    sql_disconnect(&blobs->sql);
    pthread_mutex_destroy(&blobs->lock);
    free(blobs);
}

Status blob_postgres_open(const char *url, BlobRemote *out, char *reason, size_t reason_bytes)
{
    Blobs *blobs = calloc(1, sizeof *blobs);
    if (blobs == NULL) {
        return STATUS_LIMIT;
    }
    const Status status = sql_connect(&blobs->sql, url, reason, reason_bytes);
    if (status != STATUS_OK) {
        free(blobs);
        return status;
    }
    pthread_mutex_init(&blobs->lock, NULL);
    *out = (BlobRemote){blobs, pg_put, pg_fetch, pg_find, pg_remove, pg_list, pg_close};
    return STATUS_OK;
}
