// The API that scripts call, as whoever creates a ScriptSystem names it: ScriptConfig.api.
#pragma once

#include "core/script/runtime/script.h"

extern const ScriptApi script_api;
