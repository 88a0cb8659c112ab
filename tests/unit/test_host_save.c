// What a host does with the saves of a world process, which may send anything: the next number of
// the epoch goes to the store, any other ends that process and nothing else.
#include "server/host/host_inside.h"

#include "core/world/save/row.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct HostFixture {
    StoreFixture store;
    Host *host;
    Channel world; // the other end
} HostFixture;

static bool start_world(Host *host, Channel *world)
{
    const char *const arguments[] = {"sleep", "60", NULL};
    const ProcessConfig config = {.program = "/bin/sleep", .arguments = arguments};
    int ends[2] = {-1, -1};
    CHECK_OK(process_start(&config, &host->process));
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    CHECK_OK(channel_open(&host->channel, ends[0], 1u << 20));
    CHECK_OK(channel_open(world, ends[1], 1u << 20));
    host->running = true;
    return true;
}

static bool host_begin(HostFixture *fixture)
{
    Host *host = calloc(1, sizeof *host);
    *fixture = (HostFixture){.host = host};
    CHECK(host != NULL && fixture_begin(&fixture->store));
    host->store = fixture->store.store;
    host->world.epoch = fixture_world(&fixture->store, "world_a");
    host->lease_held = true;
    host->incarnation = 1;
    snprintf(host->row.world_id, sizeof host->row.world_id, "world_a");
    pthread_mutex_init(&host->lock, NULL);
    return start_world(host, &fixture->world);
}

static void host_end(HostFixture *fixture)
{
    int code = 0;
    process_kill(&fixture->host->process, SIGKILL);
    process_wait(&fixture->host->process, &code);
    host_save_drain(fixture->host, 10000);
    channel_close(&fixture->host->channel);
    channel_close(&fixture->world);
    pthread_mutex_destroy(&fixture->host->lock);
    fixture_end(&fixture->store);
    free(fixture->host);
}

// A save of one row, with that number.
static void send_save(HostFixture *fixture, uint64_t epoch, uint64_t seq)
{
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_meta(&(RowMeta){.next_net_id = 1, .next_player = 1, .tick = seq}, &writer);
    const ChannelReport report = {.type = CHANNEL_SAVE,
                                  .request = seq & 0xffff,
                                  .epoch = epoch,
                                  .seq = seq,
                                  .bytes = bytes,
                                  .byte_count = writer.at};
    host_save_receive(fixture->host, &report);
}

static void wait_stored(HostFixture *fixture)
{
    for (uint32_t i = 0; i < 500 && fixture->host->save_count > 0; i++) {
        struct pollfd answers = {.fd = store_descriptor(fixture->host->store), .events = POLLIN};
        (void)poll(&answers, 1, 20);
        host_store_poll(fixture->host);
    }
    CHECK_INT(fixture->host->save_count, 0);
}

TEST(saves_in_order_are_stored)
{
    HostFixture fixture;
    CHECK(host_begin(&fixture));
    const uint64_t epoch = fixture.host->world.epoch;
    for (uint64_t seq = 1; seq <= 5; seq++) {
        send_save(&fixture, epoch, seq);
    }
    wait_stored(&fixture);
    CHECK_INT(fixture.host->metrics.kills, 0);
    CHECK(!fixture.host->fenced);
    CHECK_INT(fixture.host->save_seq, 5);
    host_end(&fixture);
}

// Skipped, repeated, the first one 0, of another epoch.
TEST(save_out_of_order_ends_the_world_alone)
{
    static const struct {
        uint64_t good, seq, epoch_added;
    } cases[] = {{1, 3, 0}, {2, 2, 0}, {0, 0, 0}, {1, 2, 1}, {0, UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        HostFixture fixture;
        CHECK(host_begin(&fixture));
        const uint64_t epoch = fixture.host->world.epoch;
        for (uint64_t seq = 1; seq <= cases[i].good; seq++) {
            send_save(&fixture, epoch, seq);
        }
        send_save(&fixture, epoch + cases[i].epoch_added, cases[i].seq);
        wait_stored(&fixture);
        CHECK_INT(fixture.host->metrics.kills, 1);
        CHECK(!fixture.host->fenced); // it is no sign of another host
        CHECK_INT(fixture.host->save_seq, cases[i].good);
        host_end(&fixture);
    }
}

static void save_once(void *user)
{
    HostFixture *fixture = user;
    send_save(fixture, fixture->host->world.epoch, 1);
}

TEST(nothing_is_stored_without_a_lease)
{
    HostFixture fixture;
    CHECK(host_begin(&fixture));
    fixture.host->lease_held = false;
    CHECK(test_dies(save_once, &fixture));
    fixture.host->lease_held = true;
    save_once(&fixture);
    wait_stored(&fixture);
    host_end(&fixture);
}
