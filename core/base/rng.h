// Seeded random numbers: PCG32 (XSH-RR 64/32). The whole state is two words and is part of the sim.
// Two draws in one expression or argument list have no order in C, and compilers differ: draw into
// locals.
#pragma once

#include <stdint.h>

typedef struct Rng {
    uint64_t state;
    uint64_t stream; // odd
} Rng;

Rng rng_make(uint64_t seed, uint64_t stream);
uint32_t rng_u32(Rng *rng);
uint64_t rng_u64(Rng *rng);
// Uniform in [0, bound), without bias; bound > 0.
uint32_t rng_below(Rng *rng, uint32_t bound);
// Uniform in [0, 1) with 24 bits.
float rng_unit(Rng *rng);
// Uniform in [low, high).
float rng_range(Rng *rng, float low, float high);
