// From a place's folder to what a world runs: compiled scene, runes, signed manifests, and the
// artifacts on disk. This is the one pipeline; `sandlot build`, `sandlot world`, saving and jobs
// all call it.
//
//   read folder → scan souls → their contexts in the worker → for each: cache? → (.soul → Lua) (.ts
//   → Lua) → compile in the worker → scene in the worker → assets: stamp? cache? → check in the
//   worker → manifest → sign → write
//
// Content-addressed: a result is found by the hash of everything that went into it, so nothing is
// compiled twice, in whatever folder. On disk (<place>/.sandlot, or as configured):
//
//   cache/…                                   results by key, and the blobs they name
//   server/soul/manifest.json, <Service>/<Name>.rune, <Name>.lua (for .ts and .soul), made.sha256
//   client/soul/manifest.json, …              without a trace of what is not replicated
//   client/assets.json                        the assets, by their hashes
//
// Artifacts appear all at once: a build writes into a folder aside and renames it. A reader never
// sees half of one, wherever the machine stops.
#pragma once

#include "core/wire/manifest.h"
#include "server/build/ask/ask_place.h"
#include "server/build/asset/asset_list.h"
#include "server/build/place/soul.h"
#include "server/build/sign/signing_key.h"
#include "server/build/soul/soul_model.h"
#include "server/build/typescript/typescript.h"

typedef struct BuildConfig {
    const char *cache; // folder; NULL: <place>/.sandlot/cache
    const char *key;   // file; NULL: <place>/.sandlot/data/ticket.key, as `sandlot world` has it
    bool allow_weak_jail;
    ModelConfig model;
} BuildConfig;

typedef enum BuildStage {
    BUILD_READ,
    BUILD_SCAN,
    BUILD_TRANSLATE, // .soul
    BUILD_TYPESCRIPT,
    BUILD_COMPILE,
    BUILD_ASSETS,
    BUILD_SCENE,
    BUILD_WRITE,
    BUILD_DONE,
    BUILD_STAGE_COUNT
} BuildStage;
const char *build_stage_name(BuildStage stage);

typedef struct BuildProgress {
    BuildStage stage;
    uint32_t done, total; // of this stage; total 0: unknown
    const char *item;     // what is being worked on; "" for none
} BuildProgress;

typedef struct BuildRequest {
    const char *place; // folder
    // The folder with the modules of the spells that it uses; NULL: <place>/.sandlot/spells, if it
    // is there.
    const char *spells;
    bool force;  // ignore the cache
    bool write;  // write the artifacts; without it only the version is recorded, beside the key
    bool update; // update the references in the scene; `write` does so in any case
    bool pack;   // also compress the runes for players
    bool warm;   // start the TypeScript compiler, if the place has any, even if all is cached
    void (*progress)(void *user, const BuildProgress *progress); // may be NULL
    void *user;
    const atomic_bool *cancel; // may be NULL
} BuildRequest;

typedef struct BuildRune {
    char path[SCRIPT_PATH_BYTES];
    SoulLanguage language;
    SoulService service;
    RunContext context;
    bool replicate;
    bool was_cached;
    uint8_t hash[32];
    uint8_t code_hash[32]; // SHA-256 of the source's bytes: scriptRef.codeHash
    uint8_t *bytes;
    size_t count;
    char *lua; // of a .soul: the Lua that was made of it; NULL otherwise
    size_t lua_bytes;
    // For replicated scripts, if it was requested (ask_rune_pack.h); NULL: it does not get smaller.
    uint8_t *packed, *zstd;
    size_t packed_count, zstd_count;
} BuildRune;

typedef struct BuildResult {
    DiagnosticList diagnostics; // sorted; also when it failed
    BuildRune *runes;           // sorted by path
    uint32_t rune_count;
    uint32_t packing; // the number of the dictionary that runes are packed with
    PlaceFacts facts;
    uint8_t *whole, *stripped; // the compiled scene, to be loaded in a jail alone
    size_t whole_bytes, stripped_bytes;
    uint8_t *frame; // the place without its scripts, and their parameters (ask_place.h); or NULL
    size_t frame_bytes;
    char *manifest, *client_manifest; // JSON, signed
    size_t manifest_bytes, client_manifest_bytes;
    uint8_t *client_rows; // of it (manifest_write_rows): what clients fetch if it fits no message
    size_t client_rows_bytes;
    uint8_t *client_rows_zstd; // a frame, if it was requested and they fit no message; or NULL
    size_t client_rows_zstd_bytes;
    uint8_t client_rows_hash[32];
    BuildAsset *assets; // sorted by path
    uint32_t asset_count;
    uint32_t asset_read_count, asset_checked_count; // read by the builder; checked by the worker
    uint8_t *thumbnail; // PNG of at most 256 px; NULL: the place has no picture
    size_t thumbnail_bytes;
    uint8_t thumbnail_hash[SHA256_BYTES];
    char *asset_list; // client/assets.json
    size_t asset_list_bytes;
    uint32_t version;
    uint32_t compiled_count, cached_count;
    bool unchanged; // the artifacts were the same already: nothing was written
    uint64_t took_ms;
} BuildResult;

typedef struct Builder Builder; // owns a worker and, once needed, a TypeScript process

BuildConfig build_config_default(void);
MUST_USE Status builder_create(const BuildConfig *config, Builder **out);
void builder_destroy(Builder *builder); // NULL is allowed
// STATUS_OK: built, perhaps with warnings. STATUS_MALFORMED: the place has errors, see diagnostics.
// STATUS_DENIED: cancelled. Others: see `reason`. *out must be freed in every case. Not
// thread-safe.
MUST_USE Status builder_build(Builder *builder, const BuildRequest *request, BuildResult *out,
                              char reason[WORKER_REASON_BYTES]);
void build_result_free(BuildResult *result);

// Checks that the artifacts of a folder are complete, have the hashes in the manifest, and are
// signed by our current or an earlier key. Every problem is a diagnostic of *out, which must be
// empty; it also gets the version.
MUST_USE Status build_verify(const BuildConfig *config, const char *place, BuildResult *out,
                             char reason[WORKER_REASON_BYTES]);
// Replaces the signing key; the next build signs everything again, with the same versions.
// STATUS_NOT_FOUND: there is no key yet.
MUST_USE Status build_rotate_key(const BuildConfig *config, const char *place,
                                 char reason[WORKER_REASON_BYTES]);
