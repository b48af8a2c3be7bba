// A section that is drawn by its spline points: the curve through them, and an editor in the page of `gridgen ui`.
"use strict";

const gridgenDraw = (() => {
  // Intervals between the control points of a surface that a section begins with, and points beyond which it is thinned.
  const [INTERVALS, MOST_POINTS] = [12, 64];
  // gridgen asks for ten distinct points; both ends may be one.
  const LEAST_POINTS = 11;
  const [PIECES, HEIGHT, MARGIN] = [12, 220, 24];
  const SVG = "http://www.w3.org/2000/svg";

  const distance = ([ax, ay], [bx, by]) => Math.hypot(bx - ax, by - ay);
  const rounded = (value) => Number(value.toFixed(5));

  /**
   * The cubic spline of src/geometry/curve.rs through points: its parameter, the length of chords, at each point, and the
   * point at a parameter. The third derivative is continuous at the second and the last but one point.
   */
  function spline(points) {
    const n = points.length;
    const knots = [0];
    for (let k = 1; k < n; k++) knots.push(knots[k - 1] + distance(points[k - 1], points[k]));
    const h = (k) => knots[k + 1] - knots[k];
    const slope = (k, c) => (points[k + 1][c] - points[k][c]) / h(k);
    // Rows of the second derivatives, with both right-hand sides at the end.
    const rows = points.map((_, k) => {
      const row = new Float64Array(n + 2);
      const at = Math.min(n - 2, Math.max(1, k));
      if (at === k) {
        [row[k - 1], row[k], row[k + 1]] = [h(k - 1), 2 * (h(k - 1) + h(k)), h(k)];
        for (const c of [0, 1]) row[n + c] = 6 * (slope(k, c) - slope(k - 1, c));
      } else [row[at - 1], row[at], row[at + 1]] = [h(at), -h(at - 1) - h(at), h(at - 1)];
      return row;
    });
    for (let k = 0; k < n; k++) {
      const size = (row) => Math.abs(rows[row][k]);
      let best = k;
      for (let m = k + 1; m < n; m++) if (size(m) > size(best)) best = m;
      [rows[k], rows[best]] = [rows[best], rows[k]];
      for (let m = 0; m < n; m++) {
        const share = m === k ? 0 : rows[m][k] / rows[k][k];
        if (share) for (let c = k; c < n + 2; c++) rows[m][c] -= share * rows[k][c];
      }
    }
    const second = (k, c) => rows[k][n + c] / rows[k][k];
    const at = (s) => {
      let k = 0;
      while (k < n - 2 && knots[k + 1] <= s) k += 1;
      const b = (s - knots[k]) / h(k);
      const a = 1 - b;
      return [0, 1].map((c) => {
        const bent = (a * a * a - a) * second(k, c) + (b * b * b - b) * second(k + 1, c);
        return a * points[k][c] + b * points[k + 1][c] + (bent * h(k) * h(k)) / 6;
      });
    };
    return { knots, at };
  }

  /** Points on the spline, `PIECES` of each interval; the line through points that have none. */
  function curve(points) {
    const apart = points.every((point, k) => k === 0 || distance(points[k - 1], point) > 0);
    if (points.length < 4 || !apart) return points;
    const { knots, at } = spline(points);
    const part = (k, m) => at(knots[k] + ((knots[k + 1] - knots[k]) * m) / PIECES);
    const all = points.slice(1).flatMap((_, k) => Array.from({ length: PIECES }, (_, m) => part(k, m)));
    return [...all, points[points.length - 1]];
  }

  /** Some points of a contour, from its trailing edge over the nose and back, closest at the nose and closer at the edge. */
  function thinned(points) {
    if (points.length <= MOST_POINTS) return points;
    const last = points[points.length - 1];
    const edge = [0, 1].map((c) => (points[0][c] + last[c]) / 2);
    let nose = 0;
    points.forEach((point, k) => {
      if (distance(point, edge) > distance(points[nose], edge)) nose = k;
    });
    // A spline through all points takes too long; chords between them are short enough.
    const lengths = [0];
    for (let k = 1; k < points.length; k++) lengths.push(lengths[k - 1] + distance(points[k - 1], points[k]));
    const at = (s) => {
      const k = Math.min(points.length - 2, Math.max(0, lengths.findIndex((length) => length >= s) - 1));
      const from = Math.min(points.length - 4, Math.max(0, k - 1));
      return spline(points.slice(from, from + 4)).at(s - lengths[from]);
    };
    const place = (m) => {
      const side = m < INTERVALS ? lengths[nose] : lengths[nose] - lengths[points.length - 1];
      const t = Math.abs(1 - m / INTERVALS);
      return lengths[nose] - (side * (t * t + (1 - Math.cos(Math.PI * t)) / 2)) / 2;
    };
    const inner = Array.from({ length: 2 * INTERVALS - 1 }, (_, k) => at(place(k + 1)));
    return [points[0], ...inner, last].map((point) => point.map(rounded));
  }

  /** Points as a list in TOML. */
  function inToml(points) {
    const real = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));
    return `[${points.map((point) => `[${point.map(real).join(", ")}]`).join(", ")}]`;
  }

  /** The points in such a list, or null where there is another text. */
  function ofToml(text) {
    try {
      const points = JSON.parse(text);
      const pair = (point) => point.length === 2 && point.every(Number.isFinite);
      return points.length > 1 && points.every(pair) ? points : null;
    } catch {
      return null;
    }
  }

  /** The number of the interval of a spline whose curve is nearest to a point. */
  function nearest(points, point) {
    let [best, least] = [0, Infinity];
    curve(points).forEach((at, k) => {
      const away = distance(at, point);
      if (away < least) [best, least] = [Math.min(points.length - 2, Math.floor(k / PIECES)), away];
    });
    return best;
  }

  /** An editor of points in an element; `changed` is called with the points after each change of them. */
  class Editor {
    constructor(host, changed) {
      Object.assign(this, { host, changed, points: [], held: null, handles: [] });
      this.svg = document.createElementNS(SVG, "svg");
      this.svg.setAttribute("role", "group");
      this.svg.setAttribute("aria-label", "points of the section");
      this.line = this.svg.appendChild(document.createElementNS(SVG, "path"));
      host.append(this.svg);
      this.svg.addEventListener("dblclick", (event) => this.insert(this.point(event)));
      new ResizeObserver(() => this.show(this.points)).observe(host);
    }

    /** Whether both ends are one point, a sharp trailing edge. */
    sharp() {
      return distance(this.points[0], this.points[this.points.length - 1]) === 0;
    }

    /** Shows other points, all of them within the view. */
    show(points) {
      this.points = points.map((point) => [...point]);
      if (!points.length || !this.host.clientWidth) return;
      const axis = (c) => this.points.map((point) => point[c]);
      const [x, y] = [axis(0), axis(1)];
      const width = this.host.clientWidth;
      const [left, low] = [Math.min(...x), Math.min(...y)];
      const [w, h] = [Math.max(...x) - left, Math.max(...y) - low];
      const scale = Math.min((width - 2 * MARGIN) / (w || 1), (HEIGHT - 2 * MARGIN) / (h || 1));
      this.view = { scale, x: left - (width / scale - w) / 2, y: low + h + (HEIGHT / scale - h) / 2 };
      this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
      const focused = this.handles.indexOf(document.activeElement);
      for (const handle of this.handles) handle.remove();
      this.handles = this.points.slice(0, this.sharp() ? -1 : undefined).map((_, k) => this.handle(k));
      this.svg.append(...this.handles);
      this.draw();
      if (focused >= 0) this.focus(focused);
    }

    focus(k) {
      this.handles[Math.min(k, this.handles.length - 1)].focus();
    }

    draw() {
      const { scale, x, y } = this.view;
      const pixels = ([px, py]) => [(px - x) * scale, (y - py) * scale].map((value) => value.toFixed(1));
      this.line.setAttribute(
        "d",
        `M${curve(this.points)
          .map((point) => pixels(point).join(" "))
          .join("L")}`,
      );
      this.handles.forEach((handle, k) => {
        const [cx, cy] = pixels(this.points[k]);
        const [px, py] = this.points[k];
        const text = { cx, cy, "aria-valuenow": px, "aria-valuetext": `x ${px}, y ${py}` };
        for (const [name, value] of Object.entries(text)) handle.setAttribute(name, value);
      });
    }

    /** The point under a pointer. */
    point(event) {
      const box = this.svg.getBoundingClientRect();
      const { scale, x, y } = this.view;
      return [x + (event.clientX - box.left) / scale, y - (event.clientY - box.top) / scale].map(rounded);
    }

    handle(k) {
      const made = document.createElementNS(SVG, "circle");
      const properties = { r: 6, tabindex: 0, role: "slider", "aria-label": `point ${k + 1}` };
      for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
      made.addEventListener("pointerdown", (event) => {
        made.setPointerCapture(event.pointerId);
        this.held = k;
      });
      made.addEventListener("pointermove", (event) => this.held === k && this.put(k, this.point(event)));
      made.addEventListener("lostpointercapture", () => Object.assign(this, { held: null }));
      made.addEventListener("dblclick", (event) => event.stopPropagation());
      made.addEventListener("keydown", (event) => this.key(event, k));
      return made;
    }

    key(event, k) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = (event.shiftKey ? 10 : 1) / this.view.scale;
      const steps = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      const by = steps[event.key];
      const middle = () => curve(this.points)[k * PIECES + PIECES / 2];
      if (by)
        this.put(
          k,
          [0, 1].map((c) => rounded(this.points[k][c] + by[c])),
        );
      else if (event.key === "Delete" || event.key === "Backspace") this.remove(k);
      else if (event.key === "Insert" || event.key === "+") this.insert(middle(), k);
      else return;
      event.preventDefault();
    }

    /** Puts a point elsewhere, on a sharp edge both ends. */
    put(k, point) {
      if (distance(this.points[k], point) === 0) return;
      const both = k === 0 && this.sharp();
      this.points[k] = point;
      if (both) this.points[this.points.length - 1] = [...point];
      this.draw();
      this.changed(this.points);
    }

    /** Adds a point to an interval, by default the nearest. */
    insert(point, k = nearest(this.points, point)) {
      if (!point || k + 1 >= this.points.length || this.points.length >= MOST_POINTS) return;
      this.reshape(this.points.toSpliced(k + 1, 0, point.map(rounded)), k + 1);
    }

    /** Removes a point between the ends. */
    remove(k) {
      if (k === 0 || k + 1 >= this.points.length || this.points.length <= LEAST_POINTS) return;
      this.reshape(this.points.toSpliced(k, 1), k);
    }

    reshape(points, focused) {
      this.show(points);
      this.focus(focused);
      this.changed(this.points);
    }
  }

  return { Editor, curve, inToml, nearest, ofToml, spline, thinned };
})();

if (typeof module !== "undefined") module.exports = gridgenDraw;
