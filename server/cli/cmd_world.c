// `sandlot world`: runs one world of a place folder on one port. `sandlot host`: many worlds of
// many places.
#include "server/build/base/diagnostic.h"
#include "server/cli/command.h"
#include "server/net/http_client.h"
#include "server/serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMOTE_LEASE_S 30

#define COMMON_OPTIONS                                                                        \
    "  --port N            port to listen on (default 7777); 0 chooses a free one\n"          \
    "  --address A         address to listen on (default 127.0.0.1); on a loopback address\n" \
    "                      anybody may join under any name\n"                                 \
    "  --players N         lower the limit of players that a place sets\n"                    \
    "  --origin URL        also let pages of this site connect; may be repeated\n"            \
    "  --public-url URL    where players reach this server, such as https://play.example;\n"  \
    "                      without it only an IP address or localhost is accepted as Host\n"  \
    "  --cdn-base URL      where scenes and scripts can be downloaded too, such as\n"         \
    "                      https://cdn.example; see `sandlot export-cdn`\n"                   \
    "  --trusted-proxy CIDR  believe X-Forwarded-For from this address or range, such as\n"   \
    "                      127.0.0.1 or 10.0.0.0/8; may be repeated (default: nobody)\n"      \
    "  --web DIR           folder of the page to serve (default build/web, where this\n"      \
    "                      program was built)\n"                                              \
    "  --journal-mb N      size limit of a journal (default 64)\n"                            \
    "  --allow-weak-jail   continue even if the kernel lacks a layer of the jail\n"

static void print_world_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot world DIR [options]   run one world of a place\n"
        "       sandlot world --world ID --control-plane URL [options]\n"
        "                                     run a world of a `sandlot up` on another machine\n\n"
        "  DIR, --place DIR    the folder with place.json and scene.json\n"
        "  --data DIR          folder for stored data (default .sandlot/data in the place)\n"
        "  --store URL         database server for stored data: postgres://...\n"
        "  --name NAME         name of the world (default: that of the folder); each name is a\n"
        "                      separate world\n"
        "  --journal off|FILE  where to record all input of the world, for `sandlot replay`\n"
        "                      (default: a file in the data folder)\n" COMMON_OPTIONS
        "\nWith a control plane, which has the accounts, the places and all stored data:\n"
        "  --control-plane URL its address, such as http://192.0.2.1:5000\n"
        "  --world ID          the world to run, by id or room code; an id that there is none of\n"
        "                      makes a new world\n"
        "  --place-id ID       the place of a new world (default: the default place)\n"
        "  --host-key-file F   file with the host key, which an operator makes there (default:\n"
        "                      the variable SANDLOT_HOST_KEY)\n"
        "  --lease S           how many seconds it may be cut off before the world stops here\n"
        "                      and may be run elsewhere, 5 to 60 (default 30)\n"
        "Players join at the control plane, which leads them to --public-url, or to --address and\n"
        "--port.\n"
        "\nOn SIGTERM or Ctrl-C the world saves, tells the players, and ends within 5 s.\n"
        "Exit codes: 0 stopped on request, 1 could not start or continue, 2 invalid arguments.\n");
}

static void print_host_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot host DIR... --data DIR [options]   run many worlds of many places\n\n"
        "  DIR                 a folder with place.json and scene.json; several may be given, and\n"
        "                      the first is the default place\n"
        "  --data DIR          folder for stored data\n"
        "  --store URL         database server for stored data: postgres://...\n"
        "  --worlds N          run at most N worlds at once (default 4096)\n"
        "  --idle-stop S       stop a world that has been empty for S seconds (default 300)\n"
        "  --journal DIR       folder in which each world records all its input, for\n"
        "                      `sandlot replay` (default: none)\n" COMMON_OPTIONS
        "\nA join (POST /join) names a world or a place: a place gives the fullest world that has\n"
        "room, or a new one. Worlds start when somebody joins, and stop when they are empty.\n"
        "On SIGTERM or Ctrl-C all worlds save, tell the players, and end within 5 s.\n"
        "Exit codes: 0 stopped on request, 1 could not start or continue, 2 invalid arguments.\n");
}

static void print_usage(const ServeConfig *config, FILE *out)
{
    (config->many ? print_host_usage : print_world_usage)(out);
}

static int usage_error(const ServeConfig *config, const char *what, const char *value)
{
    diagnostic_print(stderr, "sandlot %s: %s%s%s", config->many ? "host" : "world", what,
                     value != NULL ? " " : "", value != NULL ? value : "");
    fprintf(stderr, "\n");
    print_usage(config, stderr);
    return EXIT_USAGE;
}

static bool add_origin(ServeConfig *config, const char *origin)
{
    uint32_t count = 0;
    while (count < SERVE_ORIGINS_MAX && config->origins[count] != NULL) {
        count += 1;
    }
    // A scheme and a host without a path, because that is what browsers send.
    const char *host = strstr(origin, "://");
    if (count == SERVE_ORIGINS_MAX || host == NULL || host[3] == '\0' ||
        strchr(host + 3, '/') != NULL) {
        return false;
    }
    config->origins[count] = origin;
    return true;
}

static bool add_proxy(ServeConfig *config, const char *proxy)
{
    HttpPeerRange range;
    uint32_t count = 0;
    while (count < HTTP_TRUSTED_PROXIES_MAX && config->trusted_proxies[count] != NULL) {
        count += 1;
    }
    if (count == HTTP_TRUSTED_PROXIES_MAX || !http_peer_range_parse(proxy, &range)) {
        return false;
    }
    config->trusted_proxies[count] = proxy;
    return true;
}

static bool set_site(const char **out, const char *url)
{
    HttpSite site;
    *out = url;
    return http_site_parse(url, &site);
}

// An option with a value; false if there is no such option, or its value is invalid.
static bool parse_option(ServeConfig *config, const char *name, const char *value)
{
    uint32_t number = 0;
    if (strcmp(name, "--place") == 0 && !config->many) {
        config->places[0] = value;
    } else if (strcmp(name, "--address") == 0) {
        config->address = value;
    } else if (strcmp(name, "--data") == 0) {
        config->data = value;
    } else if (strcmp(name, "--store") == 0 && strncmp(value, "postgres", 8) == 0) {
        config->store = value;
    } else if (strcmp(name, "--name") == 0 && !config->many) {
        config->name = value;
    } else if (strcmp(name, "--web") == 0) {
        config->web = value;
    } else if (strcmp(name, "--journal") == 0) {
        config->journal = value;
    } else if (strcmp(name, "--origin") == 0) {
        return add_origin(config, value);
    } else if (strcmp(name, "--trusted-proxy") == 0) {
        return add_proxy(config, value);
    } else if (strcmp(name, "--public-url") == 0) {
        return set_site(&config->public_url, value);
    } else if (strcmp(name, "--cdn-base") == 0) {
        return set_site(&config->cdn_base, value);
    } else if (strcmp(name, "--port") == 0 && command_parse_u32(value, 0, 65535, &number)) {
        config->port = (uint16_t)number;
    } else if (strcmp(name, "--players") == 0 && command_parse_u32(value, 1, 4000, &number)) {
        config->player_max = number;
    } else if (strcmp(name, "--worlds") == 0 && config->many &&
               command_parse_u32(value, 1, 4096, &number)) {
        config->world_max = number;
    } else if (strcmp(name, "--idle-stop") == 0 && config->many &&
               command_parse_u32(value, 1, 86400, &number)) {
        config->idle_stop_s = number;
    } else if (strcmp(name, "--control-plane") == 0 && !config->many) {
        config->control_plane = value;
    } else if (strcmp(name, "--world") == 0 && !config->many) {
        config->world = value;
    } else if (strcmp(name, "--place-id") == 0 && !config->many) {
        config->place_id = value;
    } else if (strcmp(name, "--host-key-file") == 0 && !config->many) {
        config->host_key_file = value;
    } else if (strcmp(name, "--lease") == 0 && !config->many &&
               command_parse_u32(value, 5, 60, &number)) {
        config->lease_s = number;
    } else if (strcmp(name, "--journal-mb") == 0 && command_parse_u32(value, 1, 65536, &number)) {
        config->journal_mb = number;
    } else {
        return false;
    }
    return value[0] != '\0';
}

static bool add_place(ServeConfig *config, const char *folder)
{
    uint32_t count = 0;
    while (count < SERVE_PLACES_MAX && config->places[count] != NULL) {
        count += 1;
    }
    if (count == SERVE_PLACES_MAX) {
        return false;
    }
    config->places[count] = folder;
    return true;
}

// NULL, or what is missing or too much for a host of a control plane.
static const char *check_remote(ServeConfig *config)
{
    const bool is_anywhere =
        strcmp(config->address, "0.0.0.0") == 0 || strcmp(config->address, "::") == 0;
    if (config->control_plane == NULL) {
        return config->world != NULL || config->host_key_file != NULL || config->place_id != NULL ||
                       config->lease_s != 0
                   ? "--world, --place-id, --host-key-file and --lease need --control-plane URL"
                   : NULL;
    }
    if (config->world == NULL) {
        return "--world ID is missing: which world of the control plane to run";
    }
    if (config->places[0] != NULL || config->data != NULL || config->name != NULL) {
        return "with --control-plane the place and all data are there: no DIR, --data or --name";
    }
    if (is_anywhere && config->public_url == NULL) {
        return "--public-url URL is missing: where players reach this machine";
    }
    config->host_key = getenv("SANDLOT_HOST_KEY");
    config->lease_s = config->lease_s != 0 ? config->lease_s : REMOTE_LEASE_S;
    return NULL;
}

// The page stays at the control plane, and its origin may connect.
static bool add_control_origin(ServeConfig *config, char origin[HTTP_SITE_BYTES])
{
    HttpSite site;
    if (!http_site_parse(config->control_plane, &site)) {
        return false;
    }
    memcpy(origin, site.origin, HTTP_SITE_BYTES);
    return add_origin(config, origin);
}

static int run_remote(ServeConfig *config)
{
    char origin[HTTP_SITE_BYTES];
    if (!add_control_origin(config, origin)) {
        return usage_error(config, "--control-plane: no address like http://192.0.2.1:5000:",
                           config->control_plane);
    }
    return serve_run(config) == 0 ? EXIT_OK : EXIT_FAILED;
}

static int run(ServeConfig *config, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(config, stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            config->allow_weak_jail = true;
        } else if (argv[i][0] != '-' && argv[i][0] != '\0') {
            if (!config->many && config->places[0] != NULL) {
                return usage_error(config,
                                   "give only one place at a time; this is a second one:", argv[i]);
            }
            if (!add_place(config, argv[i])) {
                return usage_error(config, "too many places; this is one too many:", argv[i]);
            }
        } else if (i + 1 < argc && parse_option(config, argv[i], argv[i + 1])) {
            i += 1;
        } else {
            char why[512];
            command_option_error(argv[i], config->many ? print_host_usage : print_world_usage, why,
                                 sizeof why);
            return usage_error(config, why, NULL);
        }
    }
    const char *wrong = check_remote(config);
    if (wrong != NULL) {
        return usage_error(config, wrong, NULL);
    }
    if (config->control_plane != NULL) {
        return run_remote(config);
    }
    if (config->places[0] == NULL) {
        return usage_error(config, "no place given; name its folder", NULL);
    }
    if (config->many && config->data == NULL) {
        return usage_error(config, "--data DIR is missing: where the worlds are stored", NULL);
    }
    char page[COMMAND_PAGE_BYTES];
    if (!command_find_page(config->many ? "host" : "world", &config->web, page)) {
        return EXIT_USAGE;
    }
    return serve_run(config) == 0 ? EXIT_OK : EXIT_FAILED;
}

int cmd_world(int argc, char **argv)
{
    ServeConfig config = serve_config_default();
    return run(&config, argc, argv);
}

// Options of `sandlot up` have values but for a few: what has a place is found by its folder.
static bool names_a_place(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--place") == 0) {
            return true;
        }
        if (argv[i][0] != '-') {
            return true;
        }
        const bool is_alone =
            strcmp(argv[i], "--allow-weak-jail") == 0 || strcmp(argv[i], "--check-config") == 0 ||
            strcmp(argv[i], "--print-config") == 0 || strcmp(argv[i], "--new-secret-key") == 0 ||
            strncmp(argv[i], "--help", 6) == 0 || strchr(argv[i], '=') != NULL;
        i += !is_alone;
    }
    return false;
}

static bool has_store(int argc, char **argv)
{
    bool has = getenv("SANDLOT_STORE") != NULL;
    for (int i = 1; i < argc; i++) {
        has = has || strncmp(argv[i], "--store", 7) == 0;
    }
    return has;
}

int cmd_host(int argc, char **argv)
{
    if (has_store(argc, argv) && !names_a_place(argc, argv)) {
        return cmd_up_host(argc, argv);
    }
    ServeConfig config = serve_config_default();
    config.many = true;
    return run(&config, argc, argv);
}
