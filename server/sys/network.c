// See network.h.
#define _GNU_SOURCE
#include "server/sys/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stddef.h>

_Static_assert(NETWORK_ADDRESS_BYTES >= INET_ADDRSTRLEN, "an address fits");

uint32_t network_addresses(char out[NETWORK_ADDRESSES_MAX][NETWORK_ADDRESS_BYTES])
{
    struct ifaddrs *all = NULL;
    uint32_t count = 0;
    if (getifaddrs(&all) != 0) {
        return 0;
    }
    for (const struct ifaddrs *at = all; at != NULL && count < NETWORK_ADDRESSES_MAX;
         at = at->ifa_next) {
        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != AF_INET ||
            (at->ifa_flags & IFF_LOOPBACK) != 0 || (at->ifa_flags & IFF_UP) == 0) {
            continue;
        }
        const struct sockaddr_in *address = (const struct sockaddr_in *)(const void *)at->ifa_addr;
        count += inet_ntop(AF_INET, &address->sin_addr, out[count], NETWORK_ADDRESS_BYTES) != NULL;
    }
    freeifaddrs(all);
    return count;
}
