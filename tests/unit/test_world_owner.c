// Attributes with the visibility "owner": the client of the player who owns the entity gets them,
// and no other client ever gets one byte of them. Every message to every client is searched, at
// every bit, because records do not begin at whole bytes.
#include "tests/unit/act_world.h"

#include <string.h>

static ActStore store;
static ActWorld act;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [3, 0.5, 3]},"
    "   \"attributes\": {\"combination\": {\"value\": \"OfVault\", \"visibility\": \"owner\"}},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

// Both the name of the attribute and its value say whose it is; "Word" is for everybody.
#define SCRIPT(round)                                                                             \
    "function onUpdate()\n"                                                                       \
    "  for _, player in ipairs(Players.GetPlayers()) do\n"                                        \
    "    local body = player.Character\n"                                                         \
    "    if body and World.Tick() % 5 == 0 then\n"                                                \
    "      body:SetAttribute('AmmoOf' .. player.Name, World.Tick() .. 'RoundsOf' .. player.Name " \
    "         .. '" round "', {visibility = 'owner', persistent = true})\n"                       \
    "      if World.Tick() % 20 == 0 then body:SetAttribute('Word', 'hello') end\n"               \
    "    end\n"                                                                                   \
    "  end\n"                                                                                     \
    "  for _, thing in ipairs(World.GetInRadius(Vector3.zero, 40, 'Structure')) do\n"             \
    "    if thing.Owner then\n"                                                                   \
    "      thing:SetAttribute('code', 'KeyOf' .. thing.Owner.Name .. World.Tick(),\n"             \
    "                         {visibility = 'owner'})\n"                                          \
    "    end\n"                                                                                   \
    "  end\n"                                                                                     \
    "end\n"

#define WORDS 4
static const char *const words[WORDS] = {"OfAnn", "OfBob", "OfCat", "OfVault"};
static uint32_t found[ACT_CLIENTS][WORDS];

static bool has_word(const uint8_t *bytes, size_t count, const char *word, uint32_t shift)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length < count; i++) {
        size_t same = 0;
        while (same < length &&
               (uint8_t)(bytes[i + same] >> shift | bytes[i + same + 1] << (8 - shift)) ==
                   (uint8_t)word[same]) {
            same += 1;
        }
        if (same == length) {
            return true;
        }
    }
    return false;
}

static void shown(const ActClient *client, const uint8_t *bytes, size_t count)
{
    static uint8_t padded[128 << 10];
    CHECK(count < sizeof padded);
    memcpy(padded, bytes, count);
    padded[count] = 0;
    for (uint32_t word = 0; word < WORDS; word++) {
        for (uint32_t shift = 0; shift < 8; shift++) {
            found[client - act.clients][word] += has_word(padded, count + 1, words[word], shift);
        }
    }
}

// The client got its own word since the last time (or must not have), and none of the others'.
static void check_only(const ActClient *client, uint32_t own, bool has_own)
{
    uint32_t *counts = found[client - act.clients];
    for (uint32_t word = 0; word < WORDS; word++) {
        if ((word == own && has_own) != (counts[word] > 0)) {
            test_fail(__FILE__, __LINE__, "client %d got \"%s\" %u times", (int)own, words[word],
                      (unsigned)counts[word]);
        }
    }
    memset(counts, 0, sizeof found[0]);
}

static void open(void)
{
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, true);
    act.shown = shown;
    memset(found, 0, sizeof found);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Ammo", SCRIPT("1")));
}

static void build(ActClient *client, int32_t x)
{
    const MessageBuildPlace command = {.piece = 0, .cell = {x, 0, 2}};
    act_world_tick(&act, 8);
    CHECK(act_world_ask(&act, client, MESSAGE_BUILD_PLACE, &command));
}

static Handle body_of(const ActClient *client)
{
    return sim_find(act.world->sim, act_world_session(&act, client)->entity);
}

TEST(no_other_client_gets_a_byte)
{
    open();
    ActClient *ann = act_world_join(&act, 7, "Ann");
    ActClient *bob = act_world_join(&act, 8, "Bob");
    act_world_tick(&act, 60);
    check_only(ann, 0, true);
    check_only(bob, 1, true);
    build(ann, 4); // a structure of hers
    act_world_tick(&act, 30);
    check_only(ann, 0, true);
    check_only(bob, 1, true);
    // Death and another life.
    (void)sim_damage(act.world->sim, body_of(ann), 1000, 0);
    act_world_tick(&act, 30);
    check_only(bob, 1, true);
    check_only(ann, 0, true);
    const MessageRespawn respawn = {0};
    act_world_tick(&act, 200);
    (void)act_world_ask(&act, ann, MESSAGE_RESPAWN, &respawn);
    act_world_tick(&act, 30);
    check_only(ann, 0, true);
    check_only(bob, 1, true);
    // Somebody comes late, in the place of somebody who went: the same session number.
    act_world_cut(&act, bob);
    act_world_tick(&act, 5);
    ActClient *cat = act_world_join(&act, 9, "Cat");
    CHECK(cat == bob);
    memset(found[bob - act.clients], 0, sizeof found[0]);
    act_world_tick(&act, 60);
    check_only(cat, 2, true);
    check_only(ann, 0, true);
    // Other scripts.
    CHECK_OK(act_world_script(&act, "ServerScriptService/Ammo", SCRIPT("2")));
    CHECK_OK(act_world_enter(
        &act, &(Entry){.type = ENTRY_RELOAD, .number = act.world->run.manifest_version + 1ull}));
    act_world_tick(&act, 60);
    check_only(cat, 2, true);
    check_only(ann, 0, true);
    // Another run of the world, in which Bob comes before Ann.
    act_world_tick(&act, 120);
    act_world_close(&act);
    open();
    act_world_rows(&act);
    bob = act_world_join(&act, 8, "Bob");
    ann = act_world_join(&act, 7, "Ann");
    act_world_tick(&act, 60);
    check_only(bob, 1, true);
    check_only(ann, 0, true);
    act_world_close(&act);
    act_store_free(&store);
    memset(&store, 0, sizeof store);
}

static uint64_t vault(void)
{
    ScriptWorld *world = authority_world(act.world->authority);
    return world->methods->find(world, text_from("Vault"));
}

static uint32_t flags_of(const char *name)
{
    ScriptValue value;
    uint32_t flags = 0;
    CHECK(attribute_table_attribute(authority_attributes(act.world->authority), vault(),
                                    text_from(name), &value, &flags));
    return flags;
}

TEST(the_visibility_outlives_the_run)
{
    const ScriptValue value = {.type = SCRIPT_TEXT, .text = text_from("KeyOfVault")};
    open();
    CHECK_INT(flags_of("combination"), ATTRIBUTE_OWNER);
    ScriptWorld *world = authority_world(act.world->authority);
    CHECK_OK(world->methods->set_attribute(world, vault(), text_from("a"), &value,
                                           ATTRIBUTE_PERSISTENT | ATTRIBUTE_OWNER));
    CHECK_OK(world->methods->set_attribute(world, vault(), text_from("b"), &value,
                                           ATTRIBUTE_PERSISTENT | ATTRIBUTE_PRIVATE));
    CHECK_OK(world->methods->set_attribute(world, vault(), text_from("c"),
                                           &(ScriptValue){.type = SCRIPT_NUMBER, .number = 1},
                                           ATTRIBUTE_PERSISTENT));
    act_world_tick(&act, 80);
    act_world_close(&act);
    open();
    act_world_rows(&act);
    ActClient *ann = act_world_join(&act, 7, "Ann");
    act_world_tick(&act, 30);
    CHECK_INT(flags_of("a"), ATTRIBUTE_PERSISTENT | ATTRIBUTE_OWNER);
    CHECK_INT(flags_of("b"), ATTRIBUTE_PERSISTENT | ATTRIBUTE_PRIVATE);
    CHECK_INT(flags_of("c"), ATTRIBUTE_PERSISTENT);
    check_only(ann, 0, true); // the vault has no owner, so nobody gets what is for its owner
    act_world_close(&act);
    act_store_free(&store);
    memset(&store, 0, sizeof store);
}

TEST(the_files_for_clients_have_no_owner_attributes)
{
    open();
    bool has = false;
    for (uint32_t shift = 0; shift < 8; shift++) {
        has = has || has_word(act.stripped.data, act.stripped.bytes, "OfVault", shift) ||
              has_word(act.stripped.data, act.stripped.bytes, "combination", shift);
    }
    CHECK(!has);
    CHECK(has_word(act.stripped.data, act.stripped.bytes, "Vault", 0));
    act_world_close(&act);
}
