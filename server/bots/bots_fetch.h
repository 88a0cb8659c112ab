// HTTP requests of bots, on a thread of its own, one at a time: sign-in, tickets, the scene, the
// rows of a large manifest, the numbers of /metrics. The bots' loop takes the replies; the
// descriptor is readable while there is one.
#pragma once

#include "core/base/status.h"
#include "server/bots/bots_http.h"

#include <stdbool.h>
#include <stdint.h>

#define BOTS_TICKET_BYTES  4097
#define BOTS_ADDRESS_BYTES 600
#define BOTS_SCENE_MAX     (256u << 20)

typedef struct BotsFetcher BotsFetcher;

typedef enum BotsFetchKind {
    BOTS_FETCH_TICKET, // for one bot
    BOTS_FETCH_SCENE,  // by hash
    BOTS_FETCH_ROWS,   // of a manifest, by hash
    BOTS_FETCH_METRICS
} BotsFetchKind;

// Numbers of the world process, from /metrics; missing ones are 0.
typedef struct BotsMetrics {
    bool known;
    double cpu_seconds, ticks, ticks_missed, players, resident_bytes;
    double bytes_down, bytes_up, corrections, corrections_without_cause, malformed, broken;
    double starts, crashes;
} BotsMetrics;

typedef struct BotsFetched {
    BotsFetchKind kind;
    uint32_t bot;
    Status status;
    char reason[BOTS_HTTP_REASON_BYTES]; // when it failed
    char ticket[BOTS_TICKET_BYTES];
    char address[BOTS_ADDRESS_BYTES];
    uint8_t signing_key[32]; // of the host; zero: it named none
    uint8_t hash[32];        // of the scene or the rows
    uint8_t *scene;          // or the rows; the taker frees it
    size_t scene_bytes;
    BotsMetrics metrics;
} BotsFetched;

typedef struct BotsFetcherConfig {
    const char *server;                   // kept, as are the next
    const char *others[BOTS_SERVERS_MAX]; // of the same installation; ends with NULL
    const char *world;                    // NULL: one of the default place, the same for all
    const char *place;                    // NULL: the default one
    const char *channel;                  // of the place; NULL: live
    // The sign-in of the place's owner, who makes each bot a tester of it as long as they play;
    // NULL: guests may play it.
    const char *owner;
    char name[32]; // of the bots, a number is added
    uint32_t bot_count;
    uint32_t debug_count; // the first so many ask for exact positions
} BotsFetcherConfig;

MUST_USE Status bots_fetcher_open(const BotsFetcherConfig *config, BotsFetcher **out);
void bots_fetcher_close(BotsFetcher *fetcher); // waits for the current request
int bots_fetcher_descriptor(const BotsFetcher *fetcher);
// Each bot has at most one request at a time, and each of the other kinds is open once at most.
void bots_fetcher_ask(BotsFetcher *fetcher, BotsFetchKind kind, uint32_t bot, const uint8_t *hash);
bool bots_fetcher_next(BotsFetcher *fetcher, BotsFetched *out);

// For tests: reads the metrics. Accepts any text.
BotsMetrics bots_metrics_read(const char *text);
