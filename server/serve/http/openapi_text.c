// See openapi_text.h.
#define _GNU_SOURCE
#include "server/serve/http/openapi_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool openapi_word(const char **at, OpenapiWord *out)
{
    if (*at == NULL) {
        return false;
    }
    const char *from = *at + strspn(*at, " ");
    const size_t bytes = strcspn(from, " ");
    *at = from + bytes;
    if (bytes == 0) {
        return false;
    }
    const char *colon = memchr(from, ':', bytes);
    size_t name = colon != NULL ? (size_t)(colon - from) : bytes;
    out->is_optional = name > 0 && from[name - 1] == '?';
    name -= out->is_optional;
    snprintf(out->name, sizeof out->name, "%.*s", (int)name, from);
    snprintf(out->type, sizeof out->type, "%.*s",
             colon != NULL ? (int)(from + bytes - colon - 1) : 6,
             colon != NULL ? colon + 1 : "string");
    return true;
}

bool openapi_words_are_valid(const char *text)
{
    static const char *const types[] = {"string", "integer", "number", "boolean",
                                        "object", "array",   "any",    "binary"};
    OpenapiWord word;
    if (text != NULL && openapi_is_media(text)) {
        return true;
    }
    for (const char *at = text; openapi_word(&at, &word);) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
            is_known = is_known || strcmp(types[i], word.type) == 0;
        }
        if (!is_known || word.name[0] == '\0' ||
            word.name[strspn(word.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_-")] != '\0') {
            return false;
        }
    }
    return true;
}

bool openapi_is_media(const char *text)
{
    return strchr(text, '/') != NULL && strchr(text, ' ') == NULL;
}

OpenapiAnswer openapi_answer(const HttpRoute *route)
{
    const char *text = route->gives != NULL ? route->gives : "";
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    if (end == text || number < 100 || number > 399) {
        return (OpenapiAnswer){200, text};
    }
    return (OpenapiAnswer){(uint32_t)number, end + strspn(end, " ")};
}

bool openapi_needs_body(const HttpRoute *route)
{
    OpenapiWord word;
    if (route->takes != NULL && openapi_is_media(route->takes)) {
        return true;
    }
    for (const char *at = route->takes; openapi_word(&at, &word);) {
        if (!word.is_optional) {
            return true;
        }
    }
    return false;
}

// --- stars --------------------------------------------------------------------------------------

uint32_t openapi_star_count(const HttpRoute *route)
{
    uint32_t count = 0;
    for (const char *at = strchr(route->path, '*'); at != NULL; at = strchr(at, '*')) {
        count += 1;
        at += at[1] == '*' ? 2 : 1;
    }
    return count;
}

uint32_t openapi_name_count(const HttpRoute *route)
{
    uint32_t count = 0;
    OpenapiWord word;
    for (const char *at = route->names; openapi_word(&at, &word);) {
        count += 1;
    }
    return count;
}

void openapi_star_name(const HttpRoute *route, uint32_t star, char out[OPENAPI_WORD_BYTES])
{
    OpenapiWord word;
    const char *at = route->names;
    for (uint32_t i = 0; openapi_word(&at, &word); i++) {
        if (i == star) {
            memcpy(out, word.name, OPENAPI_WORD_BYTES);
            return;
        }
    }
    snprintf(out, OPENAPI_WORD_BYTES, star == 0 ? "id" : "id%u", star + 1);
}
