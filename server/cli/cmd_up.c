// `sandlot up`: control plane and host in one process, with the built-in places.
#define _GNU_SOURCE
#include "core/base/nearest.h"
#include "core/base/sha256.h"
#include "server/build/base/diagnostic.h"
#include "server/cli/command.h"
#include "server/control/identity.h"
#include "server/control/settings/settings.h"
#include "server/serve/operate/serve_log.h"
#include "server/serve/serve.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What it is called in messages.
static const char *command = "sandlot up";
static ServeRole up_role = SERVE_BOTH;

typedef enum UpMode { MODE_RUN, MODE_HELP, MODE_CHECK, MODE_PRINT, MODE_NEW_KEY } UpMode;

static const char *const mode_flags[] = {"--help",           "--check-config", "--print-config",
                                         "--new-secret-key", "--config",       NULL};

static void print_usage(FILE *out)
{
    static const char *const about[] = {
        [SERVE_BOTH] =
            "usage: sandlot up [options]   run the server: accounts, pages, all places "
            "and worlds\n\n"
            "Starts with no options at all: it then listens on http://127.0.0.1:5000/, for this\n"
            "computer alone. Worlds start when somebody joins, and stop when they are empty.\n\n",
        [SERVE_CONTROL] =
            "usage: sandlot control --store URL [options]   run a server that runs no worlds\n\n"
            "Accounts, pages and publishing, as `sandlot up` has them. Worlds run on the machines\n"
            "with `sandlot host --store URL` or `sandlot up --store URL` on the same database.\n\n",
        [SERVE_HOST] =
            "usage: sandlot host --store URL [options]   run worlds of a control plane\n"
            "       sandlot host DIR... --data DIR [options]   (see below)\n\n"
            "Runs worlds of all places of the servers on this database (`sandlot control`,\n"
            "`sandlot up`), and answers players of them, other hosts and operators. With folders\n"
            "of places instead, it runs worlds of those, without accounts: `sandlot host DIR\n"
            "--help` describes that.\n\n"};
    fputs(about[up_role], out);
    fprintf(
        out,
        "  --check-config           say whether the settings are valid, and end\n"
        "  --print-config           print every setting and where its value comes from, and end\n"
        "  --new-secret-key         write a secret key into the file of settings, and end\n"
        "  --config FILE            read settings from this file (default: " SETTINGS_FILE
        " in the\n"
        "                           data folder)\n\n"
        "Settings:\n");
    settings_print_help(out);
    fprintf(
        out,
        "\nEach setting can also be a line `port = 5000` in the file, or a variable SANDLOT_PORT;\n"
        "HOST, PORT and SECRET_KEY work too. A flag counts more than a variable, and a variable\n"
        "more than the file. The secret key has no flag, because other users can see flags.\n"
        "On SIGTERM or Ctrl-C all worlds save, tell the players, and end within 5 s.\n"
        "Exit codes: 0 stopped on request, 1 could not start or continue, 2 invalid settings.\n");
}

// Takes the options that are no settings out of the arguments.
static UpMode take_mode(int *argc, char **argv)
{
    static const struct {
        const char *flag;
        UpMode mode;
    } modes[] = {{"--help", MODE_HELP},
                 {"-h", MODE_HELP},
                 {"--check-config", MODE_CHECK},
                 {"--print-config", MODE_PRINT},
                 {"--new-secret-key", MODE_NEW_KEY}};
    UpMode found = MODE_RUN;
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        bool is_mode = false;
        for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k++) {
            if (strcmp(argv[i], modes[k].flag) == 0) {
                is_mode = true;
                found = found == MODE_HELP ? MODE_HELP : modes[k].mode;
            }
        }
        if (!is_mode) {
            argv[kept++] = argv[i];
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    return found;
}

// --- places -------------------------------------------------------------------------------------

typedef struct UpPlaces {
    char *paths[SERVE_PLACES_MAX]; // the default place first, then by name
    uint32_t count;
} UpPlaces;

static void free_places(UpPlaces *places)
{
    for (uint32_t i = 0; i < places->count; i++) {
        free(places->paths[i]);
    }
}

// A folder with a place.json in it.
static char *place_path(const char *folder, const char *name)
{
    char *path = NULL, *file = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        return NULL;
    }
    const bool is_place =
        name[0] != '.' && asprintf(&file, "%s/place.json", path) >= 0 && access(file, F_OK) == 0;
    free(file);
    if (!is_place) {
        free(path);
        path = NULL;
    }
    return path;
}

// Says why there is no default place; `names` are the folders that there are.
static void say_no_default(const char *folder, const char *wanted, struct dirent **names, int count)
{
    Nearest nearest = nearest_begin(wanted, strlen(wanted));
    for (int i = 0; i < count; i++) {
        (void)nearest_consider(&nearest, names[i]->d_name, strlen(names[i]->d_name));
    }
    serve_log_failure(command, "default_place: %s has no place \"%s\"%s%s%s", folder, wanted,
                      nearest.found != NULL ? "; did you mean \"" : "",
                      nearest.found != NULL ? nearest.found : "",
                      nearest.found != NULL ? "\"?" : "");
}

static bool find_places(const Settings *settings, UpPlaces *places)
{
    const char *folder = settings_text(settings, SETTING_PLACES);
    const char *first = settings_text(settings, SETTING_DEFAULT_PLACE);
    struct dirent **names = NULL;
    const int count = folder[0] != '\0' ? scandir(folder, &names, NULL, alphasort) : -1;
    if (count < 0) {
        serve_log_failure(command, "places: %s%s", folder,
                          folder[0] != '\0' ? ": there is no such folder"
                                            : "the program's own places are not there; name a "
                                              "folder with --places DIR");
        return false;
    }
    char *path = place_path(folder, first);
    const bool is_found = path != NULL;
    if (is_found) {
        places->paths[places->count++] = path;
    } else {
        say_no_default(folder, first, names, count);
    }
    uint32_t left_out = 0;
    for (int i = 0; i < count; i++) {
        path = strcmp(names[i]->d_name, first) != 0 ? place_path(folder, names[i]->d_name) : NULL;
        if (path != NULL && places->count < SERVE_PLACES_MAX) {
            places->paths[places->count++] = path;
        } else {
            left_out += path != NULL;
            free(path);
        }
        free(names[i]);
    }
    free(names);
    if (left_out > 0) {
        serve_log_failure(command, "places: %s has more than %d places; %u are left out", folder,
                          SERVE_PLACES_MAX, left_out);
    }
    return is_found;
}

// --- the server ---------------------------------------------------------------------------------

static LogFormat log_format(const char *word)
{
    if (strcmp(word, "auto") == 0) {
        return isatty(STDERR_FILENO) ? LOG_FORMAT_TEXT : LOG_FORMAT_LOGFMT;
    }
    return strcmp(word, "json") == 0     ? LOG_FORMAT_JSON
           : strcmp(word, "logfmt") == 0 ? LOG_FORMAT_LOGFMT
                                         : LOG_FORMAT_TEXT;
}

static LogLevel log_level(const char *word)
{
    LogLevel level = LOG_DEBUG;
    while (level < LOG_ERROR && strcmp(log_level_name(level), word) != 0) {
        level += 1;
    }
    return level;
}

static const char *text_or_null(const Settings *settings, SettingId id)
{
    const char *text = settings_text(settings, id);
    return text[0] != '\0' ? text : NULL;
}

static void set_roles(const Settings *settings, IssuerConfig *issuer)
{
    const char *const *roles = settings_list(settings, SETTING_OIDC_ROLES);
    for (uint32_t i = 0; roles[i] != NULL && issuer->role_count < JWT_ROLES_MAX; i++) {
        const uint32_t role = roles[i][0] == 'c'   ? ROLE_CREATOR
                              : roles[i][0] == 't' ? ROLE_TEACHER
                                                   : ROLE_OPERATOR; // the settings checked it
        issuer->roles[issuer->role_count++] = (JwtRole){strchr(roles[i], '=') + 1, role};
    }
}

static void add_party(IssuerConfig *issuer, const char *party)
{
    uint32_t count = 0;
    while (issuer->parties[count] != NULL) {
        count++;
    }
    if (party != NULL && party[0] != '\0' && count < ISSUER_PARTIES_MAX) {
        issuer->parties[count] = party;
    }
}

static void set_issuers(const Settings *settings, ServeConfig *config)
{
    config->oidc = (IssuerConfig){
        .issuer = settings_text(settings, SETTING_OIDC_ISSUER),
        .name = settings_text(settings, SETTING_OIDC_NAME),
        .client_id = settings_text(settings, SETTING_OIDC_CLIENT_ID),
        .client_secret = settings_text(settings, SETTING_OIDC_CLIENT_SECRET),
        .scopes = settings_text(settings, SETTING_OIDC_SCOPES),
        .role_claim = settings_text(settings, SETTING_OIDC_ROLE_CLAIM),
        .makes_accounts = strcmp(settings_text(settings, SETTING_OIDC_NEW_ACCOUNTS), "yes") == 0};
    set_roles(settings, &config->oidc);
    add_party(&config->oidc, config->oidc.client_id);
    config->clerk = (IssuerConfig){.issuer = settings_text(settings, SETTING_CLERK_ISSUER),
                                   .name = "Clerk",
                                   .secret_key = settings_text(settings, SETTING_CLERK_SECRET_KEY),
                                   .api = settings_text(settings, SETTING_CLERK_API),
                                   .makes_accounts = true};
    add_party(&config->clerk, config->public_url);
    const SettingId lists[] = {SETTING_ORIGINS, SETTING_CLERK_ORIGINS};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const char *const *parties = settings_list(settings, lists[i]);
        for (uint32_t k = 0; parties[k] != NULL; k++) {
            add_party(&config->clerk, parties[k]);
        }
    }
}

// What it points at is the settings'.
static ServeConfig make_config(const Settings *settings, const UpPlaces *places)
{
    ServeConfig config = serve_config_default();
    config.control = config.many = true;
    config.role = up_role;
    for (uint32_t i = 0; i < places->count; i++) {
        config.places[i] = places->paths[i];
    }
    config.address = settings_text(settings, SETTING_HOST);
    config.port = (uint16_t)settings_number(settings, SETTING_PORT);
    config.data = settings_text(settings, SETTING_DATA);
    config.store = text_or_null(settings, SETTING_STORE);
    config.web = up_role != SERVE_HOST ? text_or_null(settings, SETTING_WEB) : NULL;
    config.journal = settings_text(settings, SETTING_JOURNAL);
    config.journal_mb = settings_number(settings, SETTING_JOURNAL_MB);
    config.player_max = settings_number(settings, SETTING_PLAYERS);
    config.world_max = settings_number(settings, SETTING_WORLDS);
    config.idle_stop_s = settings_number(settings, SETTING_IDLE_STOP);
    config.idle_place_s = settings_number(settings, SETTING_IDLE_PLACE);
    config.account_mb = settings_number(settings, SETTING_ACCOUNT_MB);
    config.vote_seconds = settings_number(settings, SETTING_VOTE_SECONDS);
    config.public_url = text_or_null(settings, SETTING_PUBLIC_URL);
    config.host_url = text_or_null(settings, SETTING_HOST_URL);
    config.cdn_base = text_or_null(settings, SETTING_CDN_BASE);
    config.allow_weak_jail = settings_switch(settings, SETTING_ALLOW_WEAK_JAIL);
    config.allow_patroni = settings_switch(settings, SETTING_ALLOW_PATRONI);
    config.has_open_registration =
        strcmp(settings_text(settings, SETTING_REGISTRATION), "open") == 0;
    const char *chat = settings_text(settings, SETTING_CHAT);
    (void)chat_rule_read(text_from(chat), &config.chat); // a word of the table
    const char *guest_chat = settings_text(settings, SETTING_GUEST_CHAT);
    (void)chat_rule_read(text_from(guest_chat), &config.guest_chat);
    config.approves_listing = settings_switch(settings, SETTING_APPROVE_LISTING);
    config.log_format = log_format(settings_text(settings, SETTING_LOG_FORMAT));
    config.log_level = log_level(settings_text(settings, SETTING_LOG_LEVEL));
    const char *const *origins = settings_list(settings, SETTING_ORIGINS);
    for (uint32_t i = 0; i < SERVE_ORIGINS_MAX && origins[i] != NULL; i++) {
        config.origins[i] = origins[i];
    }
    const char *const *embeds = settings_list(settings, SETTING_EMBED_ORIGINS);
    for (uint32_t i = 0; i < SERVE_ORIGINS_MAX && embeds[i] != NULL; i++) {
        config.embed_origins[i] = embeds[i];
    }
    const char *const *proxies = settings_list(settings, SETTING_TRUSTED_PROXIES);
    for (uint32_t i = 0; i < HTTP_TRUSTED_PROXIES_MAX && proxies[i] != NULL; i++) {
        config.trusted_proxies[i] = proxies[i];
    }
    set_issuers(settings, &config);
    config.blob_cache_mb = settings_number(settings, SETTING_BLOB_CACHE_MB);
    if (strcmp(settings_text(settings, SETTING_BLOBS), "files") != 0) {
        config.blobs = settings_text(settings, SETTING_BLOBS);
        config.s3_key_id = settings_text(settings, SETTING_BLOBS_KEY_ID);
        config.s3_secret_key = settings_text(settings, SETTING_BLOBS_SECRET_KEY);
    }
    config.has_secret = settings_secret_key(settings, config.secret_key);
    return config;
}

static bool has_page(const Settings *settings)
{
    char index[4200];
    const char *web = settings_text(settings, SETTING_WEB);
    snprintf(index, sizeof index, "%s/index.html", web);
    if (web[0] == '\0' || access(index, R_OK) == 0) {
        return true;
    }
    serve_log_failure(command, "web: %s: there is no index.html; run `make build`", web);
    return false;
}

static int run(const Settings *settings, UpMode mode)
{
    UpPlaces places = {0};
    int code = EXIT_FAILED;
    const bool has_places = find_places(settings, &places);
    if (has_page(settings) && has_places) {
        const ServeConfig config = make_config(settings, &places);
        code = mode == MODE_CHECK ? EXIT_OK : serve_run(&config) == 0 ? EXIT_OK : EXIT_FAILED;
    }
    free_places(&places);
    return code;
}

// The fault that a key would mend is none here. Who has run without one has a key in the data
// folder: it is kept, because sign-ins, printed codes and links would not hold with another one.
static int make_key(const Settings *settings)
{
    char reason[SETTINGS_REASON_BYTES] = "", path[4200];
    uint8_t *kept = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/" SERVE_SECRET_FILE, settings_text(settings, SETTING_DATA));
    Status status = file_read_own(path, S_IRWXG | S_IRWXO, SHA256_BYTES, &kept, &bytes);
    if (status != STATUS_NOT_FOUND && (status != STATUS_OK || bytes != SHA256_BYTES)) {
        free(kept);
        diagnostic_print(stderr, "%s: %s cannot be used: remove it, and everybody signs in again",
                         command, path);
        return EXIT_FAILED;
    }
    status = settings_path(settings)[0] != '\0' ? settings_new_secret_key(settings, kept, reason)
                                                : STATUS_BLOCKED;
    if (status == STATUS_OK) {
        diagnostic_print(stdout, "wrote %s into %s; keep that file to yourself",
                         kept != NULL ? "the secret key that was used so far" : "a secret key",
                         settings_path(settings));
    } else {
        diagnostic_print(stderr, "%s: %s", command, reason);
    }
    free(kept);
    return status == STATUS_OK ? EXIT_OK : EXIT_FAILED;
}

// In the log, if this is a start and the log is for programs.
static void tell_notes(Settings *settings, UpMode mode)
{
    const char *note;
    if (mode == MODE_RUN) {
        serve_log_open(log_format(settings_text(settings, SETTING_LOG_FORMAT)),
                       log_level(settings_text(settings, SETTING_LOG_LEVEL)));
    }
    for (uint32_t i = 0; (note = settings_note_at(settings, i)) != NULL; i++) {
        if (serve_log_format() == LOG_FORMAT_TEXT) {
            diagnostic_print(stderr, "%s: %s", command, note);
        } else {
            serve_log_text(LOG_WARN, "settings", note);
        }
    }
}

static bool has_store(const Settings *settings)
{
    const bool is_good = up_role == SERVE_BOTH || settings_text(settings, SETTING_STORE)[0] != '\0';
    if (!is_good) {
        diagnostic_print(stderr,
                         "%s: store: name the database that it shares with others, by --store "
                         "postgres://sandlot@db.example/sandlot or SANDLOT_STORE",
                         command);
    }
    return is_good;
}

static int act(Settings *settings, UpMode mode)
{
    if (mode == MODE_NEW_KEY) {
        return make_key(settings);
    }
    tell_notes(settings, mode);
    settings_print_faults(settings, command, stderr);
    const bool is_valid = has_store(settings) && settings_fault_count(settings) == 0;
    if (mode == MODE_PRINT) {
        settings_print(settings, stdout);
        return is_valid ? EXIT_OK : EXIT_FAILED;
    }
    const int code = is_valid ? run(settings, mode) : mode == MODE_CHECK ? EXIT_FAILED : EXIT_USAGE;
    if (mode == MODE_CHECK && code == EXIT_OK) {
        printf("ok\n");
    }
    return code;
}

int cmd_up(int argc, char **argv)
{
    const UpMode mode = take_mode(&argc, argv);
    if (mode == MODE_HELP) {
        print_usage(stdout);
        return EXIT_OK;
    }
    Settings *settings = NULL;
    const SettingsSource source = {
        .arguments = argv + 1, .variables = environ, .other_flags = mode_flags};
    if (settings_read(&source, &settings) != STATUS_OK) {
        return command_fail("up", false, EXIT_FAILED, "out of memory");
    }
    const int code = act(settings, mode);
    settings_destroy(settings);
    return code;
}

int cmd_control(int argc, char **argv)
{
    command = "sandlot control";
    up_role = SERVE_CONTROL;
    return cmd_up(argc, argv);
}

int cmd_up_host(int argc, char **argv)
{
    command = "sandlot host";
    up_role = SERVE_HOST;
    return cmd_up(argc, argv);
}
