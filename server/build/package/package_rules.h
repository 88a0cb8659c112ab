// What a package may hold: names, kinds of files, sizes. The same small functions judge an archive
// inside the worker, what the worker says outside it, and a folder before it is packed, so that the
// three can never disagree.
//
// A refusal is one line, "entry: rule: explanation", in which nothing can speak to a terminal.
#pragma once

#include "core/base/limits.h"
#include "server/build/ask/worker.h"
#include "server/build/place/place_folder.h"

#define PACKAGE_PATH_BYTES 128  // with its end; as a script's name and a diagnostic's file
#define PACKAGE_NAME_BYTES 1024 // of an entry as it stands in an archive, before it is judged
#define PACKAGE_RATIO_MAX  100
// Below this size the ratio is not checked: ten thousand spaces are not a zip bomb.
#define PACKAGE_RATIO_FLOOR_BYTES (1u << 20)
// Entries including skipped ones: a place that was zipped with everything around it gets this
// message before its own 4,000 files are counted.
#define PACKAGE_ENTRIES_MAX 16000
#define PACKAGE_WHOLE       "(package)" // the entry of a refusal that concerns none

// X(NAME, name)
#define PACKAGE_RULES(X)        \
    X(ABSOLUTE, "absolute")     \
    X(DOTDOT, "dotdot")         \
    X(BACKSLASH, "backslash")   \
    X(NUL, "nul")               \
    X(CONTROL, "control")       \
    X(UTF8, "utf8")             \
    X(NAME, "name")             \
    X(LONG, "long")             \
    X(DEPTH, "depth")           \
    X(DUPLICATE, "duplicate")   \
    X(CASE, "case")             \
    X(LINK, "link")             \
    X(SPECIAL, "special")       \
    X(FILES, "count")           \
    X(SIZE, "size")             \
    X(RATIO, "ratio")           \
    X(KIND, "kind")             \
    X(CONTENT, "content")       \
    X(DIMENSIONS, "dimensions") \
    X(TRIANGLES, "triangles")   \
    X(TRUNCATED, "truncated")   \
    X(TRAILING, "trailing")     \
    X(CHECKSUM, "checksum")     \
    X(ENCRYPTED, "encrypted")   \
    X(NESTED, "nested")         \
    X(HEADER, "header")         \
    X(FORMAT, "format")         \
    X(MISSING, "missing")       \
    X(MEMORY, "memory")

typedef enum PackageRule {
#define PACKAGE_RULE_ENUM(name, text) RULE_##name,
    PACKAGE_RULES(PACKAGE_RULE_ENUM)
#undef PACKAGE_RULE_ENUM
        RULE_COUNT
} PackageRule;
const char *package_rule_name(PackageRule rule);

// Writes the reason and returns STATUS_MALFORMED, or STATUS_LIMIT for RULE_MEMORY. Control
// characters and invalid UTF-8 become \xNN.
MUST_USE Status package_refuse(char reason[WORKER_REASON_BYTES], const char *entry,
                               size_t entry_bytes, PackageRule rule, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// --- names --------------------------------------------------------------------------------------

// Whether it is a relative path of plain names that stays inside. For every entry, skipped or not;
// `bytes` without the slash at the end of a folder.
MUST_USE Status package_path_check(const char *path, size_t bytes,
                                   char reason[WORKER_REASON_BYTES]);
// Whether it is not a place's own file: hidden files, files of systems (__MACOSX, Thumbs.db),
// packages and backup copies of editors. Needs a checked path.
bool package_path_is_skipped(const char *path);
// Whether every system can hold it, and it is short and shallow enough. Needs a checked path, as it
// will be in the place's folder.
MUST_USE Status package_path_fits(const char *path, char reason[WORKER_REASON_BYTES]);
// Whether no two paths mean one file: the same path, the same but for case, or a file where another
// needs a folder. `paths` are checked, in any order.
MUST_USE Status package_paths_differ(const char *const *paths, uint32_t count,
                                     char reason[WORKER_REASON_BYTES]);

// --- kinds --------------------------------------------------------------------------------------

typedef enum PackageKind {
    KIND_SCRIPT, // .lua .luau .ts .soul
    KIND_JSON,
    KIND_CHUNK,
    KIND_TEXT, // .md .txt LICENSE …
    KIND_PNG,
    KIND_JPEG,
    KIND_OGG,
    KIND_WAV,
    KIND_GLB,
    KIND_GLTF,
    KIND_BIN, // what a .gltf names
    KIND_COUNT
} PackageKind;

const char *package_kind_name(PackageKind kind);
size_t package_kind_bytes_max(PackageKind kind);
bool package_kind_is_asset(PackageKind kind);
// The kind by the path's ending.
MUST_USE Status package_kind_of(const char *path, PackageKind *out,
                                char reason[WORKER_REASON_BYTES]);
// Whether a place may have a file of that name: all of the above for one path.
MUST_USE Status package_name_check(const char *path, PackageKind *kind,
                                   char reason[WORKER_REASON_BYTES]);
// Whether a file of that name may have that size.
MUST_USE Status package_size_check(const char *path, PackageKind kind, uint64_t bytes,
                                   char reason[WORKER_REASON_BYTES]);
