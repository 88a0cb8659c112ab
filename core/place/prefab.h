// What a place lets scripts spawn by name. The table and everything it points to belongs to the
// owner of the place and outlives whoever uses it.
#pragma once

#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/wire/attribute.h"
#include "core/wire/paint.h"

typedef enum PrefabKind {
    PREFAB_PART, // blocks
    PREFAB_PROP, // never blocks
    PREFAB_NPC,
    PREFAB_PROJECTILE // rests until it gets a velocity
} PrefabKind;

typedef struct PrefabAttribute {
    Text name;
    ScriptValue value;
    uint32_t flags; // AttributeFlag
} PrefabAttribute;

typedef struct Prefab {
    Text name;
    PrefabKind kind;
    PartDesc part;             // parts and props; its position is not used
    NpcDesc npc;               // ids and position are not used
    ProjectileDesc projectile; // ids, position and velocity are not used
    Paint paint;
    uint32_t painted; // the members of it that differ from paint_default
    const PrefabAttribute *attributes;
    uint32_t attribute_count;
    const Text *tags;
    uint32_t tag_count;
    bool server_only;        // clients never learn of what is spawned from it
    const char *script_path; // bound to each one spawned; NULL: none
    const char *parameters;  // JSON, may be NULL
    size_t parameters_bytes;
} Prefab;

typedef struct PrefabTable {
    const Prefab *prefabs;
    uint32_t count;
} PrefabTable;

const Prefab *prefab_find(const PrefabTable *table, Text name); // NULL when there is none
