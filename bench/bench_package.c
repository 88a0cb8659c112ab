// The cost of safe packages: packing, checking and unpacking a place of 50 MB (half pictures, a
// fifth sound, the rest scripts and JSON) through the jailed worker, compared with libarchive's zip
// over the same files, which checks nothing. The program starts itself as the worker.
//   bench_package [--json]
#define _GNU_SOURCE
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/base/rng.h"
#include "server/build/package/package.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define ROUNDS      5
#define PICTURES    24
#define PICTURE_PX  590
#define SOUNDS      10
#define SOUND_BYTES (1u << 20)
#define TEXTS       60
#define TEXT_BYTES  (250u << 10)

static Rng rng;

static void put_file(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ASSERT(fwrite(data, 1, bytes, file) == bytes);
    ASSERT(fclose(file) == 0);
}

static void put_big(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

static size_t put_chunk(uint8_t *out, const char *kind, const uint8_t *data, size_t bytes)
{
    put_big(out, (uint32_t)bytes);
    memcpy(out + 4, kind, 4);
    memcpy(out + 8, data, bytes);
    put_big(out + 8 + bytes, (uint32_t)crc32(0, out + 4, (uInt)bytes + 4));
    return bytes + 12;
}

// Noise, as a photograph's lowest bits are.
static void put_picture(const char *folder, const char *name)
{
    const size_t row = 3 * PICTURE_PX + 1, raw_bytes = row * PICTURE_PX;
    uint8_t *raw = malloc(raw_bytes), head[13] = {[8] = 8, [9] = 2};
    uLongf packed_bytes = compressBound(raw_bytes);
    uint8_t *packed = malloc(packed_bytes), *out = malloc(packed_bytes + 100);
    ASSERT(raw != NULL && packed != NULL && out != NULL);
    for (size_t i = 0; i < raw_bytes; i++) {
        raw[i] = i % row == 0 ? 0 : (uint8_t)rng_u64(&rng);
    }
    ASSERT(compress2(packed, &packed_bytes, raw, raw_bytes, 1) == Z_OK);
    put_big(head, PICTURE_PX);
    put_big(head + 4, PICTURE_PX);
    memcpy(out, "\x89PNG\r\n\x1a\n", 8);
    size_t at = 8 + put_chunk(out + 8, "IHDR", head, sizeof head);
    at += put_chunk(out + at, "IDAT", packed, packed_bytes);
    at += put_chunk(out + at, "IEND", head, 0);
    put_file(folder, name, out, at);
    free(raw);
    free(packed);
    free(out);
}

static void put_sound(const char *folder, const char *name)
{
    static uint8_t wav[44 + SOUND_BYTES] =
        "RIFF\x24\x00\x10\x00WAVEfmt \x10\0\0\0\1\0\2\0\x44\xac\0\0\x10\xb1\2\0\4\0\x10\0data";
    wav[42] = 0x10; // 1 MiB of samples
    for (size_t i = 44; i < sizeof wav; i++) {
        wav[i] = (uint8_t)(rng_u64(&rng) & 0x3f);
    }
    put_file(folder, name, wav, sizeof wav);
}

static void put_text(const char *folder, const char *name)
{
    static const char *const words[] = {"local ",  "function ", "end\n",     "= ",
                                        "player ", "door.",     "Position ", "( ",
                                        ") ",      "1.25 ",     "then\n",    "if "};
    static char text[TEXT_BYTES + 16];
    size_t at = 0;
    while (at < TEXT_BYTES) {
        const char *word = words[rng_u64(&rng) % (sizeof words / sizeof words[0])];
        memcpy(text + at, word, strlen(word));
        at += strlen(word);
    }
    put_file(folder, name, text, at);
}

static void make_place(const char *folder)
{
    char name[64];
    snprintf(name, sizeof name, "%s/assets", folder);
    ASSERT(mkdir(name, 0700) == 0);
    snprintf(name, sizeof name, "%s/Workspace", folder);
    ASSERT(mkdir(name, 0700) == 0);
    put_file(folder, "place.json", "{\"format\":1,\"name\":\"Bench\"}", 27);
    put_file(folder, "scene.json", "{\"format\":1}", 12);
    for (int i = 0; i < PICTURES; i++) {
        snprintf(name, sizeof name, "assets/p%d.png", i);
        put_picture(folder, name);
    }
    for (int i = 0; i < SOUNDS; i++) {
        snprintf(name, sizeof name, "assets/s%d.wav", i);
        put_sound(folder, name);
    }
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "Workspace/T%d.lua", i);
        put_text(folder, name);
    }
}

// --- libarchive alone ---------------------------------------------------------------------------

static size_t plain_pack(const char *folder, uint8_t *out, size_t capacity)
{
    char reason[WORKER_REASON_BYTES];
    PlaceFolder files;
    size_t used = 0;
    ASSERT(place_folder_read_all(folder, &files, reason) == STATUS_OK);
    struct archive *zip = archive_write_new();
    ASSERT(archive_write_set_format_zip(zip) == ARCHIVE_OK);
    ASSERT(archive_write_open_memory(zip, out, capacity, &used) == ARCHIVE_OK);
    for (uint32_t i = 0; i < files.file_count; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, files.files[i].path);
        archive_entry_set_size(entry, (int64_t)files.files[i].bytes);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        ASSERT(archive_write_header(zip, entry) == ARCHIVE_OK);
        ASSERT(archive_write_data(zip, files.files[i].data, files.files[i].bytes) ==
               (la_ssize_t)files.files[i].bytes);
        archive_entry_free(entry);
    }
    ASSERT(archive_write_close(zip) == ARCHIVE_OK);
    archive_write_free(zip);
    place_folder_free(&files);
    return used;
}

static void plain_read(const uint8_t *bytes, size_t count)
{
    struct archive *zip = archive_read_new();
    struct archive_entry *entry;
    ASSERT(archive_read_support_format_zip_seekable(zip) == ARCHIVE_OK);
    ASSERT(archive_read_open_memory(zip, (void *)(uintptr_t)bytes, count) == ARCHIVE_OK);
    while (archive_read_next_header(zip, &entry) == ARCHIVE_OK) {
        const size_t size = (size_t)archive_entry_size(entry);
        uint8_t *data = malloc(size + 1);
        ASSERT(data != NULL && archive_read_data(zip, data, size) == (la_ssize_t)size);
        free(data);
    }
    archive_read_free(zip);
}

// --- measuring ----------------------------------------------------------------------------------

typedef struct Times {
    double pack[ROUNDS], plain_pack[ROUNDS], read[ROUNDS], plain_read[ROUNDS], unpack[ROUNDS];
} Times;

static size_t measure(Worker *worker, const char *folder, int round, Times *times)
{
    static uint8_t plain[80u << 20];
    char reason[WORKER_REASON_BYTES] = "", target[64];
    Buffer zip = {0};
    PlaceFolder files;
    DiagnosticList warnings = {0};
    const BuildContext context = {.worker = worker, .diagnostics = &warnings, .reason = reason};
    double began = bench_seconds();
    const size_t plain_bytes = plain_pack(folder, plain, sizeof plain);
    times->plain_pack[round] = bench_seconds() - began;
    began = bench_seconds();
    ASSERT(package_write(&context, folder, &zip) == STATUS_OK);
    times->pack[round] = bench_seconds() - began;
    began = bench_seconds();
    plain_read(plain, plain_bytes);
    times->plain_read[round] = bench_seconds() - began;
    began = bench_seconds();
    ASSERT(package_read(&context, zip.data, zip.bytes, &files) == STATUS_OK);
    times->read[round] = bench_seconds() - began;
    snprintf(target, sizeof target, "%s-%d", folder, round);
    began = bench_seconds();
    ASSERT(package_unpack(&files, target, reason) == STATUS_OK);
    times->unpack[round] = bench_seconds() - began;
    const size_t bytes = files.bytes;
    place_folder_free(&files);
    buffer_free(&zip);
    diagnostic_list_free(&warnings);
    return bytes;
}

int main(int argc, char **argv)
{
    BenchReport report = {.json = argc > 1 && strcmp(argv[1], "--json") == 0};
    char folder[] = "/tmp/sandlot-bench-XXXXXX", command[96];
    const WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    static Times times;
    size_t bytes = 0;
    rng = rng_make(7, 0);
    ASSERT(mkdtemp(folder) != NULL && worker_create(&config, &worker) == STATUS_OK);
    make_place(folder);
    for (int i = 0; i < ROUNDS; i++) {
        bytes = measure(worker, folder, i, &times);
    }
    worker_destroy(worker);
    snprintf(command, sizeof command, "rm -rf %s %s-*", folder, folder);
    ASSERT(system(command) == 0);
    const double megabytes = (double)bytes / 1e6;
    const double pack = bench_median(times.pack, ROUNDS), read = bench_median(times.read, ROUNDS);
    const double plain = bench_median(times.plain_pack, ROUNDS);
    const double plain_back = bench_median(times.plain_read, ROUNDS);
    bench_note("a place of %.1f MB", megabytes);
    bench_row(&report, "package.pack", pack * 1e3 / megabytes, "ms/MB", BENCH_NO_GOAL);
    bench_row(&report, "package.pack_times_libarchive", pack / plain, "x", BENCH_NO_GOAL);
    bench_row(&report, "package.read", read * 1e3 / megabytes, "ms/MB", BENCH_NO_GOAL);
    bench_row(&report, "package.read_times_libarchive", read / plain_back, "x", BENCH_NO_GOAL);
    bench_row(&report, "package.unpack_to_disk",
              bench_median(times.unpack, ROUNDS) * 1e3 / megabytes, "ms/MB", BENCH_NO_GOAL);
    return 0;
}
