// History compared with the test's own record of every position in every tick.
#include "core/base/rng.h"
#include "core/sim/sim_internal.h"
#include "tests/support/test.h"

#include <string.h>

#define CHARACTERS 40
#define TICKS      400

static Heap heap;
static Sim *sim;

static void setup(uint32_t character_max)
{
    heap = heap_make(1u << 28);
    SimConfig config = sim_config_default();
    config.entity_max = 256;
    config.character_max = character_max;
    config.npc_max = 0;
    config.structures_max = 0;
    config.terrain = (TerrainConfig){.chunk_max = 1, .page_max = 1};
    CHECK_OK(sim_create(&heap, &config, NULL, &sim));
}

static void teardown(void)
{
    sim_destroy(&heap, sim);
    CHECK_INT(heap.bytes_now, 0);
}

static Handle spawn(Vec3 at)
{
    Handle handle = HANDLE_NONE;
    CHECK_OK(sim_spawn_player(sim, &(CharacterDesc){.position = at}, &handle));
    return handle;
}

static void put(Handle handle, Vec3 at)
{
    sim_at(sim, handle.index)->position = at;
}

static void tick(void)
{
    sim->tick += 1;
    history_step(sim);
}

static uint32_t line_of(Handle handle)
{
    return sim_at(sim, handle.index)->character.history_slot;
}

static Vec3 ask(Handle handle, uint64_t when)
{
    Vec3 at = {-1, -1, -1};
    CHECK(history_position(sim->history, line_of(handle), when, &at));
    return at;
}

static Vec3 ask_between(Handle handle, uint64_t when, float fraction)
{
    Vec3 at = {-1, -1, -1};
    CHECK(history_position_between(sim->history, line_of(handle), when, fraction, &at));
    return at;
}

TEST(slots_are_the_lowest_free)
{
    setup(3);
    History *history = sim->history;
    CHECK_INT(history_acquire(history), 1);
    CHECK_INT(history_acquire(history), 2);
    CHECK_INT(history_acquire(history), 3);
    CHECK_INT(history_acquire(history), 0);
    CHECK_INT(history_used_count(history), 3);
    history_release(history, 2);
    history_release(history, 2);
    history_release(history, 0);
    CHECK_INT(history_used_count(history), 2);
    CHECK(!history_belongs(history, 2, 1));
    CHECK(!history_belongs(history, 0, 1));
    CHECK(!history_belongs(history, 4, 1));
    CHECK_INT(history_acquire(history), 2);
    CHECK_INT(history_acquire(history), 0);
    history_clear(history);
    CHECK_INT(history_acquire(history), 1);
    teardown();
}

TEST(memory_is_as_announced)
{
    static uint64_t block[8192];
    Arena arena;
    const size_t need = history_bytes(100);
    REQUIRE(need < sizeof block);
    History *history = NULL;
    arena_init(&arena, block, need);
    CHECK_OK(history_init(&arena, 100, &history));
    CHECK_INT(arena.used, need);
    arena_init(&arena, block, need - 16);
    CHECK_INT(history_init(&arena, 100, &history), STATUS_LIMIT);
    CHECK_INT(arena.used, 0);
}

TEST(nobody_has_a_past_before_the_first_entry)
{
    setup(4);
    for (uint32_t i = 0; i < 10; i++) {
        tick();
    }
    const Handle late = spawn(vec3(5, 0, 0));
    Vec3 at = {7, 7, 7};
    CHECK(!history_position(sim->history, line_of(late), 10, &at));
    CHECK(!history_position(sim->history, 0, 10, &at));
    CHECK(!history_position(sim->history, 99, 10, &at));
    CHECK_INT(at.x, 7);
    tick();
    put(late, vec3(6, 0, 0));
    tick();
    CHECK_INT(ask(late, 3).x, 5);
    CHECK_INT(ask(late, 11).x, 5);
    CHECK_INT(ask(late, 12).x, 6);
    CHECK_INT(ask(late, 99).x, 6);
    CHECK_NEAR(ask_between(late, 10, 0.5f).x, 5, 0);
    CHECK_NEAR(ask_between(late, 11, 0.5f).x, 5.5, 1e-6);
    CHECK_NEAR(ask_between(late, 12, 0.5f).x, 6, 0);
    // A new owner of the line starts without the past of the old one.
    history_release(sim->history, line_of(late));
    CHECK_INT(history_acquire(sim->history), line_of(late));
    CHECK(!history_position(sim->history, line_of(late), 12, &at));
    teardown();
}

TEST(the_ring_keeps_its_ticks_and_no_more)
{
    setup(4);
    const Handle walker = spawn(VEC3_ZERO);
    for (uint32_t i = 1; i <= 100; i++) {
        put(walker, vec3((float)i, 0, 0));
        tick();
    }
    for (uint32_t back = 0; back < HISTORY_TICKS; back++) {
        CHECK_INT(ask(walker, 100 - back).x, 100 - back);
    }
    CHECK_INT(ask(walker, 100 - HISTORY_TICKS).x, 100 - HISTORY_TICKS + 1);
    CHECK_INT(ask(walker, 0).x, 100 - HISTORY_TICKS + 1);
    teardown();
}

TEST(a_teleport_breaks_the_line)
{
    setup(4);
    const Handle jumper = spawn(vec3(10, 0, 0));
    tick(); // 1
    put(jumper, vec3(11, 0, 0));
    tick(); // 2
    CHECK_OK(sim_set_position(sim, jumper, vec3(500, 0, 0)));
    tick(); // 3
    put(jumper, vec3(501, 0, 0));
    tick(); // 4
    CHECK_INT(ask(jumper, 2).x, 11);
    CHECK_INT(ask(jumper, 3).x, 500);
    CHECK_NEAR(ask_between(jumper, 1, 0.5f).x, 10.5, 1e-6);
    CHECK_NEAR(ask_between(jumper, 2, 0.5f).x, 11, 0);
    CHECK_NEAR(ask_between(jumper, 2, 1.0f).x, 11, 0);
    CHECK_NEAR(ask_between(jumper, 3, 0.5f).x, 500.5, 1e-6);
    // Before the first entry there is nothing to break.
    const Handle fresh = spawn(vec3(0, 0, 0));
    CHECK_OK(sim_set_position(sim, fresh, vec3(9, 0, 0)));
    tick(); // 5
    uint32_t count = 0;
    const uint32_t *far = history_far(sim->history, &count);
    CHECK_INT(count, 1);
    CHECK_INT(far[0], jumper.index);
    teardown();
}

TEST(a_tick_is_recorded_once)
{
    setup(4);
    const Handle walker = spawn(VEC3_ZERO);
    tick();
    put(walker, vec3(0.1f, 0, 0));
    sim->tick += 1;
    history_record(sim);
    put(walker, vec3(9, 0, 0));
    history_step(sim);
    CHECK_NEAR(ask(walker, 2).x, 0.1, 1e-6);
    CHECK_NEAR(history_reach(sim->history, 1), 0.1, 1e-6);
    teardown();
}

TEST(ticks_that_do_not_follow_begin_anew)
{
    setup(4);
    const Handle walker = spawn(VEC3_ZERO);
    tick();
    sim->tick += 5;
    put(walker, vec3(3, 0, 0));
    history_step(sim);
    CHECK_INT(ask(walker, 1).x, 3);
    teardown();
}

// --- against the truth --------------------------------------------------------------------------

typedef struct Truth {
    Vec3 positions[TICKS + 1];
    bool broken[TICKS + 1];
    uint64_t first; // 0: not spawned
    Handle handle;
} Truth;

static Truth truths[CHARACTERS];

static float way(Vec3 a, Vec3 b)
{
    return vec3_length(vec3_sub(a, b));
}

static bool is_far(uint32_t slot)
{
    uint32_t count = 0;
    const uint32_t *far = history_far(sim->history, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (far[i] == slot) {
            return true;
        }
    }
    return false;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void check_truth(const Truth *truth, uint64_t now)
{
    const uint64_t ring = now >= HISTORY_TICKS ? now - HISTORY_TICKS + 1 : 1;
    const uint64_t oldest = later(ring, truth->first);
    for (uint64_t back = 0; back < HISTORY_TICKS + 3 && back < now; back++) {
        const uint64_t when = now - back;
        const Vec3 want = truth->positions[later(when, oldest)];
        CHECK(vec3_equal(ask(truth->handle, when), want));
        if (when >= oldest && when < now) {
            const Vec3 between = ask_between(truth->handle, when, 0.25f);
            const Vec3 next = truth->positions[when + 1];
            CHECK(way(between, truth->broken[when + 1] ? want : vec3_lerp(want, next, 0.25f)) <
                  1e-5f);
        }
        const float reach = history_reach(sim->history, (uint32_t)back) + 0.001f;
        if (back < HISTORY_TICKS) {
            CHECK(way(want, truth->positions[now]) <= reach || is_far(truth->handle.index));
        }
    }
}

static void move_truth(Truth *truth, Rng *rng, uint64_t now)
{
    truth->broken[now] = false;
    if (truth->first == 0) {
        if (rng_below(rng, 20) == 0) {
            truth->handle = spawn(vec3(rng_range(rng, -50, 50), 0, 0));
            truth->first = now;
        }
        return;
    }
    const uint32_t what = rng_below(rng, 200);
    if (what == 0) {
        sim_release(sim, truth->handle.index);
        truth->first = 0;
    } else if (what == 1) {
        const Vec3 to = {rng_range(rng, -500, 500), 0, rng_range(rng, -500, 500)};
        CHECK_OK(sim_set_position(sim, truth->handle, to));
        truth->broken[now] = true;
    } else {
        const float step = what < 5 ? 3.0f : 0.15f; // now and then faster than HISTORY_FAR_SPEED
        const Vec3 by = {rng_range(rng, -step, step), 0, rng_range(rng, -step, step)};
        put(truth->handle, vec3_add(sim_at(sim, truth->handle.index)->position, by));
    }
}

static void random_ticks(Rng *rng, uint64_t count)
{
    for (uint64_t i = 0; i < count && test_is_passing(); i++) {
        const uint64_t now = sim->tick + 1;
        for (uint32_t c = 0; c < CHARACTERS; c++) {
            move_truth(&truths[c], rng, now);
        }
        tick();
        for (uint32_t c = 0; c < CHARACTERS; c++) {
            if (truths[c].first != 0) {
                truths[c].positions[now] = sim_at(sim, truths[c].handle.index)->position;
                check_truth(&truths[c], now);
            }
        }
    }
}

TEST(random_lives_are_remembered_as_they_were)
{
    Rng rng = rng_make(test_seed(), 1);
    setup(CHARACTERS);
    memset(truths, 0, sizeof truths);
    random_ticks(&rng, TICKS);
    teardown();
}

TEST(walkers_leave_the_far_list_empty_and_the_reach_small)
{
    setup(CHARACTERS);
    Handle handles[CHARACTERS];
    for (uint32_t i = 0; i < CHARACTERS; i++) {
        handles[i] = spawn(vec3((float)i * 3, 0, 0));
    }
    for (uint32_t t = 0; t < 60; t++) {
        for (uint32_t i = 0; i < CHARACTERS; i++) {
            const float step = (float)i / CHARACTERS * 8.0f / 60;
            put(handles[i], vec3_add(sim_at(sim, handles[i].index)->position, vec3(0, 0, step)));
        }
        tick();
    }
    uint32_t count = 0;
    (void)history_far(sim->history, &count);
    CHECK_INT(count, 0);
    CHECK(history_reach(sim->history, 21) < 8.0f * 0.35f + 0.01f);
    CHECK(history_reach(sim->history, 21) > 7.5f * 0.35f);
    CHECK_NEAR(history_reach(sim->history, 0), 0, 0);
    CHECK(history_reach(sim->history, 1000) >= history_reach(sim->history, 21));
    // One who falls fast does not widen it for the others, and is listed as long as it matters.
    put(handles[3], vec3(0, -30, 0));
    tick();
    CHECK(is_far(handles[3].index));
    CHECK(history_reach(sim->history, 21) < 8.0f * 0.35f + 0.01f);
    for (uint32_t t = 0; t < HISTORY_TICKS - 1; t++) {
        CHECK(is_far(handles[3].index));
        tick();
    }
    tick();
    CHECK(!is_far(handles[3].index));
    teardown();
}

// --- state --------------------------------------------------------------------------------------

static uint8_t saved[1 << 18];

static size_t save(History *history)
{
    ByteWriter writer = byte_writer(saved, sizeof saved);
    StateIo io = {.mode = STATE_WRITE, .writer = &writer};
    history_visit(history, &io);
    CHECK_OK(writer.status);
    return writer.at;
}

static Status load(History *history, const uint8_t *data, size_t size)
{
    ByteReader reader = byte_reader(data, size);
    StateIo io = {.mode = STATE_READ, .reader = &reader};
    history_visit(history, &io);
    return byte_reader_finish(&reader);
}

static uint64_t hash(History *history)
{
    StateIo io = {.mode = STATE_HASH, .hash = HASH64_INIT};
    history_visit(history, &io);
    return io.hash.state;
}

TEST(what_is_saved_comes_back)
{
    Rng rng = rng_make(test_seed(), 2);
    setup(CHARACTERS);
    memset(truths, 0, sizeof truths);
    random_ticks(&rng, 150);
    const uint64_t before = hash(sim->history);
    const float reach = history_reach(sim->history, 21);
    const size_t size = save(sim->history);
    static uint8_t copy[sizeof saved];
    memcpy(copy, saved, size);
    history_clear(sim->history);
    CHECK(hash(sim->history) != before);
    CHECK_OK(load(sim->history, copy, size));
    CHECK(hash(sim->history) == before);
    CHECK(history_reach(sim->history, 21) <= reach);
    CHECK_INT(save(sim->history), size);
    CHECK_BYTES(saved, copy, size);
    random_ticks(&rng, 150); // and it goes on as if nothing had happened
    teardown();
}

TEST(a_teleport_that_is_not_recorded_yet_is_saved_too)
{
    setup(4);
    const Handle jumper = spawn(vec3(10, 0, 0));
    tick();
    CHECK_OK(sim_set_position(sim, jumper, vec3(12, 0, 0)));
    const size_t size = save(sim->history);
    history_clear(sim->history);
    CHECK_OK(load(sim->history, saved, size));
    tick();
    CHECK_NEAR(ask_between(jumper, 1, 0.5f).x, 10, 0);
    teardown();
}

TEST(broken_bytes_are_refused_and_leave_nothing)
{
    Rng rng = rng_make(test_seed(), 3);
    setup(CHARACTERS);
    memset(truths, 0, sizeof truths);
    random_ticks(&rng, 60);
    const size_t size = save(sim->history);
    static uint8_t copy[sizeof saved];
    memcpy(copy, saved, size);
    history_clear(sim->history);
    const uint64_t empty = hash(sim->history);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 64) {
        CHECK(load(sim->history, copy, cut) != STATUS_OK);
        CHECK(hash(sim->history) == empty);
    }
    for (uint32_t i = 0; i < 2000; i++) {
        uint8_t bad[1 << 16];
        REQUIRE(size <= sizeof bad);
        memcpy(bad, copy, size);
        for (uint32_t k = 0; k <= rng_below(&rng, 4); k++) {
            bad[rng_below(&rng, rng_below(&rng, 2) == 0 ? 64 : (uint32_t)size)] =
                (uint8_t)rng_u32(&rng);
        }
        if (load(sim->history, bad, size) == STATUS_OK) {
            (void)hash(sim->history);
            (void)save(sim->history);
            Vec3 at;
            for (uint32_t slot = 0; slot <= CHARACTERS + 1; slot++) {
                (void)history_position(sim->history, slot, rng_u64(&rng), &at);
            }
            tick();
        }
    }
    teardown();
}
