// See backup_tar.h. A header is one block:
//
//   0 name · 100 mode · 108 uid · 116 gid · 124 size · 136 time · 148 sum · 156 kind · 157 link
//   257 "ustar" · 263 "00" · 265 user · 297 group · 329 device · 345 prefix · 500 nothing
//
// Numbers are octal text. A size of 8 GiB and more does not fit there: its field begins with the
// byte 0x80, and the number follows in binary, as GNU tar writes it.
#define _GNU_SOURCE
#include "server/backup/backup_tar.h"

#include <inttypes.h>
#include <string.h>

#define NAME_BYTES     100 // with its end, as is the prefix
#define PREFIX_AT      345
#define PREFIX_BYTES   155
#define SIZE_AT        124
#define SIZE_BYTES     12
#define SIZE_OCTAL_MAX UINT64_C(077777777777)
#define SUM_AT         148
#define SUM_BYTES      8

typedef struct TarBlock {
    uint8_t bytes[TAR_BLOCK_BYTES];
} TarBlock;

static void put_text(TarBlock *block, size_t at, size_t bytes, const char *text)
{
    memcpy(block->bytes + at, text, strnlen(text, bytes));
}

static void put_octal(TarBlock *block, size_t at, size_t bytes, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%0*" PRIo64, (int)bytes - 1, value);
    put_text(block, at, bytes, text);
}

static void put_size(TarBlock *block, uint64_t value)
{
    if (value <= SIZE_OCTAL_MAX) {
        put_octal(block, SIZE_AT, SIZE_BYTES, value);
        return;
    }
    block->bytes[SIZE_AT] = 0x80;
    for (size_t i = 0; i < 8; i++) {
        block->bytes[SIZE_AT + SIZE_BYTES - 1 - i] = (uint8_t)(value >> (8 * i));
    }
}

static void put_sum(TarBlock *block)
{
    uint32_t sum = 0;
    memset(block->bytes + SUM_AT, ' ', SUM_BYTES);
    for (size_t i = 0; i < sizeof block->bytes; i++) {
        sum += block->bytes[i];
    }
    char text[16];
    snprintf(text, sizeof text, "%06o", sum);
    memcpy(block->bytes + SUM_AT, text, 7); // with its zero; then the space
}

// A long name is cut at a slash: what is before it is the prefix. Where; 0: it is not cut. False:
// it does not fit.
static bool find_cut(const char *name, size_t *cut)
{
    const size_t bytes = strlen(name);
    *cut = 0;
    if (bytes < NAME_BYTES) {
        return true;
    }
    const char *slash = strchr(name + (bytes - NAME_BYTES), '/');
    *cut = slash != NULL ? (size_t)(slash - name) : 0;
    return *cut > 0 && *cut < PREFIX_BYTES && slash[1] != '\0';
}

static TarBlock block_of(const TarEntry *entry, uint64_t unix_s)
{
    TarBlock block = {{0}};
    size_t cut = 0;
    if (find_cut(entry->name, &cut) && cut > 0) {
        put_text(&block, PREFIX_AT, cut, entry->name);
        put_text(&block, 0, NAME_BYTES - 1, entry->name + cut + 1);
    } else {
        put_text(&block, 0, NAME_BYTES - 1, entry->name);
    }
    put_octal(&block, 100, 8, 0600);
    put_octal(&block, 108, 8, 0);
    put_octal(&block, 116, 8, 0);
    put_size(&block, entry->bytes);
    put_octal(&block, 136, 12, unix_s & SIZE_OCTAL_MAX);
    block.bytes[156] = '0';
    put_text(&block, 257, 6, "ustar");
    put_text(&block, 263, 2, "00");
    put_sum(&block);
    return block;
}

// --- writing ------------------------------------------------------------------------------------

static Status write_bytes(FILE *out, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, out) == bytes ? STATUS_OK : STATUS_BLOCKED;
}

Status tar_write_header(FILE *out, const TarEntry *entry, uint64_t unix_s)
{
    size_t cut = 0;
    if (!find_cut(entry->name, &cut)) {
        return STATUS_RANGE;
    }
    const TarBlock block = block_of(entry, unix_s);
    return write_bytes(out, block.bytes, sizeof block.bytes);
}

static size_t padding_of(uint64_t bytes)
{
    return (size_t)(-bytes % TAR_BLOCK_BYTES);
}

Status tar_write_padding(FILE *out, uint64_t bytes)
{
    static const TarBlock zeros;
    return write_bytes(out, zeros.bytes, padding_of(bytes));
}

Status tar_write_end(FILE *out)
{
    static const TarBlock zeros[2];
    return write_bytes(out, zeros, sizeof zeros);
}

// --- reading ------------------------------------------------------------------------------------

static bool read_octal(const uint8_t *at, size_t bytes, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i + 1 < bytes; i++) {
        if (at[i] < '0' || at[i] > '7') {
            return false;
        }
        value = value << 3 | (uint64_t)(at[i] - '0');
    }
    *out = value;
    return at[bytes - 1] == '\0';
}

static uint64_t size_of(const TarBlock *block)
{
    uint64_t value = 0;
    if (block->bytes[SIZE_AT] != 0x80) {
        return read_octal(block->bytes + SIZE_AT, SIZE_BYTES, &value) ? value : 0;
    }
    for (size_t i = 4; i < SIZE_BYTES; i++) {
        value = value << 8 | block->bytes[SIZE_AT + i];
    }
    return value;
}

static bool is_zero(const TarBlock *block)
{
    static const TarBlock zeros;
    return memcmp(block, &zeros, sizeof zeros) == 0;
}

// Read, written again, and compared: so nothing in a header is unknown.
Status tar_read_header(FILE *in, TarEntry *entry)
{
    TarBlock block;
    if (fread(block.bytes, 1, sizeof block.bytes, in) != sizeof block.bytes) {
        return STATUS_TRUNCATED;
    }
    if (is_zero(&block)) {
        return STATUS_NOT_FOUND;
    }
    TarEntry found = {.bytes = size_of(&block)};
    const char *text = (const char *)block.bytes;
    const bool has_prefix = text[PREFIX_AT] != '\0';
    snprintf(found.name, sizeof found.name, "%.*s%s%.*s", PREFIX_BYTES - 1, text + PREFIX_AT,
             has_prefix ? "/" : "", NAME_BYTES - 1, text);
    uint64_t unix_s = 0;
    if (!read_octal(block.bytes + 136, 12, &unix_s) || found.bytes > INT64_MAX) {
        return STATUS_MALFORMED;
    }
    const TarBlock expected = block_of(&found, unix_s);
    if (memcmp(&block, &expected, sizeof block) != 0) {
        return STATUS_MALFORMED;
    }
    *entry = found;
    return STATUS_OK;
}

Status tar_read_padding(FILE *in, uint64_t bytes)
{
    TarBlock block;
    const size_t count = padding_of(bytes);
    return fread(block.bytes, 1, count, in) == count ? STATUS_OK : STATUS_TRUNCATED;
}
