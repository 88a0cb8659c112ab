// The log of an edit session, by draft. A head says which session may write (its epoch) and how far
// it is; rows are what was told to editors; a checkpoint is a document from which the rows after it
// go on. Two checkpoints are kept, and the rows after the older one: so the last transactions can
// be undone after a restart too. The bytes are core/edit's and are not looked at here. These wait
// for the disk.
#pragma once

#include "server/store/store.h"

#define STORE_EDIT_LABEL_BYTES 64
#define STORE_EDIT_BEGIN_BYTES 48

typedef struct StoreEditHead {
    uint64_t epoch;                            // of the session that may write
    uint64_t log;                              // the epoch in which the log began; 0: there is none
    uint64_t seq;                              // the last row
    uint64_t written;                          // the files of the draft were as of this row,
    uint8_t settings_hash[32], scene_hash[32]; // and place.json and scene.json had these hashes
} StoreEditHead;

// A session begins: whoever had the draft may write no more.
MUST_USE Status store_edit_take(Store *store, const char *package_id, uint64_t now_unix_ms,
                                StoreEditHead *out);
// All that follow are STATUS_DENIED if another session has taken the draft since.

// A new log begins with this document; the old one is forgotten.
MUST_USE Status store_edit_begin(Store *store, const char *package_id, const StoreEditHead *head,
                                 const void *document, size_t bytes);
typedef struct StoreEditRow {
    uint64_t seq;
    uint32_t editor;
    uint64_t maker_id; // 0: nobody's, or somebody who has left
    uint64_t unix_ms;
    char label[STORE_EDIT_LABEL_BYTES + 1];
    const uint8_t *told;
    size_t bytes;
    uint8_t begin[STORE_EDIT_BEGIN_BYTES]; // what was told begins so; only store_edit_rows sets it
    uint8_t begin_bytes;
} StoreEditRow;
// All of them or none. They follow the last one: else STATUS_MISMATCH.
MUST_USE Status store_edit_commit(Store *store, const char *package_id, uint64_t epoch,
                                  const StoreEditRow *rows, uint32_t count);
// The document as of the last row. Of the checkpoints the two newest stay.
MUST_USE Status store_edit_checkpoint(Store *store, const char *package_id, uint64_t epoch,
                                      uint64_t seq, const void *document, size_t bytes);
// The files of the draft are written.
MUST_USE Status store_edit_written(Store *store, const char *package_id, uint64_t epoch,
                                   uint64_t seq, const uint8_t settings_hash[32],
                                   const uint8_t scene_hash[32]);

// The older checkpoint and the rows after it. The sink must not call the store. STATUS_NOT_FOUND:
// there is no log; STATUS_MALFORMED: something of it is damaged or missing.
typedef struct StoreEditLoad {
    void *user;
    // `newest`: of the later checkpoint, if there is one.
    void (*checkpoint)(void *user, uint64_t seq, uint64_t newest, const uint8_t *document,
                       size_t bytes);
    void (*row)(void *user, const StoreEditRow *row);
} StoreEditLoad;
MUST_USE Status store_edit_load(Store *store, const char *package_id, const StoreEditLoad *load);
// Rows after `from`, with the beginning of what was told; at most max.
MUST_USE Status store_edit_rows(Store *store, const char *package_id, uint64_t from,
                                StoreEditRow *out, uint32_t max, uint32_t *count);
// Drafts with rows that are not in their files. The sink must not call the store.
MUST_USE Status store_edit_unwritten(Store *store, void (*sink)(void *user, const char *package_id),
                                     void *user);
// The place is gone, and so is its log.
MUST_USE Status store_edit_forget(Store *store, const char *package_id);
// Whether a blob is used by this package for anything.
bool store_edit_has_blob(Store *store, const char *package_id, const uint8_t hash[32]);
