// Places from folders, as `sandlot world` and `sandlot host` have them, and the rows of worlds.
#define _GNU_SOURCE
#include "core/base/sha256.h"
#include "core/world/save/row.h"
#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build_show.h"
#include "server/build/place/editor_files.h"
#include "server/serve/place/dev.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#define CODE_TRIES     8
#define ID_LETTERS_MAX 40

// --- names --------------------------------------------------------------------------------------

// The prefix, and what the last name of a path has of letters, digits, _ and -. A name with
// anything else, or a long one, ends with its hash, so that no two names
// give one id. Returns how long the id is without it; 0: it has none.
static size_t make_id(const char *prefix, const char *path, char out[65])
{
    const size_t begin = (size_t)snprintf(out, 65, "%s", prefix);
    size_t at = begin, first = 0;
    const size_t letters = file_last_name(path, &first);
    bool is_same = letters > 0 && letters <= ID_LETTERS_MAX;
    for (size_t i = 0; i < letters && i < ID_LETTERS_MAX; i++) {
        const char c = path[first + i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || c == '-';
        is_same = is_same && plain;
        out[at++] = plain ? c : '-';
    }
    out[at] = '\0';
    if (!is_same) {
        uint8_t hash[SHA256_BYTES];
        char hex[2 * SHA256_BYTES + 1];
        sha256_of(path + first, letters, hash);
        sha256_hex(hash, hex);
        snprintf(out + at, 65 - at, "-%.8s", hex);
    }
    return is_same ? 0 : at;
}

// Where a folder really is: "." has no name.
static const char *real_folder(const char *folder, char out[PATH_MAX])
{
    return realpath(folder, out) != NULL ? out : folder;
}

// --- building -----------------------------------------------------------------------------------

BuildConfig serve_build_config(const Serve *serve)
{
    BuildConfig config = build_config_default();
    config.allow_weak_jail = serve->config.allow_weak_jail;
    config.key = serve->build_key;
    // Who keeps the data elsewhere wants nothing written into the place.
    config.cache = serve->config.data != NULL ? serve->build_cache : NULL;
    return config;
}

// One event each, for logs that programs read.
static void log_diagnostics(const DiagnosticList *list, const char *folder)
{
    char before[PATH_MAX], text[LOG_MESSAGE_BYTES];
    snprintf(before, sizeof before, "%s/", folder);
    for (uint32_t i = 0; i < list->count; i++) {
        diagnostic_text(&list->items[i], before, text, sizeof text);
        serve_log_text(list->items[i].level == DIAGNOSTIC_ERROR ? LOG_ERROR : LOG_WARN, "build",
                       text);
    }
}

static Status build(Serve *serve, Builder *builder, const char *folder, BuildResult *out)
{
    char reason[WORKER_REASON_BYTES] = "", counts[BUILD_SHOW_BYTES];
    BuildShow show = build_show_begin();
    const bool is_for_people = serve_log_format() == LOG_FORMAT_TEXT;
    const BuildRequest request = {.place = folder,
                                  .write = serve->config.data == NULL,
                                  .pack = true,
                                  .progress = is_for_people ? build_show_progress : NULL,
                                  .user = &show,
                                  .cancel = serve->cancel};
    const Status status = builder_build(builder, &request, out, reason);
    build_show_end(&show);
    if (is_for_people) {
        build_show_diagnostics(&out->diagnostics, folder);
    } else {
        log_diagnostics(&out->diagnostics, folder);
    }
    if (status != STATUS_OK) {
        serve_log_failure(serve->command, "%s cannot be built%s%s", folder,
                          reason[0] != '\0' ? ": " : "", reason);
        return status;
    }
    build_show_counts(out, counts);
    serve_log(LOG_INFO, "build", "%s", counts);
    return STATUS_OK;
}

// As `sandlot build` does, where the build may write.
void serve_renew_types(const Serve *serve, const char *folder)
{
    char reason[WORKER_REASON_BYTES] = "";
    bool written = false;
    if (serve->config.data == NULL &&
        editor_files_renew_types(folder, &written, reason) != STATUS_OK) {
        serve_log(LOG_WARN, "build", "no types for editors: %s", reason);
    }
}

static bool has_place(const Serve *serve, const char *place_id)
{
    ServePlace *place = places_find_id(serve, place_id);
    serve_place_release(place);
    return place != NULL;
}

void serve_place_id(const char *folder, char out[65])
{
    char real[PATH_MAX];
    (void)make_id("place_", real_folder(folder, real), out);
}

static Status open_place(Serve *serve, Builder *builder, const char *folder)
{
    char place_id[65], reason[512] = "";
    serve_place_id(folder, place_id);
    if (has_place(serve, place_id)) {
        serve_log_failure(serve->command, "%s: another place has the same folder name; rename one",
                          folder);
        return STATUS_EXISTS;
    }
    BuildResult built = {0};
    Status status = build(serve, builder, folder, &built);
    const HostPlaceConfig config = {.place_id = place_id,
                                    .folder = folder,
                                    .player_max = serve->config.player_max,
                                    .development = serve->development,
                                    .cdn_base = serve->config.cdn_base};
    HostPlace *made = NULL;
    ServePlace *place = NULL;
    if (status == STATUS_OK) {
        status = host_place_create(&config, &built, &made, reason, sizeof reason);
        if (status != STATUS_OK) {
            serve_log_failure(serve->command, "%s", reason);
        }
    }
    if (status == STATUS_OK) {
        status = serve_place_create(serve, made, 0, &place);
    }
    if (status == STATUS_OK) {
        places_put(serve, place);
        serve_renew_types(serve, folder);
        if (serve->default_place[0] == '\0') {
            memcpy(serve->default_place, place_id, sizeof serve->default_place);
        }
    }
    build_result_free(&built);
    return status;
}

// Of many places one may be broken, whatever is wrong with it: its creator must mend it, and the
// others are served. What is wrong with this machine, or with what was asked for, ends the start.
static bool may_leave_out(const Serve *serve, Status status)
{
    return serve->config.many && status != STATUS_EXISTS && !atomic_load(serve->cancel) &&
           file_disk_problem(serve->data) == NULL;
}

bool serve_build_paths(Serve *serve)
{
    return serve_join_path(serve->build_key, serve->data, "ticket.key") &&
           serve_join_path(serve->build_cache, serve->data, "cache");
}

Status serve_places_open(Serve *serve)
{
    if (!serve_build_paths(serve)) {
        return STATUS_RANGE;
    }
    const BuildConfig config = serve_build_config(serve);
    Builder *builder = NULL;
    Status status = builder_create(&config, &builder);
    if (status != STATUS_OK) {
        serve_log_failure(serve->command, "no place can be built: %s", status_text(status));
        return status;
    }
    for (uint32_t i = 0; serve->config.places[i] != NULL && status == STATUS_OK; i++) {
        status = open_place(serve, builder, serve->config.places[i]);
        while (status == STATUS_MALFORMED && serve->config.dev && dev_wait(serve)) {
            status = open_place(serve, builder, serve->config.places[i]);
        }
        if (status != STATUS_OK && may_leave_out(serve, status)) {
            serve_log(LOG_ERROR, "build", "%s is not served, because it cannot be built",
                      serve->config.places[i]);
            status = STATUS_OK;
        }
    }
    builder_destroy(builder);
    return status == STATUS_OK && serve->default_place[0] == '\0' ? STATUS_MALFORMED : status;
}

// --- rows of worlds -----------------------------------------------------------------------------

// Rows as older programs wrote them, which only the place they were stored with can tell apart.
static void count_old_row(void *user, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    Text name;
    uint64_t number;
    *(uint32_t *)user += row_read(&reader, &row) == STATUS_OK &&
                         row_attribute_key(&row, &name, &number) == STATUS_OK && name.bytes == 0 &&
                         (number & ROW_SCENE_ID) == 0;
}

static void random_code(char out[17])
{
    uint8_t random[ROOM_CODE_RANDOM];
    entropy_fill(random, sizeof random);
    room_code_from(random, sizeof random, out);
}

static Status put_row(Serve *serve, StoreWorld *row)
{
    Status status = store_world_put(serve->store, row);
    for (uint32_t i = 0; i < CODE_TRIES && status == STATUS_EXISTS; i++) {
        random_code(row->room_code);
        status = store_world_put(serve->store, row);
    }
    return status;
}

static bool has_changed(const StoreWorld *row, const HostPlace *place)
{
    return memcmp(row->place_hash, place->scene_hash, sizeof place->scene_hash) != 0;
}

Status serve_world_open(Serve *serve)
{
    HostPlace *place = places_host_place(serve, 0);
    char world_id[65];
    StoreWorld row;
    const char *name = serve->config.name != NULL ? serve->config.name : serve->config.places[0];
    const size_t plain = make_id("world_", name, world_id);
    uint32_t old_rows = 0;
    bool is_new = false;
    Status status = store_world_find(serve->store, world_id, &row);
    if (status == STATUS_NOT_FOUND && plain > 0) { // as older programs named it
        char old_id[65];
        snprintf(old_id, sizeof old_id, "%.*s", (int)plain, world_id);
        status = store_world_find(serve->store, old_id, &row);
        if (status == STATUS_OK) {
            memcpy(world_id, old_id, sizeof world_id);
        }
    }
    if (status == STATUS_NOT_FOUND) {
        is_new = true;
        row = (StoreWorld){.created_unix_ms = clock_unix_ms()};
        memcpy(row.world_id, world_id, sizeof row.world_id);
        memcpy(row.place_id, place->place_id, sizeof row.place_id);
        random_code(row.room_code);
        status = STATUS_OK;
    } else if (status == STATUS_OK) { // all that it has, before anything is written
        status = store_rows(serve->store, world_id, count_old_row, &old_rows);
    }
    if (status != STATUS_OK) {
        return status;
    }
    // A world keeps the place whose DataStores it has used.
    memcpy(place->place_id, row.place_id, sizeof place->place_id);
    memcpy(serve->default_place, row.place_id, sizeof serve->default_place);
    snprintf(row.name, sizeof row.name, "%s", place->built.facts.name);
    const bool other = !is_new && has_changed(&row, place);
    if (old_rows == 0) { // else it is kept until the world has replaced them
        memcpy(row.place_hash, place->scene_hash, sizeof row.place_hash);
    }
    status = put_row(serve, &row);
    if (status == STATUS_OK) {
        host_add_place(serve->host, host_place_hold(place));
        status = host_add_world(serve->host, &row, &serve->one_world);
    }
    if (status == STATUS_OK && other) {
        host_world_set_other_place(serve->one_world);
    }
    return status;
}

static void invite(void *user, const char *world_id, uint64_t account)
{
    HostWorld *world = host_world(user, world_id);
    if (world != NULL) {
        status_ignore(host_world_invite(world, account, true)); // without memory they ask again
    }
}

Status serve_worlds_open(Serve *serve)
{
    for (uint32_t i = 0; places_host_place(serve, i) != NULL; i++) {
        host_add_place(serve->host, host_place_hold(places_host_place(serve, i)));
    }
    StoreWorld *rows = calloc(HOST_WORLDS_MAX, sizeof *rows);
    if (rows == NULL) {
        return STATUS_LIMIT;
    }
    const uint32_t count = store_worlds(serve->store, rows, HOST_WORLDS_MAX);
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        HostWorld *world;
        if (rows[i].place_id[0] == '\0') {
            continue; // of nothing that is served here
        }
        const HostPlace *place = host_place(serve->host, rows[i].place_id);
        // A place that is not loaded is compared when it is (hosted_set_place).
        const bool other = place != NULL && has_changed(&rows[i], place);
        uint32_t old_rows = 0;
        if (other) {
            status = store_rows(serve->store, rows[i].world_id, count_old_row, &old_rows);
        }
        if (other && status == STATUS_OK && old_rows == 0) {
            memcpy(rows[i].place_hash, place->scene_hash, sizeof place->scene_hash);
            status = put_row(serve, &rows[i]);
        }
        if (status == STATUS_MALFORMED) { // said when somebody wants it
            status = STATUS_OK;
        }
        status = status == STATUS_OK ? host_add_world(serve->host, &rows[i], &world) : status;
        if (status == STATUS_OK && other) {
            host_world_set_other_place(world);
        }
    }
    free(rows);
    return status == STATUS_OK ? store_guests(serve->store, invite, serve->host) : status;
}
