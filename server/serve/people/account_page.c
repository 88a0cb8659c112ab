// See account_page.h. Its classes are those of web/src/site/site.css.
#include "server/serve/people/account_page.h"
#include "server/serve/http/html.h"

#include "server/control/name.h"
#include "server/control/password.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MINUTE_S 60u

// Browsers read a backslash as a slash, and leave out tabs and line ends: "/\evil.example" and
// "/<tab>/evil.example" would be another server.
const char *account_next(const char *text)
{
    if (text == NULL || text[0] != '/' || strlen(text) >= ACCOUNT_NEXT_BYTES) {
        return "";
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~' || *at == '\\' || (at[0] == '/' && at[1] == '/')) {
            return "";
        }
    }
    return text;
}

// --- parts --------------------------------------------------------------------------------------

static void put_form(ByteWriter *out, const char *action, const char *title)
{
    html_put(out, "<form class=\"form\" method=\"post\" action=\"");
    html_put(out, action);
    html_put(out, "\"><h2>");
    html_put(out, title);
    html_put(out, "</h2>\n");
}

// Attributes are ours. `typed`: what was typed before.
static void put_typed(ByteWriter *out, const char *label, const char *attributes, const char *typed)
{
    html_put(out, "<label>");
    html_put(out, label);
    html_put(out, " <input ");
    html_put(out, attributes);
    if (typed != NULL && typed[0] != '\0') {
        html_put(out, " value=\"");
        html_put_escaped(out, typed);
        html_put(out, "\"");
    }
    html_put(out, "></label>\n");
}

static void put_input(ByteWriter *out, const char *label, const char *attributes)
{
    put_typed(out, label, attributes, NULL);
}

static void put_end(ByteWriter *out, const char *button)
{
    html_put(out, "<button class=\"button\">");
    html_put(out, button);
    html_put(out, "</button></form>\n");
}

static void put_hidden(ByteWriter *out, const char *name, const char *value)
{
    if (value[0] != '\0') {
        html_put(out, "<input type=\"hidden\" name=\"");
        html_put(out, name);
        html_put(out, "\" value=\"");
        html_put_escaped(out, value);
        html_put(out, "\">\n");
    }
}

static void put_link(ByteWriter *out, const char *to, const char *text)
{
    html_put(out, "<a class=\"button\" href=\"");
    html_put_escaped(out, to);
    html_put(out, "\">");
    html_put(out, text);
    html_put(out, "</a>\n");
}

// Messages of the API begin small and have no full stop; here they are sentences.
static void put_sentence(ByteWriter *out, const char *text)
{
    const char first[2] = {(char)toupper((unsigned char)text[0]), '\0'};
    const size_t bytes = strlen(text);
    html_put_escaped(out, first);
    html_put_escaped(out, text + (bytes > 0 ? 1 : 0));
    html_put(out, bytes > 0 && strchr(".!?", text[bytes - 1]) != NULL ? "" : ".");
}

#define NAME_INPUT "name=\"username\" required autocomplete=\"username\" maxlength=\"32\""
#define NEW_PASSWORD_INPUT \
    "type=\"password\" required autocomplete=\"new-password\" minlength=\"8\" maxlength=\"256\" "
#define PASSWORD_INPUT \
    "type=\"password\" required autocomplete=\"current-password\" maxlength=\"256\" "
#define CODE_INPUT "name=\"code\" required autocomplete=\"off\" maxlength=\"40\""

// --- forms --------------------------------------------------------------------------------------

// As the value of a query.
static void put_query(ByteWriter *out, const char *text)
{
    for (; *text != '\0'; text++) {
        char one[4];
        const bool is_plain = isalnum((unsigned char)*text) || strchr("/-._~", *text) != NULL;
        snprintf(one, sizeof one, is_plain ? "%c" : "%%%02X", (unsigned char)*text);
        html_put(out, one);
    }
}

// A link and no form: browsers do not follow a form to another site from our pages.
static void put_issuer(ByteWriter *out, const AccountPage *page)
{
    if (page->issuer == NULL) {
        return;
    }
    html_put(out, "<section class=\"issuer\"><h2>Sign in with ");
    html_put_escaped(out, page->issuer);
    html_put(out, "</h2><p class=\"ways\"><a class=\"button\" href=\"/login/issuer");
    if (page->next[0] != '\0') {
        html_put(out, "?next=");
        put_query(out, page->next);
    }
    html_put(out, "\">Sign in with ");
    html_put_escaped(out, page->issuer);
    html_put(out, "</a> <a class=\"button quiet\" href=\"/logout/issuer\">Sign out there</a></p>"
                  "</section>\n");
}

static void put_linked(ByteWriter *out, const AccountPage *page)
{
    if (page->issuer == NULL) {
        return;
    }
    html_put(out, "<section class=\"issuer\"><h2>");
    html_put_escaped(out, page->issuer);
    html_put(out, page->is_linked
                      ? "</h2><p>You can sign in to this account with it.</p>"
                      : "</h2><p>Link it, and you can sign in to this account with it.</p>");
    if (page->is_linked) {
        html_put(out, "<form method=\"post\" action=\"/api/account/issuer/unlink\">");
        put_end(out, "Unlink it");
    } else {
        html_put(out, "<p class=\"ways\"><a class=\"button\" href=\"/login/issuer?link=");
        put_query(out, page->issuer_link);
        html_put(out, "\">Link it</a></p>");
    }
    html_put(out, "</section>\n");
}

static void put_sign_in(ByteWriter *out, const AccountPage *page)
{
    put_form(out, "/login", "Sign in");
    put_hidden(out, "next", page->next);
    put_typed(out, "Account name", NAME_INPUT, page->typed_name);
    put_input(out, "Password", PASSWORD_INPUT "name=\"password\"");
    put_end(out, "Sign in");
}

static void put_code(ByteWriter *out, const AccountPage *page)
{
    put_form(out, "/login", "I have a code of a class");
    put_hidden(out, "next", page->next);
    put_input(out, "Code", CODE_INPUT);
    put_end(out, "Sign in with the code");
}

static void put_guest(ByteWriter *out, const AccountPage *page)
{
    put_form(out, "/login", "Play as a guest");
    put_hidden(out, "next", page->next);
    put_input(out, "Name", "name=\"username\" autocomplete=\"nickname\" maxlength=\"32\"");
    put_end(out, "Play as a guest");
}

static void put_register(ByteWriter *out, const AccountPage *page)
{
    const bool is_guest = page->who != NULL;
    put_form(out, "/register", is_guest ? "Register, and keep what you have" : "Register");
    put_hidden(out, "next", page->next);
    if (page->link_row != NULL) {
        put_hidden(out, "invitation", page->link);
    }
    html_put(out, "<p class=\"soft\">");
    put_sentence(out, NAME_RULE);
    html_put(out, " ");
    put_sentence(out, PASSWORD_RULE);
    html_put(out, "</p>\n");
    put_typed(out, "Account name", NAME_INPUT, page->typed_name);
    put_typed(out, "Name that others see (may be left out)",
              "name=\"shown_name\" autocomplete=\"nickname\" maxlength=\"64\"",
              page->typed_shown_name);
    put_input(out, "Password", NEW_PASSWORD_INPUT "name=\"password\"");
    put_end(out, "Register");
}

static void put_closed(ByteWriter *out)
{
    html_put(out, "<section><h2>Register</h2><p>To register here, you need an invitation: a link "
                  "that you open. Ask whoever runs this server for one, or your teacher.</p>"
                  "</section>\n");
}

static void put_recover(ByteWriter *out, const AccountPage *page)
{
    put_form(out, "/api/account/recover", "Forgot your password?");
    put_hidden(out, "next", page->next);
    html_put(out, "<p class=\"soft\">Use one of the recovery codes that you were given when you "
                  "registered, or ask whoever runs this server for a link.</p>\n");
    put_typed(out, "Account name", NAME_INPUT, page->typed_name);
    put_input(out, "Recovery code", CODE_INPUT);
    put_input(out, "New password", NEW_PASSWORD_INPUT "name=\"new\"");
    put_end(out, "Set the password");
}

static void put_reset(ByteWriter *out, const AccountPage *page)
{
    put_form(out, "/api/account/recover", "Choose a new password");
    put_hidden(out, "link", page->link);
    put_input(out, "New password", NEW_PASSWORD_INPUT "name=\"new\"");
    put_end(out, "Set the password");
}

static void put_ways(ByteWriter *out, const AccountPage *page)
{
    const uint32_t roles = page->who->roles;
    html_put(out, "<p class=\"ways\">");
    put_link(out, page->next[0] != '\0' ? page->next : "/",
             page->next[0] != '\0' ? "Go on" : "Find places to play");
    if ((roles & (ROLE_CREATOR | ROLE_OPERATOR)) != 0) {
        put_link(out, "/create", "Your places");
    }
    if ((roles & (ROLE_TEACHER | ROLE_OPERATOR)) != 0) {
        put_link(out, "/class", "Your classes");
    }
    if ((roles & ROLE_OPERATOR) != 0) {
        put_link(out, "/operator", "Run this server");
    }
    html_put(out, "</p>\n");
}

static void put_who(ByteWriter *out, const AccountPage *page)
{
    html_put(out, "<section><h2>You are ");
    html_put_escaped(out, page->own_name);
    html_put(out, "</h2>\n");
    if (!page->who->is_guest) {
        html_put(out, "<p>Account name: ");
        html_put_escaped(out, page->who->name);
        html_put(out, "</p>\n");
    }
    put_ways(out, page);
    html_put(out, "<form method=\"post\" action=\"/logout\">");
    put_end(out, "Sign out");
    html_put(out, "</section>\n");
    if (!page->who->is_guest) {
        put_form(out, "/api/account/password", "Change your password");
        put_input(out, "Old password", PASSWORD_INPUT "name=\"old\"");
        put_input(out, "New password", NEW_PASSWORD_INPUT "name=\"new\"");
        put_end(out, "Change it");
        put_linked(out, page);
    }
}

static void put_error(ByteWriter *out, const AccountPage *page)
{
    char wait[64] = "";
    const uint32_t minutes = (page->wait_s + MINUTE_S - 1) / MINUTE_S;
    if (page->error == NULL) {
        return;
    }
    if (page->wait_s > 0) {
        snprintf(wait, sizeof wait, " The next try is possible in %" PRIu32 " minute%s.", minutes,
                 minutes == 1 ? "" : "s");
    }
    html_put(out, "<p role=\"alert\" class=\"wrong\">");
    put_sentence(out, page->error);
    html_put(out, wait);
    html_put(out, "</p>\n");
}

static void put_done(ByteWriter *out, const AccountPage *page)
{
    if (page->done != NULL) {
        html_put(out, "<p role=\"status\">");
        html_put_escaped(out, page->done);
        html_put(out, "</p>\n");
    }
}

static void put_codes(ByteWriter *out, const AccountGiven *given)
{
    if (given == NULL || given->codes[0][0] == '\0') {
        return;
    }
    html_put(out, "<section><h2>Your recovery codes</h2><p>Print them or write them down: they are "
                  "shown only now. Each of them sets a new password, once.</p><ul>\n");
    for (uint32_t i = 0; i < STORE_RECOVERY_CODES; i++) {
        html_put(out, "<li><code>");
        html_put_escaped(out, given->codes[i]);
        html_put(out, "</code></li>\n");
    }
    html_put(out, "</ul></section>\n");
}

// A link that makes an account, opened by somebody who has one.
static void put_sign_out_first(ByteWriter *out, const AccountPage *page)
{
    put_form(out, "/logout",
             (page->link_row->roles & ROLE_OPERATOR) != 0 ? "This link makes an operator's account"
                                                          : "This link makes a new account");
    html_put(out, "<p>You are signed in as ");
    html_put_escaped(out, page->who->name);
    html_put(out, ". Sign out to register the new account; this one stays as it is.</p>\n");
    put_hidden(out, "link", page->link);
    put_end(out, "Sign out and go on");
}

static void put_forms(ByteWriter *out, const AccountPage *page)
{
    const StoreLink *link = page->link_row;
    const bool is_guest = page->who == NULL || page->who->is_guest;
    if (link != NULL && link->purpose == LINK_PASSWORD) {
        put_reset(out, page);
        return;
    }
    if (!is_guest && link != NULL) {
        put_sign_out_first(out, page);
    }
    if (page->who != NULL) {
        put_who(out, page);
    }
    if (is_guest && link == NULL) {
        put_issuer(out, page);
        put_sign_in(out, page);
    }
    if (is_guest && (link != NULL || page->is_open)) {
        put_register(out, page);
    }
    if (is_guest && link == NULL) {
        if (!page->is_open) {
            put_closed(out);
        }
        put_code(out, page);
        if (page->who == NULL) {
            put_guest(out, page);
        }
        put_recover(out, page);
    }
}

void account_page_write(const AccountPage *page, ByteWriter *out)
{
    html_put(out, page->is_answer ? "<div class=\"plain\" data-answer>" : "<div class=\"plain\">");
    html_put(out, "<h1>" ACCOUNT_PAGE_TITLE "</h1>\n");
    put_error(out, page);
    put_done(out, page);
    put_codes(out, page->given);
    html_put(out, "<div class=\"two\">\n");
    put_forms(out, page);
    html_put(out, "</div>\n");
    if (page->who != NULL && !page->who->is_guest) {
        html_put(out, "<p class=\"soft\">With JavaScript this page also has your looks, sign-ins, "
                      "tokens, blocked people and what you store.</p>\n");
    }
    html_put(out, "</div>\n");
}
