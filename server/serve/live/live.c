// See live.h. One lock for everything: HTTP threads add, read and end streams, the main thread
// fills topics and makes events. It is never held while something waits.
#define _GNU_SOURCE
#include "server/serve/live/live.h"

#include "core/base/byte_values.h"
#include "core/base/limits.h"
#include "server/sys/clock.h"

#include <stdlib.h>

#define STEP_NS     1000000000ull
#define TOPICS_MAX  (LIVE_PLACE_TOPICS_MAX + 2)
#define STREAM_ENDS "event: again\ndata: {}\n\n" // the page asks anew, at once
#define HEARTBEAT   ":\n\n"

typedef struct LiveStream {
    Live *live;
    bool is_used, is_ending;
    HttpRequest *request;
    Identity who; // account 0: nobody
    uint64_t address, began_ns, sent_ns;
    LiveTopic *topics[LIVE_KIND_COUNT]; // NULL: not wanted
    uint64_t seen[LIVE_KIND_COUNT];
    uint8_t *text; // what is being sent; NULL: all was taken
    size_t bytes, at;
} LiveStream;

struct Live {
    pthread_mutex_t lock;
    LiveStream *streams; // LIVE_STREAMS_MAX
    LiveTopic topics[TOPICS_MAX];
    uint32_t stream_count;
    uint64_t stepped_ns;
};

Status live_create(Live **out)
{
    Live *live = calloc(1, sizeof *live);
    LiveStream *streams = calloc(LIVE_STREAMS_MAX, sizeof *streams);
    if (live == NULL || streams == NULL) {
        free(live);
        free(streams);
        return STATUS_LIMIT;
    }
    live->streams = streams;
    pthread_mutex_init(&live->lock, NULL);
    *out = live;
    return STATUS_OK;
}

void live_destroy(Live *live)
{
    if (live != NULL) {
        ASSERT(live->stream_count == 0);
        for (uint32_t i = 0; i < TOPICS_MAX; i++) {
            live_rows_free(&live->topics[i].rows);
        }
        pthread_mutex_destroy(&live->lock);
        free(live->streams);
        free(live);
    }
}

// --- topics -------------------------------------------------------------------------------------

// NULL: too many places are followed. The lock is held.
static LiveTopic *topic_acquire(Live *live, LiveKind kind, const char *place_id)
{
    LiveTopic *free_one = NULL;
    for (uint32_t i = 0; i < TOPICS_MAX; i++) {
        LiveTopic *topic = &live->topics[i];
        if (topic->stream_count == 0) {
            free_one = free_one != NULL ? free_one : topic;
        } else if (topic->kind == kind && strcmp(topic->place_id, place_id) == 0) {
            topic->stream_count += 1;
            return topic;
        }
    }
    if (free_one != NULL) {
        *free_one = (LiveTopic){.kind = kind, .stream_count = 1};
        snprintf(free_one->place_id, sizeof free_one->place_id, "%s", place_id);
    }
    return free_one;
}

static void topics_release(LiveStream *stream)
{
    for (uint32_t i = 0; i < LIVE_KIND_COUNT; i++) {
        LiveTopic *topic = stream->topics[i];
        stream->topics[i] = NULL;
        if (topic != NULL && --topic->stream_count == 0) {
            live_rows_free(&topic->rows);
        }
    }
}

static bool topics_acquire(Live *live, LiveStream *stream, const LiveWish *wish)
{
    const bool wanted[LIVE_KIND_COUNT] = {wish->places, wish->is_operator,
                                          wish->place_id[0] != '\0'};
    bool has_all = true;
    for (uint32_t i = 0; i < LIVE_KIND_COUNT; i++) {
        if (wanted[i]) {
            stream->topics[i] =
                topic_acquire(live, (LiveKind)i, i == LIVE_PLACE ? wish->place_id : "");
            has_all = has_all && stream->topics[i] != NULL;
        }
    }
    return has_all;
}

// --- a stream, on HTTP threads ------------------------------------------------------------------

static int64_t stream_read(void *user, uint64_t at, void *out, size_t bytes)
{
    (void)at;
    LiveStream *stream = user;
    int64_t result = HTTP_STREAM_WAIT;
    pthread_mutex_lock(&stream->live->lock);
    if (stream->text != NULL) {
        const size_t left = stream->bytes - stream->at;
        const size_t count = left < bytes ? left : bytes;
        memcpy(out, stream->text + stream->at, count);
        stream->at += count;
        result = (int64_t)count;
        if (stream->at == stream->bytes) {
            free(stream->text);
            stream->text = NULL;
        }
    } else if (stream->is_ending) {
        result = 0;
    }
    pthread_mutex_unlock(&stream->live->lock);
    return result;
}

static void stream_end(void *user)
{
    LiveStream *stream = user;
    Live *live = stream->live;
    pthread_mutex_lock(&live->lock);
    topics_release(stream);
    free(stream->text);
    *stream = (LiveStream){.is_used = false};
    live->stream_count -= 1;
    pthread_mutex_unlock(&live->lock);
}

// An address has fewer streams than connections, so that its pages can still ask; an operator's
// page counts by account alone. NULL: there are too many. The lock is held.
static LiveStream *find_slot(const Live *live, const LiveWish *wish)
{
    const uint64_t account = wish->who != NULL ? wish->who->account : 0;
    uint32_t of_account = 0, of_address = 0;
    LiveStream *slot = NULL;
    for (uint32_t i = 0; i < LIVE_STREAMS_MAX; i++) {
        LiveStream *stream = &live->streams[i];
        if (!stream->is_used) {
            slot = slot != NULL ? slot : stream;
        } else {
            of_account += account != 0 && stream->who.account == account;
            of_address += stream->address == wish->address;
        }
    }
    const bool has_room = of_account < LIVE_STREAMS_PER_ACCOUNT_MAX &&
                          (wish->is_operator || of_address < LIVE_STREAMS_PER_ADDRESS_MAX);
    return has_room ? slot : NULL;
}

Status live_add(Live *live, const LiveWish *wish, HttpRequest *request, HttpResponse *response)
{
    pthread_mutex_lock(&live->lock);
    LiveStream *stream = find_slot(live, wish);
    bool is_added = false;
    if (stream != NULL) {
        *stream = (LiveStream){.live = live,
                               .is_used = true,
                               .request = request,
                               .address = wish->address,
                               .began_ns = clock_ns()};
        if (wish->who != NULL) {
            stream->who = *wish->who;
        }
        is_added = topics_acquire(live, stream, wish);
        if (!is_added) {
            topics_release(stream);
            *stream = (LiveStream){.is_used = false};
        }
    }
    live->stream_count += is_added;
    pthread_mutex_unlock(&live->lock);
    if (is_added) {
        response->content_type = "text/event-stream";
        response->stream =
            (HttpStream){.read = stream_read, .end = stream_end, .user = stream, .is_open = true};
    }
    return is_added ? STATUS_OK : STATUS_LIMIT;
}

// --- events, on the main thread -----------------------------------------------------------------

static void write_events(const LiveStream *stream, ByteWriter *out)
{
    static const char *const names[LIVE_KIND_COUNT] = {"places", "operator", "place"};
    for (uint32_t i = 0; i < LIVE_KIND_COUNT; i++) {
        const LiveTopic *topic = stream->topics[i];
        if (topic != NULL && live_rows_has_news(&topic->rows, stream->seen[i])) {
            byte_write_chars(out, "event: ");
            byte_write_chars(out, names[i]);
            byte_write_chars(out, "\ndata: ");
            live_rows_write(&topic->rows, stream->seen[i], out);
            byte_write_chars(out, "\n\n");
        }
    }
    if (stream->is_ending) {
        byte_write_chars(out, STREAM_ENDS);
    }
}

// What is new, as one text. Without memory it is tried again in a second.
static void make_event(LiveStream *stream, uint64_t now_ns)
{
    ByteWriter counter = byte_counter();
    write_events(stream, &counter);
    const bool is_silent = counter.at == 0;
    if (is_silent && now_ns - stream->sent_ns < LIVE_HEARTBEAT_SECONDS * STEP_NS) {
        return;
    }
    const size_t bytes = is_silent ? strlen(HEARTBEAT) : counter.at;
    uint8_t *text = malloc(bytes);
    if (text == NULL) {
        return;
    }
    ByteWriter writer = byte_writer(text, bytes);
    if (is_silent) {
        byte_write_chars(&writer, HEARTBEAT);
    } else {
        write_events(stream, &writer);
    }
    ASSERT(writer.status == STATUS_OK && writer.at == bytes);
    stream->text = text;
    stream->bytes = bytes;
    stream->at = 0;
    stream->sent_ns = now_ns;
    for (uint32_t i = 0; i < LIVE_KIND_COUNT; i++) {
        stream->seen[i] = stream->topics[i] != NULL ? stream->topics[i]->rows.version : 0;
    }
}

static void stream_step(const Serve *serve, LiveStream *stream, uint64_t now_ns)
{
    const bool is_signed_out = stream->who.account != 0 && serve->control != NULL &&
                               !identity_is_current(serve->control, &stream->who);
    if (is_signed_out || http_stream_is_gone(stream->request)) {
        stream->is_ending = true;
        free(stream->text);
        stream->text = NULL;
        http_stream_go_on(stream->request);
        return;
    }
    if (stream->text != NULL || stream->is_ending) {
        return; // it has not taken the last one yet; the server cuts off who takes too long
    }
    stream->is_ending = now_ns - stream->began_ns >= LIVE_STREAM_SECONDS * STEP_NS;
    make_event(stream, now_ns);
    if (stream->text != NULL || stream->is_ending) {
        http_stream_go_on(stream->request);
    }
}

void live_step(Serve *serve)
{
    Live *live = serve->live;
    const uint64_t now_ns = clock_ns();
    if (live == NULL || now_ns - live->stepped_ns < STEP_NS) {
        return;
    }
    live->stepped_ns = now_ns;
    pthread_mutex_lock(&live->lock);
    for (uint32_t i = 0; i < TOPICS_MAX; i++) {
        if (live->topics[i].stream_count > 0) {
            live_topic_fill(serve, &live->topics[i], live->stream_count);
        }
    }
    for (uint32_t i = 0; i < LIVE_STREAMS_MAX && live->stream_count > 0; i++) {
        if (live->streams[i].is_used) {
            stream_step(serve, &live->streams[i], now_ns);
        }
    }
    pthread_mutex_unlock(&live->lock);
}
