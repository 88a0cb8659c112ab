// What the scripts of a world cost: the table of getScriptSystemStats() (script.h) with the last
// faults, as a world process says it once a second (CHANNEL_SCRIPTS) and pages read it.
//
// To the host it is a stranger's: script_table_read is total, texts in it are printable, and its
// size is bounded, however many scripts there are.
#pragma once

#include "core/base/bytes.h"
#include "core/base/json_write.h"
#include "core/base/log.h"
#include "core/script/runtime/script.h"
#include "core/world/script/client_cost.h"

// X(field, name in JSON, what it is).
#define SCRIPT_ROW_NUMBERS(X)                                                                 \
    X(calls, "calls", "entries into the script")                                              \
    X(steps, "steps", "that they took; 500,000 are a millisecond by count")                   \
    X(time_us, "timeUs", "that they took by the clock")                                       \
    X(time_p99_us, "timeP99Us", "99 of 100 of the last two thousand took less")               \
    X(compile_us, "compileUs", "compiling and loading it")                                    \
    X(memory_bytes, "memoryBytes", "that the script holds, also in the rows of its entities") \
    X(faults, "faults", "since it was loaded")                                                \
    X(throttles, "throttles", "times that it was paused or put behind the others")            \
    X(debt_steps, "debtSteps", "how far it is over its share")                                \
    X(waiting, "waiting", "calls that wait for its share")                                    \
    X(dropped, "dropped", "calls that were dropped because too many waited")                  \
    X(ignored_writes, "ignoredWrites", "writes to the world that a client's script made")     \
    X(work_steps, "workSteps", "that the world took for the things it made")                  \
    X(work_skipped, "workSkipped", "times that one of them stood still in a tick")

typedef struct ScriptRow {
    char path[SCRIPT_PATH_BYTES];
    uint64_t entity; // 0 in the rows of scripts
    uint32_t state;  // ScriptState
#define ROW_FIELD(field, name, help) uint64_t field;
    SCRIPT_ROW_NUMBERS(ROW_FIELD)
#undef ROW_FIELD
} ScriptRow;

typedef struct ScriptTableFault {
    uint32_t kind; // FaultKind
    uint64_t tick, entity;
    uint32_t line;
    char path[SCRIPT_PATH_BYTES];
    char file[SCRIPT_FILE_BYTES];
    char message[SCRIPT_MESSAGE_BYTES];
} ScriptTableFault;

// X(field, name in JSON, what it is).
#define REMOTE_ROW_NUMBERS(X)                                                                      \
    X(up_count, "upCount", "messages from clients")                                                \
    X(up_bytes, "upBytes", "names and values in them")                                             \
    X(down_count, "downCount", "messages to clients, one for each that it was for")                \
    X(down_bytes, "downBytes", "names and values in them")                                         \
    X(dropped_count, "dropped", "messages that were refused, or dropped on the way")               \
    X(refused[REMOTE_REFUSED_TYPES], "refusedTypes", "of them: values that were not as declared")  \
    X(refused[REMOTE_REFUSED_RATE], "refusedRate", "of them: more often than declared or allowed") \
    X(refused[REMOTE_REFUSED_NOBODY], "refusedNobody", "of them: no script listens")               \
    X(refused[REMOTE_REFUSED_MALFORMED], "refusedMalformed", "of them: no list of values")         \
    X(refused[REMOTE_REFUSED_BUSY], "refusedBusy", "of them: too many waited")

// A line that a script printed, or that was said about one.
typedef struct ScriptTableLine {
    uint32_t level; // LogLevel
    uint64_t tick;
    char text[LOG_TEXT_BYTES]; // "Workspace/Door: …"
} ScriptTableLine;

#define SCRIPT_TABLE_FAULTS  16
#define SCRIPT_TABLE_LINES   32
#define SCRIPT_TABLE_REMOTES 20
typedef struct ScriptTable {
    uint64_t tick;                             // when it was made
    uint64_t all_count;                        // scripts that there are
    ScriptRow scripts[SCRIPT_STATS_ROWS];      // the dearest first
    ScriptRow entities[SCRIPT_STATS_ENTITIES]; // likewise
    uint32_t script_count, entity_count;       // rows
    RemoteCost remotes[SCRIPT_TABLE_REMOTES];  // the loudest first
    uint32_t remote_count;
    ScriptTableFault faults[SCRIPT_TABLE_FAULTS]; // the latest, oldest first
    uint32_t fault_count;
    uint64_t fault_total;                      // since the world began; the number of the last one
    ScriptTableLine lines[SCRIPT_TABLE_LINES]; // the latest, oldest first
    uint32_t line_count;
    uint64_t line_total; // likewise
    ClientCosts clients; // as they say
} ScriptTable;

// Most of one as bytes: texts, numbers as varints.
#define SCRIPT_TABLE_BYTES (64u << 10)

// The rows of the server's scripts; everything else stays as it is.
uint64_t script_microseconds(double ms); // 0 for what is no time
void script_table_fill(ScriptTable *table, const ScriptStats *stats, uint64_t tick);
void script_table_add_fault(ScriptTable *table, const ScriptFault *fault);
void script_table_add_line(ScriptTable *table, const LogEvent *event);

void script_table_write(const ScriptTable *table, ByteWriter *writer);
MUST_USE Status script_table_read(const uint8_t *bytes, size_t count, ScriptTable *out);
// Members of an object, of what a page shows at a glance: the dearest scripts, and the last faults.
#define SCRIPT_BRIEF_ROWS 16
void script_table_brief(const ScriptTable *table, JsonWriter *json);
// The members of an object: tick, scripts, entities, remotes, faults, lines, clients.
void script_table_json(const ScriptTable *table, JsonWriter *json);
