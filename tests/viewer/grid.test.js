// Tests of the script of the viewer: `node --test tests/viewer`. With GRIDGEN_REPORT, folders in a line each with
// report.html and report.json, the measures of the grid in a page are compared with the report; tests/cli/viewer.rs makes them.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const test = require("node:test");
const G = require("../../src/viewer/grid.js");
const V = require("../../src/viewer/viewer.js");

const close = (found, expected, within = 1e-12) =>
  assert.ok(Math.abs(found - expected) <= within * Math.max(1, Math.abs(expected)), `${found}, expected ${expected}`);

/** A zone of (ni, nj) nodes at (x(i, j), y(i, j)). */
function zone(ni, nj, node, more = {}) {
  const nodes = Array.from({ length: ni * nj }, (_, k) => node(k % ni, Math.floor(k / ni)));
  const [x, y] = [0, 1].map((c) => Float64Array.from(nodes, (point) => point[c]));
  return { name: "", topology: "rectangle", ni, nj, closed: false, cut: 0, wall: null, open: false, x, y, ...more };
}

test("cells have the measures of hand calculations", () => {
  const rectangle = [0, 0, 2, 0, 2, 1, 0, 1];
  assert.deepStrictEqual(
    [G.area(rectangle), G.skewness(rectangle), G.aspect(rectangle), G.determinant(rectangle)],
    [2, 0, 2, 2],
  );
  // A rhombus of 60°: (90 − 60)/90 = 1/3, determinant sin 60°.
  const rhombus = [0, 0, 1, 0, 1.5, Math.sqrt(3) / 2, 0.5, Math.sqrt(3) / 2];
  close(G.skewness(rhombus), 1 / 3);
  close(G.determinant(rhombus), Math.sqrt(3) / 2);
  // The last corner is reflex, of 270°: 2, and the cell is folded.
  const arrow = [0, 0, 3, 0, 0, 3, 1, 1];
  assert.ok(G.skewness(arrow) > 1 && G.determinant(arrow) < 0);
  // An edge without length: an angle counts as 0°.
  assert.strictEqual(G.skewness([0, 0, 0, 0, 1, 1, 0, 1]), 1);
  assert.strictEqual(G.aspect([0, 0, 0, 0, 1, 1, 0, 1]), Infinity);
});

test("growth is the ratio of neighbouring edges", () => {
  const one = zone(4, 4, (i, j) => [2 ** i, 3 ** j]);
  close(G.measure({ zones: [one], unit: 1 }, one, "growthI", 0, 0), 2);
  close(G.measure({ zones: [one], unit: 1 }, one, "growthJ", 2, 1), 3);
  assert.strictEqual(G.measure({ zones: [one], unit: 1 }, one, "growthJ", 0, 2), 1);
});

test("the wall distance is that to the nearest point of the nearest wall", () => {
  const walls = [
    {
      points: [
        [0, 0],
        [2, 0],
      ],
      open: true,
    },
    {
      points: [
        [0, 5],
        [2, 5],
      ],
      open: true,
    },
  ];
  assert.strictEqual(G.wallDistance(walls, 1, 1.5), 1.5);
  assert.strictEqual(G.wallDistance(walls, -3, -4), 5);
  assert.strictEqual(G.wallDistance(walls, 1, 4), 1);
});

test("the wall of half a grid or of a block is open, and a base closes that of a C-grid", () => {
  // The wall dips to y = −4 between x = 0 and 3, so that the line between its ends is far from it.
  const dip = zone(4, 2, (i, j) => [i, i === 0 || i === 3 ? 0 : 4 * j - 4], { wall: [0, 3] });
  for (const [topology, expected] of [
    ["rectangle", 1 / Math.sqrt(17)],
    ["half", 1 / Math.sqrt(17)],
    ["C", 0],
  ]) {
    const walls = G.walls([{ ...dip, topology }]);
    close(G.wallDistance(walls, 1 / 4, 0), expected);
  }
});

test("a selection goes around a closed grid of few cells, too", () => {
  const ring = zone(9, 4, (i, j) => [i, j], { closed: true });
  const chosen = [];
  const viewer = {
    picked: { zone: 0, i: 1, j: 0 },
    data: { zones: [ring] },
    camera: new V.Camera(),
    pick: (cell) => chosen.push(cell),
    centre: () => {},
  };
  for (const by of [-10, 10, -1]) V.Viewer.prototype.step.call(viewer, by, 0);
  assert.deepStrictEqual(
    chosen.map(({ i }) => i),
    [7, 3, 0],
  );
});

test("the worst cell is found, and lengths are in chords", () => {
  const one = zone(5, 5, (i, j) => [i === 2 && j === 2 ? 2.4 : i, j]);
  const data = { zones: [one], unit: 10 };
  const worst = G.worst(data, "skewness");
  assert.ok(worst.i >= 1 && worst.i <= 2 && worst.j >= 1 && worst.j <= 2);
  close(G.measure(data, one, "area", 0, 0), 0.01);
});

test("packed zones are unpacked", () => {
  const numbers = [1, -2.5, 1e-7, Math.PI, 0, 7, 8, 9];
  const head = new TextEncoder().encode(JSON.stringify({ zones: [{ ni: 2, nj: 2 }] }));
  const bytes = new Uint8Array(4 + head.length + 64);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  for (const axis of [0, 1]) {
    const raw = new Uint8Array(Float64Array.from(numbers.slice(4 * axis, 4 * axis + 4)).buffer);
    raw.forEach((byte, at) => (bytes[4 + head.length + 32 * axis + (at % 8) * 4 + Math.floor(at / 8)] = byte));
  }
  const { zones } = G.unpack(bytes);
  assert.deepStrictEqual([...zones[0].x, ...zones[0].y], numbers);
});

test("a segment and a polygon far beyond the view are cut without loss of digits", () => {
  assert.strictEqual(V.cut(-1e9, -1e9, -1e9, 1e9), null);
  const [x0, y0, x1, y1] = V.cut(-1e12, 100, 1e12, 101);
  assert.ok(x0 >= -4097 && x1 <= 4097);
  close(y0, 100.5, 1e-6);
  close(y1, 100.5, 1e-6);
  const square = V.cutPolygon([-1e9, -1e9, 1e9, -1e9, 1e9, 1e9, -1e9, 1e9]);
  for (const value of square) close(Math.abs(value), 4096, 1e-6);
});

test("a camera keeps the point under the pointer while it zooms to 1e-9", () => {
  const camera = new V.Camera();
  camera.fit([0, 0, 1, 1]);
  const [x, y] = camera.point(600, 200);
  for (let k = 0; k < 60; k++) camera.zoom(1.4, 600, 200, 1);
  const [px, py] = camera.pixels(x, y);
  assert.ok(1 / camera.scale < 1e-9 && Math.hypot(px - 600, py - 200) < 1e-2, `${px}, ${py}`);
});

test("the cell under a point is found", () => {
  const one = zone(5, 5, (i, j) => [i + 0.3 * j, j]);
  assert.deepStrictEqual(V.cellAt([one], 2.3, 0.5), { zone: 0, i: 2, j: 0 });
  assert.strictEqual(V.cellAt([one], -1, -1), null);
});

test("scales are linear, of roots, or logarithmic, and values without a place have none", () => {
  const linear = V.scaleOf([[1, 3, NaN, Infinity]], false);
  assert.deepStrictEqual([linear.low, linear.high, linear.place(2), linear.at(0.5)], [1, 3, 0.5, 2]);
  const roots = V.scaleOf([[0, 4]], false, 2);
  assert.deepStrictEqual([roots.place(1), roots.at(0.5)], [0.5, 1]);
  const logarithmic = V.scaleOf([[1e-6, 1, -5]], true);
  close(logarithmic.place(1e-3), 0.5);
  assert.ok(Number.isNaN(logarithmic.place(-5)));
  assert.deepStrictEqual(G.histogram([[1, 1.1, 3]], linear.place, 2), [2, 1]);
});

test("control functions are those with which a grid solves its equations", () => {
  // Along i parabolas, x″ = 2 and x′ = 2 i + 4 by central differences; along j powers of two, y″/y′ = 0.5/0.75.
  const plain = zone(6, 4, (i, j) => [i * (i + 4), 2 ** j], { wall: [1, 4], open: true });
  const { i, controlP, controlQ } = G.alongWall({ unit: 1 }, plain);
  i.forEach((at, k) => [controlP[k] + 1 / (at + 2), controlQ[k] + 2 / 3].forEach((off) => close(off, 0)));
  // About a circle with radii of a geometric series both are constant, across the cut too.
  const place = (i, j) => [1, 0].map((c) => 1.1 ** j * Math.sin((Math.PI * i) / 4 + (c * Math.PI) / 2));
  const ring = G.alongWall({ unit: 1 }, zone(9, 4, place, { wall: [0, 8], closed: true }));
  ring.controlP.forEach((p) => close(p, 0));
  // Along a radius (a r)² r_ξξ + ½ r² (r_ηη + Q r_η) = 0 with r_η = a r, r_ηη = b r and r_ξξ = 2 (cos 45° − 1) r.
  const [a, b] = [(1.1 - 1 / 1.1) / 2, 1.1 - 2 + 1 / 1.1];
  assert.strictEqual(ring.controlQ.length, 9);
  ring.controlQ.forEach((q) => close(q, (4 * a * a * (1 - Math.SQRT1_2) - b) / a));
  const thinned = G.alongWall({ unit: 1 }, { ...plain, is: [0, 2, 4, 6, 8, 10] });
  assert.ok(thinned.controlP.every(Number.isNaN));
});

test("lines fade between a few pixels, and those of a low level first", () => {
  assert.deepStrictEqual([V.opacity(1), V.opacity(50)], [0, 1]);
  assert.deepStrictEqual([V.level(5, 64), V.level(4, 64), V.level(0, 64), V.level(64, 64)], [0, 2, 30, 30]);
});

test("numbers are short and have their exponent where they are small", () => {
  assert.deepStrictEqual(
    [0, 1e-5, -0.25, 307.23, NaN].map((value) => V.shown(value)),
    ["0", "1.000e-5", "−0.2500", "307.2", "–"],
  );
});

/** The percentile of values by linear interpolation between order statistics. */
function percentile(values, q) {
  const sorted = Float64Array.from(values).sort();
  const rank = (q / 100) * (sorted.length - 1);
  const below = Math.floor(rank);
  const low = sorted[below];
  const high = sorted[Math.min(below + 1, sorted.length - 1)];
  return low + (high - low) * (rank - below);
}

/** The measures of a zone that report.json has under the same names. */
function quality(data, zone) {
  const all = (key) => G.measureAll(data, zone, key);
  const greatest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const [skew, determinants] = [all("skewness"), all("determinant")];
  const cells = zone.ni - 1;
  const at = skew.reduce((best, value, k) => (value > skew[best] ? k : best), 0);
  const wall = G.alongWall(data, zone);
  const points = zone.wall && !zone.open ? wall.i.length - 1 : wall.i.length;
  const angles = wall.angle.slice(0, points).filter((angle) => !Number.isNaN(angle));
  const growth = [greatest(all("growthI")), greatest(all("growthJ"))];
  return {
    folded_cells: determinants.filter((value) => !(value > 0)).length,
    min_jacobian: -greatest(determinants.map((value) => -value)),
    max_skewness: greatest(skew),
    max_skewness_at: [at % cells, Math.floor(at / cells)],
    p99_skewness: percentile(skew, 99),
    mean_skewness: skew.reduce((sum, value) => sum + value, 0) / skew.length,
    wall_angle_error_max_deg: greatest(angles),
    wall_angle_error_mean_deg: angles.reduce((sum, angle) => sum + angle, 0) / angles.length,
    first_cell_min: -greatest(wall.height.map((height) => -height)),
    first_cell_max: greatest(wall.height),
    max_aspect_ratio: greatest(all("aspect").filter(Number.isFinite)),
    max_growth_i: growth[0],
    max_growth_j: growth[1],
  };
}

async function compare(folder) {
  const page = fs.readFileSync(`${folder}/report.html`, "utf8");
  const report = JSON.parse(fs.readFileSync(`${folder}/report.json`, "utf8"));
  const data = await G.read(/data-gridgen[^>]*>([^<]+)</.exec(page)[1]);
  const found = quality(data, data.zones[0]);

  for (const [name, value] of Object.entries(found)) {
    const expected = report.quality[name];
    // Coordinates of 1 have 2e-16; heights of cells have that over their height.
    const within = name.startsWith("first_cell") ? 1e-9 : 1e-8;
    if (Array.isArray(value)) assert.deepStrictEqual(value, expected, name);
    else
      assert.ok(
        Math.abs(value - expected) <= within * Math.abs(expected) + 1e-7 * name.endsWith("deg"),
        `${folder}: ${name}: ${value}, expected ${expected}`,
      );
  }
  const worst = G.worst(data, "skewness");
  assert.deepStrictEqual([worst.i, worst.j], report.quality.max_skewness_at);
}

const folders = process.env.GRIDGEN_REPORT;
test("pages have the numbers of their reports", { skip: folders ? false : "GRIDGEN_REPORT is not set" }, async () => {
  for (const folder of folders.split("\n")) await compare(folder);
});
