// See soul_header.h.
#include "server/build/soul/soul_header.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"

#include <string.h>

#define SEPARATOR " \xc2\xb7 " // U+00B7 between spaces

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

// The characters of a name: none that could end the field or the line, or confuse a terminal.
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

static void take_hash(Cursor *cursor, uint8_t hash[SHA256_BYTES])
{
    if (!cursor->is_good || cursor->end - cursor->at < 2 * SHA256_BYTES) {
        cursor->is_good = false;
        return;
    }
    cursor->is_good = bytes_from_hex(cursor->at, (size_t)2 * SHA256_BYTES, hash, SHA256_BYTES);
    cursor->at += 2 * SHA256_BYTES;
}

static void read_hash_or_none(Cursor *cursor, bool *has, uint8_t hash[SHA256_BYTES])
{
    *has = !(cursor->end - cursor->at >= 4 && memcmp(cursor->at, "none", 4) == 0);
    if (*has) {
        take_hash(cursor, hash);
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
    take_hash(&cursor, header.prompt);
    expect(&cursor, SEPARATOR "source:");
    take_hash(&cursor, header.source);
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
