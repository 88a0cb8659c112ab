// See place_known.h. The folder may come from a stranger, so of the file only lines as we write
// them are read, one server in a line:
//
//   {
//     "https://play.example": "place_obby-k3x9ab"
//   }
#define _GNU_SOURCE
#include "server/cli/place_known.h"

#include "server/build/place/place_home.h"
#include "server/sys/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (64u << 10)
#define SERVERS_MAX    64

typedef struct Known {
    char url[TOOL_URL_BYTES], place_id[PLACE_ID_TEXT_BYTES];
} Known;

static bool known_path(const char *folder, char out[PLACE_HOME_PATH_BYTES], const char **why)
{
    char cache[PLACE_HOME_PATH_BYTES];
    *why = "the path is too long";
    return place_home_folder(folder, "cache", cache, why) == STATUS_OK &&
           snprintf(out, PLACE_HOME_PATH_BYTES, "%s/.sandlot/publish.json", folder) <
               PLACE_HOME_PATH_BYTES;
}

static uint32_t read_known(const char *path, Known out[SERVERS_MAX])
{
    uint8_t *text = NULL;
    size_t bytes = 0;
    uint32_t count = 0;
    if (file_read(path, FILE_BYTES_MAX, &text, &bytes) != STATUS_OK) {
        return 0;
    }
    char *rest = (char *)text;
    for (char *line = strsep(&rest, "\n"); line != NULL && count < SERVERS_MAX;
         line = strsep(&rest, "\n")) {
        Known *known = &out[count];
        count +=
            sscanf(line, " \"%255[^\"]\": \"%64[-a-zA-Z0-9_]\"", known->url, known->place_id) == 2;
    }
    free(text);
    return count;
}

bool place_known_find(const char *folder, const char *url, char out[PLACE_ID_TEXT_BYTES],
                      const char **why)
{
    char path[PLACE_HOME_PATH_BYTES];
    static Known known[SERVERS_MAX];
    out[0] = '\0';
    if (!known_path(folder, path, why)) {
        return false;
    }
    const uint32_t count = read_known(path, known);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(known[i].url, url) == 0) {
            memcpy(out, known[i].place_id, PLACE_ID_TEXT_BYTES);
        }
    }
    return true;
}

bool place_known_keep(const char *folder, const char *url, const char *place_id, const char **why)
{
    char path[PLACE_HOME_PATH_BYTES];
    static Known known[SERVERS_MAX];
    if (!known_path(folder, path, why)) {
        return false;
    }
    Buffer text = buffer_of(FILE_BYTES_MAX);
    char line[TOOL_URL_BYTES + PLACE_ID_TEXT_BYTES + 16];
    const uint32_t count = read_known(path, known);
    buffer_put(&text, "{\n", 2);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(known[i].url, url) != 0) {
            const int bytes =
                snprintf(line, sizeof line, "  \"%s\": \"%s\",\n", known[i].url, known[i].place_id);
            buffer_put(&text, line, (size_t)bytes);
        }
    }
    const int bytes = snprintf(line, sizeof line, "  \"%s\": \"%s\"\n}\n", url, place_id);
    buffer_put(&text, line, (size_t)bytes);
    const bool is_kept =
        text.status == STATUS_OK && file_write_shared(path, text.data, text.bytes) == STATUS_OK;
    *why = strerror(errno);
    buffer_free(&text);
    return is_kept;
}

// --- as an argument -----------------------------------------------------------------------------

static bool is_place_folder(const char *text)
{
    char path[PLACE_HOME_PATH_BYTES];
    struct stat about;
    return snprintf(path, sizeof path, "%s/place.json", text) < (int)sizeof path &&
           stat(path, &about) == 0;
}

int place_argument(const Tool *client, const char *text, char out[PLACE_ID_TEXT_BYTES])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const char *why;
    const bool is_whole = strncmp(text, "place_", 6) == 0;
    if (!is_whole && is_place_folder(text)) {
        if (!place_known_find(text, client->url, out, &why)) {
            return tool_fail(client, "%s/.sandlot: %s", text, why);
        }
        return out[0] != '\0' ? EXIT_OK
                              : tool_fail(client,
                                          "%s was not published to %s from here; name the place "
                                          "by its id, which `sandlot place list` shows",
                                          text, client->url);
    }
    if (strspn(text, letters) != strlen(text) || text[0] == '\0' ||
        snprintf(out, PLACE_ID_TEXT_BYTES, "%s%s", is_whole ? "" : "place_", text) >=
            PLACE_ID_TEXT_BYTES) {
        return command_misused(client->command, client->json,
                               "this is neither the id of a place nor the folder of one:", text);
    }
    return EXIT_OK;
}
