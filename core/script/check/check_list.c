// See check_list.h. A list is short, so it is kept in order as it grows.
#include "core/script/check/check_list.h"

#include "core/base/json_member.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

Status check_list_create(Heap *heap, uint32_t capacity, CheckList *out)
{
    CheckList list = {.capacity = capacity};
    list.items = heap_alloc(heap, heap_array_bytes(capacity, sizeof *list.items));
    if (list.items == NULL) {
        return STATUS_LIMIT;
    }
    *out = list;
    return STATUS_OK;
}

void check_list_destroy(Heap *heap, CheckList *list)
{
    heap_free(heap, list->items);
    *list = (CheckList){0};
}

static int compare(const CheckItem *one, const CheckItem *two)
{
    int order = strcmp(one->file, two->file);
    order = order != 0 ? order : (one->line > two->line) - (one->line < two->line);
    order = order != 0 ? order : (one->column > two->column) - (one->column < two->column);
    order = order != 0 ? order : (int)one->level - (int)two->level;
    order = order != 0 ? order : strcmp(one->code, two->code);
    return order != 0 ? order : strcmp(one->message, two->message);
}

static void add_item(void *user, const CheckDiagnostic *diagnostic)
{
    CheckList *list = user;
    CheckItem item = {
        .level = diagnostic->level, .line = diagnostic->line, .column = diagnostic->column};
    (void)snprintf(item.file, sizeof item.file, "%s", diagnostic->file);
    (void)snprintf(item.code, sizeof item.code, "%s", diagnostic->code);
    (void)snprintf(item.message, sizeof item.message, "%s", diagnostic->message);
    uint32_t at = list->count;
    while (at > 0 && compare(&list->items[at - 1], &item) > 0) {
        at -= 1;
    }
    if (at > 0 && compare(&list->items[at - 1], &item) == 0) {
        return;
    }
    list->error_count += item.level == CHECK_ERROR;
    list->warning_count += item.level == CHECK_WARNING;
    if (list->count == list->capacity) {
        list->dropped_count += 1;
        return;
    }
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof item);
    list->items[at] = item;
    list->count += 1;
}

CheckSink check_list_sink(CheckList *list)
{
    return (CheckSink){add_item, list};
}

// A file's name may be any bytes.
static void write_text(JsonWriter *json, const char *name, const char *text)
{
    char clean[CHECK_MESSAGE_BYTES];
    (void)snprintf(clean, sizeof clean, "%s", text);
    const size_t bytes = strlen(clean);
    for (size_t at = 0; at < bytes;) {
        const size_t length = utf8_length((const uint8_t *)clean + at, bytes - at);
        clean[at] = length == 0 ? '?' : clean[at];
        at += length == 0 ? 1 : length;
    }
    json_write_name(json, name);
    json_write_text_bytes(json, clean, bytes);
}

void check_list_write_item(const CheckItem *item, JsonWriter *json)
{
    json_write_object_begin(json);
    write_text(json, "level", item->level == CHECK_ERROR ? "error" : "warning");
    write_text(json, "file", item->file);
    json_member_count(json, "line", item->line);
    json_member_count(json, "column", item->column);
    write_text(json, "code", item->code);
    write_text(json, "message", item->message);
    json_write_object_end(json);
}

void check_list_write(const CheckList *list, JsonWriter *json)
{
    json_write_name(json, "diagnostics");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < list->count; i++) {
        check_list_write_item(&list->items[i], json);
    }
    json_write_array_end(json);
    json_member_count(json, "errors", list->error_count);
    json_member_count(json, "warnings", list->warning_count);
}
