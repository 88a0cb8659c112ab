// See place_print.h. Texts come from strangers: diagnostic_print escapes what a terminal would
// obey.
#define _GNU_SOURCE
#include "server/cli/place_print.h"

#include "core/base/json_member.h"
#include "server/build/base/diagnostic.h"
#include "server/cli/command_json.h"
#include "server/cli/package_show.h"
#include "server/cli/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t place_revision_number(const char *id)
{
    uint32_t number = 0;
    return id[0] == 'r' && command_parse_u32(id + 1, 1, UINT32_MAX, &number) ? number : 0;
}

// The texts of an array, with a space between them; "-": none.
static void join(const JsonNode *object, const char *name, char *out, size_t bytes)
{
    const JsonNode *list = json_find(object, name);
    size_t at = 0;
    snprintf(out, bytes, "-");
    for (const JsonNode *one = list != NULL ? list->first : NULL; one != NULL && at + 1 < bytes;
         one = one->next) {
        at += (size_t)snprintf(out + at, bytes - at, "%s%s", at > 0 ? " " : "",
                               one->kind == JSON_STRING ? one->text : "");
    }
}

// What keeps it from being played, or how it is seen.
static const char *state_of(const JsonNode *place)
{
    return tool_text(place, "trashed_at")[0] != '\0' ? "in the trash"
           : tool_flag(place, "removed")             ? "removed"
           : tool_flag(place, "waits_for_approval")  ? "waiting"
                                                     : tool_text(place, "visibility");
}

void place_print_row(const JsonNode *place)
{
    diagnostic_print(stdout, "%-32s  %-12s  live %-5s  beta %-5s  %-7s  %s",
                     tool_text(place, "place_id"), state_of(place),
                     command_or_dash(tool_text(place, "live")),
                     command_or_dash(tool_text(place, "beta")),
                     command_or_dash(tool_text(place, "role")), tool_text(place, "title"));
}

void place_print_offer(const JsonNode *offer)
{
    const JsonNode *creator = json_find(offer, "creator");
    diagnostic_print(stdout, "%-32s  from %s  until %s  %s", tool_text(offer, "place_id"),
                     command_or_dash(creator != NULL ? tool_text(creator, "username") : ""),
                     tool_text(offer, "expires_at"), tool_text(offer, "title"));
}

void place_print_declined(const JsonNode *root)
{
    diagnostic_print(stdout, "%s stays with its owner", tool_text(root, "place_id"));
}

static void print_moderation(const JsonNode *place)
{
    const JsonNode *act = json_find(place, "moderation");
    if (act != NULL && act->kind == JSON_OBJECT) {
        diagnostic_print(stdout, "operator      %s: %s", tool_text(act, "state"),
                         tool_text(act, "reason"));
    }
}

static void print_spells(const JsonNode *place)
{
    const JsonNode *list = json_find(place, "spell_updates");
    for (const JsonNode *one = list != NULL ? list->first : NULL; one != NULL; one = one->next) {
        diagnostic_print(stdout, "spell         %s: %s, there is %s", tool_text(one, "spell_id"),
                         tool_text(one, "revision_id"), tool_text(one, "update"));
    }
}

static void print_counts(const JsonNode *root)
{
    diagnostic_print(stdout, "players       %.0f now, %.0f at most, %.0f in all",
                     tool_number(root, "players"), tool_number(root, "peak_players"),
                     tool_number(root, "unique_players"));
    diagnostic_print(stdout, "visits        %.0f, %.1f hours played", tool_number(root, "visits"),
                     tool_number(root, "seconds_played") / 3600);
    diagnostic_print(stdout, "votes         %.0f for, %.0f against, %.0f favourites",
                     tool_number(root, "votes_up"), tool_number(root, "votes_down"),
                     tool_number(root, "favourites"));
    const JsonNode *cost = json_find(root, "cost");
    if (cost != NULL && cost->kind == JSON_OBJECT) {
        diagnostic_print(stdout, "cost          %.1f ms a tick at %.0f players",
                         tool_number(cost, "tick_ms"), tool_number(cost, "players"));
    }
}

void place_print_page(const JsonNode *place)
{
    char tags[256], rights[64];
    const JsonNode *creator = json_find(place, "creator");
    join(place, "tags", tags, sizeof tags);
    join(place, "rights", rights, sizeof rights);
    diagnostic_print(stdout, "place         %s", tool_text(place, "place_id"));
    diagnostic_print(stdout, "title         %s", tool_text(place, "title"));
    diagnostic_print(stdout, "creator       %s", command_or_dash(tool_text(creator, "username")));
    diagnostic_print(stdout, "visibility    %s", tool_text(place, "visibility"));
    diagnostic_print(stdout, "source        %s", tool_flag(place, "open") ? "open" : "closed");
    if (strcmp(state_of(place), tool_text(place, "visibility")) != 0) {
        diagnostic_print(stdout, "state         %s", state_of(place));
    }
    print_moderation(place);
    diagnostic_print(stdout, "revisions     %.0f, live %s, beta %s",
                     tool_number(place, "revisions"), command_or_dash(tool_text(place, "live")),
                     command_or_dash(tool_text(place, "beta")));
    print_spells(place);
    diagnostic_print(stdout, "tags          %s", tags);
    print_counts(place);
    diagnostic_print(stdout, "forked from   %s", command_or_dash(tool_text(place, "forked_from")));
    diagnostic_print(stdout, "created       %s", tool_text(place, "created_at"));
    diagnostic_print(stdout, "updated       %s", tool_text(place, "updated_at"));
    diagnostic_print(stdout, "you may       %s", rights);
    if (tool_text(place, "description")[0] != '\0') {
        diagnostic_print(stdout, "description   %s", tool_text(place, "description"));
    }
}

void place_print_revision(const JsonNode *revision)
{
    char bytes[16];
    const char *reason = tool_text(revision, "reason");
    package_show_bytes((uint64_t)tool_number(revision, "bytes"), bytes);
    diagnostic_print(stdout, "%-5s  %-8s  %-4s  %-4s  %s  %-12s  %9s  %s%s%s",
                     tool_text(revision, "revision_id"), tool_text(revision, "state"),
                     tool_flag(revision, "live") ? "live" : "",
                     tool_flag(revision, "beta") ? "beta" : "", tool_text(revision, "created_at"),
                     command_or_dash(tool_text(revision, "maker")), bytes,
                     tool_text(revision, "notes"), reason[0] != '\0' ? ": " : "", reason);
}

void place_print_channel(const JsonNode *root)
{
    const char *now = tool_text(root, "revision_id"), *before = tool_text(root, "before");
    diagnostic_print(stdout, "%s of %s is %s now; it was %s", tool_text(root, "channel"),
                     tool_text(root, "place_id"), now[0] != '\0' ? now : "nothing",
                     before[0] != '\0' ? before : "nothing");
    if (tool_flag(root, "waits_for_approval")) {
        printf("it is listed when an operator has approved it\n");
    }
}

void place_print_tags(const JsonNode *root)
{
    char tags[256];
    join(root, "tags", tags, sizeof tags);
    diagnostic_print(stdout, "%s", tags);
}

void place_print_chat(const JsonNode *root)
{
    diagnostic_print(stdout, "chat there: %s", tool_text(root, "rule"));
}

// Days on which nobody came are left out.
void place_print_stats(const JsonNode *root)
{
    const JsonNode *days = json_find(root, "days");
    print_counts(root);
    printf("\n");
    diagnostic_print(stdout, "%-10s  %7s  %7s  %8s  %7s  %5s", "day", "visits", "players",
                     "returned", "minutes", "peak");
    for (const JsonNode *day = days != NULL ? days->first : NULL; day != NULL; day = day->next) {
        if (tool_number(day, "visits") > 0 || tool_number(day, "seconds_played") > 0) {
            diagnostic_print(stdout, "%-10s  %7.0f  %7.0f  %8.0f  %7.0f  %5.0f",
                             tool_text(day, "day"), tool_number(day, "visits"),
                             tool_number(day, "unique_players"), tool_number(day, "returned"),
                             tool_number(day, "seconds_played") / 60,
                             tool_number(day, "peak_players"));
        }
    }
}

static void print_member(const JsonNode *person)
{
    diagnostic_print(stdout, "%-8s  %s", tool_text(person, "role"),
                     command_or_dash(tool_text(person, "username")));
}

void place_print_team(const JsonNode *root)
{
    const JsonNode *team = json_find(root, "team");
    print_member(json_find(root, "owner"));
    for (const JsonNode *one = team != NULL ? team->first : NULL; one != NULL; one = one->next) {
        print_member(one);
    }
}

void place_print_person(const JsonNode *person)
{
    const char *role = tool_text(person, "role");
    const bool is_none =
        role[0] == '\0' || strcmp(role, "nobody") == 0 || strcmp(role, "none") == 0;
    diagnostic_print(stdout, "%s is %s%s now", tool_text(person, "username"),
                     is_none                       ? "not of its team"
                     : strcmp(role, "editor") == 0 ? "an "
                     : strcmp(role, "tester") == 0 ? "a "
                                                   : "",
                     is_none ? "" : role);
}

void place_print_given(const JsonNode *root)
{
    diagnostic_print(stdout,
                     tool_flag(root, "given")
                         ? "%s is given"
                         : "%s is offered; it is theirs when they accept it: sandlot place "
                           "accept",
                     tool_text(root, "place_id"));
}

void place_print_accepted(const JsonNode *root)
{
    diagnostic_print(stdout, "%s is yours now", tool_text(root, "place_id"));
}

void place_print_trashed(const JsonNode *root)
{
    diagnostic_print(stdout,
                     "%s is in the trash since %s; after 30 days it is deleted. `sandlot place "
                     "restore` takes it back",
                     tool_text(root, "place_id"), tool_text(root, "trashed_at"));
}

void place_print_deleted(const JsonNode *root)
{
    const char *revision = tool_text(root, "revision_id");
    diagnostic_print(stdout, "%s%s%s is deleted", revision, revision[0] != '\0' ? " of " : "",
                     tool_text(root, "place_id"));
}

void place_print_kept(const JsonNode *root)
{
    diagnostic_print(stdout, "%s is not offered any more", tool_text(root, "place_id"));
}

void place_print_quota(const JsonNode *root)
{
    char used[16], most[16];
    const JsonNode *places = json_find(root, "places");
    package_show_bytes((uint64_t)tool_number(root, "bytes_used"), used);
    package_show_bytes((uint64_t)tool_number(root, "bytes_max"), most);
    diagnostic_print(stdout, "used          %s of %s", used, most);
    for (const JsonNode *one = places != NULL ? places->first : NULL; one != NULL;
         one = one->next) {
        package_show_bytes((uint64_t)tool_number(one, "bytes"), used);
        package_show_bytes((uint64_t)tool_number(one, "datastore_bytes"), most);
        diagnostic_print(stdout, "%-32s  %9s  DataStores %.0f keys, %9s%s",
                         tool_text(one, "place_id"), used, tool_number(one, "datastore_keys"), most,
                         tool_flag(one, "trashed") ? "  in the trash" : "");
    }
}

void place_print_forked(const Tool *client, const ToolReply *reply)
{
    if (client->json) {
        printf("%.*s\n", (int)reply->body.bytes, (const char *)reply->body.data);
        return;
    }
    const char *id = tool_text(reply->root, "place_id");
    diagnostic_print(stdout, "%s is yours, private, with %s", id,
                     tool_text(reply->root, "revision_id"));
    diagnostic_print(stdout, "play it       sandlot place promote %s %s", id,
                     tool_text(reply->root, "revision_id"));
    diagnostic_print(stdout,
                     "change it     sandlot place download %s it.game, sandlot unpack it.game DIR, "
                     "sandlot publish DIR --place %s",
                     id, id);
}

typedef struct Download {
    const char *place_id, *file;
    size_t bytes;
} Download;

static void write_download(JsonWriter *json, const void *what)
{
    const Download *download = what;
    json_member_bool(json, "ok", true);
    command_json_text(json, "place_id", download->place_id);
    command_json_text(json, "file", download->file);
    json_member_count(json, "bytes", download->bytes);
}

void place_print_download(const Tool *client, const char *place_id, const char *file, size_t bytes)
{
    char size[16];
    package_show_bytes(bytes, size);
    if (client->json) {
        (void)command_json_print(write_download, &(Download){place_id, file, bytes});
    } else {
        diagnostic_print(stdout, "%s  %s; `sandlot unpack` makes a folder of it", file, size);
    }
}
