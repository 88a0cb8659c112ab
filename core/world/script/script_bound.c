// Scripts of entities that a creator adds while the world runs. The scene does not say whose they
// are, so both sides are told: here the script is bound in the next scripts phase, and clients get
// SCRIPT_BOUND before they see the entity, or before the manifest if they come later.
#include "core/world/script/script_host_inside.h"

#include <string.h>

struct BoundScript {
    PlaceBinding binding; // its texts stand behind it
    bool is_bound;
    char bytes[];
};

void script_bound_destroy(ScriptHost *host)
{
    for (uint32_t i = 0; i < host->bound_count; i++) {
        heap_free(host->config.heap, host->bound[i]);
    }
}

Status script_bound_check(const ScriptHost *host, Text path)
{
    if (host->system == NULL) {
        return STATUS_OK; // this world runs no scripts
    }
    const HostScript *script = script_host_after(host, script_path_plain(path));
    const bool has_entity = script != NULL && (script->service->kind == SERVICE_WORKSPACE ||
                                               script->service->kind == SERVICE_SERVER_SCRIPT);
    return has_entity && script->byte_count > 0 ? STATUS_OK : STATUS_NOT_FOUND;
}

static void send(const ScriptHost *host, Session *session, const BoundScript *bound)
{
    const PlaceBinding *binding = &bound->binding;
    const HostScript *script = script_host_after(host, binding->script_path);
    const MessageScriptBound message = {.entity_id = binding->net_id,
                                        .script_path = binding->script_path,
                                        .parameters = binding->parameters,
                                        .enabled = binding->enabled};
    if (script != NULL && script_host_is_sent(script)) {
        session_send(host->config.sessions, session, MESSAGE_SCRIPT_BOUND, &message);
    }
}

Status script_bound_add(ScriptHost *host, const PlaceBinding *binding)
{
    const Text path = script_path_plain(binding->script_path);
    Sessions *sessions = host->config.sessions;
    if (host->system == NULL) {
        return STATUS_OK;
    }
    BoundScript *bound =
        host->bound_count < SCRIPT_BOUND_MAX
            ? heap_alloc(host->config.heap, sizeof *bound + path.bytes + binding->parameters.bytes)
            : NULL;
    if (bound == NULL) {
        return STATUS_LIMIT;
    }
    bound->binding = *binding;
    bound->binding.script_path = text_copy(bound->bytes, path);
    bound->binding.parameters = text_copy(bound->bytes + path.bytes, binding->parameters);
    host->bound[host->bound_count++] = bound;
    for (uint32_t i = 0; i < sessions->high; i++) {
        if (session_at(sessions, i)->state == SESSION_PLAYING) {
            send(host, session_at(sessions, i), bound);
        }
    }
    return STATUS_OK;
}

void script_bound_send(const ScriptHost *host, Session *session)
{
    for (uint32_t i = 0; i < host->bound_count; i++) {
        send(host, session, host->bound[i]);
    }
}

void script_bound_run(ScriptHost *host)
{
    for (uint32_t i = 0; i < host->bound_count; i++) {
        if (!host->bound[i]->is_bound) {
            host->bound[i]->is_bound = true;
            script_host_bind(host, &host->bound[i]->binding, host->bound[i]->binding.net_id, NULL);
        }
    }
}

void script_bound_again(ScriptHost *host, const char *path)
{
    for (uint32_t i = 0; i < host->bound_count; i++) {
        if (host->bound[i]->is_bound) {
            script_host_bind(host, &host->bound[i]->binding, host->bound[i]->binding.net_id, path);
        }
    }
}

void script_bound_hash(const ScriptHost *host, Hash64 *hash)
{
    for (uint32_t i = 0; i < host->bound_count; i++) {
        const BoundScript *bound = host->bound[i];
        hash_u64(hash, bound->binding.net_id << 1 | bound->is_bound);
        hash_bytes(hash, bound->bytes,
                   bound->binding.script_path.bytes + bound->binding.parameters.bytes);
    }
}
