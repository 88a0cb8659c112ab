// See letter.h.
#include "core/base/letter.h"

// The letters of U+00C0 to U+024F and U+1E00 to U+1EFF without what is added to them; a dot is a
// letter of its own.
#define LATIN_FIRST 0xc0
static const char latin[] = "aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y"
                            "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
                            "lllnnnnnnn..oooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzf"
                            "bb.....ccdd......ffg...ikkl..nnooo..pp.....ttttuu..yyzz........p"
                            "....dddlllnnnaaiioouuuuuuuuuu.aaaa....ggkkoooo..jdddgg..nnaa...."
                            "aaaaeeeeiiiioooorrrruuuusstt..hh.d..zzaaeeooooooooyylntj..acclt."
                            "...bu.eejj.qrryy";
#define LATIN_MORE_FIRST 0x1e00
static const char latin_more[] = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm"
                                 "mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv"
                                 "wwwwwwwwwwxxxxyyzzzzzzhtwyas....aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
                                 "eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......";

static uint32_t without_marks(uint32_t code_point)
{
    if (code_point >= 0xff01 && code_point <= 0xff5e) {
        code_point -= 0xff01 - '!'; // the wide ones
    }
    char letter = '.';
    if (code_point >= LATIN_FIRST && code_point < LATIN_FIRST + sizeof latin - 1) {
        letter = latin[code_point - LATIN_FIRST];
    } else if (code_point >= LATIN_MORE_FIRST &&
               code_point < LATIN_MORE_FIRST + sizeof latin_more - 1) {
        letter = latin_more[code_point - LATIN_MORE_FIRST];
    }
    return letter != '.' ? (uint32_t)letter : code_point;
}

uint32_t letter_fold(uint32_t code_point)
{
    code_point = without_marks(code_point);
    if (code_point >= 'A' && code_point <= 'Z') {
        code_point += 'a' - 'A';
    } else if (code_point >= 0x410 && code_point <= 0x42f) {
        code_point += 0x20; // Cyrillic
    } else if (code_point >= 0x400 && code_point <= 0x40f) {
        code_point += 0x50;
    }
    return code_point;
}
