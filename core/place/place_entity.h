// What one entity of a doc becomes in a Place: for place.c, and for a world to which a creator adds
// one while it runs (core/world/edit_made.c).
#pragma once

#include "core/place/place.h"
#include "core/wire/place_doc.h"

// Everything but texts, attributes, tags and the binding, which are left empty. The doc has its
// frame and pose (place_check). A status of place_motion: its motion cannot be done.
MUST_USE Status place_entity_make(const PlaceEntityDoc *doc, uint32_t tick_rate, PlaceEntity *out);
