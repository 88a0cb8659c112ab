// Drafts that are open for editing: each has an edit process (server/shell/edit), a thread that
// speaks with it and stores its rows, and a thread that writes the draft's files and watches them.
//
//   editors ══ sockets ══▶ edit process ──rows──▶ session thread ──▶ store
//                                │  ▲                  ▲ │
//                              files │ changes on disk │ │
//                                ▼  │                  │ ▼
//                                         file thread ──▶ the draft's folder
//
// Only one session exists for a draft: a draft is in the table once, and its epoch in the store
// fences whoever had it before. While it is open everybody else who writes into the draft holds it
// (edit_hold): the process writes what it has, takes nothing more until the release, and then takes
// what is on disk as a difference. So no change is lost on either side.
//
// Everything that the process says is a stranger's (edit_report_read). If it dies it is started
// again from the store; editors connect again.
#pragma once

#include "server/channel/edit_link.h"
#include "server/control/identity.h"
#include "server/serve/edit/edit_numbers.h"
#include "server/serve/serve_inside.h"

#define EDIT_DRAFTS_MAX   64
#define EDIT_TICKETS_MAX  256
#define EDIT_TICKET_MS    30000
#define EDIT_DRAFTS_EACH  8  // that an account opens at once
#define EDIT_TICKETS_EACH 16 // of an account; the oldest gives way

typedef struct EditDrafts EditDrafts;

MUST_USE Status edit_drafts_open(Serve *serve);
// Goes on with what a crash left: rows that were told and are not in the files.
void edit_drafts_recover(Serve *serve);
// Before HTTP stops: what is open is written and ends, and nothing is opened any more.
void edit_drafts_stop(Serve *serve);
void edit_drafts_close(Serve *serve); // after it

// Why a draft cannot be edited.
typedef struct EditFailure {
    char file[EDIT_LINK_NAME_BYTES]; // "": none
    uint32_t line;
    char message[CHANNEL_REASON_BYTES];
} EditFailure;

// Opens the draft, or finds it open. STATUS_MALFORMED: its texts cannot be read, and the failure
// says where; STATUS_BLOCKED: it cannot be started now. An account (0: nobody) opens
// EDIT_DRAFTS_EACH at once; those without editors are closed for others. Waits.
MUST_USE Status edit_draft_open(Serve *serve, const char *place_id, uint64_t account,
                                EditFailure *failure);
// A ticket for one connection to it, once, within EDIT_TICKET_MS. It gives no right: those are
// asked when it is used. `who` may be NULL without accounts.
MUST_USE Status edit_ticket_make(Serve *serve, const char *place_id, const Identity *who,
                                 bool can_write, char out[EDIT_TICKET_BYTES]);
// Whether it could be used now for that place; it stays.
bool edit_ticket_is_good(Serve *serve, const char *place_id, const char *text);
// Whether this sign-in may edit the draft now: it has not ended, is not banned, and the place is
// there and lets them in. STATUS_DENIED: no; another status: it cannot be said. Waits for the disk.
MUST_USE Status edit_may(Serve *serve, const char *place_id, const Identity *who, bool *can_write);
// What those who work on a place read somebody as.
void edit_name_editor(Serve *serve, const char *place_id, const Identity *who,
                      char out[EDIT_LINK_NAME_BYTES]);
// Of those with these rights: an operator looks; only who works on the place changes it.
bool edit_can_write(Serve *serve, const Identity *who, const StorePackage *package,
                    uint32_t rights);
// Who may edit the place has changed: its editors are looked at again, at once.
void edit_draft_check(Serve *serve, const char *place_id);
bool edit_draft_is_open(Serve *serve, const char *place_id);
// The socket of an editor, which is the draft's if it is STATUS_OK. STATUS_NOT_FOUND: not open.
MUST_USE Status edit_draft_socket(Serve *serve, const char *place_id, int socket, uint64_t number,
                                  const uint8_t *already, size_t bytes);

// Somebody else is about to change files of the draft. NULL: nobody edits it, and nothing has to be
// released. *status is STATUS_BLOCKED if the process does not answer: nothing may be written then.
typedef struct EditHold EditHold;
EditHold *edit_hold(Serve *serve, const char *place_id, Status *status);
void edit_release(EditHold *hold); // NULL is allowed
// For a handler: false if it cannot be held, and the response says so (503).
MUST_USE bool serve_hold_draft(Serve *serve, HttpRequest *request, HttpResponse *response,
                               const char *place_id, EditHold **out);
// The draft is thrown away: the session ends, and nothing more is written.
void edit_draft_end(Serve *serve, const char *place_id);

EditNumbers edit_drafts_numbers(Serve *serve);
