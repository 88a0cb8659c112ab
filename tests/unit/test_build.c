// The pipeline as its callers see it. The test program starts itself as the worker.
#define _GNU_SOURCE
#include "core/base/json_read.h"
#include "core/base/sha256.h"
#include "server/build/pipeline/artifact.h"
#include "server/build/pipeline/build.h"
#include "server/build/soul/soul_view.h"
#include "server/sys/file.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCENE "{\"format\":1,\"entities\":[{\"id\":1,\"name\":\"S\",\"type\":\"spawn\"}]}"

extern const char island_runes[];

typedef struct Stage {
    TestFolder folder;
    Builder *builder;
    BuildResult result;
    Status status;
    char reason[WORKER_REASON_BYTES];
} Stage;

static Builder *make_builder(void)
{
    BuildConfig config = build_config_default();
    config.allow_weak_jail = true;
    Builder *builder = NULL;
    CHECK_OK(builder_create(&config, &builder));
    return builder;
}

static Stage begin(void)
{
    Stage stage = {.folder = test_folder_make(), .builder = make_builder()};
    test_folder_write(&stage.folder, "place.json", "{\"format\":1,\"name\":\"Small\"}");
    test_folder_write(&stage.folder, "scene.json", SCENE);
    return stage;
}

static void build(Stage *stage, BuildRequest request)
{
    build_result_free(&stage->result);
    request.place = stage->folder.path;
    stage->status = builder_build(stage->builder, &request, &stage->result, stage->reason);
}

static void end(Stage *stage)
{
    build_result_free(&stage->result);
    builder_destroy(stage->builder);
    test_folder_remove(&stage->folder);
}

// --- the same runes from every compiler of ours ------------------------------------------------

static void copy_file(const TestFolder *folder, const char *name)
{
    char path[512];
    uint8_t *bytes = NULL;
    size_t count = 0;
    snprintf(path, sizeof path, "%s/island/%s", SANDLOT_PLACES, name);
    REQUIRE(file_read(path, 1 << 20, &bytes, &count) == STATUS_OK);
    test_folder_write(folder, name, (const char *)bytes);
    free(bytes);
}

TEST(the_island_has_the_committed_hashes)
{
    Stage stage = {.folder = test_folder_make(), .builder = make_builder()};
    static const char *const names[] = {"place.json",
                                        "scene.json",
                                        "prefabs/Coconut.json",
                                        "prefabs/Crab.json",
                                        "prefabs/Pebble.json",
                                        "Workspace/DoorMat.lua",
                                        "ServerScriptService/Sea.lua"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        copy_file(&stage.folder, names[i]);
    }
    build(&stage, (BuildRequest){.write = false});
    CHECK_TEXT(stage.reason, "");
    REQUIRE(stage.status == STATUS_OK);
    static _Alignas(16) uint8_t block[1 << 16];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    JsonError error = {0};
    REQUIRE(json_parse(&config, island_runes, strlen(island_runes), &root, &error) == STATUS_OK);
    const JsonNode *runes = json_read_member(root, "runes", &error);
    REQUIRE(runes != NULL);
    CHECK_INT(stage.result.rune_count, runes->count);
    for (uint32_t i = 0; i < stage.result.rune_count; i++) {
        char hex[65];
        sha256_hex(stage.result.runes[i].hash, hex);
        const char *want =
            json_read_text(json_read_member(runes, stage.result.runes[i].path, &error), 64, &error);
        REQUIRE(error.status == STATUS_OK);
        CHECK_TEXT(hex, want);
    }
    end(&stage);
}

// --- what callers rely on ---------------------------------------------------------------------

TEST(without_write_everything_stays_in_the_result)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "Workspace/A.lua", "local a = 1\n");
    build(&stage, (BuildRequest){.write = false});
    REQUIRE(stage.status == STATUS_OK);
    CHECK(stage.result.rune_count == 1 && stage.result.version == 1 && !stage.result.unchanged);
    CHECK(stage.result.manifest_bytes == strlen(stage.result.manifest));
    CHECK(strstr(stage.result.client_manifest, "Workspace/A.lua") != NULL);
    CHECK(stage.result.whole_bytes > 0 && stage.result.stripped_bytes > 0);
    CHECK(!test_folder_has(&stage.folder, ".sandlot/server/soul/manifest.json"));
    build(&stage, (BuildRequest){.write = true});
    REQUIRE(stage.status == STATUS_OK);
    CHECK(stage.result.cached_count == 1 && stage.result.compiled_count == 0);
    CHECK_TEXT(test_folder_read(&stage.folder, ".sandlot/server/soul/manifest.json"),
               stage.result.manifest);
    build(&stage, (BuildRequest){.write = false});
    CHECK(stage.status == STATUS_OK && stage.result.unchanged && stage.result.version == 1);
    // All but the number, or every set that is never written would have the same.
    for (uint32_t version = 2; version < 4; version++) {
        test_folder_write(&stage.folder, "Workspace/A.lua",
                          version == 2 ? "local a = 2\n" : "local a = 3\n");
        build(&stage, (BuildRequest){.write = false});
        CHECK(stage.status == STATUS_OK && stage.result.version == version);
        build(&stage, (BuildRequest){.write = false});
        CHECK(stage.status == STATUS_OK && stage.result.version == version);
    }
    end(&stage);
}

TEST(a_script_says_where_it_runs_and_what_it_requires)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "ReplicatedStorage/M.lua", "return {}\n");
    test_folder_write(&stage.folder, "SoulService/StarterGui/Bar.lua",
                      "local m = require('ReplicatedStorage/M')\nprint(m)\n");
    build(&stage, (BuildRequest){.write = false});
    REQUIRE(stage.status == STATUS_OK && stage.result.rune_count == 2);
    const BuildRune *bar = &stage.result.runes[1];
    CHECK_TEXT(bar->path, "StarterGui/Bar");
    CHECK(bar->context == CONTEXT_CLIENT && bar->replicate && bar->service == SERVICE_STARTER_GUI);
    CHECK(strstr(stage.result.client_manifest, "\"requires\":[\"ReplicatedStorage/M\"]") != NULL);
    uint8_t hash[32];
    sha256_of("return {}\n", 10, hash);
    CHECK_BYTES(stage.result.runes[0].code_hash, hash, sizeof hash);
    end(&stage);
}

static bool has_children(void)
{
    return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
}

// The worker's answers are all in the cache: contexts, runes, the scene and what is to know of it.
// The Lua of a plain soul as a model would have left it, so that nobody has to be asked.
static void write_kept(const TestFolder *folder)
{
    static const char body[] = "local a = 1\n";
    char reason[WORKER_REASON_BYTES];
    PlaceFolder files;
    SoulList souls = {0};
    DiagnosticList diagnostics = {0};
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = true;
    BuildContext context = {.reason = reason};
    SoulView view;
    REQUIRE(place_folder_read(folder->path, &files, reason) == STATUS_OK &&
            soul_scan(&files, &souls, &diagnostics) == STATUS_OK && souls.count == 2 &&
            worker_create(&config, &context.worker) == STATUS_OK);
    REQUIRE(soul_view_open(&context, &files, &souls.items[1], &view) == STATUS_OK);
    SoulHeader header = {.name = "B.soul", .model = "m", .has_body = true, .has_review = true};
    memcpy(header.prompt, view.prompt.prompt_hash, SHA256_BYTES);
    memcpy(header.source, view.prompt.source_hash, SHA256_BYTES);
    soul_body_hash(body, sizeof body - 1, header.body);
    memcpy(header.review, header.body, SHA256_BYTES);
    Buffer file = buffer_of(4096);
    soul_header_write(&header, &file);
    buffer_put(&file, body, sizeof body);
    test_folder_write(folder, "Workspace/B.soul.lua", (const char *)file.data);
    buffer_free(&file);
    soul_view_close(&view);
    worker_destroy(context.worker);
    soul_list_free(&souls);
    diagnostic_list_free(&diagnostics);
    place_folder_free(&files);
}

// Contexts, texts, scripts, the line of a kept soul and its scene, what players get, what was
// signed: all of it was answered before.
TEST(an_unchanged_place_starts_no_process)
{
    static const char settings[] = "{\"format\": 1, \"name\": \"Pier\", \"limits\": "
                                   "{\"players\": 9}, \"contexts\": {\"Workspace/A\": \"Server\"}}";
    Stage stage = begin();
    test_folder_write(&stage.folder, "Workspace/A.lua", "local a = 1\n");
    test_folder_write(&stage.folder, "Workspace/B.soul", "Count to one.\n");
    test_folder_write(&stage.folder, "place.json", settings);
    write_kept(&stage.folder);
    for (uint32_t i = 0; i < 2; i++) {
        build(&stage, (BuildRequest){.write = true, .pack = true});
        CHECK_TEXT(stage.reason, "");
        REQUIRE(stage.status == STATUS_OK && stage.result.rune_count == 2);
        const BuildRune *rune = &stage.result.runes[1];
        CHECK(rune->packed != NULL && rune->packed_count < rune->count);
        CHECK(stage.result.runes[0].packed == NULL && stage.result.packing != 0);
        CHECK(stage.result.runes[0].context == CONTEXT_SERVER && !stage.result.runes[0].replicate);
        CHECK_TEXT(stage.result.facts.name, "Pier");
        CHECK_INT(stage.result.facts.player_max, 9);
        CHECK(has_children() == (i == 0)); // the worker stays with its builder
        builder_destroy(stage.builder);
        stage.builder = make_builder();
    }
    end(&stage);
}

typedef struct Seen {
    uint32_t counts[BUILD_STAGE_COUNT];
    BuildStage last;
    atomic_bool cancel;
    BuildStage cancel_at;
} Seen;

// What a build adds to the creator's own files it adds when it went well, and who watches them and
// builds again finds nothing to do.
TEST(references_are_written_last_and_once)
{
    Stage stage = begin();
    static const char scene[] =
        "{\"format\": 1, \"entities\": [\n"
        "  {\"id\": 1, \"name\": \"S\", \"type\": \"spawn\"},\n"
        "  {\"id\": 2, \"type\": \"part\", \"shape\": {\"size\": [1, 1, 1]},\n"
        "   \"scriptRef\": {\n    \"path\": \"Workspace/Door.lua\"}},\n"
        "  {\"id\": 3, \"type\": \"part\", \"shape\": {\"size\": [1, 1, 1]},\n"
        "   \"scriptRef\": {\"path\": \"ReplicatedStorage/Tools.lua\"}}]}\n";
    test_folder_write(&stage.folder, "scene.json", scene);
    test_folder_write(&stage.folder, "Workspace/Door.lua", "function onStart(self) end");
    test_folder_write(&stage.folder, "ReplicatedStorage/Tools.lua", "return {}");
    build(&stage, (BuildRequest){.write = true});
    CHECK_INT(stage.status, STATUS_MALFORMED);
    REQUIRE(stage.result.diagnostics.count == 1);
    const Diagnostic *told = &stage.result.diagnostics.items[0];
    CHECK_INT(told->line, 7); // of the file as it is on disk, not as it would be written
    CHECK(strstr(told->message, "$.entities[2].scriptRef must be in Workspace/") == told->message);
    CHECK_TEXT(test_folder_read(&stage.folder, "scene.json"), scene);

    test_folder_write(&stage.folder, "Workspace/Tools.lua", "return {}");
    char *mended = strdup(scene);
    memcpy(strstr(mended, "ReplicatedStorage/Tools.lua\""), "Workspace/Tools.lua\"        ", 28);
    test_folder_write(&stage.folder, "scene.json", mended);
    build(&stage, (BuildRequest){.write = true});
    REQUIRE(stage.status == STATUS_OK);
    CHECK(strstr(test_folder_read(&stage.folder, "scene.json"), "codeHash") != NULL);
    builder_destroy(stage.builder);
    stage.builder = make_builder();
    build(&stage, (BuildRequest){.write = true});
    REQUIRE(stage.status == STATUS_OK);
    CHECK(stage.result.unchanged);
    CHECK_INT(stage.result.compiled_count, 0);
    CHECK(!has_children());
    free(mended);
    end(&stage);
}

// With everything else that is wrong, each time, and in prefabs too.
TEST(a_misspelt_script_of_a_scene_is_an_error)
{
    Stage stage = begin();
    test_folder_write(
        &stage.folder, "scene.json",
        "{\"format\": 1, \"entities\": [{\"id\": 2, \"name\": \"S\", \"type\": \"spawn\"}, "
        "{\"id\": 1, \"type\": \"part\", \"shape\": "
        "{\"size\": [1, 1, 1]},\n\"scriptRef\": {\"path\": \"Workspace/Dooor.lua\"}}]}");
    test_folder_write(&stage.folder, "prefabs/Gate.json",
                      "{\"format\": 1, \"kind\": \"part\", \"shape\": {\"size\": [1, 1, 1]}, "
                      "\"scriptPath\": \"Workspace/Gate\"}");
    test_folder_write(&stage.folder, "Workspace/Door.lua", "function onStart(self end");
    for (uint32_t i = 0; i < 2; i++) {
        build(&stage, (BuildRequest){.write = true});
        CHECK_INT(stage.status, STATUS_MALFORMED);
        REQUIRE(stage.result.diagnostics.count == 3);
        const Diagnostic *gate = &stage.result.diagnostics.items[1];
        const Diagnostic *door = &stage.result.diagnostics.items[2];
        CHECK_TEXT(gate->file, "prefabs/Gate.json");
        CHECK(strstr(gate->message, "there is no Workspace/Gate.lua") != NULL);
        CHECK_TEXT(door->file, "scene.json");
        CHECK(door->level == DIAGNOSTIC_ERROR && door->line == 2 && door->column == 23);
        CHECK(strstr(door->message, "did you mean Workspace/Door?") != NULL);
    }
    end(&stage);
}

static void see(void *user, const BuildProgress *progress)
{
    Seen *seen = user;
    CHECK(progress->stage >= seen->last && progress->item != NULL);
    CHECK(progress->total == 0 || progress->done <= progress->total);
    CHECK(strchr(progress->item, '/') != progress->item); // the path of the place is not shown
    seen->counts[progress->stage] += 1;
    seen->last = progress->stage;
    if (progress->stage == seen->cancel_at) {
        atomic_store(&seen->cancel, true);
    }
}

TEST(progress_goes_through_the_stages_in_order)
{
    Stage stage = begin();
    Seen seen = {.cancel_at = BUILD_STAGE_COUNT};
    test_folder_write(&stage.folder, "Workspace/A.lua", "local a = 1\n");
    test_folder_write(&stage.folder, "Workspace/B.lua", "local b = 1\n");
    build(&stage, (BuildRequest){.write = true, .progress = see, .user = &seen});
    CHECK_OK(stage.status);
    CHECK(seen.counts[BUILD_COMPILE] == 2 && seen.counts[BUILD_DONE] == 1);
    end(&stage);
}

TEST(a_build_is_cancelled_at_every_stage_and_the_next_works)
{
    static const BuildStage stages[] = {BUILD_READ, BUILD_SCAN, BUILD_COMPILE, BUILD_SCENE};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        Stage stage = begin();
        Seen seen = {.cancel_at = stages[i]};
        test_folder_write(&stage.folder, "Workspace/A.lua", "local a = 1\n");
        test_folder_write(&stage.folder, "Workspace/B.lua", "local b = 1\n");
        build(&stage, (BuildRequest){
                          .write = true, .progress = see, .user = &seen, .cancel = &seen.cancel});
        CHECK_INT(stage.status, STATUS_DENIED);
        CHECK_TEXT(stage.reason, "cancelled");
        CHECK(!test_folder_has(&stage.folder, ".sandlot/server/soul"));
        build(&stage, (BuildRequest){.write = true});
        CHECK_OK(stage.status);
        end(&stage);
    }
}

TEST(one_builder_builds_two_places)
{
    Stage one = begin(), two = begin();
    test_folder_write(&one.folder, "Workspace/A.lua", "local a = 1\n");
    test_folder_write(&two.folder, "Workspace/A.lua", "local a = = 1\n");
    build(&one, (BuildRequest){.write = true});
    CHECK_OK(one.status);
    Builder *own = two.builder;
    two.builder = one.builder;
    build(&two, (BuildRequest){.write = true});
    CHECK_INT(two.status, STATUS_MALFORMED);
    CHECK(two.result.diagnostics.error_count == 1 && two.result.rune_count == 0);
    build(&one, (BuildRequest){.write = true});
    CHECK(one.status == STATUS_OK && one.result.unchanged);
    two.builder = own;
    end(&one);
    end(&two);
}

TEST(hostile_scripts_fail_alone)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "Workspace/Loop.lua", "while true do end\n");
    test_folder_write(&stage.folder, "Workspace/Good.lua", "local a = 1\n");
    build(&stage, (BuildRequest){.write = true});
    CHECK_OK(stage.status); // it compiles; that it never ends is a warning
    CHECK(stage.result.diagnostics.warning_count >= 1);
    static char deep[120000];
    memset(deep, '(', sizeof deep - 1);
    test_folder_write(&stage.folder, "Workspace/Deep.lua", deep);
    build(&stage, (BuildRequest){.write = true});
    CHECK_INT(stage.status, STATUS_MALFORMED);
    CHECK_INT(stage.result.diagnostics.error_count, 1);
    end(&stage);
}

// --- what it says when it does not build ---------------------------------------------------------

// Files in other encodings are reported in one way, whatever the file is, before anything reads
// them.
TEST(a_text_of_another_encoding_is_named_with_its_line)
{
    Stage stage = begin();
    static const struct {
        const char *path, *bytes;
        size_t count;
        uint32_t line;
    } files[] = {{"ReplicatedStorage/Latin.lua",
                  "-- a\n-- Stra\xdf"
                  "e\n",
                  15, 2},
                 {"Workspace/Wide.lua", "\xff\xfe-\0-\0", 6, 1},
                 {"Workspace/Wide2.ts", "/\0/\0\n\0", 6, 1},
                 {"Workspace/Words.soul", "Run.\n\nF\xfcr alle\n", 16, 3},
                 {"prefabs/A.json", "{\0}\0", 4, 1},
                 {"scene.json", "\xfe\xff\0{\0}", 6, 1}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        test_folder_write_bytes(&stage.folder, files[i].path, files[i].bytes, files[i].count);
    }
    build(&stage, (BuildRequest){.write = true});
    CHECK_INT(stage.status, STATUS_MALFORMED);
    REQUIRE(stage.result.diagnostics.count == 6);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const Diagnostic *told = &stage.result.diagnostics.items[i];
        CHECK_TEXT(told->file, files[i].path);
        CHECK_INT(told->line, files[i].line);
        CHECK_TEXT(told->message, "is no UTF-8; save it as UTF-8");
    }
    end(&stage);
}

// Together with what cannot be read at all; and each once, place.json too.
TEST(all_that_is_wrong_with_files_is_told_at_once)
{
    Stage stage = begin();
    char path[256];
    test_folder_write(&stage.folder, "Workspace/A.lua", "a\001");
    test_folder_write(&stage.folder, "place.json", "{\"format\":1,\001\"name\":\"Small\"}");
    snprintf(path, sizeof path, "%s/Workspace/Link.lua", stage.folder.path);
    REQUIRE(symlink("A.lua", path) == 0);
    build(&stage, (BuildRequest){.write = true});
    CHECK_INT(stage.status, STATUS_MALFORMED);
    const DiagnosticList *list = &stage.result.diagnostics;
    REQUIRE(list->count == 3 && list->error_count == 3);
    CHECK_TEXT(list->items[0].file, "Workspace/A.lua");
    CHECK_TEXT(list->items[0].message, "a text has no control characters");
    CHECK_TEXT(list->items[1].file, "Workspace/Link.lua");
    CHECK_TEXT(list->items[1].message, "is a link; links are not followed");
    CHECK_TEXT(list->items[2].file, "place.json");
    CHECK_TEXT(list->items[2].message, "a text has no control characters");
    end(&stage);
}

// A place that only pack would reject is built, with a warning.
TEST(a_name_that_no_package_holds_is_told)
{
    static const char *const names[] = {"ServerScriptService/con.lua", "prefabs/aux.json",
                                        "ServerScriptService/a\xcc\x88.lua"};
    Stage stage = begin();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const bool is_script = i != 1;
        test_folder_write(&stage.folder, names[i],
                          is_script ? "local a = 1\n"
                                    : "{\"format\": 1, \"kind\": \"part\", \"shape\": {\"size\": "
                                      "[1, 1, 1]}}");
    }
    for (uint32_t i = 0; i < 2; i++) { // the second time all is cached
        build(&stage, (BuildRequest){.write = true});
        CHECK_OK(stage.status);
        const DiagnosticList *list = &stage.result.diagnostics;
        REQUIRE(list->count == 3 && list->warning_count == 3);
        for (uint32_t d = 0; d < 3; d++) {
            CHECK_TEXT(list->items[d].code, "pack");
        }
        CHECK_TEXT(list->items[1].file, "ServerScriptService/con.lua");
        CHECK_TEXT(list->items[1].message,
                   "`sandlot pack` will refuse it: name: \"con.lua\" is a device on Windows");
    }
    end(&stage);
    // Letters of other alphabets have cases too.
    Stage other = begin();
    test_folder_write(&other.folder, "StarterGui/\xc3\x84.lua", "local a = 1\n");
    test_folder_write(&other.folder, "StarterGui/\xc3\xa4.lua", "local a = 1\n");
    build(&other, (BuildRequest){.write = true});
    CHECK_OK(other.status);
    REQUIRE(other.result.diagnostics.count == 1);
    CHECK(strstr(other.result.diagnostics.items[0].message, "nothing but case") != NULL);
    end(&other);
}

// Elsewhere a script in Workspace runs by being there, so somebody will wait for it.
TEST(a_script_that_nothing_has_is_told)
{
    static const char scene[] =
        "{\"format\":1,\"entities\":[{\"id\":1,\"name\":\"S\",\"type\":\"spawn\"},{\"id\":2,"
        "\"name\":\"B\",\"type\":\"part\",\"shape\":{\"size\":[1,1,1]},\"scriptRef\":{\"path\":"
        "\"Workspace/Bound.lua\"}}]}";
    Stage stage = begin();
    test_folder_write(&stage.folder, "scene.json", scene);
    test_folder_write(&stage.folder, "Workspace/Bound.lua", "require(\"Workspace/Module\")\n");
    test_folder_write(&stage.folder, "Workspace/Module.lua", "return 1\n");
    test_folder_write(&stage.folder, "Workspace/Lost.lua", "print(1)\n");
    test_folder_write(&stage.folder, "ServerScriptService/Free.lua", "print(1)\n");
    for (uint32_t i = 0; i < 3; i++) { // with the references just written, then with them kept
        build(&stage, (BuildRequest){.write = true});
        CHECK_OK(stage.status);
        const DiagnosticList *list = &stage.result.diagnostics;
        REQUIRE(list->count == 1 && list->warning_count == 1);
        CHECK_TEXT(list->items[0].file, "Workspace/Lost.lua");
        CHECK_TEXT(list->items[0].code, "unused");
        builder_destroy(stage.builder);
        CHECK(i == 0 || !has_children());
        stage.builder = make_builder();
    }
    end(&stage);
}

TEST(a_byte_order_mark_is_taken_everywhere)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "place.json", "\xef\xbb\xbf{\"format\":1,\"name\":\"Small\"}");
    test_folder_write(&stage.folder, "scene.json", "\xef\xbb\xbf" SCENE);
    test_folder_write(&stage.folder, "StarterGui/Door.lua", "\xef\xbb\xbflocal a = 1");
    build(&stage, (BuildRequest){.write = true});
    CHECK_INT(stage.result.diagnostics.count, 0);
    CHECK_INT(stage.status, STATUS_OK);
    end(&stage);
}

// Two readers stumble over the same place: one error, and a later stage does not talk over it.
TEST(what_is_wrong_is_counted_once)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "Workspace/A.lua", "local a = 1\n");
    test_folder_write(&stage.folder, "place.json", "{");
    build(&stage, (BuildRequest){.write = true});
    CHECK_INT(stage.status, STATUS_MALFORMED);
    CHECK_INT(stage.result.diagnostics.count, 1);
    CHECK_TEXT(stage.reason, "1 error");
    test_folder_write(&stage.folder, "place.json", "{\"format\":1,\"name\":\"S\",\"contexts\":[]}");
    build(&stage, (BuildRequest){.write = true});
    CHECK_INT(stage.status, STATUS_MALFORMED);
    CHECK_INT(stage.result.diagnostics.count, 1);
    CHECK_TEXT(stage.reason, "1 error");
    end(&stage);
}

TEST(a_module_that_is_not_there_has_a_neighbour)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "ReplicatedStorage/Format.lua", "return {}\n");
    test_folder_write(&stage.folder, "Workspace/A.lua", "require('ReplicatedStorage/Formt')\n");
    test_folder_write(&stage.folder, "Workspace/B.lua", "require('ReplicatedStorage/Tools')\n");
    build(&stage, (BuildRequest){.write = false});
    REQUIRE(stage.result.diagnostics.error_count == 2);
    CHECK(strstr(stage.result.diagnostics.items[0].message,
                 "did you mean \"ReplicatedStorage/Format\"?") != NULL);
    CHECK(strstr(stage.result.diagnostics.items[1].message, "write its service") != NULL);
    end(&stage);
}

// A lint reports a line; that it then fails in the dry run is not reported again.
TEST(one_mistake_has_one_warning)
{
    Stage stage = begin();
    test_folder_write(&stage.folder, "StarterGui/A.lua", "Wrold.Find(\"Door\")\n");
    test_folder_write(&stage.folder, "StarterGui/B.lua", "wiat = 1\nlocal none\nnone.x = wiat\n");
    build(&stage, (BuildRequest){.write = false});
    REQUIRE(stage.result.diagnostics.count == 2);
    CHECK_TEXT(stage.result.diagnostics.items[0].code, "undefined-global");
    CHECK_TEXT(stage.result.diagnostics.items[1].code, "dry-run");
    CHECK_INT(stage.result.diagnostics.items[1].line, 3);
    end(&stage);
}

TEST(an_error_is_not_hidden_by_warnings)
{
    DiagnosticList list = {0};
    for (uint32_t i = 0; i < DIAGNOSTICS_MAX; i++) {
        diagnostic_addf(&list, DIAGNOSTIC_WARNING, "Workspace/A.lua", i + 1, 0, "lint", "so so");
    }
    diagnostic_addf(&list, DIAGNOSTIC_ERROR, "Workspace/Z.lua", 1, 0, "syntax", "wrong");
    diagnostic_addf(&list, DIAGNOSTIC_WARNING, "Workspace/Z.lua", 2, 0, "lint", "so so");
    diagnostic_list_sort(&list);
    CHECK(list.count == DIAGNOSTICS_MAX && list.dropped_count == 2);
    CHECK(list.error_count == 1 && list.warning_count == DIAGNOSTICS_MAX + 1);
    CHECK_TEXT(list.items[list.count - 1].message, "wrong");
    diagnostic_list_free(&list);
}

// What could not be written whole (the disk is full) is not left lying there.
TEST(a_failed_write_leaves_nothing_aside)
{
    const TestFolder folder = test_folder_make();
    const PlaceFile files[] = {
        {.path = "Workspace/A.rune", .data = (const uint8_t *)"a", .bytes = 1},
        {.path = "Workspace/A.rune", .data = (const uint8_t *)"b", .bytes = 1}};
    const PlaceFolder before = {0};
    Artifacts *artifacts = NULL;
    char reason[WORKER_REASON_BYTES];
    REQUIRE(artifacts_open(folder.path, NULL, &artifacts, reason) == STATUS_OK);
    CHECK_INT(artifacts_prepare(artifacts, ARTIFACT_SERVER, &before, files, 2, reason),
              STATUS_BLOCKED); // the second is in the way of the first
    CHECK_INT(test_folder_count(&folder, ".sandlot/aside"), 1);
    artifacts_close(artifacts);
    CHECK_INT(test_folder_count(&folder, ".sandlot/aside"), 0);
    CHECK_INT(test_folder_count(&folder, ".sandlot/server"), 0);
    test_folder_remove(&folder);
}
