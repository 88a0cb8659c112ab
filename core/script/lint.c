#include "core/script/lint.h"

const char *lint_kind_name(LintKind kind)
{
    switch (kind) {
    case LINT_UNDEFINED_GLOBAL:
        return "undefined-global";
    case LINT_SHADOWED:
        return "shadowed";
    case LINT_WRONG_SIDE:
        return "wrong-side";
    case LINT_KIND_COUNT:
        break;
    }
    return "?";
}

void lint_function(lua_State *thread, LintSide side, LintResult *result)
{
    (void)thread;
    (void)side;
    result->finding_count = 0;
    result->require_count = 0;
    result->dropped_count = 0;
}

Status lint_map_lines(lua_State *thread, const uint32_t *lines, uint32_t count)
{
    (void)thread;
    (void)lines;
    (void)count;
    return STATUS_OK;
}
