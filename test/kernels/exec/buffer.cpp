// Device memory with guards: whole pages that stop what the checks do not see (code of the shim that is not instrumented).

#include "msl-exec.h"

#include <cstring>
#include <stdexcept>
#include <sys/mman.h>

static const size_t PAGE = 4096;
static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

msl_buffer::msl_buffer(std::string name, size_t size) : label(std::move(name)), bytes(size) {
    const size_t inside = pages(size + 1);
    void * p = mmap(nullptr, inside + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("no memory for buffer " + label);
    mapping = (uint8_t *) p;
    base = mapping + PAGE;
    memset(base, 0xff, inside);
    mprotect(mapping, PAGE, PROT_NONE);
    mprotect(base + inside, PAGE, PROT_NONE);
}

msl_buffer::~msl_buffer() { munmap(mapping, pages(bytes + 1) + 2 * PAGE); }

void msl_buffer::fill(const void * from) {
    if (bytes > 0) memcpy(base, from, bytes);
}
