// Players and where they are. All players who are in a world stand in one row (world_players),
// because they are checkpointed twice a second: their rows of bytes one after another, by account.
// A player who leaves gets a row of their own (player_checkpoints). Who was ever there is known by
// name (presence_players), which is written only when it changes.
//
// What was last written into the one row is kept in memory, so that a save need not read it first.
// Nobody else writes it in the same epoch: the fence has seen to that before.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>

// What the one row may hold: far more than the players of one world. Players whom a killed world
// left behind in it are given rows of their own when it is full.
#define PLAYERS_BYTES_MAX (2u << 20)

// More than this of one world is not kept in memory.
#define KEPT_BYTES_MAX (16u << 10)

void players_list_free(PlayerList *list)
{
    if (list->items != list->few) {
        free(list->items);
    }
}

static bool list_grow(PlayerList *list)
{
    if (list->count < list->max) {
        return true;
    }
    if (list->max == 0) {
        list->items = list->few;
        list->max = PLAYERS_FEW;
        return true;
    }
    PlayerRow *items = malloc((size_t)list->max * 4 * sizeof *items);
    if (items == NULL) {
        return false;
    }
    memcpy(items, list->items, list->count * sizeof *items);
    players_list_free(list);
    list->items = items;
    list->max *= 4;
    return true;
}

bool players_list_add(PlayerList *list, const Row *row, const uint8_t *bytes, size_t byte_count)
{
    ByteReader key = byte_reader(row->key, row->key_bytes);
    const uint64_t account = byte_read_u64(&key);
    if (!list_grow(list)) {
        return false;
    }
    list->is_unsorted =
        list->is_unsorted || (list->count > 0 && list->items[list->count - 1].account >= account);
    list->items[list->count] = (PlayerRow){.account = account,
                                           .bytes = bytes,
                                           .value = row->value,
                                           .byte_count = (uint32_t)byte_count,
                                           .value_bytes = row->value_bytes,
                                           .number = list->count};
    list->count += 1;
    return true;
}

static int compare_players(const void *a, const void *b)
{
    const PlayerRow *x = a, *y = b;
    if (x->account != y->account) {
        return x->account < y->account ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

// By account, the last one of each.
static void list_sort(PlayerList *list)
{
    if (!list->is_unsorted) {
        return;
    }
    const uint32_t count = list->count;
    qsort(list->items, count, sizeof *list->items, compare_players);
    list->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 == count || list->items[i + 1].account != list->items[i].account) {
            list->items[list->count++] = list->items[i];
        }
    }
    list->is_unsorted = false;
}

// The rows of players in those bytes. False: they are no rows, or there is no memory.
static bool list_players(const uint8_t *bytes, size_t byte_count, PlayerList *out)
{
    ByteReader reader = byte_reader(bytes, byte_count);
    while (byte_reader_left(&reader) > 0) {
        const size_t start = reader.at;
        Row row;
        if (row_read(&reader, &row) != STATUS_OK ||
            (row.type == ROW_PLAYER &&
             !players_list_add(out, &row, bytes + start, reader.at - start))) {
            return false;
        }
    }
    list_sort(out);
    return true;
}

// The row is the caller's: the player's texts are in it. False: it is deleted.
static bool read_player(const PlayerRow *from, Row *row, RowPlayer *out)
{
    ByteReader reader = byte_reader(from->bytes, from->byte_count);
    return row_read(&reader, row) == STATUS_OK && row_player(row, out) == STATUS_OK;
}

// --- players of their own rows ------------------------------------------------------------------

static void put_vec3(SqlRow *row, Vec3 v)
{
    sql_put_f32(row, v.x);
    sql_put_f32(row, v.y);
    sql_put_f32(row, v.z);
}

static void put_checkpoint(Sql *sql, const char *world_id, const RowPlayer *player)
{
    SqlRow row = sql_open(sql, SQL_CHECKPOINT_PUT, TABLE_CHECKPOINTS);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, player->account);
    sql_put_u64(&row, player->player);
    sql_put_u64(&row, player->entity);
    put_vec3(&row, player->position);
    put_vec3(&row, player->velocity);
    sql_put_f32(&row, player->yaw);
    sql_put_f32(&row, player->health);
    sql_put_bytes(&row, player->team.data, player->team.bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static void put_presence(Sql *sql, const char *world_id, uint64_t account, Text name,
                         bool is_present)
{
    SqlRow row = sql_open(sql, SQL_PRESENCE_PUT, TABLE_PRESENCE);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, account);
    sql_put_bytes(&row, name.data, name.bytes);
    sql_put_u64(&row, is_present);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// --- writing ------------------------------------------------------------------------------------

typedef struct Applying {
    Sql *sql;
    const char *world_id;
    KeptPlayers *kept;  // where what was written is kept; of any world
    uint8_t *old_bytes; // of the one row
    size_t old_byte_count;
    bool has_row; // there is one
    PlayerList old;
    PlayerList *given;
    uint8_t *bytes; // what it becomes
    size_t byte_count;
    bool is_full; // whoever was in it and was not given leaves it
} Applying;

// --- what is kept -------------------------------------------------------------------------------

static KeptPlayers *kept_at(Store *store, const char *world_id)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, world_id, strlen(world_id));
    KeptPlayers *empty = NULL;
    for (uint32_t i = 0; i < STORE_KEPT_NEAR; i++) {
        KeptPlayers *kept = &store->kept[(hash.state + i) % STORE_KEPT_MAX];
        if (kept->bytes != NULL && strcmp(kept->world_id, world_id) == 0) {
            return kept;
        }
        empty = empty == NULL && kept->bytes == NULL ? kept : empty;
    }
    return empty != NULL ? empty : &store->kept[hash.state % STORE_KEPT_MAX];
}

static bool is_kept(const KeptPlayers *kept, const char *world_id, uint64_t epoch)
{
    return kept->epoch == epoch && kept->bytes != NULL && strcmp(kept->world_id, world_id) == 0;
}

static void forget_players(KeptPlayers *kept)
{
    free(kept->bytes);
    *kept = (KeptPlayers){0};
}

void players_forget(Store *store)
{
    for (uint32_t i = 0; i < STORE_KEPT_MAX; i++) {
        forget_players(&store->kept[i]);
    }
}

// The bytes are the store's from now on.
static void keep_known(Applying *all, uint64_t epoch)
{
    forget_players(all->kept);
    if (all->byte_count <= KEPT_BYTES_MAX && all->sql->error == SQL_NO_ERROR) {
        *all->kept = (KeptPlayers){.epoch = epoch,
                                   .bytes = all->bytes,
                                   .byte_count = all->byte_count,
                                   .has_row = all->has_row};
        memcpy(all->kept->world_id, all->world_id, strlen(all->world_id) + 1);
        all->bytes = NULL;
    }
}

// What the one row holds. A damaged one is as good as none: those who are there come again.
static bool read_old(Applying *all, RowsFound *found)
{
    bool is_damaged = false, has_memory = true;
    SqlRow row = sql_open(all->sql, SQL_PLAYERS_READ, TABLE_NONE);
    sql_put_string(&row, all->world_id);
    all->has_row = sql_next(&row);
    if (all->has_row) {
        size_t bytes = 0;
        sql_take_table(&row, TABLE_PLAYERS);
        (void)sql_take_bytes(&row, STORE_ID_BYTES, &bytes);
        const uint8_t *stored = sql_take_bytes(&row, PLAYERS_BYTES_MAX, &bytes);
        is_damaged = !sql_take_checksum(&row);
        all->old_byte_count = is_damaged ? 0 : bytes;
        all->old_bytes = malloc(all->old_byte_count + 1);
        has_memory = all->old_bytes != NULL;
        if (has_memory) {
            memcpy(all->old_bytes, stored, all->old_byte_count);
        }
        sql_close(&row);
    }
    found->damaged += is_damaged;
    return has_memory;
}

static bool load_old(Applying *all, uint64_t epoch, RowsFound *found)
{
    if (is_kept(all->kept, all->world_id, epoch)) {
        all->has_row = all->kept->has_row;
        all->old_bytes = all->kept->bytes;
        all->old_byte_count = all->kept->byte_count;
        *all->kept = (KeptPlayers){0}; // until what follows is written
    } else if (!read_old(all, found)) {
        return false;
    }
    return list_players(all->old_bytes, all->old_byte_count, &all->old);
}

static void keep_player(Applying *all, const PlayerRow *player)
{
    memcpy(all->bytes + all->byte_count, player->bytes, player->byte_count);
    all->byte_count += player->byte_count;
}

// A player who was there and about whom nothing was given.
static void keep_old(Applying *all, const PlayerRow *old)
{
    Row row;
    RowPlayer player;
    if (!all->is_full) {
        keep_player(all, old);
    } else if (read_player(old, &row, &player)) {
        put_checkpoint(all->sql, all->world_id, &player);
    }
}

// `old` is NULL for one who was not there.
static void put_given(Applying *all, const PlayerRow *given, const PlayerRow *old)
{
    Row row;
    RowPlayer player;
    Text name, before;
    if (row_player_is_present(given->value, given->value_bytes, &name)) {
        keep_player(all, given);
        if (old == NULL) {
            sql_run_with_key(all->sql, SQL_CHECKPOINT_DELETE, all->world_id, given->account);
        }
        if (old == NULL || !row_player_is_present(old->value, old->value_bytes, &before) ||
            !text_equal(before, name)) {
            put_presence(all->sql, all->world_id, given->account, name, true);
        }
    } else if (read_player(given, &row, &player)) {
        put_checkpoint(all->sql, all->world_id, &player);
        put_presence(all->sql, all->world_id, player.account, player.name, false);
    } else {
        sql_run_with_key(all->sql, SQL_CHECKPOINT_DELETE, all->world_id, given->account);
        sql_run_with_key(all->sql, SQL_PRESENCE_DELETE, all->world_id, given->account);
    }
}

static void merge(Applying *all)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < all->given->count; i++) {
        const PlayerRow *given = &all->given->items[i];
        while (at < all->old.count && all->old.items[at].account < given->account) {
            keep_old(all, &all->old.items[at++]);
        }
        const bool was_there = at < all->old.count && all->old.items[at].account == given->account;
        put_given(all, given, was_there ? &all->old.items[at++] : NULL);
    }
    while (at < all->old.count) {
        keep_old(all, &all->old.items[at++]);
    }
}

static void put_players(const Applying *all)
{
    SqlRow row;
    if (all->has_row) { // costs less than to insert it
        Hash64 checksum = sql_checksum_begin(TABLE_PLAYERS);
        hash_bytes(&checksum, all->world_id, strlen(all->world_id));
        hash_bytes(&checksum, all->bytes, all->byte_count);
        row = sql_open(all->sql, SQL_PLAYERS_CHANGE, TABLE_NONE);
        sql_put_unhashed(&row, all->bytes, all->byte_count);
        sql_put_u64(&row, checksum.state);
        sql_put_string(&row, all->world_id);
    } else {
        row = sql_open(all->sql, SQL_PLAYERS_PUT, TABLE_PLAYERS);
        sql_put_string(&row, all->world_id);
        sql_put_bytes(&row, all->bytes, all->byte_count);
        sql_put_checksum(&row);
    }
    (void)sql_run(&row);
}

void players_apply(Store *store, Sql *sql, const Save *save, PlayerList *given)
{
    Applying all = {.sql = sql,
                    .world_id = save->world_id,
                    .kept = kept_at(store, save->world_id),
                    .given = given};
    list_sort(given);
    bool ok = load_old(&all, save->epoch, &store->found);
    if (ok) {
        const size_t most = save->row_bytes + all.old_byte_count;
        all.is_full = most > PLAYERS_BYTES_MAX;
        all.bytes = malloc(most + 1);
        ok = all.bytes != NULL;
    }
    if (ok) {
        merge(&all);
        // Who left or is deleted may never have been in it.
        if (all.byte_count > 0 || all.old.count > 0) {
            put_players(&all);
            all.has_row = true;
        }
        keep_known(&all, save->epoch);
    } else {
        sql_fail(sql, SQL_ERROR_DISK);
    }
    players_list_free(&all.old);
    free(all.old_bytes);
    free(all.bytes);
}

// --- reading ------------------------------------------------------------------------------------

static Vec3 take_vec3(SqlRow *row)
{
    Vec3 v;
    v.x = sql_take_f32(row);
    v.y = sql_take_f32(row);
    v.z = sql_take_f32(row);
    return v;
}

static Text take_name(SqlRow *row)
{
    size_t bytes = 0;
    const char *text = sql_take_text(row, 64, &bytes);
    return (Text){text, (uint32_t)bytes};
}

static void take_key(SqlRow *row, SqlTable table)
{
    size_t bytes = 0;
    sql_take_table(row, table);
    (void)sql_take_bytes(row, STORE_ID_BYTES, &bytes);
}

bool players_take_checkpoint(SqlRow *row, RowPlayer *player)
{
    take_key(row, TABLE_CHECKPOINTS);
    player->account = sql_take_u64(row);
    player->player = sql_take_u64(row);
    player->entity = sql_take_u64(row);
    player->position = take_vec3(row);
    player->velocity = take_vec3(row);
    player->yaw = sql_take_f32(row);
    player->health = sql_take_f32(row);
    player->team = take_name(row);
    const bool ok = sql_take_checksum(row);
    // Without its presence beside it, a checkpoint is damaged too.
    take_key(row, TABLE_PRESENCE);
    (void)sql_take_u64(row);
    player->name = take_name(row);
    player->present = sql_take_u64(row) == 1;
    return sql_take_checksum(row) && ok;
}

bool players_take_all(SqlRow *row, const uint8_t **rows, size_t *bytes)
{
    take_key(row, TABLE_PLAYERS);
    *rows = sql_take_bytes(row, PLAYERS_BYTES_MAX, bytes);
    return sql_take_checksum(row);
}
