// The log of a server: one line for each event on standard error, from any thread. How lines look
// and which are left out is the same for the whole process, and set before any thread is made.
#pragma once

#include "server/net/http.h"
#include "server/serve/operate/log_line.h"

#include <stdbool.h>

void serve_log_open(LogFormat format, LogLevel level_min);
LogFormat serve_log_format(void);
void serve_log(LogLevel level, const char *area, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Lines for which this gives true are kept for GET /admin/logs and not printed. Called on any
// thread.
typedef bool (*LogQuiet)(LogLevel level, const char *area, const char *text);
void serve_log_set_quiet(LogQuiet is_quiet); // NULL: all are printed
// A text that is whole already.
void serve_log_text(LogLevel level, const char *area, const char *text);
// One line for a request that is over, unless lines are text: then only other events are shown.
// Never a query, a header or a body: they hold tokens and passwords.
void serve_log_request(void *user, const HttpAnswered *answered);
// Why the program ends: for people as "sandlot world: …", else as an event.
void serve_log_failure(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
