// Sockets handed from one process to another over a SOCK_SEQPACKET pair, each with a message.
#pragma once

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

#define SOCKET_PASS_BYTES_MAX (128u << 10)

MUST_USE Status socket_pass_pair(int ends[2]); // close-on-exec, both ends
// One message, with a descriptor or without (-1). STATUS_LIMIT: the other side is behind, try again
// later; STATUS_TRUNCATED: it is gone.
MUST_USE Status socket_pass_send(int end, const void *message, size_t bytes, int descriptor);
// *descriptor is -1 when none came; the caller closes it. STATUS_NOT_FOUND: nothing there now.
MUST_USE Status socket_pass_receive(int end, void *message, size_t capacity, size_t *bytes,
                                    int *descriptor);
