// What http_account.c shares with http_person.c: bodies that are JSON or a form, and answers.
#pragma once

#include "core/base/json_read.h"
#include "server/control/account.h"
#include "server/serve/http/http_routes.h"

typedef struct AccountBody {
    bool is_form, is_browser;
    const JsonNode *root; // NULL: a form, or nothing
    char *form;           // names and values, each with its terminator; an empty name ends them
    bool is_bad;          // something that was asked for is not of its form
} AccountBody;

// True: this server has no accounts, and the response says so.
bool serve_account_refuse(HttpRequest *request, HttpResponse *response);
// False: the response says what is wrong; also when a page of another site asks.
bool serve_account_body(HttpRequest *request, HttpResponse *response, AccountBody *body);
// The text of that name, "" if there is none. A zero byte or too many bytes are bad.
const char *serve_account_member(AccountBody *body, const char *name, size_t bytes_max);
// True: a text was bad, and the response says so.
bool serve_account_refuse_bad(HttpRequest *request, HttpResponse *response,
                              const AccountBody *body);
struct AccountPage;
// The page, filled in with what holds for all of them. Waits for the disk.
void serve_account_page(HttpRequest *request, HttpResponse *response, uint32_t status,
                        struct AccountPage *page);
// What a failure says to people.
uint32_t serve_account_failure(AccountResult result, const char **message);
// Signs the browser in, and sends it on.
void serve_account_welcome(HttpRequest *request, HttpResponse *response, const AccountGiven *given,
                           const char *next);
AccountAsk serve_account_ask(const Serve *serve, HttpRequest *request);
// On the page if it was a form; `link`: the token of the link that the form was for.
void serve_account_failed(HttpRequest *request, HttpResponse *response, const AccountBody *body,
                          AccountResult result, uint32_t wait_s, const char *link);
// By the account's name, or "~" and the number: guests have no name. 0: nobody.
uint64_t serve_account_find(const Serve *serve, const char *name);
// Into the audit, before it is done: the number of the account alone (0: none), and a word. False:
// the response says that it could not be written.
bool serve_account_record(HttpRequest *request, HttpResponse *response, const char *action,
                          uint64_t account, const char *word);
void serve_account_write_roles(JsonWriter *json, uint32_t roles); // the member "roles"
void serve_account_done(HttpRequest *request, HttpResponse *response);
void serve_account_cookie(HttpRequest *request, HttpResponse *response, const char *token);
