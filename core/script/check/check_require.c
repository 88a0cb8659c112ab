// See check_require.h.
#include "core/script/check/check_require.h"

#include "core/base/nearest.h"
#include "core/wire/manifest.h"
#include "core/wire/script_path.h"

#include <string.h>

static const CheckModule *module_named(const CheckModule *modules, uint32_t count, const char *path)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = strcmp(modules[middle].path, path);
        if (order == 0) {
            return &modules[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

static void tell_missing(const CheckRequires *requires, uint32_t index, const CheckModule *modules,
                         uint32_t count, const CheckSink *sink)
{
    const char *path = requires->paths[index];
    if (strncmp(path, SCRIPT_SPELL_FOLDER, sizeof SCRIPT_SPELL_FOLDER - 1) == 0) {
        check_tell(
            sink, CHECK_ERROR, requires->file, requires->lines[index], "require",
            "requires the spell \"%s\", which is not here; name it in `spells` of place.json, "
            "and `sandlot spell fetch` brings it",
            path + sizeof SCRIPT_SPELL_FOLDER - 1);
        return;
    }
    Nearest nearest = nearest_begin_path(path, strlen(path));
    for (uint32_t i = 0; i < count; i++) {
        (void)nearest_consider(&nearest, modules[i].path, strlen(modules[i].path));
    }
    if (nearest.found != NULL) {
        check_tell(sink, CHECK_ERROR, requires->file, requires->lines[index], "require",
                   "requires \"%s\", and there is no such script; did you mean \"%s\"?", path,
                   nearest.found);
    } else {
        check_tell(sink, CHECK_ERROR, requires->file, requires->lines[index], "require",
                   "requires \"%s\", and there is no such script; write its service and its "
                   "name, as in \"ReplicatedStorage/Tools\"",
                   path);
    }
}

// What to do about a module that is not on a side: its service says so, or place.json.
static const char *where_to(const CheckModule *module)
{
    return module->context == check_service_context(module->service)
               ? "move what both need to ReplicatedStorage"
               : "contexts in place.json keeps it there";
}

static void check_side(const CheckRequires *requires, uint32_t index, const CheckModule *module,
                       const CheckSink *sink)
{
    if (module->context == CONTEXT_SERVER && requires->context != CONTEXT_SERVER) {
        check_tell(sink, CHECK_ERROR, requires->file, requires->lines[index], "require",
                   "runs on the client and requires \"%s\", which stays on the server; %s",
                   module->path, where_to(module));
    } else if (module->context == CONTEXT_CLIENT && requires->context != CONTEXT_CLIENT) {
        check_tell(sink, CHECK_ERROR, requires->file, requires->lines[index], "require",
                   "runs on the server and requires \"%s\", which is on the client alone; %s",
                   module->path, where_to(module));
    }
}

void check_requires(const CheckRequires *requires, const CheckModule *modules,
                    uint32_t module_count, const CheckSink *sink)
{
    for (uint32_t i = 0; i < requires->count; i++) {
        const CheckModule *module = module_named(modules, module_count, requires->paths[i]);
        if (module == NULL) {
            tell_missing(requires, i, modules, module_count, sink);
        } else {
            check_side(requires, i, module, sink);
        }
    }
    if (requires->count > MANIFEST_REQUIRES_MAX) {
        check_tell(sink, CHECK_ERROR, requires->file, 0, "require",
                   "requires %u modules, at most %d may be; join some", requires->count,
                   MANIFEST_REQUIRES_MAX);
    }
}
