// The settings of `sandlot up`. Most tests go through every row of settings.def, so that a new row
// is tested without a new test.
#define _GNU_SOURCE
#include "server/control/settings/settings.h"
#include "server/sys/fetch.h"
#include "server/sys/file.h"
#include "server/sys/loopback.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbb"

// --- reading ------------------------------------------------------------------------------------

static TestFolder folder;

static void write_file(const char *name, const char *text)
{
    test_folder_write(&folder, name, text);
}

// Settings of these arguments and variables, with `folder` as the data folder.
static Settings *settings_of(const char *const *arguments, const char *const *variables)
{
    static const char *const other[] = {"--check-config", NULL};
    char data[sizeof folder.path + 32], *all[16] = {0};
    uint32_t count = 0;
    snprintf(data, sizeof data, "SANDLOT_DATA=%s", folder.path);
    all[count++] = data;
    for (; variables != NULL && *variables != NULL; variables++) {
        all[count++] = (char *)(uintptr_t)*variables;
    }
    const SettingsSource source = {
        .arguments = (char *const *)(uintptr_t)arguments, .variables = all, .other_flags = other};
    Settings *settings = NULL;
    CHECK_OK(settings_read(&source, &settings));
    return settings;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static char printed[1 << 16];

static const char *print_with(Settings *settings, bool faults)
{
    printed[0] = '\0';
    FILE *file = fmemopen(printed, sizeof printed, "w");
    if (faults) {
        settings_print_faults(settings, "up", file);
    } else {
        settings_print(settings, file);
        for (uint32_t i = 0; settings_note_at(settings, i) != NULL; i++) {
            fprintf(file, "# note: %s\n", settings_note_at(settings, i));
        }
    }
    fclose(file);
    return printed;
}

static const char *faults_of(Settings *settings)
{
    return print_with(settings, true);
}

// Two values of a setting that are valid and are kept as they are given.
static void two_values(const SettingRow *row, char out[2][128])
{
    static const char *const values[][2] = {
        [SETTING_KIND_ADDRESS] = {"127.0.0.2", "::1"},
        [SETTING_KIND_FOLDER] = {"/tmp/a", "/tmp/b"},
        [SETTING_KIND_NAME] = {"one", "two"},
        [SETTING_KIND_URL] = {"https://a.example", "http://b.example:8080"},
        [SETTING_KIND_STORE] = {"postgres://a.example/x", "postgresql://sandlot@b.example/y"},
        [SETTING_KIND_ORIGIN_LIST] = {"https://a.example", "https://b.example"},
        [SETTING_KIND_PROXY_LIST] = {"10.0.0.0/8", "192.0.2.1"},
        [SETTING_KIND_SECRET] = {KEY_A, KEY_B},
        [SETTING_KIND_LINK] = {"https://a.example/club", "http://127.0.0.1:8080"},
        [SETTING_KIND_LINE] = {"openid one", "openid two"},
        [SETTING_KIND_ROLE_LIST] = {"creator=makers", "operator=chiefs"},
        [SETTING_KIND_BLOBS] = {"files", "s3://club/blobs?endpoint=http://127.0.0.1:9000"},
        [SETTING_KIND_SWITCH] = {"no", "yes"}};
    if (row->kind == SETTING_KIND_NUMBER) {
        snprintf(out[0], 128, "%u", row->low);
        snprintf(out[1], 128, "%u", row->high);
    } else if (row->kind == SETTING_KIND_CHOICE) {
        const size_t first = strcspn(row->words, "|");
        snprintf(out[0], 128, "%.*s", (int)first, row->words);
        snprintf(out[1], 128, "%s", strrchr(row->words, '|') + 1);
    } else {
        snprintf(out[0], 128, "%s", values[row->kind][0]);
        snprintf(out[1], 128, "%s", values[row->kind][1]);
    }
}

// --- the table ----------------------------------------------------------------------------------

// Names follow from each other, so that a person who knows one knows the others.
TEST(every_row_has_one_name_in_three_forms)
{
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((SettingId)i);
        char variable[64] = "SANDLOT_";
        for (size_t k = 0; row->name[k] != '\0'; k++) {
            CHECK(islower(row->name[k]) || row->name[k] == '_');
            variable[8 + k] = (char)toupper(row->name[k]);
        }
        CHECK_TEXT(row->variable, variable);
        CHECK(setting_find(row->name) == row);
        CHECK(row->help[0] != '\0');
        CHECK((row->flag == NULL) == row->is_secret); // flags are seen by everybody
        CHECK((row->kind == SETTING_KIND_CHOICE) == (row->words != NULL));
        CHECK(row->kind != SETTING_KIND_NUMBER || row->low < row->high);
        for (uint32_t k = 0; k < i; k++) {
            CHECK(row->flag == NULL || setting_row((SettingId)k)->flag == NULL ||
                  strcmp(row->flag, setting_row((SettingId)k)->flag) != 0);
        }
    }
    CHECK(setting_find("nothing") == NULL);
}

TEST(every_default_is_valid)
{
    folder = test_folder_make();
    Settings *settings = settings_of(NULL, NULL);
    CHECK_INT(settings_fault_count(settings), 0);
    CHECK_TEXT(faults_of(settings), "");
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((SettingId)i);
        if (row->fallback[0] != '\0') {
            CHECK_TEXT(settings_text(settings, row->id), row->fallback);
        }
    }
    CHECK_INT(settings_number(settings, SETTING_PORT), 5000);
    CHECK_INT(settings_number(settings, SETTING_PLAYERS), 0);
    CHECK(!settings_switch(settings, SETTING_ALLOW_WEAK_JAIL));
    CHECK(settings_list(settings, SETTING_ORIGINS)[0] == NULL);
    settings_destroy(settings);
    test_folder_remove(&folder);
}

// --- precedence ---------------------------------------------------------------------------------

// Sets a row from the file, then also from its alias, its variable and its flag: the last one added
// always counts.
static void climb(const SettingRow *row)
{
    char values[2][128], line[256], variables[2][256], key[64];
    two_values(row, values);
    const char *flags[] = {row->flag, row->kind == SETTING_KIND_SWITCH ? NULL : values[0], NULL};
    const bool is_data = row->id == SETTING_DATA; // its variable is set by settings_of
    snprintf(line, sizeof line, "%s = %s\n", row->name, values[0]);
    write_file("sandlot.conf", is_data ? "" : line);
    Settings *settings = settings_of(NULL, NULL);
    if (!is_data) {
        CHECK_TEXT(settings_text(settings, row->id), values[0]);
    }
    settings_destroy(settings);
    if (row->variable_alias != NULL) {
        snprintf(variables[0], sizeof variables[0], "%s=%s", row->variable_alias, values[1]);
        settings = settings_of(NULL, LIST(variables[0]));
        CHECK_TEXT(settings_text(settings, row->id), values[1]);
        settings_destroy(settings);
        snprintf(variables[1], sizeof variables[1], "%s=%s", row->variable, values[0]);
        settings = settings_of(NULL, LIST(variables[1], variables[0])); // in either order
        CHECK_TEXT(settings_text(settings, row->id), values[0]);
        settings_destroy(settings);
        settings = settings_of(NULL, LIST(variables[0], variables[1]));
        CHECK_TEXT(settings_text(settings, row->id), values[0]);
        settings_destroy(settings);
    }
    snprintf(variables[0], sizeof variables[0], "%s=%s", row->variable, values[1]);
    settings = settings_of(NULL, LIST(variables[0]));
    CHECK_TEXT(settings_text(settings, row->id), values[1]);
    snprintf(key, sizeof key, "# environment %s\n", row->variable);
    CHECK(strstr(print_with(settings, false), key) != NULL);
    settings_destroy(settings);
    if (row->flag != NULL) {
        snprintf(variables[0], sizeof variables[0], "%s=%s", row->variable,
                 row->kind == SETTING_KIND_SWITCH ? "no" : values[1]);
        settings = settings_of(flags, LIST(variables[0]));
        CHECK_TEXT(settings_text(settings, row->id),
                   row->kind == SETTING_KIND_SWITCH ? "yes" : values[0]);
        snprintf(key, sizeof key, "# flag %s\n", row->flag);
        CHECK(strstr(print_with(settings, false), key) != NULL);
        settings_destroy(settings);
    }
}

TEST(flag_before_environment_before_file)
{
    folder = test_folder_make();
    for (uint32_t i = 0; i < SETTING_COUNT && test_is_passing(); i++) {
        climb(setting_row((SettingId)i));
    }
    test_folder_remove(&folder);
}

TEST(an_operator_changes_what_the_file_says)
{
    folder = test_folder_make();
    char reason[SETTINGS_REASON_BYTES] = "";
    write_file("sandlot.conf", "registration = invite\nport = 81\n");
    CHECK_OK(settings_operator_set(folder.path, "registration", "open", reason));
    Settings *settings = settings_of(NULL, NULL);
    CHECK_TEXT(settings_text(settings, SETTING_REGISTRATION), "open");
    CHECK(strstr(print_with(settings, false), "operator.conf:1, by the operator") != NULL);
    settings_destroy(settings);
    settings = settings_of(LIST("--registration", "invite"), NULL); // said at this start
    CHECK_TEXT(settings_text(settings, SETTING_REGISTRATION), "invite");
    settings_destroy(settings);
    // Again and back; one line is left at most.
    CHECK_OK(settings_operator_set(folder.path, "registration", "invite", reason));
    CHECK_OK(settings_operator_set(folder.path, "registration", "open", reason));
    settings = settings_of(NULL, NULL);
    CHECK_INT(settings_fault_count(settings), 0);
    CHECK_TEXT(settings_text(settings, SETTING_REGISTRATION), "open");
    settings_destroy(settings);
    char given[64];
    settings_operator_get(folder.path, "registration", given, sizeof given);
    CHECK_TEXT(given, "open");
    settings_operator_get(folder.path, "chat", given, sizeof given);
    CHECK_TEXT(given, "");
    CHECK_OK(settings_operator_set(folder.path, "registration", "", reason));
    settings = settings_of(NULL, NULL);
    CHECK_TEXT(settings_text(settings, SETTING_REGISTRATION), "invite");
    settings_destroy(settings);
    CHECK_INT(settings_operator_set(folder.path, "port", "80", reason), STATUS_DENIED);
    CHECK_INT(settings_operator_set(folder.path, "prot", "80", reason), STATUS_NOT_FOUND);
    CHECK_INT(settings_operator_set(folder.path, "registration", "maybe", reason),
              STATUS_MALFORMED);
    CHECK(strstr(reason, "invite|open") != NULL);
    write_file("operator.conf", "port = 80\n"); // somebody edited it
    settings = settings_of(NULL, NULL);
    CHECK_INT(settings_fault_count(settings), 1);
    CHECK_INT(settings_number(settings, SETTING_PORT), 81);
    settings_destroy(settings);
    test_folder_remove(&folder);
}

TEST(an_empty_value_is_none)
{
    folder = test_folder_make();
    write_file("sandlot.conf", "port = 81\npublic_url =\n");
    Settings *settings = settings_of(NULL, LIST("PORT=", "SECRET_KEY="));
    CHECK_INT(settings_fault_count(settings), 0);
    CHECK_INT(settings_number(settings, SETTING_PORT), 81);
    CHECK_TEXT(settings_text(settings, SETTING_SECRET_KEY), "");
    settings_destroy(settings);
    test_folder_remove(&folder);
}

// --- what is wrong ------------------------------------------------------------------------------

static const char *bad_value(const SettingRow *row)
{
    static const char *const values[] = {[SETTING_KIND_ADDRESS] = "example.org",
                                         [SETTING_KIND_NUMBER] = "99999999999999999999",
                                         [SETTING_KIND_FOLDER] = NULL, // any will do
                                         [SETTING_KIND_NAME] = "../etc",
                                         [SETTING_KIND_URL] = "ftp://x",
                                         [SETTING_KIND_STORE] = "postgres://a:b@c/d",
                                         [SETTING_KIND_ORIGIN_LIST] = "https://a.example/path",
                                         [SETTING_KIND_PROXY_LIST] = "10.0.0.1/8",
                                         [SETTING_KIND_SECRET] = "short sesame",
                                         [SETTING_KIND_LINK] = "http://a.example/club",
                                         [SETTING_KIND_LINE] = "\x01",
                                         [SETTING_KIND_ROLE_LIST] = "trusted=makers",
                                         [SETTING_KIND_BLOBS] = "s4://club",
                                         [SETTING_KIND_CHOICE] = "maybe",
                                         [SETTING_KIND_SWITCH] = "perhaps"};
    return values[row->kind];
}

TEST(a_wrong_value_names_its_origin)
{
    folder = test_folder_make();
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((SettingId)i);
        char line[256], variable[256];
        if (bad_value(row) == NULL) {
            continue;
        }
        snprintf(line, sizeof line, "# a comment\n\n%s = %s # why\n", row->name, bad_value(row));
        snprintf(variable, sizeof variable, "%s=%s", row->variable, bad_value(row));
        write_file("sandlot.conf", line);
        Settings *settings = settings_of(LIST("--port", "70000"), LIST(variable));
        const char *said = faults_of(settings);
        CHECK_INT(settings_fault_count(settings), 3);
        CHECK(strstr(said, "sandlot.conf:3: ") != NULL);
        snprintf(line, sizeof line, "environment %s: ", row->variable);
        CHECK(strstr(said, line) != NULL);
        CHECK(strstr(said, "flag --port: port: \"70000\" is not a number from 0 to 65535") != NULL);
        CHECK(strstr(said, "short-sesame") == NULL); // a secret, even a wrong one
        settings_destroy(settings);
    }
    test_folder_remove(&folder);
}

TEST(plain_http_goes_to_this_machine_alone)
{
    static const char *const here[] = {"http://localhost",         "http://LOCALHOST:80/x",
                                       "http://127.0.0.1",         "http://127.0.0.1:5000",
                                       "http://127.255.1.2/realm", "http://[::1]:9/x"};
    static const char *const elsewhere[] = {"http://127.evil.example",
                                            "http://127.0.0.1.evil.example/x",
                                            "http://127.0.0.1evil.example",
                                            "http://localhost.evil.example",
                                            "http://localhostx",
                                            "http://128.0.0.1",
                                            "http://127.1",
                                            "http://127.0.0.1.",
                                            "http://127.0.0.256",
                                            "http://127.0.0.0x1",
                                            "http://0127.0.0.1",
                                            "http://[::1].evil.example",
                                            "http://[::1",
                                            "http://127.0.0.1@evil.example",
                                            "http://127.0.0.1:x@evil.example",
                                            "http://",
                                            "http:///",
                                            "https://127.0.0.1"};
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        CHECK(url_is_loopback(here[i]));
        CHECK(fetch_url_is_allowed(here[i]));
    }
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        CHECK(!url_is_loopback(elsewhere[i]));
    }
    CHECK(!fetch_url_is_allowed("http://127.evil.example/jwks"));
    CHECK(!fetch_url_is_allowed("http://127.0.0.1.evil.example/jwks"));
    folder = test_folder_make();
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        const SettingRow *row = setting_row((SettingId)i);
        if (row->kind == SETTING_KIND_LINK) {
            char line[256];
            snprintf(line, sizeof line, "%s = http://127.evil.example\n", row->name);
            write_file("sandlot.conf", line);
            Settings *settings = settings_of(LIST(NULL), LIST(NULL));
            CHECK(strstr(faults_of(settings), "sandlot.conf:1: ") != NULL);
            settings_destroy(settings);
        }
    }
    test_folder_remove(&folder);
}

TEST(an_unknown_name_says_the_nearest)
{
    folder = test_folder_make();
    write_file("sandlot.conf", "poort = 1\nprot = 1\n");
    Settings *settings = settings_of(LIST("--prot", "1", "--chek-config", "--frobnicate"),
                                     LIST("SANDLOT_PROT=1", "SANDLOT_HOST_KEY=x", "PROT=1"));
    const char *said = faults_of(settings);
    CHECK_INT(settings_fault_count(settings), 6);
    CHECK(strstr(said, "sandlot.conf:1: there is no setting \"poort\"; did you mean \"port\"?"));
    CHECK(strstr(said, "sandlot.conf:2: there is no setting \"prot\"; did you mean \"port\"?"));
    CHECK(strstr(said, "environment SANDLOT_PROT: there is no such setting; did you mean "
                       "SANDLOT_PORT?"));
    CHECK(strstr(said, "unknown option --prot; did you mean --port?"));
    CHECK(strstr(said, "unknown option --chek-config; did you mean --check-config?"));
    CHECK(strstr(said, "unknown option --frobnicate\n"));
    settings_destroy(settings);
    test_folder_remove(&folder);
}

TEST(wrong_lines_and_files)
{
    folder = test_folder_make();
    char path[sizeof folder.path + 32];
    write_file("sandlot.conf", "port\nport = 1\nport = 2\ndata = /tmp/x\nweb = /a#b # c\n" KEY_A);
    Settings *settings = settings_of(LIST("--host"), NULL);
    const char *said = faults_of(settings);
    CHECK(strstr(said, "sandlot.conf:1: a line is `name = value`"));
    CHECK(strstr(said, "sandlot.conf:3: port is already set in line 2"));
    CHECK(strstr(said, "sandlot.conf:6: a line is"));
    CHECK(strstr(said, KEY_A) == NULL); // it may be the secret
    CHECK(strstr(said, "--host: its value is missing"));
    CHECK_TEXT(settings_text(settings, SETTING_WEB), "/a#b");
    settings_destroy(settings);
    settings = settings_of(LIST("--config", "/nowhere/at-all"), NULL);
    CHECK(strstr(faults_of(settings), "/nowhere/at-all: there is no such file"));
    settings_destroy(settings);
    settings = settings_of(LIST("--config", folder.path), NULL);
    CHECK(strstr(faults_of(settings), "it is not a file"));
    settings_destroy(settings);
    char *large = malloc(SETTINGS_FILE_BYTES_MAX + 2);
    memset(large, '#', SETTINGS_FILE_BYTES_MAX + 1);
    large[SETTINGS_FILE_BYTES_MAX + 1] = '\0';
    write_file("large.conf", large);
    snprintf(path, sizeof path, "%s/large.conf", folder.path);
    settings = settings_of(LIST("--config", path), NULL);
    CHECK(strstr(faults_of(settings), "too large"));
    settings_destroy(settings);
    free(large);
    test_folder_remove(&folder);
}

// Many faults are counted, and none is lost in silence.
TEST(many_faults_are_counted)
{
    folder = test_folder_make();
    char text[4096] = "";
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "x%u = 1\n", i);
    }
    write_file("sandlot.conf", text);
    Settings *settings = settings_of(NULL, NULL);
    CHECK_INT(settings_fault_count(settings), 100);
    CHECK(strstr(faults_of(settings), "and 36 more") != NULL);
    settings_destroy(settings);
    test_folder_remove(&folder);
}

TEST(lists_have_items)
{
    folder = test_folder_make();
    char many[1024] = "";
    write_file("sandlot.conf", "origins = https://a.example,https://b.example  http://c.example\n");
    Settings *settings =
        settings_of(LIST("--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1"), NULL);
    CHECK_TEXT(faults_of(settings), "");
    CHECK_TEXT(settings_list(settings, SETTING_ORIGINS)[0], "https://a.example");
    CHECK_TEXT(settings_list(settings, SETTING_ORIGINS)[2], "http://c.example");
    CHECK(settings_list(settings, SETTING_ORIGINS)[3] == NULL);
    CHECK_TEXT(settings_list(settings, SETTING_TRUSTED_PROXIES)[1], "::1");
    settings_destroy(settings);
    for (uint32_t i = 0; i < 17; i++) {
        snprintf(many + strlen(many), sizeof many - strlen(many), "10.0.0.%u ", i);
    }
    settings = settings_of(LIST("--trusted-proxy", many), NULL);
    CHECK(strstr(faults_of(settings), "at most 16 items"));
    settings_destroy(settings);
    test_folder_remove(&folder);
}

// --- the rules between settings -----------------------------------------------------------------

TEST(other_machines_need_a_key)
{
    static const struct {
        const char *host;
        bool is_refused;
    } hosts[] = {{"127.0.0.1", false}, {"127.9.9.9", false}, {"::1", false},
                 {"localhost", false}, {"0.0.0.0", true},    {"::", true},
                 {"10.0.0.1", true},   {"fe80::1", true}};
    folder = test_folder_make();
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        char variable[64];
        snprintf(variable, sizeof variable, "HOST=%s", hosts[i].host);
        Settings *settings = settings_of(NULL, LIST(variable));
        CHECK_INT(settings_fault_count(settings), hosts[i].is_refused);
        CHECK(!hosts[i].is_refused || strstr(faults_of(settings), "--new-secret-key` makes one"));
        CHECK_INT(settings_host_is_loopback(settings), !hosts[i].is_refused);
        settings_destroy(settings);
        settings = settings_of(NULL, LIST(variable, "SECRET_KEY=" KEY_A));
        CHECK_INT(settings_fault_count(settings), 0);
        settings_destroy(settings);
    }
    test_folder_remove(&folder);
}

TEST(a_key_that_was_used_so_far_is_kept)
{
    folder = test_folder_make();
    char reason[SETTINGS_REASON_BYTES] = "";
    uint8_t kept[SHA256_BYTES], read[SHA256_BYTES], hashed[SHA256_BYTES];
    for (size_t i = 0; i < sizeof kept; i++) {
        kept[i] = (uint8_t)(250 + i);
    }
    Settings *settings = settings_of(NULL, NULL);
    CHECK(!settings_secret_key(settings, read));
    CHECK_OK(settings_new_secret_key(settings, kept, reason));
    settings_destroy(settings);
    settings = settings_of(NULL, NULL);
    CHECK(settings_secret_key(settings, read));
    CHECK(memcmp(read, kept, sizeof kept) == 0);
    settings_destroy(settings);
    settings = settings_of(NULL, LIST("SECRET_KEY=key:0123456789abcdef")); // too short: any text
    sha256_of("key:0123456789abcdef", 20, hashed);
    CHECK(settings_secret_key(settings, read));
    CHECK(memcmp(read, hashed, sizeof hashed) == 0);
    settings_destroy(settings);
    test_folder_remove(&folder);
}

TEST(a_new_key_is_written_once)
{
    folder = test_folder_make();
    char reason[SETTINGS_REASON_BYTES] = "", path[sizeof folder.path + 32];
    struct stat about;
    write_file("sandlot.conf", "port = 81\n#secret_key = no"); // without an end of its last line
    Settings *settings = settings_of(LIST("--host", "0.0.0.0"), NULL);
    CHECK_OK(settings_new_secret_key(settings, NULL, reason));
    settings_destroy(settings);
    snprintf(path, sizeof path, "%s/sandlot.conf", folder.path);
    CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0600);
    settings = settings_of(LIST("--host", "0.0.0.0"), NULL);
    CHECK_TEXT(faults_of(settings), "");
    CHECK_INT(settings_number(settings, SETTING_PORT), 81);
    CHECK_INT(strlen(settings_text(settings, SETTING_SECRET_KEY)), 64);
    CHECK(strstr(print_with(settings, false), settings_text(settings, SETTING_SECRET_KEY)) == NULL);
    CHECK(strstr(printed, "# secret_key = (hidden)") != NULL);
    CHECK_INT(settings_new_secret_key(settings, NULL, reason), STATUS_EXISTS);
    settings_destroy(settings);
    CHECK(chmod(path, 0644) == 0);
    settings = settings_of(NULL, NULL);
    CHECK(strstr(print_with(settings, false), "other users can read it") != NULL);
    settings_destroy(settings);
    test_folder_remove(&folder);
}

TEST(variables_of_older_servers_are_said_to_be_unused)
{
    folder = test_folder_make();
    Settings *settings =
        settings_of(NULL, LIST("GODOT_PATH=/usr/bin/godot", "GAME_SERVER_PATH=../x"));
    CHECK_INT(settings_fault_count(settings), 0);
    CHECK(strstr(print_with(settings, false), "environment GODOT_PATH is not used") != NULL);
    CHECK(strstr(printed, "environment GAME_SERVER_PATH is not used") != NULL);
    settings_destroy(settings);
    test_folder_remove(&folder);
}

TEST(the_data_folder_has_a_default)
{
    static const struct {
        char *variables[3];
        const char *data;
    } rows[] = {{{"HOME=/home-of/bo", NULL}, "/home-of/bo/.local/share/sandlot"},
                {{"HOME=/home-of/bo", "XDG_DATA_HOME=/x", NULL}, "/x/sandlot"},
                {{"HOME=/home-of/bo", "XDG_DATA_HOME=x", NULL}, "/home-of/bo/.local/share/sandlot"},
                {{NULL}, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const SettingsSource source = {.variables = rows[i].variables};
        Settings *settings = NULL;
        CHECK_OK(settings_read(&source, &settings));
        CHECK_TEXT(settings_text(settings, SETTING_DATA), rows[i].data);
        CHECK_INT(settings_fault_count(settings), rows[i].data[0] == '\0');
        settings_destroy(settings);
    }
}

// What --print-config prints is a file that gives the same settings.
TEST(what_is_printed_can_be_read)
{
    folder = test_folder_make();
    char path[sizeof folder.path + 32], first[1 << 13];
    Settings *settings = settings_of(
        LIST("--port", "81", "--origin", "https://a.example", "--origin", "https://b.example"),
        NULL);
    write_file("again.conf", print_with(settings, false));
    snprintf(path, sizeof path, "%s/again.conf", folder.path);
    Settings *again = settings_of(LIST("--config", path), NULL);
    CHECK_TEXT(faults_of(again), "");
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        snprintf(first, sizeof first, "%s", settings_text(settings, (SettingId)i));
        CHECK_TEXT(settings_text(again, (SettingId)i), first);
    }
    settings_destroy(settings);
    settings_destroy(again);
    test_folder_remove(&folder);
}
