// Grids in the browser: how they are unpacked, and the measures of src/grid/quality on them.
//
// Nodes of a zone are in arrays x and y, [nj][ni] with i fastest. A cell (i, j) has the corners (i, j), (i + 1, j),
// (i + 1, j + 1), (i, j + 1). All measures are those of report.json, by the same formulas.
"use strict";

const gridgenGrid = (() => {
  /** A wall point at which the wall turns by more than this many degrees has no unique normal. */
  const CORNER_TURN_DEG = 20;

  /**
   * The zones in packed bytes: the length of a JSON text as 32 bits, the text, then x and y of each zone, of which the
   * first bytes of all numbers come first, then their second bytes, and so on.
   */
  function unpack(bytes) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const meta = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    let at = 4 + length;
    const numbers = (count) => {
      const out = new Uint8Array(8 * count);
      for (let k = 0; k < 8; k++) {
        const plane = bytes.subarray(at + k * count, at + (k + 1) * count);
        for (let m = 0; m < count; m++) out[8 * m + k] = plane[m];
      }
      at += 8 * count;
      return new Float64Array(out.buffer);
    };
    const zones = meta.zones.map((head) => {
      const count = head.ni * head.nj;
      const zone = { ...head, x: numbers(count), y: numbers(count) };
      if (meta.before) zone.before = { x: numbers(count), y: numbers(count) };
      return zone;
    });
    return { ...meta, unit: meta.unit || 1, zones };
  }

  /** The data of a page: text in base64 of packed zones, deflated in the zlib format. */
  async function read(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return unpack(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  /** The corners of cell (i, j) as eight numbers: x0, y0, x1, y1 and so on. */
  function corners(zone, i, j, out = new Float64Array(8)) {
    const k = j * zone.ni + i;
    const { x, y, ni } = zone;
    out[0] = x[k];
    out[1] = y[k];
    out[2] = x[k + 1];
    out[3] = y[k + 1];
    out[4] = x[k + ni + 1];
    out[5] = y[k + ni + 1];
    out[6] = x[k + ni];
    out[7] = y[k + ni];
    return out;
  }

  /** Half the cross product of the diagonals. */
  function area(c) {
    return 0.5 * ((c[4] - c[0]) * (c[7] - c[3]) - (c[5] - c[1]) * (c[6] - c[2]));
  }

  /** Cross and dot product of the edges that leave corner k, to the next and to the previous corner. */
  function products(c, k) {
    const [next, before] = [2 * ((k + 1) % 4), 2 * ((k + 3) % 4)];
    const [ax, ay] = [c[next] - c[2 * k], c[next + 1] - c[2 * k + 1]];
    const [bx, by] = [c[before] - c[2 * k], c[before + 1] - c[2 * k + 1]];
    return [ax * by - ay * bx, ax * bx + ay * by];
  }

  /** The larger of two numbers; NaN if either is. */
  function larger(a, b) {
    return b > a || Number.isNaN(b) ? b : a;
  }

  /** Smallest determinant of the edges at a corner; the cell is folded if that is not positive. */
  function determinant(c) {
    let least = Infinity;
    for (let k = 0; k < 4; k++) least = -larger(-least, -products(c, k)[0]);
    return least;
  }

  /** |θ − 90°|/90° for an angle θ in [0°, 360°) by its sine and cosine up to a factor; 1 if both are zero. */
  function fromRight(sine, cosine) {
    if (sine === 0 && cosine === 0) return 1;
    const angle = Math.atan2(sine, cosine) * (2 / Math.PI);
    return Math.abs((angle < 0 ? angle + 4 : angle) - 1);
  }

  /** Equiangle skewness: the largest distance of an included angle from 90°, in right angles. */
  function skewness(c) {
    let worst = -Infinity;
    for (let k = 0; k < 4; k++) worst = larger(worst, fromRight(...products(c, k)));
    return worst;
  }

  /** Ratio of the longest to the shortest edge. */
  function aspect(c) {
    let [least, most] = [Infinity, 0];
    for (let k = 0; k < 4; k++) {
      const n = 2 * ((k + 1) % 4);
      const length = Math.hypot(c[n] - c[2 * k], c[n + 1] - c[2 * k + 1]);
      [least, most] = [-larger(-least, -length), larger(most, length)];
    }
    return least === 0 ? Infinity : most / least;
  }

  /** max(a/b, b/a), infinite where a length is zero. */
  function ratio(a, b) {
    return a === 0 || b === 0 ? Infinity : larger(a / b, b / a);
  }

  function distance(zone, a, b) {
    return Math.hypot(zone.x[b] - zone.x[a], zone.y[b] - zone.y[a]);
  }

  /** Ratio of the edges of node k and of the next one in a direction, `step` nodes apart. */
  function growthAt(zone, k, step) {
    return ratio(distance(zone, k, k + step), distance(zone, k + step, k + 2 * step));
  }

  /** Growth from cell (i, j) to the one `step` nodes on, the larger of its two sides, `side` nodes apart; 1 for the last. */
  function growth(zone, i, j, step, side) {
    const last = step === 1 ? i + 2 >= zone.ni : j + 2 >= zone.nj;
    const k = j * zone.ni + i;
    return last ? 1 : larger(growthAt(zone, k, step), growthAt(zone, k + side, step));
  }

  /** Centre of area; for a cell without area the mean of its corners. */
  function centroid(c) {
    const [ax, ay] = [c[0], c[1]];
    const [bx, by, cx, cy, dx, dy] = [2, 3, 4, 5, 6, 7].map((k) => c[k] - (k % 2 ? ay : ax));
    const [first, second] = [bx * cy - by * cx, cx * dy - cy * dx];
    const total = first + second;
    if (total === 0) return [ax + (bx + cx + dx) / 4, ay + (by + cy + dy) / 4];
    const off = (b, c3, d) => (first * (b + c3) + second * (c3 + d)) / (3 * total);
    return [ax + off(bx, cx, dx), ay + off(by, cy, dy)];
  }

  /** Angle in degrees between the line from one centre to the other and the normal of the edge between them. */
  function offNormal(from, to, ax, ay, bx, by) {
    const [nx, ny] = [by - ay, ax - bx];
    const [lx, ly] = [to[0] - from[0], to[1] - from[1]];
    return (Math.atan2(Math.abs(nx * ly - ny * lx), nx * lx + ny * ly) * 180) / Math.PI;
  }

  /** Non-orthogonality of cell (i, j) with these corners: the largest angle over the faces that it shares with other cells, degrees. */
  function nonorthogonality(c, zone, i, j) {
    const [cells, rows] = [zone.ni - 1, zone.nj - 1];
    const here = centroid(c);
    let worst = 0;
    const face = (i2, j2, a, b) => {
      const there = centroid(corners(zone, i2, j2));
      worst = larger(worst, offNormal(here, there, c[2 * a], c[2 * a + 1], c[2 * b], c[2 * b + 1]));
    };
    if (i + 1 < cells || zone.closed) face((i + 1) % cells, j, 1, 2);
    if (i > 0 || zone.closed) face((i + cells - 1) % cells, j, 3, 0);
    if (j + 1 < rows) face(i, j + 1, 2, 3);
    if (j > 0) face(i, j - 1, 0, 1);
    else if (i < zone.cut || i >= cells - zone.cut) face(cells - 1 - i, 0, 0, 1);
    return worst;
  }

  /** The points of the wall of a zone, without the last one that repeats the first. */
  function wallPoints(zone) {
    if (!zone.wall) return [];
    const [from, to] = zone.wall;
    const points = [];
    for (let i = from; i <= to; i++) points.push([zone.x[i], zone.y[i]]);
    const [a, b] = [points[0], points[points.length - 1]];
    if (points.length > 1 && a[0] === b[0] && a[1] === b[1]) points.pop();
    return points;
  }

  /** Distance of a point from the nearest wall of all zones; infinite where there is none. */
  function wallDistance(walls, x, y) {
    let least = Infinity;
    for (const { points, open } of walls) {
      const count = points.length - (open ? 1 : 0);
      for (let k = 0; k < count; k++) {
        const [ax, ay] = points[k];
        const [bx, by] = points[k + 1 === points.length ? 0 : k + 1];
        const [ex, ey, px, py] = [bx - ax, by - ay, x - ax, y - ay];
        const length = ex * ex + ey * ey;
        const t = length > 0 ? Math.min(1, Math.max(0, (px * ex + py * ey) / length)) : 0;
        const [dx, dy] = [px - t * ex, py - t * ey];
        const squared = dx * dx + dy * dy;
        if (squared < least) least = squared;
      }
    }
    return Math.sqrt(least);
  }

  /** Whether a wall ends where it does not begin, as that of half a grid or a block; a base closes that of a C-grid. */
  const isOpen = (zone) => zone.topology === "half" || zone.topology === "rectangle";

  /** The walls of all zones. */
  function walls(zones) {
    const all = zones.map((zone) => ({ points: wallPoints(zone), open: isOpen(zone) }));
    return all.filter(({ points }) => points.length > 1);
  }

  /**
   * Measures of cells: name, unit, whether the scale is logarithmic or of square roots, whether the least is the worst, and
   * the value of a cell by its corners and its place, or that of a point by the walls.
   */
  const MEASURES = {
    skewness: { name: "skewness", unit: "", root: true, of: skewness },
    nonorthogonality: { name: "non-orthogonality", unit: "°", root: true, of: nonorthogonality },
    aspect: { name: "aspect ratio", unit: "", log: true, of: aspect },
    growthI: { name: "growth along i", unit: "", of: (_, zone, i, j) => growth(zone, i, j, 1, zone.ni) },
    growthJ: { name: "growth along j", unit: "", of: (_, zone, i, j) => growth(zone, i, j, zone.ni, 1) },
    determinant: { name: "smallest determinant", unit: "chords²", power: 2, log: true, least: true, of: determinant },
    area: { name: "area", unit: "chords²", power: 2, log: true, least: true, of: area },
    distance: { name: "wall distance", unit: "chords", power: 1, log: true, least: true, of: wallDistance },
  };

  /** A measure of the cells (i, j) of a zone; lengths are in chords. */
  function measureOf(data, zone, key) {
    const { of, power = 0 } = MEASURES[key];
    const unit = data.unit ** power;
    if (key === "distance") {
      const around = walls(data.zones);
      return (i, j) => of(around, ...centroid(corners(zone, i, j))) / unit;
    }
    return (i, j) => of(corners(zone, i, j), zone, i, j) / unit;
  }

  /** A measure of one cell. */
  const measure = (data, zone, key, i, j) => measureOf(data, zone, key)(i, j);

  /** A measure of all cells of a zone, [nj − 1][ni − 1]. */
  function measureAll(data, zone, key) {
    const [of, cells] = [measureOf(data, zone, key), zone.ni - 1];
    return new Float64Array(cells * (zone.nj - 1)).map((_, k) => of(k % cells, Math.floor(k / cells)));
  }

  /** The cell in which a measure is worst: its zone, i, j and the value. */
  function worst(data, key, values = data.zones.map((zone) => measureAll(data, zone, key))) {
    const sign = MEASURES[key].least ? -1 : 1;
    let found = null;
    values.forEach((row, zone) => {
      row.forEach((value, k) => {
        const worse = !found || sign * value > sign * found.value;
        if (worse || (Number.isNaN(value) && !Number.isNaN(found.value))) found = { zone, k, value };
      });
    });
    if (!found) return null;
    const cells = data.zones[found.zone].ni - 1;
    return { zone: found.zone, i: found.k % cells, j: Math.floor(found.k / cells), value: found.value };
  }

  /** Direction at the middle of three points: that of the parabola through them. */
  function tangent(before, after) {
    const [lb, la] = [Math.hypot(...before), Math.hypot(...after)];
    if (lb === 0 || la === 0) return [before[0] + after[0], before[1] + after[1]];
    return [(before[0] * la) / lb + (after[0] * lb) / la, (before[1] * la) / lb + (after[1] * lb) / la];
  }

  /**
   * The control functions P and Q of the grid equations at the node of the first row off the wall with this i, with which
   * the grid solves them, by the differences of src/pde/point.rs. Thinned grids and free ends have none.
   */
  function control(zone, i) {
    const last = zone.ni - 1;
    if (zone.is || zone.nj < 3 || (!zone.closed && (i < 1 || i >= last))) return [NaN, NaN];
    const [west, east] = [i === 0 ? last - 1 : i - 1, i === last ? 1 : i + 1];
    const [x, y] = [zone.x, zone.y].map((values) => {
      const [[sw, s, se], [w, c, e], [nw, n, ne]] = [0, 1, 2].map((j) =>
        [west, i, east].map((k) => values[j * zone.ni + k]),
      );
      const second = { xi: e - 2 * c + w, eta: n - 2 * c + s, both: (ne - nw - se + sw) / 4 };
      return { xi: (e - w) / 2, eta: (n - s) / 2, second };
    });
    const [g11, g12, g22] = [x.xi ** 2 + y.xi ** 2, x.xi * x.eta + y.xi * y.eta, x.eta ** 2 + y.eta ** 2];
    const [rx, ry] = [x, y].map(({ second }) => g22 * second.xi - 2 * g12 * second.both + g11 * second.eta);
    const det = x.xi * y.eta - y.xi * x.eta;
    return [(ry * x.eta - rx * y.eta) / (det * g22), (rx * y.xi - ry * x.xi) / (det * g11)];
  }

  /** Curves along the wall of a zone, an entry a point; lengths in chords, `s` runs along the wall. */
  function alongWall(data, zone) {
    const unit = data.unit;
    const curves = { i: [], s: [], height: [], spacing: [], growth: [], angle: [], controlP: [], controlQ: [] };
    if (!zone.wall || zone.nj < 2) return curves;
    const [from, to] = zone.wall;
    const at = (i, j) => [zone.x[j * zone.ni + i], zone.y[j * zone.ni + i]];
    const difference = (a, b) => [a[0] - b[0], a[1] - b[1]];
    const open = zone.open;
    const count = to - from + (open ? 1 : 0);
    const corner = Math.tan((CORNER_TURN_DEG * Math.PI) / 180);
    const point = (k) => at(from + ((k + count) % count), 0);
    let s = 0;
    for (let i = from; i <= to; i++) {
      const k = i - from;
      if (i > from) s += distance(zone, i - 1, i);
      const line = difference(at(i, 1), at(i, 0));
      curves.i.push(i);
      curves.s.push(s / unit);
      curves.height.push(Math.hypot(...line) / unit);
      curves.spacing.push(i < to ? distance(zone, i, i + 1) / unit : NaN);
      curves.growth.push(zone.nj > 2 ? growthAt(zone, i, zone.ni) : NaN);
      const [p, q] = control(zone, i);
      curves.controlP.push(p);
      curves.controlQ.push(q);
      let error = NaN;
      if (!(open && (i === from || i === to))) {
        const [before, after] = [difference(point(k), point(k - 1)), difference(point(k + 1), point(k))];
        const turn = Math.abs(before[0] * after[1] - before[1] * after[0]);
        if (turn <= corner * (before[0] * after[0] + before[1] * after[1])) {
          const t = tangent(before, after);
          const sine = Math.abs(t[0] * line[1] - t[1] * line[0]);
          error = 90 * fromRight(sine, t[0] * line[0] + t[1] * line[1]);
        }
      }
      curves.angle.push(error);
    }
    return curves;
  }

  /** Curves along the line i of a zone: heights of its cells and their growth, over the distance along the line. */
  function alongLine(data, zone, i) {
    const curves = { j: [], s: [], height: [], growth: [] };
    let s = 0;
    for (let j = 0; j + 1 < zone.nj; j++) {
      const k = j * zone.ni + i;
      const height = distance(zone, k, k + zone.ni);
      s += height;
      curves.j.push(j);
      curves.s.push(s / data.unit);
      curves.height.push(height / data.unit);
      curves.growth.push(j + 2 < zone.nj ? growthAt(zone, k, zone.ni) : NaN);
    }
    return curves;
  }

  /** Counts of finite values in bins of equal width of a scale, of which `place` gives the place in [0, 1]. */
  function histogram(arrays, place, bins) {
    const counts = new Array(bins).fill(0);
    for (const values of arrays) {
      for (const value of values) {
        const at = place(value);
        if (Number.isFinite(at)) counts[Math.min(bins - 1, Math.max(0, Math.floor(at * bins)))]++;
      }
    }
    return counts;
  }

  return {
    MEASURES,
    alongLine,
    alongWall,
    area,
    aspect,
    centroid,
    corners,
    determinant,
    histogram,
    isOpen,
    measure,
    measureAll,
    read,
    skewness,
    unpack,
    wallDistance,
    wallPoints,
    walls,
    worst,
  };
})();

if (typeof module !== "undefined") module.exports = gridgenGrid;
