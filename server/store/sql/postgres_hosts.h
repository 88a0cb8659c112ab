// Several hosts in one URL of a database, "postgres://a:5432,b:5432/name": libpq would try them one
// after another without a limit for each.
#pragma once

#include <stddef.h>
#include <stdint.h>

uint32_t postgres_host_count(const char *url); // 1 if it names none
// Number `at` of a list with commas; the last one if there are fewer. Gives out.
const char *postgres_list_item(const char *list, uint32_t at, char *out, size_t out_bytes);
