// One file per subcommand; main.c only dispatches.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Exit codes of every subcommand.
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_FAULT = 3 };

// argv[0] is the subcommand's own name.
int cmd_build(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_up(int argc, char **argv);
int cmd_control(int argc, char **argv);
int cmd_up_host(int argc, char **argv); // `sandlot host` on a database, without folders of places
int cmd_dev(int argc, char **argv);
int cmd_world(int argc, char **argv);
int cmd_host(int argc, char **argv);
int cmd_login(int argc, char **argv);
int cmd_publish(int argc, char **argv);
int cmd_spell(int argc, char **argv);
int cmd_place(int argc, char **argv);
int cmd_reports(int argc, char **argv);
int cmd_moderate(int argc, char **argv);
int cmd_worlds(int argc, char **argv);
int cmd_drain(int argc, char **argv);
int cmd_logs(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_user(int argc, char **argv);
int cmd_invite(int argc, char **argv);
int cmd_new(int argc, char **argv);
int cmd_bots(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_soul(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_unpack(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_backup(int argc, char **argv);
int cmd_store(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_export_cdn(int argc, char **argv);

// "--" ends the options: it is removed, and each argument after it that starts with a dash becomes
// a path ("-x" becomes "./-x"), so that it is not parsed as an option. Returns the new count. The
// allocated memory is never freed.
int command_end_options(int argc, char **argv);

// Quotes a word so that a shell reads it as one word and no command reads it as an option. The
// result can be printed: characters that a terminal would not show are escaped ($'…'). `bytes` must
// be at least 16; a word that is too long is cut off.
void command_quote(const char *word, char *out, size_t bytes);

// From now on SIGINT, SIGTERM and SIGHUP call this.
void command_on_signals(void (*handler)(int));
// A handler for them which only notes that the command is to end soon.
extern atomic_bool command_cancelled;
void command_cancel(int signal);
bool command_is_cancelled(void);
// For a table: a text, or a dash if it is empty.
const char *command_or_dash(const char *text);

// The reason without the leading "name: ", for messages that print the name themselves.
const char *command_reason(const char *reason, const char *name);

// Is `--json` among the arguments? This is checked before they are parsed, so that an invalid
// argument is also reported as JSON.
bool command_wants_json(int argc, char **argv);
// The value after option i; NULL if there is none, or if another option follows ("./--x" is a file
// of that name).
const char *command_value(int argc, char **argv, int i);
// A decimal number within these bounds; false for anything else, NULL included.
bool command_parse_u64(const char *text, uint64_t low, uint64_t high, uint64_t *out);
bool command_parse_u32(const char *text, uint32_t low, uint32_t high, uint32_t *out);
// The page that was built with this program, or of --web DIR, from any working directory: *web is
// the folder, or NULL for none. False: --web names none, which is said.
#define COMMAND_PAGE_BYTES 4096
bool command_find_page(const char *command, const char **web, char found[COMMAND_PAGE_BYTES]);
// Prints {"ok":false,"reason":…} on standard output: the result of --json if there is no other.
void command_print_failure(const char *reason);

// Reports why a command failed: one line on standard error and, with `json`, also that object. For
// EXIT_USAGE the line names the help. Returns the code.
int command_fail(const char *command, bool json, int code, const char *reason);
// Invalid arguments: what is wrong, and with which argument (NULL for none).
int command_misused(const char *command, bool json, const char *what, const char *which);

// Prints what --help prints.
typedef void (*CommandUsage)(FILE *out);
#define COMMAND_OPTION_BYTES 32
// The option of the usage text that is nearest to what was given (itself, if it is one), or "".
void command_nearest_option(const char *given, CommandUsage usage, char out[COMMAND_OPTION_BYTES]);
// command_misused for an unknown option, with the one that was perhaps meant.
int command_unknown_option(const char *command, bool json, const char *given, CommandUsage usage);
// The same without printing: "unknown option --prot; did you mean --port?", or, for an existing
// option, that its value is missing or invalid.
void command_option_error(const char *given, CommandUsage usage, char *out, size_t bytes);

// Returns a failure code if the output could not be written, so that the caller sees no success.
int command_finish(int code);

// Ends a process that has entered its jail, without the exit handlers of libraries: the jail
// forbids what they do (a sanitizer starts another process to look for leaks).
_Noreturn void command_end_locked(int code);
// Enters the jail with a memory limit, before the process reads a stranger's bytes. If it returns
// false, `reason` says why.
bool command_lock_in(bool allow_weak, uint64_t memory_bytes, char *reason, size_t reason_bytes);
