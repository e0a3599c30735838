// The query of the integer kernels of decode: int8 with one scale per block of the cache, in the order in which a format's levels
// come out of their registers (format::value). Included as decode-body.inl is, before decode-dot16.inl or decode-dot8.inl.

template <int G> struct int_query {
    int8_t  q[G];       // in the order of format::value
    int32_t sum[4];     // of q over each quarter, as simd::query_sum has it
    float   scale;      // of the integer sums
    int32_t pad[(G == 32 ? 3 : 11)];
};

#include "decode-formats.inl"

template <typename FMT> size_t query_size_int(int dim) {
    return sizeof(int_query<FMT::GROUP>)*(dim/FMT::GROUP);
}

// max over lanes of pairs of neighbours' sums
static INLINE __m128 larger_pair(__m128 most, __m128 x) {
    return _mm_max_ps(most, _mm_add_ps(x, _mm_shuffle_ps(x, x, 0xb1)));
}

static INLINE float max_of_four(__m128 x) {
    const __m128 y = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_shuffle_ps(y, y, 1)));
}

// Size of an integer step, NaN when a value is not finite. Integers are as large as simd::dot can take: 127, and less where
// the addends of one sign in a 16-bit sum would overflow it together. x in the order of format::value.
template <typename FMT> float query_step(const float * x) {
    const __m128 zero = _mm_setzero_ps();
    __m128 most  = zero;
    __m128 sum   = zero; // of addends of one sign
    __m128 shown = zero; // NaN when a value is not finite
    for (int i = 0; i < FMT::GROUP; i += 8) {
        const __m128 a   = _mm_load_ps(x + i);
        const __m128 b   = _mm_load_ps(x + i + 4);
        const __m128 up_a = _mm_max_ps(a, zero);
        const __m128 up_b = _mm_max_ps(b, zero);
        const __m128 dn_a = _mm_max_ps(_mm_sub_ps(zero, a), zero);
        const __m128 dn_b = _mm_max_ps(_mm_sub_ps(zero, b), zero);
        most = _mm_max_ps(most, _mm_max_ps(_mm_max_ps(up_a, dn_a), _mm_max_ps(up_b, dn_b)));
        if (FMT::ADDENDS == 4) {
            sum = larger_pair(larger_pair(sum, _mm_add_ps(up_a, up_b)), _mm_add_ps(dn_a, dn_b));
        } else {
            sum = larger_pair(larger_pair(larger_pair(larger_pair(sum, up_a), up_b), dn_a), dn_b);
        }
        shown = _mm_add_ps(shown, _mm_mul_ps(zero, _mm_add_ps(a, b)));
    }
    const float by_most = max_of_four(most)/127.0f;
    const float by_sum  = max_of_four(sum)/simd::sum_limit(FMT::LEVEL_MAX, FMT::ADDENDS);
    shown = _mm_add_ps(shown, _mm_movehl_ps(shown, shown));
    return _mm_cvtss_f32(shown) + _mm_cvtss_f32(_mm_shuffle_ps(shown, shown, 1)) + (by_most > by_sum ? by_most : by_sum);
}

static INLINE __m128i integers_of(const float * x, __m128 inv) {
    return _mm_cvtps_epi32(_mm_mul_ps(_mm_load_ps(x), inv));
}

// 16 values; returns their sum
static INLINE int query_bytes(const float * x, __m128 inv, int8_t * q) {
    const __m128i a = _mm_packs_epi32(integers_of(x,     inv), integers_of(x + 4,  inv));
    const __m128i b = _mm_packs_epi32(integers_of(x + 8, inv), integers_of(x + 12, inv));
    _mm_storeu_si128((__m128i *) q, _mm_packs_epi16(a, b));
    const __m128i four = _mm_madd_epi16(_mm_add_epi16(a, b), _mm_set1_epi16(1));
    const __m128i two  = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return _mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 1);
}

template <typename FMT> void query_int(const float * values, int dim, float scale, void * query) {
    const int G       = FMT::GROUP;
    const int QUARTER = G/FMT::QUARTERS;
    int_query<G> * out = (int_query<G> *) query;
    for (int k = 0; k < dim; k += G, ++out, values += G) {
        alignas(16) float x[G];
        UNROLL for (int i = 0; i < G; ++i) { x[i] = values[FMT::value(i)]; }
        const float  step = query_step<FMT>(x);
        const __m128 inv  = _mm_set1_ps(step > 0.0f ? 1.0f/step : 0.0f);
        for (int i = 0; i < 4; ++i) { out->sum[i] = 0; }
        for (int i = 0; i < G; i += 16) { out->sum[i/QUARTER] += query_bytes(x + i, inv, out->q + i); }
        for (int i = 0; i < 4; ++i) { out->sum[i] = simd::query_sum(out->sum[i], FMT::LEVEL_MAX); }
        out->scale = scale*FMT::UNIT*step;
    }
}
