// How much a world process may use: enough for every world that can be made, and not much more; and
// what is written into a cgroup. The cgroup is a folder of plain files: what the kernel does with
// the values is the kernel's.
#include "server/host/host_bounds.h"

#include "core/base/limits.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"
#include "tests/unit/world_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// --- memory -------------------------------------------------------------------------------------

static uint64_t heap_of(const WorldNeed *need)
{
    FixturePlace place;
    fixture_place_open(&place, 60, 20);
    place.place.player_max = 0; // the config's
    WorldConfig config = fixture_config(&place);
    config.player_max = need->player_max;
    config.entity_max = need->entity_max;
    config.json_session_max = need->json_session_max;
    config.scripts = true;
    Heap heap = heap_make(16ull << 30);
    World *world = NULL;
    CHECK_OK(world_create(&heap, &config, &world));
    const uint64_t bytes = heap.bytes_peak;
    world_destroy(&heap, world);
    fixture_place_close(&place);
    return bytes;
}

TEST(a_world_has_what_it_needs_and_little_more)
{
    static const WorldNeed needs[] = {
        {1, 64, 0, 0, 0},      {1, WORLD_ENTITIES_MAX, 1, 0, 0},
        {50, 16384, 50, 0, 0}, {400, 16384, 64, 0, 0},
        {1000, 512, 0, 0, 0},  {WORLD_PLAYERS_MAX, WORLD_ENTITIES_MAX, 64, 0, 0},
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        const uint64_t sockets = needs[i].player_max * 2 + 512;
        const uint64_t used = heap_of(&needs[i]) + sockets * (96u << 10);
        const uint64_t allowed = world_memory_bytes(&needs[i]);
        printf("  %u players, %u entities: %llu of %llu MiB\n", needs[i].player_max,
               needs[i].entity_max, (unsigned long long)(used >> 20),
               (unsigned long long)(allowed >> 20));
        CHECK(used + (128u << 20) < allowed); // the program, its libraries and queues
        CHECK(allowed < 3 * used + (384u << 20));
    }
}

TEST(an_ordinary_place_gets_no_gigabytes)
{
    const WorldNeed island = {50, 16384, 50, 1u << 20, 1u << 20};
    CHECK(world_memory_bytes(&island) < 1ull << 30);
    const WorldNeed largest = {WORLD_PLAYERS_MAX, WORLD_ENTITIES_MAX, 64, 1u << 20, 1u << 20};
    CHECK(world_memory_bytes(&largest) < 7ull << 30);
}

// --- a cgroup -----------------------------------------------------------------------------------

static TestFolder folder;

static void make_child(const char *name)
{
    static const char *const files[] = {"cgroup.procs", "cpu.max", "memory.max", "pids.max"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", name, files[i]);
        test_folder_write(&folder, path, "");
    }
}

// As the kernel shows a cgroup in which this process is alone.
static void make_cgroup(const char *controllers)
{
    char alone[32];
    folder = test_folder_make();
    snprintf(alone, sizeof alone, "%d\n", (int)getpid());
    test_folder_write(&folder, "cgroup.type", "domain\n");
    test_folder_write(&folder, "cgroup.procs", alone);
    test_folder_write(&folder, "cgroup.controllers", controllers);
    test_folder_write(&folder, "cgroup.subtree_control", "");
    make_child("sandlot-host");
    make_child("sandlot-world");
}

TEST(a_delegated_cgroup_bounds_a_world)
{
    Cgroup cgroup = {.own = ""};
    char reason[128] = "", self[32];
    const CgroupLimits limits = {
        .memory_bytes_max = 700ull << 20, .cpu_percent_max = 100, .process_max = 1};
    make_cgroup("cpuset cpu io memory pids\n");
    REQUIRE(cgroup_open(folder.path, &cgroup, reason, sizeof reason) == STATUS_OK);
    CHECK(cgroup.has_cpu && cgroup.has_memory && cgroup.has_processes);
    snprintf(self, sizeof self, "%d", (int)getpid());
    CHECK_TEXT(test_folder_read(&folder, "sandlot-host/cgroup.procs"), self);
    CHECK_OK(cgroup_bound(&cgroup, "world", &limits, 4321));
    CHECK_TEXT(test_folder_read(&folder, "sandlot-world/cpu.max"), "100000 100000");
    CHECK_TEXT(test_folder_read(&folder, "sandlot-world/memory.max"), "734003200");
    CHECK_TEXT(test_folder_read(&folder, "sandlot-world/pids.max"), "1");
    CHECK_TEXT(test_folder_read(&folder, "sandlot-world/cgroup.procs"), "4321");
    cgroup_close(&cgroup);
    CHECK_TEXT(cgroup.own, "");
    CHECK(strncmp(test_folder_read(&folder, "cgroup.procs"), self, strlen(self)) == 0);
    test_folder_remove(&folder);
}

static void check_refused(const char *why)
{
    Cgroup cgroup = {.own = ""};
    char reason[128] = "";
    CHECK_INT(cgroup_open(folder.path, &cgroup, reason, sizeof reason), STATUS_DENIED);
    CHECK(strstr(reason, why) != NULL);
    CHECK_TEXT(cgroup.own, "");
    CHECK_TEXT(test_folder_read(&folder, "cgroup.subtree_control"), "");
    test_folder_remove(&folder);
}

TEST(a_cgroup_of_others_is_left_alone)
{
    make_cgroup("cpuset io\n");
    check_refused("none of the controllers");
    make_cgroup("cpux memory2 mypids\n"); // words, not parts of them
    check_refused("none of the controllers");
    make_cgroup("cpu memory pids\n");
    test_folder_write(&folder, "cgroup.procs", "1\n2\n");
    check_refused("other programs");
    CHECK_TEXT(test_folder_read(&folder, "sandlot-host/cgroup.procs"), "");
    make_cgroup("cpu memory pids\n");
    char path[512];
    snprintf(path, sizeof path, "%s/cgroup.type", folder.path);
    REQUIRE(unlink(path) == 0);
    check_refused("whole system");
}

TEST(what_there_is_is_said)
{
    HostBounds bounds = {.missing = "there is no cgroup v2"};
    char words[160];
    host_bounds_describe(&bounds, words, sizeof words);
    CHECK_TEXT(words, "no cgroup (there is no cgroup v2)");
    bounds.cgroup = (Cgroup){.own = "/x", .has_cpu = true, .has_processes = true};
    host_bounds_describe(&bounds, words, sizeof words);
    CHECK_TEXT(words, "cgroup: cpu pids");
}

TEST(as_many_worlds_as_memory_and_cores_allow)
{
    CHECK_INT(world_max_of(8ull << 30, 4), 128);
    CHECK_INT(world_max_of(64ull << 30, 2), 200);
    CHECK_INT(world_max_of(0, 1), 4);
    CHECK_INT(world_max_of(1ull << 50, 256), 4096);
    CHECK(world_max_here() >= 4);
}
