// A world as a whole: put in place of what is stored, or removed, while nobody runs it. These wait
// for the disk.
#pragma once

#include "server/store/store.h"

// The rows of one world, as store_rows gives them. STATUS_MALFORMED.
MUST_USE Status store_rows_check(const uint8_t *rows, size_t bytes);
// The world's row and all its other rows become these, in one transaction: all of it or nothing.
// Whoever is invited stays so. STATUS_EXISTS: a host runs it, or its room code is another world's.
// STATUS_LIMIT: it is new, and its owner has owned_max worlds already (0: any number).
MUST_USE Status store_world_import(Store *store, const StoreWorld *world, const uint8_t *rows,
                                   size_t bytes, uint32_t owned_max);
// As store_world_delete, but STATUS_EXISTS when a host runs it.
MUST_USE Status store_world_remove(Store *store, const char *world_id);
