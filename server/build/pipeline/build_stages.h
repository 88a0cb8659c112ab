// The state of one running build; for build*.c only. Every stage takes the Build, adds its results
// to the items and its messages to the result's diagnostics. It fails only if the build cannot go
// on: a creator's mistakes are diagnostics, so that all of them are shown at once.
#pragma once

#include "core/base/sha256.h"
#include "server/build/ask/ask_compile.h"
#include "server/build/ask/ask_contexts.h"
#include "server/build/ask/build_context.h"
#include "server/build/pipeline/artifact.h"
#include "server/build/pipeline/build.h"
#include "server/build/pipeline/scene_ref_update.h"

#define BUILD_PATH_BYTES 4128

// Lua that was generated from another language.
typedef struct GeneratedLua {
    char *lua; // NULL: none
    size_t lua_bytes;
    size_t file_bytes; // of the file on disk: with a line about its source map at its end
    uint32_t *lines;   // by line of the Lua, from 0: the line of the source; NULL: none
    uint32_t line_count;
} GeneratedLua;

typedef struct BuildItem {
    char path[SCRIPT_PATH_BYTES];
    char file[DIAGNOSTIC_FILE_BYTES]; // as it is in the place's folder
    const Soul *soul;                 // NULL: TypeScript's library
    SoulLanguage language;
    SoulService service;
    RunContext context;
    bool replicate;
    const uint8_t *source;
    size_t source_bytes;
    uint8_t code_hash[SHA256_BYTES]; // of the source; TypeScript's library has none
    GeneratedLua generated;
    bool is_ready; // there is Lua to compile
    bool is_built; // there is a rune
    bool was_cached;
    CompileOutput output;
} BuildItem;

typedef struct Build {
    Builder *builder;
    const BuildRequest *request;
    BuildResult *result;
    BuildContext context; // the worker, the cache, the result's diagnostics and the reason
    ModelConfig model;
    SigningKey key;
    char key_path[BUILD_PATH_BYTES];
    PlaceFolder folder;
    bool is_incomplete; // some of its files cannot be read
    SoulList souls;
    uint8_t *is_named;          // by script: something in the scene refers to it
    SceneRefChanges references; // the folder with updated references
    BuildItem *items;           // sorted by path
    uint32_t item_count;
} Build;

// Adds the current reason as a diagnostic of that file.
void build_blame(const Build *build, const char *file);
bool build_is_cancelled(const Build *build);
void build_progress(const Build *build, BuildStage stage, uint32_t done, uint32_t total,
                    const char *item);
// Starts TypeScript's process on first use. The builder keeps it.
MUST_USE Status build_typescript(Build *build, TypeScript **out);

// build_translate.c: .soul and .ts to Lua.
MUST_USE Status build_translate_souls(Build *build);
MUST_USE Status build_translate_typescript(Build *build);
void generated_lua_free(GeneratedLua *made);
// build_compile.c: Lua to runes; what they require.
MUST_USE Status build_compile_all(Build *build);
MUST_USE Status build_check_requires(Build *build);
// build_asset_name.c: warns of assets that scripts name and that are not there.
void build_check_asset_names(Build *build);
CompileJob build_compile_job(const BuildItem *item);
const BuildItem *build_item_named(const Build *build, const char *path); // NULL: none
// build_pack.c: compresses the runes that players download.
MUST_USE Status build_pack(Build *build);
// After build_write: the same for the rows of their manifest.
MUST_USE Status build_pack_rows(Build *build);
// build_dry_run.c: tries out scripts that require others.
MUST_USE Status build_dry_run(Build *build);
// build_scene.c: updates the references in the scene, and compiles it.
MUST_USE Status build_scene(Build *build);
// Writes the changed files of the creator; called last, when everything else succeeded.
MUST_USE Status build_write_references(Build *build);
// build_asset.c: checks and hashes pictures, sounds and models.
MUST_USE Status build_assets(Build *build);
// build_verify_asset.c: whether the list of assets is what a build would write now. Differences are
// reported; fails with a reason if memory ran out or the worker failed.
MUST_USE Status build_verify_assets(const BuildContext *context, const char *place);
// build_write.c: writes the manifests and the artifacts to disk.
MUST_USE Status build_write(Build *build);
