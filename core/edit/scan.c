// See scan.h.
#include "core/edit/scan.h"

size_t edit_scan_space(const char *text, size_t bytes, size_t at)
{
    while (at < bytes &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
        at += 1;
    }
    return at;
}

static size_t scan_string(const char *text, size_t bytes, size_t at)
{
    for (at += 1; at < bytes && text[at] != '"'; at++) {
        at += text[at] == '\\';
    }
    return at < bytes ? at + 1 : bytes;
}

static bool is_end(char c)
{
    return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

size_t edit_scan_value(const char *text, size_t bytes, size_t at)
{
    size_t depth = 0;
    while (at < bytes) {
        const char c = text[at];
        if (c == '"') {
            at = scan_string(text, bytes, at);
        } else if (c == '{' || c == '[') {
            depth += 1;
            at += 1;
        } else if (c == '}' || c == ']') {
            depth -= 1;
            at += 1;
        } else if (depth > 0) {
            at += 1;
            continue;
        } else {
            while (at < bytes && !is_end(text[at])) {
                at += 1;
            }
        }
        if (depth == 0) {
            return at;
        }
    }
    return bytes;
}

EditScan edit_scan(const char *text, size_t bytes, size_t at)
{
    return (EditScan){.text = text,
                      .bytes = bytes,
                      .at = at + 1,
                      .is_object = at < bytes && text[at] == '{',
                      .tail_from = at + 1};
}

bool edit_scan_next(EditScan *scan, EditPiece *out)
{
    const char *text = scan->text;
    size_t at = edit_scan_space(text, scan->bytes, scan->at);
    if (scan->is_done || at >= scan->bytes || text[at] == '}' || text[at] == ']') {
        scan->close = scan->is_done ? scan->close : at;
        scan->is_done = true;
        return false;
    }
    EditPiece piece = {.from = scan->at, .begin = at};
    if (scan->is_object) {
        at = edit_scan_space(text, scan->bytes, scan_string(text, scan->bytes, at));
        at = edit_scan_space(text, scan->bytes, at + 1); // the colon
    }
    piece.value_from = at;
    piece.value_to = edit_scan_value(text, scan->bytes, at);
    at = edit_scan_space(text, scan->bytes, piece.value_to);
    if (at < scan->bytes && text[at] == ',') {
        piece.to = at;
        scan->at = at + 1;
    } else {
        piece.to = piece.value_to;
        scan->tail_from = piece.value_to;
        scan->close = at;
        scan->is_done = true;
    }
    *out = piece;
    return true;
}
