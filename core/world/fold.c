// A new stripped scene for those who come in later. When many parts of the scene have changed, a
// client that comes in would have to ask for all of them cell by cell. So the world joins the
// stripped scene and the rows of all patches (wire/patch.h), names that in every welcome from then
// on, and announces it. Those who are in need nothing of it: they have the same by patches.
//
// Two such scenes are kept beside the first one, because somebody may still be fetching the one
// before the newest. The hash of the stripped scene, which comes first in them, is worked out once.
#include "core/world/world_inside.h"

#include "core/base/sha256.h"

#include <string.h>

// Room for the attributes of a part, on average. If they need more there is no new scene, and those
// who come in ask for the cells near them.
#define FOLD_ATTRIBUTES_BYTES 48

typedef struct Fold {
    Sha256 begun; // after the head and the stripped scene, once has_begun
    bool has_begun;
    uint8_t *blocks[HOST_SCENES - 1];
    size_t capacity;
    uint32_t next; // the block that is written next
    uint64_t tick; // of the newest; 0: none
} Fold;

static void write_head(const WorldConfig *config, uint8_t *block)
{
    ByteWriter writer = byte_writer(block, PATCH_SCENE_HEAD);
    byte_write_u32(&writer, PATCH_SCENE_MAGIC);
    byte_write_u32(&writer, (uint32_t)config->stripped_bytes);
    ASSERT(writer.status == STATUS_OK);
}

// A scene with few parts never has enough that changed.
static bool may_fold(const World *world)
{
    const PatchTable *table = replicator_patches(world->replicator);
    return table->part_count > PATCH_FOLD_PARTS && world->config.stripped_bytes > 0 &&
           world->config.stripped_bytes <= SCENE_BYTES_MAX - PATCH_FOLD_BYTES - PATCH_SCENE_MORE;
}

static void begin_hash(World *world)
{
    Fold *fold = world->fold;
    const WorldConfig *config = &world->config;
    uint8_t head[PATCH_SCENE_HEAD];
    if (fold->has_begun) {
        return;
    }
    write_head(config, head);
    sha256_init(&fold->begun);
    sha256_update(&fold->begun, head, sizeof head);
    sha256_update(&fold->begun, config->stripped, config->stripped_bytes);
    fold->has_begun = true;
}

Status fold_create(World *world)
{
    const WorldConfig *config = &world->config;
    world->scene = (HostScene){.bytes = config->stripped, .count = config->stripped_bytes};
    sha256_of(config->stripped, config->stripped_bytes, world->scene.hash);
    transfer_set_scene(world->script_host, 0, &world->scene);
    if (!may_fold(world)) {
        return STATUS_OK;
    }
    world->fold = heap_alloc(world->heap, sizeof *world->fold);
    if (world->fold == NULL) {
        return STATUS_LIMIT;
    }
    Fold *fold = world->fold;
    const uint64_t parts = replicator_patches(world->replicator)->part_count;
    const uint64_t rows = parts * (PATCH_ROW_PLAIN_BYTES + FOLD_ATTRIBUTES_BYTES);
    fold->capacity = PATCH_SCENE_MORE + config->stripped_bytes +
                     (size_t)(rows < PATCH_FOLD_BYTES ? rows : PATCH_FOLD_BYTES);
    for (uint32_t i = 0; i < HOST_SCENES - 1; i++) {
        fold->blocks[i] = heap_alloc(world->heap, fold->capacity);
        if (fold->blocks[i] == NULL) {
            return STATUS_LIMIT;
        }
    }
    // In a page a quick start counts more than the tick of the first fold.
    if (!config->development) {
        begin_hash(world);
    }
    return STATUS_OK;
}

void fold_destroy(World *world)
{
    Fold *fold = world->fold;
    for (uint32_t i = 0; fold != NULL && i < HOST_SCENES - 1; i++) {
        heap_free(world->heap, fold->blocks[i]);
    }
    heap_free(world->heap, fold);
    world->fold = NULL;
}

static void announce(World *world)
{
    MessageSceneFolded event = {.scene_bytes = world->scene.count, .tick = world->fold->tick};
    memcpy(event.scene_hash.bytes, world->scene.hash, sizeof event.scene_hash.bytes);
    event_broadcast(world->sessions, MESSAGE_SCENE_FOLDED, &event, NULL);
}

void fold_snapshot(World *world)
{
    Fold *fold = world->fold;
    PatchTable *table = replicator_patches(world->replicator);
    const uint64_t tick = world->clock.tick;
    if (fold == NULL || table->fresh_count <= PATCH_FOLD_PARTS ||
        (fold->tick != 0 && tick - fold->tick < world_ticks(&world->clock, PATCH_FOLD_MS))) {
        return;
    }
    uint8_t *block = fold->blocks[fold->next];
    const size_t base = PATCH_SCENE_HEAD + world->config.stripped_bytes;
    write_head(&world->config, block);
    memcpy(block + PATCH_SCENE_HEAD, world->config.stripped, world->config.stripped_bytes);
    ByteWriter writer = byte_writer(block + base, fold->capacity - base);
    byte_write_u64(&writer, tick);
    fold->tick = tick; // also if it does not fit: it is tried again after a while
    if (!patch_table_fold(table, &writer)) {
        return;
    }
    HostScene scene = {.bytes = block, .count = base + writer.at};
    begin_hash(world);
    Sha256 sha = fold->begun;
    sha256_update(&sha, block + base, writer.at);
    sha256_final(&sha, scene.hash);
    transfer_set_scene(world->script_host, 1 + fold->next, &scene);
    fold->next = (fold->next + 1) % (HOST_SCENES - 1);
    world->scene = scene;
    world->stats.scenes_folded += 1;
    announce(world);
}
