// What scripts cost: the client's own for the page's overlay, the local world's for the studio. See
// exports.c for how results are given back.
#include "core/base/json_member.h"
#include "core/wasm/exports_inside.h"
#include "core/world/local/local_host.h"

#define ROWS_SHOWN     12
#define ENTITIES_SHOWN SCRIPT_STATS_ENTITIES

static ScriptStats stats; // too large for a stack

static void write_rows(JsonWriter *json, const ScriptAccount *rows, uint32_t count, bool by_entity)
{
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(json);
        json_write_name(json, "path");
        json_write_text(json, rows[i].path);
        if (by_entity) {
            json_member_count(json, "entity", rows[i].entity);
        }
        json_member_count(json, "calls", rows[i].call_count);
        json_member_number(json, "ms", rows[i].exec_ms);
        json_member_count(json, "memoryBytes", rows[i].memory_bytes);
        json_member_count(json, "faults", rows[i].fault_count);
        json_member_count(json, "throttled", rows[i].throttle_count);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static uint32_t count_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void write_head(JsonWriter *json, const ScriptSystem *system)
{
    script_stats(system, &stats);
    json_write_object_begin(json);
    json_member_count(json, "scripts", stats.script_count);
    json_member_count(json, "faults", stats.fault_count);
    json_write_name(json, "rows");
    write_rows(json, stats.scripts, count_min(stats.scripts_listed, ROWS_SHOWN), false);
}

// {"scripts","faults","rows":[{"path","calls","ms","memoryBytes","faults","throttled"}]}: those
// that cost most, the dearest first. NULL: no scripts run.
EXPORT("clientCosts") const void *export_client_costs(Client *client)
{
    const ScriptSystem *system = client_scripts(client);
    if (system == NULL) {
        return NULL;
    }
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    write_head(&json, system);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}

// The same of a local world, with "entities" (rows with "entity"), and getScriptSystemStats() of
// the script-system document: "compiles", "cached", "pending", "calls", "execMs",
// "parametersFailed".
EXPORT("worldCosts") const void *export_world_costs(LocalHost *host)
{
    const ScriptSystem *system = world_scripts(local_host_world(host));
    if (system == NULL) {
        return NULL;
    }
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    write_head(&json, system);
    json_write_name(&json, "entities");
    write_rows(&json, stats.entities, count_min(stats.entities_listed, ENTITIES_SHOWN), true);
    json_member_count(&json, "compiles", stats.compile_count);
    json_member_count(&json, "cached", stats.compile_cached_count);
    json_member_count(&json, "pending", stats.pending_loads);
    json_member_count(&json, "calls", stats.call_count);
    json_member_number(&json, "execMs", stats.exec_ms);
    json_member_count(&json, "parametersFailed", stats.params_failed);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}
