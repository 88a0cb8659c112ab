// The cost of the jail around the compiler: from a worker's start to its first reply, and compiling
// a script of a hundred lines through its pipe, in this process with the same checks, and with only
// Lua's compiler. The program starts itself as the worker.
//   bench_worker [--json]
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/script/rune.h"
#include "server/build/ask/ask_compile.h"
#include "server/build/inside/worker_op.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STARTS   21
#define ROUNDS   9
#define COMPILES 200

// Twenty lines of an ordinary script; each time with another number in the names.
static const char piece[] =
    "local coins%d = {}\n"
    "local function reset%d(player)\n"
    "    coins%d[player] = 0\n"
    "    player.leaderstats.Coins = 0\n"
    "end\n"
    "Players.PlayerAdded:Connect(function(player)\n"
    "    reset%d(player)\n"
    "    player.Chatted:Connect(function(text)\n"
    "        if text == '/reset' then\n"
    "            reset%d(player)\n"
    "        end\n"
    "    end)\n"
    "end)\n"
    "Timer.Every(%d, function()\n"
    "    for _, player in ipairs(Players.GetPlayers()) do\n"
    "        local body = player.Character\n"
    "        if body and body.Position.Y < -10 then KillPlayer(player) end\n"
    "    end\n"
    "    Log.Info('coins', Json.Encode(coins%d))\n"
    "end)\n";

static char source[8192];

static CompileJob job(bool dry_run)
{
    return (CompileJob){.path = "ServerScriptService/Coins",
                        .file = "ServerScriptService/Coins.lua",
                        .context = CONTEXT_SERVER,
                        .source = source,
                        .source_bytes = strlen(source),
                        .dry_run = dry_run};
}

static void compile_by(Worker *worker, bool dry_run)
{
    const CompileJob what = job(dry_run);
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    ASSERT(compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                       &what, NULL, &out, NULL) == STATUS_OK);
    ASSERT(list.count == 0);
    compile_output_free(&out);
}

static double start_ms(void)
{
    const WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    ASSERT(worker_create(&config, &worker) == STATUS_OK);
    const double began = bench_seconds();
    compile_by(worker, false);
    const double taken = bench_seconds() - began;
    worker_destroy(worker);
    return taken * 1e3;
}

// The request as compile_call writes it, answered without a process between.
static void compile_here(void)
{
    const CompileJob what = job(false);
    Buffer request = buffer_of(1u << 20);
    buffer_put_block(&request, what.path, strlen(what.path));
    buffer_put_block(&request, what.file, strlen(what.file));
    buffer_put_u8(&request, CONTEXT_SERVER);
    buffer_put_u8(&request, 0);
    buffer_put_u32(&request, 0);
    buffer_put_block(&request, what.source, what.source_bytes);
    WorkerCall call;
    ASSERT(worker_answer(WORKER_COMPILE, request.data, request.bytes, &call) == STATUS_OK);
    buffer_free(&call.reply);
    buffer_free(&request);
}

static void compile_bare(void)
{
    static uint8_t rune[1 << 16];
    Heap heap = heap_make(64u << 20);
    const VmConfig config = vm_config_default();
    Vm *vm = NULL;
    size_t bytes = 0;
    ASSERT(vm_create(&heap, &config, &vm) == STATUS_OK);
    vm_push_environment(vm_main(vm));
    ASSERT(vm_compile(vm_main(vm), "Coins", source, strlen(source), 1) == STATUS_OK);
    ASSERT(rune_write(vm_main(vm), "Coins", rune, sizeof rune, &bytes) == STATUS_OK);
    vm_destroy(&heap, vm);
}

int main(int argc, char **argv)
{
    BenchReport report = {.json = argc > 1 && strcmp(argv[1], "--json") == 0};
    size_t at = 0;
    (void)mallopt(M_MMAP_THRESHOLD, 256 << 10); // as the worker has it
    for (int i = 0; i < 5; i++) {
        at += (size_t)snprintf(source + at, sizeof source - at, piece, i, i, i, i, i, 2 + i, i);
    }
    double starts[STARTS], pipe[ROUNDS], here[ROUNDS], bare[ROUNDS], ratios[ROUNDS];
    for (int i = 0; i < STARTS; i++) {
        starts[i] = start_ms();
    }
    const WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    ASSERT(worker_create(&config, &worker) == STATUS_OK);
    compile_by(worker, false);
    for (int round = 0; round < ROUNDS; round++) { // in turns, so that a busy moment hits all
        const double began = bench_seconds();
        for (int i = 0; i < COMPILES; i++) {
            compile_by(worker, false);
        }
        const double piped = bench_seconds();
        for (int i = 0; i < COMPILES; i++) {
            compile_here();
        }
        const double in_process = bench_seconds();
        for (int i = 0; i < COMPILES; i++) {
            compile_bare();
        }
        pipe[round] = (piped - began) / COMPILES;
        here[round] = (in_process - piped) / COMPILES;
        bare[round] = (bench_seconds() - in_process) / COMPILES;
        ratios[round] = pipe[round] / here[round];
    }
    double dry[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        const double began = bench_seconds();
        for (int i = 0; i < COMPILES / 10; i++) {
            compile_by(worker, true);
        }
        dry[round] = (bench_seconds() - began) / (COMPILES / 10);
    }
    worker_destroy(worker);
    bench_row(&report, "worker_start", bench_median(starts, STARTS), "ms", BENCH_NO_GOAL);
    bench_row(&report, "compile_by_worker", bench_median(pipe, ROUNDS) * 1e6, "us", BENCH_NO_GOAL);
    bench_row(&report, "compile_in_process", bench_median(here, ROUNDS) * 1e6, "us", BENCH_NO_GOAL);
    bench_row(&report, "compile_bare", bench_median(bare, ROUNDS) * 1e6, "us", BENCH_NO_GOAL);
    bench_row(&report, "compile_and_dry_run", bench_median(dry, ROUNDS) * 1e6, "us", BENCH_NO_GOAL);
    bench_row(&report, "worker_by_process", bench_median(ratios, ROUNDS), "x", BENCH_NO_GOAL);
    return 0;
}
