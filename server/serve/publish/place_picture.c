// See place_picture.h. Nothing here reads what a stranger wrote but the id, and any text will do.
//
// A PNG is a signature and chunks: IHDR (the size), PLTE (the colours), IDAT (a zlib stream of the
// rows, each with a filter byte in front), IEND. A chunk is
//
//   0   length of the data, big endian
//   4   type, four letters
//   8   data
//   8+n CRC-32 of type and data
#include "server/serve/publish/place_picture.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SCALE       2 // pixels to a unit of the drawing, which is 320 by 180 units
#define HEIGHT      (PLACE_PICTURE_HEIGHT / SCALE)
#define BLOCK_COUNT 11
#define BLOCK_UNITS 32
#define SLANT_UNITS 8 // how far the tops and sides of blocks reach back
#define HUE_COUNT   6
#define SHADE_COUNT 3
#define ROW_BYTES   (1 + PLACE_PICTURE_WIDTH)

// Numbers of colours: the sky, the sun, and each shade in front, on top and at the side.
enum {
    COLOUR_SKY,
    COLOUR_SUN,
    COLOUR_FRONT,
    COLOUR_TOP = COLOUR_FRONT + SHADE_COUNT,
    COLOUR_SIDE = COLOUR_TOP + SHADE_COUNT,
    COLOUR_COUNT = COLOUR_SIDE + SHADE_COUNT
};

static const struct {
    uint32_t sky, shades[SHADE_COUNT];
} hues[HUE_COUNT] = {
    {0x3f86bd, {0x4f7d54, 0x5f8f5d, 0x8a6a48}}, {0x2c7a6b, {0xc79a55, 0xb98b4a, 0xa0763c}},
    {0xb8703f, {0x7d5644, 0x6d4a3a, 0x8f6a4c}}, {0x584896, {0x9485cb, 0x8173bb, 0x6f61a8}},
    {0xa34b63, {0xe09a78, 0xd18462, 0xbd6f52}}, {0x2f6d86, {0xd3dde1, 0xbac9cf, 0x9fb2ba}},
};

// `part` of 256 of `over` lies on `colour`.
static uint32_t mix(uint32_t colour, uint32_t over, uint32_t part)
{
    uint32_t mixed = 0;
    for (uint32_t shift = 0; shift < 24; shift += 8) {
        const uint32_t below = colour >> shift & 255, above = over >> shift & 255;
        mixed |= ((below * (256 - part) + above * part) >> 8) << shift;
    }
    return mixed;
}

static void fill_palette(uint32_t hue, uint8_t palette[3 * COLOUR_COUNT])
{
    uint32_t colours[COLOUR_COUNT] = {[COLOUR_SKY] = hues[hue].sky, [COLOUR_SUN] = 0xffe08a};
    for (uint32_t i = 0; i < SHADE_COUNT; i++) {
        colours[COLOUR_FRONT + i] = hues[hue].shades[i];
        colours[COLOUR_TOP + i] = mix(hues[hue].shades[i], 0xffffff, 77);
        colours[COLOUR_SIDE + i] = mix(hues[hue].shades[i], 0x000000, 64);
    }
    for (uint32_t i = 0; i < COLOUR_COUNT; i++) {
        palette[3 * i] = (uint8_t)(colours[i] >> 16);
        palette[3 * i + 1] = (uint8_t)(colours[i] >> 8);
        palette[3 * i + 2] = (uint8_t)colours[i];
    }
}

// From `from` to before `to`, in pixels of one row; what is outside is left out.
static void fill_span(uint8_t *row, int32_t from, int32_t to, uint32_t colour)
{
    from = from < 0 ? 0 : from;
    to = to > PLACE_PICTURE_WIDTH ? PLACE_PICTURE_WIDTH : to;
    if (from < to) {
        memset(row + 1 + from, (int)colour, (size_t)(to - from));
    }
}

static void draw_sun(uint8_t *rows)
{
    const int32_t x = SCALE * 250, y = SCALE * 48, radius = SCALE * 22;
    for (int32_t down = -radius; down <= radius; down++) {
        int32_t half = 0;
        while ((half + 1) * (half + 1) + down * down <= radius * radius) {
            half += 1;
        }
        fill_span(rows + (y + down) * ROW_BYTES, x - half, x + half, COLOUR_SUN);
    }
}

// A block that stands on the lower edge, `height` units high, with its left edge at `x`.
static void draw_block(uint8_t *rows, int32_t x, int32_t height, uint32_t shade)
{
    const int32_t left = SCALE * x, right = SCALE * (x + BLOCK_UNITS);
    const int32_t front = SCALE * (HEIGHT - height), back = front - SCALE * SLANT_UNITS;
    for (int32_t y = back; y < PLACE_PICTURE_HEIGHT; y++) {
        uint8_t *row = rows + y * ROW_BYTES;
        const int32_t shift = y < front ? front - y : 0; // of the slanted edge in this row
        if (y < front) {
            fill_span(row, left + shift, right + shift, COLOUR_TOP + shade);
        } else {
            fill_span(row, left, right, COLOUR_FRONT + shade);
        }
        fill_span(row, right + shift, right + SCALE * SLANT_UNITS, COLOUR_SIDE + shade);
    }
}

static void put_chunk(Buffer *out, const char *type, const void *data, size_t bytes)
{
    uLong sum = crc32(0, (const Bytef *)type, 4);
    sum = bytes > 0 ? crc32(sum, data, (uInt)bytes) : sum;
    buffer_put_u32_big(out, (uint32_t)bytes);
    buffer_put(out, type, 4);
    buffer_put(out, data, bytes);
    buffer_put_u32_big(out, (uint32_t)sum);
}

static void put_png(Buffer *out, const uint8_t *rows, const uint8_t palette[3 * COLOUR_COUNT])
{
    const uint8_t head[13] = {0,
                              0,
                              PLACE_PICTURE_WIDTH >> 8,
                              PLACE_PICTURE_WIDTH & 255,
                              0,
                              0,
                              PLACE_PICTURE_HEIGHT >> 8,
                              PLACE_PICTURE_HEIGHT & 255,
                              8, // bits of a pixel
                              3, // it is the number of a colour
                              0,
                              0,
                              0};
    const size_t bytes = (size_t)PLACE_PICTURE_HEIGHT * ROW_BYTES;
    uLongf packed_bytes = compressBound(bytes);
    uint8_t *packed = malloc(packed_bytes);
    if (packed == NULL || compress2(packed, &packed_bytes, rows, bytes, 6) != Z_OK) {
        out->status = STATUS_LIMIT;
    } else {
        buffer_put(out, "\x89PNG\r\n\x1a\n", 8);
        put_chunk(out, "IHDR", head, sizeof head);
        put_chunk(out, "PLTE", palette, 3 * COLOUR_COUNT);
        put_chunk(out, "IDAT", packed, packed_bytes);
        put_chunk(out, "IEND", "", 0);
    }
    free(packed);
}

void place_picture_draw(const char *place_id, Buffer *out)
{
    uint8_t palette[3 * COLOUR_COUNT];
    uint8_t *rows = calloc(PLACE_PICTURE_HEIGHT, ROW_BYTES); // all sky; filters are 0, none
    if (rows == NULL) {
        out->status = STATUS_LIMIT;
        return;
    }
    uint32_t seed = 7;
    for (const char *at = place_id; *at != '\0'; at++) {
        seed = seed * 31 + (uint8_t)*at;
    }
    fill_palette(seed % HUE_COUNT, palette);
    draw_sun(rows);
    for (int32_t i = 0; i < BLOCK_COUNT; i++) {
        seed = seed * 1664525u + 1013904223u;
        draw_block(rows, i * BLOCK_UNITS - BLOCK_UNITS / 2, 18 + (int32_t)((seed >> 24) % 72),
                   (seed >> 16) % SHADE_COUNT);
    }
    put_png(out, rows, palette);
    free(rows);
}
