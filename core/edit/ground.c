// See ground.h.
#include "core/edit/ground.h"

#include "core/base/limits.h"

typedef struct Painter {
    Heap *heap;
    const EditDoc *doc;
    EditChunkFiles files;
    PlaceSettingsDoc settings;
    uint32_t touched, pages;
} Painter;

static bool find_kind(const Painter *paint, Text name, uint32_t *number)
{
    const PlaceVoxelDoc *kinds = paint->settings.voxel_kinds.items;
    *number = VOXEL_AIR;
    if (text_is(name, "air")) {
        return true;
    }
    for (uint32_t i = 0; i < paint->settings.voxel_kinds.count; i++) {
        if (text_equal(kinds[i].name, name)) {
            *number = i + 1;
            return true;
        }
    }
    return false;
}

static uint64_t chunks_along(int32_t low, int32_t high)
{
    const int32_t from = math_floor_i32((float)low / CHUNK_EDGE);
    const int32_t to = math_floor_i32((float)high / CHUNK_EDGE);
    return (uint64_t)(to - from + 1);
}

// Whether it can be painted, and how much it takes.
static bool measure(Painter *paint, const PlaceFillDoc *fill)
{
    uint64_t touched = 1;
    uint32_t kind;
    if (fill->chunk.bytes != 0) {
        size_t bytes = 0;
        if (paint->files.find(paint->files.user, fill->chunk, &bytes) == NULL ||
            bytes > CHUNK_BYTES_MAX) {
            return false;
        }
        paint->pages += (uint32_t)(bytes / 4096 + 2);
    } else {
        if (!find_kind(paint, fill->kind, &kind)) {
            return false;
        }
        for (uint32_t axis = 0; axis < 3; axis++) {
            if (fill->min[axis] > fill->max[axis]) {
                return false;
            }
            touched *= chunks_along(fill->min[axis], fill->max[axis]);
        }
    }
    if (touched > PLACE_TOUCHED_MAX - paint->touched) {
        return false;
    }
    paint->touched += (uint32_t)touched;
    return true;
}

static Status store_fill(const Painter *paint, const PlaceFillDoc *fill, ChunkStore *store)
{
    if (fill->chunk.bytes == 0) {
        uint32_t kind = 0;
        (void)find_kind(paint, fill->kind, &kind);
        return chunk_store_fill(store, (VoxelCoord){fill->min[0], fill->min[1], fill->min[2]},
                                (VoxelCoord){fill->max[0], fill->max[1], fill->max[2]},
                                (VoxelKind)kind);
    }
    ChunkCoord at;
    if (!place_chunk_path(fill->chunk, &at)) {
        return STATUS_RANGE;
    }
    size_t bytes = 0;
    const uint8_t *data = paint->files.find(paint->files.user, fill->chunk, &bytes);
    ByteReader reader = byte_reader(data, bytes);
    return chunk_store_parse(store, at, &reader);
}

// Calls one of both for each fill in order; those that cannot be painted are left out by both.
static Status walk(Painter *paint, ChunkStore *store)
{
    Status status = STATUS_OK;
    paint->touched = 0;
    paint->pages = 0;
    for (uint32_t id = edit_doc_first(paint->doc, EDIT_TERRAIN); id != 0 && status != STATUS_LIMIT;
         id = edit_doc_next(paint->doc, EDIT_TERRAIN, id)) {
        PlaceScratch scratch = {.heap = paint->heap};
        EditObject object;
        status = edit_doc_read(paint->doc, EDIT_TERRAIN, id, &scratch, &object);
        if (status == STATUS_OK && measure(paint, &object.fill) && store != NULL) {
            status = store_fill(paint, &object.fill, store);
        }
        place_scratch_free(&scratch);
    }
    return status == STATUS_LIMIT ? STATUS_LIMIT : STATUS_OK;
}

static VoxelKinds kinds_of(const PlaceSettingsDoc *settings)
{
    const PlaceVoxelDoc *rows = settings->voxel_kinds.items;
    VoxelKinds kinds = {.count = settings->voxel_kinds.count + 1};
    for (uint32_t i = 0; i < settings->voxel_kinds.count; i++) {
        const uint32_t kind = i + 1;
        kinds.solid[kind / 64] |= (uint64_t)rows[i].solid << (kind % 64);
    }
    return kinds;
}

Status edit_ground_make(Heap *heap, const EditDoc *doc, EditChunkFiles files, EditGround *out)
{
    Painter paint = {.heap = heap, .doc = doc, .files = files};
    PlaceScratch scratch = {.heap = heap};
    EditObject object;
    EditGround ground = {0};
    Status status = edit_doc_read(doc, EDIT_SETTINGS, 0, &scratch, &object);
    if (status == STATUS_OK) {
        paint.settings = object.settings;
        status = walk(&paint, NULL);
    }
    if (status == STATUS_OK) {
        const ChunkStoreConfig config = {.chunk_max = paint.touched + 1,
                                         .page_max = 2 * paint.touched + paint.pages + 1,
                                         .kinds = kinds_of(&paint.settings)};
        status = chunk_store_create(heap, &config, &ground.store);
    }
    if (status == STATUS_OK) {
        status = walk(&paint, ground.store);
    }
    if (status == STATUS_OK) {
        const TerrainConfig config = {.chunk_max = 1, .page_max = 1};
        status = terrain_create(heap, &config, ground.store, &ground.terrain);
    }
    place_scratch_free(&scratch);
    if (status != STATUS_OK) {
        edit_ground_free(heap, &ground);
        return status;
    }
    *out = ground;
    return STATUS_OK;
}

void edit_ground_free(Heap *heap, EditGround *ground)
{
    if (ground->terrain != NULL) {
        terrain_destroy(heap, ground->terrain);
    }
    if (ground->store != NULL) {
        chunk_store_destroy(heap, ground->store);
    }
    *ground = (EditGround){0};
}
