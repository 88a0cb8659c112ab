// One built place: scene, runes and manifests as the build made them, and what a world of it begins
// with. It does not change; a new revision is a new HostPlace. It is shared: by the host, by each
// world that runs with it, and by answers of HTTP that are on their way. The last one who gives up
// a reference frees it.
#pragma once

#include "server/build/pipeline/build.h"
#include "server/host/host.h"

#include <stdatomic.h>

#define HOST_CDN_BYTES 513

typedef struct HostPlaceConfig {
    const char *place_id;
    const char *folder;  // "": none, in tests
    uint32_t player_max; // 0: the place's own; else at most so many
    bool development;
    const char *cdn_base; // where else its runes are, as manifests name it; NULL: nowhere
} HostPlaceConfig;

struct HostPlace {
    atomic_uint more_references; // beyond the first
    // The host's thread alone, and they may change.
    uint32_t use_count; // host_count_uses
    bool needs_ticket;  // not everybody may play it: a sign-in lets in who was given a ticket
    bool is_hidden;     // its worlds are in no list
    char place_id[65];
    char folder[4096];
    BuildResult built;
    uint8_t scene_hash[32];
    char scene_hex[65];
    char cdn_base[HOST_CDN_BYTES]; // "": none
    uint8_t set_hash[32];          // of the runes that players get (rune_set.h)
    char set_hex[65];
    uint32_t *rune_order; // replicated runes by hash, for host_place_rune
    uint32_t rune_order_count;
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
// From any thread. NULL is allowed.
HostPlace *host_place_hold(HostPlace *place);
void host_place_release(HostPlace *place);

// The number of a replicated rune by its hash; UINT32_MAX: none that may be given away.
uint32_t host_place_rune(const HostPlace *place, const uint8_t hash[32]);
// Signs the manifests for a life that begins at that tick, with a version above that one.
MUST_USE Status host_place_sign(const HostPlace *place, const SigningKey *key,
                                uint64_t version_before, uint64_t tick, HostManifests *out);
void host_manifests_free(HostManifests *manifests);
// As they travel to a host that has no key: u32 version · block server · block client.
void host_manifests_write(const HostManifests *manifests, Buffer *out);
MUST_USE Status host_manifests_read(const uint8_t *bytes, size_t count, HostManifests *out);
// For the next life of a world, at another host, from the rows that it will begin with.
MUST_USE Status host_world_sign_rows(HostWorld *world, const uint8_t *rows, size_t bytes,
                                     HostManifests *out);

// --- travelling ---------------------------------------------------------------------------------
// A built place as one block of bytes, for hosts on other machines: all that worlds of it need, and
// nothing else (pictures and sounds are served by the control plane). Its hash names it.
#define HOST_PLACE_BYTES_MAX (256u << 20)
void host_place_write(const HostPlace *place, Buffer *out);
// Total. *built is to be freed, unless it fails.
MUST_USE Status host_place_read(const uint8_t *bytes, size_t count, BuildResult *built);
