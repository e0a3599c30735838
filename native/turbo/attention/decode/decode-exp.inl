// e^x of x <= 0 to 2 ulp, for the levels with SIMD: Cephes' expf over the level's vec-*.inl. Not ggml_v_expf, which has other bits, more
// steps (it also serves x > 0), and stands in a header that is compiled for one set of flags.

// 0 below -87, NaN of a NaN
INLINE vec exp_of(vec x) {
    const vec low = set1(-87.0f);
    const vec v = max2(low, x);
    const vec n = round_even(mul(v, set1(1.44269504f)));
    const vec hi = fnma(n, set1(0.693359375f), v);
    const vec r = fnma(n, set1(-2.12194440e-4f), hi);
    vec p = set1(1.9875691500e-4f);
    p = fma(p, r, set1(1.3981999507e-3f));
    p = fma(p, r, set1(8.3334519073e-3f));
    p = fma(p, r, set1(4.1665795894e-2f));
    p = fma(p, r, set1(1.6666665459e-1f));
    p = fma(p, r, set1(5.0000001201e-1f));
    p = add(fma(mul(r, r), p, r), set1(1.0f));
    return zero_below(times_pow2(p, n), x, low);
}
