// Why something failed, in words for people: one line that names the file and the rule. Functions
// that can fail for a creator's or an operator's reason fill a buffer of this size.
#pragma once

#define WORKER_REASON_BYTES 512
