// The soft push: characters do not block each other, but overlapping ones drift apart. Only the
// server decides it; clients see its effect as part of the state they are sent.
#pragma once

#include "core/base/arena.h"
#include "core/sim/sim.h"

// Scratch of one step: the characters by horizontal cell.
typedef struct PushCells PushCells;

size_t push_bytes(uint32_t character_max);
MUST_USE Status push_init(Arena *arena, uint32_t character_max, PushCells **out);

// Phase 5 of the step.
void push_step(Sim *sim);
