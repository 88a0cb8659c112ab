// One built place: scene, runes and manifests as the build made them, and what a world of it begins
// with. It does not change; a new revision is a new HostPlace.
#pragma once

#include "server/build/pipeline/build.h"
#include "server/host/host.h"

typedef struct HostPlaceConfig {
    const char *place_id;
    const char *folder;  // "": none, in tests
    uint32_t player_max; // 0: the place's own; else at most so many
    bool development;
} HostPlaceConfig;

struct HostPlace {
    char place_id[65];
    char folder[4096];
    BuildResult built;
    uint8_t scene_hash[32];
    char scene_hex[65];
    WorldConfig numbers; // of every world of it; no place, no identity
};

// What the host signs for one life of a world.
typedef struct HostManifests {
    uint32_t version;
    Buffer server, client; // JSON with signatures; host_manifests_free frees them
} HostManifests;

// Takes over what was built, unless it fails. STATUS_LIMIT: a rune does not fit into an entry; the
// reason names it.
MUST_USE Status host_place_create(const HostPlaceConfig *config, BuildResult *built,
                                  HostPlace **out, char *reason, size_t bytes);
void host_place_destroy(HostPlace *place); // NULL is allowed

// The number of a replicated rune by its hash, 64 hex digits; UINT32_MAX: none that may be given
// away.
uint32_t host_place_rune(const HostPlace *place, const char *hex);
// Signs the manifests for a life that begins at that tick, with a version above that one.
MUST_USE Status host_place_sign(const HostPlace *place, const SigningKey *key,
                                uint64_t version_before, uint64_t tick, HostManifests *out);
void host_manifests_free(HostManifests *manifests);
