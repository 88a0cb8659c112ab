// What a host and an edit process say to each other. An edit process (server/shell/edit) holds one
// draft as a document, and orders what its editors change; the host (server/serve/edit) stores the
// rows, writes the files and says who may come in. Neither links the other.
//
// A message goes over the channel in pieces, because a document is larger than what the channel
// takes at once:
//
//   piece     u8 type · u8 1 if more pieces follow · bytes
//
// To the host every byte from an edit process is hostile: edit_report_read accepts any bytes. Texts
// that the process says are for people and are cleaned.
#pragma once

#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/edit/buffer.h"
#include "server/channel/channel.h"

#define EDIT_LINK_BYTES_MAX  (EDIT_DOCUMENT_BYTES_MAX + (1u << 20))
#define EDIT_LINK_PIECE      (512u << 10)
#define EDIT_LINK_QUEUE      (EDIT_LINK_BYTES_MAX + (32u << 20)) // untouched pages cost nothing
#define EDIT_LINK_NAME_BYTES 65
#define EDIT_TICKET_BYTES    128
#define EDIT_BATCH_MAX       64 // rows that are stored at once

typedef enum EditLinkType {
    EDIT_LINK_NONE,
    // To the process.
    EDIT_LINK_BEGIN,  // EditStart; descriptor: EditBeginning
    EDIT_LINK_SOCKET, // u64 number, for OVER · bytes already read; descriptor: the socket
    EDIT_LINK_ADMIT,  // EditAdmit: the answer to ASK
    EDIT_LINK_STORED, // u8 status: of the rows, or of the checkpoint
    EDIT_LINK_WRITTEN, // u8 status of WRITE · block path · block reason · u64 files that cannot be
                       // written though all else is, each a block path and a block reason
    EDIT_LINK_DISK,    // descriptor: EditDisk, as it is now
    EDIT_LINK_HOLD,    // u64 number: write everything, and take nothing more until RELEASE
    EDIT_LINK_RELEASE, // u64 number
    EDIT_LINK_BLOB,    // 32 bytes hash · u8 1 if the content is there
    EDIT_LINK_CLIP,    // 32 bytes hash · u8 1 if the content is there · the content
    EDIT_LINK_EXPEL,   // u64 connection · u8 EditExpelReason: this editor shall go
    // To the host.
    EDIT_LINK_READY,      // layers
    EDIT_LINK_FAILED,     // text, line; file
    EDIT_LINK_ASK,        // may this connection come in: connection, text (ticket), name (resume)
    EDIT_LINK_LEFT,       // connection
    EDIT_LINK_OVER,       // number of a socket that is closed
    EDIT_LINK_ROWS,       // rows to be stored together
    EDIT_LINK_CHECKPOINT, // seq, flag: a new log begins with it; bytes: the document
    EDIT_LINK_WRITE,      // seq; the texts, and the files to write
    EDIT_LINK_LOOK,       // tell how the disk is now
    EDIT_LINK_HELD,       // number of HOLD
    EDIT_LINK_NEED,   // hash: is its content there? flag: it is a clip, and its bytes are wanted
    EDIT_LINK_COUNTS, // EditCounts
    EDIT_LINK_TYPE_COUNT
} EditLinkType;

// Queues a message whole, or STATUS_LIMIT. The descriptor (-1: none) is the channel's if it is
// queued.
MUST_USE Status edit_link_put(Channel *channel, EditLinkType type, const void *bytes, size_t count,
                              int descriptor);

typedef struct EditLinkMessage {
    EditLinkType type;
    const uint8_t *bytes; // valid until the next call
    size_t count;
    int descriptor; // the caller's; -1: none
} EditLinkMessage;

// What has come of a message whose end is missing.
typedef struct EditLinkReader {
    uint8_t *bytes;
    size_t count, capacity;
    uint8_t type;
    bool more;
} EditLinkReader;
void edit_link_reader_free(EditLinkReader *reader);
// As channel_take.
MUST_USE Status edit_link_take(Channel *channel, EditLinkReader *reader, EditLinkMessage *out);

// Why an editor shall go.
typedef enum EditExpelReason {
    EDIT_EXPEL_REPLACED, // they are connected from elsewhere
    EDIT_EXPEL_DENIED,   // they are signed out, or have lost the right
} EditExpelReason;

// --- to the process -----------------------------------------------------------------------------
typedef struct EditStart {
    uint64_t memory_bytes_max; // of the jail; 0: none
    bool allow_weak_jail;
} EditStart;
void edit_start_write(const EditStart *start, ByteWriter *writer);
MUST_USE Status edit_start_read(const uint8_t *bytes, size_t count, EditStart *out);

// place.json, scene.json, and which other files there are. A text that is missing or too large is
// empty, which cannot be read as a place.
typedef struct EditDisk {
    Text settings, scene;
    uint32_t file_count;
    const uint8_t *files; // each a block path and 32 bytes hash
    size_t file_bytes;
} EditDisk;
void edit_disk_write(const EditDisk *disk, EditBuffer *out);
MUST_USE Status edit_disk_read(ByteReader *reader, EditDisk *out);
// Into and out of EditDisk.files.
void edit_disk_file_write(Text path, const uint8_t hash[SHA256_BYTES], EditBuffer *out);
MUST_USE bool edit_disk_file_read(ByteReader *reader, Text *path, const uint8_t **hash);

typedef struct EditBeginning {
    uint64_t epoch; // of this process
    uint64_t log;   // the epoch in which the log began: pages compare it
    uint64_t seed;
    bool has_log; // else only `disk` follows
    uint64_t checkpoint_seq;
    uint64_t newest_seq;            // of the newest checkpoint, which may be later
    uint64_t written_seq;           // the files on disk were as of it
    Text checkpoint;                // a document
    Text base_settings, base_scene; // as they were written then; empty: not known any more
    uint32_t row_count;
    const uint8_t *rows; // each a block, after the checkpoint
    size_t row_bytes;
    EditDisk disk;
} EditBeginning;
void edit_beginning_write(const EditBeginning *beginning, EditBuffer *out);
MUST_USE Status edit_beginning_read(const uint8_t *bytes, size_t count, EditBeginning *out);

typedef struct EditAdmit {
    uint64_t connection;
    uint32_t editor; // 0: it may not; the text says why
    bool can_write;
    char name[EDIT_LINK_NAME_BYTES];
    char text[CHANNEL_REASON_BYTES]; // the token by which it gets this number again, or a reason
} EditAdmit;
void edit_admit_write(const EditAdmit *admit, ByteWriter *writer);
MUST_USE Status edit_admit_read(const uint8_t *bytes, size_t count, EditAdmit *out);

// --- to the host --------------------------------------------------------------------------------
#define EDIT_COUNTS(ROW)                                             \
    ROW(told, "Transactions that were stored and told")              \
    ROW(refused, "Transactions that could not be applied or stored") \
    ROW(limited, "Messages refused because an editor sent too much") \
    ROW(malformed, "Messages that could not be read")                \
    ROW(undone, "Transactions that were undone")                     \
    ROW(presence, "Messages of presence that were passed on")        \
    ROW(presence_dropped, "Messages of presence that came too fast") \
    ROW(slow, "Editors who were disconnected because they did not read")
typedef struct EditCounts {
#define EDIT_COUNT_FIELD(name, help) uint64_t name;
    EDIT_COUNTS(EDIT_COUNT_FIELD)
#undef EDIT_COUNT_FIELD
} EditCounts;

typedef struct EditReportRow {
    uint64_t seq;
    uint32_t editor;
    Text label;
    const uint8_t *row;
    size_t row_bytes;
} EditReportRow;

typedef struct EditReportFile {
    Text path;
    const uint8_t *hash, *known; // 32 bytes; NULL: there is none
} EditReportFile;

typedef struct EditReport {
    EditLinkType type;
    uint32_t layers;                 // READY
    uint64_t connection;             // ASK, LEFT
    uint64_t number;                 // OVER, HELD
    uint64_t seq;                    // CHECKPOINT, WRITE
    bool flag;                       // CHECKPOINT, NEED
    const uint8_t *hash;             // NEED
    char text[CHANNEL_REASON_BYTES]; // FAILED, ASK; printable
    char name[EDIT_LINK_NAME_BYTES]; // FAILED: the file; ASK
    uint32_t line;                   // FAILED
    const uint8_t *bytes;            // CHECKPOINT
    size_t byte_count;
    EditReportRow rows[EDIT_BATCH_MAX]; // ROWS
    uint32_t row_count;
    bool has_settings, has_scene; // WRITE: they change
    Text settings, scene;
    const uint8_t *settings_known, *scene_known; // hashes of what the process knows of the disk
    uint32_t file_count;
    ByteReader files; // a copy of it is read by edit_report_file
    EditCounts counts;
} EditReport;
// Writes what the type has; texts are cut to their limits.
void edit_report_write(const EditReport *report, EditBuffer *out);
void edit_report_file_write(const EditReportFile *file, EditBuffer *out); // after WRITE
// Total: any bytes give a report of that type, or a status. Everything points into them.
MUST_USE Status edit_report_read(EditLinkType type, const uint8_t *bytes, size_t count,
                                 EditReport *out);
// Of a report that was read: `file_count` times.
void edit_report_file(ByteReader *files, EditReportFile *out);
