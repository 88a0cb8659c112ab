// Where players start, as a creator changes it while the place is played: ENTRY_EDIT_SPAWN and
// ENTRY_EDIT_SPAWN_GONE. Spawns are no entities of the sim, and the place that has them is shared
// and never changes. So the first change copies them, with room for new ones, and the authority is
// given the copy. One that was taken away keeps its number, because scripts may hold it; there is
// always one that is left.
//
// Scripts on players' machines have the spawns of the scene that they loaded, until the world is
// made anew.
#include "core/world/edit_inside.h"

#include <string.h>

// The texts that a spawn names.
typedef struct SpawnTexts {
    char name[WORLD_NAME_BYTES_MAX];
    char team[WORLD_NAME_BYTES_MAX];
} SpawnTexts;

static uint32_t capacity_of(const World *world)
{
    return world->config.place->spawn_count + EDIT_MADE_MAX;
}

// They are behind the spawns.
static SpawnTexts *texts_of(const World *world, const PlaceSpawn *spawn)
{
    return (SpawnTexts *)(void *)(world->spawns + capacity_of(world)) + (spawn - world->spawns);
}

static bool copy_spawns(World *world)
{
    const Place *place = world->config.place;
    if (world->spawns == NULL) {
        world->spawns =
            heap_alloc(world->heap, capacity_of(world) * (sizeof(PlaceSpawn) + sizeof(SpawnTexts)));
        if (world->spawns == NULL) {
            return false;
        }
        memcpy(world->spawns, place->spawns, place->spawn_count * sizeof *place->spawns);
        world->spawn_count = place->spawn_count;
        authority_set_spawns(world->authority, world->spawns, world->spawn_count);
    }
    return true;
}

static PlaceSpawn *find_spawn(World *world, uint32_t scene_id)
{
    for (uint32_t i = 0; i < world->spawn_count; i++) {
        if (world->spawns[i].id == scene_id) {
            return &world->spawns[i];
        }
    }
    return NULL;
}

static Status check_spawn(World *world, const PlaceSpawn *old, const PlaceEntityDoc *doc)
{
    const bool is_there = old != NULL && !old->is_gone;
    const bool has_name = is_there && text_equal(old->name, doc->name);
    if (doc->id == 0 || doc->type != PLACE_TYPE_SPAWN || doc->name.bytes > WORLD_NAME_BYTES_MAX ||
        doc->team.bytes > WORLD_NAME_BYTES_MAX) {
        return STATUS_MALFORMED;
    }
    if (!has_name && (!edit_name_is_free(world, doc->name) ||
                      (is_there && !edit_name_is_free(world, old->name)))) {
        return STATUS_UNSUPPORTED;
    }
    return old == NULL && world->spawn_count == capacity_of(world) ? STATUS_LIMIT : STATUS_OK;
}

static Text keep_text(char *bytes, Text text)
{
    ASSERT(text.bytes <= WORLD_NAME_BYTES_MAX);
    if (text.bytes > 0) {
        memcpy(bytes, text.data, text.bytes);
    }
    return (Text){bytes, text.bytes};
}

static void put_spawn(World *world, PlaceSpawn *spawn, const PlaceEntityDoc *doc)
{
    if (spawn == NULL) {
        spawn = &world->spawns[world->spawn_count++];
        authority_set_spawns(world->authority, world->spawns, world->spawn_count);
    }
    SpawnTexts *texts = texts_of(world, spawn);
    *spawn = (PlaceSpawn){.name = keep_text(texts->name, doc->name),
                          .position = doc->pose.position,
                          .yaw = place_yaw(doc->pose.rotation),
                          .team = keep_text(texts->team, doc->team),
                          .id = doc->id};
}

static Status end_spawn(World *world, PlaceSpawn *spawn)
{
    uint32_t left = 0;
    if (spawn == NULL || spawn->is_gone) {
        return STATUS_NOT_FOUND;
    }
    for (uint32_t i = 0; i < world->spawn_count; i++) {
        left += !world->spawns[i].is_gone;
    }
    if (left == 1) {
        return STATUS_UNSUPPORTED; // whoever compiles the place tells that it needs one
    }
    spawn->is_gone = true;
    return STATUS_OK;
}

Status edit_enter_spawn(World *world, const Entry *entry)
{
    PlaceScratch scratch = {.heap = world->heap};
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    PlaceEntityDoc doc;
    const bool is_gone = entry->number == ENTRY_EDIT_SPAWN_GONE;
    Status status = is_gone ? edit_read_entity(&reader, &scratch, &doc)
                            : edit_read_framed(&reader, &scratch, &doc);
    if (status == STATUS_OK && !copy_spawns(world)) {
        status = STATUS_LIMIT;
    }
    if (status == STATUS_OK) {
        PlaceSpawn *spawn = find_spawn(world, doc.id);
        status = is_gone ? end_spawn(world, spawn) : check_spawn(world, spawn, &doc);
        if (status == STATUS_OK && !is_gone) {
            put_spawn(world, spawn, &doc);
        }
    }
    place_scratch_free(&scratch);
    return status;
}
