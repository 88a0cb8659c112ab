// What scripts share and nobody divides beforehand: three hostile scripts take of it what they can,
// and an honest one that comes last still has its own. Each hostile script must be refused at some
// time, with an error that says why.
//
//   test_parts [NAME]
#include "tests/support/test.h"
#include "tests/unit/script_fixture.h"

#include <stdio.h>
#include <string.h>

#define HOSTILE 3
#define PARTS   60
#define TICKS   6

static ScriptFixture fixture;

// Both get `n`, a number of their own.
static void live_with(const char *hostile, const char *honest)
{
    char code[2048];
    char path[64];
    script_fixture_open(&fixture, NULL);
    for (uint32_t i = 0; i < PARTS; i++) {
        (void)script_fixture_part(&fixture, (Vec3){(float)(i % 8) * 3, 2, (float)(i / 8) * 3}, 0);
    }
    for (uint32_t i = 0; i < HOSTILE; i++) {
        snprintf(path, sizeof path, "ServerScriptService/Hostile%u", (unsigned)i);
        snprintf(code, sizeof code,
                 "local n, why = %u, nil\n"
                 "local function try(f, ...)\n"
                 "  local ok, e = pcall(f, ...)\n"
                 "  if not ok and not why then why = e print('refused', e) end\n"
                 "  return ok\n"
                 "end\n"
                 "function onUpdate()\n%s\nend",
                 (unsigned)i, hostile);
        CHECK(script_fixture_add(&fixture, path, code, 0) != 0);
    }
    snprintf(code, sizeof code,
             "local n, tick, bad = 9, 0, false\n"
             "function onUpdate()\n"
             "  tick = tick + 1\n"
             "  local ok, e = pcall(function() %s end)\n"
             "  if not ok and not bad then bad = true print('honest', e) end\n"
             "  if tick == %d and not bad then print('well') end\n"
             "end",
             honest, TICKS);
    CHECK(script_fixture_add(&fixture, "ServerScriptService/Last", code, 0) != 0);
    script_fixture_run(&fixture, TICKS);
    for (uint32_t i = 0; i < HOSTILE; i++) {
        snprintf(path, sizeof path, "Hostile%u: refused", (unsigned)i);
        if (script_fixture_lines(&fixture, path) != 1) {
            test_fail(__FILE__, __LINE__, "hostile script %u was never refused:\n%s", (unsigned)i,
                      fixture.log);
        }
    }
    CHECK(script_fixture_lines(&fixture, "at most half") >= 1);
    if (script_fixture_lines(&fixture, "Last: well") != 1) {
        test_fail(__FILE__, __LINE__, "the honest script did not get its own:\n%s", fixture.log);
    }
    script_fixture_close(&fixture);
}

TEST(terrain)
{
    live_with("for i = 1, 16 do\n"
              "  if not try(World.SetVoxel, Vector3.new(200 + n * 2000 + i * 40, 40, 0), 1) then\n"
              "    break end\n"
              "end",
              "World.SetVoxel(Vector3.new(5, 3, 5 + tick), 1)");
}

TEST(tags)
{
    live_with("for i = 1, 128 do\n"
              "  local e = World.GetInRadius(Vector3.zero, 50)[1]\n"
              "  if not try(e.AddTag, e, n .. ':' .. i) then break end\n"
              "end",
              "local e = World.GetInRadius(Vector3.zero, 50)[1] e:AddTag('honest')");
}

TEST(texts_of_attributes)
{
    live_with("for _, e in ipairs(World.GetInRadius(Vector3.zero, 60)) do\n"
              "  for i = 1, 12 do\n"
              "    if not try(e.SetAttribute, e, n .. ':' .. i, ('x'):rep(100)) then return end\n"
              "  end\n"
              "end",
              "local e = World.GetInRadius(Vector3.zero, 50)[1] "
              "e:SetAttribute('mine', ('y'):rep(100))");
}

TEST(messages)
{
    live_with("for _, bytes in ipairs({ 60000, 6000, 300 }) do\n"
              "  local t = ('x'):rep(bytes)\n"
              "  for i = 1, 40 do if not try(Network.Broadcast, 'm', t) then break end end\n"
              "end",
              "Network.Broadcast('honest', ('y'):rep(1000))");
}
