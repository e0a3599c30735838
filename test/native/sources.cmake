# Test files that need ggml and nothing of llama.
set(CODEC_TESTS turbo-tests.cpp layout-test.cpp codec-test.cpp simd-test.cpp attention-test.cpp attention-reference.cpp
    prefill-test.cpp)
