// What differs between two states of a place, for people: "Lamp: colour #ff0000 → #0000ff", "12
// parts moved", "3 parts added (Block ×2, Coin)", "Workspace/Door.lua +3 −1 lines". The Studio
// shows it before publishing and the site between two revisions.
//
// What was done alike to many things is one line, and there are at most EDIT_WORDS_LINES_MAX lines;
// the last one says how much was left out.
#pragma once

#include "core/edit/doc.h"

#define EDIT_WORDS_LINES_MAX 40

// A file that differs. The contents are needed only to count lines.
typedef struct EditFileChange {
    Text path;
    bool was_there, is_there;
    bool has_texts; // both of them
    Text before, after;
} EditFileChange;

// Appends the lines, each ended by '\n'; nothing: they are alike. Both documents have one heap.
MUST_USE Status edit_words(const EditDoc *before, const EditDoc *after, const EditFileChange *files,
                           uint32_t file_count, EditBuffer *out);

// The same as a page asks for it: {"before":{"place":"…","scene":"…"},"after":{…},"files":[{"path",
// "before":…,"after":…}]} with the texts of the files; of a file null says that it is not there,
// and true that it is, without its text. The answer is a JSON list of lines.
MUST_USE Status edit_words_json(Heap *heap, const char *json, size_t bytes, EditBuffer *out,
                                PlaceError *error);
