// A folder of blobs that is only a cache: what was used longest ago goes first. When a file was
// used is its time of last change, which whoever opens it sets to now.
#pragma once

#include <stdint.h>

// Removes files until the rest has at most bytes_max; returns what is left, in bytes. Somebody who
// has opened one of them reads on.
uint64_t blob_cache_trim(int folder, uint64_t bytes_max);
