// See host_people.h.
#include "server/host/host_people.h"

#include "server/control/account.h"
#include "server/control/order/class.h"

#include <string.h>

_Static_assert(TICKET_NAME_BYTES >= STORE_SHOWN_BYTES, "an alias fits");
_Static_assert(sizeof((StoreBan){0}).reason <= HOST_REASON_BYTES, "a reason fits");

Ticket host_people_ticket(const Identity *who)
{
    Ticket ticket = {.account = who->account};
    // The name of an account looks like nobody else's and is not changed while somebody is muted;
    // what characters are called has no such rules.
    ticket.flags = TICKET_FIXED_NAME | (who->is_guest ? TICKET_GUEST : 0) |
                   ((who->roles & ROLE_OPERATOR) != 0 ? TICKET_OPERATOR : 0);
    memcpy(ticket.name, who->shown_name, sizeof ticket.name);
    return ticket;
}

void host_people_name(Control *control, const Identity *who, const char *place_id, Ticket *ticket)
{
    const bool is_here = control_name_at(control, who->account, place_id, ticket->name);
    if (!is_here && control_name_is_closed(control, who->account, who->roles)) {
        store_pupil_alias(who->account, ticket->name);
    }
}

void host_people_rules(Control *control, uint64_t account, const char *world_id, HostRules *out)
{
    StoreBan ban;
    if (control_find_ban(control, account, world_id, BAN_ENTER, &ban)) {
        out->banned_until_unix_ms = ban.until_unix_ms;
        memcpy(out->ban_reason, ban.reason, sizeof ban.reason);
    }
    if (control_find_ban(control, account, world_id, BAN_CHAT, &ban)) {
        out->muted_until_unix_ms = ban.until_unix_ms;
        memcpy(out->mute_reason, ban.reason, sizeof ban.reason);
    }
    out->chat = control_chat_of(control, account);
}

Status host_people_who(Control *control, const char *token, size_t bytes, Ticket *out)
{
    char text[HOST_TOKEN_BYTES];
    Identity who;
    if (bytes >= sizeof text) {
        return STATUS_DENIED;
    }
    memcpy(text, token, bytes);
    text[bytes] = '\0';
    const Status status = identity_of_token(control, text, &who);
    if (status != STATUS_OK) {
        return control_may_admit(control, text, bytes) ? STATUS_BLOCKED : status;
    }
    if (who.kind == SIGN_IN_TOKEN && (who.scope & SCOPE_PLAY) == 0) {
        return STATUS_DENIED; // as for /join
    }
    *out = host_people_ticket(&who);
    host_people_name(control, &who, "", out);
    return STATUS_OK;
}
