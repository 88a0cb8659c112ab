// Randomness of the system, for secrets, ids and seeds.
#pragma once

#include <stddef.h>
#include <stdint.h>

void entropy_fill(void *out, size_t bytes);
uint64_t entropy_u64(void);
