// In the worker: reads the JSON of a language model's answer, and finds the Lua in its text.
#pragma once

#include "server/build/ask/ask_model_answer.h"

MUST_USE Status model_answer_read(const uint8_t *bytes, size_t count, ModelAnswer *out);
// The Lua of an answer: what is in its one fenced block, or all of it when it has none and begins
// like Lua. Lines end with \n, the last one too. Into *out only when found.
LuaFound model_answer_lua(const char *text, size_t bytes, Buffer *out);
