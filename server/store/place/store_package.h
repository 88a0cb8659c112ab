// Packages: places and spells, with their revisions, their channels and the people who work on
// them. What is in a revision is a blob, the `.game` file (blob.h); the row that names it is
// written after it. These wait for the disk; they are for a pool's threads and the command line.
#pragma once

#include "server/store/store.h"

#define STORE_TITLE_BYTES       129
#define STORE_DESCRIPTION_BYTES 8193
#define STORE_NOTES_BYTES       2001
#define STORE_JOB_BYTES         33
#define STORE_REVISION_ALL      UINT32_MAX // store_revisions: from the newest on

typedef enum StorePackageKind { STORE_PLACE = 1, STORE_SPELL = 2 } StorePackageKind;

// Who may find and use it.
typedef enum StoreVisibility {
    STORE_PRIVATE = 0,  // its team
    STORE_UNLISTED = 1, // whoever has its address
    STORE_LISTED = 2    // everybody
} StoreVisibility;

typedef enum StorePackageFlag {
    STORE_PACKAGE_OPEN = 1 << 0,     // its sources are for everybody who may see it
    STORE_PACKAGE_APPROVED = 1 << 1, // by an operator, to be listed where that is needed
    STORE_PACKAGE_REMOVED = 1 << 2,  // by an operator: nobody plays it
    STORE_PACKAGE_UNLISTED = 1 << 3, // by an operator: it is found by its address alone
    STORE_PACKAGE_CLASS = 1 << 4     // it is a class's, and closed to others (store_class.h)
} StorePackageFlag;

typedef enum StoreRevisionState {
    STORE_REVISION_BUILDING = 1, // also after a restart, which builds it again
    STORE_REVISION_READY = 2,
    STORE_REVISION_FAILED = 3
} StoreRevisionState;

typedef enum StorePackageRole {
    STORE_NOBODY = 0,
    STORE_EDITOR = 1,
    STORE_TESTER = 2,
    STORE_BLOCKED = 3 // does not come into its worlds
} StorePackageRole;

// What a blob is used for (table blob_uses).
typedef enum StoreBlobPurpose {
    STORE_BLOB_PACKAGE = 1,  // number: the revision
    STORE_BLOB_PLAYED = 2,   // what players of a revision get; number: the revision
    STORE_BLOB_PICTURE = 3,  // the thumbnail is number 0, screenshots follow
    STORE_BLOB_DRAFT = 4,    // a file of the draft or of its history
    STORE_BLOB_MANIFEST = 5, // whole, of a revision; number: the revision, as of these:
    STORE_BLOB_CLIENT_MANIFEST = 6,
    STORE_BLOB_THUMBNAIL = 7, // becomes picture 0 when the revision is live
    STORE_BLOB_MODULE = 8,    // the Lua of a spell, as it was given or made
    STORE_BLOB_SPELLS = 9,    // which spells a revision of a place was built with (spell_list.h)
    STORE_BLOB_SPELL = 10,    // the module of each of those
    STORE_BLOB_OWN_THUMBNAIL = 11, // number 0: picture 0, whatever the live revision has
    STORE_BLOB_EDIT = 12           // uploaded by an editor; number: the day (store_upload.h)
} StoreBlobPurpose;

typedef enum StoreChannel { STORE_BETA, STORE_LIVE } StoreChannel;

typedef struct StorePackage {
    char package_id[65];
    StorePackageKind kind;
    uint64_t owner_id;
    char title[STORE_TITLE_BYTES];
    char description[STORE_DESCRIPTION_BYTES]; // Markdown
    StoreVisibility visibility;
    uint32_t flags;
    uint32_t live, beta;    // revisions; 0: none
    uint32_t last_revision; // that was made; the next one is this + 1
    uint64_t version;       // of the row: rises with every change
    char forked_from[65];   // "": it is not a fork
    uint64_t created_unix_ms, updated_unix_ms;
    uint64_t trashed_unix_ms; // 0: not
} StorePackage;

typedef struct StoreRevision {
    char package_id[65];
    uint32_t revision; // from 1
    uint64_t maker_id;
    StoreRevisionState state;
    char notes[STORE_NOTES_BYTES];
    uint8_t package_hash[32]; // of the .game file
    uint64_t package_bytes;
    char job_id[STORE_JOB_BYTES];
    // Why it failed; while it is building, the channel that it goes to then: "live", "beta" or "".
    char reason[STORE_NOTES_BYTES];
    bool was_live; // the channel live names it, or did
    uint64_t created_unix_ms;
} StoreRevision;

typedef struct StorePackagePerson {
    char package_id[65];
    uint64_t account_id;
    StorePackageRole role;
    uint64_t created_unix_ms;
} StorePackagePerson;

// --- packages -----------------------------------------------------------------------------------
// A new one: version 1 is filled in. STATUS_EXISTS: the id is taken, also by one in the trash.
// STATUS_LIMIT: the owner has count_max of that kind already.
MUST_USE Status store_package_make(Store *store, StorePackage *package, uint32_t count_max);
// STATUS_NOT_FOUND; STATUS_MALFORMED: damaged. Also those in the trash.
MUST_USE Status store_package_find(Store *store, const char *package_id, StorePackage *out);
// The row as it shall be, if it still has package->version, which rises. Channels and the last
// revision are not changed by it. STATUS_MISMATCH: somebody was quicker. STATUS_NOT_FOUND.
MUST_USE Status store_package_change(Store *store, StorePackage *package);
// With everything that is only its own: revisions, people, uses of blobs.
MUST_USE Status store_package_delete(Store *store, const char *package_id);
// Those that the account owns, edits or tests, by id, from behind that one on.
MUST_USE Status store_packages_of(Store *store, uint64_t account, const char *after,
                                  StorePackage *out, uint32_t max, uint32_t *count);
// One that was thrown away before that time. STATUS_NOT_FOUND: none.
MUST_USE Status store_package_trashed(Store *store, uint64_t before_unix_ms, StorePackage *out);

// --- revisions ----------------------------------------------------------------------------------
// Gives it the next number, and writes which blob it uses. bytes_max: what the owner may use in
// all, with this one. STATUS_NOT_FOUND: no such package, or in the trash. STATUS_LIMIT: too many
// bytes; STATUS_DENIED: too many revisions.
MUST_USE Status store_revision_add(Store *store, StoreRevision *revision, uint64_t bytes_max);
MUST_USE Status store_revision_find(Store *store, const char *package_id, uint32_t number,
                                    StoreRevision *out);
MUST_USE Status store_revision_by_job(Store *store, const char *job_id, StoreRevision *out);
// Newest first, those below that number.
MUST_USE Status store_revisions(Store *store, const char *package_id, uint32_t below,
                                StoreRevision *out, uint32_t max, uint32_t *count);
// Of these, those that were ever live; `live` is the one that is. (Whatever was live only before
// the store noted it is missing.)
MUST_USE Status store_revisions_live(Store *store, const char *package_id, uint32_t live,
                                     uint32_t below, StoreRevision *out, uint32_t max,
                                     uint32_t *count);
// Those whose build has not ended, oldest first. The sink must not call the store.
typedef void (*StoreRevisionSink)(void *user, const StoreRevision *revision);
MUST_USE Status store_revisions_building(Store *store, StoreRevisionSink sink, void *user);
// How its build ended. STATUS_MISMATCH: it had ended already.
MUST_USE Status store_revision_end(Store *store, const char *package_id, uint32_t number,
                                   StoreRevisionState state, const char *reason);
// The channel names this revision from now on; 0: none. STATUS_NOT_FOUND: no such revision, or no
// package; STATUS_DENIED: it is not ready. *before is what it named (may be NULL).
MUST_USE Status store_channel_set(Store *store, const char *package_id, StoreChannel channel,
                                  uint32_t number, uint64_t now_unix_ms, uint32_t *before);

// With its uses of blobs. STATUS_DENIED: a channel names it; STATUS_BLOCKED: it is being built.
MUST_USE Status store_revision_delete(Store *store, const char *package_id, uint32_t number);

// --- people -------------------------------------------------------------------------------------
// STORE_NOBODY: no more. STATUS_LIMIT: there are people_max of them. STATUS_NOT_FOUND: no package.
MUST_USE Status store_package_person_put(Store *store, const StorePackagePerson *person,
                                         uint32_t people_max);
// STORE_NOBODY for those without a row.
MUST_USE Status store_package_role(Store *store, const char *package_id, uint64_t account,
                                   StorePackageRole *role);
MUST_USE Status store_package_people(Store *store, const char *package_id, StorePackagePerson *out,
                                     uint32_t max, uint32_t *count);

// --- what it takes ------------------------------------------------------------------------------
// Bytes of all blobs that the account's packages use, and what their rows are charged with.
MUST_USE Status store_account_bytes(Store *store, uint64_t account, uint64_t *bytes);
// Accounts by what the blobs of their packages take, the most first.
typedef struct StoreUse {
    uint64_t account_id, packages, bytes;
} StoreUse;
MUST_USE Status store_uses(Store *store, StoreUse *out, uint32_t max, uint32_t *count);
MUST_USE Status store_blob_use(Store *store, const uint8_t hash[32], const char *package_id,
                               StoreBlobPurpose purpose, uint32_t number, uint64_t bytes);
typedef struct StoreBlobUse {
    char package_id[65];
    StoreBlobPurpose purpose;
    uint32_t number;
} StoreBlobUse;
// What it is used for, at most max of them. STATUS_NOT_FOUND: nothing.
MUST_USE Status store_blob_uses(Store *store, const uint8_t hash[32], StoreBlobUse *out,
                                uint32_t max, uint32_t *count);
// Forgets the blob unless something uses it; its file may go then.
MUST_USE Status store_blob_forget(Store *store, const uint8_t hash[32], bool *is_used);
