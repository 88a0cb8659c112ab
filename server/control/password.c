// See password.h.
#include "server/control/password.h"

#include "core/base/utf8.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

#define PASSES       2
#define MEMORY_BYTES (19u << 20)

_Static_assert(STORE_PASSWORD_BYTES >= crypto_pwhash_argon2id_STRBYTES, "a hash fits its row");

bool password_is_valid(const char *password)
{
    const size_t bytes = strlen(password);
    return bytes >= PASSWORD_BYTES_MIN && bytes <= PASSWORD_BYTES_MAX &&
           utf8_is_valid(password, bytes);
}

// The commonest of leaked lists that are long enough.
bool password_is_common(const char *password, const char *name)
{
    static const char *const common[] = {
        "password",   "12345678",   "123456789",  "1234567890", "11111111",    "00000000",
        "qwertyui",   "qwertyuiop", "password1",  "password12", "password123", "passw0rd",
        "iloveyou",   "sunshine",   "princess",   "football",   "baseball",    "superman",
        "trustno1",   "starwars",   "whatever",   "computer",   "michelle",    "jennifer",
        "letmein1",   "welcome1",   "abcd1234",   "abc12345",   "1234abcd",    "1q2w3e4r",
        "1q2w3e4r5t", "1qaz2wsx",   "qwerty123",  "qwerty12",   "q1w2e3r4",    "asdfghjk",
        "asdfghjkl",  "zxcvbnm1",   "zxcvbnm123", "87654321",   "987654321",   "0987654321",
        "12341234",   "11223344",   "12121212",   "123123123",  "88888888",    "66666666",
        "99999999",   "22222222",   "aaaaaaaa",   "dragon12",   "monkey12",    "pokemon1",
        "minecraft",  "minecraft1", "roblox123",  "fortnite",   "changeme",    "administrator",
        "admin123",   "operator",   "teacher1",   "student1",   "schule123",   "passwort",
        "hallo123",   "passwort1",  "sandlot1",   "sandlot123"};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        if (strcasecmp(password, common[i]) == 0) {
            return true;
        }
    }
    return name[0] != '\0' && strcasecmp(password, name) == 0;
}

Status password_hash(const char *password, char out[STORE_PASSWORD_BYTES])
{
    char hash[crypto_pwhash_argon2id_STRBYTES];
    if (crypto_pwhash_argon2id_str(hash, password, strlen(password), PASSES, MEMORY_BYTES) != 0) {
        return STATUS_LIMIT;
    }
    memcpy(out, hash, sizeof hash);
    return STATUS_OK;
}

bool password_matches(const char *hash, const char *password)
{
    return crypto_pwhash_argon2id_str_verify(hash, password, strlen(password)) == 0;
}
