// Lines of levels with too few points to keep a GPU busy by long chunks, and sweeps of small levels in one launch.
#include "common.cuh"
#include "level.cuh"
#include "lines.cuh"

RELAX(relax_eta_compact_short, false, SHORT_CHUNK, true, false, false, SECTION)
RELAX(relax_eta_full_short, false, SHORT_CHUNK, false, false, false, SECTION)
RELAX(relax_xi_compact_short, true, SHORT_CHUNK, true, false, false, SECTION)
RELAX(relax_xi_full_short, true, SHORT_CHUNK, false, false, false, SECTION)

// The lines of one colour and direction, by one block.
template <bool XI, int MAPS>
__device__ void relax_all(const LevelLayout& layout, uint32 colour, uint32 lines, uint32 zero, real* a,
                          const real* f, real* u) {
    const uint32 count = ((XI ? layout.mj : layout.mi) + 1 - colour) / 2, chunks = blockDim.x / lines;
    for (uint32 block = 0; block * lines < count; ++block) {
        relax<XI, SHORT_CHUNK, false, false, false, ENDS, MAPS>(layout, block, colour, lines, chunks, zero, a, f, u);
        __syncthreads();
    }
}

// Forward and reverse sweeps in turn, `sweeps` of each, on a level that is small enough for one block. Its
// threads take `eta_lines` lines at a time along eta, `xi_lines` along xi; where those are none the level is
// relaxed along eta alone.
template <int MAPS>
__device__ void relax_in_turn(const LevelLayout& layout, uint32 sweeps, uint32 eta_lines, uint32 xi_lines, uint32 zero,
                              real* a, const real* f, real* u) {
    for (uint32 sweep = 0; sweep < 2 * sweeps; ++sweep) {
        const uint32 first = sweep % 2;
        relax_all<false, MAPS>(layout, first, eta_lines, zero && sweep == 0, a, f, u);
        relax_all<false, MAPS>(layout, 1 - first, eta_lines, 0, a, f, u);
        for (uint32 colour = 0; xi_lines > 0 && colour < 2; ++colour)
            relax_all<true, MAPS>(layout, colour == 0 ? first : 1 - first, xi_lines, 0, a, f, u);
    }
}

#define RELAX_IN_TURN(name, THREADS, MAPS)                                                              \
    BOUNDED_KERNEL(THREADS, name, LevelLayout layout, uint32 sweeps, uint32 eta_lines, uint32 xi_lines, \
                   uint32 zero, real* a, const real* f, real* u) {                                      \
        relax_in_turn<MAPS>(layout, sweeps, eta_lines, xi_lines, zero, a, f, u);                        \
    }

RELAX_IN_TURN(relax_by_block, IN_TURN_THREADS, LINE_MAPS)
RELAX_IN_TURN(relax_by_wide_block, WIDE_THREADS, WIDE_MAPS)
