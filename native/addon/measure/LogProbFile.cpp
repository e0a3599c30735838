#include "measure/LogProbFile.h"

#include "errors.h"

#include <cstring>
#include <filesystem>

namespace concertina {
namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = { 'C', 'N', 'C', 'T', 'L', 'P', '0', '1' };

struct Header {
    char mark[sizeof magic] = {};
    uint64_t vocabulary = 0;
    uint64_t rows = 0;
};

std::streamsize rowBytes(int vocabulary) { return static_cast<std::streamsize>(sizeof(float)) * vocabulary; }

[[noreturn]] void notWritten(const std::string & path) {
    throw CodedError("storage-failed", path + " could not be written", "Check the free space of the disk.");
}

} // namespace

LogProbWriter::LogProbWriter(const std::string & path, int vocabulary)
    : path(path), file(fs::u8path(path), std::ios::binary | std::ios::trunc), vocabulary(vocabulary) {
    const Header empty; // without its mark until all rows are there
    if (!file.write(reinterpret_cast<const char *>(&empty), sizeof empty)) notWritten(path);
}

void LogProbWriter::add(const std::vector<float> & row) {
    if (!file.write(reinterpret_cast<const char *>(row.data()), rowBytes(vocabulary))) notWritten(path);
    rows++;
}

void LogProbWriter::finish() {
    Header header;
    std::memcpy(header.mark, magic, sizeof magic);
    header.vocabulary = static_cast<uint64_t>(vocabulary);
    header.rows = rows;
    file.seekp(0);
    file.write(reinterpret_cast<const char *>(&header), sizeof header);
    file.close();
    if (!file) notWritten(path);
}

LogProbReader::LogProbReader(const std::string & path, int vocabulary, size_t rows)
    : path(path), file(fs::u8path(path), std::ios::binary), vocabulary(vocabulary) {
    Header header;
    file.read(reinterpret_cast<char *>(&header), sizeof header);
    if (!file || std::memcmp(header.mark, magic, sizeof magic) != 0) {
        throw CodedError("data-corrupt", path + " holds no log-probabilities, or not all of them");
    }
    if (header.vocabulary != static_cast<uint64_t>(vocabulary) || header.rows != rows) {
        throw CodedError("data-corrupt", path + " holds the log-probabilities of another text or model");
    }
}

void LogProbReader::next(std::vector<float> & row) {
    row.resize(static_cast<size_t>(vocabulary));
    if (!file.read(reinterpret_cast<char *>(row.data()), rowBytes(vocabulary))) {
        throw CodedError("data-corrupt", path + " is cut short");
    }
}

} // namespace concertina
