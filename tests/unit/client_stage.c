// See client_stage.h.
#include "tests/unit/client_stage.h"

#include "core/wire/script_path.h"

#include "core/base/check.h"
#include "core/script/vm/vm.h"
#include "tests/support/test.h"

#include <lua.h>
#include <string.h>

#define TICK_MS (1000.0 / 60.0)

Text stage_text(const char *text)
{
    return (Text){text, (uint32_t)strlen(text)};
}

Stage *stage_open_files(const ClientConfig *config, bool place_at_hand, const PlaceFile *files,
                        uint32_t file_count)
{
    Heap heap = heap_make(1ull << 30);
    Stage *stage = heap_alloc(&heap, sizeof *stage);
    ASSERT(stage != NULL);
    stage->heap = heap;
    const TestPlaceBytes whole = test_place_whole_files(&stage->heap, files, file_count);
    stage->scene = test_place_strip(&stage->heap, whole);
    test_place_free(&stage->heap, whole);
    CHECK_OK(place_load(&stage->heap, stage->scene.data, stage->scene.bytes, &stage->place));
    arena_init(&stage->arena, stage->arena_block, sizeof stage->arena_block);
    ClientConfig made = config != NULL ? *config : client_config_default();
    made.place = place_at_hand ? stage->place : NULL;
    stage->now_ms = 5000;
    stage->tick = 600;
    CHECK_OK(client_create(&stage->heap, &made, &stage->client));
    return stage;
}

Stage *stage_open(const ClientConfig *config, bool place_at_hand)
{
    const PlaceFile files[2] = {
        {"place.json", (const uint8_t *)TEST_PLACE_FLAT, strlen(TEST_PLACE_FLAT)},
        {"scene.json", (const uint8_t *)TEST_PLACE_FLAT_SCENE, strlen(TEST_PLACE_FLAT_SCENE)}};
    return stage_open_files(config, place_at_hand, files, 2);
}

void stage_close(Stage *stage)
{
    client_destroy(&stage->heap, stage->client);
    place_unload(&stage->heap, stage->place);
    test_place_free(&stage->heap, stage->scene);
    Heap heap = stage->heap;
    heap_free(&heap, stage);
    CHECK_INT(heap.bytes_now, 0);
}

// --- what the client says -----------------------------------------------------------------------

static void hear_inputs(Stage *stage, const MessageInputBatch *batch)
{
    for (uint32_t i = 0; i < batch->inputs_count; i++) {
        const WireInputFrame *frame = &batch->inputs[i];
        if (stage->newest_input != 0) {
            CHECK_INT(frame->seq, stage->newest_input + 1);
        }
        CHECK_INT((uint32_t)frame->tick, frame->seq);
        stage->newest_input = (uint32_t)frame->seq;
        stage->input_frames += 1;
        stage->buttons_seen |= (uint32_t)frame->buttons;
    }
}

// On joining the server says of each script that is verified that it is to run.
static void answer_reports(Stage *stage)
{
    Message message;
    arena_reset(&stage->arena);
    CHECK_OK(message_decode(stage->up_bytes[MESSAGE_SCRIPT_VERIFY_LIST],
                            stage->up_size[MESSAGE_SCRIPT_VERIFY_LIST], MESSAGE_UP, &stage->arena,
                            &message));
    const MessageScriptVerifyList *list = message.body;
    for (uint32_t i = 0; i < list->scripts_count; i++) {
        const Text path = list->scripts[i].script_path;
        const MessageScriptExecute execute = {
            .script_path = path, .run_context = stage_text("Client"), .at_tick = stage->tick};
        CHECK(list->scripts[i].success);
        if (script_path_service(path.data, path.bytes) != SERVICE_REPLICATED_STORAGE) {
            stage_send(stage, MESSAGE_SCRIPT_EXECUTE, &execute);
        }
    }
}

static void hear(Stage *stage)
{
    bool has_reports = false;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    while (client_output(stage->client, &bytes, &count)) {
        Message message;
        arena_reset(&stage->arena);
        CHECK_OK(message_decode(bytes, count, MESSAGE_UP, &stage->arena, &message));
        stage->up_count[message.number] += 1;
        if (message.number == MESSAGE_INPUT_BATCH) {
            hear_inputs(stage, message.body);
        }
        if (count <= sizeof stage->up_bytes[0]) {
            memcpy(stage->up_bytes[message.number], bytes, count);
            stage->up_size[message.number] = count;
        }
        has_reports |= message.number == MESSAGE_SCRIPT_VERIFY_LIST;
        client_output_take(stage->client);
    }
    if (has_reports && !stage->says_nothing) {
        answer_reports(stage);
    }
}

Message stage_up(Stage *stage, uint8_t number)
{
    Message message = {0};
    hear(stage);
    arena_reset(&stage->arena);
    if (stage->up_size[number] > 0) {
        CHECK_OK(message_decode(stage->up_bytes[number], stage->up_size[number], MESSAGE_UP,
                                &stage->arena, &message));
    }
    return message;
}

// --- what the server says -----------------------------------------------------------------------

void stage_send(Stage *stage, uint8_t number, const void *body)
{
    const Message message = {.number = number, .seq = ++stage->seq, .body = body};
    ByteWriter writer = byte_writer(stage->frame, sizeof stage->frame);
    message_encode(&message, &writer);
    CHECK_OK(writer.status);
    client_receive(stage->client, stage->now_ms, stage->frame, writer.at);
}

void stage_connect(Stage *stage)
{
    client_connect(stage->client, stage->now_ms);
    stage->full = true;
    stage->last = (SnapshotHeader){0};
    stage->newest_input = 0;
    stage->event_bytes = 0;
    stage->leave_count = 0;
    stage->enter_count = 0;
    stage->update_count = 0;
    memset(stage->entities, 0, sizeof stage->entities);
    hear(stage);
}

void stage_welcome(Stage *stage, bool resumed)
{
    MessageWelcome welcome = {.schema = PROTOCOL_SCHEMA,
                              .world_id = stage_text("world_a"),
                              .player_id = stage_text("p_7"),
                              .player = STAGE_PLAYER,
                              .entity_id = STAGE_BODY,
                              .tick = stage->tick,
                              .tick_rate = 60,
                              .snapshot_rate = 20,
                              .resume_token = stage_text("come-back"),
                              .resumed = resumed,
                              .scene_bytes = stage->scene.bytes,
                              .view_radius = 64};
    memcpy(welcome.scene_hash.bytes, stage->place->hash, sizeof welcome.scene_hash.bytes);
    stage_send(stage, MESSAGE_WELCOME, &welcome);
}

void stage_name(Stage *stage)
{
    const MessagePlayerJoined joined = {
        .player = STAGE_PLAYER, .entity_id = STAGE_BODY, .name = stage_text("Me")};
    stage_event(stage, stage->tick, MESSAGE_PLAYER_JOINED, &joined);
}

void stage_play(Stage *stage)
{
    stage_connect(stage);
    stage_welcome(stage, false);
    stage_body(stage, vec3(4, 0, 0));
    const NetState state = stage_state(vec3(4, 0, 0), VEC3_ZERO, stage->tick);
    stage_enter(stage, 0, NET_PLAYER, STAGE_BODY, &state, NULL, NULL, 0);
    stage_name(stage);
    stage_flush(stage);
    CHECK_INT(client_state(stage->client), CLIENT_PLAYING);
}

// --- frames -------------------------------------------------------------------------------------

NetState stage_state(Vec3 position, Vec3 velocity, uint64_t tick)
{
    return (NetState){.paint = paint_default,
                      .version = 1,
                      .motion = net_motion_quantise(position, velocity, 0, tick),
                      .flags = NET_GROUNDED,
                      .health = 100};
}

static NetRecord record(Stage *stage, NetKind kind, const NetState *base, const NetState *now,
                        const DeltaDetail *detail)
{
    uint8_t *data = stage->records + stage->record_bytes;
    BitWriter writer = bit_writer(data, sizeof stage->records - stage->record_bytes);
    delta_encode(kind, base, now, detail, stage->tick, 60, &writer);
    CHECK_OK(writer.status);
    stage->record_bytes += bit_writer_bytes(&writer) + 8;
    return (NetRecord){data, (uint32_t)writer.at};
}

void stage_enter(Stage *stage, uint32_t slot, NetKind kind, uint64_t net_id, const NetState *state,
                 const NetShape *shape, const uint8_t *attributes, size_t attributes_bytes)
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
    ASSERT(stage->enter_count < STAGE_RECORDS);
    stage->enters[stage->enter_count++] =
        (SnapshotEnter){.slot = slot,
                        .kind = kind,
                        .net_id = net_id,
                        .record = record(stage, kind, NULL, &made, &detail)};
    stage->entities[slot] = (StageEntity){kind, net_id, made};
}

void stage_change(Stage *stage, uint32_t slot, const NetState *state)
{
    StageEntity *entity = &stage->entities[slot];
    NetState made = *state;
    made.version = entity->state.version + 1;
    ASSERT(stage->update_count < STAGE_RECORDS);
    stage->updates[stage->update_count++] = (SnapshotUpdate){
        .slot = slot, .age = 1, .record = record(stage, entity->kind, &entity->state, &made, NULL)};
    entity->state = made;
}

void stage_attributes(Stage *stage, uint32_t slot, const uint8_t *attributes,
                      size_t attributes_bytes)
{
    StageEntity *entity = &stage->entities[slot];
    NetState made = entity->state;
    made.version += 1;
    made.attributes_version += 1;
    const DeltaDetail detail = {.attributes = attributes,
                                .attributes_bytes = (uint32_t)attributes_bytes};
    ASSERT(stage->update_count < STAGE_RECORDS);
    stage->updates[stage->update_count++] =
        (SnapshotUpdate){.slot = slot,
                         .age = 1,
                         .record = record(stage, entity->kind, &entity->state, &made, &detail)};
    entity->state = made;
}

void stage_leave(Stage *stage, uint32_t slot)
{
    stage->leaves[stage->leave_count++] = (uint8_t)slot;
    stage->entities[slot] = (StageEntity){0};
}

void stage_event(Stage *stage, uint64_t ticks_ago, uint8_t number, const void *body)
{
    static uint8_t bytes[72 << 10];
    ByteWriter message = byte_writer(bytes, sizeof bytes);
    message_encode_event(number, body, &message);
    CHECK_OK(message.status);
    ByteWriter writer = byte_writer(stage->events, sizeof stage->events);
    writer.at = stage->event_bytes;
    snapshot_event(&writer, ticks_ago, bytes, message.at);
    CHECK_OK(writer.status);
    stage->event_bytes = writer.at;
}

void stage_body(Stage *stage, Vec3 position)
{
    stage->has_own = true;
    stage->own = (NetOwn){
        .net_id = STAGE_BODY,
        .tick = stage->tick,
        .causes = NET_CAUSE_SPAWN,
        .state = {
            .position = position, .ground_normal = {0, 1, 0}, .health = 100, .grounded = true}};
}

void stage_flush(Stage *stage)
{
    const uint32_t newest = stage->newest_input;
    const uint32_t now = (uint32_t)stage->tick;
    const SnapshotPlan plan = {.header = {.full = stage->full,
                                          .seq = stage->full ? 1 : stage->last.seq + 1,
                                          .tick = stage->tick,
                                          .ack_seq = stage->keeps_inputs ? 0
                                                     : newest < now      ? newest
                                                                         : now,
                                          .inputs_waiting = newest > now ? newest - now : 0},
                               .previous = stage->full ? (SnapshotHeader){0} : stage->last,
                               .tick_rate = 60,
                               .own = stage->has_own ? &stage->own : NULL,
                               .leaves = stage->leaves,
                               .leave_count = stage->leave_count,
                               .enters = stage->enters,
                               .enter_count = stage->enter_count,
                               .updates = stage->updates,
                               .update_count = stage->update_count,
                               .events = stage->events,
                               .event_bytes = stage->event_bytes};
    size_t bytes = 0;
    CHECK_OK(snapshot_write(&plan, stage->frame, sizeof stage->frame, &bytes));
    stage->last = plan.header;
    stage->full = false;
    stage->has_own = false;
    stage->leave_count = 0;
    stage->enter_count = 0;
    stage->update_count = 0;
    stage->record_bytes = 0;
    stage->event_bytes = 0;
    client_receive(stage->client, stage->now_ms, stage->frame, bytes);
}

void stage_run(Stage *stage, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        stage->tick += 1;
        stage->now_ms += TICK_MS;
        client_update(stage->client, stage->now_ms);
        hear(stage);
        if (stage->tick % 3 == 0 && client_state(stage->client) >= CLIENT_FETCHING) {
            stage_flush(stage);
        }
    }
}

// --- runes --------------------------------------------------------------------------------------

size_t stage_rune(Stage *stage, const char *path, const char *source, uint8_t *out, size_t capacity)
{
    Vm *vm = NULL;
    const VmConfig config = vm_config_default();
    CHECK_OK(vm_create(&stage->heap, &config, &vm));
    lua_State *thread = vm_main(vm);
    vm_push_environment(thread);
    CHECK_OK(vm_compile(thread, path, source, strlen(source), -1));
    size_t bytes = 0;
    CHECK_OK(rune_write(thread, path, out, capacity, &bytes));
    vm_destroy(&stage->heap, vm);
    return bytes;
}
