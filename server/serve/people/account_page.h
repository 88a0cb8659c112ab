// The page /account as plain HTML: signing in, registering, new passwords. It works without
// JavaScript, and every text of a stranger in it is escaped.
#pragma once

#include "core/base/bytes.h"
#include "server/control/account.h"

typedef struct AccountPage {
    const Identity *who;       // NULL: nobody
    const char *link;          // a token of a link, "": none
    const StoreLink *link_row; // what it is for; NULL: it is none
    bool is_open;              // anybody may register
    const char *error;         // a sentence; NULL: none
    // What was typed into the form that failed; NULL: nothing.
    const char *typed_name, *typed_shown_name;
    const char *done;          // likewise
    const AccountGiven *given; // its recovery codes are shown; NULL: none
} AccountPage;

#define ACCOUNT_PAGE_BYTES (16u << 10)
void account_page_write(const AccountPage *page, ByteWriter *out);
extern const char account_page_style[];
