// Drafts: the places that people work on, one folder each, <data>/drafts/<place>. The folder is the
// truth; the store has the history of its files, whose contents are blobs. Whatever somebody
// changes in the folder by other means is one more version, found when the draft is listed next or
// the file is touched.
//
// A write says which content it replaces, by its hash: what somebody else wrote meanwhile is never
// lost. Files are judged by the rules of packages, so that a draft can always be packed. All of
// these wait for the disk and may be called from any thread; one draft does one thing at a time.
#pragma once

#include "server/build/base/reason.h"
#include "server/store/place/blob.h"
#include "server/store/place/store_draft.h"

#define DRAFT_PATH_BYTES 4096

typedef struct Drafts Drafts;

// Keeps the pointers. account_bytes_max: what an account's packages may use in all.
MUST_USE Status drafts_open(const char *data_folder, Store *store, BlobStore *blobs,
                            uint64_t account_bytes_max, Drafts **out);
void drafts_close(Drafts *drafts); // NULL is allowed

// Where its folder is, whether it is there or not. STATUS_MALFORMED: no id.
MUST_USE Status draft_folder(const Drafts *drafts, const char *place_id,
                             char out[DRAFT_PATH_BYTES]);
bool draft_exists(const Drafts *drafts, const char *place_id);
// Makes the folder all at once: `fill` writes the files into a new folder beside it, which then
// gets its name, and every file its first version. STATUS_EXISTS: there is one.
typedef Status (*DraftFill)(void *user, const char *folder, char reason[WORKER_REASON_BYTES]);
MUST_USE Status draft_make(Drafts *drafts, const char *place_id, uint64_t maker, DraftFill fill,
                           void *user, char reason[WORKER_REASON_BYTES]);
// The same in place of one that is there: what it had stays in the history. STATUS_NOT_FOUND: there
// is none.
MUST_USE Status draft_replace(Drafts *drafts, const char *place_id, uint64_t maker, DraftFill fill,
                              void *user, char reason[WORKER_REASON_BYTES]);
// The folder and the history. STATUS_NOT_FOUND: there is none.
MUST_USE Status draft_discard(Drafts *drafts, const char *place_id);
// Removes the folders of packages that are gone, such as those of people who were deleted.
void drafts_sweep(Drafts *drafts);
// With everything in it. The history is the store's (store_package_delete).
MUST_USE Status draft_remove(Drafts *drafts, const char *place_id);

// All files, by path; free with free(). STATUS_NOT_FOUND: no draft. STATUS_LIMIT: more files than a
// draft may have.
MUST_USE Status draft_list(Drafts *drafts, const char *place_id, StoreDraftFile **out,
                           uint32_t *count);
// Free with free(). *about is filled.
MUST_USE Status draft_read(Drafts *drafts, const char *place_id, const char *path, uint8_t **out,
                           size_t *bytes, StoreDraftFile *about, char reason[WORKER_REASON_BYTES]);

typedef struct DraftWrite {
    const char *place_id, *path;
    const void *data;
    size_t bytes;
    const uint8_t *known; // the hash of what it replaces; NULL: it is new
    uint64_t maker;
} DraftWrite;
// STATUS_MISMATCH: the file is not what the writer knew, nothing was written, and *now says what it
// is (bytes and hash; all zero: it is not there). STATUS_MALFORMED: the name or size is not one of
// a place; STATUS_LIMIT: the account's room, or the draft's, is used up. STATUS_BLOCKED: the disk.
MUST_USE Status draft_write(Drafts *drafts, const DraftWrite *write, StoreDraftFile *now,
                            char reason[WORKER_REASON_BYTES]);
// data is not looked at.
MUST_USE Status draft_delete_file(Drafts *drafts, const DraftWrite *write, StoreDraftFile *now,
                                  char reason[WORKER_REASON_BYTES]);
// To a name that is free: STATUS_EXISTS. The history of the old name ends, that of the new begins.
MUST_USE Status draft_move(Drafts *drafts, const DraftWrite *write, const char *to,
                           StoreDraftFile *now, char reason[WORKER_REASON_BYTES]);
// What a version was; free with free(). STATUS_NOT_FOUND: no such version, or the file was deleted.
MUST_USE Status draft_read_version(Drafts *drafts, const char *place_id, const char *path,
                                   uint32_t version, uint8_t **out, size_t *bytes);
// STATUS_LIMIT: the owner of the place has no room for so many bytes more now. It is no promise:
// the rows that are written afterwards are counted again.
MUST_USE Status draft_has_room(Drafts *drafts, const char *place_id, uint64_t bytes,
                               char reason[WORKER_REASON_BYTES]);
// How much the owner of the place uses and may use, and how to make room.
void draft_tell_no_room(Drafts *drafts, const char *place_id, char reason[WORKER_REASON_BYTES]);
// Lets `change` change a file in the folder while nobody else does; what it is then becomes a
// version. STATUS_LIMIT: the owner has no room for that, and the file is as it was before.
typedef Status (*DraftChange)(void *user);
Status draft_change(Drafts *drafts, const char *place_id, const char *path, uint64_t maker,
                    DraftChange change, void *user);
