// Inside of soul_model, and for `sandlot soul`: a plain soul with its prompt and with what is kept
// of it.
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
// that names the file: the soul or the scene cannot be read. To be closed whatever comes back.
MUST_USE Status soul_view_open(const BuildContext *context, const PlaceFolder *folder,
                               const Soul *soul, SoulView *out);
void soul_view_close(SoulView *view);

// Asks the model, has its answer compiled, and writes it beside the source, whatever is kept; but
// not over a hand's work, which is STATUS_DENIED here. As soul_lua otherwise.
MUST_USE Status soul_ask(const BuildContext *context, const ModelConfig *config, const char *place,
                         const SoulView *view, SoulLua *out);
