// The outside of WORKER_UNPACK and WORKER_JUDGE: what a worker answered, read as a stranger's word.
// Apart from package.h because only package.c and the tests that lie to it need it.
#pragma once

#include "server/build/package/package.h"

// Total: *out and `warnings` are untouched unless it returns STATUS_OK.
MUST_USE Status package_reply_read(const uint8_t *bytes, size_t count, bool with_contents,
                                   PackageInfo *out, DiagnosticList *warnings,
                                   char reason[WORKER_REASON_BYTES]);
