// Changes of a place that is being played: any bytes change it or are rejected, and a rejected
// change has no effect. The world continues in both cases, and all memory is freed at the end.
#include "core/base/check.h"
#include "core/world/local/local_host.h"
#include "tests/support/test_place.h"

#include <string.h>

#define INPUT_BYTES_MAX (1 << 14)
#define HEAP_BYTES      (256u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void tick(LocalHost *host)
{
    const Entry entry = {.type = ENTRY_TICK, .number = 1700000000000ull};
    const Status status = local_host_enter(host, &entry);
    ASSERT(status == STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    static const char script[] = "function onUpdate() end";
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)TEST_PLACE_FLAT, strlen(TEST_PLACE_FLAT)},
        {"scene.json", (const uint8_t *)TEST_PLACE_FLAT_SCENE, strlen(TEST_PLACE_FLAT_SCENE)},
        {"ServerScriptService/A.lua", (const uint8_t *)script, sizeof script - 1}};
    Heap heap = heap_make(HEAP_BYTES);
    LocalHostConfig config = local_host_config_default();
    config.player_max = 2;
    config.entity_max = 64;
    LocalHost *host = NULL;
    PlaceError error;
    Status status = local_host_create(&heap, &config, files, 3, &host, &error);
    ASSERT(status == STATUS_OK);
    tick(host);
    const World *world = local_host_world(host);
    const uint64_t hash = world_hash(world);
    bool remade = false;
    status = local_host_apply_diff(host, (const char *)data, size, &remade, &error);
    ASSERT(error.status == status);
    if (status != STATUS_OK) {
        ASSERT(!remade && local_host_world(host) == world && world_hash(world) == hash);
        char text[512];
        place_error_text(&error, text, sizeof text);
        ASSERT(text[0] != '\0');
    }
    tick(host);
    tick(host);
    local_host_destroy(host);
    ASSERT(heap.bytes_now == 0);
    return 0;
}
