// Factors of the lines of a multigrid level.
#include "common.cuh"
#include "level.cuh"

// The recurrences along a line go from point to point: of a block of lines the threads of the first warp have one
// each, and do nothing but that. The other warps load the blocks of the points ahead, a stage of points of all lines at
// a time, into their registers, and from there into shared memory when the stage before is done: to wait for a
// load takes several times as long as the arithmetic of a point.
#define LOADERS (FACTOR_THREADS - WARP)
#define ROUNDS int(sizeof(real) == 4 ? 2 : 1)
#define STAGE int(ROUNDS * LOADERS / WARP)
// Blocks of a point: P, C, N and those of the wall terms.
#define PLANES 4

// What is loaded of a stage; rows are longer than a warp so that threads with points that follow each other do
// not store into one bank.
struct Stage {
    Block at[PLANES][STAGE][WARP + 1];
};

// N blocks of a point.
template <int N>
struct Blocks {
    Block at[N];
};

// Calls step(l, blocks) for `count` points of each line from point `first` on, upwards (DIRECTION 1) or downwards (-1),
// by the thread of the line, with the N blocks that get(line, l, blocks) puts there. All threads of the block call
// it; `first_line` is that of its first thread, and `own` says whether this thread has one.
template <int DIRECTION, int N, bool XI, bool COMPACT, class Get, class Step>
__device__ void in_stages(Stage& stage, const Line<XI, COMPACT>& first_line, bool own, int first, int count,
                          const Get& get, const Step& step) {
    const bool loads = threadIdx.x >= WARP;
    Blocks<N> ahead[ROUNDS];
    auto each = [&](const auto& work) {
#pragma unroll
        for (int round = 0; round < ROUNDS; ++round) {
            const int item = int(threadIdx.x) - WARP + round * LOADERS;
            // Neighbouring threads load what lies side by side.
            const int lane = XI ? item / STAGE : item % WARP, k = XI ? item % STAGE : item / WARP;
            work(ahead[round], lane, k);
        }
    };
    auto fetch = [&](int begun) {
        each([&](Blocks<N>& blocks, int lane, int k) {
            Line<XI, COMPACT> line = first_line;
            line.number += lane;
            if (begun + k < count && line.solved()) get(line, first + DIRECTION * (begun + k), blocks);
        });
    };
    if (loads) fetch(0);
    for (int begun = 0; begun < count; begun += STAGE) {
        if (loads)
            each([&](const Blocks<N>& blocks, int lane, int k) {
#pragma unroll
                for (int n = 0; n < N; ++n) stage.at[n][k][lane] = blocks.at[n];
            });
        __syncthreads();
        if (loads) fetch(begun + STAGE);
        if (own) {
            // Those of the next point are read before a step stores what might be theirs.
            Blocks<N> now, next;
            auto read = [&](int k) {
#pragma unroll
                for (int n = 0; n < N; ++n) next.at[n] = stage.at[n][k][threadIdx.x];
            };
            read(0);
#pragma unroll
            for (int k = 0; k < STAGE; ++k) {
                if (begun + k >= count) break;
                now = next;
                if (k + 1 < STAGE) read(k + 1);
                step(first + DIRECTION * (begun + k), now);
            }
        }
        __syncthreads();
    }
}

// Whether the pivot G = B (1 + N V') of wall terms has kept the sign of B, V' being what a line that
// couples as it should has: X = B^-1 G has X_pp, X_qq > SMALLEST_PIVOT and det X > SMALLEST_PIVOT^2.
#define SMALLEST_PIVOT real(0.1)
__device__ inline bool keeps_sign(const Block& columns, const Block& pivot) {
    const Block x = inverse(columns) * pivot;
    return x.xx > SMALLEST_PIVOT && x.yy > SMALLEST_PIVOT &&
           x.xx * x.yy - x.xy * x.yx > SMALLEST_PIVOT * SMALLEST_PIVOT;
}

// The border of a line: V of the first point of the recurrence is v, or W of transposed equations. At the line's first
// point stands the inverse of G = B_0 - N_0 V_1, or the transposed inverse of G = B_0 - P_1^T V_1. Returns whether
// that is finite.
template <bool COMPACT, bool TRANSPOSED>
__device__ bool finish_border(const Line<false, COMPACT>& line, const Block& v, bool guarded) {
    const int at = line.at(0);
    const Block columns = line.a.columns()[at];
    Block pivot = TRANSPOSED ? transposed(columns) : columns - line.next()[at] * v;
    if (TRANSPOSED && line.along() > 1) pivot = pivot - v * line.prev()[line.at(1)];
    const Block found = inverse(pivot);
    const bool kept = !guarded || keeps_sign(columns, TRANSPOSED ? transposed(pivot) : pivot);
    line.a.border()[at] = kept ? found : diagonal(0);
    return !kept || is_finite(found);
}
template <bool COMPACT, bool TRANSPOSED>
__device__ bool finish_border(const Line<true, COMPACT>&, const Block&, bool) { return true; }

// Inverse pivots of lines: D_l = C_l - P_l D_{l-1}^-1 N_{l-1}. Closed lines without their last
// point are open lines T; H = T^-1 (P_0 at the first point, N at the last one) is kept beside the
// pivots, and the last point's pivot is D = C - P H_{last-1} - N H_0. The first point of a bordered
// line is held, its inverse pivot stays zero; the line from its second point on is T, and V = T^-1 B is
// kept beside the pivots, unless the level has no `borders`; of transposed equations W = B^T T^-1. Returns
// whether all are finite. By a block of threads whose first line this is.
template <bool XI, bool COMPACT, bool TRANSPOSED>
__device__ bool factor_lines(const Line<XI, COMPACT>& first_line, uint32 borders, Stage& stage) {
    typedef Line<XI, COMPACT> AnyLine;
    AnyLine line = first_line;
    const uint32 lane = threadIdx.x;
    line.number += lane;
    const bool own = lane < WARP && line.solved();
    const int start = line.bordered(), count = int(line.open()) - start, last = start + count - 1;
    const bool closed = line.closed(), bordered = line.bordered() && borders != NO_BORDERS;
    Block* pivots = line.pivot();
    // V or W, or H: both are carried to the last point and back.
    Block* kept = closed ? line.a.closing() : line.a.border();
    Block carried = diagonal(0), h = diagonal(closed ? -1 : 0), before_next = diagonal(0);
    bool finite = true;
    auto blocks = [=](const AnyLine& of, int l, Blocks<PLANES>& to) {
        const int at = of.at(l);
        to.at[0] = of.prev()[at];
        to.at[1] = of.a.centre(at);
        to.at[2] = of.next()[at];
        if (bordered) to.at[3] = of.a.columns()[at];
    };
    in_stages<1, PLANES>(stage, first_line, own, start, count, blocks, [&](int l, const Blocks<PLANES>& of) {
        const Block &prev = of.at[0], &next = of.at[2], &column = of.at[3];
        const int at = line.at(l);
        const Block d = of.at[1] - prev * carried, adjugate = block(d.yy, -d.xy, -d.yx, d.xx);
        // The next point waits for D^-1 N: the product need not wait for the division.
        const real s = real(1) / (d.xx * d.yy - d.xy * d.yx);
        carried = s * (adjugate * next);
        const Block pivot = s * adjugate;
        finite = finite && is_finite(pivot);
        pivots[at] = pivot;
        if (bordered && TRANSPOSED) {
            h = (transposed(column) - h * before_next) * pivot;
            before_next = next;
        } else if (bordered) {
            h = pivot * (column - prev * h);
        } else if (closed) {
            h = real(-1) * (prev * h);
            if (l == last) h = h + next;
            h = pivot * h;
        }
        if (bordered || closed) kept[at] = h;
    });
    if (!bordered && !closed) {
        if (own && line.bordered()) line.a.border()[line.at(0)] = diagonal(0);
        return finite;
    }
    // What the first warp has stored others load after a barrier.
    auto back = [=](const AnyLine& of, int l, Blocks<2>& to) {
        const int at = of.at(l);
        const Block coupling = TRANSPOSED && bordered ? of.prev()[of.at(l + 1)] : of.next()[at];
        to.at[0] = kept[at];
        to.at[1] = TRANSPOSED && bordered ? coupling * pivots[at] : pivots[at] * coupling;
    };
    in_stages<-1, 2>(stage, first_line, own, last - 1, count - 1, back, [&](int l, const Blocks<2>& of) {
        h = of.at[0] - (TRANSPOSED && bordered ? h * of.at[1] : of.at[1] * h);
        kept[line.at(l)] = h;
    });
    if (!own) return true;
    const bool guarded = borders == SIGNED_BORDERS;
    if (bordered) return finish_border<COMPACT, TRANSPOSED>(line, h, guarded) && finite;
    const int at = line.at(last + 1);
    const Block before = line.prev()[at] * kept[line.at(last)];
    const Block pivot = inverse(line.a.centre(at) - before - line.next()[at] * h);
    pivots[at] = pivot;
    return finite && is_finite(pivot);
}

// Factors of all lines of `count` levels, a warp's width of them per block: the blocks from `first` on are those of a
// level, and its first `xi_blocks` take the xi-lines, which are longer, the others the eta-lines. The recurrences of
// one level leave most of a GPU idle. bad <- 1 if a pivot is not finite.
template <bool COMPACT, bool TRANSPOSED>
__device__ bool factor_level(const FactoredLevel& of, Stage& stage) {
    const LevelLayout layout = {of.layout};
    const uint32 block = blockIdx.x - of.first;
    const bool xi = block < of.xi_blocks;
    const uint32 first = (block - (xi ? 0 : of.xi_blocks)) * WARP;
    const uint32 borders = layout.walls() ? *of.borders : NO_BORDERS;
    const Operator<COMPACT> a = operator_of<COMPACT>(layout, of.values);
    return xi ? factor_lines<true, COMPACT, TRANSPOSED>({layout, a, first}, borders, stage)
              : factor_lines<false, COMPACT, TRANSPOSED>({layout, a, first}, borders, stage);
}

__device__ inline const FactoredLevel& level_of_block(const FactoredLevels& levels, uint32 count) {
    uint32 nth = count - 1;
    while (levels.at[nth].first > blockIdx.x) --nth;
    return levels.at[nth];
}

// Room for two blocks on a multiprocessor.
BOUNDED_KERNEL(2 * FACTOR_THREADS, factor_levels, FactoredLevels levels, uint32 count, uint32* bad) {
    __shared__ Stage stage;
    const FactoredLevel& of = level_of_block(levels, count);
    if (!(of.compact ? factor_level<true, false>(of, stage) : factor_level<false, false>(of, stage))) *bad = 1;
}

BOUNDED_KERNEL(2 * FACTOR_THREADS, factor_transposed_levels, FactoredLevels levels, uint32 count, uint32* bad) {
    __shared__ Stage stage;
    if (!factor_level<false, true>(level_of_block(levels, count), stage)) *bad = 1;
}

// borders <- whether a coarse level has wall terms, and how many of its lines keep them: those whose
// second point has tr N > SMALLEST_NORTH tr S, none where the fine level has none; N and S are couplings of
// the points beside it where equations are transposed. One block.
#define SMALLEST_NORTH real(0.05)
KERNEL(count_borders, LevelLayout layout, real* values,
       const uint32* fine_borders, uint32* borders) {
    const Operator<false> a = operator_of<false>(layout, values);
    double kept[1] = {0};
    const int of_north = layout.transposed() ? 2 : 1, of_south = layout.transposed() ? 0 : 1;
    for (uint32 i = threadIdx.x; i < layout.mi && int(layout.mj) > of_north; i += blockDim.x) {
        const int column = layout.column(i);
        const Block* norths = layout.transposed() ? a.south() : a.north();
        const Block* souths = layout.transposed() ? a.north() : a.south();
        const Block north = norths[of_north * layout.row() + column];
        const Block south = souths[of_south * layout.row() + column];
        kept[0] += (north.xx + north.yy) / (south.xx + south.yy) > SMALLEST_NORTH;
    }
    block_reduce<Sum>(kept, 1, [&](uint32, double all) {
        const uint32 count = *fine_borders == NO_BORDERS ? 0 : uint32(all);
        borders[0] = count > 0 && 2 * count >= layout.mi ? SIGNED_BORDERS : NO_BORDERS;
        borders[1] = count;
    });
}
