// Handles on the grid in the page of `gridgen ui`: flap and elements follow the mouse and the arrow keys.
"use strict";

const gridgenSteer = (() => {
  const DEGREES = 180 / Math.PI;
  // The point about which the angle of attack turns a section, and steps of the arrow keys.
  const PIVOT = 0.25;
  const [STEP_DEG, STEP_HINGE, STEP_PLACE] = [0.5, 0.005, 0.001];

  /** A handle that turns what is about a centre; a positive angle is clockwise. */
  function turning(name, key, centre, at, angle, { value, set }) {
    const direction = ([x, y]) => Math.atan2(y - centre[1], x - centre[0]) * DEGREES;
    const written = (degrees) => set(key, Number(degrees.toFixed(1)));
    const moved = (point) => {
      const by = direction(at) - direction(point);
      written(angle + by - 360 * Math.round(by / 360));
    };
    return { name, at, moved, nudged: ([x, y]) => written(value(key) + STEP_DEG * (x - y)) };
  }

  /** The mean height of the first and the last crossing of a line of points with an x. */
  function heightAt(points, x) {
    const heights = points.slice(1).flatMap(([bx, by], k) => {
      const [ax, ay] = points[k];
      return ax > x === bx > x ? [] : [ay + ((by - ay) * (x - ax)) / (bx - ax)];
    });
    return heights.length ? (heights[0] + heights[heights.length - 1]) / 2 : 0;
  }

  /** Handles of the flap of a case with these keys, if it has one: hinge and trailing edge. */
  function ofFlap(keys, { unit }, wall, page) {
    const [hinge, angle] = ["hinge", "angle"].map((key) => Number(keys[`geometry.flap.${key}`]));
    // A section in the frame of its file is elsewhere.
    if (!Number.isFinite(hinge + angle) || keys["geometry.frame"] === "file" || !wall.length) return [];
    const turn = Number(keys["geometry.angle"] || 0) / DEGREES;
    const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
    const inward = ([x, y]) => [
      PIVOT + cos * (x / unit - PIVOT) - (sin * y) / unit,
      sin * (x / unit - PIVOT) + (cos * y) / unit,
    ];
    const outward = ([x, y]) => [unit * (PIVOT + cos * (x - PIVOT) + sin * y), unit * (cos * y - sin * (x - PIVOT))];
    const centre = outward([hinge, heightAt(wall.map(inward), hinge)]);
    const key = "geometry.flap.hinge";
    const written = (x) => page.set(key, Number(x.toFixed(3)));
    return [
      {
        name: "hinge of the flap",
        at: centre,
        moved: (point) => written(inward(point)[0]),
        nudged: ([x]) => written(page.value(key) + STEP_HINGE * x),
      },
      turning("angle of the flap", "geometry.flap.angle", centre, wall[0], angle, page),
    ];
  }

  /** Handles of the elements of a case with these keys: nose and trailing edge of each that is placed by hand. */
  function ofElements(keys, { zones, unit }, wallOf, page) {
    const found = [];
    for (let n = 0; keys[`element.${n}.name`] !== undefined; n++) {
      const [name, place = "[0, 0]"] = [keys[`element.${n}.name`], keys[`element.${n}.at`]];
      const zone = zones.find((one) => one.name === name);
      if (!zone || keys[`element.${n}.rigging.to`] !== undefined) continue;
      const key = `element.${n}.at`;
      const at = JSON.parse(place).map((value) => value * unit);
      const written = (point) =>
        page.set(
          key,
          point.map((value) => Number(value.toFixed(4))),
        );
      const angle = Number(keys[`element.${n}.angle`] || 0);
      found.push(
        {
          name: `place of ${name}`,
          at,
          moved: (point) => written(point.map((value) => value / unit)),
          nudged: (by) => written(page.value(key).map((value, c) => value + STEP_PLACE * by[c])),
        },
        turning(`angle of ${name}`, `element.${n}.angle`, at, wallOf(zone)[0], angle, page),
      );
    }
    return found;
  }

  /**
   * Handles of a case: their names, places, and what is called with another place or with steps of the arrow keys. The
   * page has the value of a key with changes on their way, and sets it.
   */
  function handlesOf(keys, data, wallOf, page) {
    const elements = ofElements(keys, data, wallOf, page);
    return elements.length ? elements : ofFlap(keys, data, wallOf(data.zones[0]), page);
  }

  /** Marks over the stage of a viewer, one for each handle. */
  class Handles {
    constructor(viewer) {
      Object.assign(this, { viewer, all: [], places: [], marks: [], held: null });
      const draw = viewer.draw.bind(viewer);
      viewer.draw = () => {
        draw();
        this.draw();
      };
    }

    /** Takes other handles; the one that is held stays where the pointer is. */
    show(all) {
      this.places = all.map(({ at }) => at);
      if (this.held !== null && this.held < all.length) all[this.held].at = this.all[this.held].at;
      this.all = all;
      while (this.marks.length > all.length) this.marks.pop().remove();
      while (this.marks.length < all.length)
        this.marks.push(this.viewer.stage.appendChild(this.mark(this.marks.length)));
      all.forEach(({ name }, k) => {
        this.marks[k].title = name;
        this.marks[k].ariaLabel = `${name}: drag it, or press the arrow keys`;
      });
      this.draw();
    }

    draw() {
      const { camera } = this.viewer;
      this.marks.forEach((mark, k) => {
        const [left, top] = camera.pixels(...this.all[k].at);
        mark.hidden = !(left > 0 && top > 0 && left < camera.width && top < camera.height);
        Object.assign(mark.style, { left: `${left}px`, top: `${top}px` });
      });
    }

    mark(k) {
      const { camera } = this.viewer;
      const made = document.createElement("button");
      Object.assign(made, { type: "button", className: "handle" });
      const listen = (kind, work) =>
        made.addEventListener(kind, (event) => {
          event.stopPropagation();
          work(event);
        });
      listen("pointerdown", (event) => {
        made.setPointerCapture(event.pointerId);
        this.held = k;
      });
      listen("pointermove", (event) => {
        if (this.held !== k) return;
        const point = camera.point(...this.viewer.place(event));
        this.all[k].at = point;
        this.draw();
        this.all[k].moved(point);
      });
      for (const kind of ["pointerup", "dblclick"]) listen(kind, () => {});
      listen("lostpointercapture", () => {
        this.held = null;
        this.all[k].at = this.places[k];
        this.draw();
      });
      listen("keydown", (event) => {
        const far = event.shiftKey ? 10 : 1;
        const steps = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] };
        const by = steps[event.key];
        if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.all[k].nudged(by);
      });
      return made;
    }
  }

  return { Handles, handlesOf, heightAt };
})();

if (typeof module !== "undefined") module.exports = gridgenSteer;
