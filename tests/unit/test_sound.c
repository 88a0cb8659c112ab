// Sounds of scripts, from Sound.Play on the server or on a client to what a page is to play: with
// real clients in a real world.
#include "core/world/world_inside.h"
#include "tests/unit/duet.h"

#include <stdio.h>
#include <string.h>

static const char place_text[] = "{\"format\": 1, \"name\": \"Hall\", "
                                 "\"voxelKinds\": [{\"name\": \"grass\"}]}";
static const char scene_text[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-200, -4, -32], \"max\": [300, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Bell\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";
static const char crate_text[] =
    "{\"format\": 1, \"kind\": \"part\", \"shape\": {\"kind\": \"box\", \"size\": [1, 1, 1]}}";

static Duet *hall_open(const char *server, const char *client)
{
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)place_text, sizeof place_text - 1},
        {"scene.json", (const uint8_t *)scene_text, sizeof scene_text - 1},
        {"prefabs/Crate.json", (const uint8_t *)crate_text, sizeof crate_text - 1},
    };
    Duet *duet = duet_open_files(files, 3, 2, true);
    duet_script(duet, "ServerScriptService/Band", server);
    if (client != NULL) {
        duet_script(duet, "StarterGui/Ear", client);
    }
    return duet;
}

static const SoundLoop *loop_of(Client *client, bool is_own, const char *name)
{
    const SoundTable *table = view_sounds(client_script_view(client), is_own);
    for (uint32_t i = 0; i < SOUND_LOOPS_MAX; i++) {
        if (table->loops[i].version != 0 &&
            text_equal(table->loops[i].sound.name, text_from(name))) {
            return &table->loops[i];
        }
    }
    return NULL;
}

static uint32_t loop_count(Client *client, bool is_own)
{
    return view_sounds(client_script_view(client), is_own)->count;
}

static bool plays_music(Client *client, bool is_own, const char *name)
{
    const SoundTable *table = view_sounds(client_script_view(client), is_own);
    return text_equal(table->music.sound.name, text_from(name));
}

// Takes what a page would, tick by tick; how often a sound of that name (or any) began.
static uint32_t heard_in(Duet *duet, Client *client, uint32_t ticks, const char *name)
{
    uint32_t heard = 0;
    for (uint32_t i = 0; i < ticks; i++) {
        duet_run(duet, 1);
        for (const ScriptSound *sound;
             (sound = view_sound_take(client_script_view(client))) != NULL;) {
            heard += sound->act == SCRIPT_SOUND_PLAY &&
                     (name == NULL || text_equal(sound->name, text_from(name)));
        }
    }
    return heard;
}

// --- state --------------------------------------------------------------------------------------

TEST(who_joins_later_hears_what_runs)
{
    Duet *duet = hall_open("local hum = Sound.Play('hum', {loop = true, volume = 0.5,\n"
                           "  entity = World.Find('Bell'), pitch = 2, caption = 'it hums'})\n"
                           "Sound.Music('calm', {volume = 0.25, fade = 3})\n"
                           "Chat.Received:Connect(function(player, text)\n"
                           "  if text == 'softer' then hum.Volume = 0.125 hum.Pitch = 1 end\n"
                           "  if text == 'stop' then hum:Stop() hum:Stop() Sound.Music(nil) end\n"
                           "end)\n",
                           NULL);
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 60);
    Client *bob = duet_join(duet, "bob", true);
    duet_run(duet, 60);
    Client *both[] = {ann, bob};
    for (uint32_t i = 0; i < 2; i++) {
        const SoundLoop *hum = loop_of(both[i], false, "hum");
        REQUIRE(hum != NULL);
        CHECK(hum->sound.volume == 0.5f && hum->sound.pitch == 2 && hum->sound.entity != 0);
        CHECK(hum->sound.has_position && hum->sound.position.x == 9);
        CHECK(text_equal(hum->sound.caption, text_from("it hums")));
        CHECK(plays_music(both[i], false, "calm"));
        CHECK_INT(loop_count(both[i], false), 1);
    }
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = text_from("softer")}) != 0);
    duet_run(duet, 30);
    for (uint32_t i = 0; i < 2; i++) {
        const SoundLoop *hum = loop_of(both[i], false, "hum");
        REQUIRE(hum != NULL);
        CHECK(hum->sound.volume == 0.125f && hum->sound.pitch == 1);
    }
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = text_from("stop")}) != 0);
    duet_run(duet, 30);
    CHECK(loop_count(ann, false) == 0 && loop_count(bob, false) == 0);
    CHECK(plays_music(ann, false, "") && plays_music(bob, false, ""));
    duet_no_faults(duet);
    duet_close(duet);
}

TEST(a_cut_connection_hears_what_runs_now)
{
    Duet *duet = hall_open("local first = Sound.Play('first', {loop = true})\n"
                           "Sound.Play('second', {loop = true})\n"
                           "Sound.Music('calm')\n"
                           "Chat.Received:Connect(function()\n"
                           "  first:Stop() Sound.Play('third', {loop = true}) Sound.Music('war')\n"
                           "end)\n",
                           NULL);
    Client *ann = duet_join(duet, "ann", true);
    Client *bob = duet_join(duet, "bob", true);
    duet_run(duet, 30);
    CHECK(loop_of(ann, false, "first") != NULL && plays_music(ann, false, "calm"));
    duet_cut(duet, 0); // what changes now is lost for ann
    CHECK(client_send(bob, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = text_from("go")}) != 0);
    duet_run(duet, 20);
    duet_connect(duet, 0);
    duet_run(duet, 90);
    CHECK_INT(client_stats(ann).state, CLIENT_PLAYING);
    for (uint32_t i = 0; i < 2; i++) {
        Client *client = duet->clients[i];
        CHECK(loop_of(client, false, "first") == NULL && loop_of(client, false, "second") != NULL);
        CHECK(loop_of(client, false, "third") != NULL && loop_count(client, false) == 2);
        CHECK(plays_music(client, false, "war"));
    }
    duet_no_faults(duet);
    duet_close(duet);
}

TEST(a_loop_ends_with_its_entity_and_with_its_script)
{
    Duet *duet = hall_open("local crate = World.Spawn('Crate', Vector3.new(2, 1, 2))\n"
                           "Sound.Play('crate', {loop = true, entity = crate})\n"
                           "Sound.Play('hum', {loop = true})\n"
                           "Sound.Music('calm')\n"
                           "Chat.Received:Connect(function() crate:Destroy() end)\n",
                           NULL);
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 30);
    CHECK(loop_of(ann, false, "crate") != NULL && loop_of(ann, false, "hum") != NULL);
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = text_from("go")}) != 0);
    duet_run(duet, 30);
    CHECK(loop_of(ann, false, "crate") == NULL && loop_of(ann, false, "hum") != NULL);
    ScriptSystem *scripts = world_scripts(duet->world);
    static const char *const silent = "print('nothing')\n";
    const CompileRequest again = {
        .script_id = "ServerScriptService/Band", .code = silent, .code_bytes = strlen(silent)};
    CHECK(script_reload(scripts, &again).ok);
    duet_run(duet, 30);
    CHECK_INT(loop_count(ann, false), 0);
    CHECK(plays_music(ann, false, ""));
    duet_no_faults(duet);
    duet_close(duet);
}

// A loop for one player alone ends when that player leaves; 64 players who came and went would
// otherwise leave no loop for the script.
TEST(a_loop_for_one_player_ends_when_that_player_leaves)
{
    Duet *duet = hall_open("Players.PlayerAdded:Connect(function(player)\n"
                           "  Sound.Play('welcome', {loop = true, player = player})\n"
                           "end)\n"
                           "Sound.Play('hum', {loop = true})\n",
                           NULL);
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 30);
    CHECK(loop_of(ann, false, "welcome") != NULL);
    CHECK_INT(authority_sounds(duet->world->authority)->count, 2);
    const World *world = duet->world;
    CHECK_OK(authority_player_leave(world->authority, world->sessions->all[0].player));
    duet_run(duet, 3);
    CHECK_INT(authority_sounds(duet->world->authority)->count, 1);
    duet_no_faults(duet);
    duet_close(duet);
}

// The same on a client, for an entity that one of its scripts made.
TEST(a_clients_own_loop_ends_with_its_entity)
{
    Duet *duet = hall_open("print('server')\n",
                           "local crate = World.SpawnLocal('Crate', Vector3.new(2, 1, 2))\n"
                           "Sound.Play('crate', {loop = true, entity = crate})\n"
                           "Sound.Play('hum', {loop = true})\n"
                           "task.wait(1)\n"
                           "crate:Destroy()\n");
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 40);
    CHECK_INT(loop_count(ann, true), 2);
    duet_run(duet, 80);
    CHECK_INT(loop_count(ann, true), 1);
    CHECK(loop_of(ann, true, "hum") != NULL);
    duet_no_faults(duet);
    duet_close(duet);
}

// --- who hears ----------------------------------------------------------------------------------

TEST(nobody_is_sent_what_is_too_far_away)
{
    Duet *duet = hall_open("Sound.Play('far', {loop = true, position = Vector3.new(100, 1, 0)})\n"
                           "Chat.Received:Connect(function(player, text)\n"
                           "  Sound.Play('bang', {position = Vector3.new(100, 1, 0)})\n"
                           "  Sound.Play('everywhere')\n"
                           "  Sound.Play('own', {entity = player, player = player})\n"
                           "  player.Character.Position = Vector3.new(tonumber(text), 1, 0)\n"
                           "end)\n",
                           NULL);
    Client *ann = duet_join(duet, "ann", true);
    Client *bob = duet_join(duet, "bob", true);
    duet_run(duet, 30);
    CHECK_INT(loop_count(ann, false), 0);
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = text_from("80")}) != 0);
    CHECK_INT(heard_in(duet, ann, 30, "bang"), 0); // from 100 m
    CHECK_INT(loop_count(ann, false), 1);
    CHECK_INT(loop_count(bob, false), 0);
    // Within hearing; the one who stays behind hears what comes from everywhere.
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = text_from("0")}) != 0);
    uint32_t bang = 0, own = 0, everywhere = 0, others = 0;
    for (uint32_t i = 0; i < 40; i++) {
        duet_run(duet, 1);
        for (const ScriptSound *sound;
             (sound = view_sound_take(client_script_view(ann))) != NULL;) {
            bang += text_equal(sound->name, text_from("bang"));
            own += text_equal(sound->name, text_from("own"));
        }
        for (const ScriptSound *sound;
             (sound = view_sound_take(client_script_view(bob))) != NULL;) {
            everywhere += text_equal(sound->name, text_from("everywhere"));
            others += !text_equal(sound->name, text_from("everywhere"));
        }
    }
    CHECK(bang == 1 && own == 1);
    CHECK(everywhere == 1 && others == 0); // "bang" is too far, "own" is for ann
    CHECK_INT(loop_count(ann, false), 0);  // she went away from it
    duet_no_faults(duet);
    duet_close(duet);
}

// --- bounds -------------------------------------------------------------------------------------

TEST(a_client_is_sent_few_sounds_in_a_tick_and_all_loops_in_the_end)
{
    Duet *duet = hall_open("Chat.Received:Connect(function()\n"
                           "  for i = 1, 200 do Sound.Play('x' .. i) end\n"
                           "  for i = 1, 64 do Sound.Play('loop', {loop = true}) end\n"
                           "  print(pcall(Sound.Play, 'more', {loop = true}))\n"
                           "end)\n",
                           NULL);
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 30);
    CHECK(client_send(ann, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = text_from("go")}) != 0);
    CHECK_INT(heard_in(duet, ann, 60, NULL), SOUNDS_PER_CLIENT_TICK);
    CHECK_INT(loop_count(ann, false), 64);
    CHECK(strstr(duet->text, "false\tSound.Play: there are at most 128 sounds that loop") != NULL);
    ScriptFault fault = {0}; // the creator is told of those that nobody hears
    REQUIRE(script_faults(world_scripts(duet->world), &fault, 1) == 1);
    CHECK(strstr(fault.message, "than players can be sent") != NULL);
    duet_close(duet);
}

// --- clients ------------------------------------------------------------------------------------

TEST(a_clients_own_sounds_go_the_same_way)
{
    Duet *duet = hall_open("Sound.Music('calm')\n",
                           "local hum = Sound.Play('hum', {loop = true, volume = 0.5})\n"
                           "Sound.Music('tense')\n"
                           "task.wait(1)\n"
                           "local click = Sound.Play('click')\n"
                           "click:Stop()\n"
                           "hum.Volume = 0.25\n"
                           "task.wait(1)\n"
                           "hum:Stop()\n"
                           "Sound.Music()\n");
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 30);
    CHECK(loop_of(ann, true, "hum") != NULL && plays_music(ann, true, "tense"));
    CHECK(plays_music(ann, false, "calm"));
    uint32_t acts[5] = {0};
    for (uint32_t i = 0; i < 60; i++) {
        duet_run(duet, 1);
        for (const ScriptSound *sound;
             (sound = view_sound_take(client_script_view(ann))) != NULL;) {
            CHECK(sound->is_own);
            acts[sound->act] += 1;
        }
    }
    CHECK(acts[SCRIPT_SOUND_PLAY] == 1 && acts[SCRIPT_SOUND_STOP] == 1);
    REQUIRE(loop_of(ann, true, "hum") != NULL);
    CHECK(loop_of(ann, true, "hum")->sound.volume == 0.25f);
    duet_run(duet, 70);
    CHECK_INT(loop_count(ann, true), 0);
    CHECK(plays_music(ann, true, ""));
    duet_no_faults(duet);
    duet_close(duet);
}

// The document about creators' games has Network.Broadcast("PlaySound", "shoot.wav").
TEST(a_broadcast_of_playsound_is_heard_unless_a_script_takes_it)
{
    static const char server[] = "Chat.Received:Connect(function(_, text)\n"
                                 "  Network.Broadcast('PlaySound', text)\n"
                                 "  Network.Broadcast('PlaySound', 7)\n"
                                 "  Network.Broadcast('PlaySound')\n"
                                 "  Network.Broadcast('Other', 'shoot.wav')\n"
                                 "end)\n";
    static const char *const ears[] = {
        NULL, "Network.OnServerEvent('PlaySound', function(name) print('took', name) end)\n"};
    for (uint32_t i = 0; i < 2; i++) {
        Duet *duet = hall_open(server, ears[i]);
        Client *ann = duet_join(duet, "ann", true);
        duet_run(duet, 30);
        CHECK(client_send(ann, MESSAGE_CHAT_SAY,
                          &(MessageChatSay){.text = text_from("shoot.wav")}) != 0);
        CHECK_INT(heard_in(duet, ann, 30, NULL), i == 0 ? 1 : 0);
        CHECK_INT(duet_lines(duet, "took\tshoot.wav\n"), i);
        duet_no_faults(duet);
        duet_close(duet);
    }
}
