// See small_world.h.
#include "tests/script/small_world.h"

#include "tests/support/test.h"

#include <stdio.h>

SmallLog small_log;
static Heap heap;
static LogSink sink;

static void keep(void *user, const LogEvent *event)
{
    SmallLog *log = user;
    const size_t left = sizeof log->text - log->bytes;
    const int bytes = snprintf(log->text + log->bytes, left, "%s\n", event->text);
    if (bytes > 0 && (size_t)bytes < left) {
        log->bytes += (size_t)bytes;
    }
}

SampleWorld *small_world_open(void)
{
    heap = heap_make(1ull << 30);
    small_log = (SmallLog){.bytes = 0};
    sink = (LogSink){.write = keep, .user = &small_log};
    SampleWorldConfig config = sample_world_config_default();
    config.script.log = &sink;
    SampleWorld *world = NULL;
    CHECK_OK(sample_world_create(&heap, &config, &world));
    return world;
}

void small_world_close(SampleWorld *world)
{
    sample_world_destroy(&heap, world);
    CHECK_INT(heap.bytes_now, 0);
}
