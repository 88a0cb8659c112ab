// The scene: its references to scripts are updated, then it is compiled, both in the worker. Both
// are cached, so an unchanged place starts no process at all.
#define _GNU_SOURCE
#include "server/build/pipeline/build_stages.h"

#include <stdlib.h>
#include <string.h>

// --- references ---------------------------------------------------------------------------------

static bool is_script(const BuildItem *item)
{
    return item->soul != NULL; // TypeScript's library is not a creator's script
}

static SceneRefScript *list_scripts(const Build *build, uint32_t *count)
{
    SceneRefScript *scripts = calloc(build->item_count + 1u, sizeof *scripts);
    for (uint32_t i = 0; scripts != NULL && i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        if (is_script(item)) {
            SceneRefScript *script = &scripts[(*count)++];
            *script = (SceneRefScript){
                .path = item->path,
                .language = item->language,
                .in_soul = script_path_soul_bytes(item->file, strlen(item->file)) > 0};
            memcpy(script->code_hash, item->code_hash, sizeof script->code_hash);
        }
    }
    return scripts;
}

// A reference to a missing script is an error; the other references are updated all the same.
static Status update_references(Build *build)
{
    uint32_t count = 0;
    SceneRefScript *scripts = list_scripts(build, &count);
    build->is_named = calloc(SOULS_MAX + 1, 1);
    const Status status = scripts == NULL || build->is_named == NULL
                              ? context_fail(&build->context, STATUS_LIMIT, "out of memory")
                              : scene_ref_update(&build->context, &build->folder, scripts, count,
                                                 build->is_named, &build->references);
    free(scripts);
    return status;
}

Status build_write_references(Build *build)
{
    const bool is_wanted = build->request->write || build->request->update;
    return is_wanted ? scene_ref_write(&build->context, build->request->place, &build->references)
                     : STATUS_OK;
}

static bool is_required(const Build *build, const char *path)
{
    for (uint32_t i = 0; i < build->item_count; i++) {
        const CompileOutput *output = &build->items[i].output;
        for (uint32_t r = 0; r < output->require_count; r++) {
            if (strcmp(output->requires[r], path) == 0) {
                return true;
            }
        }
    }
    return false;
}

// In other services scripts run without an entity.
static void warn_of_unnamed(Build *build)
{
    uint32_t script = 0;
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        if (!is_script(item)) {
            continue;
        }
        if (item->service == SERVICE_WORKSPACE && build->is_named[script] == 0 &&
            !is_required(build, item->path)) {
            diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_WARNING, item->soul->file->path,
                            0, 0, "unused",
                            "never runs: nothing in the scene has it. Give an entity or a prefab "
                            "\"scriptRef\": {\"path\": \"%s\"}, or move it to another service",
                            item->soul->file->path);
        }
        script += 1;
    }
}

// --- the scene ----------------------------------------------------------------------------------

// Their paths alone are part of the scene.
static const char **asset_paths(const BuildResult *result)
{
    const char **paths = calloc(result->asset_count + 1u, sizeof *paths);
    for (uint32_t i = 0; paths != NULL && i < result->asset_count; i++) {
        paths[i] = result->assets[i].path;
    }
    return paths;
}

static Status compile_folder(Build *build, const PlaceFolder *folder, DiagnosticList *list)
{
    PlaceOutput output = {0};
    BuildContext context = build->context;
    context.diagnostics = list;
    BuildResult *result = build->result;
    const char **paths = asset_paths(result);
    if (paths == NULL) {
        return STATUS_LIMIT;
    }
    const PlaceAssetPaths assets = {paths, result->asset_count};
    const Status status = place_ask(&context, folder, assets, &output);
    free(paths);
    result->whole = output.whole;
    result->whole_bytes = output.whole_bytes;
    result->facts = output.facts;
    result->stripped = output.stripped;
    result->stripped_bytes = output.stripped_bytes;
    result->frame = output.frame;
    result->frame_bytes = output.frame_bytes;
    return status == STATUS_MALFORMED && list->error_count > 0 ? STATUS_OK : status;
}

// Compiles the files as they will be on disk. If there are errors nothing is written, so these are
// reported for the texts on disk.
static Status compile_scene(Build *build)
{
    const bool has_errors = build->result->diagnostics.error_count > 0;
    const bool is_edited = build->references.count > 0 && !has_errors;
    DiagnosticList list = {0};
    Status status =
        compile_folder(build, is_edited ? &build->references.edited : &build->folder, &list);
    if (is_edited && list.error_count > 0) {
        diagnostic_list_free(&list);
        status = compile_folder(build, &build->folder, &list);
    }
    diagnostic_list_append(&build->result->diagnostics, &list);
    diagnostic_list_free(&list);
    return status;
}

Status build_scene(Build *build)
{
    build_progress(build, BUILD_SCENE, 0, 1, "scene.json");
    Status status = update_references(build);
    status = status == STATUS_OK ? compile_scene(build) : status;
    if (status == STATUS_OK && build->result->diagnostics.error_count == 0) {
        warn_of_unnamed(build);
    }
    return status;
}
