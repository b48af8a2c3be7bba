// A viewer of structured grids: zoom and drag, measures of cells in colours, curves, pictures of the view.
//
// All positions are computed relative to the view in double precision; only pixels reach WebGL, so that cells of
// 1e-7 chords are drawn right. Without WebGL 2 a canvas is drawn on.
"use strict";

const gridgenViewer = (() => {
  const G = typeof gridgenGrid === "undefined" ? require("./grid.js") : gridgenGrid;

  // Lines closer than the first number of pixels are left out; from the second on they are drawn in full.
  const [HIDDEN_PX, FULL_PX] = [3, 10];
  // Coordinates in pixels beyond which lines and cells are cut in double precision.
  const FAR_PX = 4096;
  // The narrowest and the widest view, in chords a pixel.
  const [FINEST, COARSEST] = [1e-13, 1e3];
  const [BINS, ZOOM_STEP] = [48, 1.4];
  const SVG = "http://www.w3.org/2000/svg";
  // Colours of a scale from small to large, after Matplotlib's viridis (CC0), readable on light and dark.
  const SCALE = ["#440154", "#472c7a", "#3b518b", "#2c718e", "#21908d", "#27ad81", "#5cc863", "#aadc32", "#fde725"];
  const STOPS = SCALE.map(bytes);

  // ---------------------------------------------------------------- numbers, colours and geometry

  /** A number for reading: four digits, with an exponent where it is small or large. */
  function shown(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size === 0) return "0";
    const text = size < 1e-3 || size >= 1e5 ? value.toExponential(digits - 1) : value.toPrecision(digits);
    return text.replace("-", "−").replace("e−", "e-").replace("e+", "e");
  }

  /** The colour at a place in [0, 1] of the scale. */
  function colour(place) {
    const at = Math.min(1, Math.max(0, place)) * (STOPS.length - 1);
    const k = Math.min(STOPS.length - 2, Math.floor(at));
    return STOPS[k].map((from, c) => Math.round(from + (STOPS[k + 1][c] - from) * (at - k)));
  }

  const css = ([r, g, b], alpha = 1) => `rgb(${r} ${g} ${b}${alpha < 1 ? ` / ${alpha}` : ""})`;

  /** The three bytes of a colour as #rrggbb. */
  function bytes(text) {
    return [1, 3, 5].map((at) => parseInt(text.trim().slice(at, at + 2), 16));
  }

  /** A scale for values: its ends, the place in [0, 1] of a value, NaN for one that has none, and the value at a place. */
  function scaleOf(arrays, logarithmic, power = 1) {
    let [low, high] = [Infinity, -Infinity];
    for (const values of arrays) {
      for (const value of values) {
        if (!Number.isFinite(value) || (logarithmic && value <= 0)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (!(low <= high)) return { low: 0, high: 1, place: () => NaN, at: (place) => place };
    if (logarithmic && high / low > 4) {
      const [a, span] = [Math.log(low), Math.log(high / low)];
      const place = (value) => (value > 0 ? (Math.log(value) - a) / span : NaN);
      return { low, high, place, at: (t) => Math.exp(a + t * span) };
    }
    const span = high - low || 1;
    return { low, high, place: (value) => ((value - low) / span) ** (1 / power), at: (t) => low + t ** power * span };
  }

  /** The part of a polygon, x0, y0, x1, y1 and so on, in the square of FAR_PX pixels around the view. */
  function cutPolygon(points) {
    let polygon = points;
    for (const [axis, sign] of [
      [0, 1],
      [0, -1],
      [1, 1],
      [1, -1],
    ]) {
      const kept = [];
      const room = (k) => FAR_PX - sign * polygon[k + axis];
      for (let k = 0; k < polygon.length; k += 2) {
        const n = (k + 2) % polygon.length;
        const [here, there] = [room(k), room(n)];
        if (here >= 0) kept.push(polygon[k], polygon[k + 1]);
        if (here >= 0 !== there >= 0) {
          const t = here / (here - there);
          for (const c of [0, 1]) kept.push(polygon[k + c] + t * (polygon[n + c] - polygon[k + c]));
        }
      }
      polygon = kept;
    }
    return polygon;
  }

  /** The part of the segment x0, y0, x1, y1 in that square, or null: a polygon of two corners that begins with it. */
  function cut(...ends) {
    const part = cutPolygon(ends);
    return part.length ? part.slice(0, 4) : null;
  }

  /** The opacity of a line whose neighbours of the same or a coarser level are this many pixels off. */
  function opacity(pixels) {
    const t = Math.min(1, Math.max(0, (pixels - HIDDEN_PX) / (FULL_PX - HIDDEN_PX)));
    return t * t * (3 - 2 * t);
  }

  /** How often a line's number can be halved: lines of a low level are left out first. */
  function level(line, last) {
    return line === 0 || line === last ? 30 : Math.min(30, 31 - Math.clz32(line & -line));
  }

  /** A window on the plane: its centre, pixels a unit of length, and its size in pixels. */
  class Camera {
    constructor() {
      Object.assign(this, { x: 0, y: 0, scale: 100, width: 800, height: 500 });
    }
    /** Pixels of a point. */
    pixels(x, y) {
      return [(x - this.x) * this.scale + this.width / 2, this.height / 2 - (y - this.y) * this.scale];
    }
    /** The point under a pixel. */
    point(px, py) {
      return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
    }
    /** Shows a box with room around it. */
    fit([x0, y0, x1, y1], room = 1.12) {
      const [w, h] = [Math.max(x1 - x0, 1e-300), Math.max(y1 - y0, 1e-300)];
      this.scale = Math.min(this.width / w, this.height / h) / room;
      [this.x, this.y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    }
    /** Zooms about a pixel, which keeps its point. */
    zoom(factor, px, py, unit) {
      const scale = Math.min(1 / (FINEST * unit), Math.max(1 / (COARSEST * unit), this.scale * factor));
      const [x, y] = this.point(px, py);
      this.scale = scale;
      this.x = x - (px - this.width / 2) / scale;
      this.y = y + (py - this.height / 2) / scale;
    }
  }

  /** The bounds of points of a zone, [x0, y0, x1, y1]. */
  function bounds(zone, nodes) {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const k of nodes) {
      const [x, y] = [zone.x[k], zone.y[k]];
      if (x < box[0]) box[0] = x;
      if (y < box[1]) box[1] = y;
      if (x > box[2]) box[2] = x;
      if (y > box[3]) box[3] = y;
    }
    return box;
  }

  const union = (boxes) =>
    boxes.reduce((a, b) => [0, 1, 2, 3].map((k) => (k < 2 ? Math.min(a[k], b[k]) : Math.max(a[k], b[k]))));

  /** The cell under a point: its zone, i and j, or null. The last zone that has one is found. */
  function cellAt(zones, x, y) {
    const c = new Float64Array(8);
    for (let n = zones.length - 1; n >= 0; n--) {
      const zone = zones[n];
      if (zone.hidden) continue;
      for (let j = 0; j < zone.nj - 1; j++) {
        for (let i = 0; i < zone.ni - 1; i++) {
          const k = j * zone.ni + i;
          const [x0, x1, x2, x3] = [zone.x[k], zone.x[k + 1], zone.x[k + zone.ni], zone.x[k + zone.ni + 1]];
          if (x < x0 && x < x1 && x < x2 && x < x3) continue;
          if (x > x0 && x > x1 && x > x2 && x > x3) continue;
          if (inside(G.corners(zone, i, j, c), x, y)) return { zone: n, i, j };
        }
      }
    }
    return null;
  }

  /** Whether a point is in a polygon of four corners, by the crossings of a ray. */
  function inside(c, x, y) {
    let within = false;
    for (let k = 0; k < 4; k++) {
      const n = 2 * ((k + 1) % 4);
      const [ax, ay, bx, by] = [c[2 * k] - x, c[2 * k + 1] - y, c[n] - x, c[n + 1] - y];
      if (ay > 0 !== by > 0 && ax * by - ay * bx > 0 === by > ay) within = !within;
    }
    return within;
  }

  // ---------------------------------------------------------------- what is painted, and on what

  /** Paints cells and lines of the zones on a sink, whose methods get pixels. */
  function paint(zones, camera, { layers, colours }, theme, sink) {
    const { width, height } = camera;
    for (const zone of zones) {
      if (zone.hidden) continue;
      const { ni, nj } = zone;
      const [px, py] = [new Float64Array(ni * nj), new Float64Array(ni * nj)];
      const [ox, oy] = [width / 2, height / 2];
      for (let k = 0; k < ni * nj; k++) {
        px[k] = (zone.x[k] - camera.x) * camera.scale + ox;
        py[k] = oy - (zone.y[k] - camera.y) * camera.scale;
      }
      const out = (a, b) =>
        (px[a] < 0 && px[b] < 0) ||
        (py[a] < 0 && py[b] < 0) ||
        (px[a] > width && px[b] > width) ||
        (py[a] > height && py[b] > height);
      const places = colours && colours.get(zone);
      if (places) paintCells(zone, px, py, out, places, theme, sink);
      const faint = places ? 0.5 : 1;
      const line = (a, b, alpha) => {
        if (out(a, b)) return;
        let [x0, y0, x1, y1] = [px[a], py[a], px[b], py[b]];
        if (Math.max(Math.abs(x0), Math.abs(y0), Math.abs(x1), Math.abs(y1)) > FAR_PX) {
          const part = cut(x0, y0, x1, y1);
          if (!part) return;
          [x0, y0, x1, y1] = part;
        }
        sink.line(x0, y0, x1, y1, alpha);
      };
      sink.begin(places ? theme.over : zone.colour || theme.line);
      // Lines along one direction; `step` is the distance between nodes along a line, `across` that to the next line.
      const family = (lines, cells, step, across) => {
        for (let n = 0; n < lines; n++) {
          const reach = Math.min(1 << Math.min(level(n, lines - 1), 20), lines - 1);
          const side = n + reach < lines ? reach * across : -Math.min(n, reach) * across;
          const other = n - reach >= 0 ? -reach * across : side;
          for (let m = 0; m < cells; m++) {
            const k = n * across + m * step;
            const near = Math.min(
              Math.hypot(px[k + side] - px[k], py[k + side] - py[k]),
              Math.hypot(px[k + other] - px[k], py[k + other] - py[k]),
            );
            const alpha = n === 0 || n === lines - 1 ? 1 : opacity(near);
            if (alpha > 0) line(k, k + step, alpha * faint);
          }
        }
      };
      if (layers.j) family(nj, ni - 1, 1, ni);
      if (layers.i) family(ni, nj - 1, ni, 1);
    }
    sink.end();
  }

  function paintCells(zone, px, py, out, places, theme, sink) {
    const { ni, nj } = zone;
    for (let j = 0; j < nj - 1; j++) {
      for (let i = 0; i < ni - 1; i++) {
        const k = j * ni + i;
        const [b, c, d] = [k + 1, k + ni + 1, k + ni];
        if (out(k, c) && out(b, d) && out(k, b) && out(c, d)) continue;
        const place = places[j * (ni - 1) + i];
        let points = [px[k], py[k], px[b], py[b], px[c], py[c], px[d], py[d]];
        if (points.some((value) => Math.abs(value) > FAR_PX)) points = cutPolygon(points);
        if (points.length > 4) sink.cell(points, Number.isNaN(place) ? theme.folded : colour(place));
      }
    }
  }

  /** Triangles and lines in WebGL 2. */
  class GlSink {
    constructor(canvas) {
      const gl = canvas.getContext("webgl2", { antialias: true, alpha: true });
      if (!gl) throw new Error("no WebGL 2");
      const shader = (kind, text) => {
        const made = gl.createShader(kind);
        gl.shaderSource(made, text);
        gl.compileShader(made);
        if (!gl.getShaderParameter(made, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(made));
        return made;
      };
      const program = gl.createProgram();
      const vertex = `#version 300 es
        uniform vec2 size; in vec2 at; in vec4 paint; out vec4 tint;
        void main() { gl_Position = vec4(at / size * vec2(2, -2) + vec2(-1, 1), 0, 1); tint = paint; }`;
      const fragment = `#version 300 es
        precision mediump float; in vec4 tint; out vec4 pixel;
        void main() { pixel = vec4(tint.rgb * tint.a, tint.a); }`;
      gl.attachShader(program, shader(gl.VERTEX_SHADER, vertex));
      gl.attachShader(program, shader(gl.FRAGMENT_SHADER, fragment));
      gl.bindAttribLocation(program, 0, "at");
      gl.bindAttribLocation(program, 1, "paint");
      gl.linkProgram(program);
      gl.useProgram(program);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.enableVertexAttribArray(0);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 12, 0);
      gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 12, 8);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      Object.assign(this, { gl, canvas, size: gl.getUniformLocation(program, "size"), room: 0 });
      this.grow(1 << 18);
    }
    grow(vertices) {
      const old = this.bytes;
      const memory = new ArrayBuffer(vertices * 12);
      this.floats = new Float32Array(memory);
      this.bytes = new Uint8Array(memory);
      if (old) this.bytes.set(old);
      this.room = vertices;
    }
    clear(width, height) {
      const { gl, canvas } = this;
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.uniform2f(this.size, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      Object.assign(this, { used: 0, kind: gl.TRIANGLES });
    }
    push(x, y, [r, g, b], alpha) {
      if (this.used === this.room) this.grow(2 * this.room);
      const at = this.used++;
      this.floats[3 * at] = x;
      this.floats[3 * at + 1] = y;
      const k = 12 * at + 8;
      this.bytes[k] = r;
      this.bytes[k + 1] = g;
      this.bytes[k + 2] = b;
      this.bytes[k + 3] = 255 * alpha;
    }
    flush(next) {
      const { gl } = this;
      if (this.used) {
        gl.bufferData(gl.ARRAY_BUFFER, this.bytes.subarray(0, 12 * this.used), gl.STREAM_DRAW);
        gl.drawArrays(this.kind, 0, this.used);
      }
      Object.assign(this, { used: 0, kind: next });
    }
    cell(points, tint) {
      if (this.kind !== this.gl.TRIANGLES) this.flush(this.gl.TRIANGLES);
      for (let k = 4; k < points.length; k += 2) {
        this.push(points[0], points[1], tint, 1);
        this.push(points[k - 2], points[k - 1], tint, 1);
        this.push(points[k], points[k + 1], tint, 1);
      }
    }
    begin(tint) {
      this.flush(this.gl.LINES);
      this.tint = tint;
    }
    line(x0, y0, x1, y1, alpha) {
      this.push(x0, y0, this.tint, alpha);
      this.push(x1, y1, this.tint, alpha);
    }
    end() {
      this.flush(this.gl.TRIANGLES);
    }
  }

  /** The same on a canvas; also fills, strokes and texts over the grid. */
  class CanvasSink {
    constructor(canvas) {
      this.canvas = canvas;
      this.context = canvas.getContext("2d");
    }
    clear(width) {
      const { context, canvas } = this;
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.scale(canvas.width / width, canvas.width / width);
      this.paths = [];
    }
    trace(points, closed) {
      const { context } = this;
      context.beginPath();
      for (let k = 0; k < points.length; k += 2) context.lineTo(points[k], points[k + 1]);
      if (closed) context.closePath();
    }
    cell(points, tint) {
      this.trace(points, true);
      this.context.fillStyle = this.context.strokeStyle = css(tint);
      this.context.lineWidth = 0.5;
      this.context.fill();
      this.context.stroke();
    }
    begin(tint) {
      this.end();
      Object.assign(this, { tint, paths: Array.from({ length: 8 }, () => new Path2D()) });
    }
    line(x0, y0, x1, y1, alpha) {
      const path = this.paths[Math.min(7, Math.floor(alpha * 8))];
      path.moveTo(x0, y0);
      path.lineTo(x1, y1);
    }
    end() {
      this.context.lineWidth = 1;
      (this.paths || []).forEach((path, k) => {
        this.context.strokeStyle = css(this.tint, (k + 0.5) / 8);
        this.context.stroke(path);
      });
      this.paths = [];
    }
    fill(points, tint) {
      this.trace(points, true);
      this.context.fillStyle = css(tint);
      this.context.fill();
    }
    stroke(points, tint, width, closed) {
      this.trace(points, closed);
      Object.assign(this.context, { strokeStyle: css(tint), lineWidth: width, lineJoin: "round" });
      this.context.stroke();
    }
    text(x, y, text, tint) {
      Object.assign(this.context, { fillStyle: css(tint), font: "12px system-ui, sans-serif", textAlign: "center" });
      this.context.fillText(text, x, y);
    }
  }

  /** The same as a text in SVG. */
  class SvgSink {
    constructor(width, height, ground) {
      Object.assign(this, { width, height, parts: [], paths: null });
      this.parts.push(`<rect width="${width}" height="${height}" fill="${css(ground)}"/>`);
    }
    static path(points, closed) {
      let text = "";
      for (let k = 0; k < points.length; k += 2) {
        text += `${k ? "L" : "M"}${points[k].toFixed(2)} ${points[k + 1].toFixed(2)}`;
      }
      return closed ? `${text}Z` : text;
    }
    cell(points, tint) {
      const paint = css(tint);
      this.parts.push(`<path d="${SvgSink.path(points, true)}" fill="${paint}" stroke="${paint}" stroke-width=".4"/>`);
    }
    begin(tint) {
      this.end();
      Object.assign(this, { tint, paths: Array.from({ length: 8 }, () => []) });
    }
    line(x0, y0, x1, y1, alpha) {
      this.paths[Math.min(7, Math.floor(alpha * 8))].push(SvgSink.path([x0, y0, x1, y1]));
    }
    end() {
      (this.paths || []).forEach((path, k) => {
        const look = `fill="none" stroke="${css(this.tint)}" stroke-opacity="${(k + 0.5) / 8}"`;
        if (path.length) this.parts.push(`<path d="${path.join("")}" ${look}/>`);
      });
      this.paths = null;
    }
    fill(points, tint) {
      this.parts.push(`<path d="${SvgSink.path(points, true)}" fill="${css(tint)}"/>`);
    }
    stroke(points, tint, width, closed) {
      const look = `fill="none" stroke="${css(tint)}" stroke-width="${width}" stroke-linejoin="round"`;
      this.parts.push(`<path d="${SvgSink.path(points, closed)}" ${look}/>`);
    }
    text(x, y, text, tint) {
      const look = `fill="${css(tint)}" font-family="sans-serif" font-size="12" text-anchor="middle"`;
      this.parts.push(`<text x="${x}" y="${y}" ${look}>${text}</text>`);
    }
    finished() {
      const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
      return `<svg xmlns="${SVG}" ${size}>\n${this.parts.join("\n")}\n</svg>\n`;
    }
  }

  // ---------------------------------------------------------------- elements of the page

  /** An element with properties, event listeners (`on…`) and children. */
  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  /** A piece of SVG from a text. */
  function svg(width, height, label, parts) {
    const made = document.createElementNS(SVG, "svg");
    made.setAttribute("viewBox", `0 0 ${width} ${height}`);
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label);
    made.innerHTML = parts.join("");
    return made;
  }

  /** A text in SVG, for a scale or a chart. */
  const label = (x, y, anchor, content) =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" font-size="11" fill="var(--gv-label)">${content}</text>`;

  const option = ([value, text]) => element("option", { value }, text);
  const offer = (name, blob) => {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  /** The curves that can be drawn along the wall and along a line: name, unit, whether the scale is logarithmic. */
  const CURVES = {
    height: ["height of the first cell", "chords", true],
    spacing: ["spacing of the wall points", "chords", true],
    growth: ["growth of the first two cells", "", false],
    angle: ["angle off the wall's normal", "°", false],
    controlP: ["control function P of the first row", "", false],
    controlQ: ["control function Q of the first row", "", false],
  };
  const LINE_CURVES = { height: ["height of the cells", "chords", true], growth: ["growth of the cells", "", false] };

  /** A scale that is not filled by the last digits of values that are all but equal. */
  function roomy(scale) {
    const { low, high } = scale;
    return high - low > 1e-4 * Math.abs(high)
      ? scale
      : scaleOf([[low - 0.1 * Math.abs(low), high + 0.1 * Math.abs(high)]]);
  }

  /** A measure and the ends of its scale, in words. */
  const rangeOf = (name, unit, { low, high }) =>
    `${name}${unit ? `, ${unit}` : ""}: from ${shown(low)} to ${shown(high)}`;

  /** A chart of a curve as SVG, with a mark at one point; `picked` is called with the number of a point. */
  function chart(width, curve, key, [name, unit, logarithmic], mark, along, picked) {
    const [height, left, bottom, top] = [165, 56, 20, 8];
    const values = curve[key];
    const scale = roomy(scaleOf([values], logarithmic));
    const length = curve.s[curve.s.length - 1] || 1;
    // The distance along a line from the wall spans orders of magnitude, too.
    const start = along === "line" ? Math.log(curve.s[0]) : 0;
    const place = (s) => (along === "line" ? (Math.log(s) - start) / (Math.log(length) - start || 1) : s / length);
    const x = (k) => left + (width - left - 8) * place(curve.s[k]);
    const y = (value) => height - bottom - (height - bottom - top) * scale.place(value);
    let [path, pen] = ["", "M"];
    values.forEach((value, k) => {
      const drawn = Number.isFinite(value) && Number.isFinite(y(value));
      if (drawn) path += `${pen}${x(k).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = drawn ? "L" : "M";
    });
    const rule = (at) => `<path d="M${left} ${at}H${width - 8}" stroke="var(--gv-rule)"/>`;
    const parts = [rule(height - bottom), rule(top), label(left - 5, top + 4, "end", shown(scale.high, 3))];
    parts.push(label(left - 5, height - bottom + 3, "end", shown(scale.low, 3)));
    parts.push(`<path d="${path}" fill="none" stroke="var(--gv-accent)" stroke-width="1.5" stroke-linejoin="round"/>`);
    if (mark >= 0 && mark < values.length) {
      const at = x(mark).toFixed(1);
      parts.push(`<path d="M${at} ${top}V${height - bottom}" stroke="var(--gv-pick)" stroke-width="1.2"/>`);
      if (Number.isFinite(y(values[mark]))) {
        parts.push(`<circle cx="${at}" cy="${y(values[mark]).toFixed(1)}" r="3" fill="var(--gv-pick)"/>`);
      }
    }
    const ends =
      along === "line"
        ? [shown(curve.s[0], 3), `${shown(length, 3)} chords from the wall`]
        : ["0", `${shown(length, 3)} chords along the wall, from below the trailing edge`];
    parts.push(label(left, height - 5, "start", ends[0]), label(width - 8, height - 5, "end", ends[1]));
    const made = svg(width, height, rangeOf(name, unit, scale), parts);
    made.addEventListener("click", (event) => {
      const box = made.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      let best = 0;
      values.forEach((_, k) => {
        if (Math.abs(x(k) - at) < Math.abs(x(best) - at)) best = k;
      });
      picked(best);
    });
    return made;
  }

  const LINE_COLOURS = ["--gv-line", "--gv-second", "--gv-third", "--gv-fourth"];
  const KEYS_HELP =
    "Arrow keys select a neighbouring cell, with Shift ten cells on; plus and minus zoom, 0 shows the whole, " +
    "C centres the cell, W goes to the worst cell, I and J switch lines, B before and after.";

  // ---------------------------------------------------------------- the viewer

  /** A viewer in an element: shows data that `read` or `unpack` of grid.js returned. */
  class Viewer {
    constructor(host, data, options = {}) {
      Object.assign(this, {
        host,
        options,
        camera: new Camera(),
        measure: options.colour || "",
        picked: null,
        hovered: null,
      });
      this.layers = { i: true, j: true, wall: true, body: true };
      host.viewer = this;
      host.classList.add("gridgen-viewer");
      this.build();
      this.setData(data);
      new ResizeObserver(() => this.resize()).observe(this.stage);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme());
    }

    /** Makes the elements. */
    build() {
      const button = (text, title, work, properties = {}) =>
        element("button", { type: "button", title, onclick: work, ...properties }, text);
      const canvas = () => element("canvas", { "aria-hidden": "true" });
      const layers = [canvas(), canvas(), canvas()];
      this.where = element("div", { class: "gv-where" });
      this.stage = element(
        "div",
        {
          class: "gv-stage",
          tabindex: 0,
          role: "application",
          "aria-roledescription": "grid viewer",
          "aria-label": `Grid. ${KEYS_HELP}`,
        },
        ...layers,
        this.where,
      );
      this.under = new CanvasSink(layers[0]);
      try {
        if (this.options.canvas) throw new Error("canvas asked for");
        this.main = new GlSink(layers[1]);
        this.kind = "webgl2";
      } catch {
        this.main = new CanvasSink(layers[1]);
        this.kind = "canvas";
      }
      this.over = new CanvasSink(layers[2]);
      this.views = element("span", { role: "group", "aria-label": "views" });
      this.state = button("before", "show the grid before (B)", () => this.toggleBefore(), { "aria-pressed": "false" });
      const bar = element(
        "div",
        { class: "gv-bar", role: "toolbar", "aria-label": "view" },
        this.views,
        button("+", "zoom in (+)", () => this.zoom(ZOOM_STEP), { "aria-label": "zoom in" }),
        button("−", "zoom out (-)", () => this.zoom(1 / ZOOM_STEP), { "aria-label": "zoom out" }),
        this.state,
        element("span", { class: "gv-gap" }),
        button("PNG", "save the view as PNG", () => this.savePng()),
        button("SVG", "save the view as SVG", () => this.saveSvg()),
        button("full screen", "fill the screen", () => this.host.requestFullscreen?.()),
      );
      const measures = Object.entries(G.MEASURES).map(([key, { name }]) => [key, name]);
      this.chooser = element(
        "select",
        { "aria-label": "colour by", onchange: () => this.colourBy(this.chooser.value) },
        ...[["", "no colours"], ...measures].map(option),
      );
      this.scale = element("div", { class: "gv-scale" });
      this.goal = element("input", {
        type: "text",
        placeholder: "i, j",
        "aria-label": "cell to go to, i and j",
        onkeydown: (event) => event.key === "Enter" && this.goTyped(),
      });
      this.worstOf = element("select", { "aria-label": "worst by" }, ...measures.slice(0, 7).map(option));
      this.switches = element("div", { class: "gv-layers", role: "group", "aria-label": "layers" });
      this.details = element("dl", { class: "gv-cell" });
      this.heard = element("div", { class: "gv-heard", role: "status", "aria-live": "polite" });
      const part = (heading, ...contents) =>
        element("div", { role: "group", "aria-label": heading }, element("h3", {}, heading), ...contents);
      const row = (...contents) => element("div", { class: "gv-row" }, ...contents);
      const toCell = button("cell", "go to this cell", () => this.goTyped());
      const toWorst = button("worst", "go to the worst cell (W)", () => this.goWorst(this.worstOf.value));
      const side = element(
        "div",
        { class: "gv-side" },
        part("Colours", row(this.chooser), this.scale),
        part("Cell", this.details),
        part("Go to", row(this.goal, toCell), row(this.worstOf, toWorst)),
        part("Layers", this.switches),
      );
      this.wallChoice = this.curveChoice("curve along the wall", CURVES);
      this.lineChoice = this.curveChoice("curve along the line", LINE_CURVES);
      this.wallPlot = element("div", {});
      this.linePlot = element("div", {});
      this.lineTitle = element("h3", {}, "Along the line");
      const plot = (heading, chooser, place) =>
        element("div", { class: "gv-plot" }, element("div", { class: "gv-row" }, heading, chooser), place);
      this.plots = element(
        "div",
        { class: "gv-plots" },
        plot(element("h3", {}, "Along the wall"), this.wallChoice, this.wallPlot),
        plot(this.lineTitle, this.lineChoice, this.linePlot),
      );
      this.note = element("p", { class: "gv-note" });
      this.host.replaceChildren(bar, this.stage, side, this.plots, this.note, this.heard);
      this.listen();
    }

    curveChoice(label, curves) {
      const options = Object.entries(curves).map(([key, [name]]) => option([key, name]));
      return element("select", { "aria-label": label, onchange: () => this.drawPlots() }, ...options);
    }

    /** The pixel of the stage under a pointer. */
    place(event) {
      const box = this.stage.getBoundingClientRect();
      return [event.clientX - box.left - this.stage.clientLeft, event.clientY - box.top - this.stage.clientTop];
    }

    /** Listens to pointer, wheel and keys. */
    listen() {
      const { stage } = this;
      const held = new Map();
      const turn = (event) => {
        event.preventDefault();
        const pixels = event.deltaY * (event.deltaMode === 1 ? 33 : 1);
        this.camera.zoom(Math.exp(-pixels / 350), ...this.place(event), this.data.unit);
        this.redraw();
      };
      stage.addEventListener("wheel", turn, { passive: false });
      let moved = 0;
      stage.addEventListener("pointerdown", (event) => {
        stage.setPointerCapture(event.pointerId);
        held.set(event.pointerId, this.place(event));
        moved = 0;
      });
      stage.addEventListener("pointermove", (event) => {
        const [x, y] = this.place(event);
        const before = held.get(event.pointerId);
        if (!before) {
          this.hover(x, y);
          return;
        }
        const others = [...held.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
        if (others.length) {
          const [ox, oy] = others[0];
          const factor = Math.hypot(x - ox, y - oy) / Math.max(1, Math.hypot(before[0] - ox, before[1] - oy));
          this.camera.zoom(factor, (x + ox) / 2, (y + oy) / 2, this.data.unit);
        } else {
          this.camera.x -= (x - before[0]) / this.camera.scale;
          this.camera.y += (y - before[1]) / this.camera.scale;
        }
        moved += Math.hypot(x - before[0], y - before[1]);
        stage.classList.toggle("gv-drag", moved > 3);
        held.set(event.pointerId, [x, y]);
        this.redraw();
      });
      const lift = (event) => {
        const tapped = held.delete(event.pointerId) && moved < 4 && event.type === "pointerup";
        stage.classList.remove("gv-drag");
        if (tapped) this.pick(cellAt(this.data.zones, ...this.camera.point(...this.place(event))));
      };
      stage.addEventListener("pointerup", lift);
      stage.addEventListener("pointercancel", lift);
      stage.addEventListener("pointerleave", () => this.hover(null));
      stage.addEventListener("dblclick", (event) => {
        this.camera.zoom(4, ...this.place(event), this.data.unit);
        this.redraw();
      });
      stage.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const far = event.shiftKey ? 10 : 1;
      const step = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] }[event.key];
      const work = {
        "+": () => this.zoom(ZOOM_STEP),
        "=": () => this.zoom(ZOOM_STEP),
        "-": () => this.zoom(1 / ZOOM_STEP),
        0: () => this.show("whole"),
        c: () => this.picked && this.centre(this.picked),
        w: () => this.goWorst(this.measure || "skewness"),
        i: () => this.setLayer("i", !this.layers.i),
        j: () => this.setLayer("j", !this.layers.j),
        b: () => this.toggleBefore(),
      }[event.key.toLowerCase()];
      if (!step && !work) return;
      event.preventDefault();
      if (work) work();
      else this.step(...step);
    }

    /** Selects the cell this many cells on; around a closed grid without end. */
    step(di, dj) {
      const at = this.picked || this.home();
      const zone = this.data.zones[at.zone];
      const cells = zone.ni - 1;
      const i = zone.closed ? (at.i + (di % cells) + cells) % cells : Math.min(cells - 1, Math.max(0, at.i + di));
      const j = Math.min(zone.nj - 2, Math.max(0, at.j + dj));
      this.pick(this.picked ? { zone: at.zone, i, j } : at);
      const [x, y] = this.camera.pixels(...G.centroid(G.corners(zone, i, j)));
      const { width, height } = this.camera;
      if (x < 0 || y < 0 || x > width || y > height) this.centre(this.picked);
    }

    /** The cell at the middle of the first wall, on which the selection begins. */
    home() {
      const { zones } = this.data;
      const walled = zones.findIndex((one) => one.wall);
      const zone = Math.max(0, walled);
      const { wall, ni } = zones[zone];
      return { zone, i: wall ? Math.min(ni - 2, Math.floor((wall[0] + wall[1]) / 2)) : 0, j: 0 };
    }

    /** Shows other data; with `keep` the view and the choices stay. */
    setData(data, keep = false) {
      const { picked } = this;
      this.data = data;
      this.values = new Map();
      const root = getComputedStyle(this.host);
      data.zones.forEach((zone, n) => {
        const several = data.zones.length > 1;
        const own = zone.wall || n === 0 ? LINE_COLOURS[n % LINE_COLOURS.length] : LINE_COLOURS[0];
        const tint = several && !zone.wall && n === 0 ? "--gv-far" : own;
        zone.colour = several ? bytes(root.getPropertyValue(tint)) : null;
      });
      this.state.hidden = !data.before;
      this.note.textContent = data.note || "";
      this.note.hidden = !data.note;
      this.buildViews();
      this.buildSwitches();
      this.retheme(false);
      this.resize(false);
      const stays = keep && picked && data.zones[picked.zone];
      const fits = stays && picked.i < stays.ni - 1 && picked.j < stays.nj - 1;
      this.picked = fits ? picked : null;
      this.hovered = null;
      if (!keep) {
        const { view } = this.options;
        const usual = data.zones.some((zone) => zone.wall) ? "body" : "whole";
        this.show(view in this.boxes() ? view : usual);
      }
      if (!fits) this.picked = this.home();
      this.colourBy(this.measure);
      this.drawPlots();
      this.tell();
    }

    /** The boxes of the views that the data have. */
    boxes() {
      const { zones } = this.data;
      const every = (zone) => Array.from({ length: zone.ni * zone.nj }, (_, k) => k);
      const whole = union(zones.map((zone) => bounds(zone, every(zone))));
      const solid = zones.filter((zone) => zone.wall && zone.nj > 1);
      if (!solid.length) return { whole };
      const nodes = (zone, j = 0) => {
        const [from, to] = zone.wall;
        return Array.from({ length: to - from + 1 }, (_, k) => j * zone.ni + from + k);
      };
      const body = union(solid.map((zone) => bounds(zone, nodes(zone))));
      const first = bounds(solid[0], nodes(solid[0]));
      const size = Math.max(first[2] - first[0], first[3] - first[1]);
      const room = 0.25 * Math.max(body[2] - body[0], body[3] - body[1]);
      const ends = nodes(solid[0]);
      const { x, y } = solid[0];
      const fore = ends.reduce((best, k) => (x[k] < x[best] ? k : best), ends[0]);
      const rear = ends.reduce((best, k) => (x[k] > x[best] ? k : best), ends[0]);
      const about = (k, half) => [x[k] - half, y[k] - half, x[k] + half, y[k] + half];
      const wake = [x[rear] - 0.25 * size, y[rear] - 0.5 * size, x[rear] + 1.75 * size, y[rear] + 0.5 * size];
      const height = Math.hypot(x[fore + solid[0].ni] - x[fore], y[fore + solid[0].ni] - y[fore]);
      return {
        whole,
        body: [body[0] - room * 0.4, body[1] - room, body[2] + room * 0.4, body[3] + room],
        "leading edge": about(fore, 0.02 * size),
        "trailing edge": about(rear, 0.02 * size),
        ...(solid[0].topology === "C" ? { wake } : {}),
        "first cell": about(fore, 4 * height),
      };
    }

    buildViews() {
      const names = Object.keys(this.boxes());
      const button = (name) => element("button", { type: "button", onclick: () => this.show(name) }, name);
      this.views.replaceChildren(...names.flatMap((name) => [button(name), " "]));
    }

    buildSwitches() {
      const box = (text, checked, work) =>
        element("label", {}, element("input", { type: "checkbox", checked, onchange: work }), text);
      const names = { i: "i lines", j: "j lines", wall: "wall", body: "body" };
      const layers = Object.entries(names).map(([key, text]) => {
        const made = box(text, this.layers[key], (event) => this.setLayer(key, event.target.checked));
        made.dataset.layer = key;
        return made;
      });
      const { zones } = this.data;
      const several = zones.length > 1 ? zones : [];
      const parts = several.map((zone, n) =>
        box(zone.name || `zone ${n + 1}`, !zone.hidden, (event) => {
          zone.hidden = !event.target.checked;
          this.redraw();
        }),
      );
      this.switches.replaceChildren(...layers, ...parts);
    }

    setLayer(key, on) {
      this.layers[key] = on;
      const box = this.switches.querySelector(`[data-layer="${key}"] input`);
      if (box) box.checked = on;
      this.redraw();
    }

    /** Exchanges the grid for the one before, and back. */
    toggleBefore() {
      if (!this.data.before) return;
      for (const zone of this.data.zones) {
        [zone.x, zone.y, zone.before] = [zone.before.x, zone.before.y, { x: zone.x, y: zone.y }];
      }
      const pressed = this.state.getAttribute("aria-pressed") !== "true";
      this.state.setAttribute("aria-pressed", pressed);
      this.values = new Map();
      this.colourBy(this.measure);
      this.drawPlots();
      this.tell();
    }

    /** Shows one of the views by its name. */
    show(name) {
      this.camera.fit(this.boxes()[name], name === "whole" ? 1.04 : 1);
      this.redraw();
    }

    zoom(factor) {
      this.camera.zoom(factor, this.camera.width / 2, this.camera.height / 2, this.data.unit);
      this.redraw();
    }

    /** Brings a cell to the middle, with some cells around it. */
    centre({ zone, i, j }) {
      const one = this.data.zones[zone];
      const k = j * one.ni + i;
      const [x0, y0, x1, y1] = bounds(one, [k, k + 1, k + one.ni, k + one.ni + 1]);
      const room = 2 * Math.max(x1 - x0, y1 - y0);
      this.camera.fit([x0 - room, y0 - room, x1 + room, y1 + room], 1);
      [this.camera.x, this.camera.y] = G.centroid(G.corners(one, i, j));
      this.redraw();
    }

    /** Goes to a cell by its indices in the whole grid; returns whether there is one. */
    goTo(i, j, zone = this.picked ? this.picked.zone : 0) {
      const { ni, nj, is, js } = this.data.zones[zone];
      const within = (lines, at) => (lines ? lines.findLastIndex((line) => line <= at) : at);
      const cell = { zone, i: within(is, i), j: within(js, j) };
      if (!(cell.i >= 0 && cell.j >= 0 && cell.i < ni - 1 && cell.j < nj - 1)) return false;
      this.pick(cell);
      this.centre(cell);
      return true;
    }

    goTyped() {
      const numbers = this.goal.value.match(/\d+/g) || [];
      const found = numbers.length === 2 && this.goTo(Number(numbers[0]), Number(numbers[1]));
      const { ni, nj, is, js } = this.data.zones[this.picked ? this.picked.zone : 0];
      const [last, top] = [is ? is[ni - 1] - 1 : ni - 2, js ? js[nj - 1] - 1 : nj - 2];
      this.goal.setCustomValidity(found ? "" : `two numbers, i from 0 to ${last} and j from 0 to ${top}`);
      this.goal.reportValidity();
    }

    /** Goes to the worst cell by a measure. */
    goWorst(key) {
      const values = this.data.zones.map((zone) => this.valuesOf(zone, key));
      const found = G.worst(this.data, key, values);
      if (!found) return;
      this.pick(found);
      this.centre(found);
    }

    pick(cell) {
      this.picked = cell;
      this.tell();
      this.drawPlots();
      this.redraw();
      if (cell) this.heard.textContent = this.spoken(cell);
    }

    hover(x, y) {
      this.hovered = x === null ? null : cellAt(this.data.zones, ...this.camera.point(x, y));
      if (x !== null) {
        const [wx, wy] = this.camera.point(x, y).map((value) => value / this.data.unit);
        const digits = Math.min(14, Math.max(2, Math.ceil(Math.log10(this.camera.scale * this.data.unit)) + 1));
        this.where.textContent = `x ${wx.toFixed(digits)}  y ${wy.toFixed(digits)}`;
      }
      this.tell();
      this.redraw();
    }

    /** The measures of a cell as pairs of name and text. */
    facts({ zone, i, j }) {
      const { data } = this;
      const one = data.zones[zone];
      const of = (key) => G.measure(data, one, key, i, j);
      const c = G.corners(one, i, j);
      const edge = (a, b) => Math.hypot(c[2 * b] - c[2 * a], c[2 * b + 1] - c[2 * a + 1]) / data.unit;
      const name = data.zones.length > 1 ? [["zone", one.name || String(zone + 1)]] : [];
      const original = [one.is ? one.is[i] : i, one.js ? one.js[j] : j];
      const keys = ["skewness", "aspect", "growthI", "growthJ", "nonorthogonality", "area", "distance"];
      const measured = keys.map((key) => {
        const { name: text, unit } = G.MEASURES[key];
        return [text, `${shown(of(key))}${unit === "°" ? unit : ""}`];
      });
      return [
        ...name,
        ["cell i, j", `${original[0]}, ${original[1]}`],
        ["along i", shown(edge(0, 1))],
        ["along j", shown(edge(0, 3))],
        ...measured,
        ...(of("determinant") > 0 ? [] : [["folded", "yes"]]),
      ];
    }

    spoken(cell) {
      const facts = this.facts(cell).map(([name, text]) => `${name} ${text}`);
      return facts.join(", ");
    }

    /** Shows the facts of the hovered cell, or else of the selected one. */
    tell() {
      const cell = this.hovered || this.picked;
      const rows = cell ? this.facts(cell) : [];
      const entry = ([name, text]) => [element("dt", {}, name), element("dd", {}, text)];
      this.details.replaceChildren(...rows.flatMap(entry));
    }

    valuesOf(zone, key) {
      if (!this.values.has(zone)) this.values.set(zone, {});
      const known = this.values.get(zone);
      if (!known[key]) known[key] = G.measureAll(this.data, zone, key);
      return known[key];
    }

    /** Colours the cells by a measure; none by an empty text. */
    colourBy(key) {
      this.measure = this.chooser.value = key;
      this.colours = null;
      this.scale.replaceChildren();
      if (key) {
        const { zones } = this.data;
        const all = zones.map((zone) => this.valuesOf(zone, key));
        const scale = scaleOf(all, G.MEASURES[key].log, G.MEASURES[key].root ? 2 : 1);
        this.colours = new Map(zones.map((zone, n) => [zone, all[n].map(scale.place)]));
        this.scale.append(this.drawScale(key, scale, G.histogram(all, scale.place, BINS)));
        this.worstOf.value = key === "distance" ? this.worstOf.value : key;
      }
      this.redraw();
    }

    /** The scale of colours with the histogram of all cells above it. */
    drawScale(key, scale, counts) {
      const [width, height, bar] = [260, 86, 10];
      const most = Math.max(1, ...counts);
      const step = width / BINS;
      const foot = height - bar - 16;
      const parts = counts.map((count, k) => {
        // Roots of the counts, so that the few worst cells are seen beside the many good ones.
        const tall = (foot - 2) * Math.sqrt(count / most);
        const paint = css(colour((k + 0.5) / BINS));
        const box = (y, h) => `<rect x="${(k * step).toFixed(2)}" y="${y.toFixed(2)}" width="${(step + 0.3).toFixed(2)}"
          height="${h.toFixed(2)}" fill="${paint}"/>`;
        return box(foot - tall, tall) + box(foot + 3, bar);
      });
      ["start", "middle", "end"].forEach((anchor, k) => {
        parts.push(label((k * width) / 2, height - 1, anchor, shown(scale.at(k / 2), 3)));
      });
      const { name, unit } = G.MEASURES[key];
      const cells = counts.reduce((sum, count) => sum + count, 0);
      return svg(width, height, `${rangeOf(name, unit, scale)} in ${cells} cells`, parts);
    }

    plotWidth() {
      return Math.max(280, this.linePlot.clientWidth || 420);
    }

    drawPlots() {
      const at = this.picked || this.home();
      const zone = this.data.zones[at.zone];
      const name = (i) => (zone.is ? zone.is[i] : i);
      this.lineTitle.textContent = `Along the line i = ${name(at.i)}`;
      const line = G.alongLine(this.data, zone, at.i);
      const key = this.lineChoice.value;
      const onLine = (k) => this.pick({ ...at, j: Math.min(k, zone.nj - 2) });
      const mark = this.picked ? this.picked.j : -1;
      this.linePlot.replaceChildren(chart(this.plotWidth(), line, key, LINE_CURVES[key], mark, "line", onLine));
      const wall = G.alongWall(this.data, zone);
      this.wallPlot.parentElement.hidden = !wall.i.length;
      if (!wall.i.length) return;
      const curve = this.wallChoice.value;
      const onWall = (k) => this.pick({ zone: at.zone, i: Math.min(wall.i[k], zone.ni - 2), j: 0 });
      const chosen = wall.i.indexOf(at.i);
      this.wallPlot.replaceChildren(chart(this.plotWidth(), wall, curve, CURVES[curve], chosen, "wall", onWall));
    }

    retheme(draws = true) {
      const style = getComputedStyle(this.host);
      const of = (name) => bytes(style.getPropertyValue(`--gv-${name}`));
      const names = ["paper", "text", "label", "rule", "line", "body", "wall", "pick", "folded"];
      this.theme = Object.fromEntries(names.map((name) => [name, of(name)]));
      // Lines over colours are dark in both themes, as the colours are the same.
      this.theme.over = [10, 16, 24];
      if (draws) this.redraw();
    }

    resize(draws = true) {
      const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
      if (!width || !height) return;
      const [old, ratio] = [this.camera.width, devicePixelRatio || 1];
      if (this.data && old !== width) this.camera.scale *= width / old;
      Object.assign(this.camera, { width, height });
      for (const { canvas } of [this.under, this.main, this.over]) {
        const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
        if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
      }
      if (draws) {
        this.drawPlots();
        this.redraw();
      }
    }

    /** Draws before the next frame. */
    redraw() {
      if (this.waiting || !this.data) return;
      this.waiting = true;
      requestAnimationFrame(() => this.draw());
    }

    draw() {
      this.waiting = false;
      const { camera, theme, data } = this;
      for (const sink of [this.under, this.main, this.over]) sink.clear(camera.width, camera.height);
      // The grids of several elements go through the bodies of each other, which hide them.
      this.paintBody(data.zones.length > 1 ? this.over : this.under);
      paint(data.zones, camera, this, theme, this.main);
      this.paintOver(this.over);
    }

    /** The wall of a zone in pixels, cut around the view if it is closed. */
    wallPixels(zone) {
      return G.wallPoints(zone).flatMap(([x, y]) => this.camera.pixels(x, y));
    }

    paintBody(sink) {
      if (!this.layers.body) return;
      for (const zone of this.data.zones) {
        // Nothing says on which side of its wall a block goes on.
        if (zone.hidden || !zone.wall || zone.topology === "rectangle") continue;
        const polygon = cutPolygon(this.wallPixels(zone));
        if (polygon.length > 4) sink.fill(polygon, this.theme.body);
      }
    }

    /** Wall, cells that are selected or under the pointer, and the scale of lengths. */
    paintOver(sink, marks = true) {
      const { theme, data, camera } = this;
      for (const zone of data.zones) {
        if (zone.hidden || !zone.wall || !this.layers.wall) continue;
        const points = this.wallPixels(zone);
        if (!G.isOpen(zone)) points.push(points[0], points[1]);
        for (let k = 0; k + 3 < points.length; k += 2) {
          const part = cut(points[k], points[k + 1], points[k + 2], points[k + 3]);
          if (part) sink.stroke(part, theme.wall, 2, false);
        }
      }
      const outline = (cell, width) => {
        if (!cell || !marks) return;
        const c = G.corners(data.zones[cell.zone], cell.i, cell.j);
        const points = [0, 2, 4, 6].flatMap((k) => camera.pixels(c[k], c[k + 1]));
        const polygon = cutPolygon(points);
        if (polygon.length > 4) sink.stroke(polygon, theme.pick, width, true);
      };
      outline(this.picked, 2.5);
      outline(this.hovered, 1.5);
      const longest = 130 / (camera.scale * data.unit);
      const power = 10 ** Math.floor(Math.log10(longest));
      const length = [5, 2, 1].map((n) => n * power).find((n) => n <= longest) || power;
      const [w, y] = [length * camera.scale * data.unit, camera.height - 16];
      const right = Math.max(w, 76) + 28;
      const text = length < 0.001 || length >= 1e4 ? length.toExponential(0) : Number(length.toPrecision(1));
      sink.fill([8, y - 24, right, y - 24, right, y + 9, 8, y + 9], theme.paper);
      sink.stroke([18, y - 4, 18, y, 18 + w, y, 18 + w, y - 4], theme.text, 1.5, false);
      sink.text((8 + right) / 2, y - 9, `${text} chords`, theme.text);
    }

    /** A canvas with the view as it is. */
    picture() {
      this.draw();
      const { canvas } = this.main;
      const made = element("canvas", { width: canvas.width, height: canvas.height });
      const context = made.getContext("2d");
      context.fillStyle = css(this.theme.paper);
      context.fillRect(0, 0, made.width, made.height);
      for (const sink of [this.under, this.main, this.over]) context.drawImage(sink.canvas, 0, 0);
      return made;
    }

    /** The view as a text in SVG. */
    svgText() {
      const { width, height } = this.camera;
      const sink = new SvgSink(width, height, this.theme.paper);
      const several = this.data.zones.length > 1;
      if (!several) this.paintBody(sink);
      paint(this.data.zones, this.camera, this, this.theme, sink);
      if (several) this.paintBody(sink);
      this.paintOver(sink, false);
      return sink.finished();
    }

    savePng() {
      this.picture().toBlob((blob) => offer(`${this.data.name || "grid"}.png`, blob));
    }

    saveSvg() {
      offer(`${this.data.name || "grid"}.svg`, new Blob([this.svgText()], { type: "image/svg+xml" }));
    }
  }

  /** Shows the grids that a page carries in its elements `[data-gridgen]`, each in its parent. */
  async function start() {
    for (const source of document.querySelectorAll("script[data-gridgen]")) {
      const host = element("div");
      try {
        const data = await G.read(source.textContent);
        source.before(host);
        new Viewer(host, data, { ...source.dataset });
        source.parentElement.classList.add("gridgen-live");
      } catch (error) {
        // The pictures of the page stay.
        host.remove();
        console.warn(`The grid cannot be shown: ${error}`);
      }
    }
  }

  if (typeof document !== "undefined") {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
    else start();
  }
  return { Camera, Viewer, cellAt, colour, cut, cutPolygon, element, level, offer, opacity, scaleOf, shown, start };
})();

if (typeof module !== "undefined") module.exports = gridgenViewer;
