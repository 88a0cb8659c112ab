// Room for the large blocks that are about to be asked for.
#pragma once

#include <stddef.h>

// In WebAssembly the memory grows once instead of in several steps, each of which costs as much as
// writing hundreds of pages. Pages that nobody uses cost nothing, and if there is no such room the
// blocks are asked for one by one. Elsewhere it does nothing.
void heap_reserve(size_t bytes);
