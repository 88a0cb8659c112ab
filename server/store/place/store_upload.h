// Contents that editors upload to a draft. They are uploaded first, and an operation names them
// afterwards, or never: so each is kept for UPLOAD_KEPT_DAYS, and after that for as long as the log
// of the draft (store_edit.h) names it. One that is not named loses its use, and its blob is
// removed if it has no other. These wait for the disk.
#pragma once

#include "server/store/place/store_package.h"

// Much longer than any page waits between both.
#define UPLOAD_KEPT_DAYS  7
#define UPLOADS_SWEPT_MAX 256 // of one draft at once; the others in the next sweep

// It counts from now on, also if it was uploaded before. bytes_max: what the owner of the package
// may use in all, with this. STATUS_LIMIT: it does not fit, and nothing has changed.
// STATUS_NOT_FOUND: no such package, or in the trash.
MUST_USE Status store_upload_put(Store *store, const char *package_id, const uint8_t hash[32],
                                 uint64_t bytes, uint64_t now_unix_ms, uint64_t bytes_max);
// The first package after `after` with contents that were uploaded so long ago that they have to be
// looked at. STATUS_NOT_FOUND.
MUST_USE Status store_upload_next(Store *store, const char *after, uint64_t now_unix_ms,
                                  char package_id[65]);
// Looks at them. Nobody edits the draft; if an edit session begins meanwhile, nothing is removed.
MUST_USE Status store_upload_sweep(Store *store, const char *package_id, uint64_t now_unix_ms,
                                   uint32_t *removed);
