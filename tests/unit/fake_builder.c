// See fake_builder.h.
#define _GNU_SOURCE
#include "tests/unit/fake_builder.h"

#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNNING_MAX 16
#define TRIES       30000

struct Builder {
    char *place; // that it built last
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FakeBuilder state;
static const char *running[RUNNING_MAX];

static void sleep_ms(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

void fake_builder_reset(void)
{
    pthread_mutex_lock(&lock);
    state = (FakeBuilder){.reason = "the worker died"};
    pthread_mutex_unlock(&lock);
}

FakeBuilder fake_builder(void)
{
    pthread_mutex_lock(&lock);
    const FakeBuilder copy = state;
    pthread_mutex_unlock(&lock);
    return copy;
}

void fake_builder_set(Status status, uint32_t errors, bool hold)
{
    pthread_mutex_lock(&lock);
    state.status = status;
    state.errors = errors;
    state.hold = hold;
    pthread_mutex_unlock(&lock);
}

void fake_builder_say(const char *reason)
{
    pthread_mutex_lock(&lock);
    state.reason = reason;
    pthread_mutex_unlock(&lock);
}

void fake_builder_wait_began(uint32_t count)
{
    for (uint32_t i = 0; i < TRIES && fake_builder().began < count; i++) {
        sleep_ms(1);
    }
    CHECK(fake_builder().began >= count);
}

// --- the face of build.h ------------------------------------------------------------------------

const char *build_stage_name(BuildStage stage)
{
    static const char *const names[] = {"read",   "scan",  "translate", "typescript", "compile",
                                        "assets", "scene", "write",     "done"};
    return names[stage];
}

BuildConfig build_config_default(void)
{
    return (BuildConfig){0};
}

Status builder_create(const BuildConfig *config, Builder **out)
{
    (void)config;
    *out = calloc(1, sizeof **out);
    pthread_mutex_lock(&lock);
    state.builders += 1;
    pthread_mutex_unlock(&lock);
    return *out != NULL ? STATUS_OK : STATUS_LIMIT;
}

void builder_destroy(Builder *builder)
{
    if (builder != NULL) {
        free(builder->place);
        pthread_mutex_lock(&lock);
        state.builders -= 1;
        pthread_mutex_unlock(&lock);
    }
    free(builder);
}

static uint32_t begin(const char *place, bool writes)
{
    pthread_mutex_lock(&lock);
    uint32_t slot = 0, same = 1;
    for (uint32_t i = 0; i < RUNNING_MAX; i++) {
        same += running[i] != NULL && strcmp(running[i], place) == 0;
        slot = running[i] == NULL ? i : slot;
    }
    running[slot] = place;
    state.began += 1;
    state.wrote += writes;
    state.at_once += 1;
    state.most = state.at_once > state.most ? state.at_once : state.most;
    state.most_same = same > state.most_same ? same : state.most_same;
    pthread_mutex_unlock(&lock);
    return slot;
}

static void end(uint32_t slot, BuildResult *out)
{
    pthread_mutex_lock(&lock);
    running[slot] = NULL;
    state.at_once -= 1;
    state.results += 1;
    out->version = state.began;
    for (uint32_t i = 0; i < state.errors; i++) {
        diagnostic_addf(&out->diagnostics, DIAGNOSTIC_ERROR, "Workspace/Door.lua", i + 1, 2,
                        "syntax", "unexpected symbol");
    }
    pthread_mutex_unlock(&lock);
}

static void note_place(Builder *builder, const char *place)
{
    if (builder->place == NULL || strcmp(builder->place, place) != 0) {
        free(builder->place);
        builder->place = strdup(place);
        pthread_mutex_lock(&lock);
        state.cold += 1;
        pthread_mutex_unlock(&lock);
    }
}

Status builder_build(Builder *builder, const BuildRequest *request, BuildResult *out,
                     char reason[WORKER_REASON_BYTES])
{
    note_place(builder, request->place);
    const uint32_t slot = begin(request->place, request->write);
    request->progress(request->user,
                      &(BuildProgress){.stage = BUILD_COMPILE, .done = 1, .total = 4, .item = "a"});
    while (fake_builder().hold && !atomic_load(request->cancel)) {
        sleep_ms(1);
    }
    *out = (BuildResult){.compiled_count = 2, .cached_count = 3, .manifest = calloc(1, 8)};
    end(slot, out);
    const Status status = atomic_load(request->cancel) ? STATUS_DENIED : fake_builder().status;
    if (status == STATUS_BLOCKED) {
        const char *said = fake_builder().reason, *at = strchr(said, '@');
        snprintf(reason, WORKER_REASON_BYTES, "%.*s%s%s", at != NULL ? (int)(at - said) : 512, said,
                 at != NULL ? request->place : "", at != NULL ? at + 1 : "");
    }
    return status;
}

void build_result_free(BuildResult *result)
{
    if (result->manifest != NULL) {
        pthread_mutex_lock(&lock);
        state.results -= 1;
        pthread_mutex_unlock(&lock);
    }
    free(result->manifest);
    diagnostic_list_free(&result->diagnostics);
    *result = (BuildResult){0};
}
