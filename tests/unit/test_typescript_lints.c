// Where Lua behaves differently from TypeScript, and what it lacks, with the real compiler: the
// message for each case, its line, and that correct code gives no warning.
#include "server/build/typescript/typescript.h"
#include "tests/support/test.h"
#include "tests/support/typescript_place.h"

#include <stdio.h>
#include <string.h>

typedef struct Row {
    const char *source;
    const char *part; // of the expected message; NULL: none
    uint32_t line;
} Row;

static const char *text_of(const Diagnostic *diagnostic)
{
    static char line[1024];
    diagnostic_text(diagnostic, "", line, sizeof line);
    return line;
}

// One compiler for all of them.
static void check_row(const Row *row, const char *code, bool is_error)
{
    static TypeScript *compiler;
    const TypeScriptConfig config = typescript_config_patient();
    if (compiler == NULL) {
        REQUIRE(typescript_create(&config, &compiler) == STATUS_OK);
    }
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/B.ts", row->source);
    TypeScriptResult result = {0};
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES] = "";
    const Status status = typescript_compile(compiler, &place.list, NULL, &result, &list, reason);
    bool is_said = false;
    for (uint32_t i = 0; i < list.count; i++) {
        const Diagnostic *one = &list.items[i];
        if (row->part == NULL) {
            test_fail(__FILE__, __LINE__, "needless for %s: %s", row->source, text_of(one));
        } else if (strcmp(one->code, code) == 0 && strstr(text_of(one), row->part) != NULL) {
            is_said = one->line == row->line && (one->level == DIAGNOSTIC_ERROR) == is_error;
        }
    }
    if (row->part != NULL && !is_said) {
        test_fail(__FILE__, __LINE__, "%s is not said of line %u of %s%s%s", code, row->line,
                  row->source, list.count > 0 ? ", but: " : "",
                  list.count > 0 ? text_of(&list.items[0]) : "");
    }
    if (status != (is_error && row->part != NULL ? STATUS_MALFORMED : STATUS_OK)) {
        test_fail(__FILE__, __LINE__, "%s: %s %s", row->source, status_text(status), reason);
    }
    typescript_result_free(&result);
    diagnostic_list_free(&list);
}

#define CHECK_ROWS(rows, code, is_error)                          \
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++) { \
        check_row(&(rows)[i], code, is_error);                    \
    }

#define N    "export const f = (n: number) => "
#define MADE "string.format"

TEST(floats_that_are_printed_are_warned_of)
{
    static const Row rows[] = {
        {N "print(n / 2);\n", MADE, 1},
        {N "tostring(n / 2);\n", MADE, 1},
        {N "warn(\"v\", n / 2);\n", MADE, 1},
        {N "Log.Info(\"v\", n / 2 + 1);\n", MADE, 1},
        {N "[1, n / 2].join();\n", MADE, 1},
        {N "{\n    const all = [n ** 2];\n    return all.slice(1).join(\" \");\n};\n", MADE, 2},
        {"export const f = (a: number[]) =>\n    a.map((n) => n / 2).join(\", \");\n", MADE, 2},
        {"print(1,\n    Math.sqrt(16));\n", MADE, 2},
        // by way of variables and functions
        {"function half(n: number) {\n    return n / 2;\n}\nprint(half(4));\n", MADE, 4},
        {"const half = (n: number) => n / 2;\nexport const s = `${half(4)}`;\n", MADE, 2},
        {"class A {\n    half = 1;\n    of(n: number) { return n / 2; }\n}\nprint(new "
         "A().of(1));\n",
         MADE, 5},
        {"let mean = 0;\nexport function add(n: number) {\n    mean = (mean + n) / 2;\n"
         "    print(mean);\n}\n",
         MADE, 4},
        {"let half = 9;\nhalf /= 2;\nprint(half);\n", MADE, 3},
        {"print(0.00001);\n", "1e-05", 1},
        // right
        {N "print(n, n + 1, n * 2, -n, Math.floor(n / 2), Math.round(n ** 2));\n", NULL, 0},
        {N "print((n / 2).toFixed(1), string.format(\"%.1f\", n / 2), n / 2 > 1);\n", NULL, 0},
        {N "{\n    let x = n / 2;\n    x = Math.floor(x);\n    print(x);\n};\n", NULL, 0},
        {N "{\n    // trap-ok\n    print(n / 2);\n};\n", NULL, 0},
        {"function half(n: number) { return Math.floor(n / 2); }\nprint(half(3));\n", NULL, 0},
        {"function sum(n: number): number { return n > 0 ? sum(n - 1) + n : 0; }\n"
         "print(sum(3), [1, 2].map((n) => n * 2).join(), [3, 4].join());\n",
         NULL, 0},
        // who looks at what the engine gives knows what it is; but a text is for players
        {"export const f = (v: Vector3) => print(v.X, v.Magnitude, Math.random());\n", NULL, 0},
        {"export const f = (v: Vector3) => tostring(v.X);\n", MADE, 1},
        // not ours
        {"function print(n: number) { return n > 1; }\nexport const b = print(4 / 2);\n", NULL, 0},
    };
    CHECK_ROWS(rows, "trap-number-text", false);
}

TEST(zero_behind_two_question_marks_is_warned_of)
{
    static const Row rows[] = {
        {"export const f = (n?: number) => {\n    if (n ?? 0) { print(1); }\n};\n", "0 (and NaN)",
         2},
        {"export const f = (n?: string) => ((n ?? \"\") ? 1 : 2);\n", "\"\"", 1},
        {"export const f = (n?: number) => !(n ?? 0);\n", "0 (and NaN)", 1},
        {"export const f = (a: boolean, n?: number) => {\n    while (a && (n ?? 0)) { break; "
         "}\n};\n",
         "0 (and NaN)", 2},
        {"export const f = (n: number) => assert(n, \"none\");\n", "0 (and NaN)", 1},
        {"export const f = (b?: boolean) => ((b ?? false) ? 1 : 2);\n", NULL, 0},
        {"export const f = (e?: Entity, o?: Entity) => ((e ?? o) ? 1 : 2);\n", NULL, 0},
        {"export const f = (n?: number) => (n ?? 0) + 1;\n", NULL, 0},
    };
    CHECK_ROWS(rows, "trap-truthiness", false);
}

TEST(a_shift_of_what_is_below_zero_is_warned_of)
{
    static const Row rows[] = {
        {"print(-5 >>> 1);\n", "0xffffffff", 1},
        {"const X = -5;\nprint(X >>> 1);\n", "0xffffffff", 2},
        {"export const f = (n: 1 | 2) => ~n >>> 1;\n", "0xffffffff", 1},
        {"print(5 >>> 1, (-5 & 0xffffffff) >>> 1);\n", NULL, 0},
        {"export const f = (low: number, high: number) => low + ((high - low) >>> 1);\n", NULL, 0},
    };
    CHECK_ROWS(rows, "trap-bits", false);
}

TEST(hooks_of_any_form_that_take_the_entity_for_the_time)
{
    static const Row rows[] = {
        {"export const onUpdate = (dt: number) => print(dt);\n", "onUpdate(self: Entity, dt", 1},
        {"const onUpdate = function (dt: number) { print(dt); };\nexport { onUpdate };\n",
         "onUpdate(self: Entity, dt", 1},
        {"export const onUpdate = (self: Entity, dt: number) => print(self, dt);\n", NULL, 0},
    };
    CHECK_ROWS(rows, "hook-parameter", false);
}

TEST(what_the_libraries_declare_and_lua_lacks_is_an_error)
{
    static const Row rows[] = {
        {"print(1);\nprint(new Date().getTime());\n", "there is no Date: use os.time()", 2},
        {"print(Date.now());\n", "World.Time()", 1},
        {"print(JSON.stringify({}));\n", "Json.Encode", 1},
        {"print(new Intl.NumberFormat());\n", "there is no Intl: ", 1},
        {"print(new Proxy({}, {}));\n", "there is no Proxy: ", 1},
        {"print(Reflect.ownKeys({}));\n", "there is no Reflect: ", 1},
        {"print(new RegExp(\"a\"));\n", "string.match", 1},
        {"print(new WeakRef({}));\n", "there is no WeakRef: ", 1},
        {"print(Boolean(1));\n", "there is no Boolean: ", 1},
        {"print([1, 2].filter(Boolean));\n", "there is no Boolean: ", 1},
        {"print([1, 2].map(String));\n", "(x) => String(x)", 1},
        {"print(new Float32Array(3));\n", "number[]", 1},
        {"print(encodeURIComponent(\"a\"));\n", "there is no encodeURIComponent", 1},
        {"class D extends Date {}\nprint(D);\n", "there is no Date", 1},
        {"const all = { JSON };\nprint(all);\n", "there is no JSON", 1},
        // types, names of one's own, and what is there
        {"export const f = (d: Date | RegExp) => d;\nexport type T = typeof Date.now;\n", NULL, 0},
        {"const Date = { now: () => 1 };\nprint(Date.now());\n", NULL, 0},
        {"const all = { Date: 1, JSON: 2 };\nprint(all.Date, all.JSON);\n", NULL, 0},
        {"class E extends Error {}\nprint(new E(\"x\"), new Map(), new Set([1]), "
         "Object.keys({}));\n"
         "print([1] instanceof Array, Symbol(\"x\"), Number(\"1\"), Math.PI > 3, "
         "parseInt(\"7\"));\n"
         "print(new WeakMap(), Number.isInteger(1), Array.from([1]), globalThis !== undefined);\n",
         NULL, 0},
        {"function* g() { yield 1; }\nfor (const i of g()) { print(i); }\n"
         "export async function h() { await Promise.resolve(1); }\n",
         NULL, 0},
    };
    CHECK_ROWS(rows, "no-lua", true);
}

TEST(assert_and_select_are_there)
{
    static const Row rows[] = {
        {"const e: Entity | undefined = World.Find(\"a\");\nassert(e, \"none\");\nprint(e.Name);\n"
         "print(select(\"#\", 1, 2));\nconst [b] = select(2, \"a\", \"b\");\nprint(b.length);\n",
         NULL, 0},
    };
    CHECK_ROWS(rows, "", false);
}
