// With this file among its sources, a test program can act as the build worker: a worker whose
// config names no program starts the test program again, and this code runs before any test.
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void become_worker(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "build-worker") == 0) {
        exit(worker_main());
    }
}
