// `sandlot up`: the whole product in one process.
#include "server/cli/command.h"
#include "server/host/serve/serve.h"

#include <string.h>

int cmd_up(int argc, char **argv)
{
    ServeConfig config = serve_config_default();
    config.many = config.accounts = true;
    config.port = 5000;
    uint32_t place_count = 0, port = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--data") == 0) {
            config.data = argv[i + 1];
        } else if (strcmp(argv[i], "--place") == 0 && place_count < SERVE_PLACES_MAX) {
            config.places[place_count++] = argv[i + 1];
        } else if (strcmp(argv[i], "--web") == 0) {
            config.web = argv[i + 1];
        } else if (strcmp(argv[i], "--port") == 0 &&
                   command_parse_u32(argv[i + 1], 0, 65535, &port)) {
            config.port = (uint16_t)port;
        } else {
            return EXIT_USAGE;
        }
    }
    return serve_run(&config) == 0 ? EXIT_OK : EXIT_FAILED;
}
