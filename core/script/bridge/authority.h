// The room core/script/bridge: the two worlds that scripts can have behind script_world.h, the
// server's (authority) and a client's (view), and what both use: names, attributes and tags
// (attribute_table), players (roster), what leaves the world (effect), reading a sim (world_read),
// and the format of stored data (store_answer). It always holds that a view changes nothing that is
// replicated, and that what is private never gets from an authority into a view.
//
// The server's side of script_world.h: scripts over a real Sim, where everything may change.
//
// It owns what a Sim does not know: names, attributes, tags, players, and what scripts want to
// happen outside (authority_effects). Its place in a tick:
//
//   inputs       players join, leave, speak: authority_player_…
//   scripts      script_tick; the scripts change the sim through this
//   sim          sim_step
//   events       authority_feed: what happened goes to the scripts of the next tick
//
// Setters take effect at once and read back. A destroyed entity can still be read and written until
// the script phase in which it was destroyed is over; for every later phase it is gone. What the
// sim itself marks for removal (a structure shot to pieces) is gone for scripts at once, and so is
// what has left the sim.
//
// Writing the pose, data or motion of an anchored part thaws it first; reading one, painting it, or
// keeping attributes and tags with it, does not. What differs from the place's own looks is kept in
// the record (attribute_table.h).
//
// What a script makes belongs to it (ScriptWorld.caller): it counts against what one script may
// have at a time (SCRIPT_…_MAX in limits.h), and the sim charges its work to it (core/sim/work.h).
// What a call costs here beyond looking things up is added to the sim's work, for which the API
// charges.
//
// All memory is one heap block taken at create; caps are STATUS_LIMIT and counted.
#pragma once

#include "core/base/heap.h"
#include "core/place/place.h"
#include "core/place/prefab.h"
#include "core/script/bridge/attribute_table.h"
#include "core/script/bridge/effect.h"
#include "core/script/bridge/roster.h"
#include "core/script/bridge/sound_table.h"
#include "core/script/runtime/script.h"
#include "core/sim/voxel_watch.h"

typedef struct Authority Authority;

typedef struct AuthorityConfig {
    Sim *sim;                 // kept
    PrefabTable prefabs;      // kept
    const Text *scene_names;  // by scene index, "" for none; NULL: no part has a name; kept
    const PlaceSpawn *spawns; // kept; NULL: the origin
    uint32_t spawn_count;
    const Text *voxel_kind_names; // of kind 1 and up; NULL: they have no names; kept
    PlacePaints paints;           // kept
    AssetNames assets;            // kept
    AttributeTableConfig attributes;
    uint32_t player_max;
    uint32_t effect_max;
    size_t effect_bytes_max; // texts and payloads of all effects of a tick
    uint32_t event_max;      // waiting for the scripts
    size_t event_bytes_max;
    uint32_t bind_max; // spawned in one tick with a script of their own
} AuthorityConfig;

AuthorityConfig authority_config_default(void);
MUST_USE Status authority_create(Heap *heap, const AuthorityConfig *config, Authority **out);
void authority_destroy(Heap *heap, Authority *authority);

ScriptWorld *authority_world(Authority *authority);
Sim *authority_sim(Authority *authority);
const AttributeTable *
authority_attributes(const Authority *authority);           // changed records have newer versions
const Roster *authority_roster(const Authority *authority); // the same for players

// --- players ------------------------------------------------------------------------------------
// STATUS_EXISTS, STATUS_LIMIT, and as roster_add. It has no character yet.
MUST_USE Status authority_player_join(Authority *authority, uint64_t player_id, Text name);
// Scripts get the event in the next script phase, in which player and character still exist; both
// are removed after it.
MUST_USE Status authority_player_leave(Authority *authority, uint64_t player_id);
// A living body: a new one, or the existing one, revived at that place.
MUST_USE Status authority_player_spawn(Authority *authority, uint64_t player_id, Vec3 position);
// Where a player starts if no place is given.
Vec3 authority_spawn_point(const Authority *authority, uint64_t player_id);
// In place of those of the config: kept. Each keeps its number, also one that is gone.
void authority_set_spawns(Authority *authority, const PlaceSpawn *spawns, uint32_t count);
// STATUS_RANGE for an empty or too long text.
MUST_USE Status authority_player_chat(Authority *authority, uint64_t player_id, Text text);

// By how many ticks what a player saw was behind when it sent its last inputs. Hits of projectiles
// that scripts fire for it are tested that far back; without this, in the present.
typedef uint32_t (*AuthorityRewind)(void *user, uint64_t player_id);
void authority_set_rewind(Authority *authority, AuthorityRewind rewind, void *user);

// --- what the owner spawned itself ---------------------------------------------------------------
// Once; STATUS_NOT_FOUND, and as attribute_table_set_name.
MUST_USE Status authority_set_name(Authority *authority, uint64_t net_id, Text name);
// Spawns what a prefab without a script describes, which may be none of the place's and have no
// name. It is not kept.
MUST_USE Status authority_spawn_own(Authority *authority, const Prefab *prefab, Vec3 position,
                                    uint64_t *out);

// Whether a script may have asked for entities of a name or with a tag since the world began: then
// it may rely on what it found. Yes too often, never no too often.
typedef enum AuthorityAsked { AUTHORITY_ASKED_NAME, AUTHORITY_ASKED_TAG } AuthorityAsked;
#define AUTHORITY_ASKED_BITS 4096
bool authority_was_asked(const Authority *authority, AuthorityAsked what, Text text);

// How something looks now; paint_default for what is not there.
Paint authority_paint(const Authority *authority, uint64_t net_id);
// Is told how an anchored part looks whenever scripts or stored rows paint it.
typedef void (*AuthorityPainted)(void *user, uint64_t net_id, const Paint *paint);
void authority_set_painted(Authority *authority, AuthorityPainted painted, void *user);

// --- the sky ------------------------------------------------------------------------------------
// As scripts set it last; another version whenever it was set, 0 if never.
const Sky *authority_sky(const Authority *authority, uint64_t *version);

// --- what scripts want --------------------------------------------------------------------------
// Since the last clear, oldest first.
const Effect *authority_effects(const Authority *authority, uint32_t *count);
void authority_effects_clear(Authority *authority);
// Sounds that go on. The step, once a tick, moves each to where its entity is, and ends those whose
// entity is gone.
void authority_sounds_step(Authority *authority);
const SoundTable *authority_sounds(const Authority *authority);

// --- what scripts must know ---------------------------------------------------------------------
// Translates what the sim emitted since the last call (an event once, however often it is called),
// forgets what is gone, and lets players go who left. What the owner itself makes the sim emit
// between two steps is seen if this is called before the next one begins.
void authority_collect(Authority *authority);
// What players did through the owner; scripts' own changes are reported by the API.
void authority_structure_placed(Authority *authority, uint64_t net_id, uint64_t player_id);
void authority_voxel_changed(Authority *authority, const VoxelChange *change, uint64_t player_id);
void authority_voxels_changed(Authority *authority, VoxelCoord min, VoxelCoord max, VoxelKind kind,
                              uint64_t player_id);
// The events waiting for the scripts, oldest first; bytes are valid until they are taken.
const ScriptEvent *authority_events(const Authority *authority, uint32_t *count);
void authority_events_take(Authority *authority, uint32_t count);
// An entity that was spawned with a script that still has to be bound.
typedef struct AuthorityBind {
    uint64_t net_id;
    const Prefab *prefab;
} AuthorityBind;
const AuthorityBind *authority_binds(const Authority *authority, uint32_t *count);
void authority_binds_clear(Authority *authority);

// Passes everything to a ScriptSystem: charges for the last step, collects, binds scripts, hands
// over events. What the system has no room for waits here. Call it after sim_step, and again before
// script_tick if players came or left.
void authority_feed(Authority *authority, ScriptSystem *system);

typedef struct AuthorityCounters {
    uint64_t events_dropped;
    uint64_t binds_dropped; // too many at once
    uint64_t binds_failed;  // rejected by the script system
    uint64_t effects_dropped;
    uint64_t records_refused; // attributes, tags and names over a limit
    uint64_t thawed_count;
} AuthorityCounters;
AuthorityCounters authority_counters(const Authority *authority);
