// Every member of every table has a sentence of help, and a unit if it is a length, a time or a
// speed; and no help is for a member that does not exist.
#include "core/wire/place_doc.h"
#include "core/wire/place_help.h"
#include "tests/support/test.h"

#include <string.h>

static void check_text(const PlaceTable *table, const PlaceField *field)
{
    const PlaceHelp *help = place_help(table, field);
    if (help == NULL) {
        test_fail(__FILE__, __LINE__, "%s.%s has no help", table->name, field->name);
        return;
    }
    const size_t bytes = strlen(help->text);
    CHECK(bytes >= 12 && bytes <= 120);
    CHECK(help->text[0] >= 'A' && help->text[0] <= 'Z');
    CHECK_INT(help->text[bytes - 1], '.');
    CHECK(strchr(help->text, '`') == NULL && strstr(help->text, "See ") == NULL);
    const size_t name = strlen(field->name);
    const bool is_time = name > 2 && strcmp(field->name + name - 2, "Ms") == 0;
    const bool is_speed = name > 5 && strcmp(field->name + name - 5, "Speed") == 0;
    CHECK(!is_time || strcmp(help->unit, "ms") == 0);
    CHECK(!is_speed || strstr(help->unit, "/s") != NULL);
    CHECK(field->type != PLACE_VEC3 || help->unit[0] != '\0');
}

TEST(every_member_has_help)
{
    for (uint32_t i = 0; place_tables[i] != NULL; i++) {
        for (uint32_t k = 0; k < place_tables[i]->field_count; k++) {
            check_text(place_tables[i], &place_tables[i]->fields[k]);
        }
    }
}

TEST(every_help_has_a_member)
{
    const PlaceHelp *help;
    for (uint32_t row = 0; (help = place_help_at(row)) != NULL; row++) {
        bool is_used = false;
        for (uint32_t i = 0; place_tables[i] != NULL; i++) {
            for (uint32_t k = 0; k < place_tables[i]->field_count; k++) {
                is_used |= place_help(place_tables[i], &place_tables[i]->fields[k]) == help;
            }
        }
        if (!is_used) {
            test_fail(__FILE__, __LINE__, "%s.%s is no member", help->table, help->member);
        }
    }
}
