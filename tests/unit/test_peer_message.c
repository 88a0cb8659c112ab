// What hosts say to each other: signed, for one receiver, once, and for a short time; and where
// worlds are placed.
#include "server/host/peer_message.h"
#include "server/host/placement.h"

#include "core/base/limits.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define NOW 1700000000000ull

static SigningKey key_of(uint8_t number)
{
    SigningKey key;
    uint8_t seed[crypto_sign_SEEDBYTES] = {number};
    memset(&key, 0, sizeof key);
    (void)crypto_sign_seed_keypair(key.public_half, key.secret, seed);
    return key;
}

static PeerEnvelope envelope_of(const SigningKey *key)
{
    PeerEnvelope envelope = {.receiver = {5}, .unix_ms = NOW, .nonce = {1, 2, 3}};
    memcpy(envelope.sender, key->public_half, sizeof envelope.sender);
    return envelope;
}

TEST(a_question_is_read_as_it_was_written)
{
    const SigningKey key = key_of(1);
    const PeerEnvelope envelope = envelope_of(&key);
    const HostPeerAsk ask = {
        .kind = PEER_CHECK, .host_id = "host1", .boot = {9}, .world_id = "world_a"};
    uint8_t bytes[PEER_MESSAGE_BYTES];
    const size_t count = peer_ask_write(&key, &envelope, &ask, bytes);
    PeerEnvelope said;
    HostPeerAsk heard;
    REQUIRE(peer_ask_read(bytes, count, &said, &heard) == STATUS_OK);
    CHECK_BYTES(&said, &envelope, sizeof said);
    CHECK(heard.kind == PEER_CHECK && heard.boot[0] == 9);
    CHECK_TEXT(heard.host_id, "host1");
    CHECK_TEXT(heard.world_id, "world_a");
    CHECK(peer_ask_is_signed(bytes, count, &said));
    // Whatever is changed is noticed.
    for (size_t i = 0; i < count; i++) {
        bytes[i] ^= 1;
        CHECK(peer_ask_read(bytes, count, &said, &heard) != STATUS_OK ||
              !peer_ask_is_signed(bytes, count, &said));
        bytes[i] ^= 1;
    }
    for (size_t i = 0; i < count; i++) {
        CHECK(peer_ask_read(bytes, i, &said, &heard) != STATUS_OK ||
              !peer_ask_is_signed(bytes, i, &said));
    }
}

TEST(a_question_is_good_once_and_for_a_while)
{
    static PeerNonces nonces;
    const SigningKey key = key_of(1);
    PeerEnvelope envelope = envelope_of(&key);
    CHECK(peer_nonce_use(&nonces, &envelope, NOW));
    CHECK(!peer_nonce_use(&nonces, &envelope, NOW + 1));
    envelope.nonce[0] = 8;
    CHECK(!peer_nonce_use(&nonces, &envelope, NOW + PEER_MESSAGE_MS));
    envelope.unix_ms = NOW + PEER_MESSAGE_MS + 1;
    CHECK(!peer_nonce_use(&nonces, &envelope, NOW)); // from the future
}

TEST(an_answer_is_that_host_s_to_that_question)
{
    const SigningKey key = key_of(1), other = key_of(2);
    const uint8_t nonce[16] = {4}, another[16] = {5};
    const HostPeerAnswer answer = {.result = PEER_ANSWERED,
                                   .boot = {3},
                                   .written_ms = 250,
                                   .checked = PEER_REFUSED,
                                   .refusal = REFUSED_NOT,
                                   .held = {.epoch = 12, .boot = {6}, .address = "ws://h:1"},
                                   .players = 17};
    uint8_t bytes[PEER_MESSAGE_BYTES];
    const size_t count = peer_answer_write(&key, nonce, &answer, bytes);
    HostPeerAnswer heard;
    REQUIRE(peer_answer_read(key.public_half, nonce, bytes, count, &heard) == STATUS_OK);
    CHECK(heard.written_ms == 250 && heard.checked == PEER_REFUSED && heard.players == 17);
    CHECK(heard.held.epoch == 12 && heard.held.boot[0] == 6 && heard.boot[0] == 3);
    CHECK_TEXT(heard.held.address, "ws://h:1");
    CHECK_INT(peer_answer_read(other.public_half, nonce, bytes, count, &heard), STATUS_DENIED);
    CHECK_INT(peer_answer_read(key.public_half, another, bytes, count, &heard), STATUS_DENIED);
    bytes[30] ^= 1;
    CHECK(peer_answer_read(key.public_half, nonce, bytes, count, &heard) != STATUS_OK);
}

TEST(a_reply_is_that_host_s_to_that_question)
{
    const SigningKey key = key_of(1), other = key_of(2);
    const uint8_t nonce[16] = {4}, another[16] = {5};
    static uint8_t payload[PEER_PAYLOAD_BYTES], bytes[PEER_REPLY_BYTES];
    payload[17] = 9;
    const PeerReply reply = {.outcome = PEER_DONE, .bytes = payload, .count = sizeof payload};
    const size_t count = peer_reply_write(&key, nonce, &reply, bytes);
    PeerReply heard = {.count = 77};
    REQUIRE(peer_reply_read(key.public_half, nonce, bytes, count, &heard) == STATUS_OK);
    CHECK_INT(heard.count, sizeof payload);
    CHECK_BYTES(heard.bytes, payload, sizeof payload);
    heard.count = 77;
    CHECK_INT(peer_reply_read(other.public_half, nonce, bytes, count, &heard), STATUS_DENIED);
    CHECK_INT(peer_reply_read(key.public_half, another, bytes, count, &heard), STATUS_DENIED);
    for (size_t i = 0; i < count; i += i < 64 ? 1 : 997) {
        bytes[i] ^= 1;
        CHECK(peer_reply_read(key.public_half, nonce, bytes, count, &heard) != STATUS_OK);
        bytes[i] ^= 1;
        CHECK(peer_reply_read(key.public_half, nonce, bytes, i, &heard) != STATUS_OK);
    }
    CHECK_INT(heard.count, 77);
}

TEST(a_page_of_worlds_is_read_as_it_was_written)
{
    static PeerWorld worlds[PEER_WORLDS_MAX], read[PEER_WORLDS_MAX];
    static uint8_t bytes[PEER_PAYLOAD_BYTES + 1];
    uint32_t count = 0;
    bool has_more = false;
    for (uint32_t i = 0; i < PEER_WORLDS_MAX; i++) { // the longest ids and the largest numbers
        const uint64_t most = PEER_NUMBER_MAX - 1;
        worlds[i] = (PeerWorld){.state = WORLD_RUNNING,
                                .players = WORLD_PLAYERS_MAX,
                                .is_hidden = i % 2,
                                .tick = most,
                                .late_p99_us = most,
                                .work_max_us = most,
                                .memory_bytes = most,
                                .uptime_s = most,
                                .crashes = most,
                                .bytes_down = most,
                                .bytes_up = i};
        snprintf(worlds[i].world_id, sizeof worlds[i].world_id, "world_%058u", i);
    }
    size_t size = peer_worlds_write(worlds, PEER_WORLDS_MAX, true, bytes);
    REQUIRE(peer_worlds_read(bytes, size, read, &count, &has_more) == STATUS_OK);
    CHECK(count == PEER_WORLDS_MAX && has_more);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_TEXT(read[i].world_id, worlds[i].world_id);
        CHECK(read[i].players == WORLD_PLAYERS_MAX && read[i].is_hidden == (i % 2 == 1));
        CHECK(read[i].bytes_up == i && read[i].tick == PEER_NUMBER_MAX - 1);
    }
    for (size_t i = 0; i < size; i += 61) {
        CHECK_INT(peer_worlds_read(bytes, i, read, &count, &has_more), STATUS_MALFORMED);
    }
    CHECK_INT(peer_worlds_read(bytes, size + 1, read, &count, &has_more), STATUS_MALFORMED);
    // None is fine, but not if there should be more.
    size = peer_worlds_write(worlds, 0, false, bytes);
    CHECK_INT(peer_worlds_read(bytes, size, read, &count, &has_more), STATUS_OK);
    CHECK(count == 0 && !has_more);
    bytes[0] = 1;
    CHECK_INT(peer_worlds_read(bytes, size, read, &count, &has_more), STATUS_MALFORMED);
    // Ids rise, and are ids; numbers are no larger than they may be.
    PeerWorld two[2] = {worlds[1], worlds[0]};
    size = peer_worlds_write(two, 2, false, bytes);
    CHECK_INT(peer_worlds_read(bytes, size, read, &count, &has_more), STATUS_MALFORMED);
    two[0] = worlds[0];
    snprintf(two[1].world_id, sizeof two[1].world_id, "a world");
    size = peer_worlds_write(two, 2, false, bytes);
    CHECK_INT(peer_worlds_read(bytes, size, read, &count, &has_more), STATUS_MALFORMED);
    two[0].players = WORLD_PLAYERS_MAX + 1;
    size = peer_worlds_write(two, 1, false, bytes);
    CHECK_INT(peer_worlds_read(bytes, size, read, &count, &has_more), STATUS_MALFORMED);
    two[0] = worlds[0];
    two[0].memory_bytes = PEER_NUMBER_MAX;
    size = peer_worlds_write(two, 1, false, bytes);
    CHECK_INT(peer_worlds_read(bytes, size, read, &count, &has_more), STATUS_MALFORMED);
}

TEST(worlds_go_to_the_least_loaded)
{
    PlacementHost hosts[20];
    for (uint32_t i = 0; i < 20; i++) {
        hosts[i] = (PlacementHost){.load = 500 - 10 * i, .can_take = i != 11};
    }
    CHECK_INT(placement_choose(hosts, 0, 1, 0), UINT32_MAX);
    CHECK_INT(placement_choose(hosts + 11, 1, 1, 0), UINT32_MAX); // it may not
    CHECK_INT(placement_choose(hosts, 2, 7, 0), 1);
    bool seen[20] = {false};
    for (uint32_t random = 0; random < 100; random++) {
        const uint32_t chosen = placement_choose(hosts, 20, random, 0);
        REQUIRE(chosen < 20);
        seen[chosen] = true;
        CHECK_INT(placement_choose(hosts, 20, random, 2), 19); // two have declined: the least
    }
    CHECK(seen[19] && seen[18] && seen[17] && !seen[16] && !seen[11]); // a sixth of nineteen
    // The mean of all is 410, and a world 16.
    CHECK(!placement_is_over(hosts, 20, 430, 16)); // 446 is less than a tenth more
    CHECK(placement_is_over(hosts, 20, 440, 16));
    CHECK(!placement_is_over(hosts, 11, 390, 200)); // nobody has less
    CHECK(!placement_is_over(hosts, 0, 4000, 16));
    CHECK(placement_load(100, 300, 2, 0) > placement_load(300, 100, 1, 0));
    CHECK_INT(placement_load(UINT32_MAX, 0, UINT32_MAX, UINT32_MAX), PLACEMENT_LOAD_MAX);
}
