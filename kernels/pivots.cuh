// Factors of the lines of a multigrid level. Its kernels are in several files, which are compiled at the same time.
#pragma once
#include "level.cuh"

// Warp specialisation: warp 0 runs the recurrences of 32 lines, one line per lane; the other warps prefetch the
// blocks of the next stage of points, into registers and from there into shared memory when the stage before is
// done: a load takes several times as long as the arithmetic of a point.
#define LOADERS (FACTOR_THREADS - WARP)
#define ROUNDS int(sizeof(real) == 4 ? 2 : 1)
#define STAGE int(ROUNDS * LOADERS / WARP)
// Blocks of a point: P, C, N and those of the wall terms.
#define PLANES 4

// Loaded blocks of a stage; rows are longer than a warp so that stores of consecutive points go to several banks.
struct Stage {
    Block at[PLANES][STAGE][WARP + 1];
};

// N blocks of a point.
template <int N>
struct Blocks {
    Block at[N];
};

// The lines of a block of threads: a warp's width of them, one each for the threads of its first warp.
template <bool XI>
struct Lines {
    LineOf<XI, AnyOperator> first, line;
    // Whether this thread has a line.
    bool own;

    __device__ Lines(const LevelLayout& layout, const AnyOperator& a, uint32 block)
        : first{layout, a, block * WARP}, line(first) {
        line.number += threadIdx.x;
        own = threadIdx.x < WARP && line.solved();
    }
    // P, C and N of a point.
    template <int N>
    __device__ static void load(const LineOf<XI, AnyOperator>& of, int at, Blocks<N>& to) {
        const Sides along_line = of.along_line(at);
        to.at[0] = along_line.before;
        to.at[1] = of.a.centre(at);
        to.at[2] = along_line.after;
    }
};

// Calls step(l, blocks) for `count` points of each line from point `first` on, upwards (DIRECTION 1) or downwards (-1),
// by the thread of the line, with the N blocks that get(line, l, blocks) puts there, until after a stage no thread has
// more() to do. All threads of the block call it. Returns the number of points done.
template <int DIRECTION, int N, bool XI, class Get, class Step, class More>
__device__ int in_stages(const Lines<XI>& lines, Stage& stage, int first, int count, const Get& get,
                         const Step& step, const More& more) {
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
            LineOf<XI, AnyOperator> line = lines.first;
            line.number += lane;
            if (begun + k < count && line.solved()) get(line, first + DIRECTION * (begun + k), blocks);
        });
    };
    if (loads) fetch(0);
    int begun = 0;
    for (bool any = true; any && begun < count; begun += STAGE) {
        if (loads)
            each([&](const Blocks<N>& blocks, int lane, int k) {
#pragma unroll
                for (int n = 0; n < N; ++n) stage.at[n][k][lane] = blocks.at[n];
            });
        __syncthreads();
        if (loads) fetch(begun + STAGE);
        if (lines.own) {
            // The blocks of the next point are read before a step stores, which may overwrite them.
            Blocks<N> now, next;
            auto read = [&](int k) {
#pragma unroll
                for (int n = 0; n < N; ++n) next.at[n] = stage.at[n][k][threadIdx.x];
            };
            read(0);
            // Unrolled whole, the kernels take twice as long to compile and 4 % longer to run.
#pragma unroll 2
            for (int k = 0; k < STAGE; ++k) {
                if (begun + k >= count) break;
                now = next;
                if (k + 1 < STAGE) read(k + 1);
                step(first + DIRECTION * (begun + k), now);
            }
        }
        any = __syncthreads_or(lines.own && more());
    }
    return min(begun, count);
}

// Calls step(l, blocks) for all `count` points.
template <int DIRECTION, int N, bool XI, class Get, class Step>
__device__ void in_stages(const Lines<XI>& lines, Stage& stage, int first, int count, const Get& get,
                          const Step& step) {
    in_stages<DIRECTION, N>(lines, stage, first, count, get, step, [] { return true; });
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
template <bool TRANSPOSED>
__device__ bool finish_border(const LineOf<false, AnyOperator>& line, const Block& v, bool guarded) {
    const int at = line.at(0);
    const Block columns = line.a.columns()[at];
    Block pivot = TRANSPOSED ? transposed(columns) : columns - line.next(at) * v;
    if (TRANSPOSED && line.along() > 1) pivot = pivot - v * line.prev(line.at(1));
    const Block found = inverse(pivot);
    const bool kept = !guarded || keeps_sign(columns, TRANSPOSED ? transposed(pivot) : pivot);
    line.a.border()[at] = kept ? found : diagonal(0);
    return !kept || is_finite(found);
}

// The border of a line between two walls, whose first and last V at the recurrence's ends are v[end][border]: the
// inverse of the pivot of both terms,
//
//   [B_0 - N_0 V_1, B'_0 - N_0 V'_1; B_m - P_m V_{m-1}, B'_m - P_m V'_{m-1}],
//
// The inverse is found by blocks, the last end after the first. Transposed equations have the transpose of this pivot;
// there `v` is W, and W^T is the V of the transposed line. A border whose pivot has not kept its sign, or which the
// level does not have, is left out. Returns whether all are finite.
template <bool TRANSPOSED>
__device__ bool finish_borders(const LineOf<false, AnyOperator>& line, const Block (&v)[2][2], const uint32 (&borders)[2]) {
    const int last_point = int(line.along()) - 1, at[2] = {line.at(0), line.at(last_point)};
    // The block couples an end to the point beside it; in transposed equations it couples that point to the end.
    const Block coupling[2] = {TRANSPOSED ? line.prev(line.at(1)) : line.next(at[0]),
                               TRANSPOSED ? line.next(line.at(last_point - 1)) : line.prev(at[1])};
    Block columns[2], pivot[2][2];
    for (int end = 0; end < 2; ++end)
        for (int border = 0; border < 2; ++border) {
            const Block b = borders[border] == NO_BORDERS ? diagonal(0) : line.a.columns(border)[at[end]];
            if (end == border) columns[end] = b;
            pivot[end][border] = b - (TRANSPOSED ? transposed(v[end][border] * coupling[end])
                                                 : coupling[end] * v[end][border]);
        }
    auto inverted = [&](int border, const Block& of) {
        const bool kept = borders[border] != NO_BORDERS &&
                          (borders[border] == ALL_BORDERS || keeps_sign(columns[border], of));
        return kept ? inverse(of) : diagonal(0);
    };
    const Block first = inverted(0, pivot[0][0]), carried = pivot[1][0] * first;
    const Block last = inverted(1, pivot[1][1] - carried * pivot[0][1]);
    const Block up = first * pivot[0][1], down = last * carried, of_first = first + up * down;
    const Block found[2][2] = {{of_first, real(-1) * (up * last)}, {real(-1) * down, last}};
    for (int end = 0; end < 2; ++end)
        for (int border = 0; border < 2; ++border)
            line.a.border(border)[at[end]] = TRANSPOSED ? transposed(found[border][end]) : found[end][border];
    return is_finite(of_first) && is_finite(last);
}

// Computes D^-1 = (C - P carried)^-1; `carried`, D^-1 N of the point before, <- that of this one.
__device__ inline Block eliminate(const Block* blocks, Block& carried) {
    const Block d = blocks[1] - blocks[0] * carried, adjugate = block(d.yy, -d.xy, -d.yx, d.xx);
    // The next point waits for D^-1 N: the product need not wait for the division.
    const real s = real(1) / (d.xx * d.yy - d.xy * d.yx);
    carried = s * (adjugate * blocks[2]);
    return s * adjugate;
}

// Inverse pivots of eta-lines: D_l = C_l - P_l D_{l-1}^-1 N_{l-1}. The first point of a bordered line is held, its
// inverse pivot stays zero; the line from its second point on is T, and V = T^-1 B is kept beside the pivots, unless
// the level has no `borders`; of transposed equations W = B^T T^-1. Returns whether all are finite.
template <bool TRANSPOSED, Walls WALLS>
__device__ bool factor_eta(const Lines<false>& lines, const uint32 (&borders)[2], Stage& stage) {
    typedef LineOf<false, AnyOperator> EtaLine;
    const EtaLine& line = lines.line;
    const bool both = WALLS != SECTION && line.bordered_above();
    const int start = line.bordered(), count = int(line.along()) - start - both, last = start + count - 1;
    const bool bordered = line.bordered() && borders[0] != NO_BORDERS;
    Block* const pivots = line.pivot();
    Block* const kept = line.a.border();
    Block carried = diagonal(0), h = carried, before_next = carried;
    bool finite = true;
    auto blocks = [=](const EtaLine& of, int l, Blocks<PLANES>& to) {
        lines.load(of, of.at(l), to);
        if (bordered) to.at[3] = of.a.columns()[of.at(l)];
    };
    in_stages<1, PLANES>(lines, stage, start, count, blocks, [&](int l, const Blocks<PLANES>& of) {
        const int at = line.at(l);
        const Block pivot = eliminate(of.at, carried);
        finite = finite && is_finite(pivot);
        pivots[at] = pivot;
        if (!bordered) return;
        if (TRANSPOSED) {
            h = (transposed(of.at[3]) - h * before_next) * pivot;
            before_next = of.at[2];
        } else {
            h = pivot * (of.at[3] - of.at[0] * h);
        }
        kept[at] = h;
    });
    if (!bordered && !both) {
        if (lines.own && line.bordered()) line.a.border()[line.at(0)] = diagonal(0);
        return finite;
    }
    // The values that the first warp has stored are loaded by the others after a barrier.
    auto back = [&](Block* values) {
        auto blocks = [=](const EtaLine& of, int l, Blocks<2>& to) {
            const int at = of.at(l);
            to.at[0] = values[at];
            to.at[1] = TRANSPOSED ? of.prev(of.at(l + 1)) * pivots[at] : pivots[at] * of.next(at);
        };
        in_stages<-1, 2>(lines, stage, last - 1, count - 1, blocks, [&](int l, const Blocks<2>& of) {
            h = of.at[0] - (TRANSPOSED ? h * of.at[1] : of.at[1] * h);
            values[line.at(l)] = h;
        });
    };
    // V beside the ends, by border.
    Block v[2][2] = {{diagonal(0), diagonal(0)}, {h, diagonal(0)}};
    if (bordered) {
        back(kept);
        v[0][0] = h;
    }
    if (!both) return !lines.own || (finish_border<TRANSPOSED>(line, h, borders[0] == SIGNED_BORDERS) && finite);
    if (borders[1] != NO_BORDERS) {
        Block* const above = line.a.border(1);
        auto pulled = [=](const EtaLine& of, int l, Blocks<3>& to) {
            const int at = of.at(l);
            to.at[0] = TRANSPOSED ? of.next(of.at(l - 1)) : of.prev(at);
            to.at[1] = pivots[at];
            to.at[2] = of.a.columns(1)[at];
        };
        h = diagonal(0);
        in_stages<1, 3>(lines, stage, start, count, pulled, [&](int l, const Blocks<3>& of) {
            h = TRANSPOSED ? (transposed(of.at[2]) - h * of.at[0]) * of.at[1] : of.at[1] * (of.at[2] - of.at[0] * h);
            above[line.at(l)] = h;
        });
        v[1][1] = h;
        back(above);
        v[0][1] = h;
    }
    return !lines.own || (finish_borders<TRANSPOSED>(line, v, borders) && finite);
}

// Inverse pivots of a chunk of xi-lines, but for the last point of closed ones. The recurrence starts FACTOR_OVERLAP
// points before the chunk, as if the line did: couplings along xi are mostly weak, and it forgets its start.
// `join_chunks` checks that. Returns whether all are finite.
__device__ bool factor_xi(const Lines<true>& lines, uint32 chunk, Stage& stage) {
    const int begin = int(chunk * FACTOR_CHUNK), end = min(begin + int(FACTOR_CHUNK), int(lines.line.open()));
    const int from = max(begin - int(FACTOR_OVERLAP), 0);
    Block* const pivots = lines.line.pivot();
    Block carried = diagonal(0);
    bool finite = true;
    auto blocks = [=](const LineOf<true, AnyOperator>& of, int l, Blocks<3>& to) { lines.load(of, of.at(l), to); };
    in_stages<1, 3>(lines, stage, from, end - from, blocks, [&](int l, const Blocks<3>& of) {
        const Block pivot = eliminate(of.at, carried);
        if (l < begin) return;
        finite = finite && is_finite(pivot);
        pivots[lines.line.at(l)] = pivot;
    });
    return finite;
}

// Returns the level of this block. Each level has the blocks from its `first` on.
__device__ inline const FactoredLevel& level_of_block(const FactoredLevels& levels, uint32 count) {
    uint32 nth = count - 1;
    while (levels.at[nth].first > blockIdx.x) --nth;
    return levels.at[nth];
}

// The first blocks take the eta-lines of a level, a warp's width of them each, the others the chunks of its xi-lines.
template <bool TRANSPOSED, Walls WALLS>
__device__ bool factor_level(const FactoredLevel& of, Stage& stage) {
    const LevelLayout layout = {of.layout};
    const uint32 block = blockIdx.x - of.first, eta_blocks = (layout.mi + WARP - 1) / WARP;
    const AnyOperator a = any_operator_of(layout, of.values);
    if (block < eta_blocks) {
        const uint32 borders[2] = {layout.walls() ? of.borders[0] : NO_BORDERS,
                                   layout.above() ? of.borders[2] : NO_BORDERS};
        return factor_eta<TRANSPOSED, WALLS>({layout, a, block}, borders, stage);
    }
    const uint32 chunk = block - eta_blocks;
    return factor_xi({layout, a, chunk / of.xi_chunks}, chunk % of.xi_chunks, stage);
}

// Factors of all lines of `count` levels: the recurrences of one level leave most of a GPU idle. bad <- 1 if a pivot
// is not finite. There is room for two blocks on a multiprocessor.
#define FACTOR(name, TRANSPOSED, WALLS)                                                                       \
    BOUNDED_KERNEL(2 * FACTOR_THREADS, name, FactoredLevels levels, uint32 count, uint32* bad) {              \
        __shared__ Stage stage;                                                                               \
        if (!factor_level<TRANSPOSED, WALLS>(level_of_block(levels, count), stage)) *bad = 1;                 \
    }
