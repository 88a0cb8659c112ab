// See luau.h.
#include "core/script/luau/luau_inside.h"

#include "core/base/check.h"

Status luau_translate(Heap *heap, const char *source, size_t bytes, LuauLua *out)
{
    LuauLua made = {0};
    Luau luau = {.heap = heap,
                 .source = source,
                 .bytes = bytes <= LUAU_SOURCE_BYTES_MAX ? (uint32_t)bytes : 0,
                 .line = 1,
                 .out = &made};
    if (bytes > LUAU_SOURCE_BYTES_MAX) {
        lex_fail(&luau, 1, "a script has at most %u bytes", LUAU_SOURCE_BYTES_MAX);
    }
    luau.token = (Token){.line = 1};
    lex_next(&luau);
    read_block(&luau);
    if (luau.status == STATUS_OK && luau.token.kind != TOKEN_END_OF_FILE) {
        lex_fail_near(&luau, "<eof> expected");
    }
    ASSERT(luau.status != STATUS_OK || (luau.depth == 0 && luau.mute == 0));
    const Status status = luau.status == STATUS_OK ? edit_write(&luau) : luau.status;
    heap_free(heap, luau.edits);
    *out = made;
    return status;
}

void luau_free(Heap *heap, LuauLua *made)
{
    heap_free(heap, made->lua);
    *made = (LuauLua){0};
}
