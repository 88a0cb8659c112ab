// Assertions: a true condition has no effect, a false one ends the process.
#include "core/base/check.h"
#include "tests/support/test.h"

static void assert_value(void *user)
{
    const int *value = user;
    ASSERT(*value == 1);
}

static void check_slow_value(void *user)
{
    const int *value = user;
    CHECK_SLOW(*value == 1);
}

TEST(assert_dies_only_when_false)
{
    int value = 1;
    assert_value(&value);
    value = 2;
    CHECK(test_dies(assert_value, &value));
}

TEST(assert_evaluates_its_condition_once)
{
    int count = 0;
    ASSERT(++count == 1);
    CHECK_INT(count, 1);
}

TEST(check_slow_exists_in_slow_builds_only)
{
    int value = 1;
    check_slow_value(&value);
    value = 2;
#ifdef SANDLOT_SLOW_CHECKS
    CHECK(test_dies(check_slow_value, &value));
#else
    check_slow_value(&value);
    int count = 0;
    CHECK_SLOW(++count == 1);
    CHECK_INT(count, 0);
#endif
}
