// `sandlot spell`: the spells that a place uses, and making one.
#define _GNU_SOURCE
#include "core/base/json_write.h"
#include "core/script/vm/vm.h"
#include "server/build/base/diagnostic.h"
#include "server/cli/spell_home.h"
#include "server/serve/place/place_build.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 512
#define BODY_BYTES (4u << 20)
#define NAMES_MAX  SPELLS_PER_PLACE_MAX

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot spell list DIR             the spells that a place uses, and updates\n"
        "       sandlot spell fetch DIR            fetches the spells that place.json names and\n"
        "                                          the lock does not have yet\n"
        "       sandlot spell update DIR NAME ...  updates spells to the revisions of their\n"
        "                                          channels; --all: all of them\n"
        "       sandlot spell publish PATH         makes a revision of a spell from a Lua file, "
        "or\n"
        "                                          from a folder: NAME.lua and its other "
        "modules\n\n"
        "  --name NAME      of publish: the spell's id (default: the name of the file or folder)\n"
        "  --channel NAME   of publish: live (the default), beta or none\n" TOOL_HELP
        "\nA place names spells in place.json: \"spells\": {\"fire\": \"live\"}, and scripts use "
        "them as\n"
        "require(\"@fire\") or require(\"@fire/part\"). The revisions in use are in\n" SPELL_LOCK
        "; "
        "modules are kept by hash in ~/.cache/sandlot/spells, so that a place whose lock names "
        "them is\n"
        "fetched and built without a server. Exit codes: 0 done, 1 failed, 2 invalid arguments.\n");
}

typedef struct Spell {
    Tool client;
    const char *path, *names[NAMES_MAX], *name, *channel;
    uint32_t name_count;
    bool wants_all;
} Spell;

// --- what a server has --------------------------------------------------------------------------

// The revision that place.json wants of a spell now. EXIT_OK, or it was said what is wrong.
static int ask_revision(const Spell *spell, const SpellUse *use, uint32_t *number)
{
    char path[PATH_BYTES];
    ToolReply page;
    if (revision_id_read(use->wanted, number)) {
        return EXIT_OK;
    }
    snprintf(path, sizeof path, "/api/spells/%s", use->spell_id);
    int code = tool_ask(&spell->client, "GET", path, NULL, &page);
    if (code == EXIT_OK && !revision_id_read(tool_text(page.root, use->wanted), number)) {
        code = tool_fail(&spell->client, "the spell %s has no %s revision that you may use",
                         use->spell_id, use->wanted);
    }
    tool_free(&page);
    return code;
}

static bool read_hex(const char *text, uint8_t out[SHA256_BYTES])
{
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) {
            return false;
        }
        out[i] = (uint8_t)byte;
    }
    return strlen(text) == 2 * (size_t)SHA256_BYTES;
}

// The hash of its package, which only those who may read it are told.
static int ask_package(const Spell *spell, SpellUse *use)
{
    char path[PATH_BYTES], id[REVISION_ID_BYTES];
    ToolReply reply;
    snprintf(path, sizeof path, "/api/spells/%s/revisions?limit=1&after=r%u", use->spell_id,
             use->revision + 1);
    int code = tool_ask(&spell->client, "GET", path, NULL, &reply);
    const JsonNode *rows = code == EXIT_OK ? json_find(reply.root, "revisions") : NULL;
    const JsonNode *row = rows != NULL ? rows->first : NULL;
    revision_id_write(use->revision, id);
    if (code == EXIT_OK && (row == NULL || strcmp(tool_text(row, "revision_id"), id) != 0)) {
        code = tool_fail(&spell->client, "the spell %s has no revision %s that you may use",
                         use->spell_id, id);
    } else if (code == EXIT_OK && !read_hex(tool_text(row, "sha256"), use->package)) {
        code =
            tool_fail(&spell->client,
                      "the spell %s is not open: places on the server may use it, but its source "
                      "is not given away",
                      use->spell_id);
    }
    tool_free(&reply);
    return code;
}

static int download(const Spell *spell, SpellHome *home, uint32_t index, bool is_locked)
{
    SpellUse *use = &home->wanted.items[index];
    char path[PATH_BYTES];
    ToolReply reply;
    snprintf(path, sizeof path, "/api/spells/%s/revisions/r%u/module", use->spell_id,
             use->revision);
    int code = tool_download(&spell->client, path, SPELL_BUNDLE_BYTES_MAX, &reply);
    if (code == EXIT_OK && !is_locked) {
        sha256_of(reply.body.data, reply.body.bytes, use->module);
    }
    if (code == EXIT_OK && !spell_home_take(home, index, &reply.body)) {
        code = tool_fail(&spell->client,
                         "r%u of the spell %s is not what " SPELL_LOCK
                         " names; `sandlot spell update` "
                         "takes what the server has",
                         use->revision, use->spell_id);
    }
    tool_free(&reply);
    return code;
}

// --- taking -------------------------------------------------------------------------------------

static bool is_named(const Spell *spell, const char *spell_id)
{
    for (uint32_t i = 0; i < spell->name_count; i++) {
        if (strcmp(spell->names[i], spell_id) == 0) {
            return true;
        }
    }
    return spell->wants_all;
}

// What the lock says, as long as place.json wants the same as then, and nobody asks for another.
static int take(const Spell *spell, SpellHome *home, uint32_t index, bool updates)
{
    SpellUse *use = &home->wanted.items[index];
    const SpellUse *locked = spell_list_find(&home->lock, use->spell_id);
    const bool holds = locked != NULL && strcmp(locked->wanted, use->wanted) == 0 &&
                       !(updates && is_named(spell, use->spell_id));
    uint32_t number = 0;
    if (holds) {
        *use = *locked;
        return spell_home_has(home, index) ? EXIT_OK : download(spell, home, index, true);
    }
    int code = ask_revision(spell, use, &number);
    use->revision = number;
    code = code == EXIT_OK ? ask_package(spell, use) : code;
    return code == EXIT_OK ? download(spell, home, index, false) : code;
}

static void print_taken(const Spell *spell, const SpellHome *home)
{
    for (uint32_t i = 0; i < home->wanted.count && !spell->client.json; i++) {
        const SpellUse *use = &home->wanted.items[i], *locked;
        locked = spell_list_find(&home->lock, use->spell_id);
        const bool is_new = locked == NULL || locked->revision != use->revision;
        diagnostic_print(stdout, "%-24s  %-5s  r%u%s", use->spell_id, use->wanted, use->revision,
                         is_new ? "  new" : "");
    }
    if (spell->client.json) {
        Buffer text = buffer_of(SPELL_LOCK_BYTES);
        spell_list_write(&home->wanted, &text);
        printf("%.*s", (int)text.bytes, (const char *)text.data);
        buffer_free(&text);
    }
}

static int run_fetch(Spell *spell, bool updates)
{
    SpellHome *home = calloc(1, sizeof *home);
    if (home == NULL) {
        return tool_fail(&spell->client, "out of memory");
    }
    int code = spell_home_read(home, &spell->client, spell->path);
    for (uint32_t i = 0; i < spell->name_count && code == EXIT_OK; i++) {
        if (spell_list_find(&home->wanted, spell->names[i]) == NULL) {
            code = tool_fail(&spell->client, "%s/place.json names no spell %s", spell->path,
                             spell->names[i]);
        }
    }
    for (uint32_t i = 0; i < home->wanted.count && code == EXIT_OK; i++) {
        code = take(spell, home, i, updates);
    }
    code = code == EXIT_OK ? spell_home_write(home, &spell->client) : code;
    if (code == EXIT_OK) {
        print_taken(spell, home);
    }
    spell_home_free(home);
    free(home);
    return code;
}

// --- listing ------------------------------------------------------------------------------------

// What the channel names, without a word if nobody can be asked; 0: not known.
static uint32_t find_update(const Spell *spell, const SpellUse *use)
{
    char path[PATH_BYTES];
    ToolReply page;
    Tool quiet = spell->client;
    uint32_t number = 0;
    const char *channel = strcmp(use->wanted, "beta") == 0 ? "beta" : "live";
    quiet.is_quiet = true;
    snprintf(path, sizeof path, "/api/spells/%s", use->spell_id);
    if (tool_ask(&quiet, "GET", path, NULL, &page) != EXIT_OK ||
        !revision_id_read(tool_text(page.root, channel), &number)) {
        number = 0;
    }
    tool_free(&page);
    return number;
}

static void print_row(const Spell *spell, const SpellUse *use, bool is_here, uint32_t update)
{
    char line[256], taken[24] = "-", newer[64] = "";
    if (use->revision != 0) {
        snprintf(taken, sizeof taken, "r%u", use->revision);
    }
    if (update != 0 && update != use->revision) {
        snprintf(newer, sizeof newer, "there is r%u", update);
    }
    if (spell->client.json) {
        if (tool_object(line, sizeof line, "spell_id", use->spell_id, "wanted", use->wanted,
                        "revision", use->revision != 0 ? taken : NULL, "here",
                        is_here ? "yes" : "no", NULL)) {
            printf("%.*s%s%s%s}\n", (int)strlen(line) - 1, line,
                   newer[0] != '\0' ? ",\"update\":\"" : "", newer[0] != '\0' ? newer + 9 : "",
                   newer[0] != '\0' ? "\"" : "");
        }
        return;
    }
    diagnostic_print(stdout, "%-24s  %-5s  %-5s  %-7s  %s", use->spell_id, use->wanted, taken,
                     is_here ? "fetched" : "-", newer);
}

static int run_list(Spell *spell)
{
    SpellHome *home = calloc(1, sizeof *home);
    if (home == NULL) {
        return tool_fail(&spell->client, "out of memory");
    }
    const int code = spell_home_read(home, &spell->client, spell->path);
    for (uint32_t i = 0; i < home->wanted.count && code == EXIT_OK; i++) {
        SpellUse *use = &home->wanted.items[i];
        const SpellUse *locked = spell_list_find(&home->lock, use->spell_id);
        if (locked != NULL && strcmp(locked->wanted, use->wanted) == 0) {
            *use = *locked;
        }
        print_row(spell, use, use->revision != 0 && spell_home_has(home, i),
                  find_update(spell, use));
    }
    spell_home_free(home);
    free(home);
    return code;
}

// --- making one ---------------------------------------------------------------------------------

typedef struct Making {
    JsonWriter *json;
    const Spell *spell;
    char name[SPELL_ID_BYTES];
} Making;

static bool write_file(Making *making, const char *name, const char *path)
{
    uint8_t *text = NULL;
    size_t bytes = 0;
    const bool is_read = file_read(path, VM_SOURCE_BYTES_MAX, &text, &bytes) == STATUS_OK;
    if (is_read) {
        json_write_name(making->json, name);
        json_write_text_bytes(making->json, (const char *)text, bytes);
    }
    free(text);
    return is_read || tool_fail(&making->spell->client,
                                "%s cannot be read, or has more than 256 KiB", path) == EXIT_OK;
}

// The other modules of a folder, by name.
static bool write_parts(Making *making, const char *folder)
{
    struct dirent **found = NULL;
    char path[PATH_MAX], part[SPELL_PART_BYTES];
    bool is_good = true;
    const int count = scandir(folder, &found, NULL, alphasort);
    json_write_name(making->json, "modules");
    json_write_object_begin(making->json);
    for (int i = 0; i < count; i++) {
        const char *name = found[i]->d_name, *dot = strrchr(name, '.');
        const size_t bytes = dot != NULL ? (size_t)(dot - name) : 0;
        if (is_good && dot != NULL && strcmp(dot, ".lua") == 0 && bytes < sizeof part) {
            snprintf(part, sizeof part, "%.*s", (int)bytes, name);
            snprintf(path, sizeof path, "%s/%s", folder, name);
            is_good = strcmp(part, making->name) == 0 || write_file(making, part, path);
        }
        free(found[i]);
    }
    free(found);
    json_write_object_end(making->json);
    return is_good;
}

static bool write_body(Making *making, const char *path)
{
    struct stat about;
    char first[PATH_MAX];
    const bool is_folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    snprintf(first, sizeof first, is_folder ? "%s/%s.lua" : "%s", path, making->name);
    json_write_object_begin(making->json);
    const bool is_good =
        write_file(making, "code", first) && (!is_folder || write_parts(making, path));
    json_write_object_end(making->json);
    return is_good;
}

// The last name of the path, without an ending.
static void name_of(const Spell *spell, char out[SPELL_ID_BYTES])
{
    char whole[PATH_MAX];
    const char *path = spell->path;
    if (realpath(path, whole) != NULL) {
        path = whole;
    }
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;
    snprintf(out, SPELL_ID_BYTES, "%.64s", spell->name != NULL ? spell->name : last);
    char *dot = spell->name == NULL ? strrchr(out, '.') : NULL;
    if (dot != NULL && dot != out) {
        *dot = '\0';
    }
}

static int publish_revision(const Spell *spell, const char *name, const char *job_id)
{
    char path[PATH_BYTES], body[256], revision[REVISION_ID_BYTES] = "";
    ToolReply reply;
    snprintf(path, sizeof path, "/api/jobs/%s", job_id);
    int code = tool_ask(&spell->client, "GET", path, NULL, &reply);
    if (code == EXIT_OK) {
        snprintf(revision, sizeof revision, "%s", tool_text(reply.root, "result_revision_id"));
    }
    tool_free(&reply);
    if (code == EXIT_OK && strcmp(spell->channel, "none") != 0) {
        snprintf(path, sizeof path, "/api/spells/%s/publish", name);
        (void)tool_object(body, sizeof body, "revision_id", revision, "channel", spell->channel,
                          NULL);
        code = tool_ask(&spell->client, "POST", path, body, &reply);
        tool_free(&reply);
    }
    if (code == EXIT_OK && spell->client.json) {
        (void)tool_object(body, sizeof body, "spell_id", name, "revision_id", revision, "channel",
                          spell->channel, NULL);
        printf("%s\n", body);
    } else if (code == EXIT_OK) {
        diagnostic_print(stdout, "%s of the spell %s is ready%s%s", revision, name,
                         strcmp(spell->channel, "none") == 0 ? "" : " and ",
                         strcmp(spell->channel, "none") == 0 ? "" : spell->channel);
    }
    return code;
}

static int run_publish(Spell *spell)
{
    uint8_t *text = malloc(BODY_BYTES);
    char path[PATH_BYTES], job[64] = "";
    ToolReply reply = {0};
    ByteWriter writer = byte_writer(text, text != NULL ? BODY_BYTES - 1 : 0);
    JsonWriter json = json_writer(&writer, 0);
    Making making = {.json = &json, .spell = spell};
    name_of(spell, making.name);
    int code = EXIT_FAILED;
    if (!spell_id_is_valid(making.name)) {
        code =
            tool_fail(&spell->client, "\"%s\" is no id of a spell; --name gives one", making.name);
    } else if (write_body(&making, spell->path)) {
        const bool fits = json_writer_finish(&json) == STATUS_OK;
        text[fits ? writer.at : 0] = '\0';
        snprintf(path, sizeof path, "/api/spells/%s/build", making.name);
        code = fits ? tool_ask(&spell->client, "POST", path, (const char *)text, &reply)
                    : tool_fail(&spell->client, "its modules are no text, or too long");
    }
    if (code == EXIT_OK) {
        snprintf(job, sizeof job, "%s", tool_text(reply.root, "job_id"));
        code = tool_wait(&spell->client, job, making.name, NULL, NULL);
    }
    code = code == EXIT_OK ? publish_revision(spell, making.name, job) : code;
    tool_free(&reply);
    free(text);
    return code;
}

// --- the arguments ------------------------------------------------------------------------------

static int parse_arguments(Spell *spell, int argc, char **argv)
{
    const bool json = spell->client.json, is_update = strcmp(argv[1], "update") == 0;
    const bool is_publish = strcmp(argv[1], "publish") == 0;
    for (int i = 2; i < argc; i++) {
        const char *value = command_value(argc, argv, i);
        if (is_publish && value != NULL && strcmp(argv[i], "--name") == 0) {
            spell->name = argv[++i];
        } else if (is_publish && value != NULL && strcmp(argv[i], "--channel") == 0) {
            spell->channel = argv[++i];
        } else if (is_update && strcmp(argv[i], "--all") == 0) {
            spell->wants_all = true;
        } else if (argv[i][0] == '-') {
            return command_unknown_option("spell", json, argv[i], print_usage);
        } else if (spell->path == NULL) {
            spell->path = argv[i];
        } else if (is_update && spell->name_count < NAMES_MAX) {
            spell->names[spell->name_count++] = argv[i];
        } else {
            return command_misused("spell", json, "unexpected argument", argv[i]);
        }
    }
    if (spell->path == NULL) {
        return command_misused("spell", json, "name the place's folder, or the spell's file", NULL);
    }
    if (is_update && spell->name_count == 0 && !spell->wants_all) {
        return command_misused("spell", json, "which spells? name them, or --all", NULL);
    }
    if (strcmp(spell->channel, "live") != 0 && strcmp(spell->channel, "beta") != 0 &&
        strcmp(spell->channel, "none") != 0) {
        return command_misused("spell", json, "--channel is live, beta or none, not",
                               spell->channel);
    }
    return EXIT_OK;
}

int cmd_spell(int argc, char **argv)
{
    Spell spell = {.channel = "live"};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    int code = tool_open(&spell.client, "spell", &argc, argv);
    const char *verb = argc > 1 ? argv[1] : "";
    const bool lists = strcmp(verb, "list") == 0, fetches = strcmp(verb, "fetch") == 0;
    const bool updates = strcmp(verb, "update") == 0, makes = strcmp(verb, "publish") == 0;
    if (code == EXIT_OK && verb[0] == '-') {
        return command_unknown_option("spell", spell.client.json, verb, print_usage);
    }
    if (code == EXIT_OK && !lists && !fetches && !updates && !makes) {
        return command_misused("spell", spell.client.json,
                               verb[0] != '\0' ? "unknown verb" : "what shall be done?",
                               verb[0] != '\0' ? verb : NULL);
    }
    code = code == EXIT_OK ? parse_arguments(&spell, argc, argv) : code;
    if (code == EXIT_OK) {
        code = lists ? run_list(&spell) : makes ? run_publish(&spell) : run_fetch(&spell, updates);
    }
    explicit_bzero(&spell.client, sizeof spell.client);
    return code;
}
