// Updates a session's interest. A full look queries the grid; it is done every few captures, and at
// once if the eye or the own body changed. In between only entities that are new or have jumped are
// checked; those that are gone or jumped away leave with the frame in any case.
#include "core/world/replicate/replicate_inside.h"

#define LOOK_CAPTURES 4 // one whole look in so many captures, staggered by session
// Keys are squares: members count as 10 % nearer, so that two entities at the border do not
// alternate.
#define STAY_FACTOR  0.81f
#define EYE_FRACTION (1.0f / 16) // of the radius: an eye that moved further looks at once

enum { MARK_IN = 1, MARK_CHOSEN = 2 };

static uint64_t id_of(const void *user, uint32_t entry)
{
    return ((const NetTable *)user)->details[entry].net_id;
}

uint32_t replicator_place(const Replicator *replicator, const Viewer *viewer, uint32_t entry)
{
    const uint32_t serial = replicator->table.entries[entry].serial;
    for (uint32_t slot = 0; slot < viewer->slot_end; slot++) {
        if (viewer->sent[slot].entry == entry && viewer->sent[slot].serial == serial) {
            return viewer->sent[slot].leaving ? UINT32_MAX : slot;
        }
    }
    for (uint32_t i = 0; i < viewer->wanted_count; i++) {
        if (viewer->wanted[i].entry == entry && viewer->wanted[i].serial == serial) {
            return NET_SLOTS_MAX + i;
        }
    }
    return UINT32_MAX;
}

static bool is_live(const Replicator *replicator, uint32_t entry, uint32_t serial)
{
    return entry != 0 && replicator->table.entries[entry].serial == serial;
}

static void want(const Replicator *replicator, Viewer *viewer, uint32_t entry)
{
    ASSERT(viewer->wanted_count < replicator->config.visible_max);
    viewer->wanted[viewer->wanted_count++] =
        (Wanted){.entry = entry, .serial = replicator->table.entries[entry].serial};
}

// --- a whole look -------------------------------------------------------------------------------

static void mark_members(Replicator *replicator, const Viewer *viewer)
{
    for (uint32_t slot = 0; slot < viewer->slot_end; slot++) {
        if (is_live(replicator, viewer->sent[slot].entry, viewer->sent[slot].serial)) {
            replicator->marks[viewer->sent[slot].entry] = MARK_IN;
        }
    }
    for (uint32_t i = 0; i < viewer->wanted_count; i++) {
        if (is_live(replicator, viewer->wanted[i].entry, viewer->wanted[i].serial)) {
            replicator->marks[viewer->wanted[i].entry] = MARK_IN;
        }
    }
}

// Candidates: everything inside the radius, and members up to a tenth beyond it.
static uint32_t gather(Replicator *replicator, const Viewer *viewer, Vec3 eye)
{
    const float radius = replicator->config.radius;
    const float key_max = radius * radius;
    InterestHit *hits = replicator->hits;
    const uint32_t found = interest_query(&replicator->interest, eye, radius * LEAVE_FACTOR, hits);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found; i++) {
        const InterestHit hit = hits[i];
        const bool is_in = replicator->marks[hit.entry] != 0;
        if (hit.entry != viewer->own_entry && (is_in || hit.key <= key_max)) {
            hits[count++] = (InterestHit){is_in ? hit.key * STAY_FACTOR : hit.key, hit.entry};
        }
    }
    const uint32_t keep = replicator->config.visible_max - (viewer->own_entry != 0 ? 1 : 0);
    if (count > keep) {
        interest_nearest(hits, count, keep, id_of, &replicator->table);
        replicator->stats.candidates_dropped += count - keep;
        count = keep;
    }
    if (viewer->own_entry != 0) {
        hits[count++] = (InterestHit){-1, viewer->own_entry};
    }
    return count;
}

static void drop_unchosen(Replicator *replicator, Viewer *viewer)
{
    for (uint32_t slot = 0; slot < viewer->slot_end; slot++) {
        Sent *sent = &viewer->sent[slot];
        sent->leaving = sent->entry != 0 && (!is_live(replicator, sent->entry, sent->serial) ||
                                             (replicator->marks[sent->entry] & MARK_CHOSEN) == 0);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < viewer->wanted_count; i++) {
        const Wanted wanted = viewer->wanted[i];
        if (!is_live(replicator, wanted.entry, wanted.serial)) {
            continue; // the mark may belong to another entity in the same entry
        }
        if ((replicator->marks[wanted.entry] & MARK_CHOSEN) != 0) {
            viewer->wanted[kept++] = wanted;
        } else {
            replicator->marks[wanted.entry] = 0;
        }
    }
    viewer->wanted_count = kept;
}

// Adds new ones, nearest first: there are few, except in the first look.
static void want_chosen(Replicator *replicator, Viewer *viewer, InterestHit *hits, uint32_t count)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < count; i++) {
        const InterestHit hit = hits[i];
        if ((replicator->marks[hit.entry] & MARK_IN) != 0) {
            continue;
        }
        uint32_t at = fresh++;
        const uint64_t id = id_of(&replicator->table, hit.entry);
        while (at > 0 && (hits[at - 1].key > hit.key ||
                          (hits[at - 1].key == hit.key &&
                           id_of(&replicator->table, hits[at - 1].entry) > id))) {
            hits[at] = hits[at - 1];
            at -= 1;
        }
        hits[at] = hit;
    }
    for (uint32_t i = 0; i < fresh; i++) {
        want(replicator, viewer, hits[i].entry);
    }
}

static void look_whole(Replicator *replicator, Viewer *viewer, Vec3 eye)
{
    mark_members(replicator, viewer);
    const uint32_t count = gather(replicator, viewer, eye);
    for (uint32_t i = 0; i < count; i++) {
        replicator->marks[replicator->hits[i].entry] |= MARK_CHOSEN;
    }
    drop_unchosen(replicator, viewer);
    want_chosen(replicator, viewer, replicator->hits, count);
    for (uint32_t slot = 0; slot < viewer->slot_end; slot++) {
        replicator->marks[viewer->sent[slot].entry] = 0;
    }
    for (uint32_t i = 0; i < viewer->wanted_count; i++) {
        replicator->marks[viewer->wanted[i].entry] = 0;
    }
    viewer->looked_eye = eye;
}

// --- in between ---------------------------------------------------------------------------------

// True if a new one has no room: only a full look can decide which one has to go.
static bool look_at_offers(Replicator *replicator, Viewer *viewer, Vec3 eye)
{
    const NetTable *table = &replicator->table;
    const float key_max = replicator->config.radius * replicator->config.radius;
    for (uint32_t i = 0; i < table->offer_count; i++) {
        const uint32_t entry = table->offers[i];
        const NetEntry *hot = &table->entries[entry];
        if (interest_key(eye, hot->position, hot->reach) > key_max ||
            replicator_place(replicator, viewer, entry) != UINT32_MAX) {
            continue;
        }
        if (viewer->sent_count + viewer->wanted_count >= replicator->config.visible_max) {
            return true;
        }
        want(replicator, viewer, entry);
    }
    return false;
}

// True if the own body has changed since the last look.
static bool find_own(Replicator *replicator, Viewer *viewer, ViewerEye *eye)
{
    const NetTable *table = &replicator->table;
    const uint32_t before = viewer->own_serial;
    if (viewer->own_entry == 0 || table->entries[viewer->own_entry].serial != before ||
        table->details[viewer->own_entry].net_id != eye->own) {
        viewer->own_entry = net_table_find(table, eye->own);
        viewer->own_serial = table->entries[viewer->own_entry].serial;
    }
    if (viewer->own_entry != 0) {
        eye->position = table->entries[viewer->own_entry].position;
    }
    return viewer->own_serial != before;
}

void replicator_look(Replicator *replicator, uint32_t session)
{
    Viewer *viewer = &replicator->viewers[session];
    const uint32_t capture = replicator->table.capture;
    if (viewer->looked == capture || capture == 0) {
        return;
    }
    const bool missed = viewer->looked + 1 != capture;
    viewer->looked = capture;
    const bool is_other = find_own(replicator, viewer, &replicator->eyes[session]);
    const Vec3 eye = replicator->eyes[session].position;
    const float moved_max = replicator->config.radius * EYE_FRACTION;
    const Vec3 moved = vec3_sub(eye, viewer->looked_eye);
    if (missed || is_other || (capture + session) % LOOK_CAPTURES == 0 ||
        vec3_length_squared(moved) > moved_max * moved_max ||
        look_at_offers(replicator, viewer, eye)) {
        look_whole(replicator, viewer, eye);
    }
}
