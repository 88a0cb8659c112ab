// See settings.h: the table, where values come from, and the rules between them.
#define _GNU_SOURCE
#include "server/control/settings/settings.h"

#include "core/base/check.h"
#include "core/base/nearest.h"
#include "server/control/settings/settings_inside.h"
#include "server/net/http_client.h"
#include "server/sys/program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE_PREFIX "SANDLOT_"
#define CONFIG_FLAG     "--config"

static const SettingRow rows[SETTING_COUNT] = {
#define SETTING(ID, NAME, KIND, LOW, HIGH, WORDS, FALLBACK, FLAG, VARIABLE, ALIAS, SECRET, LIVE, \
                HELP)                                                                            \
    [SETTING_##ID] = {SETTING_##ID, NAME,   SETTING_KIND_##KIND,                                 \
                      LOW,          HIGH,   WORDS,                                               \
                      FALLBACK,     FLAG,   VARIABLE,                                            \
                      ALIAS,        SECRET, LIVE,                                                \
                      HELP},
#define SETTING_UNUSED(...)
#define SETTING_ELSEWHERE(...)
#include "server/control/settings/settings.def"
#undef SETTING
#undef SETTING_UNUSED
#undef SETTING_ELSEWHERE
};

// Variables without a value of ours: {name, what is said about it, or NULL for nothing}.
static const char *const other_variables[][2] = {
#define SETTING(...)
#define SETTING_UNUSED(NAME, WHY) {NAME, WHY},
#define SETTING_ELSEWHERE(NAME)   {NAME, NULL},
#include "server/control/settings/settings.def"
#undef SETTING
#undef SETTING_UNUSED
#undef SETTING_ELSEWHERE
};
#define OTHER_VARIABLE_COUNT (sizeof other_variables / sizeof other_variables[0])

const SettingRow *setting_row(SettingId id)
{
    ASSERT((unsigned)id < SETTING_COUNT);
    return &rows[id];
}

const SettingRow *setting_find(const char *name)
{
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

// --- what is said -------------------------------------------------------------------------------

__attribute__((format(printf, 2, 0))) static void say(SettingLines *lines, const char *format,
                                                      va_list arguments)
{
    if (lines->count < SETTING_FAULTS_MAX) {
        vsnprintf(lines->lines[lines->count], SETTING_FAULT_BYTES, format, arguments);
    }
    lines->count += 1;
}

void settings_fault(Settings *settings, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(&settings->faults, format, arguments);
    va_end(arguments);
}

void settings_note(Settings *settings, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(&settings->notes, format, arguments);
    va_end(arguments);
}

// --- taking values ------------------------------------------------------------------------------

static bool is_list(const SettingRow *row)
{
    return row->kind == SETTING_KIND_ORIGIN_LIST || row->kind == SETTING_KIND_PROXY_LIST ||
           row->kind == SETTING_KIND_ROLE_LIST;
}

// A list that is given by several flags has the items of all of them.
static bool join_items(const SettingValue *value, const char *more, char out[SETTING_TEXT_BYTES])
{
    const int bytes = snprintf(out, SETTING_TEXT_BYTES, "%s, %s", value->text, more);
    return bytes > 0 && bytes < SETTING_TEXT_BYTES;
}

void settings_give(Settings *settings, const SettingRow *row, SettingFrom from, const char *origin,
                   const char *text)
{
    char kept[SETTING_TEXT_BYTES], joined[SETTING_TEXT_BYTES], why[SETTINGS_REASON_BYTES] = "";
    SettingValue *value = &settings->values[row->id];
    if (text[0] == '\0') {
        return;
    }
    if (is_list(row) && from == FROM_FLAG && value->from == FROM_FLAG) {
        if (!join_items(value, text, joined)) {
            settings_fault(settings, "%s: the list is too long", origin);
            return;
        }
        text = joined;
    }
    if (!setting_check(row, text, kept, why)) { // also one that does not count: it is wrong
        settings_fault(settings, "%s: %s: %s", origin, row->name, why);
        return;
    }
    if (from >= value->from) {
        value->from = from;
        snprintf(value->origin, sizeof value->origin, "%s", origin);
        memcpy(value->text, kept, sizeof value->text);
        (void)setting_split(value); // it was checked
    }
}

// --- flags --------------------------------------------------------------------------------------

static const SettingRow *row_of_flag(const char *flag)
{
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (rows[i].flag != NULL && strcmp(rows[i].flag, flag) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static void say_unknown_flag(Settings *settings, const SettingsSource *source, const char *flag)
{
    if (strcmp(flag, "--secret-key") == 0) {
        settings_fault(settings, "--secret-key: everybody on this machine could read it; set the "
                                 "variable SECRET_KEY, or run `sandlot up --new-secret-key`");
        return;
    }
    if (flag[0] != '-') {
        settings_fault(settings,
                       "%.100s: not an option; the places are in the folder of --places, "
                       "and `sandlot world DIR` runs a single one",
                       flag);
        return;
    }
    const char *equals = strchr(flag, '=');
    if (equals != NULL) {
        settings_fault(settings, "%.100s: write the value after a space: %.*s VALUE", flag,
                       (int)(equals - flag < 100 ? equals - flag : 100), flag);
        return;
    }
    Nearest nearest = nearest_begin(flag, strlen(flag));
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (rows[i].flag != NULL) {
            (void)nearest_consider(&nearest, rows[i].flag, strlen(rows[i].flag));
        }
    }
    for (const char *const *at = source->other_flags; at != NULL && *at != NULL; at++) {
        (void)nearest_consider(&nearest, *at, strlen(*at));
    }
    settings_fault(settings, "unknown option %.100s%s%s%s", flag,
                   nearest.found != NULL ? "; did you mean " : "",
                   nearest.found != NULL ? nearest.found : "", nearest.found != NULL ? "?" : "");
}

// The value after a flag; NULL: there is none, and that is said.
static const char *flag_value(Settings *settings, char *const *at)
{
    if (at[1] == NULL || strncmp(at[1], "--", 2) == 0) {
        settings_fault(settings, "%s: its value is missing", at[0]);
        return NULL;
    }
    return at[1];
}

static void read_flags(Settings *settings, const SettingsSource *source, const char **config)
{
    for (char *const *at = source->arguments; at != NULL && *at != NULL; at++) {
        char origin[SETTING_ORIGIN_BYTES];
        const SettingRow *row = row_of_flag(*at);
        const bool is_config = strcmp(*at, CONFIG_FLAG) == 0;
        if (row == NULL && !is_config) {
            say_unknown_flag(settings, source, *at);
            // What follows is probably its value.
            at += at[0][0] == '-' && at[1] != NULL && at[1][0] != '-' ? 1 : 0;
            continue;
        }
        snprintf(origin, sizeof origin, "flag %s", *at);
        if (row != NULL && row->kind == SETTING_KIND_SWITCH) {
            settings_give(settings, row, FROM_FLAG, origin, "yes");
            continue;
        }
        const char *value = flag_value(settings, at);
        if (value == NULL) {
            continue;
        }
        at += 1;
        if (is_config) {
            *config = value;
        } else {
            settings_give(settings, row, FROM_FLAG, origin, value);
        }
    }
}

// --- the environment ----------------------------------------------------------------------------

static void say_unknown_variable(Settings *settings, const char *name)
{
    Nearest nearest = nearest_begin(name, strlen(name));
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        (void)nearest_consider(&nearest, rows[i].variable, strlen(rows[i].variable));
    }
    settings_fault(settings, "environment %.100s: there is no such setting%s%s%s", name,
                   nearest.found != NULL ? "; did you mean " : "",
                   nearest.found != NULL ? nearest.found : "", nearest.found != NULL ? "?" : "");
}

static bool is_other_variable(Settings *settings, const char *name)
{
    for (size_t i = 0; i < OTHER_VARIABLE_COUNT; i++) {
        if (strcmp(other_variables[i][0], name) == 0) {
            if (other_variables[i][1] != NULL) {
                settings_note(settings, "environment %s is not used: %s", name,
                              other_variables[i][1]);
            }
            return true;
        }
    }
    return false;
}

static void read_variable(Settings *settings, const char *name, const char *value)
{
    char origin[SETTING_ORIGIN_BYTES];
    if (is_other_variable(settings, name)) {
        return;
    }
    snprintf(origin, sizeof origin, "environment %s", name);
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(rows[i].variable, name) == 0) {
            settings_give(settings, &rows[i], FROM_VARIABLE, origin, value);
            return;
        }
        if (rows[i].variable_alias != NULL && strcmp(rows[i].variable_alias, name) == 0) {
            settings_give(settings, &rows[i], FROM_ALIAS, origin, value);
            return;
        }
    }
    if (strncmp(name, VARIABLE_PREFIX, strlen(VARIABLE_PREFIX)) == 0) {
        say_unknown_variable(settings, name);
    }
}

static void read_variables(Settings *settings, const SettingsSource *source)
{
    for (char *const *at = source->variables; at != NULL && *at != NULL; at++) {
        char name[128];
        const char *equals = strchr(*at, '=');
        if (equals != NULL && (size_t)(equals - *at) < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)(equals - *at), *at);
            read_variable(settings, name, equals + 1);
        }
    }
}

static const char *variable(const SettingsSource *source, const char *name)
{
    const size_t bytes = strlen(name);
    for (char *const *at = source->variables; at != NULL && *at != NULL; at++) {
        if (strncmp(*at, name, bytes) == 0 && (*at)[bytes] == '=' && (*at)[bytes + 1] != '\0') {
            return *at + bytes + 1;
        }
    }
    return NULL;
}

// --- defaults -----------------------------------------------------------------------------------

// The folder of the XDG Base Directory Specification; a relative one is to be ignored.
static void default_data(const SettingsSource *source, char out[SETTING_TEXT_BYTES])
{
    const char *data = variable(source, "XDG_DATA_HOME"), *home = variable(source, "HOME");
    out[0] = '\0';
    if (data != NULL && data[0] == '/') {
        snprintf(out, SETTING_TEXT_BYTES, "%s/sandlot", data);
    } else if (home != NULL && home[0] == '/') {
        snprintf(out, SETTING_TEXT_BYTES, "%s/.local/share/sandlot", home);
    }
}

static void give_default(Settings *settings, const SettingsSource *source, SettingId id)
{
    char found[PROGRAM_PATH_BYTES] = "", data[SETTING_TEXT_BYTES];
    const char *text = rows[id].fallback;
    if (id == SETTING_DATA) {
        default_data(source, data);
        text = data;
    } else if (id == SETTING_PLACES &&
               program_folder("places", "share/sandlot/places", "island/place.json", found)) {
        text = found;
    } else if (id == SETTING_WEB &&
               program_folder("build/web", "share/sandlot/web", "index.html", found)) {
        text = found;
    }
    settings_give(settings, &rows[id], FROM_DEFAULT, "default", text);
}

// --- the files ----------------------------------------------------------------------------------

// The file lies in the data folder unless it is named, so only a named one can say where the data
// is.
static void read_files(Settings *settings, const char *config)
{
    char path[SETTING_TEXT_BYTES + 32];
    const SettingValue *data = &settings->values[SETTING_DATA];
    if (config != NULL) {
        snprintf(settings->path, sizeof settings->path, "%s", config);
        settings_read_file(settings, config, FROM_FILE, true);
    } else if (data->from != FROM_NOTHING) {
        snprintf(path, sizeof path, "%s/" SETTINGS_FILE, data->text);
        snprintf(settings->path, sizeof settings->path, "%.*s", SETTING_TEXT_BYTES - 1, path);
        settings_read_file(settings, path, FROM_FILE, false);
        if (data->from == FROM_FILE) {
            settings_fault(settings,
                           "%s: data: this file lies in the data folder, so it cannot "
                           "name another; use --data, SANDLOT_DATA or --config FILE",
                           data->origin);
        }
    }
    if (data->from != FROM_NOTHING) {
        snprintf(path, sizeof path, "%s/" SETTINGS_OPERATOR_FILE, data->text);
        settings_read_file(settings, path, FROM_OPERATOR, false);
    }
}

// --- the rules between them ---------------------------------------------------------------------

bool settings_host_is_loopback(const Settings *settings)
{
    HttpPeer peer;
    const char *host = settings_text(settings, SETTING_HOST);
    return http_peer_parse(host, strlen(host), &peer) && http_peer_is_loopback(&peer);
}

static void check_together(Settings *settings)
{
    const SettingValue *host = &settings->values[SETTING_HOST];
    const SettingValue *data = &settings->values[SETTING_DATA];
    if (data->from == FROM_NOTHING) {
        settings_fault(settings, "data: there is no home folder; name a folder with --data DIR");
    }
    if (host->from != FROM_NOTHING && !settings_host_is_loopback(settings) &&
        settings->values[SETTING_SECRET_KEY].from == FROM_NOTHING) {
        settings_fault(settings,
                       "%s: host: other machines reach %s, and for that the server needs a secret "
                       "key; `sandlot up %s%s%s--new-secret-key` makes one",
                       host->origin, host->text, data->from > FROM_DEFAULT ? "--data " : "",
                       data->from > FROM_DEFAULT ? data->text : "",
                       data->from > FROM_DEFAULT ? " " : "");
    }
}

static bool is_given(const Settings *settings, SettingId id)
{
    return settings->values[id].text[0] != '\0';
}

// Several hosts on one database lead players to each other.
static void check_hosts(Settings *settings)
{
    const char *host = settings_text(settings, SETTING_HOST);
    const bool is_anywhere = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    if (is_given(settings, SETTING_STORE) && is_anywhere && !is_given(settings, SETTING_HOST_URL) &&
        !is_given(settings, SETTING_PUBLIC_URL)) {
        settings_fault(settings,
                       "%s: store: other hosts on this database must know where this one is; name "
                       "it with --host-url, such as http://192.0.2.1:5000, or listen on one "
                       "address with --host",
                       settings->values[SETTING_STORE].origin);
    }
    if (is_given(settings, SETTING_HOST_URL) && !is_given(settings, SETTING_STORE)) {
        settings_fault(settings,
                       "%s: host_url is for several hosts on one database (store); where players "
                       "reach this one is public_url",
                       settings->values[SETTING_HOST_URL].origin);
    }
}

// Issuers: what belongs together is there together.
static void check_issuers(Settings *settings)
{
    const SettingValue *issuer = &settings->values[SETTING_OIDC_ISSUER];
    const bool has_oidc = is_given(settings, SETTING_OIDC_ISSUER);
    const bool has_clerk = is_given(settings, SETTING_CLERK_ISSUER);
    char scopes[SETTING_TEXT_BYTES + 2];
    snprintf(scopes, sizeof scopes, " %s ", settings->values[SETTING_OIDC_SCOPES].text);
    if (has_oidc && !is_given(settings, SETTING_OIDC_CLIENT_ID)) {
        settings_fault(settings,
                       "%s: oidc_issuer: the issuer must know this server: register it there and "
                       "set oidc_client_id",
                       issuer->origin);
    }
    if (has_oidc && !is_given(settings, SETTING_PUBLIC_URL) &&
        !settings_host_is_loopback(settings)) {
        settings_fault(settings,
                       "%s: oidc_issuer: the issuer sends people back to public_url, so set it",
                       issuer->origin);
    }
    if (has_oidc && strstr(scopes, " openid ") == NULL) {
        settings_fault(settings, "%s: oidc_scopes: openid must be one of them",
                       settings->values[SETTING_OIDC_SCOPES].origin);
    }
    if (is_given(settings, SETTING_OIDC_ROLES) != is_given(settings, SETTING_OIDC_ROLE_CLAIM)) {
        settings_fault(settings,
                       "oidc_roles and oidc_role_claim go together: which claim, and which of its "
                       "values give which role");
    }
    if (!has_oidc &&
        (is_given(settings, SETTING_OIDC_CLIENT_ID) || is_given(settings, SETTING_OIDC_ROLES))) {
        settings_fault(settings, "there are settings of an issuer, but no oidc_issuer");
    }
    if (has_clerk != is_given(settings, SETTING_CLERK_SECRET_KEY)) {
        settings_fault(settings, "clerk_issuer and clerk_secret_key (CLERK_SECRET_KEY) go "
                                 "together; one of them is missing");
    }
}

static void check_blobs(Settings *settings)
{
    const SettingValue *blobs = &settings->values[SETTING_BLOBS];
    if (strncmp(blobs->text, "s3:", 3) == 0 && (!is_given(settings, SETTING_BLOBS_KEY_ID) ||
                                                !is_given(settings, SETTING_BLOBS_SECRET_KEY))) {
        settings_fault(settings,
                       "%s: blobs: the bucket needs a key: set AWS_ACCESS_KEY_ID and "
                       "AWS_SECRET_ACCESS_KEY",
                       blobs->origin);
    }
}

Status settings_read(const SettingsSource *source, Settings **out)
{
    const char *config = NULL;
    Settings *settings = calloc(1, sizeof *settings);
    if (settings == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        give_default(settings, source, (SettingId)i);
    }
    read_flags(settings, source, &config);
    read_variables(settings, source);
    read_files(settings, config);
    check_together(settings);
    check_hosts(settings);
    check_issuers(settings);
    check_blobs(settings);
    *out = settings;
    return STATUS_OK;
}

void settings_destroy(Settings *settings)
{
    free(settings);
}

// --- asking -------------------------------------------------------------------------------------

const char *settings_text(const Settings *settings, SettingId id)
{
    ASSERT((unsigned)id < SETTING_COUNT);
    return settings->values[id].text;
}

uint32_t settings_number(const Settings *settings, SettingId id)
{
    uint32_t number = 0;
    ASSERT(setting_row(id)->kind == SETTING_KIND_NUMBER);
    (void)setting_number(settings->values[id].text, rows[id].low, rows[id].high, &number);
    return number;
}

bool settings_switch(const Settings *settings, SettingId id)
{
    ASSERT(setting_row(id)->kind == SETTING_KIND_SWITCH);
    return strcmp(settings->values[id].text, "yes") == 0;
}

const char *const *settings_list(const Settings *settings, SettingId id)
{
    ASSERT(is_list(setting_row(id)));
    return settings->values[id].items;
}

const char *settings_path(const Settings *settings)
{
    return settings->path;
}

uint32_t settings_fault_count(const Settings *settings)
{
    return settings->faults.count;
}
