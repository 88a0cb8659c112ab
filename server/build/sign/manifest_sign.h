// Manifests and the host's key: signs what a build or a host wrote, and checks whether we signed a
// list.
#pragma once

#include "core/wire/manifest.h"
#include "server/build/base/buffer.h"
#include "server/build/sign/signing_key.h"

// The whole text, signed, appended to `out`.
MUST_USE Status manifest_sign(const ManifestList *list, const SigningKey *key, Buffer *out);
// Whether one of the keys has signed this list. STATUS_DENIED: none has. *which (may be NULL): the
// index of that key.
MUST_USE Status manifest_check(const ManifestList *list,
                               const uint8_t signature[MANIFEST_SIGNATURE_BYTES],
                               const SigningPublicKeys *halves, uint32_t *which);
