// Files of settings: reading their lines, and writing the two that the program writes itself.
#define _GNU_SOURCE
#include "core/base/nearest.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "server/control/settings/settings_inside.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPACES     " \t\r"
#define KEY_ITSELF "key:" // before the hex digits of a key that is not hashed

// --- lines --------------------------------------------------------------------------------------

typedef struct SettingsFile {
    Settings *settings;
    const char *path;
    SettingFrom from;
    uint32_t line;
    uint32_t line_of[SETTING_COUNT]; // where each was set; 0: not yet
} SettingsFile;

static char *trim(char *text)
{
    text += strspn(text, SPACES);
    size_t bytes = strlen(text);
    while (bytes > 0 && strchr(SPACES, text[bytes - 1]) != NULL) {
        bytes -= 1;
    }
    text[bytes] = '\0';
    return text;
}

static void cut_comment(char *line)
{
    for (char *at = line; *at != '\0'; at++) {
        if (*at == '#' && (at == line || strchr(SPACES, at[-1]) != NULL)) {
            *at = '\0';
            return;
        }
    }
}

static void say_unknown_key(SettingsFile *file, const char *key)
{
    char given[NEAREST_BYTES_MAX], name[NEAREST_BYTES_MAX];
    const char *found = NULL;
    snprintf(given, sizeof given, "--%s", key); // as a flag: short names may be as wrong as those
    Nearest nearest = nearest_begin(given, strlen(given));
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((SettingId)i);
        snprintf(name, sizeof name, "--%s", row->name);
        found = nearest_consider(&nearest, name, strlen(name)) ? row->name : found;
    }
    settings_fault(file->settings, "%s:%u: there is no setting \"%.100s\"%s%s%s", file->path,
                   file->line, key, found != NULL ? "; did you mean \"" : "",
                   found != NULL ? found : "", found != NULL ? "\"?" : "");
}

static void read_line(SettingsFile *file, char *line)
{
    cut_comment(line);
    line = trim(line);
    if (line[0] == '\0') {
        return;
    }
    char *equals = strchr(line, '=');
    if (equals == NULL) { // the line is not repeated: it may hold a secret
        settings_fault(file->settings, "%s:%u: a line is `name = value`", file->path, file->line);
        return;
    }
    *equals = '\0';
    const char *key = trim(line), *value = trim(equals + 1);
    const SettingRow *row = setting_find(key);
    char origin[SETTING_ORIGIN_BYTES];
    snprintf(origin, sizeof origin, "%.400s:%u", file->path, file->line);
    if (row == NULL) {
        say_unknown_key(file, key);
    } else if (file->line_of[row->id] != 0) {
        settings_fault(file->settings, "%s: %s is already set in line %u", origin, key,
                       file->line_of[row->id]);
    } else if (file->from == FROM_OPERATOR && !row->is_live) {
        settings_fault(file->settings,
                       "%s: %s cannot be changed while the server runs; set it in " SETTINGS_FILE,
                       origin, key);
    } else {
        file->line_of[row->id] = file->line;
        settings_give(file->settings, row, file->from, origin, value);
    }
}

static void read_lines(SettingsFile *file, char *text, size_t bytes)
{
    if (strlen(text) != bytes || !utf8_is_valid(text, bytes)) {
        settings_fault(file->settings, "%s: it is not text in UTF-8", file->path);
        return;
    }
    for (char *at = text; at != NULL;) {
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        file->line += 1;
        read_line(file, at);
        at = end;
    }
}

// Reads all of it; a link is followed, because this is the operator's own file.
static Status read_whole_file(const char *path, char **out, size_t *bytes, struct stat *about)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) {
        return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_BLOCKED;
    }
    uint8_t *text = NULL;
    const bool is_file = fstat(file, about) == 0 && S_ISREG(about->st_mode);
    const Status status =
        is_file ? file_read_open(file, SETTINGS_FILE_BYTES_MAX, &text, bytes) : STATUS_UNSUPPORTED;
    close(file);
    *out = (char *)text;
    return status;
}

static void say_unreadable(Settings *settings, const char *path, Status status)
{
    const char *why = status == STATUS_NOT_FOUND     ? "there is no such file"
                      : status == STATUS_LIMIT       ? "it is too large for a file of settings"
                      : status == STATUS_UNSUPPORTED ? "it is not a file"
                                                     : "it cannot be read";
    settings_fault(settings, "%s: %s", path, why);
}

void settings_read_file(Settings *settings, const char *path, SettingFrom from, bool must_exist)
{
    char *text = NULL;
    size_t bytes = 0;
    struct stat about;
    const Status status = read_whole_file(path, &text, &bytes, &about);
    if (status != STATUS_OK) {
        if (status != STATUS_NOT_FOUND || must_exist) {
            say_unreadable(settings, path, status);
        }
        return;
    }
    SettingsFile file = {.settings = settings, .path = path, .from = from};
    read_lines(&file, text, bytes);
    if (file.line_of[SETTING_SECRET_KEY] != 0 && (about.st_mode & (S_IRGRP | S_IROTH)) != 0) {
        settings_note(settings,
                      "%s holds the secret key, and other users can read it; run "
                      "`chmod 600` on it",
                      path);
    }
    free(text);
}

// --- writing ------------------------------------------------------------------------------------

static Status file_refused(Status status, char reason[SETTINGS_REASON_BYTES], const char *what,
                           const char *why)
{
    snprintf(reason, SETTINGS_REASON_BYTES, "%.250s: %.250s", what, why);
    return status;
}

static Status write_text(const char *path, const char *text, char reason[SETTINGS_REASON_BYTES])
{
    const Status status = file_write_private(path, text, strlen(text));
    return status == STATUS_OK ? STATUS_OK
                               : file_refused(status, reason, path, "it cannot be written");
}

// The lines of a file that set nothing named `name`; the caller frees them, with room for `more`.
static Status other_lines(const char *path, const char *name, size_t more, char **out,
                          char reason[SETTINGS_REASON_BYTES])
{
    char *text = NULL, *kept;
    size_t bytes = 0, at_kept = 0;
    struct stat about;
    const Status status = read_whole_file(path, &text, &bytes, &about);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return file_refused(status, reason, path, "it cannot be read");
    }
    kept = calloc(1, bytes + more + 2);
    if (kept == NULL) {
        free(text);
        return file_refused(STATUS_LIMIT, reason, path, "out of memory");
    }
    for (char *at = text; at != NULL && *at != '\0';) {
        char *end = strchrnul(at, '\n');
        const size_t line = (size_t)(end - at);
        const size_t space = strspn(at, SPACES), key = strcspn(at + space, SPACES "=\n");
        if (key != strlen(name) || strncmp(at + space, name, key) != 0) {
            memcpy(kept + at_kept, at, line);
            at_kept += line;
            kept[at_kept++] = '\n';
        }
        at = *end != '\0' ? end + 1 : NULL;
    }
    free(text);
    *out = kept;
    return STATUS_OK;
}

Status settings_operator_set(const char *data, const char *name, const char *value,
                             char reason[SETTINGS_REASON_BYTES])
{
    char path[SETTING_TEXT_BYTES], kept[SETTING_TEXT_BYTES], why[SETTINGS_REASON_BYTES];
    const SettingRow *row = setting_find(name);
    if (row == NULL || !row->is_live) {
        return file_refused(row == NULL ? STATUS_NOT_FOUND : STATUS_DENIED, reason, name,
                            row == NULL ? "there is no such setting"
                                        : "it cannot be changed while the server runs");
    }
    if (value[0] != '\0' && !setting_check(row, value, kept, why)) {
        return file_refused(STATUS_MALFORMED, reason, name, why);
    }
    const int length = snprintf(path, sizeof path, "%s/" SETTINGS_OPERATOR_FILE, data);
    if (length < 0 || (size_t)length >= sizeof path) {
        return file_refused(STATUS_RANGE, reason, name, "the path is too long");
    }
    char *text = NULL;
    const size_t more = strlen(name) + strlen(value) + 8;
    Status status = other_lines(path, name, more, &text, reason);
    if (status == STATUS_OK) {
        if (value[0] != '\0') {
            snprintf(text + strlen(text), more, "%s = %s\n", name, kept);
        }
        status = write_text(path, text, reason);
        free(text);
    }
    return status;
}

void settings_operator_get(const char *data, const char *name, char *out, size_t bytes)
{
    char path[SETTING_TEXT_BYTES];
    const SettingRow *row = setting_find(name);
    Settings *settings = calloc(1, sizeof *settings);
    const int length = snprintf(path, sizeof path, "%s/" SETTINGS_OPERATOR_FILE, data);
    out[0] = '\0';
    if (settings != NULL && row != NULL && length > 0 && (size_t)length < sizeof path) {
        settings_read_file(settings, path, FROM_OPERATOR, false);
        snprintf(out, bytes, "%s", settings->values[row->id].text);
    }
    free(settings);
}

bool settings_secret_key(const Settings *settings, uint8_t out[SHA256_BYTES])
{
    const char *text = settings_text(settings, SETTING_SECRET_KEY);
    const size_t prefix = strlen(KEY_ITSELF), digits = (size_t)2 * SHA256_BYTES;
    if (strncmp(text, KEY_ITSELF, prefix) != 0 || strlen(text) != prefix + digits ||
        sodium_hex2bin(out, SHA256_BYTES, text + prefix, digits, NULL, NULL, NULL) != 0) {
        sha256_of(text, strlen(text), out);
    }
    return text[0] != '\0';
}

Status settings_new_secret_key(const Settings *settings, const uint8_t *kept,
                               char reason[SETTINGS_REASON_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    const char *name = setting_row(SETTING_SECRET_KEY)->name;
    const SettingValue *value = &settings->values[SETTING_SECRET_KEY];
    if (value->from != FROM_NOTHING) {
        return file_refused(
            STATUS_EXISTS, reason, value->origin,
            "there is a secret key already; with another one everybody would have to sign in "
            "again, and printed codes would not hold. Remove it there first if that is what you "
            "want");
    }
    uint8_t random[SHA256_BYTES];
    entropy_fill(random, sizeof random);
    sha256_hex(kept != NULL ? kept : random, hex);
    char folder[SETTING_TEXT_BYTES];
    snprintf(folder, sizeof folder, "%s", settings->path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL && slash > folder) {
        *slash = '\0';
        if (file_make_folders(folder) != STATUS_OK) {
            return file_refused(STATUS_BLOCKED, reason, folder, "the folder cannot be made");
        }
    }
    char *text = NULL;
    const size_t more = strlen(name) + sizeof hex + 16;
    Status status = other_lines(settings->path, name, more, &text, reason);
    if (status == STATUS_OK) {
        snprintf(text + strlen(text), more, "%s = %s%s\n", name, kept != NULL ? KEY_ITSELF : "",
                 hex);
        status = write_text(settings->path, text, reason);
        free(text);
    }
    return status;
}
