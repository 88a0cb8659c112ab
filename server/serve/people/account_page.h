// The content of /account as plain HTML: signing in, registering, new passwords. It is what the
// page has for those without JavaScript, and every text of a stranger in it is escaped.
#pragma once

#include "core/base/bytes.h"
#include "server/control/account.h"

#define ACCOUNT_PAGE_TITLE "Your account"

typedef struct AccountPage {
    const Identity *who;       // NULL: nobody
    const char *own_name;      // what they read of themselves; not used for nobody
    const char *link;          // a token of a link, "": none
    const StoreLink *link_row; // what it is for; NULL: it is none
    bool is_open;              // anybody may register
    // The answer to a form: the script of the page must leave it as it is, because nobody can show
    // recovery codes again.
    bool is_answer;
    const char *next;  // where to go afterwards, as account_next has checked it; "": nowhere
    const char *error; // NULL: none
    uint32_t wait_s;   // after which it may be tried again; 0: at once
    // What was typed into the form that failed; NULL: nothing.
    const char *typed_name, *typed_shown_name;
    const char *done;          // a sentence; NULL: none
    const char *issuer;        // the name of the issuer; NULL: there is none
    const char *issuer_link;   // what the link for linking shows; "": nobody is signed in
    bool is_linked;            // with the issuer
    const AccountGiven *given; // its recovery codes are shown; NULL: none
} AccountPage;

#define ACCOUNT_PAGE_BYTES (16u << 10)
void account_page_write(const AccountPage *page, ByteWriter *out);

// A path of this server and nothing else: "" if the text could lead anywhere else.
#define ACCOUNT_NEXT_BYTES 512
const char *account_next(const char *text);
