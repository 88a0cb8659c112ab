// Many runes in one answer, for a client that joins: a place with a thousand scripts is a few
// requests and not a thousand.
//
//   POST /packed/<number> {"runes":["<sha256>", …], "place_id":"…"}     number 0: as they are
//
// `place_id` is that of /join; without it, only runes of places that everybody may play are there.
//
// The answer has one entry for each hash, in the order in which they were asked for. Numbers are
// little-endian:
//
//   0  u8   form: 0 it is not here, 1 the rune as it is, 2 packed as the number says
//   1  u32  how many bytes follow
//   5  the bytes
//
// All runes of a place have an address of their own, whose answer can be kept; there each entry has
// its hash before it, in the order of the hashes:
//
//   GET /packed/<number>/<rune_set of /join>
//
// Each entry is whole by itself: a client whose connection is cut keeps what has arrived and asks
// for the rest. An exported bundle (server/cli/cmd_export_cdn.c) has the same form.
#pragma once

#include "core/base/limits.h"
#include "server/net/http.h"

#define BUNDLE_ENTRY_BYTES 5
// A hash is 64 digits; quotes, a comma and some spaces are around it.
#define SERVE_BUNDLE_BODY_BYTES (BUNDLE_RUNES_MAX * 72 + 256)

typedef enum BundleForm { BUNDLE_NOT_HERE, BUNDLE_PLAIN, BUNDLE_PACKED } BundleForm;

// Writes the head of an entry.
void bundle_entry(uint8_t out[BUNDLE_ENTRY_BYTES], BundleForm form, size_t bytes);
struct ServePlace;
// All runes of the place; the reference is the response's.
void serve_send_set(struct ServePlace *place, HttpResponse *response);
void serve_post_bundle(void *user, HttpRequest *request, HttpResponse *response);
