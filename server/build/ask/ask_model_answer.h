// What a language model's server answered, in the Messages format, and the Lua in it. The bytes are
// a stranger's: they are read in the worker, and what it found is bounded and nothing but text.
//
//   request   the answer's body
//   reply     u8 ModelStop, block error type, block error message, block text, u8 LuaFound, block
//   Lua
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/soul/model_answer.h"

// Has the worker read a body. STATUS_MALFORMED: not JSON, or of another shape; STATUS_LIMIT: too
// long; STATUS_BLOCKED and STATUS_DENIED as worker_call. *out must be freed in every case.
MUST_USE Status model_answer_ask(const BuildContext *context, const Buffer *body, ModelAnswer *out);
// Reads the worker's reply, which may be any bytes. STATUS_MALFORMED: it is not a valid reply.
MUST_USE Status model_answer_read_reply(const Buffer *reply, ModelAnswer *out);
