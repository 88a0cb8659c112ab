// Reads the worker's answer to WORKER_UNPACK and WORKER_JUDGE, which may be any bytes. Apart from
// package.h because only package.c and its tests need it.
#pragma once

#include "server/build/package/package.h"

// *out and `warnings` are unchanged unless it returns STATUS_OK.
MUST_USE Status package_reply_read(const uint8_t *bytes, size_t count, bool with_contents,
                                   PackageInfo *out, DiagnosticList *warnings,
                                   char reason[WORKER_REASON_BYTES]);
