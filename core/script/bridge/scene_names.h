// Names of a scene's anchored parts, which never change, found by hash. The texts belong to the
// owner of the place.
#pragma once

#include "core/base/arena.h"
#include "core/script/runtime/script_world.h"

typedef struct SceneNames {
    const Text *names; // by scene index, "" for none; NULL: no part has a name
    uint32_t count;
    uint32_t *first; // buckets of indices + 1, ascending
    uint32_t *after;
    uint32_t mask;
} SceneNames;

size_t scene_names_bytes(const Scene *scene, const Text *names);
MUST_USE Status scene_names_init(SceneNames *index, Arena *arena, const Scene *scene,
                                 const Text *names);
Text scene_names_at(const SceneNames *index, uint64_t net_id); // "" for none
// Net ids of that name, ascending: start with 0, ends with 0.
uint64_t scene_names_find(const SceneNames *index, Text name, uint64_t after);
