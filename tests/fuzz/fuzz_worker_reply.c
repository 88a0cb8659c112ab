// Replies of a build worker that a stranger has taken over: the first byte chooses the request and
// the status, the rest is the reply. An accepted reply is complete, and its rune is a valid rune.
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "core/script/rune/rune.h"
#include "server/build/ask/ask_artifact.h"
#include "server/build/ask/ask_compile.h"
#include "server/build/ask/ask_contexts.h"
#include "server/build/ask/ask_model_answer.h"
#include "server/build/ask/ask_place.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_compile(const Buffer *reply, Status said)
{
    const CompileJob job = {.path = "Workspace/Door", .file = "Workspace/Door.lua"};
    CompileOutput out = {0};
    DiagnosticList list = {0};
    if (compile_read_reply(reply, said, &job, &out, &list) == STATUS_OK) {
        Rune rune;
        ASSERT((out.rune != NULL) == (said == STATUS_OK));
        ASSERT(out.rune == NULL || rune_check(out.rune, out.rune_bytes, &rune) == STATUS_OK);
        for (uint32_t i = 0; i < list.count; i++) {
            ASSERT(strcmp(list.items[i].file, job.file) == 0);
        }
    }
    compile_output_free(&out);
    diagnostic_list_free(&list);
}

static void read_place(const Buffer *reply, Status said)
{
    PlaceOutput out = {0};
    DiagnosticList list = {0};
    if (place_read_reply(reply, said, &out, &list) == STATUS_OK) {
        ASSERT((out.whole != NULL) == (said == STATUS_OK));
    }
    place_output_free(&out);
    diagnostic_list_free(&list);
}

static void read_narrow(const Buffer *reply)
{
    Soul items[] = {{.service = SERVICE_SERVER_SCRIPT, .context = CONTEXT_SERVER},
                    {.service = SERVICE_WORKSPACE, .context = CONTEXT_BOTH, .replicate = true}};
    SoulList souls = {.items = items, .count = 2};
    DiagnosticList list = {0};
    if (contexts_read_reply(reply, &souls, &list) != STATUS_OK) {
        ASSERT(items[1].context == CONTEXT_BOTH && list.count == 0);
    }
    ASSERT(items[0].context == CONTEXT_SERVER && !items[0].replicate);
    ASSERT(items[1].replicate == (items[1].context != CONTEXT_SERVER));
    diagnostic_list_free(&list);
}

static void read_answer(const Buffer *reply)
{
    ModelAnswer answer;
    if (model_answer_read_reply(reply, &answer) == STATUS_OK) {
        ASSERT(answer.text.bytes <= MODEL_TEXT_BYTES_MAX);
        ASSERT(utf8_is_valid(answer.lua.data, answer.lua.bytes));
    }
    model_answer_free(&answer);
}

// Nothing here is signed, so whatever is read must be writable, and is rejected.
static void read_artifacts(const Buffer *reply)
{
    static uint8_t block[MANIFEST_ARENA_BYTES];
    uint8_t signature[MANIFEST_SIGNATURE_BYTES] = {0};
    const SigningPublicKeys halves = {0};
    bool is_signed = false;
    Arena arena;
    ManifestList list;
    AssetList assets;
    arena_init(&arena, block, sizeof block);
    if (manifest_read_reply(reply, &arena, &list, signature, &is_signed) == STATUS_OK) {
        ASSERT(manifest_check(&list, signature, &halves, NULL) != STATUS_OK);
    }
    arena_reset(&arena);
    ASSERT(asset_list_read_reply(reply, &arena, "{}", 2, &assets) != STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Buffer reply = buffer_of(WORKER_REPLY_MAX);
    if (size > 0) {
        buffer_put(&reply, data + 1, size - 1);
        const Status said = (data[0] & 2) != 0 ? STATUS_MALFORMED : STATUS_OK;
        if ((data[0] & 8) != 0) {
            static void (*const readers[])(const Buffer *reply) = {read_answer, read_artifacts};
            readers[data[0] >> 4 & 1](&reply);
        } else if ((data[0] & 4) != 0) {
            read_narrow(&reply);
        } else if ((data[0] & 1) == 0) {
            read_compile(&reply, said);
        } else {
            read_place(&reply, said);
        }
    }
    buffer_free(&reply);
    return 0;
}
