// Any bytes as a script of a place, and any bytes as its place.json: every answer is one of those
// that check.h names, a rune is whole, the JSON is JSON, and no memory is left behind.
//
//   byte 0   the script's file
//   byte 1   lines that are mapped: the first so many, to numbers from the text itself
//   byte 2   bytes of place.json; then it, then the source
#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/json.h"
#include "core/script/check/check_list.h"
#include "core/script/check/check_place.h"
#include "core/script/rune/rune.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILES    4
#define ANSWER   (1u << 20)
#define LIST_MAX 64

static const char *const files[] = {
    "Workspace/a.lua",
    "ServerScriptService/a.lua",
    "StarterGui/a.lua",
    "ReplicatedStorage/a.lua",
    "Nowhere/a.lua",
    "SoulService/Workspace/a.lua",
    "Workspace/a.ts",
    "Workspace/a.soul.lua",
    "Workspace/a b.lua",
    "Workspace/a.lua/b.lua",
    "a.lua",
    "place.json",
    "Workspace/a.luau",
};

static void check_answer(Heap *heap, const PlaceFile *place)
{
    static uint8_t answer[ANSWER];
    static _Alignas(16) uint8_t tree[8 * ANSWER];
    ByteWriter writer = byte_writer(answer, sizeof answer);
    const Status status = check_place_json(heap, place, FILES, place[0].path, &writer);
    ASSERT(status == STATUS_OK || status == STATUS_UNSUPPORTED);
    if (status == STATUS_OK) {
        Arena arena;
        arena_init(&arena, tree, sizeof tree);
        const JsonConfig config = json_config_default(&arena);
        const JsonNode *root;
        JsonError error = {0};
        ASSERT(json_parse(&config, (const char *)answer, writer.at, &root, &error) == STATUS_OK);
    }
}

static void check_mapped(Heap *heap, const uint8_t *text, size_t bytes, uint32_t line_count)
{
    uint32_t lines[256];
    CheckList list;
    for (uint32_t i = 0; i < line_count; i++) {
        lines[i] = bytes > 0 ? (uint32_t)text[i % bytes] << (i % 25) : i;
    }
    ASSERT(check_list_create(heap, LIST_MAX, &list) == STATUS_OK);
    const CheckSink sink = check_list_sink(&list);
    const CheckScript script = {.path = "Workspace/a",
                                .file = "Workspace/a.ts",
                                .context = CONTEXT_BOTH,
                                .source = text,
                                .source_bytes = bytes,
                                .is_generated = true,
                                .lines = line_count > 0 ? lines : NULL,
                                .line_count = line_count};
    CheckOutput output;
    const Status status = check_script(heap, &script, &sink, &output);
    ASSERT(status == STATUS_OK || (status == STATUS_MALFORMED && list.error_count > 0));
    ASSERT((output.rune != NULL) == (status == STATUS_OK));
    Rune rune;
    ASSERT(output.rune == NULL || rune_check(output.rune, output.rune_bytes, &rune) == STATUS_OK);
    ASSERT(output.require_count <= CHECK_REQUIRES_MAX);
    check_output_free(heap, &output);
    check_list_destroy(heap, &list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size - 3 < data[2]) {
        return 0;
    }
    const uint8_t *source = data + 3 + data[2];
    const size_t source_bytes = size - 3 - data[2];
    Heap heap = heap_make(1ull << 27);
    const PlaceFile place[FILES] = {
        {files[data[0] % (sizeof files / sizeof files[0])], source, source_bytes},
        {"place.json", data + 3, data[2]},
        {"ReplicatedStorage/Tools.lua", NULL, 0},
        {"Workspace/a.soul", NULL, 0},
    };
    check_answer(&heap, place);
    check_mapped(&heap, source, source_bytes, data[1]);
    ASSERT(heap.bytes_now == 0);
    return 0;
}
