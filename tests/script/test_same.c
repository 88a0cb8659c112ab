// test_same            compares every script's log, steps and end with the expectation compiled in
// test_same --write    prints what the expectation file (same/expected.txt) must hold
//
// The scripts call log(...). The expectation is one file for every compiler, optimisation and
// WebAssembly; what a memory fault leaves behind depends on the size of a pointer, so there only
// the end is compared.
#include "core/base/hash.h"
#include "core/script/vm/vm.h"
#include "tests/script/embedded.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES (1u << 20)
#define STEPS      20000000
#define LOG_LINES  400

extern const char same_expected[];

static char text[TEXT_BYTES];
static size_t text_bytes;
static uint32_t log_lines;
static Hash64 log_hash;

static void put(const char *bytes, size_t count)
{
    if (text_bytes + count < TEXT_BYTES) {
        memcpy(text + text_bytes, bytes, count);
        text_bytes += count;
    }
}

static void put_text(const char *bytes)
{
    put(bytes, strlen(bytes));
}

// Bytes that are not printable as \xNN, so that the file is text.
static void put_value(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            put(&bytes[i], 1);
        } else {
            char escape[8];
            (void)snprintf(escape, sizeof escape, "\\x%02x", c);
            put_text(escape);
        }
    }
}

static int script_log(lua_State *L)
{
    const int count = lua_gettop(L);
    log_lines++;
    for (int i = 1; i <= count; i++) {
        size_t bytes;
        const char *value = luaL_tolstring(L, i, &bytes);
        hash_bytes(&log_hash, value, bytes);
        if (log_lines <= LOG_LINES) {
            put_text(i == 1 ? "  " : " | ");
            put_value(value, bytes);
            put_text(bytes == 0 ? "''" : "");
        }
        lua_pop(L, 1);
    }
    if (log_lines <= LOG_LINES) {
        put_text(count == 0 ? "  (nothing)\n" : "\n");
    }
    return 0;
}

static void put_end(Vm *vm, lua_State *thread, VmOutcome outcome)
{
    static const char *const NAMES[] = {"done", "yield", "error", "budget", "memory", "dead"};
    char line[256];
    if (outcome == VM_OVER_MEMORY) {
        put_text("end: memory\n");
        return;
    }
    if (outcome == VM_ERROR) {
        (void)snprintf(line, sizeof line, "error: %s\n", lua_tostring(thread, -1));
        put_text(line);
    }
    (void)snprintf(line, sizeof line, "end: %s, %llu steps, %u lines, hash %016llx\n",
                   NAMES[outcome], (unsigned long long)vm_steps_used(vm), log_lines,
                   (unsigned long long)log_hash.state);
    put_text(line);
}

static void run(Heap *heap, const EmbeddedScript *script)
{
    Vm *vm;
    VmConfig config = vm_config_default();
    config.memory_soft_bytes = 8u << 20;
    config.memory_hard_bytes = 16u << 20;
    if (vm_create(heap, &config, &vm) != STATUS_OK) {
        printf("no memory for a Vm\n");
        exit(1);
    }
    vm_set_time(vm, 1234567890.0, 12.5);
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    lua_pushcfunction(thread, script_log);
    lua_setfield(thread, -2, "log");
    char head[96];
    (void)snprintf(head, sizeof head, "== %s\n", script->name);
    put_text(head);
    log_lines = 0;
    log_hash = HASH64_INIT;
    if (vm_compile(thread, script->name, script->text, script->bytes, -1) != STATUS_OK) {
        put_text(lua_tostring(thread, -1));
        put_text("\n");
    } else {
        lua_remove(thread, 1);
        int results;
        const VmOutcome outcome = vm_resume(vm, thread, 0, STEPS, &results);
        put_end(vm, thread, outcome);
    }
    vm_destroy(heap, vm);
}

// The line where two texts first differ, with the script it belongs to.
static void tell_difference(const char *got, const char *want)
{
    const char *script = got;
    const char *line_got = got;
    const char *line_want = want;
    while (*got != '\0' && *got == *want) {
        if (*got == '\n') {
            line_got = got + 1;
            line_want = want + 1;
            script = strncmp(line_got, "== ", 3) == 0 ? line_got : script;
        }
        got++;
        want++;
    }
    printf("%.*s: got\n%.*s\ninstead of\n%.*s\n", (int)strcspn(script, "\n"), script,
           (int)strcspn(line_got, "\n"), line_got, (int)strcspn(line_want, "\n"), line_want);
}

int main(int argc, char **argv)
{
    Heap heap = heap_make(1ull << 30);
    uint32_t count = 0;
    for (const EmbeddedScript *s = same_scripts; s->name != NULL; s++) {
        run(&heap, s);
        count++;
    }
    text[text_bytes] = '\0';
    if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        (void)fwrite(text, 1, text_bytes, stdout);
        return 0;
    }
    const bool same = strcmp(text, same_expected) == 0;
    if (!same) {
        tell_difference(text, same_expected);
    }
    printf("%u passed, %u failed\n", same ? count : 0, same ? 0 : 1);
    return !same;
}
