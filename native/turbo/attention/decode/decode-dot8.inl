// Dot products of a block of K with simd::dot4, which adds four products of bytes to a sum of 32 bits: each quarter has a sum of its
// own, which begins with what the bias of the levels will add to it, negated, and meets its multiplier as a float.

template <typename FMT, int NQ> struct dot_all {
    const int8_t * q[NQ];
    simd::I *      acc; // [query][quarter]

    INLINE void operator()(simd::I a, simd::I b, int quarter, int dword_a, int dword_b) const {
        UNROLL for (int j = 0; j < NQ; ++j) {
            simd::I & sum = acc[j*FMT::QUARTERS + quarter];
            sum = simd::dot4(sum, a, simd::broadcast(q[j] + 4*dword_a));
            sum = simd::dot4(sum, b, simd::broadcast(q[j] + 4*dword_b));
        }
    }
};

// sum[j] += query j . a block of simd::W rows
template <typename FMT, int NQ> INLINE void dot_block(rows row, const int_query<FMT::GROUP> * const * q, simd::F * sum) {
    simd::I acc[NQ*FMT::QUARTERS];
    dot_all<FMT, NQ> dot = { {}, acc };
    UNROLL for (int j = 0; j < NQ; ++j) {
        dot.q[j] = q[j]->q;
        UNROLL for (int i = 0; i < FMT::QUARTERS; ++i) { acc[j*FMT::QUARTERS + i] = simd::broadcast(q[j]->sum + i); }
    }
    FMT::emit_k(row, dot);

    const simd::I     header = FMT::header(row);
    const multipliers m      = FMT::mult(header);
    const simd::F     d      = FMT::scale(header);
    UNROLL for (int j = 0; j < NQ; ++j) {
        simd::F x = simd::mul(simd::to_float(acc[j*FMT::QUARTERS]), m.quarter[0]);
        UNROLL for (int i = 1; i < FMT::QUARTERS; ++i) { x = simd::fma(simd::to_float(acc[j*FMT::QUARTERS + i]), m.quarter[i], x); }
        sum[j] = simd::fma(simd::mul(x, d), simd::set(q[j]->scale), sum[j]);
    }
}
