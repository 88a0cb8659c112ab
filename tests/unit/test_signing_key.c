// The host's key: created once, private, and rotated without invalidating earlier signatures.
#define _GNU_SOURCE
#include "server/build/sign/manifest_verify.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char key_path[96];

static TestFolder begin(void)
{
    (void)umask(022); // fixed, because files that a group may write to are rejected
    const TestFolder folder = test_folder_make();
    snprintf(key_path, sizeof key_path, "%s/ticket.key", folder.path);
    return folder;
}

TEST(a_key_is_made_once)
{
    const TestFolder folder = begin();
    SigningKey key, again;
    SigningPublicKeys halves;
    CHECK_INT(signing_public_keys_open(key_path, &halves), STATUS_NOT_FOUND);
    CHECK_INT(signing_key_rotate(key_path, &key), STATUS_NOT_FOUND);
    CHECK_OK(signing_key_open(key_path, &key));
    CHECK_OK(signing_key_open(key_path, &again));
    CHECK_BYTES(key.secret, again.secret, sizeof key.secret);
    CHECK_OK(signing_public_keys_open(key_path, &halves));
    CHECK_INT(halves.count, 1);
    CHECK_BYTES(halves.items[0], key.public_half, sizeof key.public_half);
    test_folder_remove(&folder);
}

TEST(what_others_can_read_or_is_no_key_is_refused)
{
    const TestFolder folder = begin();
    SigningKey key;
    CHECK_OK(signing_key_open(key_path, &key));
    REQUIRE(chmod(key_path, 0644) == 0);
    CHECK_INT(signing_key_open(key_path, &key), STATUS_DENIED);
    test_folder_write(&folder, "ticket.key", "short");
    REQUIRE(chmod(key_path, 0600) == 0);
    CHECK_INT(signing_key_open(key_path, &key), STATUS_MALFORMED);
    test_folder_write(&folder, "ticket.key",
                      "0123456789012345678901234567890123456789012345678901234567890123");
    REQUIRE(chmod(key_path, 0600) == 0);
    CHECK_INT(signing_key_open(key_path, &key), STATUS_MALFORMED); // halves that do not fit
    test_folder_remove(&folder);
}

TEST(what_another_user_put_there_is_refused)
{
    const TestFolder folder = begin();
    char old[128];
    SigningKey key;
    SigningPublicKeys halves;
    CHECK_OK(signing_key_open(key_path, &key));
    CHECK_OK(signing_key_rotate(key_path, &key));
    snprintf(old, sizeof old, "%s.old", key_path);
    if (geteuid() == 0) { // who alone can give a file away
        REQUIRE(chown(old, 65534, (gid_t)-1) == 0);
        CHECK_INT(signing_public_keys_open(key_path, &halves), STATUS_DENIED);
        CHECK_OK(signing_key_open(key_path, &key));
        REQUIRE(chown(key_path, 65534, (gid_t)-1) == 0);
        CHECK_INT(signing_key_open(key_path, &key), STATUS_DENIED);
    }
    test_folder_remove(&folder);
}

TEST(what_an_older_key_signed_still_verifies)
{
    const TestFolder folder = begin();
    SigningKey keys[SIGNING_OLD_MAX + 3];
    uint8_t signatures[SIGNING_OLD_MAX + 3][SIGNING_SIGNATURE_BYTES];
    CHECK_OK(signing_key_open(key_path, &keys[0]));
    signing_sign(&keys[0], "text", 4, signatures[0]);
    for (uint32_t i = 1; i < SIGNING_OLD_MAX + 3; i++) {
        CHECK_OK(signing_key_rotate(key_path, &keys[i]));
        signing_sign(&keys[i], "text", 4, signatures[i]);
    }
    SigningPublicKeys halves;
    CHECK_OK(signing_public_keys_open(key_path, &halves));
    CHECK_INT(halves.count, SIGNING_OLD_MAX + 1);
    for (uint32_t i = 0; i < SIGNING_OLD_MAX + 3; i++) {
        uint32_t which = 99;
        const bool is_known = i >= 2; // the oldest two have been dropped
        CHECK(signing_verify_any(&halves, "text", 4, signatures[i], &which) == is_known);
        CHECK(!is_known || which == SIGNING_OLD_MAX + 2 - i);
        CHECK(!signing_verify_any(&halves, "texT", 4, signatures[i], &which));
    }
    test_folder_remove(&folder);
}

TEST(a_list_of_old_keys_that_is_none_is_refused)
{
    const TestFolder folder = begin();
    SigningKey key;
    SigningPublicKeys halves;
    CHECK_OK(signing_key_open(key_path, &key));
    static const char *const bad[] = {
        "x", "\n", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeefg\n",
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeffx"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_folder_write(&folder, "ticket.key.old", bad[i]);
        CHECK_INT(signing_public_keys_open(key_path, &halves), STATUS_MALFORMED);
        CHECK_INT(signing_key_rotate(key_path, &key), STATUS_MALFORMED);
    }
    test_folder_write(&folder, "ticket.key.old", "");
    CHECK_OK(signing_public_keys_open(key_path, &halves));
    test_folder_remove(&folder);
}

static void check_told(Status status, const char *file, const char *advice)
{
    char reason[512], want[256];
    signing_key_explain(key_path, status, reason, sizeof reason);
    snprintf(want, sizeof want, "/%s: ", file);
    if (strstr(reason, want) == NULL || strstr(reason, advice) == NULL) {
        test_fail(__FILE__, __LINE__, "%s: %s", file, reason);
    }
}

// The file that is wrong is named, with what to do about it.
TEST(a_key_that_is_refused_is_explained)
{
    const TestFolder folder = begin();
    SigningKey key;
    SigningPublicKeys halves;
    check_told(signing_key_rotate(key_path, &key), "ticket.key", "there is no signing key");
    CHECK_OK(signing_key_open(key_path, &key));
    test_folder_write(&folder, "ticket.key.old", "junk");
    check_told(signing_public_keys_open(key_path, &halves), "ticket.key.old", "delete it");
    check_told(signing_key_rotate(key_path, &key), "ticket.key.old", "delete it");
    test_folder_write(&folder, "ticket.key", "junk");
    REQUIRE(chmod(key_path, 0600) == 0);
    check_told(signing_key_rotate(key_path, &key), "ticket.key", "delete it to have a new one");
    REQUIRE(chmod(key_path, 0644) == 0);
    check_told(signing_public_keys_open(key_path, &halves), "ticket.key", "chown it to you");
    test_folder_remove(&folder);
}

TEST(a_manifest_verifies_however_it_is_laid_out_and_not_when_it_is_another)
{
    const TestFolder folder = begin();
    SigningKey key, other;
    SigningPublicKeys halves;
    CHECK_OK(signing_key_open(key_path, &key));
    CHECK_OK(signing_public_keys_open(key_path, &halves));
    const ManifestList list = {.version = 5};
    Buffer text = buffer_of(MANIFEST_BYTES_MAX);
    CHECK_OK(manifest_sign(&list, &key, &text));
    buffer_put_u8(&text, 0);
    REQUIRE(text.status == STATUS_OK);
    void *block = malloc(1 << 20);
    Arena arena;
    arena_init(&arena, block, 1 << 20);
    ManifestList read;
    JsonError error;
    char spaced[512];
    snprintf(spaced, sizeof spaced, " {\n %s", (const char *)text.data + 1);
    CHECK_OK(manifest_verify(&arena, spaced, strlen(spaced), &halves, &read, NULL, &error));
    CHECK_INT(read.version, 5);
    char *version = strstr((char *)text.data, "\"version\":5");
    REQUIRE(version != NULL);
    version[10] = '6';
    CHECK_INT(manifest_verify(&arena, (const char *)text.data, text.bytes - 1, &halves, &read, NULL,
                              &error),
              STATUS_DENIED);
    static const char unsigned_text[] = "{\"scripts\":[],\"server_tick\":0,\"version\":5}";
    CHECK_INT(manifest_verify(&arena, unsigned_text, sizeof unsigned_text - 1, &halves, &read, NULL,
                              &error),
              STATUS_DENIED);
    version[10] = '5';
    REQUIRE(remove(key_path) == 0);
    CHECK_OK(signing_key_open(key_path, &other));
    CHECK_OK(signing_public_keys_open(key_path, &halves));
    CHECK_INT(manifest_verify(&arena, (const char *)text.data, text.bytes - 1, &halves, &read, NULL,
                              &error),
              STATUS_DENIED);
    buffer_free(&text);
    free(block);
    test_folder_remove(&folder);
}
