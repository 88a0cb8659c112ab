// <place>/.sandlot: files that are generated for a place, in its own folder. `data` in it holds the
// signing key and the database, and both are trusted. A place from a stranger (an archive, a copy)
// may contain such a folder: its key would then sign whatever its cache holds. So `data` has a note
// of which folder it is, by inode and time of birth, which a copy does not share. If it is not
// empty and does not have the right note, it is rejected until the user adopts it. .sandlot, `data`
// and `cache` must belong to the user, and nobody else may write to them: others could replace the
// key later. A .gitignore keeps all of them out of git.
// A folder given by --data was chosen by the operator and is not checked.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>

#define PLACE_HOME_PATH_BYTES 4096

// Creates <place>/.sandlot/<inside> if it is missing. STATUS_BLOCKED: a link or something else is
// there, or the system refuses; STATUS_DENIED: it or .sandlot belongs to another user, or others
// may write to it; STATUS_RANGE: the path is too long. *why is for people.
MUST_USE Status place_home_folder(const char *place, const char *inside,
                                  char out[PLACE_HOME_PATH_BYTES], const char **why);
// Why the system refused to write there, by errno; for people, with what to do if that is known.
const char *place_home_refusal(int error);
// Which path to name when one of these failed on `inside` (".sandlot/data"): ".sandlot", if that
// exists and is not a folder, or `inside`.
const char *place_home_at_fault(const char *place, const char *inside);
// Like place_home_folder for `data`. STATUS_DENIED also if it was made elsewhere.
MUST_USE Status place_home_data(const char *place, char out[PLACE_HOME_PATH_BYTES],
                                const char **why);
// Whether `data` was made here, without creating anything: STATUS_OK also if it is missing.
MUST_USE Status place_home_check(const char *place, const char **why);
// Marks `data` as made here.
MUST_USE Status place_home_adopt(const char *place, const char **why);
