// A world that is edited while it runs is the world that is made anew of the edited scene: for
// parts, props, NPCs and lifts, with parents, scripts, attributes and tags that come, change and
// go, from seeds. Compared is what the world has, and what its page has.
//
// Left out is what time makes different: how far a lift is, and how an NPC has fallen.
#include "core/base/check.h"
#include "core/world/world_inside.h"
#include "tests/support/local_game.h"
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define THINGS      24
#define FIRST_ID    100
#define HILL_ID     10 // a group, and one in it: things stand on these
#define LEDGE_ID    11
#define THING_BYTES 1024
// It runs on both sides; a client may not set it.
#define MARK(value) \
    "function onStart(self) pcall(function() self:SetAttribute('marked', " value ") end) end"

typedef enum Kind { KIND_PART, KIND_PROP, KIND_NPC, KIND_LIFT, KIND_COUNT } Kind;

typedef struct Thing {
    bool is_gone;
    uint32_t kind; // these five for as long as it is there
    uint32_t on;   // 0: nothing, 1: the hill, 2: the ledge
    uint32_t size;
    bool has_script;
    uint32_t by; // its parameter
    uint32_t x, yaw, colour, bounce, damage, flags;
    uint32_t price, shown; // 0: it has none; 0..3: to all, server, owner, stored
    uint32_t to;           // another thing + 1
    uint32_t tag;
} Thing;

typedef struct Scene {
    Thing things[THINGS];
    uint32_t hill_x, hill_yaw, ledge_x;
} Scene;

static const char *const shown_texts[] = {"", ", \"visibility\": \"server\"",
                                          ", \"visibility\": \"owner\"", ", \"persistent\": true"};
static const uint32_t shown_flags[] = {0, ATTRIBUTE_PRIVATE, ATTRIBUTE_OWNER, ATTRIBUTE_PERSISTENT};

// --- texts --------------------------------------------------------------------------------------

typedef struct List {
    char text[THINGS * 3 * THING_BYTES];
    size_t at;
} List;

__attribute__((format(printf, 2, 3))) static void add(List *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int bytes =
        vsnprintf(list->text + list->at, sizeof list->text - list->at, format, arguments);
    va_end(arguments);
    ASSERT(bytes >= 0 && (size_t)bytes < sizeof list->text - list->at);
    list->at += (size_t)bytes;
}

static void next(List *list)
{
    add(list, "%s", list->at > 0 ? ",\n" : "");
}

static void add_group(List *list, const Scene *scene, uint32_t on)
{
    if (on == 1) {
        add(list,
            "{\"id\": %u, \"type\": \"group\", \"transform\": {\"position\": [%u, 1, 0.5], "
            "\"rotation\": [0, %u, 0]}}",
            HILL_ID, (unsigned)scene->hill_x, (unsigned)scene->hill_yaw);
    } else {
        add(list,
            "{\"id\": %u, \"type\": \"group\", \"parent\": %u, \"transform\": {\"position\": "
            "[%u, 2, 0]}}",
            LEDGE_ID, HILL_ID, (unsigned)scene->ledge_x);
    }
}

// What it has to do with attributes and tags, each only if it is not 0.
static void add_details(List *list, uint32_t price, uint32_t shown, uint32_t to, uint32_t tag)
{
    add(list, "\"attributes\": {");
    if (price != 0) {
        add(list, "\"price\": {\"value\": %u%s}%s", (unsigned)price, shown_texts[shown],
            to != 0 ? ", " : "");
    }
    if (to != 0) {
        add(list, "\"to\": {\"entity\": %u}", FIRST_ID + (unsigned)to - 1);
    }
    add(list, "}, \"tags\": [");
    if (tag != 0) {
        add(list, "\"t%u\"", (unsigned)tag);
    }
    add(list, "]}");
}

static void add_thing(List *list, const Thing *thing, uint32_t index)
{
    static const char *const types[] = {"part", "prop", "npc", "part"};
    add(list, "{\"id\": %u, \"type\": \"%s\", \"name\": \"Thing%u\", \"colour\": \"#%06x\", ",
        FIRST_ID + (unsigned)index, types[thing->kind], (unsigned)index, (unsigned)thing->colour);
    if (thing->on != 0) {
        add(list, "\"parent\": %u, ", thing->on == 1 ? HILL_ID : LEDGE_ID);
    }
    add(list, "\"transform\": {\"position\": [%u.5, %u, %d], \"rotation\": [0, %u, 0]}, ",
        thing->kind == KIND_NPC ? 3 * (unsigned)index : (unsigned)thing->x,
        2 + (unsigned)index % 12, thing->kind == KIND_NPC ? -40 : 8, (unsigned)thing->yaw);
    if (thing->kind != KIND_NPC) {
        add(list,
            "\"shape\": {\"size\": [1, %u, 1]}, \"bounce\": %u, \"damage\": %u, \"ghost\": %s, ",
            1 + (unsigned)thing->size, (unsigned)thing->bounce, (unsigned)thing->damage,
            (thing->flags & 1) != 0 ? "true" : "false");
    }
    if (thing->kind == KIND_LIFT) {
        add(list,
            "\"motion\": {\"loop\": true, \"waypoints\": [{\"position\": [%u.5, %u, 10], "
            "\"seconds\": 0.5}, {\"position\": [%u.5, %u, 8], \"seconds\": 0.5}]}, ",
            (unsigned)thing->x, 2 + (unsigned)index % 12, (unsigned)thing->x,
            2 + (unsigned)index % 12);
    }
    if (thing->has_script) {
        add(list, "\"scriptPath\": \"Workspace/Mark.lua\", \"parameters\": {\"by\": %u}, ",
            (unsigned)thing->by);
    }
    add_details(list, thing->price, thing->shown, thing->to, thing->tag);
}

// As the studio sends it: with everything that it stands on.
static void add_item(List *list, const Scene *scene, uint32_t index)
{
    const Thing *thing = &scene->things[index];
    next(list);
    if (thing->on == 0) {
        add_thing(list, thing, index);
        return;
    }
    add(list, "{\"entity\": ");
    add_thing(list, thing, index);
    add(list, ", \"above\": [");
    for (uint32_t on = 1; on <= thing->on; on++) {
        add(list, "%s", on > 1 ? ", " : "");
        add_group(list, scene, on);
    }
    add(list, "]}");
}

static const char *scene_text(const Scene *scene)
{
    static List list;
    list.at = 0;
    add(&list,
        "{\"format\": 1, \"entities\": [{\"id\": 1, \"type\": \"spawn\"}, {\"id\": 2, "
        "\"transform\": {\"position\": [0, -0.5, 0]}, \"shape\": {\"size\": [190, 1, 190]}}, ");
    add_group(&list, scene, 1);
    next(&list);
    add_group(&list, scene, 2);
    for (uint32_t i = 0; i < THINGS; i++) {
        if (!scene->things[i].is_gone) {
            next(&list);
            add_thing(&list, &scene->things[i], i);
        }
    }
    add(&list, "]}");
    return list.text;
}

// --- what changes -------------------------------------------------------------------------------

static void thing_new(Thing *thing, Rng *rng)
{
    *thing = (Thing){.kind = rng_below(rng, KIND_COUNT),
                     .on = rng_below(rng, 3),
                     .size = rng_below(rng, 3),
                     .has_script = rng_below(rng, 3) == 0,
                     .by = rng_below(rng, 100),
                     .x = rng_below(rng, 30),
                     .yaw = rng_below(rng, 360),
                     .colour = rng_below(rng, 0x1000000),
                     .price = rng_below(rng, 3),
                     .tag = rng_below(rng, 3)};
    // What is added and stored has to be the only one of its name there ever was.
    thing->shown = rng_below(rng, 3);
}

// True if something else than attributes and tags has changed. What moves or acts stays.
static bool thing_change(Thing *thing, Rng *rng)
{
    const bool stays = thing->kind != KIND_PART;
    switch (rng_below(rng, 9)) {
    case 0:
        thing->x = stays ? thing->x : rng_below(rng, 30);
        return true;
    case 1:
        thing->yaw = stays ? thing->yaw : rng_below(rng, 360);
        return true;
    case 2:
        thing->colour = rng_below(rng, 0x1000000);
        return true;
    case 3:
        thing->bounce = stays ? thing->bounce : rng_below(rng, 9);
        return true;
    case 4:
        thing->damage = stays ? thing->damage : rng_below(rng, 9);
        return true;
    case 5:
        thing->flags = stays ? thing->flags : rng_below(rng, 2);
        return true;
    case 6:
        thing->price = rng_below(rng, 4);
        return false;
    case 7:
        thing->shown = rng_below(rng, 4);
        return false;
    default:
        thing->tag = rng_below(rng, 3);
        return false;
    }
}

typedef struct Changes {
    List removed, entities, lost, created, given;
} Changes;

// Who names what goes would name nothing.
static void forget(Scene *scene, uint32_t index)
{
    for (uint32_t i = 0; i < THINGS; i++) {
        scene->things[i].to = scene->things[i].to == index + 1 ? 0 : scene->things[i].to;
    }
}

static bool is_named(const Scene *scene, uint32_t index)
{
    for (uint32_t i = 0; i < THINGS; i++) {
        if (!scene->things[i].is_gone && scene->things[i].to == index + 1) {
            return true;
        }
    }
    return false;
}

static void details(Changes *changes, const Thing *old, const Thing *now, uint32_t index)
{
    const bool is_price = now->price != old->price || now->shown != old->shown;
    const uint32_t price = is_price ? now->price : 0, to = now->to != old->to ? now->to : 0;
    const uint32_t tag = now->tag != old->tag ? now->tag : 0;
    const uint32_t lost_price = now->price == 0 ? old->price : 0;
    const uint32_t lost_to = now->to == 0 ? old->to : 0;
    const uint32_t lost_tag = now->tag != old->tag ? old->tag : 0;
    if (price + to + tag != 0) {
        next(&changes->given);
        add(&changes->given, "{\"id\": %u, ", FIRST_ID + (unsigned)index);
        add_details(&changes->given, price, now->shown, to, tag);
    }
    if (lost_price + lost_to + lost_tag != 0) {
        next(&changes->lost);
        add(&changes->lost, "{\"id\": %u, ", FIRST_ID + (unsigned)index);
        add_details(&changes->lost, lost_price, 0, lost_to, lost_tag);
    }
}

// One that has another size, or whose kind is another one, goes and comes.
static void change(Scene *scene, uint32_t index, Changes *changes, bool is_moved, Rng *rng)
{
    Thing *thing = &scene->things[index];
    const Thing old = *thing;
    const uint32_t dice = rng_below(rng, 12);
    // Stored values are not given to what takes its place; what is named has another net id then.
    const bool may_go = thing->shown != 3 && !is_named(scene, index);
    const bool must_go = is_moved && thing->on != 0 && thing->kind != KIND_PART;
    if (may_go && dice == 0) {
        thing->is_gone = true;
        forget(scene, index);
    } else if (must_go || (may_go && dice == 1)) {
        thing->size = rng_below(rng, 3);
        add_item(&changes->created, scene, index);
    } else {
        bool is_other = is_moved && thing->on != 0;
        for (uint32_t i = 0; i < 2 && dice < 6; i++) {
            is_other = thing_change(thing, rng) || is_other;
        }
        if (dice == 7) { // names another one
            const uint32_t to = rng_below(rng, THINGS);
            thing->to = scene->things[to].is_gone ? 0 : to + 1;
        }
        if (is_other) {
            add_item(&changes->entities, scene, index);
        }
        details(changes, &old, thing, index);
        return;
    }
    next(&changes->removed);
    add(&changes->removed, "%u", FIRST_ID + (unsigned)index);
}

// First here, then in the running world.
static void edit(LocalGame *game, Scene *scene, Rng *rng)
{
    static Changes changes;
    static List text;
    PlaceError error;
    changes.removed.at = changes.entities.at = changes.lost.at = changes.created.at = 0;
    changes.given.at = text.at = 0;
    Changes *all = &changes;
    all->removed.text[0] = all->entities.text[0] = all->lost.text[0] = 0;
    all->created.text[0] = all->given.text[0] = 0;
    // A group moves only if nothing stays behind that stands on it: see must_go.
    bool is_moved = rng_below(rng, 3) == 0;
    for (uint32_t i = 0; i < THINGS && is_moved; i++) {
        const Thing *thing = &scene->things[i];
        is_moved = thing->is_gone || thing->on == 0 || thing->kind == KIND_PART ||
                   (thing->shown != 3 && !is_named(scene, i));
    }
    if (is_moved) {
        scene->hill_x = rng_below(rng, 6);
        scene->hill_yaw = rng_below(rng, 30);
        scene->ledge_x = rng_below(rng, 6);
    }
    for (uint32_t i = 0; i < THINGS; i++) {
        if (!scene->things[i].is_gone) {
            change(scene, i, all, is_moved, rng);
        } else if (rng_below(rng, 4) == 0) {
            thing_new(&scene->things[i], rng);
            add_item(&all->created, scene, i);
        }
    }
    add(&text, "{\"removed\": [%s], \"entities\": [%s], \"lost\": [%s], ", all->removed.text,
        all->entities.text, all->lost.text);
    add(&text, "\"created\": [%s], \"given\": [%s]}", all->created.text, all->given.text);
    const Status status = local_host_edit(game->host, text.text, text.at, &error);
    CHECK_OK(status);
    if (status != STATUS_OK) {
        printf("%s\n%s\n", status_name(status), text.text);
    }
}

// --- what is compared ---------------------------------------------------------------------------

static void open_scene(LocalGame *game, const Scene *scene)
{
    static const char script[] = MARK("self.params.by");
    const PlaceFile files[] = {place_file("Workspace/Mark.lua", script),
                               place_file("place.json", "{\"format\": 1, \"name\": \"Edited\"}"),
                               place_file("scene.json", scene_text(scene))};
    local_game_open(game, files, 3);
    (void)local_game_join(game, "ada");
    local_game_run(game, 1);
    REQUIRE(local_game_plays(&game->players[0]));
}

// As a world or a client has it. False: it is not there.
static bool find_now(const Sim *sim, uint64_t net_id, Pose *pose, PartData *data)
{
    const Entity *entity = sim_entity(sim, sim_find(sim, net_id));
    const uint32_t index = (uint32_t)(net_id - 1);
    *data = (PartData){0};
    if (entity != NULL) {
        *pose = (Pose){entity->position, entity->rotation};
        *data = entity_has_shape(entity) ? entity->part.data : *data;
        return true;
    }
    if (net_id == 0 || net_id > scene_part_count(sim_scene(sim))) {
        return false;
    }
    *pose = scene_part(sim_scene(sim), index)->desc.pose;
    *data = scene_part(sim_scene(sim), index)->desc.data;
    return !sim_part_is_hidden(sim, index);
}

static bool is_close(float a, float b, float most)
{
    return math_abs(a - b) <= most;
}

static void check_pose(const Thing *thing, const Pose *a, const Pose *b)
{
    const Quat p = a->rotation, q = b->rotation;
    if (thing->kind == KIND_LIFT) { // on its way along z
        const bool is_plain = thing->on == 0;
        CHECK(!is_plain || is_close(a->position.x, b->position.x, 1e-3f));
        CHECK(is_close(a->position.y, b->position.y, 1e-3f));
        CHECK(vec3_length(vec3_sub(a->position, b->position)) < 2.01f);
    } else if (thing->kind == KIND_NPC) {
        CHECK(is_close(a->position.x, b->position.x, 2.5f)); // they stand 3 m apart and may push
        CHECK(is_close(a->position.z, b->position.z, 2.5f));
    } else {
        CHECK(vec3_equal(a->position, b->position));
        CHECK_NEAR(math_abs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w), 1, 1e-6);
    }
}

static void check_details(LocalGame *game, const AttributeTable *table, bool is_page,
                          uint64_t net_id, const Thing *thing)
{
    const uint32_t flags = shown_flags[thing->shown];
    const bool is_seen = thing->price != 0 && (!is_page || attribute_is_public(flags));
    ScriptValue value = {0};
    uint32_t has = 0;
    (void)attribute_table_attribute(table, net_id, text_from("price"), &value, &has);
    CHECK_INT(value.type, is_seen ? SCRIPT_NUMBER : SCRIPT_NIL);
    CHECK_INT((uint32_t)value.number, is_seen ? thing->price : 0);
    CHECK(is_page || !is_seen || has == flags);
    value = (ScriptValue){0};
    (void)attribute_table_attribute(table, net_id, text_from("to"), &value, NULL);
    CHECK_INT(value.entity, thing->to == 0 ? 0
                                           : world_scene_entity(local_host_world(game->host),
                                                                FIRST_ID + thing->to - 1));
    value = (ScriptValue){0};
    (void)attribute_table_attribute(table, net_id, text_from("marked"), &value, NULL);
    CHECK_INT(value.type, thing->has_script ? SCRIPT_NUMBER : SCRIPT_NIL);
    CHECK_INT((uint32_t)value.number, thing->has_script ? thing->by : 0);
    CHECK(attribute_table_has_tag(table, net_id, text_from("t1")) == (thing->tag == 1));
    CHECK(attribute_table_has_tag(table, net_id, text_from("t2")) == (thing->tag == 2));
}

static void compare(LocalGame *live, LocalGame *made, uint32_t index, const Thing *thing)
{
    LocalGame *stages[2] = {live, made};
    Pose poses[4];
    PartData datas[4];
    Paint paints[4];
    for (uint32_t i = 0; i < 4; i++) {
        LocalGame *game = stages[i / 2];
        World *world = local_host_world(game->host);
        Client *client = game->players[0].client;
        const bool is_page = i % 2 == 1;
        const uint64_t net_id = world_scene_entity(world, FIRST_ID + index);
        const bool is_there =
            find_now(is_page ? client_sim(client) : world_sim(world), net_id, &poses[i], &datas[i]);
        CHECK(is_there == !thing->is_gone);
        if (!is_there || thing->is_gone) {
            return;
        }
        paints[i] = is_page ? client_paint(client, net_id) : world_paint(world, net_id);
        check_details(game,
                      is_page ? view_attributes(client_script_view(client))
                              : authority_attributes(world->authority),
                      is_page, net_id, thing);
        check_pose(thing, &poses[0], &poses[i]);
        CHECK(part_data_equal(&datas[0], &datas[i]));
        CHECK_INT(paints[i].colour, thing->colour);
    }
}

static uint32_t instances(const ScriptSystem *system)
{
    ScriptStats stats;
    script_stats(system, &stats);
    return stats.instance_count;
}

static bool lift_moves(LocalGame *game, uint32_t index)
{
    const uint64_t net_id = world_scene_entity(local_host_world(game->host), FIRST_ID + index);
    const Sim *sims[2] = {world_sim(local_host_world(game->host)),
                          client_sim(game->players[0].client)};
    bool moves = true;
    for (uint32_t i = 0; i < 2; i++) {
        const Entity *entity = sim_entity(sims[i], sim_find(sims[i], net_id));
        moves = moves && entity != NULL && entity->part.motion.count > 0;
    }
    return moves;
}

static void compare_all(LocalGame *live, LocalGame *made, const Scene *scene)
{
    LocalGame *stages[2] = {live, made};
    uint32_t scripts = 0;
    for (uint32_t i = 0; i < THINGS; i++) {
        const Thing *thing = &scene->things[i];
        compare(live, made, i, thing);
        scripts += !thing->is_gone && thing->has_script;
        if (!thing->is_gone && thing->kind == KIND_LIFT) {
            CHECK(lift_moves(live, i) && lift_moves(made, i));
        }
    }
    for (uint32_t i = 0; i < 2; i++) { // on both sides: what went has ended, what came has begun
        CHECK_INT(instances(world_scripts(local_host_world(stages[i]->host))), scripts);
        CHECK_INT(instances(client_scripts(stages[i]->players[0].client)), scripts);
    }
}

TEST(a_world_that_is_edited_while_it_runs_is_the_world_made_anew)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        LocalGame live, made;
        Rng rng = rng_make(seed, 1);
        Scene scene = {.hill_x = 3};
        for (uint32_t i = 0; i < THINGS; i++) {
            thing_new(&scene.things[i], &rng);
            scene.things[i].is_gone = i % 4 == 3; // it may come later
        }
        open_scene(&live, &scene);
        for (uint32_t i = 0; i < 8; i++) {
            edit(&live, &scene, &rng);
            local_game_run(&live, 1);
        }
        CHECK(local_host_world(live.host)->made_count > 0);
        // One who comes in later is told what was added, and its scripts.
        (void)local_game_join(&live, "bo");
        local_game_run(&live, 2);
        open_scene(&made, &scene);
        local_game_run(&made, 2);
        compare_all(&live, &made, &scene);
        const GamePlayer first = live.players[0];
        live.players[0] = live.players[1];
        compare_all(&live, &made, &scene);
        live.players[0] = first;
        local_game_close(&live);
        local_game_close(&made);
    }
}

// A script that this world does not have yet comes with a reload; what it is bound to may come
// first.
TEST(a_script_comes_while_the_world_runs_and_what_has_it)
{
    static const char added[] = "{\"files\": {\"Workspace/Late.lua\": \"" MARK("7") "\"}}";
    static const char created[] =
        "{\"created\": [{\"id\": 100, \"scriptPath\": \"Workspace/Late.lua\"}]}";
    LocalGame game;
    PlaceError error;
    bool is_remade = true;
    Scene scene = {.hill_x = 3};
    for (uint32_t i = 0; i < THINGS; i++) {
        scene.things[i].is_gone = true;
    }
    open_scene(&game, &scene);
    CHECK_INT(local_host_edit(game.host, created, strlen(created), &error), STATUS_NOT_FOUND);
    CHECK_OK(local_host_apply_diff(game.host, added, strlen(added), &is_remade, &error));
    CHECK(!is_remade);
    CHECK_OK(local_host_edit(game.host, created, strlen(created), &error)); // before it took over
    local_game_run(&game, 2);
    World *world = local_host_world(game.host);
    ScriptValue value = {0};
    CHECK(attribute_table_attribute(authority_attributes(world->authority),
                                    world_scene_entity(world, 100), text_from("marked"), &value,
                                    NULL));
    CHECK_INT((uint32_t)value.number, 7);
    CHECK_INT(instances(world_scripts(world)), 1);
    CHECK_INT(instances(client_scripts(game.players[0].client)), 1);
    local_game_close(&game);
}

static uint64_t spawn_named(LocalGame *game, const char *name, ScriptEntityInfo *info)
{
    World *world = local_host_world(game->host);
    ScriptWorld *face = authority_world(world->authority);
    *info = (ScriptEntityInfo){0};
    const uint64_t net_id = face->methods->find(face, text_from(name));
    CHECK(net_id == 0 || face->methods->entity(face, net_id, info));
    return net_id;
}

static Status edit_spawns(LocalGame *game, const char *text)
{
    PlaceError error;
    return local_host_edit(game->host, text, strlen(text), &error);
}

static void open_spawns(LocalGame *game, const char *entities)
{
    static List scene;
    scene.at = 0;
    add(&scene,
        "{\"format\": 1, \"entities\": [{\"id\": 2, \"transform\": {\"position\": [0, -0.5, 0]}, "
        "\"shape\": {\"size\": [190, 1, 190]}}, {\"id\": 5, \"type\": \"group\", \"transform\": "
        "{\"position\": [0, 3, 0]}}, %s]}",
        entities);
    const PlaceFile files[] = {place_file("ServerScriptService/Main.lua",
                                          "function onStart() local a = World.Find('Asked') end"),
                               place_file("place.json", "{\"format\": 1, \"name\": \"Spawns\"}"),
                               place_file("scene.json", scene.text)};
    local_game_open(game, files, 3);
    (void)local_game_join(game, "ada");
    local_game_run(game, 1);
    REQUIRE(local_game_plays(&game->players[0]));
}

#define SPAWN(id, name, x, team)                               \
    "{\"id\": " #id ", \"type\": \"spawn\", \"name\": \"" name \
    "\", \"transform\": {\"position\": [" #x                   \
    ", 1, 4], \"rotation\": [0, 90, 0]}, \"team\": \"" team "\"}"
#define ON_GROUP                                                                          \
    "{\"id\": 9, \"type\": \"spawn\", \"name\": \"High\", \"parent\": 5, \"transform\": " \
    "{\"position\": [7, 1, 4]}}"

// Who begins, or dies, stands from then on where a world that is made anew would have put them.
TEST(where_players_start_changes_while_the_world_runs)
{
    LocalGame live, made;
    ScriptEntityInfo infos[2];
    open_spawns(
        &live, SPAWN(1, "One", 0, "") ", " SPAWN(3, "Two", 20, "") ", " SPAWN(4, "Red", 40, "red"));
    const uint64_t red = spawn_named(&live, "Red", &infos[0]);
    CHECK_OK(edit_spawns(
        &live, "{\"spawns\": [" SPAWN(
                   3, "Two", -30,
                   "") ", {\"entity\": " ON_GROUP
                       ", \"above\": [{\"id\": 5, \"transform\": {\"position\": [0, 3, 0]}}]}]"
                       ", \"spawnsGone\": [{\"id\": 1}]}"));
    open_spawns(&made, SPAWN(3, "Two", -30, "") ", " SPAWN(4, "Red", 40, "red") ", " ON_GROUP);
    for (uint64_t player = 0; player < 8; player++) {
        CHECK(vec3_equal(
            authority_spawn_point(local_host_world(live.host)->authority, 100 + player),
            authority_spawn_point(local_host_world(made.host)->authority, 100 + player)));
    }
    static const char *const names[] = {"One", "Two", "Red", "High"};
    for (uint32_t i = 0; i < 4; i++) {
        const bool is_there = spawn_named(&live, names[i], &infos[0]) != 0;
        CHECK((spawn_named(&made, names[i], &infos[1]) != 0) == is_there);
        CHECK(is_there == (i != 0));
        CHECK(vec3_equal(infos[0].position, infos[1].position));
        CHECK(infos[0].rotation.y == infos[1].rotation.y);
        CHECK(text_equal(infos[0].team, infos[1].team));
    }
    CHECK(spawn_named(&live, "Red", &infos[0]) == red); // who holds it has the same one
    // One who comes in stands there.
    const GamePlayer *bo = local_game_join(&live, "bo");
    local_game_run(&live, 1);
    REQUIRE(local_game_plays(bo));
    const Vec3 at = client_own(bo->client).position;
    CHECK(is_close(at.x, -30, 1) || is_close(at.x, 7, 1));
    // Refused, and nothing has changed: a name that a script has asked for, none that is left, none
    // that is there, a thing that is no spawn. What was taken away comes back.
    CHECK_INT(edit_spawns(&live, "{\"spawns\": [" SPAWN(8, "Asked", 0, "") "]}"),
              STATUS_UNSUPPORTED);
    CHECK_INT(edit_spawns(&live, "{\"spawns\": [" SPAWN(3, "Asked", 0, "") "]}"),
              STATUS_UNSUPPORTED);
    CHECK_INT(edit_spawns(&live, "{\"spawns\": [{\"id\": 3}]}"), STATUS_MALFORMED);
    CHECK_INT(edit_spawns(&live, "{\"spawnsGone\": [{\"id\": 1}]}"), STATUS_NOT_FOUND);
    CHECK_INT(edit_spawns(&live, "{\"spawnsGone\": [{\"id\": 77}]}"), STATUS_NOT_FOUND);
    CHECK_OK(edit_spawns(&live, "{\"spawnsGone\": [{\"id\": 9}, {\"id\": 4}]}"));
    CHECK_INT(edit_spawns(&live, "{\"spawnsGone\": [{\"id\": 3}]}"), STATUS_UNSUPPORTED);
    CHECK_OK(edit_spawns(&live, "{\"spawns\": [" SPAWN(1, "One", 5, "") "]}"));
    CHECK(spawn_named(&live, "One", &infos[0]) != 0 && is_close(infos[0].position.x, 5, 0));
    // There is room for so many.
    Status status = STATUS_OK;
    uint32_t count = 0;
    while (status == STATUS_OK && count < 200) {
        char text[96];
        (void)snprintf(text, sizeof text, "{\"spawns\": [{\"id\": %u, \"type\": \"spawn\"}]}",
                       1000 + (unsigned)count);
        status = edit_spawns(&live, text);
        count += status == STATUS_OK;
    }
    CHECK_INT(status, STATUS_LIMIT);
    CHECK_INT(count, EDIT_MADE_MAX - 1); // High is one of them
    local_game_close(&live);
    local_game_close(&made);
}
