// What the threads of a host share: journals that one thread writes for all worlds, the list of
// rooms, and the mailbox by which HTTP threads reach the main thread.
#define _GNU_SOURCE
#include "server/serve/http/time_text.h"
#include "server/serve/journal_writer.h"
#include "server/serve/mailbox.h"
#include "server/serve/rooms.h"

#include "tests/support/test.h"
#include "tests/support/test_folder.h"
#include "tests/unit/raw_client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// --- journals -----------------------------------------------------------------------------------

static atomic_uint log_count;

static void count_log(const char *text)
{
    (void)text;
    atomic_fetch_add(&log_count, 1);
}

TEST(journals_are_written_in_order)
{
    const TestFolder folder = test_folder_make();
    JournalWriter *writer = NULL;
    CHECK_OK(journal_writer_create(count_log, &writer));
    Journal *journals[8];
    char path[128], name[16], wanted[512];
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "%s/j%d", folder.path, i);
        journals[i] = journal_begin(writer, path, 1 << 20, "head ", 5, "entries", 7);
        CHECK(journals[i] != NULL);
    }
    size_t at = (size_t)snprintf(wanted, sizeof wanted, "head entries");
    for (int round = 0; round < 20; round++) {
        char text[16];
        const int bytes = snprintf(text, sizeof text, " %d", round);
        at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s", text);
        for (int i = 0; i < 8; i++) {
            journal_append(journals[i], text, (size_t)bytes, false);
        }
    }
    journal_append(journals[3], "lost", 4, true); // and nothing after a gap
    journal_append(journals[3], "more", 4, false);
    for (int i = 0; i < 8; i++) {
        journal_close(journals[i]);
    }
    journal_close(NULL);
    journal_writer_destroy(writer); // writes what waits
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "j%d", i);
        CHECK(strncmp(test_folder_read(&folder, name), wanted, strlen(wanted)) == 0);
        CHECK(strstr(test_folder_read(&folder, name), "more") == NULL);
    }
    CHECK_INT(atomic_load(&log_count), 1); // the gap
    test_folder_remove(&folder);
}

TEST(a_journal_that_cannot_be_written_disturbs_no_other)
{
    const TestFolder folder = test_folder_make();
    JournalWriter *writer = NULL;
    char path[128];
    atomic_store(&log_count, 0);
    CHECK_OK(journal_writer_create(count_log, &writer));
    Journal *bad = journal_begin(writer, "/no/such/folder/journal", 1 << 20, "a", 1, "b", 1);
    snprintf(path, sizeof path, "%s/good", folder.path);
    Journal *good = journal_begin(writer, path, 1 << 20, "a", 1, "b", 1);
    CHECK(bad != NULL && good != NULL);
    journal_append(bad, "c", 1, false);
    journal_append(good, "c", 1, false);
    journal_close(bad);
    journal_close(good);
    journal_writer_destroy(writer);
    CHECK_TEXT(test_folder_read(&folder, "good"), "abc");
    CHECK_INT(atomic_load(&log_count), 1); // said once
    test_folder_remove(&folder);
}

// --- rooms --------------------------------------------------------------------------------------

// As strftime would write it.
TEST(times_are_utc)
{
    static const uint64_t times[] = {0,
                                     999,
                                     951782399999, // the last moment of February 28th, 2000
                                     951782400000, // a leap day
                                     1700000000123,
                                     4102444800000, // 2100
                                     253402300799999};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char text[TIME_TEXT_BYTES], wanted[TIME_TEXT_BYTES];
        const time_t seconds = (time_t)(times[i] / 1000);
        struct tm parts;
        CHECK(gmtime_r(&seconds, &parts) != NULL);
        const size_t at = strftime(wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%S", &parts);
        snprintf(wanted + at, sizeof wanted - at, ".%03uZ", (unsigned)(times[i] % 1000));
        time_text(times[i], text);
        CHECK_TEXT(text, wanted);
    }
    char text[TIME_TEXT_BYTES];
    time_text(UINT64_MAX, text);
    CHECK_TEXT(text, "9999-12-31T23:59:59.999Z");
}

TEST(rooms_are_found_by_id_and_code)
{
    Rooms *rooms = NULL;
    bool ready = true, private = false;
    CHECK_OK(rooms_create(&rooms));
    CHECK(!rooms_find(rooms, "world_a", &ready, &private) && !ready);
    CHECK(!rooms_find(rooms, "", &ready, &private));
    char id[32], code[16];
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof id, "world_%d", i);
        snprintf(code, sizeof code, "ROOM%d", i);
        CHECK_OK(rooms_put(rooms, (uint32_t)i, id, code, i == 7, i == 8));
    }
    CHECK(rooms_find(rooms, "world_7", &ready, &private) && ready);
    CHECK(rooms_find(rooms, "room7", &ready, &private) && ready);
    CHECK(!private);
    CHECK(rooms_find(rooms, "ROOM8", &ready, &private) && !ready && private);
    CHECK_OK(rooms_put(rooms, 7, "world_7", "ROOM7", false, false));
    CHECK_OK(rooms_put(rooms, 7, "world_7", "ROOM7", false, false));
    CHECK(rooms_find(rooms, "world_7", &ready, &private) && !ready);
    rooms_destroy(rooms);
}

// --- the mailbox --------------------------------------------------------------------------------

typedef struct MailStage {
    Mailbox *mailbox;
    atomic_bool stop;
    uint32_t handled, sockets;
    HttpDeferred *kept;
} MailStage;

static bool answer_number(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    MailStage *stage = user;
    (void)deferred;
    stage->handled += 1; // on one thread: no lock
    response->body = (const uint8_t *)"{}";
    response->bytes = 2;
    response->body_is_static = true;
    return true;
}

static bool keep(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    MailStage *stage = user;
    (void)response;
    stage->kept = deferred;
    return false;
}

static void get_number(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((MailStage *)user)->mailbox, request, response, answer_number);
}

static void get_kept(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((MailStage *)user)->mailbox, request, response, keep);
}

static void take_socket(void *user, const MailSocket *mail)
{
    MailStage *stage = user;
    stage->sockets += 1;
    close(mail->socket.descriptor);
    free(mail->socket.already);
}

static void *main_thread(void *user)
{
    MailStage *stage = user;
    while (!atomic_load(&stage->stop)) {
        mailbox_run(stage->mailbox, stage, take_socket);
        usleep(1000);
    }
    return NULL;
}

TEST(requests_and_sockets_reach_the_main_thread)
{
    static const HttpRoute routes[] = {{"GET", "/number", .handler = get_number},
                                       {"GET", "/kept", .handler = get_kept}};
    MailStage stage = {0};
    HttpServer *server = NULL;
    pthread_t thread;
    CHECK_OK(mailbox_create(&stage.mailbox));
    const HttpConfig config = {.address = "127.0.0.1",
                               .routes = routes,
                               .route_count = 2,
                               .user = &stage,
                               .thread_count = 2};
    CHECK_OK(http_start(&config, &server));
    CHECK_INT(pthread_create(&thread, NULL, main_thread, &stage), 0);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(get(server, "/number", ""), 200);
        const MailSocket mail = {.world = "world", .socket = {.descriptor = dup(0)}};
        CHECK_OK(mailbox_put_socket(stage.mailbox, &mail));
    }
    // One that nobody answers any more: the end of the server answers it.
    const int socket = connect_to(server);
    (void)send_text(socket, "GET /kept HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 5000 && http_stats(server).waiting == 0; i++) {
        usleep(1000);
    }
    usleep(20000);
    atomic_store(&stage.stop, true);
    pthread_join(thread, NULL);
    CHECK_INT(stage.handled, 20);
    CHECK_INT(stage.sockets, 20);
    http_stop(server);
    if (stage.kept != NULL) { // who went away is no error
        const HttpResponse response = http_response_default();
        http_complete(stage.kept, &response);
    }
    mailbox_destroy(stage.mailbox);
    close(socket);
}
