// The owner of a world without a host: for the studio's preview in a web worker, and for tests. It
// compiles the files of a place, keeps what the world saves in memory, answers every command at
// once, and lets everybody in.
// local_host_apply_diff changes the place while it is played. If only scripts changed they are
// reloaded; anything else makes a new world from the new scene and the saved rows, in the same
// memory, and the players resume into it. A difference that does not compile changes nothing.
#pragma once

#include "core/script/trial/memory_store.h"
#include "core/wire/place.h"
#include "core/world/world.h"

typedef struct LocalHost LocalHost;

typedef struct LocalHostConfig {
    uint32_t player_max;
    uint32_t entity_max;
    uint32_t visible_max;
    bool scripts;
    uint64_t seed;
    LogSink *log; // kept; may be NULL
    // The place compiled already (place_compile, edit_compile); NULL: from place.json, scene.json,
    // prefabs and chunks among the files. Read during the call.
    const uint8_t *compiled;
    size_t compiled_bytes;
    // What local_host_keep wrote of the world that this one replaces; NULL: a new world.
    const uint8_t *kept;
    size_t kept_bytes;
    // What local_host_runes wrote of that world, so that scripts whose source is the same are not
    // checked and compiled again; NULL: none. A world runs what is in them as it is: they must come
    // from this program, in memory that nobody else can write, and from nowhere else.
    const uint8_t *runes;
    size_t rune_bytes;
} LocalHostConfig;
LocalHostConfig local_host_config_default(void);

// Any bytes of `compiled` and `kept` give a world or a status. Copies the files: place.json,
// scene.json, prefabs, chunks, and scripts (<Service>/….lua, .luau). Scripts are checked as a build
// checks them (core/script/check): the first error is an error of its file, warnings go to the log,
// and they run on the sides that place.json leaves them.
MUST_USE Status local_host_create(Heap *heap, const LocalHostConfig *config, const PlaceFile *files,
                                  uint32_t file_count, LocalHost **out, PlaceError *error);
void local_host_destroy(LocalHost *host); // NULL is allowed

Heap *local_host_heap(const LocalHost *host);
const Place *local_host_place(const LocalHost *host);
World *local_host_world(LocalHost *host); // another one after local_host_apply_diff
const uint8_t *local_host_scene(const LocalHost *host, size_t *bytes); // stripped
// The world stores its last rows.
void local_host_save(LocalHost *host);
// What a world that replaces this one begins with, maybe in another instance of the module: saved
// rows, and what scripts stored.
void local_host_keep(const LocalHost *host, ByteWriter *writer);
// The runes of its scripts, see LocalHostConfig. Those of scripts with warnings are left out: the
// next world tells them again.
void local_host_runes(const LocalHost *host, ByteWriter *writer);
uint32_t local_host_checked(const LocalHost *host); // scripts that were checked and compiled so far
// Like world_enter; commands that it causes are answered before it returns.
MUST_USE Status local_host_enter(LocalHost *host, const Entry *entry);

// Changes the scene while the place is played, without making the world anew: a JSON object, every
// member of which is optional:
//   "removed"   a list of ids
//   "entities"  scene entities that are there. Their poses, looks and part data are applied; the
//               rest is taken to be as it was. What is no part, or moves, only looks otherwise
//   "lost"      entities with those attributes and tags alone that are no more
//   "created"   new parts, props and NPCs; their script must be one of this world
//   "spawns"    spawns that are new or otherwise; "spawnsGone": those that are no more, by {"id":
//   …} "given"     entities with those attributes and tags alone that are new or otherwise
// Instead of an entity there may be {"entity": …, "above": […]} with everything it stands on, the
// lowest first. One that has a parent must come so.
// STATUS_NOT_FOUND: something in it is not in this world, or was removed before; STATUS_LIMIT,
// STATUS_UNSUPPORTED, STATUS_EXISTS: see edit.c. The caller makes the world anew; what came before
// it is applied. The files are not changed. The first edit of a world reads the ids of the scene;
// after that the time depends on the change alone.
MUST_USE Status local_host_edit(LocalHost *host, const char *json, size_t bytes, PlaceError *error);

// A JSON object; every member is optional:
//   "entities"  a list of scene entities: replaces the one of the same id, or adds it
//   "removed"   a list of ids
//   "files"     an object: path → the text of a file, or null to remove it
// All connections are closed when the world had to be made anew (*remade); their owners connect
// again with their resume tokens.
MUST_USE Status local_host_apply_diff(LocalHost *host, const char *json, size_t bytes, bool *remade,
                                      PlaceError *error);
