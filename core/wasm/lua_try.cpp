// The two functions behind lua_try.h. This is C++ only because clang has no other way to write a
// wasm try block. No C++ library is linked: nothing is allocated and no type is ever matched, so
// the few symbols that the compiler asks for are stubs below.

extern "C" {

void lua_try(void (*function)(void *, void *), void *state, void *user);
[[noreturn]] void lua_throw(void);

// What the compiler's code for catch (...) refers to. The personality function chooses between
// catch clauses by type; with one clause that takes everything there is nothing to choose.
struct LandingPadContext {
    unsigned long index;
    void *lsda;
    unsigned long selector;
};
extern LandingPadContext __wasm_lpad_context;
LandingPadContext __wasm_lpad_context;

int _Unwind_CallPersonality(void *exception);
int _Unwind_CallPersonality(void *)
{
    return 0;
}

int __gxx_personality_wasm0(...);
int __gxx_personality_wasm0(...)
{
    return 0;
}

void *__cxa_begin_catch(void *exception);
void *__cxa_begin_catch(void *exception)
{
    return exception;
}

void __cxa_end_catch(void);
void __cxa_end_catch(void) {}
}

namespace std
{
[[noreturn]] void terminate();
[[noreturn]] void terminate()
{
    __builtin_trap();
}
} // namespace std

// Lua keeps the error itself in its own state, so one empty object serves every throw.
static char exception;

void lua_try(void (*function)(void *, void *), void *state, void *user)
{
    try {
        function(state, user);
    } catch (...) {
        // ldo.c reads from its own record whether and how the call failed.
    }
}

[[noreturn]] void lua_throw(void)
{
    __builtin_wasm_throw(0, &exception);
}
