// Why something failed, for people: one line that names the file and the rule. Functions that can
// fail because of a creator's or an operator's mistake fill a buffer of this size.
#pragma once

#define WORKER_REASON_BYTES 512
