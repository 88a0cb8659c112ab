// See moderation.h.
#include "core/wire/moderation.h"

#include "core/base/check.h"

#include <stdint.h>
#include <string.h>

bool report_reason_is_valid(Text reason)
{
    for (const char *at = REPORT_REASONS;;) {
        const char *end = strchr(at, ' ');
        if (text_equal(reason, (Text){at, end != NULL ? (size_t)(end - at) : strlen(at)})) {
            return true;
        }
        if (end == NULL) {
            return false;
        }
        at = end + 1;
    }
}

static const char *const rule_names[CHAT_RULE_COUNT] = {
    [CHAT_FREE] = "free", [CHAT_PHRASES] = "phrases", [CHAT_OFF] = "off"};

const char *chat_rule_name(ChatRule rule)
{
    ASSERT(rule < CHAT_RULE_COUNT);
    return rule_names[rule];
}

bool chat_rule_read(Text name, ChatRule *out)
{
    for (uint32_t i = 0; i < CHAT_RULE_COUNT; i++) {
        if (text_is(name, rule_names[i])) {
            *out = (ChatRule)i;
            return true;
        }
    }
    return false;
}
