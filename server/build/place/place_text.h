// Whether the texts of a place are texts: UTF-8 without control characters, so that no bytecode and
// no other file passes for a script. WORKER_TEXT looks at all of them before anything else does.
//
//   request   u32 texts; each: block
//   reply     u32 texts; each: u8 TextProblem, u32 line
#pragma once

#include "server/build/place/place_folder.h"
#include "server/build/ask/worker.h"

typedef enum TextProblem { TEXT_GOOD, TEXT_NO_UTF8, TEXT_CONTROL, TEXT_PROBLEM_COUNT } TextProblem;

// In the worker alone. *line is where it is, from 1.
TextProblem text_problem(const uint8_t *data, size_t bytes, uint32_t *line);
const char *text_problem_words(TextProblem problem); // "is no UTF-8; save it as UTF-8"

// Everything in the folder but .chunk files.
void text_write_request(const PlaceFolder *folder, Buffer *request);
// Any bytes at all: each text that is none becomes an error with its file and line.
// STATUS_MALFORMED: it is no answer about this folder, and nothing is added.
MUST_USE Status text_read_reply(const Buffer *reply, const PlaceFolder *folder,
                                DiagnosticList *diagnostics);
