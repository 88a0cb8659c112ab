// See check_place.h. The order of the checks is the build's: names, text, contexts, then the script
// itself; what it requires only if there is nothing wrong with it.
#include "core/script/check/check_place.h"

#include "core/base/text_problem.h"
#include "core/base/utf8.h"
#include "core/script/check/check_list.h"

#include <string.h>

// --- the scripts of a place ---------------------------------------------------------------------

// How many of the modules come before a path, by the first `count` of them.
static uint32_t place_of(const CheckModule *modules, uint32_t count, const char *path)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const bool is_before = strcmp(modules[middle].path, path) < 0;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

// False: there is no room for it.
static bool add_module(CheckPlace *place, const CheckModule *module)
{
    const uint32_t at = place_of(place->modules, place->module_count, module->path);
    CheckModule *to = &place->modules[at];
    if (at < place->module_count && strcmp(to->path, module->path) == 0) {
        return true;
    }
    if (place->module_count == CHECK_MODULES_MAX) {
        return false;
    }
    memmove(to + 1, to, (place->module_count - at) * sizeof *to);
    *to = *module;
    place->module_count += 1;
    return true;
}

static void add_modules(CheckPlace *place, const PlaceFile *files, uint32_t file_count,
                        const CheckSink *sink)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        CheckModule module;
        if (check_name_read(files[i].path, sink, &module) && !add_module(place, &module)) {
            left_out += 1;
        }
    }
    if (left_out > 0) {
        check_tell(sink, CHECK_ERROR, "", 0, "limit",
                   "the place has %u scripts, at most %d may be; join some",
                   CHECK_MODULES_MAX + left_out, CHECK_MODULES_MAX);
    }
}

static bool is_text(const PlaceFile *file, const CheckSink *sink)
{
    uint32_t line = 0;
    const TextProblem problem = text_problem(file->data, file->bytes, &line);
    if (problem != TEXT_GOOD) {
        check_tell(sink, CHECK_ERROR, file->path, line, "file", "%s", text_problem_words(problem));
    }
    return problem == TEXT_GOOD;
}

static const PlaceFile *file_named(const PlaceFile *files, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(files[i].path, path) == 0) {
            return &files[i];
        }
    }
    return NULL;
}

Status check_place_open(Heap *heap, const PlaceFile *files, uint32_t file_count,
                        const CheckSink *sink, CheckPlace *out)
{
    CheckPlace place = {0};
    place.modules = heap_alloc(heap, CHECK_MODULES_MAX * sizeof *place.modules);
    if (place.modules == NULL) {
        return STATUS_LIMIT;
    }
    add_modules(&place, files, file_count, sink);
    const PlaceFile *settings = file_named(files, file_count, CHECK_CONTEXTS_FILE);
    Status status = STATUS_OK;
    if (settings != NULL && is_text(settings, sink)) {
        status = check_contexts(heap, (const char *)settings->data, settings->bytes, place.modules,
                                place.module_count, sink);
    }
    if (status != STATUS_OK) {
        check_place_close(heap, &place);
        return status;
    }
    *out = place;
    return STATUS_OK;
}

void check_place_close(Heap *heap, CheckPlace *place)
{
    heap_free(heap, place->modules);
    *place = (CheckPlace){0};
}

static void tell_nobody(void *user, const CheckDiagnostic *diagnostic)
{
    (void)user;
    (void)diagnostic;
}

// Door.soul.lua is the Lua that was made of Door.soul: the script is the soul's.
static bool soul_of(const char *file, char out[CHECK_FILE_BYTES])
{
    const size_t bytes = strlen(file), ending = strlen(".soul.lua");
    const bool is_made = bytes > ending && bytes < CHECK_FILE_BYTES &&
                         strcmp(file + bytes - ending, ".soul.lua") == 0;
    const size_t kept = is_made ? bytes - strlen(".lua") : 0;
    memcpy(out, file, kept);
    out[kept] = '\0';
    return is_made;
}

const CheckModule *check_place_module(const CheckPlace *place, const char *file)
{
    const CheckSink nobody = {tell_nobody, NULL};
    char soul[CHECK_FILE_BYTES];
    CheckModule module;
    if (!check_name_read(soul_of(file, soul) ? soul : file, &nobody, &module)) {
        return NULL;
    }
    const uint32_t at = place_of(place->modules, place->module_count, module.path);
    const bool is_there =
        at < place->module_count && strcmp(place->modules[at].path, module.path) == 0;
    return is_there ? &place->modules[at] : NULL;
}

// --- one of them --------------------------------------------------------------------------------

typedef struct Counted {
    const CheckSink *to;
    uint32_t error_count;
} Counted;

static void tell_counted(void *user, const CheckDiagnostic *diagnostic)
{
    Counted *counted = user;
    counted->error_count += diagnostic->level == CHECK_ERROR;
    counted->to->tell(counted->to->user, diagnostic);
}

static void check_required(const CheckPlace *place, const CheckScript *script,
                           const CheckSink *sink, CheckOutput *output)
{
    Counted counted = {.to = sink};
    const CheckSink counting = {tell_counted, &counted};
    const CheckRequires requires = {.file = script->file,
                                    .context = script->context,
                                    .paths = (const char(*)[CHECK_PATH_BYTES])output->requires,
                                    .lines = output->require_lines,
                                    .count = output->require_count};
    check_requires(&requires, place->modules, place->module_count, &counting);
    output->error_count += counted.error_count;
}

Status check_place_script(Heap *heap, const CheckPlace *place, const PlaceFile *file,
                          const CheckSink *sink, CheckOutput *out)
{
    const CheckModule *module = check_place_module(place, file->path);
    char soul[CHECK_FILE_BYTES];
    const bool is_made = soul_of(file->path, soul);
    if (module == NULL) {
        return STATUS_NOT_FOUND;
    }
    const bool is_library = strcmp(module->path, SCRIPT_TYPESCRIPT_LIBRARY) == 0;
    const bool is_luau = module->language == SOUL_LUAU;
    if (module->language != (is_made ? SOUL_PLAIN : is_luau ? SOUL_LUAU : SOUL_LUA)) {
        return STATUS_UNSUPPORTED;
    }
    if (file->bytes > SCRIPT_SOURCE_BYTES_MAX) {
        check_tell(sink, CHECK_ERROR, file->path, 0, "file", CHECK_NAME_LARGE_TEXT,
                   (unsigned long long)file->bytes, (size_t)SCRIPT_SOURCE_BYTES_MAX);
        return STATUS_MALFORMED;
    }
    if (!is_text(file, sink)) {
        return STATUS_MALFORMED;
    }
    const CheckScript script = {.path = module->path,
                                .file = is_made ? soul : file->path,
                                .context = module->context,
                                .source = file->data,
                                .source_bytes = file->bytes,
                                .is_generated = is_made || is_library};
    CheckOutput output;
    const Status status = check_script(heap, &script, sink, &output);
    if (status != STATUS_OK) {
        return status;
    }
    if (output.error_count == 0) {
        check_required(place, &script, sink, &output);
    }
    *out = output;
    return STATUS_OK;
}

// --- as JSON ------------------------------------------------------------------------------------

// What is said about the other files is left to those who ask about them.
typedef struct OneFile {
    CheckSink to;
    const char *file;
    bool is_told; // something was said about it
} OneFile;

static void tell_of_one(void *user, const CheckDiagnostic *diagnostic)
{
    OneFile *one = user;
    const bool is_own = strcmp(diagnostic->file, one->file) == 0;
    one->is_told = one->is_told || is_own;
    if (is_own || strcmp(diagnostic->file, CHECK_CONTEXTS_FILE) == 0) {
        one->to.tell(one->to.user, diagnostic);
    }
}

static Status write_answer(const CheckModule *module, const CheckOutput *output,
                           const CheckList *list, ByteWriter *out)
{
    JsonWriter json = json_writer(out, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "ok");
    json_write_bool(&json, output->rune != NULL && list->error_count == 0);
    json_write_name(&json, "run_context");
    json_write_text(&json, module != NULL ? run_context_names[module->context] : "");
    json_write_name(&json, "rune_bytes");
    json_write_integer(&json, (int64_t)output->rune_bytes);
    json_write_name(&json, "requires");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < output->require_count; i++) {
        const char *path = output->requires[i];
        if (utf8_is_valid(path, strlen(path))) { // else it is among the errors
            json_write_text(&json, path);
        }
    }
    json_write_array_end(&json);
    check_list_write(list, &json);
    json_write_object_end(&json);
    return json_writer_finish(&json);
}

static Status check_one(Heap *heap, const PlaceFile *files, uint32_t file_count,
                        const PlaceFile *file, CheckList *list, ByteWriter *out)
{
    char soul[CHECK_FILE_BYTES];
    OneFile one = {.to = check_list_sink(list),
                   .file = soul_of(file->path, soul) ? soul : file->path};
    const CheckSink sink = {tell_of_one, &one};
    CheckPlace place;
    Status status = check_place_open(heap, files, file_count, &sink, &place);
    if (status != STATUS_OK) {
        return status;
    }
    CheckOutput output = {0};
    status = check_place_script(heap, &place, file, &sink, &output);
    const bool is_misplaced = status == STATUS_NOT_FOUND && one.is_told;
    if (status == STATUS_OK || status == STATUS_MALFORMED || is_misplaced) {
        status = write_answer(check_place_module(&place, file->path), &output, list, out);
    } else if (status == STATUS_NOT_FOUND) {
        status = STATUS_UNSUPPORTED;
    }
    check_output_free(heap, &output);
    check_place_close(heap, &place);
    return status;
}

Status check_place_json(Heap *heap, const PlaceFile *files, uint32_t file_count, const char *path,
                        ByteWriter *out)
{
    const PlaceFile *file = file_named(files, file_count, path);
    CheckList list;
    if (file == NULL) {
        return STATUS_NOT_FOUND;
    }
    Status status = check_list_create(heap, CHECK_DIAGNOSTICS_MAX, &list);
    if (status == STATUS_OK) {
        status = check_one(heap, files, file_count, file, &list, out);
        check_list_destroy(heap, &list);
    }
    return status;
}
