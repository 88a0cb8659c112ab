// See soul_kept.h.
#define _GNU_SOURCE
#include "server/build/soul_kept.h"

#include "core/base/check.h"
#include "server/build/place_file.h"
#include "server/build/place_home.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SEPARATOR      " \xc2\xb7 " // U+00B7 between spaces
#define FILE_BYTES_MAX (1u << 20)
#define PATH_BYTES     4096

// --- the line -----------------------------------------------------------------------------------

typedef struct Cursor {
    const char *at, *end;
    bool is_good;
} Cursor;

static void expect(Cursor *cursor, const char *text)
{
    const size_t bytes = strlen(text);
    if (cursor->is_good && (size_t)(cursor->end - cursor->at) >= bytes &&
        memcmp(cursor->at, text, bytes) == 0) {
        cursor->at += bytes;
    } else {
        cursor->is_good = false;
    }
}

// What may stand for a name: nothing that could end the field, the line, or confuse a terminal.
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("._-:/@+", c) != NULL);
}

static void read_word(Cursor *cursor, char *out, size_t capacity)
{
    size_t bytes = 0;
    while (cursor->is_good && cursor->at < cursor->end && is_word(*cursor->at) &&
           bytes + 1 < capacity) {
        out[bytes++] = *cursor->at++;
    }
    out[bytes] = '\0';
    cursor->is_good = cursor->is_good && bytes > 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_hash(Cursor *cursor, uint8_t hash[SHA256_BYTES])
{
    if (!cursor->is_good || cursor->end - cursor->at < 2 * SHA256_BYTES) {
        cursor->is_good = false;
        return;
    }
    for (uint32_t i = 0; i < SHA256_BYTES; i++) {
        const int high = digit_of(cursor->at[2 * i]), low = digit_of(cursor->at[2 * i + 1]);
        cursor->is_good = cursor->is_good && high >= 0 && low >= 0;
        hash[i] = cursor->is_good ? (uint8_t)(high * 16 + low) : 0;
    }
    cursor->at += 2 * SHA256_BYTES;
}

static void read_hash_or_none(Cursor *cursor, bool *has, uint8_t hash[SHA256_BYTES])
{
    *has = !(cursor->end - cursor->at >= 4 && memcmp(cursor->at, "none", 4) == 0);
    if (*has) {
        read_hash(cursor, hash);
    } else {
        expect(cursor, "none");
    }
}

bool soul_header_read(const char *text, size_t count, SoulHeader *out, size_t *bytes)
{
    const size_t look = count < SOUL_HEADER_BYTES_MAX ? count : SOUL_HEADER_BYTES_MAX;
    const char *stop = look > 0 ? memchr(text, '\n', look) : NULL;
    if (stop == NULL && look == SOUL_HEADER_BYTES_MAX) {
        return false;
    }
    const char *end = stop != NULL ? stop : text + look;
    const size_t taken = (size_t)(end - text) + (stop != NULL);
    end -= end > text && end[-1] == '\r';
    SoulHeader header = {0};
    Cursor cursor = {text, end, true};
    expect(&cursor, "-- made from ");
    read_word(&cursor, header.name, sizeof header.name);
    expect(&cursor, SEPARATOR "sha256:");
    read_hash(&cursor, header.prompt);
    expect(&cursor, SEPARATOR "source:");
    read_hash(&cursor, header.source);
    expect(&cursor, SEPARATOR "body:");
    read_hash_or_none(&cursor, &header.has_body, header.body);
    expect(&cursor, SEPARATOR "reviewed:");
    read_hash_or_none(&cursor, &header.has_review, header.review);
    expect(&cursor, SEPARATOR "model:");
    read_word(&cursor, header.model, sizeof header.model);
    if (!cursor.is_good || cursor.at != end) {
        return false;
    }
    *out = header;
    *bytes = taken;
    return true;
}

static const char *word_or_mark(const char *text, size_t capacity)
{
    size_t bytes = 0;
    while (is_word(text[bytes])) {
        bytes += 1;
    }
    return bytes > 0 && bytes < capacity && text[bytes] == '\0' ? text : "-";
}

static void write_hash(Buffer *out, const char *field, bool has, const uint8_t hash[SHA256_BYTES])
{
    char hex[2 * SHA256_BYTES + 1] = "none";
    if (has) {
        sha256_hex(hash, hex);
    }
    buffer_print(out, SEPARATOR "%s:%s", field, hex);
}

void soul_header_write(const SoulHeader *header, Buffer *out)
{
    const size_t before = out->bytes;
    buffer_print(out, "-- made from %s", word_or_mark(header->name, sizeof header->name));
    write_hash(out, "sha256", true, header->prompt);
    write_hash(out, "source", true, header->source);
    write_hash(out, "body", header->has_body, header->body);
    write_hash(out, "reviewed", header->has_review, header->review);
    buffer_print(out, SEPARATOR "model:%s\n", word_or_mark(header->model, sizeof header->model));
    ASSERT(out->bytes - before <= SOUL_HEADER_BYTES_MAX);
}

void soul_body_hash(const char *body, size_t bytes, uint8_t hash[SHA256_BYTES])
{
    Sha256 sha;
    sha256_init(&sha);
    size_t from = 0;
    for (size_t i = 0; i + 1 < bytes; i++) {
        if (body[i] == '\r' && body[i + 1] == '\n') {
            sha256_update(&sha, body + from, i - from);
            from = i + 1;
        }
    }
    sha256_update(&sha, body + from, bytes - from);
    sha256_final(&sha, hash);
}

// --- states -------------------------------------------------------------------------------------

const char *soul_state_name(SoulState state)
{
    static const char *const names[SOUL_STATE_COUNT] = {"missing", "foreign", "fits", "older",
                                                        "stale"};
    return state < SOUL_STATE_COUNT ? names[state] : "?";
}

SoulKept soul_kept_look(const uint8_t *file, size_t bytes, const uint8_t prompt[SHA256_BYTES],
                        const uint8_t source[SHA256_BYTES])
{
    SoulKept kept = {.state = SOUL_MISSING, .body = "", .header = {.name = "-", .model = "none"}};
    size_t header_bytes = 0;
    if (file == NULL) {
        return kept;
    }
    const bool has_header =
        soul_header_read((const char *)file, bytes, &kept.header, &header_bytes);
    kept.body = (const char *)file + header_bytes;
    kept.body_bytes = bytes - header_bytes;
    soul_body_hash(kept.body, kept.body_bytes, kept.body_hash);
    const SoulHeader *header = &kept.header;
    kept.is_edited = !header->has_body || memcmp(header->body, kept.body_hash, SHA256_BYTES) != 0;
    kept.is_reviewed =
        header->has_review && memcmp(header->review, kept.body_hash, SHA256_BYTES) == 0;
    kept.state = !has_header                                         ? SOUL_FOREIGN
                 : memcmp(header->prompt, prompt, SHA256_BYTES) == 0 ? SOUL_FITS
                 : memcmp(header->source, source, SHA256_BYTES) == 0 ? SOUL_OLDER
                                                                     : SOUL_STALE;
    return kept;
}

// --- on disk ------------------------------------------------------------------------------------

static Status refuse(char *reason, Status status, const char *path, const char *why)
{
    (void)snprintf(reason, WORKER_REASON_BYTES, "%s: %s", path, why);
    return status;
}

static const char *problem_of(Status status)
{
    switch (status) {
    case STATUS_DENIED:
        return "it, or a folder on the way, is a link or no plain file; links are not followed";
    case STATUS_NOT_FOUND:
        return "its folder is gone";
    case STATUS_MALFORMED:
        return "its name cannot be written";
    case STATUS_EXISTS:
        return "somebody made it meanwhile, and it stays as it is; build again";
    default:
        return "the system does not let it be written; check space and permissions";
    }
}

// Is what is there now what it was when we read it?
static Status check_before(const SoulFile *file, char *reason)
{
    uint8_t *now = NULL;
    size_t bytes = 0;
    const Status status = place_file_read(file->place, file->path, FILE_BYTES_MAX, &now, &bytes);
    const bool is_same = status == STATUS_NOT_FOUND ? file->before == NULL
                                                    : status == STATUS_OK && file->before != NULL &&
                                                          bytes == file->before_bytes &&
                                                          memcmp(now, file->before, bytes) == 0;
    free(now);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_LIMIT) {
        return refuse(reason, STATUS_BLOCKED, file->path, problem_of(status));
    }
    return is_same ? STATUS_OK
                   : refuse(reason, STATUS_MISMATCH, file->path,
                            "was changed by somebody meanwhile, and it stays as it is; build "
                            "again");
}

Status soul_file_write(const SoulFile *file, const void *data, size_t bytes,
                       char reason[WORKER_REASON_BYTES])
{
    Status status = check_before(file, reason);
    if (status != STATUS_OK) {
        return status;
    }
    status = place_file_write(file->place, file->path, data, bytes, file->before == NULL);
    return status == STATUS_OK ? STATUS_OK
                               : refuse(reason, STATUS_BLOCKED, file->path, problem_of(status));
}

// --- what was accepted --------------------------------------------------------------------------

// In the data folder, which is known to be from here: what somebody brought along, together with a
// header that names its hash, would be shown as if it had been read, and a review would miss all of
// it.
#define REVIEWED "reviewed"

static void name_of(const uint8_t hash[SHA256_BYTES], char name[PLACE_FILE_PATH_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(hash, hex);
    (void)snprintf(name, PLACE_FILE_PATH_BYTES, REVIEWED "/%s.lua", hex);
}

Status soul_reviewed_write(const char *place, const SoulKept *kept)
{
    char data[PLACE_HOME_PATH_BYTES], folder[PLACE_HOME_PATH_BYTES + sizeof REVIEWED];
    char name[PLACE_FILE_PATH_BYTES];
    const char *why = "";
    Status status = place_home_data(place, data, &why);
    if (status != STATUS_OK) {
        return status;
    }
    (void)snprintf(folder, sizeof folder, "%s/" REVIEWED, data);
    (void)mkdir(folder, 0700); // it may be there; others never write there, whatever the umask is
    name_of(kept->body_hash, name);
    status = place_file_write(data, name, kept->body, kept->body_bytes, true);
    return status == STATUS_EXISTS ? STATUS_OK : status;
}

Status soul_reviewed_read(const char *place, const SoulHeader *header, uint8_t **out, size_t *bytes)
{
    char folder[PATH_BYTES], name[PLACE_FILE_PATH_BYTES];
    const char *why = "";
    const int length = snprintf(folder, sizeof folder, "%s/.sandlot/data", place);
    if (!header->has_review || length < 0 || length >= PATH_BYTES ||
        place_home_check(place, &why) != STATUS_OK) {
        return STATUS_NOT_FOUND;
    }
    name_of(header->review, name);
    uint8_t *text = NULL;
    size_t count = 0;
    const Status status = place_file_read(folder, name, FILE_BYTES_MAX, &text, &count);
    if (status != STATUS_OK) {
        return status;
    }
    uint8_t hash[SHA256_BYTES];
    soul_body_hash((const char *)text, count, hash);
    if (memcmp(hash, header->review, SHA256_BYTES) != 0) {
        free(text);
        return STATUS_MISMATCH;
    }
    *out = text;
    *bytes = count;
    return STATUS_OK;
}
