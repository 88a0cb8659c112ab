// Shots of scripts. The player whose remote a script handles is the shooter unless the script names
// another: the shot begins at the shooter's eye, belongs to its player, never hits the shooter, and
// its hits are tested where the player saw the others when it sent its last inputs.
#include "core/script/bridge/authority_inside.h"

#define FIRE_RADIUS_M   0.05f
#define FIRE_LIFETIME_S 10

typedef struct Shooter {
    uint64_t player_id; // whose the shot is; 0: the server
    Handle handle;
    const Entity *body; // NULL: there is none, or it is an anchored part
} Shooter;

static Shooter shooter_actor(const Authority *authority)
{
    const RosterPlayer *player = roster_find(&authority->roster, authority->world.actor);
    Shooter shooter = {.player_id = player != NULL ? player->player_id : 0}; // 0: it has left
    WorldThing thing;
    if (player != NULL && authority_find(authority, player->entity, &thing)) {
        shooter.handle = thing.handle;
        shooter.body = thing.entity;
    }
    return shooter;
}

static bool shooter_find(const Authority *authority, uint64_t net_id, Shooter *out)
{
    WorldThing thing;
    if (!authority_find(authority, net_id, &thing)) {
        return false;
    }
    *out = (Shooter){.player_id = thing.entity != NULL ? thing.entity->owner_id : 0,
                     .handle = thing.handle,
                     .body = thing.entity};
    return true;
}

static bool has_eye(const Shooter *shooter)
{
    return shooter->body != NULL && entity_is_character(shooter->body);
}

static uint32_t rewind_of(const Authority *authority, const Shooter *shooter)
{
    const bool is_player = shooter->body != NULL && shooter->body->type == ENTITY_PLAYER;
    return is_player && authority->rewind != NULL
               ? authority->rewind(authority->rewind_user, shooter->player_id)
               : 0;
}

static void fire_from(const Authority *authority, const Shooter *shooter, ProjectileDesc *desc)
{
    desc->owner_id = shooter->player_id;
    desc->shooter = shooter->handle;
    desc->rewind_ticks = rewind_of(authority, shooter);
}

Status authority_spawn_for_actor(ScriptWorld *world, Text name, uint64_t *out)
{
    Authority *authority = (Authority *)world;
    const Prefab *prefab = prefab_find(&authority->config.prefabs, name);
    if (prefab == NULL) {
        return STATUS_NOT_FOUND;
    }
    const Shooter shooter = shooter_actor(authority);
    const Vec3 eye = has_eye(&shooter) ? sim_eye(authority->sim, shooter.body) : VEC3_ZERO;
    AuthorityThing thing = authority_thing(prefab, eye, shooter.player_id);
    if (thing.type == ENTITY_PROJECTILE) {
        fire_from(authority, &shooter, &thing.projectile);
    }
    return authority_make(authority, &thing, prefab, out);
}

static ProjectileDesc desc_plain(const Authority *authority)
{
    return (ProjectileDesc){.radius = FIRE_RADIUS_M,
                            .lifetime_ticks =
                                FIRE_LIFETIME_S * sim_config(authority->sim)->tick_rate};
}

Status authority_fire(ScriptWorld *world, const ScriptShot *shot, uint64_t *out)
{
    Authority *authority = (Authority *)world;
    Shooter shooter = {0};
    if (shot->shooter == 0 && world->actor != 0) {
        shooter = shooter_actor(authority);
    } else if (shot->shooter != 0 && !shooter_find(authority, shot->shooter, &shooter)) {
        return STATUS_NOT_FOUND;
    }
    const bool is_plain = shot->prefab.bytes == 0;
    const Prefab *prefab = is_plain ? NULL : prefab_find(&authority->config.prefabs, shot->prefab);
    if (!is_plain && (prefab == NULL || prefab->kind != PREFAB_PROJECTILE)) {
        return STATUS_UNSUPPORTED;
    }
    if (shot->position == NULL && !has_eye(&shooter)) {
        return STATUS_BLOCKED;
    }
    AuthorityThing thing = {.type = ENTITY_PROJECTILE};
    ProjectileDesc *desc = &thing.projectile;
    *desc = is_plain ? desc_plain(authority) : prefab->projectile;
    desc->net_id = 0;
    desc->position =
        shot->position != NULL ? *shot->position : sim_eye(authority->sim, shooter.body);
    desc->velocity = shot->velocity;
    desc->damage = shot->damage != NULL ? *shot->damage : desc->damage;
    desc->gravity = shot->gravity != NULL ? *shot->gravity : desc->gravity;
    desc->kind = shot->kind != NULL ? *shot->kind : desc->kind;
    fire_from(authority, &shooter, desc);
    return authority_make(authority, &thing, prefab, out);
}
