// place.json and scene.json of a document: read with where each entity is in the text, and written
// by changing only the lines of what was changed. Everything else stays as it is to the byte: the
// order of members, the line breaks, blank lines, members that say what is the default anyway.
//
// The files are the truth. When they change on disk, the difference becomes operations. A text that
// cannot be read is reported, and until a readable one comes nothing is written: it is never
// overwritten.
#pragma once

#include "core/base/rng.h"
#include "core/edit/doc.h"

typedef struct EditText EditText;

typedef struct EditTexts {
    Text settings; // place.json
    Text scene;    // scene.json
} EditTexts;

// Reads both into a new document without files. On failure the error says which text, and where.
MUST_USE Status edit_text_open(Heap *heap, EditBlobs blobs, EditTexts texts, EditText **out,
                               EditDoc **doc, PlaceError *error);
void edit_text_close(EditText *text); // NULL is allowed
// What was written may not reach the disk: the copy is what the texts were before.
MUST_USE Status edit_text_copy(const EditText *text, EditText **out);
// A write failed on the way: what the disk has of `sent` is what was written last. `text` is what
// the disk had before.
MUST_USE Status edit_text_take_sent(EditText *text, const EditText *sent, EditTexts disk);
EditTexts edit_text_now(const EditText *text); // as last read or written

// Brings the texts up to date with the document. STATUS_BLOCKED: see above. A scene.json that would
// be too long with the spaces and the defaults that people wrote, or have too many values, is
// written anew without them. STATUS_LIMIT: so it is then, too (edit_doc_size).
MUST_USE Status edit_text_write(EditText *text, EditDoc *doc);

// The document is another object from now on, made from the same start and the same transactions:
// everything is compared again when it is written.
void edit_text_rebind(EditText *text);
// The same for a document that was stored and has these texts: terrain has its ids there.
void edit_text_adopt(EditText *text, const EditDoc *doc);

// The texts have changed on disk. Writes what changed since the last ones as a transaction, which
// the owner applies. New terrain gets ids from the caller's random numbers. On failure the error
// says where, and writing stops.
MUST_USE Status edit_text_take(EditText *text, EditDoc *doc, EditTexts texts, Rng *rng,
                               EditBuffer *ops, PlaceError *error);
bool edit_text_is_blocked(const EditText *text);
