// A place of 500 scripts through the whole pipeline: cold, when nothing changed, and when one
// script changed; the size of the runes that are sent to clients; and TypeScript from an edit to
// the rune. The program starts itself as the worker and as the launcher of Node.
//   bench_build [--json]
#define _GNU_SOURCE
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/script/rune/rune_unpack.h"
#include "server/build/inside/rune_pack.h"
#include "server/build/pipeline/build.h"
#include "server/build/place/template.h"
#include "server/sys/file.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define SCRIPTS      500
#define PIECES_EACH  5
#define TYPESCRIPTS  20
#define COLD_ROUNDS  3
#define ROUNDS       9
#define ZSTD_LEVEL   9     // as a host has it
#define SIZE_GOAL    45.0  // per cent that may be left
#define EDIT_GOAL_MS 100.0 // from a saved .ts to its rune

// What scripts of games are made of; %1$u makes names and numbers differ from script to script.
static const char *const pieces[] = {
    "local coins%1$u = {}\n"
    "local function reset%1$u(player)\n"
    "    coins%1$u[player] = 0\n"
    "    Log.Info('reset', player.Name)\n"
    "end\n"
    "Players.PlayerAdded:Connect(function(player)\n"
    "    reset%1$u(player)\n"
    "    player.Chatted:Connect(function(text)\n"
    "        if text == '/reset%1$u' then\n"
    "            reset%1$u(player)\n"
    "        end\n"
    "    end)\n"
    "end)\n",
    "local speed%1$u, reach%1$u = %1$u / 7, 20 + %1$u %% 5\n"
    "local function patrol%1$u(from, to, time)\n"
    "    local way = to - from\n"
    "    local part = (time * speed%1$u) %% 2\n"
    "    if part > 1 then\n"
    "        part = 2 - part\n"
    "    end\n"
    "    return from + way * part\n"
    "end\n"
    "local steps%1$u = {}\n"
    "for i = 1, reach%1$u do\n"
    "    steps%1$u[i] = patrol%1$u(i, i * 2, i / 3)\n"
    "end\n",
    "local Queue%1$u = {}\n"
    "Queue%1$u.__index = Queue%1$u\n"
    "function Queue%1$u.new(limit)\n"
    "    return setmetatable({first = 1, last = 0, limit = limit, items = {}}, Queue%1$u)\n"
    "end\n"
    "function Queue%1$u:push(item)\n"
    "    if self.last - self.first + 1 >= self.limit then\n"
    "        return false, 'the queue is full'\n"
    "    end\n"
    "    self.last = self.last + 1\n"
    "    self.items[self.last] = item\n"
    "    return true\n"
    "end\n"
    "function Queue%1$u:pop()\n"
    "    if self.first > self.last then\n"
    "        return nil\n"
    "    end\n"
    "    local item = self.items[self.first]\n"
    "    self.items[self.first] = nil\n"
    "    self.first = self.first + 1\n"
    "    return item\n"
    "end\n",
    "local prices%1$u = {sword = %1$u, shield = 2 * %1$u, potion = 5, ['iron boots'] = 40}\n"
    "local function describe%1$u(name, count)\n"
    "    local price = prices%1$u[name]\n"
    "    if price == nil then\n"
    "        return string.format('there is no %%s in shop %1$u', name)\n"
    "    end\n"
    "    local total = price * count\n"
    "    if count > 10 then\n"
    "        total = math.floor(total * 0.9)\n"
    "    end\n"
    "    return string.format('%%d x %%s: %%d coins', count, name, total)\n"
    "end\n"
    "local lines%1$u = {}\n"
    "for name in pairs(prices%1$u) do\n"
    "    table.insert(lines%1$u, describe%1$u(name, 3))\n"
    "end\n"
    "table.sort(lines%1$u)\n",
    "local rounds%1$u = 0\n"
    "local function best%1$u(scores)\n"
    "    local name, most = nil, -math.huge\n"
    "    for who, score in pairs(scores) do\n"
    "        if score > most or (score == most and who < name) then\n"
    "            name, most = who, score\n"
    "        end\n"
    "    end\n"
    "    rounds%1$u = rounds%1$u + 1\n"
    "    return name, most\n"
    "end\n"
    "local winner%1$u = best%1$u({ann = %1$u, bo = 17, cy = 9})\n"
    "if winner%1$u == 'ann' and rounds%1$u > 0 then\n"
    "    rounds%1$u = 0\n"
    "end\n",
};
#define PIECES (sizeof pieces / sizeof pieces[0])

static const char scene[] =
    "{\"format\":1,\"entities\":[{\"id\":1,\"name\":\"Start\",\"type\":\"spawn\"}]}";

static char place[64];

// --- the place ----------------------------------------------------------------------------------

static void put_file(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", place, path);
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    ASSERT(file_make_folders(whole) == STATUS_OK);
    *slash = '/';
    FILE *file = fopen(whole, "wb");
    ASSERT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void put_script(uint32_t number, uint32_t change)
{
    static char source[32768];
    static const char *const services[] = {"ServerScriptService", "Workspace", "StarterGui"};
    char path[96];
    Rng rng = rng_make(number, 0);
    size_t at = (size_t)snprintf(source, sizeof source, "-- script %u\nlocal change = %u\n", number,
                                 change);
    for (uint32_t i = 0; i < PIECES_EACH; i++) {
        // The same format for all, on purpose: which piece it is, is chosen here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        at += (size_t)snprintf(source + at, sizeof source - at, pieces[rng_u32(&rng) % PIECES],
                               number * 10 + i);
#pragma GCC diagnostic pop
    }
    snprintf(source + at, sizeof source - at, "print(change)\n");
    snprintf(path, sizeof path, "%s/Part%u/Script%u.lua", services[number % 3], number % 20,
             number);
    put_file(path, source);
}

static void put_typescript(uint32_t number, uint32_t change)
{
    char path[96], source[2048];
    snprintf(source, sizeof source,
             "import { Shelf } from \"../ReplicatedStorage/Shelf\";\n"
             "const limit = %u;\n"
             "export function onStart(): void {\n"
             "    const shelf = new Shelf<number>(limit);\n"
             "    for (let i = 0; i < limit; i++) shelf.put(`item ${i}`, i * %u);\n"
             "    const best = shelf.names().filter((name) => shelf.at(name)! > 3).map((n) => n + "
             "\"!\");\n"
             "    best.forEach((name) => print(name));\n"
             "}\n",
             number + 1, change);
    snprintf(path, sizeof path, "Workspace/Typed%u.ts", number);
    put_file(path, source);
}

static void put_shelf(void)
{
    put_file("ReplicatedStorage/Shelf.ts",
             "export class Shelf<T> {\n"
             "    private readonly items = new Map<string, T>();\n"
             "    constructor(private readonly limit: number) {}\n"
             "    put(name: string, item: T): boolean {\n"
             "        if (this.items.size >= this.limit) return false;\n"
             "        this.items.set(name, item);\n"
             "        return true;\n"
             "    }\n"
             "    at(name: string): T | undefined { return this.items.get(name); }\n"
             "    names(): string[] { return [...this.items.keys()]; }\n"
             "}\n");
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_all(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); // what stays is in /tmp
}

// --- measuring ----------------------------------------------------------------------------------

static double build(Builder *builder, bool write, uint32_t compiled_count, BuildResult *out)
{
    const BuildRequest request = {.place = place, .write = write};
    char reason[WORKER_REASON_BYTES];
    const double began = bench_seconds();
    const Status status = builder_build(builder, &request, out, reason);
    const double taken = bench_seconds() - began;
    if (status != STATUS_OK || out->compiled_count != compiled_count) {
        for (uint32_t i = 0; i < out->diagnostics.count; i++) {
            char line[1024];
            diagnostic_text(&out->diagnostics.items[i], "", line, sizeof line);
            bench_note("%s", line);
        }
        bench_note("not built as expected: %s, %u compiled", reason, out->compiled_count);
        exit(1);
    }
    return taken * 1e3;
}

static double build_only(Builder *builder, bool write, uint32_t compiled_count)
{
    BuildResult result;
    const double taken = build(builder, write, compiled_count, &result);
    build_result_free(&result);
    return taken;
}

static Builder *make_builder(void)
{
    BuildConfig config = build_config_default();
    config.allow_weak_jail = true;
    Builder *builder = NULL;
    ASSERT(builder_create(&config, &builder) == STATUS_OK);
    return builder;
}

static size_t zstd_bytes(const void *data, size_t count)
{
    const size_t bound = ZSTD_compressBound(count);
    void *block = malloc(bound);
    ASSERT(block != NULL);
    const size_t bytes = ZSTD_compress(block, bound, data, count, ZSTD_LEVEL);
    ASSERT(!ZSTD_isError(bytes));
    free(block);
    return bytes;
}

// Both ends of packed runes.
typedef struct Ends {
    RunePack *pack;
    RuneUnpack *unpack;
    Heap heap;
} Ends;

static size_t packed_bytes(Ends *ends, const BuildRune *rune, double *unpack_seconds)
{
    uint8_t *block = malloc(2 * rune->count);
    ASSERT(block != NULL);
    size_t bytes = rune->count;
    uint8_t *back = block + rune->count;
    if (rune_pack_pack(ends->pack, rune->bytes, rune->count, block, &bytes) == STATUS_OK) {
        const double began = bench_seconds();
        ASSERT(rune_unpack(ends->unpack, rune->path, block, bytes, back, rune->count) == STATUS_OK);
        *unpack_seconds += bench_seconds() - began;
        ASSERT(memcmp(back, rune->bytes, rune->count) == 0);
    }
    free(block);
    return bytes;
}

// Each by itself, as it is sent: packed to pages and to native clients, over HTTP and over the
// socket; as plain zstd to clients that only support HTTP's encodings.
static void weigh(BenchReport *report, const char *what, Ends *ends, const BuildResult *result)
{
    size_t plain = 0, packed = 0, zstd = 0;
    double unpack = 0;
    const double began = bench_seconds();
    for (uint32_t i = 0; i < result->rune_count; i++) {
        plain += result->runes[i].count;
        packed += packed_bytes(ends, &result->runes[i], &unpack);
    }
    const double pack = bench_seconds() - began - unpack;
    for (uint32_t i = 0; i < result->rune_count; i++) {
        zstd += zstd_bytes(result->runes[i].bytes, result->runes[i].count);
    }
    const struct {
        const char *row, *unit;
        double value, goal;
    } rows[] = {
        {"bytes", "bytes/rune", (double)plain / result->rune_count, BENCH_NO_GOAL},
        {"packed", "%", 100.0 * (double)packed / (double)plain, SIZE_GOAL},
        {"zstd", "%", 100.0 * (double)zstd / (double)plain, BENCH_NO_GOAL},
        {"pack", "ms/rune", pack * 1e3 / result->rune_count, BENCH_NO_GOAL},
        {"unpack", "ms/rune", unpack * 1e3 / result->rune_count, BENCH_NO_GOAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "build.%s_%s", what, rows[i].row);
        bench_row(report, name, rows[i].value, rows[i].unit, rows[i].goal);
    }
}

// What creators begin with: scripts of some hundred bytes, none of which is in the dictionary.
static void weigh_template(BenchReport *report, const char *what, Ends *ends, bool typescript)
{
    char obby[128], reason[WORKER_REASON_BYTES];
    snprintf(obby, sizeof obby, "%s-obby", place);
    uint32_t files = 0;
    ASSERT(template_write(obby, "obby", typescript, NULL, &files, reason) == STATUS_OK);
    Builder *builder = make_builder();
    BuildResult result;
    const BuildRequest request = {.place = obby};
    ASSERT(builder_build(builder, &request, &result, reason) == STATUS_OK);
    weigh(report, what, ends, &result);
    build_result_free(&result);
    builder_destroy(builder);
    remove_all(obby);
}

static void bench_runes(BenchReport *report, const BuildResult *result)
{
    Ends ends = {.heap = heap_make(64u << 20)};
    const double began = bench_seconds();
    ASSERT(rune_unpack_create(&ends.heap, &ends.unpack) == STATUS_OK);
    bench_row(report, "build.dictionary", (bench_seconds() - began) * 1e3, "ms", BENCH_NO_GOAL);
    ASSERT(rune_pack_create(&ends.pack) == STATUS_OK);
    weigh(report, "rune", &ends, result);
    weigh_template(report, "obby_rune", &ends, false);
    weigh_template(report, "obby_typescript_rune", &ends, true);
    rune_pack_destroy(ends.pack);
    rune_unpack_destroy(ends.unpack);
}

static void bench_lua(BenchReport *report)
{
    double cold[COLD_ROUNDS], warm[ROUNDS], changed[ROUNDS];
    char made[96];
    snprintf(made, sizeof made, "%s/.sandlot", place);
    for (uint32_t i = 0; i < SCRIPTS; i++) {
        put_script(i, 0);
    }
    for (uint32_t round = 0; round < COLD_ROUNDS; round++) {
        remove_all(made);
        Builder *builder = make_builder();
        BuildResult result;
        cold[round] = build(builder, true, SCRIPTS, &result);
        if (round == 0) {
            bench_runes(report, &result);
        }
        build_result_free(&result);
        builder_destroy(builder);
    }
    // Each with a builder of its own, as one `sandlot build` after the other.
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Builder *builder = make_builder();
        warm[round] = build_only(builder, true, 0);
        builder_destroy(builder);
        put_script(round, round + 1);
        builder = make_builder();
        changed[round] = build_only(builder, true, 1);
        builder_destroy(builder);
    }
    const double cold_ms = bench_median(cold, COLD_ROUNDS);
    const double warm_ms = bench_median(warm, ROUNDS), changed_ms = bench_median(changed, ROUNDS);
    bench_row(report, "build.cold", cold_ms, "ms", BENCH_NO_GOAL);
    bench_row(report, "build.cold_script", cold_ms / SCRIPTS, "ms/script", BENCH_NO_GOAL);
    bench_row(report, "build.unchanged", warm_ms, "ms", BENCH_NO_GOAL);
    bench_row(report, "build.one_changed", changed_ms, "ms", BENCH_NO_GOAL);
    bench_row(report, "build.unchanged_by_cold", warm_ms / cold_ms, "x", BENCH_NO_GOAL);
    bench_row(report, "build.one_changed_by_cold", changed_ms / cold_ms, "x", BENCH_NO_GOAL);
}

static void bench_typescript(BenchReport *report)
{
    put_shelf();
    for (uint32_t i = 0; i < TYPESCRIPTS; i++) {
        put_typescript(i, 1);
    }
    Builder *builder = make_builder();
    const double first =
        build_only(builder, true, TYPESCRIPTS + 2); // and the shelf, and the library
    double edits[ROUNDS], written[ROUNDS];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        put_typescript(round, round + 2);
        edits[round] = build_only(builder, false, 1);
        put_typescript(round, round + 100);
        written[round] = build_only(builder, true, 1);
    }
    builder_destroy(builder);
    bench_row(report, "build.typescript_first", first, "ms", BENCH_NO_GOAL);
    bench_row(report, "build.typescript_edit", bench_median(edits, ROUNDS), "ms", EDIT_GOAL_MS);
    bench_row(report, "build.typescript_edit_on_disk", bench_median(written, ROUNDS), "ms",
              BENCH_NO_GOAL);
}

static void begin_place(void)
{
    snprintf(place, sizeof place, "/tmp/sandlot-bench-XXXXXX");
    ASSERT(mkdtemp(place) != NULL);
    put_file("place.json", "{\"format\":1,\"name\":\"Bench\"}");
    put_file("scene.json", scene);
}

int main(int argc, char **argv)
{
    BenchReport report = {.json = argc > 1 && strcmp(argv[1], "--json") == 0};
    begin_place();
    bench_lua(&report);
    remove_all(place);
    begin_place();
    bench_typescript(&report);
    remove_all(place);
    return 0;
}
