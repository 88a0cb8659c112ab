// Finds Node and the compiler's files; the launcher enters the jail and becomes Node.
#pragma once

#include "core/base/status.h"
#include "server/build/ask/worker.h"

#define NODE_PATH_BYTES     4096        // as realpath wants it
#define TYPESCRIPT_LAUNCHER "node-jail" // sandlot node-jail …; cmd_node_jail of server/cli

typedef struct NodePaths {
    char node[NODE_PATH_BYTES];
    char compiler[NODE_PATH_BYTES]; // the folder with compiler.mjs
    char modules[NODE_PATH_BYTES];  // node_modules with the compilers
} NodePaths;

// `node` and `compiler` as in TypeScriptConfig. STATUS_NOT_FOUND: `reason` says what is missing and
// what to do.
MUST_USE Status node_find(const char *node, const char *compiler, NodePaths *out,
                          char reason[WORKER_REASON_BYTES]);

// The launcher: argv = name, "weak" or "full", megabytes of heap, node, compiler, modules.
// Descriptor 3 is the stream; 4 is a pipe that nobody writes to: when its other end is closed, this
// process is killed, whatever it is doing. Returns only if it fails, and then reports why on 3.
int node_jail_main(int argc, char **argv);
