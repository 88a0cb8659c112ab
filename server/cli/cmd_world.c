// `sandlot world`: runs one world of a place folder on one port.
#include "server/build/base/diagnostic.h"
#include "server/cli/command.h"
#include "server/host/host.h"
#include "server/net/http_client.h"
#include "server/sys/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot world DIR [options]   run one world of a place\n\n"
        "  DIR, --place DIR    the folder with place.json and scene.json\n"
        "  --port N            port to listen on (default 7777); 0 chooses a free one\n"
        "  --address A         address to listen on (default 127.0.0.1); on a loopback address\n"
        "                      anybody may join under any name\n"
        "  --data DIR          folder for stored data (default .sandlot/data in the place)\n"
        "  --name NAME         name of the world (default: that of the folder); each name is a\n"
        "                      separate world\n"
        "  --players N         lower the limit of players that the place sets\n"
        "  --origin URL        also let pages of this site connect; may be repeated\n"
        "  --public-url URL    where players reach this world, such as https://play.example;\n"
        "                      without it only an IP address or localhost is accepted as Host\n"
        "  --trusted-proxy CIDR  believe X-Forwarded-For from this address or range, such as\n"
        "                      127.0.0.1 or 10.0.0.0/8; may be repeated (default: nobody)\n"
        "  --web DIR           folder of the page to serve (default build/web, where this\n"
        "                      program was built)\n"
        "  --journal off|FILE  where to record all input of the world, for `sandlot replay`\n"
        "                      (default: a file in the data folder)\n"
        "  --journal-mb N      size limit of the journal (default 64)\n"
        "  --allow-weak-jail   continue even if the kernel lacks a layer of the jail\n\n"
        "On SIGTERM or Ctrl-C the world saves, tells the players, and ends within 5 s.\n"
        "Exit codes: 0 stopped on request, 1 could not start or continue, 2 invalid arguments.\n");
}

static int usage_error(const char *what, const char *value)
{
    diagnostic_print(stderr, "sandlot world: %s%s%s", what, value != NULL ? " " : "",
                     value != NULL ? value : "");
    fprintf(stderr, "\n");
    print_usage(stderr);
    return EXIT_USAGE;
}

static bool add_origin(HostConfig *config, const char *origin)
{
    uint32_t count = 0;
    while (count < HOST_ORIGINS_MAX && config->origins[count] != NULL) {
        count += 1;
    }
    // A scheme and a host without a path, because that is what browsers send.
    const char *host = strstr(origin, "://");
    if (count == HOST_ORIGINS_MAX || host == NULL || host[3] == '\0' ||
        strchr(host + 3, '/') != NULL) {
        return false;
    }
    config->origins[count] = origin;
    return true;
}

static bool add_proxy(HostConfig *config, const char *proxy)
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

static bool set_public_url(HostConfig *config, const char *url)
{
    HttpSite site;
    config->public_url = url;
    return http_site_parse(url, &site);
}

// An option with a value; false if there is no such option, or its value is invalid.
static bool parse_option(HostConfig *config, const char *name, const char *value)
{
    uint32_t number = 0;
    if (strcmp(name, "--place") == 0) {
        config->place = value;
    } else if (strcmp(name, "--address") == 0) {
        config->address = value;
    } else if (strcmp(name, "--data") == 0) {
        config->data = value;
    } else if (strcmp(name, "--name") == 0) {
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
        return set_public_url(config, value);
    } else if (strcmp(name, "--port") == 0 && command_parse_u32(value, 0, 65535, &number)) {
        config->port = (uint16_t)number;
    } else if (strcmp(name, "--players") == 0 && command_parse_u32(value, 1, 4000, &number)) {
        config->player_max = number;
    } else if (strcmp(name, "--journal-mb") == 0 && command_parse_u32(value, 1, 65536, &number)) {
        config->journal_mb = number;
    } else {
        return false;
    }
    return value[0] != '\0';
}

// The page of --web, or the page that was built with this program, from any working directory.
static bool find_page(HostConfig *config, char found[PROGRAM_PATH_BYTES])
{
    char index[PROGRAM_PATH_BYTES];
    if (config->web == NULL) {
        config->web =
            program_folder("build/web", "share/sandlot/web", "index.html", found) ? found : NULL;
        return true;
    }
    const int length = snprintf(index, sizeof index, "%s/index.html", config->web);
    if (length > 0 && (size_t)length < sizeof index && access(index, R_OK) == 0) {
        return true;
    }
    diagnostic_print(stderr,
                     "sandlot world: --web %s: there is no index.html; run `make build` to "
                     "build the page in build/web",
                     config->web);
    return false;
}

int cmd_world(int argc, char **argv)
{
    HostConfig config = host_config_default();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            config.allow_weak_jail = true;
        } else if (argv[i][0] != '-' && argv[i][0] != '\0') {
            if (config.place != NULL) {
                return usage_error("give only one place at a time; this is a second one:", argv[i]);
            }
            config.place = argv[i];
        } else if (i + 1 < argc && parse_option(&config, argv[i], argv[i + 1])) {
            i += 1;
        } else {
            char why[512];
            command_option_error(argv[i], print_usage, why, sizeof why);
            return usage_error(why, NULL);
        }
    }
    if (config.place == NULL) {
        return usage_error("no place given; name its folder", NULL);
    }
    char page[PROGRAM_PATH_BYTES];
    if (!find_page(&config, page)) {
        return EXIT_USAGE;
    }
    return host_run(&config) == 0 ? EXIT_OK : EXIT_FAILED;
}
