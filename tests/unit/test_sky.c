// The sky, effects, lights and the camera over real links in simulated time: what a server's script
// sets is the same on every client, early or late, and what a client's script sets ends with it.
#include "tests/unit/duet.h"

#include <stdio.h>
#include <string.h>

static const char evening[] =
    "World.SetSky({hour = 18, hoursPerSecond = 0.5, fog = 64, weather = 'rain',\n"
    "  colours = {horizon = '#102030'}})\n";

static Sky sky_of(Client *client)
{
    return view_sky(client_script_view(client));
}

static uint32_t events_of(Client *client, uint8_t number)
{
    uint32_t count = 0;
    for (const ClientEvent *event; (event = client_event(client)) != NULL;) {
        count += event->message.number == number;
    }
    return count;
}

static void check_evening(const Sky *sky)
{
    CHECK(sky->hour == 18 && sky->hours_per_second == 0.5f && sky->fog_m == 64);
    CHECK_INT(sky->weather, WEATHER_RAIN);
    CHECK_INT(sky->colours[SKY_HORIZON], 0x102031);
    CHECK_INT(sky->colours[SKY_TOP], 0);
}

TEST(everybody_has_the_same_sky)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 3, true);
    duet_script(duet, "ServerScriptService/Evening", evening);
    duet_script(duet, "StarterGui/Watch",
                "function onUpdate()\n"
                "  if World.Tick() % 120 == 0 then\n"
                "    print('at', World.Tick(), World.GetSky().hour, World.GetSky().weather)\n"
                "  end\n"
                "end\n");
    duet_script(duet, "ServerScriptService/Watch",
                "function onUpdate()\n"
                "  if World.Tick() % 120 == 0 then\n"
                "    print('at', World.Tick(), World.GetSky().hour, World.GetSky().weather)\n"
                "  end\n"
                "end\n");
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 300);
    Client *bo = duet_join(duet, "bo", true); // late
    duet_run(duet, 400);
    const Sky of_ann = sky_of(ann), of_bo = sky_of(bo);
    check_evening(&of_ann);
    check_evening(&of_bo);
    CHECK_INT(of_ann.tick, of_bo.tick);
    // Nothing was sent while the hour went on.
    CHECK_INT(events_of(ann, MESSAGE_SKY), 1);
    CHECK_INT(events_of(bo, MESSAGE_SKY), 1);
    // The same hour at the same tick on all three sides.
    char line[64];
    snprintf(line, sizeof line, "at\t600\t%.1f\train\n", (double)sky_hour(&of_ann, 600, 60));
    if (duet_lines(duet, line) != 3) {
        test_fail(__FILE__, __LINE__, "no \"%s\" on all sides:\n%s", line, duet->text);
    }
    duet_no_faults(duet);
    duet_close(duet);
}

TEST(a_client_that_comes_back_or_is_behind_has_the_newest_sky)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 3, true);
    duet_script(duet, "ServerScriptService/Evening", evening);
    duet_script(duet, "ServerScriptService/Weather",
                "function onUpdate()\n"
                "  local t = World.Tick()\n"
                "  if t > 620 and t <= 680 then\n"
                "    for k = 1, 10 do World.SetSky({hour = (t + k) % 24}) end\n"
                "  elseif t == 681 then\n"
                "    World.SetSky({hour = 7, hoursPerSecond = 0, weather = 'snow'})\n"
                "  end\n"
                "end\n");
    Client *ann = duet_join(duet, "ann", true);
    Client *bo = duet_join(duet, "bo", true);
    REQUIRE(duet->tick < 600);
    duet_run(duet, 600 - (uint32_t)duet->tick);
    duet_cut(duet, 0);
    duet->held[1] = true; // nothing reaches bo while it changes six hundred times
    duet_run(duet, 160);
    duet_connect(duet, 0);
    duet->held[1] = false;
    duet_run(duet, 240);
    const Sky of_ann = sky_of(ann), of_bo = sky_of(bo);
    CHECK(of_ann.hour == 7 && of_ann.weather == WEATHER_SNOW && of_ann.fog_m == 64);
    CHECK(of_bo.hour == 7 && of_bo.weather == WEATHER_SNOW && of_bo.fog_m == 64);
    CHECK(events_of(bo, MESSAGE_SKY) <= 40); // one with a snapshot, not one with a call
    duet_no_faults(duet);
    duet_close(duet);
}

static uint32_t visuals_of(Client *client, VisualKind kind, ViewVisual *last)
{
    ViewVisual all[VISUALS_DRAWN_MAX];
    const uint32_t found = client_visuals(client, all, VISUALS_DRAWN_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found; i++) {
        if (all[i].kind == kind) {
            *last = all[i];
            count += 1;
        }
    }
    return count;
}

TEST(lights_are_seen_by_who_comes_late_and_go_with_their_entity)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 3, true);
    duet_script(duet, "ServerScriptService/Lamps",
                "local guard = Npc.Spawn(Vector3.new(3, 1, 3))\n"
                "guard:SetLight({colour = '#ff8800', range = 12, brightness = 2})\n"
                "guard:SetEmitter('fire', {size = 2})\n"
                "guard:SetTrail({})\n"
                "Network.OnClientEvent('end', function()\n"
                "  if guard:IsValid() then guard:Destroy() end\n"
                "end)\n"
                "Network.OnClientEvent('dark', function() guard:SetLight() end)\n");
    duet_script(duet, "StarterGui/Ask",
                "local names = {}\n"
                "Network.On('do', function(what) Network.FireServer(what) end)\n"
                "Chat.Received:Connect(function(player, text) Network.FireServer(text) end)\n");
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 120);
    Client *bo = duet_join(duet, "bo", true);
    duet_run(duet, 60);
    Client *const both[] = {ann, bo};
    ViewVisual one = {0};
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_INT(visuals_of(both[i], VISUAL_LIGHT, &one), 1);
        CHECK_INT(one.visual.colour, 0xff8801);
        CHECK(one.visual.first == 2 && one.visual.second == 12);
        CHECK_NEAR(one.position.x, 3, 0.5);
        CHECK_INT(visuals_of(both[i], VISUAL_EMITTER, &one), 1);
        CHECK_INT(one.visual.effect, 2);
        CHECK_INT(visuals_of(both[i], VISUAL_TRAIL, &one), 1);
    }
    const MessageChatSay dark = {.text = {"dark", 4}}, end = {.text = {"end", 3}};
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &dark) != 0);
    duet_run(duet, 60);
    CHECK_INT(visuals_of(bo, VISUAL_LIGHT, &one), 0);
    CHECK_INT(visuals_of(bo, VISUAL_TRAIL, &one), 1);
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &end) != 0);
    duet_run(duet, 120);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_INT(visuals_of(both[i], VISUAL_EMITTER, &one), 0);
        CHECK_INT(visuals_of(both[i], VISUAL_TRAIL, &one), 0);
    }
    duet_no_faults(duet);
    duet_close(duet);
}

TEST(bursts_and_beams_come_to_who_is_near)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 3, true);
    duet_script(duet, "ServerScriptService/Show",
                "function onStart()\n"
                "  task.wait(4)\n"
                "  local at = Players.GetPlayers()[1].Character.Position\n"
                "  Effect.Burst('explosion', at, {size = 2, colour = '#ff0000'})\n"
                "  Effect.Beam(at, at + Vector3.new(0, 5, 0), {seconds = 1})\n"
                "  Effect.Burst('dust', Vector3.new(9000, 0, 0))\n"
                "  Effect.Burst('snow', at, {player = Players.GetPlayers()[2]})\n"
                "end\n");
    Client *ann = duet_join(duet, "ann", true);
    Client *bo = duet_join(duet, "bo", true);
    (void)events_of(ann, MESSAGE_EFFECT);
    duet_run(duet, 360);
    CHECK_INT(events_of(ann, MESSAGE_EFFECT), 2);
    CHECK_INT(events_of(bo, MESSAGE_EFFECT), 3); // and the one for bo alone
    duet_no_faults(duet);
    duet_close(duet);
}

TEST(what_a_client_wants_ends_with_its_script)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 3, true);
    duet_script(duet, "ServerScriptService/Lamp",
                "Npc.Spawn(Vector3.new(3, 1, 3)):SetLight({range = 12})\n");
    duet_script(duet, "StarterGui/Own",
                "function onStart()\n"
                "  camera.SetMode('top')\n"
                "  camera.FieldOfView = 50\n"
                "  task.wait(1)\n"
                "  for _, npc in ipairs(World.GetInRadius(Vector3.zero, 50, 'Npc')) do\n"
                "    npc:SetLight({range = 3})\n"
                "    npc:SetTrail({})\n"
                "  end\n"
                "end\n");
    Client *ann = duet_join(duet, "ann", true);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 180);
    ViewVisual one = {0};
    const ViewCamera *camera = view_camera(client_script_view(ann));
    CHECK_INT(camera->wanted.mode, CAMERA_TOP);
    CHECK(camera->wanted.field_of_view == 50);
    CHECK_INT(visuals_of(ann, VISUAL_LIGHT, &one), 1);
    CHECK(one.visual.second == 3);
    CHECK_INT(visuals_of(ann, VISUAL_TRAIL, &one), 1);
    CHECK_INT(visuals_of(bo, VISUAL_TRAIL, &one), 0);
    script_invalidate(client_scripts(ann), "StarterGui/Own");
    duet_run(duet, 10);
    CHECK_INT(camera->wanted.mode, CAMERA_OWN);
    CHECK(camera->wanted.field_of_view == CAMERA_FIELD_NORMAL);
    CHECK_INT(visuals_of(ann, VISUAL_LIGHT, &one), 1);
    CHECK(one.visual.second == 12); // the server's again
    CHECK_INT(visuals_of(ann, VISUAL_TRAIL, &one), 0);
    duet_no_faults(duet);
    duet_close(duet);
}
