// Base64 (RFC 4648, section 4) for bytes inside JSON. One text for each sequence of bytes: padding
// is there, the bits it leaves over are zero, and nothing else may stand in between.
#pragma once

#include "core/base/bytes.h"

// Characters that so many bytes take; they must be at most SIZE_MAX / 4 * 3 - 3.
size_t base64_text_bytes(size_t bytes);
void base64_write(const void *data, size_t bytes, ByteWriter *writer);
// Into `out`, which has room for `capacity` bytes; *bytes gets how many there are. STATUS_MALFORMED
// for a text that base64_write does not write, STATUS_LIMIT if it does not fit; then `out` may hold
// anything.
MUST_USE Status base64_decode(const char *text, size_t text_bytes, uint8_t *out, size_t capacity,
                              size_t *bytes);
