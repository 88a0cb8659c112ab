// See ask_soul_context.h.
#include "server/build/ask/ask_soul_context.h"

#include "server/build/place/place_folder.h"

#include <string.h>

static bool is_wanted(const PlaceFile *file)
{
    return strcmp(file->path, "scene.json") == 0 || place_path_is_prefab(file->path);
}

void soul_context_request(const PlaceFile *files, uint32_t file_count, const SoulContextAsk *ask,
                          Buffer *out)
{
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        wanted += is_wanted(&files[i]);
    }
    buffer_put_block(out, ask->path, strlen(ask->path));
    buffer_put_u8(out, ask->replicate);
    buffer_put_block(out, ask->text, ask->text_bytes);
    buffer_put_u32(out, wanted);
    for (uint32_t i = 0; i < file_count; i++) {
        if (is_wanted(&files[i])) {
            buffer_put_block(out, files[i].path, strlen(files[i].path));
            buffer_put_block(out, files[i].data, files[i].bytes);
        }
    }
}
