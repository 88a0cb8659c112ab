// The inside of settings, for the files settings*.c alone.
#pragma once

#include "server/control/settings/settings.h"

#include <stddef.h>

#define SETTING_TEXT_BYTES   4096
#define SETTING_ORIGIN_BYTES 512
#define SETTING_ITEMS_MAX    16
#define SETTING_FAULTS_MAX   64
#define SETTING_FAULT_BYTES  768

// In the order in which they count.
typedef enum SettingFrom {
    FROM_NOTHING,
    FROM_DEFAULT,
    FROM_FILE,
    FROM_OPERATOR,
    FROM_ALIAS,
    FROM_VARIABLE,
    FROM_FLAG,
} SettingFrom;

typedef struct SettingValue {
    SettingFrom from;
    char origin[SETTING_ORIGIN_BYTES]; // "flag --port", "sandlot.conf:3"
    char text[SETTING_TEXT_BYTES];
    char split[SETTING_TEXT_BYTES]; // of a list: its items
    const char *items[SETTING_ITEMS_MAX + 1];
} SettingValue;

typedef struct SettingLines {
    char lines[SETTING_FAULTS_MAX][SETTING_FAULT_BYTES];
    uint32_t count; // also of those that did not fit
} SettingLines;

struct Settings {
    SettingValue values[SETTING_COUNT];
    char path[SETTING_TEXT_BYTES]; // of the file
    SettingLines faults, notes;
};

void settings_fault(Settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void settings_note(Settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// --- settings_value.c ---------------------------------------------------------------------------
// Checks a value and writes it as it is kept ("localhost" is an address). False: `why` says what is
// wrong, without the value of a secret.
bool setting_check(const SettingRow *row, const char *given, char out[SETTING_TEXT_BYTES],
                   char why[SETTINGS_REASON_BYTES]);
// The items of a list; false: too many.
bool setting_split(SettingValue *value);
bool setting_number(const char *text, uint32_t low, uint32_t high, uint32_t *out);

// --- settings.c ---------------------------------------------------------------------------------
// Takes a value, unless what is there counts more. Faults name the origin.
void settings_give(Settings *settings, const SettingRow *row, SettingFrom from, const char *origin,
                   const char *text);

// --- settings_file.c ----------------------------------------------------------------------------
// Reads a file; one that is not there is a fault only if it `must_exist`.
void settings_read_file(Settings *settings, const char *path, SettingFrom from, bool must_exist);
