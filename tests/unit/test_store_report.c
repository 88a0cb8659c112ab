// Reports, their evidence, and what else keeps order, in the store: read back, swept away, and gone
// with a person.
#define _GNU_SOURCE
#include "server/store/people/store_account.h"
#include "server/store/people/store_moderate.h"
#include "server/store/people/store_person.h"
#include "server/store/people/store_report.h"

#include "core/world/save/command.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static StoreFixture fixture;

static StoreReport report_of(uint64_t reporter, uint64_t account, uint64_t created)
{
    StoreReport report = {.state = STORE_REPORT_OPEN,
                          .source = STORE_REPORT_PAGE,
                          .reporter_id = reporter,
                          .account_id = account,
                          .reason = "spam",
                          .text = "too much",
                          .world_id = "world_a",
                          .created_unix_ms = created};
    return report;
}

static uint64_t add(uint64_t reporter, uint64_t account, uint64_t created)
{
    const StoreReportLine lines[2] = {
        {.kind = HEARD_SAID, .is_known = true, .account_id = account, .text = "buy this"},
        {.kind = HEARD_CAME, .account_id = reporter, .text = ""}};
    StoreReport report = report_of(reporter, account, created);
    CHECK_OK(store_report_add(fixture.store, &report, lines, 2, 100));
    return report.report_id;
}

static uint32_t line_count(uint64_t report)
{
    static StoreReportLine lines[10];
    uint32_t count = 0;
    CHECK_OK(store_report_lines(fixture.store, report, lines, 10, &count));
    return count;
}

TEST(reports_are_read_back_by_state_and_page)
{
    static StoreReport page[3];
    uint32_t count;
    REQUIRE(fixture_begin(&fixture));
    for (uint64_t i = 1; i <= 5; i++) {
        CHECK_INT(add(10, 20 + i, i), i);
    }
    StoreReport one;
    CHECK_OK(store_report_find(fixture.store, 3, &one));
    CHECK(one.account_id == 23 && strcmp(one.reason, "spam") == 0);
    one.state = STORE_REPORT_ACTED;
    one.handler_id = 99;
    snprintf(one.note, sizeof one.note, "banned");
    CHECK_OK(store_report_close(fixture.store, &one));
    CHECK_OK(store_reports(fixture.store, STORE_REPORT_OPEN, STORE_REPORT_ALL, page, 3, &count));
    CHECK(count == 3 && page[0].report_id == 5 && page[1].report_id == 4 && page[2].report_id == 2);
    CHECK_OK(store_reports(fixture.store, STORE_REPORT_OPEN, 2, page, 3, &count));
    CHECK(count == 1 && page[0].report_id == 1);
    CHECK_OK(store_reports(fixture.store, STORE_REPORT_ACTED, STORE_REPORT_ALL, page, 3, &count));
    CHECK(count == 1 && strcmp(page[0].note, "banned") == 0 && page[0].handler_id == 99);
    CHECK_OK(store_reports(fixture.store, STORE_REPORT_ANY, STORE_REPORT_ALL, page, 3, &count));
    CHECK_INT(count, 3);
    CHECK_INT(store_report_find(fixture.store, 77, &one), STATUS_NOT_FOUND);
    CHECK_INT(store_report_find(fixture.store, 0, &one), STATUS_NOT_FOUND);
    StoreReport odd = report_of(1, 2, 3);
    snprintf(odd.reason, sizeof odd.reason, "envy");
    CHECK_INT(store_report_add(fixture.store, &odd, NULL, 0, 100), STATUS_MALFORMED);
    StoreReport more = report_of(1, 2, 3);
    CHECK_INT(store_report_add(fixture.store, &more, NULL, 0, 4), STATUS_LIMIT);
    fixture_end(&fixture);
}

TEST(evidence_is_removed_when_it_is_old_and_reports_stay)
{
    uint64_t lines = 0;
    REQUIRE(fixture_begin(&fixture));
    add(10, 20, 1000);
    add(10, 20, 2000);
    CHECK_OK(store_report_expire(fixture.store, 2000, &lines));
    CHECK_INT(lines, 2);
    CHECK(line_count(1) == 0 && line_count(2) == 2);
    StoreReport one;
    CHECK_OK(store_report_find(fixture.store, 1, &one));
    fixture_end(&fixture);
}

TEST(whoever_is_deleted_is_in_no_report)
{
    REQUIRE(fixture_begin(&fixture));
    add(10, 20, 1);
    add(11, 10, 2);
    add(11, 20, 3);
    const StoreBlock blocks[] = {{10, 11, 1}, {11, 10, 1}, {11, 20, 1}};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(store_block_put(fixture.store, &blocks[i]));
    }
    const StoreChatRule rule = {.scope = STORE_CHAT_ACCOUNT, .account_id = 10, .rule = CHAT_OFF};
    CHECK_OK(store_chat_rule_put(fixture.store, &rule));
    CHECK_OK(store_person_delete(fixture.store, 10));
    StoreReport one;
    CHECK_OK(store_report_find(fixture.store, 1, &one)); // they made it: it stays, without them
    CHECK(one.reporter_id == 0 && one.text[0] == '\0' && one.account_id == 20);
    CHECK_INT(store_report_find(fixture.store, 2, &one), STATUS_NOT_FOUND); // it was about them
    CHECK(line_count(1) == 1 && line_count(2) == 0 && line_count(3) == 2);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    StoreAccount account = {.account_id = 11, .shown_name = "bo", .name = "bo"};
    CHECK_OK(store_account_put(fixture.store, &account, NULL));
    CHECK_OK(store_person_export(fixture.store, 11, out));
    fclose(out);
    CHECK(strstr(text, "\"blocked_id\":20") != NULL && strstr(text, "\"blocked_id\":10") == NULL);
    CHECK(strstr(text, "\"reports\"") != NULL && strstr(text, "\"note\"") == NULL);
    free(text);
    fixture_end(&fixture);
}

static uint32_t rules_seen;
static StoreChatRule last_rule;
static void take_rule(void *user, const StoreChatRule *rule)
{
    (void)user;
    rules_seen += 1;
    last_rule = *rule;
}

TEST(rules_ranges_lists_and_acts_are_read_back)
{
    REQUIRE(fixture_begin(&fixture));
    StoreChatRule rule = {.scope = STORE_CHAT_PLACE, .subject = "place_a", .rule = CHAT_PHRASES};
    CHECK_OK(store_chat_rule_put(fixture.store, &rule));
    CHECK_OK(store_chat_rules(fixture.store, take_rule, NULL));
    CHECK(rules_seen == 1 && last_rule.rule == CHAT_PHRASES &&
          strcmp(last_rule.subject, "place_a") == 0);
    rule.rule = CHAT_FREE;
    CHECK_OK(store_chat_rule_put(fixture.store, &rule));
    rules_seen = 0;
    CHECK_OK(store_chat_rules(fixture.store, take_rule, NULL));
    CHECK_INT(rules_seen, 0);
    rule.subject[0] = '\0';
    CHECK_INT(store_chat_rule_put(fixture.store, &rule), STATUS_MALFORMED);
    char text[64];
    size_t bytes = 9;
    CHECK_OK(store_list_find(fixture.store, STORE_LIST_WORDS, text, sizeof text, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_OK(store_list_put(fixture.store, STORE_LIST_WORDS, "a\nb", 3, 1, 2));
    CHECK_OK(store_list_find(fixture.store, STORE_LIST_WORDS, text, sizeof text, &bytes));
    CHECK(bytes == 3 && memcmp(text, "a\nb", 3) == 0);
    StorePackageAct act = {.package_id = "place_a", .state = STORE_ACT_REMOVED, .reason = "spam"};
    CHECK_OK(store_package_act_put(fixture.store, &act));
    CHECK_OK(store_package_act_find(fixture.store, "place_a", &act));
    CHECK(act.state == STORE_ACT_REMOVED && strcmp(act.reason, "spam") == 0);
    act.state = STORE_ACT_NONE;
    CHECK_OK(store_package_act_put(fixture.store, &act));
    CHECK_OK(store_package_act_find(fixture.store, "place_a", &act));
    CHECK_INT(act.state, STORE_ACT_NONE);
    StoreAddressBan ban = {.range = "192.0.2.0/24", .until_unix_ms = STORE_BAN_FOREVER};
    CHECK_OK(store_address_ban_put(fixture.store, &ban));
    CHECK_OK(store_address_ban_delete(fixture.store, "192.0.2.0/24"));
    CHECK_INT(store_address_ban_delete(fixture.store, "192.0.2.0/24"), STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

TEST(a_host_reports_once_and_adds_evidence_once)
{
    const StoreReportLine line = {.kind = HEARD_SAID, .account_id = 20, .text = "buy this"};
    const StoreReportHost host = {.host_id = "host_a", .boot = {1}, .number = 7};
    const StoreReportHost later = {.host_id = "host_a", .boot = {2}, .number = 7};
    const StoreReportHost asked = {.host_id = "host_a", .boot = {1}};
    StoreReportHost found;
    REQUIRE(fixture_begin(&fixture));
    StoreReport first = report_of(0, 20, 5), again = report_of(0, 21, 6), other = first;
    CHECK_OK(store_report_add_from(fixture.store, &host, &first, &line, 1, 100));
    CHECK_OK(store_report_add_from(fixture.store, &host, &again, &line, 1, 100));
    CHECK_INT(again.report_id, first.report_id);
    CHECK_OK(store_report_find(fixture.store, first.report_id, &again));
    CHECK_INT(again.account_id, 20);
    CHECK_OK(store_report_add_from(fixture.store, &later, &other, &line, 1, 100));
    CHECK(other.report_id != first.report_id); // another life of the process
    CHECK_INT(store_report_add_from(fixture.store, &asked, &other, &line, 1, 100),
              STATUS_MALFORMED);
    // Evidence for a report that was made here.
    StoreReport page = report_of(10, 20, 7);
    CHECK_OK(store_report_add(fixture.store, &page, NULL, 0, 100));
    CHECK_INT(store_report_host(fixture.store, page.report_id, &found), STATUS_NOT_FOUND);
    CHECK_INT(store_report_add_evidence(fixture.store, &asked, page.report_id, "world_b", &line, 1),
              STATUS_NOT_FOUND);
    CHECK_INT(store_report_add_evidence(fixture.store, &asked, 99, "world_a", &line, 1),
              STATUS_NOT_FOUND);
    CHECK_OK(store_report_add_evidence(fixture.store, &asked, page.report_id, "world_a", &line, 1));
    CHECK_INT(store_report_add_evidence(fixture.store, &asked, page.report_id, "world_a", &line, 1),
              STATUS_EXISTS);
    CHECK_INT(line_count(page.report_id), 1);
    CHECK_OK(store_report_host(fixture.store, page.report_id, &found));
    CHECK_TEXT(found.host_id, "host_a");
    // With who was reported, all of it is gone.
    CHECK_OK(store_person_delete(fixture.store, 20));
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM report_hosts WHERE report_id > 0"), 0);
    fixture_end(&fixture);
}
