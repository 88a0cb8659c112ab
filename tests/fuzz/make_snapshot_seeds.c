// Writes the seed corpora of fuzz_snapshot and fuzz_net:  make_snapshot_seeds CORPUS_FOLDER
// Run again when the format of frames has changed and the old seeds no longer read.
#include "core/base/check.h"
#include "tests/fuzz/small_frame.h"

#include <stdio.h>

static uint8_t bytes[16384];

static void write_file(const char *folder, const char *name, size_t count)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(bytes, 1, count, file) == count);
    ASSERT(fclose(file) == 0);
}

static size_t empty_frame(uint8_t *out, size_t capacity, bool full)
{
    const SnapshotPlan plan = {
        .header = {full, full ? 1 : 2, full ? 5 : 9012, 0, 1},
        .previous = {full, full ? 0 : 1, full ? 0 : 9009, full ? 0 : 9009, full ? 0 : 2},
        .tick_rate = 60};
    size_t count = 0;
    ASSERT(snapshot_write(&plan, out, capacity, &count) == STATUS_OK);
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: make_snapshot_seeds CORPUS_FOLDER\n");
        return 2;
    }
    bytes[0] = 0; // over the fixed first frame
    write_file(argv[1], "snapshot/second", 1 + small_frame_second(bytes + 1, sizeof bytes - 1));
    write_file(argv[1], "snapshot/first", 1 + small_frame_first(bytes + 1, sizeof bytes - 1));
    write_file(argv[1], "snapshot/nothing", 1 + empty_frame(bytes + 1, sizeof bytes - 1, false));
    const size_t first = empty_frame(bytes + 1, sizeof bytes - 1, true);
    bytes[0] = (uint8_t)first; // over an empty one of its own
    const size_t both = 1 + first + small_frame_first(bytes + 1 + first, sizeof bytes - 1 - first);
    write_file(argv[1], "snapshot/twice", both);
    bytes[0] = 0;
    write_file(argv[1], "net/shape", 1 + small_frame_shape(bytes + 1, sizeof bytes - 1));
    bytes[0] = 1;
    write_file(argv[1], "net/attributes", 1 + small_frame_attributes(bytes + 1, sizeof bytes - 1));
    return 0;
}
