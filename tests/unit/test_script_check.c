// core/script/check by itself: lines of another language, Lua's own words explained, too little
// memory, a full list. What it says about whole scripts is in tests/script/test_check_corpus.c.
#include "core/script/check/check_list.h"
#include "core/script/check/check_place.h"
#include "core/script/check/check_refusal.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define HEAP_MAX (64u << 20)

static Status check_text(Heap *heap, const char *text, const uint32_t *lines, uint32_t line_count,
                         CheckList *list, CheckOutput *output)
{
    const CheckSink sink = check_list_sink(list);
    const CheckScript script = {.path = "Workspace/Door",
                                .file = lines != NULL ? "Workspace/Door.ts" : "Workspace/Door.lua",
                                .context = CONTEXT_BOTH,
                                .source = text,
                                .source_bytes = strlen(text),
                                .is_generated = lines != NULL,
                                .lines = lines,
                                .line_count = line_count};
    return check_script(heap, &script, &sink, output);
}

TEST(lines_are_those_of_the_source)
{
    static const uint32_t lines[] = {10, 20, 0, 40};
    Heap heap = heap_make(HEAP_MAX);
    CheckList list;
    CheckOutput output;
    CHECK_OK(check_list_create(&heap, 8, &list));
    CHECK_OK(check_text(&heap, "local World = 1\nprint(nothing)\nrequire(\"a\")\nrequire(\"b\")\n",
                        lines, 4, &list, &output));
    CHECK_INT(list.count, 1); // a name that nobody chose is not told
    CHECK_TEXT(list.items[0].code, "undefined-global");
    CHECK_TEXT(list.items[0].file, "Workspace/Door.ts");
    CHECK_INT(list.items[0].line, 20);
    CHECK_INT(output.require_count, 2);
    CHECK_INT(output.require_lines[0], 20); // a line from nowhere belongs to the one before
    CHECK_INT(output.require_lines[1], 40);
    CHECK(output.asks_modules && !output.asks_world);
    check_output_free(&heap, &output);
    CHECK_INT(check_text(&heap, "\nlocal = 1\n", lines, 4, &list, &output), STATUS_MALFORMED);
    CHECK(output.rune == NULL);
    CHECK_INT(list.count, 2); // errors of a line come first
    CHECK_INT(list.items[0].line, 20);
    CHECK_TEXT(list.items[0].message, "Lua does not take what was made of this (<name> expected "
                                      "near '='); write it in a plainer way");
    check_list_destroy(&heap, &list);
    CHECK_INT(heap.bytes_now, 0);
}

// What nobody but Lua's authors can read is explained; what a creator wrote as Lua stays as Lua
// says it, what was made of another language does not.
TEST(what_lua_says_is_explained)
{
    for (uint32_t is_made = 0; is_made < 2; is_made++) {
        char text[CHECK_MESSAGE_BYTES];
        check_refusal_explain("C stack overflow", is_made != 0, text);
        CHECK(strstr(text, "nested too deeply") != NULL);
        check_refusal_explain(
            "too many local variables (limit is 200) in function at line 9 near '='", is_made != 0,
            text);
        CHECK(strstr(text, "at most 200 variables") != NULL);
        check_refusal_explain("unexpected symbol near '%d'", is_made != 0, text);
        CHECK_TEXT(text, is_made == 0
                             ? "unexpected symbol near '%d'"
                             : "Lua does not take what was made of this (unexpected symbol near "
                               "'%d'); write it in a plainer way");
    }
}

TEST(too_little_memory_is_said_and_nothing_is_kept)
{
    static const uint8_t text[] = "print(nothing)\n";
    const PlaceFile files[] = {{"Workspace/a.lua", text, sizeof text - 1},
                               {"place.json", (const uint8_t *)"{}", 2}};
    uint8_t answer[4096];
    Status status = STATUS_LIMIT;
    uint64_t bytes = 0;
    for (; status != STATUS_OK && bytes < HEAP_MAX; bytes += bytes < 2000000 ? 100000 : 2000000) {
        Heap heap = heap_make(bytes);
        ByteWriter writer = byte_writer(answer, sizeof answer);
        status = check_place_json(&heap, files, 2, "Workspace/a.lua", &writer);
        CHECK(status == STATUS_OK || status == STATUS_LIMIT);
        CHECK_INT(heap.bytes_now, 0);
    }
    CHECK_OK(status);
    CHECK(bytes > 16u << 20); // a world's Lua
    Heap heap = heap_make(HEAP_MAX);
    ByteWriter small = byte_writer(answer, 100);
    CHECK_INT(check_place_json(&heap, files, 2, "Workspace/a.lua", &small), STATUS_LIMIT);
    CHECK_INT(check_place_json(&heap, files, 2, "Workspace/b.lua", &small), STATUS_NOT_FOUND);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(a_full_list_counts_what_it_drops)
{
    Heap heap = heap_make(HEAP_MAX);
    CheckList list;
    CheckOutput output;
    CHECK_OK(check_list_create(&heap, 2, &list));
    CHECK_OK(
        check_text(&heap, "print(c)\nprint(a)\nprint(b)\nprint(d)\n", NULL, 0, &list, &output));
    CHECK_INT(list.count, 2);
    CHECK_INT(list.dropped_count, 2);
    CHECK_INT(list.warning_count, 4);
    CHECK_INT(list.error_count, 0);
    CHECK_INT(list.items[0].line, 1);
    check_output_free(&heap, &output);
    check_list_destroy(&heap, &list);
}

// The Lua that was made of a plain soul is checked as the soul's.
TEST(what_was_made_of_a_soul_is_the_souls)
{
    static const uint8_t text[] = "print(nothing)\nlocal World = 2\n";
    const PlaceFile files[] = {{"Workspace/a.soul.lua", text, sizeof text - 1},
                               {"Workspace/a.soul", NULL, 0}};
    static const char wanted[] =
        "\"diagnostics\":[{\"level\":\"warning\",\"file\":\"Workspace/a.soul\",\"line\":1,";
    Heap heap = heap_make(HEAP_MAX);
    char answer[4096] = "";
    for (uint32_t count = 1; count < 3; count++) {
        ByteWriter writer = byte_writer((uint8_t *)answer, sizeof answer - 1);
        const Status status = check_place_json(&heap, files, count, files[0].path, &writer);
        CHECK_INT(status, count == 1 ? STATUS_UNSUPPORTED : STATUS_OK);
    }
    CHECK(strstr(answer, wanted) != NULL);
    CHECK(strstr(answer, "shadowed") == NULL);
    CHECK_INT(heap.bytes_now, 0);
}

// The Studio plays a place with the library of TypeScript among its files.
TEST(the_library_of_typescript_has_no_lints_of_texts)
{
    static const char text[] = "local trimmed = \"\xef\xbb\xbf\"\nreturn {trimmed}\n";
    static const char *const paths[] = {SCRIPT_TYPESCRIPT_LIBRARY ".lua",
                                        "ReplicatedStorage/Other.lua"};
    for (uint32_t i = 0; i < 2; i++) {
        const PlaceFile files[] = {
            {paths[i], (const uint8_t *)text, sizeof text - 1},
            {"place.json", (const uint8_t *)"{\"format\": 1, \"name\": \"A\"}", 26}};
        uint8_t json[4096];
        ByteWriter writer = byte_writer(json, sizeof json - 1);
        Heap heap = heap_make(HEAP_MAX);
        CHECK_OK(check_place_json(&heap, files, 2, paths[i], &writer));
        json[writer.at] = '\0';
        const bool is_told = strstr((const char *)json, "invisible-character") != NULL;
        CHECK(is_told == (i == 1));
    }
}

// Each form of Luau that Lua rejects, and Lua that only looks like it.
TEST(forms_of_luau_are_named_at_their_line)
{
    static const struct {
        const char *text;
        uint32_t line;
        const char *part;
    } cases[] = {
        {"local n = 1\nn += 1\n", 2, "write count = count + 1"},
        {"n ..= 'a'\n", 1, "write count = count + 1"},
        {"n //= 2\n", 1, "write count = count + 1"},
        {"for i = 1, 2 do\n  continue\n\nend\n", 2, "continue is Luau"},
        {"for i = 1, 2 do if i then continue end end\n", 1, "continue is Luau"},
        {"print(`a {1}`)\n", 1, "backticks"},
        {"local a, b: number = 1, 2\n", 1, "types are Luau"},
        {"for i: number = 1, 2 do end\n", 1, "types are Luau"},
        {"function f(a: string) end\n", 1, "types are Luau"},
        {"local f = function(a)\n  : number return 1 end\n", 2, "types are Luau"},
        {"function f<T>(a) end\n", 1, "types are Luau"},
        {"export type A = number\n", 1, "types are Luau"},
        {"type A<T> = {T}\n", 1, "types are Luau"},
        {"local a = (b :: number)\n", 1, "types are Luau"},
        {"return if a then 1 else 2\n", 1, "if inside an expression"},
        {"print(1, if a then 1 else 2)\n", 1, "if inside an expression"},
        {"if a = 1 then end\n", 1, "write == to compare"},
        {"local a = b != 1\n", 1, "write ~="},
        {"local a = = 1 -- x += 1\n", 1, "unexpected symbol near '='"},
        {"local s = \"x += 1\" print(s s)\n", 1, "')' expected near 's'"},
        {"--[[ continue `a` ]] local a = [==[ x += 1 ]] ]==] = 2\n", 1, "near '='"},
        {"::a:: if b then goto a end ::c:: x:y(z) = 1\n", 1, "near '='"},
    };
    Heap heap = heap_make(HEAP_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CheckList list;
        CheckOutput output;
        CHECK_OK(check_list_create(&heap, 8, &list));
        CHECK_INT(check_text(&heap, cases[i].text, NULL, 0, &list, &output), STATUS_MALFORMED);
        if (list.count != 1 || list.items[0].line != cases[i].line ||
            strstr(list.items[0].message, cases[i].part) == NULL) {
            test_fail(__FILE__, __LINE__, "%s: line %u: %s", cases[i].text, list.items[0].line,
                      list.items[0].message);
        }
        check_list_destroy(&heap, &list);
    }
    CHECK_INT(heap.bytes_now, 0);
}
