// Stored rows: any bytes are rows or an error status. An accepted row is written again as the same
// bytes, and its values are inside their limits.
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/world/save/row.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_profiles(const Row *row)
{
    RowProfiles profiles;
    if (row_profiles(row, &profiles) != STATUS_OK) {
        return;
    }
    (void)row_repair(&profiles, (Text){"fuzz", 4});
    ASSERT(profiles.count >= 1 && profiles.count <= PROFILES_MAX);
    ASSERT(!row_repair(&profiles, (Text){"fuzz", 4}));
}

static void look_at(const Row *row)
{
    RowMeta meta;
    RowPlayer player;
    RowResume resume;
    RowStructure structure;
    ChunkCoord at;
    Text name;
    uint64_t net_id = 0;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    uint32_t accepted = 0;
    accepted += row_meta(row, &meta) == STATUS_OK;
    if (row_player(row, &player) == STATUS_OK) {
        accepted += 1;
        ASSERT(player.account != 0 && vec3_is_finite(player.position));
    }
    accepted += row_resume(row, &resume) == STATUS_OK;
    if (row_structure(row, &structure) == STATUS_OK) {
        accepted += 1;
        ASSERT(structure.desc.turn < 4 && structure.desc.piece < STRUCTURE_CATALOGUE_MAX);
    }
    if (row_chunk(row, &at, &bytes, &count) == STATUS_OK) {
        accepted += 1;
        ASSERT(at.x >= -CHUNK_COORD_MAX && at.x < CHUNK_COORD_MAX);
    }
    if (row_attributes(row, &name, &net_id, &bytes, &count) == STATUS_OK) {
        accepted += 1;
        ASSERT((name.bytes > 0) != (net_id != 0));
    }
    ASSERT(accepted <= 1); // a row means one thing
    look_at_profiles(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t again[ROW_VALUE_BYTES + 256];
    ByteReader reader = byte_reader(data, size);
    while (byte_reader_left(&reader) > 0) {
        const size_t begin = reader.at;
        Row row;
        if (row_read(&reader, &row) != STATUS_OK) {
            break;
        }
        ByteWriter writer = byte_writer(again, sizeof again);
        row_write(&row, &writer);
        ASSERT(writer.status == STATUS_OK && writer.at == reader.at - begin);
        ASSERT(memcmp(again, data + begin, writer.at) == 0);
        look_at(&row);
    }
    return 0;
}
