// Ids of new places: readable, and nobody else's. "place_", what the title has of plain letters,
// and six random ones: place_lava-run-k3m9qd.
#pragma once

#include "server/store/store_package.h"

void package_id_make(const char *title, char out[65]);
