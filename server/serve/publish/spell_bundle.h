// The modules of a spell as one blob, whose hash a lock and a record name. One module is its Lua as
// it is; several are {"modules": {"": "…", "part": "…"}}, which is no Lua. "" is what
// require("@name") gives. The texts come from strangers.
#pragma once

#include "core/base/limits.h"
#include "server/build/base/buffer.h"

#define SPELL_PART_BYTES 33
#define SPELL_PATH_BYTES 144

typedef struct SpellModule {
    char name[SPELL_PART_BYTES]; // "": the first
    const char *text;
    size_t bytes;
} SpellModule;

typedef struct SpellBundle {
    SpellModule modules[SPELL_MODULES_MAX]; // the first one has the name ""
    uint32_t count;
    void *memory; // of the texts; freed by whoever parsed it. NULL: they are somebody else's
} SpellBundle;

bool spell_part_is_valid(const char *text); // 1 to 32 of A-Z a-z 0-9 _ -
// Where it is in a place, and in the spell's own package: "ReplicatedStorage/spells/<id>.lua", or
// "…/<id>/<part>.lua".
void spell_module_path(const char *spell_id, const char *part, const char *ending,
                       char out[SPELL_PATH_BYTES]);

// The same modules in the same order give the same bytes.
void spell_bundle_write(const SpellBundle *bundle, Buffer *out);
MUST_USE Status spell_bundle_parse(const void *data, size_t bytes, SpellBundle *out);
