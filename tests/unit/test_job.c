// The queue of builds: which requests join a build, which wait, and what is left at the end. The
// builder is a fake that the test controls; the threads are real.
#define _GNU_SOURCE
#include "server/build/job/job.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"
#include "tests/unit/fake_builder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LONG_MS 60000

static JobQueue *make_queue(uint32_t at_a_time)
{
    fake_builder_reset();
    const BuildConfig config = {0};
    JobQueue *queue = NULL;
    CHECK_OK(job_queue_create(&config, at_a_time, &queue));
    return queue;
}

static void end_queue(JobQueue *queue)
{
    job_queue_destroy(queue);
    CHECK_INT(fake_builder().results, 0);
    CHECK_INT(fake_builder().builders, 0);
}

static JobStatus *status_of(void)
{
    static JobStatus status; // large
    return &status;
}

static JobState ended(JobQueue *queue, const char *id)
{
    CHECK_OK(job_wait(queue, id, LONG_MS, status_of()));
    return status_of()->state;
}

TEST(with_a_cache_elsewhere_places_stay_as_they_are)
{
    const TestFolder place = test_folder_make();
    static const char *const caches[] = {NULL, "/tmp/elsewhere"};
    for (uint32_t i = 0; i < 2; i++) {
        fake_builder_reset();
        const BuildConfig config = {.cache = caches[i]};
        JobQueue *queue = NULL;
        REQUIRE(job_queue_create(&config, 1, &queue) == STATUS_OK);
        char id[JOB_ID_BYTES];
        bool joined;
        REQUIRE(job_start(queue, place.path, false, id, &joined) == STATUS_OK);
        CHECK_INT(ended(queue, id), JOB_DONE);
        CHECK_INT(fake_builder().wrote, caches[i] == NULL ? 1 : 0);
        end_queue(queue);
    }
    test_folder_remove(&place);
}

TEST(a_job_runs_and_tells)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    char id[JOB_ID_BYTES];
    bool joined = true;
    REQUIRE(job_start(queue, place.path, false, id, &joined) == STATUS_OK);
    CHECK(!joined);
    CHECK_INT(strspn(id, "0123456789abcdef"), JOB_ID_BYTES - 1);
    CHECK_INT(ended(queue, id), JOB_DONE);
    const JobStatus *status = status_of();
    CHECK_INT(status->stage, BUILD_DONE);
    CHECK_INT(status->compiled_count, 2);
    CHECK_INT(status->cached_count, 3);
    CHECK_INT(status->version, 1);
    CHECK(status->ended_unix_ms >= status->queued_unix_ms && status->queued_unix_ms > 0);
    REQUIRE(status->log_count == 2);
    CHECK_TEXT(status->log[0], "compile");
    CHECK_TEXT(status->log[1], "done");
    // The result, once.
    BuildResult result = {0};
    CHECK_OK(job_take_result(queue, id, &result));
    build_result_free(&result);
    CHECK_INT(job_take_result(queue, id, &result), STATUS_NOT_FOUND);
    CHECK_INT(job_take_result(queue, "0", &result), STATUS_NOT_FOUND);
    CHECK_INT(job_status(queue, "", status_of()), STATUS_NOT_FOUND);
    CHECK_INT(job_start(queue, "/no/such/folder", false, id, &joined), STATUS_NOT_FOUND);
    end_queue(queue);
    test_folder_remove(&place);
}

typedef struct Told {
    JobQueue *queue;
    uint32_t count;
    JobState state;
    JobReload answer;
} Told;

static JobReload take_built(void *user, const char *place, const JobStatus *status,
                            BuildResult *result)
{
    Told *told = user;
    told->count += 1;
    told->state = status->state;
    CHECK(place[0] == '/');
    if (told->answer.state == JOB_RELOAD_WAITING) {
        build_result_free(result);
        *result = (BuildResult){0};
        // The worlds may answer before this returns.
        job_set_reload(told->queue, status->id,
                       &(JobReload){.state = JOB_RELOADED, .worlds = 2, .manifest_version = 7});
    }
    return told->answer;
}

TEST(what_was_built_is_brought_to_worlds)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    Told told = {.queue = queue, .answer = {.state = JOB_RELOAD_WAITING}};
    job_queue_built(queue, take_built, &told);
    char id[JOB_ID_BYTES];
    bool joined;
    BuildResult result = {0};
    REQUIRE(job_start(queue, place.path, false, id, &joined) == STATUS_OK);
    CHECK_INT(ended(queue, id), JOB_DONE);
    CHECK(told.count == 1 && told.state == JOB_DONE);
    CHECK_INT(status_of()->reload.state, JOB_RELOADED);
    CHECK_INT(status_of()->reload.worlds, 2);
    CHECK_INT(job_take_result(queue, id, &result), STATUS_NOT_FOUND); // it was taken
    // Some seconds later.
    JobReload later = {.state = JOB_ROLLED_BACK, .reason = "Workspace/Door.lua:3: no"};
    job_set_reload(queue, id, &later);
    CHECK_OK(job_status(queue, id, status_of()));
    Buffer text = buffer_of(1u << 16);
    job_status_json(status_of(), &text);
    CHECK(memmem(text.data, text.bytes, "\"reload\":\"rolled_back\"", 22) != NULL);
    CHECK(memmem(text.data, text.bytes, "Workspace/Door.lua:3: no", 24) != NULL);
    buffer_free(&text);
    // Nobody runs it: the result stays.
    told.answer.state = JOB_RELOAD_NONE;
    REQUIRE(job_start(queue, place.path, true, id, &joined) == STATUS_OK);
    CHECK_INT(ended(queue, id), JOB_DONE);
    CHECK_INT(status_of()->reload.state, JOB_RELOAD_NONE);
    CHECK_OK(job_take_result(queue, id, &result));
    build_result_free(&result);
    // A place with errors: told too, and nothing to take.
    fake_builder_set(STATUS_MALFORMED, 2, false);
    REQUIRE(job_start(queue, place.path, true, id, &joined) == STATUS_OK);
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK(told.count == 3 && told.state == JOB_FAILED);
    job_set_reload(queue, "0", &later); // of a job that is forgotten
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(who_waits_for_a_job_does_not_outlive_the_queue)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    char id[JOB_ID_BYTES];
    CHECK_OK(job_reserve(queue, 1, 4, (id[0] = '\0', id))); // it never begins
    job_queue_stop(queue);
    CHECK_INT(job_wait(queue, id, LONG_MS, status_of()), STATUS_TRUNCATED);
    job_queue_stop(NULL);
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(a_failure_says_why)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    char id[JOB_ID_BYTES];
    bool joined;
    fake_builder_set(STATUS_MALFORMED, 60, false);
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK_TEXT(status_of()->reason, "60 errors");
    CHECK_INT(status_of()->error_count, 60);
    CHECK_TEXT(status_of()->log[1], "Workspace/Door.lua:1:2: error: unexpected symbol [syntax]");
    CHECK_TEXT(status_of()->log[status_of()->log_count - 2], "and 20 more");
    CHECK_TEXT(status_of()->log[status_of()->log_count - 1], "failed: 60 errors");
    fake_builder_set(STATUS_MALFORMED, DIAGNOSTICS_MAX, false);
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK_TEXT(status_of()->reason, "1000 errors or more");
    fake_builder_set(STATUS_BLOCKED, 0, false);
    CHECK_OK(job_start(queue, place.path, true, id, &joined));
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK_TEXT(status_of()->reason, "the worker died");
    BuildResult result;
    CHECK_INT(job_take_result(queue, id, &result), STATUS_NOT_FOUND);
    end_queue(queue);
    test_folder_remove(&place);
}

static void keep_reason(void *user, const char *reason)
{
    snprintf(user, WORKER_REASON_BYTES, "%s", reason);
}

// Players and creators follow jobs; only the operator learns where things are.
TEST(a_reason_tells_no_paths)
{
    const TestFolder place = test_folder_make();
    char name[128], full[WORKER_REASON_BYTES], told[WORKER_REASON_BYTES] = "";
    snprintf(name, sizeof name, "%s", strrchr(place.path, '/') + 1);
    fake_builder_reset();
    const BuildConfig config = {.cache = "/var/lib/my lot/cache", .key = "../lot/data/ticket.key"};
    JobQueue *queue = NULL;
    REQUIRE(job_queue_create(&config, 1, &queue) == STATUS_OK);
    job_queue_listen(queue, keep_reason, told);
    const struct {
        const char *said, *before, *after; // with the place's name between the two
    } rows[] = {
        {"@: Permission denied", "", ": Permission denied"},
        {"@/.sandlot/cache: is another user's", "", "/.sandlot/cache: is another user's"},
        {"/var/lib/my lot/cache: cannot be made; @", "cache: cannot be made; ", ""},
        {"../lot/data/ticket.key: is no signing key (@)", "data/ticket.key: is no signing key (",
         ")"},
        {"no Node in /opt/node/bin/node. @", "no Node in node. ", ""},
        {"\xff @", "? ", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char id[JOB_ID_BYTES], expected[512];
        bool joined;
        fake_builder_say(rows[i].said);
        fake_builder_set(STATUS_BLOCKED, 0, false);
        CHECK_OK(job_start(queue, place.path, true, id, &joined));
        CHECK_INT(ended(queue, id), JOB_FAILED);
        snprintf(expected, sizeof expected, "%s%s%s", rows[i].before, name, rows[i].after);
        CHECK_TEXT(status_of()->reason, expected);
        const char *last = status_of()->log[status_of()->log_count - 1];
        CHECK(strstr(last, expected) != NULL);
        const size_t before = strcspn(rows[i].said, "@");
        snprintf(full, sizeof full, "%.*s%s%s", (int)before, rows[i].said, place.path,
                 rows[i].said + before + 1);
        CHECK_TEXT(told, full);
    }
    // A creator's mistakes are nothing to the operator.
    char id[JOB_ID_BYTES];
    bool joined;
    told[0] = '\0';
    fake_builder_set(STATUS_MALFORMED, 1, false);
    CHECK_OK(job_start(queue, place.path, true, id, &joined));
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK_TEXT(told, "");
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(a_build_without_end_is_ended)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    char id[JOB_ID_BYTES];
    bool joined;
    job_queue_limit(queue, 0);
    fake_builder_set(STATUS_OK, 0, true); // it would hold for ever
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK(strstr(status_of()->reason, "took longer than 0 minutes") != NULL);
    CHECK(strstr(status_of()->reason, "at: compile a") != NULL);
    // The next one has its own time.
    job_queue_limit(queue, JOB_MS_MAX);
    fake_builder_set(STATUS_OK, 0, false);
    CHECK_OK(job_start(queue, place.path, true, id, &joined));
    CHECK_INT(ended(queue, id), JOB_DONE);
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(the_same_request_joins)
{
    const TestFolder place = test_folder_make();
    test_folder_write(&place, "scene.json", "{}");
    test_folder_write(&place, ".sandlot/x", "1");
    JobQueue *queue = make_queue(2);
    char first[JOB_ID_BYTES], id[JOB_ID_BYTES], other[96];
    bool joined = true;
    fake_builder_set(STATUS_OK, 0, true);
    CHECK_OK(job_start(queue, place.path, false, first, &joined));
    CHECK(!joined);
    fake_builder_wait_began(1);
    // By another spelling of the folder; and what a build itself writes is no change.
    snprintf(other, sizeof other, "%s/.", place.path);
    test_folder_write(&place, ".sandlot/y", "2");
    CHECK_OK(job_start(queue, other, false, id, &joined));
    CHECK(joined);
    CHECK_TEXT(id, first);
    // A change since it began: another job, which waits; and the next one joins that.
    test_folder_write(&place, "Workspace/Door.lua", "return 1");
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    CHECK(!joined && strcmp(id, first) != 0);
    char second[JOB_ID_BYTES];
    memcpy(second, id, sizeof second);
    test_folder_write(&place, "Workspace/Door.lua", "return 2");
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    CHECK(joined);
    CHECK_TEXT(id, second);
    // With force it is another request.
    CHECK_OK(job_start(queue, place.path, true, id, &joined));
    CHECK(!joined);
    CHECK_OK(job_status(queue, second, status_of()));
    CHECK_INT(status_of()->state, JOB_WAITING); // though a thread is free: one build of a place
    fake_builder_set(STATUS_OK, 0, false);
    CHECK_INT(ended(queue, first), JOB_DONE);
    CHECK_INT(ended(queue, second), JOB_DONE);
    CHECK_INT(ended(queue, id), JOB_DONE);
    CHECK_INT(fake_builder().began, 3);
    CHECK_INT(fake_builder().most_same, 1);
    // What has ended is not joined.
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    CHECK(!joined);
    CHECK_INT(ended(queue, id), JOB_DONE);
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(as_many_at_a_time_as_asked)
{
    JobQueue *queue = make_queue(2);
    TestFolder places[4];
    char ids[4][JOB_ID_BYTES];
    bool joined;
    fake_builder_set(STATUS_OK, 0, true);
    for (uint32_t i = 0; i < 4; i++) {
        places[i] = test_folder_make();
        CHECK_OK(job_start(queue, places[i].path, false, ids[i], &joined));
    }
    fake_builder_wait_began(2);
    CHECK_OK(job_status(queue, ids[3], status_of()));
    CHECK_INT(status_of()->state, JOB_WAITING);
    CHECK_INT(job_wait(queue, ids[3], 5, status_of()), STATUS_TRUNCATED);
    fake_builder_set(STATUS_OK, 0, false);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_INT(ended(queue, ids[i]), JOB_DONE);
        test_folder_remove(&places[i]);
    }
    CHECK_INT(fake_builder().most, 2);
    end_queue(queue);
}

// Whichever thread takes a job: the builder is the one whose processes have read that place.
TEST(a_place_keeps_its_warm_builder)
{
    JobQueue *queue = make_queue(2);
    const TestFolder places[2] = {test_folder_make(), test_folder_make()};
    char ids[2][JOB_ID_BYTES];
    bool joined;
    for (uint32_t round = 0; round < 20; round++) {
        fake_builder_set(STATUS_OK, 0, true);
        const uint32_t began = fake_builder().began;
        for (uint32_t i = 0; i < 2; i++) { // by turns, so that threads get the other one
            CHECK_OK(job_start(queue, places[(round + i) % 2].path, false, ids[i], &joined));
            fake_builder_wait_began(began + i + 1);
        }
        fake_builder_set(STATUS_OK, 0, false);
        CHECK_INT(ended(queue, ids[0]), JOB_DONE);
        CHECK_INT(ended(queue, ids[1]), JOB_DONE);
    }
    CHECK_INT(fake_builder().cold, 2);
    CHECK_INT(fake_builder().builders, 2);
    end_queue(queue);
    test_folder_remove(&places[0]);
    test_folder_remove(&places[1]);
}

TEST(jobs_are_cancelled)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    char running[JOB_ID_BYTES], waiting[JOB_ID_BYTES], id[JOB_ID_BYTES];
    bool joined;
    fake_builder_set(STATUS_OK, 0, true);
    CHECK_OK(job_start(queue, place.path, false, running, &joined));
    fake_builder_wait_began(1);
    CHECK_OK(job_start(queue, place.path, true, waiting, &joined));
    CHECK_OK(job_cancel(queue, waiting));
    CHECK_INT(ended(queue, waiting), JOB_CANCELLED); // at once, though nothing else ends
    CHECK_OK(job_cancel(queue, running));
    CHECK_INT(ended(queue, running), JOB_CANCELLED);
    CHECK_OK(job_cancel(queue, running)); // it has ended: nothing happens
    CHECK_INT(job_cancel(queue, "no such job"), STATUS_NOT_FOUND);
    // The next one is not.
    fake_builder_set(STATUS_OK, 0, false);
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    CHECK(!joined);
    CHECK_INT(ended(queue, id), JOB_DONE);
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(too_many_are_refused_and_old_ones_forgotten)
{
    JobQueue *queue = make_queue(1);
    static TestFolder places[JOBS_WAIT_MAX + 2];
    static char ids[JOBS_WAIT_MAX + 2][JOB_ID_BYTES];
    bool joined;
    fake_builder_set(STATUS_OK, 0, true);
    for (uint32_t i = 0; i < JOBS_WAIT_MAX + 2; i++) {
        places[i] = test_folder_make();
        const Status status = job_start(queue, places[i].path, false, ids[i], &joined);
        if (i == 0) {
            fake_builder_wait_began(1);
        }
        CHECK_INT(status, i <= JOBS_WAIT_MAX ? STATUS_OK : STATUS_LIMIT);
    }
    fake_builder_set(STATUS_OK, 0, false);
    for (uint32_t i = 0; i <= JOBS_WAIT_MAX; i++) {
        CHECK_INT(ended(queue, ids[i]), JOB_DONE);
    }
    // Results of the last few only; what became of the others is still known.
    CHECK_INT(fake_builder().results, 4);
    BuildResult result;
    CHECK_INT(job_take_result(queue, ids[0], &result), STATUS_NOT_FOUND);
    char id[JOB_ID_BYTES];
    for (uint32_t i = JOBS_WAIT_MAX + 1; i < JOBS_KEPT_MAX + 1; i++) {
        CHECK_OK(job_start(queue, places[0].path, false, id, &joined));
        CHECK_INT(ended(queue, id), JOB_DONE);
    }
    CHECK_INT(job_status(queue, ids[0], status_of()), STATUS_NOT_FOUND);
    CHECK_OK(job_status(queue, ids[1], status_of()));
    end_queue(queue);
    for (uint32_t i = 0; i < JOBS_WAIT_MAX + 2; i++) {
        test_folder_remove(&places[i]);
    }
}

TEST(the_end_does_not_wait_for_builds)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(2);
    char id[JOB_ID_BYTES];
    bool joined;
    fake_builder_set(STATUS_OK, 0, true);
    CHECK_OK(job_start(queue, place.path, false, id, &joined));
    fake_builder_wait_began(1);
    CHECK_OK(job_start(queue, place.path, true, id, &joined));
    end_queue(queue); // would hang
    CHECK_INT(fake_builder().began, 1);
    job_queue_destroy(NULL);
    test_folder_remove(&place);
}

TEST(a_status_is_json)
{
    JobStatus *status = status_of();
    *status = (JobStatus){
        .id = "ab", .state = JOB_RUNNING, .stage = BUILD_COMPILE, .done = 1, .total = 4};
    snprintf(status->item, sizeof status->item, "Workspace/Tür");
    snprintf(status->log[0], sizeof status->log[0], "a \"b\"\n");
    snprintf(status->log[1], sizeof status->log[1], "\xff");
    status->log_count = 2;
    Buffer out = buffer_of(4096);
    job_status_json(status, &out);
    buffer_put_u8(&out, 0);
    CHECK_OK(out.status);
    CHECK_TEXT(
        (const char *)out.data,
        "{\"job_id\":\"ab\",\"status\":\"running\",\"stage\":\"compile\",\"progress_pct\":47,"
        "\"done\":1,\"total\":4,\"item\":\"Workspace/Tür\",\"log\":[\"a \\\"b\\\"\\n\",\"\"],"
        "\"reason\":\"\",\"errors\":0,\"warnings\":0,\"compiled\":0,\"cached\":0,"
        "\"made\":[],\"reload\":\"none\",\"reloaded_worlds\":0,\"manifest_version\":0,\"reload_"
        "reason\":\"\",\"reload_settled\":false,\"worlds\":[],\"result_revision_id\":null}");
    buffer_free(&out);
    status->state = JOB_DONE;
    status->version = 7;
    out = buffer_of(4096);
    job_status_json(status, &out);
    buffer_put_u8(&out, 0);
    CHECK(strstr((const char *)out.data, "\"progress_pct\":100") != NULL);
    CHECK(strstr((const char *)out.data, "\"result_revision_id\":\"7\"") != NULL);
    buffer_free(&out);
}

typedef struct Crowd {
    JobQueue *queue;
    const TestFolder *places;
    uint32_t seed;
    uint32_t ended;
} Crowd;

static void *crowd_main(void *user)
{
    Crowd *crowd = user;
    JobStatus *status = malloc(sizeof *status);
    for (uint32_t i = 0; i < 60; i++) {
        char id[JOB_ID_BYTES];
        bool joined;
        const uint32_t pick = crowd->seed * 7 + i;
        if (job_start(crowd->queue, crowd->places[pick % 3].path, pick % 5 == 0, id, &joined) !=
            STATUS_OK) {
            continue;
        }
        if (pick % 4 == 0) {
            status_ignore(job_cancel(crowd->queue, id)); // it may have ended
        }
        crowd->ended += job_wait(crowd->queue, id, LONG_MS, status) == STATUS_OK;
        BuildResult result = {0};
        if (job_take_result(crowd->queue, id, &result) == STATUS_OK) {
            build_result_free(&result);
        }
    }
    free(status);
    return NULL;
}

TEST(a_crowd_of_callers)
{
    JobQueue *queue = make_queue(2);
    TestFolder places[3];
    for (uint32_t i = 0; i < 3; i++) {
        places[i] = test_folder_make();
    }
    pthread_t threads[4];
    Crowd crowds[4];
    for (uint32_t i = 0; i < 4; i++) {
        crowds[i] = (Crowd){queue, places, i, 0};
        REQUIRE(pthread_create(&threads[i], NULL, crowd_main, &crowds[i]) == 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(crowds[i].ended, 60);
    }
    CHECK(fake_builder().most <= 2);
    CHECK_INT(fake_builder().most_same, 1);
    end_queue(queue);
    for (uint32_t i = 0; i < 3; i++) {
        test_folder_remove(&places[i]);
    }
}

// --- jobs that make their folder ----------------------------------------------------------------

typedef struct Made {
    const char *folder; // NULL: refused
    Status end;         // of `ended`
    atomic_uint ended, released, order;
    JobState state;
    bool had_result;
} Made;

static atomic_uint next_order;

static Status make_folder(void *user, const atomic_bool *cancel, char folder[PATH_MAX],
                          char spells[PATH_MAX], char reason[WORKER_REASON_BYTES])
{
    Made *made = user;
    (void)spells; // none
    made->order = ++next_order;
    if (atomic_load(cancel)) {
        return STATUS_DENIED;
    }
    if (made->folder == NULL) {
        snprintf(reason, WORKER_REASON_BYTES, "a/b.lua: dotdot: it leads out");
        return STATUS_MALFORMED;
    }
    snprintf(folder, PATH_MAX, "%s", made->folder);
    return STATUS_OK;
}

static Status take_end(void *user, const JobStatus *status, const BuildResult *result,
                       char reason[WORKER_REASON_BYTES])
{
    Made *made = user;
    made->state = status->state;
    made->had_result = result != NULL;
    made->ended += 1;
    snprintf(reason, WORKER_REASON_BYTES, "the disk is full");
    return made->end;
}

static void take_release(void *user)
{
    ((Made *)user)->released += 1;
}

static Status begin(JobQueue *queue, uint64_t account, Made *made, char id[JOB_ID_BYTES])
{
    const JobWork work = {make_folder, take_end, take_release, made};
    id[0] = '\0';
    const Status status = job_reserve(queue, account, 4, id);
    if (status == STATUS_OK) {
        job_begin(queue, id, "r3", &work);
    }
    return status;
}

TEST(a_job_that_makes_its_folder_has_its_end_written_down)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    Made good = {.folder = place.path}, bad = {0},
         lost = {.folder = place.path, .end = STATUS_BLOCKED};
    char id[JOB_ID_BYTES];
    CHECK_OK(begin(queue, 5, &good, id));
    CHECK_INT(ended(queue, id), JOB_DONE);
    CHECK(good.ended == 1 && good.state == JOB_DONE && good.had_result);
    CHECK_TEXT(status_of()->result_id, "r3");
    CHECK_OK(begin(queue, 5, &bad, id));
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK_TEXT(status_of()->reason, "a/b.lua: dotdot: it leads out");
    CHECK(bad.ended == 1 && bad.state == JOB_FAILED && !bad.had_result);
    CHECK_OK(begin(queue, 5, &lost, id)); // whose end cannot be written
    CHECK_INT(ended(queue, id), JOB_FAILED);
    CHECK_TEXT(status_of()->reason, "the disk is full");
    end_queue(queue);
    CHECK(good.released == 1 && bad.released == 1 && lost.released == 1);
    test_folder_remove(&place);
}

TEST(accounts_take_turns_and_have_so_many_jobs)
{
    const TestFolder place = test_folder_make(), first = test_folder_make();
    JobQueue *queue = make_queue(1);
    Made ann[4] = {{.folder = place.path}, {.folder = place.path}, {.folder = place.path}};
    Made bob[2] = {{.folder = place.path}, {.folder = place.path}}, more = {.folder = place.path};
    char ids[6][JOB_ID_BYTES], id[JOB_ID_BYTES], before[JOB_ID_BYTES];
    bool joined;
    fake_builder_set(STATUS_OK, 0, true);
    REQUIRE(job_start(queue, first.path, false, before, &joined) == STATUS_OK);
    fake_builder_wait_began(1);
    atomic_store(&next_order, 0);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(begin(queue, 5, &ann[i], ids[i]));
    }
    CHECK_OK(begin(queue, 6, &bob[0], ids[3]));
    CHECK_OK(begin(queue, 6, &bob[1], ids[4]));
    ann[3].folder = place.path;
    CHECK_OK(begin(queue, 5, &ann[3], ids[5]));
    CHECK_INT(begin(queue, 5, &more, id), STATUS_DENIED);
    fake_builder_set(STATUS_OK, 0, false);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_INT(ended(queue, ids[i]), JOB_DONE);
    }
    // ann, bob, ann, bob, and what ann has left.
    const uint32_t want[] = {1, 3, 5, 2, 4, 6};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(ann[i].order, want[i]);
    }
    CHECK(bob[0].order == want[3] && bob[1].order == want[4] && ann[3].order == want[5]);
    CHECK_OK(begin(queue, 5, &more, id)); // there is room again
    CHECK_INT(ended(queue, id), JOB_DONE);
    end_queue(queue);
    test_folder_remove(&place);
    test_folder_remove(&first);
}

static atomic_bool is_held;

// As a jailed process that looks at large pictures: nothing interrupts it.
static Status make_slowly(void *user, const atomic_bool *cancel, char folder[PATH_MAX],
                          char spells[PATH_MAX], char reason[WORKER_REASON_BYTES])
{
    while (atomic_load(&is_held)) {
        const struct timespec time = {.tv_nsec = 1000000};
        nanosleep(&time, NULL);
    }
    return make_folder(user, cancel, folder, spells, reason);
}

TEST(a_build_that_takes_long_lets_others_begin)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    Made ann[2] = {{.folder = place.path}, {.folder = place.path}};
    Made bob[2] = {{.folder = place.path}, {.folder = place.path}};
    const JobWork slow = {make_slowly, take_end, take_release, &ann[0]};
    char slow_id[JOB_ID_BYTES] = "", ids[3][JOB_ID_BYTES];
    JobStatus *status = status_of();
    job_queue_turn(queue, 50);
    atomic_store(&is_held, true);
    REQUIRE(job_reserve(queue, 5, 4, slow_id) == STATUS_OK);
    job_begin(queue, slow_id, "r1", &slow);
    CHECK_OK(begin(queue, 5, &ann[1], ids[0]));
    CHECK_OK(begin(queue, 6, &bob[0], ids[1]));
    CHECK_OK(begin(queue, 6, &bob[1], ids[2]));
    CHECK(job_wait(queue, ids[1], 20000, status) == STATUS_OK && status->state == JOB_DONE);
    CHECK(job_wait(queue, ids[2], 20000, status) == STATUS_OK && status->state == JOB_DONE);
    CHECK_OK(job_status(queue, slow_id, status));
    CHECK_INT(status->state, JOB_RUNNING);
    CHECK_OK(job_status(queue, ids[0], status));
    CHECK_INT(status->state, JOB_WAITING); // one's own builds wait for each other
    atomic_store(&is_held, false);
    CHECK_INT(ended(queue, slow_id), JOB_DONE);
    CHECK_INT(ended(queue, ids[0]), JOB_DONE);
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(a_shared_queue_does_not_tell_what_was_cached)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    char id[JOB_ID_BYTES];
    bool joined;
    job_queue_hide_cache(queue);
    REQUIRE(job_start(queue, place.path, false, id, &joined) == STATUS_OK);
    CHECK_INT(ended(queue, id), JOB_DONE);
    Buffer text = buffer_of(1u << 20);
    job_status_json(status_of(), &text);
    buffer_put(&text, "", 1);
    REQUIRE(text.status == STATUS_OK);
    CHECK(strstr((const char *)text.data, "\"status\":\"done\"") != NULL);
    CHECK(strstr((const char *)text.data, "cached") == NULL);
    CHECK(strstr((const char *)text.data, "compile") == NULL); // also no stage in its log
    buffer_free(&text);
    end_queue(queue);
    test_folder_remove(&place);
}

TEST(a_reserved_job_waits_and_can_be_dropped_or_cancelled)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    Made made = {.folder = place.path}, late = {.folder = place.path};
    const JobWork work = {make_folder, take_end, take_release, &made};
    char id[JOB_ID_BYTES] = "", ids[JOBS_WAIT_MAX][JOB_ID_BYTES];
    CHECK_OK(job_reserve(queue, 5, 4, id));
    CHECK_INT(job_wait(queue, id, 20, status_of()), STATUS_TRUNCATED);
    job_drop(queue, id);
    CHECK_INT(job_status(queue, id, status_of()), STATUS_NOT_FOUND);
    // All slots are bounded, whoever has them; one of an earlier life is not counted.
    for (uint32_t i = 0; i < JOBS_WAIT_MAX; i++) {
        ids[i][0] = '\0';
        CHECK_OK(job_reserve(queue, 100 + i, 4, ids[i]));
    }
    id[0] = '\0';
    CHECK_INT(job_reserve(queue, 5, 4, id), STATUS_LIMIT);
    snprintf(id, sizeof id, "%032x", 77u);
    CHECK_OK(job_reserve(queue, 5, 0, id));
    job_begin(queue, id, "r1", &work);
    CHECK_INT(ended(queue, id), JOB_DONE);
    // Cancelled before it begins: its end is written all the same.
    const JobWork cancelled = {make_folder, take_end, take_release, &late};
    CHECK_OK(job_cancel(queue, ids[0]));
    job_begin(queue, ids[0], "r1", &cancelled);
    CHECK_INT(ended(queue, ids[0]), JOB_CANCELLED);
    CHECK(late.ended == 1 && late.state == JOB_CANCELLED);
    end_queue(queue);
    CHECK(made.released == 1 && late.released == 1);
    test_folder_remove(&place);
}

TEST(a_queue_that_ends_leaves_the_work_for_the_next_life)
{
    const TestFolder place = test_folder_make();
    JobQueue *queue = make_queue(1);
    Made running = {.folder = place.path}, waiting = {.folder = place.path};
    char id[JOB_ID_BYTES];
    fake_builder_set(STATUS_OK, 0, true);
    CHECK_OK(begin(queue, 5, &running, id));
    fake_builder_wait_began(1);
    CHECK_OK(begin(queue, 5, &waiting, id));
    end_queue(queue);
    CHECK(running.ended == 0 && waiting.ended == 0); // nobody wrote that they failed
    CHECK(running.released == 1 && waiting.released == 1);
    test_folder_remove(&place);
}
