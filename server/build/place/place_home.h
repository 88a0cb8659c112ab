// <place>/.sandlot: what is made of a place here, beside it. `data` in there holds the signing key
// and the database, and both are believed. A place may come from a stranger with such a folder in
// it (an archive, a copy): its key would then sign as ours whatever its cache holds. So `data`
// carries a note of which folder it is, by inode and time of birth, which no copy shares. One that
// has anything in it and not the right note is refused until somebody who knows it adopts it. And
// .sandlot, `data` and `cache` are the user's own, with nobody else who may write to them: others
// could exchange the key later, whatever was there at first. git is kept from all of them.
//
// A folder that was named (--data) is the operator's own word and not asked.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>

#define PLACE_HOME_PATH_BYTES 4096

// Makes <place>/.sandlot/<inside> if it is missing. STATUS_BLOCKED: a link or no folder is there,
// or the system refuses; STATUS_DENIED: it or .sandlot is another user's, or others may write to
// it; STATUS_RANGE: the path is too long. *why is for people.
MUST_USE Status place_home_folder(const char *place, const char *inside,
                                  char out[PLACE_HOME_PATH_BYTES], const char **why);
// Why the system refused to write there, by errno: for people, with what to do where that is known.
const char *place_home_refusal(int error);
// Whose fault it was, when any of these failed on `inside` (".sandlot/data"): ".sandlot", if that
// is there and no folder, or `inside`.
const char *place_home_at_fault(const char *place, const char *inside);
// The same as place_home_folder for `data`. STATUS_DENIED also: it was made elsewhere.
MUST_USE Status place_home_data(const char *place, char out[PLACE_HOME_PATH_BYTES],
                                const char **why);
// Whether it is from here, without making anything: STATUS_OK also when there is none.
MUST_USE Status place_home_check(const char *place, const char **why);
// From now on it is ours.
MUST_USE Status place_home_adopt(const char *place, const char **why);
