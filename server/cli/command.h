// One file per subcommand; main.c only dispatches.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exit codes of every subcommand.
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_FAULT = 3 };

// argv[0] is the subcommand's own name.
int cmd_build(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_world(int argc, char **argv);
int cmd_new(int argc, char **argv);
int cmd_bots(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_soul(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_unpack(int argc, char **argv);
int cmd_inspect(int argc, char **argv);

// "--" ends the options: it is taken away, and what comes behind it is made a path that no parser
// takes for one ("-x" is "./-x" then). Gives the new count. What is allocated stays to the end.
int command_end_options(int argc, char **argv);

// As a shell takes it for one word, and a command for no option. It can be printed as it is: what a
// terminal would not show is escaped ($'…'). `bytes`: at least 16; what is too long is cut.
void command_quote(const char *word, char *out, size_t bytes);

// A reason without the name of what was asked for, which stands before it already.
const char *command_reason(const char *reason, const char *name);

// Is `--json` among the arguments? Asked before they are parsed, so that whoever reads JSON also
// gets it when one of them is wrong.
bool command_wants_json(int argc, char **argv);
// What stands behind option i; NULL when nothing does, or the next option ("./--x" is a file of
// that name).
const char *command_value(int argc, char **argv, int i);
// On standard output, {"ok":false,"reason":…}: what --json gives when there is nothing else to say.
void command_print_failure(const char *reason);

// The end of a command that could not do its work: why, in one line on standard error, with `json`
// also as that object. Wrong usage names the help. Gives the code.
int command_fail(const char *command, bool json, int code, const char *reason);
// Wrong usage: what is wrong, and with which argument; NULL for none.
int command_misused(const char *command, bool json, const char *what, const char *which);

// What could not be printed was not said: whoever reads it must not take that for success.
int command_finish(int code);

// The end of a command that has locked itself in: what libraries do at exit (a sanitizer looks for
// leaks with another process) is not allowed any more.
_Noreturn void command_end_locked(int code);
// Locks this process in, with so much memory, before it looks at what is a stranger's. False: the
// reason says why not.
bool command_lock_in(bool allow_weak, uint64_t memory_bytes, char *reason, size_t reason_bytes);
