// The spells that a place is built with. What a revision of a place took is written down with it
// (STORE_BLOB_SPELLS) and never changes; a new one takes what its lock, or the revision before it,
// says, and the rest by the channels that place.json names. Nothing is taken by itself: an update
// is a line in the job's log and in the page of the place.
//
// The modules are blobs. A build reads them from <data>/unpacked/<hash of the record>, which all
// places with the same record share. These wait for the disk.
#pragma once

#include "server/build/job/job.h"
#include "server/serve/publish/http_place.h"
#include "server/serve/publish/spell_list.h"
#include "server/store/place/store_publish.h"

typedef struct SpellRecord {
    SpellList list;
    uint64_t module_bytes[SPELLS_PER_PLACE_MAX];
    uint8_t hash[SHA256_BYTES]; // of the record, which is a blob
    uint64_t bytes;             // 0: it uses none
} SpellRecord;

// Of a revision that is built, whose package is in `folder`; `spells` is "" if it uses none.
// STATUS_MALFORMED:
// `reason` says which spell it may not use, or what is wrong with the lock.
MUST_USE Status spell_use_revision(Serve *serve, const StoreRevision *revision, const char *folder,
                                   SpellRecord *out, char spells[SERVE_PATH_BYTES],
                                   char reason[WORKER_REASON_BYTES]);
// The same as then, of one that is ready.
MUST_USE Status spell_use_again(Serve *serve, const char *place_id, uint32_t number,
                                char spells[SERVE_PATH_BYTES], char reason[WORKER_REASON_BYTES]);
// Of a draft, whose lock is written if something new was taken: a JobSpells of the Serve.
Status spell_use_draft(void *serve, const char *job_id, const char *place, uint64_t account,
                       char spells[PATH_MAX], char reason[WORKER_REASON_BYTES]);
// Adds what was used to what the store writes at the end of the build.
void spell_use_keep(const SpellRecord *record, StoreBuilt *built);

// The member spell_updates: newer revisions of what the newest ready revision was built with, for
// those who may read the place. Gives a hash of it.
uint64_t spell_write_updates(Serve *serve, const PlaceAsk *ask, const Identity *who,
                             JsonWriter *json);
