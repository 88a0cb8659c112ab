// The inside of an edit process, for the files of this room.
//
//   edit_open.c    from what the host begins with to a document
//   edit_people.c  connections: who is there, frames in and out, presence, limits
//   edit_order.c   transactions: applied, sent to the host as rows, told once they are stored
//   edit_file.c    place.json, scene.json and files: written, and changes on disk taken
//   edit_main.c    the jail, and the loop
//
// One batch of rows is on its way at a time. Until the host has answered, nothing more is applied:
// so whenever something else is done with the document (somebody joins, texts are written, a
// difference is taken) it is exactly what is stored. The next batch is everything that came
// meanwhile, which makes one commit of it.
#pragma once

#include "core/edit/op.h"
#include "core/edit/session.h"
#include "core/edit/text.h"
#include "server/channel/edit_link.h"
#include "server/shell/edit/edit_queue.h"
#include "server/shell/world_socket.h"

#define EDIT_PEOPLE_MAX   (EDIT_EDITORS_MAX + 16) // connections, also of those not let in yet
#define EDIT_SILENT_MAX   16                      // of those, sockets without a first message
#define EDIT_SOCKETS_MAX  256                     // with those that are being closed
#define EDIT_HOLDS_MAX    32
#define EDIT_KNOWN_BLOBS  64
#define EDIT_ROWS_EACH    5000u       // between two checkpoints; two of them are kept
#define EDIT_ROW_BYTES    (8u << 20)  // or so many bytes of rows
#define EDIT_ROWS_LATE    9000u       // then also if the files are older than the last one
#define EDIT_LATE_BYTES   (24u << 20) // or so many bytes of rows
#define EDIT_QUEUE_MAX    (24u << 20) // that somebody has not read, beside the document
#define EDIT_CLOSE_NORMAL 1000
#define EDIT_CLOSE_POLICY 1008
#define EDIT_CLOSE_LATER  1013

// A whole message of an editor that was not looked at yet.
typedef struct EditInbox {
    struct EditInbox *next;
    size_t bytes;
    bool limited; // it came too fast
    uint8_t data[];
} EditInbox;

// A bucket that fills with time and is emptied by what somebody sends.
typedef struct EditBucket {
    double level;
    uint64_t at_ms;
} EditBucket;

typedef struct EditPerson {
    uint64_t connection; // 0: nobody
    uint32_t editor;     // 0: not let in yet
    bool has_asked, is_admitted, has_joined, can_write, is_leaving;
    uint16_t close_code;
    uint64_t leaving_ms; // since when; 0: not yet seen
    char name[EDIT_LINK_NAME_BYTES];
    char resume[EDIT_LINK_NAME_BYTES];
    uint64_t known_epoch, known_seq; // what its page has
    EditQueue out;
    size_t document_bytes; // of the queue
    // A message that comes in fragments.
    uint8_t *in;
    size_t in_bytes, in_capacity;
    EditInbox *inbox, **inbox_end;
    size_t inbox_bytes;
    bool waits_for_blob;
    uint8_t blob[SHA256_BYTES];
    EditBucket transactions, sent, presence;
} EditPerson;

typedef struct EditWriter {
    char path[EDIT_PATH_BYTES_MAX + 1];
    uint32_t editor; // 0: free
} EditWriter;

// A file as it is on disk, or as it was sent to be.
typedef struct EditKept {
    char path[EDIT_PATH_BYTES_MAX + 1];
    uint8_t hash[SHA256_BYTES];
} EditKept;
typedef struct EditKeptList {
    EditKept *items; // by ascending path
    uint32_t count;
} EditKeptList;

// What somebody pastes (core/edit/clip.h). There is one at a time, because it may be large; it goes
// when that transaction was applied or refused.
typedef struct EditClip {
    uint64_t connection; // whose; 0: nobody's
    uint8_t hash[SHA256_BYTES];
    uint8_t *data; // NULL: the host was asked for it
    size_t bytes;
} EditClip;

typedef struct EditProcess {
    Channel channel;
    EditLinkReader reader;
    Heap heap;
    int epoll;
    Sockets *sockets;
    uint64_t now_ms;
    Rng rng;
    uint64_t epoch, log;

    EditDoc *doc;
    EditSession *session;
    EditPerson people[EDIT_PEOPLE_MAX];
    uint64_t silent[EDIT_SILENT_MAX]; // the host's numbers, oldest first
    uint32_t silent_count;
    EditWriter writers[EDIT_WRITERS_MAX];
    EditCounts counts;
    uint64_t counts_ms;

    // Rows that are applied and not stored; they point into the session's log.
    EditReport batch;
    size_t batch_bytes;
    bool is_stored;      // the host has answered; else a batch or a checkpoint is on its way
    bool has_own;        // one of the rows is our own, of a change on disk
    uint32_t rows_since; // the newest checkpoint
    size_t row_bytes_since;
    uint64_t checkpoint_seq; // of that
    uint8_t known_blobs[EDIT_KNOWN_BLOBS][SHA256_BYTES];
    uint32_t known_blob_next;
    EditClip clip;

    // Texts and files.
    EditText *text;
    EditText *text_before; // while a write is on its way: what the disk has
    EditText *text_sent;   // of a write that failed, until the disk was looked at
    EditKeptList disk, sent;
    uint64_t written_seq, sent_seq;
    uint64_t kept_seq; // as of which all files are on disk: the host has stored that
    bool is_writing, must_look, waits_for_disk, is_blocked;
    char blocked[CHANNEL_REASON_BYTES], blocked_file[EDIT_LINK_NAME_BYTES];
    uint32_t blocked_line;
    uint64_t changed_ms; // when the first change came that is not written; 0: none
    uint64_t last_ms;    // when the last one came
    uint64_t retry_ms;   // no write before that
    uint64_t looked_ms;  // when the host was asked how the disk is
    uint64_t holds[EDIT_HOLDS_MAX];
    uint32_t hold_count;
    bool is_held;         // the host knows that everything is written
    EditKeptList reverts; // files that cannot be written; their hashes do not count
} EditProcess;

// --- edit_main.c --------------------------------------------------------------------------------
// The channel takes it whole, or STATUS_LIMIT.
MUST_USE Status edit_put(EditProcess *process, EditLinkType type, const void *bytes, size_t count);
_Noreturn void edit_end(EditProcess *process, const char *what); // says why, and ends

// --- edit_open.c --------------------------------------------------------------------------------
// Makes the document. On failure `failed` says why. A new log begins with a checkpoint, which is on
// its way then.
MUST_USE Status edit_open(EditProcess *process, const uint8_t *bytes, size_t count,
                          EditReport *failed);

// --- edit_people.c ------------------------------------------------------------------------------
MUST_USE Status edit_people_open(EditProcess *process);
void edit_people_add(EditProcess *process, int socket, const uint8_t *bytes, size_t count);
void edit_people_admit(EditProcess *process, const EditAdmit *admit);
// Says why, and ends the connection once that is sent.
void edit_people_dismiss(EditProcess *process, EditPerson *person, const char *code,
                         const char *message, uint16_t close_code);
void edit_people_expel(EditProcess *process, uint64_t connection, EditExpelReason reason);
// Those who were let in join, when nothing is on its way.
void edit_people_join(EditProcess *process);
void edit_people_flush(EditProcess *process);
// A message of the session for one editor.
void edit_people_send(EditProcess *process, uint32_t editor, const uint8_t *bytes, size_t count);
// A frame of text for everybody, but for one (NULL: for all).
void edit_people_say(EditProcess *process, const EditPerson *but, const char *text, size_t bytes);
void edit_people_say_written(EditProcess *process);
void edit_people_say_blocked(EditProcess *process);
void edit_people_say_failed(EditProcess *process, Text file, const char *message);

// --- edit_order.c -------------------------------------------------------------------------------
void edit_report(EditProcess *process, const EditReport *report);
// What may be done only while nothing is on its way to the store, and then the next batch.
void edit_turn(EditProcess *process);
// EditSessionConfig.
Status edit_order_store(void *user, uint64_t seq, const uint8_t *row, size_t bytes);
void edit_order_send(void *user, uint32_t editor, const uint8_t *bytes, size_t count);
void edit_order_take(EditProcess *process); // what waits in the inboxes
void edit_order_put(EditProcess *process);  // sends the batch
void edit_order_stored(EditProcess *process, Status status);
void edit_order_blob(EditProcess *process, const uint8_t hash[SHA256_BYTES], bool is_there);
void edit_order_clip(EditProcess *process, const uint8_t hash[SHA256_BYTES], bool is_there,
                     const uint8_t *data, size_t bytes);
EditBlobs edit_order_clips(EditProcess *process); // where the document finds what is pasted
void edit_order_checkpoint(EditProcess *process, bool is_new);
// A change of our own. False: it was refused.
bool edit_order_own(EditProcess *process, const char *label, const EditBuffer *ops);

// --- edit_file.c --------------------------------------------------------------------------------
void edit_file_step(EditProcess *process);
// `failed`: what follows in WRITTEN.
void edit_file_written(EditProcess *process, Status status, Text path, const char *reason,
                       ByteReader *failed);
void edit_file_disk(EditProcess *process, const uint8_t *bytes, size_t count);
void edit_file_hold(EditProcess *process, uint64_t number);
void edit_file_release(EditProcess *process, uint64_t number);
// Everything on disk as it was told, into `out`, which is freed first.
MUST_USE Status edit_file_list(const EditDisk *disk, EditKeptList *out);
void edit_file_block(EditProcess *process, const PlaceError *error);
// The difference between what the disk had and what it has, as one transaction.
void edit_file_take_files(EditProcess *process, const EditKeptList *now);
void edit_file_take_texts(EditProcess *process, EditTexts texts);
