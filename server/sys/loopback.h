// Which hosts of a URL are this machine itself, and nothing else: plain http is fine to these. A
// name such as "127.evil.example" is somebody else's.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// "localhost", "[::1]", or four decimal numbers 127.a.b.c; without a port.
bool host_is_loopback(const char *host, size_t bytes);
// "http://" and such a host, and then ":", "/" or the end.
bool url_is_loopback(const char *url);
