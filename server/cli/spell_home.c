// See spell_home.h. Everything is written beside what it replaces, and then takes its place at
// once, so that a process that ends in between leaves nothing half.
#define _GNU_SOURCE
#include "server/cli/spell_home.h"

#include "server/build/place/place_file.h"
#include "server/build/place/place_home.h"
#include "server/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PLACE_JSON_BYTES (1u << 20)

// --- reading ------------------------------------------------------------------------------------

int spell_home_read(SpellHome *home, const Tool *client, const char *folder)
{
    char reason[WORKER_REASON_BYTES] = "";
    uint8_t *text = NULL;
    size_t bytes = 0;
    *home = (SpellHome){.folder = folder};
    Status status = place_file_read(folder, "place.json", PLACE_JSON_BYTES, &text, &bytes);
    if (status != STATUS_OK) {
        return tool_fail(client, "%s/place.json cannot be read: %s", folder, status_text(status));
    }
    status = spell_list_read_place(text, bytes, &home->wanted, reason);
    free(text);
    text = NULL;
    if (status == STATUS_OK &&
        place_file_read(folder, SPELL_LOCK, SPELL_LOCK_BYTES, &text, &bytes) == STATUS_OK) {
        status = spell_list_read_lock(text, bytes, &home->lock, reason);
        free(text);
    }
    return status == STATUS_OK ? EXIT_OK : tool_fail(client, "%s/%s", folder, reason);
}

void spell_home_free(SpellHome *home)
{
    for (uint32_t i = 0; i < SPELLS_PER_PLACE_MAX; i++) {
        buffer_free(&home->modules[i]);
    }
}

// --- the cache ----------------------------------------------------------------------------------

// ~/.cache/sandlot/spells/<hash>; false: there is no place for it.
static bool cache_path(const uint8_t hash[SHA256_BYTES], char out[PATH_MAX])
{
    char folder[PATH_MAX], hex[2 * SHA256_BYTES + 1];
    const char *cache = getenv("XDG_CACHE_HOME"), *user = getenv("HOME");
    const bool has_cache = cache != NULL && cache[0] == '/';
    if (!has_cache && (user == NULL || user[0] != '/')) {
        return false;
    }
    sha256_hex(hash, hex);
    if (snprintf(folder, sizeof folder, "%s%s", has_cache ? cache : user,
                 has_cache ? "" : "/.cache") >= PATH_MAX - 128) {
        return false;
    }
    (void)mkdir(folder, 0700); // usually there
    const size_t bytes = strlen(folder);
    snprintf(folder + bytes, sizeof folder - bytes, "/sandlot");
    (void)mkdir(folder, 0700);
    snprintf(folder + bytes, sizeof folder - bytes, "/sandlot/spells");
    (void)mkdir(folder, 0700);
    return snprintf(out, PATH_MAX, "%s/%s", folder, hex) < PATH_MAX;
}

bool spell_home_take(SpellHome *home, uint32_t index, const Buffer *data)
{
    const SpellUse *use = &home->wanted.items[index];
    uint8_t hash[SHA256_BYTES];
    char path[PATH_MAX];
    sha256_of(data->data, data->bytes, hash);
    if (memcmp(hash, use->module, sizeof hash) != 0) {
        return false;
    }
    home->modules[index] = buffer_of(SPELL_BUNDLE_BYTES_MAX);
    buffer_put(&home->modules[index], data->data, data->bytes);
    if (cache_path(hash, path)) { // the next place need not ask for it
        status_ignore(file_write_shared(path, data->data, data->bytes));
    }
    return home->modules[index].status == STATUS_OK;
}

bool spell_home_has(SpellHome *home, uint32_t index)
{
    char path[PATH_MAX];
    uint8_t *text = NULL;
    size_t bytes = 0;
    if (home->modules[index].bytes > 0) {
        return true;
    }
    if (!cache_path(home->wanted.items[index].module, path) ||
        file_read(path, SPELL_BUNDLE_BYTES_MAX, &text, &bytes) != STATUS_OK) {
        return false;
    }
    const Buffer data = {.data = text, .bytes = bytes};
    const bool is_good = spell_home_take(home, index, &data);
    free(text);
    return is_good;
}

// --- writing ------------------------------------------------------------------------------------

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind, (void)at;
    return remove(path);
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool write_modules(const SpellUse *use, const Buffer *data, const char *folder)
{
    SpellBundle bundle;
    char path[PATH_MAX];
    if (spell_bundle_parse(data->data, data->bytes, &bundle) != STATUS_OK) {
        return false;
    }
    bool is_good = snprintf(path, sizeof path, "%s/%s", folder, use->spell_id) < PATH_MAX &&
                   (bundle.count == 1 || mkdir(path, 0777) == 0);
    for (uint32_t i = 0; i < bundle.count && is_good; i++) {
        const SpellModule *module = &bundle.modules[i];
        is_good = snprintf(path, sizeof path, "%s/%s%s%s.lua", folder, use->spell_id,
                           module->name[0] != '\0' ? "/" : "", module->name) < PATH_MAX &&
                  file_write_shared(path, module->text, module->bytes) == STATUS_OK;
    }
    free(bundle.memory);
    return is_good;
}

static bool write_lock(const SpellHome *home)
{
    Buffer text = buffer_of(SPELL_LOCK_BYTES);
    char path[PATH_MAX];
    spell_list_write(&home->wanted, &text);
    const bool is_good = text.status == STATUS_OK &&
                         snprintf(path, sizeof path, "%s/" SPELL_LOCK, home->folder) < PATH_MAX &&
                         file_write_shared(path, text.data, text.bytes) == STATUS_OK;
    buffer_free(&text);
    return is_good;
}

int spell_home_write(SpellHome *home, const Tool *client)
{
    char now[PLACE_HOME_PATH_BYTES], new[PLACE_HOME_PATH_BYTES];
    const char *why;
    if (place_home_folder(home->folder, "spells", now, &why) != STATUS_OK) {
        return tool_fail(client, "%s/.sandlot: %s", home->folder, why);
    }
    if (snprintf(new, sizeof new, "%.*s.new", (int)sizeof new - 8, now) >= (int)sizeof new) {
        return tool_fail(client, "the path is too long");
    }
    remove_tree(new); // of a process that ended in between
    bool is_good = mkdir(new, 0777) == 0;
    for (uint32_t i = 0; i < home->wanted.count && is_good; i++) {
        is_good = write_modules(&home->wanted.items[i], &home->modules[i], new);
    }
    is_good = is_good && renameat2(AT_FDCWD, new, AT_FDCWD, now, RENAME_EXCHANGE) == 0 &&
              write_lock(home);
    const int error = errno;
    remove_tree(new); // what was there before
    return is_good ? EXIT_OK
                   : tool_fail(client, "%s/.sandlot/spells cannot be written: %s", home->folder,
                               strerror(error));
}
