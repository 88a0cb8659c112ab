// api.wasm: the declarations that api.def gives to TypeScript. The build of the pages runs it once
// and puts the text beside the studio's compiler; no page loads the module itself.
#include "core/base/check.h"
#include "core/script/api/api_reference.h"

// The functions are called from outside by their exported names; no header declares them.
#pragma clang diagnostic ignored "-Wmissing-prototypes"

#define EXPORT(name) __attribute__((export_name(name), used))
#define TEXT_BYTES   (1u << 20)

static uint8_t text[TEXT_BYTES];

EXPORT("textAddress") const void *export_text_address(void)
{
    return text;
}

// Writes it, and returns how many bytes it has.
EXPORT("writeDeclarations") uint32_t export_write_declarations(void)
{
    ByteWriter writer = byte_writer(text, sizeof text);
    api_reference_write(API_FORMAT_TYPESCRIPT, &writer);
    ASSERT(writer.status == STATUS_OK);
    return (uint32_t)writer.at;
}
