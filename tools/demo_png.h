// Writes a picture as a PNG file: 8-bit RGB, deflate blocks stored without compression. Nothing but
// the format itself is needed, so the demo has no dependency.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Image {
    uint32_t width, height;
    uint8_t *rgb; // width * height * 3, rows from the top
} Image;

// The file appears whole or not at all: it is written beside its name and then renamed. False, with
// errno set, when the system refuses.
bool png_write(const char *path, const Image *image);
