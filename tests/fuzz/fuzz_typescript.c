// Replies of the TypeScript compiler: any bytes, as the reply to a small request.
#include "server/build/typescript/typescript_frame.h"
#include "tests/support/typescript_place.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/A.ts", "export const a = 1;");
    typescript_place_add(&place, "SoulService/Workspace/B.ts", "export const b = 1;");
    typescript_place_add(&place, "Workspace/C.lua", "");
    const bool wanted[] = {true, false, true};
    TypeScriptResult result = {0};
    DiagnosticList diagnostics = {0};
    char reason[WORKER_REASON_BYTES];
    const Status status =
        typescript_read_result(data, bytes, &place.list, wanted, &result, &diagnostics, reason);
    // Only what was asked for, or nothing.
    if (status == STATUS_OK
            ? typescript_place_find(&result, "Workspace/A") == NULL || result.count > 2
            : result.count > 0) {
        abort();
    }
    uint32_t script = 0, done = 0;
    if (typescript_read_progress(data, bytes, &place.list, &script, &done) == STATUS_OK &&
        (bytes != TYPESCRIPT_PROGRESS_BYTES || done > 2 ||
         (script > 2 && script != TYPESCRIPT_NO_SCRIPT))) {
        abort();
    }
    typescript_result_free(&result);
    diagnostic_list_free(&diagnostics);
    return 0;
}
