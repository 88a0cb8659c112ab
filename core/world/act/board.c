// The board: numbers that scripts keep for players (leaderstats), and their teams. Changes are sent
// to everybody, and a player who comes in gets all of them. Several changes between two snapshots
// are sent as one.
#include "core/world/act/act_inside.h"

#define STATS_PER_SNAPSHOT 128  // sent at a time; the rest follows with the next snapshots
#define STAT_MAX           1e30 // of PLAYER_STAT
#define NOBODY             UINT64_MAX

// What was last sent to everybody about the player of a session. Names of numbers never change.
typedef struct BoardRow {
    uint64_t player; // whom the row is about; NOBODY: unused
    uint64_t version;
    uint64_t team_hash;
    uint32_t stat_count;
    double values[ROSTER_STATS_MAX];
} BoardRow;

struct Board {
    uint64_t version; // of the roster, when everything was sent
    BoardRow rows[];  // by session
};

Status board_create(Acts *acts)
{
    const uint32_t count = acts->config.sessions->count;
    acts->board = heap_alloc(acts->config.heap, sizeof(struct Board) + count * sizeof(BoardRow));
    if (acts->board == NULL) {
        return STATUS_LIMIT;
    }
    acts->board->version = NOBODY;
    for (uint32_t i = 0; i < count; i++) {
        acts->board->rows[i] = (BoardRow){.player = NOBODY};
    }
    return STATUS_OK;
}

void board_destroy(Acts *acts)
{
    if (acts->board != NULL) {
        heap_free(acts->config.heap, acts->board);
    }
}

static MessagePlayerStat stat_event(const RosterPlayer *player, const RosterStat *stat)
{
    const double value = stat->value < -STAT_MAX  ? -STAT_MAX
                         : stat->value > STAT_MAX ? STAT_MAX
                                                  : stat->value;
    return (MessagePlayerStat){.player = player->player_id,
                               .name = {stat->name.data, stat->name.bytes},
                               .value = (float)value};
}

void board_send(Acts *acts, const Session *about, const Session *to)
{
    const RosterPlayer *player =
        roster_find(authority_roster(acts->config.authority), about->player);
    for (uint32_t i = 0; player != NULL && i < player->stat_count; i++) {
        const MessagePlayerStat event = stat_event(player, &player->stats[i]);
        if (event_send(acts->config.sessions, to, MESSAGE_PLAYER_STAT, &event, NULL) != STATUS_OK) {
            log_write(acts->config.log, acts->config.clock->tick, LOG_WARN, "world",
                      "player %llu was not sent a number of player %llu",
                      (unsigned long long)to->player, (unsigned long long)about->player);
            return;
        }
    }
}

static uint64_t team_hash(Text team)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, team.data, team.bytes);
    return hash.state;
}

// The row of whom it is about now. PLAYER_JOINED begins it: a script may change the team before the
// first numbers are sent.
static BoardRow *row_of(Acts *acts, const Session *about)
{
    BoardRow *row = &acts->board->rows[session_number(acts->config.sessions, about)];
    if (row->player != about->player) {
        *row = (BoardRow){.player = about->player, .team_hash = team_hash((Text){"", 0})};
    }
    return row;
}

void board_team_sent(Acts *acts, const Session *about, Text team)
{
    row_of(acts, about)->team_hash = team_hash(team);
}

// False if not everything fits now.
static bool tell_changes(Acts *acts, const Session *session, const RosterPlayer *player,
                         uint32_t *room)
{
    BoardRow *row = row_of(acts, session);
    if (row->version == player->version) {
        return true;
    }
    if (row->team_hash != team_hash((Text){player->team.data, player->team.bytes})) {
        profile_announce(acts, session, NULL);
    }
    for (uint32_t i = 0; i < player->stat_count; i++) {
        if (i < row->stat_count && row->values[i] == player->stats[i].value) {
            continue;
        }
        if (*room == 0) {
            return false;
        }
        *room -= 1;
        const MessagePlayerStat event = stat_event(player, &player->stats[i]);
        event_broadcast(acts->config.sessions, MESSAGE_PLAYER_STAT, &event, NULL);
        row->values[i] = player->stats[i].value;
        row->stat_count = i < row->stat_count ? row->stat_count : i + 1;
    }
    row->version = player->version;
    return true;
}

void board_tick(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    const Roster *roster = authority_roster(acts->config.authority);
    if (acts->board->version == roster->version) {
        return;
    }
    uint32_t room = STATS_PER_SNAPSHOT;
    bool all = true;
    for (uint32_t i = 0; i < sessions->high && all; i++) {
        const Session *session = session_at(sessions, i);
        const RosterPlayer *player =
            session->player != 0 ? roster_find(roster, session->player) : NULL;
        all = player == NULL || tell_changes(acts, session, player, &room);
    }
    acts->board->version = all ? roster->version : NOBODY;
}
