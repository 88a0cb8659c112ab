// Any names and any place.json, scanned for souls as a build does, with the worker's part in this
// process. The input is texts with zero bytes between them: place.json, then names of files.
// Nothing crashes, the result is sorted without duplicates, and no script that its service or
// place.json keeps on the server is ever replicated.
#include "core/base/check.h"
#include "server/build/ask/ask_contexts.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <string.h>

#define FILES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void narrow(const PlaceFolder *folder, SoulList *souls, DiagnosticList *list)
{
    Buffer request = buffer_of(WORKER_REQUEST_MAX);
    WorkerCall call;
    contexts_write_request(folder, souls, &request);
    ASSERT(worker_answer(WORKER_CONTEXTS, request.data, request.bytes, &call) == STATUS_OK);
    ASSERT(contexts_read_reply(&call.reply, souls, list) == STATUS_OK);
    buffer_free(&call.reply);
    buffer_free(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *texts = malloc(size + 1);
    ASSERT(texts != NULL);
    if (size > 0) {
        memcpy(texts, data, size);
    }
    texts[size] = '\0';
    PlaceFile files[FILES_MAX + 1];
    uint32_t count = 0;
    const size_t settings_bytes = strlen(texts);
    for (size_t at = settings_bytes + 1; at < size && count < FILES_MAX;) {
        const size_t bytes = strlen(texts + at);
        if (bytes > 0 && bytes < 128) { // as place_folder.h has them
            files[count++] = (PlaceFile){.path = texts + at, .data = data, .bytes = 0};
        }
        at += bytes + 1;
    }
    files[count++] =
        (PlaceFile){.path = "place.json", .data = (const uint8_t *)texts, .bytes = settings_bytes};
    const PlaceFolder folder = {.files = files, .file_count = count};
    SoulList souls;
    DiagnosticList list = {0};
    const Status status = soul_scan(&folder, &souls, &list);
    ASSERT(status == STATUS_OK);
    narrow(&folder, &souls, &list);
    for (uint32_t i = 0; i < souls.count; i++) {
        const Soul *soul = &souls.items[i];
        ASSERT(i == 0 || strcmp(souls.items[i - 1].path, soul->path) < 0);
        ASSERT(soul->replicate == (soul->context != CONTEXT_SERVER));
        const RunContext widest = soul_service_context(soul->service);
        ASSERT(widest == CONTEXT_BOTH || soul->context == widest);
        const char *service = soul_service_name(soul->service);
        ASSERT(strncmp(soul->path, service, strlen(service)) == 0);
        ASSERT(strstr(soul->path, "/.") == NULL && strchr(soul->path, 0x5c) == NULL);
    }
    soul_list_free(&souls);
    diagnostic_list_free(&list);
    free(texts);
    return 0;
}
