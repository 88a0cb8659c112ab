// See template.h. Files are only created, never replaced, except for the types, which are ours.
// Everything created for a new place is recorded, so that after a failure it is removed; and until
// it is complete it contains a marker file, so that what a killed process left is recognised.
#define _GNU_SOURCE
#include "server/build/place/template.h"

#include "core/base/bytes.h"
#include "core/base/utf8.h"
#include "core/script/api/api_reference.h"
#include "server/build/base/buffer.h"
#include "server/build/place/editor_modules.h"
#include "server/build/place/place_folder.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES      4096
#define NAME_BYTES_MAX  64 // of a place
#define REFERENCE_BYTES (1u << 20)
#define FILE_BYTES_MAX  (1u << 20)
#define HOME            ".sandlot"
#define TYPES_FOLDER    HOME "/types/"
#define SETTINGS_FILE   ".luarc.json"
#define MARK            ".sandlot-new" // in a place that is not whole yet
#define TYPESCRIPT      "-typescript"

typedef struct Made {
    char *path; // in the folder; "": the folder itself
    bool is_folder;
} Made;

typedef struct Writing {
    const char *folder, *set;      // set: the template's name
    char name[NAME_BYTES_MAX + 1]; // of the place
    bool typescript;
    uint32_t count;
    const atomic_bool *cancel; // may be NULL
    bool is_completing;        // completing a place that a killed process began
    bool is_noting;
    Made *made; // in the order in which they were made
    uint32_t made_count, made_max;
    char *reason;
} Writing;

__attribute__((format(printf, 3, 4))) static Status refuse(Writing *writing, Status status,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(writing->reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return status;
}

// --- which there are ----------------------------------------------------------------------------

static bool is_place(const TemplateFile *file)
{
    return strcmp(file->path, "place.json") == 0;
}

const char *template_name(uint32_t index)
{
    for (const TemplateFile *file = template_files; file->set != NULL; file++) {
        if (is_place(file) && index-- == 0) {
            return file->set;
        }
    }
    return NULL;
}

bool template_exists(const char *name)
{
    for (uint32_t i = 0; template_name(i) != NULL; i++) {
        if (strcmp(template_name(i), name) == 0) {
            return true;
        }
    }
    return false;
}

// --- what was made ------------------------------------------------------------------------------

// Without memory for the record, the file is not removed after a failure.
static void note(Writing *writing, const char *path, size_t bytes, bool is_folder)
{
    if (!writing->is_noting) {
        return;
    }
    if (writing->made_count == writing->made_max) {
        const uint32_t more = writing->made_max + 64;
        Made *made = realloc(writing->made, more * sizeof *made);
        if (made == NULL) {
            return;
        }
        writing->made = made;
        writing->made_max = more;
    }
    char *copy = strndup(path, bytes);
    if (copy != NULL) {
        writing->made[writing->made_count++] = (Made){.path = copy, .is_folder = is_folder};
    }
}

// Opens the folder of a file, creating and recording missing ones unless `writing` is NULL; *name
// is the rest of the path. A place may come from a stranger: a link on the way would lead our
// writes elsewhere. Negative: errno says why.
static int open_parents(Writing *writing, const char *root, const char *path, const char **name)
{
    const char *const whole = path;
    int folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *slash;
    while (folder >= 0 && (slash = strchr(path, '/')) != NULL) {
        char part[NAME_MAX + 1];
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        bool is_there = writing == NULL;
        // A group that shares the place must not share the key that will be in there.
        const mode_t mode = path == whole && strcmp(part, HOME) == 0 ? 0755 : 0777;
        if (writing != NULL && mkdirat(folder, part, mode) == 0) {
            note(writing, whole, (size_t)(slash - whole), true);
            is_there = true;
        } else if (writing != NULL) {
            is_there = errno == EEXIST;
        }
        const int inner =
            is_there ? openat(folder, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
        const int error = errno;
        close(folder);
        errno = error;
        folder = inner;
        path = slash + 1;
    }
    *name = path;
    return folder;
}

// In reverse order, so that folders are empty by then; one that contains other files stays. Nothing
// behind a link is removed.
static void take_back(const Writing *writing)
{
    for (uint32_t i = writing->made_count; i-- > 0;) {
        const Made *made = &writing->made[i];
        if (made->path[0] == '\0') {
            (void)rmdir(writing->folder); // nothing more can be done if this fails
            continue;
        }
        const char *name;
        const int folder = open_parents(NULL, writing->folder, made->path, &name);
        if (folder >= 0) {
            (void)unlinkat(folder, name, made->is_folder ? AT_REMOVEDIR : 0); // the same
            close(folder);
        }
    }
}

static void forget_made(Writing *writing)
{
    for (uint32_t i = 0; i < writing->made_count; i++) {
        free(writing->made[i].path);
    }
    free(writing->made);
    writing->made = NULL;
    writing->made_count = writing->made_max = 0;
}

// --- one file -----------------------------------------------------------------------------------

// Whether the existing file is the beginning of this one: then a process was killed while writing
// it.
static bool is_begun(int folder, const char *name, const void *data, size_t bytes)
{
    uint8_t *there = NULL;
    size_t there_bytes = 0;
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool begun = file >= 0 &&
                       file_read_open(file, bytes, &there, &there_bytes) == STATUS_OK &&
                       memcmp(there, data, there_bytes) == 0;
    free(there);
    if (file >= 0) {
        close(file);
    }
    return begun;
}

static Status write_file(Writing *writing, const char *path, const void *data, size_t bytes,
                         bool may_replace)
{
    if (writing->cancel != NULL && atomic_load(writing->cancel)) {
        return refuse(writing, STATUS_DENIED, "interrupted; nothing was made");
    }
    const char *name = path;
    int file = -1;
    const int folder = open_parents(writing, writing->folder, path, &name);
    if (folder >= 0) {
        const bool replaces =
            may_replace || (writing->is_completing && is_begun(folder, name, data, bytes));
        // If somebody put a pipe there, opening fails instead of waiting.
        const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
        file = openat(folder, name, flags | (replaces ? O_TRUNC : O_EXCL), 0666);
        const int error = errno;
        close(folder);
        errno = error;
    }
    struct stat about;
    if (file >= 0 && (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(file);
        file = -1;
        errno = EINVAL;
    }
    if (file >= 0) {
        note(writing, path, strlen(path), false);
    }
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;
    const bool written = stream != NULL && fwrite(data, 1, bytes, stream) == bytes;
    const bool closed = stream != NULL && fclose(stream) == 0;
    if (!written || !closed) {
        const bool is_link = errno == ELOOP || errno == ENOTDIR;
        return refuse(writing, STATUS_BLOCKED, "%s/%s cannot be written: %s", writing->folder, path,
                      is_link ? "a link is on the way, or no folder" : strerror(errno));
    }
    writing->count += 1;
    return STATUS_OK;
}

// --- types for editors --------------------------------------------------------------------------

static Status write_reference(Writing *writing, ApiFormat format, const char *path)
{
    char *text = malloc(REFERENCE_BYTES);
    if (text == NULL) {
        return refuse(writing, STATUS_LIMIT, "out of memory");
    }
    ByteWriter writer = byte_writer(text, REFERENCE_BYTES);
    api_reference_write(format, &writer);
    const Status status = writer.status == STATUS_OK
                              ? write_file(writing, path, text, writer.at, true)
                              : refuse(writing, writer.status, "%s does not fit", path);
    free(text);
    return status;
}

// If the place cannot be read, its types stay as they are; the build reports the problem.
static Status write_modules(Writing *writing)
{
    Buffer text = buffer_of(EDITOR_MODULES_BYTES);
    Status status = STATUS_OK;
    if (editor_modules_write(writing->folder, &text) == STATUS_OK) {
        status = write_file(writing, TYPES_FOLDER EDITOR_MODULES_FILE, text.data, text.bytes, true);
    }
    buffer_free(&text);
    return status;
}

static Status write_types(Writing *writing)
{
    Status status = write_reference(writing, API_FORMAT_LUA, TYPES_FOLDER "sandlot.lua");
    if (status == STATUS_OK) {
        status = write_reference(writing, API_FORMAT_TYPESCRIPT, TYPES_FOLDER "sandlot.d.ts");
    }
    for (const TemplateFile *file = template_files; file->set != NULL && status == STATUS_OK;
         file++) {
        char path[PATH_BYTES];
        if (strcmp(file->set, "types") == 0) {
            snprintf(path, sizeof path, TYPES_FOLDER "%s", file->path);
            status = write_file(writing, path, file->data, file->bytes, true);
        }
    }
    return status == STATUS_OK ? write_modules(writing) : status;
}

// Packages contain no hidden files, so an unpacked place lacks the settings that lead an editor to
// the types. The creator's own settings are not changed.
static Status write_settings(Writing *writing)
{
    char path[PATH_BYTES];
    struct stat about;
    const int length = snprintf(path, sizeof path, "%s/" SETTINGS_FILE, writing->folder);
    if (length < 0 || (size_t)length >= sizeof path || lstat(path, &about) == 0) {
        return STATUS_OK;
    }
    for (const TemplateFile *file = template_files; file->set != NULL; file++) {
        if (strcmp(file->set, "every") == 0 && strcmp(file->path, SETTINGS_FILE) == 0) {
            return write_file(writing, SETTINGS_FILE, file->data, file->bytes, false);
        }
    }
    return STATUS_OK;
}

Status template_write_types(const char *folder, uint32_t *file_count,
                            char reason[WORKER_REASON_BYTES])
{
    Writing writing = {.folder = folder, .reason = reason};
    struct stat about;
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return refuse(&writing, STATUS_NOT_FOUND, "there is no folder %s", folder);
    }
    Status status = write_types(&writing);
    status = status == STATUS_OK ? write_settings(&writing) : status;
    if (status == STATUS_OK) {
        *file_count = writing.count;
    }
    return status;
}

// --- a place ------------------------------------------------------------------------------------

// Players see the folder's name as the place's name, if it is valid.
static void name_place(Writing *writing)
{
    char real[PATH_BYTES];
    const char *path = realpath(writing->folder, real) != NULL ? real : writing->folder;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    bool plain = !utf8_has_hidden(name, strlen(name)) && name[0] != '\0';
    for (const char *at = name; *at != '\0'; at++) {
        plain = plain && (uint8_t)*at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7f;
    }
    plain = plain && strlen(name) <= NAME_BYTES_MAX;
    snprintf(writing->name, sizeof writing->name, "%.*s", NAME_BYTES_MAX,
             plain ? name : "My place");
}

static void put_replaced(Buffer *out, const TemplateFile *file, const char *old, const char *new)
{
    const uint8_t *at = file->data, *end = file->data + file->bytes;
    for (const uint8_t *found;
         (found = memmem(at, (size_t)(end - at), old, strlen(old))) != NULL;) {
        buffer_put(out, at, (size_t)(found - at));
        buffer_put(out, new, strlen(new));
        at = found + strlen(old);
    }
    buffer_put(out, at, (size_t)(end - at));
}

// "name": "…" of place.json.
static void put_named(Buffer *out, const TemplateFile *file, const char *name)
{
    static const char key[] = "\"name\": \"";
    const uint8_t *end = file->data + file->bytes;
    const uint8_t *begin = memmem(file->data, file->bytes, key, sizeof key - 1);
    const uint8_t *text = begin != NULL ? begin + sizeof key - 1 : end;
    const uint8_t *quote = memchr(text, '"', (size_t)(end - text));
    buffer_put(out, file->data, (size_t)(text - file->data));
    if (quote != NULL) {
        buffer_put(out, name, strlen(name));
        buffer_put(out, quote, (size_t)(end - quote));
    }
}

static Status write_template(Writing *writing, const TemplateFile *file)
{
    Buffer text = buffer_of(FILE_BYTES_MAX);
    if (is_place(file)) {
        put_named(&text, file, writing->name);
    } else if (strcmp(file->path, "README.md") == 0) {
        put_replaced(&text, file, "@NAME@", writing->name);
    } else if (strcmp(file->path, "scene.json") == 0 && writing->typescript) {
        put_replaced(&text, file, ".lua\"", ".ts\""); // refer to the TypeScript scripts
    } else {
        buffer_put(&text, file->data, file->bytes);
    }
    const Status status = text.status == STATUS_OK
                              ? write_file(writing, file->path, text.data, text.bytes, false)
                              : refuse(writing, text.status, "%s does not fit", file->path);
    buffer_free(&text);
    return status;
}

static bool is_wanted(const TemplateFile *file, const char *name, bool typescript)
{
    char scripts[NAME_BYTES_MAX];
    snprintf(scripts, sizeof scripts, "%s" TYPESCRIPT, name);
    if (strcmp(file->set, name) == 0) {
        return !typescript || !place_path_ends(file->path, ".lua");
    }
    return strcmp(file->set, "every") == 0 ||
           (typescript &&
            (strcmp(file->set, scripts) == 0 || strcmp(file->set, "every" TYPESCRIPT) == 0));
}

// The path of the marker file; false: it is too long.
static bool mark_path(const Writing *writing, char out[PATH_BYTES])
{
    const int length = snprintf(out, PATH_BYTES, "%s/" MARK, writing->folder);
    return length > 0 && length < PATH_BYTES;
}

// Whether it was begun and not completed.
static bool has_mark(const Writing *writing)
{
    char path[PATH_BYTES];
    struct stat about;
    return mark_path(writing, path) && lstat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static Status remove_mark(Writing *writing)
{
    char path[PATH_BYTES];
    if (!mark_path(writing, path) || unlink(path) != 0) {
        return refuse(writing, STATUS_BLOCKED, "%s/" MARK " cannot be removed: %s", writing->folder,
                      strerror(errno));
    }
    return STATUS_OK;
}

// Files of a new repository, which may be beside a place.
static bool is_beside_a_place(const char *name)
{
    static const char *const begins[] = {".git", "README", "LICENSE", "LICENCE"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (strncasecmp(name, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    return false;
}

// On some machines names that differ in case are the same file.
static bool is_written(const Writing *writing, const char *name)
{
    for (const TemplateFile *file = template_files; file->set != NULL; file++) {
        if (is_wanted(file, writing->set, writing->typescript) &&
            strcasecmp(file->path, name) == 0) {
            return true;
        }
    }
    return false;
}

static Status check_entry(Writing *writing, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return STATUS_OK;
    }
    if (!is_beside_a_place(name)) {
        return refuse(writing, STATUS_EXISTS,
                      "%s is not empty (%s is in it); a new place needs an empty folder",
                      writing->folder, name);
    }
    return is_written(writing, name)
               ? refuse(writing, STATUS_EXISTS,
                        "%s is not empty (%s is in it); a new place brings its own: move that one "
                        "away first",
                        writing->folder, name)
               : STATUS_OK;
}

static Status open_folder(Writing *writing)
{
    if (mkdir(writing->folder, 0777) == 0) {
        note(writing, "", 0, true);
        return STATUS_OK;
    }
    if (errno != EEXIST) {
        return refuse(writing, STATUS_BLOCKED, "%s cannot be made: %s", writing->folder,
                      strerror(errno));
    }
    writing->is_completing = has_mark(writing);
    if (writing->is_completing) {
        return STATUS_OK;
    }
    DIR *list = opendir(writing->folder);
    if (list == NULL) {
        return refuse(writing, STATUS_BLOCKED, "%s: %s", writing->folder, strerror(errno));
    }
    Status status = STATUS_OK;
    const struct dirent *entry;
    while (status == STATUS_OK && (entry = readdir(list)) != NULL) {
        status = check_entry(writing, entry->d_name);
    }
    closedir(list);
    return status;
}

Status template_write(const char *folder, const char *name, bool typescript,
                      const atomic_bool *cancel, uint32_t *file_count,
                      char reason[WORKER_REASON_BYTES])
{
    Writing writing = {.folder = folder,
                       .set = name,
                       .typescript = typescript,
                       .cancel = cancel,
                       .is_noting = true,
                       .reason = reason};
    if (!template_exists(name)) {
        return refuse(&writing, STATUS_NOT_FOUND, "there is no template \"%s\"", name);
    }
    Status status = open_folder(&writing);
    name_place(&writing);
    if (status == STATUS_OK) {
        status = write_file(&writing, MARK, "", 0, true);
        writing.count = 0;
    }
    for (const TemplateFile *file = template_files; file->set != NULL && status == STATUS_OK;
         file++) {
        if (is_wanted(file, name, typescript)) {
            status = write_template(&writing, file);
        }
    }
    if (status == STATUS_OK) {
        status = write_types(&writing);
    }
    status = status == STATUS_OK ? remove_mark(&writing) : status;
    if (status == STATUS_OK) {
        *file_count = writing.count;
    } else {
        take_back(&writing);
    }
    forget_made(&writing);
    return status;
}
