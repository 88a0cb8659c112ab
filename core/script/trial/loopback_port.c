// A ScriptSystem as a port; apart from loopback.c so that a loopback can be used without one.
#include "core/script/trial/loopback.h"

static Status port_event(void *user, const ScriptEvent *event)
{
    return script_event(user, event);
}

static Status port_complete(void *user, uint64_t request_id, bool ok, const uint8_t *bytes,
                            size_t count)
{
    return script_complete(user, request_id, ok, bytes, count);
}

ScriptPort loopback_port(ScriptSystem *system)
{
    return (ScriptPort){.user = system, .event = port_event, .complete = port_complete};
}
