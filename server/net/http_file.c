// See http_file.h. Every file is opened anew for each request, so that a page that is built again
// is served at once; sizes and tags are those of what was opened, whatever its name means by then.
#define _GNU_SOURCE
#include "server/net/http_file.h"

#include "core/base/check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (64u << 20)
#define NAME_BYTES     300              // a plain path, with "index.html" behind it
#define CODED_BYTES    (NAME_BYTES + 8) // and an ending

typedef struct Opened {
    int descriptor; // -1: there is no such file
    struct stat about;
} Opened;

static const char *ending_of(HttpCoding coding)
{
    return coding == HTTP_BROTLI ? ".br" : coding == HTTP_GZIP ? ".gz" : "";
}

static const char *file_media_type(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".wasm", "application/wasm"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".webmanifest", "application/manifest+json"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(dot, types[i].ending) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

// Names of built files hold their hash; a page itself is asked for anew.
static bool is_hashed(const char *name)
{
    return strncmp(name, "/assets/", 8) == 0;
}

// Opens one part of a name after the other, so that no link leads out of the root on any of them;
// without waiting, should one be a pipe. -1: there is no such file.
static int open_inside(const char *root, const char *name)
{
    int at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && *name != '\0') {
        char part[CODED_BYTES];
        const size_t bytes = strcspn(++name, "/"); // a plain path begins with a slash
        const bool last = name[bytes] == '\0';
        ASSERT(bytes < sizeof part);
        memcpy(part, name, bytes);
        part[bytes] = '\0';
        const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (last ? O_NONBLOCK : O_DIRECTORY);
        const int next = openat(at, part, flags);
        close(at);
        at = next;
        name += bytes;
    }
    return at;
}

static Opened open_file(const char *root, const char *name)
{
    Opened file = {.descriptor = open_inside(root, name)};
    if (file.descriptor >= 0 &&
        (fstat(file.descriptor, &file.about) != 0 || !S_ISREG(file.about.st_mode) ||
         file.about.st_size > FILE_BYTES_MAX)) {
        close(file.descriptor);
        file.descriptor = -1;
    }
    return file;
}

// Is it `name.br` beside a `name`? As a file of its own it would be one that nobody asked for.
static bool is_coded_form(const char *root, const char *name)
{
    const size_t bytes = strlen(name);
    for (HttpCoding coding = 0; coding < HTTP_PLAIN; coding++) {
        const char *ending = ending_of(coding);
        const size_t ending_bytes = strlen(ending);
        if (ending_bytes > 0 && bytes > ending_bytes &&
            strcmp(name + bytes - ending_bytes, ending) == 0) {
            char stem[NAME_BYTES];
            snprintf(stem, sizeof stem, "%.*s", (int)(bytes - ending_bytes), name);
            const Opened plain = open_file(root, stem);
            if (plain.descriptor >= 0) {
                close(plain.descriptor);
                return true;
            }
        }
    }
    return false;
}

// Was it made from that file? What is older was made from what was there before; a name with a hash
// never was another file, and copies of a folder need not keep times.
static bool is_made_from(const char *name, const struct stat *coded, const struct stat *plain)
{
    const struct timespec made = coded->st_mtim, from = plain->st_mtim;
    const bool is_older =
        made.tv_sec != from.tv_sec ? made.tv_sec < from.tv_sec : made.tv_nsec < from.tv_nsec;
    return coded->st_size > 0 && coded->st_size < plain->st_size && (is_hashed(name) || !is_older);
}

static bool open_coded(const char *root, const char *name, HttpCoding coding, Opened *file)
{
    char coded_name[CODED_BYTES];
    snprintf(coded_name, sizeof coded_name, "%s%s", name, ending_of(coding));
    const Opened coded = open_file(root, coded_name);
    if (coded.descriptor < 0) {
        return false;
    }
    const bool is_good = is_made_from(name, &coded.about, &file->about);
    close(is_good ? file->descriptor : coded.descriptor);
    *file = is_good ? coded : *file;
    return is_good;
}

// What the client likes most of what is there; at first everything might be.
static HttpCoding choose(const char *root, const char *name, const HttpAccept *accept, Opened *file)
{
    uint32_t offered = 1u << HTTP_BROTLI | 1u << HTTP_GZIP;
    for (;;) {
        const HttpCoding coding = http_rules_choose(accept, offered);
        if (coding >= HTTP_PLAIN || open_coded(root, name, coding, file)) {
            return coding;
        }
        offered &= ~(1u << coding);
    }
}

// Of the time of change and the inode: installations may give every file the same date, and a page
// whose only change is the hashes in it has the same size.
static void write_tag(const struct stat *about, HttpCoding coding, char out[HTTP_FILE_TAG_BYTES])
{
    const int bytes =
        snprintf(out, HTTP_FILE_TAG_BYTES, "\"%" PRIx64 ".%" PRIx64 "-%" PRIx64 "-%" PRIx64 "%s\"",
                 (uint64_t)about->st_ctim.tv_sec, (uint64_t)about->st_ctim.tv_nsec,
                 (uint64_t)about->st_ino, (uint64_t)about->st_size, ending_of(coding));
    ASSERT(bytes < HTTP_FILE_TAG_BYTES); // 16 + 8 + 16 + 7 digits at most
}

Status http_file_open(const char *root, const char *path, const HttpAccept *accept, HttpFile *out)
{
    if (!http_rules_path_is_plain(path)) {
        return STATUS_NOT_FOUND;
    }
    char name[NAME_BYTES];
    const bool is_folder = path[strlen(path) - 1] == '/';
    snprintf(name, sizeof name, "%s%s", path, is_folder ? "index.html" : "");
    if (is_coded_form(root, name)) {
        return STATUS_NOT_FOUND;
    }
    Opened file = open_file(root, name);
    if (file.descriptor < 0) {
        return STATUS_NOT_FOUND;
    }
    const HttpCoding coding = choose(root, name, accept, &file);
    if (coding == HTTP_CODING_COUNT) {
        close(file.descriptor);
        return STATUS_UNSUPPORTED;
    }
    *out =
        (HttpFile){.descriptor = file.descriptor,
                   .bytes = (uint64_t)file.about.st_size,
                   .coding = coding,
                   .content_type = file_media_type(name),
                   .cache = is_hashed(name) ? "public, max-age=31536000, immutable" : "no-cache"};
    write_tag(&file.about, coding, out->tag);
    return STATUS_OK;
}
