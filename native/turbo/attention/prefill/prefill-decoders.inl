// The decoders of types that many caches have, for levels with SIMD. Included as prefill-kernels.inl is, after it.

void decode_f16(const void * x, float * y, int64_t n) {
    const uint16_t * h = (const uint16_t *) x;
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) { store(y + i, load_f16(h + i)); }
    for (; i < n; ++i) { y[i] = from_f16(h[i]); }
}

void decode_q8_0(const void * x, float * y, int64_t n) {
    for (const block_q8_0 * b = (const block_q8_0 *) x; n > 0; n -= QK8_0, ++b, y += QK8_0) {
        const float d = from_f16(b->d);
        store_bytes(load_bytes(b->qs), d, y);
        store_bytes(load_bytes(b->qs + 16), d, y + 16);
    }
}

void decode_q4_0(const void * x, float * y, int64_t n) {
    for (const block_q4_0 * b = (const block_q4_0 *) x; n > 0; n -= QK4_0, ++b, y += QK4_0) {
        const bytes codes = load_bytes(b->qs);
        const float d = from_f16(b->d);
        store_bytes(minus8(low_nibbles(codes)), d, y);
        store_bytes(minus8(high_nibbles(codes)), d, y + 16);
    }
}
