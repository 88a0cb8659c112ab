// See manifest_restart.h.
#include "core/wire/manifest_restart.h"

#include "core/base/check.h"

#include <string.h>

// Puts each script after those that it requires, unless they require each other in a circle: a
// depth-first walk that notes a script when it leaves it.
typedef struct RequireWalk {
    uint16_t order[MANIFEST_ROWS_MAX], path[MANIFEST_ROWS_MAX];
    uint8_t next[MANIFEST_ROWS_MAX]; // of what it requires
    bool entered[MANIFEST_ROWS_MAX];
    uint32_t order_count, depth;
} RequireWalk;
_Static_assert(MANIFEST_ROWS_MAX <= UINT16_MAX && MANIFEST_REQUIRES_MAX <= UINT8_MAX, "they fit");

static void walk_enter(RequireWalk *walk, uint32_t number)
{
    if (!walk->entered[number]) {
        walk->entered[number] = true;
        walk->path[walk->depth++] = (uint16_t)number;
    }
}

static void walk_from(const RequireGraph *graph, RequireWalk *walk, uint32_t number)
{
    walk_enter(walk, number);
    while (walk->depth > 0) {
        const uint16_t at = walk->path[walk->depth - 1];
        const uint32_t *numbers = NULL;
        const uint32_t count = graph->requires(graph->user, at, &numbers);
        const uint32_t depth = walk->depth;
        while (walk->next[at] < count && walk->depth == depth) {
            const uint32_t needed = numbers[walk->next[at]++];
            ASSERT(needed < graph->count);
            walk_enter(walk, needed);
        }
        if (walk->depth == depth) {
            walk->order[walk->order_count++] = at;
            walk->depth -= 1;
        }
    }
}

// In that order one round marks everything, and another one sees that; only circles, which no build
// lets through, take more.
void restart_spread(const RequireGraph *graph, bool *restarts)
{
    RequireWalk walk;
    ASSERT(graph->count <= MANIFEST_ROWS_MAX);
    memset(&walk, 0, sizeof walk);
    for (uint32_t i = 0; i < graph->count; i++) {
        walk_from(graph, &walk, i);
    }
    bool is_changed = true;
    while (is_changed) { // each round but the last marks at least one
        is_changed = false;
        for (uint32_t at = 0; at < graph->count; at++) {
            const uint32_t i = walk.order[at];
            const uint32_t *numbers = NULL;
            const uint32_t count = restarts[i] ? 0 : graph->requires(graph->user, i, &numbers);
            for (uint32_t k = 0; k < count && !restarts[i]; k++) {
                ASSERT(numbers[k] < graph->count);
                restarts[i] = restarts[numbers[k]];
                is_changed = is_changed || restarts[i];
            }
        }
    }
}

// --- manifests ----------------------------------------------------------------------------------

// Where the ending of a source begins: at the last dot of its last part.
Text manifest_row_path(const ManifestRow *row)
{
    for (size_t i = row->path.bytes; i > 0 && row->path.data[i - 1] != '/'; i--) {
        if (row->path.data[i - 1] == '.') {
            return (Text){row->path.data, i - 1};
        }
    }
    return row->path;
}

// The order of a source and of a path with a dot behind it, which is before all of its sources.
static int order_of(Text source, Text path)
{
    const size_t common = source.bytes < path.bytes ? source.bytes : path.bytes;
    const int order = common == 0 ? 0 : memcmp(source.data, path.data, common);
    if (order != 0) {
        return order;
    }
    return source.bytes <= path.bytes ? -1 : (int)(uint8_t)source.data[path.bytes] - '.';
}

// Rows are sorted by path with its ending.
uint32_t manifest_find(const ManifestList *list, Text path)
{
    uint32_t low = 0, high = list->row_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const bool is_before = order_of(list->rows[middle].path, path) < 0;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    for (; low < list->row_count && order_of(list->rows[low].path, path) == 0; low++) {
        if (text_equal(manifest_row_path(&list->rows[low]), path)) {
            return low;
        }
    }
    return UINT32_MAX;
}

bool manifest_row_is_same(const ManifestRow *a, const ManifestRow *b)
{
    return memcmp(a->rune_hash, b->rune_hash, sizeof a->rune_hash) == 0 &&
           a->replicate == b->replicate && text_equal(a->run_context, b->run_context);
}

typedef struct Requires {
    const uint32_t *numbers;
    const uint32_t *first; // by row, and one more
} Requires;

static uint32_t requires_of(const void *user, uint32_t number, const uint32_t **out)
{
    const Requires *all = user;
    *out = all->numbers + all->first[number];
    return all->first[number + 1] - all->first[number];
}

// The numbers of what each row requires; what the manifest does not name is left out.
static Status resolve(const ManifestList *list, Arena *scratch, Requires *out)
{
    size_t most = 0;
    for (uint32_t i = 0; i < list->row_count; i++) {
        most += list->rows[i].require_count;
    }
    uint32_t *first = arena_array(scratch, (size_t)list->row_count + 1, sizeof *first);
    uint32_t *numbers = arena_array(scratch, most + 1, sizeof *numbers);
    if (first == NULL || numbers == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < list->row_count; i++) {
        const ManifestRow *row = &list->rows[i];
        first[i] = used;
        for (uint32_t k = 0; k < row->require_count; k++) {
            const uint32_t number = manifest_find(list, row->requires[k]);
            if (number != UINT32_MAX) {
                numbers[used++] = number;
            }
        }
    }
    first[list->row_count] = used;
    *out = (Requires){numbers, first};
    return STATUS_OK;
}

Status manifest_restarts(const ManifestList *before, const ManifestList *after, Arena *scratch,
                         bool *restarts)
{
    Requires all;
    const Status status = resolve(after, scratch, &all);
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < after->row_count; i++) {
        const uint32_t old = manifest_find(before, manifest_row_path(&after->rows[i]));
        restarts[i] =
            old == UINT32_MAX || !manifest_row_is_same(&before->rows[old], &after->rows[i]);
    }
    const RequireGraph graph = {.user = &all, .count = after->row_count, .requires = requires_of};
    restart_spread(&graph, restarts);
    return STATUS_OK;
}
