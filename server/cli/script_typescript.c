// See script_typescript.h.
#include "server/cli/script_typescript.h"

#include "server/build/typescript/typescript.h"

#include <stdio.h>
#include <string.h>

// For the compiler it is a script in a service, because the service decides its side.
#define SERVER_PATH "ServerScriptService/Script"
#define CLIENT_PATH "StarterGui/Script"

static Status translate(const ScriptTypeScript *script, TypeScriptResult *made,
                        DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES])
{
    const bool is_server = script->side == SCRIPT_SERVER;
    const PlaceFile file = {.path = is_server ? SERVER_PATH ".ts" : CLIENT_PATH ".ts",
                            .data = (const uint8_t *)script->source,
                            .bytes = script->bytes};
    Soul soul = {.file = &file,
                 .language = SOUL_TYPESCRIPT,
                 .service = is_server ? SERVICE_SERVER_SCRIPT : SERVICE_STARTER_GUI,
                 .context = is_server ? CONTEXT_SERVER : CONTEXT_CLIENT,
                 .replicate = !is_server};
    snprintf(soul.path, sizeof soul.path, "%s", is_server ? SERVER_PATH : CLIENT_PATH);
    const SoulList souls = {.items = &soul, .count = 1};
    TypeScriptConfig config = typescript_config_default();
    config.allow_weak_jail = script->allow_weak_jail;
    TypeScript *typescript = NULL;
    Status status = typescript_create(&config, &typescript);
    if (status == STATUS_OK) {
        status = typescript_compile(typescript, &souls, NULL, made, diagnostics, reason);
    }
    typescript_destroy(typescript);
    return status;
}

static Status compile(const ScriptTypeScript *script, const TypeScriptOutput *output,
                      Worker *worker, ScriptRunes *out, DiagnosticList *diagnostics,
                      char reason[WORKER_REASON_BYTES])
{
    const bool is_library = strcmp(output->path, TYPESCRIPT_LIBRARY) == 0;
    const char *path = is_library ? output->path : script->name;
    const CompileJob job = {.path = path,
                            .file = is_library ? path : script->file,
                            .context = is_library                      ? CONTEXT_BOTH
                                       : script->side == SCRIPT_SERVER ? CONTEXT_SERVER
                                                                       : CONTEXT_CLIENT,
                            .source = output->lua,
                            .source_bytes = output->lua_bytes,
                            .is_generated = true,
                            .lines = output->line_count > 0 ? output->lines : NULL,
                            .line_count = output->line_count};
    if (out->count == sizeof out->items / sizeof out->items[0]) {
        snprintf(reason, WORKER_REASON_BYTES, "the compiler returned more files than expected");
        return STATUS_BLOCKED;
    }
    const BuildContext context = {.worker = worker, .diagnostics = diagnostics, .reason = reason};
    const Status status = compile_ask(&context, &job, NULL, &out->items[out->count], NULL);
    snprintf(out->paths[out->count++], SCRIPT_PATH_BYTES, "%s", path);
    return status;
}

Status script_typescript_make(const ScriptTypeScript *script, ScriptRunes *out,
                              DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES])
{
    TypeScriptResult made = {0};
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = script->allow_weak_jail;
    Worker *worker = NULL;
    *out = (ScriptRunes){0};
    reason[0] = '\0';
    Status status = translate(script, &made, diagnostics, reason);
    if (status == STATUS_OK) {
        status = worker_create(&config, &worker);
    }
    for (uint32_t i = 0; i < made.count && status == STATUS_OK; i++) {
        status = compile(script, &made.items[i], worker, out, diagnostics, reason);
    }
    for (uint32_t i = 0; i < diagnostics->count; i++) {
        Diagnostic *item = &diagnostics->items[i];
        snprintf(item->file, sizeof item->file, "%s", script->file);
    }
    worker_destroy(worker);
    typescript_result_free(&made);
    if (status != STATUS_OK && reason[0] == '\0') {
        snprintf(reason, WORKER_REASON_BYTES, "%s", status_text(status));
    }
    return status;
}

Status script_runes_load(const ScriptRunes *runes, ScriptSystem *system)
{
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < runes->count && status == STATUS_OK; i++) {
        const CompileOutput *made = &runes->items[i];
        status = script_load_rune(system, runes->paths[i], made->rune, made->rune_bytes);
    }
    return status;
}
