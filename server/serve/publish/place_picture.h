// The picture of a place that has none: a landscape of blocks, drawn from its id, so that it is the
// same one each time. The cards of the site draw the same (web/src/site/parts.tsx); this one is for
// who cannot: pages elsewhere that show a link.
#pragma once

#include "server/build/base/buffer.h"

#define PLACE_PICTURE_WIDTH     640
#define PLACE_PICTURE_HEIGHT    360
#define PLACE_PICTURE_BYTES_MAX (256u << 10)

// A PNG. The buffer's status says whether there was memory for it.
void place_picture_draw(const char *place_id, Buffer *out);
