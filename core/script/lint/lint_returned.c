// Finds the table that a script returns: it holds TypeScript's exports, and the engine takes hooks
// from it. `local M = {} … return M` and `return {…}` are recognised, if M is never assigned again;
// anything else is unknown. The compiler never puts a temporary into the register of a live local,
// so whatever writes that register assigns to the local.
#include "core/script/lint/lint_inside.h"

#include <lobject.h>
#include <lopcodes.h>

#define NO_REGISTER (-1)
#define DEPTH_MAX   200 // the compiler allows fewer
#define RETURNS_MAX 32  // for each of them the code before it is scanned

// The first instruction at which the register is the local that is live at `pc`; `pc` itself if it
// is a temporary there.
static int32_t begin_of(const Proto *main, int reg, int32_t pc)
{
    int alive = 0;
    for (int i = 0; i < main->sizelocvars; i++) {
        const LocVar *local = &main->locvars[i];
        if (local->startpc <= pc && pc < local->endpc && alive++ == reg) {
            return local->startpc;
        }
    }
    return pc;
}

static bool writes(Instruction i, int reg)
{
    const int a = GETARG_A(i);
    const int last = GET_OPCODE(i) == OP_LOADNIL ? a + GETARG_B(i) : a;
    return testAMode(GET_OPCODE(i)) && a <= reg && reg <= last;
}

// The instruction that creates the value in the register at `pc`; NO_REGISTER: not a single table.
static int32_t find_making(const Proto *main, int reg, int32_t pc)
{
    const int32_t begin = begin_of(main, reg, pc);
    for (int32_t at = begin; at < pc; at++) {
        if (writes(main->code[at], reg)) {
            return NO_REGISTER;
        }
    }
    for (int32_t at = begin - 1; at >= 0; at--) {
        if (writes(main->code[at], reg)) {
            return GET_OPCODE(main->code[at]) == OP_NEWTABLE ? at : NO_REGISTER;
        }
    }
    return NO_REGISTER;
}

// Whether the table itself is used, not just a field. In the main function it is in a register.
static bool takes_whole(Instruction i, int reg)
{
    switch (GET_OPCODE(i)) {
    case OP_MOVE:
    case OP_GETTABLE: // by a name that is not known
    case OP_SELF:
        return GETARG_B(i) == reg;
    case OP_SETTABUP:
    case OP_SETTABLE:
    case OP_SETI:
    case OP_SETFIELD:
        return TESTARG_k(i) == 0 && GETARG_C(i) == reg;
    default:
        return false;
    }
}

typedef struct Use {
    bool is_written, is_whole;
} Use;

// How a function, and those inside it, use one of its upvalues.
static void look_at_upvalue(const Proto *proto, int upvalue, uint32_t depth, Use *use)
{
    if (depth == DEPTH_MAX) {
        use->is_written = use->is_whole = true;
        return;
    }
    for (int32_t pc = 0; pc < proto->sizecode; pc++) {
        const Instruction i = proto->code[pc];
        const bool is_it = GETARG_B(i) == upvalue;
        use->is_written = use->is_written || (GET_OPCODE(i) == OP_SETUPVAL && is_it);
        use->is_whole = use->is_whole || (GET_OPCODE(i) == OP_GETUPVAL && is_it);
    }
    for (int p = 0; p < proto->sizep; p++) {
        for (int u = 0; u < proto->p[p]->sizeupvalues; u++) {
            const Upvaldesc *inner = &proto->p[p]->upvalues[u];
            if (inner->instack == 0 && inner->idx == upvalue) {
                look_at_upvalue(proto->p[p], u, depth + 1, use);
            }
        }
    }
}

static Use look_at_uses(const Proto *main, const LintReturned *returned)
{
    Use use = {false, false};
    for (int32_t pc = returned->made; pc < returned->end; pc++) {
        const Instruction i = main->code[pc];
        use.is_whole = use.is_whole || takes_whole(i, returned->reg);
        if (GET_OPCODE(i) != OP_CLOSURE) {
            continue;
        }
        const Proto *inner = main->p[GETARG_Bx(i)];
        for (int u = 0; u < inner->sizeupvalues; u++) {
            if (inner->upvalues[u].instack != 0 && inner->upvalues[u].idx == returned->reg) {
                look_at_upvalue(inner, u, 1, &use);
            }
        }
    }
    return use;
}

static bool is_return(Instruction i)
{
    const OpCode op = GET_OPCODE(i);
    return op == OP_RETURN || op == OP_RETURN0 || op == OP_RETURN1;
}

// The last instruction is the empty return that the compiler adds. After an explicit return it is
// reached by a jump, or never.
static bool reaches_end(const Proto *main)
{
    const int32_t last = main->sizecode - 1;
    bool is_reached = last < 1 || !is_return(main->code[last - 1]);
    for (int32_t pc = 0; pc < last && !is_reached; pc++) {
        const Instruction i = main->code[pc];
        is_reached = GET_OPCODE(i) == OP_JMP && pc + 1 + GETARG_sJ(i) == last;
    }
    return is_reached;
}

LintReturned lint_find_returned(const Proto *main)
{
    LintReturned out = {.reg = NO_REGISTER, .is_always = !reaches_end(main)};
    uint32_t count = 0;
    for (int32_t pc = 0; pc + 1 < main->sizecode; pc++) {
        const Instruction i = main->code[pc];
        const OpCode op = GET_OPCODE(i);
        if (!is_return(i)) {
            continue;
        }
        const bool is_one = op == OP_RETURN1 || (op == OP_RETURN && GETARG_B(i) == 2);
        if (is_one && count++ == RETURNS_MAX) {
            return (LintReturned){.reg = NO_REGISTER};
        }
        const int32_t made = is_one ? find_making(main, GETARG_A(i), pc) : NO_REGISTER;
        if (made == NO_REGISTER) {
            out.is_always = false;
        } else if (out.reg != NO_REGISTER && out.made != made) {
            return (LintReturned){.reg = NO_REGISTER};
        } else {
            out.reg = GETARG_A(i);
            out.made = made;
            out.end = pc;
        }
    }
    const Use use = out.reg != NO_REGISTER ? look_at_uses(main, &out) : (Use){false, false};
    if (use.is_written) {
        out.reg = NO_REGISTER;
    }
    out.is_shared = use.is_whole;
    return out;
}
