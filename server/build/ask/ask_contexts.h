// What WORKER_CONTEXTS is asked and answers: which side of which script place.json takes away. It
// is asked before anything is compiled, because it decides whether a script may leave the server,
// and of a process that has seen nothing else.
//
//   request   block place.json, u32 scripts; each: block path, u8 service
//   reply     diagnostics, u32 scripts; each: u8 context
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/place/soul.h"

#define CONTEXTS_FILE "place.json"

// Changes `context` and `replicate` of the souls that soul_scan found. A diagnostic is added if
// place.json cannot be understood, names no script, or would widen a context.
MUST_USE Status contexts_ask(const BuildContext *context, const PlaceFolder *folder,
                             SoulList *souls);

// Writing the request and reading the reply. The reply may be any bytes and can only restrict
// contexts; STATUS_MALFORMED: nothing is changed.
void contexts_write_request(const PlaceFolder *folder, const SoulList *souls, Buffer *request);
MUST_USE Status contexts_read_reply(const Buffer *reply, SoulList *souls,
                                    DiagnosticList *diagnostics);
