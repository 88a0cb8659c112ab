// Updating references on disk and in memory, with a real worker.
#define _GNU_SOURCE
#include "core/base/sha256.h"
#include "server/build/pipeline/scene_ref_update.h"
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

static Status update_with(Worker *worker, BuildCache *cache, const PlaceFolder *folder,
                          SceneRefChanges *changes)
{
    reason[0] = '\0';
    DiagnosticList diagnostics = {0};
    uint8_t used = 0;
    const Status status = scene_ref_update(
        &(BuildContext){
            .worker = worker, .cache = cache, .diagnostics = &diagnostics, .reason = reason},
        folder, &script, 1, &used, changes);
    CHECK_INT(diagnostics.count, 0);
    return status;
}

static Status update(Worker *worker, const PlaceFolder *folder, SceneRefChanges *changes)
{
    return update_with(worker, NULL, folder, changes);
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

static const BuildContext context = {.reason = reason};
static const char made[] = ".sandlot/server/soul/Workspace/Door.lua";

TEST(memory_first_then_the_disk)
{
    const TestFolder place = make_place();
    Worker *worker = make_worker();
    PlaceFolder folder = {0};
    SceneRefChanges changes;
    REQUIRE(place_folder_read(place.path, &folder, reason) == STATUS_OK);
    const size_t bytes = folder.bytes;
    REQUIRE(update(worker, &folder, &changes) == STATUS_OK);
    CHECK_INT(changes.count, 2);
    const PlaceFolder *edited = &changes.edited;
    CHECK(has(edited, "scene.json", made) && has(edited, "prefabs/Gate.json", made));
    CHECK(!has(edited, "other.json", made));
    CHECK(edited->bytes > bytes);
    CHECK(folder.bytes == bytes && !has(&folder, "scene.json", made)); // it stays as it was
    CHECK_TEXT(test_folder_read(&place, "prefabs/Gate.json"), DOOR);
    CHECK_OK(scene_ref_write(&context, place.path, &changes));
    CHECK(strstr(test_folder_read(&place, "scene.json"), made) != NULL);
    CHECK(strstr(test_folder_read(&place, "prefabs/Gate.json"), made) != NULL);
    CHECK_TEXT(test_folder_read(&place, "prefabs/Wrong.json"), "{\"scriptRef\": ");
    CHECK_TEXT(test_folder_read(&place, "other.json"), DOOR);
    CHECK_INT(test_folder_count(&place, ""), 3); // nothing is left beside them
    scene_ref_changes_free(&changes);
    place_folder_free(&folder);
    // Once is enough.
    REQUIRE(place_folder_read(place.path, &folder, reason) == STATUS_OK);
    REQUIRE(update(worker, &folder, &changes) == STATUS_OK);
    CHECK_INT(changes.count, 0);
    scene_ref_changes_free(&changes);
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
    REQUIRE(place_folder_read(place.path, &folder, reason) == STATUS_OK);
    test_folder_write(&place, "scene.json", "{\"entities\": []}");
    test_folder_write(&outside, "Gate.json", DOOR);
    char gate[128], target[128];
    snprintf(gate, sizeof gate, "%s/prefabs/Gate.json", place.path);
    snprintf(target, sizeof target, "%s/Gate.json", outside.path);
    CHECK(unlink(gate) == 0 && symlink(target, gate) == 0);
    SceneRefChanges changes;
    REQUIRE(update(worker, &folder, &changes) == STATUS_OK);
    CHECK_OK(scene_ref_write(&context, place.path, &changes));
    CHECK(has(&changes.edited, "scene.json", made)); // what is compiled is what was read
    CHECK_TEXT(test_folder_read(&place, "scene.json"), "{\"entities\": []}");
    CHECK_TEXT(test_folder_read(&outside, "Gate.json"), DOOR);
    scene_ref_changes_free(&changes);
    place_folder_free(&folder);
    worker_destroy(worker);
    test_folder_remove(&place);
    test_folder_remove(&outside);
}

// The next build reads what this one wrote, and has the worker's answer for it.
TEST(what_was_written_is_not_asked_about_again)
{
    const TestFolder place = make_place(), home = test_folder_make();
    char path[128];
    SigningKey key;
    BuildCache *cache = NULL;
    snprintf(path, sizeof path, "%s/key", home.path);
    REQUIRE(signing_key_open(path, &key) == STATUS_OK);
    snprintf(path, sizeof path, "%s/cache", home.path);
    REQUIRE(cache_open(path, &key, &cache) == STATUS_OK);
    test_folder_write(&place, "prefabs/Wrong.json", "{}"); // which would be asked about each time
    for (uint32_t round = 0; round < 2; round++) {
        Worker *worker = make_worker();
        PlaceFolder folder = {0};
        SceneRefChanges changes;
        const BuildContext with_cache = {.cache = cache, .reason = reason};
        REQUIRE(place_folder_read(place.path, &folder, reason) == STATUS_OK);
        REQUIRE(update_with(worker, cache, &folder, &changes) == STATUS_OK);
        CHECK_INT(changes.count, round == 0 ? 2 : 0);
        CHECK_OK(scene_ref_write(&with_cache, place.path, &changes));
        CHECK((worker_pid(worker) == 0) == (round == 1));
        scene_ref_changes_free(&changes);
        place_folder_free(&folder);
        worker_destroy(worker);
    }
    cache_close(cache);
    test_folder_remove(&place);
    test_folder_remove(&home);
}
