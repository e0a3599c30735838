# Test files that need ggml and nothing of llama.
set(CODEC_TESTS turbo-tests.cpp codec-test.cpp matmul-test.cpp
    attention/attention-test.cpp attention/attention-reference.cpp attention/prefill-test.cpp)
