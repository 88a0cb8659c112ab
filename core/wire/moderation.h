// The words of keeping order, for worlds, hosts and pages: why somebody or something is reported,
// and what may be said in a chat.
#pragma once

#include "core/base/text.h"

#include <stdbool.h>

#define REPORT_REASONS      "abuse spam sexual violence cheating privacy copyright other"
#define REPORT_REASON_BYTES 33 // of one, with its terminator

bool report_reason_is_valid(Text reason);

// What may be said, from the laxest to the strictest. These numbers are stored.
typedef enum ChatRule { CHAT_FREE, CHAT_PHRASES, CHAT_OFF, CHAT_RULE_COUNT } ChatRule;

const char *chat_rule_name(ChatRule rule); // "free", "phrases", "off"
bool chat_rule_read(Text name, ChatRule *out);
static inline ChatRule chat_rule_stricter(ChatRule a, ChatRule b)
{
    return a > b ? a : b;
}
