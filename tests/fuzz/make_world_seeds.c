// Writes the seed corpora of fuzz_world and fuzz_entry:  make_world_seeds CORPUS_FOLDER
// The first are operations of fuzz_world by hand, the second a short journal and its pieces.
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/world/journal.h"

#include <stdio.h>
#include <string.h>

static void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t count)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(bytes, 1, count, file) == count);
    ASSERT(fclose(file) == 0);
}

static void write_journal(const char *folder)
{
    uint8_t bytes[2048];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    WorldConfig config = world_config_default();
    memcpy(config.world_id, "world_a1", sizeof "world_a1");
    journal_write_header(&config, &writer);
    const size_t header = writer.at;
    entry_write(&(Entry){.type = ENTRY_TICK, .number = 1700000000000u}, &writer);
    entry_write(&(Entry){.type = ENTRY_CONNECT, .connection = 1, .flags = ENTRY_JSON}, &writer);
    entry_write(&(Entry){.type = ENTRY_MESSAGE,
                         .connection = 1,
                         .bytes = (const uint8_t *)"{}",
                         .byte_count = 2},
                &writer);
    entry_write(
        &(Entry){.type = ENTRY_AUTH, .connection = 1, .number = 7, .name = "Bo", .name_bytes = 2},
        &writer);
    write_file(folder, "entry/journal", bytes, writer.at);
    write_file(folder, "entry/cut", bytes, writer.at - 2);
    write_file(folder, "entry/entries", bytes + header, writer.at - header);
    write_file(folder, "entry/header", bytes, header);
}

static size_t come_in(uint8_t *bytes, uint8_t who)
{
    const uint8_t operations[] = {0, who, 1, 5, who, who, 1, 11, 11, 9, who, 200};
    memcpy(bytes, operations, sizeof operations);
    return sizeof operations;
}

static void write_plays(const char *folder)
{
    uint8_t bytes[4096];
    size_t at = 0;
    for (uint8_t who = 0; who < 4; who++) {
        at += come_in(bytes + at, who);
    }
    write_file(folder, "world/join", bytes, at);
    // Back with a token, and once more as another; one tool.
    const uint8_t back[] = {1, 0, 11,  0, 0,   1,   5,  0, 0, 0, 11, 11, 0, 4,  0,
                            4, 4, 200, 2, '{', '}', 11, 1, 1, 5, 1,  2,  1, 11, 2};
    memcpy(bytes + at, back, sizeof back);
    write_file(folder, "world/resume", bytes, at + sizeof back);
    Rng rng = rng_make(7, 7);
    for (uint32_t file = 0; file < 4; file++) {
        size_t end = at;
        while (end + 64 < sizeof bytes / 2) {
            const uint32_t what = rng_u32(&rng) % 6;
            bytes[end++] = (uint8_t)(what == 0 ? 6 : what == 1 ? 7 : what == 2 ? 3 : 11);
            const uint32_t more = what < 3 ? 12 : 0;
            for (uint32_t i = 0; i < more; i++) {
                bytes[end++] = (uint8_t)rng_u32(&rng);
            }
        }
        char name[64];
        (void)snprintf(name, sizeof name, "world/play_%u", file);
        write_file(folder, name, bytes, end);
    }
}

int main(int argc, char **argv)
{
    ASSERT(argc == 2);
    write_journal(argv[1]);
    write_plays(argv[1]);
    return 0;
}
