// A PNG is a signature and chunks: IHDR (the size), IDAT (a zlib stream of the rows, each with a
// filter byte in front), IEND. A chunk is
//
//   0   length of the data, big endian
//   4   type, four letters
//   8   data
//   8+n CRC-32 of type and data
//
// and the zlib stream is two header bytes, stored blocks of at most 65,535 bytes, and an Adler-32.
#include "tools/demo_png.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORED_BYTES_MAX 65535u
#define PATH_BYTES_MAX   4096

typedef struct Buffer {
    uint8_t *data;
    size_t at;
} Buffer;

static void put_u8(Buffer *buffer, uint8_t value)
{
    buffer->data[buffer->at] = value;
    buffer->at += 1;
}

static void put_u32(Buffer *buffer, uint32_t value)
{
    for (int32_t shift = 24; shift >= 0; shift -= 8) {
        put_u8(buffer, (uint8_t)(value >> shift));
    }
}

static void put_bytes(Buffer *buffer, const void *data, size_t count)
{
    memcpy(buffer->data + buffer->at, data, count);
    buffer->at += count;
}

static uint32_t crc32_of(const uint8_t *data, size_t count)
{
    static uint32_t table[256];
    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        uint32_t c = i;
        for (uint32_t bit = 0; bit < 8; bit++) {
            c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        }
        table[i] = c;
    }
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        crc = table[(crc ^ data[i]) & 0xff] ^ (crc >> 8);
    }
    return ~crc;
}

static uint32_t adler32_of(const uint8_t *data, size_t count)
{
    uint32_t a = 1;
    uint32_t b = 0;
    for (size_t i = 0; i < count; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void put_chunk(Buffer *out, const char *type, const uint8_t *data, size_t count)
{
    put_u32(out, (uint32_t)count);
    const size_t covered = out->at;
    put_bytes(out, type, 4);
    if (count > 0) {
        put_bytes(out, data, count);
    }
    put_u32(out, crc32_of(out->data + covered, out->at - covered));
}

// The rows as a zlib stream of stored blocks.
static void put_zlib(Buffer *out, const uint8_t *rows, size_t count)
{
    put_u8(out, 0x78);
    put_u8(out, 0x01);
    size_t at = 0;
    do {
        const size_t left = count - at;
        const uint32_t block = left < STORED_BYTES_MAX ? (uint32_t)left : STORED_BYTES_MAX;
        put_u8(out, at + block == count); // the last one says so
        put_u8(out, (uint8_t)block);
        put_u8(out, (uint8_t)(block >> 8));
        put_u8(out, (uint8_t)~block);
        put_u8(out, (uint8_t)(~block >> 8));
        put_bytes(out, rows + at, block);
        at += block;
    } while (at < count);
    put_u32(out, adler32_of(rows, count));
}

// The whole file in memory; the caller frees it. NULL when there is no memory.
static uint8_t *encode(const Image *image, size_t *bytes)
{
    const size_t row_bytes = 1 + (size_t)image->width * 3;
    const size_t rows_bytes = row_bytes * image->height;
    const size_t zlib_bytes = 6 + rows_bytes + 5 * (rows_bytes / STORED_BYTES_MAX + 1);
    uint8_t *rows = malloc(rows_bytes);
    Buffer zlib = {malloc(zlib_bytes), 0};
    Buffer out = {malloc(zlib_bytes + 128), 0};
    if (rows == NULL || zlib.data == NULL || out.data == NULL) {
        free(rows);
        free(zlib.data);
        free(out.data);
        errno = ENOMEM;
        return NULL;
    }
    for (uint32_t y = 0; y < image->height; y++) {
        rows[y * row_bytes] = 0; // no filter
        memcpy(rows + y * row_bytes + 1, image->rgb + (size_t)y * image->width * 3, row_bytes - 1);
    }
    put_zlib(&zlib, rows, rows_bytes);

    uint8_t header_bytes[13];
    Buffer header = {header_bytes, 0};
    put_u32(&header, image->width);
    put_u32(&header, image->height);
    put_u8(&header, 8); // bits a channel
    put_u8(&header, 2); // RGB
    put_u8(&header, 0); // deflate
    put_u8(&header, 0); // the one filter method
    put_u8(&header, 0); // not interlaced
    put_bytes(&out, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(&out, "IHDR", header_bytes, header.at);
    put_chunk(&out, "IDAT", zlib.data, zlib.at);
    put_chunk(&out, "IEND", NULL, 0);
    free(rows);
    free(zlib.data);
    *bytes = out.at;
    return out.data;
}

static bool write_file(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    const bool written = fwrite(data, 1, bytes, file) == bytes;
    return fclose(file) == 0 && written;
}

bool png_write(const char *path, const Image *image)
{
    char beside[PATH_BYTES_MAX];
    const int length = snprintf(beside, sizeof beside, "%s.part", path);
    if (length < 0 || (size_t)length >= sizeof beside) {
        errno = ENAMETOOLONG;
        return false;
    }
    size_t bytes = 0;
    uint8_t *data = encode(image, &bytes);
    const bool written = data != NULL && write_file(beside, data, bytes);
    free(data);
    if (!written || rename(beside, path) != 0) {
        const int reason = errno;
        remove(beside);
        errno = reason;
        return false;
    }
    return true;
}
