// Reports of people about people, worlds and places, and the evidence: who said what and who was
// there in the ten minutes before, as a world said it. These wait for the disk.
#pragma once

#include "core/base/limits.h"
#include "core/wire/moderation.h"
#include "server/store/store.h"

#define STORE_REPORT_TEXT_BYTES (REPORT_TEXT_BYTES_MAX + 1)
#define STORE_LINE_TEXT_BYTES   (CHAT_BYTES_MAX + 1)
#define STORE_REPORT_ALL        INT64_MAX // an id above all others

typedef enum StoreReportState {
    STORE_REPORT_ANY = 0, // for store_reports
    STORE_REPORT_OPEN = 1,
    STORE_REPORT_DISMISSED = 2,
    STORE_REPORT_ACTED = 3
} StoreReportState;

typedef enum StoreReportSource {
    STORE_REPORT_PAGE = 1, // over HTTP: who made it is certain
    STORE_REPORT_GAME = 2  // by a world, whose word it is
} StoreReportSource;

typedef struct StoreReport {
    uint64_t report_id; // rises by one
    StoreReportState state;
    StoreReportSource source;
    uint64_t reporter_id;            // 0: forgotten
    uint64_t account_id;             // who is reported; 0: nobody
    char place_id[65], world_id[65]; // "": none
    char reason[REPORT_REASON_BYTES];
    char text[STORE_REPORT_TEXT_BYTES], note[STORE_REPORT_TEXT_BYTES];
    uint64_t handler_id; // the operator who closed it
    uint64_t created_unix_ms, handled_unix_ms;
} StoreReport;

typedef struct StoreReportLine {
    uint8_t kind;        // HeardKind
    bool is_known;       // the host knew that this account was in the world
    uint64_t account_id; // who said it, came or left
    uint64_t unix_ms;
    char text[STORE_LINE_TEXT_BYTES];
} StoreReportLine;

// Which host on another machine it came from. What such a host says may be a lie.
typedef struct StoreReportHost {
    char host_id[65]; // "": it is from this machine
    uint8_t boot[STORE_BOOT_BYTES];
    uint64_t number; // the host's own, from 1; 0: only the evidence is the host's
} StoreReportHost;

// One that was sent before is found by its number: nothing is stored, and *report has its id.
// STATUS_LIMIT: as below.
MUST_USE Status store_report_add_from(Store *store, const StoreReportHost *host,
                                      StoreReport *report, const StoreReportLine *lines,
                                      uint32_t line_count, uint32_t open_max);
// The evidence of a report that has none, about that world. STATUS_EXISTS: it has some from a host.
// STATUS_NOT_FOUND: no such report of that world.
MUST_USE Status store_report_add_evidence(Store *store, const StoreReportHost *host,
                                          uint64_t report_id, const char *world_id,
                                          const StoreReportLine *lines, uint32_t line_count);
// STATUS_NOT_FOUND: it did not come from a host.
MUST_USE Status store_report_host(Store *store, uint64_t report_id, StoreReportHost *out);
// Fills its report_id. STATUS_LIMIT: open_max are open already.
MUST_USE Status store_report_add(Store *store, StoreReport *report, const StoreReportLine *lines,
                                 uint32_t line_count, uint32_t open_max);
MUST_USE Status store_report_find(Store *store, uint64_t report_id, StoreReport *out);
// The newest first, those below that id.
MUST_USE Status store_reports(Store *store, StoreReportState state, uint64_t below,
                              StoreReport *out, uint32_t max, uint32_t *count);
MUST_USE Status store_report_lines(Store *store, uint64_t report_id, StoreReportLine *out,
                                   uint32_t max, uint32_t *count);
// How an operator closed it, or opened it again: state, note, handler_id, handled_unix_ms.
// STATUS_NOT_FOUND.
MUST_USE Status store_report_close(Store *store, const StoreReport *report);
// Removes the evidence of reports that were made before that time.
MUST_USE Status store_report_expire(Store *store, uint64_t before_unix_ms, uint64_t *lines);
