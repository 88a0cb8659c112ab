// What bots ask a host over HTTP, on one thread beside their loop, one question at a time: sign in,
// a ticket, the scene, the numbers of /metrics. Answers are taken by the loop; the descriptor is
// readable when there are some.
#pragma once

#include "core/base/status.h"
#include "server/bots/bots_http.h"

#include <stdbool.h>
#include <stdint.h>

#define BOTS_TICKET_BYTES  4097
#define BOTS_ADDRESS_BYTES 600
#define BOTS_SCENE_MAX     (256u << 20)

typedef struct BotsDoor BotsDoor;

typedef enum BotsWish {
    BOTS_WISH_TICKET, // for one bot
    BOTS_WISH_SCENE,  // by hash
    BOTS_WISH_METRICS
} BotsWish;

// Of the world process, from /metrics; those that are not there are 0.
typedef struct BotsMetrics {
    bool known;
    double cpu_seconds, ticks, ticks_missed, players, resident_bytes;
    double bytes_down, bytes_up, corrections, corrections_without_cause, malformed, broken;
    double starts, crashes;
} BotsMetrics;

typedef struct BotsGift {
    BotsWish wish;
    uint32_t bot;
    Status status;
    char reason[BOTS_HTTP_REASON_BYTES]; // when it failed
    char ticket[BOTS_TICKET_BYTES];
    char address[BOTS_ADDRESS_BYTES];
    uint8_t signing_key[32]; // of the host; zero: it named none
    uint8_t *scene;          // the taker frees it
    size_t scene_bytes;
    BotsMetrics metrics;
} BotsGift;

typedef struct BotsDoorConfig {
    const char *server; // kept, as is the next
    const char *world;  // NULL: the server's own choice
    char name[32];      // of the bots, a number is added
    uint32_t bot_count;
    uint32_t debug_count; // the first so many ask for the truth
} BotsDoorConfig;

MUST_USE Status bots_door_open(const BotsDoorConfig *config, BotsDoor **out);
void bots_door_close(BotsDoor *door); // waits for the question under way
int bots_door_descriptor(const BotsDoor *door);
// Each bot has at most one wish at a time, and each of the other kinds is open once at most.
void bots_door_wish(BotsDoor *door, BotsWish wish, uint32_t bot, const uint8_t *hash);
bool bots_door_take(BotsDoor *door, BotsGift *out);

// For tests: reads what the metrics have. Total.
BotsMetrics bots_metrics_read(const char *text);
