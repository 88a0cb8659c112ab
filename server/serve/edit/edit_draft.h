// The inside of one open draft, for the files of server/serve/edit.
#pragma once

#include "server/serve/edit/edit_drafts.h"
#include "server/store/place/store_edit.h"
#include "server/sys/process.h"

// What other threads leave for the session thread.
typedef enum EditMailType {
    EDIT_MAIL_SOCKET,  // number, bytes already read, descriptor
    EDIT_MAIL_HOLD,    // number
    EDIT_MAIL_RELEASE, // number
    EDIT_MAIL_WRITTEN, // a message for the process
    EDIT_MAIL_DISK     // descriptor
} EditMailType;
typedef struct EditMail {
    struct EditMail *next;
    EditMailType type;
    uint64_t number;
    uint32_t life; // of the process that it is for; 0: any
    int descriptor;
    size_t bytes;
    uint8_t data[];
} EditMail;

typedef enum EditState { EDIT_OPENING, EDIT_OPEN, EDIT_FAILED, EDIT_ENDED } EditState;

// A number under which an editor's changes are known.
typedef struct EditSeat {
    bool is_used;
    uint64_t account;
    uint64_t connection; // 0: nobody is connected
    uint64_t left_ms;
    bool can_write, is_expelled;
    Identity who; // account 0: there are no accounts
    char resume[EDIT_LINK_NAME_BYTES];
} EditSeat;

struct EditHold {
    struct EditHold *next;
    struct EditDraft *draft;
    uint64_t number;
    bool is_held;
};

typedef struct EditDraft {
    Serve *serve;
    char place_id[65];
    char folder[SERVE_PATH_BYTES];
    // By the lock of EditDrafts.
    EditState state;
    EditFailure failure;
    uint32_t users; // threads that look at it
    bool must_end;
    bool is_gone;    // the draft was thrown away
    bool must_check; // who may edit it may have changed
    EditHold *holds;
    EditMail *mail, **mail_end;
    EditCounts counts; // of the lives before, and of this one
    uint32_t editor_count;
    uint64_t opened_by; // an account; 0: nobody
    uint64_t used_ns;   // when somebody last opened it

    int event; // wakes the session thread
    pthread_t thread, file_thread;

    // The session thread's.
    Process process;
    bool has_process;
    Channel channel;
    EditLinkReader reader;
    uint32_t life;
    StoreEditHead head;
    uint8_t begun_settings[SHA256_BYTES], begun_scene[SHA256_BYTES]; // texts it began with
    EditSeat seats[EDIT_EDITORS_MAX + 1];
    EditCounts life_counts;
    uint64_t idle_ms, checked_ms, heard_ms;
    uint64_t last_account; // who changed something last
    bool is_finished;      // all is written, and it takes nothing more
    uint32_t rows_since;   // the last checkpoint
    size_t row_bytes_since;
    char bounds[HOST_BOUNDS_NAME_BYTES];
    bool is_bound;

    // The file thread's, and what it is asked, by file_lock.
    pthread_mutex_t file_lock;
    pthread_cond_t file_wake;
    bool file_stop, file_look;
    bool must_retry;     // at the next turn
    uint8_t *file_write; // a report EDIT_LINK_WRITE; NULL: none
    size_t file_write_bytes;
    uint32_t file_life;
    uint64_t file_epoch, file_account;
    uint64_t written_seq;
    pthread_mutex_t disk_lock; // held while the folder is read or written, for what follows
    uint8_t settings_hash[SHA256_BYTES], scene_hash[SHA256_BYTES]; // as they were last seen
    uint64_t fingerprint;
} EditDraft;

struct EditDrafts {
    pthread_mutex_t lock;
    pthread_cond_t changed; // a state, or a hold
    EditDraft *drafts[EDIT_DRAFTS_MAX];
    struct EditTicket {
        uint64_t expires_ns; // 0: free
        uint8_t hash[SHA256_BYTES];
        char place_id[65];
        bool can_write;
        Identity who;
    } tickets[EDIT_TICKETS_MAX];
    uint64_t hold_number;
    EditNumbers numbers; // of drafts that are closed, and starts
    bool is_closing;
};

// --- edit_drafts.c ------------------------------------------------------------------------------
void edit_mail_post(EditDraft *draft, EditMailType type, uint64_t number, uint32_t life,
                    int descriptor, const void *data, size_t bytes);
EditMail *edit_mail_take(EditDraft *draft); // all of it, oldest first
// Uses up a ticket of this draft. False: there is no such one.
bool edit_ticket_take(EditDraft *draft, const char *text, Identity *who, bool *can_write);
void edit_draft_set_state(EditDraft *draft, EditState state);
void edit_draft_held(EditDraft *draft, uint64_t number);

// --- edit_draft.c -------------------------------------------------------------------------------
void *edit_draft_run(void *draft); // the session thread, until the draft is closed

// --- edit_files.c -------------------------------------------------------------------------------
void *edit_files_run(void *draft); // the file thread
// How the folder is now. The hashes are kept as those on disk.
MUST_USE Status edit_files_disk(EditDraft *draft, EditBuffer *out);
