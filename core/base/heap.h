// The one gate to the system heap: nothing else in core/ calls malloc. A Heap counts what goes
// through it, refuses what would pass its cap, and can be frozen: any call on a frozen heap is a
// bug. Worlds allocate at create, freeze, and then step; tests prove that a step never allocates.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Heap {
    uint64_t bytes_max; // cap; 0 refuses everything
    uint64_t bytes_now; // sum of the sizes asked for and not yet freed
    uint64_t bytes_peak;
    uint64_t alloc_count; // calls that succeeded
    uint64_t free_count;
    uint64_t refused_count; // calls past the cap, or that the system refused
    uint64_t frozen_count;  // calls while frozen for a live world
    bool frozen, frozen_live;
} Heap;

Heap heap_make(uint64_t bytes_max);

// Zeroed, 16-byte aligned. NULL when the cap or the system refuses (counted).
void *heap_alloc(Heap *heap, size_t bytes);
// Frees what heap_alloc of the same Heap gave; NULL is allowed.
void heap_free(Heap *heap, void *block);
// The same for a block whose bytes are all zero: where memory is not the system's to clear (WASM),
// the next owner of a large one gets it without writing into each page.
void heap_free_clean(Heap *heap, void *block);

void heap_freeze(Heap *heap); // from here on any call dies
// The same for a live world, which must not end for what a player did: a call is counted, and an
// allocation refused. In a build with slow checks it dies all the same.
void heap_freeze_live(Heap *heap);
void heap_thaw(Heap *heap);

// a × b, or SIZE_MAX when that overflows: heap_alloc and arena_alloc refuse SIZE_MAX.
size_t heap_array_bytes(size_t count, size_t item_bytes);
