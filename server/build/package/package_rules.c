// See package_rules.h. Nothing here depends on a locale: characters are compared by a small table
// of our own, with the alphabets that have upper and lower case.
#include "server/build/package/package_rules.h"

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "core/script/vm/vm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rule_names[RULE_COUNT] = {
#define PACKAGE_RULE_TEXT(name, text) text,
    PACKAGE_RULES(PACKAGE_RULE_TEXT)
#undef PACKAGE_RULE_TEXT
};

const char *package_rule_name(PackageRule rule)
{
    return rule < RULE_COUNT ? rule_names[rule] : "?";
}

// --- refusals -----------------------------------------------------------------------------------

// Names also must not contain variation selectors and private or unassigned characters.
static bool is_control(uint32_t code)
{
    return utf8_is_hidden(code) || (code >= 0xfe00 && code <= 0xfe0f) ||
           (code >= 0xfffc && code <= 0xffff) || code >= 0xe0000;
}

// Combining accents: the second half of a decomposed letter (NFD, which macOS once wrote in names).
// Two spellings of one name are two files to us and one to a person.
static bool is_combining(uint32_t code)
{
    return (code >= 0x0300 && code <= 0x036f) || (code >= 0x1ab0 && code <= 0x1aff) ||
           (code >= 0x1dc0 && code <= 0x1dff) || (code >= 0x20d0 && code <= 0x20ff) ||
           code == 0x3099 || code == 0x309a || (code >= 0xfe20 && code <= 0xfe2f);
}

// Writes as much of `text` as fits, with everything but plain characters escaped.
static size_t show(char *out, size_t out_bytes, const char *text, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t used = 0;
    for (size_t i = 0; i < bytes;) {
        const size_t length = utf8_length(at + i, bytes - i);
        char piece[8];
        size_t piece_bytes = length;
        if (length == 0 || is_control(utf8_code_point(at + i, length))) {
            piece_bytes = (size_t)snprintf(piece, sizeof piece, "\\x%02x", at[i]);
        } else {
            memcpy(piece, at + i, length);
        }
        if (used + piece_bytes + 4 > out_bytes) { // "…" and the end always fit
            memcpy(out + used, "…", 3);
            used += 3;
            break;
        }
        memcpy(out + used, piece, piece_bytes);
        used += piece_bytes;
        i += length == 0 || piece[0] == '\\' ? 1 : length;
    }
    out[used] = '\0';
    return used;
}

Status package_refuse(char reason[WORKER_REASON_BYTES], const char *entry, size_t entry_bytes,
                      PackageRule rule, const char *format, ...)
{
    char name[PACKAGE_PATH_BYTES + 64], why[WORKER_REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    show(name, sizeof name, entry, entry_bytes);
    const int used =
        snprintf(reason, WORKER_REASON_BYTES, "%s: %s: ", name, package_rule_name(rule));
    ASSERT(used > 0 && (size_t)used + 8 < WORKER_REASON_BYTES);
    show(reason + used, WORKER_REASON_BYTES - (size_t)used, why, strlen(why));
    return rule == RULE_MEMORY ? STATUS_LIMIT : STATUS_MALFORMED;
}

// --- one name -----------------------------------------------------------------------------------

static Status check_characters(const char *path, size_t bytes, char reason[WORKER_REASON_BYTES])
{
    const uint8_t *at = (const uint8_t *)path;
    for (size_t i = 0; i < bytes;) {
        const size_t length = utf8_length(at + i, bytes - i);
        if (length == 0) {
            return package_refuse(reason, path, bytes, RULE_UTF8,
                                  "names are UTF-8; rename it, or pack with a newer program");
        }
        if (is_control(utf8_code_point(at + i, length))) {
            return package_refuse(reason, path, bytes, RULE_CONTROL,
                                  "a name has no control or invisible characters");
        }
        i += length;
    }
    return STATUS_OK;
}

Status package_path_check(const char *path, size_t bytes, char reason[WORKER_REASON_BYTES])
{
    if (bytes == 0 || bytes >= PACKAGE_NAME_BYTES) {
        return bytes == 0 ? package_refuse(reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), RULE_NAME,
                                           "an entry has no name")
                          : package_refuse(reason, path, bytes, RULE_LONG,
                                           "a path has at most %d bytes", PACKAGE_PATH_BYTES - 1);
    }
    if (memchr(path, 0, bytes) != NULL) {
        return package_refuse(reason, path, bytes, RULE_NUL, "a name has no zero bytes");
    }
    if (memchr(path, '\\', bytes) != NULL) {
        return package_refuse(reason, path, bytes, RULE_BACKSLASH,
                              "folders are separated by /; pack with a newer program");
    }
    if (path[0] == '/' || (bytes >= 2 && path[1] == ':')) {
        return package_refuse(reason, path, bytes, RULE_ABSOLUTE,
                              "paths begin in the place's folder");
    }
    const Status status = check_characters(path, bytes, reason);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t begin = 0; begin <= bytes;) {
        const char *slash = memchr(path + begin, '/', bytes - begin);
        const size_t length = slash == NULL ? bytes - begin : (size_t)(slash - path) - begin;
        if (length == 2 && memcmp(path + begin, "..", 2) == 0) {
            return package_refuse(reason, path, bytes, RULE_DOTDOT, "no path leads out");
        }
        if (length == 0 || (length == 1 && path[begin] == '.')) {
            return package_refuse(reason, path, bytes, RULE_NAME,
                                  "a path has no empty names and no \".\"");
        }
        begin += length + 1;
    }
    return STATUS_OK;
}

static bool is_name(const char *segment, size_t bytes, const char *name)
{
    return strlen(name) == bytes && memcmp(segment, name, bytes) == 0;
}

bool package_path_is_skipped(const char *path)
{
    static const char *const names[] = {"__MACOSX", "node_modules", "Thumbs.db", "ehthumbs.db",
                                        "desktop.ini"};
    for (const char *at = path;;) {
        const size_t bytes = strcspn(at, "/");
        // Hidden files, and the backup copies of editors.
        bool skipped = at[0] == '.' || (bytes > 1 && at[bytes - 1] == '~') ||
                       (bytes > 2 && at[0] == '#' && at[bytes - 1] == '#');
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            skipped = skipped || is_name(at, bytes, names[i]);
        }
        if (skipped || at[bytes] == '\0') {
            return skipped;
        }
        at += bytes + 1;
    }
}

static char ascii_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

// CON, NUL, COM1 …, with or without an ending: a device on Windows, in every folder.
static bool is_device(const char *segment, size_t bytes)
{
    static const char *const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$"};
    char stem[8] = {0};
    size_t length = 0;
    while (length < bytes && segment[length] != '.') {
        if (length == sizeof stem - 1) {
            return false;
        }
        stem[length] = ascii_lower(segment[length]);
        length += 1;
    }
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        if (strcmp(stem, devices[i]) == 0) {
            return true;
        }
    }
    return length == 4 && stem[3] >= '0' && stem[3] <= '9' &&
           (memcmp(stem, "com", 3) == 0 || memcmp(stem, "lpt", 3) == 0);
}

static Status segment_fits(const char *path, const char *segment, size_t bytes,
                           char reason[WORKER_REASON_BYTES])
{
    for (size_t i = 0; i < bytes; i++) {
        if (strchr("<>:\"|?*", segment[i]) != NULL) {
            return package_refuse(reason, path, strlen(path), RULE_NAME,
                                  "not every system can have %c in a name", segment[i]);
        }
    }
    const char last = segment[bytes - 1];
    if (segment[0] == ' ' || last == ' ' || last == '.') {
        return package_refuse(reason, path, strlen(path), RULE_NAME,
                              "a name does not begin or end with a space, or end with a dot");
    }
    if (is_device(segment, bytes)) {
        return package_refuse(reason, path, strlen(path), RULE_NAME,
                              "\"%.*s\" is a device on Windows", (int)bytes, segment);
    }
    return STATUS_OK;
}

Status package_path_fits(const char *path, char reason[WORKER_REASON_BYTES])
{
    const size_t bytes = strlen(path);
    if (bytes >= PACKAGE_PATH_BYTES) {
        return package_refuse(reason, path, bytes, RULE_LONG,
                              "a path has at most %d bytes, this one has %zu",
                              PACKAGE_PATH_BYTES - 1, bytes);
    }
    for (size_t i = 0; i < bytes;) {
        const size_t length = utf8_length((const uint8_t *)path + i, bytes - i);
        if (length == 0 || is_combining(utf8_code_point((const uint8_t *)path + i, length))) {
            return package_refuse(reason, path, bytes, RULE_UTF8,
                                  "a letter and its accent are two characters here (NFD); rename "
                                  "it with the accented letter as one");
        }
        i += length;
    }
    uint32_t depth = 0;
    for (const char *at = path;;) {
        const size_t length = strcspn(at, "/");
        const Status status = segment_fits(path, at, length, reason);
        if (status != STATUS_OK || at[length] == '\0') {
            return status;
        }
        depth += 1;
        if (depth > PLACE_FOLDER_DEPTH_MAX) {
            return package_refuse(reason, path, bytes, RULE_DEPTH,
                                  "folders are nested at most %d deep", PLACE_FOLDER_DEPTH_MAX);
        }
        at += length + 1;
    }
}

// --- all names ----------------------------------------------------------------------------------

// Pairs of one alphabet: capitals are the even, or the odd, ones of a range.
static uint32_t fold_pairs(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last && ((code - first) & 1) == 0 ? code + 1 : code;
}

static uint32_t fold_shifted(uint32_t code, uint32_t first, uint32_t last, uint32_t by)
{
    return code >= first && code <= last ? code + by : code;
}

static uint32_t fold_single(uint32_t code)
{
    static const uint32_t pairs[][2] = {
        {0x0130, 'i'},    {0x0131, 'i'},    {0x0178, 0x00ff}, {0x017f, 's'},    {0x0386, 0x03ac},
        {0x0388, 0x03ad}, {0x0389, 0x03ae}, {0x038a, 0x03af}, {0x038c, 0x03cc}, {0x038e, 0x03cd},
        {0x038f, 0x03ce}, {0x03c2, 0x03c3}, {0x04c0, 0x04cf}, {0x1e9e, 0x00df}, {0x2126, 0x03c9},
        {0x212a, 'k'},    {0x212b, 0x00e5}, {0x00b5, 0x03bc}, {0x1e9b, 0x1e61}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i][0] == code) {
            return pairs[i][1];
        }
    }
    return code;
}

// Simple case folding for Latin, Greek, Cyrillic, Armenian and full-width letters.
static uint32_t fold(uint32_t code)
{
    if (code < 0x80) {
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    }
    const uint32_t single = fold_single(code);
    if (single != code) {
        return single;
    }
    if (code != 0xd7) {
        code = fold_shifted(code, 0xc0, 0xde, 32);
    }
    static const uint32_t even[][2] = {
        {0x0100, 0x012f}, {0x0132, 0x0137}, {0x0139, 0x0148}, {0x014a, 0x0177},
        {0x0179, 0x017e}, {0x01cd, 0x01dc}, {0x01de, 0x01ef}, {0x01f8, 0x021f},
        {0x0222, 0x0233}, {0x03d8, 0x03ef}, {0x0460, 0x0481}, {0x048a, 0x04bf},
        {0x04c1, 0x04ce}, {0x04d0, 0x052f}, {0x1e00, 0x1e95}, {0x1ea0, 0x1eff}};
    for (size_t i = 0; i < sizeof even / sizeof even[0]; i++) {
        const uint32_t folded = fold_pairs(code, even[i][0], even[i][1]);
        if (folded != code) {
            return folded;
        }
    }
    static const uint32_t shifted[][3] = {{0x0391, 0x03ab, 32}, {0x0400, 0x040f, 80},
                                          {0x0410, 0x042f, 32}, {0x0531, 0x0556, 48},
                                          {0x2160, 0x216f, 16}, {0xff21, 0xff3a, 32}};
    for (size_t i = 0; i < sizeof shifted / sizeof shifted[0]; i++) {
        const uint32_t folded = fold_shifted(code, shifted[i][0], shifted[i][1], shifted[i][2]);
        if (folded != code) {
            return folded;
        }
    }
    return code;
}

// A file, or a folder on the way to one: a path up to one of its slashes.
typedef struct Node {
    const uint32_t *folded;
    const char *path;
    uint16_t folded_count, bytes;
    bool is_file;
} Node;

static int by_folded(const void *a, const void *b)
{
    const Node *left = a, *right = b;
    const uint16_t count =
        left->folded_count < right->folded_count ? left->folded_count : right->folded_count;
    for (uint16_t i = 0; i < count; i++) {
        if (left->folded[i] != right->folded[i]) {
            return left->folded[i] < right->folded[i] ? -1 : 1;
        }
    }
    if (left->folded_count != right->folded_count) {
        return left->folded_count < right->folded_count ? -1 : 1;
    }
    // Files first, then by their bytes, so that the same package always gets the same message.
    if (left->is_file != right->is_file) {
        return left->is_file ? -1 : 1;
    }
    const int order =
        memcmp(left->path, right->path, left->bytes < right->bytes ? left->bytes : right->bytes);
    return order != 0 ? order : (int)left->bytes - (int)right->bytes;
}

// Reports two neighbours that fold to the same name.
static Status compare(const Node *a, const Node *b, char reason[WORKER_REASON_BYTES])
{
    const bool same = a->bytes == b->bytes && memcmp(a->path, b->path, a->bytes) == 0;
    if (same && !a->is_file && !b->is_file) {
        return STATUS_OK;
    }
    if (!same) {
        return package_refuse(reason, b->path, b->bytes, RULE_CASE,
                              "differs from \"%.*s\" in nothing but case", (int)a->bytes, a->path);
    }
    return package_refuse(reason, a->path, a->bytes, RULE_DUPLICATE, "%s",
                          a->is_file && b->is_file ? "is there twice"
                                                   : "is a file and a folder at once");
}

Status package_paths_differ(const char *const *paths, uint32_t count,
                            char reason[WORKER_REASON_BYTES])
{
    size_t node_max = 1, code_max = 1;
    for (uint32_t i = 0; i < count; i++) {
        for (const char *at = paths[i]; *at != '\0'; at++) {
            code_max += 1;
            node_max += *at == '/';
        }
        node_max += 1;
    }
    Node *nodes = calloc(node_max, sizeof *nodes);
    uint32_t *codes = calloc(code_max, sizeof *codes);
    size_t node_count = 0, code_count = 0;
    for (uint32_t i = 0; i < count && nodes != NULL && codes != NULL; i++) {
        const uint32_t *const begin = codes + code_count;
        const size_t bytes = strlen(paths[i]);
        ASSERT(bytes < UINT16_MAX);
        for (size_t at = 0; at <= bytes;) {
            const size_t length = utf8_length((const uint8_t *)paths[i] + at, bytes - at);
            if (at == bytes || paths[i][at] == '/') {
                nodes[node_count++] = (Node){.folded = begin,
                                             .path = paths[i],
                                             .folded_count = (uint16_t)(codes + code_count - begin),
                                             .bytes = (uint16_t)at,
                                             .is_file = at == bytes};
            }
            if (at == bytes) {
                break;
            }
            ASSERT(length > 0); // the paths were checked
            codes[code_count++] = fold(utf8_code_point((const uint8_t *)paths[i] + at, length));
            at += length;
        }
    }
    Status status = nodes == NULL || codes == NULL
                        ? package_refuse(reason, PACKAGE_WHOLE, strlen(PACKAGE_WHOLE), RULE_MEMORY,
                                         "out of memory")
                        : STATUS_OK;
    if (status == STATUS_OK && node_count > 1) {
        qsort(nodes, node_count, sizeof *nodes, by_folded);
    }
    for (size_t i = 1; i < node_count && status == STATUS_OK; i++) {
        const Node *a = &nodes[i - 1], *b = &nodes[i];
        if (a->folded_count == b->folded_count &&
            memcmp(a->folded, b->folded, a->folded_count * sizeof *a->folded) == 0) {
            status = compare(a, b, reason);
        }
    }
    free(nodes);
    free(codes);
    return status;
}

// --- kinds --------------------------------------------------------------------------------------

static const struct {
    const char *name;
    size_t bytes_max;
} kinds[KIND_COUNT] = {
    [KIND_SCRIPT] = {"script", VM_SOURCE_BYTES_MAX},
    [KIND_JSON] = {"json", JSON_BYTES_MAX},
    [KIND_CHUNK] = {"chunk", 1u << 20},
    [KIND_TEXT] = {"text", 1u << 20},
    [KIND_PNG] = {"png", 32u << 20},
    [KIND_JPEG] = {"jpeg", 32u << 20},
    [KIND_OGG] = {"ogg", 32u << 20},
    [KIND_WAV] = {"wav", 64u << 20},
    [KIND_GLB] = {"glb", 64u << 20},
    [KIND_GLTF] = {"gltf", JSON_BYTES_MAX},
    [KIND_BIN] = {"bin", 64u << 20},
};

const char *package_kind_name(PackageKind kind)
{
    return kind < KIND_COUNT ? kinds[kind].name : "?";
}

size_t package_kind_bytes_max(PackageKind kind)
{
    ASSERT(kind < KIND_COUNT);
    return kinds[kind].bytes_max;
}

bool package_kind_is_asset(PackageKind kind)
{
    return kind >= KIND_PNG && kind < KIND_COUNT;
}

static const struct {
    const char *ending;
    PackageKind kind;
} endings[] = {
    {".lua", KIND_SCRIPT}, {".luau", KIND_SCRIPT}, {".ts", KIND_SCRIPT}, {".soul", KIND_SCRIPT},
    {".json", KIND_JSON},  {".chunk", KIND_CHUNK}, {".md", KIND_TEXT},   {".txt", KIND_TEXT},
    {".png", KIND_PNG},    {".jpg", KIND_JPEG},    {".jpeg", KIND_JPEG}, {".ogg", KIND_OGG},
    {".wav", KIND_WAV},    {".glb", KIND_GLB},     {".gltf", KIND_GLTF}, {".bin", KIND_BIN},
};

static bool ends_with(const char *path, const char *ending, bool any_case)
{
    const size_t bytes = strlen(path), want = strlen(ending);
    if (bytes <= want || path[bytes - want - 1] == '/') {
        return false;
    }
    for (size_t i = 0; i < want; i++) {
        const char c = path[bytes - want + i];
        if ((any_case ? ascii_lower(c) : c) != ending[i]) {
            return false;
        }
    }
    return true;
}

static Status refuse_kind(const char *path, char reason[WORKER_REASON_BYTES])
{
    static const char *const archives[] = {".zip", ".game", ".tar", ".gz",  ".tgz",
                                           ".zst", ".7z",   ".rar", ".bz2", ".xz"};
    const size_t bytes = strlen(path);
    for (size_t i = 0; i < sizeof archives / sizeof archives[0]; i++) {
        if (ends_with(path, archives[i], true)) {
            return package_refuse(reason, path, bytes, RULE_NESTED,
                                  "a package holds no other archive");
        }
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_with(path, endings[i].ending, true)) {
            return package_refuse(reason, path, bytes, RULE_KIND, "write the ending as %s",
                                  endings[i].ending);
        }
    }
    if (ends_with(path, ".rune", true)) {
        return package_refuse(reason, path, bytes, RULE_KIND,
                              "runes are made by the server; a package holds sources");
    }
    return package_refuse(
        reason, path, bytes, RULE_KIND,
        "no file of a place has that ending; known are .lua .luau .ts .soul .json "
        ".chunk .md .txt .png .jpg .jpeg .ogg .wav .glb .gltf .bin");
}

Status package_kind_of(const char *path, PackageKind *out, char reason[WORKER_REASON_BYTES])
{
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_with(path, endings[i].ending, false)) {
            *out = endings[i].kind;
            return STATUS_OK;
        }
    }
    static const char *const plain[] = {"LICENSE", "LICENCE", "COPYING",
                                        "NOTICE",  "README",  "CREDITS"};
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(name, plain[i]) == 0) {
            *out = KIND_TEXT;
            return STATUS_OK;
        }
    }
    return refuse_kind(path, reason);
}

Status package_name_check(const char *path, PackageKind *kind, char reason[WORKER_REASON_BYTES])
{
    Status status = package_path_check(path, strlen(path), reason);
    status = status == STATUS_OK ? package_path_fits(path, reason) : status;
    if (status == STATUS_OK && package_path_is_skipped(path)) {
        return package_refuse(reason, path, strlen(path), RULE_NAME,
                              "files of that name are left out of every place; take another name");
    }
    return status == STATUS_OK ? package_kind_of(path, kind, reason) : status;
}

Status package_size_check(const char *path, PackageKind kind, uint64_t bytes,
                          char reason[WORKER_REASON_BYTES])
{
    const size_t most = package_kind_bytes_max(kind);
    if (bytes <= most) {
        return STATUS_OK;
    }
    return package_refuse(reason, path, strlen(path), RULE_SIZE,
                          "has %llu bytes, a %s may have %zu", (unsigned long long)bytes,
                          package_kind_name(kind), most);
}
