// Rows of packages, for calls that change several of them at once (store_publish.c).
#pragma once

#include "server/store/place/store_package.h"
#include "server/store/store_inside.h"

bool package_is_valid(const StorePackage *package);
bool revision_is_valid(const StoreRevision *revision);
void package_row_write(Sql *sql, const StorePackage *package);
Status package_make_in(Sql *sql, StorePackage *package, uint32_t count_max);
Status revision_row_find(Sql *sql, const char *package_id, uint32_t number, StoreRevision *out);
void revision_row_write(Sql *sql, const StoreRevision *revision);
// It is live, or was until now. The one that was is noted too: a program that did not note it may
// have made it live.
void revision_note_live(Sql *sql, const char *package_id, uint32_t number);
Status revision_add_in(Sql *sql, StoreRevision *revision, uint64_t bytes_max);
void revision_drop_failed(Sql *sql, const char *package_id); // all but the newest
Status package_remove(Sql *sql, const char *package_id);     // as store_package_delete
// What an operator approved was something else, unless they trust its owner.
void package_unapprove(Sql *sql, StorePackage *package);
uint64_t package_bytes(Sql *sql, const char *package_id); // blobs and rows
// Is it offered to this account, now?
bool offer_holds(Sql *sql, const char *package_id, uint64_t account);
void offer_end(Sql *sql, const char *package_id);
Status package_person_find(Sql *sql, const char *package_id, uint64_t account,
                           StorePackagePerson *out);
// The thumbnail of a place is its own, or else that of its live revision; 0: none.
void package_show_thumbnail(Sql *sql, const char *package_id, uint32_t number);
