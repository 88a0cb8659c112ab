// The operator's list of words: what is found, what is not, and that the work is bounded.
#include "core/base/word_list.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static WordList list;

static void set(const char *lines)
{
    uint32_t line;
    CHECK_OK(word_list_set(&list, lines, strlen(lines), &line));
}

static bool has(const char *text)
{
    return word_list_has(&list, text, strlen(text));
}

static void check_mask(const char *text, const char *expected)
{
    char out[CHAT_BYTES_MAX];
    memcpy(out, text, strlen(text));
    const size_t bytes = word_list_mask(&list, out, strlen(text));
    out[bytes] = '\0';
    CHECK_TEXT(out, expected);
}

TEST(whole_words_are_found_and_parts_of_others_are_not)
{
    set("troll\nass\n\n  cat*\n*worm*\n");
    CHECK_INT(list.count, 4);
    CHECK(has("troll") && has("You TROLL!") && has("a,troll,b") && has("troll123"));
    CHECK(!has("trolley") && !has("patroll") && !has("class") && !has("as") && !has("grass"));
    CHECK(has("cats") && has("category") && !has("bobcat"));
    CHECK(has("bookworms"));
    CHECK(!has("") && !has("hello you"));
}

TEST(simple_spellings_are_found)
{
    set("troll\nass\nidiot");
    CHECK(has("tr0ll") && has("TR0LL") && has("tro11") && has("tr\xc3\xb6ll"));
    CHECK(has("trooooll") && has("trolllll")); // repeated letters
    CHECK(has("asssss") && !has("as"));        // two stay two
    CHECK(has("t r o l l") && has("t.r.o.l.l") && has("say t-r-o-l-l now"));
    CHECK(has("tro\xe2\x80\x8bll"));                                  // an invisible character
    CHECK(has("tro\xcc\x88ll"));                                      // a mark on a letter
    CHECK(has("\xef\xbd\x94roll"));                                   // a wide t
    CHECK(has("tr\xd0\xbell"));                                       // a Cyrillic o
    CHECK(has("\xf0\x9d\x90\xad\xf0\x9d\x90\xab\xf0\x9d\x90\xa8ll")); // mathematical t, r, o
    CHECK(has("\xe2\x93\xa3r\xe2\x93\x9ell"));                        // circled t and o
    CHECK(has("t\xef\xb8\x8fr\xef\xb8\x8foll"));                      // variation selectors
    CHECK(has("tro\xef\xb8\xa0ll"));                                  // half a mark
    CHECK(has("t\xc2\xadr\xe2\x81\xa0o\xef\xbb\xbfll\xe2\x80\xae"));  // a soft hyphen, joiners
    CHECK(has("1d10t") && has("@ss") && has("a$$"));
    CHECK(has("idiot!") && has("!idiot")); // signs around it are no letters
}

TEST(masked_text_has_stars_in_place_of_letters_and_nothing_else_changes)
{
    set("troll\nidiot");
    check_mask("you troll, you", "you *****, you");
    check_mask("tr\xc3\xb6ll \xe2\x82\xac", "***** \xe2\x82\xac");
    check_mask("t r o l l", "* * * * *");
    check_mask("nice day", "nice day");
    check_mask("troll idiot troll", "***** ***** *****");
}

TEST(a_wrong_list_is_refused_with_its_line_and_the_old_one_stays)
{
    static char many[WORD_LIST_BYTES_MAX + 64];
    static const char letters[] = "abcdefghkmnpq"; // no two look alike
    uint32_t line = 0;
    set("troll");
    CHECK_INT(word_list_set(&list, "good\nx\n", 7, &line), STATUS_MALFORMED);
    CHECK_INT(line, 2);
    CHECK_INT(word_list_set(&list, "two words", 9, &line), STATUS_MALFORMED);
    CHECK_INT(word_list_set(&list, "*", 1, &line), STATUS_MALFORMED);
    size_t bytes = 0;
    for (uint32_t i = 0; i <= WORD_LIST_WORDS_MAX; i++) {
        bytes += (size_t)snprintf(many + bytes, sizeof many - bytes, "w%c%c%c\n", letters[i % 13],
                                  letters[i / 13 % 13], letters[i / 169]);
    }
    CHECK_INT(word_list_set(&list, many, bytes, &line), STATUS_LIMIT);
    CHECK(has("troll"));
    const char *last = strrchr(many, 'w');
    CHECK_OK(word_list_set(&list, many, (size_t)(last - many), &line));
    CHECK_INT(list.count, WORD_LIST_WORDS_MAX);
    CHECK(has("waaa") && !has("troll"));
    set("");
    CHECK(!has("waaa"));
}

TEST(any_bytes_are_a_text)
{
    char text[CHAT_BYTES_MAX];
    set("*ab*\n*ba*");
    uint32_t seed = 1;
    for (uint32_t round = 0; round < 2000; round++) {
        const size_t bytes = round % (sizeof text + 1);
        for (size_t i = 0; i < bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = (char)(seed >> 24);
        }
        CHECK(word_list_mask(&list, text, bytes) <= bytes);
    }
    memset(text, 'a', sizeof text);
    CHECK(!word_list_has(&list, text, sizeof text));
}
