// A* in fixed memory. Nodes are numbered in the order in which they are seen, and kept in three
// ways: by number (the array), by cell (an open-addressing table), and by cost while they are open
// (a binary heap with the place of each node written in it, so that a cheaper way moves a node
// instead of adding it twice).
//
// The table is never cleared: an entry counts only if the node it names exists and names the entry
// back. Table and heap follow from the nodes, so a saved search is its nodes and nothing else.
#include "core/sim/path.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/heap.h"
#include "core/base/limits.h"
#include "core/sim/walk.h"

#define COORD_BITS 15
#define COORD_BIAS WORLD_EXTENT_M
#define COST_MAX   (1u << 30)

_Static_assert(2 * WORLD_EXTENT_M == 1 << COORD_BITS, "a cell must fit its key");

typedef struct Node {
    uint64_t key;     // the cell
    float height;     // of its floor
    uint32_t cost;    // from the start
    uint32_t total;   // cost + estimate
    uint32_t parent;  // 0: the start
    uint32_t heap_at; // its place in the heap; 0: closed
    uint32_t table_at;
} Node;

struct PathFinder {
    Node *nodes;     // from 1
    uint32_t *heap;  // from 1; node numbers
    uint32_t *table; // node numbers
    uint32_t cells_max;
    uint32_t table_mask;

    bool active;
    VoxelCoord goal;
    uint32_t node_count;
    uint32_t heap_count;
    uint32_t best; // the node with the lowest estimate: where to go when there is no way
    bool found;    // best is the goal itself
};

// --- memory -------------------------------------------------------------------------------------
static uint32_t table_size(uint32_t cells_max)
{
    uint32_t size = 16;
    while (size < cells_max * 2ull && size < 1u << 30) {
        size *= 2;
    }
    return size;
}

size_t path_bytes(uint32_t cells_max)
{
    const size_t nodes = arena_need(heap_array_bytes((size_t)cells_max + 1, sizeof(Node)));
    const size_t heap = arena_need(heap_array_bytes((size_t)cells_max + 1, sizeof(uint32_t)));
    const size_t table = arena_need(heap_array_bytes(table_size(cells_max), sizeof(uint32_t)));
    return arena_need(sizeof(PathFinder)) + nodes + heap + table;
}

Status path_init(Arena *arena, uint32_t cells_max, PathFinder **out)
{
    ASSERT(cells_max < 1u << 29);
    const size_t mark = arena_mark(arena);
    PathFinder *finder = arena_alloc(arena, sizeof *finder);
    Node *nodes = arena_array(arena, (size_t)cells_max + 1, sizeof(Node));
    uint32_t *heap = arena_array(arena, (size_t)cells_max + 1, sizeof(uint32_t));
    uint32_t *table = arena_array(arena, table_size(cells_max), sizeof(uint32_t));
    if (finder == NULL || nodes == NULL || heap == NULL || table == NULL) {
        arena_rewind(arena, mark);
        return STATUS_LIMIT;
    }
    *finder = (PathFinder){
        .nodes = nodes,
        .heap = heap,
        .table = table,
        .cells_max = cells_max,
        .table_mask = table_size(cells_max) - 1,
    };
    *out = finder;
    return STATUS_OK;
}

void path_cancel(PathFinder *finder)
{
    finder->active = false;
    finder->found = false;
    finder->node_count = 0;
    finder->heap_count = 0;
    finder->best = 0;
}

bool path_is_active(const PathFinder *finder)
{
    return finder->active;
}

// --- cells --------------------------------------------------------------------------------------
static bool coord_fits(int32_t c)
{
    return c >= -COORD_BIAS && c < COORD_BIAS;
}

static bool cell_fits(VoxelCoord cell)
{
    return coord_fits(cell.x) && coord_fits(cell.y) && coord_fits(cell.z);
}

static uint64_t key_of(VoxelCoord cell)
{
    return (uint64_t)(cell.x + COORD_BIAS) | (uint64_t)(cell.y + COORD_BIAS) << COORD_BITS |
           (uint64_t)(cell.z + COORD_BIAS) << 2 * COORD_BITS;
}

static VoxelCoord key_cell(uint64_t key)
{
    const uint64_t mask = (1u << COORD_BITS) - 1;
    return (VoxelCoord){(int32_t)(key & mask) - COORD_BIAS,
                        (int32_t)(key >> COORD_BITS & mask) - COORD_BIAS,
                        (int32_t)(key >> 2 * COORD_BITS & mask) - COORD_BIAS};
}

static WalkSpot node_spot(const Node *node)
{
    return (WalkSpot){key_cell(node->key), node->height};
}

// Never more than the cheapest way costs, and never falling by more than a step costs: the distance
// on an empty plane. Heights are left out, because a step up may cross two cells.
static uint32_t estimate(VoxelCoord from, VoxelCoord goal)
{
    const uint32_t dx = (uint32_t)(from.x < goal.x ? goal.x - from.x : from.x - goal.x);
    const uint32_t dz = (uint32_t)(from.z < goal.z ? goal.z - from.z : from.z - goal.z);
    const uint32_t far = dx > dz ? dx : dz;
    const uint32_t near = dx > dz ? dz : dx;
    return far * PATH_COST_STRAIGHT + near * (PATH_COST_DIAGONAL - PATH_COST_STRAIGHT);
}

// The table's entry for a key: the one that has it, or the free one where it would go.
static uint32_t table_find(const PathFinder *finder, uint64_t key, uint32_t *entry)
{
    uint32_t at = (uint32_t)hash_mix(key) & finder->table_mask;
    for (;;) { // ends: at most half of the entries count
        const uint32_t number = finder->table[at];
        if (number == 0 || number > finder->node_count || finder->nodes[number].table_at != at) {
            *entry = at;
            return 0;
        }
        if (finder->nodes[number].key == key) {
            *entry = at;
            return number;
        }
        at = (at + 1) & finder->table_mask;
    }
}

// --- the open nodes -----------------------------------------------------------------------------
static bool node_is_before(const PathFinder *finder, uint32_t a, uint32_t b)
{
    const Node *na = &finder->nodes[a];
    const Node *nb = &finder->nodes[b];
    if (na->total != nb->total) {
        return na->total < nb->total;
    }
    if (na->cost != nb->cost) {
        return na->cost > nb->cost;
    }
    return a < b;
}

static void heap_put(PathFinder *finder, uint32_t at, uint32_t number)
{
    finder->heap[at] = number;
    finder->nodes[number].heap_at = at;
}

static void heap_rise(PathFinder *finder, uint32_t at, uint32_t number)
{
    while (at > 1 && node_is_before(finder, number, finder->heap[at / 2])) {
        heap_put(finder, at, finder->heap[at / 2]);
        at /= 2;
    }
    heap_put(finder, at, number);
}

static void heap_push(PathFinder *finder, uint32_t number)
{
    ASSERT(finder->heap_count < finder->cells_max);
    finder->heap_count += 1;
    heap_rise(finder, finder->heap_count, number);
}

static uint32_t heap_pop(PathFinder *finder)
{
    ASSERT(finder->heap_count > 0);
    const uint32_t first = finder->heap[1];
    const uint32_t last = finder->heap[finder->heap_count];
    finder->heap_count -= 1;
    finder->nodes[first].heap_at = 0;
    if (finder->heap_count > 0) {
        uint32_t at = 1;
        for (uint32_t child = 2; child <= finder->heap_count; child = at * 2) {
            if (child < finder->heap_count &&
                node_is_before(finder, finder->heap[child + 1], finder->heap[child])) {
                child += 1;
            }
            if (!node_is_before(finder, finder->heap[child], last)) {
                break;
            }
            heap_put(finder, at, finder->heap[child]);
            at = child;
        }
        heap_put(finder, at, last);
    }
    return first;
}

// --- the search ---------------------------------------------------------------------------------
static bool best_is_beaten(const PathFinder *finder, uint32_t number)
{
    if (finder->best == 0) {
        return true;
    }
    const Node *node = &finder->nodes[number];
    const Node *best = &finder->nodes[finder->best];
    const uint32_t left = node->total - node->cost;
    const uint32_t best_left = best->total - best->cost;
    return left != best_left ? left < best_left : node->cost < best->cost;
}

// A new open node; the caller knows that its key is not there and that it fits.
static void node_add(PathFinder *finder, uint32_t entry, WalkSpot spot, uint32_t cost,
                     uint32_t parent)
{
    ASSERT(finder->node_count < finder->cells_max);
    finder->node_count += 1;
    const uint32_t number = finder->node_count;
    finder->table[entry] = number;
    finder->nodes[number] = (Node){
        .key = key_of(spot.cell),
        .height = spot.height,
        .cost = cost,
        .total = cost + estimate(spot.cell, finder->goal),
        .parent = parent,
        .table_at = entry,
    };
    heap_push(finder, number);
    if (best_is_beaten(finder, number)) {
        finder->best = number;
    }
}

bool path_begin(PathFinder *finder, Sim *sim, Vec3 from, Vec3 to)
{
    path_cancel(finder);
    WalkSpot start;
    WalkSpot goal;
    if (finder->cells_max == 0 || !walk_find(sim, from, &start) || !walk_find(sim, to, &goal) ||
        !cell_fits(start.cell) || !cell_fits(goal.cell)) {
        return false;
    }
    finder->active = true;
    finder->goal = goal.cell;
    uint32_t entry;
    (void)table_find(finder, key_of(start.cell), &entry);
    node_add(finder, entry, start, 0, 0);
    return true;
}

static uint32_t step_cost(const WalkArea *area, float from, float to, bool diagonal)
{
    if (diagonal) {
        return PATH_COST_DIAGONAL;
    }
    if (walk_is_level(area, from, to)) {
        return PATH_COST_STRAIGHT;
    }
    return PATH_COST_STRAIGHT + (to > from ? PATH_COST_JUMP : PATH_COST_DROP);
}

// False when there is no room for another cell.
static bool node_reach(PathFinder *finder, WalkSpot spot, uint32_t cost, uint32_t parent)
{
    if (!cell_fits(spot.cell) || cost > COST_MAX) {
        return true;
    }
    uint32_t entry;
    const uint32_t number = table_find(finder, key_of(spot.cell), &entry);
    if (number == 0) {
        if (finder->node_count == finder->cells_max) {
            return false;
        }
        node_add(finder, entry, spot, cost, parent);
        return true;
    }
    Node *node = &finder->nodes[number];
    // A closed node stays closed: nothing found later is cheaper, unless the world changed.
    if (node->heap_at != 0 && cost < node->cost) {
        node->total -= node->cost - cost;
        node->cost = cost;
        node->parent = parent;
        heap_rise(finder, node->heap_at, number);
    }
    return true;
}

static bool node_expand(PathFinder *finder, Sim *sim, uint32_t number)
{
    const Node node = finder->nodes[number];
    const WalkSpot from = node_spot(&node);
    WalkArea area;
    walk_area_around(&area, sim, walk_feet(from));
    WalkSpot to[WALK_STEPS];
    const uint32_t can = walk_steps(&area, from, to);
    for (uint32_t i = 0; i < WALK_STEPS; i++) {
        if ((can >> i & 1) != 0) {
            const uint32_t cost =
                node.cost + step_cost(&area, from.height, to[i].height, i >= WALK_DIAGONALS);
            if (!node_reach(finder, to[i], cost, number)) {
                return false;
            }
        }
    }
    return true;
}

static PathProgress search_end(PathFinder *finder, bool found)
{
    finder->active = false;
    finder->found = found;
    return found ? PATH_FOUND : PATH_GIVEN_UP;
}

PathProgress path_advance(PathFinder *finder, Sim *sim, uint32_t node_max, uint32_t *node_count)
{
    ASSERT(finder->active);
    PathProgress progress = PATH_SEARCHING;
    uint32_t count = 0;
    while (progress == PATH_SEARCHING && count < node_max) {
        if (finder->heap_count == 0) {
            progress = search_end(finder, false);
            break;
        }
        count += 1;
        const uint32_t number = heap_pop(finder);
        if (finder->nodes[number].key == key_of(finder->goal)) {
            finder->best = number;
            progress = search_end(finder, true);
        } else if (!node_expand(finder, sim, number)) {
            progress = search_end(finder, false);
        }
    }
    if (node_count != NULL) {
        *node_count = count;
    }
    return progress;
}

// --- the outcome --------------------------------------------------------------------------------
typedef struct Turn {
    int32_t dx, dz;
    bool level;
} Turn;

static Turn turn_between(const PathFinder *finder, float level_m, uint32_t from, uint32_t to)
{
    const Node *a = &finder->nodes[from];
    const Node *b = &finder->nodes[to];
    const VoxelCoord ca = key_cell(a->key);
    const VoxelCoord cb = key_cell(b->key);
    return (Turn){cb.x - ca.x, cb.z - ca.z, math_abs(b->height - a->height) <= level_m};
}

// Walks back from the end and writes the turns into a ring, which in the end holds the first
// PATH_POINTS_MAX of them, last one first. The start is a turn only if the first step is no level
// one: then the character should set out from the middle of its cell.
void path_read(const PathFinder *finder, const Sim *sim, Path *out)
{
    ASSERT(!finder->active);
    ASSERT(finder->best != 0);
    const float level_m = math_max(sim_config(sim)->character.step_height, WALK_LEVEL_MIN_M);
    Vec3 ring[PATH_POINTS_MAX];
    uint32_t count = 0;
    uint32_t number = finder->best;
    Turn after = {0, 0, false}; // the step that leaves this node
    for (uint32_t i = 0; i < finder->node_count && number != 0; i++) {
        const Node *node = &finder->nodes[number];
        Turn before = {0, 0, true};
        if (node->parent != 0) {
            before = turn_between(finder, level_m, node->parent, number);
        }
        const bool straight_on =
            before.level && after.level &&
            (node->parent == 0 || (before.dx == after.dx && before.dz == after.dz));
        const bool is_end = number == finder->best;
        if ((is_end && node->parent != 0) || (!is_end && !straight_on)) {
            ring[count % PATH_POINTS_MAX] = walk_feet(node_spot(node));
            count += 1;
        }
        after = before;
        number = node->parent;
    }
    out->count = count < PATH_POINTS_MAX ? count : PATH_POINTS_MAX;
    for (uint32_t i = 0; i < out->count; i++) {
        out->points[i] = ring[(count - 1 - i) % PATH_POINTS_MAX];
    }
    out->end = !finder->found ? PATH_NEAREST : count > PATH_POINTS_MAX ? PATH_CUT : PATH_AT_GOAL;
}

uint32_t path_cost(const PathFinder *finder)
{
    ASSERT(finder->best != 0);
    return finder->nodes[finder->best].cost;
}

// --- state --------------------------------------------------------------------------------------
static void node_visit(Node *node, StateIo *io, uint32_t node_count)
{
    bool open = node->heap_at != 0;
    state_u64(io, &node->key);
    state_f32(io, &node->height);
    state_u32(io, &node->cost, COST_MAX);
    state_u32(io, &node->parent, node_count);
    state_bool(io, &open);
    if (io->mode == STATE_READ) {
        node->heap_at = open ? 1 : 0; // until search_rebuild
        if (node->key >> 3 * COORD_BITS != 0) {
            state_fail(io, STATUS_RANGE);
        }
        const float y = (float)key_cell(node->key).y;
        if (!(node->height >= y - 1 && node->height <= y + 2)) {
            state_fail(io, STATUS_RANGE);
        }
    }
}

// Table, heap and totals from the nodes alone. False if the nodes are not those of a search.
static bool search_rebuild(PathFinder *finder)
{
    const uint32_t node_count = finder->node_count;
    finder->node_count = 0;
    for (uint32_t number = 1; number <= node_count; number++) {
        Node *node = &finder->nodes[number];
        const uint32_t parent_cost = finder->nodes[node->parent].cost;
        if (node->parent == 0 ? node->cost != 0 : node->cost <= parent_cost) {
            return false; // ways back must end
        }
        if (table_find(finder, node->key, &node->table_at) != 0) {
            return false;
        }
        finder->node_count = number;
        finder->table[node->table_at] = number;
        node->total = node->cost + estimate(key_cell(node->key), finder->goal);
        if (node->heap_at != 0) {
            heap_push(finder, number);
        }
    }
    return true;
}

static void search_visit(PathFinder *finder, StateIo *io)
{
    state_i32(io, &finder->goal.x);
    state_i32(io, &finder->goal.y);
    state_i32(io, &finder->goal.z);
    uint32_t node_count = finder->node_count;
    state_u32(io, &node_count, finder->cells_max);
    state_u32(io, &finder->best, node_count);
    for (uint32_t number = 1; number <= node_count && state_ok(io); number++) {
        node_visit(&finder->nodes[number], io, node_count);
    }
    if (io->mode != STATE_READ || !state_ok(io)) {
        return;
    }
    finder->node_count = node_count;
    if (finder->best == 0 || !cell_fits(finder->goal) || !search_rebuild(finder)) {
        state_fail(io, STATUS_RANGE);
    }
}

void path_visit(PathFinder *finder, StateIo *io)
{
    bool active = finder->active;
    if (io->mode == STATE_READ) {
        path_cancel(finder);
    }
    state_bool(io, &active);
    if (!active) {
        return;
    }
    search_visit(finder, io);
    if (io->mode == STATE_READ) {
        finder->active = state_ok(io);
        if (!finder->active) {
            path_cancel(finder);
        }
    }
}
