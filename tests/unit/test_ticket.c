// Tickets: signed, bound to one world, valid once, and only for a short time.
#define _GNU_SOURCE
#include "server/host/ticket.h"

#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW 1700000000000ull

static char folder[] = "/tmp/sandlot-ticket-XXXXXX";
static char path[64];

static SigningKey key(void)
{
    SigningKey made;
    memset(&made, 0, sizeof made);
    if (path[0] == '\0') {
        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/ticket.key", folder);
    }
    CHECK_OK(signing_key_open(path, &made));
    return made;
}

static Ticket sample(void)
{
    Ticket ticket = {.flags = TICKET_GUEST,
                     .account = 42,
                     .name = "bo \xc3\xb8",
                     .world_id = "world_a",
                     .epoch = 3,
                     .expires_unix_ms = NOW + TICKET_MS};
    memset(ticket.boot, 7, sizeof ticket.boot);
    memset(ticket.nonce, 9, sizeof ticket.nonce);
    return ticket;
}

static TicketExpected expected_of(const SigningKey *made, const Ticket *ticket)
{
    return (TicketExpected){.public_half = made->public_half,
                            .world_id = "world_a",
                            .epoch = 3,
                            .boot = ticket->boot,
                            .development = true};
}

TEST(the_key_is_made_once_and_for_its_owner_alone)
{
    const SigningKey first = key(), second = key();
    CHECK_BYTES(&first, &second, sizeof first);
    struct stat about;
    REQUIRE(stat(path, &about) == 0);
    CHECK_INT(about.st_mode & 0777, 0600);
    SigningKey out;
    REQUIRE(chmod(path, 0644) == 0);
    CHECK_INT(signing_key_open(path, &out), STATUS_DENIED);
    REQUIRE(chmod(path, 0600) == 0);
    char bad[80];
    snprintf(bad, sizeof bad, "%s.bad", path);
    const int file = open(bad, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    uint8_t bytes[64] = {1, 2, 3}; // the halves do not belong together
    CHECK_INT(write(file, bytes, sizeof bytes), sizeof bytes);
    close(file);
    CHECK_INT(signing_key_open(bad, &out), STATUS_MALFORMED);
    CHECK(truncate(bad, 10) == 0);
    CHECK_INT(signing_key_open(bad, &out), STATUS_MALFORMED);
    unlink(bad);
    CHECK(signing_key_open("/nowhere/at/all/key", &out) != STATUS_OK);
}

TEST(a_ticket_comes_back_as_it_was)
{
    const SigningKey made = key();
    const Ticket ticket = sample();
    char text[TICKET_TEXT_BYTES];
    CHECK_OK(ticket_write(&made, &ticket, text, sizeof text));
    CHECK_INT(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              strlen(text));
    Ticket out;
    memset(&out, 0, sizeof out);
    CHECK_OK(ticket_read(made.public_half, text, strlen(text), &out));
    CHECK_BYTES(&out, &ticket, sizeof out);
    CHECK_INT(ticket_write(&made, &ticket, text, 20), STATUS_LIMIT);
}

TEST(nothing_else_is_a_ticket)
{
    const SigningKey made = key();
    const Ticket ticket = sample();
    char text[TICKET_TEXT_BYTES], changed[TICKET_TEXT_BYTES];
    Ticket out;
    CHECK_OK(ticket_write(&made, &ticket, text, sizeof text));
    const size_t bytes = strlen(text);
    for (size_t i = 0; i < bytes; i++) {
        CHECK(ticket_read(made.public_half, text, i, &out) != STATUS_OK);
        memcpy(changed, text, sizeof changed);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        const bool same = ticket_read(made.public_half, changed, bytes, &out) == STATUS_OK;
        CHECK(!same);
    }
    memcpy(changed, text, bytes);
    changed[bytes] = 'A';
    CHECK(ticket_read(made.public_half, changed, bytes + 1, &out) != STATUS_OK);
    CHECK_INT(ticket_read(made.public_half, "", 0, &out), STATUS_MALFORMED);
    CHECK_INT(ticket_read(made.public_half, "no ticket", 9, &out), STATUS_MALFORMED);
    // Another host's.
    SigningKey other;
    char second[80];
    snprintf(second, sizeof second, "%s.other", path);
    CHECK_OK(signing_key_open(second, &other));
    unlink(second);
    CHECK_INT(ticket_read(other.public_half, text, bytes, &out), STATUS_MISMATCH);
}

TEST(a_ticket_is_good_once_for_its_world)
{
    const SigningKey made = key();
    UsedTickets used;
    REQUIRE(used_tickets_open(&used) == STATUS_OK);
    const Ticket ticket = sample();
    const TicketExpected expected = expected_of(&made, &ticket);
    char text[TICKET_TEXT_BYTES];
    Ticket out;
    CHECK_OK(ticket_write(&made, &ticket, text, sizeof text));
    const size_t bytes = strlen(text);
    TicketExpected wrong = expected;
    wrong.world_id = "world_b";
    CHECK_INT(ticket_admit(&used, &wrong, text, bytes, NOW, &out), STATUS_DENIED);
    wrong = expected;
    wrong.epoch = 4;
    CHECK_INT(ticket_admit(&used, &wrong, text, bytes, NOW, &out), STATUS_DENIED);
    wrong = expected;
    const uint8_t boot[TICKET_BOOT_BYTES] = {1};
    wrong.boot = boot;
    CHECK_INT(ticket_admit(&used, &wrong, text, bytes, NOW, &out), STATUS_DENIED);
    CHECK_INT(ticket_admit(&used, &expected, text, bytes, NOW + TICKET_MS, &out), STATUS_DENIED);
    // One whose time is further off than any we give: a clock that was set back.
    CHECK_INT(ticket_admit(&used, &expected, text, bytes, NOW - 1, &out), STATUS_DENIED);
    wrong = expected; // of another host, whose clock may be a little ahead
    wrong.ahead_ms = 10;
    CHECK_INT(ticket_admit(&used, &wrong, text, bytes, NOW - 11, &out), STATUS_DENIED);
    CHECK_OK(ticket_admit(&used, &wrong, text, bytes, NOW - 10, &out));
    CHECK_INT(out.account, 42);
    CHECK_INT(ticket_admit(&used, &expected, text, bytes, NOW + 1, &out), STATUS_EXISTS);
    used_tickets_close(&used);
}

TEST(only_development_takes_debug)
{
    const SigningKey made = key();
    UsedTickets used;
    REQUIRE(used_tickets_open(&used) == STATUS_OK);
    Ticket ticket = sample();
    TicketExpected expected = expected_of(&made, &ticket);
    char text[TICKET_TEXT_BYTES];
    Ticket out;
    ticket.flags |= TICKET_DEBUG;
    CHECK_OK(ticket_write(&made, &ticket, text, sizeof text));
    expected.development = false;
    CHECK_INT(ticket_admit(&used, &expected, text, strlen(text), NOW, &out), STATUS_DENIED);
    expected.development = true;
    CHECK_OK(ticket_admit(&used, &expected, text, strlen(text), NOW, &out));
    used_tickets_close(&used);
}

TEST(a_full_book_refuses_until_tickets_expire)
{
    const SigningKey made = key();
    UsedTickets used;
    REQUIRE(used_tickets_open(&used) == STATUS_OK);
    for (uint32_t i = 0; i < TICKET_USED_MAX; i++) {
        used.uses[i].expires_unix_ms = NOW + 10;
        memcpy(used.uses[i].nonce, &i, sizeof i);
    }
    used.use_count = TICKET_USED_MAX;
    const Ticket ticket = sample();
    const TicketExpected expected = expected_of(&made, &ticket);
    char text[TICKET_TEXT_BYTES];
    Ticket out;
    CHECK_OK(ticket_write(&made, &ticket, text, sizeof text));
    CHECK_INT(ticket_admit(&used, &expected, text, strlen(text), NOW, &out), STATUS_LIMIT);
    CHECK_OK(ticket_admit(&used, &expected, text, strlen(text), NOW + 10, &out));
    CHECK_INT(used.use_count, 1);
    used_tickets_close(&used);
    unlink(path);
    rmdir(folder);
}
