// Stands in until typescript.c is there: refuses everything.
#include "server/build/typescript.h"
#include <stdio.h>
TypeScriptConfig typescript_config_default(void)
{
    return (TypeScriptConfig){0};
}
Status typescript_create(const TypeScriptConfig *config, TypeScript **out)
{
    (void)config;
    (void)out;
    return STATUS_UNSUPPORTED;
}
void typescript_destroy(TypeScript *typescript)
{
    (void)typescript;
}
void typescript_watch(TypeScript *typescript, const atomic_bool *cancel)
{
    (void)typescript;
    (void)cancel;
}
Status typescript_compile(TypeScript *typescript, const SoulList *souls, const bool *wanted,
                          TypeScriptResult *out, DiagnosticList *diagnostics,
                          char reason[WORKER_REASON_BYTES])
{
    (void)typescript;
    (void)souls;
    (void)wanted;
    (void)out;
    (void)diagnostics;
    snprintf(reason, WORKER_REASON_BYTES, "not there");
    return STATUS_UNSUPPORTED;
}
void typescript_result_free(TypeScriptResult *result)
{
    (void)result;
}
const char *typescript_version(void)
{
    return "none";
}
