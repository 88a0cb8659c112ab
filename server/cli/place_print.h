// How `sandlot place` prints what a server says of places.
#pragma once

#include "server/cli/tool.h"

void place_print_row(const JsonNode *place);
void place_print_offer(const JsonNode *offer);
void place_print_declined(const JsonNode *root); // of a list
void place_print_page(const JsonNode *place);
void place_print_revision(const JsonNode *revision);
void place_print_channel(const JsonNode *root);
void place_print_tags(const JsonNode *root);
void place_print_chat(const JsonNode *root);
void place_print_stats(const JsonNode *root);
void place_print_team(const JsonNode *root);
void place_print_person(const JsonNode *person);
void place_print_given(const JsonNode *root);
void place_print_accepted(const JsonNode *root);
void place_print_trashed(const JsonNode *root);
void place_print_deleted(const JsonNode *root); // for good
void place_print_kept(const JsonNode *root);    // an offer is taken back
void place_print_quota(const JsonNode *root);
void place_print_forked(const Tool *client, const ToolReply *reply);
void place_print_download(const Tool *client, const char *place_id, const char *file, size_t bytes);

uint32_t place_revision_number(const char *id); // 3 of "r3"; 0: it is none
