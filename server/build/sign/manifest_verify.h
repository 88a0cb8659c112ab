// Reads a manifest and verifies it, for a process that is locked in (a world, a client). Apart from
// manifest_sign.h because a host does not read JSON that may be anybody's.
#pragma once

#include "server/build/sign/manifest_sign.h"

// *list points into the arena (MANIFEST_ARENA_BYTES are always enough). STATUS_DENIED: the
// signature is missing, or by none of the keys.
MUST_USE Status manifest_verify(Arena *arena, const char *text, size_t bytes,
                                const SigningPublicKeys *halves, ManifestList *list,
                                uint32_t *which, JsonError *error);
