// Names of assets in scripts, against the files of assets/. Those of scenes and prefabs are errors
// (core/wire/place_check.c); those of scripts are warnings, because the line may never run.
#include "core/base/nearest.h"
#include "server/build/pipeline/build_stages.h"

#include <string.h>

#define FOLDER "assets/"

static const char *const kind_names[LINT_ASSET_COUNT] = {
    [LINT_SOUND] = "sound (.ogg, .wav)",
    [LINT_PICTURE] = "picture (.png, .jpg)",
    [LINT_MODEL] = "model (.glb, .gltf)",
};

// Sounds that the page makes itself (web/src/play/sound_made.ts).
static const char *const made_sounds[] = {"step", "jump",  "land",  "hit",
                                          "shot", "click", "place", "dig"};
#define MADE_SOUND_COUNT (sizeof made_sounds / sizeof made_sounds[0])

static bool fits(const BuildAsset *asset, LintAssetKind kind)
{
    return kind == LINT_SOUND     ? asset_is_sound(asset->info.kind)
           : kind == LINT_PICTURE ? asset_is_picture(asset->info.kind)
                                  : asset_is_model(asset->info.kind);
}

static size_t without_ending(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? (size_t)(dot - path) : strlen(path);
}

// "assets/deep/door.png" is also "deep/door.png" and "deep/door"; a sound "door.ogg" and "door"
// too.
static bool is_called(const char *path, const char *name, LintAssetKind kind)
{
    const size_t bytes = strlen(name), bare = without_ending(path);
    if (strcmp(path, name) == 0) {
        return true;
    }
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += at != path;
        const bool is_part = at == path + strlen(FOLDER) || (kind == LINT_SOUND && at != path);
        if (is_part && (strcmp(at, name) == 0 ||
                        (bare >= (size_t)(at - path) && bare - (size_t)(at - path) == bytes &&
                         memcmp(at, name, bytes) == 0))) {
            return true;
        }
    }
    return false;
}

static void warn(const Build *build, const BuildItem *item, const LintAsset *asset)
{
    const BuildResult *result = build->result;
    Nearest nearest = nearest_begin_path(asset->name, strlen(asset->name));
    bool has_any = false;
    for (size_t i = 0; asset->kind == LINT_SOUND && i < MADE_SOUND_COUNT; i++) {
        if (strcmp(made_sounds[i], asset->name) == 0) {
            return;
        }
        (void)nearest_consider(&nearest, made_sounds[i], strlen(made_sounds[i]));
    }
    for (uint32_t i = 0; i < result->asset_count; i++) {
        const char *path = result->assets[i].path;
        if (!fits(&result->assets[i], asset->kind)) {
            continue;
        }
        if (is_called(path, asset->name, asset->kind)) {
            return;
        }
        // By the names that it may have: a sound is also called by the last part of its path.
        const char *last = strrchr(path, '/') + 1;
        const char *shorter = asset->kind == LINT_SOUND ? last : path + strlen(FOLDER);
        has_any = true;
        (void)(nearest_consider(&nearest, path, strlen(path)) ||
               nearest_consider(&nearest, shorter,
                                without_ending(path) - (size_t)(shorter - path)));
    }
    DiagnosticList *list = &build->result->diagnostics;
    if (nearest.found != NULL) {
        diagnostic_addf(list, DIAGNOSTIC_WARNING, item->file, asset->line, 0, "asset",
                        "there is no asset \"%s\"; did you mean \"%.*s\"?", asset->name,
                        (int)nearest.found_bytes, nearest.found);
    } else {
        diagnostic_addf(list, DIAGNOSTIC_WARNING, item->file, asset->line, 0, "asset",
                        has_any ? "there is no asset \"%s\" among those that are a %s"
                                : "there is no asset \"%s\": the folder assets has no %s",
                        asset->name, kind_names[asset->kind]);
    }
}

void build_check_asset_names(Build *build)
{
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        for (uint32_t a = 0; item->is_built && a < item->output.asset_count; a++) {
            warn(build, item, &item->output.assets[a]);
        }
    }
}
