// `sandlot dev`: runs one folder on this machine and keeps it up to date while its files are
// edited (server/serve/place/dev.h).
#include "server/cli/command.h"
#include "server/serve/serve.h"

#include <string.h>

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot dev DIR [options]   run a place and keep it up to date while you edit "
        "it\n\n"
        "  DIR                 the folder with place.json and scene.json\n"
        "  --port N            port to listen on (default 7777); 0 chooses a free one\n"
        "  --data DIR          folder for stored data (default .sandlot/data in the place)\n"
        "  --players N         lower the limit of players that the place sets\n"
        "  --web DIR           folder of the page to serve (default build/web, where this\n"
        "                      program was built)\n"
        "  --journal off|FILE  where to record all input of the world, for `sandlot replay`\n"
        "                      (default: a file in the data folder)\n"
        "  --allow-weak-jail   continue even if the kernel lacks a layer of the jail\n\n"
        "It listens on 127.0.0.1 only, and everybody there may play under any name and save.\n"
        "When a file is saved, the place is built. If only scripts or parameters changed, the\n"
        "running world goes on with the new ones: what changed and what requires it starts again,\n"
        "with onReload(old). If anything else changed, the world starts again with all that is\n"
        "stored, and players come back by themselves. A place with errors changes nothing, and\n"
        "scripts that fail on the server at once are replaced by the earlier ones. Errors, faults\n"
        "of server scripts and what the dearest scripts cost are printed as they come.\n"
        "Ctrl-C saves, tells the players, and ends within 5 s.\n"
        "Exit codes: 0 stopped on request, 1 could not start or continue, 2 invalid arguments.\n");
}

// An option with a value; false if there is no such option, or its value is invalid.
static bool parse_option(ServeConfig *config, const char *name, const char *value)
{
    uint32_t number = 0;
    if (strcmp(name, "--data") == 0) {
        config->data = value;
    } else if (strcmp(name, "--web") == 0) {
        config->web = value;
    } else if (strcmp(name, "--journal") == 0) {
        config->journal = value;
    } else if (strcmp(name, "--port") == 0 && command_parse_u32(value, 0, 65535, &number)) {
        config->port = (uint16_t)number;
    } else if (strcmp(name, "--players") == 0 && command_parse_u32(value, 1, 4000, &number)) {
        config->player_max = number;
    } else {
        return false;
    }
    return value[0] != '\0';
}

int cmd_dev(int argc, char **argv)
{
    ServeConfig config = serve_config_default();
    config.dev = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            config.allow_weak_jail = true;
        } else if (argv[i][0] != '-' && argv[i][0] != '\0') {
            if (config.places[0] != NULL) {
                return command_misused(
                    "dev", false, "give only one place at a time; this is a second one:", argv[i]);
            }
            config.places[0] = argv[i];
        } else if (i + 1 < argc && parse_option(&config, argv[i], argv[i + 1])) {
            i += 1;
        } else {
            char why[512];
            command_option_error(argv[i], print_usage, why, sizeof why);
            return command_misused("dev", false, why, NULL);
        }
    }
    if (config.places[0] == NULL) {
        return command_misused("dev", false, "no place given; name its folder", NULL);
    }
    char page[COMMAND_PAGE_BYTES];
    if (!command_find_page("dev", &config.web, page)) {
        return EXIT_USAGE;
    }
    return serve_run(&config) == 0 ? EXIT_OK : EXIT_FAILED;
}
