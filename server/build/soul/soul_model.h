// Plain-language souls: `Door.soul` becomes Lua by a language model over HTTP (Anthropic's Messages
// format). The Lua is kept beside the source as `Door.soul.lua`, with the hash of all that went
// into it, to be read, reviewed and committed; as long as that hash fits nothing is asked again.
//
// Only the request goes out from here. What has to be parsed is read in the worker: the scene, the
// answer as JSON, and the Lua in it, which is compiled and linted there and sent back with its
// errors at most twice.
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/place/soul.h"

#define SOUL_REPAIRS_MAX   2
#define SOUL_QUESTIONS_MAX 20 // in one build, with repairs; the place may come from a stranger

typedef struct ModelConfig {
    const char *url;           // SANDLOT_MODEL_URL; default: the vendor's
    const char *key;           // SANDLOT_MODEL_KEY; NULL or "": none
    const char *model;         // SANDLOT_MODEL
    uint32_t timeout_ms;       // SANDLOT_MODEL_TIMEOUT, in seconds there
    const char *timeout_wrong; // its value, if that is not a number of seconds; otherwise NULL
    uint32_t
        retries_max; // after a rate limit, waiting as long as the server says, within the timeout
    const atomic_bool *cancel;
    uint32_t *questions_left; // counted down; NULL: no limit
} ModelConfig;
ModelConfig model_config_environment(void);

typedef struct SoulLua {
    char *lua; // free with soul_lua_free; zero after the last byte
    size_t lua_bytes;
    bool reviewed;    // `sandlot soul accept` has recorded exactly these bytes
    bool was_asked;   // the model was; false: the kept one fits
    uint32_t repairs; // rounds
} SoulLua;

// The Lua of a plain soul: the kept one if its hash fits, or a new one, which is written beside the
// source at once (`place` is the folder). Without a key and without Lua that fits, it is an error
// that names the setting. Problems are diagnostics; STATUS_MALFORMED if there is no Lua.
MUST_USE Status soul_lua(const BuildContext *context, const ModelConfig *config, const char *place,
                         const PlaceFolder *folder, const Soul *soul, SoulLua *out);
void soul_lua_free(SoulLua *lua);
