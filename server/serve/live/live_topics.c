// What the topics of live numbers show. All of it is known to the main thread; nothing waits.
#define _GNU_SOURCE
#include "server/serve/live/live.h"

#include "core/base/limits.h"
#include "server/serve/listing/listing_feed.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/serve_fleet.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <stdlib.h>
#include <unistd.h>

#define ROW_BYTES_MAX (256u << 10)
#define HOSTS_SHOWN   256

// One row on its way. Texts of worlds and scripts come from strangers: what does not fit, or is no
// text, is left out of this look.
typedef struct TopicRow {
    uint8_t *text;
    ByteWriter writer;
    JsonWriter json;
} TopicRow;

static void row_begin(TopicRow *row)
{
    row->writer = byte_writer(row->text, ROW_BYTES_MAX);
    row->json = json_writer(&row->writer, 0);
    json_write_object_begin(&row->json);
}

static void row_end(TopicRow *row, LiveTopic *topic, const char *key)
{
    json_write_object_end(&row->json);
    if (json_writer_finish(&row->json) == STATUS_OK) {
        status_ignore(live_rows_put(&topic->rows, key, (const char *)row->text, row->writer.at));
    }
}

// A world as it is now, here or on another machine.
typedef struct Seen {
    HostWorldView view;
    const RemoteReport *reported; // NULL: it runs here
    HostWorldState state;
    uint32_t players, player_max;
    uint64_t late_p99_us, work_max_us, memory_bytes, up_s, crashes;
} Seen;

// False: it does not run.
static bool see(const Serve *serve, const HostWorld *world, Seen *out)
{
    const HostLink *link = host_world_link(world);
    const RemoteReport *reported = fleet_world_report(serve, world);
    if (link == NULL && reported == NULL) {
        return false;
    }
    const HostWorldView view = host_world_view(world);
    *out = (Seen){.view = view, .reported = reported, .player_max = view.player_max};
    if (reported != NULL) {
        out->state = reported->state;
        out->players = reported->players;
        out->player_max = reported->player_max != 0 ? reported->player_max : view.player_max;
        out->late_p99_us = reported->late_p99_us;
        out->work_max_us = reported->work_max_us;
        out->memory_bytes = reported->memory_bytes;
        out->up_s = reported->uptime_s;
        out->crashes = reported->crashes;
        return true;
    }
    const pid_t pid = link_process_pid(link);
    out->state = view.state;
    out->players = view.players;
    out->late_p99_us = view.stats->late_p99_us;
    out->work_max_us = view.stats->work_max_us;
    out->memory_bytes = pid != 0 ? process_resident_bytes(pid) : 0;
    out->up_s = view.up_ns / HOST_SECOND_NS;
    out->crashes = view.crashes;
    return true;
}

static void write_world(JsonWriter *json, const Seen *seen)
{
    const StoreWorld *row = seen->view.row;
    serve_write_member(json, "room_code", row->room_code);
    serve_write_member(json, "name", row->name);
    serve_write_member(json, "place_id", row->place_id);
    serve_write_member(json, "state", serve_state_name(seen->state));
    serve_write_number(json, "players", seen->players);
    serve_write_number(json, "player_max", seen->player_max);
    json_write_name(json, "tick_p99_ms");
    json_write_number(json, (double)seen->late_p99_us / 1000);
    json_write_name(json, "tick_work_max_ms");
    json_write_number(json, (double)seen->work_max_us / 1000);
    serve_write_number(json, "memory_bytes", seen->memory_bytes);
}

// --- for operators ------------------------------------------------------------------------------

typedef struct Sums {
    uint64_t worlds, players, memory_bytes, bytes_down, bytes_up, late_p99_us;
} Sums;

static void fill_operator_world(LiveTopic *topic, TopicRow *row, const Seen *seen, Sums *sums)
{
    const HostStats *stats = seen->view.stats;
    const bool is_here = seen->reported == NULL;
    const uint64_t down = is_here ? stats->socket_bytes_down : seen->reported->bytes_down;
    const uint64_t up = is_here ? stats->socket_bytes_up : seen->reported->bytes_up;
    row_begin(row);
    write_world(&row->json, seen);
    serve_write_number(&row->json, "bytes_down", down);
    serve_write_number(&row->json, "bytes_up", up);
    serve_write_number(&row->json, "crashes", seen->crashes);
    serve_write_member(&row->json, "reported_by", is_here ? NULL : seen->reported->host_id);
    row_end(row, topic, seen->view.row->world_id);
    sums->worlds += 1;
    sums->players += seen->players;
    sums->memory_bytes += seen->memory_bytes;
    sums->bytes_down += down;
    sums->bytes_up += up;
    sums->late_p99_us =
        seen->late_p99_us > sums->late_p99_us ? seen->late_p99_us : sums->late_p99_us;
}

static void fill_server(Serve *serve, LiveTopic *topic, TopicRow *row, const Sums *sums,
                        uint32_t stream_count)
{
    const HttpStats http = http_stats(serve->http);
    row_begin(row);
    serve_write_number(&row->json, "worlds", sums->worlds);
    serve_write_number(&row->json, "players", sums->players);
    serve_write_number(&row->json, "memory_bytes", sums->memory_bytes);
    serve_write_number(&row->json, "bytes_down", sums->bytes_down);
    serve_write_number(&row->json, "bytes_up", sums->bytes_up);
    json_write_name(&row->json, "tick_p99_ms");
    json_write_number(&row->json, (double)sums->late_p99_us / 1000);
    serve_write_number(&row->json, "host_memory_bytes", process_resident_bytes(getpid()));
    serve_write_number(&row->json, "sockets", http.sockets);
    serve_write_number(&row->json, "streams", stream_count);
    json_write_name(&row->json, "draining");
    json_write_bool(&row->json, host_is_draining(serve->host));
    serve_write_hosts(serve, &row->json, HOSTS_SHOWN);
    row_end(row, topic, "server");
}

static void fill_operator(Serve *serve, LiveTopic *topic, TopicRow *row, uint32_t stream_count)
{
    Sums sums = {0};
    Seen seen;
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        if (see(serve, host_world_at(serve->host, i), &seen)) {
            fill_operator_world(topic, row, &seen, &sums);
        }
    }
    fill_server(serve, topic, row, &sums, stream_count);
}

// --- for those who work on a place --------------------------------------------------------------

static void fill_place(Serve *serve, LiveTopic *topic, TopicRow *row)
{
    Seen seen;
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        const HostWorld *world = host_world_at(serve->host, i);
        const StoreWorld *stored = host_world_view(world).row;
        char package_id[PLACE_KEY_BYTES];
        uint64_t version = 0;
        place_id_package(stored->place_id, package_id);
        if (strcmp(package_id, topic->place_id) != 0 || !see(serve, world, &seen)) {
            continue;
        }
        const ScriptTable *table = seen.reported != NULL
                                       ? fleet_world_scripts(serve, stored->world_id, &version)
                                       : host_world_scripts(world);
        row_begin(row);
        write_world(&row->json, &seen);
        serve_write_member(&row->json, "channel",
                           place_channel_name(place_id_channel(stored->place_id)));
        if (table != NULL) {
            script_table_brief(table, &row->json);
        }
        row_end(row, topic, stored->world_id);
    }
}

// --- for everybody ------------------------------------------------------------------------------

typedef struct Crowd {
    const char *place_id;
    uint64_t players, worlds;
} Crowd;

static int by_place(const void *a, const void *b)
{
    return strcmp(((const Crowd *)a)->place_id, ((const Crowd *)b)->place_id);
}

// Of places that everybody finds; private worlds count, as they do in the listing.
static void fill_places(Serve *serve, LiveTopic *topic, TopicRow *row)
{
    const uint32_t world_count = host_world_count(serve->host);
    Crowd *crowds = malloc((world_count + 1) * sizeof *crowds);
    uint32_t count = 0;
    for (uint32_t i = 0; crowds != NULL && i < world_count; i++) {
        const HostWorldView view = host_world_view(host_world_at(serve->host, i));
        const RemoteReport *reported = fleet_world_report(serve, host_world_at(serve->host, i));
        const bool runs = reported != NULL ? reported->state == WORLD_RUNNING
                                           : host_world_is_ready(host_world_at(serve->host, i));
        // A place that only another host has open is as that one says.
        const bool is_hidden =
            view.place != NULL ? view.place->is_hidden : reported == NULL || reported->is_hidden;
        if (!runs || (is_hidden && (serve->control != NULL || view.place == NULL))) {
            continue;
        }
        const uint32_t players = reported != NULL ? reported->players : view.players;
        const uint32_t most = view.place != NULL ? view.player_max : reported->player_max;
        crowds[count++] = (Crowd){view.row->place_id, players < most ? players : most, 1};
    }
    if (crowds != NULL) {
        qsort(crowds, count, sizeof *crowds, by_place);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 < count && by_place(&crowds[i], &crowds[i + 1]) == 0) {
            crowds[i + 1].players += crowds[i].players;
            crowds[i + 1].worlds += crowds[i].worlds;
            continue;
        }
        row_begin(row);
        serve_write_number(&row->json, "players", crowds[i].players);
        serve_write_number(&row->json, "worlds", crowds[i].worlds);
        row_end(row, topic, crowds[i].place_id);
    }
    free(crowds);
}

void live_topic_fill(Serve *serve, LiveTopic *topic, uint32_t stream_count)
{
    TopicRow row = {.text = malloc(ROW_BYTES_MAX)};
    if (row.text == NULL) {
        return; // what was there a second ago stays
    }
    live_rows_begin(&topic->rows);
    switch (topic->kind) {
    case LIVE_PLACES:
        fill_places(serve, topic, &row);
        break;
    case LIVE_OPERATOR:
        fill_operator(serve, topic, &row, stream_count);
        break;
    case LIVE_PLACE:
        fill_place(serve, topic, &row);
        break;
    case LIVE_KIND_COUNT:
        break;
    }
    live_rows_end(&topic->rows);
    free(row.text);
}
