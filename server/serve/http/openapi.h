// The description of the API, made from the same table of routes as the dispatcher: an OpenAPI 3.1
// document for programs, and a page of the same for people. A route describes itself in short texts
// (HttpRoute):
//
//   names   "id path": the names of its stars, in order; a single star is `id` unless it is named
//   takes   "username? limit?:integer": members of the JSON body, or, of a route without a body,
//           of the query. A question mark: may be left out. The type after a colon is one of
//           integer, number, boolean, object, array, any, binary; without one it is text.
//           A media type ("application/octet-stream") in place of members: the body is no JSON.
//   query   of a route with a body: members of the query, written as in takes
//   gives   the members of the answer, or its media type, behind a status other than 200:
//           "201 token expires_at", "text/plain", "101"
//   fails   "404 409": statuses of refusals beside those that follow from the rest of the route
#pragma once

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "server/net/http.h"

#define OPENAPI_BYTES_MAX (1u << 20)

void openapi_write(const HttpRoute *routes, uint32_t count, ByteWriter *out);
void openapi_page(const HttpRoute *routes, uint32_t count, ByteWriter *out);
// STATUS_OK, or `reason` says which text of the route is missing or cannot be understood. For
// tests: a route with invalid texts is a bug of ours.
MUST_USE Status openapi_check(const HttpRoute *route, char *reason, size_t bytes);
// May the route answer with this status?
bool openapi_may_answer(const HttpRoute *route, uint32_t status);
