// The room of actions: what players may ask a world to do. One file per feature.
//
//   act_voxel.c    digging and filling, and chunks for clients      act_chat.c     chat
//   act_build.c    structures and previews                          act_fire.c     shooting
//   act_profile.c  characters of an account                         act.c          respawn
//   act_patch.c    changed parts of the scene, for clients           act_report.c   reports to the
//                                                                                   operators
//   board.c        leaderstats and teams, told when they change
//   sky.c          the sky, told when it changes and to who comes in
//
// What always holds: every request is checked here for reach, permission, rate and range, whatever
// the client already checked, and is answered with exactly one ack or one error.
#pragma once

#include "core/place/place.h"
#include "core/world/save/save.h"

typedef struct Acts Acts;

typedef struct ActConfig {
    Heap *heap; // all pointers are kept
    Sessions *sessions;
    Saves *saves;
    const Place *place;
    Sim *sim;
    Authority *authority;
    Replicator *replicator;
    const WorldClock *clock;
    WorldStats *stats;
    LogSink *log;
} ActConfig;

MUST_USE Status act_create(const ActConfig *config, Acts **out);
void act_destroy(Acts *acts); // NULL is allowed
void act_start(Acts *acts);   // before the first tick: stored terrain does not count as a change
void act_hash(const Acts *acts, Hash64 *hash);

// --- the tick -----------------------------------------------------------------------------------
void act_step(Acts *acts);       // ends the bodies of players who gave them up; after sim_step
void voxel_tick(Acts *acts);     // sends chunk versions to sessions that came near, after sim_step
void patch_tick(Acts *acts);     // names changed cells to sessions that came near, and answers them
void patch_snapshot(Acts *acts); // after a capture: sends what changed in parts of the scene
void preview_tick(Acts *acts);   // ends previews whose time is over
void board_tick(Acts *acts);     // sends leaderstats and teams that changed; before a snapshot
void sky_tick(Acts *acts);       // the same for the sky
// The fire button in this tick's input: a projectile if the weapon is ready.
void act_fire(Acts *acts, Session *session, const WireInputFrame *input);

// --- sessions -----------------------------------------------------------------------------------
// The connection of a session is gone, or the session is about to be freed: its previews end, its
// requests are dropped. Calling it twice is harmless. `session->player` must still be set.
void act_forget(Acts *acts, Session *session);
// The characters of the session's account, or a default one with the session's name; repaired.
// Called when a player comes in, before its body.
void profile_open(Acts *acts, const Session *session);
const RowProfiles *profile_of(const Acts *acts, const Session *session); // since profile_open
// Sends PLAYER_JOINED with the looks of the active profile: to everybody, or to one session.
void profile_announce(Acts *acts, const Session *about, const Session *to);

// --- act_chat.c: who may say what, and who hears it
// ------------------------------------------------ What the owner has decided, as orders (world.h).
// The lists take the place of those before.
MUST_USE Status chat_set_world_rule(Acts *acts, uint64_t rule);
MUST_USE Status chat_set_rule(Session *session, uint64_t rule);
MUST_USE Status chat_set_phrases(Acts *acts, const void *lines, size_t bytes);
MUST_USE Status chat_set_words(Acts *acts, const void *lines, size_t bytes);
MUST_USE Status chat_set_blocks(Acts *acts, Session *session, const uint64_t *accounts,
                                uint32_t count);
// Does the text have a word of the operator's list?
bool chat_has_word(const Acts *acts, Text text);
void chat_take_over(Acts *acts, const Session *from, Session *to); // as life_take_over
// A line of evidence for the owner.
void chat_note(Acts *acts, const Session *session, HeardKind kind, Text text);

// --- what a player may ask ----------------------------------------------------------------------
void act_terraform(Acts *acts, Session *session, uint32_t seq, const MessageTerraform *command);
void act_build_place(Acts *acts, Session *session, uint32_t seq, const MessageBuildPlace *command);
void act_build_remove(Acts *acts, Session *session, uint32_t seq,
                      const MessageBuildRemove *command);
void act_build_preview(Acts *acts, Session *session, uint32_t seq,
                       const MessageBuildPreview *command);
void act_chunk_request(Acts *acts, Session *session, uint32_t seq,
                       const MessageChunkRequest *command);
void act_patch_request(Acts *acts, Session *session, uint32_t seq,
                       const MessagePatchRequest *command);
void act_profile_list(Acts *acts, Session *session, uint32_t seq);
void act_profile_select(Acts *acts, Session *session, uint32_t seq,
                        const MessageProfileSelect *command);
void act_profile_save(Acts *acts, Session *session, uint32_t seq,
                      const MessageProfileSave *command);
void act_profile_delete(Acts *acts, Session *session, uint32_t seq,
                        const MessageProfileDelete *command);
void act_chat(Acts *acts, Session *session, uint32_t seq, const MessageChatSay *command);
void act_report(Acts *acts, Session *session, uint32_t seq, const MessageReport *command);
void act_respawn(Acts *acts, Session *session, uint32_t seq);
