// Packed runes: every rune comes back byte for byte, what was packed otherwise or damaged does not
// become one unnoticed, and small runes become small.
#include "core/base/rng.h"
#include "core/script/rune.h"
#include "core/script/vm.h"
#include "server/build/rune_pack.h"
#include "server/build/rune_words.h"
#include "tests/support/test.h"

#include <lua.h>
#include <string.h>
#include <zstd.h>

static uint8_t rune[1 << 16], packed[1 << 16], back[1 << 16];
static size_t rune_bytes, packed_bytes;

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
    Heap heap = heap_make(1ull << 28);
    const VmConfig config = vm_config_default();
    Vm *vm = NULL;
    CHECK_OK(vm_create(&heap, &config, &vm));
    lua_State *thread = vm_main(vm);
    vm_push_environment(thread);
    CHECK_OK(vm_compile(thread, path, source, strlen(source), -1));
    CHECK_OK(rune_write(thread, path, rune, sizeof rune, &rune_bytes));
    vm_destroy(&heap, vm);
}

static RunePack *make_pack(void)
{
    RunePack *pack = NULL;
    CHECK_OK(rune_pack_create(&pack));
    return pack;
}

static void check_round_trip(RunePack *pack, const char *path, const char *source)
{
    make_rune(path, source);
    CHECK_OK(rune_pack_pack(pack, rune, rune_bytes, packed, &packed_bytes));
    CHECK(packed_bytes < rune_bytes);
    size_t bytes = 0;
    CHECK_OK(rune_pack_unpack(pack, packed, packed_bytes, back, rune_bytes, &bytes));
    REQUIRE(bytes == rune_bytes);
    CHECK_BYTES(back, rune, rune_bytes);
}

TEST(what_is_packed_comes_back)
{
    RunePack *pack = make_pack();
    check_round_trip(pack, "Workspace/Gate", SCRIPT);
    check_round_trip(pack, "S", "");
    check_round_trip(pack, "StarterGui/Ä", "local s = '\\0\\1\\xff' return s, 1e300, 7 // 2");
    for (const RuneWords *words = rune_words; words->path != NULL; words++) {
        check_round_trip(pack, words->path, words->source);
        CHECK(packed_bytes * 8 < rune_bytes); // the dictionary has it
    }
    rune_pack_destroy(pack);
}

// The goal of the whole: at least 55 % less, where zstd alone does not come near it.
TEST(a_small_rune_shrinks_by_more_than_half)
{
    RunePack *pack = make_pack();
    check_round_trip(pack, "Workspace/Gate", SCRIPT);
    CHECK(packed_bytes * 100 <= rune_bytes * 45);
    const size_t alone = ZSTD_compress(back, sizeof back, rune, rune_bytes, 19);
    CHECK(alone * 100 > rune_bytes * 55);
    rune_pack_destroy(pack);
}

TEST(two_programs_have_one_number)
{
    RunePack *a = make_pack(), *b = make_pack();
    CHECK(rune_pack_number(a) != 0);
    CHECK_INT(rune_pack_number(a), rune_pack_number(b));
    make_rune("Workspace/Gate", SCRIPT);
    CHECK_OK(rune_pack_pack(a, rune, rune_bytes, packed, &packed_bytes));
    size_t bytes = 0;
    CHECK_OK(rune_pack_unpack(b, packed, packed_bytes, back, sizeof back, &bytes));
    REQUIRE(bytes == rune_bytes);
    CHECK_BYTES(back, rune, rune_bytes);
    rune_pack_destroy(a);
    rune_pack_destroy(b);
}

TEST(what_is_no_rune_is_not_packed)
{
    RunePack *pack = make_pack();
    make_rune("Workspace/Gate", SCRIPT);
    rune[20] ^= 1; // its hash would not come back
    CHECK_INT(rune_pack_pack(pack, rune, rune_bytes, packed, &packed_bytes), STATUS_MALFORMED);
    CHECK_INT(rune_pack_pack(pack, rune, 10, packed, &packed_bytes), STATUS_MALFORMED);
    CHECK_INT(rune_pack_pack(pack, rune, 0, packed, &packed_bytes), STATUS_MALFORMED);
    rune_pack_destroy(pack);
}

// Nothing is written beyond the room there is, and nothing half done is called a rune.
TEST(there_must_be_room)
{
    RunePack *pack = make_pack();
    make_rune("Workspace/Gate", SCRIPT);
    CHECK_OK(rune_pack_pack(pack, rune, rune_bytes, packed, &packed_bytes));
    for (size_t room = 0; room < rune_bytes; room++) {
        size_t bytes = 0;
        memset(back, 0xaa, sizeof back);
        CHECK_INT(rune_pack_unpack(pack, packed, packed_bytes, back, room, &bytes),
                  STATUS_MALFORMED);
        CHECK_INT(bytes, 0);
        CHECK_INT(back[room], 0xaa);
    }
    rune_pack_destroy(pack);
}

static bool gives_the_rune(const RunePack *pack, size_t count)
{
    size_t bytes = 0;
    const Status status = rune_pack_unpack(pack, packed, count, back, rune_bytes, &bytes);
    CHECK(status == STATUS_OK || status == STATUS_MALFORMED);
    CHECK(bytes <= rune_bytes);
    return status == STATUS_OK && bytes == rune_bytes && memcmp(back, rune, bytes) == 0;
}

// Few bits of a frame say the same either way.
TEST(damage_does_not_give_the_rune)
{
    RunePack *pack = make_pack();
    make_rune("Workspace/Gate", SCRIPT);
    CHECK_OK(rune_pack_pack(pack, rune, rune_bytes, packed, &packed_bytes));
    CHECK(gives_the_rune(pack, packed_bytes));
    for (size_t count = 0; count < packed_bytes; count++) {
        CHECK(!gives_the_rune(pack, count));
    }
    size_t same = 0;
    for (size_t bit = 0; bit < packed_bytes * 8; bit++) {
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        same += gives_the_rune(pack, packed_bytes);
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(same * 20 < packed_bytes * 8);
    Rng rng = rng_make(7, 0);
    for (uint32_t round = 0; round < 2000; round++) {
        const size_t count = rng_u32(&rng) % 200;
        for (size_t i = 0; i < count; i++) {
            packed[i] = (uint8_t)rng_u32(&rng);
        }
        CHECK(!gives_the_rune(pack, count));
    }
    rune_pack_destroy(pack);
}

// A frame that is good in itself, of bytes that are no rune without a hash.
TEST(a_frame_of_something_else)
{
    RunePack *pack = make_pack();
    static const uint8_t plain[] = "twelve bytes\xff and a path that is longer than all the rest";
    for (size_t count = 0; count < sizeof plain; count++) {
        size_t bytes = 0;
        packed_bytes = ZSTD_compress(packed, sizeof packed, plain, count, 3);
        CHECK_INT(rune_pack_unpack(pack, packed, packed_bytes, back, sizeof back, &bytes),
                  STATUS_MALFORMED);
    }
    rune_pack_destroy(pack);
}
