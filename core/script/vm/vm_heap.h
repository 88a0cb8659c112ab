// The memory of one Vm: a block that Lua allocates from and never leaves. Deterministic, because
// only offsets decide; fast, because small objects come from runs of equal slots; tight, because a
// run that is empty goes back to the pages.
//
//   small, to 2,048 bytes    slots of 28 sizes in runs of four pages; the page table leads from a
//                            slot to its run, so a slot has no header (Lua tells the size it frees)
//   large                    whole pages; free spans in bins by size, joined with their neighbours
//
// Every block has an owner, a small number that is set before Lua runs: two bytes in a table beside
// the pages, so that it is always known who holds how much. 0 owns what belongs to all.
#pragma once

#include "core/base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_PAGE_BYTES    4096
#define VM_HEAP_CLASSES  28
#define VM_HEAP_BINS     192
#define VM_SMALL_BYTES   2048
#define VM_RESERVE_PAGES 16
#define VM_OWNERS_MAX    SCRIPTS_OF_A_SIDE_MAX

typedef struct VmPage {
    uint32_t span; // free or large: its length, in the first and the last page; run: its first page
    uint32_t next, previous; // of a free span, in its bin; 0: none
    uint32_t kind;
} VmPage;

typedef struct VmRun VmRun;

typedef struct VmHeap {
    uint8_t *base; // page 0
    VmPage *pages; // page_count + 1: the last is a fence
    uint32_t page_count;
    uint32_t untouched; // the first page of those at the end that nobody ever had
    uint32_t reserve;   // the span kept for the unwinding after the block is full; 0: in use
    uint32_t free_pages;
    size_t used_bytes, peak_bytes;
    uint32_t owner;                          // of what is allocated or grown from now on
    uint16_t *owners;                        // of the block that begins there, by units of 16 bytes
    uint32_t owned_bytes[VM_OWNERS_MAX + 1]; // by owner; together they are used_bytes
    uint32_t held_bytes[VM_OWNERS_MAX + 1];  // see vm_heap_measure
    VmRun *runs[VM_HEAP_CLASSES];            // those with a free slot
    uint32_t bins[VM_HEAP_BINS];
    uint64_t bin_mask[VM_HEAP_BINS / 64];
} VmHeap;

// Bytes that vm_heap_init needs at `block` for a heap that can hand out this much.
size_t vm_heap_bytes(size_t bytes);
// `block` is 16-byte aligned.
void vm_heap_init(VmHeap *heap, void *block, size_t bytes);
// Call it before the block is freed.
void vm_heap_forget(VmHeap *heap);
// The same, and the block is all zeros again if no more than so many bytes of it have to be written
// for that; otherwise false.
bool vm_heap_wipe(VmHeap *heap, size_t bytes_max);

// NULL when no span is large enough. Not zeroed; 16-byte aligned.
void *vm_heap_alloc(VmHeap *heap, size_t bytes);
// `bytes` is the size that was requested.
void vm_heap_free(VmHeap *heap, void *block, size_t bytes);
// If it returns NULL the block is unchanged. Growing a block makes the current owner its owner,
// except that blocks of all (0) stay so.
void *vm_heap_realloc(VmHeap *heap, void *block, size_t old_bytes, size_t new_bytes);
// Who owns a block that is in use.
uint32_t vm_heap_owner(const VmHeap *heap, const void *block);
// Fills held_bytes: the pages that cannot be used for anything else, because an owner has a block
// in them. An owner that alone keeps one slot of a run holds the whole run. Walks over all slots.
void vm_heap_measure(VmHeap *heap);
// Whether a block of so many bytes can be allocated.
bool vm_heap_can_hold(VmHeap *heap, size_t bytes);
// Makes the reserved pages available.
void vm_heap_release_reserve(VmHeap *heap);

// Checks everything: spans cover the block, bins contain the free ones, and the sums are right.
bool vm_heap_is_sound(const VmHeap *heap);
