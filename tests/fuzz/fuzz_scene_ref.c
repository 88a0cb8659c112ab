// Any bytes as a scene or a prefab, and any bytes as the worker's edits of it: an edit keeps valid
// JSON valid, is complete after one round, and changes only the members of a reference.
#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/build/inside/op_scene_ref.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const SceneRefScript scripts[] = {
    {.path = "ServerScriptService/A", .language = SOUL_PLAIN, .code_hash = {1}},
    {.path = "Workspace/B", .language = SOUL_LUA, .code_hash = {2}},
    {.path = "Workspace/C", .language = SOUL_TYPESCRIPT, .code_hash = {3}}};

static bool edit(const uint8_t *text, size_t bytes, SceneRefKind kind, Buffer *out, bool *changed)
{
    Buffer edits = buffer_of(JSON_BYTES_MAX);
    DiagnosticList diagnostics = {0};
    const SceneRefFile file = {"scene.json", kind, (const char *)text, bytes};
    uint8_t used[3] = {0};
    const bool is_json = scene_ref_find(&file, scripts, 3, used, &diagnostics, &edits) == STATUS_OK;
    diagnostic_list_free(&diagnostics);
    if (is_json) {
        const Status status = scene_ref_apply((const char *)text, bytes, scripts, 3, edits.data,
                                              edits.bytes, out, changed);
        ASSERT(status == STATUS_OK);
    }
    buffer_free(&edits);
    return is_json;
}

// u8 edits' bytes, those edits, the text. Whatever they are, what is there before the first one and
// behind the last one stays.
static void apply_any(const uint8_t *data, size_t bytes)
{
    const size_t edit_bytes = bytes > 0 && data[0] < bytes ? data[0] : 0;
    const uint8_t *text = data + 1 + edit_bytes;
    const size_t text_bytes = bytes > 0 ? bytes - 1 - edit_bytes : 0;
    Buffer out = buffer_of(JSON_BYTES_MAX);
    bool changed = false;
    if (bytes > 0 && scene_ref_apply((const char *)text, text_bytes, scripts, 3, data + 1,
                                     edit_bytes, &out, &changed) == STATUS_OK) {
        ASSERT(changed == (edit_bytes > 0));
        ASSERT(changed || out.bytes == text_bytes);
        ASSERT(changed || text_bytes == 0 || memcmp(out.data, text, text_bytes) == 0);
        ASSERT(text_bytes == 0 || out.data[out.bytes - 1] == text[text_bytes - 1] ||
               text[text_bytes - 1] == '}' || text[text_bytes - 1] == '"');
    }
    buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    const SceneRefKind kind = data[0] == 'p' ? SCENE_REF_PREFAB : SCENE_REF_SCENE;
    data += 1;
    bytes -= 1;
    if (kind == SCENE_REF_SCENE && data[-1] == 'e') {
        apply_any(data, bytes);
        return 0;
    }
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
