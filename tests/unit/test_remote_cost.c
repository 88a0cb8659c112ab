#include "core/script/runtime/remote_cost.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static RemoteCosts costs;

static Text text(const char *characters)
{
    return (Text){characters, strlen(characters)};
}

TEST(a_name_has_one_row)
{
    remote_costs_init(&costs);
    const uint32_t fire = remote_cost_add(&costs, text("fire"));
    CHECK(fire != REMOTE_COST_OTHERS);
    CHECK_INT(remote_cost_add(&costs, text("fire")), fire);
    CHECK_INT(remote_cost_find(&costs, text("fire")), fire);
    CHECK(remote_cost_add(&costs, text("fir")) != fire); // a beginning is another name
    CHECK_INT(remote_cost_find(&costs, text("never")), REMOTE_COST_OTHERS);
    CHECK_INT(remote_cost_find(&costs, text("")), REMOTE_COST_OTHERS);
}

TEST(the_table_is_bounded)
{
    remote_costs_init(&costs);
    char name[WORLD_NAME_BYTES_MAX + 2];
    for (uint32_t i = 0; i < 4 * REMOTE_COST_ROWS; i++) {
        snprintf(name, sizeof name, "name %u", i);
        const uint32_t row = remote_cost_add(&costs, text(name));
        CHECK(i < REMOTE_COST_ROWS - 1 ? row == i + 1 : row == REMOTE_COST_OTHERS);
    }
    CHECK_INT(costs.count, REMOTE_COST_ROWS);
    remote_costs_init(&costs);
    memset(name, 'x', sizeof name);
    CHECK_INT(remote_cost_add(&costs, (Text){name, WORLD_NAME_BYTES_MAX + 1}), REMOTE_COST_OTHERS);
    CHECK_INT(remote_cost_add(&costs, (Text){name, 0}), REMOTE_COST_OTHERS);
    CHECK(remote_cost_add(&costs, (Text){name, WORLD_NAME_BYTES_MAX}) != REMOTE_COST_OTHERS);
}

TEST(the_loudest_are_listed_first)
{
    remote_costs_init(&costs);
    static const uint64_t bytes[] = {5, 90, 0, 40, 90, 7};
    for (uint32_t i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        RemoteCost *row = &costs.rows[remote_cost_add(&costs, text(name))];
        row->up_bytes = bytes[i] / 2;
        row->down_bytes = bytes[i] - bytes[i] / 2;
        row->up_count = bytes[i] > 0;
    }
    RemoteCost list[6];
    CHECK_INT(remote_costs_list(&costs, list, 6), 5); // not the one that is silent
    static const char *const order[] = {"n1", "n4", "n3", "n5", "n0"};
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_TEXT(list[i].name, order[i]);
    }
    CHECK_INT(remote_costs_list(&costs, list, 2), 2);
    CHECK_TEXT(list[1].name, "n4");
    CHECK_INT(remote_costs_list(&costs, list, 0), 0);
}
