// Cells of a context's sequence in a file, and its checkpoints behind them. What else a session file has, and whether one may be
// restored, electron/engine/native/sessionFile.ts knows.
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

// Throws `busy` when a request of the API has taken the cells, and `storage-failed`, behind which a part of the file may be left.
CellBytes saveCells(Context & context, const std::string & path);

// Tokens restored. Throws `data-corrupt` for cells that are not those of such a context, which is then empty, or checkpoints that
// are damaged, which leave it as it was.
uint64_t restoreCells(Context & context, const std::string & path, const CellBytes & written);

} // namespace concertina
