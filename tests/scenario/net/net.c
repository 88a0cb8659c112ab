// Runs the simulated time: every millisecond links deliver, clients draw their frames, and the
// world steps when its tick is due. At the end the journal is replayed into a new world, which must
// have the same hash at every tick.
#include "tests/scenario/net/net_inside.h"
#include "tests/support/test_place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STEP_US        1000
#define JOURNAL_MAX    (24u << 20)
#define TICKS_MAX      4096
#define RESPAWN_GAP_US 400000
#define START_UNIX_MS  1700000000000ull

void net_fail(Net *net, const char *format, ...)
{
    if (net->result.failed) {
        return;
    }
    net->result.failed = true;
    const int used = snprintf(net->result.message, sizeof net->result.message,
                              "at %.3f s: ", (double)net->now_us / 1e6);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(net->result.message + used, sizeof net->result.message - (size_t)used, format,
              arguments);
    va_end(arguments);
}

// --- the world ----------------------------------------------------------------------------------

Status net_enter(Net *net, const Entry *entry)
{
    ByteWriter writer =
        byte_writer(net->journal + net->journal_bytes, net->journal_max - net->journal_bytes);
    entry_write(entry, &writer);
    ASSERT(writer.status == STATUS_OK);
    net->journal_bytes += writer.at;
    return world_enter(net->world, entry);
}

bool net_is_server_only(const Net *net, uint64_t net_id)
{
    for (uint32_t i = 0; i < net->whole->entity_count; i++) {
        if (net->whole->entities[i].net_id == net_id) {
            return net->whole->entities[i].server_only;
        }
    }
    return false;
}

// Each side checks what it gets from the other and prints what net_log counts; an error is a fault,
// which ends the run.
static const char *const server_script =
    "local visits = DataStore.GetDataStore('visits')\n"
    "local hits, before = 0, 0\n"
    "Network.OnClientEvent('hello', function(player, n)\n"
    "  hits = hits + 1\n"
    "  local body = player.Character\n"
    "  if body and World.Tick() < 480 then\n" // until the calm end
    "    body:SetAttribute('hellos', n)\n"
    "    body:SetAttribute('word', 'n' .. n)\n"
    "    body:SetAttribute('secret', n, {private = true})\n"
    "    if n % 60 == 0 then body:AddTag('even') else body:RemoveTag('even') end\n"
    "    if n % 90 == 0 then body:SetAttribute('word', nil) end\n"
    "    local sign = World.Find('Sign')\n" // a part of the scene: it takes no slot
    "    sign:SetAttribute('last', n)\n"
    "    sign:SetAttribute('secret', n, {private = true})\n"
    "    if n % 60 == 0 then sign:AddTag('even') else sign:RemoveTag('even') end\n"
    "    if n % 50 == 0 then sign:MoveTo(Vector3.new(12, 1 + n % 3, 12), 0.5) end\n"
    "  end\n"
    "  Network.FireClient(player, 'answer', n, hits)\n"
    "  local count = visits:IncrementAsync('hellos', 1)\n"
    "  if count <= before then error('a store that counts down') end\n"
    "  before = count\n"
    "  visits:SetAsync('last', n)\n"
    "  if type(visits:GetAsync('last')) ~= 'number' then error('a store that forgets') end\n"
    "  print('STORED')\n"
    "end)\n"
    "Network.OnInvoke('double', function(player, n) return n * 2 end)\n";
static const char scripts_scene[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [4, 0, 0]}},\n"
    "  {\"id\": 2, \"type\": \"spawn\", \"transform\": {\"position\": [-3, 0, 3]}},\n"
    "  {\"id\": 3, \"name\": \"Sign\", \"type\": \"part\", \"shape\": {\"size\": [1, 1, 1]},\n"
    "   \"attributes\": {\"last\": 0}, \"tags\": [\"made\"],\n"
    "   \"transform\": {\"position\": [12, 1, 12]}}]}\n";
static const char *const client_script =
    "local n, last = 0, 0\n"
    "Network.OnServerEvent('answer', function(back, hits)\n"
    "  if back <= last or back > n then error('an answer out of order') end\n"
    "  last = back\n"
    "  print('ANSWER')\n"
    "end)\n"
    "function onUpdate(self, dt)\n"
    "  n = n + 1\n"
    "  if n % 30 == 0 then Network.FireServer('hello', n) end\n"
    "  if n % 45 == 0 then\n"
    "    local asked = n\n"
    "    task.spawn(function()\n"
    "      local ok, twice = pcall(Network.Invoke, 'double', asked)\n"
    "      if ok and twice ~= asked * 2 then error('a wrong answer') end\n"
    "      if ok then print('DOUBLE') end\n"
    "    end)\n"
    "  end\n"
    "end\n";

static void net_log(void *user, const LogEvent *event)
{
    Net *net = user;
    const struct {
        const char *word;
        uint64_t *count;
    } words[] = {{"ANSWER", &net->script_answers},
                 {"DOUBLE", &net->script_doubles},
                 {"STORED", &net->script_stored}};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        *words[i].count += strstr(event->text, words[i].word) != NULL;
    }
    if (net->verbose) {
        printf("log %s: %s\n", event->area, event->text);
    }
}

static void check_faults(Net *net, ScriptSystem *system)
{
    static ScriptFault fault;
    if (system != NULL && script_faults(system, &fault, 1) > 0) {
        if (strstr(fault.message, "BROKEN") == NULL) { // as it shall
            net_fail(net, "a script fails: %s:%u: %s", fault.path, fault.line, fault.message);
        }
    }
}

static void add_script(Net *net, const char *path, const char *source, uint32_t flags)
{
    const Entry entry = {.type = ENTRY_SCRIPT,
                         .flags = ENTRY_SOURCE | flags,
                         .name = path,
                         .name_bytes = (uint32_t)strlen(path),
                         .bytes = (const uint8_t *)source,
                         .byte_count = strlen(source)};
    const Status status = net_enter(net, &entry);
    if (status != STATUS_OK) {
        net_fail(net, "the script %s is refused: %s", path, status_name(status));
    }
}

static World *make_world(Net *net)
{
    World *world = NULL;
    const Status status = world_create(&net->world_heap, &net->config, &world);
    if (status != STATUS_OK) {
        printf("world_create: %s\n", status_name(status));
    }
    ASSERT(status == STATUS_OK);
    return world;
}

void net_open_world(Net *net)
{
    net->config.epoch = net->store->epoch;
    net->world = make_world(net);
    net->journal_bytes = 0;
    net->world_ticks = 0;
    store_restore(net);
    if (net->scenario->reloads) {
        reload_open(net);
    } else if (net->scenario->scripts) {
        add_script(net, "ServerScriptService/Hello", server_script, 0);
        add_script(net, "StarterGui/Hello", client_script, ENTRY_REPLICATE);
    }
    net->epoch_us = net->now_us;
    net->next_tick_us = net->now_us;
}

void net_step_world(Net *net)
{
    const Entry tick = {.type = ENTRY_TICK, .number = START_UNIX_MS + net->now_us / 1000};
    status_ignore(net_enter(net, &tick));
    if (!net->world_heap.frozen) {
        heap_freeze(&net->world_heap); // from now on a step that allocates dies
    }
    ASSERT(net->world_ticks < net->tick_hash_max);
    net->tick_hashes[net->world_ticks] = world_hash(net->world);
    hash_u64(&net->hash, net->tick_hashes[net->world_ticks]);
    net->world_ticks += 1;
    net->next_tick_us = net->epoch_us + net->world_ticks * 1000000ull / net->whole->tick_rate;
    positions_record(net);
    watch_stepped(net);
    restart_stepped(net);
    store_take(net);
}

void net_replay_journal(Net *net)
{
    heap_thaw(&net->world_heap);
    World *world = make_world(net);
    ByteReader reader = byte_reader(net->journal, net->journal_bytes);
    uint64_t ticks = 0;
    while (byte_reader_left(&reader) > 0) {
        Entry entry;
        const Status status = entry_read(&reader, &entry);
        if (status != STATUS_OK) {
            net_fail(net, "the journal cannot be read: %s", status_name(status));
            break;
        }
        status_ignore(world_enter(world, &entry)); // as it was refused then
        // Output is never taken here: nothing may depend on it.
        world_commands_clear(world);
        if (entry.type == ENTRY_TICK) {
            const uint64_t hash = world_hash(world);
            if (hash != net->tick_hashes[ticks]) {
                net_fail(net, "replay differs at tick %llu of the journal",
                         (unsigned long long)ticks);
                break;
            }
            ticks += 1;
        }
    }
    if (!net->result.failed && ticks != net->world_ticks) {
        net_fail(net, "replay ended after %llu of %llu ticks", (unsigned long long)ticks,
                 (unsigned long long)net->world_ticks);
    }
    world_destroy(&net->world_heap, world);
}

// --- connections --------------------------------------------------------------------------------

static void make_client(Net *net, NetClient *client)
{
    ClientConfig config = client_config_default();
    client->started_version = client->still_count = client->light = 0;
    config.scripts = net->scenario->scripts;
    config.log = &net->log;
    config.script.log = &net->log;
    if (net->scenario->reloads) {
        client->net = net;
        client->script_log = (LogSink){.write = reload_log, .user = client, .level_min = LOG_INFO};
        config.script.log = &client->script_log;
    }
    // Some have the scene already, others fetch it.
    config.place = client->index % 3 == 0 ? NULL : net->stripped;
    snprintf(config.name, sizeof config.name, "bot%u", client->index);
    const Status status = client_create(&net->heap, &config, &client->client);
    ASSERT(status == STATUS_OK);
}

static void link_up(Net *net, NetClient *client)
{
    stream_clear(client->up);
    stream_clear(client->down);
    client->waiting_bytes = 0;
    client->connection = net->next_connection++;
    client->playing_us = 0;
    client->has_settled = false;
    frame_check_open(&client->frames, net->whole->tick_rate);
    watch_open(net, client);
    const Entry entry = {.type = ENTRY_CONNECT,
                         .flags = client->json ? ENTRY_JSON : 0,
                         .connection = client->connection};
    const Status status = net_enter(net, &entry);
    if (status != STATUS_OK) {
        client->connection = 0;
        client->reconnect_us = net->now_us + RESPAWN_GAP_US;
        return;
    }
    if (client->client != NULL) {
        char ticket[32]; // a new one each time, as pages and bots ask for
        snprintf(ticket, sizeof ticket, "ticket-%u", client->index + 1);
        const bool fits = client_set_ticket(client->client, ticket);
        ASSERT(fits);
        client_connect(client->client, (double)net->now_us / 1000);
    } else {
        char text[200];
        const int bytes =
            snprintf(text, sizeof text,
                     "{\"v\":2,\"kind\":\"command\",\"seq\":1,\"feature\":\"session\","
                     "\"action\":\"handshake\",\"payload\":{\"version\":2,\"ticket\":\"t%u\"}}",
                     client->index + 1);
        stream_send(client->up, client->profile, &client->rng, net->now_us, (const uint8_t *)text,
                    (size_t)bytes);
    }
}

void net_link_down(Net *net, NetClient *client, uint64_t reconnect_us)
{
    if (client->connection != 0) {
        watch_cut(net, client);
        const Entry entry = {.type = ENTRY_DISCONNECT, .connection = client->connection};
        status_ignore(net_enter(net, &entry));
        client->connection = 0;
    }
    client->pending_count = 0;
    client->reconnect_us = net->now_us + reconnect_us;
    if (client->client != NULL) {
        client_disconnected(client->client);
        if (client_state(client->client) == CLIENT_CLOSED) {
            client->rejected += 1;
            if (client->bot.kind != BOT_HOSTILE && client->bot.kind != BOT_CHURN &&
                (client->drawn == &link_clean || client->drawn == &link_home ||
                 strstr(client_closed_reason(client->client), "behind") == NULL) &&
                strstr(client_closed_reason(client->client), "replaced") == NULL) {
                net_fail(net, "client %u was closed: %s", client->index,
                         client_closed_reason(client->client));
            }
            client_destroy(&net->heap, client->client);
            make_client(net, client);
            net->reload.anew += 1;
        } else if (net->scenario->reloads && client->bot.kind != BOT_STAND &&
                   rng_below(&client->bot.rng, 2) == 0) {
            // The page is loaded anew: the body is there, and the scripts are not.
            client_destroy(&net->heap, client->client);
            make_client(net, client);
            net->reload.anew += 1;
        }
    }
}

static void take_outputs(Net *net, NetClient *client)
{
    const uint8_t *bytes;
    size_t count;
    while (client->waiting_bytes + MESSAGE_BYTES_MAX + 4 <= NET_WAITING &&
           world_output(net->world, client->connection, &bytes, &count)) {
        frame_check_sent(net, client, bytes, count);
        const uint32_t length = (uint32_t)count;
        memcpy(client->waiting + client->waiting_bytes, &length, 4);
        memcpy(client->waiting + client->waiting_bytes + 4, bytes, count);
        client->waiting_bytes += 4 + count;
        world_output_take(net->world, client->connection);
    }
}

static void send_waiting(Net *net, NetClient *client)
{
    size_t at = 0;
    while (at < client->waiting_bytes) {
        uint32_t length;
        memcpy(&length, client->waiting + at, 4);
        if (!stream_has_room(client->down, client->profile, length)) {
            break;
        }
        stream_send(client->down, client->profile, &client->rng, net->now_us,
                    client->waiting + at + 4, length);
        at += 4 + (size_t)length;
    }
    memmove(client->waiting, client->waiting + at, client->waiting_bytes - at);
    client->waiting_bytes -= at;
}

// --- clients ------------------------------------------------------------------------------------

static void update_client(Net *net, NetClient *client)
{
    if (client->client == NULL) {
        json_update(net, client);
        return;
    }
    bot_play(net, client);
    rune_caches_update(net, client);
    client_update(client->client, (double)net->now_us / 1000);
    watch_updated(net, client);
    const uint8_t *bytes;
    size_t count;
    while (client_output(client->client, &bytes, &count) &&
           stream_has_room(client->up, client->profile, count)) {
        stream_send(client->up, client->profile, &client->rng, net->now_us, bytes, count);
        client_output_take(client->client);
    }
    uint8_t noise[512];
    if (bot_noise(net, client, noise, sizeof noise, &count) &&
        stream_has_room(client->up, client->profile, count)) {
        stream_send(client->up, client->profile, &client->rng, net->now_us, noise, count);
    }
    if (client_state(client->client) == CLIENT_PLAYING && client->playing_us == 0) {
        client->playing_us = net->now_us;
    }
    if (client->bot.kind == BOT_CHURN && !net->is_ending && client->playing_us != 0 &&
        rng_below(&client->bot.rng, net->scenario->reloads ? 150 : 400) == 0) {
        if (rng_below(&client->bot.rng, 2) == 0) {
            const MessageLeave leave = {0};
            (void)client_send(client->client, MESSAGE_LEAVE, &leave);
        } else {
            net_link_down(net, client, 100000 + rng_below(&client->bot.rng, 2000000));
        }
    }
}

static void move_client(Net *net, NetClient *client)
{
    if (client->connection == 0) {
        if (net->now_us >= client->reconnect_us && !client->leaves) {
            link_up(net, client);
        }
        return;
    }
    const uint8_t *bytes;
    size_t count;
    while (client->connection != 0 && stream_receive(client->up, net->now_us, &bytes, &count)) {
        const Entry entry = {.type = ENTRY_MESSAGE,
                             .connection = client->connection,
                             .bytes = bytes,
                             .byte_count = count};
        watch_entered(net, client, bytes, count);
        status_ignore(net_enter(net, &entry)); // hostile ones are refused
    }
    take_outputs(net, client);
    send_waiting(net, client);
    while (stream_receive(client->down, net->now_us, &bytes, &count)) {
        frame_check_delivered(&client->frames);
        if (client->client != NULL) {
            client_receive(client->client, (double)net->now_us / 1000, bytes, count);
        } else {
            json_receive(net, client, bytes, count);
        }
    }
    if (client->client != NULL && client_state(client->client) == CLIENT_CLOSED) {
        net_link_down(net, client, RESPAWN_GAP_US);
        return;
    }
    if (net->now_us >= client->next_frame_us) {
        client->next_frame_us += client->frame_us;
        update_client(net, client);
    }
    if (client->profile->cuts_a_minute != 0 && client->connection != 0 &&
        rng_below(&client->rng, 60000) < client->profile->cuts_a_minute) {
        net_link_down(net, client, rng_below(&client->rng, client->profile->reconnect_us));
    }
}

static NetClient *client_of(Net *net, uint64_t connection)
{
    for (uint32_t i = 0; i < net->client_count; i++) {
        if (net->clients[i].connection == connection) {
            return &net->clients[i];
        }
    }
    return NULL;
}

// The world has finished with these; its last messages are still delivered.
static void close_finished(Net *net)
{
    for (uint64_t id = world_closing(net->world); id != 0; id = world_closing(net->world)) {
        NetClient *client = client_of(net, id);
        if (client != NULL) {
            const Entry entry = {.type = ENTRY_DISCONNECT, .connection = id};
            status_ignore(net_enter(net, &entry));
            client->connection = 0;
            // The goodbye arrives at once: it is the last thing on the line.
            size_t at = 0;
            while (client->client != NULL && at < client->waiting_bytes) {
                uint32_t length;
                memcpy(&length, client->waiting + at, 4);
                client_receive(client->client, (double)net->now_us / 1000, client->waiting + at + 4,
                               length);
                at += 4 + (size_t)length;
            }
            net_link_down(net, client, RESPAWN_GAP_US);
        }
    }
}

// --- the whole ----------------------------------------------------------------------------------

static void *take(Net *net, size_t bytes)
{
    void *block = heap_alloc(&net->heap, bytes);
    ASSERT(block != NULL);
    return block;
}

// The text of place.json with other numbers.
static void change_place(const NetScenario *scenario, const char *text, char *out, size_t capacity)
{
    static const char radius[] = "\"viewRadius\": ";
    const char *brace = strchr(text, '{');
    const char *at = strstr(text, radius);
    ASSERT(brace != NULL && at != NULL && at > brace && strstr(text, "Rate\"") == NULL);
    const char *number = at + sizeof radius - 1;
    const char *rest = strchr(number, ',');
    ASSERT(rest != NULL);
    const int digits = (int)(rest - number);
    char own[16];
    snprintf(own, sizeof own, "%u", scenario->view_radius);
    const int used = snprintf(out, capacity, "{%s%.*s%.*s%s",
                              scenario->low_rate ? "\"tickRate\": 30, \"snapshotRate\": 10, " : "",
                              (int)(number - brace) - 1, brace + 1, // up to the number
                              scenario->view_radius != 0 ? (int)strlen(own) : digits,
                              scenario->view_radius != 0 ? own : number, rest);
    ASSERT(used > 0 && (size_t)used < capacity);
}

static void load_places(Net *net)
{
    static char changed[8192];
    const char *place = net->scenario->course ? TEST_PLACE_COURSE : TEST_PLACE_FLAT;
    const char *scene = net->scenario->course ? TEST_PLACE_COURSE_SCENE : TEST_PLACE_FLAT_SCENE;
    scene = net->scenario->scripts ? scripts_scene : scene;
    scene = net->scenario->reloads ? reload_scene : scene;
    change_place(net->scenario, place, changed, sizeof changed);
    place = changed;
    net->whole_bytes = test_place_whole(&net->heap, place, scene);
    net->stripped_bytes = test_place_strip(&net->heap, net->whole_bytes);
    Status status =
        place_load(&net->heap, net->whole_bytes.data, net->whole_bytes.bytes, &net->whole);
    ASSERT(status == STATUS_OK);
    status =
        place_load(&net->heap, net->stripped_bytes.data, net->stripped_bytes.bytes, &net->stripped);
    ASSERT(status == STATUS_OK);
}

static void configure(Net *net, uint64_t seed)
{
    net->config = world_config_default();
    WorldConfig *config = &net->config;
    config->place = net->whole;
    config->stripped = net->stripped_bytes.data;
    config->stripped_bytes = net->stripped_bytes.bytes;
    snprintf(config->world_id, sizeof config->world_id, "world_net");
    snprintf(config->room_code, sizeof config->room_code, "NETNET");
    config->seed = seed;
    for (uint32_t i = 0; i < sizeof config->secret; i++) {
        config->secret[i] = (uint8_t)(seed >> (i % 8 * 8)) ^ (uint8_t)(i * 37);
    }
    config->player_max = NET_CLIENTS_MAX + 8;
    config->entity_max = NET_ENTITY_MAX;
    config->visible_max = 128;
    config->json_session_max = 4;
    config->scripts = net->scenario->scripts;
    net->log = (LogSink){.write = net_log, .user = net, .level_min = LOG_INFO};
    config->log = &net->log;
    config->script.log = &net->log;
    if (net->scenario->budget_bytes != 0) {
        config->snapshot_budget_bytes = net->scenario->budget_bytes;
    }
}

static void open_clients(Net *net, uint64_t seed)
{
    const NetScenario *scenario = net->scenario;
    const uint32_t range = scenario->clients_max - scenario->clients_min + 1;
    const uint32_t players = scenario->clients_min + rng_below(&net->rng, range);
    net->client_count = players + scenario->json_count;
    net->clients = take(net, net->client_count * sizeof *net->clients);
    uint32_t profile_count = 0;
    while (profile_count < 6 && scenario->profiles[profile_count] != NULL) {
        profile_count += 1;
    }
    for (uint32_t i = 0; i < net->client_count; i++) {
        NetClient *client = &net->clients[i];
        client->index = i;
        client->json = i >= players;
        client->drawn = scenario->profiles[rng_below(&net->rng, profile_count)];
        client->profile = client->drawn;
        client->rng = rng_make(seed, 1000 + i);
        bot_init(&client->bot, scenario->bots[i % scenario->bot_count], seed * 64 + i);
        client->up = stream_create(&net->heap);
        client->down = stream_create(&net->heap);
        client->waiting = take(net, NET_WAITING);
        // 60, 50, 30 or 20 pictures a second, each with its own phase.
        static const uint32_t rates[] = {60, 60, 50, 30, 20};
        const uint32_t rate = rates[rng_below(&net->rng, 5)];
        client->frame_us = client->json ? 100000 : 1000000 / rate;
        client->next_frame_us = rng_below(&net->rng, (uint32_t)client->frame_us);
        client->reconnect_us = rng_below(&net->rng, 1000000);
        if (!client->json) {
            make_client(net, client);
        }
        if (scenario->reloads) {
            rune_caches_open(net, client);
        }
    }
}

static void compare_floats(float *values, uint32_t count)
{
    // Shell sort: small, no recursion, good enough for some thousands.
    for (uint32_t gap = count / 2; gap > 0; gap /= 2) {
        for (uint32_t i = gap; i < count; i++) {
            const float value = values[i];
            uint32_t j = i;
            for (; j >= gap && values[j - gap] > value; j -= gap) {
                values[j] = values[j - gap];
            }
            values[j] = value;
        }
    }
}

// Once the clock has found its pace nothing may correct a lonely player but a death and the life
// after it, which is also a change from outside; and a guard may push.
static void check_alone(Net *net, const NetClient *client, const PredictStats *stats)
{
    const uint64_t *before = client->settled.corrections_by_cause;
    const uint64_t *after = stats->corrections_by_cause;
    const uint64_t lives = after[3] - before[3];
    static const uint32_t bits[] = {0, 2, 4}; // late, moved, ground
    for (uint32_t i = 0; i < 3 && client->has_settled; i++) {
        if (after[bits[i]] - before[bits[i]] > lives) {
            net_fail(net, "a lonely player on a clean link was corrected (cause %u)", bits[i]);
        }
    }
}

// In each second two greetings go up and are answered and stored, and one question is; on links
// that are cut some are lost.
static void check_scripts(Net *net)
{
    check_faults(net, world_scripts(net->world));
    uint64_t expected = 0;
    for (uint32_t i = 0; i < net->client_count; i++) {
        const NetClient *client = &net->clients[i];
        if (client->client != NULL) {
            check_faults(net, client_scripts(client->client));
            expected += client->drawn != &link_cut ? net->scenario->seconds : 2;
        }
    }
    if (net->scenario->scripts && !net->scenario->reloads &&
        (net->script_answers < expected || net->script_doubles < expected / 2 ||
         net->script_stored < expected)) {
        net_fail(net,
                 "scripts got %llu answers, %llu products and stored %llu times; %llu expected",
                 (unsigned long long)net->script_answers, (unsigned long long)net->script_doubles,
                 (unsigned long long)net->script_stored, (unsigned long long)expected);
    }
}

static void sum_up(Net *net)
{
    compare_floats(net->errors, net->error_count);
    if (net->error_count > 0) {
        const uint32_t at = (uint32_t)((uint64_t)net->error_count * 99 / 100);
        net->result.error_p99_m = net->errors[at < net->error_count ? at : net->error_count - 1];
    }
    if (net->scenario->clean && net->error_count > 200 && net->result.error_p99_m > 0.05f) {
        net_fail(net, "p99 of the position error is %.3f m on clean links",
                 (double)net->result.error_p99_m);
    }
    check_scripts(net);
    const WorldStats world = world_stats(net->world);
    if (world.replication.events_dropped > 0 && net->scenario->clean) {
        net_fail(net, "%llu events were dropped on clean links",
                 (unsigned long long)world.replication.events_dropped);
    }
    if (world.corrections_without_cause > 0) {
        net_fail(net, "%llu corrections without a cause",
                 (unsigned long long)world.corrections_without_cause);
    }
    for (uint32_t i = 0; i < net->client_count; i++) {
        const NetClient *client = &net->clients[i];
        if (client->client == NULL) {
            if (client->json_snapshots < net->scenario->seconds * 5) {
                net_fail(net, "JSON connection %u got only %llu snapshots", i,
                         (unsigned long long)client->json_snapshots);
            }
            continue;
        }
        const ClientStats stats = client_stats(client->client);
        net->result.corrections += stats.predict.corrections;
        for (uint32_t bit = 0; bit < 8; bit++) {
            net->result.corrections_by_cause[bit] += stats.predict.corrections_by_cause[bit];
        }
        if (net->scenario->alone) {
            check_alone(net, client, &stats.predict);
        }
    }
    net->result.ticks = world.tick;
    net->result.hash = net->hash.state;
}

static void print_second(Net *net)
{
    const WorldStats world = world_stats(net->world);
    printf("%5.1f s  tick %llu  players %u  frames %llu  checks %llu  max %.3f m  corrections "
           "%llu late %llu\n",
           (double)net->now_us / 1e6, (unsigned long long)world.tick, world.players,
           (unsigned long long)net->result.frames, (unsigned long long)net->result.checks,
           (double)net->result.error_max_m, (unsigned long long)world.corrections,
           (unsigned long long)world.inputs_late);
}

static void hash_client(Net *net, const NetClient *client)
{
    if (client->client != NULL && client_state(client->client) == CLIENT_PLAYING) {
        hash_u64(&net->hash, client_hash(client->client));
    }
}

static void play(Net *net)
{
    const uint64_t end_us = (uint64_t)net->scenario->seconds * 1000000;
    net->restart_us = net->scenario->restart ? end_us / 3 + rng_below(&net->rng, 3000000) : 0;
    for (net->now_us = 0; net->now_us < end_us + QUIET_US && !net->result.failed;
         net->now_us += STEP_US) {
        if (net->now_us == end_us) {
            final_check_begin(net);
        }
        store_answer(net);
        reload_step(net, end_us);
        for (uint32_t i = 0; i < net->client_count; i++) {
            move_client(net, &net->clients[i]);
        }
        if (net->now_us >= net->next_tick_us) {
            net_step_world(net);
            for (uint32_t i = 0; i < net->client_count; i++) {
                if (net->clients[i].connection != 0) {
                    take_outputs(net, &net->clients[i]);
                    watch_taken(net, &net->clients[i]);
                }
            }
            close_finished(net);
        }
        if (net->now_us % 1000000 == 999000) {
            for (uint32_t i = 0; i < net->client_count; i++) {
                positions_check(net, &net->clients[i]);
                hash_client(net, &net->clients[i]);
            }
            restart_note(net);
            reload_check(net, false);
            if (net->verbose) {
                print_second(net);
            }
        }
        if (net->restart_us != 0 && net->now_us >= net->restart_us) {
            net->restart_us = 0;
            restart_world(net);
        }
    }
    if (!net->result.failed) {
        final_check_compare(net);
        reload_check(net, true);
        rune_caches_check(net);
    }
    sum_up(net);
}

static void close_net(Net *net)
{
    for (uint32_t i = 0; i < net->client_count; i++) {
        NetClient *client = &net->clients[i];
        if (client->client != NULL) {
            client_destroy(&net->heap, client->client);
        }
        stream_destroy(&net->heap, client->up);
        stream_destroy(&net->heap, client->down);
        heap_free(&net->heap, client->waiting);
        rune_caches_close(net, client);
    }
    heap_thaw(&net->world_heap);
    world_destroy(&net->world_heap, net->world);
    store_free(net);
    reload_close(net);
    place_unload(&net->heap, net->whole);
    place_unload(&net->heap, net->stripped);
    test_place_free(&net->heap, net->whole_bytes);
    test_place_free(&net->heap, net->stripped_bytes);
    void *const blocks[] = {net->clients,     net->positions, net->journal,
                            net->tick_hashes, net->errors,    net->kept};
    for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        heap_free(&net->heap, blocks[i]);
    }
    if (net->heap.bytes_now != 0 || net->world_heap.bytes_now != 0) {
        net_fail(net, "%llu bytes were not given back",
                 (unsigned long long)(net->heap.bytes_now + net->world_heap.bytes_now));
    }
}

NetResult net_run(const NetScenario *scenario, uint64_t seed, bool verbose)
{
    static Net net;
    net = (Net){.scenario = scenario,
                .verbose = verbose,
                .heap = heap_make(2ull << 30),
                .world_heap = heap_make(1ull << 30),
                .rng = rng_make(seed, 42),
                .next_connection = 1,
                .journal_max = JOURNAL_MAX,
                .tick_hash_max = TICKS_MAX,
                .hash = HASH64_INIT};
    load_places(&net);
    configure(&net, seed);
    net.positions = take(&net, sizeof *net.positions);
    net.store = take(&net, sizeof *net.store);
    net.store->epoch = 1;
    const MemoryStoreConfig data = memory_store_config_default();
    const Status status = memory_store_create(&net.heap, &data, &net.store->data);
    ASSERT(status == STATUS_OK);
    net.journal = take(&net, JOURNAL_MAX);
    net.tick_hashes = take(&net, TICKS_MAX * sizeof *net.tick_hashes);
    net.kept = take(&net, 3 * sizeof *net.kept);
    net.errors = take(&net, NET_ERRORS_MAX * sizeof *net.errors);
    net_open_world(&net);
    open_clients(&net, seed);
    play(&net);
    if (!net.result.failed) {
        net_replay_journal(&net);
    }
    close_net(&net);
    return net.result;
}
