// JSON bodies of requests: an object whose members are all known. A misspelt member is refused with
// the name that was probably meant, because ignoring it does something that nobody asked for.
#pragma once

#include "core/base/json_read.h"
#include "server/net/http.h"

// The object, in the request's memory, which fits the route; an empty body is an empty object.
// NULL: the response says what is wrong.
const JsonNode *serve_body_object(HttpRequest *request, HttpResponse *response);
// Are the members those of the route's `takes` (openapi.h), and are those there that must be? NULL
// is an empty object. False: the response says what is wrong.
bool serve_body_fits(const JsonNode *object, HttpRequest *request, HttpResponse *response);
// True: there is a member that is none of those, and out says which, and which was perhaps meant.
bool serve_body_has_odd(const JsonNode *object, const char *const *members, char *out,
                        size_t bytes);
// A text that may be left out or null; out is untouched then. False: it is no text or too long, and
// the response says so.
bool serve_body_text(HttpRequest *request, HttpResponse *response, const JsonNode *object,
                     const char *name, char *out, size_t capacity);
bool serve_body_bool(HttpRequest *request, HttpResponse *response, const JsonNode *object,
                     const char *name, bool *out);
