// `sandlot publish`: builds a place here first, so that mistakes are found before anything is sent,
// packs it, uploads it, and waits until the server has built it too.
#define _GNU_SOURCE
#include "core/base/json_member.h"
#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "server/build/package/package.h"
#include "server/build/pipeline/build_show.h"
#include "server/cli/command_json.h"
#include "server/cli/package_show.h"
#include "server/cli/place_known.h"
#include "server/cli/tool.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOTES_DEFAULT "published from the command line"
#define ID_BYTES      PLACE_ID_TEXT_BYTES
#define NOTES_BYTES   2001
#define ADDRESS_BYTES 8192
#define BAR_COLUMNS   24

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot publish DIR [options]   build a place and put it on a server\n\n"
        "  --channel NAME     live (the default): players get it; beta: testers do; none: it is\n"
        "                     only stored\n"
        "  --notes TEXT       what is new in this revision\n"
        "  --title TEXT       the title of the place (default: as it is; of a new one, its name\n"
        "                     in place.json)\n"
        "  --visibility WORD  private (a new place's default), unlisted or listed\n"
        "  --place ID         the place to publish to (default: the one of the last time, from\n"
        "                     DIR/.sandlot/publish.json, else a new one)\n"
        "  --allow-weak-jail  continue even if the kernel lacks a layer of the jail\n" TOOL_HELP
        "\nSign in with `sandlot login` first. Mistakes in the place are shown with file and line\n"
        "before anything is sent. `sandlot place` does everything else with a published place.\n"
        "Exit codes: 0 published, 1 failed, 2 invalid arguments.\n");
}

#define WORLDS_MAX     16
#define WORLDS_MS_MAX  15000u
#define WORLDS_POLL_MS 200

// A world that ran while the place was published.
typedef struct World {
    char id[ID_BYTES], reload[16], reason[256];
} World;

typedef struct Publish {
    Tool client;
    const char *folder, *channel, *notes, *title, *visibility, *place;
    bool allow_weak_jail;
    bool is_terminal, has_line; // of progress, on standard error
    char place_id[ID_BYTES], revision_id[16], job_id[64];
    char reload[16]; // what became of worlds that run: "none", "reloaded", …
    World worlds[WORLDS_MAX];
    uint32_t world_count;
    char name[PACKAGE_PLACE_NAME_BYTES];
    bool is_new, waits; // for an operator's approval
    uint64_t begin_ns;
    uint64_t build_ms, pack_ms, upload_ms, server_ms;
    size_t packed_bytes;
    uint32_t file_count;
} Publish;

// --- showing it ---------------------------------------------------------------------------------

static void wipe_line(Publish *publish)
{
    if (publish->has_line) {
        fprintf(stderr, "\r\033[K");
        publish->has_line = false;
    }
}

// A step that is done; with --json only the end is printed.
__attribute__((format(printf, 2, 3))) static void say(Publish *publish, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wipe_line(publish);
    if (!publish->client.json) {
        diagnostic_print(stdout, "%s", text);
        fflush(stdout);
    }
}

static void show_upload(void *user, uint64_t sent, uint64_t total)
{
    Publish *publish = user;
    char now[16], all[16];
    if (!publish->is_terminal || total == 0) {
        return;
    }
    const int filled = (int)(sent * BAR_COLUMNS / total);
    package_show_bytes(sent, now);
    package_show_bytes(total, all);
    fprintf(stderr, "\r\033[Kuploading [%.*s%*s] %s of %s", filled, "########################",
            BAR_COLUMNS - filled, "", now, all);
    publish->has_line = true;
}

static uint64_t ms_since(uint64_t begin_ns)
{
    return (clock_ns() - begin_ns) / NS_PER_MS;
}

// --- which place --------------------------------------------------------------------------------

// The place of the option, or of the last time. EXIT_OK, or what is wrong was printed.
static int find_place(Publish *publish)
{
    const char *why;
    if (publish->place != NULL) {
        return place_argument(&publish->client, publish->place, publish->place_id);
    }
    return place_known_find(publish->folder, publish->client.url, publish->place_id, &why)
               ? EXIT_OK
               : tool_fail(&publish->client, "%s/.sandlot: %s", publish->folder, why);
}

// Keeps which place it is on this server, beside those on others.
static int keep_place(Publish *publish)
{
    const char *why;
    return place_known_keep(publish->folder, publish->client.url, publish->place_id, &why)
               ? EXIT_OK
               : tool_fail(&publish->client, "%s/.sandlot/publish.json cannot be written: %s",
                           publish->folder, why);
}

// --- building and packing -----------------------------------------------------------------------

static int build(Publish *publish)
{
    BuildConfig config = build_config_default();
    BuildResult result = {0};
    Builder *builder = NULL;
    char reason[WORKER_REASON_BYTES] = "", counts[BUILD_SHOW_BYTES];
    BuildShow show = build_show_begin();
    const uint64_t begin = clock_ns();
    const BuildRequest request = {.place = publish->folder,
                                  .write = true,
                                  .progress = publish->client.json ? NULL : build_show_progress,
                                  .user = &show};
    config.allow_weak_jail = publish->allow_weak_jail;
    Status status = builder_create(&config, &builder);
    if (status == STATUS_OK) {
        status = builder_build(builder, &request, &result, reason);
    }
    build_show_end(&show);
    build_show_diagnostics(&result.diagnostics, publish->folder);
    publish->build_ms = ms_since(begin);
    int code = EXIT_OK;
    if (status != STATUS_OK) {
        utf8_clean(reason);
        code = tool_fail(&publish->client, "%s: not published: %s", publish->folder,
                         reason[0] != '\0' ? command_reason(reason, publish->folder)
                                           : status_text(status));
    } else {
        build_show_counts(&result, counts);
        say(publish, "built     %s", counts);
    }
    build_result_free(&result);
    builder_destroy(builder);
    return code;
}

static int pack(Publish *publish, Buffer *out)
{
    WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    DiagnosticList warnings = {0};
    PackageInfo info = {0};
    char reason[WORKER_REASON_BYTES] = "", size[16];
    const uint64_t begin = clock_ns();
    config.allow_weak_jail = publish->allow_weak_jail;
    Status status = worker_create(&config, &worker);
    if (status == STATUS_OK) {
        const BuildContext context = {.worker = worker, .diagnostics = &warnings, .reason = reason};
        status = package_pack(&context, publish->folder, out, &info);
    }
    worker_destroy(worker);
    publish->pack_ms = ms_since(begin);
    int code = EXIT_OK;
    if (status != STATUS_OK) {
        utf8_clean(reason);
        code = tool_fail(&publish->client, "%s: not published: %s", publish->folder,
                         reason[0] != '\0' ? command_reason(reason, publish->folder)
                                           : status_text(status));
    } else {
        memcpy(publish->name, info.name, sizeof publish->name);
        publish->packed_bytes = out->bytes;
        publish->file_count = info.folder.file_count;
        package_show_bytes(out->bytes, size);
        say(publish, "packed    %u files, %s", info.folder.file_count, size);
    }
    package_info_free(&info);
    diagnostic_list_free(&warnings);
    return code;
}

// --- the server ---------------------------------------------------------------------------------

// Appends "&name=value"; nothing for NULL.
static void add_query(char *address, const char *name, const char *value)
{
    const size_t used = strlen(address);
    if (value == NULL || value[0] == '\0' || used + strlen(name) + 3 >= ADDRESS_BYTES) {
        return;
    }
    size_t at = used + (size_t)snprintf(address + used, ADDRESS_BYTES - used,
                                        "%c%s=", strchr(address, '?') == NULL ? '?' : '&', name);
    tool_escape(value, address + at, ADDRESS_BYTES - at);
}

// Without the spaces around it, which a title does not have.
static void trim(const char *text, char out[PACKAGE_PLACE_NAME_BYTES])
{
    size_t bytes;
    text += strspn(text, " ");
    bytes = strlen(text);
    while (bytes > 0 && text[bytes - 1] == ' ') {
        bytes -= 1;
    }
    snprintf(out, PACKAGE_PLACE_NAME_BYTES, "%.*s", (int)bytes, text);
}

static int upload(Publish *publish, const Buffer *package)
{
    char address[ADDRESS_BYTES], id[3 * ID_BYTES], title[PACKAGE_PLACE_NAME_BYTES];
    ToolReply reply;
    const bool is_none = strcmp(publish->channel, "none") == 0;
    const uint64_t begin = clock_ns();
    publish->is_new = publish->place_id[0] == '\0';
    trim(publish->name, title);
    if (publish->is_new && publish->title == NULL && title[0] == '\0') {
        return tool_fail(&publish->client,
                         "%s/place.json: not published: its name is empty; give it one, or use "
                         "--title",
                         publish->folder);
    }
    if (publish->is_new) {
        snprintf(address, sizeof address, "/api/places");
        add_query(address, "title", publish->title != NULL ? publish->title : title);
        add_query(address, "visibility", publish->visibility);
    } else {
        tool_escape(publish->place_id, id, sizeof id);
        snprintf(address, sizeof address, "/api/places/%s/revisions", id);
    }
    add_query(address, "notes", publish->notes);
    add_query(address, "channel", is_none ? NULL : publish->channel);
    int code = tool_upload(&publish->client, address, package->data, package->bytes, show_upload,
                           publish, &reply);
    wipe_line(publish);
    if (code == EXIT_OK) {
        snprintf(publish->place_id, sizeof publish->place_id, "%s",
                 tool_text(reply.root, "place_id"));
        snprintf(publish->revision_id, sizeof publish->revision_id, "%s",
                 tool_text(reply.root, "revision_id"));
        snprintf(publish->job_id, sizeof publish->job_id, "%s", tool_text(reply.root, "job_id"));
        publish->upload_ms = ms_since(begin);
        const JsonNode *waits = json_find(reply.root, "waits_for_approval");
        publish->waits = waits != NULL && waits->kind == JSON_BOOL && waits->boolean;
        say(publish, "uploaded  %s %s", publish->place_id, publish->revision_id);
    } else if (reply.status == 404 && publish->place == NULL && !publish->is_new) {
        fprintf(stderr,
                "  %s/.sandlot/publish.json names this place; remove the file to publish "
                "a new one\n",
                publish->folder);
    }
    tool_free(&reply);
    return code;
}

static void show_stage(void *user, const char *stage, double percent)
{
    Publish *publish = user;
    if (stage == NULL) {
        wipe_line(publish);
    } else if (publish->is_terminal) {
        fprintf(stderr, "\r\033[Kbuilding  %s (%.0f %%)", stage, percent);
        publish->has_line = true;
    }
}

static int wait_for_job(Publish *publish)
{
    char what[ID_BYTES + 24];
    const uint64_t begin = clock_ns();
    snprintf(what, sizeof what, "%s %s", publish->place_id, publish->revision_id);
    const int code = tool_wait(&publish->client, publish->job_id, what, show_stage, publish);
    publish->server_ms = ms_since(begin);
    if (code == EXIT_OK) {
        say(publish, "ready     on the server");
    }
    return code;
}

static void take_worlds(Publish *publish, const JsonNode *root)
{
    const JsonNode *list = json_find(root, "worlds");
    publish->world_count = 0;
    snprintf(publish->reload, sizeof publish->reload, "%s", tool_text(root, "reload"));
    for (const JsonNode *item = list != NULL ? list->first : NULL;
         item != NULL && publish->world_count < WORLDS_MAX; item = item->next) {
        World *world = &publish->worlds[publish->world_count++];
        snprintf(world->id, sizeof world->id, "%s", tool_text(item, "world_id"));
        snprintf(world->reload, sizeof world->reload, "%s", tool_text(item, "reload"));
        snprintf(world->reason, sizeof world->reason, "%s", tool_text(item, "reason"));
    }
}

// Worlds that run take what was published, or go back to what they had. That is known after a few
// seconds; who does not want to wait for it longer can ask the job later.
static int follow_worlds(Publish *publish)
{
    char address[128];
    const uint64_t begin = clock_ns();
    bool is_over = false;
    int code = EXIT_OK;
    snprintf(address, sizeof address, "/api/jobs/%s", publish->job_id);
    while (code == EXIT_OK && !is_over) {
        ToolReply reply;
        code = tool_ask(&publish->client, "GET", address, NULL, &reply);
        if (code == EXIT_OK) {
            const JsonNode *settled = json_find(reply.root, "reload_settled");
            take_worlds(publish, reply.root);
            is_over = strcmp(publish->reload, "none") == 0 || settled == NULL || settled->boolean ||
                      ms_since(begin) > WORLDS_MS_MAX;
        }
        tool_free(&reply);
        if (code == EXIT_OK && !is_over) {
            const struct timespec time = {.tv_nsec = WORLDS_POLL_MS * 1000000l};
            (void)nanosleep(&time, NULL);
        }
    }
    return code;
}

static void say_worlds(Publish *publish)
{
    for (uint32_t i = 0; i < publish->world_count; i++) {
        const World *world = &publish->worlds[i];
        const bool has_reason = world->reason[0] != '\0';
        say(publish, "world     %s: %s%s%s", world->id, world->reload, has_reason ? ": " : "",
            world->reason);
    }
    if (strcmp(publish->reload, "waiting") == 0) {
        say(publish, "worlds    have not all answered; ask %s/api/jobs/%s later",
            publish->client.url, publish->job_id);
    }
}

// A title and a visibility for a place that has them already.
static int change_page(const Publish *publish)
{
    char address[256], body[512], id[3 * ID_BYTES];
    ToolReply reply;
    tool_escape(publish->place_id, id, sizeof id);
    snprintf(address, sizeof address, "/api/places/%s", id);
    if (!tool_object(body, sizeof body, "title", publish->title, "visibility", publish->visibility,
                     NULL)) {
        return tool_fail(&publish->client, "the title is too long");
    }
    const int code = tool_ask(&publish->client, "PATCH", address, body, &reply);
    tool_free(&reply);
    return code;
}

// --- the end ------------------------------------------------------------------------------------

#define LINK_BYTES (TOOL_URL_BYTES + 2 * ID_BYTES)

// Where the page plays what was published; the beta is for those who may test it.
static void link_of(const Publish *publish, char out[LINK_BYTES])
{
    snprintf(out, LINK_BYTES, "%s/place/%s%s", publish->client.url, publish->place_id,
             strcmp(publish->channel, "beta") == 0 ? "?channel=beta" : "");
}

static void write_end(JsonWriter *json, const void *what)
{
    const Publish *publish = what;
    char link[LINK_BYTES];
    link_of(publish, link);
    json_member_bool(json, "ok", true);
    command_json_text(json, "place_id", publish->place_id);
    command_json_text(json, "revision_id", publish->revision_id);
    command_json_text(json, "job_id", publish->job_id);
    command_json_text(json, "channel", publish->channel);
    command_json_text(json, "reload", publish->reload);
    json_write_name(json, "worlds");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < publish->world_count; i++) {
        json_write_object_begin(json);
        command_json_text(json, "world_id", publish->worlds[i].id);
        command_json_text(json, "reload", publish->worlds[i].reload);
        command_json_text(json, "reason", publish->worlds[i].reason);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    command_json_text(json, "url", link);
    json_member_count(json, "bytes", publish->packed_bytes);
    json_member_count(json, "build_ms", publish->build_ms);
    json_member_count(json, "pack_ms", publish->pack_ms);
    json_member_count(json, "upload_ms", publish->upload_ms);
    json_member_count(json, "server_ms", publish->server_ms);
    json_member_count(json, "took_ms", ms_since(publish->begin_ns));
}

static int print_end(Publish *publish)
{
    if (publish->client.json) {
        return command_json_print(write_end, publish) ? EXIT_OK : EXIT_FAILED;
    }
    char link[LINK_BYTES];
    const bool is_none = strcmp(publish->channel, "none") == 0;
    say(publish, "published %s of %s%s%s in %" PRIu64 ".%03" PRIu64 " s", publish->revision_id,
        publish->place_id, is_none ? "" : " as ", is_none ? "" : publish->channel,
        ms_since(publish->begin_ns) / 1000, ms_since(publish->begin_ns) % 1000);
    say(publish,
        "times     built %" PRIu64 " ms, packed %" PRIu64 " ms, uploaded %" PRIu64
        " ms, server %" PRIu64 " ms",
        publish->build_ms, publish->pack_ms, publish->upload_ms, publish->server_ms);
    say_worlds(publish);
    if (!is_none) {
        link_of(publish, link);
        say(publish, "%s      %s", strcmp(publish->channel, "live") == 0 ? "play" : "test", link);
    }
    if (publish->is_new && publish->visibility == NULL) {
        say(publish,
            "private   only you and its team can play it; for others: sandlot place visibility "
            "%s unlisted (or listed)",
            publish->place_id);
    }
    if (publish->waits) {
        say(publish, "waiting   it is listed when an operator has approved it");
    }
    return EXIT_OK;
}

static int run(Publish *publish)
{
    Buffer package = {0};
    int code = find_place(publish);
    code = code == EXIT_OK ? build(publish) : code;
    code = code == EXIT_OK ? pack(publish, &package) : code;
    code = code == EXIT_OK ? upload(publish, &package) : code;
    buffer_free(&package);
    if (code == EXIT_OK && (publish->is_new || publish->place != NULL)) {
        code = keep_place(publish);
    }
    code = code == EXIT_OK ? wait_for_job(publish) : code;
    code = code == EXIT_OK ? follow_worlds(publish) : code;
    if (code == EXIT_OK && !publish->is_new &&
        (publish->title != NULL || publish->visibility != NULL)) {
        code = change_page(publish);
    }
    return code == EXIT_OK ? print_end(publish) : code;
}

// --- the arguments ------------------------------------------------------------------------------

static int parse_arguments(Publish *publish, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"--channel", &publish->channel},
                   {"--notes", &publish->notes},
                   {"--title", &publish->title},
                   {"--visibility", &publish->visibility},
                   {"--place", &publish->place}};
    const bool json = publish->client.json;
    for (int i = 1; i < argc; i++) {
        const char **value = NULL;
        for (size_t at = 0; at < sizeof options / sizeof options[0]; at++) {
            value = strcmp(argv[i], options[at].name) == 0 ? options[at].value : value;
        }
        if (value != NULL && command_value(argc, argv, i) != NULL) {
            *value = command_value(argc, argv, i);
            i += 1;
        } else if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            publish->allow_weak_jail = true;
        } else if (argv[i][0] == '-') {
            return command_unknown_option("publish", json, argv[i], print_usage);
        } else if (publish->folder != NULL) {
            return command_misused("publish", json, "unexpected argument", argv[i]);
        } else {
            publish->folder = argv[i];
        }
    }
    if (publish->folder == NULL || publish->folder[0] == '\0') {
        return command_misused("publish", json, "which place? name its folder", NULL);
    }
    if (strcmp(publish->channel, "live") != 0 && strcmp(publish->channel, "beta") != 0 &&
        strcmp(publish->channel, "none") != 0) {
        return command_misused("publish", json, "--channel is live, beta or none, not",
                               publish->channel);
    }
    if (publish->visibility != NULL && strcmp(publish->visibility, "private") != 0 &&
        strcmp(publish->visibility, "unlisted") != 0 &&
        strcmp(publish->visibility, "listed") != 0) {
        return command_misused("publish", json, "--visibility is private, unlisted or listed, not",
                               publish->visibility);
    }
    if (strlen(publish->notes) >= NOTES_BYTES) {
        return command_misused("publish", json, "--notes have at most 2000 bytes", NULL);
    }
    return EXIT_OK;
}

int cmd_publish(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_OK;
    }
    Publish publish = {.channel = "live", .notes = NOTES_DEFAULT, .begin_ns = clock_ns()};
    int code = tool_open(&publish.client, "publish", &argc, argv);
    code = code == EXIT_OK ? parse_arguments(&publish, argc, argv) : code;
    if (code != EXIT_OK) {
        return code;
    }
    publish.is_terminal = isatty(STDERR_FILENO) == 1 && !publish.client.json;
    code = run(&publish);
    wipe_line(&publish);
    explicit_bzero(&publish.client, sizeof publish.client);
    return code;
}
