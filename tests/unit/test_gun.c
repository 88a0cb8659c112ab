// The gun of the UGC requirement: both halves as the document has them, in a real world with real
// clients and a delay between them. Who presses Fire fires a bullet from its eye; it belongs to
// that player, and it hits what the player saw.
#include "core/base/check.h"
#include "tests/unit/duet.h"

#include <string.h>

static const char gun_server[] = "-- Host Code\n"
                                 "Network.OnClientEvent(\"FireGun\", function(player, dir)\n"
                                 "    -- Verify logic (Anti-cheat)\n"
                                 "    local bullet = World.Spawn(\"Bullet\")\n"
                                 "    bullet.SetVelocity(dir * 100)\n"
                                 "    Network.Broadcast(\"PlaySound\", \"shoot.wav\")\n"
                                 "end)\n";
static const char gun_client[] = "function onUpdate()\n"
                                 "-- Client Code\n"
                                 "if Input.IsKeyPressed(\"Fire\") then\n"
                                 "    Network.FireServer(\"FireGun\", camera.Forward)\n"
                                 "end\n"
                                 "end\n";

// The same with Projectile.Fire, which takes the shooter and the rest of the prefab by itself.
static const char fire_server[] = "Network.On('FireGun', function(player, dir)\n"
                                  "  Projectile.Fire({prefab = 'Bullet', velocity = dir * 100})\n"
                                  "  Network.Broadcast('PlaySound', 'shoot.wav')\n"
                                  "end)\n";

// Puts bo ten metres away. Prints each new projectile, which has flown for one tick: whose it is,
// and where it began, from the feet of that body.
static const char spy_server[] =
    "local seen = {}\n"
    "function onUpdate()\n"
    "  for _, player in ipairs(Players.GetPlayers()) do\n"
    "    if player.Name == 'bo' and player.Character and not seen.bo then\n"
    "      seen.bo = true\n"
    "      player.Character.SetPosition(Vector3.new(-10, 0, 8))\n"
    "    end\n"
    "  end\n"
    "  for _, shot in ipairs(World.GetInRadius(Vector3.zero, 500, 'Projectile')) do\n"
    "    if not seen[shot.Id] then\n"
    "      seen[shot.Id] = true\n"
    "      local player = shot.Owner\n"
    "      local from = player and player.Character.Position or Vector3.zero\n"
    "      local apart = shot.Position - shot.Velocity * (1 / 60) - from\n"
    "      print('shot of', player and player.Name or 'nobody', shot.Name,\n"
    "            string.format('%.2f %.2f %.2f', apart.X, apart.Y, apart.Z))\n"
    "    end\n"
    "  end\n"
    "end\n";
static const char ear_client[] =
    "Network.OnServerEvent('PlaySound', function(name) print('heard', name) end)\n";

static const char place_text[] =
    "{\"format\": 1, \"name\": \"Range\", \"voxelKinds\": [{\"name\": \"grass\"}]}";
static const char scene_text[] =
    "{\"format\": 1, \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": "
    "\"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 2, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}}]}";
static const char bullet_text[] =
    "{\"format\": 1, \"kind\": \"projectile\",\n"
    " \"projectile\": {\"radius\": 0.1, \"damage\": 30, \"lifetimeMs\": 2000, \"kind\": 7}}";
static const char crate_text[] =
    "{\"format\": 1, \"kind\": \"part\", \"shape\": {\"kind\": \"box\", \"size\": [1, 1, 1]}}";

static const char ghost_text[] = "{\"format\": 1, \"kind\": \"prop\", \"ghost\": true,\n"
                                 " \"shape\": {\"kind\": \"box\", \"size\": [1, 1, 1]}}";

static Duet *range_open(const char *server, uint32_t delay)
{
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)place_text, sizeof place_text - 1},
        {"scene.json", (const uint8_t *)scene_text, sizeof scene_text - 1},
        {"prefabs/Bullet.json", (const uint8_t *)bullet_text, sizeof bullet_text - 1},
        {"prefabs/Crate.json", (const uint8_t *)crate_text, sizeof crate_text - 1},
        {"prefabs/Ghost.json", (const uint8_t *)ghost_text, sizeof ghost_text - 1},
    };
    Duet *duet = duet_open_files(files, 5, delay, true);
    duet_script(duet, "ServerScriptService/Gun", server);
    duet_script(duet, "ServerScriptService/Spy", spy_server);
    duet_script(duet, "StarterPlayer/Gun", gun_client);
    duet_script(duet, "StarterGui/Ear", ear_client);
    return duet;
}

static const Entity *body_of(Duet *duet, const Client *client)
{
    const Sim *sim = world_sim(duet->world);
    const Entity *body = sim_entity(sim, sim_find(sim, client_own(client).net_id));
    ASSERT(body != NULL);
    return body;
}

// Where a client sees the body of another.
static bool see(const Client *client, uint64_t net_id, InterpolatePose *out)
{
    for (uint32_t slot = client_next(client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client, slot)) {
        const ClientEntity entity = client_entity(client, slot);
        if (entity.net_id == net_id) {
            *out = entity.pose;
            return true;
        }
    }
    return false;
}

// Looks along a direction, as the page does, and presses Fire for one tick.
static void shoot(Duet *duet, Client *client, Vec3 direction)
{
    const Vec3 eye = sim_eye(world_sim(duet->world), body_of(duet, client));
    view_set_camera(client_script_view(client), eye, direction);
    client_set_input(client, &(ClientInput){.buttons = INPUT_FIRE});
    duet_run(duet, 1);
    client_set_input(client, &(ClientInput){.buttons = 0});
}

static void check_gun(const char *server)
{
    Duet *duet = range_open(server, 2);
    Client *ann = duet_join(duet, "ann", true);
    Client *bo = duet_join(duet, "bo", true);
    duet_run(duet, 60);
    const Vec3 from = sim_eye(world_sim(duet->world), body_of(duet, ann));
    const Vec3 to = vec3_add(body_of(duet, bo)->position, vec3(0, 1, 0));
    shoot(duet, ann, vec3_normalise(vec3_sub(to, from)));
    duet_run(duet, 60);
    CHECK_INT(duet_lines(duet, "shot of\tann\tBullet\t0.00 1.62 0.00\n"), 1);
    CHECK_INT(duet_lines(duet, "shot of"), 1);
    CHECK_INT(duet_lines(duet, "heard\tshoot.wav\n"), 2); // both
    CHECK_NEAR(body_of(duet, bo)->character.health, 70, 0.01f);
    CHECK_NEAR(body_of(duet, ann)->character.health, 100, 0.01f); // it began inside her own body
    duet_no_faults(duet);
    duet_close(duet);
}

TEST(the_document_s_gun)
{
    check_gun(gun_server);
}

TEST(the_same_by_projectile_fire)
{
    check_gun(fire_server);
}

// Bo walks across, ann aims at where she sees bo, a third of a second ago.
static void check_lag(const char *server)
{
    Duet *duet = range_open(server, 5);
    Client *ann = duet_join(duet, "ann", true);
    Client *bo = duet_join(duet, "bo", true);
    duet_run(duet, 60);
    client_set_input(bo, &(ClientInput){.move_z = 1, .yaw = MATH_PI / 2, .buttons = INPUT_RUN});
    duet_run(duet, 70);
    InterpolatePose seen;
    REQUIRE(see(ann, client_own(bo).net_id, &seen));
    const Vec3 from = vec3_add(client_own(ann).position, vec3(0, 1.62f, 0));
    Vec3 to = vec3_add(seen.position, vec3(0, 1, 0));
    const float seconds = vec3_length(vec3_sub(to, from)) / 100;
    to = vec3_mad(to, seen.velocity, seconds); // as one leads a moving target
    shoot(duet, ann, vec3_normalise(vec3_sub(to, from)));
    duet_run(duet, 5);
    // When the server hears of it bo is somewhere else.
    CHECK(vec3_length(vec3_sub(body_of(duet, bo)->position, seen.position)) > 1.5f);
    duet_run(duet, 60);
    CHECK_INT(duet_lines(duet, "shot of\tann\tBullet\t0.00 1.62 0.00\n"), 1);
    CHECK_NEAR(body_of(duet, bo)->character.health, 70, 0.01f);
    duet_no_faults(duet);
    duet_close(duet);
}

TEST(the_gun_hits_what_the_player_saw)
{
    check_lag(gun_server);
}

TEST(projectile_fire_hits_what_the_player_saw)
{
    check_lag(fire_server);
}

// Whose things are, in and outside of handlers.
TEST(what_a_remote_spawns_is_the_player_s)
{
    static const char server[] =
        "local function say(what, e)\n"
        "  print(what, e.Owner and e.Owner.Name or 'nobody', string.format('%.1f', e.Position.Y))\n"
        "end\n"
        "Network.OnClientEvent('FireGun', function(player)\n"
        "  say('part', World.Spawn('Ghost'))\n"
        "  say('placed', World.Spawn('Crate', Vector3.new(0, 9, 0)))\n"
        "  say('named', Projectile.Fire({position = Vector3.new(0, 5, 0), velocity = Vector3.one,\n"
        "    shooter = player}))\n"
        "  task.spawn(function() task.wait(0.2) say('later', World.Spawn('Ghost')) end)\n"
        "  local made = Signal.new()\n"
        "  made:Connect(function() say('signal', World.Spawn('Ghost')) end)\n"
        "  made:Fire()\n"
        "end)\n"
        "function onStart() say('start', World.Spawn('Bullet'))\n"
        "  print(pcall(Projectile.Fire, {velocity = Vector3.one}))\n"
        "  print(pcall(Projectile.Fire, {velocity = Vector3.one, prefab = 'Crate'}))\n"
        "  print(pcall(Projectile.Fire, {velocity = Vector3.one, prefab = 'Bulet',\n"
        "    position = Vector3.one}))\n"
        "end\n";
    static const char *const wanted[] = {
        "part\tann\t1.6\n",
        "placed\tnobody\t9.0\n",
        "named\tann\t5.0\n",
        "later\tann\t1.6\n",
        "signal\tann\t1.6\n",
        "start\tnobody\t0.0\n",
        "Projectile.Fire: give a position, or a shooter that has a body\n",
        "Projectile.Fire: the prefab \"Crate\" is no projectile; World.Spawn makes it\n",
        "Projectile.Fire: the place has no prefab \"Bulet\"; did you mean \"Bullet\"?\n",
    };
    Duet *duet = range_open(server, 2);
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 30);
    shoot(duet, ann, vec3(0, 0, 1));
    duet_run(duet, 40);
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (duet_lines(duet, wanted[i]) != 1) {
            test_fail(__FILE__, __LINE__, "not once \"%s\" in:\n%s", wanted[i], duet->text);
        }
    }
    duet_no_faults(duet);
    duet_close(duet);
}

// A handler that goes on after its player has left: nobody's, and at no eye.
TEST(nothing_belongs_to_a_player_who_has_left)
{
    static const char server[] =
        "Network.OnClientEvent('FireGun', function(player)\n"
        "  task.wait(2)\n"
        "  local ghost = World.Spawn('Ghost')\n"
        "  print('later', ghost.Owner, ghost.Position.Y)\n"
        "  print(pcall(Projectile.Fire, {velocity = Vector3.one}))\n"
        "  print(pcall(Projectile.Fire, {velocity = Vector3.one, shooter = player}))\n"
        "end)\n";
    Duet *duet = range_open(server, 2);
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 30);
    shoot(duet, ann, vec3(0, 0, 1));
    duet_run(duet, 10);
    CHECK(client_send(ann, MESSAGE_LEAVE, &(MessageLeave){0}) != 0);
    duet_run(duet, 3); // the leave is taken; what follows would be refused
    duet_cut(duet, 0);
    duet_run(duet, 150);
    CHECK_INT(duet_lines(duet, "later\tnil\t0.0\n"), 1);
    CHECK_INT(duet_lines(duet, "Projectile.Fire: give a position, or a shooter that has a body\n"),
              1);
    CHECK_INT(duet_lines(duet, "Projectile.Fire: the shooter has no body\n"), 1);
    duet_close(duet);
}
