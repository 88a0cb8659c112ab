// The inside of a draft run, for draft*.c alone: one run at a time, in one variable.
//
//   draft.c          a run, and what must be so at its end
//   draft_disk.c     links between the parts, and the disk
//   draft_process.c  the real edit process
//   draft_host.c     the model of the host: store, files
//   draft_pages.c    editors, and other programs
#pragma once

#include "core/base/hash.h"
#include "core/edit/pending.h"
#include "server/shell/edit/edit_process.h"
#include "tests/scenario/edit/draft.h"

#define HEAP_BYTES  (512u << 20)
#define EDITORS_MAX 8
#define STEP_MS     10
#define STEPS       600
#define QUIET_STEPS 1000
#define QUEUE_MAX   2048
#define ROWS_MAX    4096
#define BLOBS_MAX   4096
#define FILES_MAX   64
#define IDS         60
#define OWN_MAX     256

typedef struct Packet {
    uint8_t *data;
    size_t bytes;
    uint32_t at;   // the step in which it arrives
    uint32_t type; // EditLinkType, or one of these
} Packet;
enum { SAYS_MESSAGE, SAYS_DOCUMENT }; // to a page; a document begins with u64 log and u64 seq

typedef struct Queue {
    Packet packets[QUEUE_MAX];
    uint32_t count;
} Queue;

typedef struct Page {
    EditDoc *doc;
    EditPending *pending;
    uint64_t log, connection; // 0: not connected
    bool is_welcome;
    Queue up, down;
    uint64_t own[OWN_MAX]; // what it may undo
    uint32_t own_count, own_writes;
} Page;

typedef struct Blob { // a text
    uint8_t *data;
    size_t bytes;
    uint8_t hash[SHA256_BYTES];
    bool is_kept; // by its hash; else it is only on disk
} Blob;

typedef struct DiskFile {
    char path[EDIT_PATH_BYTES_MAX + 1];
    uint8_t hash[SHA256_BYTES];
} DiskFile;

typedef struct Head {
    uint64_t epoch, log, written;
    uint8_t hashes[2][SHA256_BYTES]; // place.json, scene.json
} Head;

typedef struct Checkpoint {
    uint64_t seq;
    uint8_t *data;
    size_t bytes;
} Checkpoint;

// A write of the host's file thread, under way.
typedef struct Job {
    uint8_t *bytes; // NULL: none
    EditReport report;
    uint32_t life, at;
    uint64_t epoch;
    Status status;
    EditBuffer failed;
    uint32_t failed_count;
    char path[EDIT_PATH_BYTES_MAX + 1];
    uint8_t hashes[2][SHA256_BYTES]; // of the texts that the disk has
} Job;

typedef struct Run {
    Heap heap;
    Rng rng;
    uint32_t step, mode;
    bool is_quiet;
    uint32_t page_count;
    Page pages[EDITORS_MAX + 1];
    // The store and the disk, which outlive everything.
    Head head;
    Checkpoint checkpoints[2]; // the older one first
    Packet rows[ROWS_MAX];
    uint32_t row_count;
    Blob blobs[BLOBS_MAX];
    uint32_t blob_count;
    uint32_t texts[2]; // which blobs are place.json and scene.json
    DiskFile files[FILES_MAX];
    uint32_t file_count;
    // The server.
    bool keeps_history; // `sandlot dev` has none: texts are kept after the write
    Job job;
    uint64_t written_seq; // in its memory
    uint32_t starts_at;   // no process before that
    uint32_t life, disk_told_at;
    uint8_t begun[2][SHA256_BYTES];
    uint64_t hold_next, hold;
    Queue to_host, to_process;
    // The process.
    EditProcess *process;
    Packet heard;   // which it looks at
    bool is_ending; // it gives up, which is allowed
    uint64_t connection_next;
    // Other programs.
    uint32_t outside_count;
    uint8_t outside_hash[SHA256_BYTES]; // of their file
    bool has_outside, is_broken;
    uint64_t told_max;
    EditorsResult result;
    Hash64 trace;
} Run;

extern Run run;

// --- draft.c ------------------------------------------------------------------------------------
__attribute__((format(printf, 1, 2))) void draft_fail(const char *format, ...);
bool draft_chance(uint32_t one_in); // never once it is quiet

// --- draft_disk.c -------------------------------------------------------------------------------
uint8_t *draft_copy_of(const void *bytes, size_t count);
void draft_queue_add(Queue *queue, uint32_t type, const void *bytes, size_t count, uint32_t delay);
void draft_queue_clear(Queue *queue);
bool draft_queue_take(Queue *queue, Packet *out);
uint32_t draft_blob_add(const void *bytes, size_t count, bool is_kept);
Text draft_blob_text(uint32_t blob);
DiskFile *draft_file_find(const char *path);
void draft_file_set(const char *path, const uint8_t *hash); // NULL: it goes
EditDisk draft_disk_now(EditBuffer *files);

// --- draft_process.c ----------------------------------------------------------------------------
void draft_connect(uint32_t number); // the page with that number
void draft_disconnect(uint32_t number);
void draft_start_process(void);
void draft_process_free(void);
void draft_kill_process(void);
void draft_kill_server(void);
void draft_step_process(void);

// --- draft_host.c -------------------------------------------------------------------------------
void draft_job_free(void);
void draft_step_host(void);

// --- draft_pages.c ------------------------------------------------------------------------------
void draft_step_pages(void);
void draft_outside_file(void); // another program writes its file
void draft_step_outside(void);
