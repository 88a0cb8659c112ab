// The code behind the calls that lua.substitutions puts into Lua. It is compiled with Lua, because
// it needs Lua's own headers; core/script/vm/lua_guard.h says what each function promises.
#define LUA_CORE
#include "lprefix.h"

#include <string.h>

#include "core/script/vm/lua_guard.h"
#include "ldebug.h"
#include "ldo.h"
#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"
#include "lua.h"

void guard_init(Guard *guard)
{
    memset(guard, 0, sizeof *guard);
    guard->steps = INT64_MAX / 2; // jumps ahead give some back
    guard->soft_bytes = (size_t)(MAX_LMEM);
}

Guard *guard_of(lua_State *L)
{
    return &G(L)->guard;
}

// Notes the first fault and lets the Vm look at the stack while it is whole.
static void set_fault(lua_State *L, GuardFault fault)
{
    Guard *guard = &G(L)->guard;
    if (guard->fault != GUARD_NONE && fault != GUARD_DEAD) {
        return;
    }
    const int first = guard->fault == GUARD_NONE;
    guard->fault = (uint8_t)fault;
    if (first) {
        guard->steps_over = -guard->steps; // less than nothing if some are left
        if (guard->on_fault != NULL) {
            guard->on_fault(guard->user, L);
        }
    }
    guard->steps = -1; // whatever runs next trips again
}

_Noreturn void guard_trip(lua_State *L)
{
    set_fault(L, GUARD_BUDGET);
    luaD_throw(L, LUA_ERRSTOP);
}

// The work that the last charge was for is not done, so it does not count as used.
_Noreturn void guard_refuse(lua_State *L, int64_t steps)
{
    Guard *guard = &G(L)->guard;
    if (guard->steps + steps >= 0) {
        guard->steps = -1;
    }
    guard_trip(L);
}

void guard_charge(lua_State *L, uint64_t steps)
{
    Guard *guard = &G(L)->guard;
    // More than any budget, and far from overflow.
    const int64_t taken = steps < 1ull << 61 ? (int64_t)steps : (int64_t)1 << 61;
    guard->steps -= taken;
    if (l_unlikely(guard->steps < 0)) {
        guard_refuse(L, taken);
    }
}

void guard_ask_resume(lua_State *L, lua_State *coroutine)
{
    Guard *guard = &G(L)->guard;
    if (guard->on_resume != NULL) {
        guard->on_resume(guard->user, L, coroutine);
    }
}

void guard_charge_bytes(lua_State *L, size_t bytes, size_t bytes_per_step)
{
    guard_charge(L, 1 + bytes / bytes_per_step);
}

int64_t *guard_counter(lua_State *L)
{
    return &G(L)->guard.steps;
}

void guard_pass_on(lua_State *L)
{
    if (l_unlikely(G(L)->guard.fault != GUARD_NONE) && L->errorJmp != NULL) {
        luaD_throw(L, LUA_ERRSTOP);
    }
}

static int has_room(global_State *g, size_t bytes)
{
    return gettotalbytes(g) + bytes <= g->guard.soft_bytes &&
           (g->guard.can_hold == NULL || g->guard.can_hold(g->guard.user, bytes));
}

static int may_go_on(lua_State *L, size_t bytes)
{
    Guard *guard = &G(L)->guard;
    return guard->on_short != NULL && guard->on_short(guard->user, bytes);
}

void guard_press(lua_State *L)
{
    global_State *g = G(L);
    g->guard.pressed = 1;
    if (g->GCdebt <= 0) {
        luaE_setdebt(g, 1);
    }
}

int guard_room(lua_State *L, size_t bytes)
{
    global_State *g = G(L);
    if (!g->guard.entered || g->guard.fault != GUARD_NONE || has_room(g, bytes)) {
        return 1;
    }
    if (completestate(g) && !g->gcstopem && !g->gcemergency) {
        luaC_fullgc(L, 1);
    }
    if (has_room(g, bytes) || may_go_on(L, bytes)) {
        return 1;
    }
    set_fault(L, GUARD_MEMORY);
    return 0;
}

void guard_exhausted(lua_State *L)
{
    if (completestate(G(L))) {
        set_fault(L, GUARD_DEAD);
    }
}

_Noreturn void guard_no_memory(lua_State *L)
{
    if (G(L)->guard.fault == GUARD_NONE && completestate(G(L))) {
        set_fault(L, GUARD_MEMORY);
    }
    luaD_throw(L, completestate(G(L)) ? LUA_ERRSTOP : LUA_ERRMEM);
}

int guard_has_slack(lua_State *L)
{
    const global_State *g = G(L);
    return gettotalbytes(g) <= g->guard.soft_bytes - g->guard.soft_bytes / 16 &&
           (g->guard.is_full == NULL || !g->guard.is_full(g->guard.user));
}

// The one who runs pays for what it holds itself; others may hold much more.
void guard_squeeze(lua_State *L)
{
    global_State *g = G(L);
    if (!g->guard.entered || g->guard.fault != GUARD_NONE) {
        return;
    }
    g->guard.pressed = 0;
    const size_t before = gettotalbytes(g);
    const size_t own = g->guard.own_bytes != NULL ? g->guard.own_bytes(g->guard.user) : before;
    g->guard.uncharged_bytes += own < before ? before - own : 0;
    luaC_fullgc(L, 0);
    if (!guard_has_slack(L) && !may_go_on(L, 0)) {
        set_fault(L, GUARD_MEMORY);
        luaD_throw(L, LUA_ERRSTOP);
    }
    guard_charge_bytes(L, own < before ? own : before, BUDGET_FULL_COLLECTION);
}

_Noreturn void guard_read_only(lua_State *L)
{
    luaG_runerror(L, "attempt to modify a read-only table");
}

_Noreturn void guard_string_too_long(lua_State *L)
{
    luaG_runerror(L, "string too long");
}

// `until` is the CallInfo that stays. With `all` false (a yield) frames that paid at an earlier
// yield and have not run since are passed over: those below the first that has paid already.
void guard_charge_frames(lua_State *L, const void *until, int all)
{
    int64_t steps = 0;
    CallInfo *ci;
    for (ci = L->ci; ci != NULL && ci != (const CallInfo *)until; ci = ci->previous) {
        int paid = ci->callstatus & CIST_PAID;
        steps += 1;
        if (isLua(ci)) {
            steps += pcRel(ci->u.l.savedpc, ci_func(ci)->p);
            ci->callstatus |= CIST_PAID;
        }
        if (paid && !all) {
            break;
        }
    }
    G(L)->guard.steps -= steps;
    if (all && G(L)->guard.on_caught != NULL) {
        G(L)->guard.on_caught(G(L)->guard.user);
    }
}

static const TValue *value_at(lua_State *L, int index)
{
    if (index > 0) {
        StkId o = L->ci->func + index;
        return o < L->top ? s2v(o) : NULL;
    }
    return index > LUA_REGISTRYINDEX ? s2v(L->top + index) : NULL;
}

uint32_t guard_number(lua_State *L, int index)
{
    const TValue *value = value_at(L, index);
    if (value == NULL || !iscollectable(value) || ttisstring(value)) {
        return 0;
    }
    return luaH_number(gcvalue(value));
}

// The bits of a float by which keys are compared.
static uint32_t plain_bits(const void *value, int at)
{
    uint32_t bits;
    memcpy(&bits, (const char *)value + 4 * at, sizeof bits);
    const uint32_t size = bits & 0x7fffffffu;
    return size == 0 ? 0 : size > 0x7f800000u ? 0x7fc00000u : bits;
}

uint32_t guard_plain_hash(const void *value)
{
    uint32_t hash = 0;
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ plain_bits(value, i)) * 0x9e3779b1u;
        hash ^= hash >> 15; // whole numbers differ in the upper bits only
    }
    return hash;
}

int guard_plain_equal(const void *a, const void *b)
{
    return plain_bits(a, 0) == plain_bits(b, 0) && plain_bits(a, 1) == plain_bits(b, 1) &&
           plain_bits(a, 2) == plain_bits(b, 2);
}

void guard_freeze(lua_State *L, int index)
{
    const TValue *value = value_at(L, index);
    if (value != NULL && ttistable(value)) {
        hvalue(value)->flags |= TABLE_FROZEN;
    }
}

int guard_is_frozen(lua_State *L, int index)
{
    const TValue *value = value_at(L, index);
    return value != NULL && ttistable(value) && (hvalue(value)->flags & TABLE_FROZEN) != 0;
}

size_t guard_bytes(lua_State *L)
{
    return gettotalbytes(G(L));
}

void guard_drop_values(lua_State *L, int (*is_over)(void *user, const void *memory), void *user)
{
    const Table *metatable = hvalue(s2v(L->top - 1));
    for (GCObject *o = G(L)->allgc; o != NULL; o = o->next) {
        if (o->tt == LUA_VUSERDATA) {
            Udata *u = gco2u(o);
            if (u->metatable == metatable && u->nuvalue > 0 && is_over(user, getudatamem(u))) {
                setnilvalue(&u->uv[0].uv);
            }
        }
    }
}

struct TakeBack {
    uint32_t owner;
    GuardOwnerOf *owner_of;
    void *user;
};

// Short strings are one for all who use the same text, so they are never taken.
static int takes_string(const struct TakeBack *take, const TValue *value)
{
    return ttislngstring(value) && take->owner_of(take->user, gcvalue(value)) == take->owner;
}

static int takes_table(const struct TakeBack *take, const Table *t, uint32_t array_size)
{
    return take->owner_of(take->user, t) == take->owner ||
           (array_size * sizeof(TValue) >= GUARD_LARGE &&
            take->owner_of(take->user, t->array) == take->owner) ||
           (!isdummy(t) && sizenode(t) * sizeof(Node) >= GUARD_LARGE &&
            take->owner_of(take->user, t->node) == take->owner);
}

static void clean_table(lua_State *L, const struct TakeBack *take, Table *t)
{
    const uint32_t array_size = luaH_realasize(t);
    const int all = takes_table(take, t, array_size);
    for (uint32_t i = 0; i < array_size; i++) {
        if (all || takes_string(take, &t->array[i])) {
            setempty(&t->array[i]);
        }
    }
    for (int i = 0; i < sizenode(t) && !isdummy(t); i++) {
        Node *node = gnode(t, i);
        TValue key;
        getnodekey(L, &key, node);
        if (!isempty(gval(node)) &&
            (all || takes_string(take, &key) || takes_string(take, gval(node)))) {
            setempty(gval(node));
        }
    }
    if (all) {
        luaH_resize(L, t, 0, 0);
    }
}

void guard_free_owned(lua_State *L, uint32_t owner, GuardOwnerOf *owner_of, void *user)
{
    const struct TakeBack take = {owner, owner_of, user};
    for (GCObject *o = G(L)->allgc; o != NULL; o = o->next) {
        if (o->tt == LUA_VTABLE && owner_of(user, o) != 0) {
            clean_table(L, &take, gco2t(o));
        } else if (o->tt == LUA_VUPVAL && !upisopen(gco2upv(o)) &&
                   takes_string(&take, gco2upv(o)->v)) {
            setnilvalue(gco2upv(o)->v);
        }
    }
}

void guard_enter(lua_State *L, int64_t steps, GuardEntry *outer)
{
    Guard *guard = &G(L)->guard;
    outer->steps = guard->steps;
    outer->steps_over = guard->steps_over;
    outer->fault = guard->fault;
    outer->entered = guard->entered;
    guard->steps = steps;
    guard->steps_over = 0;
    guard->fault = GUARD_NONE;
    guard->entered = 1;
}

GuardFault guard_leave(lua_State *L, int64_t steps, const GuardEntry *outer, uint64_t *steps_used)
{
    Guard *guard = &G(L)->guard;
    const GuardFault fault = (GuardFault)guard->fault;
    const int64_t used = fault != GUARD_NONE ? steps + guard->steps_over : steps - guard->steps;
    *steps_used = used > 0 ? (uint64_t)used : 0;
    guard->steps = outer->steps;
    guard->steps_over = outer->steps_over;
    guard->fault = outer->fault;
    guard->entered = outer->entered;
    return fault;
}

size_t guard_frames(lua_State *L, void *frames[GUARD_FRAMES_MAX], size_t *count)
{
    size_t total = 0;
    size_t kept = 0;
    CallInfo *ci;
    for (ci = L->ci; ci != &L->base_ci; ci = ci->previous) {
        if (kept < GUARD_FRAMES_FIRST) {
            frames[kept++] = ci;
        }
        total++;
    }
    // The outermost lie at the beginning of the list, which is linked both ways.
    size_t last = total - kept < GUARD_FRAMES_LAST ? total - kept : GUARD_FRAMES_LAST;
    ci = &L->base_ci;
    for (size_t i = last; i > 0; i--) {
        ci = ci->next;
        frames[kept + i - 1] = ci;
    }
    *count = kept + last;
    return total;
}

void guard_frame_debug(lua_State *L, void *frame, lua_Debug *debug)
{
    memset(debug, 0, sizeof *debug);
    debug->i_ci = (CallInfo *)frame;
    lua_getinfo(L, "Sln", debug);
}

struct Protected {
    void (*call)(lua_State *thread, void *user);
    void *user;
};

static void call_protected(lua_State *L, void *user)
{
    struct Protected *protected = (struct Protected *)user;
    protected->call(L, protected->user);
}

int guard_protect(lua_State *L, void (*call)(lua_State *thread, void *user), void *user)
{
    struct Protected protected = {call, user};
    return luaD_pcall(L, call_protected, &protected, savestack(L, L->top), 0);
}

int guard_reset_thread(lua_State *L, lua_State *from)
{
    Guard *guard = &G(L)->guard;
    lua_State *outer = guard->running;
    if (l_unlikely(getCcalls(from) >= LUAI_MAXCCALLS)) {
        luaG_runerror(from, "C stack overflow");
    }
    L->nCcalls = getCcalls(from) + 1;
    guard->running = L;
    const int status = luaE_resetthread(L, L->status);
    guard->running = outer;
    guard_pass_on(from);
    return status;
}
