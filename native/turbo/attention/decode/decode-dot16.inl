// Dot products of a block of K by sums of 16 bits, for levels without an instruction that adds up four products of bytes.
//
// Products of a quarter are multiplied by TURBO_MULT while still integers: for turbo types those of two registers are added up as 16
// bits first. That takes a bit off the query (query_step), an error of 1/80 of turbo4's own, and saves a sixth of the work per query
// vector. q8_0 would notice.

template <typename FMT, int NQ> struct dot_all {
    const int8_t *     q[NQ];
    const multipliers & m;
    simd::I *          acc;

    INLINE void operator()(simd::I a, simd::I b, int quarter, int dword_a, int dword_b) const {
        UNROLL for (int j = 0; j < NQ; ++j) {
            const simd::I qa = simd::broadcast(q[j] + 4*dword_a);
            const simd::I qb = simd::broadcast(q[j] + 4*dword_b);
            if (FMT::ADDENDS == 4) {
                acc[j] = simd::dot(acc[j], a, qa, b, qb, m.quarter[quarter]);
            } else {
                acc[j] = simd::dot(acc[j], a, qa, m.quarter[quarter]);
                acc[j] = simd::dot(acc[j], b, qb, m.quarter[quarter]);
            }
        }
    }
};

// sum[j] += query j . a block of simd::W rows
template <typename FMT, int NQ> INLINE void dot_block(rows row, const int_query<FMT::GROUP> * const * q, simd::F * sum) {
    const simd::I     header = FMT::header(row);
    const multipliers m      = FMT::mult(header);
    simd::I acc[NQ];
    dot_all<FMT, NQ> dot = { {}, m, acc };
    UNROLL for (int j = 0; j < NQ; ++j) {
        dot.q[j] = q[j]->q;
        acc[j]   = simd::zero();
    }
    FMT::emit_k(row, dot);

    // at the end, so that the sums need not wait for it
    const simd::F d = FMT::scale(header);
    UNROLL for (int j = 0; j < NQ; ++j) {
        acc[j] = simd::unbias(acc[j], m.quarter, q[j]->sum, FMT::QUARTERS, FMT::LEVEL_MAX);
        sum[j] = simd::fma(simd::mul(simd::to_float(acc[j]), d), simd::set(q[j]->scale), sum[j]);
    }
}
