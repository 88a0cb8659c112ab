// Rows of changed scene parts, one after the other. A row that can be read is one that a sim takes,
// and writing and reading it again gives the same row. The same bytes as a scene with its patches.
#include "core/base/check.h"
#include "core/wire/patch.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_row(uint64_t before, const PatchRow *row)
{
    uint8_t bytes[2][PATCH_ROW_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes[0], sizeof bytes[0]);
    patch_row_write(&writer, before, row);
    ASSERT(writer.status == STATUS_OK);
    ByteReader reader = byte_reader(bytes[0], writer.at);
    PatchRow same;
    const bool read = patch_row_read(&reader, before, &same);
    ASSERT(read && byte_reader_finish(&reader) == STATUS_OK);
    ASSERT(same.net_id == row->net_id && same.groups == row->groups && same.gone == row->gone);
    ASSERT((row->groups & PATCH_PAINT) == 0 || paint_equal(&same.paint, &row->paint));
    ByteWriter second = byte_writer(bytes[1], sizeof bytes[1]);
    patch_row_write(&second, before, &same);
    ASSERT(second.at == writer.at && memcmp(bytes[0], bytes[1], writer.at) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PatchScene scene;
    if (patch_scene_open(data, size, &scene)) {
        ASSERT(scene.stripped_bytes + scene.row_bytes + PATCH_SCENE_MORE == size);
        data = scene.rows;
        size = scene.row_bytes;
    }
    ByteReader reader = byte_reader(data, size);
    PatchRow row = {0};
    uint64_t before = 0;
    while (byte_reader_left(&reader) > 0 && patch_row_read(&reader, before, &row)) {
        ASSERT(row.net_id > before && row.net_id <= SIM_NET_ID_MAX);
        try_row(before, &row);
        before = row.net_id;
    }
    return 0;
}
