// Text of the pages that the server writes itself.
#pragma once

#include "core/base/bytes.h"

void html_put(ByteWriter *out, const char *text); // ours, with its tags
// Anybody's: also inside an attribute.
void html_put_escaped(ByteWriter *out, const char *text);
