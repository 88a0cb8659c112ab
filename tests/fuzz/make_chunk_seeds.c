// Writes the seed corpus of fuzz_chunk:  make_chunk_seeds CORPUS_FOLDER/chunk
// Run again when the format of a chunk has changed and the old seeds no longer read. What a search
// has found beside them is kept as found_….
#include "core/base/check.h"
#include "core/sim/voxel.h"

#include <stdio.h>

static uint8_t bytes[1 << 20];

// Control bytes of fuzz_chunk: what is read, and into what.
#define READ_CHUNK   0
#define READ_TERRAIN 2
#define READ_STORE   3
#define INTO_SMALL   8
#define INTO_EDITED  16
#define AT_ORIGIN    (1 + 3 + 9)

static void write_file(const char *folder, const char *name, uint32_t control, size_t count)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    const uint8_t head[2] = {(uint8_t)control, AT_ORIGIN};
    ASSERT(fwrite(head, 1, 2, file) == 2);
    ASSERT(fwrite(bytes, 1, count, file) == count);
    ASSERT(fclose(file) == 0);
}

// One terrain in every form.
static void write_seeds(const char *folder, const char *name, const Terrain *terrain)
{
    char path[64];
    const ChunkCoord at = {0, 0, 0};
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    terrain_write_chunk(terrain, at, &writer);
    (void)snprintf(path, sizeof path, "%s_whole", name);
    write_file(folder, path, READ_CHUNK, writer.at);
    (void)snprintf(path, sizeof path, "%s_store", name);
    write_file(folder, path, READ_STORE, writer.at);
    writer = byte_writer(bytes, sizeof bytes);
    terrain_write_difference(terrain, at, &writer);
    (void)snprintf(path, sizeof path, "%s_difference", name);
    write_file(folder, path, READ_CHUNK | INTO_EDITED, writer.at);
    (void)snprintf(path, sizeof path, "%s_difference_small", name);
    write_file(folder, path, READ_CHUNK | INTO_SMALL, writer.at);
    writer = byte_writer(bytes, sizeof bytes);
    terrain_write(terrain, &writer);
    (void)snprintf(path, sizeof path, "%s_terrain", name);
    write_file(folder, path, READ_TERRAIN | INTO_EDITED, writer.at);
    (void)snprintf(path, sizeof path, "%s_terrain_small", name);
    write_file(folder, path, READ_TERRAIN | INTO_SMALL, writer.at);
}

int main(int argc, char **argv)
{
    ASSERT(argc == 2);
    const char *folder = argv[1];
    Heap heap = heap_make(64 << 20);
    const TerrainConfig config = {.chunk_max = 8, .page_max = 96};
    Terrain *terrain = NULL;
    Status status = terrain_create(&heap, &config, NULL, &terrain);
    ASSERT(status == STATUS_OK);
    write_seeds(folder, "air", terrain);
    status = terrain_set(terrain, (VoxelCoord){5, 6, 7}, 8, NULL);
    ASSERT(status == STATUS_OK);
    write_seeds(folder, "voxel", terrain);
    status = terrain_fill_sphere(terrain, vec3(3, 3, 3), 4.5f, 9, NULL);
    ASSERT(status == STATUS_OK);
    write_seeds(folder, "sphere", terrain);
    for (int32_t i = 0; i < 20; i++) {
        status = terrain_set(terrain, (VoxelCoord){i, i, i}, (VoxelKind)(100 + i), NULL);
        ASSERT(status == STATUS_OK);
    }
    write_seeds(folder, "kinds", terrain);
    status = terrain_fill_box(terrain, (VoxelCoord){0, 0, 0}, (VoxelCoord){31, 31, 31}, 3, NULL);
    ASSERT(status == STATUS_OK);
    write_seeds(folder, "uniform", terrain);
    terrain_destroy(&heap, terrain);
    return 0;
}
