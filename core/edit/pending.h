// The page's side: a document that shows the editor's own changes at once, before the session has
// confirmed them. When the session tells of a change, the unconfirmed ones are taken back, that
// change is applied, and they are applied again on top. So after everything is confirmed, every
// page has the session's document. The last writer of a member wins.
#pragma once

#include "core/edit/doc.h"
#include "core/edit/session_message.h"
#include "core/edit/undo.h"

typedef struct EditPending EditPending;

// The document as it was at `seq`; it stays the caller's, who changes it no more.
MUST_USE Status edit_pending_create(Heap *heap, EditDoc *doc, uint32_t editor, uint64_t seq,
                                    EditPending **out);
void edit_pending_destroy(EditPending *pending); // NULL is allowed
// After a lost connection the session may know this editor by another number.
void edit_pending_set_editor(EditPending *pending, uint32_t editor);

// Applies a transaction at once; what is to be sent is appended to `message`. On failure nothing
// has changed.
MUST_USE Status edit_pending_edit(EditPending *pending, Text label, const uint8_t *ops,
                                  size_t bytes, EditBuffer *message, EditError *error);
// Asks the session to take back a transaction of this editor.
MUST_USE Status edit_pending_undo(EditPending *pending, uint64_t seq, EditBuffer *message);

typedef struct EditNews {
    EditDown down;
    bool is_own;   // a transaction of this editor was confirmed or refused
    bool is_stale; // the page must load the document anew (edit_pending_reset)
} EditNews;
// A message from the session. Texts in the news point into the bytes. STATUS_MALFORMED and the
// like: the bytes cannot be read.
MUST_USE Status edit_pending_receive(EditPending *pending, const uint8_t *bytes, size_t count,
                                     EditNews *news);

// After a lost connection: each unconfirmed transaction is sent again, once `welcome` has come.
uint32_t edit_pending_count(const EditPending *pending);
void edit_pending_message(const EditPending *pending, uint32_t index, EditBuffer *message);
// Another document, loaded at `seq`; unconfirmed changes are applied on top. The old one is the
// caller's to destroy.
void edit_pending_reset(EditPending *pending, EditDoc *doc, uint64_t seq);

uint64_t edit_pending_seq(const EditPending *pending);
