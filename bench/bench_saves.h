// A store for benchmarks: every save of a world is reported as durable at once.
#pragma once

#include "core/world/world.h"

void bench_answer_saves(World *world);
