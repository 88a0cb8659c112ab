// See build_show.h. Items and messages may come from strangers, so control characters are removed.
#define _GNU_SOURCE
#include "server/build/pipeline/build_show.h"

#include "core/base/utf8.h"
#include "server/sys/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define LINE_BYTES (DIAGNOSTIC_MESSAGE_BYTES + DIAGNOSTIC_FILE_BYTES + PATH_BYTES + 128)
#define SECOND_NS  1000000000ull
#define COLUMNS    80
#define WIDE_FROM  0x1100 // characters from here on may take two columns

BuildShow build_show_begin(void)
{
    return (BuildShow){.is_terminal = isatty(STDERR_FILENO) != 0, .told_ns = clock_ns()};
}

// A line that is wider than the terminal could not be erased. For text without control characters.
static void cut_to_terminal(char *text)
{
    struct winsize size = {0};
    const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    uint32_t left = (is_known ? size.ws_col : COLUMNS) - 1u; // the last column may begin a new line
    for (uint8_t *at = (uint8_t *)text; *at != '\0';) {
        const size_t bytes = utf8_length(at, strnlen((const char *)at, 4));
        const uint32_t columns = utf8_code_point(at, bytes) >= WIDE_FROM ? 2 : 1;
        if (columns > left) {
            *at = '\0';
            return;
        }
        left -= columns;
        at += bytes;
    }
}

void build_show_progress(void *user, const BuildProgress *progress)
{
    BuildShow *show = user;
    if (progress->stage == BUILD_DONE) {
        return;
    }
    char count[32] = "", text[512]; // an item is a path, or a folder's name
    if (progress->total > 0) {
        snprintf(count, sizeof count, " %u/%u", progress->done, progress->total);
    }
    snprintf(text, sizeof text, "build: %s%s %s", build_stage_name(progress->stage), count,
             progress->item);
    utf8_clean(text);
    if (show->is_terminal) {
        cut_to_terminal(text);
        fprintf(stderr, "\r\033[K%s", text);
        show->has_line = true;
    } else if (clock_ns() - show->told_ns >= SECOND_NS) {
        fprintf(stderr, "%s\n", text);
        show->told_ns = clock_ns();
    }
}

void build_show_end(BuildShow *show)
{
    if (show->has_line) {
        fprintf(stderr, "\r\033[K");
        show->has_line = false;
    }
}

__attribute__((format(printf, 2, 3))) static void add(char out[BUILD_SHOW_BYTES],
                                                      const char *format, ...)
{
    const size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + used, BUILD_SHOW_BYTES - used, format, arguments);
    va_end(arguments);
}

// "6 scripts compiled", "6 scripts, 1 compiled", "6 scripts".
static void add_things(char out[BUILD_SHOW_BYTES], const char *thing, uint32_t count, uint32_t done,
                       const char *how)
{
    add(out, "%u %s%s", count, thing, count == 1 ? "" : "s");
    if (done >= count) {
        add(out, " %s", how);
    } else if (done > 0) {
        add(out, ", %u %s", done, how);
    }
}

void build_show_counts(const BuildResult *result, char out[BUILD_SHOW_BYTES])
{
    const uint32_t warnings = result->diagnostics.warning_count;
    out[0] = '\0';
    if (result->rune_count == 0) {
        add(out, "no scripts");
    } else {
        add_things(out, "script", result->rune_count, result->compiled_count, "compiled");
    }
    if (result->asset_count > 0) {
        add(out, ", ");
        add_things(out, "asset", result->asset_count, result->asset_checked_count, "checked");
    }
    if (result->rune_count > 0 && result->compiled_count + result->asset_checked_count == 0) {
        add(out, ", nothing compiled");
    }
    if (warnings > 0) {
        add(out, "; %u warning%s", warnings, warnings == 1 ? "" : "s");
    }
    add(out, " (%llu ms)", (unsigned long long)result->took_ms);
}

// The prefix of file names: the path from the current folder.
static void folder_prefix(const char *place, char out[PATH_BYTES])
{
    while (strncmp(place, "./", 2) == 0) {
        place += 2;
    }
    const size_t bytes = strlen(place);
    const bool is_here = bytes == 0 || strcmp(place, ".") == 0;
    snprintf(out, PATH_BYTES, "%s%s", is_here ? "" : place,
             is_here || place[bytes - 1] == '/' ? "" : "/");
}

void build_show_diagnostics(const DiagnosticList *list, const char *place)
{
    char folder[PATH_BYTES], line[LINE_BYTES];
    folder_prefix(place, folder);
    for (uint32_t i = 0; i < list->count; i++) {
        diagnostic_text(&list->items[i], folder, line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
    if (list->dropped_count > 0) {
        fprintf(stderr, "… and %u more\n", list->dropped_count);
    }
}
