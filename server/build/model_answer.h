// What a language model's server answered, in the Messages format, and the Lua in it. The bytes are
// a stranger's: reading is total, bounded, and keeps nothing but text.
#pragma once

#include "server/build/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_TEXT_BYTES_MAX (512u << 10)
#define SOUL_LUA_BYTES_MAX   (255u << 10) // with its header it is a script, of 256 KiB at most
#define MODEL_WORD_BYTES     48
#define MODEL_SAID_BYTES     256

typedef struct ModelAnswer {
    Buffer text; // what content[] says, one after the other; free with model_answer_free
    char stop_reason[MODEL_WORD_BYTES];
    // {"type":"error","error":{"type","message"}}; "" for none
    char error_type[MODEL_WORD_BYTES];
    char error_message[MODEL_SAID_BYTES];
} ModelAnswer;

// STATUS_MALFORMED: not JSON, or of another shape; STATUS_LIMIT: too much of it. *out is to be
// freed whatever comes back. A server that says the `secret` (may be NULL) in an error is not
// quoted with it.
MUST_USE Status model_answer_read(const uint8_t *bytes, size_t count, const char *secret,
                                  ModelAnswer *out);
void model_answer_free(ModelAnswer *answer);

typedef enum LuaFound {
    LUA_FOUND,
    LUA_NONE,      // there is none: the model said something else
    LUA_SEVERAL,   // more than one block
    LUA_UNCLOSED,  // a block without its end
    LUA_TOO_LARGE, // past SOUL_LUA_BYTES_MAX
    LUA_HIDDEN     // characters that a reader would not see: zeros, controls, changes of direction
} LuaFound;

// The Lua of an answer: what is in its one fenced block, or all of it when it has none and begins
// like Lua. Lines end with \n, the last one too. Into *out only when found.
LuaFound model_answer_lua(const char *text, size_t bytes, Buffer *out);

// A stranger's words for a message: one line, at most `bytes`, without control characters, and
// without `secret` if it is in there.
void model_answer_quote(const char *text, size_t text_bytes, const char *secret, char *out,
                        size_t bytes);
