// What a host does with the saves of a world process, which may send anything: the next number of
// the epoch goes to the store, any other ends that process and nothing else.
#include "server/host/host_inside.h"

#include "core/world/save/row.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <poll.h>

// A link without a process behind it.
static Status fake_put(HostLink *link, ChannelType type, const void *bytes, size_t count,
                       int descriptor)
{
    (void)link, (void)type, (void)bytes, (void)count, (void)descriptor;
    return STATUS_OK;
}

static void fake_nothing(HostLink *link)
{
    (void)link;
}

static const HostLinkFace face = {.put = fake_put,
                                  .flush = fake_nothing,
                                  .close = fake_nothing,
                                  .kill = fake_nothing,
                                  .free = fake_nothing};

typedef struct HostFixture {
    StoreFixture store;
    Host *host;
    HostWorld *world, *other;
    HostLink link;
} HostFixture;

static uint64_t fake_now(void *user)
{
    (void)user;
    return 1000;
}

static void fake_log(void *user, LogLevel level, const char *area, const char *text)
{
    (void)user, (void)level, (void)area, (void)text;
}

static HostWorld *add_world(HostFixture *fixture, const char *world_id)
{
    HostWorld *world = NULL;
    StoreWorld row = {.created_unix_ms = 1};
    snprintf(row.world_id, sizeof row.world_id, "%s", world_id);
    CHECK_OK(host_add_world(fixture->host, &row, &world));
    world->epoch = fixture_world(&fixture->store, world_id);
    world->has_lease = true;
    world->state = WORLD_RUNNING;
    world->link = &fixture->link;
    world->incarnation = 1;
    return world;
}

static bool host_begin(HostFixture *fixture)
{
    *fixture = (HostFixture){.link = {&face}};
    CHECK(fixture_begin(&fixture->store));
    const HostConfig config = {
        .outside = {.now_ns = fake_now, .unix_ms = fake_now, .log = fake_log},
        .store = fixture->store.store};
    CHECK_OK(host_create(&config, &fixture->host));
    fixture->world = add_world(fixture, "world_a");
    fixture->other = add_world(fixture, "world_b");
    return fixture->world->epoch > 0;
}

static void host_end(HostFixture *fixture)
{
    host_destroy(fixture->host);
    fixture_end(&fixture->store);
}

// A save of one row, with that number.
static void send_save(HostWorld *world, uint64_t epoch, uint64_t seq)
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
    hosted_save_receive(world, &report);
}

static void wait_stored(HostFixture *fixture, const HostWorld *world)
{
    for (uint32_t i = 0; i < 500 && world->saves.count > 0; i++) {
        struct pollfd answers = {.fd = store_descriptor(fixture->store.store), .events = POLLIN};
        (void)poll(&answers, 1, 20);
        host_store_poll(fixture->host);
    }
    CHECK_INT(world->saves.count, 0);
}

TEST(saves_in_order_are_stored)
{
    HostFixture fixture;
    CHECK(host_begin(&fixture));
    for (uint64_t seq = 1; seq <= 5; seq++) {
        send_save(fixture.world, fixture.world->epoch, seq);
    }
    wait_stored(&fixture, fixture.world);
    CHECK_INT(host_counts(fixture.host)->kills, 0);
    CHECK(!fixture.world->fenced);
    CHECK_INT(fixture.world->saves.seq, 5);
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
        HostWorld *world = fixture.world;
        for (uint64_t seq = 1; seq <= cases[i].good; seq++) {
            send_save(world, world->epoch, seq);
        }
        send_save(world, world->epoch + cases[i].epoch_added, cases[i].seq);
        send_save(fixture.other, fixture.other->epoch, 1);
        wait_stored(&fixture, world);
        wait_stored(&fixture, fixture.other);
        CHECK_INT(world->kills, 1);
        CHECK_INT(fixture.other->kills, 0);
        CHECK(!world->fenced); // it is no sign of another host
        CHECK_INT(world->saves.seq, cases[i].good);
        host_end(&fixture);
    }
}

// The save of a world that another host has taken is refused, and that ends this world alone.
TEST(save_of_a_taken_world_fences_it)
{
    HostFixture fixture;
    CHECK(host_begin(&fixture));
    uint64_t epoch = 0;
    CHECK_OK(fixture_take(&fixture.store, "world_a", "host", 0, FIXTURE_FOREVER, &epoch));
    send_save(fixture.world, fixture.world->epoch, 1);
    send_save(fixture.other, fixture.other->epoch, 1);
    wait_stored(&fixture, fixture.other);
    for (uint32_t i = 0; i < 500 && !fixture.world->fenced; i++) {
        struct pollfd answers = {.fd = store_descriptor(fixture.store.store), .events = POLLIN};
        (void)poll(&answers, 1, 20);
        host_store_poll(fixture.host);
    }
    CHECK(fixture.world->fenced);
    CHECK_INT(fixture.world->state, WORLD_ENDING);
    CHECK_INT(fixture.other->state, WORLD_RUNNING);
    host_end(&fixture);
}

static void save_once(void *user)
{
    const HostFixture *fixture = user;
    send_save(fixture->world, fixture->world->epoch, 1);
}

TEST(nothing_is_stored_without_a_lease)
{
    HostFixture fixture;
    CHECK(host_begin(&fixture));
    fixture.world->has_lease = false;
    CHECK(test_dies(save_once, &fixture));
    fixture.world->has_lease = true;
    save_once(&fixture);
    wait_stored(&fixture, fixture.world);
    host_end(&fixture);
}
