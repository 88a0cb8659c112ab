// Builds of the process: one queue for what editors save and for revisions of places. A revision
// that is building when the process dies is built again at its next start; its job id stays good,
// because the row of the revision has it.
#pragma once

#include "server/build/job/job.h"
#include "server/serve/serve_inside.h"
#include "server/store/place/store_package.h"

// Made when it is first needed; NULL: there is no memory for it.
JobQueue *serve_jobs(Serve *serve);
void serve_jobs_stop(Serve *serve); // ends the builds that run
// Builds again what was not finished. With accounts, once HTTP runs.
void place_build_recover(Serve *serve);

// A place in the queue, before the row of the revision is written. False: the response says why
// not (429: this account has too many; 503: all have).
bool place_build_reserve(Serve *serve, uint64_t account, char id[JOB_ID_BYTES],
                         HttpRequest *request, HttpResponse *response);
// Of one whose row is written, with the id that was reserved.
void place_build_begin(Serve *serve, const StoreRevision *revision);
// The job of a revision, also when the queue has forgotten it.
void place_build_status(Serve *serve, const StoreRevision *revision, JobStatus *out);

// After a channel names another revision, the place was trashed, removed or restored, its page was
// changed, or its team.
void place_build_changed(Serve *serve, const char *place_id);

// What a channel names from now on, for the audit: who was live when. Without room for it the
// channel is changed all the same.
void place_build_record(Serve *serve, uint64_t account, const char *place_id, const char *channel,
                        uint32_t number);

// "r3". False: it is no revision's id.
#define REVISION_ID_BYTES 12
void revision_id_write(uint32_t revision, char out[REVISION_ID_BYTES]);
bool revision_id_read(const char *text, uint32_t *revision);
