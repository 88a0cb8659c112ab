// Inside of soul_model, and for `sandlot soul`: a plain soul with its prompt and its kept Lua.
#pragma once

#include "server/build/soul/soul_kept.h"
#include "server/build/soul/soul_model.h"
#include "server/build/soul/soul_prompt.h"

typedef struct SoulView {
    const Soul *soul;
    char kept_path[SCRIPT_PATH_BYTES + 16]; // "SoulService/Workspace/Door.soul.lua"
    const PlaceFile *kept_file;             // NULL: there is none
    SoulPrompt prompt;
    SoulKept kept;
} SoulView;

// Reads the scene in the worker, and everything else from `folder`. STATUS_MALFORMED with a reason
// that names the file: the soul or the scene cannot be read. Must be closed in every case.
MUST_USE Status soul_view_open(const BuildContext *context, const PlaceFolder *folder,
                               const Soul *soul, SoulView *out);
void soul_view_close(SoulView *view);

// Asks the model, compiles its answer, and writes it beside the source, even if the kept Lua fits.
// But it does not overwrite edits of a person: STATUS_DENIED. Otherwise as soul_lua.
MUST_USE Status soul_ask(const BuildContext *context, const ModelConfig *config, const char *place,
                         const SoulView *view, SoulLua *out);
