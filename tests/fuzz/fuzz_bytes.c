// Byte readers: the input is a program. Its first half chooses what to read, its second half is the
// data. Values that were read successfully are written again and must give the same bytes.
#include "core/base/bytes.h"
#include "core/base/check.h"

#include <string.h>

#define INPUT_BYTES_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Reads one field and writes it again if there was one.
static void copy_field(ByteReader *reader, ByteWriter *writer, uint8_t command)
{
    const size_t from = reader->at;
    switch (command % 9) {
    case 0:
        byte_write_u8(writer, byte_read_u8(reader));
        break;
    case 1:
        byte_write_u16(writer, byte_read_u16(reader));
        break;
    case 2:
        byte_write_u32(writer, byte_read_u32(reader));
        break;
    case 3:
        byte_write_u64(writer, byte_read_u64(reader));
        break;
    case 4:
        byte_write_f32(writer, byte_read_f32(reader));
        break;
    case 5:
        byte_write_varint(writer, byte_read_varint(reader));
        break;
    case 6: {
        const uint32_t max = command * 7u;
        const uint32_t count = byte_read_count(reader, max);
        ASSERT(count <= max);
        byte_write_varint(writer, count);
        break;
    }
    case 7:
        byte_write_bool(writer, byte_read_bool(reader));
        break;
    default: {
        const size_t count = command / 9;
        const uint8_t *bytes = byte_read_bytes(reader, count);
        ASSERT((bytes != NULL) == (reader->status == STATUS_OK));
        if (bytes != NULL) {
            byte_write_bytes(writer, bytes, count);
        }
        break;
    }
    }
    ASSERT(reader->at >= from && reader->at <= reader->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    const size_t command_count = size / 2;
    const uint8_t *source = data + command_count;
    uint8_t copy[INPUT_BYTES_MAX];
    ByteReader reader = byte_reader(source, size - command_count);
    ByteWriter writer = byte_writer(copy, sizeof copy);
    ByteWriter counter = byte_counter();
    for (size_t i = 0; i < command_count; i++) {
        ByteReader again = reader;
        const ByteWriter before = writer;
        copy_field(&reader, &writer, data[i]);
        copy_field(&again, &counter, data[i]);
        if (reader.status != STATUS_OK) {
            writer = before;
            break;
        }
        ASSERT(writer.status == STATUS_OK && writer.at == reader.at && counter.at == reader.at);
        ASSERT(byte_reader_left(&reader) == reader.size - reader.at);
    }
    ASSERT(writer.at == 0 || memcmp(copy, source, writer.at) == 0);
    // A failure stays: nothing is read after it.
    const Status status = reader.status;
    const size_t at = reader.at;
    if (status != STATUS_OK) {
        ASSERT(byte_read_u64(&reader) == 0 && byte_read_varint(&reader) == 0);
        ASSERT(reader.at == at && byte_reader_finish(&reader) == status);
    }
    return 0;
}
