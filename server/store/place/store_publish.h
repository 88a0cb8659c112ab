// Steps of publishing that change several rows: each is done whole or not at all, wherever the
// process dies. They wait for the disk.
#pragma once

#include "core/base/limits.h"
#include "server/store/place/store_package.h"

typedef struct StoreBlobRef {
    StoreBlobPurpose purpose;
    uint8_t hash[32];
    uint64_t bytes;
} StoreBlobRef;

typedef struct StorePublish {
    StorePackage *package;   // a new one, see store_package_make
    StoreRevision *revision; // its first, see store_revision_add
    uint32_t count_max;
    uint64_t bytes_max;
    // A fork: the revision whose blob it has. It must be there and ready, and its package not in
    // the trash: STATUS_NOT_FOUND. NULL: no fork.
    const StoreRevision *source;
} StorePublish;
// STATUS_EXISTS, STATUS_LIMIT (*is_bytes: of bytes, else of packages), STATUS_MALFORMED.
MUST_USE Status store_package_publish(Store *store, const StorePublish *publish, bool *is_bytes);

#define STORE_BUILT_BLOBS_MAX (4 + SPELLS_PER_PLACE_MAX)
typedef struct StoreBuilt {
    const char *package_id;
    uint32_t number;
    StoreRevisionState state; // READY or FAILED
    const char *reason;
    const char *title; // of a package that has none yet; NULL: it stays so
    // Its package was refused: the blob is not used any more.
    bool drops_package;
    // Whoever made it may not publish any more: no channel names it, whatever was asked for.
    bool keeps_channels;
    StoreBlobRef blobs[STORE_BUILT_BLOBS_MAX]; // manifests, thumbnail, spells
    uint32_t blob_count;
    uint64_t now_unix_ms;
    // Filled in: the channel that names it now, "" for none, and whether that is live.
    char channel[8];
    bool is_live;
} StoreBuilt;
// How its build ended; a ready one goes to the channel that was asked for. STATUS_MISMATCH: it had
// ended already; STATUS_NOT_FOUND: it was deleted meanwhile.
MUST_USE Status store_revision_built(Store *store, StoreBuilt *built);

// The blob that is used so. STATUS_NOT_FOUND.
MUST_USE Status store_blob_used(Store *store, const char *package_id, StoreBlobPurpose purpose,
                                uint32_t number, StoreBlobRef *out);
// Puts a picture in place of the one that had this number; hash NULL: there is none. Number 0 is a
// thumbnail of the page's own, which is shown in place of the live revision's. bytes_max: what the
// owner may use in all. STATUS_LIMIT; STATUS_NOT_FOUND: no package, or no such picture.
MUST_USE Status store_picture_set(Store *store, const char *package_id, uint32_t number,
                                  const uint8_t *hash, uint64_t bytes, uint64_t bytes_max);
// Numbers of the pictures, in order.
MUST_USE Status store_pictures(Store *store, const char *package_id, uint32_t *numbers,
                               uint32_t max, uint32_t *count);
// Bytes of the blobs that a package uses, and what its rows are charged with.
MUST_USE Status store_package_bytes(Store *store, const char *package_id, uint64_t *bytes);

// A package that its owner wants to give away, to one account at a time.
typedef struct StoreOffer {
    char package_id[65];
    uint64_t account_id; // who it is for
    uint64_t created_unix_ms, expires_unix_ms;
} StoreOffer;
// Takes the place of another one. STATUS_NOT_FOUND: no such package, or in the trash.
MUST_USE Status store_offer_put(Store *store, const StoreOffer *offer);
// Account 0: whoever it is for. STATUS_NOT_FOUND: there is none, or it is for somebody else.
MUST_USE Status store_offer_end(Store *store, const char *package_id, uint64_t account);
MUST_USE Status store_offer_find(Store *store, const char *package_id, StoreOffer *out);
// Those that hold for an account, by package, from behind that one on.
MUST_USE Status store_offers(Store *store, uint64_t account, uint64_t now_unix_ms,
                             const char *after, StoreOffer *out, uint32_t max, uint32_t *count);

// `to` owns it from now on, and who did is an editor. Unless forced, it must have been offered to
// them: STATUS_DENIED. STATUS_LIMIT: they have count_max packages, or no room for its bytes.
MUST_USE Status store_package_give(Store *store, const char *package_id, uint64_t to,
                                   bool is_forced, uint32_t count_max, uint64_t bytes_max);
// What the DataStores of a place hold.
MUST_USE Status store_place_data(Store *store, const char *place_id, uint64_t *keys,
                                 uint64_t *bytes);
