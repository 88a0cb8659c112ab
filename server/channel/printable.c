// See printable.h.
#include "server/channel/printable.h"

#include "core/base/utf8.h"

#include <string.h>

void printable_read(ByteReader *reader, char *out, uint32_t capacity)
{
    const uint32_t bytes = byte_read_count(reader, capacity - 1);
    const uint8_t *text = byte_read_bytes(reader, bytes);
    if (text == NULL) {
        return;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        out[i] = text[i] != '\0' ? (char)text[i] : '?';
    }
    out[bytes] = '\0';
    utf8_clean(out);
}

void printable_write(ByteWriter *writer, const char *text, size_t bytes_max)
{
    const size_t bytes = utf8_cut(text, strlen(text), bytes_max);
    byte_write_varint(writer, bytes);
    byte_write_bytes(writer, text, bytes);
}
