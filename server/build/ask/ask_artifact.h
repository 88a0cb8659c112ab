// What lies among the artifacts and may be anybody's: a manifest, the list of assets. Both are
// JSON, so the worker reads them. It is not believed: what it has read is written again here, and
// must be what the signature is for, or the very text.
//
//   request   the text
//   reply     MANIFEST: u32 version, u64 server_tick, block cdn_base, bool signed, 64 bytes, u32
//   rows;
//             each: block path, 32 bytes, u32 size, block context, block service, bool replicate,
//             u32 requires, each a block
//             ASSET_LIST: bool thumbnail, 32 bytes, u32 assets; each: block path, u8 kind, 32
//             bytes, u64 size, u32 width, u32 height, u32 triangles, u32 milliseconds
//
// A text that cannot be read has another status, with a reason.
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/asset/asset_list.h"
#include "server/build/sign/manifest_sign.h"

// As manifest_verify. STATUS_BLOCKED: the worker failed; STATUS_DENIED: no key of ours made the
// signature, or the call was cancelled.
MUST_USE Status manifest_ask(const BuildContext *context, Arena *arena, const PlaceFile *file,
                             const SigningPublicKeys *halves, ManifestList *list, uint32_t *which);
// As asset_list_read.
MUST_USE Status asset_list_ask(const BuildContext *context, Arena *arena, const PlaceFile *file,
                               AssetList *out);

// Reads the worker's reply, which may be any bytes; everything points into the arena.
// STATUS_MALFORMED: the reply is not a list.
MUST_USE Status manifest_read_reply(const Buffer *reply, Arena *arena, ManifestList *list,
                                    uint8_t signature[MANIFEST_SIGNATURE_BYTES], bool *is_signed);
// STATUS_MALFORMED: the reply does not match the text.
MUST_USE Status asset_list_read_reply(const Buffer *reply, Arena *arena, const void *text,
                                      size_t bytes, AssetList *out);
