// Diagnostics kept in a list with a cap, sorted as a build sorts them, and written as
// `sandlot build --json` prints them.
#pragma once

#include "core/base/heap.h"
#include "core/base/json_write.h"
#include "core/base/status.h"
#include "core/script/check/check_tell.h"

#include <stdbool.h>

typedef struct CheckItem {
    CheckLevel level;
    uint32_t line, column;
    char file[CHECK_FILE_BYTES];
    char code[32];
    char message[CHECK_MESSAGE_BYTES];
} CheckItem;

typedef struct CheckList {
    CheckItem *items;
    uint32_t count, capacity;
    uint32_t error_count, warning_count; // also of those that did not fit
    uint32_t dropped_count;
} CheckList;

MUST_USE Status check_list_create(Heap *heap, uint32_t capacity, CheckList *out);
void check_list_destroy(Heap *heap, CheckList *list);
// Adds what it is told in the order of a build: by file, line, column, level, code and message.
// What is there already is not added again.
CheckSink check_list_sink(CheckList *list);
// "diagnostics", "errors" and "warnings", as members of the object that was begun.
void check_list_write(const CheckList *list, JsonWriter *json);
// One diagnostic as an object.
void check_list_write_item(const CheckItem *item, JsonWriter *json);
