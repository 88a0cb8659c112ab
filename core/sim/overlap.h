// Does an axis-aligned box overlap a placed shape? Building asks this of every part around a piece.
// Exact to rounding for boxes, wedges, spheres and cylinders that stand upright; a tilted cylinder
// counts as the eight-sided prism around it. Touching is not overlapping.
#pragma once

#include "core/sim/shape.h"

bool overlap_box_shape(Aabb box, const PlacedShape *shape);
