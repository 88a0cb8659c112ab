// Compiled scenes: any bytes give a place or an error status, and all memory is freed. A scene that
// loads as whole can be stripped, to the same scene, and printed as files.
#include "core/base/check.h"
#include "core/script/place.h"
#include "core/wire/place.h"

#include <stdlib.h>

#define INPUT_BYTES_MAX (1 << 15)
#define HEAP_BYTES      (48u << 20)
#define BYTES_MAX       (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_file(void *user, const PlaceFile *file)
{
    ASSERT(file->path != NULL && file->bytes <= BYTES_MAX * 4);
    *(uint32_t *)user += 1;
}

static void check_stripped(Heap *heap, const uint8_t *data, size_t size, const Place *whole)
{
    static uint8_t *bytes;
    if (bytes == NULL) {
        bytes = malloc(BYTES_MAX);
        ASSERT(bytes != NULL);
    }
    ByteWriter stripped = byte_writer(bytes, BYTES_MAX);
    Status status = place_strip(heap, data, size, &stripped);
    ASSERT(status == STATUS_OK);
    Place *place = NULL;
    status = place_load(heap, stripped.data, stripped.at, &place);
    if (status == STATUS_LIMIT) {
        return; // of memory: two places take twice as much
    }
    ASSERT(status == STATUS_OK);
    ASSERT(scene_hash(place->scene) == scene_hash(whole->scene));
    place_unload(heap, place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    Heap heap = heap_make(HEAP_BYTES);
    Place *place = NULL;
    if (place_load(&heap, data, size, &place) == STATUS_OK) {
        ASSERT(place->spawn_count >= 1);
        for (uint32_t i = 0; i < place->entity_count; i++) {
            const PlaceEntity *entity = &place->entities[i];
            ASSERT(entity->net_id == scene_part_count(place->scene) + 1 + i);
            Motion motion = {0};
            for (uint32_t s = 0; s < entity->segment_count; s++) {
                const Status status = motion_append(&motion, &entity->segments[s],
                                                    vec3_length(entity->part.shape.half), 0);
                ASSERT(status == STATUS_OK);
            }
        }
        if (!place->stripped) {
            check_stripped(&heap, data, size, place);
        }
        place_unload(&heap, place);
        uint32_t files = 0;
        const Status status = place_decompile(&heap, data, size, count_file, &files);
        ASSERT(status == STATUS_OK && files >= 2);
    } else {
        ASSERT(place == NULL);
    }
    ASSERT(heap.bytes_now == 0);
    return 0;
}
