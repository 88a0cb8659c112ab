// Shapes and attribute attributes. The first byte chooses. A value that can be read is inside its
// ranges, and writing and reading it again gives the same value.
#include "core/base/check.h"
#include "core/wire/net.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_shape(const uint8_t *data, size_t size)
{
    ByteReader reader = byte_reader(data, size);
    NetShape shape;
    if (net_shape_read(&reader, &shape) != STATUS_OK) {
        return;
    }
    const PartDesc desc = {shape.shape, shape.rest, shape.data};
    ASSERT(part_desc_check(&desc) == STATUS_OK);
    uint8_t bytes[2][NET_SHAPE_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes[0], sizeof bytes[0]);
    net_shape_write(&shape, &writer);
    ASSERT(writer.status == STATUS_OK);
    ByteReader again = byte_reader(bytes[0], writer.at);
    NetShape same;
    ASSERT(net_shape_read(&again, &same) == STATUS_OK);
    ASSERT(byte_reader_finish(&again) == STATUS_OK);
    ByteWriter second = byte_writer(bytes[1], sizeof bytes[1]);
    net_shape_write(&same, &second);
    ASSERT(second.at == writer.at && memcmp(bytes[0], bytes[1], writer.at) == 0);
}

static void try_attributes(const uint8_t *data, size_t size)
{
    static uint8_t bytes[NET_ATTRIBUTES_BYTES_MAX];
    NetAttributesReader reader;
    Text name;
    NetValue value;
    if (net_attributes_open(&reader, data, size, &name) != STATUS_OK) {
        return;
    }
    // There is one sequence of bytes for each set of attributes.
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    net_attributes_write_name(&writer, name);
    while (net_attributes_next(&reader, &name, &value)) {
        net_attributes_write_one(&writer, name, &value);
    }
    net_attributes_write_end(&writer);
    while (net_attributes_next_tag(&reader, &name)) {
        net_attributes_write_tag(&writer, name);
    }
    net_attributes_write_end(&writer);
    ASSERT(writer.status == STATUS_OK);
    ASSERT(writer.at == size && memcmp(bytes, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        try_shape(data + 1, size - 1);
    } else {
        try_attributes(data + 1, size - 1);
    }
    return 0;
}
