// People with accounts, in simulated time: a real control plane, real placement (host_choose.c) and
// tickets that are used at once, late, twice or never.
//
// Always: nobody is in a world while a ban on them holds there, and who is muted is muted; nobody
// is twice in one world; a world has no more people than it has slots, so none was given twice;
// nobody has more worlds than they may; a ticket or a sign-in lets nobody in that was used before,
// is too old or has ended; a private world is entered by its code or invitation alone; a sign-in
// that was given is good after the host was killed.
//
// Randomness and passwords of the control plane are replaced here, so that a seed repeats exactly
// and no time is spent on hashing.
#define _GNU_SOURCE
#include "tests/scenario/host/hosts.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/control/password.h"
#include "server/host/host_people.h"
#include "server/sys/entropy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIX_BEGIN_MS  1700000000000ull
#define ACCOUNTS_NAMED 6 // the others are guests
#define ADDRESSES      4
#define GRACE_US       500000ull // until an order has reached a world
#define PASS_FIRST     1000000ull
#define TICKET_US      (TICKET_MS * 1000ull)

// --- instead of the system ----------------------------------------------------------------------

static Rng *entropy;

void people_entropy(Rng *rng)
{
    entropy = rng;
}

void entropy_fill(void *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)out)[i] = (uint8_t)rng_u32(entropy);
    }
}

uint64_t entropy_u64(void)
{
    uint64_t number;
    entropy_fill(&number, sizeof number);
    return number;
}

bool password_is_valid(const char *password)
{
    return password[0] != '\0';
}

bool password_is_common(const char *password, const char *name)
{
    return strcmp(password, name) == 0;
}

Status password_hash(const char *password, char out[STORE_PASSWORD_BYTES])
{
    snprintf(out, STORE_PASSWORD_BYTES, "not hashed: %s", password);
    return STATUS_OK;
}

bool password_matches(const char *hash, const char *password)
{
    char own[STORE_PASSWORD_BYTES];
    return password_hash(password, own) == STATUS_OK && strcmp(own, hash) == 0;
}

// --- the control plane --------------------------------------------------------------------------

static uint64_t unix_ms(void *user)
{
    return UNIX_BEGIN_MS + ((const Hosts *)user)->now_us / 1000;
}

static AccountAsk ask_of(const Person *person)
{
    return (AccountAsk){.address = person->address, .is_local = true};
}

static void sign_in(Hosts *hosts, Person *person)
{
    AccountGiven given = {0};
    const AccountAsk ask = ask_of(person);
    const bool is_named = person->name[0] != '\0';
    const AccountResult result =
        is_named ? account_sign_in(hosts->control, person->name, "password of theirs", &ask, &given)
                 : account_guest(hosts->control, "", &ask, &given);
    if (result == ACCOUNT_OK) {
        if (!is_named) { // somebody else
            person->ban = person->mute = (PersonRule){0};
            person->last_world[0] = '\0';
        }
        person->who = given.who;
        memcpy(person->token, given.token, sizeof person->token);
        person->is_signed_in = true;
    } else if (result != ACCOUNT_UNAVAILABLE) { // the disk may be full
        hosts_fail(hosts, "%s cannot sign in: %d", person->name, (int)result);
    }
}

static void register_person(Hosts *hosts, uint32_t number)
{
    Person *person = &hosts->people[number];
    AccountGiven given = {0};
    const AccountAsk ask = ask_of(person);
    snprintf(person->name, sizeof person->name, "person-%c", 'a' + (int)number);
    const AccountNew wish = {
        .name = person->name, .password = "password of theirs", .shown_name = "", .link = ""};
    const AccountResult result = account_register(hosts->control, &wish, &ask, &given);
    ASSERT(result == ACCOUNT_OK);
    person->who = given.who;
    memcpy(person->token, given.token, sizeof person->token);
    person->is_signed_in = true;
}

void people_open(Hosts *hosts)
{
    if (!hosts->has_people) {
        return;
    }
    hosts->next_pass = PASS_FIRST;
    for (uint32_t i = 0; i < PEOPLE_MAX; i++) {
        hosts->people[i].address = 1 + i % ADDRESSES;
        if (i < ACCOUNTS_NAMED) {
            register_person(hosts, i);
        } else {
            sign_in(hosts, &hosts->people[i]);
        }
    }
}

void people_begin(Hosts *hosts)
{
    entropy = &hosts->rng;
    const ControlConfig config = {
        .store = hosts->hosts[0].store, .is_open = true, .unix_ms = unix_ms, .user = hosts};
    const Status status = control_create(&config, &hosts->control);
    ASSERT(status == STATUS_OK);
    hosts->life_unix_ms = unix_ms(hosts);
    for (uint32_t i = 0; i < PEOPLE_MAX; i++) {
        Person *person = &hosts->people[i];
        Identity who;
        person->last_world[0] = '\0';
        if (person->is_signed_in &&
            (identity_of_token(hosts->control, person->token, &who) != STATUS_OK ||
             who.account != person->who.account)) {
            hosts_fail(hosts, "the sign-in of person %u is lost", i);
        }
    }
}

void people_end(Hosts *hosts)
{
    control_destroy(hosts->control);
    hosts->control = NULL;
}

void people_close(Hosts *hosts)
{
    people_end(hosts);
}

Person *people_find(Hosts *hosts, uint64_t account)
{
    for (uint32_t i = 0; i < PEOPLE_MAX && hosts->has_people; i++) {
        if (hosts->people[i].who.account == account) {
            return &hosts->people[i];
        }
    }
    return NULL;
}

// --- what the host is given ---------------------------------------------------------------------

static void rules(void *user, uint64_t account, const char *world_id, HostRules *out)
{
    host_people_rules(((const SimHost *)user)->hosts->control, account, world_id, out);
}

static Status who(void *user, const char *token, size_t bytes, Ticket *out)
{
    return host_people_who(((const SimHost *)user)->hosts->control, token, bytes, out);
}

static void made(void *user, uint64_t tag, const HostWorld *world, HostRefusal refusal)
{
    (void)tag, (void)world;
    Hosts *hosts = ((const SimHost *)user)->hosts;
    hosts->made += refusal == REFUSED_NOT;
    hosts->refused[refusal] += 1;
}

void people_outside(HostOutside *outside)
{
    outside->rules = rules;
    outside->who = who;
    outside->made = made;
}

// --- coming in ----------------------------------------------------------------------------------

static Host *host_of(const Hosts *hosts)
{
    return hosts->hosts[0].host;
}

const Pass *people_pass(const Hosts *hosts, uint64_t number)
{
    const Pass *pass = &hosts->passes[number % TICKETS_MAX];
    return hosts->has_people && number >= PASS_FIRST && pass->number == number ? pass : NULL;
}

static Pass *new_pass(Hosts *hosts, const Person *person, const HostWorld *world, const char *text)
{
    const StoreWorld *row = host_world_view(world).row;
    const uint64_t number = ++hosts->next_pass;
    Pass *pass = &hosts->passes[number % TICKETS_MAX];
    *pass = (Pass){.number = number,
                   .same = number,
                   .account = person->who.account,
                   .life = hosts->hosts[0].life,
                   .given_us = hosts->now_us,
                   .is_extra = strcmp(person->last_world, row->world_id) == 0};
    snprintf(pass->text, sizeof pass->text, "%s", text);
    memcpy(pass->world_id, row->world_id, sizeof pass->world_id);
    memcpy(pass->room_code, row->room_code, sizeof pass->room_code);
    return pass;
}

// What people do with their tickets.
static void plan_use(Hosts *hosts, Pass *pass)
{
    Rng *rng = &hosts->rng;
    const uint32_t kind = rng_below(rng, 20);
    pass->use_us = hosts->now_us + 1;
    if (kind == 0) {
        pass->use_us = 0; // never
    } else if (kind == 1) {
        pass->use_us += TICKET_US + 1000000 + rng_below(rng, 3000000); // too late
    } else if (kind < 6) {
        pass->use_us += rng_below(rng, TICKET_US - 1000000);
    } else {
        pass->use_us += rng_below(rng, 200000);
    }
    pass->is_again = rng_below(rng, 5) == 0;
}

static void use(Hosts *hosts, Pass *pass)
{
    Person *person = people_find(hosts, pass->account);
    const size_t bytes = strlen(pass->text);
    HostSocket socket = {
        .descriptor = (int)pass->number, .bytes = bytes, .already = malloc(bytes + 1)};
    ASSERT(socket.already != NULL);
    memcpy(socket.already, pass->text, bytes);
    pass->use_us = 0;
    pass->was_ended =
        pass->was_ended || (pass->is_ticket && hosts->now_us > pass->given_us + TICKET_US + 1000);
    if (host_socket(host_of(hosts), pass->room_code, &socket) != STATUS_OK) {
        free(socket.already);
    } else if (person != NULL) { // the host may think already that they are there
        memcpy(person->last_world, pass->world_id, sizeof person->last_world);
    }
    if (pass->is_again) {
        const Pass first = *pass;
        const uint64_t number = ++hosts->next_pass;
        Pass *again = &hosts->passes[number % TICKETS_MAX];
        *again = first;
        again->number = number;
        again->is_again = false;
        again->use_us = hosts->now_us + rng_below(&hosts->rng, 3000000);
    }
}

static void use_passes(Hosts *hosts)
{
    for (uint32_t i = 0; i < TICKETS_MAX; i++) {
        Pass *pass = &hosts->passes[i];
        if (pass->use_us != 0 && pass->use_us <= hosts->now_us) {
            use(hosts, pass);
        }
    }
}

static bool may_enter(const HostWorld *world, const SimJoin *join, const Person *person)
{
    const StoreWorld *row = host_world_view(world).row;
    const uint64_t *guests;
    const uint32_t count = host_world_guests(world, &guests);
    bool may = !row->is_private || join->by_code || row->owner_id == person->who.account;
    for (uint32_t i = 0; i < count; i++) {
        may = may || guests[i] == person->who.account;
    }
    return may;
}

void people_joined(Hosts *hosts, const SimJoin *join, const HostJoinAnswer *answer)
{
    const Person *person = &hosts->people[join->person];
    if (answer->refusal == REFUSED_BANNED && person->ban.until_us < join->asked_us) {
        hosts_fail(hosts, "person %u is refused as banned, and is not", join->person);
    }
    if (answer->refusal != REFUSED_NOT) {
        return;
    }
    hosts->tickets += 1;
    if (!host_world_is_ready(answer->world)) {
        hosts_fail(hosts, "a ticket for a world that does not run");
    }
    if (join->asked_us == hosts->now_us && !may_enter(answer->world, join, person)) {
        hosts_fail(hosts, "person %u gets a ticket for a private world", join->person);
    }
    Pass *pass = new_pass(hosts, person, answer->world, answer->ticket);
    pass->account = join->account; // somebody else may be in that place by now
    pass->is_ticket = true;
    plan_use(hosts, pass);
}

// --- what worlds hear ---------------------------------------------------------------------------

static StubSession *find_session(StubProcess *process, uint64_t account)
{
    for (uint32_t i = 0; i < process->session_count; i++) {
        if (process->sessions[i].account == account) {
            return &process->sessions[i];
        }
    }
    return NULL;
}

static void check_pass(StubProcess *process, const Pass *pass, const Entry *entry)
{
    Hosts *hosts = process->hosts;
    Pass *first = &hosts->passes[pass->same % TICKETS_MAX];
    first->admitted += first->number == pass->same;
    if (pass->account != entry->number) {
        hosts_fail(hosts, "world %u: somebody is let in as somebody else", process->world);
    } else if (pass->was_ended) {
        hosts_fail(hosts, "world %u: a %s lets somebody in that has ended", process->world,
                   pass->is_ticket ? "ticket" : "sign-in");
    } else if (pass->is_ticket && first->number == pass->same && first->admitted > 1) {
        hosts_fail(hosts, "world %u: a ticket lets somebody in twice", process->world);
    } else if (pass->is_ticket && pass->life != process->life) {
        hosts_fail(hosts, "world %u: a ticket of another life of the host", process->world);
    }
}

// A new session of the same account takes the place of the old one.
static void add_session(StubProcess *process, const Entry *entry, bool is_extra)
{
    StubSession *session = find_session(process, entry->number);
    if (session == NULL && process->session_count < SESSIONS_MAX) {
        session = &process->sessions[process->session_count++];
        *session = (StubSession){.is_extra = is_extra};
    }
    if (session != NULL) {
        session->account = entry->number;
        session->connection = entry->connection;
        session->since_us = process->hosts->now_us;
        const Pass *pass = people_pass(process->hosts, entry->connection);
        session->is_muted = pass != NULL && pass->is_muted;
    }
}

void people_admitted(StubProcess *process, const Entry *entry)
{
    Hosts *hosts = process->hosts;
    const Pass *pass = people_pass(hosts, entry->connection);
    Person *person = people_find(hosts, entry->number);
    if (pass != NULL) {
        check_pass(process, pass, entry);
    }
    if (person != NULL) {
        hosts->admitted += 1;
        hosts->last_admitted = (uint32_t)(person - hosts->people);
        memcpy(person->last_world, hosts->worlds[process->world].row.world_id,
               sizeof person->last_world);
    }
    if (process->real != NULL) {
        return; // it has sessions of its own
    }
    add_session(process, entry, pass != NULL && pass->is_extra);
    uint32_t count = 0;
    for (uint32_t i = 0; i < process->session_count; i++) {
        count += !process->sessions[i].is_extra;
    }
    if (hosts->has_people && count > STUB_PLAYERS) {
        hosts_fail(hosts, "world %u: %u people have %u slots", process->world, count, STUB_PLAYERS);
    }
}

static bool is_order(const Entry *entry, const char *name)
{
    return entry->name_bytes == strlen(name) && memcmp(entry->name, name, entry->name_bytes) == 0;
}

void people_ordered(StubProcess *process, const Entry *entry)
{
    char text[256] = "", *end = NULL;
    memcpy(text, entry->bytes, entry->byte_count < 255 ? entry->byte_count : 255);
    StubSession *session = find_session(process, strtoull(text, &end, 10));
    Pass *pass = &process->hosts->passes[entry->connection % TICKETS_MAX];
    if (is_order(entry, "mute") && entry->connection != 0 && pass->number == entry->connection) {
        pass->is_muted = strtoull(end, NULL, 10) != 0; // before they are let in
    }
    if (session == NULL) {
        return;
    }
    if (is_order(entry, "mute")) {
        session->is_muted = strtoull(end, NULL, 10) != 0;
    } else if (is_order(entry, "remove") || is_order(entry, "leave")) {
        *session = process->sessions[--process->session_count];
    }
}

// --- what people do -----------------------------------------------------------------------------

static const HostWorld *any_world(Hosts *hosts)
{
    Host *host = host_of(hosts);
    const uint32_t all = host_world_count(host);
    // The first ones more often, so that they are full.
    const uint32_t some = all < WORLDS_FIRST || rng_below(&hosts->rng, 4) == 0 ? all : WORLDS_FIRST;
    const HostWorld *world = host_world_at(host, rng_below(&hosts->rng, some));
    const HostWorldView view = host_world_view(world);
    return view.state != WORLD_MAKING && view.row->world_id[0] != '\0' ? world : NULL;
}

static void join(Hosts *hosts, uint32_t number)
{
    const Person *person = &hosts->people[number];
    const uint64_t tag = ++hosts->next_tag;
    SimJoin *join = &hosts->joins[tag % (sizeof hosts->joins / sizeof hosts->joins[0])];
    const HostWorld *world = any_world(hosts);
    const uint32_t kind = rng_below(&hosts->rng, 10);
    Identity identity;
    if (identity_of_token(hosts->control, person->token, &identity) != STATUS_OK) {
        return; // 401
    }
    if (!person->is_signed_in) {
        hosts_fail(hosts, "person %u has signed out, and is still known", number);
    }
    if (join->is_open) {
        return;
    }
    *join = (SimJoin){.tag = tag,
                      .asked_us = hosts->now_us,
                      .life = hosts->hosts[0].life,
                      .is_open = true,
                      .person = number,
                      .account = identity.account,
                      .by_code = kind < 3};
    HostJoin wish = {.tag = tag, .who = host_people_ticket(&identity), .address = person->address};
    if (kind < 6 && world != NULL) {
        const StoreWorld *row = host_world_view(world).row;
        snprintf(wish.world, sizeof wish.world, "%s", kind < 3 ? row->room_code : row->world_id);
    } else if (kind < 9) {
        snprintf(wish.place, sizeof wish.place, "place_stub");
    } // else a new world of one's own
    host_join(host_of(hosts), &wish);
}

// In place of a ticket.
static void show_sign_in(Hosts *hosts, const Person *person)
{
    const HostWorld *world = any_world(hosts);
    if (world != NULL && hosts->real_place == NULL) {
        Pass *pass = new_pass(hosts, person, world, person->token);
        pass->was_ended = !person->is_signed_in;
        pass->is_again = rng_below(&hosts->rng, 4) == 0;
        use(hosts, pass);
    }
}

static void sign_out_or_in(Hosts *hosts, Person *person)
{
    Identity identity;
    if (!person->is_signed_in) {
        sign_in(hosts, person);
    } else if (identity_of_token(hosts->control, person->token, &identity) == STATUS_OK &&
               account_sign_out(hosts->control, &identity) == ACCOUNT_OK) {
        person->is_signed_in = false;
        hosts->sign_outs += 1;
        for (uint32_t i = 0; i < TICKETS_MAX; i++) { // of sign-ins that are shown later
            Pass *pass = &hosts->passes[i];
            pass->was_ended = pass->was_ended || (!pass->is_ticket && pass->use_us != 0 &&
                                                  pass->account == person->who.account);
        }
    }
}

static bool holds(const Hosts *hosts, const PersonRule *rule)
{
    return rule->until_us > hosts->now_us;
}

static void change_rule(Hosts *hosts, Person *person, BanKind kind)
{
    PersonRule *rule = kind == BAN_ENTER ? &person->ban : &person->mute;
    if (holds(hosts, rule)) {
        if (control_unban(hosts->control, person->who.account, rule->world_id, kind) == STATUS_OK) {
            *rule = (PersonRule){0};
        }
        return;
    }
    PersonRule next = {.since_us = hosts->now_us,
                       .until_us = hosts->now_us + 1000000 + rng_below(&hosts->rng, 9000000)};
    if (rng_below(&hosts->rng, 2) == 0) {
        memcpy(next.world_id, person->last_world, sizeof next.world_id);
    }
    StoreBan ban = {.account_id = person->who.account,
                    .kind = kind,
                    .until_unix_ms = UNIX_BEGIN_MS + next.until_us / 1000,
                    .created_unix_ms = unix_ms(hosts)};
    memcpy(ban.world_id, next.world_id, sizeof ban.world_id);
    if (control_ban(hosts->control, &ban) == STATUS_OK) { // or the disk is full
        *rule = next;
        hosts->bans += 1;
    }
}

static void make_world(Hosts *hosts, const Person *person)
{
    const HostMake make = {.tag = ++hosts->next_tag,
                           .is_private = rng_below(&hosts->rng, 2) == 0,
                           .account = person->who.account,
                           .is_guest = person->who.is_guest,
                           .address = person->address,
                           .name = "made"};
    host_make(host_of(hosts), &make);
}

static void invite(Hosts *hosts, const Person *person)
{
    const HostWorld *found = any_world(hosts);
    if (found != NULL) {
        HostWorld *world = host_world(host_of(hosts), host_world_view(found).row->world_id);
        status_ignore(host_world_invite(world, person->who.account, rng_below(&hosts->rng, 2)));
    }
}

static void act(Hosts *hosts)
{
    Rng *rng = &hosts->rng;
    const uint32_t number = rng_below(rng, PEOPLE_MAX);
    Person *person = &hosts->people[number];
    switch (rng_below(rng, 30)) {
    case 0:
        sign_out_or_in(hosts, person);
        break;
    case 1:
    case 2:
        change_rule(hosts, &hosts->people[rng_below(rng, 2) ? number : hosts->last_admitted],
                    BAN_ENTER);
        break;
    case 3:
        change_rule(hosts, &hosts->people[rng_below(rng, 2) ? number : hosts->last_admitted],
                    BAN_CHAT);
        break;
    case 4:
        make_world(hosts, person);
        break;
    case 5:
        make_world(hosts, &hosts->people[0]); // who wants all that may be had
        break;
    case 6:
        invite(hosts, person);
        break;
    case 7:
    case 8:
        show_sign_in(hosts, person);
        break;
    default:
        join(hosts, number);
        break;
    }
}

void people_step(Hosts *hosts)
{
    StoreBan ban;
    while (control_take_ban_change(hosts->control, &ban)) { // as serve.c does
        host_rules_changed(host_of(hosts), ban.account_id, ban.world_id);
    }
    if (host_is_stopping(host_of(hosts))) {
        return;
    }
    use_passes(hosts);
    if (rng_below(&hosts->rng, hosts->calm ? 40 : 10) == 0) {
        act(hosts);
    }
}

// --- what must hold -----------------------------------------------------------------------------

// Long enough for the order to have arrived.
static bool is_due(const Hosts *hosts, const PersonRule *rule, const char *world_id)
{
    const uint64_t woken_us = hosts->hosts[0].stalled_until_us;
    const uint64_t since_us = rule->since_us > woken_us ? rule->since_us : woken_us;
    return holds(hosts, rule) && since_us + GRACE_US < hosts->now_us &&
           (rule->world_id[0] == '\0' || strcmp(rule->world_id, world_id) == 0);
}

static void check_session(StubProcess *process, const StubSession *session)
{
    Hosts *hosts = process->hosts;
    const char *world_id = hosts->worlds[process->world].row.world_id;
    const Person *person = people_find(hosts, session->account);
    if (person == NULL) {
        return;
    }
    if (is_due(hosts, &person->ban, world_id)) {
        hosts_fail(hosts, "world %u: somebody plays who was banned %.3f s ago", process->world,
                   (double)(hosts->now_us - person->ban.since_us) / 1e6);
    }
    if (process->real == NULL && is_due(hosts, &person->mute, world_id) &&
        session->since_us + GRACE_US < hosts->now_us && !session->is_muted) {
        hosts_fail(hosts, "world %u: somebody may chat who was muted", process->world);
    }
}

static void check_sessions(StubProcess *process)
{
    StubSession sessions[SESSIONS_MAX];
    uint32_t count = process->session_count;
    memcpy(sessions, process->sessions, sizeof sessions);
    if (process->real != NULL) {
        count = real_sessions(process, sessions);
    }
    for (uint32_t i = 0; i < count; i++) {
        check_session(process, &sessions[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (sessions[i].account == sessions[j].account) {
                hosts_fail(process->hosts, "world %u: somebody is there twice", process->world);
            }
        }
    }
}

static void check_quotas(Hosts *hosts)
{
    Host *host = host_of(hosts);
    uint32_t of_address[ADDRESSES + 1] = {0}, owned[PEOPLE_MAX] = {0};
    for (uint32_t i = 0; i < host_world_count(host); i++) {
        const StoreWorld *row = host_world_view(host_world_at(host, i)).row;
        const Person *owner = row->world_id[0] != '\0' ? people_find(hosts, row->owner_id) : NULL;
        if (owner != NULL) {
            owned[owner - hosts->people] += 1;
            of_address[owner->address] +=
                owner->who.is_guest && row->created_unix_ms >= hosts->life_unix_ms;
        }
    }
    for (uint32_t i = 0; i < PEOPLE_MAX; i++) {
        if (owned[i] > (hosts->people[i].who.is_guest ? 1 : WORLDS_PER_ACCOUNT_MAX)) {
            hosts_fail(hosts, "person %u has %u worlds", i, owned[i]);
        }
    }
    for (uint32_t i = 1; i <= ADDRESSES; i++) {
        if (of_address[i] > WORLDS_PER_ADDRESS_MAX) {
            hosts_fail(hosts, "guests of address %u have made %u worlds", i, of_address[i]);
        }
    }
}

void people_check(Hosts *hosts)
{
    const SimHost *host = &hosts->hosts[0];
    if (!hosts->has_people || host->host == NULL || host->stalled_until_us > hosts->now_us ||
        hosts->now_us % 50000 != 0) {
        return;
    }
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        StubProcess *process = &hosts->processes[i];
        if (process->is_used && process->is_ready && !process->is_dead && !process->is_closed &&
            process->mood == STUB_GOOD) {
            check_sessions(process);
        }
    }
    check_quotas(hosts);
}
