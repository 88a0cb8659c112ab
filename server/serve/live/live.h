// Live numbers for pages: GET /api/live, a stream of server-sent events (docs/HTTP.md). A stream
// has topics; a topic is a table of rows that the main thread fills once a second while somebody
// follows it, and each stream is sent the rows that changed since its last event.
//
// A stream costs one slot and at most one event in memory: the next is made when the last was
// taken, so a slow reader skips states and never piles them up. Streams are counted by address and
// account, last a minute at most, and end as soon as their sign-in does.
#pragma once

#include "server/serve/http/http_routes.h"
#include "server/serve/live/live_rows.h"

typedef enum LiveKind {
    LIVE_PLACES,   // players now in each listed place, for everybody
    LIVE_OPERATOR, // worlds that run, and the server
    LIVE_PLACE,    // worlds of one place, with costs and faults of their scripts
    LIVE_KIND_COUNT
} LiveKind;

typedef struct LiveTopic {
    LiveKind kind;
    char place_id[65]; // of LIVE_PLACE: the package
    uint32_t stream_count;
    LiveRows rows;
} LiveTopic;

typedef struct Live Live;

// What somebody wants, who may have it.
typedef struct LiveWish {
    bool places, is_operator;
    char place_id[65];   // "": none
    const Identity *who; // NULL: nobody
    uint64_t address;
} LiveWish;

MUST_USE Status live_create(Live **out);
void live_destroy(Live *live); // after the HTTP server has stopped; NULL is allowed
// The stream becomes the response's. STATUS_LIMIT: there are too many.
MUST_USE Status live_add(Live *live, const LiveWish *wish, HttpRequest *request,
                         HttpResponse *response);
void live_step(Serve *serve); // on the main thread

// live_topics.c: a look at everything that the topic shows. On the main thread.
void live_topic_fill(Serve *serve, LiveTopic *topic, uint32_t stream_count);

// http_live.c
void serve_get_live(void *user, HttpRequest *request, HttpResponse *response);

// clang-format off
#define SERVE_LIVE_ROUTES \
    {"GET", "/api/live", .handler = serve_get_live, .blocks = true, .takes = "topics? place?", \
     .gives = "text/event-stream", .fails = "401 403 404 429", \
     .summary = "Numbers as they change: topics=places for everybody, operator for operators; " \
                "place= one's own place"}
// clang-format on
