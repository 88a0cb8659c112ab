// See serve_log.h.
#define _GNU_SOURCE
#include "server/serve/operate/serve_log.h"

#include "server/build/base/diagnostic.h"
#include "server/serve/operate/log_ring.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static LogFormat log_format = LOG_FORMAT_TEXT;
static LogLevel log_level_min = LOG_DEBUG;

void serve_log_open(LogFormat format, LogLevel level_min)
{
    log_format = format;
    log_level_min = level_min;
}

static _Atomic(LogQuiet) log_is_quiet;

void serve_log_set_quiet(LogQuiet is_quiet)
{
    atomic_store(&log_is_quiet, is_quiet);
}

LogFormat serve_log_format(void)
{
    return log_format;
}

// With one call, so that lines of several threads do not mix.
static void print_line(LogLine *line)
{
    char text[LOG_LINE_BYTES];
    if (line->level < log_level_min) {
        return;
    }
    line->unix_ms = clock_unix_ms();
    const size_t bytes = log_line_write(log_format, line, text);
    (void)!write(STDERR_FILENO, text, bytes); // nobody can be told
}

void serve_log_text(LogLevel level, const char *area, const char *text)
{
    if (level >= log_level_min) {
        log_ring_add(clock_unix_ms(), level, area, text); // not requests: reading it is one
    }
    const LogQuiet is_quiet = atomic_load(&log_is_quiet);
    if (is_quiet != NULL && is_quiet(level, area, text)) {
        return;
    }
    const char *id = http_thread_request_id();
    print_line(&(LogLine){.level = level,
                          .area = area,
                          .message = text,
                          .fields = {{id[0] != '\0' ? "request_id" : NULL, id, false}}});
}

void serve_log(LogLevel level, const char *area, const char *format, ...)
{
    char text[LOG_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    serve_log_text(level, area, text);
}

// Strangers decide how many requests there are, so these lines never wait: a log that nobody reads
// any more must not stop the server.
static atomic_uint left_out;

static bool may_print(void)
{
    struct pollfd log = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&log, 1, 0) == 1 && (log.revents & POLLOUT) != 0;
}

void serve_log_request(void *user, const HttpAnswered *answered)
{
    (void)user;
    // Hosts ask each other some times a second, as long as they run.
    const bool is_peer = answered->status < 400 && strcmp(answered->path, "/api/peers") == 0;
    const LogLevel level = answered->status >= 500 ? LOG_WARN : is_peer ? LOG_DEBUG : LOG_INFO;
    if (log_format == LOG_FORMAT_TEXT || level < log_level_min) {
        return;
    }
    char status[16], ms[32];
    const bool has_error = answered->status >= 400 && answered->error[0] != '\0';
    snprintf(status, sizeof status, "%u", answered->status);
    snprintf(ms, sizeof ms, "%" PRIu64 ".%" PRIu64, answered->us / 1000, answered->us % 1000 / 100);
    LogLine line = {.level = level,
                    .area = "http",
                    .message = "request",
                    .fields = {{"request_id", answered->request_id, false},
                               {"method", answered->method, false},
                               {"path", answered->path, false},
                               {"status", status, true},
                               {"ms", ms, true},
                               {has_error ? "error" : NULL, answered->error, false}}};
    if (!may_print()) {
        atomic_fetch_add(&left_out, 1);
        return;
    }
    const unsigned missing = atomic_exchange(&left_out, 0);
    if (missing > 0) {
        serve_log(LOG_WARN, "http", "%u requests are not in the log: nobody read it", missing);
    }
    print_line(&line);
}

void serve_log_failure(const char *command, const char *format, ...)
{
    char text[LOG_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (log_format == LOG_FORMAT_TEXT) {
        diagnostic_print(stderr, "%s: %s", command, text);
    } else {
        serve_log_text(LOG_ERROR, "start", text);
    }
}
