// Bit readers and writers against a plain array of bits. The input is a program: each command reads
// a field, which is then written by the fast writer and, bit by bit, into the array.
#include "core/base/bits.h"
#include "core/base/check.h"

#include <string.h>

#define INPUT_BYTES_MAX 2048
#define BITS_MAX        (INPUT_BYTES_MAX * 8)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Model {
    uint8_t bits[BITS_MAX]; // one a byte
    size_t count;
} Model;

static bool source_bit(const BitReader *reader, size_t at)
{
    return (reader->data[at / 8] >> (at % 8) & 1) != 0;
}

// What a reader took, as bits.
static void model_take(Model *model, const BitReader *reader, size_t from)
{
    for (size_t at = from; at < reader->at; at++) {
        model->bits[model->count++] = source_bit(reader, at);
    }
}

static void copy_field(BitReader *reader, BitWriter *writer, uint8_t command)
{
    const uint32_t count = command % 65;
    const size_t from = reader->at;
    switch (command / 65) {
    case 0: {
        const uint64_t value = bit_read(reader, count);
        for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
            ASSERT((value >> i & 1) == source_bit(reader, from + i));
        }
        ASSERT(count == 64 || value >> count == 0);
        if (reader->status == STATUS_OK) {
            bit_write(writer, value, count);
        }
        break;
    }
    case 1: {
        const int64_t value = bit_read_signed(reader, count);
        if (reader->status == STATUS_OK) {
            bit_write_signed(writer, value, count);
        }
        break;
    }
    case 2: {
        const uint32_t group = 1 + count % 32;
        const uint64_t value = bit_read_grouped(reader, group);
        if (reader->status == STATUS_OK) {
            bit_write_grouped(writer, value, group);
        }
        break;
    }
    default: {
        // A block of bits from the front of the source, read field by field, appended at once.
        const size_t bits = (size_t)count * 7;
        for (size_t left = bits; left != 0;) {
            const uint32_t step = left < 61 ? (uint32_t)left : 61;
            (void)bit_read(reader, step);
            left -= step;
        }
        if (reader->status == STATUS_OK) {
            uint8_t moved[64] = {0};
            for (size_t i = 0; i < bits; i++) {
                moved[i / 8] |= (uint8_t)(source_bit(reader, from + i) << (i % 8));
            }
            bit_write_bits(writer, moved, bits);
        }
        break;
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_BYTES_MAX) {
        return 0;
    }
    static Model model;
    model.count = 0;
    const uint32_t lead = data[0] % 8; // so that reads and writes are not aligned alike
    const size_t command_count = (size - 1) / 4;
    const uint8_t *source = data + 1 + command_count;
    uint8_t copy[INPUT_BYTES_MAX + 1];
    memset(copy, 0xa5, sizeof copy);
    BitReader reader = bit_reader(source, size - 1 - command_count);
    BitWriter writer = bit_writer(copy, sizeof copy);
    bit_write(&writer, (1u << lead) - 1, lead);
    for (size_t i = 0; i < command_count && reader.status == STATUS_OK; i++) {
        const size_t from = reader.at;
        copy_field(&reader, &writer, data[1 + i]);
        if (reader.status == STATUS_OK) {
            model_take(&model, &reader, from);
            ASSERT(writer.at == lead + reader.at);
            if (data[1 + i] % 16 == 3) {
                // Written, taken back and written again is written once.
                const size_t mark = writer.at;
                bit_write(&writer, 0x5555, 15);
                bit_writer_rewind(&writer, mark);
            }
        }
    }
    ASSERT(writer.status == STATUS_OK);
    for (size_t i = 0; i < writer.at; i++) {
        const bool want = i < lead ? true : model.bits[i - lead];
        ASSERT((copy[i / 8] >> (i % 8) & 1) == want);
    }
    for (size_t i = writer.at; i % 8 != 0; i++) {
        ASSERT((copy[i / 8] >> (i % 8) & 1) == 0);
    }
    return 0;
}
