// See html.h.
#include "server/serve/http/html.h"

#include <string.h>

void html_put(ByteWriter *out, const char *text)
{
    byte_write_bytes(out, text, strlen(text));
}

void html_put_escaped(ByteWriter *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            html_put(out, "&lt;");
            break;
        case '>':
            html_put(out, "&gt;");
            break;
        case '&':
            html_put(out, "&amp;");
            break;
        case '"':
            html_put(out, "&quot;");
            break;
        case '\'':
            html_put(out, "&#39;");
            break;
        default:
            byte_write_bytes(out, text, 1);
        }
    }
}
