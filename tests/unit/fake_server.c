// See fake_server.h.
#include "tests/unit/fake_server.h"

#include "core/wire/script_path.h"

#include "core/base/check.h"
#include "core/script/vm/vm.h"
#include "tests/support/test.h"

#include <lua.h>
#include <string.h>

#define TICK_MS (1000.0 / 60.0)

Text fake_text(const char *text)
{
    return (Text){text, (uint32_t)strlen(text)};
}

FakeServer *fake_open_files(const ClientConfig *config, bool place_at_hand, const PlaceFile *files,
                            uint32_t file_count)
{
    Heap heap = heap_make(1ull << 30);
    FakeServer *fake = heap_alloc(&heap, sizeof *fake);
    ASSERT(fake != NULL);
    fake->heap = heap;
    const TestPlaceBytes whole = test_place_whole_files(&fake->heap, files, file_count);
    fake->scene = test_place_strip(&fake->heap, whole);
    test_place_free(&fake->heap, whole);
    CHECK_OK(place_load(&fake->heap, fake->scene.data, fake->scene.bytes, &fake->place));
    arena_init(&fake->arena, fake->arena_block, sizeof fake->arena_block);
    ClientConfig made = config != NULL ? *config : client_config_default();
    made.place = place_at_hand ? fake->place : NULL;
    fake->now_ms = 5000;
    fake->tick = 600;
    CHECK_OK(client_create(&fake->heap, &made, &fake->client));
    return fake;
}

FakeServer *fake_open(const ClientConfig *config, bool place_at_hand)
{
    const PlaceFile files[2] = {
        {"place.json", (const uint8_t *)TEST_PLACE_FLAT, strlen(TEST_PLACE_FLAT)},
        {"scene.json", (const uint8_t *)TEST_PLACE_FLAT_SCENE, strlen(TEST_PLACE_FLAT_SCENE)}};
    return fake_open_files(config, place_at_hand, files, 2);
}

void fake_close(FakeServer *fake)
{
    client_destroy(&fake->heap, fake->client);
    place_unload(&fake->heap, fake->place);
    test_place_free(&fake->heap, fake->scene);
    Heap heap = fake->heap;
    heap_free(&heap, fake);
    CHECK_INT(heap.bytes_now, 0);
}

// --- what the client says -----------------------------------------------------------------------

static void hear_inputs(FakeServer *fake, const MessageInputBatch *batch)
{
    for (uint32_t i = 0; i < batch->inputs_count; i++) {
        const WireInputFrame *frame = &batch->inputs[i];
        if (fake->newest_input != 0) {
            CHECK_INT(frame->seq, fake->newest_input + 1);
        }
        CHECK_INT((uint32_t)frame->tick, frame->seq);
        fake->newest_input = (uint32_t)frame->seq;
        fake->input_frames += 1;
        fake->buttons_seen |= (uint32_t)frame->buttons;
    }
}

// On joining the server says of each script that is verified that it is to run.
static void answer_reports(FakeServer *fake)
{
    Message message;
    arena_reset(&fake->arena);
    CHECK_OK(message_decode(fake->up_bytes[MESSAGE_SCRIPT_VERIFY_LIST],
                            fake->up_size[MESSAGE_SCRIPT_VERIFY_LIST], MESSAGE_UP, &fake->arena,
                            &message));
    const MessageScriptVerifyList *list = message.body;
    for (uint32_t i = 0; i < list->scripts_count; i++) {
        const Text path = list->scripts[i].script_path;
        const MessageScriptExecute execute = {
            .script_path = path, .run_context = fake_text("Client"), .at_tick = fake->tick};
        CHECK(list->scripts[i].success);
        if (script_path_service(path.data, path.bytes) != SERVICE_REPLICATED_STORAGE) {
            fake_send(fake, MESSAGE_SCRIPT_EXECUTE, &execute);
        }
    }
}

static void hear(FakeServer *fake)
{
    bool has_reports = false;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    while (client_output(fake->client, &bytes, &count)) {
        Message message;
        arena_reset(&fake->arena);
        CHECK_OK(message_decode(bytes, count, MESSAGE_UP, &fake->arena, &message));
        fake->up_count[message.number] += 1;
        if (message.number == MESSAGE_INPUT_BATCH) {
            hear_inputs(fake, message.body);
        }
        if (count <= sizeof fake->up_bytes[0]) {
            memcpy(fake->up_bytes[message.number], bytes, count);
            fake->up_size[message.number] = count;
        }
        has_reports |= message.number == MESSAGE_SCRIPT_VERIFY_LIST;
        client_output_take(fake->client);
    }
    if (has_reports && !fake->says_nothing) {
        answer_reports(fake);
    }
}

Message fake_up(FakeServer *fake, uint8_t number)
{
    Message message = {0};
    hear(fake);
    arena_reset(&fake->arena);
    if (fake->up_size[number] > 0) {
        CHECK_OK(message_decode(fake->up_bytes[number], fake->up_size[number], MESSAGE_UP,
                                &fake->arena, &message));
    }
    return message;
}

// --- what the server says -----------------------------------------------------------------------

void fake_send(FakeServer *fake, uint8_t number, const void *body)
{
    const Message message = {.number = number, .seq = ++fake->seq, .body = body};
    ByteWriter writer = byte_writer(fake->frame, sizeof fake->frame);
    message_encode(&message, &writer);
    CHECK_OK(writer.status);
    client_receive(fake->client, fake->now_ms, fake->frame, writer.at);
}

void fake_connect(FakeServer *fake)
{
    client_connect(fake->client, fake->now_ms);
    fake->full = true;
    fake->last = (SnapshotHeader){0};
    fake->newest_input = 0;
    fake->event_bytes = 0;
    fake->leave_count = 0;
    fake->enter_count = 0;
    fake->update_count = 0;
    memset(fake->entities, 0, sizeof fake->entities);
    hear(fake);
}

void fake_welcome(FakeServer *fake, bool resumed)
{
    MessageWelcome welcome = {.schema = PROTOCOL_SCHEMA,
                              .world_id = fake_text("world_a"),
                              .player_id = fake_text("p_7"),
                              .player = FAKE_PLAYER,
                              .entity_id = FAKE_BODY,
                              .tick = fake->tick,
                              .tick_rate = 60,
                              .snapshot_rate = 20,
                              .resume_token = fake_text("come-back"),
                              .resumed = resumed,
                              .scene_bytes = fake->scene.bytes,
                              .view_radius = 64};
    memcpy(welcome.scene_hash.bytes, fake->place->hash, sizeof welcome.scene_hash.bytes);
    fake_send(fake, MESSAGE_WELCOME, &welcome);
}

void fake_name(FakeServer *fake)
{
    const MessagePlayerJoined joined = {
        .player = FAKE_PLAYER, .entity_id = FAKE_BODY, .name = fake_text("Me")};
    fake_event(fake, fake->tick, MESSAGE_PLAYER_JOINED, &joined);
}

void fake_play(FakeServer *fake)
{
    fake_connect(fake);
    fake_welcome(fake, false);
    fake_body(fake, vec3(4, 0, 0));
    const NetState state = fake_state(vec3(4, 0, 0), VEC3_ZERO, fake->tick);
    fake_enter(fake, 0, NET_PLAYER, FAKE_BODY, &state, NULL, NULL, 0);
    fake_name(fake);
    fake_flush(fake);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
}

// --- frames -------------------------------------------------------------------------------------

NetState fake_state(Vec3 position, Vec3 velocity, uint64_t tick)
{
    return (NetState){.paint = paint_default,
                      .version = 1,
                      .motion = net_motion_quantise(position, velocity, 0, tick),
                      .flags = NET_GROUNDED,
                      .health = 100};
}

static NetRecord record(FakeServer *fake, NetKind kind, const NetState *base, const NetState *now,
                        const DeltaDetail *detail)
{
    uint8_t *data = fake->records + fake->record_bytes;
    BitWriter writer = bit_writer(data, sizeof fake->records - fake->record_bytes);
    delta_encode(kind, base, now, detail, fake->tick, 60, &writer);
    CHECK_OK(writer.status);
    fake->record_bytes += bit_writer_bytes(&writer) + 8;
    return (NetRecord){data, (uint32_t)writer.at};
}

void fake_enter(FakeServer *fake, uint32_t slot, NetKind kind, uint64_t net_id,
                const NetState *state, const NetShape *shape, const uint8_t *attributes,
                size_t attributes_bytes)
{
    uint8_t shape_bytes[NET_SHAPE_BYTES_MAX];
    ByteWriter writer = byte_writer(shape_bytes, sizeof shape_bytes);
    NetState made = *state;
    if (shape != NULL) {
        net_shape_write(shape, &writer);
        made.shape_version = 1;
    }
    made.attributes_version = attributes != NULL ? 1 : 0;
    const DeltaDetail detail = {.shape = shape_bytes,
                                .shape_bytes = (uint32_t)writer.at,
                                .attributes = attributes,
                                .attributes_bytes = (uint32_t)attributes_bytes};
    ASSERT(fake->enter_count < FAKE_RECORDS);
    fake->enters[fake->enter_count++] =
        (SnapshotEnter){.slot = slot,
                        .kind = kind,
                        .net_id = net_id,
                        .record = record(fake, kind, NULL, &made, &detail)};
    fake->entities[slot] = (FakeEntity){kind, net_id, made};
}

void fake_change(FakeServer *fake, uint32_t slot, const NetState *state)
{
    FakeEntity *entity = &fake->entities[slot];
    NetState made = *state;
    made.version = entity->state.version + 1;
    ASSERT(fake->update_count < FAKE_RECORDS);
    fake->updates[fake->update_count++] = (SnapshotUpdate){
        .slot = slot, .age = 1, .record = record(fake, entity->kind, &entity->state, &made, NULL)};
    entity->state = made;
}

void fake_attributes(FakeServer *fake, uint32_t slot, const uint8_t *attributes,
                     size_t attributes_bytes)
{
    FakeEntity *entity = &fake->entities[slot];
    NetState made = entity->state;
    made.version += 1;
    made.attributes_version += 1;
    const DeltaDetail detail = {.attributes = attributes,
                                .attributes_bytes = (uint32_t)attributes_bytes};
    ASSERT(fake->update_count < FAKE_RECORDS);
    fake->updates[fake->update_count++] =
        (SnapshotUpdate){.slot = slot,
                         .age = 1,
                         .record = record(fake, entity->kind, &entity->state, &made, &detail)};
    entity->state = made;
}

void fake_leave(FakeServer *fake, uint32_t slot)
{
    fake->leaves[fake->leave_count++] = (uint8_t)slot;
    fake->entities[slot] = (FakeEntity){0};
}

void fake_event(FakeServer *fake, uint64_t ticks_ago, uint8_t number, const void *body)
{
    static uint8_t bytes[72 << 10];
    ByteWriter message = byte_writer(bytes, sizeof bytes);
    message_encode_event(number, body, &message);
    CHECK_OK(message.status);
    ByteWriter writer = byte_writer(fake->events, sizeof fake->events);
    writer.at = fake->event_bytes;
    snapshot_event(&writer, ticks_ago, bytes, message.at);
    CHECK_OK(writer.status);
    fake->event_bytes = writer.at;
}

void fake_body(FakeServer *fake, Vec3 position)
{
    fake->has_own = true;
    fake->own = (NetOwn){
        .net_id = FAKE_BODY,
        .tick = fake->tick,
        .causes = NET_CAUSE_SPAWN,
        .state = {
            .position = position, .ground_normal = {0, 1, 0}, .health = 100, .grounded = true}};
}

void fake_flush(FakeServer *fake)
{
    const uint32_t newest = fake->newest_input;
    const uint32_t now = (uint32_t)fake->tick;
    const SnapshotPlan plan = {.header = {.full = fake->full,
                                          .seq = fake->full ? 1 : fake->last.seq + 1,
                                          .tick = fake->tick,
                                          .ack_seq = fake->keeps_inputs ? 0
                                                     : newest < now     ? newest
                                                                        : now,
                                          .inputs_waiting = newest > now ? newest - now : 0},
                               .previous = fake->full ? (SnapshotHeader){0} : fake->last,
                               .tick_rate = 60,
                               .own = fake->has_own ? &fake->own : NULL,
                               .leaves = fake->leaves,
                               .leave_count = fake->leave_count,
                               .enters = fake->enters,
                               .enter_count = fake->enter_count,
                               .updates = fake->updates,
                               .update_count = fake->update_count,
                               .events = fake->events,
                               .event_bytes = fake->event_bytes};
    size_t bytes = 0;
    CHECK_OK(snapshot_write(&plan, fake->frame, sizeof fake->frame, &bytes));
    fake->last = plan.header;
    fake->full = false;
    fake->has_own = false;
    fake->leave_count = 0;
    fake->enter_count = 0;
    fake->update_count = 0;
    fake->record_bytes = 0;
    fake->event_bytes = 0;
    client_receive(fake->client, fake->now_ms, fake->frame, bytes);
}

void fake_run(FakeServer *fake, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        fake->tick += 1;
        fake->now_ms += TICK_MS;
        client_update(fake->client, fake->now_ms);
        hear(fake);
        if (fake->tick % 3 == 0 && client_state(fake->client) >= CLIENT_FETCHING) {
            fake_flush(fake);
        }
    }
}

// --- runes --------------------------------------------------------------------------------------

size_t fake_rune(FakeServer *fake, const char *path, const char *source, uint8_t *out,
                 size_t capacity)
{
    Vm *vm = NULL;
    const VmConfig config = vm_config_default();
    CHECK_OK(vm_create(&fake->heap, &config, &vm));
    lua_State *thread = vm_main(vm);
    vm_push_environment(thread);
    CHECK_OK(vm_compile(thread, path, source, strlen(source), -1));
    size_t bytes = 0;
    CHECK_OK(rune_write(thread, path, out, capacity, &bytes));
    vm_destroy(&fake->heap, vm);
    return bytes;
}
