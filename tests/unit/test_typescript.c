// The TypeScript compiler from outside, with the real Node in its real jail: its output, its
// messages, what it cannot access, and that the next call works whatever ended it.
#define _GNU_SOURCE
#include "server/build/typescript/typescript.h"

#include "core/script/api/api_reference.h"
#include "server/build/typescript/typescript_frame.h"
#include "server/sys/file.h"
#include "server/sys/jail.h"
#include "tests/support/test.h"
#include "tests/support/typescript_place.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// One compiler for all tests that leave it well.
static TypeScript *shared(void)
{
    static TypeScript *compiler;
    if (compiler == NULL) {
        const TypeScriptConfig config = typescript_config_patient();
        CHECK_OK(typescript_create(&config, &compiler));
    }
    return compiler;
}

typedef struct Compiled {
    Status status;
    TypeScriptResult result;
    DiagnosticList diagnostics;
    char reason[WORKER_REASON_BYTES];
} Compiled;

static Compiled compile(TypeScript *compiler, const TypeScriptPlace *place, const bool *wanted)
{
    Compiled out = {0};
    out.status = typescript_compile(compiler, &place->list, wanted, &out.result, &out.diagnostics,
                                    out.reason);
    return out;
}

static void compiled_free(Compiled *compiled)
{
    typescript_result_free(&compiled->result);
    diagnostic_list_free(&compiled->diagnostics);
}

static void say(const Compiled *compiled)
{
    char line[1024];
    printf("status %s: %s\n", status_text(compiled->status), compiled->reason);
    for (uint32_t i = 0; i < compiled->diagnostics.count; i++) {
        diagnostic_text(&compiled->diagnostics.items[i], "", line, sizeof line);
        printf("  %s\n", line);
    }
}

// Expected to compile.
static Compiled make(const TypeScriptPlace *place)
{
    Compiled compiled = compile(shared(), place, NULL);
    if (compiled.status != STATUS_OK) {
        say(&compiled);
        test_fail(__FILE__, __LINE__, "it does not compile");
    }
    return compiled;
}

static const Diagnostic *find_code(const Compiled *compiled, const char *code)
{
    for (uint32_t i = 0; i < compiled->diagnostics.count; i++) {
        if (strcmp(compiled->diagnostics.items[i].code, code) == 0) {
            return &compiled->diagnostics.items[i];
        }
    }
    return NULL;
}

// --- what it makes ------------------------------------------------------------------------------

TEST(scripts_import_each_other_and_the_library)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/Util.ts",
                         "export class Box { constructor(public w: number) {} }\n");
    typescript_place_add(&place, "ReplicatedStorage/Old.lua", "return {}");
    typescript_place_add(&place, "SoulService/Workspace/Door.ts",
                         "import { Box } from \"../ReplicatedStorage/Util\";\n"
                         "import { old } from \"ReplicatedStorage/Old\";\n"
                         "export function onStart(self: Entity) {\n"
                         "    old(new Box(1));\n"
                         "    self.SetVelocity(Vector3.new(0, 1, 0));\n"
                         "}\n");
    Compiled compiled = make(&place);
    CHECK_INT(compiled.result.count, 3);
    const TypeScriptOutput *door = typescript_place_find(&compiled.result, "Workspace/Door");
    const TypeScriptOutput *library = typescript_place_find(&compiled.result, TYPESCRIPT_LIBRARY);
    REQUIRE(door != NULL && library != NULL);
    CHECK(strstr(door->lua, "require(\"ReplicatedStorage/Util\")") != NULL);
    CHECK(strstr(door->lua, "require(\"ReplicatedStorage/Old\")") != NULL);
    CHECK(strstr(door->lua, "require(\"" TYPESCRIPT_LIBRARY "\")") != NULL);
    CHECK(strstr(door->lua, "self:SetVelocity(") != NULL);
    CHECK(strstr(door->source_map, "\"SoulService/Workspace/Door.ts\"") != NULL);
    CHECK(strstr(library->lua, "__mode") == NULL);
    CHECK_INT(library->line_count, 0);
    compiled_free(&compiled);
}

static uint32_t line_of(const TypeScriptOutput *output, const char *text)
{
    const char *found = strstr(output->lua, text);
    if (found == NULL) {
        return 0;
    }
    uint32_t line = 0;
    for (const char *at = output->lua; at < found; at++) {
        line += *at == '\n';
    }
    return line < output->line_count ? output->lines[line] : 0;
}

TEST(every_line_of_the_lua_has_a_line_of_the_source)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Door.ts",
                         "// one\n"
                         "interface Nothing { x: number }\n"
                         "\n"
                         "export function onStart() {\n"
                         "    const list = [1, 2, 3];\n"
                         "    for (const one of list) {\n"
                         "        print(one,\n"
                         "            \"eight\");\n"
                         "    }\n"
                         "    error(\"ten\");\n"
                         "}\n");
    Compiled compiled = make(&place);
    const TypeScriptOutput *door = typescript_place_find(&compiled.result, "Workspace/Door");
    REQUIRE(door != NULL);
    CHECK_INT(line_of(door, "local list"), 5);
    CHECK_INT(line_of(door, "in ipairs"), 6);
    CHECK_INT(line_of(door, "print("), 7);
    CHECK_INT(line_of(door, "error("), 10);
    compiled_free(&compiled);
}

// To Lua a carriage return is the end of a line, and so of a comment.
// Lua knows the line of a fault and nothing finer.
TEST(what_is_on_a_line_of_its_own_is_so_in_lua)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Door.ts",
                         "export function onStart(self: Entity) {\n"
                         "    const a: any = self;\n"
                         "    print(\n"
                         "        1,\n"
                         "        a.five);\n"
                         "    print(`x${a.six}\n"
                         "        ${a.seven}\n"
                         "        ${a.eight.x}`);\n"
                         "    const sum = 1 +\n"
                         "        a.ten *\n"
                         "        a.eleven;\n"
                         "    const value =\n"
                         "        a.thirteen;\n"
                         "    if (sum === 1 &&\n"
                         "        a.fifteen) {\n"
                         "        print(value, [1,\n"
                         "            a.seventeen]);\n"
                         "    } else if (a.eighteen) {\n"
                         "        print({\n"
                         "            twenty: 1,\n"
                         "            x: a.twentyone,\n"
                         "        });\n"
                         "    }\n"
                         "}\n");
    Compiled compiled = make(&place);
    const TypeScriptOutput *door = typescript_place_find(&compiled.result, "Workspace/Door");
    REQUIRE(door != NULL);
    static const struct {
        const char *text;
        uint32_t line;
    } wanted[] = {{"local a", 2},      {"print(", 3},          {"a.five", 5},
                  {"a.six", 6},        {"a.seven", 7},         {"a.eight", 8},
                  {"local sum", 9},    {"a.ten", 10},          {"a.eleven", 11},
                  {"local value", 12}, {"a.thirteen", 13},     {"if sum", 14},
                  {"a.fifteen", 15},   {"a.seventeen", 17},    {"elseif a.eighteen", 18},
                  {"twenty = 1", 20},  {"x = a.twentyone", 21}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (line_of(door, wanted[i].text) != wanted[i].line) {
            test_fail(__FILE__, __LINE__, "%s: line %u, not %u in\n%s", wanted[i].text,
                      line_of(door, wanted[i].text), wanted[i].line, door->lua);
        }
    }
    compiled_free(&compiled);
}

TEST(a_comment_stays_one)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Door.ts",
                         "/** What follows\rprint(1) */\nexport function onStart() {}\n");
    Compiled compiled = make(&place);
    const TypeScriptOutput *door = typescript_place_find(&compiled.result, "Workspace/Door");
    REQUIRE(door != NULL);
    CHECK(strstr(door->lua, "What follows") != NULL);
    CHECK(strchr(door->lua, '\r') == NULL);
    compiled_free(&compiled);
}

TEST(only_what_is_wanted_comes_back)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/A.ts", "export const a = 1;\n");
    typescript_place_add(&place, "Workspace/B.ts", "export const b = 2;\n");
    typescript_place_add(&place, "Workspace/C.lua", "return 1");
    const bool wanted[] = {false, true, true};
    Compiled compiled = compile(shared(), &place, wanted);
    CHECK_OK(compiled.status);
    CHECK_INT(compiled.result.count, 1);
    CHECK(typescript_place_find(&compiled.result, "Workspace/B") != NULL);
    compiled_free(&compiled);
}

TEST(an_edit_is_seen_and_so_is_what_it_breaks)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/A.ts", "export const a = 1;\n");
    typescript_place_add(&place, "Workspace/B.ts",
                         "import { a } from \"../ReplicatedStorage/A\";\n"
                         "export const b: number = a;\n");
    Compiled compiled = make(&place);
    compiled_free(&compiled);
    typescript_place_set(&place, "ReplicatedStorage/A.ts", "export const a = \"one\";\n");
    compiled = compile(shared(), &place, (const bool[]){true, false});
    CHECK_INT(compiled.status, STATUS_MALFORMED);
    const Diagnostic *error = find_code(&compiled, "TS2322");
    REQUIRE(error != NULL);
    CHECK_TEXT(error->file, "Workspace/B.ts");
    CHECK_INT(error->line, 2);
    CHECK_INT(error->column, 14);
    CHECK_INT(error->level, DIAGNOSTIC_ERROR);
    CHECK_INT(compiled.result.count, 0);
    compiled_free(&compiled);
    typescript_place_set(&place, "ReplicatedStorage/A.ts", "export const a = 3;\n");
    compiled = make(&place);
    const TypeScriptOutput *a = typescript_place_find(&compiled.result, "ReplicatedStorage/A");
    CHECK(a != NULL && strstr(a->lua, "a = 3") != NULL);
    compiled_free(&compiled);
}

TEST(the_same_sources_give_the_same_lua_in_another_process)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/B.ts",
                         "export function f(list: number[]) { return list.map(x => x * 2); }\n");
    Compiled first = make(&place);
    const TypeScriptConfig config = typescript_config_patient();
    TypeScript *other;
    REQUIRE(typescript_create(&config, &other) == STATUS_OK);
    Compiled second = compile(other, &place, NULL);
    CHECK_INT(first.result.count, 2);
    CHECK_INT(second.result.count, 2);
    for (uint32_t i = 0; i < 2 && second.result.count == 2; i++) {
        CHECK_TEXT(first.result.items[i].lua, second.result.items[i].lua);
        CHECK_TEXT(first.result.items[i].source_map, second.result.items[i].source_map);
    }
    compiled_free(&first);
    compiled_free(&second);
    typescript_destroy(other);
}

// --- what it says -------------------------------------------------------------------------------

static const struct {
    const char *source;
    const char *code; // NULL: it is fine
    uint32_t line;
} said[] = {
    // What reaches nothing.
    {"import { x } from \"/etc/passwd\";\nprint(x);\n", "TS2307", 1},
    {"import * as fs from \"fs\";\nprint(fs);\n", "TS2591", 1},
    {"import { x } from \"../../etc/passwd\";\nprint(x);\n", "TS2307", 1},
    {"import { x } from \"../../../work\";\nprint(x);\n", "TS2307", 1},
    {"export async function f() { return import(\"fs\"); }\n", "TS2591", 1},
    {"import fs = require(\"node:fs\");\nprint(fs);\n", "TS2591", 1},
    {"/// <reference path=\"/etc/passwd\" />\nexport {};\n", "TS6231", 1},
    {"/// <reference path=\"../../etc/passwd.d.ts\" />\nexport {};\n", "TS6053", 1},
    {"/// <reference types=\"node\" />\nexport {};\n", "TS2688", 1},
    {"/// <reference types=\"/etc\" />\nexport {};\n", "TS2688", 1},
    {"/// <reference lib=\"dom\" />\nexport {};\n", "TS6053", 1},
    {"import type { Node } from \"typescript\";\nexport const n: Node | undefined = undefined;\n",
     "TS2307", 1},
    {"import data from \"../place.json\";\nprint(data);\n", "TS2307", 1},
    {"export const d = document;\n", "TS2584", 1},
    {"export const p = process;\n", "TS2591", 1},
    // strict
    {"export function f(x) { return x; }\n", "TS7006", 1},
    {"export const x: string = World.Find(\"Door\");\n", "TS2322", 1},
    {"export function onStart(self: Entity) {\n    self.SetVelocity(5);\n}\n", "TS2345", 2},
    // The API: vectors, fields of one's own, signals, tables that are given and come back.
    {"export const f = (v: Vector3) => v.x + v.y + v.z + Vector3.zero.x;\n", NULL, 0},
    {"export const f = (v: Vector3) => v.w;\n", "TS2339", 1},
    {"export function onStart(self: Entity) {\n    self.open = true;\n"
     "    self.times = (self.times ?? 0) + 1;\n    self._x = self.Position;\n}\n",
     NULL, 0},
    {"export const f = (player: Player) => { player.coins = 1; };\n", "TS2339", 1},
    {"export const f = (self: Entity) => self.Positon;\n", "TS2551", 1},
    {"export const f = (self: Entity) => { self.Open = true; };\n", "TS2339", 1},
    {"export const f = (self: Entity) => { self.Name = \"x\"; };\n", "TS2540", 1},
    {"const s = Signal.new<[string]>();\ns.Connect((text) => print(text.length));\n"
     "s.Fire(\"a\");\nexport function f() {\n    const [text] = s.Wait();\n"
     "    return text.length;\n}\n",
     NULL, 0},
    {"const s = Signal.new<[string]>();\ns.Fire(1);\nexport {};\n", "TS2345", 2},
    {"const s = Signal.new<[string]>();\ns.Fire();\nexport {};\n", "TS2554", 2},
    {"const s = Signal.new<[string]>();\nexport const f = (): number => s.Wait()[0];\n", "TS2322",
     2},
    {"const s = Signal.new();\ns.Fire(1, \"a\");\ns.Connect((a, b) => print(a, b));\nexport {};\n",
     NULL, 0},
    {"Players.PlayerAdded.Connect((player) => print(player.Nmae));\nexport {};\n", "TS2339", 1},
    {"const hit = World.Raycast(Vector3.zero, Vector3.yAxis);\n"
     "if (hit !== undefined) { print(hit.Position, hit.Entity?.Name, hit.Kind); }\nexport {};\n",
     NULL, 0},
    {"const hit = World.Raycast(Vector3.zero, Vector3.yAxis);\nprint(hit.Position);\nexport {};\n",
     "TS18048", 2},
    {"const hit = World.Raycast(Vector3.zero, Vector3.yAxis);\nprint(hit?.position);\nexport {};\n",
     "TS2551", 2},
    {"export const f = (npc: Entity) => {\n    const [state, suspicion] = Npc.GetState(npc);\n"
     "    return state.length + Math.floor(suspicion);\n};\n",
     NULL, 0},
    {"export const f = (npc: Entity): number => Npc.GetState(npc)[0];\n", "TS2322", 1},
    {"UI.Show(UI.Text({ text: \"a\", size: 2, color: \"red\", id: \"t\" }));\nexport {};\n", NULL,
     0},
    {"UI.Show(UI.Text({ txt: 1 }));\nexport {};\n", "TS2561", 1},
    {"UI.Show(UI.Text({ text: 1 }));\nexport {};\n", "TS2322", 1},
    {"UI.Show({ text: \"a\" });\nexport {};\n", "TS2353", 1},
    {"UI.Show(UI.List([UI.Button({ text: \"a\", OnClick: () => print(1) }), UI.Bar({ value: 1 }),\n"
     "    UI.Image({ image: \"a.png\", width: 4 }),\n"
     "    UI.Input({ OnSubmit: (text: string) => print(text) })]));\nexport {};\n",
     NULL, 0},
    {"UI.List({ anchor: \"top\", gap: 2, 1: UI.Text({ text: \"a\" }) });\nexport {};\n", NULL, 0},
    {"UI.List([\"a\"]);\nexport {};\n", "TS2322", 1},
    {"UI.Button({ text: \"a\", Onclick: () => print(1) });\nexport {};\n", "TS2561", 1},
    {"export const f = (e: Entity) => Projectile.Fire({ position: e.Position,\n"
     "    velocity: Vector3.yAxis, damage: 5, shooter: e, kind: 1 });\n",
     NULL, 0},
    {"Projectile.Fire({ position: Vector3.zero });\nexport {};\n", "TS2345", 1},
    {"Projectile.Fire({ position: Vector3.zero, velocity: 5 });\nexport {};\n", "TS2322", 1},
    {"Network.Declare(\"A\", { types: [\"number\"], rate: 5 });\nexport {};\n", NULL, 0},
    {"Network.Declare(\"A\", { type: [\"number\"] });\nexport {};\n", "TS2561", 1},
    {"Network.Declare(\"A\", { types: \"number\" });\nexport {};\n", "TS2322", 1},
    {"Sound.Play(\"a\", { volume: 0.5, position: Vector3.zero });\nexport {};\n", NULL, 0},
    {"Sound.Play(\"a\", { loud: 1 });\nexport {};\n", "TS2353", 1},
    {"export const f = (e: Entity) => e.SetAttribute(\"a\", 1, { private: true });\n", NULL, 0},
    {"export const f = (e: Entity) => e.SetAttribute(\"a\", 1, { secret: true });\n", "TS2353", 1},
    {"print(os.time(), os.clock(), os.difftime(2, 1));\nexport {};\n", NULL, 0},
    {"print(os.getenv(\"HOME\"));\nexport {};\n", "TS2339", 1},
    // traps
    {"export const s = \"a\xe2\x80\x8b\";\n", "invisible-character", 1},
    {"// to the \xe2\x80\xaetfel\nexport const s = 1;\n", "invisible-character", 1},
    {"export const s = 1;\n// \xef\xbb\xbf\n", "invisible-character", 2},
    {"export const s = \"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 \xc3\xa9\";\n", NULL, 0},
    {"export const f = (x: number) => x | 0;\n", "trap-bits", 1},
    {"export const f = (x: number) => ~~x;\n", "trap-bits", 1},
    {"export const f = (x: number) => (x / 2) & 1;\n", "trap-bits", 1},
    {"export const f = (x: number) => Math.floor(x) | 0;\n", NULL, 0},
    {"const A = 1, B = 2;\nexport const f = (flags: number) => flags & (A | B);\n", NULL, 0},
    {"export const f = (x: number) => `half ${x / 2}`;\n", "trap-number-text", 1},
    {"export const f = (v: Vector3) => \"x \" + v.X;\n", "trap-number-text", 1},
    {"export const f = (x: number) => `n ${x}` + Math.floor(x / 2);\n", NULL, 0},
    {"export const f = (x: number) => (x / 2).toFixed(1) + \"m\";\n", NULL, 0},
    {"export const s = `${1e20}`;\n", "trap-number-text", 1},
    {"const N = 0.00001;\nexport const s = \"\" + N;\n", "trap-number-text", 2},
    {"export const s = String(-Infinity);\n", "trap-number-text", 1},
    {"export const s = (1e-7).toString();\n", "trap-number-text", 1},
    {"export const f = (x: 1 | 0.5 | 1e-9) => `${x}`;\n", "trap-number-text", 1},
    {"export const s = `${1e21} ${0.5} ${-0} ${1e15} ${2.0}`;\n", NULL, 0},
    {"export const f = (Infinity: 3) => `${Infinity}`;\n", NULL, 0},
    {"export function f(x: number) {\n    if (x) { print(x); }\n}\n", "trap-truthiness", 2},
    {"export const f = (s: string) => s || \"none\";\n", "trap-truthiness", 1},
    {"export const f = (s: string, b: boolean) => { if (b && s) { print(s); } };\n",
     "trap-truthiness", 1},
    {"export const f = (x?: number) => !x;\n", "trap-truthiness", 1},
    {"export const f = (e?: Entity) => { if (e) { print(e.Name); } };\n", NULL, 0},
    {"export const f = (s?: string) => { if (s !== undefined) { print(s); } };\n", NULL, 0},
    {"export const f = (x: number) => { if (x > 0) { print(x); } };\n", NULL, 0},
    {"export const f = (x: number) => -x % 3;\n", "trap-modulo", 1},
    {"export const f = (a: number, b: number) => (a - b) % 360;\n", "trap-modulo", 1},
    {"export const f = (i: number) => i % 2 === 0;\n", NULL, 0},
    {"export const f = (x: any) => x == 1;\n", "trap-equality", 1},
    {"export const f = (x: number | null | undefined) => x === null;\n", "trap-equality", 1},
    {"export const f = (x?: number) => x === undefined;\n", NULL, 0},
    {"export const f = (a: (number | undefined)[]) => { a[1] = undefined; };\n", "trap-array", 1},
    {"export const a = [1, , 3];\n", "trap-array", 1},
    {"export const f = (a: number[]) => { delete a[0]; };\n", "trap-array", 1},
    {"export const f = (o: Record<string, number>) => {\n    for (const k in o) { print(k); "
     "}\n};\n",
     "trap-for-in", 2},
    {"export const f = (o: Record<string, number>) => {\n    // trap-ok\n"
     "    for (const k in o) { print(k); }\n};\n",
     NULL, 0},
    {"export const f = () => Json.Decode(\"[4]\")[0];\n", "trap-index", 1},
    {"export const f = () => (Json.Decode(\"[4]\") as number[])[0];\n", NULL, 0},
    {"export const f = () => Json.Decode(\"{}\")[\"key\"];\n", NULL, 0},
    // What has no Lua.
    {"export {};\na: for (;;) { break a; }\n", "no-lua", 2},
    {"export const x =\n    10n;\n", "no-lua", 2},
    {"export const x = \"a\".split(/a+/ as any);\n", "no-lua", 1},
    {"export {};\ndebugger;\n", "no-lua", 2},
    {"export const x = import.meta;\n", "no-lua", 1},
    {"export class A {\n    #q = 2;\n}\n", "no-lua", 2},
    {"export function f() {\n    using x = { [Symbol.dispose]() {} };\n    print(x);\n}\n",
     "no-lua", 2},
    {"export const o = {\n    get a() { return 1; },\n};\n", "no-lua", 2},
    {"export class A { get a() { return 1; } }\n", NULL, 0},
    {"export async function* f() { yield 1; }\n", "no-lua", 1},
    {"export async function f(x: any) {\n    for await (const y of x) { print(y); }\n}\n", "no-lua",
     2},
    {"export function f() { return arguments.length; }\n", "no-lua", 1},
    {"export const f = (o: { arguments: number }) => o.arguments;\n", NULL, 0},
    // The hooks.
    {"function onStart() { print(1); }\nexport const x = onStart;\n", "hook-not-exported", 1},
    {"function onStart() { print(1); }\nexport { onStart };\n", NULL, 0},
    {"\nexport function onUpdate(dt: number) { print(dt > 1); }\n", "hook-parameter", 2},
    {"export function onUpdate(self: Entity, dt: number) { print(self.Name, dt > 1); }\n", NULL, 0},
    {"export function onReload(delta: any) { print(delta); }\n", NULL, 0},
    {"export function update(dt: number) { print(dt > 1); }\n", NULL, 0},
};

TEST(everything_is_said_with_its_code_and_line)
{
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        TypeScriptPlace place = {0};
        typescript_place_add(&place, "Workspace/B.ts", said[i].source);
        Compiled compiled = compile(shared(), &place, NULL);
        const bool is_error = said[i].code != NULL && (strncmp(said[i].code, "TS", 2) == 0 ||
                                                       strcmp(said[i].code, "no-lua") == 0);
        const Diagnostic *found = said[i].code != NULL ? find_code(&compiled, said[i].code) : NULL;
        const bool is_right = said[i].code == NULL
                                  ? compiled.diagnostics.count == 0
                                  : found != NULL && found->line == said[i].line &&
                                        (found->level == DIAGNOSTIC_ERROR) == is_error;
        if (!is_right || compiled.status != (is_error ? STATUS_MALFORMED : STATUS_OK)) {
            say(&compiled);
            test_fail(__FILE__, __LINE__, "%s: expected %s at line %u", said[i].source,
                      said[i].code != NULL ? said[i].code : "nothing", said[i].line);
        }
        compiled_free(&compiled);
    }
}

// Where JavaScript's and Lua's % differ, and where they do not or it is unknown.
static const char *const modulo_said[] = {
    "export const f = (v: number) => v % 60;",
    "export function f(v: number) { v %= 60; return v; }",
    "export const f = (v: any) => v % 60;",
    "export const f = (v: number) => v % 2 === 1;",
    "export const f = (v: number) => Math.abs(v % 2);",
    "export const f = (v: number) => Math.min(0, v) % 3;",
    "export const f = (v: number) => (v + 90) % 360;",
    "export const f = (v: number, w: number) => (v - w) % w;",
    "export const f = (v: number) => (1 - v) % 4;",
    "export const f = (v: number) => 5 % -v;",
    "export const f = (seconds: number) => (seconds - 5) % 60;",
    "export const f = (melon: number) => melon % 60;",
    "export const f = (e: Entity) => e.Position.X % 10;",
    "export const f = (v?: number) => (v ?? 0) % 3;",
    "export const f = (list: number[]) => list.map((v, w) => v % 2);",
    "enum E { A = -1, B }\nexport const f = (e: E) => (e + 3) % 2;",
    "export function f() { for (let v = -2; v < 5; v++) { print(v % 3); } }",
    "export function f() { for (let v = 9; v > -5; v--) { print(v % 3); } }",
    "export function f() { for (const v of $range(5, -5, -1)) { print(v % 2); } }",
    "let v = 0;\nexport function f() { v--; print(v % 60); }",
    "let v = 0;\nexport function f(x: number) { v = x; print(v % 60); }",
    "let v = 0;\nexport function f(x: number) { [v] = [x]; print(v % 60); }",
    "let v = 0;\nexport function f(x: { v: number }) { ({ v } = x); print(v % 60); }",
    "let v = 0;\nexport function f(x: number[]) { for (v of x) { print(v % 60); } }",
    "let v = 0, w = 0;\nexport function f(x: number) { v = w; w = v + x; print(v % 60); }",
    "class A { v = 0; f() { this.v -= 1; return this.v % 60; } }\nexport const a = new A();",
    "export function f(m: Map<number, 1>) { for (const [v] of m.entries()) { print(v % 2); } }",
};
static const char *const modulo_not_said[] = {
    "export const f = (v: number) => v % 2 === 0 || 0 !== (v % 3);",
    "export const f = (v: number, w: number) => ((v % w) + w) % w + (w + v % w) % w;",
    "export const f = (v: number, w: number) => (v - 1 + w) % w + (v + w - 1) % w + (v + 1) % w;",
    "export const f = (list: string[], v: number) => list[v % list.length] + list[(v) % 2];",
    "export const f = (list: string[]) => list.length % 3 + \"ab\".charCodeAt(0) % 2;",
    "const v = 7;\nexport const x = v % 3 + 7 % 3;",
    "export const x = Math.floor(Math.random() * 10) % 3;",
    "export const f = (v: number) => (v & 7) % 3 + Math.abs(v) % 3 + Math.max(0, v) % 3;",
    "export const f = (v: boolean) => (v ? 1 : 2) % 3;",
    "export const f = (v: 0 | 1 | 2) => (v + 2) % 3;",
    "export function f() { for (let v = 0; v < 9; v++) { print(v % 3); } }",
    "export function f() { for (let v = 9; v >= 0; v--) { print(v % 3); } }",
    "export function f() { for (const v of $range(1, 5)) { print(v % 2); } }",
    "let v = 0;\nexport function f() { v++; v = v + 2; v *= 2; print((v * 2 + 1) % 60); }",
    "let v: number;\nexport function f() { v = 3; print(v % 60); }",
    "export class A { v: number; constructor() { this.v = 0; } f() { return this.v++ % 5; } }",
    "const state = { v: 0 };\nexport function f() { state.v += 1; return state.v % 60; }",
    "export const f = (list: number[]) => list.map((x, v) => v % 2);",
    "export const f = () => Array.from({ length: 5 }, (_, v) => v % 2);",
    "export function f(list: 1[]) { for (const [v] of list.entries()) { print(v % 2); } }",
    "export const f = (p: Player, e: Entity) => World.Time() % 10 + p.UserId % 2 + e.coins % 3;",
    "export const f = (seconds: number, nextIndex: number) => seconds % 60 + nextIndex % 2;",
    "// trap-ok\nexport const f = (v: number) => v % 60;",
};

static bool is_said(const char *source, const char *code)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/B.ts", source);
    Compiled compiled = make(&place);
    const bool found = find_code(&compiled, code) != NULL;
    compiled_free(&compiled);
    return found;
}

TEST(modulo_is_warned_of_where_the_sign_may_matter)
{
    for (size_t i = 0; i < sizeof modulo_said / sizeof modulo_said[0]; i++) {
        if (!is_said(modulo_said[i], "trap-modulo")) {
            test_fail(__FILE__, __LINE__, "nothing is said of %s", modulo_said[i]);
        }
    }
    for (size_t i = 0; i < sizeof modulo_not_said / sizeof modulo_not_said[0]; i++) {
        if (is_said(modulo_not_said[i], "trap-modulo")) {
            test_fail(__FILE__, __LINE__, "needless for %s", modulo_not_said[i]);
        }
    }
}

// Each round has its own variables (rounds.mjs): only then the Lua has a copy of them.
TEST(a_loop_has_variables_for_each_round_if_a_function_keeps_them)
{
    static const struct {
        const char *body;
        bool is_kept;
    } rows[] = {
        {"task.delay(i, () => print(i));", true},
        {"all.push({ go() { return i; } });", true},
        {"all.push(() => ({ i }));", true},
        {"[1].forEach((x) => task.defer(() => print(x + i)));", true},
        {"const own = i; all.push(() => own);", false},
        {"all.push((i: number) => i);", false},
        {"all.push(() => ({ i: 1 }));", false},
        {"print(i);", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[256];
        snprintf(source, sizeof source,
                 "export const all: any[] = [];\nfor (let i = 0; i < 3; i++) { %s }\n",
                 rows[i].body);
        TypeScriptPlace place = {0};
        typescript_place_add(&place, "Workspace/B.ts", source);
        Compiled compiled = make(&place);
        CHECK_INT(compiled.diagnostics.count, 0);
        const char *lua = "";
        for (uint32_t j = 0; j < compiled.result.count; j++) {
            const TypeScriptOutput *output = &compiled.result.items[j];
            lua = strcmp(output->path, "Workspace/B") == 0 ? output->lua : lua;
        }
        if ((strstr(lua, "____round1") != NULL) != rows[i].is_kept) {
            test_fail(__FILE__, __LINE__, "%s:\n%s", rows[i].body, lua);
        }
        compiled_free(&compiled);
    }
}

// TypeScript's advice about packages is cut off behind the name, not inside it.
TEST(a_module_that_is_not_there_is_named)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/B.ts",
                         "import { x } from \"../ReplicatedStorage/None\";\nprint(x);\n");
    Compiled compiled = compile(shared(), &place, NULL);
    const Diagnostic *found = find_code(&compiled, "TS2307");
    CHECK(found != NULL && strstr(found->message, "'../ReplicatedStorage/None'. A script") != NULL);
    CHECK(found != NULL && strstr(found->message, "Files .d.ts are not read") != NULL);
    compiled_free(&compiled);
}

static const struct {
    const char *source, *told;
} refused[] = {
    {"function dec(x: unknown, c: unknown) {}\n@dec class A {}\nprint(new A());\n", "this: any"},
    {"await Promise.resolve(1);\n", "put it into an async function"},
    {"for (const k in [1, 2]) {\n    print(k);\n}\n", "for … of"},
    {"export const x = new Array<number>(3);\n", "Array.from"},
};

TEST(what_cannot_be_lua_has_its_place_and_a_way_out)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        TypeScriptPlace place = {0};
        typescript_place_add(&place, "Workspace/B.ts", refused[i].source);
        Compiled compiled = compile(shared(), &place, NULL);
        const Diagnostic *found = find_code(&compiled, "typescript-to-lua");
        CHECK_INT(compiled.status, STATUS_MALFORMED);
        if (found == NULL || found->line == 0 || found->column == 0 ||
            strstr(found->message, refused[i].told) == NULL) {
            say(&compiled);
            test_fail(__FILE__, __LINE__, "%s", refused[i].source);
        }
        compiled_free(&compiled);
    }
}

TEST(a_byte_order_mark_is_no_column)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/B.ts",
                         "\xef\xbb\xbf"
                         "let x: number = \"a\";\n");
    Compiled compiled = compile(shared(), &place, NULL);
    const Diagnostic *found = find_code(&compiled, "TS2322");
    REQUIRE(found != NULL);
    CHECK_INT(found->line, 1);
    CHECK_INT(found->column, 5);
    compiled_free(&compiled);
}

// A value that is written into another script's Lua leaves no `require` behind.
TEST(no_value_of_the_server_goes_to_players)
{
    static const struct {
        const char *text;
        uint32_t line; // 0: it is all right
    } rows[] = {
        {"import { C } from \"../ServerScriptService/Vault\";\nprint(C.V);\n", 1},
        {"import * as v from \"../ServerScriptService/Vault\";\nprint(v.C.V);\n", 1},
        {"\nexport { C } from \"../ServerScriptService/Vault\";\n", 2},
        {"import { word } from \"../ServerScriptService/Vault\";\nenum E { A = word "
         "}\nprint(E.A);\n",
         1},
        {"export {};\nprint(G.V);\n", 2}, // of `declare global`
        {"import type { C, Shape } from \"../ServerScriptService/Vault\";\n"
         "export function f(s: Shape, c: C) { return [s.size, c]; }\n",
         0},
        {"import { type Shape } from \"../ServerScriptService/Vault\";\n"
         "export function f(s: Shape) { return s.size; }\n",
         0},
    };
    static const char vault[] = "export const enum C { V = \"HUSH\" }\n"
                                "export const word = \"HUSH\";\n"
                                "export interface Shape { size: number }\n"
                                "declare global { const enum G { V = \"HUSH\" } }\n";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        TypeScriptPlace place = {0};
        typescript_place_add(&place, "ServerScriptService/Vault.ts", vault);
        typescript_place_add(&place, "StarterGui/L.ts", rows[i].text);
        Compiled compiled = compile(shared(), &place, NULL);
        const Diagnostic *found = find_code(&compiled, "server-only");
        const uint32_t line = found == NULL ? 0 : found->line;
        if (line != rows[i].line || (found != NULL && found->level != DIAGNOSTIC_ERROR)) {
            test_fail(__FILE__, __LINE__, "%s\n  line %u, %u errors", rows[i].text, line,
                      compiled.diagnostics.error_count);
        }
        compiled_free(&compiled);
    }
}

// Our declarations are skipped as a library is when scripts are checked: here they are one.
TEST(our_declarations_are_right_by_themselves)
{
    static uint8_t text[1u << 20];
    ByteWriter writer = byte_writer(text, sizeof text - 64);
    api_reference_write(API_FORMAT_TYPESCRIPT, &writer);
    REQUIRE(writer.status == STATUS_OK);
    char *reference = strstr((char *)text, "/// <reference");
    REQUIRE(reference != NULL);
    memcpy(reference, "// ", 3);
    snprintf((char *)text + writer.at, 64, "\nexport {};\n");
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/Declarations.ts", (const char *)text);
    Compiled compiled = make(&place);
    CHECK_INT(compiled.diagnostics.count, 0);
    compiled_free(&compiled);
}

// The examples of a guide, as the scripts of one place.
static uint32_t add_examples(TypeScriptPlace *place, char *text)
{
    static char names[TYPESCRIPT_PLACE_MAX][64];
    uint32_t count = 0;
    char *at = text;
    while ((at = strstr(at, "\n```ts\n")) != NULL && count < TYPESCRIPT_PLACE_MAX - 1) {
        char *code = at + strlen("\n```ts\n");
        char *end = strstr(code, "\n```");
        if (end == NULL) {
            break;
        }
        end[1] = '\0';
        snprintf(names[count], sizeof names[count], "Workspace/Example%u.ts", count);
        typescript_place_add(place, names[count], code);
        count += 1;
        at = end + 2;
    }
    return count;
}

TEST(every_example_of_the_guide_compiles_without_a_word)
{
    uint8_t *text = NULL;
    size_t bytes;
    REQUIRE(file_read(GUIDE, 1u << 20, &text, &bytes) == STATUS_OK);
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/Words.ts",
                         "export const greet = (name: string) => `Hello, ${name}`;\n");
    CHECK(add_examples(&place, (char *)text) >= 3);
    Compiled compiled = make(&place);
    if (compiled.diagnostics.count > 0) {
        say(&compiled);
        test_fail(__FILE__, __LINE__, "the guide's examples are not without a word");
    }
    compiled_free(&compiled);
    free(text);
}

TEST(names_that_javascript_knows_are_plain_names)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/__proto__.ts", "export const a = 1;\n");
    typescript_place_add(&place, "Workspace/constructor.ts",
                         "import { a } from \"./__proto__\";\nexport const b = a;\n");
    typescript_place_add(&place, "Workspace/hasOwnProperty.ts",
                         "import { b } from \"./constructor\";\nexport const toString = b;\n");
    Compiled compiled = make(&place);
    CHECK_INT(compiled.result.count, 3);
    const TypeScriptOutput *made = typescript_place_find(&compiled.result, "Workspace/constructor");
    CHECK(made != NULL && strstr(made->lua, "require(\"Workspace/__proto__\")") != NULL);
    compiled_free(&compiled);
}

// --- what ends it -------------------------------------------------------------------------------

static void check_works(TypeScript *compiler)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Fine.ts", "export const fine = 1;\n");
    Compiled compiled = compile(compiler, &place, NULL);
    if (compiled.status != STATUS_OK) {
        say(&compiled);
        test_fail(__FILE__, __LINE__, "the next call does not work");
    }
    compiled_free(&compiled);
}

static char *repeat(const char *before, const char *piece, uint32_t count, const char *after)
{
    Buffer text = buffer_of(1u << 20);
    buffer_put(&text, before, strlen(before));
    for (uint32_t i = 0; i < count; i++) {
        buffer_put(&text, piece, strlen(piece));
    }
    buffer_put(&text, after, strlen(after) + 1);
    if (text.status != STATUS_OK) {
        abort();
    }
    return (char *)text.data;
}

// Either an ordinary error or a compiler that was ended, never a success and never a hang.
static void check_survives(TypeScript *compiler, const char *name, const char *source)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Bomb.ts", source);
    typescript_set_quiet(compiler, 8000);
    Compiled compiled = compile(compiler, &place, NULL);
    typescript_set_quiet(compiler, typescript_config_patient().quiet_ms);
    if (compiled.status == STATUS_MALFORMED) {
        CHECK(compiled.diagnostics.error_count > 0);
    } else if (compiled.status == STATUS_BLOCKED) {
        CHECK(compiled.reason[0] != '\0');
    } else {
        CHECK_OK(compiled.status);
    }
    printf("%s: %s %.120s\n", name, status_text(compiled.status),
           compiled.diagnostics.count > 0 ? compiled.diagnostics.items[0].message
                                          : compiled.reason);
    compiled_free(&compiled);
    check_works(compiler);
}

TEST(bombs_of_types)
{
    TypeScriptConfig config = typescript_config_patient();
    config.memory_bytes_max = 700u << 20;
    TypeScript *compiler;
    REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
    check_works(compiler);
    check_survives(compiler, "recursive conditional",
                   "type Deep<T, N extends unknown[] = []> = N[\"length\"] extends 99999 ? T :\n"
                   "    Deep<[T], [...N, unknown]>;\nexport const x: Deep<1> = 1;\n");
    check_survives(compiler, "tree of conditionals",
                   "type Two<N extends unknown[]> = N[\"length\"] extends 40 ? 1 :\n"
                   "    [Two<[...N, 0]>, Two<[...N, 1]>];\nexport const x: Two<[]> = 1;\n");
    check_survives(
        compiler, "template literals",
        "type D = \"0\" | \"1\" | \"2\" | \"3\" | \"4\" | \"5\" | \"6\" | \"7\" | \"8\" | "
        "\"9\";\nexport const x: `${D}${D}${D}${D}${D}${D}${D}${D}` = \"1\";\n");
    check_survives(compiler, "unions",
                   "type U<N extends number> = { a: N } | { b: N };\n"
                   "export type X = (U<1> & U<2> & U<3> & U<4> & U<5> & U<6> & U<7> & U<8>) &\n"
                   "    (U<9> & U<10> & U<11> & U<12> & U<13> & U<14> & U<15> & U<16>) & (U<17> &\n"
                   "    U<18> & U<19> & U<20> & U<21> & U<22> & U<23> & U<24> & U<25>);\n"
                   "export const x: X = 1 as never as { q: 1 };\n");
    typescript_destroy(compiler);
}

// All that is wrong is wanted at once, and nothing that only follows from it.
TEST(a_script_that_the_compiler_gives_up_on_hides_no_other)
{
    char *parsed = repeat("export type Box<T> = T;\nexport const x = ", "(", 200000, ";\n");
    char *bound = repeat("declare const a: any;\nexport const x = a", ".b", 100000, ";\n");
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/Deep.ts", parsed);
    typescript_place_add(&place, "ReplicatedStorage/Long.ts", bound);
    typescript_place_add(&place, "Workspace/First.ts", "const a: number = \"one\";\nprint(a);\n");
    typescript_place_add(&place, "Workspace/Uses.ts",
                         "import { x, Box } from \"../ReplicatedStorage/Deep\";\n"
                         "import * as long from \"../ReplicatedStorage/Long\";\n"
                         "export const y: Box<string> = x;\nprint(y, long.x + 1);\n");
    typescript_place_add(&place, "Workspace/Zed.ts", "export const z: string = 1;\n");
    for (uint32_t i = 0; i < 2; i++) { // what it keeps of the first time is whole
        Compiled compiled = compile(shared(), &place, NULL);
        static const char *const want[][2] = {{"ReplicatedStorage/Deep.ts", "too-deep"},
                                              {"ReplicatedStorage/Long.ts", "too-deep"},
                                              {"Workspace/First.ts", "TS2322"},
                                              {"Workspace/Zed.ts", "TS2322"}};
        diagnostic_list_sort(&compiled.diagnostics);
        const bool is_all = compiled.diagnostics.count == 4;
        if (!is_all) {
            say(&compiled);
        }
        CHECK_INT(compiled.status, STATUS_MALFORMED);
        for (uint32_t d = 0; is_all && d < 4; d++) {
            CHECK_TEXT(compiled.diagnostics.items[d].file, want[d][0]);
            CHECK_TEXT(compiled.diagnostics.items[d].code, want[d][1]);
        }
        CHECK(is_all);
        compiled_free(&compiled);
    }
    // However many there are, each is named.
    TypeScriptPlace many = {0};
    static char names[12][32];
    for (uint32_t i = 0; i < 12; i++) {
        snprintf(names[i], sizeof names[i], "Workspace/Deep%02u.ts", i);
        typescript_place_add(&many, names[i], parsed);
    }
    Compiled compiled = compile(shared(), &many, NULL);
    CHECK_INT(compiled.status, STATUS_MALFORMED);
    CHECK_INT(compiled.diagnostics.count, 12);
    compiled_free(&compiled);
    check_works(shared());
    free(parsed);
    free(bound);
}

// What nests, and how: each piece a level or more. Few of them are fine; many are an error with a
// line, whether the parser itself survives them or not, and at once: other mistakes are still
// reported.
static const struct {
    const char *before, *piece, *after, *close;
    uint32_t fine, many;
} nested[] = {
    {"export const f = (a: number) => a", " + a", ";\n", "", 200, 60000},
    {"export const f = (a: number) => a === 1", " || a === 2", ";\n", "", 200, 20000},
    {"export const f = (a?: number) => a", " ?? a", ";\n", "", 200, 40000},
    {"export function f(a: number) { if (a < 0) { print(a); }", " else if (a === 2) { print(a); }",
     "}\n", "", 200, 7000},
    {"export const f = (a: number): string => ", "a === 1 ? \"b\" : ", "\"c\";\n", "", 80, 10000},
    {"export const f = (a: any) => a", ".b()", ";\n", "", 100, 50000},
    {"export const f = (a: any) => a", "?.b()", ";\n", "", 60, 50000},
    {"export const x = ", "(", "1", ")", 200, 100000},
    {"export const x = `", "${`", "`", "}`", 100, 50000},
    {"export const x: any = ", "[", "1", "]", 150, 100000},
    {"export const f = (a: any) => ", "a(", "1", ")", 150, 80000},
    {"export function f(a: number) {", "if (a > 0) {", "print(a);", "}", 100, 15000},
    {"export const x = ", "!", "true;\n", "", 150, 200000},
    {"export const x = ", "() => ", "1;\n", "", 60, 40000},
    {"export type X = ", "[", "1", "]", 200, 100000},
    {"/** @type {", "[", "1]} */\nexport const x = 1;\n", "", 0, 100000},
};

TEST(what_is_nested_too_deeply_has_a_line)
{
    for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++) {
        const bool is_many[] = {false, true, true};
        const uint32_t counts[] = {nested[i].fine, 300, nested[i].many};
        for (size_t k = 0; k < 3; k++) {
            char *tail = repeat(nested[i].after, nested[i].close, counts[k],
                                strcmp(nested[i].close, "}") == 0 ? "}\n" : "\n");
            char *head = repeat("// One.\n", "", 0, nested[i].before);
            char *source = repeat(head, nested[i].piece, counts[k], tail);
            TypeScriptPlace place = {0};
            typescript_place_add(&place, "Workspace/Deep.ts", source);
            typescript_place_add(&place, "Workspace/Other.ts", "export const z: string = 1;\n");
            Compiled compiled = compile(shared(), &place, NULL);
            const Diagnostic *deep = find_code(&compiled, "too-deep");
            const Diagnostic *other = find_code(&compiled, "TS2322");
            const bool is_told = deep != NULL && deep->line == 2 && deep->column > 1 &&
                                 strcmp(deep->file, "Workspace/Deep.ts") == 0;
            if (other == NULL || (is_many[k] ? !is_told : deep != NULL)) {
                say(&compiled);
                test_fail(__FILE__, __LINE__, "%u of %s", counts[k], nested[i].piece);
            }
            compiled_free(&compiled);
            free(source);
            free(head);
            free(tail);
        }
    }
    check_works(shared());
}

// It throws, and knows nothing of lines then.
TEST(where_the_compiler_fails_is_told)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/One.ts",
                         "export function f(list: number[], o: any) {\n"
                         "    ({ a: list.length = 3 } = o);\n"
                         "}\n");
    typescript_place_add(&place, "Workspace/Two.ts", "export const x = 1;\n");
    Compiled compiled = compile(shared(), &place, NULL);
    CHECK_INT(compiled.status, STATUS_MALFORMED);
    const Diagnostic *found = find_code(&compiled, "compiler");
    REQUIRE(found != NULL);
    CHECK_TEXT(found->file, "Workspace/One.ts");
    CHECK_INT(found->line, 2);
    CHECK_INT(found->column, 5);
    compiled_free(&compiled);
    check_works(shared());
}

// A few bytes that become much Lua: the script is named, not the compiler blamed.
TEST(a_script_that_becomes_too_much_lua_is_named)
{
    static char uses[8192];
    static const uint32_t counts[] = {2, 21, 500}; // of 200 kB each
    char *value = repeat("", "x", 200000, "");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        TypeScriptPlace place = {0};
        size_t at = 0;
        for (uint32_t use = 0; use < counts[i]; use++) {
            at += (size_t)snprintf(uses + at, sizeof uses - at, "E.A%s",
                                   use + 1 < counts[i] ? ", " : "");
        }
        Buffer source = buffer_of(1u << 20);
        buffer_print(&source, "const enum E { A = \"");
        buffer_put(&source, value, strlen(value));
        buffer_print(&source, "\" }\nexport const all = [%s];\n", uses);
        buffer_put_u8(&source, 0);
        typescript_place_add(&place, "Workspace/Fine.ts", "export const fine = 1;\n");
        typescript_place_add(&place, "Workspace/Bomb.ts", (const char *)source.data);
        Compiled compiled = compile(shared(), &place, NULL);
        CHECK_INT(compiled.status, STATUS_MALFORMED);
        const Diagnostic *found = find_code(&compiled, "too-large");
        if (found == NULL) {
            say(&compiled);
        }
        REQUIRE(found != NULL);
        CHECK_TEXT(found->file, "Workspace/Bomb.ts");
        CHECK(strstr(found->message, "at most 256") != NULL);
        compiled_free(&compiled);
        buffer_free(&source);
    }
    free(value);
    check_works(shared());
}

TEST(a_compiler_that_was_killed_is_replaced)
{
    const TypeScriptConfig config = typescript_config_patient();
    TypeScript *compiler;
    REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
    CHECK_INT(typescript_pid(compiler), 0);
    check_works(compiler);
    const pid_t first = typescript_pid(compiler);
    CHECK(first > 0);
    kill(first, SIGKILL);
    CHECK_INT(waitid(P_PID, (id_t)first, &(siginfo_t){0}, WEXITED | WNOWAIT), 0); // it is gone
    check_works(compiler); // the next call works as if nothing had happened
    CHECK(typescript_pid(compiler) != first);
    typescript_destroy(compiler);
    CHECK(kill(first, 0) != 0);
}

// Nothing in it is too deep, and all of it together takes too long.
TEST(the_script_is_named_that_a_compiler_was_ended_at)
{
    const TypeScriptConfig config = typescript_config_patient();
    TypeScript *compiler;
    REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
    check_works(compiler);
    char *one = repeat("(a?: number) => a", " ?? a", 200, ", ");
    char *source = repeat("export const all = [", one, 200, "];\n");
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/A.ts", "export const fine = 1;\n");
    typescript_place_add(&place, "Workspace/Slow.ts", source);
    typescript_place_add(&place, "Workspace/Zed.ts", "export const fine = 1;\n");
    typescript_set_quiet(compiler, 2500); // the others take some milliseconds
    Compiled compiled = compile(compiler, &place, NULL);
    typescript_set_quiet(compiler, config.quiet_ms);
    CHECK_INT(compiled.status, STATUS_BLOCKED);
    if (strstr(compiled.reason, "at Workspace/Slow.ts and was ended") == NULL) {
        test_fail(__FILE__, __LINE__, "%s", compiled.reason);
    }
    compiled_free(&compiled);
    check_works(compiler);
    typescript_destroy(compiler);
    free(source);
    free(one);
}

// --- how far it is ------------------------------------------------------------------------------

#define TOLD_MAX 256

typedef struct Told {
    uint32_t count, changes, last, total;
    bool is_falling, is_too_much;
    char files[TOLD_MAX][DIAGNOSTIC_FILE_BYTES];
} Told;

static void note(void *user, uint32_t done, uint32_t total, const char *file)
{
    Told *told = user;
    told->is_falling = told->is_falling || done < told->last;
    told->is_too_much = told->is_too_much || done > total;
    told->changes += done != told->last;
    told->last = done;
    told->total = total;
    if (told->count < TOLD_MAX) {
        snprintf(told->files[told->count++], DIAGNOSTIC_FILE_BYTES, "%s", file);
    }
}

static uint32_t times_told(const Told *told, const char *file)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < told->count; i++) {
        times += strcmp(told->files[i], file) == 0;
    }
    return times;
}

TEST(how_far_it_is_moves_with_every_script)
{
    enum { COUNT = 12 };
    char names[COUNT][32];
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "ReplicatedStorage/Old.lua", "return {}");
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "Workspace/S%02u.ts", i);
        typescript_place_add(&place, names[i], "export const how_far = 1;\n");
    }
    const TypeScriptConfig config = typescript_config_patient();
    TypeScript *compiler;
    Told told = {0};
    REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
    typescript_watch(compiler, NULL, note, &told);
    Compiled compiled = compile(compiler, &place, NULL);
    CHECK_OK(compiled.status);
    compiled_free(&compiled);
    CHECK(!told.is_falling && !told.is_too_much);
    CHECK_INT(told.total, COUNT); // of those in TypeScript
    CHECK_INT(told.last, COUNT - 1);
    CHECK(told.changes >= COUNT / 2);
    CHECK(told.files[0][0] == '\0'); // before it has started
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK(times_told(&told, names[i]) >= 3); // parsed, checked, made
    }
    // Of an edit only what it changed.
    told = (Told){0};
    typescript_place_set(&place, names[7], "export const how_far = 2;\n");
    compiled = compile(compiler, &place, NULL);
    CHECK_OK(compiled.status);
    compiled_free(&compiled);
    CHECK(!told.is_falling && told.last > 0);
    CHECK(times_told(&told, names[7]) >= 3);
    CHECK_INT(times_told(&told, names[8]), 0);
    typescript_destroy(compiler);
}

// The time without a sign of life counts from the start; an invalid progress is nonsense.
TEST(a_compiler_that_says_nothing_or_nonsense_is_ended)
{
    static const struct {
        const char *source, *reason;
    } cases[] = {
        {"say: nothing\n", "no sign of progress for 1.5 s and was ended: this machine"},
        {"say: alive\n", "no sign of progress for 1.5 s and was ended: this machine"},
        {"say: more than all\n", "nonsense"},
        {"say: more than all, of none\n", "nonsense"},
        {"say: another script\n", "nonsense"},
        {"say: half a progress\n", "nonsense"},
    };
    TypeScriptConfig config = typescript_config_patient();
    config.compiler = ODD_COMPILER;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        config.quiet_ms = i < 2 ? 1500 : WORKER_QUIET_MS;
        TypeScript *compiler;
        REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
        TypeScriptPlace place = {0};
        typescript_place_add(&place, "Workspace/Fine.ts", cases[i].source);
        Compiled compiled = compile(compiler, &place, NULL);
        CHECK_INT(compiled.status, STATUS_BLOCKED);
        if (strstr(compiled.reason, cases[i].reason) == NULL) {
            test_fail(__FILE__, __LINE__, "%s%s", cases[i].source, compiled.reason);
        }
        CHECK_INT(typescript_pid(compiler), 0);
        compiled_free(&compiled);
        typescript_destroy(compiler);
    }
}

TEST(a_compiler_that_takes_too_much_memory_is_ended)
{
    TypeScriptConfig config = typescript_config_patient();
    static const char *const names[] = {"Workspace/A.ts", "Workspace/B.ts", "Workspace/C.ts",
                                        "Workspace/D.ts", "Workspace/E.ts"};
    config.memory_bytes_max = 64u << 20; // less than it needs to begin
    TypeScript *compiler;
    REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Fine.ts", "export const fine = 1;\n");
    Compiled compiled = compile(compiler, &place, NULL);
    CHECK_INT(compiled.status, STATUS_BLOCKED);
    CHECK(strstr(compiled.reason, "memory") != NULL || strstr(compiled.reason, "64 MB") != NULL);
    CHECK(strstr(compiled.reason, "make the types of this place simpler") != NULL);
    CHECK_INT(typescript_pid(compiler), 0);
    compiled_free(&compiled);
    // Of a place that is too large how large it is, and what fits.
    char *large = repeat("", "export {};\n", (1u << 20) / 11 - 1, "");
    place.list.count = 0;
    for (uint32_t i = 0; i < 5; i++) {
        typescript_place_add(&place, names[i], large);
    }
    compiled = compile(compiler, &place, NULL);
    CHECK_INT(compiled.status, STATUS_BLOCKED);
    if (strstr(compiled.reason, "this place has 5.0 MB of TypeScript, and about 3 MB fit") ==
        NULL) {
        test_fail(__FILE__, __LINE__, "%s", compiled.reason);
    }
    compiled_free(&compiled);
    free(large);
    typescript_destroy(compiler);
}

TEST(a_call_can_be_cancelled)
{
    TypeScriptConfig config = typescript_config_patient();
    const atomic_bool cancel = true;
    config.cancel = &cancel;
    TypeScript *compiler;
    REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Fine.ts", "export const fine = 1;\n");
    Compiled compiled = compile(compiler, &place, NULL);
    CHECK_INT(compiled.status, STATUS_DENIED);
    compiled_free(&compiled);
    typescript_watch(compiler, NULL, NULL, NULL);
    check_works(compiler);
    typescript_destroy(compiler);
}

TEST(what_is_missing_is_named)
{
    TypeScriptConfig config = typescript_config_patient();
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Fine.ts", "export const fine = 1;\n");
    const struct {
        const char *node, *compiler, *said;
    } cases[] = {{"/nowhere/node", NULL, "SANDLOT_NODE"},
                 {NULL, "/nowhere", "compiler.mjs"},
                 {"/etc/passwd", NULL, "SANDLOT_NODE"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        config.node = cases[i].node;
        config.compiler = cases[i].compiler;
        TypeScript *compiler;
        REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
        Compiled compiled = compile(compiler, &place, NULL);
        CHECK_INT(compiled.status, STATUS_BLOCKED);
        CHECK(strstr(compiled.reason, cases[i].said) != NULL);
        CHECK(strstr(compiled.reason, "Lua scripts need none of it") != NULL);
        compiled_free(&compiled);
        typescript_destroy(compiler);
    }
}

// Busy with a type that has no end, and its host is killed: it must not stay.
TEST(it_dies_with_its_host_whatever_it_is_doing)
{
    int told[2];
    REQUIRE(pipe(told) == 0);
    fflush(NULL);
    const pid_t host = fork();
    if (host == 0) {
        const TypeScriptConfig config = typescript_config_patient();
        TypeScript *compiler;
        if (typescript_create(&config, &compiler) != STATUS_OK) {
            _exit(1);
        }
        check_works(compiler);
        const pid_t node = typescript_pid(compiler);
        (void)!write(told[1], &node, sizeof node);
        TypeScriptPlace place = {0};
        typescript_place_add(
            &place, "Workspace/Bomb.ts",
            "type Two<N extends unknown[]> = N[\"length\"] extends 40 ? 1 :\n"
            "    [Two<[...N, 0]>, Two<[...N, 1]>];\nexport const x: Two<[]> = 1;\n");
        Compiled compiled = compile(compiler, &place, NULL);
        compiled_free(&compiled);
        pause();
    }
    pid_t node = 0;
    REQUIRE(read(told[0], &node, sizeof node) == sizeof node);
    usleep(300000);
    CHECK(kill(node, 0) == 0);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    bool is_gone = false;
    for (uint32_t i = 0; i < 200 && !is_gone; i++) {
        usleep(50000);
        is_gone = kill(node, 0) != 0;
    }
    CHECK(is_gone);
    close(told[0]);
    close(told[1]);
}

// --- from inside --------------------------------------------------------------------------------

#ifndef HOSTILE_COMPILER
#error "the folder of the hostile compiler"
#endif

// What the hostile compiler reports that it could do.
static bool all_is_refused(char *told, size_t bytes)
{
    char folder[] = "/tmp/sandlot-typescript-XXXXXX";
    char file[64];
    char source[256];
    FILE *secret = NULL;
    if (mkdtemp(folder) != NULL) {
        snprintf(file, sizeof file, "%s/secret.ts", folder);
        secret = fopen(file, "w");
    }
    if (secret == NULL) {
        return false;
    }
    fputs("secret", secret);
    fclose(secret);
    chmod(folder, 0777);
    chmod(file, 0666);
    snprintf(source, sizeof source, "%s\n%d\n", folder, (int)getpid());
    TypeScriptConfig config = typescript_config_patient();
    config.compiler = HOSTILE_COMPILER;
    // In a chroot an ordinary user has no namespaces; the other layers must do.
    config.allow_weak_jail = (jail_layers_here() & JAIL_NAMESPACES) == 0;
    TypeScript *compiler;
    if (typescript_create(&config, &compiler) != STATUS_OK) {
        return false;
    }
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/Evil.ts", source);
    Compiled compiled = compile(compiler, &place, NULL);
    snprintf(told, bytes, "%s", compiled.reason);
    bool is_right = compiled.status == STATUS_BLOCKED && strcmp(told, "all refused") == 0;
    compiled_free(&compiled);
    // Asked once more it tries to become another program. Node gives up when it cannot: if it could
    // that program would end well.
    compiled = compile(compiler, &place, NULL);
    is_right =
        is_right && compiled.status == STATUS_BLOCKED && strstr(compiled.reason, "gave up") != NULL;
    compiled_free(&compiled);
    typescript_destroy(compiler);
    unlink(file);
    return rmdir(folder) == 0 && is_right; // nothing else was in it
}

TEST(nothing_that_is_forbidden_can_be_done_from_inside)
{
    char told[WORKER_REASON_BYTES] = "";
    if (!all_is_refused(told, sizeof told)) {
        test_fail(__FILE__, __LINE__, "%s", told);
    }
}

TEST(nor_when_an_ordinary_user_began_it)
{
    if (geteuid() != 0) {
        return; // the test before was that
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char told[WORKER_REASON_BYTES] = "";
        const bool is_right =
            setgid(4242) == 0 && setuid(4242) == 0 && all_is_refused(told, sizeof told);
        printf("%s%s", is_right ? "" : told, is_right ? "" : "\n");
        fflush(NULL);
        _exit(is_right ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
}

// --- answers ------------------------------------------------------------------------------------

static void put_text(Buffer *out, const char *text)
{
    buffer_put_block(out, text, strlen(text));
}

static Buffer make_answer(uint32_t status, uint8_t level, const char *file, const char *path)
{
    Buffer out = buffer_of(1u << 20);
    buffer_put_u32(&out, status);
    put_text(&out, "why\x01not");
    buffer_put_u32(&out, 1);
    buffer_put_u8(&out, level);
    put_text(&out, file);
    buffer_put_u32(&out, 3);
    buffer_put_u32(&out, 4);
    put_text(&out, "TS1");
    put_text(&out, "message\n\xff");
    buffer_put_u32(&out, path != NULL ? 1 : 0);
    if (path != NULL) {
        put_text(&out, path);
        put_text(&out, "return 1");
        put_text(&out, "{}");
        buffer_put_u32(&out, 2);
        buffer_put_u32(&out, 7);
        buffer_put_u32(&out, 8);
    }
    return out;
}

static Status read_answer(const Buffer *answer, size_t bytes, char *reason)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/A.ts", "");
    TypeScriptResult result = {0};
    DiagnosticList diagnostics = {0};
    const Status status = typescript_read_result(answer->data, bytes, &place.list, NULL, &result,
                                                 &diagnostics, reason);
    if (status == STATUS_OK) {
        CHECK_INT(result.count, 1);
        CHECK_TEXT(result.items[0].lua, "return 1");
        CHECK_INT(result.items[0].lines[1], 8);
        CHECK_TEXT(diagnostics.items[0].message, "message  ");
        CHECK_INT(diagnostics.items[0].column, 4);
    }
    typescript_result_free(&result);
    diagnostic_list_free(&diagnostics);
    return status;
}

TEST(answers_are_taken_whole_or_not_at_all)
{
    const struct {
        uint32_t status;
        uint8_t level;
        const char *file, *path;
        Status expected;
    } cases[] = {
        {0, 1, "Workspace/A.ts", "Workspace/A", STATUS_OK},
        {0, 1, "", "Workspace/A", STATUS_OK},
        {0, 0, "Workspace/A.ts", "Workspace/A", STATUS_MISMATCH}, // an error, and fine
        {0, 2, "Workspace/A.ts", "Workspace/A", STATUS_MISMATCH},
        {0, 1, "/etc/passwd", "Workspace/A", STATUS_MISMATCH},
        {0, 1, "Workspace/A.ts", "Workspace/B", STATUS_MISMATCH}, // not asked for
        {0, 1, "Workspace/A.ts", TYPESCRIPT_LIBRARY, STATUS_MISMATCH},
        {0, 1, "Workspace/A.ts", NULL, STATUS_MISMATCH},
        {1, 0, "Workspace/A.ts", NULL, STATUS_MALFORMED},
        {1, 1, "Workspace/A.ts", NULL, STATUS_MISMATCH}, // errors, and none
        {1, 0, "Workspace/A.ts", "Workspace/A", STATUS_MISMATCH},
        {2, 0, "Workspace/A.ts", NULL, STATUS_LIMIT},
        {3, 0, "Workspace/A.ts", NULL, STATUS_MISMATCH},
    };
    char reason[WORKER_REASON_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Buffer answer = make_answer(cases[i].status, cases[i].level, cases[i].file, cases[i].path);
        CHECK_INT(read_answer(&answer, answer.bytes, reason), cases[i].expected);
        if (cases[i].expected == STATUS_LIMIT) {
            CHECK_TEXT(reason, "why not");
        }
        for (size_t bytes = 0; bytes < answer.bytes; bytes++) {
            CHECK_INT(read_answer(&answer, bytes, reason), STATUS_MISMATCH);
        }
        buffer_put_u8(&answer, 0);
        CHECK_INT(read_answer(&answer, answer.bytes, reason), STATUS_MISMATCH);
        buffer_free(&answer);
    }
}
