#include "core/world/row.h"
