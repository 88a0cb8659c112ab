// Finding the name that a misspelt one was meant to be; and that the fast method gives the same
// result as the full table.
#include "core/base/nearest.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

static uint32_t steps(const char *a, const char *b, uint32_t most)
{
    return nearest_steps(a, strlen(a), b, strlen(b), most);
}

TEST(steps_are_letters)
{
    CHECK_INT(steps("", "", 4), 0);
    CHECK_INT(steps("World", "world", 4), 0);
    CHECK_INT(steps("Bulet", "Bullet", 4), 1);
    CHECK_INT(steps("Wrold", "World", 4), 2);
    CHECK_INT(steps("abc", "xyz", 4), 3);
    CHECK_INT(steps("abc", "xyz", 2), 2);
    CHECK_INT(steps("", "abc", 4), 3);
    CHECK_INT(steps("abcd", "", 4), 4);
}

static uint32_t min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// The textbook's table, whole.
static uint32_t reference(const char *a, const char *b)
{
    static uint32_t table[32][32];
    const size_t rows = strlen(a), columns = strlen(b);
    for (uint32_t i = 0; i <= rows; i++) {
        for (uint32_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            const uint32_t changed = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            table[i][j] = min(changed, min(table[i - 1][j], table[i][j - 1]) + 1);
        }
    }
    return table[rows][columns];
}

TEST(the_band_leaves_nothing_out)
{
    Rng rng = rng_make(7, 1);
    for (uint32_t round = 0; round < 20000 && test_is_passing(); round++) {
        char a[16] = "", b[16] = "";
        const uint32_t letters = 2 + rng_below(&rng, 3);
        for (uint32_t i = rng_below(&rng, 13); i > 0; i--) {
            a[i - 1] = (char)('a' + rng_below(&rng, letters));
        }
        for (uint32_t i = rng_below(&rng, 13); i > 0; i--) {
            b[i - 1] = (char)('a' + rng_below(&rng, letters));
        }
        for (uint32_t most = 1; most < 6; most++) {
            CHECK_INT(steps(a, b, most), min(reference(a, b), most));
        }
    }
}

static const char *nearest(Nearest asked, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)nearest_consider(&asked, names[i], strlen(names[i]));
    }
    return asked.found == NULL ? "" : asked.found;
}

TEST(the_nearest_is_found_and_nothing_far)
{
    static const char *const names[] = {"Crate", "Bullet", "Bulletin", "x"};
    CHECK_TEXT(nearest(nearest_begin("Bulet", 5), names, 4), "Bullet");
    CHECK_TEXT(nearest(nearest_begin("crate", 5), names, 4), "Crate");
    CHECK_TEXT(nearest(nearest_begin("Cake", 4), names, 4), "");
    CHECK_TEXT(nearest(nearest_begin("y", 1), names, 4), "");
    CHECK_TEXT(nearest(nearest_begin("X", 1), names, 4), "x");
    CHECK_TEXT(nearest(nearest_begin("", 0), names, 4), "");
}

TEST(of_a_path_the_last_name_counts)
{
    static const char *const names[] = {"Workspace/A", "Workspace/Door", "Workspace/deep/Lift"};
    CHECK_TEXT(nearest(nearest_begin_path("Workspace/B", 11), names, 3), "");
    CHECK_TEXT(nearest(nearest_begin_path("workspace/a", 11), names, 3), "Workspace/A");
    CHECK_TEXT(nearest(nearest_begin_path("Workspce/Door", 13), names, 3), "Workspace/Door");
    CHECK_TEXT(nearest(nearest_begin_path("Workspace/deep/Lfit", 19), names, 3), "");
    CHECK_TEXT(nearest(nearest_begin_path("Workspace/deep/Lif", 18), names, 3),
               "Workspace/deep/Lift");
}

TEST(long_names_are_near_nothing)
{
    char name[NEAREST_BYTES_MAX + 2];
    memset(name, 'a', sizeof name);
    CHECK_INT(nearest_steps(name, NEAREST_BYTES_MAX, name, NEAREST_BYTES_MAX, 4), 0);
    CHECK_INT(nearest_steps(name, NEAREST_BYTES_MAX + 1, name, NEAREST_BYTES_MAX + 1, 4), 4);
}
