// Which place a folder is on which server: <folder>/.sandlot/publish.json, which `sandlot publish`
// writes, so that the other commands about a place can be given its folder.
#pragma once

#include "server/cli/tool.h"

#define PLACE_ID_TEXT_BYTES 65

// True: `out` is the place, "" if there is none. False: `why` says what is in the way.
bool place_known_find(const char *folder, const char *url, char out[PLACE_ID_TEXT_BYTES],
                      const char **why);
bool place_known_keep(const char *folder, const char *url, const char *place_id, const char **why);

// A place as a person names it: its id, also without "place_", or the folder that it was published
// from. EXIT_OK, or what is wrong was printed.
int place_argument(const Tool *client, const char *text, char out[PLACE_ID_TEXT_BYTES]);
