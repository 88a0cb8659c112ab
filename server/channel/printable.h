// Texts of the other side of a channel, which are shown to people: in a terminal, a log or a page.
#pragma once

#include "core/base/bytes.h"

// A varint of length and so many bytes, at most capacity - 1. Terminated; whatever it was, only
// what can be printed stays. On failure `out` is untouched.
void printable_read(ByteReader *reader, char *out, uint32_t capacity);
// At most so many bytes of a text, cut between characters.
void printable_write(ByteWriter *writer, const char *text, size_t bytes_max);
