// See soul_kept.h.
#define _GNU_SOURCE
#include "server/build/soul/soul_kept.h"

#include "server/build/place/place_file.h"
#include "server/build/place/place_home.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (1u << 20)
#define PATH_BYTES     4096

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

SoulKept soul_kept_check(const PlaceFile *file, const SoulHeader *header, size_t header_bytes,
                         const uint8_t prompt[SHA256_BYTES], const uint8_t source[SHA256_BYTES])
{
    SoulKept kept = {.state = SOUL_MISSING, .body = "", .header = {.name = "-", .model = "none"}};
    if (file == NULL) {
        return kept;
    }
    const bool has_header = header_bytes > 0;
    if (has_header) {
        kept.header = *header;
    }
    header = &kept.header;
    kept.body = (const char *)file->data + header_bytes;
    kept.body_bytes = file->bytes - header_bytes;
    soul_body_hash(kept.body, kept.body_bytes, kept.body_hash);
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

static Status fail_to_write(char *reason, Status status, const char *path, const char *why)
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

// Whether the file is still what it was when we read it.
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
        return fail_to_write(reason, STATUS_BLOCKED, file->path, problem_of(status));
    }
    return is_same
               ? STATUS_OK
               : fail_to_write(reason, STATUS_MISMATCH, file->path,
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
    return status == STATUS_OK
               ? STATUS_OK
               : fail_to_write(reason, STATUS_BLOCKED, file->path, problem_of(status));
}

// --- what was accepted --------------------------------------------------------------------------

// In the data folder, which place_home.h has checked: otherwise a file that came with the place,
// and a header with its hash, would be shown as already reviewed, and a reviewer would miss its
// content.
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
    (void)mkdir(folder,
                0700); // may exist already; others can never write there, whatever the umask is
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
