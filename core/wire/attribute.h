// What an attribute of an entity can hold, in scenes and in scripts.
#pragma once

#include "core/base/math.h"
#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ScriptValueType {
    SCRIPT_NIL,
    SCRIPT_BOOL,
    SCRIPT_NUMBER,
    SCRIPT_TEXT,
    SCRIPT_VECTOR,
    SCRIPT_ENTITY
} ScriptValueType;

typedef struct ScriptValue {
    ScriptValueType type;
    bool boolean;
    double number;
    Text text;
    Vec3 vector;
    uint64_t entity;
} ScriptValue;

static inline bool script_value_equal(const ScriptValue *a, const ScriptValue *b)
{
    if (a->type != b->type) {
        return false;
    }
    switch (a->type) {
    case SCRIPT_BOOL:
        return a->boolean == b->boolean;
    case SCRIPT_NUMBER:
        return a->number == b->number;
    case SCRIPT_TEXT:
        return text_equal(a->text, b->text);
    case SCRIPT_VECTOR:
        return vec3_equal(a->vector, b->vector);
    case SCRIPT_ENTITY:
        return a->entity == b->entity;
    default:
        return true; // nil
    }
}

typedef enum AttributeFlag {
    ATTRIBUTE_PERSISTENT = 1 << 0, // survives a restart of the world
    ATTRIBUTE_PRIVATE = 1 << 1,    // visibility "server": never leaves the server
    ATTRIBUTE_OWNER = 1 << 2,      // visibility "owner": only for the player who owns the entity
    // In a call alone: the two above replace what the attribute had; otherwise they are added.
    ATTRIBUTE_VISIBILITY = 1 << 3,
} AttributeFlag;

static inline bool attribute_is_public(uint32_t flags)
{
    return (flags & (ATTRIBUTE_PRIVATE | ATTRIBUTE_OWNER)) == 0;
}

// What the owner of the entity may see.
static inline bool attribute_is_owners(uint32_t flags)
{
    return (flags & ATTRIBUTE_PRIVATE) == 0;
}

static inline bool attribute_is_visible(uint32_t flags, bool is_owner)
{
    return is_owner ? attribute_is_owners(flags) : attribute_is_public(flags);
}
