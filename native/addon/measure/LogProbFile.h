// Log-probabilities of all tokens at each scored place, on disk: a reference that does not fit into memory beside the
// context that is judged by it. Rows of float32 behind a header, in the machine's own byte order: a file of one run.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace concertina {

class LogProbWriter {
public:
    // throws `storage-failed`, here and below
    LogProbWriter(const std::string & path, int vocabulary);
    void add(const std::vector<float> & row);
    // everything is on its way to the disk; without it the file is not one
    void finish();

private:
    std::string path;
    std::ofstream file;
    uint64_t rows = 0;
    int vocabulary;
};

class LogProbReader {
public:
    // throws `data-corrupt` for a file that is not whole, or of another number of rows or tokens
    LogProbReader(const std::string & path, int vocabulary, size_t rows);
    void next(std::vector<float> & row);

private:
    std::string path;
    std::ifstream file;
    int vocabulary;
};

} // namespace concertina
