// An edit session: the one who orders the changes to a place. A transaction that came in is
// applied, stored, and then told to everybody, its author included, so nothing that anybody saw can
// un-happen. What cannot be applied or stored is refused with a reason, and nothing has changed.
//
// A state machine without I/O: storing and sending are functions of the owner. When its process
// dies, a new one starts from the last document and the stored rows, and knows all that was told.
//
// An owner whose store answers later says so (`defers`): transactions are then applied and their
// rows given to it, and nobody is told until it says what became of them. Several may wait at once,
// and are committed together.
//
// Not here: who may edit, how much anybody may send, presence, and files on disk. These belong to
// the process around it.
#pragma once

#include "core/base/rng.h"
#include "core/edit/doc.h"
#include "core/edit/session_message.h"
#include "core/edit/undo.h"

typedef struct EditSession EditSession;

// Of a transaction of the owner that has only what a build wrote: the Studio does not list it.
#define EDIT_LABEL_BUILT "Built"

typedef struct EditSessionConfig {
    void *user;
    // Commits a row, or takes it to be committed. When it fails, the transaction is refused.
    Status (*store)(void *user, uint64_t seq, const uint8_t *row, size_t bytes);
    // The owner calls edit_session_commit or edit_session_roll_back for what it took.
    bool defers;
    // A message (session_message.h) for one editor.
    void (*send)(void *user, uint32_t editor, const uint8_t *bytes, size_t count);
    uint64_t seed; // for ids of what must be renumbered
    uint64_t seq;  // of the document: 0 of a new one
} EditSessionConfig;

typedef struct EditSessionCounts {
    uint64_t told, refused, malformed, repeated, renumbered, undone, undo_skipped;
} EditSessionCounts;

// The document stays the caller's, who changes it no more.
MUST_USE Status edit_session_create(Heap *heap, EditDoc *doc, const EditSessionConfig *config,
                                    EditSession **out);
void edit_session_destroy(EditSession *session); // NULL is allowed
// A row that was stored by a session before this one, in their order.
MUST_USE Status edit_session_replay(EditSession *session, const uint8_t *row, size_t bytes);

// Editors are numbered from 1 to EDIT_EDITORS_MAX by the owner; 0 is the owner itself (files that
// changed on disk). An editor who knows the document up to `seq` gets what came later, and a
// welcome. Nothing may wait to be committed then.
void edit_session_join(EditSession *session, uint32_t editor, uint64_t seq);
void edit_session_leave(EditSession *session, uint32_t editor);
// Any bytes from an editor who has joined.
void edit_session_receive(EditSession *session, uint32_t editor, const uint8_t *bytes,
                          size_t count);
// The same bytes, of an editor who sends too much: they are not looked at but for their number.
void edit_session_refuse(EditSession *session, uint32_t editor, const uint8_t *bytes, size_t count,
                         Status status, const char *message);
// A transaction of the owner.
MUST_USE Status edit_session_edit(EditSession *session, Text label, const uint8_t *ops,
                                  size_t bytes, EditError *error);

// What waits is on disk: everybody is told.
void edit_session_commit(EditSession *session);
// It could not be stored: it is taken back, the newest first, and its authors are told.
void edit_session_roll_back(EditSession *session, Status status);

uint64_t edit_session_seq(const EditSession *session);
// The last one that is on disk; the same, unless something waits.
uint64_t edit_session_committed(const EditSession *session);
// The first transaction that can still be undone or sent again.
uint64_t edit_session_log_from(const EditSession *session);
EditSessionCounts edit_session_counts(const EditSession *session);
