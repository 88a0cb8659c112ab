// With this file among its sources, a test program can act as the launcher of Node: a TypeScript
// compiler starts the test program again, and this code runs before any test.
#include "server/build/typescript/typescript_node.h"

#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void become_node(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], TYPESCRIPT_LAUNCHER) == 0) {
        exit(node_jail_main(argc - 1, argv + 1));
    }
}
