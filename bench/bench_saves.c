// See bench_saves.h.
#include "bench/bench_saves.h"

#include "bench/bench_plain.h"

#define SAVES_MAX 256 // in one tick; a world has far fewer without an answer

void bench_answer_saves(World *world)
{
    uint32_t count = 0;
    const Command *commands = world_commands(world, &count);
    uint64_t requests[SAVES_MAX];
    uint32_t saves = 0;
    for (uint32_t i = 0; i < count && saves < SAVES_MAX; i++) {
        if (commands[i].type == COMMAND_SAVE) {
            requests[saves++] = commands[i].request;
        }
    }
    world_commands_clear(world);
    for (uint32_t i = 0; i < saves; i++) {
        const Entry entry = {.type = ENTRY_STORED, .flags = ENTRY_OK, .number = requests[i]};
        plain_require(world_enter(world, &entry), "stored");
    }
}
