// Saving a script from an editor: what is written, what is a conflict, and which of two
// simultaneous saves wins.
#define _GNU_SOURCE
#include "core/base/sha256.h"
#include "server/build/job/save.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"
#include "tests/unit/fake_builder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static JobQueue *queue;
static char reason[WORKER_REASON_BYTES];

static TestFolder make_place(void)
{
    const BuildConfig config = {0};
    fake_builder_reset();
    CHECK_OK(job_queue_create(&config, 1, &queue));
    const TestFolder place = test_folder_make();
    test_folder_write(&place, "scene.json", "{}");
    test_folder_write(&place, "Workspace/Door.lua", "return 1");
    return place;
}

static void end_place(const TestFolder *place)
{
    job_queue_destroy(queue);
    test_folder_remove(place);
}

static const char *hash_of(const char *text)
{
    static char hex[2 * SHA256_BYTES + 1];
    uint8_t digest[SHA256_BYTES];
    sha256_of(text, strlen(text), digest);
    sha256_hex(digest, hex);
    return hex;
}

static Status save(const TestFolder *place, const char *path, const char *code, const char *known,
                   SaveAnswer *out)
{
    const SaveRequest request = {.place = place->path,
                                 .path = path,
                                 .code = code,
                                 .code_bytes = strlen(code),
                                 .known_hash = known};
    reason[0] = '\0';
    return save_script(queue, &request, out, reason);
}

TEST(who_knows_the_file_may_change_it)
{
    const TestFolder place = make_place();
    chmod(place.path, 0755);
    SaveAnswer answer = {0};
    REQUIRE(save(&place, "Workspace/Door.lua", "return 2", hash_of("return 1"), &answer) ==
            STATUS_OK);
    CHECK_TEXT(answer.path, "Workspace/Door.lua");
    CHECK_TEXT(answer.hash, hash_of("return 2"));
    CHECK(answer.current == NULL);
    CHECK_TEXT(test_folder_read(&place, "Workspace/Door.lua"), "return 2");
    CHECK_INT(test_folder_count(&place, "Workspace"), 1); // nothing is left beside it
    JobStatus *status = malloc(sizeof *status);
    CHECK_OK(job_wait(queue, answer.job_id, 60000, status));
    CHECK_INT(status->state, JOB_DONE);
    free(status);
    end_place(&place);
}

TEST(a_new_script_has_no_hash)
{
    const TestFolder place = make_place();
    SaveAnswer answer = {0};
    REQUIRE(save(&place, "ServerScriptService/deep/er/Round.ts", "", NULL, &answer) == STATUS_OK);
    CHECK_TEXT(answer.hash, hash_of(""));
    CHECK(test_folder_has(&place, "ServerScriptService/deep/er/Round.ts"));
    REQUIRE(save(&place, "SoulService/StarterGui/Hud.soul", "a hud", NULL, &answer) == STATUS_OK);
    CHECK_TEXT(test_folder_read(&place, "SoulService/StarterGui/Hud.soul"), "a hud");
    end_place(&place);
}

TEST(a_conflict_writes_nothing_and_tells_all)
{
    const TestFolder place = make_place();
    SaveAnswer answer = {0};
    // It was changed meanwhile.
    REQUIRE(save(&place, "Workspace/Door.lua", "mine", hash_of("older"), &answer) ==
            STATUS_MISMATCH);
    CHECK_TEXT(answer.hash, hash_of("return 1"));
    REQUIRE(answer.current != NULL && answer.current_bytes == 8);
    CHECK_TEXT(answer.current, "return 1");
    CHECK_TEXT(answer.job_id, "");
    CHECK(strstr(reason, "has been changed meanwhile") != NULL);
    free(answer.current);
    // Somebody thinks that it is new.
    REQUIRE(save(&place, "Workspace/Door.lua", "mine", NULL, &answer) == STATUS_MISMATCH);
    CHECK_TEXT(answer.hash, hash_of("return 1"));
    CHECK_TEXT(answer.current, "return 1");
    CHECK(strstr(reason, "is there already") != NULL);
    free(answer.current);
    // It is gone.
    REQUIRE(save(&place, "Workspace/Gone.lua", "mine", hash_of("older"), &answer) ==
            STATUS_MISMATCH);
    CHECK_TEXT(answer.hash, "");
    CHECK(answer.current == NULL);
    CHECK(!test_folder_has(&place, "Workspace/Gone.lua"));
    CHECK_TEXT(test_folder_read(&place, "Workspace/Door.lua"), "return 1");
    CHECK_INT(fake_builder().began, 0);
    end_place(&place);
}

TEST(only_scripts_of_the_place_are_saved)
{
    static const struct {
        const char *path, *why;
    } rows[] = {
        {"", ""},
        {"Door.lua", "ServerScriptService"},
        {"Nowhere/Door.lua", "ServerScriptService"},
        {"scene.json", ".lua"},
        {"place.json", ".lua"},
        {"Workspace/Door", ""},
        {"Workspace/Door.txt", ""},
        {"Workspace/Door.soul.lua", ""},
        {"Workspace/.lua", ""},
        {"Workspace/.hidden.lua", ""},
        {"Workspace/", ""},
        {"Workspace//Door.lua", ""},
        {"/Workspace/Door.lua", ""},
        {"../Workspace/Door.lua", ""},
        {"Workspace/../Workspace/Door.lua", ""},
        {"Workspace/../../x.lua", ""},
        {"Workspace/./Door.lua", ""},
        {"Workspace\\Door.lua", ""},
        {"Workspace/a\\b.lua", ""},
        {"Workspace/a\nb.lua", ""},
        {"Workspace/\xff.lua", ""},
        {".sandlot/server/soul/Workspace/Door.lua", ""},
        {"Workspace/Door.ts", "Door.lua"},                              // one name has one source
        {"ReplicatedStorage/lualib_bundle.lua", "kept for TypeScript"}, // or no build would succeed
        {"ReplicatedStorage/lualib_bundle.soul", "kept for TypeScript"},
        {"SoulService/ReplicatedStorage/lualib_bundle.ts", "kept for TypeScript"},
        {"Workspace/con.lua", "Windows"},
        {"Workspace/Aux/x.ts", "Windows"},
        {"Workspace/a\xcc\x88.lua", "NFD"},
        {"Workspace/a\xe2\x80\x8b.lua", "invisible"},
        {"Workspace/"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.lua",
         ""},
    };
    const TestFolder place = make_place();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SaveAnswer answer = {0};
        const Status status = save(&place, rows[i].path, "x", NULL, &answer);
        if (status != STATUS_MALFORMED || reason[0] == '\0' ||
            strstr(reason, rows[i].why) == NULL) {
            test_fail(__FILE__, __LINE__, "%s: %s, \"%s\"", rows[i].path, status_name(status),
                      reason);
        }
    }
    CHECK_INT(test_folder_count(&place, ""), 2);
    CHECK_INT(test_folder_count(&place, "Workspace"), 1);
    end_place(&place);
}

TEST(names_differ_by_more_than_case)
{
    const TestFolder place = make_place();
    test_folder_write(&place, "Workspace/rooms/\xc3\x84rger.lua", "return 1");
    static const struct {
        const char *path, *there;
    } rows[] = {
        {"Workspace/door.lua", "\"Workspace/Door.lua\""},
        {"Workspace/DOOR.ts", "\"Workspace/Door.lua\""}, // their runes would be one file
        {"Workspace/Rooms/Bed.lua", "\"Workspace/rooms\""},
        {"Workspace/rooms/\xc3\xa4rger.lua", "\"Workspace/rooms/\xc3\x84rger.lua\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SaveAnswer answer = {0};
        const Status status = save(&place, rows[i].path, "x", NULL, &answer);
        if (status != STATUS_MALFORMED || strstr(reason, "case") == NULL ||
            strstr(reason, rows[i].there) == NULL) {
            test_fail(__FILE__, __LINE__, "%s: %s, \"%s\"", rows[i].path, status_name(status),
                      reason);
        }
    }
    CHECK_INT(test_folder_count(&place, "Workspace"), 2);
    CHECK_INT(test_folder_count(&place, "Workspace/rooms"), 1);
    SaveAnswer answer = {0};
    CHECK_OK(save(&place, "Workspace/rooms/Bed.lua", "x", NULL, &answer));
    CHECK_OK(save(&place, "ServerScriptService/door.lua", "x", NULL, &answer)); // another folder
    CHECK_OK(save(&place, "Workspace/door/Knob.lua", "x", NULL, &answer));      // a folder
    // What somebody has in two cases already can still be changed.
    test_folder_write(&place, "Workspace/door.lua", "return 2");
    CHECK_OK(save(&place, "Workspace/door.lua", "return 3", hash_of("return 2"), &answer));
    end_place(&place);
}

// SoulService/ may stand before a service, and what is behind it is one script with or without it.
TEST(both_roots_hold_one_script)
{
    const TestFolder place = make_place();
    test_folder_write(&place, "SoulService/Workspace/Rooms/Bed.ts", "x");
    static const struct {
        const char *path, *there;
    } rows[] = {
        {"SoulService/Workspace/Door.lua", "Workspace/Door.lua"},
        {"SoulService/Workspace/Door.ts", "Workspace/Door.lua"},
        {"SoulService/Workspace/dOOr.ts", "\"Workspace/Door.lua\""},
        {"Workspace/Rooms/Bed.ts", "SoulService/Workspace/Rooms/Bed.ts"},
        {"Workspace/Rooms/Bed.soul", "SoulService/Workspace/Rooms/Bed.ts"},
        {"Workspace/Rooms/bed.lua", "\"SoulService/Workspace/Rooms/Bed.ts\""},
        {"Workspace/rooms/Lamp.lua", "\"SoulService/Workspace/Rooms\""},
    };
    SaveAnswer answer = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const Status status = save(&place, rows[i].path, "x", NULL, &answer);
        if (status != STATUS_MALFORMED || strstr(reason, rows[i].there) == NULL) {
            test_fail(__FILE__, __LINE__, "%s: %s, \"%s\"", rows[i].path, status_name(status),
                      reason);
        }
    }
    CHECK_INT(test_folder_count(&place, "Workspace"), 1);
    CHECK_INT(test_folder_count(&place, "SoulService/Workspace"), 1);
    CHECK_OK(save(&place, "SoulService/Workspace/Gate.ts", "x", NULL, &answer));
    CHECK_OK(save(&place, "Workspace/Rooms/Lamp.lua", "x", NULL, &answer));
    CHECK_OK(save(&place, "Workspace/Door.lua", "return 2", hash_of("return 1"), &answer));
    end_place(&place);
    // A folder that is neither root is in the way of none.
    const TestFolder other = make_place();
    test_folder_write(&other, "soulservice/notes.txt", "x");
    CHECK_OK(save(&other, "Workspace/Gate.lua", "x", NULL, &answer));
    end_place(&other);
}

// The build checks in the worker whether it is text, with file and line.
TEST(what_is_saved_has_bounds)
{
    const TestFolder place = make_place();
    SaveAnswer answer = {0};
    char *large = malloc((256 << 10) + 2);
    memset(large, 'x', (256 << 10) + 1);
    large[(256 << 10) + 1] = '\0';
    CHECK_INT(save(&place, "Workspace/Big.lua", large, NULL, &answer), STATUS_LIMIT);
    CHECK(strstr(reason, "256 KiB") != NULL);
    large[256 << 10] = '\0';
    CHECK_INT(save(&place, "Workspace/Big.lua", large, NULL, &answer), STATUS_OK);
    free(large);
    // What is there under such a name can still be changed.
    test_folder_write(&place, "Workspace/con.lua", "return 1");
    CHECK_OK(save(&place, "Workspace/con.lua", "return 2", hash_of("return 1"), &answer));
    CHECK_INT(save(&place, "Workspace/Odd.lua", "x", "abc", &answer), STATUS_MALFORMED);
    CHECK(strstr(reason, "64 hex digits") != NULL);
    CHECK(!test_folder_has(&place, "Workspace/Odd.lua"));
    end_place(&place);
}

static void make_link(const TestFolder *place, const char *path, const char *to)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", place->path, path);
    CHECK(symlink(to, whole) == 0);
}

TEST(links_are_not_followed)
{
    const TestFolder outside = test_folder_make();
    const TestFolder place = make_place();
    test_folder_write(&outside, "Secret.lua", "secret");
    char target[128];
    snprintf(target, sizeof target, "%s/Secret.lua", outside.path);
    make_link(&place, "Workspace/Link.lua", target);
    make_link(&place, "Workspace/Nowhere.lua", "/no/such/file");
    make_link(&place, "Workspace/folder", outside.path);
    make_link(&place, "StarterGui", outside.path);
    SaveAnswer answer = {0};
    CHECK_INT(save(&place, "Workspace/Link.lua", "mine", NULL, &answer), STATUS_DENIED);
    CHECK_INT(save(&place, "Workspace/Link.lua", "mine", hash_of("secret"), &answer),
              STATUS_DENIED);
    CHECK_INT(save(&place, "Workspace/Nowhere.lua", "mine", NULL, &answer), STATUS_DENIED);
    CHECK_INT(save(&place, "Workspace/folder/Secret.lua", "mine", hash_of("secret"), &answer),
              STATUS_DENIED);
    CHECK_INT(save(&place, "StarterGui/New.lua", "mine", NULL, &answer), STATUS_DENIED);
    CHECK_INT(save_read(place.path, "Workspace/Link.lua", &answer, reason), STATUS_DENIED);
    CHECK(strstr(reason, "link") != NULL);
    CHECK_TEXT(test_folder_read(&outside, "Secret.lua"), "secret");
    CHECK_INT(test_folder_count(&outside, ""), 1);
    end_place(&place);
    test_folder_remove(&outside);
}

// .sandlot may have come with the place.
TEST(the_lock_is_made_in_the_place)
{
    const TestFolder place = make_place();
    SaveAnswer answer = {0};
    char link[160], outside[160];
    snprintf(outside, sizeof outside, "%s/outside", place.path);
    snprintf(link, sizeof link, "%s/.sandlot", place.path);
    REQUIRE(mkdir(outside, 0700) == 0 && symlink(outside, link) == 0);
    CHECK_INT(save(&place, "Workspace/New.lua", "return 1", NULL, &answer), STATUS_BLOCKED);
    CHECK(strstr(reason, ".sandlot") != NULL);
    CHECK_INT(test_folder_count(&place, "outside"), 0);
    CHECK_INT(test_folder_count(&place, "Workspace"), 1);
    // A link inside it, too; a pipe is as good a lock as a file.
    REQUIRE(unlink(link) == 0 && mkdir(link, 0700) == 0);
    snprintf(link, sizeof link, "%s/.sandlot/save.lock", place.path);
    snprintf(outside, sizeof outside, "%s/outside/lock", place.path);
    REQUIRE(symlink(outside, link) == 0);
    CHECK_INT(save(&place, "Workspace/New.lua", "return 1", NULL, &answer), STATUS_BLOCKED);
    CHECK_INT(test_folder_count(&place, "outside"), 0);
    REQUIRE(unlink(link) == 0 && mkfifo(link, 0600) == 0);
    CHECK_OK(save(&place, "Workspace/New.lua", "return 1", NULL, &answer));
    end_place(&place);
}

TEST(a_script_is_read_back)
{
    const TestFolder place = make_place();
    SaveAnswer answer = {0};
    REQUIRE(save_read(place.path, "Workspace/Door.lua", &answer, reason) == STATUS_OK);
    CHECK_TEXT(answer.current, "return 1");
    CHECK_TEXT(answer.hash, hash_of("return 1"));
    free(answer.current);
    CHECK_INT(save_read(place.path, "Workspace/Other.lua", &answer, reason), STATUS_NOT_FOUND);
    CHECK_INT(save_read(place.path, "scene.json", &answer, reason), STATUS_MALFORMED);
    CHECK_INT(save_read(place.path, "Workspace/../scene.json", &answer, reason), STATUS_MALFORMED);
    end_place(&place);
}

TEST(permissions_stay)
{
    const TestFolder place = make_place();
    char whole[128];
    snprintf(whole, sizeof whole, "%s/Workspace/Door.lua", place.path);
    chmod(whole, 0640);
    SaveAnswer answer = {0};
    CHECK_OK(save(&place, "Workspace/Door.lua", "return 2", hash_of("return 1"), &answer));
    struct stat about = {0};
    CHECK(stat(whole, &about) == 0);
    CHECK_INT(about.st_mode & 0777, 0640);
    end_place(&place);
}

// --- races --------------------------------------------------------------------------------------

#define SAVERS 6
#define ROUNDS 20

typedef struct Saver {
    const TestFolder *place;
    const char *path;
    char known[65], code[32];
    bool is_new;
    pthread_barrier_t *gate;
    Status status;
    SaveAnswer answer;
} Saver;

static void *saver_main(void *user)
{
    Saver *saver = user;
    char why[WORKER_REASON_BYTES];
    const SaveRequest request = {.place = saver->place->path,
                                 .path = saver->path,
                                 .code = saver->code,
                                 .code_bytes = strlen(saver->code),
                                 .known_hash = saver->is_new ? NULL : saver->known};
    pthread_barrier_wait(saver->gate);
    saver->status = save_script(queue, &request, &saver->answer, why);
    return NULL;
}

// All begin from the same text; the winner's text is on disk, and the others are shown it.
static void race(const TestFolder *place, const char *path, bool is_new)
{
    Saver savers[SAVERS];
    pthread_t threads[SAVERS];
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, SAVERS);
    for (uint32_t i = 0; i < SAVERS; i++) {
        savers[i] = (Saver){.place = place, .path = path, .is_new = is_new, .gate = &gate};
        snprintf(savers[i].known, sizeof savers[i].known, "%s",
                 hash_of(test_folder_read(place, path)));
        snprintf(savers[i].code, sizeof savers[i].code, "return %u -- %p", i, (void *)place);
        REQUIRE(pthread_create(&threads[i], NULL, saver_main, &savers[i]) == 0);
    }
    uint32_t winners = 0;
    for (uint32_t i = 0; i < SAVERS; i++) {
        pthread_join(threads[i], NULL);
        winners += savers[i].status == STATUS_OK;
    }
    pthread_barrier_destroy(&gate);
    CHECK_INT(winners, 1);
    const char *text = test_folder_read(place, path);
    for (uint32_t i = 0; i < SAVERS; i++) {
        const Saver *saver = &savers[i];
        CHECK(saver->status == STATUS_OK || saver->status == STATUS_MISMATCH);
        if (saver->status == STATUS_OK) {
            CHECK_TEXT(text, saver->code);
        } else {
            CHECK(saver->answer.current != NULL && strcmp(saver->answer.current, text) == 0);
        }
        CHECK_TEXT(saver->answer.hash, hash_of(text));
        free(saver->answer.current);
    }
}

TEST(one_saver_wins)
{
    const TestFolder place = make_place();
    for (uint32_t i = 0; i < ROUNDS && test_is_passing(); i++) {
        char path[64];
        snprintf(path, sizeof path, "Workspace/new%u/Script.lua", i);
        race(&place, path, true);
        test_folder_write(&place, path, "return 'begin'");
        race(&place, path, false);
    }
    end_place(&place);
}
