// The files of a place, with zero bytes between them: place.json, scene.json, prefabs/A.json and
// chunks/0_0_0.chunk, of which the last may contain any bytes. A place that compiles can be
// converted back to files that compile to the same bytes, and both of its forms load and give the
// same scene.
#include "core/base/check.h"
#include "core/script/place.h"
#include "core/wire/place.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX (1 << 15)
#define HEAP_BYTES      (48u << 20)
#define BYTES_MAX       (4u << 20)
#define FILES_MAX       8
#define TEXT_MAX        (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Kept {
    PlaceFile files[FILES_MAX];
    char paths[FILES_MAX][96];
    uint32_t count;
    uint8_t *texts;
    size_t used;
} Kept;

static uint8_t *memory(uint32_t which)
{
    static uint8_t *blocks[3];
    if (blocks[which] == NULL) {
        blocks[which] = malloc(BYTES_MAX);
        ASSERT(blocks[which] != NULL);
    }
    return blocks[which];
}

static void keep(void *user, const PlaceFile *file)
{
    Kept *kept = user;
    ASSERT(kept->count < FILES_MAX && kept->used + file->bytes <= TEXT_MAX);
    uint8_t *data = kept->texts + kept->used;
    if (file->bytes != 0) {
        memcpy(data, file->data, file->bytes);
    }
    kept->used += file->bytes;
    char *path = kept->paths[kept->count];
    ASSERT(strlen(file->path) < sizeof kept->paths[0]);
    memcpy(path, file->path, strlen(file->path) + 1);
    kept->files[kept->count++] = (PlaceFile){path, data, file->bytes};
}

static void check_round_trip(Heap *heap, const uint8_t *whole, size_t bytes)
{
    Kept kept = {.texts = memory(1)};
    Status status = place_decompile(heap, whole, bytes, keep, &kept);
    ASSERT(status == STATUS_OK);
    ByteWriter again = byte_writer(memory(2), BYTES_MAX);
    PlaceError error;
    status = place_compile(heap, kept.files, kept.count, &again, &error);
    ASSERT(status == STATUS_OK);
    ASSERT(again.at == bytes && memcmp(again.data, whole, bytes) == 0);
}

static void check_forms(Heap *heap, const uint8_t *whole, size_t bytes)
{
    ByteWriter stripped = byte_writer(memory(2), BYTES_MAX);
    Status status = place_strip(heap, whole, bytes, &stripped);
    ASSERT(status == STATUS_OK);
    Place *a = NULL;
    Place *b = NULL;
    status = place_load(heap, whole, bytes, &a);
    if (status == STATUS_LIMIT) {
        return; // of memory
    }
    ASSERT(status == STATUS_OK);
    status = place_load(heap, stripped.data, stripped.at, &b);
    ASSERT(status == STATUS_OK);
    ASSERT(scene_hash(a->scene) == scene_hash(b->scene));
    ASSERT(b->stripped && b->entity_count == 0 && b->spawn_count == a->spawn_count);
    place_unload(heap, a);
    place_unload(heap, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"place.json", "scene.json", "prefabs/A.json",
                                        "chunks/0_0_0.chunk"};
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    PlaceFile files[4];
    uint32_t count = 0;
    for (const uint8_t *at = data; count < 4 && at <= data + size; count++) {
        const size_t left = (size_t)(data + size - at);
        const uint8_t *zero = count == 3 || left == 0 ? NULL : memchr(at, 0, left);
        const size_t bytes = zero == NULL ? left : (size_t)(zero - at);
        files[count] = (PlaceFile){paths[count], at, bytes};
        at += bytes + 1;
    }
    Heap heap = heap_make(HEAP_BYTES);
    ByteWriter whole = byte_writer(memory(0), BYTES_MAX);
    PlaceError error;
    const Status status = place_compile(&heap, files, count, &whole, &error);
    ASSERT(status == error.status);
    if (status == STATUS_OK) {
        check_round_trip(&heap, whole.data, whole.at);
        check_forms(&heap, whole.data, whole.at);
    } else {
        char text[1024];
        place_error_text(&error, text, sizeof text);
        ASSERT(text[0] != '\0' && error.path[0] != '\0');
    }
    ASSERT(heap.bytes_now == 0);
    return 0;
}
