// The answer of a language model as data, used on both sides of the worker's pipe.
#pragma once

#include "server/build/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_REPLY_BYTES_MAX (1u << 20) // of the body
#define MODEL_TEXT_BYTES_MAX  (512u << 10)
#define SOUL_LUA_BYTES_MAX    (255u << 10) // with its header it is a script, of 256 KiB at most
#define MODEL_WORD_BYTES      48
#define MODEL_SAID_BYTES      256

typedef enum LuaFound {
    LUA_FOUND,
    LUA_NONE,      // no Lua: the model answered something else
    LUA_SEVERAL,   // more than one code block
    LUA_UNCLOSED,  // a code block without its end
    LUA_TOO_LARGE, // past SOUL_LUA_BYTES_MAX
    LUA_HIDDEN,    // invisible characters: zeros, controls, changes of direction
    LUA_FOUND_COUNT
} LuaFound;

typedef enum ModelStop { STOP_DONE, STOP_REFUSAL, STOP_MAX_TOKENS, STOP_COUNT } ModelStop;

typedef struct ModelAnswer {
    ModelStop stop; // why the answer ended
    // {"type":"error","error":{"type","message"}}, to be quoted; empty for none
    Buffer error_type, error_message;
    Buffer text; // the texts in content[], joined
    LuaFound found;
    Buffer lua; // of the text; only when found
} ModelAnswer;

ModelAnswer model_answer_empty(void); // with room for the largest of each
void model_answer_free(ModelAnswer *answer);
// Whether the character at `at` is invisible. Lua that a reviewer reads must be the Lua that runs:
// nothing in it may be invisible or change the direction of what follows.
bool model_text_is_hidden(const uint8_t *at, size_t bytes);
// A stranger's words for a message: one line of at most `bytes`, without control characters, and
// with `secret` (may be NULL) removed.
void model_answer_quote(const Buffer *words, const char *secret, char *out, size_t bytes);
