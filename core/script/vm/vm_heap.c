// Pages are numbered from 0; page 0 belongs to the reserve, so that 0 can mean "none" in lists.
#include "core/script/vm/vm_heap.h"

#include "core/base/check.h"

#include <string.h>

#define RUN_PAGES 4

enum { PAGE_INSIDE, PAGE_FREE, PAGE_LARGE, PAGE_RUN };

// At the start of a run; slots follow.
struct VmRun {
    VmRun *next, *previous; // among those with a free slot
    uint8_t *free;          // freed slots; each begins with a pointer to the next
    uint32_t untouched;     // offset of the first slot that was never used
    uint16_t used;
    uint16_t class;
};
#define RUN_HEADER 48
_Static_assert(sizeof(VmRun) <= RUN_HEADER, "slots begin after the header");

// With the address sanitizer, memory that Lua has not allocated is poisoned.
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
void __asan_poison_memory_region(const volatile void *address, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *address, size_t bytes);
#define POISON(address, bytes)   __asan_poison_memory_region(address, bytes)
#define UNPOISON(address, bytes) __asan_unpoison_memory_region(address, bytes)
#else
#define POISON(address, bytes)   ((void)0)
#define UNPOISON(address, bytes) ((void)0)
#endif

static const uint16_t CLASS_BYTES[VM_HEAP_CLASSES] = {
    16,  32,  48,  64,  80,  96,  112, 128, 144, 160,  176,  192,  208,  224,
    240, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048,
};
// For sizes above 256, by (size - 1) / 64.
static const uint8_t CLASS_OF_64[VM_SMALL_BYTES / 64] = {
    0,  0,  0,  0,  16, 17, 18, 19, 20, 20, 21, 21, 22, 22, 23, 23,
    24, 24, 24, 24, 25, 25, 25, 25, 26, 26, 26, 26, 27, 27, 27, 27,
};

static uint32_t class_of(size_t bytes)
{
    return bytes <= 256 ? (uint32_t)((bytes + 15) / 16 - 1) : CLASS_OF_64[(bytes - 1) / 64];
}

static uint32_t pages_of(size_t bytes)
{
    return (uint32_t)((bytes + VM_PAGE_BYTES - 1) / VM_PAGE_BYTES);
}

static uint8_t *page_address(const VmHeap *heap, uint32_t page)
{
    return heap->base + (size_t)page * VM_PAGE_BYTES;
}

static uint32_t page_at(const VmHeap *heap, const void *address)
{
    return (uint32_t)((size_t)((const uint8_t *)address - heap->base) / VM_PAGE_BYTES);
}

// --- owners -------------------------------------------------------------------------------------
#define OWNER_UNIT      16
#define OWNERS_PER_PAGE (VM_PAGE_BYTES / OWNER_UNIT)
#define OWNER_NONE      0xffff // the slot is free
_Static_assert(VM_OWNERS_MAX < OWNER_NONE, "an owner fits into two bytes");

static uint16_t *owner_at(const VmHeap *heap, const void *block)
{
    return &heap->owners[(size_t)((const uint8_t *)block - heap->base) / OWNER_UNIT];
}

static void owner_take(VmHeap *heap, const void *block, uint32_t owner, uint32_t bytes)
{
    *owner_at(heap, block) = (uint16_t)owner;
    heap->owned_bytes[owner] += bytes;
    heap->used_bytes += bytes;
}

static void owner_give(VmHeap *heap, const void *block, uint32_t bytes)
{
    heap->owned_bytes[*owner_at(heap, block)] -= bytes;
    *owner_at(heap, block) = OWNER_NONE;
    heap->used_bytes -= bytes;
}

uint32_t vm_heap_owner(const VmHeap *heap, const void *block)
{
    return *owner_at(heap, block);
}

// --- spans --------------------------------------------------------------------------------------
// Exact
// below 32 pages, then eight bins to each power of two.
static uint32_t bin_of(uint32_t count)
{
    if (count < 32) {
        return count;
    }
    const uint32_t power = 31 - (uint32_t)__builtin_clz(count);
    const uint32_t bin = 32 + (power - 5) * 8 + ((count >> (power - 3)) & 7);
    return bin < VM_HEAP_BINS ? bin : VM_HEAP_BINS - 1;
}

static void span_mark(VmHeap *heap, uint32_t page, uint32_t count, uint32_t kind)
{
    heap->pages[page].kind = kind;
    heap->pages[page].span = count;
    if (count > 1) {
        heap->pages[page + count - 1].kind = kind == PAGE_FREE ? PAGE_FREE : PAGE_INSIDE;
        heap->pages[page + count - 1].span = count;
    }
}

static void span_link(VmHeap *heap, uint32_t page, uint32_t count)
{
    span_mark(heap, page, count, PAGE_FREE);
    heap->free_pages += count;
    const uint32_t bin = bin_of(count);
    const uint32_t head = heap->bins[bin];
    heap->pages[page].next = head;
    heap->pages[page].previous = 0;
    if (head != 0) {
        heap->pages[head].previous = page;
    }
    heap->bins[bin] = page;
    heap->bin_mask[bin / 64] |= 1ull << (bin % 64);
}

static void span_unlink(VmHeap *heap, uint32_t page)
{
    VmPage *info = &heap->pages[page];
    heap->free_pages -= info->span;
    const uint32_t bin = bin_of(info->span);
    if (info->previous != 0) {
        heap->pages[info->previous].next = info->next;
    } else {
        heap->bins[bin] = info->next;
        if (info->next == 0) {
            heap->bin_mask[bin / 64] &= ~(1ull << (bin % 64));
        }
    }
    if (info->next != 0) {
        heap->pages[info->next].previous = info->previous;
    }
}

// The first bin from `bin` on that is not empty, or VM_HEAP_BINS.
static uint32_t bin_find(const VmHeap *heap, uint32_t bin)
{
    for (uint32_t word = bin / 64; word < VM_HEAP_BINS / 64; word++) {
        uint64_t mask = heap->bin_mask[word];
        if (word == bin / 64) {
            mask &= ~0ull << (bin % 64);
        }
        if (mask != 0) {
            return word * 64 + (uint32_t)__builtin_ctzll(mask);
        }
    }
    return VM_HEAP_BINS;
}

// A free span of at least `count` pages, or 0. All spans in higher bins are large enough; its own
// bin is searched first, which keeps large spans whole.
static uint32_t span_find(const VmHeap *heap, uint32_t count)
{
    const uint32_t bin = bin_of(count);
    for (uint32_t page = heap->bins[bin]; page != 0; page = heap->pages[page].next) {
        if (heap->pages[page].span >= count) {
            return page;
        }
    }
    const uint32_t larger = bin_find(heap, bin + 1 < VM_HEAP_BINS ? bin + 1 : bin);
    if (larger >= VM_HEAP_BINS || larger == bin) {
        return 0;
    }
    return heap->bins[larger];
}

static uint32_t span_take(VmHeap *heap, uint32_t count)
{
    const uint32_t page = span_find(heap, count);
    if (page == 0) {
        return 0;
    }
    const uint32_t found = heap->pages[page].span;
    ASSERT(found >= count);
    span_unlink(heap, page);
    if (found > count) {
        span_link(heap, page + count, found - count);
    }
    span_mark(heap, page, count, PAGE_LARGE);
    heap->untouched = page + count > heap->untouched ? page + count : heap->untouched;
    return page;
}

static void span_give(VmHeap *heap, uint32_t page, uint32_t count)
{
    const VmPage *after = &heap->pages[page + count];
    if (after->kind == PAGE_FREE) {
        span_unlink(heap, page + count);
        count += after->span;
    }
    const VmPage *before = &heap->pages[page - 1];
    if (before->kind == PAGE_FREE) {
        page -= before->span;
        count += heap->pages[page].span;
        span_unlink(heap, page);
    }
    span_link(heap, page, count);
}

// --- runs ---------------------------------------------------------------------------------------
static void run_link(VmHeap *heap, VmRun *run)
{
    run->previous = NULL;
    run->next = heap->runs[run->class];
    if (run->next != NULL) {
        run->next->previous = run;
    }
    heap->runs[run->class] = run;
}

static void run_unlink(VmHeap *heap, VmRun *run)
{
    if (run->previous != NULL) {
        run->previous->next = run->next;
    } else {
        heap->runs[run->class] = run->next;
    }
    if (run->next != NULL) {
        run->next->previous = run->previous;
    }
}

static VmRun *run_create(VmHeap *heap, uint32_t class)
{
    const uint32_t page = span_take(heap, RUN_PAGES);
    if (page == 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < RUN_PAGES; i++) {
        heap->pages[page + i].kind = PAGE_RUN;
        heap->pages[page + i].span = page;
    }
    VmRun *run = (VmRun *)(void *)page_address(heap, page);
    UNPOISON(run, sizeof *run);
    *run = (VmRun){.untouched = RUN_HEADER, .class = (uint16_t) class};
    run_link(heap, run);
    return run;
}

static bool run_is_full(const VmRun *run)
{
    return run->free == NULL &&
           run->untouched + CLASS_BYTES[run->class] > RUN_PAGES * VM_PAGE_BYTES;
}

static void *slot_take(VmHeap *heap, uint32_t class)
{
    VmRun *run = heap->runs[class];
    if (run == NULL) {
        run = run_create(heap, class);
        if (run == NULL) {
            return NULL;
        }
    }
    uint8_t *slot = run->free;
    if (slot != NULL) {
        UNPOISON(slot, CLASS_BYTES[class]);
        memcpy(&run->free, slot, sizeof run->free);
    } else {
        slot = (uint8_t *)run + run->untouched;
        UNPOISON(slot, CLASS_BYTES[class]);
        run->untouched += CLASS_BYTES[class];
    }
    run->used++;
    if (run_is_full(run)) {
        run_unlink(heap, run);
    }
    owner_take(heap, slot, heap->owner, CLASS_BYTES[class]);
    return slot;
}

static void slot_give(VmHeap *heap, void *slot, uint32_t class)
{
    const uint32_t page = heap->pages[page_at(heap, slot)].span;
    VmRun *run = (VmRun *)(void *)page_address(heap, page);
    ASSERT(run->class == class && run->used > 0);
    const bool was_full = run_is_full(run);
    memcpy(slot, &run->free, sizeof run->free);
    POISON(slot, CLASS_BYTES[class]);
    run->free = slot;
    run->used--;
    owner_give(heap, slot, CLASS_BYTES[class]);
    if (was_full) {
        run_link(heap, run);
    }
    // One empty run of each size is kept, because a program at the edge would otherwise create and
    // free it again and again.
    if (run->used == 0 && (run->next != NULL || run->previous != NULL)) {
        run_unlink(heap, run);
        POISON(run, RUN_PAGES * VM_PAGE_BYTES);
        span_give(heap, page, RUN_PAGES);
    }
}

// --- the whole ----------------------------------------------------------------------------------
size_t vm_heap_bytes(size_t bytes)
{
    const size_t count = pages_of(bytes) + (size_t)VM_RESERVE_PAGES;
    return (count + 1) * sizeof(VmPage) + count * OWNERS_PER_PAGE * sizeof(uint16_t) +
           count * VM_PAGE_BYTES;
}

void vm_heap_init(VmHeap *heap, void *block, size_t bytes)
{
    ASSERT(((uintptr_t)block & 15) == 0);
    const uint32_t count = pages_of(bytes) + VM_RESERVE_PAGES;
    memset(heap, 0, sizeof *heap);
    heap->page_count = count;
    heap->pages = block;
    heap->owners = (uint16_t *)(void *)(heap->pages + count + 1);
    heap->base = (uint8_t *)(heap->owners + (size_t)count * OWNERS_PER_PAGE);
    heap->pages[count].kind = PAGE_LARGE;
    span_mark(heap, 0, VM_RESERVE_PAGES, PAGE_LARGE);
    heap->reserve = VM_RESERVE_PAGES;
    heap->untouched = VM_RESERVE_PAGES;
    POISON(heap->base, (size_t)count * VM_PAGE_BYTES);
    span_link(heap, VM_RESERVE_PAGES, count - VM_RESERVE_PAGES);
}

void vm_heap_forget(VmHeap *heap)
{
    UNPOISON(heap->base, (size_t)heap->page_count * VM_PAGE_BYTES);
    (void)heap;
}

bool vm_heap_wipe(VmHeap *heap, size_t bytes_max)
{
    vm_heap_forget(heap);
    const size_t count = heap->untouched;
    if (count * VM_PAGE_BYTES > bytes_max) {
        return false;
    }
    // From there on is one free span: it is marked in its first and its last page.
    memset(heap->pages, 0, (count + 1) * sizeof *heap->pages);
    memset(heap->pages + heap->page_count - 1, 0, 2 * sizeof *heap->pages);
    memset(heap->owners, 0, count * OWNERS_PER_PAGE * sizeof *heap->owners);
    memset(heap->base, 0, count * VM_PAGE_BYTES);
    return true;
}

void vm_heap_release_reserve(VmHeap *heap)
{
    if (heap->reserve != 0) {
        // Page 0 is never used, because 0 means none.
        span_mark(heap, 0, 1, PAGE_LARGE);
        span_mark(heap, 1, heap->reserve - 1, PAGE_LARGE);
        span_give(heap, 1, heap->reserve - 1);
        heap->reserve = 0;
    }
}

static void note_peak(VmHeap *heap)
{
    if (heap->used_bytes > heap->peak_bytes) {
        heap->peak_bytes = heap->used_bytes;
    }
}

// Frees the empty runs that were kept; true if there were any.
static bool trim(VmHeap *heap)
{
    bool any = false;
    for (uint32_t class = 0; class < VM_HEAP_CLASSES; class ++) {
        VmRun *next;
        for (VmRun *run = heap->runs[class]; run != NULL; run = next) {
            next = run->next;
            if (run->used == 0) {
                run_unlink(heap, run);
                POISON(run, RUN_PAGES * VM_PAGE_BYTES);
                span_give(heap, page_at(heap, run), RUN_PAGES);
                any = true;
            }
        }
    }
    return any;
}

static void *try_alloc(VmHeap *heap, size_t bytes)
{
    void *block;
    if (bytes <= VM_SMALL_BYTES) {
        block = slot_take(heap, class_of(bytes));
    } else {
        if (bytes > (size_t)heap->page_count * VM_PAGE_BYTES) {
            return NULL;
        }
        const uint32_t page = span_take(heap, pages_of(bytes));
        if (page == 0) {
            return NULL;
        }
        block = page_address(heap, page);
        UNPOISON(block, bytes);
        owner_take(heap, block, heap->owner, pages_of(bytes) * VM_PAGE_BYTES);
    }
    note_peak(heap);
    return block;
}

void *vm_heap_alloc(VmHeap *heap, size_t bytes)
{
    ASSERT(bytes > 0);
    void *block = try_alloc(heap, bytes);
    if (block == NULL && trim(heap)) {
        block = try_alloc(heap, bytes);
    }
    return block;
}

void vm_heap_free(VmHeap *heap, void *block, size_t bytes)
{
    ASSERT(block != NULL && bytes > 0);
    if (bytes <= VM_SMALL_BYTES) {
        slot_give(heap, block, class_of(bytes));
        return;
    }
    const uint32_t count = pages_of(bytes);
    const uint32_t page = page_at(heap, block);
    ASSERT(heap->pages[page].kind == PAGE_LARGE && heap->pages[page].span == count);
    POISON(block, (size_t)count * VM_PAGE_BYTES);
    owner_give(heap, block, count * VM_PAGE_BYTES);
    span_give(heap, page, count);
}

// Grows or shrinks a large block in place. False if the following pages are in use.
static bool large_resize(VmHeap *heap, uint32_t page, uint32_t old_count, uint32_t new_count)
{
    if (new_count < old_count) {
        span_mark(heap, page, new_count, PAGE_LARGE);
        span_mark(heap, page + new_count, old_count - new_count, PAGE_LARGE);
        span_give(heap, page + new_count, old_count - new_count);
    } else if (new_count > old_count) {
        const uint32_t after = page + old_count;
        const uint32_t more = new_count - old_count;
        if (heap->pages[after].kind != PAGE_FREE || heap->pages[after].span < more) {
            return false;
        }
        const uint32_t found = heap->pages[after].span;
        span_unlink(heap, after);
        if (found > more) {
            span_link(heap, after + more, found - more);
        }
        heap->pages[after].kind = PAGE_INSIDE;
        span_mark(heap, page, new_count, PAGE_LARGE);
    }
    return true;
}

static void *realloc_for(VmHeap *heap, uint32_t owner, void *block, size_t old_bytes,
                         size_t new_bytes)
{
    ASSERT(block != NULL && old_bytes > 0 && new_bytes > 0);
    const bool was_small = old_bytes <= VM_SMALL_BYTES;
    const bool is_small = new_bytes <= VM_SMALL_BYTES;
    if (was_small && is_small && class_of(old_bytes) == class_of(new_bytes)) {
        return block;
    }
    if (!was_small && !is_small && new_bytes <= (size_t)heap->page_count * VM_PAGE_BYTES &&
        large_resize(heap, page_at(heap, block), pages_of(old_bytes), pages_of(new_bytes))) {
        owner_give(heap, block, pages_of(old_bytes) * VM_PAGE_BYTES);
        owner_take(heap, block, owner, pages_of(new_bytes) * VM_PAGE_BYTES);
        POISON(block, (size_t)pages_of(new_bytes) * VM_PAGE_BYTES);
        UNPOISON(block, new_bytes);
        note_peak(heap);
        return block;
    }
    const uint32_t running = heap->owner;
    heap->owner = owner;
    void *moved = vm_heap_alloc(heap, new_bytes);
    heap->owner = running;
    if (moved != NULL) {
        memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
        vm_heap_free(heap, block, old_bytes);
    }
    return moved;
}

void *vm_heap_realloc(VmHeap *heap, void *block, size_t old_bytes, size_t new_bytes)
{
    // The collector shrinks blocks of any owner, whichever is running.
    const uint32_t before = vm_heap_owner(heap, block);
    const bool keeps = before == 0 || new_bytes <= old_bytes;
    return realloc_for(heap, keeps ? before : heap->owner, block, old_bytes, new_bytes);
}

static void measure_run(VmHeap *heap, const VmRun *run)
{
    const uint32_t each = run->used > 0 ? (uint32_t)(RUN_PAGES * VM_PAGE_BYTES) / run->used : 0;
    for (uint32_t at = RUN_HEADER; at < run->untouched; at += CLASS_BYTES[run->class]) {
        const uint32_t owner = *owner_at(heap, (const uint8_t *)run + at);
        if (owner != OWNER_NONE) {
            heap->held_bytes[owner] += each;
        }
    }
}

void vm_heap_measure(VmHeap *heap)
{
    memset(heap->held_bytes, 0, sizeof heap->held_bytes);
    uint32_t page = heap->reserve != 0 ? heap->reserve : 1;
    while (page < heap->page_count) {
        const VmPage *info = &heap->pages[page];
        const uint8_t *address = page_address(heap, page);
        if (info->kind == PAGE_RUN) {
            measure_run(heap, (const VmRun *)(const void *)address);
            page += RUN_PAGES;
        } else {
            if (info->kind == PAGE_LARGE) {
                heap->held_bytes[*owner_at(heap, address)] += info->span * VM_PAGE_BYTES;
            }
            page += info->span;
        }
    }
}

bool vm_heap_can_hold(VmHeap *heap, size_t bytes)
{
    if (bytes <= VM_SMALL_BYTES) {
        return heap->free_pages > 0;
    }
    return bytes <= (size_t)heap->page_count * VM_PAGE_BYTES &&
           (span_find(heap, pages_of(bytes)) != 0 ||
            (trim(heap) && span_find(heap, pages_of(bytes)) != 0));
}

static bool bins_are_sound(const VmHeap *heap, uint32_t free_spans)
{
    uint32_t found = 0;
    for (uint32_t bin = 0; bin < VM_HEAP_BINS; bin++) {
        const bool marked = (heap->bin_mask[bin / 64] >> (bin % 64) & 1) != 0;
        if (marked != (heap->bins[bin] != 0)) {
            return false;
        }
        for (uint32_t page = heap->bins[bin]; page != 0; page = heap->pages[page].next) {
            if (heap->pages[page].kind != PAGE_FREE || bin_of(heap->pages[page].span) != bin) {
                return false;
            }
            found++;
        }
    }
    return found == free_spans;
}

bool vm_heap_is_sound(const VmHeap *heap)
{
    size_t used = 0;
    uint32_t free_spans = 0;
    bool was_free = false;
    uint32_t page = heap->reserve != 0 ? heap->reserve : 1;
    while (page < heap->page_count) {
        const VmPage *info = &heap->pages[page];
        uint32_t count = info->span;
        if (info->kind == PAGE_RUN) {
            const VmRun *run = (const VmRun *)(const void *)page_address(heap, page);
            count = RUN_PAGES;
            used += (size_t)run->used * CLASS_BYTES[run->class];
        } else if (info->kind == PAGE_LARGE) {
            used += (size_t)count * VM_PAGE_BYTES;
        } else if (info->kind != PAGE_FREE || was_free) {
            return false; // lost, or two free spans that were not joined
        }
        if (count == 0) {
            return false;
        }
        was_free = info->kind == PAGE_FREE;
        free_spans += was_free;
        page += count;
    }
    size_t owned = 0;
    for (uint32_t owner = 0; owner <= VM_OWNERS_MAX; owner++) {
        owned += heap->owned_bytes[owner];
    }
    return page == heap->page_count && used == heap->used_bytes && owned == used &&
           bins_are_sound(heap, free_spans);
}
