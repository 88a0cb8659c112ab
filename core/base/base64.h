// Base64 (RFC 4648, section 4) for bytes inside JSON. Each byte sequence has exactly one text:
// padding is required, unused bits are zero, and no other characters are allowed.
#pragma once

#include "core/base/bytes.h"

// The number of characters for so many bytes, which must be at most SIZE_MAX / 4 * 3 - 3.
size_t base64_text_bytes(size_t bytes);
void base64_write(const void *data, size_t bytes, ByteWriter *writer);
// Decodes into `out`, which has room for `capacity` bytes; *bytes gets the count. STATUS_MALFORMED
// for a text that base64_write would not write, STATUS_LIMIT if it does not fit; then `out` is
// undefined.
MUST_USE Status base64_decode(const char *text, size_t text_bytes, uint8_t *out, size_t capacity,
                              size_t *bytes);
