// Tests of the handles of flap and elements: `node --test tests/viewer`.
"use strict";

const assert = require("node:assert");
const test = require("node:test");
const S = require("../../src/cli/ui/steer.js");

const close = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-9, `${found}, expected ${expected}`);

/** Handles of a case, and the keys that they set; a key that was set has its new value. */
function handles(keys, data, wall) {
  const set = {};
  const page = {
    value: (key) => set[key] ?? JSON.parse(keys[key]),
    set: (key, value) => Object.assign(set, { [key]: value }),
  };
  return { all: S.handlesOf(keys, data, () => wall, page), set };
}

const WALL = [
  [1, 0],
  [0.5, 0.1],
  [0, 0],
  [0.5, -0.1],
  [1, 0],
];

test("a flap has handles at its hinge and its edge, wherever the section is", () => {
  // A chord of 2, turned by 90° nose up: (x, y) of the section is at (0.5 + 2 y, 0.5 − 2 x).
  const placed = WALL.map(([x, y]) => [0.5 + 2 * y, 0.5 - 2 * x]);
  const keys = { "geometry.flap.hinge": "0.7", "geometry.flap.angle": "10.0", "geometry.angle": "90.0" };
  const { all, set } = handles(keys, { zones: [{}], unit: 2 }, placed);
  const [hinge, edge] = all;
  [0.5, -0.9].forEach((value, c) => close(hinge.at[c], value));
  hinge.moved([0.6, -1.1]);
  assert.strictEqual(set["geometry.flap.hinge"], 0.8);
  hinge.nudged([-10, 0]);
  close(set["geometry.flap.hinge"], 0.75);
  // From the edge at (0.5, −1.5), straight below the hinge, clockwise to its left.
  edge.moved([0.4, -1]);
  assert.strictEqual(set["geometry.flap.angle"], 55);
  edge.nudged([0, 1]);
  assert.strictEqual(set["geometry.flap.angle"], 54.5);
  assert.deepStrictEqual(handles({}, { zones: [{}], unit: 1 }, WALL).all, []);
  assert.deepStrictEqual(handles({ ...keys, "geometry.frame": "file" }, { zones: [{}], unit: 1 }, WALL).all, []);
});

test("elements have handles at nose and edge, but those that are rigged", () => {
  const keys = {
    "element.0.name": "wing",
    "element.1.name": "tail",
    "element.1.at": "[0.5, -1.0]",
    "element.1.angle": "5.0",
    "element.2.name": "flap",
    "element.2.rigging.to": "wing",
  };
  const zones = ["background", "wing", "tail", "flap"].map((name) => ({ name }));
  const { all, set } = handles(keys, { zones, unit: 2 }, [[3, -2]]);
  assert.deepStrictEqual(
    all.map(({ name }) => name),
    ["place of wing", "angle of wing", "place of tail", "angle of tail"],
  );
  assert.deepStrictEqual(all[2].at, [1, -2]);
  all[2].moved([2, -1]);
  all[2].nudged([10, -1]);
  assert.deepStrictEqual(set["element.1.at"], [1.01, -0.501]);
  all[3].moved([3, -4]);
  assert.strictEqual(set["element.1.angle"], 50);
});
