// Listing the files of assets/, and detecting whether a file has changed.
#define _GNU_SOURCE
#include "server/build/asset/asset_file.h"

#include "server/build/package/package.h"
#include "server/build/place/place_file.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM (1u << 20)

typedef struct Stage {
    TestFolder folder;
    AssetFileList list;
    DiagnosticList diagnostics;
} Stage;

static void look(Stage *stage, uint32_t file_max, uint64_t bytes_max)
{
    asset_files_free(&stage->list);
    diagnostic_list_free(&stage->diagnostics);
    stage->diagnostics = (DiagnosticList){0};
    CHECK_OK(asset_files_list(stage->folder.path, file_max, bytes_max, &stage->list,
                              &stage->diagnostics));
    diagnostic_list_sort(&stage->diagnostics);
}

static void end(Stage *stage)
{
    asset_files_free(&stage->list);
    diagnostic_list_free(&stage->diagnostics);
    test_folder_remove(&stage->folder);
}

static void full_path(const Stage *stage, const char *path, char out[512])
{
    snprintf(out, 512, "%s/%s", stage->folder.path, path);
}

static bool said(const Stage *stage, const char *file, const char *code)
{
    for (uint32_t i = 0; i < stage->diagnostics.count; i++) {
        if (strcmp(stage->diagnostics.items[i].file, file) == 0 &&
            strcmp(stage->diagnostics.items[i].code, code) == 0) {
            return true;
        }
    }
    return false;
}

TEST(assets_are_listed_in_order_and_nothing_else_is)
{
    Stage stage = {.folder = test_folder_make()};
    look(&stage, 10, ROOM);
    CHECK(stage.list.count == 0 && stage.diagnostics.count == 0);
    static const char *const files[] = {"assets/z.png",      "assets/a/b.ogg", "assets/a.glb",
                                        "assets/README.md",  "assets/.hidden", "assets/Thumbs.db",
                                        "assets/data.json",  "picture.png",    "scene.json",
                                        "assets/.git/x.png", "assets/LICENSE"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        test_folder_write(&stage.folder, files[i], "12345");
    }
    look(&stage, 10, ROOM);
    CHECK_INT(stage.diagnostics.count, 0);
    REQUIRE(stage.list.count == 3);
    CHECK_TEXT(stage.list.items[0].path, "assets/a.glb");
    CHECK_TEXT(stage.list.items[1].path, "assets/a/b.ogg");
    CHECK_TEXT(stage.list.items[2].path, "assets/z.png");
    CHECK(stage.list.items[1].kind == KIND_OGG && stage.list.items[1].stamp.bytes == 5);
    CHECK_INT(stage.list.bytes, 15);
    end(&stage);
}

TEST(what_no_place_may_hold_is_named_with_its_rule)
{
    Stage stage = {.folder = test_folder_make()};
    char path[512];
    test_folder_write(&stage.folder, "assets/a.png", "x");
    test_folder_write(&stage.folder, "assets/tool.exe", "x");
    test_folder_write(&stage.folder, "assets/UP.PNG", "x");
    test_folder_write(&stage.folder, "assets/inner.zip", "x");
    test_folder_write(&stage.folder, "assets/con.png", "x");
    full_path(&stage, "assets/link.png", path);
    CHECK(symlink("a.png", path) == 0);
    full_path(&stage, "assets/pipe.png", path);
    CHECK(mkfifo(path, 0600) == 0);
    full_path(&stage, "assets/large.wav", path);
    test_folder_write(&stage.folder, "assets/large.wav", "");
    CHECK(truncate(path, (65 << 20)) == 0);
    look(&stage, 10, 1u << 30);
    CHECK_INT(stage.list.count, 1);
    CHECK_INT(stage.diagnostics.error_count, 7);
    CHECK(said(&stage, "assets/tool.exe", "kind") && said(&stage, "assets/UP.PNG", "kind"));
    CHECK(said(&stage, "assets/inner.zip", "nested") && said(&stage, "assets/con.png", "name"));
    CHECK(said(&stage, "assets/link.png", "link") && said(&stage, "assets/pipe.png", "special"));
    CHECK(said(&stage, "assets/large.wav", "size"));
    end(&stage);
}

TEST(two_names_for_one_file_and_too_many_of_them)
{
    Stage stage = {.folder = test_folder_make()};
    test_folder_write(&stage.folder, "assets/a.png", "12345");
    test_folder_write(&stage.folder, "assets/b/c.png", "12345");
    test_folder_write(&stage.folder, "assets/B/c.png", "12345");
    look(&stage, 10, ROOM);
    CHECK_INT(stage.diagnostics.error_count, 1);
    CHECK_TEXT(stage.diagnostics.items[0].code, "case");
    look(&stage, 2, ROOM);
    CHECK(stage.list.count == 2 && stage.diagnostics.error_count >= 1);
    CHECK(strcmp(stage.diagnostics.items[0].code, "count") == 0 ||
          strcmp(stage.diagnostics.items[1].code, "count") == 0);
    look(&stage, 10, 14);
    CHECK(stage.list.count == 2 && stage.list.bytes == 10);
    look(&stage, 0, 0);
    CHECK(stage.list.count == 0 && stage.diagnostics.error_count == 1);
    end(&stage);
}

TEST(a_stamp_changes_with_the_file)
{
    Stage stage = {.folder = test_folder_make()};
    AssetStamp before, after;
    uint8_t hash[SHA256_BYTES], want[SHA256_BYTES];
    int file = -1;
    test_folder_write(&stage.folder, "assets/a.png", "12345");
    CHECK_OK(place_file_open(stage.folder.path, "assets/a.png", &file));
    CHECK_OK(asset_stamp_of(file, &before));
    CHECK(!asset_stamp_is_settled(&before));
    AssetStamp old = before;
    old.changed_ns -= 10ll * 1000000000;
    CHECK(asset_stamp_is_settled(&old) && !asset_stamp_equal(&old, &before));
    CHECK_OK(asset_file_hash(file, &before, hash));
    sha256_of("12345", 5, want);
    CHECK(memcmp(hash, want, sizeof hash) == 0);
    // Longer, shorter, and the same length a little later.
    char path[512];
    full_path(&stage, "assets/a.png", path);
    CHECK(truncate(path, 6) == 0);
    CHECK(asset_file_hash(file, &before, hash) == STATUS_MISMATCH);
    CHECK(truncate(path, 4) == 0);
    CHECK(asset_file_hash(file, &before, hash) == STATUS_MISMATCH);
    usleep(20000);
    test_folder_write(&stage.folder, "assets/a.png", "54321");
    CHECK_OK(asset_stamp_of(file, &after));
    CHECK(!asset_stamp_equal(&before, &after));
    CHECK(asset_file_hash(file, &before, hash) == STATUS_MISMATCH);
    close(file);
    CHECK(place_file_open(stage.folder.path, "assets", &file) == STATUS_DENIED);
    CHECK(place_file_open(stage.folder.path, "../a.png", &file) == STATUS_MALFORMED);
    CHECK(place_file_open(stage.folder.path, "assets/b.png", &file) == STATUS_NOT_FOUND);
    end(&stage);
}

TEST(a_refusal_becomes_a_diagnostic)
{
    DiagnosticList list = {0};
    asset_file_refused(&list, "assets/a: b.png", "assets/a: b.png: dimensions: 9 × 9: too much");
    asset_file_refused(&list, "assets/c.png", "the worker died: again");
    asset_file_refused(&list, "assets/d.png", "assets/d.png: no rule at all");
    REQUIRE(list.count == 3);
    CHECK_TEXT(list.items[0].code, "dimensions");
    CHECK_TEXT(list.items[0].message, "9 × 9: too much");
    CHECK_TEXT(list.items[1].code, "asset");
    CHECK_TEXT(list.items[1].message, "the worker died: again");
    CHECK_TEXT(list.items[2].code, "asset");
    CHECK_TEXT(list.items[2].message, "no rule at all");
    diagnostic_list_free(&list);
}

TEST(the_names_that_a_worker_says_are_read_with_care)
{
    PackageModelFiles *files = calloc(1, sizeof *files);
    Buffer reply = buffer_of(ROOM);
    REQUIRE(files != NULL);
    CHECK(package_model_files_read(NULL, 0, files) && files->count == 0);
    buffer_put_block(&reply, "assets/a.bin", 12);
    buffer_put_block(&reply, "b.png", 5);
    CHECK(package_model_files_read(reply.data, reply.bytes, files) && files->count == 2);
    CHECK_TEXT(files->paths[1], "b.png");
    for (size_t cut = 1; cut < 9; cut++) {
        CHECK(!package_model_files_read(reply.data, reply.bytes - cut, files));
    }
    buffer_put_block(&reply, "a\0b", 3);
    CHECK(!package_model_files_read(reply.data, reply.bytes, files) && files->count == 0);
    buffer_free(&reply);
    reply = buffer_of(ROOM);
    char name[PACKAGE_PATH_BYTES];
    memset(name, 'n', sizeof name);
    buffer_put_block(&reply, name, sizeof name);
    CHECK(!package_model_files_read(reply.data, reply.bytes, files));
    buffer_free(&reply);
    reply = buffer_of(ROOM);
    for (uint32_t i = 0; i <= ASSET_MODEL_FILES_MAX; i++) {
        buffer_put_block(&reply, "a", 1);
    }
    CHECK(!package_model_files_read(reply.data, reply.bytes, files));
    CHECK(package_model_files_read(reply.data, reply.bytes - 5, files));
    buffer_free(&reply);
    free(files);
}
