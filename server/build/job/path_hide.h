// Where things are on this machine is for its operator. What others are told (a job's reason, over
// HTTP) names things by their own names. In place: a text never becomes longer.
#pragma once

#include <stddef.h>

// Where the text names that folder, or something in it, the folder's own name stays of its path:
// "/srv/places/mygame/scene.json: …" becomes "mygame/scene.json: …". Of 0 bytes: none.
void path_hide_folder(char *text, const char *folder, size_t bytes);
// Of every other absolute path its last name stays: "/opt/node/bin/node: …" becomes "node: …". A
// path may have spaces in it, so it reaches to the next mark that ends one; rather too far.
void path_hide_all(char *text);
