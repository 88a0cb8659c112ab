// `sandlot place`: everything a creator does with places that are on a server.
#define _GNU_SOURCE
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/base/nearest.h"
#include "server/build/package/package.h"
#include "server/cli/place_known.h"
#include "server/cli/place_print.h"
#include "server/sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 1024
#define BODY_BYTES (64u << 10)
#define WORDS_MAX  16

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot place VERB [ID] [...]   places on a server: yours, and those you work "
        "on\n\n"
        "  list                      the places that you own or work on\n"
        "  show ID                   one place: its page, channels, and what you may do with it\n"
        "  revisions ID              its revisions, the newest first\n"
        "  promote ID REVISION       lets the channel name this revision (r3), also an older one\n"
        "  rollback ID               lets the channel name the ready revision before the one it "
        "has\n"
        "  withdraw ID               lets the channel name none: nobody can play it there\n"
        "  download ID FILE          its .game file, for those who may read it\n"
        "  fork ID                   a place of your own from one that you may read\n"
        "  title ID TEXT             changes its title\n"
        "  description ID TEXT       changes its description\n"
        "  visibility ID WORD        private (its team), unlisted (who has the link) or listed\n"
        "  source ID WORD            open (everybody may read and fork it) or closed\n"
        "  tags ID [TAG ...]         shows its tags, or puts these in their place; --none: none\n"
        "  chat ID WORD              what may be said there: free, phrases or off\n"
        "  stats ID                  how much it is played, by day\n"
        "  team ID                   who works on it\n"
        "  team ID NAME ROLE         makes somebody editor, tester or blocked; none takes it back\n"
        "  give ID NAME              offers the place to somebody; give ID --none takes that back\n"
        "  offers                    places that are offered to you\n"
        "  accept ID, decline ID     takes a place that is offered, or does not\n"
        "  trash ID, restore ID      into the trash, and back, for 30 days\n"
        "  delete ID REVISION --yes  deletes a revision that no channel names, for good\n"
        "  purge ID --yes            deletes a place that is in the trash, for good\n"
        "  quota                     what you store, and may store\n\n"
        "  --channel NAME    of promote, rollback and withdraw: live (the default) or beta\n"
        "  --revision rN     of download and fork (default: the newest that is ready)\n"
        "  --title TEXT      of fork\n"
        "  --days N          of stats, 1 to 366 (default 30)\n"
        "  --force           download writes over a file\n" TOOL_HELP
        "\nID is a place's id (`place_obby-k3x9ab`, also without `place_`), or the folder that "
        "you\n"
        "published it from. Sign in with `sandlot login` first; `sandlot publish` makes places "
        "and\n"
        "revisions. Exit codes: 0 done, 1 failed, 2 invalid arguments.\n");
}

typedef struct Place {
    Tool client;
    char id[PLACE_ID_TEXT_BYTES];
    const char *words[WORDS_MAX]; // after the id
    uint32_t word_count;
    const char *channel, *revision, *title, *days;
    bool is_forced, wants_none, is_sure;
} Place;

// The address of something about the place: "/api/places/<id><rest>".
static void address_of(const Place *place, const char *rest, char out[PATH_BYTES])
{
    snprintf(out, PATH_BYTES, "/api/places/%s%s", place->id, rest);
}

static int show(const Place *place, const char *method, const char *rest, const char *body,
                ToolRow print)
{
    char path[PATH_BYTES];
    address_of(place, rest, path);
    return tool_show(&place->client, method, path, body, print);
}

static int change(const Place *place, const char *name, const char *value)
{
    static char body[BODY_BYTES];
    return tool_object(body, sizeof body, name, value, NULL)
               ? show(place, "PATCH", "", body, place_print_page)
               : tool_fail(&place->client, "the %s is no text, or too long", name);
}

// --- looking at it ------------------------------------------------------------------------------

static int run_list(Place *place)
{
    return tool_list(&place->client, "/api/me/places", "places", "after", place_print_row);
}

static int run_offers(Place *place)
{
    return tool_list(&place->client, "/api/me/offers", "offers", "after", place_print_offer);
}

static int run_quota(Place *place)
{
    return tool_show(&place->client, "GET", "/api/me/quota", NULL, place_print_quota);
}

static int run_show(Place *place)
{
    return show(place, "GET", "", NULL, place_print_page);
}

static int run_revisions(Place *place)
{
    char path[PATH_BYTES];
    address_of(place, "/revisions", path);
    return tool_list(&place->client, path, "revisions", "after", place_print_revision);
}

static int run_stats(Place *place)
{
    char rest[64];
    uint32_t days = 30;
    if (place->days != NULL && !command_parse_u32(place->days, 1, 366, &days)) {
        return command_misused("place", place->client.json, "--days is 1 to 366", NULL);
    }
    snprintf(rest, sizeof rest, "/stats?days=%u", days);
    return show(place, "GET", rest, NULL, place_print_stats);
}

// --- channels -----------------------------------------------------------------------------------

static int set_channel(const Place *place, const char *revision)
{
    char rest[64], body[128];
    snprintf(rest, sizeof rest, "/channels/%s", place->channel);
    if (revision == NULL) {
        snprintf(body, sizeof body, "{\"revision_id\":null}");
    } else if (!tool_object(body, sizeof body, "revision_id", revision, NULL)) {
        return tool_fail(&place->client, "the revision is too long; it is such as r3");
    }
    return show(place, "POST", rest, body, place_print_channel);
}

static int run_promote(Place *place)
{
    return set_channel(place, place->words[0]);
}

static int run_withdraw(Place *place)
{
    return set_channel(place, NULL);
}

// The newest ready revision of a page below that one; "": none.
static void find_below(const JsonNode *root, const char *than, char out[16])
{
    const JsonNode *rows = json_find(root, "revisions");
    const uint32_t limit = place_revision_number(than);
    out[0] = '\0';
    for (const JsonNode *row = rows != NULL ? rows->first : NULL; row != NULL && out[0] == '\0';
         row = row->next) {
        const char *id = tool_text(row, "revision_id");
        if (strcmp(tool_text(row, "state"), "ready") == 0 && place_revision_number(id) < limit) {
            snprintf(out, 16, "%s", id);
        }
    }
}

// What the channel named before is not kept, and need not be: revisions are numbered as they were
// published.
static int run_rollback(Place *place)
{
    char path[PATH_BYTES], now[16] = "", found[16] = "", rest[64];
    ToolReply reply;
    address_of(place, "", path);
    int code = tool_ask(&place->client, "GET", path, NULL, &reply);
    if (code == EXIT_OK) {
        snprintf(now, sizeof now, "%s", tool_text(reply.root, place->channel));
    }
    tool_free(&reply);
    if (code == EXIT_OK && now[0] == '\0') {
        return tool_fail(&place->client, "%s has no %s revision; `sandlot place promote` names one",
                         place->id, place->channel);
    }
    if (code == EXIT_OK) {
        snprintf(rest, sizeof rest, "/revisions?limit=100&after=%s", now);
        address_of(place, rest, path);
        code = tool_ask(&place->client, "GET", path, NULL, &reply);
        find_below(code == EXIT_OK ? reply.root : NULL, now, found);
        tool_free(&reply);
    }
    if (code == EXIT_OK && found[0] == '\0') {
        return tool_fail(&place->client, "%s has no ready revision before %s", place->id, now);
    }
    return code == EXIT_OK ? set_channel(place, found) : code;
}

// --- its page -----------------------------------------------------------------------------------

static int run_title(Place *place)
{
    return change(place, "title", place->words[0]);
}

static int run_description(Place *place)
{
    return change(place, "description", place->words[0]);
}

static int run_visibility(Place *place)
{
    return change(place, "visibility", place->words[0]);
}

static int run_source(Place *place)
{
    const bool is_open = strcmp(place->words[0], "open") == 0;
    if (!is_open && strcmp(place->words[0], "closed") != 0) {
        return command_misused("place", place->client.json, "source is open or closed, not",
                               place->words[0]);
    }
    return show(place, "PATCH", "", is_open ? "{\"open\":true}" : "{\"open\":false}",
                place_print_page);
}

static int run_tags(Place *place)
{
    char body[1024];
    ByteWriter writer = byte_writer(body, sizeof body - 1);
    JsonWriter json = json_writer(&writer, 0);
    if (place->word_count == 0 && !place->wants_none) {
        return show(place, "GET", "", NULL, place_print_tags);
    }
    json_write_object_begin(&json);
    json_write_name(&json, "tags");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < place->word_count; i++) {
        json_write_text(&json, place->words[i]);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    if (json_writer_finish(&json) != STATUS_OK) {
        return tool_fail(&place->client, "the tags are no text, or too long");
    }
    body[writer.at] = '\0';
    return show(place, "PUT", "/tags", body, place_print_tags);
}

static int run_chat(Place *place)
{
    char body[256];
    return tool_object(body, sizeof body, "rule", place->words[0], NULL)
               ? show(place, "PUT", "/chat", body, place_print_chat)
               : tool_fail(&place->client, "chat is free, phrases or off");
}

// --- people -------------------------------------------------------------------------------------

static int run_team(Place *place)
{
    char name[256], rest[300], body[256];
    if (place->word_count == 0) {
        return show(place, "GET", "/team", NULL, place_print_team);
    }
    if (place->word_count == 1) {
        return command_misused("place", place->client.json,
                               "which role? editor, tester, blocked, or none", NULL);
    }
    tool_escape(place->words[0], name, sizeof name);
    snprintf(rest, sizeof rest, "/team/%s", name);
    if (strcmp(place->words[1], "none") == 0) {
        return show(place, "DELETE", rest, NULL, place_print_person);
    }
    return tool_object(body, sizeof body, "role", place->words[1], NULL)
               ? show(place, "PUT", rest, body, place_print_person)
               : tool_fail(&place->client, "the role is editor, tester, blocked or none");
}

static int run_give(Place *place)
{
    char body[256];
    if (place->wants_none && place->word_count == 0) {
        return show(place, "DELETE", "/give", NULL, place_print_kept);
    }
    if (place->word_count == 0) {
        return command_misused("place", place->client.json,
                               "give needs a place and the name of an account", NULL);
    }
    return tool_object(body, sizeof body, "account", place->words[0], NULL)
               ? show(place, "POST", "/give", body, place_print_given)
               : tool_fail(&place->client, "the name is no text, or too long");
}

static int run_accept(Place *place)
{
    return show(place, "POST", "/accept", NULL, place_print_accepted);
}

static int run_decline(Place *place)
{
    return show(place, "POST", "/decline", NULL, place_print_declined);
}

// --- the trash, and copies ----------------------------------------------------------------------

static int run_trash(Place *place)
{
    return show(place, "DELETE", "", NULL, place_print_trashed);
}

// What cannot be undone must be meant.
static bool is_unsure(const Place *place)
{
    return !place->is_sure &&
           command_misused("place", place->client.json,
                           "this cannot be undone; if you mean it, add --yes", NULL) != EXIT_OK;
}

static int run_delete(Place *place)
{
    char rest[96], revision[64];
    if (is_unsure(place)) {
        return EXIT_USAGE;
    }
    tool_escape(place->words[0], revision, sizeof revision);
    snprintf(rest, sizeof rest, "/revisions/%s", revision);
    return show(place, "DELETE", rest, NULL, place_print_deleted);
}

// A place that is not in the trash would only be put there: the owner has 30 days to think again.
static int run_purge(Place *place)
{
    char path[PATH_BYTES];
    ToolReply page;
    if (is_unsure(place)) {
        return EXIT_USAGE;
    }
    address_of(place, "", path);
    int code = tool_ask(&place->client, "GET", path, NULL, &page);
    if (code == EXIT_OK && tool_text(page.root, "trashed_at")[0] == '\0') {
        code = tool_fail(&place->client,
                         "%s is not in the trash; `sandlot place trash` puts it there", place->id);
    }
    tool_free(&page);
    return code == EXIT_OK ? show(place, "DELETE", "?purge=1", NULL, place_print_deleted) : code;
}

static int run_restore(Place *place)
{
    return show(place, "POST", "/restore", NULL, place_print_page);
}

static int run_fork(Place *place)
{
    char path[PATH_BYTES], body[1024], job[64] = "";
    ToolReply reply;
    address_of(place, "/fork", path);
    if (!tool_object(body, sizeof body, "title", place->title, "revision_id", place->revision,
                     NULL)) {
        return tool_fail(&place->client, "the title is no text, or too long");
    }
    int code = tool_ask(&place->client, "POST", path, body, &reply);
    if (code == EXIT_OK) {
        snprintf(job, sizeof job, "%s", tool_text(reply.root, "job_id"));
        code = tool_wait(&place->client, job, tool_text(reply.root, "place_id"), NULL, NULL);
    }
    if (code == EXIT_OK) {
        place_print_forked(&place->client, &reply);
    }
    tool_free(&reply);
    return code;
}

static int run_download(Place *place)
{
    char path[PATH_BYTES], rest[128], revision[64] = "";
    const char *file = place->words[0];
    struct stat about;
    ToolReply reply;
    if (!place->is_forced && lstat(file, &about) == 0) {
        return tool_fail(&place->client, "%s exists; --force writes over it", file);
    }
    if (place->revision != NULL) {
        tool_escape(place->revision, revision, sizeof revision);
    }
    snprintf(rest, sizeof rest, "/package%s%s", revision[0] != '\0' ? "?revision=" : "", revision);
    address_of(place, rest, path);
    int code = tool_download(&place->client, path, PACKAGE_BYTES_MAX, &reply);
    if (code == EXIT_OK &&
        file_write_shared(file, reply.body.data, reply.body.bytes) != STATUS_OK) {
        code = tool_fail(&place->client, "%s cannot be written: %s", file, strerror(errno));
    }
    if (code == EXIT_OK) {
        place_print_download(&place->client, place->id, file, reply.body.bytes);
    }
    tool_free(&reply);
    return code;
}

// --- the arguments ------------------------------------------------------------------------------

typedef struct Verb {
    const char *name;
    bool takes_id;
    uint32_t least, most; // words after the id
    const char *options;  // that it takes, separated by spaces
    const char *needs;    // what to say if the words are not so many
    int (*run)(Place *place);
} Verb;

static const Verb verbs[] = {
    {"list", false, 0, 0, "", "list takes nothing more", run_list},
    {"show", true, 0, 0, "", "show needs a place", run_show},
    {"revisions", true, 0, 0, "", "revisions needs a place", run_revisions},
    {"promote", true, 1, 1, "--channel", "promote needs a place and a revision, such as r3",
     run_promote},
    {"rollback", true, 0, 0, "--channel",
     "rollback needs a place; `promote` names a certain revision", run_rollback},
    {"withdraw", true, 0, 0, "--channel", "withdraw needs a place", run_withdraw},
    {"download", true, 1, 1, "--revision --force", "download needs a place and a file",
     run_download},
    {"fork", true, 0, 0, "--title --revision", "fork needs a place", run_fork},
    {"title", true, 1, 1, "", "title needs a place and a text, in quotes", run_title},
    {"description", true, 1, 1, "", "description needs a place and a text, in quotes",
     run_description},
    {"visibility", true, 1, 1, "", "visibility needs a place, and private, unlisted or listed",
     run_visibility},
    {"source", true, 1, 1, "", "source needs a place, and open or closed", run_source},
    {"tags", true, 0, TAGS_PER_PLACE_MAX, "--none", "tags needs a place and at most 8 tags",
     run_tags},
    {"chat", true, 1, 1, "", "chat needs a place, and free, phrases or off", run_chat},
    {"stats", true, 0, 0, "--days", "stats needs a place", run_stats},
    {"team", true, 0, 2, "", "team needs a place, and to change it a name and a role", run_team},
    {"give", true, 0, 1, "--none", "give needs a place and the name of an account", run_give},
    {"offers", false, 0, 0, "", "offers takes nothing more", run_offers},
    {"accept", true, 0, 0, "", "accept needs a place", run_accept},
    {"decline", true, 0, 0, "", "decline needs a place", run_decline},
    {"trash", true, 0, 0, "", "trash needs a place", run_trash},
    {"restore", true, 0, 0, "", "restore needs a place", run_restore},
    {"delete", true, 1, 1, "--yes", "delete needs a place and a revision, such as r3", run_delete},
    {"purge", true, 0, 0, "--yes", "purge needs a place", run_purge},
    {"quota", false, 0, 0, "", "quota takes nothing more", run_quota},
};
#define VERB_COUNT (sizeof verbs / sizeof verbs[0])

static const Verb *find_verb(const Place *place, const char *name, int *code)
{
    char what[128] = "unknown verb";
    Nearest nearest = nearest_begin(name, strlen(name));
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            return &verbs[i];
        }
        (void)nearest_consider(&nearest, verbs[i].name, strlen(verbs[i].name));
    }
    if (nearest.found != NULL) {
        snprintf(what, sizeof what, "unknown verb (did you mean \"%s\"?)", nearest.found);
    }
    *code = command_misused("place", place->client.json, what, name);
    return NULL;
}

static bool takes_option(const Verb *verb, const char *option)
{
    const char *at = strstr(verb->options, option);
    return at != NULL && (at[strlen(option)] == '\0' || at[strlen(option)] == ' ');
}

// An option and its value: how many arguments; 0: it is none; -1: it is wrong, and was said.
static int read_option(Place *place, const Verb *verb, int argc, char **argv, int i)
{
    const struct {
        const char *name;
        const char **value;
        bool *flag;
    } options[] = {{"--channel", &place->channel, NULL}, {"--revision", &place->revision, NULL},
                   {"--title", &place->title, NULL},     {"--days", &place->days, NULL},
                   {"--force", NULL, &place->is_forced}, {"--none", NULL, &place->wants_none},
                   {"--yes", NULL, &place->is_sure}};
    for (size_t at = 0; at < sizeof options / sizeof options[0]; at++) {
        if (strcmp(argv[i], options[at].name) != 0) {
            continue;
        }
        if (!takes_option(verb, argv[i])) {
            char what[64];
            snprintf(what, sizeof what, "`place %s` takes no", verb->name);
            (void)command_misused("place", place->client.json, what, argv[i]);
            return -1;
        }
        if (options[at].flag != NULL) {
            *options[at].flag = true;
            return 1;
        }
        *options[at].value = command_value(argc, argv, i);
        if (*options[at].value != NULL) {
            return 2;
        }
    }
    if (argv[i][0] != '-' || argv[i][1] == '\0') {
        return 0;
    }
    (void)command_unknown_option("place", place->client.json, argv[i], print_usage);
    return -1;
}

static int parse_arguments(Place *place, const Verb *verb, int argc, char **argv)
{
    const char *id = NULL;
    const bool json = place->client.json;
    for (int i = 2; i < argc;) {
        const int taken = read_option(place, verb, argc, argv, i);
        if (taken < 0) {
            return EXIT_USAGE;
        }
        if (taken == 0 && verb->takes_id && id == NULL) {
            id = argv[i];
        } else if (taken == 0) {
            if (place->word_count == verb->most) {
                return command_misused("place", json, verb->needs, NULL);
            }
            place->words[place->word_count++] = argv[i];
        }
        i += taken > 0 ? taken : 1;
    }
    if ((verb->takes_id && id == NULL) || place->word_count < verb->least) {
        return command_misused("place", json, verb->needs, NULL);
    }
    if (strcmp(place->channel, "live") != 0 && strcmp(place->channel, "beta") != 0) {
        return command_misused("place", json, "--channel is live or beta, not", place->channel);
    }
    return id != NULL ? place_argument(&place->client, id, place->id) : EXIT_OK;
}

int cmd_place(int argc, char **argv)
{
    Place place = {.channel = "live"};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
    }
    int code = tool_open(&place.client, "place", &argc, argv);
    if (code == EXIT_OK && argc > 1 && argv[1][0] == '-') {
        return command_unknown_option("place", place.client.json, argv[1], print_usage);
    }
    if (code == EXIT_OK && argc < 2) {
        return command_misused("place", place.client.json, "what shall be done?", NULL);
    }
    const Verb *verb = code == EXIT_OK ? find_verb(&place, argv[1], &code) : NULL;
    code = verb != NULL ? parse_arguments(&place, verb, argc, argv) : code;
    code = code == EXIT_OK ? verb->run(&place) : code;
    explicit_bzero(&place.client, sizeof place.client);
    return code;
}
