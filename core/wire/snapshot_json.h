// Snapshots for people and tools: a binary frame is run through a merge and printed in the room
// document's shape. There is one path of replication; a JSON session is its binary stream, printed.
//
//   {"v":2,"kind":"snapshot","seq":7,"payload":{"mode":"delta","tick":9012,"localAckSeq":118,
//    "last_processed_sequence_id":118,"features":{…}}}
//
// Features: entity (leave, enter, update), movement (players and NPCs by id, at the frame's tick),
// build, projectile, npc, presence, voxel, script, chat. Events stand in their feature as lists
// under the name of their action, each with its tick. A full snapshot has every feature, a delta
// only those with news; what moves along its curve has news in every frame.
#pragma once

#include "core/wire/merge.h"

// The merge is the session's. On failure nothing is written, and the merge must be reset: the bytes
// were invalid, or the text did not fit (STATUS_LIMIT).
MUST_USE Status snapshot_to_json(Merge *merge, const uint8_t *frame, size_t bytes, ByteWriter *out);
