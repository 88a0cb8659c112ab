// What is said about the scripts of tests/script/check, about every hostile and other script of the
// tests, and about the island: exactly what check/expected.txt has, in every build. The build
// worker and core.wasm are held to the same file by tests/flow/test_check.py and
// tests/wasm/test_check.mjs.
//
// If it changes on purpose, copy what the test prints.
#include "core/base/json_read.h"
#include "core/base/sha256.h"
#include "core/script/check/check_list.h"
#include "core/script/check/check_place.h"
#include "core/script/rune/rune.h"
#include "tests/script/embedded.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define FILES_MAX 1024
#define LIST_MAX  1000
#define TEXT_MAX  (1u << 20)
#define HEAP_MAX  (256u << 20)

extern const char island_runes[]; // tests/vectors/island_runes.json

typedef struct Corpus {
    Heap heap;
    PlaceFile files[FILES_MAX];
    char paths[FILES_MAX][160];
    uint32_t file_count;
    char text[TEXT_MAX]; // what was said
    ByteWriter out;
} Corpus;

static Corpus corpus;

static const EmbeddedScript *embedded(const char *path)
{
    const EmbeddedScript *file = check_files;
    while (file->name != NULL && strcmp(file->name, path) != 0) {
        file++;
    }
    return file;
}

static void add_file(const char *folder, const char *name, const char *ending, const void *data,
                     size_t bytes)
{
    char *path = corpus.paths[corpus.file_count];
    (void)snprintf(path, sizeof corpus.paths[0], "%s%s%s", folder, name, ending);
    corpus.files[corpus.file_count++] = (PlaceFile){path, data, bytes};
}

static void add_scripts(const char *folder, const EmbeddedScript *scripts)
{
    for (; scripts->name != NULL; scripts++) {
        add_file(folder, scripts->name, ".lua", scripts->text, scripts->bytes);
    }
}

// The files of a folder of tests/script/check.
static void add_folder(const char *folder)
{
    for (const EmbeddedScript *file = check_files; file->name != NULL; file++) {
        if (strncmp(file->name, folder, strlen(folder)) == 0) {
            add_file("", file->name + strlen(folder), "", file->text, file->bytes);
        }
    }
}

// Rows of check/made.txt: a path, how many lines, and the line.
static void add_made(const char *folder)
{
    char path[128], line[32];
    uint32_t count;
    int used = 0;
    for (const char *at = embedded("made.txt")->text;
         sscanf(at, "%127s %u %31s\n%n", path, &count, line, &used) == 3; at += used) {
        const size_t line_bytes = strlen(line) + 1, bytes = count * line_bytes;
        char *text =
            strncmp(path, folder, strlen(folder)) == 0 ? heap_alloc(&corpus.heap, bytes + 1) : NULL;
        for (uint32_t i = 0; text != NULL && i < count; i++) {
            (void)snprintf(text + i * line_bytes, line_bytes + 1, "%s\n", line);
        }
        if (text != NULL) {
            add_file("", path + strlen(folder), "", text, bytes);
        }
    }
}

static void free_made(void)
{
    for (uint32_t i = 0; i < corpus.file_count; i++) {
        if (strstr(corpus.paths[i], "/size_") != NULL ||
            strstr(corpus.paths[i], "/rune_") != NULL) {
            heap_free(&corpus.heap, (void *)(uintptr_t)corpus.files[i].data);
        }
    }
    corpus.file_count = 0;
}

static void begin(const char *name)
{
    corpus.file_count = 0;
    byte_write_bytes(&corpus.out, "== ", 3);
    byte_write_bytes(&corpus.out, name, strlen(name));
    byte_write_u8(&corpus.out, '\n');
}

static void write_list(const CheckList *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        JsonWriter json = json_writer(&corpus.out, 0);
        check_list_write_item(&list->items[i], &json);
        CHECK_OK(json_writer_finish(&json));
        byte_write_u8(&corpus.out, '\n');
    }
    CHECK_INT(list->dropped_count, 0);
}

// A rune is there exactly when there is nothing to complain about but warnings, and it is whole.
static void check_output(const PlaceFile *file, Status status, const CheckOutput *output)
{
    Rune rune;
    if (status == STATUS_OK) {
        CHECK_OK(rune_check(output->rune, output->rune_bytes, &rune));
        CHECK(strstr(file->path, rune.path) != NULL);
    } else {
        CHECK(output->rune == NULL && output->requires == NULL);
    }
}

static void check_all(void)
{
    CheckList list;
    CheckPlace place;
    CHECK_OK(check_list_create(&corpus.heap, LIST_MAX, &list));
    const CheckSink sink = check_list_sink(&list);
    CHECK_OK(check_place_open(&corpus.heap, corpus.files, corpus.file_count, &sink, &place));
    for (uint32_t i = 0; i < corpus.file_count; i++) {
        if (check_place_module(&place, corpus.files[i].path) != NULL) {
            CheckOutput output = {0};
            const uint32_t errors = list.error_count;
            const Status status =
                check_place_script(&corpus.heap, &place, &corpus.files[i], &sink, &output);
            CHECK(status == STATUS_OK || (status == STATUS_MALFORMED && list.error_count > errors));
            CHECK_INT(output.error_count > 0, status == STATUS_OK && list.error_count > errors);
            check_output(&corpus.files[i], status, &output);
            check_output_free(&corpus.heap, &output);
        }
    }
    write_list(&list);
    check_place_close(&corpus.heap, &place);
    check_list_destroy(&corpus.heap, &list);
}

static void check_folders(void)
{
    char last[64] = "whole/";
    for (const EmbeddedScript *file = check_files; file->name != NULL; file++) {
        const char *end = strchr(file->name, '/');
        char folder[64] = "";
        if (end == NULL) {
            continue;
        }
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(end + 1 - file->name), file->name);
        if (strcmp(folder, last) != 0 && strcmp(folder, "whole/") != 0) {
            (void)snprintf(last, sizeof last, "%s", folder);
            folder[strlen(folder) - 1] = '\0';
            begin(folder);
            add_folder(last);
            add_made(last);
            check_all();
            free_made();
        }
    }
}

TEST(every_script_is_told_the_same_everywhere)
{
    corpus.heap = heap_make(HEAP_MAX);
    corpus.out = byte_writer((uint8_t *)corpus.text, sizeof corpus.text - 1);
    begin("island");
    for (const EmbeddedScript *file = island_files; file->name != NULL; file++) {
        add_file("", file->name, "", file->text, file->bytes);
    }
    check_all();
    check_folders();
    begin("whole");
    add_folder("whole/");
    add_made("whole/");
    add_scripts("ReplicatedStorage/hostile/", hostile_scripts);
    add_scripts("ReplicatedStorage/neighbours/", neighbour_scripts);
    add_scripts("ReplicatedStorage/same/", same_scripts);
    add_scripts("Workspace/api/", api_scripts);
    check_all();
    free_made();
    CHECK_INT(corpus.heap.bytes_now, 0);
    const EmbeddedScript *expected = embedded("expected.txt");
    const bool is_same = corpus.out.at == expected->bytes &&
                         memcmp(corpus.text, expected->text, expected->bytes) == 0;
    CHECK_OK(corpus.out.status);
    CHECK(is_same);
    if (!is_same) {
        printf("%s", corpus.text);
    }
}

// The rune of a script of the island, as a build makes it; test_build compares what a whole build
// makes.
static void hash_rune(const CheckPlace *place, const PlaceFile *file, char hex[65])
{
    CheckOutput output = {0};
    CheckList list;
    CHECK_OK(check_list_create(&corpus.heap, LIST_MAX, &list));
    const CheckSink sink = check_list_sink(&list);
    REQUIRE(check_place_script(&corpus.heap, place, file, &sink, &output) == STATUS_OK);
    uint8_t hash[SHA256_BYTES];
    sha256_of(output.rune, output.rune_bytes, hash);
    sha256_hex(hash, hex);
    check_output_free(&corpus.heap, &output);
    check_list_destroy(&corpus.heap, &list);
}

TEST(the_runes_of_the_island_have_the_committed_hashes)
{
    static _Alignas(16) uint8_t block[1 << 16];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    JsonError error = {0};
    REQUIRE(json_parse(&config, island_runes, strlen(island_runes), &root, &error) == STATUS_OK);
    const JsonNode *runes = json_read_member(root, "runes", &error);
    REQUIRE(runes != NULL);

    corpus.heap = heap_make(HEAP_MAX);
    corpus.file_count = 0;
    for (const EmbeddedScript *file = island_files; file->name != NULL; file++) {
        add_file("", file->name, "", file->text, file->bytes);
    }
    CheckPlace place;
    CheckList list;
    CHECK_OK(check_list_create(&corpus.heap, LIST_MAX, &list));
    const CheckSink sink = check_list_sink(&list);
    CHECK_OK(check_place_open(&corpus.heap, corpus.files, corpus.file_count, &sink, &place));
    uint32_t count = 0;
    for (uint32_t i = 0; i < corpus.file_count; i++) {
        const CheckModule *module = check_place_module(&place, corpus.files[i].path);
        if (module != NULL) {
            char hex[65];
            hash_rune(&place, &corpus.files[i], hex);
            CHECK_TEXT(hex,
                       json_read_text(json_read_member(runes, module->path, &error), 64, &error));
            count += 1;
        }
    }
    CHECK_INT(count, runes->count);
    check_place_close(&corpus.heap, &place);
    check_list_destroy(&corpus.heap, &list);
    CHECK_INT(corpus.heap.bytes_now, 0);
}
