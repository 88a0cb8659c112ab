// Names of anchored parts; see scene_names.h.
#include "core/script/bridge/scene_names.h"
#include "core/base/limits.h"

#include "core/base/check.h"
#include "core/base/hash.h"

#include <string.h>

static uint32_t part_count(const Scene *scene, const Text *names)
{
    return scene == NULL || names == NULL ? 0 : scene_part_count(scene);
}

static uint32_t bucket_count(uint32_t parts)
{
    uint32_t count = 16;
    while (count < parts) {
        count *= 2;
    }
    return count;
}

size_t scene_names_bytes(const Scene *scene, const Text *names)
{
    const uint32_t parts = part_count(scene, names);
    return arena_need(bucket_count(parts) * sizeof(uint32_t)) +
           arena_need(((size_t)parts + 1) * sizeof(uint32_t));
}

static uint32_t bucket_of(const SceneNames *index, Text name)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, name.data, name.bytes);
    return (uint32_t)hash.state & index->mask;
}

Status scene_names_init(SceneNames *index, Arena *arena, const Scene *scene, const Text *names)
{
    *index = (SceneNames){.names = names, .count = part_count(scene, names)};
    index->mask = bucket_count(index->count) - 1;
    index->first = arena_array(arena, (size_t)index->mask + 1, sizeof(uint32_t));
    index->after = arena_array(arena, (size_t)index->count + 1, sizeof(uint32_t));
    if (index->first == NULL || index->after == NULL) {
        return STATUS_LIMIT;
    }
    // From the last to the first, each put in front: so buckets are ascending.
    for (uint32_t number = index->count; number > 0; number--) {
        const Text name = names[number - 1];
        if (name.bytes > 0) {
            uint32_t *first = &index->first[bucket_of(index, name)];
            index->after[number] = *first;
            *first = number;
        }
    }
    return STATUS_OK;
}

Text scene_names_at(const SceneNames *index, uint64_t net_id)
{
    return net_id == 0 || net_id > index->count ? (Text){"", 0} : index->names[net_id - 1];
}

uint64_t scene_names_find(const SceneNames *index, Text name, uint64_t after)
{
    ASSERT(after <= index->count);
    if (name.bytes == 0 || name.bytes > WORLD_NAME_BYTES_MAX) {
        return 0;
    }
    uint32_t number = after == 0 ? index->first[bucket_of(index, name)] : index->after[after];
    for (; number != 0; number = index->after[number]) {
        const Text known = index->names[number - 1];
        if (known.bytes == name.bytes && memcmp(known.data, name.data, name.bytes) == 0) {
            break;
        }
    }
    return number;
}
