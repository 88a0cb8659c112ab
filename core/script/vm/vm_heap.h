// The memory of one Vm: a block that Lua allocates from and never leaves. Deterministic, because
// only offsets decide; fast, because small objects come from runs of equal slots; tight, because a
// run that is empty goes back to the pages.
//
//   small, to 2,048 bytes    slots of 28 sizes in runs of four pages; the page table leads from a
//                            slot to its run, so a slot has no header (Lua tells the size it frees)
//   large                    whole pages; free spans in bins by size, joined with their neighbours
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_PAGE_BYTES    4096
#define VM_HEAP_CLASSES  28
#define VM_HEAP_BINS     192
#define VM_SMALL_BYTES   2048
#define VM_RESERVE_PAGES 16

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
    uint32_t reserve; // the span kept for the unwinding after the block is full; 0: given out
    size_t used_bytes, peak_bytes;
    VmRun *runs[VM_HEAP_CLASSES]; // those with a free slot
    uint32_t bins[VM_HEAP_BINS];
    uint64_t bin_mask[VM_HEAP_BINS / 64];
} VmHeap;

// Bytes that vm_heap_init needs at `block` for a heap that can hand out this much.
size_t vm_heap_bytes(size_t bytes);
// `block` is 16-byte aligned.
void vm_heap_init(VmHeap *heap, void *block, size_t bytes);
// Before the block is given back.
void vm_heap_forget(VmHeap *heap);

// NULL when no span is large enough. Not zeroed; 16-byte aligned.
void *vm_heap_alloc(VmHeap *heap, size_t bytes);
// `bytes` is what was asked for.
void vm_heap_free(VmHeap *heap, void *block, size_t bytes);
// Leaves the block alone when it gives NULL.
void *vm_heap_realloc(VmHeap *heap, void *block, size_t old_bytes, size_t new_bytes);
// Puts the last pages into use.
void vm_heap_release_reserve(VmHeap *heap);

// Walks everything: that spans tile the block, bins hold what is free, and the sums are right.
bool vm_heap_is_sound(const VmHeap *heap);
