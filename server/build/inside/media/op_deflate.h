// Deflating one file of a package. Even a compressor of somebody's bytes runs in the worker.
//
//   request   the file
//   reply     the same deflated; empty: it is to be stored as it is
#pragma once

#include "core/wire/place.h"
#include "server/build/ask/worker.h"

// *packed is the caller's to free when it went well; empty: store it. The bytes depend on the file
// and zlib alone.
MUST_USE Status package_deflate(Worker *worker, const PlaceFile *file, Buffer *packed,
                                char reason[WORKER_REASON_BYTES]);
