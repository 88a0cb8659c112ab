// One to three hosts (server/host) in one process and in simulated time, from one seed. They share
// one database (the real store, in memory), and everything that can go wrong does: processes and
// hosts die at any moment, hosts stand still for longer than a lease, the store answers late, the
// disk is full, worlds say nonsense or nothing. Most seeds have worlds that are stubs, because they
// cost little; one seed in REAL_EVERY has real ones (core/world), with players and a script.
//
// With --postgres every seed has two or three hosts that are peers, and their store is on a
// simulated PostgreSQL (postgres_sim.h).
//
// One seed in PEOPLE_EVERY has accounts: people sign in to a real control plane, join by their own
// sign-ins and are placed within quotas, are banned and muted meanwhile, and use their tickets
// late, twice or never (people.c).
//
// Always: what a world was told is stored is there when it begins again; no two lives of a world
// are told so at the same time, and a life that another has followed never; what a script adds to a
// DataStore is added once, and not at all if it was told so; no two hosts that are
// awake run a world; every join is answered; saves are answered; every world that is wanted runs
// again within its time once nothing goes wrong any more.
#pragma once

#include "core/base/rng.h"
#include "server/control/account.h"
#include "server/control/control.h"
#include "server/host/host_peer.h"
#include "server/host/host_place.h"
#include "server/host/host_reload.h"
#include "server/host/host_world.h"
#include "tests/scenario/host/postgres_sim.h"

#define HOSTS_MAX     3
#define WORLDS_FIRST  6   // at most, at the beginning
#define WORLDS_MAX    192 // joins make more
#define PROCESSES_MAX 64
#define ACCOUNTS_MAX  8
#define QUEUE_MAX     256
#define STEP_US       5000
#define REAL_EVERY    16 // seeds
#define PEOPLE_EVERY  3
#define PEOPLE_MAX    24
#define TICKETS_MAX   1024
#define SESSIONS_MAX  32
#define STUB_PLAYERS  6
#define NUMBERS_MAX   65536
#define PEERS_EVERY   2 // of the seeds with several hosts
#define LETTERS_MAX   8192
#define COUNTS_MAX    1024
#define DENSE_EVERY   2 // of the seeds on PostgreSQL

typedef struct Hosts Hosts;
typedef struct RealWorld RealWorld;
typedef struct RealPlace RealPlace;

// --- a world process ----------------------------------------------------------------------------
typedef struct StubMessage {
    uint64_t due_us;
    ChannelType type;
    size_t count;
    uint8_t *bytes; // malloc
    int descriptor;
} StubMessage;

typedef struct StubQueue {
    StubMessage all[QUEUE_MAX];
    uint32_t first, count;
} StubQueue;

typedef enum StubMood {
    STUB_GOOD,
    STUB_SILENT, // says nothing any more
    STUB_LIAR,   // says nonsense
    STUB_MOOD_COUNT
} StubMood;

// A save that was sent and not answered: account -> value.
typedef struct StubSave {
    uint64_t request, value;
    uint32_t account;
} StubSave;

// Somebody who was let in, and is there.
typedef struct StubSession {
    uint64_t account, connection, since_us;
    bool is_muted;
    bool is_extra; // comes back into the world they were in last, which nobody keeps a slot for
} StubSession;

typedef struct StubProcess {
    HostLink link; // first
    Hosts *hosts;
    uint32_t host;  // which one started it
    uint32_t world; // index of its world
    uint64_t life;  // of the host that started it
    bool is_used, has_begun, is_ready, is_closed, is_dead, is_stopping, is_freed;
    int code;
    uint64_t ready_us, beat_us, save_us;
    uint64_t until_ns;                         // when it ends by itself; 0: never
    uint64_t stored_us;                        // when it was last told that something is stored
    uint64_t add_us, add_request, add_highest; // add_request 0: none is under way
    uint64_t epoch, seq, request, next_value;
    uint64_t values[ACCOUNTS_MAX]; // what it would store
    StubMood mood;
    StubQueue in, out; // from and to the host
    StubSave saves[16];
    uint32_t save_count, session_count;
    StubSession sessions[SESSIONS_MAX];
    // Its scripts (sets.c).
    uint32_t first_set, set, staged_set;
    bool takes_set;       // a manifest has come
    uint64_t set_version; // of the last manifest
    uint64_t switched_version;
    uint64_t set_us;     // when a reload brought it; 0: it began with it
    uint64_t verdict_us; // when it says whether it is good; 0: it has
    uint64_t failed_us;  // when its host has said that it failed; 0: it has not
    RealWorld *real;     // NULL: it is a stub
} StubProcess;

// --- the whole ----------------------------------------------------------------------------------
#define SIM_RENEWALS 8u
typedef struct SimHost {
    Hosts *hosts;
    uint32_t number;
    uint64_t life;
    uint64_t renewals, renewed_us[SIM_RENEWALS]; // when the last ones were answered
    Host *host;                                  // NULL: it is dead
    Store *store;
    uint64_t stalled_until_us, dead_until_us, disk_full_until_us, commit_us, store_late_until_us;
    bool is_stopping;
} SimHost;

// A structure that a player of a real world was told is durable.
typedef enum StructureState {
    STRUCTURE_STANDS,
    STRUCTURE_MAY_STAND,
    STRUCTURE_IS_GONE
} StructureState;
typedef struct SimStructure {
    uint64_t net_id;
    StructureState state;
} SimStructure;
#define STRUCTURES_MAX 1024

// A set of scripts that has failed in a world, at one life of a host.
typedef struct SimFailed {
    uint32_t set, host;
    uint64_t life;
} SimFailed;
#define FAILED_MAX 64

typedef struct SimReload {
    uint64_t tag, life;
    uint32_t set, world, host;
    HostReloadResult result; // HOST_RELOAD_RESULT_COUNT: none yet
} SimReload;
#define RELOADS_MAX 1024

typedef struct SimWorld {
    StoreWorld row;
    SimFailed failed[FAILED_MAX];
    uint32_t failed_count;
    uint32_t good_sets[HOSTS_MAX]; // by host: the last one that it began with or found good
    SimStructure structures[STRUCTURES_MAX];
    uint32_t structure_count;
    uint64_t begun_with[STRUCTURES_MAX]; // every structure that a life of it began with
    uint32_t begun_with_count;
    uint64_t acknowledged[ACCOUNTS_MAX]; // values that a life was told are stored
    uint64_t epoch_begun;                // the highest epoch that has begun
    // A DataStore value that its lives add 1 to: how often, and how often it was refused for sure.
    uint64_t adds, adds_refused, count_highest;
    uint8_t counts_given[COUNTS_MAX]; // 1: a life was given it
    uint64_t want_us;                 // when somebody wants it next, once all is calm
    uint64_t check_us;                // when it must run; 0: it need not
} SimWorld;

// Somebody with an account. Of bans and mutes each has one at a time.
typedef struct PersonRule {
    uint64_t since_us, until_us; // 0: none
    char world_id[65];           // "": everywhere
} PersonRule;

typedef struct Person {
    Identity who;
    char name[STORE_NAME_BYTES]; // "": a guest
    char token[TOKEN_TEXT_BYTES];
    bool is_signed_in;
    uint64_t address;
    PersonRule ban, mute;
    char last_world[65]; // that let them in
} Person;

// What somebody shows to come in: a ticket, or a sign-in. Its number is that of the connection.
typedef struct Pass {
    uint64_t number, account, life;
    uint64_t given_us, use_us; // use_us 0: it is not used (again)
    char text[TICKET_TEXT_BYTES];
    char world_id[65], room_code[17];
    bool is_ticket, is_extra, was_ended; // was_ended: the sign-in had ended before it was shown
    bool is_again;                       // it is used once more afterwards
    bool is_muted;                       // as the world was told before it let them in
    uint32_t admitted;
    uint64_t same; // number of the pass that showed the same ticket first
} Pass;

typedef struct SimJoin {
    uint64_t tag, asked_us;
    uint32_t host;
    uint64_t life;
    bool is_open;
    // With people.
    uint32_t person; // PEOPLE_MAX: nobody of them
    uint64_t account;
    bool by_code;
} SimJoin;

// A question from one host to another, or its answer. A host that is dead refuses; one that stands
// still, or cannot be reached from there, is silent.
typedef struct SimLetter {
    bool is_used, is_answer;
    uint32_t from, to;
    uint64_t from_life, due_us, tag;
    HostPeerAsk ask;
    HostPeerAnswer answer;
} SimLetter;

struct Hosts {
    Rng rng;
    uint64_t seed, now_us, calm_us;
    bool calm, verbose, failed;
    char message[256];
    StoreDatabase *database; // NULL: has_postgres
    bool has_postgres;
    SigningKey key;
    SimHost hosts[HOSTS_MAX];
    uint32_t host_count;
    SimWorld worlds[WORLDS_MAX];
    uint32_t world_count;
    StubProcess *processes;
    SimJoin joins[512];
    uint64_t next_tag;
    uint64_t joins_answered, tickets, saves_acknowledged, begun, crashes;
    // People; control is NULL while the host is dead, or always.
    bool has_people;
    Control *control;
    Person people[PEOPLE_MAX];
    Pass passes[TICKETS_MAX];
    uint64_t next_pass, life_unix_ms;
    uint32_t last_admitted; // of people
    uint64_t admitted, bans, sign_outs, made, refused[REFUSED_COUNT];
    // Real worlds. Their script counts in one DataStore of the place, which all of them share.
    RealPlace *real_place;        // NULL: worlds are stubs
    uint64_t number_highest;      // of those that a script was given
    uint8_t numbers[NUMBERS_MAX]; // 1: a script was given it
    uint64_t structures, numbers_given, pauses, wakes;
    uint64_t real_switches, hud_starts, settled_checks;
    // Peers: hosts of one store that place worlds and watch each other.
    bool has_peers;
    SigningKey keys[HOSTS_MAX]; // each has its own
    SimLetter *letters;
    uint64_t letter_first, letter_next;
    uint64_t cut_until_us[HOSTS_MAX][HOSTS_MAX]; // between two of them
    uint64_t down_until_us;                      // the database accepts nothing
    uint64_t led, ended, outages, fences, adds, adds_refused, adds_unknown;
    bool has_stood_still; // for longer than a lease
    bool has_calm_outage, has_calm_kill;
    uint64_t leases_lost, admitted_before, refused_before;
    // Scripts that change.
    uint32_t set_number;
    uint64_t next_reload;
    SimReload reloads[RELOADS_MAX];
    uint64_t reload_counts[HOST_RELOAD_RESULT_COUNT];
};

typedef struct HostsResult {
    bool failed;
    char message[256];
    uint64_t joins, tickets, saves, begun, crashes, structures, numbers, pauses, wakes;
    uint64_t real_switches, hud_starts, settled_checks;
    uint64_t admitted, bans, sign_outs, made, refused[REFUSED_COUNT];
    uint64_t reload_counts[HOST_RELOAD_RESULT_COUNT];
    uint64_t led, ended, outages, fences; // with peers
    uint64_t adds, adds_refused, adds_unknown;
    PgSimCounts postgres;
} HostsResult;
HostsResult hosts_run(uint64_t seed, bool on_postgres, bool verbose);

void hosts_kill(Hosts *hosts, SimHost *host);
uint64_t hosts_clock_ns(const Hosts *hosts); // what clock_ns is on a machine
void hosts_fail(Hosts *hosts, const char *format, ...) __attribute__((format(printf, 2, 3)));

// --- peers.c ------------------------------------------------------------------------------------
void peers_outside(HostOutside *outside);
void peers_step(Hosts *hosts);    // letters that are due
void peers_trouble(Hosts *hosts); // cuts, and a database that is away
void peers_calm(Hosts *hosts);    // what must hold once nothing else goes wrong
void peers_check(Hosts *hosts);
SimHost *peers_find(Hosts *hosts, const char *address); // NULL: dead

// --- people.c -----------------------------------------------------------------------------------
void people_entropy(Rng *rng);  // random numbers of everybody
void people_open(Hosts *hosts); // once, with the database
void people_begin(
    Hosts *hosts);             // with each life of the host: the control plane reads what is stored
void people_end(Hosts *hosts); // the control plane dies
void people_close(Hosts *hosts);
void people_outside(HostOutside *outside);
void people_step(Hosts *hosts); // only while the host is awake
void people_check(Hosts *hosts);
void people_joined(Hosts *hosts, const SimJoin *join, const HostJoinAnswer *answer);
// A world let somebody in, or heard an order about them.
void people_admitted(StubProcess *process, const Entry *entry);
void people_ordered(StubProcess *process, const Entry *entry);
// The sessions of a real world, at most SESSIONS_MAX.
uint32_t real_sessions(const StubProcess *process, StubSession *out);
Person *people_find(Hosts *hosts, uint64_t account); // NULL: none
const Pass *people_pass(const Hosts *hosts, uint64_t number);

// --- stub_world.c -------------------------------------------------------------------------------
StubProcess *stub_start(Hosts *hosts, uint32_t host, HostWorld *world);
void stub_step(StubProcess *process);
void stub_die(StubProcess *process, int code);
void stub_free_queues(StubProcess *process);
// For real worlds: to the host, false when there is no room; from it, false when there is nothing.
bool stub_report(StubProcess *process, const ChannelReport *report);
uint32_t stub_report_room(const StubProcess *process);
bool stub_hear(StubProcess *process, StubMessage *out); // its bytes are to be freed

// --- sets.c -------------------------------------------------------------------------------------
HostPlace *set_place(Hosts *hosts); // with a new set of scripts; the caller's; also of real worlds
void set_begin(StubProcess *process, const Entry *entry);
void set_manifest(StubProcess *process);
void set_entry(StubProcess *process, const Entry *entry);
void set_step(StubProcess *process);
bool set_fails(uint32_t set);
// For real worlds too: what a life begins with, a manifest has come, it has switched, each step.
void set_begins_with(StubProcess *process, uint32_t set);
void set_new_version(StubProcess *process, uint64_t version);
void set_switched(StubProcess *process, uint32_t set, uint64_t version);
void set_watch(StubProcess *process);
void set_reload_something(SimHost *host);
void set_reloaded(void *user, uint64_t tag, const HostWorld *world, HostReloadResult result,
                  uint32_t version, const char *reason);
void set_check(Hosts *hosts); // when all is calm

// --- real_world.c -------------------------------------------------------------------------------
RealPlace *real_place_create(void);
void real_place_destroy(RealPlace *place);
HostPlace *real_place_host(RealPlace *place, uint32_t set); // a new one; the caller's
void real_begin(StubProcess *process, const HostBeginning *beginning, const WorldConfig *numbers);
void real_step(StubProcess *process);
void real_free(StubProcess *process);
// How long it has been waiting for the answer to a save.
uint64_t real_waits_us(const StubProcess *process);
