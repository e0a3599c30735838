// Prefill: many query vectors per KV head.

#include "attention.h"

extern "C" size_t turbo_prefill_work(const turbo_attention *, int) {
    return 0;
}

extern "C" bool turbo_prefill_run(const turbo_attention *) {
    return false;
}
