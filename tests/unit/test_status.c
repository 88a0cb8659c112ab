// The status list: every entry has its own name and a sentence.
#include "core/base/status.h"
#include "tests/support/test.h"

#include <string.h>

TEST(status_names_are_those_of_the_list)
{
    CHECK_INT(STATUS_OK, 0);
    CHECK_TEXT(status_name(STATUS_OK), "OK");
    CHECK_TEXT(status_name(STATUS_LIMIT), "LIMIT");
    CHECK_TEXT(status_name(STATUS_MISMATCH), "MISMATCH");
    CHECK_TEXT(status_text(STATUS_RANGE), "a number is outside its range");
}

TEST(status_names_and_texts_are_distinct)
{
    for (int a = 0; a < STATUS_COUNT; a++) {
        CHECK(strlen(status_name((Status)a)) > 0);
        CHECK(strlen(status_text((Status)a)) > 0);
        for (int b = 0; b < a; b++) {
            CHECK(strcmp(status_name((Status)a), status_name((Status)b)) != 0);
            CHECK(strcmp(status_text((Status)a), status_text((Status)b)) != 0);
        }
    }
}

TEST(status_outside_the_list_has_a_name_too)
{
    CHECK_TEXT(status_name(STATUS_COUNT), "?");
    CHECK_TEXT(status_name((Status)1000), "?");
    CHECK_TEXT(status_text(STATUS_COUNT), "unknown status");
}
