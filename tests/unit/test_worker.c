// The build worker as a real process: this program is its own worker (become below), or one that
// misbehaves, by the name of the link it was started through. What a stranger's bytes, a crash, a
// stop or a lie of the worker does to a call, and that the next call works.
#define _GNU_SOURCE
#include "core/base/json_write.h"
#include "core/base/sha256.h"
#include "core/script/rune.h"
#include "server/build/worker_compile.h"
#include "server/build/worker_inside.h"
#include "server/build/worker_place.h"
#include "server/sys/jail.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LUA_DOOR "function onStart(self)\n  print(self.Name)\nend\n"

static Worker *make(void)
{
    const WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    CHECK_OK(worker_create(&config, &worker));
    return worker;
}

static Status compile(Worker *worker, const char *source, size_t bytes, CompileOutput *out,
                      DiagnosticList *list, char *reason)
{
    const CompileJob job = {.path = "Workspace/Door",
                            .file = "Workspace/Door.lua",
                            .context = CONTEXT_BOTH,
                            .source = source,
                            .source_bytes = bytes};
    return compile_call(worker, &job, out, list, reason);
}

// The next job works, whatever came before.
static void check_works(Worker *worker)
{
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    const Status status = compile(worker, LUA_DOOR, strlen(LUA_DOOR), &out, &list, reason);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s", status_name(status), reason);
    }
    CHECK_INT(list.count, 0);
    compile_output_free(&out);
    diagnostic_list_free(&list);
}

// --- a good worker ------------------------------------------------------------------------------

TEST(a_script_becomes_a_rune)
{
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(worker_pid(worker), 0);
    CHECK_OK(compile(worker, LUA_DOOR, strlen(LUA_DOOR), &out, &list, reason));
    CHECK(worker_pid(worker) > 0);
    Rune rune;
    uint8_t hash[32];
    CHECK_OK(rune_check(out.rune, out.rune_bytes, &rune));
    CHECK_TEXT(rune.path, "Workspace/Door");
    sha256_of(out.rune, out.rune_bytes, hash);
    CHECK_BYTES(out.rune_hash, hash, 32);
    CHECK_INT(list.count, 0);
    compile_output_free(&out);
    worker_destroy(worker);
}

TEST(a_syntax_error_names_its_line)
{
    Worker *worker = make();
    static const char source[] = "local a = 1\n\nif a then then end\n";
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(compile(worker, source, strlen(source), &out, &list, reason), STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_INT(list.items[0].line, 3);
    CHECK_TEXT(list.items[0].file, "Workspace/Door.lua");
    CHECK_TEXT(list.items[0].code, "syntax");
    CHECK_TEXT(list.items[0].message, "unexpected symbol near 'then'");
    CHECK_TEXT(reason, "Workspace/Door.lua does not compile");
    diagnostic_list_free(&list);
    check_works(worker);
    worker_destroy(worker);
}
