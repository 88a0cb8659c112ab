// The difference of two documents as operations.
#pragma once

#include "core/edit/op.h"

// A transaction that makes `to` of `from`. The tables of files are not compared: a text does not
// have them.
MUST_USE Status edit_diff(const EditDoc *from, const EditDoc *to, EditBuffer *out);
