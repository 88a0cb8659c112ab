// One draft from a seed, in virtual time: two to eight editors, the real edit process
// (server/shell/edit) without its sockets, and a host with a store and a disk. Here the process and
// the server are killed at any moment, also between two steps of one write: after a hash was stored
// and before the text, between two files, between the last rename and the row that says so. Saves
// are refused, files and texts change on disk by another program, and other writers hold the
// process.
//
// What must be so is said at check_row and check_end.
#pragma once

#include "tests/scenario/edit/editors.h"

EditorsResult draft_run(uint64_t seed);
