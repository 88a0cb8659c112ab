// Every file of a folder, and removing a folder; no link is followed.
#pragma once

#include "core/base/status.h"

// Paths are relative, with slashes; names that begin with a dot, node_modules, and what is no plain
// file are left out. In any order. STATUS_NOT_FOUND, STATUS_BLOCKED: the system refuses.
typedef void (*DraftWalkFile)(void *user, const char *path);
MUST_USE Status draft_walk(const char *folder, DraftWalkFile each, void *user);
// With everything in it, as far as the system allows. A folder that is not there is fine.
void draft_walk_remove(const char *folder);
// The same for all folders in it whose names begin so: what a crash left behind.
void draft_walk_sweep(const char *folder, const char *beginning);
