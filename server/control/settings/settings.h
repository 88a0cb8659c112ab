// The settings of `sandlot up`. Each has one row in settings.def and gets its value from the first
// of these that has one:
//
//   flag          --port 80
//   environment   SANDLOT_PORT=80; then its alias, PORT=80
//   operator      <data>/operator.conf: what an operator changed while the server ran
//   file          <data>/sandlot.conf, or --config FILE: lines `port = 80`
//   default
//
// An empty value counts as none. Reading never stops at the first fault: all of them are collected,
// so that a person can mend them at once. Nothing is written, and no folder is made.
//
// Files have one setting in a line; `#` begins a comment at the start of a line or after a space.
// Items of a list are separated by commas or spaces.
#pragma once

#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SETTINGS_FILE          "sandlot.conf"
#define SETTINGS_OPERATOR_FILE "operator.conf"

typedef enum SettingId {
#define SETTING(ID, ...)       SETTING_##ID,
#define SETTING_UNUSED(...)    // no value
#define SETTING_ELSEWHERE(...) // no value
#include "server/control/settings/settings.def"
#undef SETTING
#undef SETTING_UNUSED
#undef SETTING_ELSEWHERE
    SETTING_COUNT
} SettingId;

typedef enum SettingKind {
    SETTING_KIND_ADDRESS, // a numeric IP address, or localhost
    SETTING_KIND_NUMBER,
    SETTING_KIND_FOLDER, // any path
    SETTING_KIND_NAME,   // one name of a path
    SETTING_KIND_URL,    // http or https, without a path
    SETTING_KIND_STORE,  // postgres://…, without a password
    SETTING_KIND_ORIGIN_LIST,
    SETTING_KIND_LINK,      // https, or http on this machine, with or without a path
    SETTING_KIND_LINE,      // any line of text, of low to high bytes
    SETTING_KIND_ROLE_LIST, // "creator=makers"
    SETTING_KIND_BLOBS,     // "files", or an address of S3 (blob_s3.h)
    SETTING_KIND_PROXY_LIST,
    SETTING_KIND_SECRET,
    SETTING_KIND_CHOICE,
    SETTING_KIND_SWITCH, // yes or no; its flag has no value
} SettingKind;

typedef struct SettingRow {
    SettingId id;
    const char *name;
    SettingKind kind;
    uint32_t low, high;
    const char *words;          // of a choice: "a|b"
    const char *fallback;       // the default; "": none, or computed
    const char *flag;           // NULL: not on the command line
    const char *variable;       // of the environment
    const char *variable_alias; // or NULL
    bool is_secret;
    bool is_live; // an operator may change it while the server runs
    const char *help;
} SettingRow;

const SettingRow *setting_row(SettingId id);
// By its name in a file; NULL: there is none.
const SettingRow *setting_find(const char *name);

// What settings are read from.
typedef struct SettingsSource {
    char *const *arguments; // after the command's name; ends with NULL
    char *const *variables; // "NAME=value"; ends with NULL
    // Options of the command that are no settings, for "did you mean"; ends with NULL.
    const char *const *other_flags;
} SettingsSource;

typedef struct Settings Settings;

// STATUS_LIMIT: no memory. Faults do not make it fail: ask settings_fault_count.
MUST_USE Status settings_read(const SettingsSource *source, Settings **out);
void settings_destroy(Settings *settings); // NULL is fine

// The value as text; "" for none.
const char *settings_text(const Settings *settings, SettingId id);
uint32_t settings_number(const Settings *settings, SettingId id); // 0 for none
bool settings_switch(const Settings *settings, SettingId id);
// The items of a list; ends with NULL.
const char *const *settings_list(const Settings *settings, SettingId id);
bool settings_host_is_loopback(const Settings *settings);
// The file that was read, or would have been.
const char *settings_path(const Settings *settings);

uint32_t settings_fault_count(const Settings *settings);
// One line each: what is wrong, where, and what to do. Safe for a terminal; never a secret.
void settings_print_faults(const Settings *settings, const char *command, FILE *out);
// What is not wrong, but may surprise: one line, safe for a terminal; NULL after the last.
const char *settings_note_at(Settings *settings, uint32_t index);
// Every value with where it comes from, as a file that could be read again; secrets are hidden.
void settings_print(const Settings *settings, FILE *out);
// Flags and what they mean, one paragraph, for --help.
void settings_print_help(FILE *out);

// Changes a live setting in <data>/operator.conf, for every later start; "" removes it. The caller
// applies it to the running server, and calls this on one thread at a time.
// `reason` says why not: STATUS_NOT_FOUND, STATUS_DENIED (not a live one), STATUS_MALFORMED (the
// value), or what the disk said.
#define SETTINGS_REASON_BYTES 512
MUST_USE Status settings_operator_set(const char *data, const char *name, const char *value,
                                      char reason[SETTINGS_REASON_BYTES]);
// What an operator changed: "" if nothing, or if the value is not valid any more.
void settings_operator_get(const char *data, const char *name, char *out, size_t bytes);
// Is it the address of a database server, and without a password? Everybody on the machine can read
// what a program is started with.
bool settings_check_store(const char *url, char reason[SETTINGS_REASON_BYTES]);
// The key that the setting gives; false: it gives none. A text "key:" and 64 hex digits is the key
// itself, any other is hashed.
bool settings_secret_key(const Settings *settings, uint8_t out[SHA256_BYTES]);
// Writes a secret key into the file that was read (0600): `kept`, so that everything that was
// hashed with it stays valid, or a random one if that is NULL. STATUS_EXISTS: there is one.
MUST_USE Status settings_new_secret_key(const Settings *settings, const uint8_t *kept,
                                        char reason[SETTINGS_REASON_BYTES]);
