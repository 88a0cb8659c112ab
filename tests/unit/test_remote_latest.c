// Unreliable remotes over real links in simulated time: while not everything can be sent, the
// newest of each name wins, and nothing reliable is lost.
#include "tests/unit/duet.h"

#include <stdio.h>

// Sends in every tick until the 200th, to all and to one.
static const char sender[] = "function onUpdate()\n"
                             "  local n = World.Tick()\n"
                             "  if n > 200 then return end\n"
                             "  Network.BroadcastUnreliable('all', n)\n"
                             "  for _, player in ipairs(Players.GetPlayers()) do\n"
                             "    Network.FireClientUnreliable(player, 'one', n)\n"
                             "  end\n"
                             "  if n % 10 == 0 then Network.Broadcast('sure', n) end\n"
                             "end\n";
static const char listener[] =
    "local last, sure = {all = 0, one = 0}, 0\n"
    "for name in pairs({all = 1, one = 1}) do\n"
    "  Network.On(name, function(n)\n"
    "    assert(n > last[name], 'an older one came after a newer one')\n"
    "    last[name] = n\n"
    "    if n == 200 then print('last', name, Players.LocalPlayer.Name) end\n"
    "  end)\n"
    "end\n"
    "Network.On('sure', function(n)\n"
    "  assert(sure == 0 or n == sure + 10, 'one is missing')\n"
    "  sure = n\n"
    "  if n == 200 then print('sure', Players.LocalPlayer.Name) end\n"
    "end)\n";

TEST(a_client_that_was_behind_gets_the_newest)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 2, true);
    duet_script(duet, "ServerScriptService/Sender", sender);
    duet_script(duet, "StarterGui/Listener", listener);
    (void)duet_join(duet, "ann", true);
    (void)duet_join(duet, "bo", true);
    duet->held[1] = true; // nothing reaches bo from here until after the last one was sent
    duet_run(duet, 220);
    CHECK_INT(duet_lines(duet, "last\tall\tann\n"), 1);
    CHECK_INT(duet_lines(duet, "\tbo\n"), 0);
    duet->held[1] = false;
    duet_run(duet, 120);
    CHECK_INT(duet_lines(duet, "last\tall\tbo\n"), 1);
    CHECK_INT(duet_lines(duet, "last\tone\tbo\n"), 1);
    CHECK_INT(duet_lines(duet, "sure\tbo\n"), 1);
    const RemoteCosts *costs = script_remotes(world_scripts(duet->world));
    const RemoteCost *all = &costs->rows[remote_cost_find(costs, (Text){"all", 3})];
    CHECK(all->dropped_count > 50); // older ones, for bo
    duet_no_faults(duet);
    duet_close(duet);
}

// Five names, sixty times a second each: three times as many as a client may send.
TEST(a_client_that_sends_too_much_sends_the_newest)
{
    static const char eager[] =
        "local n = 0\n"
        "function onUpdate()\n"
        "  n = n + 1\n"
        "  if n > 240 then return end\n"
        "  for i = 1, 5 do Network.FireServerUnreliable('aim' .. i, n) end\n"
        "  if n == 240 then Network.FireServer('sure') end\n"
        "end\n";
    static const char server[] = "local count = 0\n"
                                 "for i = 1, 5 do\n"
                                 "  local last = 0\n"
                                 "  Network.On('aim' .. i, function(player, n)\n"
                                 "    assert(n > last, 'an older one came after a newer one')\n"
                                 "    last = n\n"
                                 "    count = count + 1\n"
                                 "    if n == 240 then print('last', i) end\n"
                                 "  end)\n"
                                 "end\n"
                                 "Network.On('sure', function() print('sure', count > 400) end)\n";
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 2, true);
    duet_script(duet, "ServerScriptService/Server", server);
    duet_script(duet, "StarterGui/Eager", eager);
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 400);
    for (uint32_t i = 1; i <= 5; i++) {
        char line[16];
        snprintf(line, sizeof line, "last\t%u\n", i);
        CHECK_INT(duet_lines(duet, line), 1);
    }
    CHECK_INT(duet_lines(duet, "sure\ttrue\n"), 1);
    CHECK_INT(world_stats(duet->world).rate_limited, 0);
    CHECK(client_stats(ann).outputs_dropped > 300);
    duet_no_faults(duet);
    duet_close(duet);
}
