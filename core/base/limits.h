// Every number that bounds something, in one place, with its arithmetic. These are compile-time
// maxima: a world, place or operator may configure less, never more. A cap that is reached is
// STATUS_LIMIT plus a counter, never silence.
#pragma once

// Time. A tick is 1/60 s by default, 1/30 s allowed; a snapshot every third tick.
#define TICK_RATE_DEFAULT 60
#define TICK_RATE_LOW     30
#define TICK_CATCH_UP_MAX 5

// A world.
#define WORLD_PLAYERS_DEFAULT 100
#define WORLD_PLAYERS_MAX     4000
// A world without a session pauses after this long: its ticks stand still until somebody comes.
#define WORLD_EMPTY_MS 10000
// Scripts that change in a running world (ENTRY_RELOAD) are tried for this long: a set that fails
// in this time is replaced by the last good one. A fault of a file's top level, of onStart or of
// onReload is a failure at once; of other faults, so many are.
#define RELOAD_TRIAL_MS   5000
#define RELOAD_FAULTS_MAX 3
// Guests in one world from one address (IPv6: from one /64): a class behind one router fits, one
// machine does not fill a world.
#define GUESTS_PER_ADDRESS_MAX 64
#define WORLD_ENTITIES_MAX     65536
// Anchored parts of a scene; they live in shared read-only storage, not in entity slots.
#define SCENE_PARTS_MAX 262144
#define SCENE_BYTES_MAX (256u << 20) // of the compiled form
// Files of a place: in its folder, its draft, its package, and in a page.
#define PLACE_FILES_MAX 4000
// Half the edge of the playable cube, in metres. float32 keeps 1/256 m at 65,536 m; 16,384 m keeps
// 1 mm, which is the penetration that collision promises.
#define WORLD_EXTENT_M 16384
// A single part's half extent, in metres.
#define PART_HALF_EXTENT_MAX_M 512.0f
#define PART_HALF_EXTENT_MIN_M 0.01f

// Texts in a world, in bytes.
#define WORLD_NAME_BYTES_MAX     64 // of an entity, attribute, tag, team, message or store
#define ATTRIBUTE_TEXT_BYTES_MAX 1024
#define CHAT_BYTES_MAX           512
#define CHAT_PHRASES_MAX         64 // ready-made ones of an installation
#define CHAT_PHRASE_BYTES_MAX    128
#define REPORT_TEXT_BYTES_MAX    500
#define SOUND_NAME_BYTES_MAX     128
#define SOUND_CAPTION_BYTES_MAX  128
#define STORE_KEY_BYTES_MAX      128
#define KICK_REASON_BYTES_MAX    96
#define OWNER_REASON_BYTES_MAX   64 // of a kick by an owner; who it was is written before it
#define RAY_IGNORED_MAX          64 // entities that one ray of a script goes through
#define HISTORY_DAYS             30 // for which values of DataStores that were replaced are kept
// Inputs look where a script has turned their body for so long, if the client confirms nothing.
#define TURN_HELD_MS 2000

// The operator's list of words that are not said (word_list.h). A line of chat is compared at each
// of its letters with words of each length, at most 512 * 32 steps of some nanoseconds, twice.
#define WORD_LIST_WORDS_MAX   2000
#define WORD_LIST_LETTERS_MAX 32 // of one word
#define WORD_LIST_BYTES_MAX   (64u << 10)
// People whose chat one player does not want to see.
#define BLOCKS_PER_ACCOUNT_MAX 500

// Voxels: 32 x 32 x 32 per chunk, one metre each. 2 * 16,384 / 32 = 1,024 chunks along an axis.
#define CHUNK_EDGE      32
#define CHUNK_VOXELS    (CHUNK_EDGE * CHUNK_EDGE * CHUNK_EDGE)
#define CHUNK_COORD_MAX (WORLD_EXTENT_M / CHUNK_EDGE) // coordinates are in [-512, 511]
#define VOXEL_KINDS_MAX 1024                          // kinds 0..1023, 0 is air
// Chunks that are written out in one tick, because they were edited or somebody asks for them; one
// takes about 30 us, so either is at most 2 ms. The rest waits for the next tick.
#define CHUNK_SAVES_PER_TICK 64
#define CHUNK_SENDS_PER_TICK 64
#define CHUNK_WRITE_STEPS    15000 // of 2 ns

// Changed parts of the scene. One message has rows of so many bytes, and so many are answered in a
// tick for all sessions together. What changed is sent at once up to so many bytes for a session
// and snapshot; more is only announced, and fetched as fast as the link allows. A part that moved
// stays an entity until it has rested for so long. A client keeps so many moved parts for each
// entity that it can see.
#define PATCH_DATA_BYTES     16384
#define PATCH_SENDS_PER_TICK 64
#define PATCH_PUSH_BYTES     4096
#define PATCH_BYTES_PER_S    (128u << 10) // for one session, and at most so many at once:
#define PATCH_BURST_BYTES    (64u << 10)
#define PATCH_PUSHES_BYTES   (256u << 10) // of all cells in one snapshot
// If more parts than this changed since the last one, there is a new scene for those who come in;
// after this time at the earliest, and with rows of at most so many bytes.
#define PATCH_FOLD_PARTS        1000
#define PATCH_FOLD_MS           60000
#define PATCH_FOLD_BYTES        (8u << 20)
#define PATCH_ROW_STEPS         5 // of 2 ns
#define PATCH_REST_MS           1000
#define PATCH_PARTS_PER_VISIBLE 32
// One edit: a box of at most 64 x 64 x 64, a sphere of at most radius 24 (57,906 voxels).
#define VOXEL_EDIT_BOX_EDGE_MAX      64
#define VOXEL_EDIT_SPHERE_RADIUS_MAX 24.0f

// What a world process may use of the machine: address space, all of it taken before the first
// tick. Measured: 31 MiB for the least world, 43 MiB for its scripts, 0.57 MiB a player, 3.6 KiB an
// entity, 0.78 MiB a JSON session, 96 KiB a socket, 9 times the bytes of a place of 30,000 parts;
// base terrain of 16,384 chunks takes 67 MiB. These numbers leave about as much again.
#define WORLD_MEMORY_BASE_BYTES      (384ull << 20)
#define WORLD_MEMORY_PLAYER_BYTES    (1ull << 20)
#define WORLD_MEMORY_ENTITY_BYTES    (6ull << 10)
#define WORLD_MEMORY_JSON_BYTES      (1ull << 20)
#define WORLD_MEMORY_SOCKET_BYTES    (128ull << 10)
#define WORLD_MEMORY_PLACE_TIMES     64
#define WORLD_MEMORY_BEGINNING_TIMES 2
#define WORLD_CPU_PERCENT_MAX        100 // of one processor: a world has one thread

// Connections of one world: two for each player, because a player may come back while the old
// connection is still open, and some for those who are about to join (world_socket_max).
#define WORLD_SOCKETS_MAX   8000
#define WORLD_SOCKETS_SPARE 512

// HTTP. A request that is answered later costs its memory and a connection until then; one address
// may have a quarter of them.
#define HTTP_WAITING_MAX 256
// Memory that a handler may take for one request (http_arena), unless its route says more.
#define HTTP_ARENA_BYTES     (256u << 10)
#define HTTP_ARENA_BYTES_MAX (16u << 20)
// A body must arrive at this rate once its first seconds (the time of a request) are over; an
// answer must be taken at it as well. Bytes a second.
#define HTTP_RATE_MIN (64u << 10)
// Ranges of addresses of proxies that are believed.
#define HTTP_TRUSTED_PROXIES_MAX 16
// WebSockets of one address (IPv6: of one /64), and of all.
#define HTTP_SOCKETS_PER_ADDRESS_MAX 64
#define HTTP_SOCKETS_PER_ACCOUNT_MAX 16 // in place of its address, so that a school fits
#define HTTP_SOCKETS_MAX             65536

// Backups that lie beside the data folder because an operator asked for them; none is deleted
// unasked.
#define BACKUPS_KEPT_MAX 16

// Live numbers for pages (GET /api/live). Streams in all, of one address (IPv6: of one /64) and of
// one account; how long one may last before the page asks again, with its rights of then; a sign of
// life for those who have nothing new. Places whose creators look at them at once, and rows of one
// topic.
#define LIVE_STREAMS_MAX             512
#define LIVE_STREAMS_PER_ADDRESS_MAX 32 // a school shares one; of its 64 connections
#define LIVE_STREAMS_PER_ACCOUNT_MAX 8
#define LIVE_STREAM_SECONDS          60
#define LIVE_HEARTBEAT_SECONDS       10
#define LIVE_PLACE_TOPICS_MAX        64
#define LIVE_ROWS_MAX                8192

// Signing in. Failures, and accounts that are made, count for a quarter of an hour (attempt.h).
#define FAILURES_PER_NAME_MAX    10
#define FAILURES_PER_ADDRESS_MAX 100
#define ACCOUNTS_PER_ADDRESS_MAX 300   // guests too: a school shares one address
#define ATTEMPTS_MAX             65536 // counters; 24 bytes each
// Sign-ins of one account: of browsers, where the oldest ends for a new one, and tokens of tools.
#define SESSIONS_PER_ACCOUNT_MAX 32
#define TOKENS_PER_ACCOUNT_MAX   32

// Settings of a server: the size of their file, and the letters of a secret key. 16 letters of an
// alphabet of 64 are 96 bits.
#define SETTINGS_FILE_BYTES_MAX (64u << 10)
#define SECRET_KEY_LETTERS_MIN  16
#define SECRET_KEY_LETTERS_MAX  1024

// Threads for work that blocks, and jobs that wait for one of them.
#define WORK_POOL_THREADS_DEFAULT 2
#define WORK_POOL_THREADS_MAX     64
#define WORK_POOL_QUEUE_DEFAULT   256
#define WORK_POOL_QUEUE_MAX       65536

// Lag compensation: a shot is tested where its shooter saw the target, at most this long ago.
// 350 ms at 60 Hz are 21 ticks; one more to interpolate between, two spare.
#define HISTORY_REWIND_MS 350
#define HISTORY_TICKS     24

// Events of one tick; a full array sets STATUS_LIMIT and counts what was dropped.
#define SIM_EVENTS_MAX 8192

// Voxels of one edit that scripts are told one by one (World.VoxelChanged); of a larger edit they
// are told the box (World.VoxelsChanged).
#define VOXEL_WATCH_MAX 64

// Net ids stay below 2^53, so that JSON readers keep them exact.
#define SIM_NET_ID_MAX ((1ull << 53) - 1)

// Points that one NPC walks in a loop, from a scene or from Npc.SetPatrol.
#define NPC_PATROL_MAX 16

// Path finding: 12 bytes a cell, one search at a time.
#define PATH_NODES_PER_TICK_MAX 65536
#define PATH_CELLS_MAX          65536

// What scripts may make the sim do. A script's things are counted by the slot of the script, of
// which there are at most 1,024.
#define SIM_MAKERS_MAX 1024
// Steps of a tick for the things of all scripts together; at 2 ns a step this is 4 ms. With the 8
// ms that scripts may run themselves, 4.6 of the 16.6 ms of a tick stay for players and snapshots.
// 512 NPCs take about 1,000 steps each and 2,048 projectiles about 250: half of it each.
#define SIM_MAKER_STEPS_PER_TICK 2000000
// The search for free places takes at most so long in one tick, for all characters that something
// was built into (1 ms); the rest waits for the next tick.
#define SIM_UNSTUCK_STEPS_PER_TICK 500000
// For one character that is teleported; then it stays where the search has stopped.
#define SIM_FREE_STEPS_MAX 100000
// What one script may have in a world of 16,384 entities: a quarter of all, an eighth as
// projectiles, and half of the 512 NPCs.
#define SCRIPT_ENTITIES_MAX    4096
#define VIEW_PAINTS_MAX        1024 // things of the server that scripts of one client have painted
#define SCRIPT_PROJECTILES_MAX 2048
#define SCRIPT_NPCS_MAX        256
// Messages, sounds, chat and requests to stores of one script in a tick: a quarter of what fits.
#define SCRIPT_EFFECTS_PER_TICK_MAX 1024

// Sounds that run until they are stopped, in a world: who comes later or nearer hears them too. A
// page plays 32 sounds at once, so more of them in one place are not heard anyway.
#define SOUND_LOOPS_MAX 128
// From farther away nobody hears a sound that has a place, and it is not sent. A loop ends for a
// client only so much farther away, so that one who stands at the edge does not switch it.
#define SOUND_HEARING_M      64
#define SOUND_HEARING_EDGE_M 8
// A client is sent at most so many sounds in a tick; it plays no more at once.
#define SOUNDS_PER_CLIENT_TICK 32
// How often a client's loops are compared with what it hears, while nobody changes one.
#define SOUND_LOOK_TICKS       6
#define SOUND_PITCH_MIN        0.25f
#define SOUND_PITCH_MAX        4.0f
#define SOUND_FADE_SECONDS_MAX 30.0f

// Of what has no cap of its own for a script (pages and chunks of terrain, records, attributes,
// texts and tags, bytes that are sent in a tick, a viewer's events, requests to stores) one script
// has at most half; the last quarter is for scripts with less than a sixty-fourth (fair_share.h).
#define SCRIPT_PART_MOST   2
#define SCRIPT_PART_LATE   4
#define SCRIPT_PART_LITTLE 64

// Structures a player or a world may have standing.
#define STRUCTURES_PER_PLAYER_MAX 2000
#define STRUCTURE_CATALOGUE_MAX   256

// Scripts. Of everything that scripts share, a script has a few for itself alone (OWN), and takes
// more from what is there for all (SHARED) until it has its maximum (PER_SCRIPT). However many
// others take theirs, its own are there.
#define SCRIPTS_OF_A_SIDE_MAX 4096 // of one side of a world; a config has less
// Faults in a minute that one player causes in one script, before what it sends is not heard there
// for a minute; and so many pairs of player and script are remembered.
#define SCRIPT_BLAME_FAULTS          20
#define SCRIPT_BLAMES_MAX            64
#define SCRIPT_COROUTINES_OWN        16 // that wait or sleep; a timer is one too
#define SCRIPT_COROUTINES_PER_SCRIPT 2048
#define SCRIPT_COROUTINES_SHARED     8192
#define SCRIPT_DEFERRED_OWN          16 // signals fired and calls deferred that did not run yet
#define SCRIPT_DEFERRED_PER_SCRIPT   1024
#define SCRIPT_DEFERRED_SHARED       4096
// Of a tick's damage, hits, jumps, landings, edits and lost tags, so many are told to scripts; the
// rest is dropped and counted. So there is always room for players who come and go.
#define SCRIPT_NOISE_MAX              256
#define SCRIPT_QUEUED_PER_SCRIPT      256  // events and handlers that wait for its share of time
#define SCRIPT_SPAWN_HELD_TICKS       120  // Spawned waits so long for handlers of PlayerAdded
#define SCRIPT_CONNECTIONS_PER_SCRIPT 1024 // to one signal
#define SCRIPT_CONNECTIONS_MAX        8192 // of one script, to all signals
#define SCRIPT_SIGNALS_MAX            4096 // that one script has made and something still holds

// What a script wants shown on the screen of a player (UI.Show). The page lays it out anew when it
// changes, so a tree must not be larger than a screen can show.
#define UI_WIDGETS_MAX      256  // in a tree, and tables inside of them
#define UI_FIELDS_MAX       4096 // in all of them together
#define UI_DEPTH_MAX        6    // widgets inside each other
#define UI_TEXT_BYTES_MAX   1024 // of one text
#define UI_CHANGES_PER_TICK 4    // by one script, on the screen; the page shows the last
#define UI_ABOVE_MAX        64   // entities that one script shows something above; changes a tick
#define UI_WAITING_MAX      256  // trees of all scripts that wait to be drawn
#define UI_WAITING_BYTES    (256u << 10)

// The sky, and what scripts add to the picture (core/wire/sky.h, visual.h). A day takes at least
// four seconds. What a client's scripts want shown waits for the next picture; of more the oldest
// goes.
#define SKY_HOURS_PER_SECOND_MAX 6
#define SKY_FOG_MIN_M            8
#define SKY_FOG_MAX_M            4096
#define EFFECT_NAMES             10 // built-in effects
#define EFFECT_SIZE_MAX          10
#define EFFECT_SECONDS_MAX       10
#define VIEW_VISUALS_MAX         64  // trails, lights and emitters that a client's scripts set
#define VIEW_MOMENTS_MAX         64  // bursts, beams and shakes that wait
#define SCRIPT_MOMENTS_PER_TICK  32  // of those by one script of a client; half of what waits
#define VISUALS_DRAWN_MAX        400 // trails, lights and emitters that a page is given
#define CAMERA_FIELD_MIN         30  // degrees
#define CAMERA_FIELD_MAX         110
#define CAMERA_FIELD_NORMAL      70
#define CAMERA_MOVE_SECONDS_MAX  60

// --- the game protocol --------------------------------------------------------------------------
// What a client's author has to know of these is said in core/wire/limit.def, in words, and from
// there in docs/PROTOCOL.md.

// A message, in either direction; snapshots and other messages as JSON are longer. 65,536 bytes of
// a remote are 87,384 characters of base64.
#define MESSAGE_BYTES_MAX           (96 << 10)
#define MESSAGE_JSON_DOWN_BYTES_MAX (512 << 10)
#define MESSAGE_JSON_NODES_MAX      8192
// Envelope, payload, list, item, vector; some spare to say where.
#define MESSAGE_JSON_DEPTH_MAX 8

// Coming in.
#define JSON_SESSIONS_MAX     64
#define HANDSHAKE_MS          10000
#define TICKET_MS             30000
#define BODY_KEPT_MS          60000
#define RESUME_MS             600000
#define SOCKET_FIRST_MS       10000 // until the first whole message
#define SOCKET_MESSAGE_MS     10000 // from the first byte of a message to its last
#define SOCKET_PING_MS        10000
#define SOCKET_SILENT_MS      30000
#define OUTPUT_BYTES_MAX      (256 << 10) // the largest frame and some messages
#define OUTPUT_JSON_BYTES_MAX (768 << 10)

// What a session may send: a ring of messages that wait for the tick, and token buckets,
// X(NAME, at once, refilled in a second, what it counts).
#define INBOX_MESSAGES_MAX 256
#define INBOX_BYTES_MAX    (128 << 10)
#define INBOX_PER_TICK     32
#define MALFORMED_MAX      8
#define REMOTE_RATE_MOST   200
#define REMOTE_RATE_SECOND 100
#define RATE_LIST(X)                                                                          \
    X(MESSAGE, 400, 200, "messages of any kind; a stalled link delivers two seconds at once") \
    X(INPUT, 180, 60, "input batches; more of them only acknowledge")                         \
    X(CHAT, 5, 1, "`chat.say`, `moderation.report`")                                          \
    X(REMOTE, REMOTE_RATE_MOST, REMOTE_RATE_SECOND, "`remote.fire`")                          \
    X(BUILD, 20, 10, "`build.place`, `build.remove`, `build.preview`")                        \
    X(TERRAFORM, 20, 10, "`voxel.terraform`, also with `preview`")                            \
    X(CHUNK, 256, 64, "chunks of `voxel.chunk_request`, cells of `entity.patch_request`")     \
    X(PROFILE, 4, 2, "`profile.…`")                                                           \
    X(SCRIPT, 64, 32,                                                                         \
      "`script.ScriptRequest` (one for each 16 scripts), `script.ScriptVerify`, "             \
      "`script.ScriptVerifyList`, `session.blob_request`")

// Inputs: those without a tick wait in a queue, a fifth of a second at 60 Hz; the last one is held
// while none comes.
#define INPUT_QUEUE_MAX 12
#define INPUT_HOLD_MS   500

// Snapshots that are not acknowledged.
#define ACK_SLACK_MS  100
#define ACK_GUESS_MS  250 // the round trip, before the first acknowledgement
#define ACK_BEHIND_MS 5000
#define ACK_FIRST_MS  60000 // a client may have to fetch the scene first

// Unreliable remotes that wait for one link: the newest of so many names. Above so many
// unconfirmed bytes the link is busy.
#define REMOTE_LATEST_NAMES 16
#define REMOTE_LATEST_BYTES (8u << 10)
#define REMOTE_SOFT_BYTES   (64u << 10)

// Commands.
#define PREVIEW_MS           5000
#define INVOKES_MAX          64
#define INVOKE_MS            10000
#define CHUNK_REQUESTS_MAX   64
#define PATCH_REQUESTS_MAX   64
#define TRANSFERS_MAX        64
#define TRANSFER_PIECE_BYTES (16 << 10)

// Worlds and people of an installation. A place may have many worlds; an account makes some, a
// guest one, and the guests of one address three.
#define BANS_MAX               65536
#define WORLDS_PER_ACCOUNT_MAX 20
#define WORLDS_PER_PLACE_MAX   4096
#define WORLDS_PER_ADDRESS_MAX 3
#define WORLD_GUESTS_MAX       256 // accounts that are invited to a private world
// Places that are opened on demand: how many wait for that; how long the files of a replaced
// revision are still sent, after the last world that runs with it has ended; how long one that
// could not be built is not tried again.
#define PLACE_OPENINGS_MAX 256
#define PLACE_RETIRED_MS   60000
#define PLACE_BROKEN_MS    10000
// Of a server without accounts; the one that was used longest ago gives way.
#define GUEST_SIGN_INS_MAX 65536
// The listing. Tags of a place; words of one place that search knows, and of one query; places that
// a query looks at before it gives what it has; collections of the operator and places in one.
#define TAGS_PER_PLACE_MAX        8
#define TAG_LETTERS_MAX           24
#define SEARCH_WORDS_PER_PLACE    200
#define SEARCH_TERMS_MAX          8
#define SEARCH_LOOKED_AT_MAX      512
#define LISTING_PAGE_MAX          100
#define COLLECTIONS_MAX           64
#define COLLECTION_PLACES_MAX     100
#define FAVOURITES_PER_PERSON_MAX 1000
// Answers of the listing that are kept ready, and the longest question that one is kept for.
#define READY_ANSWERS_MAX  256
#define READY_KEY_BYTES    256
#define READY_ANSWER_BYTES (128u << 10)
// Visits that wait to be stored; one more is counted as lost.
#define VISITS_WAITING_MAX 8192
// Evidence for reports: what was said in a world, and who came and went, in the last ten minutes
// and at most so many bytes (one player who says as much as they may fills them in eight minutes),
// all worlds together. A report has the newest lines, for 30 days.
#define EVIDENCE_MS            600000u
#define EVIDENCE_BYTES_MAX     (256u << 10)
#define EVIDENCE_ALL_BYTES_MAX (64u << 20)
#define EVIDENCE_LINES_MAX     500
#define EVIDENCE_KEPT_MS       (30ull * 24 * 3600 * 1000)
#define REPORTS_OPEN_MAX       10000
#define REPORTS_PER_ACCOUNT    10 // in a quarter of an hour
#define REPORTS_PER_ADDRESS    30
#define KICKS_PER_ACCOUNT      60 // by the owners of worlds and places, in a quarter of an hour
#define CHAT_RULES_MAX         65536
#define BLOCKS_MAX             (1u << 20) // of everybody
#define ADDRESS_BANS_MAX       4096
// Rooms that one address asked for and that are not there, in that time: then private worlds are
// not found either. Codes of private worlds have 50 bits.
#define ROOM_MISSES_MAX 60
#define ROOM_MISSES_MS  600000
#define ROOM_MISS_SLOTS 4096 // addresses that are remembered
// Worlds on other machines: orders that wait for one, orders in one answer, accounts in one report
// of its host, and accounts that are remembered of a world (more than can be in it). A host that
// has not reported for so long is not counted on.
#define REMOTE_ORDERS_MAX          64
#define REMOTE_ORDERS_PER_ANSWER   16
#define REMOTE_ACCOUNTS_PER_REPORT 256
#define REMOTE_ACCOUNTS_MAX        4096
// Of the control plane: who was led to such worlds, and reports whose evidence was asked for. Of a
// host: reports that wait to be sent, and bytes of one with its evidence (EVIDENCE_BYTES_MAX with
// every sign doubled, and 150 bytes for each line).
#define REMOTE_LED_MAX            16384
#define REMOTE_ASKED_MAX          256
#define REMOTE_EVIDENCE_MAX       16
#define REMOTE_EVIDENCE_BYTES_MAX (1u << 20)
#define REMOTE_REPORT_MS          1000
#define REMOTE_SILENT_MS          10000
#define REMOTE_RELOAD_MS          20000 // until a host has said what became of new scripts
// Places that people publish. Bytes are those of all blobs that an account's packages use:
// packages, pictures, drafts and their history.
#define PACKAGES_PER_ACCOUNT_MAX 200
// Rows cost room too: so much each for files of drafts and versions of them, and for a revision,
// whose notes and reason may be long.
#define ROW_CHARGE_BYTES          512
#define REVISION_CHARGE_BYTES     4096
#define REVISIONS_PER_PACKAGE_MAX 500
#define REVISIONS_FAILED_MAX      20 // the newest are kept
#define OFFER_DAYS                14 // then it is over
#define CLASSES_PER_TEACHER_MAX   100
#define CLASS_PUPILS_MAX          250
#define CLASS_TEACHERS_MAX        16   // besides the first one
#define ACCOUNT_MB_DEFAULT        1024 // `account_mb` of the settings
#define PACKAGE_PEOPLE_MAX        256
#define SPELLS_PER_PLACE_MAX      16
#define SPELL_METADATA_BYTES_MAX  (16u << 10)
#define SPELL_MODULES_MAX         16         // of one spell
#define SPELL_BUNDLE_BYTES_MAX    (1u << 20) // all of them
#define PICTURES_MAX              9          // the thumbnail, and screenshots
#define PICTURE_BYTES_MAX         (4u << 20)
#define DRAFT_FILE_BYTES_MAX      (64u << 20)  // as the largest file of a package
#define DRAFT_BYTES_MAX           (256u << 20) // all its files, as those of a package
#define UPLOADS_MAX               8            // at once; of one account:
#define UPLOADS_PER_ACCOUNT       2
#define JOBS_PER_ACCOUNT_MAX      8  // builds that wait or run
#define TRASH_DAYS                30 // then it is deleted
// A world as one file: all of it, and one chunk or entity in it.
#define WORLD_FILE_BYTES_MAX (256u << 20)
#define WORLD_ITEM_BYTES_MAX (1u << 20)

// A place that is being edited (core/edit). A transaction is what one person does at once; what
// undoes it, and what an undo tells the others, may be larger: the deletion of something small can
// have removed much. The log is what can still be undone.
#define EDIT_TRANSACTION_BYTES_MAX (1u << 20)
#define EDIT_INVERSE_BYTES_MAX     (8u << 20)
#define EDIT_MESSAGE_BYTES_MAX     (EDIT_INVERSE_BYTES_MAX + 1024)
#define EDIT_TARGETS_MAX           65536 // of one operation
#define EDIT_CLIP_ENTITIES_MAX     65536 // of one paste
#define EDIT_CLIP_BYTES_MAX        (16u << 20)
#define EDIT_RECORDS_BYTES_MAX     (64u << 20) // of all objects together
#define EDIT_PATH_BYTES_MAX        160
#define EDIT_LABEL_BYTES_MAX       64
#define EDIT_EDITORS_MAX           32
#define EDIT_LOG_MAX               10000
#define EDIT_LOG_BYTES_MAX         (16u << 20)
#define EDIT_PENDING_MAX           256 // transactions of one editor that are not confirmed yet
#define EDIT_RENUMBERED_MAX        256 // ids of one editor that were taken, until the page knows
#define EDIT_NUMBER_AHEAD_MAX      1000000 // of a transaction, after the editor's last one
#define EDIT_HASH_EVERY            64      // transactions between two hashes of the document
#define EDIT_TEXT_BYTES_MAX        JSON_BYTES_MAX
#define EDIT_SCENE_NODES_MAX       JSON_NODES_MAX // what scene.json may say, so that it can be read
#define EDIT_SCENE_BYTES_MAX       JSON_BYTES_MAX
#define EDIT_FRAGMENT_BYTES_MAX    (64u << 10) // of a message, in one frame of the socket
#define EDIT_UP_BYTES_MAX          (EDIT_TRANSACTION_BYTES_MAX + EDIT_FRAGMENT_BYTES_MAX)
#define EDIT_NOTE_BYTES_MAX        (16u << 10) // of a frame of text
#define EDIT_PRESENCE_BYTES_MAX    (4u << 10)
#define EDIT_PRESENCE_PER_SECOND   15
// What one editor may send, on average and at once. After a lost connection a page sends all that
// was not confirmed.
#define EDIT_TRANSACTIONS_PER_SECOND 20
#define EDIT_TRANSACTIONS_AT_ONCE    (EDIT_PENDING_MAX + 44)
#define EDIT_BYTES_PER_SECOND        (256u << 10)
#define EDIT_BYTES_AT_ONCE           (4u << 20)
#define EDIT_WRITERS_MAX             256         // files of which somebody says "I write this"
#define EDIT_DOCUMENT_BYTES_MAX      (80u << 20) // EDIT_RECORDS_BYTES_MAX, with ids and files

// JSON that core reads: place files and script parameters.
#define JSON_DEPTH_MAX 32
#define JSON_NODES_MAX (1 << 20)
#define JSON_BYTES_MAX (32 << 20)

// A script: its source, and compiled. A rune enters a world as one entry
// (core/world/entry/entry.h), and a client gets it in pieces; what is larger is an error of the
// build.
#define SCRIPT_SOURCE_BYTES_MAX (256 << 10)
#define RUNE_BYTES_MAX          (512u << 10)
// A Luau source on its way to Lua: how deep it nests (Lua itself takes a little more), what is
// rewritten in it, and the locals of a repeat that a continue jumps over (a function has 200).
#define LUAU_DEPTH_MAX        120
#define LUAU_EDITS_MAX        (128u << 10)
#define LUAU_LATE_MAX         200
#define LUAU_SOURCE_BYTES_MAX (4u << 20)
// Runes in one answer over HTTP (http_bundle.h).
#define BUNDLE_RUNES_MAX 256
// What a client keeps of runes and scenes from one visit to the next: bytes and files (a place has
// at most 8 MiB of runes, so about eight large places fit). The page has the same numbers in
// web/src/core/cache.ts.
#define RUNE_STORE_BYTES_MAX (64u << 20)
#define RUNE_STORE_FILES_MAX 16384
// One of them: a rune, or the rows of a manifest.
#define RUNE_STORE_FILE_BYTES (2u << 20)
// Scripts of a place that clients may have, and all their runes together. A manifest of so many, as
// text, has about 300 bytes for each; what fits no message is fetched like a blob. The server's own
// manifest may have as many scripts again that clients never hear of.
#define MANIFEST_SCRIPTS_MAX   2000
#define MANIFEST_RUNES_BYTES   (8u << 20)
#define MANIFEST_BYTES_MAX     (2u << 20)
#define MANIFEST_MESSAGE_BYTES (32u << 10) // as a binary message; larger ones become a blob
// Parameters that differ from the scene are sent to clients with each manifest; each row counts as
// this much more than its texts have.
#define SCRIPT_PARAMETERS_BYTES_MAX (64u << 10)
#define SCRIPT_PARAMETERS_ROW_BYTES 64
// Entities with a script that a creator adds to one running world; then it is made anew.
#define SCRIPT_BOUND_MAX     64
#define SCRIPT_VERDICTS_MAX  256 // in one ScriptVerifyList
#define REQUIRE_WAIT_SECONDS 10  // of a client's script, for a module that is fetched
// Checking a script: what is told of one (the rest is counted), modules it requires by name, the
// scripts of one place, and diagnostics in one answer to a page.
#define CHECK_FINDINGS_MAX    200
#define CHECK_REQUIRES_MAX    1024
#define CHECK_ASSETS_MAX      256 // names of assets that a script writes
#define CHECK_MODULES_MAX     PLACE_FILES_MAX
#define CHECK_DIAGNOSTICS_MAX 256

// What scripts cost, for people (remote_cost.h, client_cost.h): names of remotes whose bytes are
// counted one by one; how often a client reports what its scripts cost, and with how many scripts;
// how many scripts the world adds up, and how many different faults of clients it keeps.
#define REMOTE_COST_ROWS        64
#define REMOTE_DECLARED_MAX     1024
#define REMOTE_STRANGERS_MAX    8 // names that nobody listens to, shown to the creator
#define CLIENT_COST_REPORT_MS   10000
#define CLIENT_COST_REPORT_ROWS 16
#define CLIENT_COST_ROWS        64
#define CLIENT_FAULT_ROWS       8
