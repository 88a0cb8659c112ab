// What the client's own scripts cost, for the page's overlay. See exports.c for how results are
// given back.
#include "core/wasm/exports_inside.h"

#define ROWS_SHOWN 12

static ScriptStats stats; // too large for a stack

// {"scripts","faults","rows":[{"path","calls","ms","memoryBytes","faults","throttled"}]}: those
// that cost most, the dearest first. NULL: no scripts run.
EXPORT("clientCosts") const void *export_client_costs(Client *client)
{
    const ScriptSystem *system = client_scripts(client);
    if (system == NULL) {
        return NULL;
    }
    script_stats(system, &stats);
    ByteWriter writer;
    JsonWriter json = exports_begin_json(&writer);
    json_write_object_begin(&json);
    exports_write_count(&json, "scripts", stats.script_count);
    exports_write_count(&json, "faults", stats.fault_count);
    json_write_name(&json, "rows");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < stats.scripts_listed && i < ROWS_SHOWN; i++) {
        const ScriptAccount *row = &stats.scripts[i];
        json_write_object_begin(&json);
        json_write_name(&json, "path");
        json_write_text(&json, row->path);
        exports_write_count(&json, "calls", row->call_count);
        exports_write_number(&json, "ms", row->exec_ms);
        exports_write_count(&json, "memoryBytes", row->memory_bytes);
        exports_write_count(&json, "faults", row->fault_count);
        exports_write_count(&json, "throttled", row->throttle_count);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    return exports_end_json(&json, &writer);
}
