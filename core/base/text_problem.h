// Whether bytes are a text: UTF-8 without control characters, so that no bytecode and no other file
// passes for one.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum TextProblem { TEXT_GOOD, TEXT_NO_UTF8, TEXT_CONTROL, TEXT_PROBLEM_COUNT } TextProblem;

// Total over any bytes. *line is where the problem is, from 1.
TextProblem text_problem(const uint8_t *data, size_t bytes, uint32_t *line);
const char *text_problem_words(TextProblem problem); // "is no UTF-8; save it as UTF-8"
