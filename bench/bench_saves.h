// A store for benchmarks: every save of a world is said to be durable at once.
#pragma once

#include "core/world/world.h"

void bench_answer_saves(World *world);
