// Tests of the curve and the control points of a drawn section: `node --test tests/viewer`.
"use strict";

const assert = require("node:assert");
const test = require("node:test");
const D = require("../../src/cli/ui/draw.js");

/** A NACA 0012 with a closed trailing edge, 2 n + 1 points from it over the nose and back. */
function section(n) {
  const half = (x) => 0.6 * (0.2969 * Math.sqrt(x) - 0.126 * x - 0.3516 * x ** 2 + 0.2843 * x ** 3 - 0.1036 * x ** 4);
  const at = (k) => 0.5 * (1 + Math.cos((Math.PI * k) / n));
  return Array.from({ length: 2 * n + 1 }, (_, k) => [
    at(k),
    k === 0 || k === 2 * n ? 0 : Math.sign(n - k) * half(at(k)),
  ]);
}

test("a spline of a cubic is the cubic", () => {
  // On a straight line chords are lengths, so that the points are cubic in the parameter along x alone.
  const points = [0, 0.3, 0.7, 1, 1.6].map((x) => [2 * x, 0]);
  const { knots, at } = D.spline(points);
  assert.ok(Math.abs(knots[4] - 3.2) < 1e-12);
  assert.ok(Math.abs(at(1.1)[0] - 1.1) < 1e-12);
  // Of a circle, whose points are close, the fourth power of the interval is the error.
  const circle = Array.from({ length: 25 }, (_, k) => [Math.cos(k / 4), Math.sin(k / 4)]);
  for (const [x, y] of D.curve(circle)) assert.ok(Math.abs(Math.hypot(x, y) - 1) < 2e-4, `${x}, ${y}`);
});

test("a section is thinned to points through which its spline goes again", () => {
  const full = section(200);
  const few = D.thinned(full);
  assert.strictEqual(few.length, 25);
  assert.deepStrictEqual(
    [few[0], few[24], few[12].map(Math.abs)],
    [
      [1, 0],
      [1, 0],
      [0, 0],
    ],
  );
  const drawn = D.curve(few);
  const off = ([x, y]) => Math.min(...drawn.map((point) => Math.hypot(point[0] - x, point[1] - y)));
  // The line is drawn by pieces of a hundredth of the chord.
  const worst = Math.max(...full.map(off));
  assert.ok(worst < 8e-3, `${worst}`);
  const heights = drawn.map((point) => point[1]);
  assert.ok(Math.abs(Math.max(...heights) - 0.06) < 2e-4);
  assert.strictEqual(D.thinned(few), few);
});

test("points are written as reals of TOML, and a click finds its interval", () => {
  assert.strictEqual(
    D.inToml([
      [1, 0],
      [0.5, -0.06],
    ]),
    "[[1.0, 0.0], [0.5, -0.06]]",
  );
  assert.deepStrictEqual(D.ofToml("[[1.0, 0.0], [5e-1, -0.06]]"), [
    [1, 0],
    [0.5, -0.06],
  ]);
  for (const wrong of ["many", "[[1.0, nan], [0.0, 0.0]]", "[1.0, 2.0]", "[]", "3"])
    assert.strictEqual(D.ofToml(wrong), null);
  const few = D.thinned(section(200));
  const k = D.nearest(few, [0.5, 0.2]);
  assert.ok(k < 12 && few[k][0] >= 0.5 && few[k + 1][0] <= 0.5, `${k}`);
});
