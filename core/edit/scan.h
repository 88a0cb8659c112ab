// Where the values are in a JSON text that was parsed already. Nothing is checked again, but no
// byte outside of the text is read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A member or an item: [from, to) with the space around it, and its value. `to` is the comma, or
// the end of the value if it is the last.
typedef struct EditPiece {
    size_t from;
    size_t begin; // of the name or the item: what lies before is space
    size_t value_from, value_to;
    size_t to;
} EditPiece;

typedef struct EditScan {
    const char *text;
    size_t bytes;
    size_t at;
    bool is_object;
    bool is_done;
    size_t tail_from; // when done: the space before the closing bracket
    size_t close;     // the bracket
} EditScan;

size_t edit_scan_space(const char *text, size_t bytes, size_t at);
// The end of the value that begins at `at`.
size_t edit_scan_value(const char *text, size_t bytes, size_t at);
// `at` is an opening bracket.
EditScan edit_scan(const char *text, size_t bytes, size_t at);
bool edit_scan_next(EditScan *scan, EditPiece *out);
