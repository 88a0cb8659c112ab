// See account_page.h.
#include "server/serve/people/account_page.h"
#include "server/serve/http/html.h"

#include "server/control/name.h"
#include "server/control/password.h"

#include <string.h>

const char account_page_style[] =
    "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:26rem;padding:1rem;"
    "color:#1d2733;background:#f4f6f8}\n"
    "form,section{background:#fff;border:1px solid #d5dbe1;border-radius:8px;padding:1rem;"
    "margin:1rem 0}\n"
    "h1{font-size:1.5rem}h2{font-size:1.1rem;margin:0 0 .5rem}\n"
    "label{display:block;margin:.5rem 0}\n"
    "input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:.5rem;"
    "border:1px solid #8793a0;border-radius:4px}\n"
    "button{font:inherit;padding:.5rem 1rem;border:0;border-radius:4px;background:#14629c;"
    "color:#fff}\n"
    ".error{background:#fde8e6;border-color:#b3261e}.done{background:#e5f4e7}\n"
    "code{font:1.1rem ui-monospace,monospace}li{margin:.25rem 0}\n";

static void put_form(ByteWriter *out, const char *action, const char *title)
{
    html_put(out, "<form method=\"post\" action=\"");
    html_put(out, action);
    html_put(out, "\"><h2>");
    html_put(out, title);
    html_put(out, "</h2>\n");
}

// Attributes are ours.
static void put_input(ByteWriter *out, const char *label, const char *attributes)
{
    html_put(out, "<label>");
    html_put(out, label);
    html_put(out, " <input ");
    html_put(out, attributes);
    html_put(out, "></label>\n");
}

// The same with what was typed before.
static void put_typed(ByteWriter *out, const char *label, const char *attributes, const char *typed)
{
    html_put(out, "<label>");
    html_put(out, label);
    html_put(out, " <input ");
    html_put(out, attributes);
    html_put(out, " value=\"");
    html_put_escaped(out, typed != NULL ? typed : "");
    html_put(out, "\"></label>\n");
}

static void put_end(ByteWriter *out, const char *button)
{
    html_put(out, "<button>");
    html_put(out, button);
    html_put(out, "</button></form>\n");
}

#define NAME_INPUT "name=\"username\" required autocomplete=\"username\" maxlength=\"32\""
#define NEW_PASSWORD_INPUT \
    "type=\"password\" required autocomplete=\"new-password\" minlength=\"8\" maxlength=\"256\" "
#define PASSWORD_INPUT \
    "type=\"password\" required autocomplete=\"current-password\" maxlength=\"256\" "

static void put_hidden(ByteWriter *out, const char *name, const char *value)
{
    html_put(out, "<input type=\"hidden\" name=\"");
    html_put(out, name);
    html_put(out, "\" value=\"");
    html_put_escaped(out, value);
    html_put(out, "\">\n");
}

static void put_sign_in(ByteWriter *out)
{
    put_form(out, "/login", "Sign in");
    put_input(out, "Account name", NAME_INPUT);
    put_input(out, "Password", PASSWORD_INPUT "name=\"password\"");
    put_end(out, "Sign in");
}

static void put_code(ByteWriter *out)
{
    put_form(out, "/login", "Sign in with the code of your class");
    put_input(out, "Code", "name=\"code\" required autocomplete=\"off\" maxlength=\"40\"");
    put_end(out, "Sign in");
}

static void put_guest(ByteWriter *out)
{
    put_form(out, "/login", "Play as a guest");
    put_input(out, "Name", "name=\"username\" autocomplete=\"nickname\" maxlength=\"32\"");
    put_end(out, "Play");
}

static void put_register(ByteWriter *out, const AccountPage *page)
{
    const bool is_guest = page->who != NULL;
    put_form(out, "/register", is_guest ? "Register, and keep what you have" : "Register");
    if (page->link_row != NULL) {
        put_hidden(out, "invitation", page->link);
    }
    html_put(out, "<p>" NAME_RULE "; " PASSWORD_RULE ".</p>\n");
    put_typed(out, "Account name", NAME_INPUT, page->typed_name);
    put_typed(out, "Name that others see (may be left out)",
              "name=\"shown_name\" autocomplete=\"nickname\" maxlength=\"64\"",
              page->typed_shown_name);
    put_input(out, "Password", NEW_PASSWORD_INPUT "name=\"password\"");
    put_end(out, "Register");
}

static void put_recover(ByteWriter *out)
{
    put_form(out, "/api/account/recover", "Forgot your password?");
    html_put(out,
             "<p>Use one of the recovery codes that you were given when you registered, or ask an "
             "operator for a link.</p>\n");
    put_input(out, "Account name", NAME_INPUT);
    put_input(out, "Recovery code", "name=\"code\" required autocomplete=\"off\" maxlength=\"40\"");
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

static void put_who(ByteWriter *out, const AccountPage *page)
{
    html_put(out, "<form method=\"post\" action=\"/logout\"><h2>You are ");
    html_put_escaped(out, page->who->shown_name);
    html_put(out, "</h2>\n");
    if (!page->who->is_guest) {
        html_put(out, "<p>Account name: ");
        html_put_escaped(out, page->who->name);
        html_put(out, "</p>\n");
    }
    html_put(out, "<p><a href=\"/\">Play</a></p>\n");
    put_end(out, "Sign out");
    if (!page->who->is_guest) {
        put_form(out, "/api/account/password", "Change your password");
        put_input(out, "Old password", PASSWORD_INPUT "name=\"old\"");
        put_input(out, "New password", NEW_PASSWORD_INPUT "name=\"new\"");
        put_end(out, "Change it");
    }
}

static void put_note(ByteWriter *out, const char *kind, const char *text)
{
    if (text != NULL) {
        html_put(out, "<section role=\"alert\" class=\"");
        html_put(out, kind);
        html_put(out, "\">");
        html_put_escaped(out, text);
        html_put(out, "</section>\n");
    }
}

static void put_codes(ByteWriter *out, const AccountGiven *given)
{
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
    if (is_guest && (link != NULL || page->is_open)) {
        put_register(out, page);
    }
    if (is_guest && link == NULL) {
        put_sign_in(out);
        put_code(out);
        if (page->who == NULL) {
            put_guest(out);
        }
        put_recover(out);
    }
}

void account_page_write(const AccountPage *page, ByteWriter *out)
{
    // Forms must name their origin, which "no-referrer" would keep browsers from.
    html_put(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<meta name=\"referrer\" content=\"same-origin\">"
        "<title>Sandlot account</title><link rel=\"stylesheet\" href=\"/account.css\"></head>\n"
        "<body><h1>Sandlot</h1>\n");
    put_note(out, "error", page->error);
    put_note(out, "done", page->done);
    if (page->given != NULL && page->given->codes[0][0] != '\0') {
        put_codes(out, page->given);
    }
    put_forms(out, page);
    html_put(out, "</body></html>\n");
}
