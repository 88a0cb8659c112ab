// Locks the calling process in for good: no files, no network, no new programs. Each layer that
// this kernel has is used; a missing one is an error unless weak jails are allowed.
//
// A terminal is made one that can be written to and not read. Then, in this order: namespaces → an
// empty file system for a root (of the sealed) → limits → groups, gid, uid, capabilities → no dump,
// no new privileges → Landlock → seccomp. A process with more than one thread cannot be locked in.
//
// There are two jails. A world and the build worker are sealed: they work on descriptors that they
// were given. A runtime is the looser one, for a process that is about to become another program
// which compiles code as it runs (Node): it may read the files and run the programs that are named,
// and have threads; still no writes, no sockets, no other programs, no other processes.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum JailLayer {
    JAIL_NAMESPACES = 1 << 0,
    JAIL_EMPTY_ROOT = 1 << 1, // no file can be named, and none is mounted; not for a runtime
    JAIL_LIMITS = 1 << 2,
    JAIL_IDENTITY = 1 << 3, // root becomes nobody; no capability is kept
    JAIL_NO_PRIVILEGES = 1 << 4,
    JAIL_LANDLOCK = 1 << 5,
    JAIL_SECCOMP = 1 << 6,
    JAIL_LAYERS_ALL = (1 << 7) - 1
} JailLayer;

typedef enum JailKind { JAIL_SEALED, JAIL_RUNTIME } JailKind;

typedef struct JailConfig {
    JailKind kind;
    // For a runtime; each list ends with NULL. Missing paths are skipped.
    const char *const *readable;   // files, and folders with all that is in them
    const char *const *executable; // files
    bool allow_weak;           // continue with the available layers, and report which are missing
    uint64_t memory_bytes_max; // address space; 0: no limit (sanitizers need all of it)
    uint32_t descriptor_max;
    uint32_t uid, gid; // of nobody, when started by root
    bool clients;      // for a process with clients: it may connect by TCP and start threads
                       // for that, and nothing more; it must resolve names before
} JailConfig;

JailConfig jail_config_default(void);
// *layers gets the active ones. On failure the process must exit: it may be half locked in. The
// reason names the layer.
MUST_USE Status jail_enter(const JailConfig *config, uint32_t *layers, char *reason, size_t bytes);
// All layers of a jail of this kind.
uint32_t jail_layers_of(JailKind kind);
// The layers that this kernel supports.
uint32_t jail_layers_here(void);
// "all layers", or "without " and the names of those that a sealed process lacks.
void jail_layers_describe(uint32_t held, char *out, size_t bytes);
const char *jail_layer_name(JailLayer layer);
