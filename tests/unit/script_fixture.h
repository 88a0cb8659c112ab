// A server-side world with scripts, for tests of the runtime: a flat ground, one player, and a log
// that is kept as text.
#pragma once

#include "core/script/bridge/authority.h"
#include "core/script/runtime/script.h"

typedef struct ScriptFixture {
    Heap heap;
    ChunkStore *store;
    Scene *scene;
    Sim *sim;
    Authority *authority;
    ScriptSystem *scripts;
    LogSink sink;
    char log[16384]; // lines of all scripts, "path: text\n"
    size_t log_bytes;
    ScriptFault faults[64];
    uint32_t fault_count;
} ScriptFixture;

// Changes the config before creation; NULL for none.
typedef void (*ScriptFixtureTune)(ScriptConfig *config);

// Large: keep it static. Ends the program when it cannot be made.
void script_fixture_open(ScriptFixture *fixture, ScriptFixtureTune tune);
void script_fixture_close(ScriptFixture *fixture);

CompileResult script_fixture_compile(ScriptFixture *fixture, const char *path, const char *code);
// Compiles and binds; returns the instance.
uint32_t script_fixture_add(ScriptFixture *fixture, const char *path, const char *code,
                            uint64_t entity);
// Ticks of the whole world: scripts, sim, events; collects faults.
void script_fixture_run(ScriptFixture *fixture, uint32_t ticks);
// A part of its own at a place; returns its net id.
uint64_t script_fixture_part(ScriptFixture *fixture, Vec3 position, uint32_t flags);
// Whether the log has a line that contains this text; and how many.
uint32_t script_fixture_lines(const ScriptFixture *fixture, const char *text);
