// Helpers that several subcommands share: quoting, options, error messages.
#define _GNU_SOURCE
#include "server/cli/command.h"

#include "core/base/json_write.h"
#include "core/base/nearest.h"
#include "core/base/utf8.h"
#include "server/build/base/diagnostic.h"
#include "server/sys/jail.h"
#include "server/sys/program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REASON_BYTES 1024

static bool is_plain(const char *word)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+,:@%";
    return word[0] != '\0' && word[strspn(word, letters)] == '\0';
}

// Can it be printed on a terminal unchanged?
static bool is_clean(const char *word)
{
    for (const uint8_t *at = (const uint8_t *)word; *at != '\0';) {
        const size_t bytes = utf8_length(at, strnlen((const char *)at, 4));
        if (bytes == 0 || utf8_is_hidden(utf8_code_point(at, bytes))) {
            return false;
        }
        at += bytes;
    }
    return true;
}

void command_quote(const char *word, char *out, size_t bytes)
{
    if (word[0] == '-') {
        memcpy(out, "./", 2);
        out += 2;
        bytes -= 2;
    }
    if (is_plain(word)) {
        snprintf(out, bytes, "%s", word);
        return;
    }
    const bool is_escaped = !is_clean(word);
    size_t at = 0;
    if (is_escaped) {
        out[at++] = '$';
    }
    out[at++] = '\'';
    for (; *word != '\0' && at + 6 < bytes;
         word++) { // up to four bytes are added, and two must follow
        const uint8_t byte = (uint8_t)*word;
        if (is_escaped && (byte < ' ' || byte > '~' || byte == '\'' || byte == '\\')) {
            at += (size_t)snprintf(out + at, 5, "\\%03o", byte);
        } else if (byte == '\'') {
            memcpy(out + at, "'\\''", 4);
            at += 4;
        } else {
            out[at++] = *word;
        }
    }
    out[at++] = '\'';
    out[at] = '\0';
}

int command_end_options(int argc, char **argv)
{
    int end = 1;
    while (end < argc && strcmp(argv[end], "--") != 0) {
        end += 1;
    }
    for (int i = end; i + 1 < argc; i++) {
        char *path = argv[i + 1];
        if (path[0] == '-' && asprintf(&path, "./%s", argv[i + 1]) < 0) {
            path = argv[i + 1]; // no memory: it is then rejected as an option
        }
        argv[i] = path;
    }
    if (end < argc) {
        argv[--argc] = NULL;
    }
    return argc;
}

const char *command_reason(const char *reason, const char *name)
{
    const size_t bytes = strlen(name);
    return strncmp(reason, name, bytes) == 0 && strncmp(reason + bytes, ": ", 2) == 0
               ? reason + bytes + 2
               : reason;
}

bool command_wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            return true;
        }
    }
    return false;
}

const char *command_value(int argc, char **argv, int i)
{
    return i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0 ? argv[i + 1] : NULL;
}

void command_print_failure(const char *reason)
{
    char clean[REASON_BYTES], text[6 * REASON_BYTES + 64]; // six: an escaped character
    snprintf(clean, sizeof clean, "%s", reason);
    utf8_clean(clean); // it may contain a file name, which can be any bytes
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter json = json_writer(&out, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "ok");
    json_write_bool(&json, false);
    json_write_name(&json, "reason");
    json_write_text(&json, clean);
    json_write_object_end(&json);
    if (json_writer_finish(&json) == STATUS_OK) {
        printf("%.*s\n", (int)out.at, text);
        fflush(stdout);
    }
}

int command_fail(const char *command, bool json, int code, const char *reason)
{
    const bool is_usage = code == EXIT_USAGE;
    diagnostic_print(stderr, "sandlot %s: %s%s%s%s", command, reason,
                     is_usage ? "; see `sandlot " : "", is_usage ? command : "",
                     is_usage ? " --help`" : "");
    if (json) {
        command_print_failure(reason);
    }
    return code;
}

int command_misused(const char *command, bool json, const char *what, const char *which)
{
    char reason[REASON_BYTES];
    snprintf(reason, sizeof reason, "%.300s%s%.300s%s", what, which != NULL ? " \"" : "",
             which != NULL ? which : "", which != NULL ? "\"" : "");
    return command_fail(command, json, EXIT_USAGE, reason);
}

void command_nearest_option(const char *given, CommandUsage usage, char out[COMMAND_OPTION_BYTES])
{
    char *text = NULL;
    size_t bytes = 0;
    out[0] = '\0';
    FILE *file = open_memstream(&text, &bytes);
    if (file == NULL) {
        return;
    }
    fprintf(file, " --help ");
    usage(file);
    if (fclose(file) == 0) {
        Nearest nearest = nearest_begin(given, strcspn(given, "=")); // some write --port=1
        for (const char *at = strstr(text, " --"); at != NULL; at = strstr(at, " --")) {
            at += 1;
            (void)nearest_consider(&nearest, at, strspn(at, "abcdefghijklmnopqrstuvwxyz-"));
        }
        if (nearest.found != NULL && nearest.found_bytes < COMMAND_OPTION_BYTES) {
            memcpy(out, nearest.found, nearest.found_bytes);
            out[nearest.found_bytes] = '\0';
        }
    }
    free(text);
}

int command_unknown_option(const char *command, bool json, const char *given, CommandUsage usage)
{
    char meant[COMMAND_OPTION_BYTES], reason[REASON_BYTES];
    command_nearest_option(given, usage, meant);
    const bool is_meant = meant[0] != '\0' && strcmp(meant, given) != 0;
    snprintf(reason, sizeof reason, "unknown option \"%.300s\"%s%s%s", given,
             is_meant ? "; did you mean " : "", is_meant ? meant : "", is_meant ? "?" : "");
    return command_fail(command, json, EXIT_USAGE, reason);
}

void command_option_error(const char *given, CommandUsage usage, char *out, size_t bytes)
{
    char meant[COMMAND_OPTION_BYTES];
    command_nearest_option(given, usage, meant);
    if (strcmp(meant, given) == 0) {
        snprintf(out, bytes, "the value of %s is missing or invalid", meant);
    } else {
        snprintf(out, bytes, "unknown option %.300s%s%s%s", given,
                 meant[0] != '\0' ? "; did you mean " : "", meant, meant[0] != '\0' ? "?" : "");
    }
}

bool command_parse_u64(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    if (text == NULL || text[0] < '0' || text[0] > '9') { // strtoull would take a sign
        return false;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < low || value > high) {
        return false;
    }
    *out = value;
    return true;
}

bool command_parse_u32(const char *text, uint32_t low, uint32_t high, uint32_t *out)
{
    uint64_t value = 0;
    const bool good = command_parse_u64(text, low, high, &value);
    *out = good ? (uint32_t)value : *out;
    return good;
}

int command_finish(int code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return code;
    }
    fprintf(stderr, "sandlot: cannot write to standard output\n");
    return code == EXIT_OK ? EXIT_FAILED : code;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true // needs the whole address space
#else
#define SANITIZED false
#endif

bool command_lock_in(bool allow_weak, uint64_t memory_bytes, char *reason, size_t reason_bytes)
{
    JailConfig jail = jail_config_default();
    jail.allow_weak = allow_weak;
    jail.memory_bytes_max = SANITIZED ? 0 : memory_bytes;
    uint32_t layers = 0;
    return jail_enter(&jail, &layers, reason, reason_bytes) == STATUS_OK;
}

// --- the page -----------------------------------------------------------------------------------

bool command_find_page(const char *command, const char **web, char found[COMMAND_PAGE_BYTES])
{
    _Static_assert(COMMAND_PAGE_BYTES >= PROGRAM_PATH_BYTES, "the folder fits");
    char index[COMMAND_PAGE_BYTES];
    if (*web == NULL) {
        *web = program_folder("build/web", "share/sandlot/web", "index.html", found) ? found : NULL;
        return true;
    }
    const int length = snprintf(index, sizeof index, "%s/index.html", *web);
    if (length > 0 && (size_t)length < sizeof index && access(index, R_OK) == 0) {
        return true;
    }
    diagnostic_print(stderr,
                     "sandlot %s: --web %s: there is no index.html; run `make build` to "
                     "build the page in build/web",
                     command, *web);
    return false;
}

atomic_bool command_cancelled;

void command_cancel(int signal)
{
    (void)signal;
    atomic_store(&command_cancelled, true);
}

bool command_is_cancelled(void)
{
    return atomic_load(&command_cancelled);
}

const char *command_or_dash(const char *text)
{
    return text[0] != '\0' ? text : "-";
}

void command_on_signals(void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}
