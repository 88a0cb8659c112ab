// Settings for people: faults, notes, --print-config and --help.
#include "core/base/utf8.h"
#include "server/control/settings/settings_inside.h"

#include <string.h>

static void print_lines(const SettingLines *lines, const char *command, FILE *out)
{
    for (uint32_t i = 0; i < lines->count && i < SETTING_FAULTS_MAX; i++) {
        char text[SETTING_FAULT_BYTES];
        memcpy(text, lines->lines[i], sizeof text);
        utf8_clean(text); // it repeats what was given
        fprintf(out, "%s: %s\n", command, text);
    }
    if (lines->count > SETTING_FAULTS_MAX) {
        fprintf(out, "%s: and %u more\n", command, lines->count - SETTING_FAULTS_MAX);
    }
}

void settings_print_faults(const Settings *settings, const char *command, FILE *out)
{
    print_lines(&settings->faults, command, out);
}

const char *settings_note_at(Settings *settings, uint32_t index)
{
    if (index >= settings->notes.count || index >= SETTING_FAULTS_MAX) {
        return NULL;
    }
    utf8_clean(settings->notes.lines[index]);
    return settings->notes.lines[index];
}

void settings_print(const Settings *settings, FILE *out)
{
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((SettingId)i);
        const SettingValue *value = &settings->values[i];
        const bool is_hidden = row->is_secret && value->from != FROM_NOTHING;
        char text[SETTING_TEXT_BYTES + 64], origin[SETTING_ORIGIN_BYTES];
        snprintf(text, sizeof text, "%s%s = %s", is_hidden ? "# " : "", row->name,
                 is_hidden ? "(hidden)" : value->text);
        snprintf(origin, sizeof origin, "%s%s",
                 value->from == FROM_NOTHING ? "not set" : value->origin,
                 value->from == FROM_OPERATOR ? ", by the operator" : "");
        utf8_clean(text);
        utf8_clean(origin);
        fprintf(out, "%-40s # %s\n", text, origin);
    }
}

// Breaks the text at spaces; later lines are indented like the first.
static void print_wrapped(const char *text, int indent, int width, FILE *out)
{
    while (*text != '\0') {
        size_t bytes = strlen(text);
        if (bytes > (size_t)(width - indent)) {
            bytes = (size_t)(width - indent);
            while (bytes > 0 && text[bytes] != ' ') {
                bytes -= 1;
            }
        }
        fprintf(out, "%.*s\n", (int)bytes, text);
        text += bytes;
        text += strspn(text, " ");
        if (*text != '\0') {
            fprintf(out, "%*s", indent, "");
        }
    }
}

static const char *value_name(const SettingRow *row)
{
    static const char *const names[] = {[SETTING_KIND_ADDRESS] = " ADDRESS",
                                        [SETTING_KIND_NUMBER] = " N",
                                        [SETTING_KIND_FOLDER] = " DIR",
                                        [SETTING_KIND_NAME] = " NAME",
                                        [SETTING_KIND_URL] = " URL",
                                        [SETTING_KIND_ORIGIN_LIST] = " URL",
                                        [SETTING_KIND_PROXY_LIST] = " RANGE",
                                        [SETTING_KIND_SECRET] = " TEXT",
                                        [SETTING_KIND_LINK] = " URL",
                                        [SETTING_KIND_LINE] = " TEXT",
                                        [SETTING_KIND_ROLE_LIST] = " ROLE=VALUE",
                                        [SETTING_KIND_STORE] = " URL",
                                        [SETTING_KIND_BLOBS] = " WHERE",
                                        [SETTING_KIND_CHOICE] = " WORD",
                                        [SETTING_KIND_SWITCH] = ""};
    return names[row->kind];
}

void settings_print_help(FILE *out)
{
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((SettingId)i);
        char flag[64], help[400];
        if (row->flag == NULL) {
            continue;
        }
        snprintf(flag, sizeof flag, "  %s%s", row->flag, value_name(row));
        const bool has_default = row->fallback[0] != '\0' && row->kind != SETTING_KIND_SWITCH;
        snprintf(help, sizeof help, "%s%s%s%s%s%s%s", row->help, row->words != NULL ? ": " : "",
                 row->words != NULL ? row->words : "", has_default ? " (default " : "",
                 has_default ? row->fallback : "", has_default ? ")" : "",
                 row->kind == SETTING_KIND_ORIGIN_LIST || row->kind == SETTING_KIND_PROXY_LIST ||
                         row->kind == SETTING_KIND_ROLE_LIST
                     ? "; may be repeated"
                     : "");
        fprintf(out, "%-26s ", flag);
        print_wrapped(help, 27, 88, out);
    }
}
