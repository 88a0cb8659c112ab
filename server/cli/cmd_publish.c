// `sandlot publish`: builds a place here first, so that mistakes are found before anything is sent,
// packs it, uploads it, and waits until the server has built it too.
#define _GNU_SOURCE
#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "server/build/package/package.h"
#include "server/build/pipeline/build_show.h"
#include "server/build/place/place_home.h"
#include "server/cli/command_json.h"
#include "server/cli/package_show.h"
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

#define NOTES_DEFAULT  "published from the command line"
#define ID_BYTES       65
#define NOTES_BYTES    2001
#define ADDRESS_BYTES  8192
#define FILE_BYTES_MAX (64u << 10)
#define SERVERS_MAX    64
#define POLL_MS_MIN    20
#define POLL_MS_MAX    500
#define WAIT_MS_MAX    (35u * 60 * 1000) // a build has at most 30 minutes
#define BAR_COLUMNS    24
#define NS_PER_MS      1000000ull

static void print_usage(FILE *out)
{
    fprintf(
        out,
        "usage: sandlot publish DIR [options]   build a place and put it on a server\n\n"
        "  --channel NAME     live (the default): players get it; beta: testers do; none: it is\n"
        "                     only stored\n"
        "  --notes TEXT       what is new in this revision\n"
        "  --title TEXT       the title of a new place (default: its name in place.json)\n"
        "  --visibility WORD  of a new place: private (the default), unlisted or listed\n"
        "  --place ID         the place to publish to (default: the one of the last time, from\n"
        "                     DIR/.sandlot/publish.json, else a new one)\n"
        "  --allow-weak-jail  continue even if the kernel lacks a layer of the jail\n" TOOL_HELP
        "\nSign in with `sandlot login` first. Mistakes in the place are shown with file and line\n"
        "before anything is sent.\n"
        "Exit codes: 0 published, 1 failed, 2 invalid arguments.\n");
}

typedef struct Publish {
    Tool client;
    const char *folder, *channel, *notes, *title, *visibility, *place;
    bool allow_weak_jail;
    bool is_terminal, has_line; // of progress, on standard error
    char place_id[ID_BYTES], revision_id[16], job_id[64];
    char name[PACKAGE_PLACE_NAME_BYTES];
    bool is_new;
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

// <place>/.sandlot/publish.json, one server in a line. The folder may come from a stranger, so only
// lines as we write them are read, and nothing else of the file.
//
//   {
//     "https://play.example": "place_obby-k3x9ab"
//   }
typedef struct Known {
    char url[TOOL_URL_BYTES], place_id[ID_BYTES];
} Known;

static bool known_path(const Publish *publish, char out[PLACE_HOME_PATH_BYTES], const char **why)
{
    char cache[PLACE_HOME_PATH_BYTES];
    *why = "the path is too long";
    return place_home_folder(publish->folder, "cache", cache, why) == STATUS_OK &&
           snprintf(out, PLACE_HOME_PATH_BYTES, "%s/.sandlot/publish.json", publish->folder) <
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

// The place of the option, or of the last time. EXIT_OK, or what is wrong was printed.
static int find_place(Publish *publish)
{
    char path[PLACE_HOME_PATH_BYTES];
    const char *why;
    static Known known[SERVERS_MAX];
    if (publish->place != NULL) {
        snprintf(publish->place_id, sizeof publish->place_id, "%s", publish->place);
        return EXIT_OK;
    }
    if (!known_path(publish, path, &why)) {
        return tool_fail(&publish->client, "%s/.sandlot: %s", publish->folder, why);
    }
    const uint32_t count = read_known(path, known);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(known[i].url, publish->client.url) == 0) {
            memcpy(publish->place_id, known[i].place_id, sizeof publish->place_id);
        }
    }
    return EXIT_OK;
}

// Keeps which place it is on this server, beside those on others.
static int keep_place(Publish *publish)
{
    char path[PLACE_HOME_PATH_BYTES];
    const char *why;
    static Known known[SERVERS_MAX];
    if (!known_path(publish, path, &why)) {
        return tool_fail(&publish->client, "%s/.sandlot: %s", publish->folder, why);
    }
    Buffer text = buffer_of(FILE_BYTES_MAX);
    char line[TOOL_URL_BYTES + ID_BYTES + 16];
    const uint32_t count = read_known(path, known);
    buffer_put(&text, "{\n", 2);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(known[i].url, publish->client.url) != 0) {
            const int bytes =
                snprintf(line, sizeof line, "  \"%s\": \"%s\",\n", known[i].url, known[i].place_id);
            buffer_put(&text, line, (size_t)bytes);
        }
    }
    const int bytes = snprintf(line, sizeof line, "  \"%s\": \"%s\"\n}\n", publish->client.url,
                               publish->place_id);
    buffer_put(&text, line, (size_t)bytes);
    const bool is_kept =
        text.status == STATUS_OK && file_write_shared(path, text.data, text.bytes) == STATUS_OK;
    buffer_free(&text);
    return is_kept ? EXIT_OK
                   : tool_fail(&publish->client, "%s cannot be written: %s", path, strerror(errno));
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

static int upload(Publish *publish, const Buffer *package)
{
    char address[ADDRESS_BYTES], id[3 * ID_BYTES];
    ToolReply reply;
    const bool is_none = strcmp(publish->channel, "none") == 0;
    const uint64_t begin = clock_ns();
    publish->is_new = publish->place_id[0] == '\0';
    if (publish->is_new) {
        snprintf(address, sizeof address, "/api/places");
        add_query(address, "title", publish->title != NULL ? publish->title : publish->name);
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

static void print_log(const JsonNode *root)
{
    const JsonNode *log = json_find(root, "log");
    for (const JsonNode *line = log != NULL ? log->first : NULL; line != NULL; line = line->next) {
        if (line->kind == JSON_STRING && strstr(line->text, ": error: ") != NULL) {
            diagnostic_print(stderr, "%s", line->text);
        }
    }
}

// EXIT_OK with *is_over: it is ready. Otherwise what is wrong was printed.
static int look(Publish *publish, const char *address, char stage[32], bool *is_over)
{
    ToolReply reply;
    int code = tool_ask(&publish->client, "GET", address, NULL, &reply);
    if (code != EXIT_OK) {
        tool_free(&reply);
        return code;
    }
    const char *status = tool_text(reply.root, "status"), *now = tool_text(reply.root, "stage");
    *is_over = strcmp(status, "waiting") != 0 && strcmp(status, "running") != 0;
    if (strcmp(status, "running") == 0 && strcmp(stage, now) != 0) {
        snprintf(stage, 32, "%s", now);
        if (publish->is_terminal) {
            fprintf(stderr, "\r\033[Kbuilding  %s (%.0f %%)", stage,
                    tool_number(reply.root, "progress_pct"));
            publish->has_line = true;
        }
    }
    if (*is_over && strcmp(status, "done") != 0) {
        wipe_line(publish);
        print_log(reply.root);
        code = tool_fail(&publish->client, "%s %s: the server could not build it: %s",
                         publish->place_id, publish->revision_id, tool_text(reply.root, "reason"));
    }
    tool_free(&reply);
    return code;
}

static int wait_for_job(Publish *publish)
{
    char address[128], stage[32] = "";
    bool is_over = false;
    int code = EXIT_OK;
    const uint64_t begin = clock_ns();
    snprintf(address, sizeof address, "/api/jobs/%s", publish->job_id);
    for (uint32_t pause = POLL_MS_MIN; code == EXIT_OK && !is_over;) {
        code = look(publish, address, stage, &is_over);
        if (code == EXIT_OK && !is_over) {
            const struct timespec time = {.tv_nsec = (long)(pause * NS_PER_MS)};
            (void)nanosleep(&time, NULL);
            pause = pause * 5 / 4 < POLL_MS_MAX ? pause * 5 / 4 + 1 : POLL_MS_MAX;
        }
        if (!is_over && ms_since(begin) > WAIT_MS_MAX) {
            return tool_fail(&publish->client, "the server still builds it; ask %s%s later",
                             publish->client.url, address);
        }
    }
    publish->server_ms = ms_since(begin);
    if (code == EXIT_OK) {
        say(publish, "ready     on the server");
    }
    return code;
}

// A title for a place that has one already.
static int change_title(const Publish *publish)
{
    char address[256], body[512], id[3 * ID_BYTES];
    ToolReply reply;
    tool_escape(publish->place_id, id, sizeof id);
    snprintf(address, sizeof address, "/api/places/%s", id);
    if (!tool_object(body, sizeof body, "title", publish->title, NULL)) {
        return tool_fail(&publish->client, "the title is too long");
    }
    const int code = tool_ask(&publish->client, "PATCH", address, body, &reply);
    tool_free(&reply);
    return code;
}

// --- the end ------------------------------------------------------------------------------------

static void write_end(JsonWriter *json, const void *what)
{
    const Publish *publish = what;
    char link[TOOL_URL_BYTES + 2 * ID_BYTES];
    snprintf(link, sizeof link, "%s/place/%s", publish->client.url, publish->place_id);
    command_json_bool(json, "ok", true);
    command_json_text(json, "place_id", publish->place_id);
    command_json_text(json, "revision_id", publish->revision_id);
    command_json_text(json, "job_id", publish->job_id);
    command_json_text(json, "channel", publish->channel);
    command_json_text(json, "url", link);
    command_json_number(json, "bytes", publish->packed_bytes);
    command_json_number(json, "build_ms", publish->build_ms);
    command_json_number(json, "pack_ms", publish->pack_ms);
    command_json_number(json, "upload_ms", publish->upload_ms);
    command_json_number(json, "server_ms", publish->server_ms);
    command_json_number(json, "took_ms", ms_since(publish->begin_ns));
}

static int print_end(Publish *publish)
{
    if (publish->client.json) {
        return command_json_print(write_end, publish) ? EXIT_OK : EXIT_FAILED;
    }
    const bool is_none = strcmp(publish->channel, "none") == 0;
    say(publish, "published %s of %s%s%s in %" PRIu64 ".%03" PRIu64 " s", publish->revision_id,
        publish->place_id, is_none ? "" : " as ", is_none ? "" : publish->channel,
        ms_since(publish->begin_ns) / 1000, ms_since(publish->begin_ns) % 1000);
    say(publish,
        "times     built %" PRIu64 " ms, packed %" PRIu64 " ms, uploaded %" PRIu64
        " ms, server %" PRIu64 " ms",
        publish->build_ms, publish->pack_ms, publish->upload_ms, publish->server_ms);
    if (strcmp(publish->channel, "live") == 0) {
        say(publish, "play      %s/place/%s", publish->client.url, publish->place_id);
    }
    const bool is_private = publish->is_new && (publish->visibility == NULL ||
                                                strcmp(publish->visibility, "private") == 0);
    if (is_private) {
        say(publish, "private   only you and the people of its team can play it; for others: PATCH "
                     "/api/places/<id> {\"visibility\": \"unlisted\" or \"listed\"}");
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
    if (code == EXIT_OK && publish->title != NULL && !publish->is_new) {
        code = change_title(publish);
    }
    return code == EXIT_OK ? print_end(publish) : code;
}

// --- the arguments ------------------------------------------------------------------------------

static int parse(Publish *publish, int argc, char **argv)
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
    code = code == EXIT_OK ? parse(&publish, argc, argv) : code;
    if (code != EXIT_OK) {
        return code;
    }
    publish.is_terminal = isatty(STDERR_FILENO) == 1 && !publish.client.json;
    code = run(&publish);
    wipe_line(&publish);
    explicit_bzero(&publish.client, sizeof publish.client);
    return code;
}
