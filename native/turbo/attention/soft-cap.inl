// 2^x, and the soft-cap of logits by it, over the level's vec-*.inl: for prefill and decode alike.

// 2^x for x in -126 .. 126: whole part into the exponent, a polynomial for the rest, -.5 .. .5. Its coefficients are a minimax
// fit, relative error 9.2e-8.
inline vec exp2_of(vec x) {
    const vec magic = set1(12582912.0f); // 1.5 * 2^23: adding it rounds to whole numbers
    const vec n = sub(add(x, magic), magic);
    const vec f = sub(x, n);
    vec p = set1(0x1.5bba14p-10f);
    p = fma(p, f, set1(0x1.3cea88p-7f));
    p = fma(p, f, set1(0x1.c6b752p-5f));
    p = fma(p, f, set1(0x1.ebf9bcp-3f));
    p = fma(p, f, set1(0x1.62e42ap-1f));
    p = fma(p, f, set1(1.0f));
    return mul(p, pow2(n));
}

// s = cap*tanh(s); cols: a multiple of WIDTH
void soft_cap(float * s, int cols, float cap) {
    const vec limit = set1(126.0f);
    for (int i = 0; i < cols; i += WIDTH) {
        // tanh(x) = 1 - 2/(e^2x + 1)
        const vec x = mul(load(s + i), set1(2.88539008f));
        const vec e = exp2_of(min2(limit, max2(set1(-126.0f), x)));
        store(s + i, mul(set1(cap), sub(set1(1.0f), div(set1(2.0f), add(e, set1(1.0f))))));
    }
}
