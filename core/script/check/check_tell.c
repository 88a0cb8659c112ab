// See check_tell.h.
#include "core/script/check/check_tell.h"

#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void check_tell_clean(char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t length = utf8_length((const uint8_t *)text + at, bytes - at);
        const bool is_control = length > 0 && utf8_has_control(text + at, length) &&
                                text[at] != '\n' && text[at] != '\t';
        if (length == 0 || is_control) {
            memset(text + at, is_control ? ' ' : '?', length > 0 ? length : 1);
        }
        at += length > 0 ? length : 1;
    }
}

void check_tell_copy(const CheckSink *sink, const CheckDiagnostic *diagnostic)
{
    char message[CHECK_MESSAGE_BYTES];
    (void)snprintf(message, sizeof message, "%s", diagnostic->message);
    check_tell_clean(message, strlen(message));
    CheckDiagnostic copy = *diagnostic;
    copy.message = message;
    sink->tell(sink->user, &copy);
}

void check_tell(const CheckSink *sink, CheckLevel level, const char *file, uint32_t line,
                const char *code, const char *format, ...)
{
    char message[CHECK_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const CheckDiagnostic diagnostic = {
        .level = level, .file = file, .line = line, .code = code, .message = message};
    check_tell_copy(sink, &diagnostic);
}
