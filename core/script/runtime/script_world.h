// The only interface from scripts to a world. API functions call through this table; it has two
// implementations: authority (the server's sim, where everything may change) and view (a client's,
// where nothing replicated may). A function that the side does not allow returns STATUS_DENIED, and
// the API decides whether that is an error (server services on a client) or is ignored, counted and
// logged once (a client that writes replicated state in a script for both sides).
// Entities are identified by net id. A Text that is kept or sent must be valid (text.h), or the
// call returns STATUS_MALFORMED; one that is only searched for may be any bytes. No pointer is kept
// after a call returns.
#pragma once

#include "core/base/math.h"
#include "core/base/status.h"
#include "core/base/text.h"
#include "core/script/runtime/store_request.h"
#include "core/sim/sim.h"
#include "core/wire/asset_names.h"
#include "core/wire/attribute.h"
#include "core/wire/sky.h"
#include "core/wire/visual.h"

typedef enum ScriptSide { SCRIPT_SERVER, SCRIPT_CLIENT } ScriptSide;

typedef struct ScriptEntityInfo {
    uint64_t net_id;
    uint64_t owner_id;
    EntityType type;
    Vec3 position;
    Vec3 velocity;
    Quat rotation;
    Vec3 size;
    float health;
    Text team;     // of a spawn point (type ENTITY_NONE), "" for everybody
    bool is_local; // made by SpawnLocal on this client
    bool is_anchored;
} ScriptEntityInfo;

typedef struct ScriptPlayerInfo {
    uint64_t player_id; // the owner id of its things
    uint64_t entity;    // its character, 0 while it has none
    Text name;
    Text team;
} ScriptPlayerInfo;

typedef struct ScriptRayHit {
    float distance;
    Vec3 point, normal;
    uint64_t entity; // 0: terrain
    VoxelCoord voxel;
    VoxelKind kind;
} ScriptRayHit;

// What a ray goes through.
typedef struct ScriptIgnored {
    const uint64_t *net_ids;
    uint32_t count;
} ScriptIgnored;

// Where a message goes. On the server: one player, or all (player 0). On the client: the server.
typedef struct ScriptMessage {
    uint64_t player_id;
    Text name;
    const uint8_t *payload; // value.h
    size_t payload_bytes;
    bool reliable;
    // 0: an event. On the client, a call that wants an answer by script_complete. On the server,
    // that answer, to the player who asked: "answer" with values, or "refusal" with the text of an
    // error.
    uint64_t invoke_id;
} ScriptMessage;

// What a script wants of sounds. A loop is state: it runs until it is stopped, or until what
// started it ends. Music is one loop for everybody.
typedef enum ScriptSoundAct {
    SCRIPT_SOUND_PLAY,
    SCRIPT_SOUND_CHANGE, // the volume and pitch of `id`
    SCRIPT_SOUND_STOP,   // `id`
    SCRIPT_SOUND_MUSIC,  // without a name: none any more
    SCRIPT_SOUND_FORGET, // the loops and the music of `owner`
} ScriptSoundAct;

typedef struct ScriptSound {
    ScriptSoundAct act;
    bool is_own;        // on a client: of a script there, not of the server
    bool loop;          // CHANGE and STOP: whether it is one
    uint32_t id;        // PLAY gives it
    uint64_t owner;     // the number of the script's instance
    Text name, caption; // of an asset; empty: none
    uint64_t player_id; // who hears it; 0: everybody
    uint64_t entity;    // what it comes from, if it is in sight; 0: nothing
    bool has_position;  // false: from everywhere
    Vec3 position;
    float volume, pitch, fade_seconds;
    uint64_t since_tick; // MUSIC: when it began
} ScriptSound;

// A projectile to be fired. What is NULL is as its prefab has it, or 0 without one.
typedef struct ScriptShot {
    Text prefab;      // empty: none
    uint64_t shooter; // 0: the body of the player whose remote is handled, or nobody
    Vec3 velocity;
    const Vec3 *position; // NULL: the eye of the shooter
    const float *damage, *gravity;
    const uint32_t *kind;
} ScriptShot;

// Where this client's player looks from, as scripts want it.
typedef enum CameraMode {
    CAMERA_OWN, // as the player has chosen
    CAMERA_FIRST,
    CAMERA_THIRD,
    CAMERA_TOP,
    CAMERA_FIXED
} CameraMode;

typedef struct ScriptCamera {
    CameraMode mode;
    bool is_moved; // fixed at that place; otherwise where it was when it became fixed
    bool has_target;
    Vec3 position, target; // where it is, what it looks at
    float seconds;         // in which it glides there; 0: it is there at once
    float field_of_view;   // degrees, upright
} ScriptCamera;

typedef struct ScriptWorld ScriptWorld;

typedef struct ScriptWorldMethods {
    ScriptSide side;
    // --- reading -----------------------------------------------------------------------------
    uint64_t (*tick)(ScriptWorld *world);
    // The work done so far on behalf of callers, in steps of the Vm (vm.h): it rises with each call
    // below whose work depends on the world. Scripts are charged for it.
    uint64_t (*work)(ScriptWorld *world);
    bool (*entity)(ScriptWorld *world, uint64_t net_id, ScriptEntityInfo *out);
    uint64_t (*find)(ScriptWorld *world, Text name); // the lowest net id of that name; 0: none
    uint32_t (*find_all)(ScriptWorld *world, Text name, uint64_t *out, uint32_t max);
    Text (*name)(ScriptWorld *world, uint64_t net_id);
    bool (*prefab)(ScriptWorld *world, uint32_t index, Text *name); // false past the last
    uint32_t (*in_radius)(ScriptWorld *world, Vec3 centre, float radius, uint32_t type_mask,
                          uint64_t *out, uint32_t max);
    uint32_t (*in_box)(ScriptWorld *world, Aabb box, uint32_t type_mask, uint64_t *out,
                       uint32_t max);
    bool (*ray)(ScriptWorld *world, Vec3 origin, Vec3 direction, float distance,
                ScriptIgnored ignored, ScriptRayHit *out);
    VoxelKind (*voxel)(ScriptWorld *world, VoxelCoord at);
    uint32_t (*players)(ScriptWorld *world, ScriptPlayerInfo *out, uint32_t max);
    bool (*attribute)(ScriptWorld *world, uint64_t net_id, Text name, ScriptValue *out);
    bool (*has_tag)(ScriptWorld *world, uint64_t net_id, Text tag);
    uint32_t (*tagged)(ScriptWorld *world, Text tag, uint64_t *out, uint32_t max);
    // The next tag of an entity; start with *index 0. False after the last.
    bool (*tag_next)(ScriptWorld *world, uint64_t net_id, uint32_t *index, Text *tag);
    // The number of voxel kinds of the place, including air; `names` are those of kind 1 and up, or
    // NULL if they are unknown.
    uint32_t (*voxel_kinds)(ScriptWorld *world, const Text **names);
    // How something looks; false: it is not there, or cannot be seen (a spawn point).
    bool (*paint)(ScriptWorld *world, uint64_t net_id, Paint *out);
    AssetNames (*assets)(ScriptWorld *world);
    // --- changing ----------------------------------------------------------------------------
    Status (*spawn)(ScriptWorld *world, Text prefab, Vec3 position, bool local, uint64_t *out);
    // For the player whose remote is handled (ScriptWorld.actor), which exists: at its eye, owned
    // by it; a projectile is fired by it.
    Status (*spawn_for_actor)(ScriptWorld *world, Text prefab, uint64_t *out);
    Status (*destroy)(ScriptWorld *world, uint64_t net_id);
    Status (*set_position)(ScriptWorld *world, uint64_t net_id, Vec3 position);
    Status (*set_velocity)(ScriptWorld *world, uint64_t net_id, Vec3 velocity);
    Status (*set_rotation)(ScriptWorld *world, uint64_t net_id, Quat rotation);
    Status (*set_part_data)(ScriptWorld *world, uint64_t net_id, const PartData *data);
    Status (*part_data)(ScriptWorld *world, uint64_t net_id, PartData *out);
    Status (*move_to)(ScriptWorld *world, uint64_t net_id, Pose pose, float seconds);
    Status (*set_attribute)(ScriptWorld *world, uint64_t net_id, Text name,
                            const ScriptValue *value, uint32_t flags);
    Status (*set_tag)(ScriptWorld *world, uint64_t net_id, Text tag, bool on);
    // The members of the mask (1 << PaintMember). On a client they hide the server's until the
    // server changes that member.
    Status (*set_paint)(ScriptWorld *world, uint64_t net_id, const Paint *paint, uint32_t members);
    Status (*set_voxel)(ScriptWorld *world, VoxelCoord at, VoxelKind kind);
    Status (*fill_box)(ScriptWorld *world, VoxelCoord min, VoxelCoord max, VoxelKind kind);
    Status (*fill_sphere)(ScriptWorld *world, Vec3 centre, float radius, VoxelKind kind);
    Status (*damage)(ScriptWorld *world, uint64_t net_id, float amount, uint64_t cause);
    // NULL: at a spawn of the scene.
    Status (*player_spawn)(ScriptWorld *world, uint64_t player_id, const Vec3 *position);
    // Where that goes from now on; NULL: to a spawn of the scene again.
    Status (*player_set_spawn)(ScriptWorld *world, uint64_t player_id, const Vec3 *position);
    Status (*player_kick)(ScriptWorld *world, uint64_t player_id, Text reason);
    Status (*player_team)(ScriptWorld *world, uint64_t player_id, Text team);
    Status (*player_stat)(ScriptWorld *world, uint64_t player_id, Text name, double value);
    bool (*player_stat_read)(ScriptWorld *world, uint64_t player_id, Text name, double *out);
    // The numbers in the order in which they came; false past the last.
    bool (*player_stat_at)(ScriptWorld *world, uint64_t player_id, uint32_t index, Text *name,
                           double *out);
    // STATUS_NOT_FOUND: the shooter is gone; STATUS_UNSUPPORTED: there is no such prefab of a
    // projectile; STATUS_BLOCKED: neither a position nor a shooter with an eye.
    Status (*fire)(ScriptWorld *world, const ScriptShot *shot, uint64_t *out);
    Status (*npc_move_to)(ScriptWorld *world, uint64_t net_id, Vec3 position);
    Status (*npc_target)(ScriptWorld *world, uint64_t net_id, uint64_t target);
    Status (*npc_patrol)(ScriptWorld *world, uint64_t net_id, const Vec3 *points, uint32_t count);
    Status (*npc_spawn)(ScriptWorld *world, Vec3 position, uint64_t *out);
    Status (*npc_state)(ScriptWorld *world, uint64_t net_id, uint32_t *state, float *suspicion);
    Status (*structure_place)(ScriptWorld *world, uint32_t piece, VoxelCoord cell, uint32_t turn,
                              uint64_t owner_id, uint64_t *out);
    Status (*structure_remove)(ScriptWorld *world, uint64_t net_id);
    Status (*set_sky)(ScriptWorld *world, const Sky *sky);
    // --- client only -------------------------------------------------------------------------
    bool (*key_is_down)(ScriptWorld *world, Text key_or_action);
    bool (*camera)(ScriptWorld *world, Vec3 *position, Vec3 *forward);
    uint64_t (*local_player)(ScriptWorld *world);
    // What scripts want of the camera now; and what the instance with that number wants of it.
    ScriptCamera (*camera_wanted)(ScriptWorld *world);
    Status (*set_camera)(ScriptWorld *world, uint64_t owner, const ScriptCamera *camera);
    // The instance with that number has ended: camera, trails, lights and emitters of a client's
    // own that it set are as if it had not.
    void (*forget)(ScriptWorld *world, uint64_t owner);
    // A tree (value.h) of the instance with that number; entity 0: on the screen. 0 bytes: nothing
    // is shown there any more.
    Status (*show)(ScriptWorld *world, uint64_t owner, uint64_t entity, const uint8_t *tree,
                   size_t bytes);
    // --- both --------------------------------------------------------------------------------
    Sky (*sky)(ScriptWorld *world);
    uint32_t (*tick_rate)(ScriptWorld *world);
    // A burst or a beam, for one player or all (0); on a client also a shake.
    Status (*moment)(ScriptWorld *world, const Moment *moment, uint64_t player_id);
    // NULL: none any more. On a client for this client alone, until the instance ends.
    Status (*set_visual)(ScriptWorld *world, uint64_t owner, uint64_t net_id, VisualKind kind,
                         const Visual *visual);
    // `id` is filled in by PLAY. STATUS_NOT_FOUND: the player or the entity is not there; it is no
    // error if what CHANGE, STOP or FORGET name has ended.
    Status (*sound)(ScriptWorld *world, ScriptSound *sound);
    Status (*chat)(ScriptWorld *world, Text text, uint64_t player_id);
    Status (*send)(ScriptWorld *world, const ScriptMessage *message);
    Status (*store)(ScriptWorld *world, const StoreRequest *request);
} ScriptWorldMethods;

// Every implementation begins with this.
struct ScriptWorld {
    const ScriptWorldMethods *methods;
    uint32_t caller;     // slot of the running script, 0: none; what it makes is charged to it
    uint64_t actor;      // the player whose remote it handles, 0: none; see spawn_for_actor
    const char *refusal; // why the last call was STATUS_LIMIT; NULL: not set
    char refusal_text[160];
};
