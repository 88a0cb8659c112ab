// Manifests and the host's key: signing what a build or a host wrote, and finding out whether a
// text is what we signed.
#pragma once

#include "core/wire/manifest.h"
#include "server/build/base/buffer.h"
#include "server/build/sign/signing_key.h"

// The whole text, signed, appended to `out`.
MUST_USE Status manifest_sign(const ManifestList *list, const SigningKey *key, Buffer *out);
// Is a list, as it was read, what one of the halves has signed? STATUS_DENIED: it is not. *which
// (may be NULL): by which half.
MUST_USE Status manifest_check(const ManifestList *list,
                               const uint8_t signature[MANIFEST_SIGNATURE_BYTES],
                               const SigningHalves *halves, uint32_t *which);
