// Reads the short texts by which a route describes itself, see openapi.h.
#pragma once

#include "server/net/http.h"

#define OPENAPI_WORD_BYTES 48
#define OPENAPI_PATH_BYTES 256

// A member: "limit?:integer".
typedef struct OpenapiWord {
    char name[OPENAPI_WORD_BYTES];
    char type[16]; // "string" if the text names none
    bool is_optional;
} OpenapiWord;

// The next word, and moves on; false: there is none. NULL is an empty text.
bool openapi_word(const char **at, OpenapiWord *out);
bool openapi_words_are_valid(const char *text);
// "text/plain": no members but a media type.
bool openapi_is_media(const char *text);

typedef struct OpenapiAnswer {
    uint32_t status;
    const char *text; // members, or a media type; "": no body
} OpenapiAnswer;
OpenapiAnswer openapi_answer(const HttpRoute *route);
// Must there be a body? Not if every member may be left out.
bool openapi_needs_body(const HttpRoute *route);

uint32_t openapi_star_count(const HttpRoute *route);
uint32_t openapi_name_count(const HttpRoute *route);
void openapi_star_name(const HttpRoute *route, uint32_t star, char out[OPENAPI_WORD_BYTES]);
