// Removes paths of this machine from texts for others (a job's reason, over HTTP). In place: a text
// never becomes longer.
#pragma once

#include <stddef.h>

// Replaces that folder by its own name: "/srv/places/mygame/scene.json: …" becomes
// "mygame/scene.json: …". 0 bytes: does nothing.
void path_hide_folder(char *text, const char *folder, size_t bytes);
// Replaces every other absolute path by its last name: "/opt/node/bin/node: …" becomes "node: …". A
// path may contain spaces, so it is taken to reach to the next mark that ends one; better too far
// than not far enough.
void path_hide_all(char *text);
