// See loopback.h.
#define _GNU_SOURCE
#include "server/sys/loopback.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

bool host_is_loopback(const char *host, size_t bytes)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr address;
    if ((bytes == 9 && strncasecmp(host, "localhost", 9) == 0) ||
        (bytes == 5 && strncmp(host, "[::1]", 5) == 0)) {
        return true;
    }
    if (bytes >= sizeof text) {
        return false;
    }
    memcpy(text, host, bytes);
    text[bytes] = '\0';
    // inet_pton takes four decimal numbers and no other spelling.
    return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool url_is_loopback(const char *url)
{
    if (strncasecmp(url, "http://", 7) != 0) {
        return false;
    }
    const char *host = url + 7;
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    const size_t bytes = bracket != NULL ? (size_t)(bracket - host) + 1 : strcspn(host, ":/");
    const char end = host[bytes];
    return (end == ':' || end == '/' || end == '\0') && strpbrk(host, "@\\") == NULL &&
           host_is_loopback(host, bytes);
}
