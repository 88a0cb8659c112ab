// Answers of a build worker that a stranger has taken over: the first byte chooses the op and the
// status it claims, the rest is its answer. What is taken is whole, and the rune is a rune.
#include "core/base/check.h"
#include "core/script/rune.h"
#include "server/build/worker_compile.h"
#include "server/build/worker_narrow.h"
#include "server/build/worker_place.h"

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
    if (narrow_read_reply(reply, &souls, &list) != STATUS_OK) {
        ASSERT(items[1].context == CONTEXT_BOTH && list.count == 0);
    }
    ASSERT(items[0].context == CONTEXT_SERVER && !items[0].replicate);
    ASSERT(items[1].replicate == (items[1].context != CONTEXT_SERVER));
    diagnostic_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Buffer reply = buffer_of(WORKER_REPLY_MAX);
    if (size > 0) {
        buffer_put(&reply, data + 1, size - 1);
        const Status said = (data[0] & 2) != 0 ? STATUS_MALFORMED : STATUS_OK;
        if ((data[0] & 4) != 0) {
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
