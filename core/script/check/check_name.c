// See check_name.h.
#include "core/script/check/check_name.h"

#include "core/base/nearest.h"
#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>

#define SEGMENT_BYTES_MAX 64
#define NAME_BYTES_MAX    120 // with .rune after it, it is still a path of a place folder
#define KEPT_ENDING       ".soul.lua"
#define MEANT_LETTERS_MIN 6 // "Server", "Starter"

const char *const check_language_endings[SOUL_LANGUAGE_COUNT] = {".lua", ".ts", ".soul", ".luau"};

static const RunContext service_contexts[SERVICE_COUNT] = {
    [SERVICE_SERVER_SCRIPT] = CONTEXT_SERVER,  [SERVICE_REPLICATED_STORAGE] = CONTEXT_BOTH,
    [SERVICE_WORKSPACE] = CONTEXT_BOTH,        [SERVICE_STARTER_GUI] = CONTEXT_CLIENT,
    [SERVICE_STARTER_PLAYER] = CONTEXT_CLIENT, [SERVICE_REPLICATED_FIRST] = CONTEXT_CLIENT,
};

bool check_language_is_made(SoulLanguage language)
{
    return language == SOUL_TYPESCRIPT || language == SOUL_PLAIN;
}

RunContext check_service_context(ScriptService service)
{
    return service_contexts[service];
}

bool check_narrow(RunContext *context, RunContext wanted)
{
    if (wanted != *context && *context != CONTEXT_BOTH) {
        return false;
    }
    *context = wanted;
    return true;
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t bytes = strlen(path), want = strlen(ending);
    return bytes > want && strcmp(path + bytes - want, ending) == 0;
}

static bool language_of(const char *path, SoulLanguage *out)
{
    if (ends_with(path, KEPT_ENDING) || ends_with(path, ".d.ts")) {
        return false;
    }
    for (uint32_t i = 0; i < SOUL_LANGUAGE_COUNT; i++) {
        if (ends_with(path, check_language_endings[i])) {
            *out = (SoulLanguage)i;
            return true;
        }
    }
    return false;
}

static char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t common_letters(const char *a, const char *b)
{
    size_t count = 0;
    while (a[count] != '\0' && small_letter(a[count]) == small_letter(b[count])) {
        count += 1;
    }
    return count;
}

// The service that a folder was meant to be; NULL: none. "ServerScripts" and
// "StarterPlayerScripts", as others call theirs, begin like one of ours.
static const char *service_meant(const char *path)
{
    size_t bytes = 0;
    while (path[bytes] != '\0' && path[bytes] != '/') {
        bytes += 1;
    }
    Nearest nearest = nearest_begin(path, bytes);
    const char *meant = NULL;
    size_t most = MEANT_LETTERS_MIN - 1;
    for (uint32_t i = 0; i < SERVICE_COUNT && path[bytes] == '/'; i++) {
        const char *name = script_service_names[i];
        (void)nearest_consider(&nearest, name, strlen(name));
        const size_t common = common_letters(path, name);
        meant = common > most ? name : meant;
        most = common > most ? common : most;
    }
    return nearest.found != NULL ? nearest.found : meant;
}

static bool is_letter(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '-' || byte >= 0x80;
}

// Why a plain path cannot be a script's name; NULL: it can. Names are shown in messages, are files
// and parts of URLs: letters (of any script), digits, '_', '-', and inside also '.' and ' '.
static const char *name_problem(const char *path)
{
    if (!utf8_is_valid(path, strlen(path))) {
        return "the name is not UTF-8";
    }
    size_t segment = 0;
    for (const char *at = path;; at++) {
        const uint8_t byte = (uint8_t)*at;
        if (byte == '\0' || byte == '/') {
            if (segment == 0 || segment > SEGMENT_BYTES_MAX) {
                return "each part of a script's name has 1 to 64 bytes";
            }
            if (!is_letter((uint8_t)at[-1])) {
                return "a part of a script's name ends with a letter or digit";
            }
            segment = 0;
        } else if (is_letter(byte) || (segment > 0 && (byte == '.' || byte == ' '))) {
            segment += 1;
        } else {
            return "a script's name is made of letters, digits, '_', '-', '.' and spaces";
        }
        if (byte == '\0') {
            return utf8_has_control(path, strlen(path))
                       ? "a script's name has no control characters"
                       : NULL;
        }
    }
}

// A name inside which an ending stands would be taken for another script's, or for an artifact.
static bool has_inner_ending(const char *path)
{
    static const char *const reserved[] = {".lua", ".luau", ".ts", ".soul", ".rune", ".json"};
    for (const char *at = strchr(path, '.'); at != NULL; at = strchr(at + 1, '.')) {
        for (uint32_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
            const size_t bytes = strlen(reserved[i]);
            if (common_letters(reserved[i], at) >= bytes &&
                (at[bytes] == '\0' || at[bytes] == '/')) {
                return true;
            }
        }
    }
    return false;
}

static void tell_service(const char *file, const char *plain, const CheckSink *sink)
{
    const char *meant = service_meant(plain);
    check_tell(sink, CHECK_ERROR, file, 0, "service",
               "this script is in no service; %s%s%s" SCRIPT_SERVICES_TEXT,
               meant != NULL ? "did you mean " : "", meant != NULL ? meant : "",
               meant != NULL ? "? Put it into " : "put it into ");
}

bool check_name_read(const char *file, const CheckSink *sink, CheckModule *out)
{
    CheckModule module = {0};
    if (!language_of(file, &module.language)) {
        return false;
    }
    const char *plain = file + script_path_soul_bytes(file, strlen(file));
    module.service = script_path_service(plain, strlen(plain));
    if (module.service == SERVICE_COUNT) {
        tell_service(file, plain, sink);
        return false;
    }
    module.context = service_contexts[module.service];
    const size_t bytes = strlen(plain) - strlen(check_language_endings[module.language]);
    const char *problem = "a script's name has at most 120 bytes";
    if (bytes <= NAME_BYTES_MAX) {
        memcpy(module.path, plain, bytes);
        problem = name_problem(module.path);
        if (problem == NULL && has_inner_ending(module.path)) {
            problem = "a part of a script's name does not end with .lua, .luau, .ts, .soul, .rune "
                      "or .json";
        }
    }
    if (problem != NULL) {
        check_tell(sink, CHECK_ERROR, file, 0, "name", "%s", problem);
        return false;
    }
    *out = module;
    return true;
}
