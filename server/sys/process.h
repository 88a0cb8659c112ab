// Starting our own program again as another process with a few descriptors, and knowing when it
// ends. Nothing is inherited but those descriptors; the environment is empty (in a build with
// AddressSanitizer it holds one option for that). What it writes to its standard error comes out of
// ours, cleaned and bounded: a child may be a stranger's by then, and our terminal is for a person.
// The child dies with its parent, or rather with the thread that started it: `outlives_thread` is
// for those started from threads that come and go, and that see by themselves when their descriptor
// has nobody at its other end.
#pragma once

#include "core/base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_DESCRIPTORS_MAX 8
#define PROCESS_WORDS_MAX       (256u << 10) // of its standard error; the rest is dropped

typedef struct ProcessConfig {
    const char *program;                      // NULL: this program itself
    const char *const *arguments;             // ends with NULL; the first is the name
    int descriptors[PROCESS_DESCRIPTORS_MAX]; // become 3, 4, …
    uint32_t descriptor_count;
    bool outlives_thread;
} ProcessConfig;

typedef struct Process {
    pid_t pid;
    int pid_descriptor; // readable when it has ended
    bool is_heard;
    pthread_t listener; // to its standard error, until it ends
} Process;

MUST_USE Status process_start(const ProcessConfig *config, Process *out);
// False while it runs. *code is its exit code, or 128 + the signal.
bool process_ended(Process *process, int *code);
void process_kill(Process *process, int signal);
void process_wait(Process *process, int *code);
// How it takes turns with others on the processors, at the nice value that it has. Long ones are
// for work that is not urgent: it interrupts nobody who is awake. Short ones are for who computes
// little and has to begin in time; kernels before 6.12 do not know them and leave everything as it
// is.
typedef enum ProcessTurns { PROCESS_TURNS_LONG, PROCESS_TURNS_SHORT } ProcessTurns;
void process_set_turns(pid_t pid, ProcessTurns turns);
// Resident memory of a process; 0: unknown.
uint64_t process_resident_bytes(pid_t pid);
// For how long its first thread could have run and got no processor; 0: not known. The kernel
// counts a wait when it is over. So whoever looks again and again also hears of the one that goes
// on: `waits` begins with zeros and is kept between two looks.
typedef struct ProcessWaits {
    uint64_t ran_ns, counted_ns, ready_since_ns;
} ProcessWaits;
uint64_t process_starved_ns(ProcessWaits *waits, pid_t pid, uint64_t now_ns);
