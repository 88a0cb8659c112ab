// Under which addresses other machines reach this one.
#pragma once

#include <stdint.h>

#define NETWORK_ADDRESSES_MAX 4
#define NETWORK_ADDRESS_BYTES 16 // "255.255.255.255" and a zero

// The IPv4 addresses of interfaces that are up, without loopback. Returns how many are written.
uint32_t network_addresses(char out[NETWORK_ADDRESSES_MAX][NETWORK_ADDRESS_BYTES]);
