// See build_show.h. Items and messages are a stranger's words: they are printed cleaned.
#define _GNU_SOURCE
#include "server/build/build_show.h"

#include "core/base/utf8.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define LINE_BYTES (DIAGNOSTIC_MESSAGE_BYTES + DIAGNOSTIC_FILE_BYTES + PATH_BYTES + 128)
#define SECOND_NS  1000000000ull
#define COLUMNS    80
#define WIDE_FROM  0x1100 // from here on a character may take two columns

BuildShow build_show_begin(void)
{
    return (BuildShow){.is_terminal = isatty(STDERR_FILENO) != 0, .told_ns = clock_ns()};
}

// A line that is wider than the terminal could not be wiped. Of clean text.
static void cut_to_terminal(char *text)
{
    struct winsize size = {0};
    const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    uint32_t left = (is_known ? size.ws_col : COLUMNS) - 1u; // the last one may begin a new line
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
    cut_to_terminal(text);
    if (show->is_terminal) {
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

// Before the file's name: how it is reached from here.
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
