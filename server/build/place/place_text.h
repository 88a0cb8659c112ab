// Checks that the texts of a place are UTF-8 without control characters, so that no bytecode and no
// other file is taken for a script. All are checked before anything else reads them.
#pragma once

#include "server/build/base/diagnostic.h"
#include "server/build/place/place_folder.h"

typedef enum TextProblem { TEXT_GOOD, TEXT_NO_UTF8, TEXT_CONTROL, TEXT_PROBLEM_COUNT } TextProblem;

// Works for any bytes. *line is where the problem is, from 1.
TextProblem text_problem(const uint8_t *data, size_t bytes, uint32_t *line);
const char *text_problem_words(TextProblem problem); // "is no UTF-8; save it as UTF-8"
// Checks every file in the folder but .chunk files: each that is not text becomes an error with its
// file and line. Returns the number of errors.
uint32_t place_text_check(const PlaceFolder *folder, DiagnosticList *diagnostics);
