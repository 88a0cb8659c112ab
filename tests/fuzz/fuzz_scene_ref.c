// Any bytes as a scene or a prefab: an edit keeps JSON JSON, is done after one round, and changes
// nothing but what belongs to a reference.
#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/build/scene_ref.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static bool edit(const uint8_t *text, size_t bytes, SceneRefKind kind, Buffer *out, bool *changed)
{
    static const SceneRefScript scripts[] = {
        {.path = "ServerScriptService/A", .language = SOUL_PLAIN, .code_hash = {1}},
        {.path = "Workspace/B", .language = SOUL_LUA, .code_hash = {2}},
        {.path = "Workspace/C", .language = SOUL_TYPESCRIPT, .code_hash = {3}}};
    return scene_ref_edit((const char *)text, bytes, kind, scripts, 3, out, changed) == STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    const SceneRefKind kind = data[0] == 'p' ? SCENE_REF_PREFAB : SCENE_REF_SCENE;
    data += 1;
    bytes -= 1;
    Buffer once = buffer_of(JSON_BYTES_MAX), twice = buffer_of(JSON_BYTES_MAX);
    bool changed = false, again = true;
    if (edit(data, bytes, kind, &once, &changed)) {
        ASSERT(changed || (once.bytes == bytes && memcmp(once.data, data, bytes) == 0));
        const bool still_json = edit(once.data, once.bytes, kind, &twice, &again);
        ASSERT(still_json);
        ASSERT(!again);
        ASSERT(twice.bytes == once.bytes && memcmp(twice.data, once.data, once.bytes) == 0);
    } else {
        ASSERT(once.bytes == 0);
    }
    buffer_free(&once);
    buffer_free(&twice);
    return 0;
}
