// Updating references on disk and in memory, with a real worker.
#define _GNU_SOURCE
#include "core/base/sha256.h"
#include "server/build/scene_ref.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOOR "{\"scriptRef\": {\"path\": \"Workspace/Door.ts\"}}"

static char reason[WORKER_REASON_BYTES];

static Worker *make_worker(void)
{
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = true;
    Worker *worker = NULL;
    CHECK_OK(worker_create(&config, &worker));
    return worker;
}

static TestFolder make_place(void)
{
    const TestFolder place = test_folder_make();
    test_folder_write(&place, "scene.json", "{\"entities\": [" DOOR "]}\n");
    test_folder_write(&place, "prefabs/Gate.json", DOOR);
    test_folder_write(&place, "prefabs/Wrong.json", "{\"scriptRef\": ");
    test_folder_write(&place, "other.json", DOOR);
    return place;
}

static const SceneRefScript script = {.path = "Workspace/Door", .language = SOUL_TYPESCRIPT};

static Status update(Worker *worker, PlaceFolder *folder, SceneRefChanges *changes)
{
    reason[0] = '\0';
    *changes = (SceneRefChanges){0};
    DiagnosticList diagnostics = {0};
    uint8_t used = 0;
    const Status status = scene_ref_update(&(Asker){.worker = worker}, folder, &script, 1, &used,
                                           changes, &diagnostics, reason);
    CHECK_INT(diagnostics.count, 0);
    return status;
}

static bool has(const PlaceFolder *folder, const char *path, const char *text)
{
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const PlaceFile *file = &folder->files[i];
        if (strcmp(file->path, path) == 0) {
            return memmem(file->data, file->bytes, text, strlen(text)) != NULL;
        }
    }
    return false;
}

static const char made[] = ".sandlot/server/soul/Workspace/Door.lua";

TEST(memory_first_then_the_disk)
{
    const TestFolder place = make_place();
    Worker *worker = make_worker();
    PlaceFolder folder = {0};
    SceneRefChanges changes;
    REQUIRE(place_folder_read(place.path, &folder, reason, sizeof reason) == STATUS_OK);
    const size_t bytes = folder.bytes;
    REQUIRE(update(worker, &folder, &changes) == STATUS_OK);
    CHECK_INT(changes.count, 2);
    CHECK(has(&folder, "scene.json", made) && has(&folder, "prefabs/Gate.json", made));
    CHECK(!has(&folder, "other.json", made));
    CHECK(folder.bytes > bytes);
    CHECK_TEXT(test_folder_read(&place, "prefabs/Gate.json"), DOOR);
    CHECK_OK(scene_ref_write(place.path, &changes, reason));
    CHECK(strstr(test_folder_read(&place, "scene.json"), made) != NULL);
    CHECK(strstr(test_folder_read(&place, "prefabs/Gate.json"), made) != NULL);
    CHECK_TEXT(test_folder_read(&place, "prefabs/Wrong.json"), "{\"scriptRef\": ");
    CHECK_TEXT(test_folder_read(&place, "other.json"), DOOR);
    CHECK_INT(test_folder_count(&place, ""), 3); // nothing is left beside them
    scene_ref_changes_free(&changes);
    // Once is enough.
    REQUIRE(update(worker, &folder, &changes) == STATUS_OK);
    CHECK_INT(changes.count, 0);
    scene_ref_changes_free(&changes);
    place_folder_free(&folder);
    worker_destroy(worker);
    test_folder_remove(&place);
}

TEST(what_is_undone_is_as_it_was)
{
    const TestFolder place = make_place();
    Worker *worker = make_worker();
    PlaceFolder folder = {0};
    SceneRefChanges changes;
    REQUIRE(place_folder_read(place.path, &folder, reason, sizeof reason) == STATUS_OK);
    const size_t bytes = folder.bytes;
    REQUIRE(update(worker, &folder, &changes) == STATUS_OK);
    CHECK(has(&folder, "scene.json", made));
    scene_ref_undo(&folder, &changes);
    CHECK_INT(changes.count, 0);
    CHECK_INT(folder.bytes, bytes);
    CHECK(has(&folder, "scene.json", DOOR) && !has(&folder, "scene.json", made));
    place_folder_free(&folder);
    worker_destroy(worker);
    test_folder_remove(&place);
}

// What an editor has saved since the build read it is not overwritten, and no link is followed.
TEST(what_changed_meanwhile_is_left)
{
    const TestFolder place = make_place();
    const TestFolder outside = test_folder_make();
    Worker *worker = make_worker();
    PlaceFolder folder = {0};
    REQUIRE(place_folder_read(place.path, &folder, reason, sizeof reason) == STATUS_OK);
    test_folder_write(&place, "scene.json", "{\"entities\": []}");
    test_folder_write(&outside, "Gate.json", DOOR);
    char gate[128], target[128];
    snprintf(gate, sizeof gate, "%s/prefabs/Gate.json", place.path);
    snprintf(target, sizeof target, "%s/Gate.json", outside.path);
    CHECK(unlink(gate) == 0 && symlink(target, gate) == 0);
    SceneRefChanges changes;
    REQUIRE(update(worker, &folder, &changes) == STATUS_OK);
    CHECK_OK(scene_ref_write(place.path, &changes, reason));
    CHECK(has(&folder, "scene.json", made)); // what is compiled is what was read
    CHECK_TEXT(test_folder_read(&place, "scene.json"), "{\"entities\": []}");
    CHECK_TEXT(test_folder_read(&outside, "Gate.json"), DOOR);
    scene_ref_changes_free(&changes);
    place_folder_free(&folder);
    worker_destroy(worker);
    test_folder_remove(&place);
    test_folder_remove(&outside);
}
