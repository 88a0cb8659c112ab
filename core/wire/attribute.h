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

typedef enum AttributeFlag {
    ATTRIBUTE_PERSISTENT = 1 << 0, // survives a restart of the world
    ATTRIBUTE_PRIVATE = 1 << 1,    // never leaves the server
} AttributeFlag;
