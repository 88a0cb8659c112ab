// What a language model's server answered, in the Messages format, and the Lua in it. The bytes are
// a stranger's: they are read in the worker, and what it found is bounded and nothing but text.
//
//   request   the answer's body
//   reply     u8 ModelStop, block error type, block error message, block text, u8 LuaFound, block
//   Lua
#pragma once

#include "server/build/ask/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_TEXT_BYTES_MAX (512u << 10)
#define SOUL_LUA_BYTES_MAX   (255u << 10) // with its header it is a script, of 256 KiB at most
#define MODEL_WORD_BYTES     48
#define MODEL_SAID_BYTES     256

typedef enum LuaFound {
    LUA_FOUND,
    LUA_NONE,      // there is none: the model said something else
    LUA_SEVERAL,   // more than one block
    LUA_UNCLOSED,  // a block without its end
    LUA_TOO_LARGE, // past SOUL_LUA_BYTES_MAX
    LUA_HIDDEN,    // characters that a reader would not see: zeros, controls, changes of direction
    LUA_FOUND_COUNT
} LuaFound;

typedef enum ModelStop { STOP_DONE, STOP_REFUSAL, STOP_MAX_TOKENS, STOP_COUNT } ModelStop;

typedef struct ModelAnswer {
    ModelStop stop; // why it says no more
    // {"type":"error","error":{"type","message"}}, as they came: to be quoted; empty for none
    Buffer error_type, error_message;
    Buffer text; // what content[] says, one after the other
    LuaFound found;
    Buffer lua; // of the text; only when found
} ModelAnswer;

// Has the worker read a body. STATUS_MALFORMED: not JSON, or of another shape; STATUS_LIMIT: too
// much of it; STATUS_BLOCKED and STATUS_DENIED as worker_call. *out is to be freed whatever comes
// back.
MUST_USE Status model_answer_ask(Worker *worker, const Buffer *body, ModelAnswer *out,
                                 char reason[WORKER_REASON_BYTES]);
void model_answer_free(ModelAnswer *answer);
// What the worker said, which may be any bytes. STATUS_MALFORMED: no answer.
MUST_USE Status model_answer_read_reply(const Buffer *reply, ModelAnswer *out);

// A stranger's words for a message: one line, at most `bytes`, without control characters, and
// without `secret` (may be NULL) if it is in there.
void model_answer_quote(const Buffer *words, const char *secret, char *out, size_t bytes);

// --- in the worker alone ------------------------------------------------------------------------

MUST_USE Status model_answer_read(const uint8_t *bytes, size_t count, ModelAnswer *out);
// The Lua of an answer: what is in its one fenced block, or all of it when it has none and begins
// like Lua. Lines end with \n, the last one too. Into *out only when found.
LuaFound model_answer_lua(const char *text, size_t bytes, Buffer *out);
