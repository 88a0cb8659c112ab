// See problem.h: the document as a PlaceDoc, for place_check_all.
#include "core/edit/problem.h"

#include "core/edit/compile.h"
#include "core/edit/doc_inside.h"

#include <stdio.h>
#include <string.h>

#define SOUL_FOLDER       "SoulService/"
#define SOUL_FOLDER_BYTES (sizeof SOUL_FOLDER - 1)

typedef struct Search {
    const EditDoc *doc;
    PlaceScratch scratch;
    EditProblemSink sink;
    void *user;
    uint32_t *terrain; // ids in order
} Search;

static void found(void *user, const PlaceFault *fault)
{
    const Search *search = user;
    EditProblem problem = {.status = fault->status,
                           .kind = EDIT_SETTINGS,
                           .list = fault->list,
                           .index = fault->index,
                           .member = fault->member};
    if (fault->part == PLACE_PART_SCENE) {
        const bool is_terrain = fault->list != NULL && strcmp(fault->list, "terrain") == 0;
        problem.kind = fault->list == NULL ? EDIT_SCENE : is_terrain ? EDIT_TERRAIN : EDIT_ENTITY;
        problem.id = is_terrain ? search->terrain[fault->index] : fault->entity;
    }
    memcpy(problem.message, fault->message, sizeof problem.message);
    search->sink(search->user, &problem);
}

static Status list_assets(Search *search, PlaceDoc *place)
{
    const uint32_t count = edit_doc_file_count(search->doc);
    place->assets = place_scratch_take(&search->scratch, count + 1u, sizeof place->assets[0]);
    if (place->assets == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < count; i++) {
        const EditFile *file = edit_doc_file_at(search->doc, i);
        if (asset_name_is_asset(file->path)) {
            place->assets[place->asset_count++] = file->path;
        }
    }
    return STATUS_OK;
}

// Whether a chunk's bytes are good is for a build; here it is enough that there is such a file.
static void find_chunks(const Search *search, PlaceDoc *place)
{
    for (uint32_t i = 0; i < place->scene.terrain.count; i++) {
        PlaceFillDoc *fill = place_fill(place, i);
        if (fill->chunk.bytes != 0 && edit_doc_file_find(search->doc, fill->chunk) != NULL) {
            fill->data = (const uint8_t *)"";
        }
    }
}

// As a build looks for the file of a script: by its path without an ending, in one of its
// languages.
static bool has_file(const EditDoc *doc, Text script)
{
    static const char *const endings[] = {".lua", ".luau", ".ts", ".soul"};
    char path[SOUL_FOLDER_BYTES + EDIT_PATH_BYTES_MAX + 8];
    const Text plain = place_script_plain(script);
    for (uint32_t i = 0; plain.bytes <= EDIT_PATH_BYTES_MAX && i < 4; i++) {
        const int bytes = snprintf(path, sizeof path, SOUL_FOLDER "%.*s%s", (int)plain.bytes,
                                   plain.data, endings[i]);
        const Text in_folder = {path, (size_t)bytes};
        const Text own = {path + SOUL_FOLDER_BYTES, (size_t)bytes - SOUL_FOLDER_BYTES};
        if (edit_doc_file_find(doc, own) != NULL || edit_doc_file_find(doc, in_folder) != NULL) {
            return true;
        }
    }
    return false;
}

static void find_scripts(const Search *search, const PlaceDoc *place)
{
    for (uint32_t i = 0; i < place->scene.entities.count; i++) {
        const PlaceEntityDoc *entity = place_entity(place, i);
        const Text script = place_script(&entity->body);
        EditProblem problem = {.status = STATUS_NOT_FOUND,
                               .kind = EDIT_ENTITY,
                               .id = entity->id,
                               .list = "entities",
                               .index = i,
                               .member = "scriptRef.path"};
        if (script.bytes > 0 && !has_file(search->doc, script)) {
            snprintf(problem.message, sizeof problem.message, "names %.*s, which is not there",
                     (int)script.bytes, script.data);
            search->sink(search->user, &problem);
        }
    }
}

Status edit_problems(const EditDoc *doc, EditProblemSink sink, void *user)
{
    Search search = {.doc = doc, .scratch = {.heap = doc->heap}, .sink = sink, .user = user};
    PlaceDoc place;
    Status status = edit_place_doc(doc, &search.scratch, &place, &search.terrain);
    if (status == STATUS_OK) {
        status = list_assets(&search, &place);
    }
    if (status == STATUS_OK) {
        find_chunks(&search, &place);
        status = place_check_all(&place, &search.scratch, found, &search);
        find_scripts(&search, &place);
    }
    place_scratch_free(&search.scratch);
    return status;
}
