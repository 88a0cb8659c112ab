// What a host asks the control plane about people. Here and nowhere else the two meet: HTTP
// (serve/) and the hosts in simulated time (tests/scenario/host) use the same.
#pragma once

#include "server/control/control.h"
#include "server/host/host.h"

// Who comes in, as a ticket says it. A pupil has their name in places of their class alone, and
// elsewhere an alias (class.h); place_id "": not known, so elsewhere.
Ticket host_people_ticket(const Identity *who);
void host_people_name(Control *control, const Identity *who, const char *place_id, Ticket *ticket);
// HostOutside.rules and HostOutside.who, of this control plane. STATUS_BLOCKED: it looks like a
// token of an issuer, which account_issuer_admit must look at.
#define HOST_TOKEN_BYTES 4097
void host_people_rules(Control *control, uint64_t account, const char *world_id, HostRules *out);
MUST_USE Status host_people_who(Control *control, const char *token, size_t bytes, Ticket *out);
