// Lints on compiled scripts, and replaced line numbers. The same natively and in WASM.
#include "core/base/rng.h"
#include "core/script/lint/lint.h"
#include "core/script/rune/rune.h"
#include "tests/support/test.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDINGS_MAX 32
#define REQUIRES_MAX 8
#define SOURCE_BYTES (200 << 10)

static Heap heap;
static Vm *vm;
static lua_State *lua;
static LintFinding findings[FINDINGS_MAX];
static char requires[REQUIRES_MAX][SCRIPT_PATH_BYTES];
static uint32_t require_lines[REQUIRES_MAX];
static LintResult result;

// Leaves the environment and the function on the stack.
static bool open_source(const char *source)
{
    heap = heap_make(64u << 20);
    const VmConfig config = vm_config_default();
    CHECK_OK(vm_create(&heap, &config, &vm));
    lua = vm_main(vm);
    vm_push_environment(lua);
    const Status status = vm_compile(lua, "Workspace/Door", source, strlen(source), 1);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", lua_tostring(lua, -1));
    }
    return status == STATUS_OK;
}

static void close_source(void)
{
    vm_destroy(&heap, vm);
    CHECK_INT(heap.bytes_now, 0);
}

static void lint(const char *source, LintSide side)
{
    result = (LintResult){.findings = findings,
                          .finding_max = FINDINGS_MAX,
                          .requires = requires,
                          .require_lines = require_lines,
                          .require_max = REQUIRES_MAX};
    if (open_source(source)) {
        lint_function(lua, side, &result);
        CHECK_INT(lua_gettop(lua), 2);
        CHECK(lua_isfunction(lua, -1));
    }
    close_source();
}

static void check_found(int line, uint32_t index, LintKind kind, uint32_t at, const char *part)
{
    if (index >= result.finding_count) {
        test_fail(__FILE__, line, "finding %u is missing: %s", index, part);
        return;
    }
    const LintFinding *finding = &findings[index];
    if (finding->kind != kind || finding->line != at || strstr(finding->message, part) == NULL) {
        test_fail(__FILE__, line, "%s, line %u: %s", lint_kind_name(finding->kind), finding->line,
                  finding->message);
    }
}
#define FOUND(index, kind, at, part) check_found(__LINE__, index, kind, at, part)

static void check_clean(int line, const char *source, LintSide side)
{
    lint(source, side);
    for (uint32_t i = 0; i < result.finding_count; i++) {
        test_fail(__FILE__, line, "line %u: %s", findings[i].line, findings[i].message);
    }
    CHECK_INT(result.dropped_count, 0);
}
#define CLEAN(source, side) check_clean(__LINE__, source, side)

// --- undefined globals --------------------------------------------------------------------------

TEST(an_undefined_global_is_found_with_what_was_meant)
{
    lint("local a = 1\nWrold.Find('Door')\nprnt(a)\ncuont = 1\nprint(count)\n", LINT_BOTH);
    CHECK_INT(result.finding_count, 3);
    FOUND(0, LINT_UNDEFINED_GLOBAL, 2,
          "Wrold is defined nowhere, so it is nil; did you mean World?");
    FOUND(1, LINT_UNDEFINED_GLOBAL, 3, "did you mean print?");
    FOUND(2, LINT_UNDEFINED_GLOBAL, 5, "did you mean cuont?");
    CHECK(!findings[0].is_error);
}

TEST(names_of_other_engines_and_forgotten_groups)
{
    lint("wait(1)\nworkspace.x()\nFireClient(1)\nxyzzy()\nworld.Find('a')\n", LINT_SERVER);
    FOUND(0, LINT_UNDEFINED_GLOBAL, 1, "wait is not here, so it is nil: write task.wait(seconds)");
    FOUND(1, LINT_UNDEFINED_GLOBAL, 2, "workspace is not here, so it is nil: write World");
    FOUND(2, LINT_UNDEFINED_GLOBAL, 3, "did you mean Network.FireClient?");
    FOUND(4, LINT_UNDEFINED_GLOBAL, 5, "did you mean World?");
    CHECK_TEXT(findings[3].message, "xyzzy is defined nowhere, so it is nil");
}

// Known because the API returned them or an event passes them, through locals, loops and upvalues.
TEST(members_of_entities_and_players_are_checked)
{
    lint("local door = World.Find('Door')\nwhile task.wait() do\n  door.CanCollide = false\nend\n"
         "Players.PlayerAdded:Connect(function(player)\n  print(player.Nam, door.Postion)\n"
         "  player.coins = 5\n  player.Character.Touched:conect(print)\nend)\n"
         "Network.OnClientEvent('a', function(who, what)\n  print(who.Neme, what.Neme)\nend)\n"
         "for _, p in ipairs(Players.GetPlayers()) do\n  p.LoadCharacter(p)\nend\n",
         LINT_SERVER);
    CHECK_INT(result.finding_count, 7);
    FOUND(0, LINT_UNKNOWN_MEMBER, 3,
          "CanCollide is no member of Entity here: write entity:SetSolid");
    FOUND(1, LINT_UNKNOWN_MEMBER, 6, "Player has no Nam; did you mean Name?");
    FOUND(2, LINT_UNKNOWN_MEMBER, 6, "Entity has no Postion; did you mean Position?");
    FOUND(3, LINT_UNKNOWN_MEMBER, 7, "Player has no coins: keep values of your own in a table");
    FOUND(4, LINT_UNKNOWN_MEMBER, 8, "Signal has no conect; did you mean Connect?");
    FOUND(5, LINT_UNKNOWN_MEMBER, 11, "Player has no Neme; did you mean Name?");
    FOUND(6, LINT_UNKNOWN_MEMBER, 14, "LoadCharacter is no member of Player here");
}

TEST(what_may_be_nil_is_known_too)
{
    lint("local ball = World.Spawn('Ball')\nball.Hit:Connect(function(other, position)\n"
         "  if other then print(other.Postion, position.magnitude) end\nend)\n",
         LINT_SERVER);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_UNKNOWN_MEMBER, 3, "Entity has no Postion; did you mean Position?");
    FOUND(1, LINT_UNKNOWN_MEMBER, 3, "Vector3 has no magnitude; did you mean Magnitude?");
}

TEST(fields_of_its_own_are_nobodys_business)
{
    CLEAN("local door = World.Find('Door')\ndoor.open = true\ndoor.ownr = 1\n"
          "print(door.open, door.ownr, door.somethingElse)\nfunction onStart(self)\n"
          "  self.speed = 2\n  print(self.speed)\nend\n"
          "local pet = {WalkSpeed = 5, CFrame = 1}\nprint(pet.WalkSpeed, pet.CFrame)\n"
          "local Pet = {}\nfunction Pet:walk() self.CanCollide = true end\nPet:walk()\n"
          "local config = require('ReplicatedStorage/Config')\nprint(config.player.JumpPower)\n",
          LINT_SERVER);
    CLEAN("local hit = World.Raycast(Vector3.zero, Vector3.one)\nhit.Mine = 1\nprint(hit.Mine)\n"
          "local text = UI and UI.Text({text = 'a'})\nprint(text.text)\n",
          LINT_CLIENT);
    // A variable that a loop changes is not followed.
    CLEAN("local x = World.Find('Door')\nfor i = 1, 3 do\n  print(x.Postion2 or x)\n"
          "  x = {Postion = 1}\nend\nlocal y = World.Find('Door')\ny = {Postion = 1}\n"
          "print(y.Postion)\n",
          LINT_SERVER);
}

TEST(options_and_words_are_checked_where_they_are_written)
{
    lint("UI.Show(UI.List({\n  anchr = 'top',\n  UI.Text({\n    txt = 'a', color = '#ffffff'}),\n"
         "}))\nSound.Play('boom', {vol = 1})\nWorld.GetInRadius(Vector3.new(), 5, 'Palyer')\n",
         LINT_CLIENT);
    CHECK_INT(result.finding_count, 4);
    FOUND(0, LINT_UNKNOWN_MEMBER, 2, "UI.List has no option \"anchr\"; did you mean \"anchor\"?");
    FOUND(1, LINT_UNKNOWN_MEMBER, 4, "UI.Text has no option \"txt\"; did you mean \"text\"?");
    FOUND(2, LINT_UNKNOWN_MEMBER, 6,
          "no option \"vol\"; the options are position, entity, volume, pitch, loop, caption, "
          "player");
    FOUND(3, LINT_UNKNOWN_MEMBER, 7, "did you mean Player?");
}

TEST(a_loop_over_a_table_needs_pairs)
{
    lint("local t = {1}\nfor _, v in t do print(v) end\n"
         "for _, p in Players.GetPlayers() do print(p) end\n",
         LINT_SERVER);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_FOREIGN, 2, "for … in without ipairs or pairs is Luau");
    FOUND(1, LINT_FOREIGN, 3, "A file that ends in .luau may have it");
    CHECK(!findings[0].is_error && findings[1].is_error);
    CLEAN(
        "local t = {1}\nfor _, v in pairs(t) do print(v) end\nfor _, v in next, t do print(v) end\n"
        "for _, p in ipairs(Players.GetPlayers()) do print(p.Name) end\n",
        LINT_SERVER);
}

TEST(it_is_found_inside_functions_and_once_a_line)
{
    lint("local function f()\n  return function()\n    return Foo + Foo\n  end\nend\nf()\n"
         "return Foo\n",
         LINT_BOTH);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_UNDEFINED_GLOBAL, 3, "Foo");
    FOUND(1, LINT_UNDEFINED_GLOBAL, 7, "Foo");
}

TEST(what_a_script_defines_is_defined)
{
    CLEAN("function helper() return state end\nfunction onStart() state = helper() end\n"
          "local function later() return laterSet end\nlater()\nlaterSet = 2\n"
          "_G.other = 1\nprint(other, _VERSION, math.pi, onUpdate, table.concat({}))\n",
          LINT_BOTH);
}

// The first local of a script is captured much like its environment.
TEST(fields_of_a_captured_table_are_no_globals)
{
    CLEAN(
        "local t = {}\nlocal function f()\n  t.x = t.missing\n  return function() return t.z end\n"
        "end\nreturn f\n",
        LINT_BOTH);
}

TEST(nothing_is_said_where_names_come_from_elsewhere)
{
    CLEAN("for _, n in ipairs({'a', 'b'}) do _ENV[n] = 1 end\nprint(a, b)\n", LINT_BOTH);
    CLEAN("setmetatable(_G, {__index = function() return 1 end})\nprint(whatever)\n", LINT_BOTH);
    CLEAN("local e = _ENV\nlocal function set(k) e[k] = 1 end\nset('z')\nprint(z)\n", LINT_BOTH);
    CLEAN("load('q = 1')()\nprint(q)\n", LINT_BOTH);
    CLEAN("local _ENV = {x = 1}\nreturn x + y\n", LINT_BOTH);
    CLEAN("local function f(_ENV) return anything end\nreturn f({})\n", LINT_BOTH);
    CLEAN("if _G.Missing then print(1) end\n", LINT_BOTH);
}

// With more than 255 constants globals are reached by other instructions.
TEST(scripts_with_many_constants_are_read_too)
{
    char *source = malloc(SOURCE_BYTES);
    REQUIRE(source != NULL);
    size_t at = 0;
    for (int i = 0; i < 300; i++) {
        at += (size_t)snprintf(source + at, SOURCE_BYTES - at, "do local t = 'text %d' end\n", i);
    }
    snprintf(source + at, SOURCE_BYTES - at,
             "mine = 1\nprint(mine)\nmissing()\nNetwork.FireClient(1, 'x')\nWorld = 1\n"
             "require('ReplicatedStorage/Tools')\n");
    lint(source, LINT_CLIENT);
    CHECK_INT(result.finding_count, 3);
    FOUND(0, LINT_UNDEFINED_GLOBAL, 303, "missing");
    FOUND(1, LINT_WRONG_SIDE, 304, "Network.FireServer");
    FOUND(2, LINT_SHADOWED, 305, "World");
    CHECK_INT(result.require_count, 1);
    free(source);
}

// --- shadowed -----------------------------------------------------------------------------------

TEST(names_of_the_api_that_are_shadowed)
{
    lint("local a\nWorld = nil\nlocal Network = {}\nlocal function f(Players)\nend\n"
         "function Sound() end\nfor camera = 1, 2 do end\n",
         LINT_BOTH);
    CHECK_INT(result.finding_count, 5);
    FOUND(0, LINT_SHADOWED, 2, "no longer reaches the API's World");
    FOUND(1, LINT_SHADOWED, 3, "the local Network hides the API's Network");
    FOUND(2, LINT_SHADOWED, 4, "the parameter Players hides");
    FOUND(3, LINT_SHADOWED, 6, "Sound");
    FOUND(4, LINT_SHADOWED, 7, "the local camera hides");
    CHECK(!findings[0].is_error);
}

TEST(copies_fields_and_hooks_shadow_nothing)
{
    CLEAN("local World, Network = World, Network\nlocal task = task\n"
          "local t = {World = 1}\nt.Network = 2\nfunction onStart(self) end\n"
          "function OnTouch(self, other) end\nlocal type, name, value = type, 1, 2\n",
          LINT_SERVER);
}

// --- sides --------------------------------------------------------------------------------------

TEST(calls_of_the_other_side_can_only_fail)
{
    lint("Network.OnClientEvent('a', print)\nlocal s = DataStore.GetDataStore('x')\n"
         "KillPlayer()\nlocal net = Network\nnet.Broadcast('b')\nNpc.StateChanged:Connect(print)\n",
         LINT_CLIENT);
    CHECK_INT(result.finding_count, 5);
    FOUND(0, LINT_WRONG_SIDE, 1, "works on the server only; this script runs on clients");
    FOUND(0, LINT_WRONG_SIDE, 1, "use Network.OnServerEvent or Network.On (Roblox has");
    FOUND(1, LINT_WRONG_SIDE, 2, "DataStore.GetDataStore");
    FOUND(2, LINT_WRONG_SIDE, 3, "KillPlayer");
    FOUND(3, LINT_WRONG_SIDE, 5, "Network.Broadcast");
    FOUND(4, LINT_WRONG_SIDE, 6, "Npc.StateChanged");
    for (uint32_t i = 0; i < result.finding_count; i++) {
        CHECK(findings[i].is_error);
    }
    lint("Input.Pressed:Connect(print)\nfunction onUpdate()\n  if Input.IsKeyPressed('W') then\n"
         "    Network.FireServer('x', 1)\n  end\nend\n",
         LINT_SERVER);
    CHECK_INT(result.finding_count, 3);
    FOUND(0, LINT_WRONG_SIDE, 1,
          "Input.Pressed works on clients only; this script runs on the server");
    FOUND(1, LINT_WRONG_SIDE, 3, "Input.IsKeyPressed");
    FOUND(2, LINT_WRONG_SIDE, 4, "use Network.FireClient or Network.Broadcast");
}

TEST(a_call_is_known_whatever_its_arguments_are)
{
    lint("local p, q = ...\nNetwork.FireClient(p or q, p and 'a' or 'b', print(p and q))\n"
         "return Network.FireClient(p, 'x')\n",
         LINT_CLIENT);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_WRONG_SIDE, 2, "Network.FireClient");
    FOUND(1, LINT_WRONG_SIDE, 3, "Network.FireClient");
}

TEST(what_may_be_another_function_is_left_alone)
{
    CLEAN("local p = ...\nlocal f = p and print or Network.FireClient\nf(1)\n"
          "local g = print\nif p then g = Network.FireClient end\ng(1)\n"
          "local h = Network.FireClient\nwhile p do h(1) h = print end\n",
          LINT_CLIENT);
    CLEAN("local t = {FireClient = print}\nt.FireClient(1)\nt:Kill()\n", LINT_CLIENT);
    lint("Network = {FireClient = print}\nNetwork.FireClient(1)\n", LINT_CLIENT);
    CHECK_INT(result.finding_count, 1); // that it is shadowed
}

TEST(in_scripts_of_both_sides_only_what_surely_fails)
{
    lint("Network.OnClientEvent('a', print)\nfunction onStart(self)\n  Npc.Spawn(self.Position)\n"
         "end\n",
         LINT_BOTH);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_WRONG_SIDE, 1, "fails on every client");
    FOUND(1, LINT_WRONG_SIDE, 3, "Npc.Spawn");
    CHECK(!findings[0].is_error);
    CLEAN("function OnTriggerEnter(self, other) KillPlayer() end\n"
          "function onStart(self)\n  if not Players.LocalPlayer then\n"
          "    Npc.Spawn(self.Position)\n  end\nend\n"
          "Timer.Every(1, function() Network.Broadcast('x') end)\n"
          "if Players.LocalPlayer then return end\nNetwork.OnClientEvent('a', print)\n"
          "World.Spawn('Crate')\n",
          LINT_BOTH);
}

TEST(what_a_client_does_in_vain)
{
    lint("World.Spawn('Crate')\nWorld.Destroy(World.SpawnLocal('Crate'))\n"
         "function OnTouch(self, other) end\n",
         LINT_CLIENT);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_WRONG_SIDE, 1,
          "does nothing on a client: the world is the server's; use "
          "World.SpawnLocal");
    FOUND(1, LINT_WRONG_SIDE, 3, "OnTouch is called on the server only");
    CHECK(!findings[0].is_error && !findings[1].is_error);
}

// --- members ------------------------------------------------------------------------------------

TEST(calls_of_members_that_are_not_there)
{
    lint("World.Spwan('Crate')\nmath.pow(2, 3)\nlocal n = Network\nn.Fire('x')\n"
         "table.getn({})\nVector3.New(1, 2, 3)\nstring.fromat('a')\n",
         LINT_SERVER);
    CHECK_INT(result.finding_count, 6);
    FOUND(0, LINT_UNKNOWN_MEMBER, 1, "World has no Spwan; did you mean World.Spawn?");
    FOUND(1, LINT_UNKNOWN_MEMBER, 2, "math has no pow");
    FOUND(2, LINT_UNKNOWN_MEMBER, 4, "Network has no Fire");
    FOUND(3, LINT_UNKNOWN_MEMBER, 5, "table has no getn");
    FOUND(4, LINT_UNKNOWN_MEMBER, 6, "did you mean Vector3.new?");
    FOUND(5, LINT_UNKNOWN_MEMBER, 7, "did you mean string.format?");
    CLEAN("local p = math.pow or function() end\np(1)\nif table.getn then print(1) end\n"
          "print(Vector3.zero, Players.LocalPlayer, math.pi, utf8.charpattern)\n"
          "Players.PlayerAdded:Connect(print)\nlocal t = {}\nt.anything()\n"
          "function state() end\nstate.x()\nprint(('x'):rep(3), coroutine.wrap(print))\n",
          LINT_SERVER);
    CLEAN("utf8 = {}\nutf8.mine()\n", LINT_BOTH);
}

TEST(hooks_with_nearly_the_right_name)
{
    lint("function OnStart(self) end\nfunction onupdate(self, dt) end\nonTriggerEnter = function() "
         "end\n",
         LINT_SERVER);
    CHECK_INT(result.finding_count, 3);
    FOUND(0, LINT_UNKNOWN_HOOK, 1, "nothing calls OnStart; did you mean onStart?");
    FOUND(1, LINT_UNKNOWN_HOOK, 2, "did you mean onUpdate?");
    FOUND(2, LINT_UNKNOWN_HOOK, 3, "did you mean OnTriggerEnter?");
    CLEAN("function onStart(self) onStarted(self) end\nfunction onStarted(self) end\n"
          "function updateAll() end\nfunction start() end\nOnUpdate = 3\n"
          "local function OnDestroy() end\nOnDestroy()\n",
          LINT_SERVER);
    CLEAN("function onUpdate() end\nfunction OnUpdate() end\n",
          LINT_BOTH); // it knows the right one
}

TEST(hooks_that_take_the_entity_for_the_time)
{
    lint("function onUpdate(dt)\n print(dt)\nend\n", LINT_SERVER);
    CHECK_INT(result.finding_count, 1);
    FOUND(0, LINT_HOOK_PARAMETER, 1,
          "onUpdate is called with the entity first, so dt is not the time; write onUpdate(self, "
          "dt)");
    lint("\nonUpdate = function(deltaTime, x) print(deltaTime, x) end\nfunction onStart(delta) "
         "end\n",
         LINT_BOTH);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_HOOK_PARAMETER, 2, "write onUpdate(self, deltaTime)");
    FOUND(1, LINT_HOOK_PARAMETER, 3, "write onStart(self)");
    CLEAN("function onUpdate(self, dt) print(dt) end\nfunction onStart(_) end\n", LINT_SERVER);
    CLEAN(
        "function onUpdate(entity) print(entity) end\nfunction onReload(delta) print(delta) end\n",
        LINT_SERVER);
    CLEAN("function onUpdate() local dt = 1 print(dt) end\nfunction onUpdated(dt) print(dt) end\n"
          "onUpdated(1)\nlocal function onStart(dt) print(dt) end\nonStart(1)\n",
          LINT_SERVER);
    CLEAN("function onUpdate(...) local dt = ... print(dt) end\n", LINT_SERVER);
}

// --- hooks in what a script returns -------------------------------------------------------------

TEST(returned_hooks_are_looked_at_as_global_ones)
{
    lint("local ____exports = {}\nfunction ____exports.onStart(self)\n  "
         "Network.Broadcast('x')\nend\n"
         "function ____exports.onUpdate(dt) end\nreturn ____exports\n",
         LINT_BOTH);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_WRONG_SIDE, 3, "Network.Broadcast works on the server only");
    FOUND(1, LINT_HOOK_PARAMETER, 5, "write onUpdate(self, dt)");
    lint("return {\n  onStart = function(self)\n    Network.FireServer('x')\n  end\n}\n",
         LINT_BOTH);
    CHECK_INT(result.finding_count, 1);
    FOUND(0, LINT_WRONG_SIDE, 3, "Network.FireServer works on clients only");
    lint("local M = {}\nlocal function start() Network.Broadcast('x') end\nM.onStart = start\n"
         "return M\n",
         LINT_BOTH);
    FOUND(0, LINT_WRONG_SIDE, 2, "Network.Broadcast");
    lint("local M = {}\nfunction M.OnTriggerEnter(self, other) end\nreturn M\n", LINT_CLIENT);
    CHECK_INT(result.finding_count, 1);
    FOUND(0, LINT_WRONG_SIDE, 2, "OnTriggerEnter is called on the server only");
}

TEST(returned_hooks_with_nearly_the_right_name)
{
    // Loops and branches before the return make nothing less known.
    lint("local n = 0\nlocal M = {onupdate = function() end}\nfunction M.OnStart() end\n"
         "for i = 1, 3 do n = n + i end\nwhile n > 0 do n = n - 1 end\n"
         "if n == 0 then M.onTriggerEnter = function() end end\nreturn M\n",
         LINT_SERVER);
    CHECK_INT(result.finding_count, 3);
    FOUND(0, LINT_UNKNOWN_HOOK, 2, "did you mean onUpdate?");
    FOUND(1, LINT_UNKNOWN_HOOK, 3, "nothing calls OnStart; did you mean onStart?");
    FOUND(2, LINT_UNKNOWN_HOOK, 6, "did you mean OnTriggerEnter?");
}

TEST(nothing_is_said_of_what_is_returned_where_it_may_be_meant)
{
    // Called here; the right one is there; handed on.
    CLEAN("local M = {}\nfunction M.OnStart() end\nfunction M.go() M.OnStart() end\nreturn M\n",
          LINT_SERVER);
    CLEAN("local M = {}\nfunction M:OnStart() end\nfunction M:go() self:OnStart() end\nreturn M\n",
          LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nM.OnStart()\nreturn M\n", LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nfunction M.onStart() end\nreturn M\n",
          LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nfunction onStart() end\nreturn M\n",
          LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nprint(M)\nreturn M\n", LINT_SERVER);
    CLEAN("local M = {}\nM.__index = M\nfunction M.OnStart() end\nreturn M\n", LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nlocal function all() return M end\nall()\n"
          "return M\n",
          LINT_SERVER);
    // Not what is returned, or not known to be.
    CLEAN("local M = {}\nfunction M.OnStart() end\n", LINT_SERVER);
    CLEAN("local M, N = {}, {}\nfunction M.OnStart() end\nreturn N\n", LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nM = {}\nreturn M\n", LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nlocal function f() M = {} end\nf()\nreturn M\n",
          LINT_SERVER);
    CLEAN("do local M = {}\nfunction M.OnStart() end end\nlocal N = {}\nreturn N\n", LINT_SERVER);
    CLEAN("local M = {inner = {OnStart = function() end}}\nreturn M\n", LINT_SERVER);
    CLEAN("local M = {}\nfunction M.OnStart() end\nreturn M, 1\n", LINT_SERVER);
    CLEAN("local M = {}\nM.OnStart = 3\nreturn M\n", LINT_SERVER);
    CLEAN("local M = {}\nM.print = print\nfunction M.World() end\nreturn M\n", LINT_SERVER);
    // On one side there are no hooks at all, or the global one is taken.
    CLEAN("local M = {}\nif Players.LocalPlayer then return end\n"
          "function M.onStart() Network.Broadcast('x') end\nreturn M\n",
          LINT_BOTH);
    CLEAN("local M = {}\nfunction M.onStart() Network.Broadcast('x') end\n"
          "if not Players.LocalPlayer then return M end\n",
          LINT_BOTH);
    CLEAN("local M = {}\nfunction M.onStart() Network.Broadcast('x') end\n"
          "for i = 1, 3 do if i > 2 then break end return M end\n",
          LINT_BOTH);
    CLEAN("local M = {}\nfunction onStart() end\n"
          "function M.onStart() Network.Broadcast('x') end\nreturn M\n",
          LINT_BOTH);
}

TEST(what_a_module_returns_are_no_hooks)
{
    result = (LintResult){.findings = findings, .finding_max = FINDINGS_MAX, .is_module = true};
    if (open_source("local M = {}\nfunction M.OnStart() end\n"
                    "function M.onStart() Network.Broadcast('x') end\nreturn M\n")) {
        lint_function(lua, LINT_BOTH, &result);
    }
    CHECK_INT(result.finding_count, 0);
    close_source();
}

// --- requires -----------------------------------------------------------------------------------

TEST(characters_that_nobody_sees)
{
    static const char source[] = "-- \xe2\x80\xae right to left \xe2\x80\x8b\n"
                                 "local s = \"a\xe2\x80\x8b\"\n\t-- fine: \xc3\xa9 \xe2\x82\xac\r\n"
                                 "local family = \"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\"\n"
                                 "local joined = \"a\xe2\x80\x8d\", \"\xff\x80\"\n";
    LintFinding found[2];
    LintResult text = {.findings = found, .finding_max = 2};
    lint_text(source, sizeof source - 1, &text);
    CHECK_INT(text.finding_count, 2);
    CHECK_INT(text.dropped_count, 1);
    CHECK(found[0].kind == LINT_INVISIBLE && found[0].line == 1 && !found[0].is_error);
    CHECK(strstr(found[0].message, "U+202E") != NULL);
    CHECK(found[1].line == 2 && strstr(found[1].message, "\\u{200B}") != NULL);
    CHECK_TEXT(lint_kind_name(LINT_INVISIBLE), "invisible-character");
    // Broken text is looked at byte by byte, to its end.
    text = (LintResult){.findings = found, .finding_max = 2};
    lint_text("\xe2\x80", 2, &text);
    lint_text("", 0, &text);
    CHECK_INT(text.finding_count + text.dropped_count, 0);
}

TEST(requires_by_a_constant_path)
{
    lint("local b = require('ReplicatedStorage/B')\nlocal a = require \"ReplicatedStorage/A\"\n"
         "local function f(n) return require(n), require('ReplicatedStorage/B') end\n"
         "local c = require('SoulService/ReplicatedStorage/C.lua')\n"
         "if f then return require('x' .. 'y') end\nrequire('bad\\nname')\n",
         LINT_BOTH);
    CHECK_INT(result.finding_count, 0);
    CHECK_INT(result.require_count, 3);
    CHECK_TEXT(requires[0], "ReplicatedStorage/A");
    CHECK_TEXT(requires[1], "ReplicatedStorage/B");
    CHECK_TEXT(requires[2], "ReplicatedStorage/C");
    CHECK_INT(require_lines[0], 2);
    CHECK_INT(require_lines[1], 1);
    CHECK_INT(require_lines[2], 4);
    CHECK(result.asks_modules && !result.asks_world);
    // The first line, though a function is walked after what is around it.
    lint("local function f()\n return require('ReplicatedStorage/A')\nend\n"
         "require('ReplicatedStorage/A')\nreturn f\n",
         LINT_BOTH);
    REQUIRE(result.require_count == 1);
    CHECK_INT(require_lines[0], 2);
    lint("print(1)\n", LINT_BOTH);
    CHECK(!result.asks_world && !result.asks_modules);
    lint("local function f() return World.Find('Door') end\nreturn f\n", LINT_SERVER);
    CHECK(result.asks_world && !result.asks_modules);
}

TEST(what_does_not_fit_is_counted)
{
    char source[4096];
    size_t at = 0;
    for (int i = 0; i < FINDINGS_MAX + 5; i++) {
        at +=
            (size_t)snprintf(source + at, sizeof source - at, "print(zz%d) require('m%d')\n", i, i);
    }
    lint(source, LINT_BOTH);
    CHECK_INT(result.finding_count, FINDINGS_MAX);
    CHECK_INT(result.require_count, REQUIRES_MAX);
    CHECK_INT(result.dropped_count, 5 + FINDINGS_MAX + 5 - REQUIRES_MAX);
}

// --- lines --------------------------------------------------------------------------------------

// Runs the function through a rune, as a world would get it; gives the line of its fault.
static uint32_t fault_line(char *message, size_t capacity, char *traceback, size_t trace_capacity)
{
    static uint8_t rune[RUNE_BYTES_MAX];
    size_t bytes = 0;
    CHECK_OK(rune_write(lua, "Workspace/Door", rune, sizeof rune, &bytes));
    CHECK_OK(rune_load(lua, rune, bytes, 1));
    lua_State *thread = lua_newthread(lua);
    lua_pushvalue(lua, -2);
    lua_xmove(lua, thread, 1);
    int count = 0;
    CHECK_INT(vm_resume(vm, thread, 0, 10000000, &count), VM_ERROR);
    snprintf(message, capacity, "%s", lua_tostring(thread, -1));
    (void)vm_traceback(vm, traceback, trace_capacity);
    return vm_fault_line(vm);
}

TEST(faults_name_the_mapped_lines)
{
    static const uint32_t lines[] = {10, 5, 2000, 2000, 7, 0, 90000};
    REQUIRE(open_source(
        "local function f(x)\n  local y = x\n  return y.z\nend\n\n\nlocal r = f(nil)\n"));
    CHECK_OK(lint_map_lines(lua, lines, 7));
    char message[200], traceback[1024];
    CHECK_INT(fault_line(message, sizeof message, traceback, sizeof traceback), 2000);
    CHECK_TEXT(message, "Workspace/Door:2000: attempt to index a nil value (local 'y')");
    CHECK_TEXT(traceback, "\n\tWorkspace/Door:2000: in function 'f'"
                          "\n\tWorkspace/Door:90000: in main chunk");
    close_source();
}

// A line that was made from nothing belongs to the one before; the first ones to the first.
TEST(lines_without_an_origin)
{
    static const uint32_t lines[] = {0, 0, 40, 0, 0, 50};
    static const uint32_t want[] = {40, 40, 40, 40, 40, 50, 50, 50};
    for (uint32_t at = 0; at < 8; at++) {
        char source[100] = "", message[200], traceback[1024];
        for (uint32_t i = 0; i < at; i++) {
            source[i] = '\n';
        }
        snprintf(source + at, sizeof source - at, "error('here')");
        REQUIRE(open_source(source));
        CHECK_OK(lint_map_lines(lua, lines, 6));
        CHECK_INT(fault_line(message, sizeof message, traceback, sizeof traceback), want[at]);
        close_source();
    }
}

// Each line of a long function faults when asked to; every one must name its own line, with any
// steps between lines and with hundreds of instructions in between.
static void check_random_lines(uint64_t seed)
{
    enum { LINES = 400 };
    static char source[SOURCE_BYTES];
    static uint32_t lines[LINES + 2];
    Rng rng = rng_make(seed, 1);
    size_t at = (size_t)snprintf(source, sizeof source, "local function f(n, a, b)\n");
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t words = rng_below(&rng, 40) == 0 ? 200 : rng_below(&rng, 4);
        for (uint32_t w = 0; w < words; w++) {
            at += (size_t)snprintf(source + at, sizeof source - at, "a = b ");
        }
        at +=
            (size_t)snprintf(source + at, sizeof source - at, "if n == %u then a.b.c = 1 end\n", i);
    }
    snprintf(source + at, sizeof source - at, "end return f\n");
    for (uint32_t i = 0; i < LINES + 2; i++) {
        const uint32_t far = rng_below(&rng, 5000000);
        lines[i] = rng_below(&rng, 3) == 0 ? 1 + far : i == 0 ? 300 : lines[i - 1] + 1;
    }
    REQUIRE(open_source(source));
    CHECK_OK(lint_map_lines(lua, lines, LINES + 2));
    lua_State *thread = lua_newthread(lua);
    lua_pushvalue(lua, -2);
    lua_xmove(lua, thread, 1);
    int count = 0;
    CHECK_INT(vm_resume(vm, thread, 0, 10000000, &count), VM_DONE);
    CHECK_INT(count, 1);
    for (uint32_t i = 0; i < LINES && test_is_passing(); i += 7) {
        lua_State *run = lua_newthread(lua);
        lua_pushvalue(thread, -1);
        lua_xmove(thread, run, 1);
        lua_pushinteger(run, i);
        CHECK_INT(vm_resume(vm, run, 1, 10000000, &count), VM_ERROR);
        CHECK_INT(vm_fault_line(vm), lines[i + 1]);
        lua_pop(lua, 1);
    }
    close_source();
}

TEST(every_instruction_of_a_long_function_has_its_line)
{
    for (uint64_t i = 0; i < 8; i++) {
        check_random_lines(test_seed() + i);
    }
}

TEST(findings_have_the_mapped_lines)
{
    static const uint32_t lines[] = {100, 900, 3};
    result = (LintResult){.findings = findings, .finding_max = FINDINGS_MAX};
    REQUIRE(open_source("print(1)\nnothere()\nlocal function f(World) end\n"));
    CHECK_OK(lint_map_lines(lua, lines, 3));
    lint_function(lua, LINT_BOTH, &result);
    CHECK_INT(result.finding_count, 2);
    FOUND(0, LINT_SHADOWED, 3, "World");
    FOUND(1, LINT_UNDEFINED_GLOBAL, 900, "nothere");
    close_source();
}

// Steps between lines around what a byte holds, and Lua's mark in it.
TEST(steps_at_the_edge_of_a_byte)
{
    static const int steps[] = {126, 127, 128, 129, -126, -127, -128, -129, 0, 255, -255, 256};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        char message[200], traceback[1024];
        const uint32_t lines[] = {1000, (uint32_t)(1000 + steps[i]),
                                  (uint32_t)(1000 + 2 * steps[i])};
        REQUIRE(open_source("local a\nlocal b = 1\nprint(a.b)\n"));
        CHECK_OK(lint_map_lines(lua, lines, 3));
        CHECK_INT(fault_line(message, sizeof message, traceback, sizeof traceback), lines[2]);
        close_source();
    }
}

// A map onto itself changes nothing, in short code and in code that is long enough to need Lua's
// second table: equal code with equal lines gives equal runes.
TEST(the_same_lines_give_the_same_rune)
{
    enum { LINES = 3000 };
    static uint8_t before[1 << 20], after[1 << 20];
    static char source[SOURCE_BYTES];
    static uint32_t lines[LINES];
    size_t at = (size_t)snprintf(source, sizeof source, "local a = 1\nlocal function f(b)\n");
    for (uint32_t i = 0; i < LINES; i++) {
        lines[i] = i + 1;
        if (i % 3 == 0 && i < LINES - 10) { // several instructions on a line, and none on some
            at += (size_t)snprintf(source + at, sizeof source - at, "a = b b = a a = b\n\n\n");
        }
    }
    snprintf(source + at, sizeof source - at, "end\nreturn f\n");
    size_t before_bytes = 0, after_bytes = 0;
    REQUIRE(open_source(source));
    CHECK_OK(rune_write(lua, "Workspace/Door", before, sizeof before, &before_bytes));
    CHECK_OK(lint_map_lines(lua, lines, LINES));
    CHECK_OK(rune_write(lua, "Workspace/Door", after, sizeof after, &after_bytes));
    CHECK_INT(before_bytes, after_bytes);
    CHECK_BYTES(before, after, before_bytes);
    CHECK_OK(lint_map_lines(lua, NULL, 0));
    close_source();
}

TEST(huge_line_numbers_stay_numbers)
{
    static const uint32_t lines[] = {UINT32_MAX, 1, UINT32_MAX};
    char message[200], traceback[1024];
    REQUIRE(open_source("local a\nlocal b\nprint(a.b)\n"));
    CHECK_OK(lint_map_lines(lua, lines, 3));
    CHECK_INT(fault_line(message, sizeof message, traceback, sizeof traceback), 10000000);
    close_source();
}
