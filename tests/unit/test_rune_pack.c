// Packed runes: every rune is restored byte for byte, a rune that was packed with another
// dictionary or damaged is detected, and small runes become small. Runs natively and in
// WebAssembly, where the encoder exists only for this test.
#include "core/base/rng.h"
#include "core/script/rune/rune_dictionary.h"
#include "core/script/rune/rune_samples.h"
#include "core/script/rune/rune_unpack.h"
#include "core/script/vm/vm.h"
#include "server/build/inside/rune_pack.h"
#include "tests/support/test.h"

#include <lua.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

// All builds must have the same number, so that a browser can unpack what a native program packed.
// A change of the API, the samples or the format of packed runes changes it: then update it here.
#define NUMBER 569817799u

static uint8_t rune[1 << 18], packed[1 << 18], back[1 << 18];
static size_t rune_bytes, packed_bytes;
static char rune_path[RUNE_PATH_BYTES_MAX + 1];
static Heap heap;

// A script of no place of ours, with what scripts usually do.
static const char SCRIPT[] = "local gates, laps = {}, {}\n"
                             "local function passed(player, gate)\n"
                             "    local lap = laps[player.UserId] or 1\n"
                             "    if gate == lap then\n"
                             "        laps[player.UserId] = lap + 1\n"
                             "        Log.Info(string.format('%s: gate %d', player.Name, gate))\n"
                             "    end\n"
                             "    return lap\n"
                             "end\n"
                             "function OnTriggerEnter(self, other)\n"
                             "    if other.Player ~= nil then\n"
                             "        passed(other.Player, self:GetAttribute('gate'))\n"
                             "    end\n"
                             "end\n"
                             "Players.PlayerAdded:Connect(function(player)\n"
                             "    laps[player.UserId] = 1\n"
                             "end)\n";

static void make_rune(const char *path, const char *source)
{
    snprintf(rune_path, sizeof rune_path, "%s", path);
    const VmConfig config = vm_config_default();
    Vm *vm = NULL;
    CHECK_OK(vm_create(&heap, &config, &vm));
    lua_State *thread = vm_main(vm);
    vm_push_environment(thread);
    CHECK_OK(vm_compile(thread, path, source, strlen(source), -1));
    CHECK_OK(rune_write(thread, path, rune, sizeof rune, &rune_bytes));
    vm_destroy(&heap, vm);
}

// Both ends.
typedef struct Ends {
    RunePack *pack;
    RuneUnpack *unpack;
} Ends;

static Ends ends_open(void)
{
    Ends ends = {0};
    heap = heap_make(1ull << 28);
    CHECK_OK(rune_pack_create(&ends.pack));
    CHECK_OK(rune_unpack_create(&heap, &ends.unpack));
    return ends;
}

static void ends_close(Ends ends)
{
    rune_pack_destroy(ends.pack);
    rune_unpack_destroy(ends.unpack);
    CHECK_INT(heap.bytes_now, 0);
}

static void pack_rune(Ends ends, const char *path, const char *source)
{
    make_rune(path, source);
    CHECK_OK(rune_pack_pack(ends.pack, rune, rune_bytes, packed, &packed_bytes));
    CHECK(packed_bytes < rune_bytes);
}

static void check_round_trip(Ends ends, const char *path, const char *source)
{
    pack_rune(ends, path, source);
    memset(back, 0xaa, sizeof back);
    CHECK_OK(rune_unpack(ends.unpack, path, packed, packed_bytes, back, rune_bytes));
    CHECK_BYTES(back, rune, rune_bytes);
    CHECK_INT(back[rune_bytes], 0xaa);
}

TEST(what_is_packed_comes_back)
{
    const Ends ends = ends_open();
    check_round_trip(ends, "Workspace/Gate", SCRIPT);
    check_round_trip(ends, "S", "");
    check_round_trip(ends, "StarterGui/Ä", "local s = '\\0\\1\\xff' return s, 1e300, 7 // 2");
    for (const RuneSample *words = rune_samples; words->path != NULL; words++) {
        check_round_trip(ends, words->path, words->source);
        CHECK(packed_bytes * 8 < rune_bytes); // the dictionary has it
    }
    ends_close(ends);
}

// The size of a frame's content is written in one, two or four bytes; they are left out.
TEST(runes_of_every_size_come_back)
{
    static char source[1 << 18], path[RUNE_PATH_BYTES_MAX + 1];
    static const size_t statements[] = {1, 2, 20, 200, 2000, 4000};
    const Ends ends = ends_open();
    memset(path, 'p', RUNE_PATH_BYTES_MAX);
    for (size_t k = 0; k < sizeof statements / sizeof statements[0]; k++) {
        size_t at = 0;
        for (size_t i = 0; i < statements[k]; i++) {
            at += (size_t)snprintf(source + at, sizeof source - at, "V%zu = %zu\n", i, i * i);
        }
        check_round_trip(ends, k % 2 == 0 ? "Workspace/Long" : path, source);
    }
    CHECK(rune_bytes > 65536 + 256);
    ends_close(ends);
}

// The goal of the whole: at least 55 % less, where zstd alone does not come near it.
TEST(a_small_rune_shrinks_by_more_than_half)
{
    const Ends ends = ends_open();
    check_round_trip(ends, "Workspace/Gate", SCRIPT);
    CHECK(packed_bytes * 100 <= rune_bytes * 45);
    const size_t alone = ZSTD_compress(back, sizeof back, rune, rune_bytes, 19);
    CHECK(alone * 100 > rune_bytes * 55);
    ends_close(ends);
}

TEST(every_build_has_one_number)
{
    const Ends ends = ends_open();
    CHECK_INT(rune_pack_number(ends.pack), NUMBER);
    CHECK_INT(rune_unpack_number(ends.unpack), NUMBER);
    ends_close(ends);
}

TEST(what_is_no_rune_is_not_packed)
{
    const Ends ends = ends_open();
    make_rune("Workspace/Gate", SCRIPT);
    rune[20] ^= 1; // its hash would not come back
    CHECK_INT(rune_pack_pack(ends.pack, rune, rune_bytes, packed, &packed_bytes), STATUS_MALFORMED);
    CHECK_INT(rune_pack_pack(ends.pack, rune, 10, packed, &packed_bytes), STATUS_MALFORMED);
    CHECK_INT(rune_pack_pack(ends.pack, rune, 0, packed, &packed_bytes), STATUS_MALFORMED);
    ends_close(ends);
}

// Exactly as many bytes as in the manifest: nothing is written beyond them.
TEST(another_size_is_no_rune)
{
    const Ends ends = ends_open();
    pack_rune(ends, "Workspace/Gate", SCRIPT);
    for (size_t room = 0; room < rune_bytes + 100; room++) {
        memset(back, 0xaa, sizeof back);
        const Status status = rune_unpack(ends.unpack, rune_path, packed, packed_bytes, back, room);
        CHECK_INT(status, room == rune_bytes ? STATUS_OK : STATUS_MALFORMED);
        CHECK_INT(back[room], 0xaa);
    }
    CHECK_INT(rune_unpack(ends.unpack, rune_path, packed, packed_bytes, back, RUNE_BYTES_MAX + 1),
              STATUS_MALFORMED);
    ends_close(ends);
}

static bool gives_the_rune(Ends ends, const char *path, size_t count)
{
    const Status status = rune_unpack(ends.unpack, path, packed, count, back, rune_bytes);
    CHECK(status == STATUS_OK || status == STATUS_MALFORMED);
    return status == STATUS_OK && memcmp(back, rune, rune_bytes) == 0;
}

TEST(another_path_is_another_rune)
{
    const Ends ends = ends_open();
    pack_rune(ends, "Workspace/Gate", SCRIPT);
    CHECK(gives_the_rune(ends, "Workspace/Gate", packed_bytes));
    CHECK(!gives_the_rune(ends, "Workspace/Gata", packed_bytes));
    CHECK(!gives_the_rune(ends, "Workspace/Gates", packed_bytes));
    CHECK(!gives_the_rune(ends, "", packed_bytes));
    ends_close(ends);
}

// Few bits of a frame say the same either way.
TEST(damage_does_not_give_the_rune)
{
    const Ends ends = ends_open();
    pack_rune(ends, "Workspace/Gate", SCRIPT);
    for (size_t count = 0; count < packed_bytes; count++) {
        CHECK(!gives_the_rune(ends, rune_path, count));
    }
    size_t same = 0;
    for (size_t bit = 0; bit < packed_bytes * 8; bit++) {
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        same += gives_the_rune(ends, rune_path, packed_bytes);
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(same * 20 < packed_bytes * 8);
    Rng rng = rng_make(7, 0);
    for (uint32_t round = 0; round < 2000; round++) {
        const size_t count = rng_u32(&rng) % 200;
        for (size_t i = 0; i < count; i++) {
            packed[i] = (uint8_t)rng_u32(&rng);
        }
        CHECK(!gives_the_rune(ends, rune_path, count));
    }
    ends_close(ends);
}
