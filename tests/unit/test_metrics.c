// The text of /metrics.
#include "server/serve/operate/metrics.h"

#include "server/serve/http/http_routes.h"
#include "server/store/store.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Metrics metrics;
static HostStats stats;

// The longest lines that there can be.
static void fill(uint32_t world_count)
{
    static char id[sizeof((StoreWorld){0}.world_id)];
    memset(id, 'w', sizeof id - 1);
    memset(&stats, 0x7f, sizeof stats);
    metrics = (Metrics){.world_count = world_count};
    for (uint32_t i = 0; i < world_count; i++) {
        metrics.worlds[i] = (MetricsWorld){.world_id = id, .stats = &stats};
    }
}

TEST(as_many_worlds_as_are_told_one_by_one_fit)
{
    uint8_t *text = malloc(SERVE_TEXT_BYTES);
    REQUIRE(text != NULL);
    fill(METRICS_WORLDS_MAX);
    ByteWriter writer = byte_writer(text, SERVE_TEXT_BYTES);
    metrics_write(&metrics, &writer);
    CHECK_OK(writer.status);
    free(text);
}

TEST(times_of_ticks_are_histograms)
{
    static uint8_t text[1u << 20];
    fill(1);
    stats = (HostStats){.late = {3, 4}, .late_us = 1500000, .excess[1] = 1, .work[2] = 2};
    metrics.worlds[0].world_id = "w";
    ByteWriter writer = byte_writer(text, sizeof text - 1);
    metrics_write(&metrics, &writer);
    REQUIRE(writer.status == STATUS_OK);
    text[writer.at] = '\0';
    const char *const lines[] = {
        "# TYPE sandlot_world_tick_lateness_seconds histogram\n",
        "\nsandlot_world_tick_lateness_seconds_bucket{world=\"w\",le=\"2.5e-05\"} 3\n",
        "\nsandlot_world_tick_lateness_seconds_bucket{world=\"w\",le=\"+Inf\"} 7\n",
        "\nsandlot_world_tick_lateness_seconds_sum{world=\"w\"} 1.500000\n",
        "\nsandlot_world_tick_lateness_seconds_count{world=\"w\"} 7\n",
        "\nsandlot_world_tick_interval_excess_seconds_bucket{world=\"w\",le=\"2.5e-05\"} 0\n",
        "\nsandlot_world_tick_interval_excess_seconds_bucket{world=\"w\",le=\"5e-05\"} 1\n",
        "\nsandlot_world_tick_work_seconds_count{world=\"w\"} 2\n"};
    for (uint32_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        CHECK(strstr((const char *)text, lines[i]) != NULL);
    }
}
