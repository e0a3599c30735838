// Cells of a context's sequence in a file, and its checkpoints behind them: all of them, or a stretch, so that a document at the
// beginning is on disk once for all chats that begin with it. What else a session file has, and whether one may be restored,
// electron/engine/native/sessionFile.ts knows.
#pragma once

#include "fields.h"
#include "context/Context.h"

#include <cstdint>
#include <string>

namespace concertina {

struct CellBytes {
    uint64_t state = 0; // llama.cpp's own sequence file: tokens and cells
    uint64_t checkpoints = 0;

    CONCERTINA_FIELDS(state, checkpoints)
};

// Both end with `cancelled` soon after the context's job is cancelled; a restore that upstream has begun ends first, and
// leaves the context empty.

// Those of the tokens `from` to `to`, `to` not included; less than all only where `sharesCells` (else throws `bad-request`). Throws
// `busy` when a request of the API has taken the cells, and `storage-failed`, behind which a part of the file may be left.
CellBytes saveCells(Context & context, const std::string & path, size_t from, size_t to);

// Tokens restored. `from`: 0, or the number of tokens in the context, behind which those of the file go. Throws `data-corrupt` for
// cells that are not those of such a context, which then has what it had before `from`, or checkpoints that are damaged, which
// leave it as it was.
uint64_t restoreCells(Context & context, const std::string & path, const CellBytes & written, size_t from);

} // namespace concertina
