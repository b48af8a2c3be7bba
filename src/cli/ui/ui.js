// The page of `gridgen ui`: fields from the schema of a case, its text, and the viewer, which follow each other.
"use strict";

(() => {
  const { text: START, schema } = JSON.parse(document.getElementById("data").textContent);
  const G = gridgenGrid;
  const { element, offer } = gridgenViewer;
  const WINDOW = crypto.randomUUID();
  // Requests on their way at most: one that is solved for, and the newest change, which may end it.
  const MOST_FLYING = 2;
  // Changes of one key within this time are taken back together, ms.
  const ONE_CHANGE = 1000;
  // Keys that come first, and the ends of their sliders where those of their values are too far apart.
  const COMMON = ["geometry.angle", "grid.topology", "grid.ni", "grid.nj", "grid.first_cell", "grid.far_field"];
  const SLIDERS = {
    "grid.ni": { low: 65, high: 513, step: 8 },
    "grid.nj": { low: 33, high: 257, step: 4 },
    "grid.first_cell": { low: 1e-7, high: 1e-2, log: true },
    "grid.far_field": { low: 2, high: 100, log: true },
    "grid.leading_edge_spacing": { low: 1e-4, high: 0.05, log: true },
    "grid.trailing_edge_spacing": { low: 1e-4, high: 0.05, log: true },
    "geometry.angle": { low: -20, high: 20, step: 0.5 },
    "geometry.flap.radius": { low: 0.01, high: 1, log: true },
  };
  // Sections that are given as a whole, by their names, files or points.
  const LEFT_OUT = ["element", "background", "overset"];

  const byId = (id) => document.getElementById(id);
  const state = { text: START, sets: new Map(), number: 0, shown: 0, flying: 0, waits: false, edits: 0 };
  const past = { texts: [], at: -1, key: "", when: 0 };
  const fields = new Map();
  let viewer = null;
  let editor = null;
  let handles = null;

  const post = (path, body) => fetch(path, { method: "POST", body: JSON.stringify(body) });

  // ---------------------------------------------------------------- changes and their grids

  /** Sets a key to a value in TOML, or takes it away with null. */
  function change(key, value) {
    state.sets.set(key, value);
    ask();
  }

  /** Takes another text for the case. */
  function replace(text) {
    Object.assign(state, { text, edits: state.edits + 1 });
    state.sets.clear();
    ask();
  }

  /** Asks for the grid of the text with all changes; a change that comes meanwhile is asked for later. */
  async function ask() {
    state.waits = true;
    if (state.flying >= MOST_FLYING) return;
    Object.assign(state, { waits: false, flying: state.flying + 1, number: state.number + 1 });
    const { number, text, edits } = state;
    const set = [...state.sets];
    document.body.ariaBusy = "true";
    try {
      const answer = await post("solve", { window: WINDOW, number, text, set });
      if (answer.status === 200) take({ number, edits, set }, new Uint8Array(await answer.arrayBuffer()));
      else if (!answer.ok) say(`refused: ${await answer.text()}`);
    } catch {
      say("gridgen does not answer: it has ended");
    } finally {
      state.flying -= 1;
      if (state.waits) ask();
      else if (!state.flying) document.body.ariaBusy = "false";
    }
  }

  /** Shows an answer, unless that of a later change is shown already. */
  function take({ number, edits, set }, bytes) {
    if (number < state.shown) return;
    state.shown = number;
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    if (edits === state.edits) {
      state.text = head.text;
      for (const [key, value] of set) if (state.sets.get(key) === value) state.sets.delete(key);
      remember(head.text, set.map(([key]) => key).join());
      if (byId("text").value !== head.text) byId("text").value = head.text;
    }
    if (bytes.length > 4 + length) {
      const data = G.unpack(bytes.subarray(4 + length));
      if (viewer) viewer.setData(data, true);
      else viewer = new gridgenViewer.Viewer(byId("view"), data);
      showHandles({ ...head.resolved, ...head.given }, data);
    }
    byId("view").classList.toggle("stale", Boolean(head.error));
    showFields(head);
    showDrawn(head.given);
    showVerdict(head);
  }

  /** Puts handles of flap and elements on the grid of a case with these keys. */
  function showHandles(keys, data) {
    handles = handles || new gridgenSteer.Handles(viewer);
    const limited = (key, value) => {
      const { minimum = value, maximum = value } = memberOf(key) || {};
      return inToml(Math.min(maximum, Math.max(minimum, value)));
    };
    const page = {
      value: (key) => JSON.parse(state.sets.get(key) ?? keys[key] ?? "0"),
      set: (key, value) =>
        change(key, Array.isArray(value) ? `[${value.map(inToml).join(", ")}]` : limited(key, value)),
    };
    handles.show(gridgenSteer.handlesOf(keys, data, G.wallPoints, page));
  }

  function say(text) {
    byId("said").textContent = text;
  }

  function showVerdict(head) {
    const { error, good, label, verdict, hint, notes = [], seconds } = head;
    const badge = byId("verdict");
    badge.className = `verdict ${good && !error ? "good" : "bad"}`;
    badge.textContent = error ? "error" : label;
    document.title = `${head.given.name || "gridgen"} – ${badge.textContent}`;
    const rate = seconds ? `, ${seconds.toFixed(2)} s` : "";
    say(error ? error.message : `${verdict}${rate}`);
    const all = [...(error ? [error.message, error.hint] : []), hint, ...notes].filter(Boolean);
    const wrong = error ? { class: "wrong" } : {};
    byId("notes").replaceChildren(...all.map((text, n) => element("li", n < 2 ? wrong : {}, text)));
    byId("text").setAttribute("aria-invalid", Boolean(error));
  }

  /** Puts the values of an answer into the fields, and an error beside the field that it names. */
  function showFields({ given, resolved, error }) {
    const named = error && [...fields.keys()].filter((key) => error.message.includes(key));
    const wrong = named && named.sort((a, b) => b.length - a.length)[0];
    for (const [key, field] of fields) {
      if (!state.sets.has(key)) field.show(given[key], resolved && resolved[key]);
      field.blame(key === wrong ? [error.message, error.hint].filter(Boolean).join(". ") : "");
    }
    for (const details of document.querySelectorAll("#fields details")) {
      if (details.querySelector(".bad")) details.open = true;
    }
    const source = Object.keys(given).find((key) => /^geometry\.(naca|file)$/.test(key));
    const box = byId("section");
    if (document.activeElement !== box) box.value = source ? String(given[source]).split(/[/\\]/).pop() : "";
  }

  // ---------------------------------------------------------------- the section by its points

  /** Opens the editor of the section's points, or closes it. */
  function toggleDrawing() {
    const place = byId("draw");
    place.hidden = !place.hidden;
    byId("drawing").setAttribute("aria-expanded", !place.hidden);
    if (!editor) editor = new gridgenDraw.Editor(byId("points"), drawn);
    showDrawn(state.given || {});
  }

  /** Takes the points of the editor for the section. Those of a file are in chords here, whatever its frame was. */
  function drawn(points) {
    for (const key of ["geometry.frame", "geometry.smooth"]) {
      if (state.given[key] !== undefined && !state.given["geometry.points"]) state.sets.set(key, null);
    }
    change("geometry.points", gridgenDraw.inToml(points));
  }

  /** Shows the points of a case in the editor, if it is open and none of them is held. */
  async function showDrawn(given) {
    state.given = given;
    const { number } = state;
    const busy = () => state.sets.has("geometry.points") || editor.held !== null;
    if (byId("draw").hidden || busy()) return;
    const own = given["geometry.points"];
    const text = own ? "" : await (await post("outline", { text: state.text })).text();
    if (busy() || number !== state.number) return;
    const { points, error } = own ? { points: gridgenDraw.ofToml(own) } : JSON.parse(text);
    byId("undrawn").textContent = error ? error.message : "";
    if (points) editor.show(gridgenDraw.thinned(points));
  }

  // ---------------------------------------------------------------- undo

  /** Remembers a text; those of one key that change soon one after the other are one. */
  function remember(text, key) {
    if (past.texts[past.at] === text) return;
    const now = performance.now();
    const same = key && key === past.key && now - past.when < ONE_CHANGE && past.at > 0;
    past.texts.length = same ? past.at : past.at + 1;
    past.texts.push(text);
    Object.assign(past, { at: past.texts.length - 1, key, when: now });
    showPast();
  }

  function showPast() {
    byId("undo").disabled = past.at <= 0;
    byId("redo").disabled = past.at + 1 >= past.texts.length;
  }

  function move(by) {
    const text = past.texts[past.at + by];
    if (text === undefined) return;
    Object.assign(past, { at: past.at + by, key: "" });
    showPast();
    replace(text);
  }

  // ---------------------------------------------------------------- fields

  /** A field of a key of the schema: its element, and how values and errors are shown. */
  function fieldOf(key, about) {
    const id = `field-${key}`;
    const types = [about.type].flat();
    const words = about.enum || (types[0] === "boolean" ? ["true", "false"] : null);
    const isText = types[0] === "string" || about.enum;
    const written = (value) => (value === "" ? null : isText ? JSON.stringify(value) : value);
    const wrong = element("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
    const common = { id, "aria-describedby": `${id}-about ${id}-wrong` };
    const control = words
      ? element("select", common, element("option", { value: "" }, "default"))
      : element("input", {
          ...common,
          type: "text",
          inputmode: isText || !/number|integer/.test(types) ? "text" : "decimal",
        });
    for (const word of words || []) control.append(element("option", { value: word }, word));
    control.addEventListener(words ? "change" : "input", () => change(key, written(control.value.trim())));
    const name = key.includes(".") ? key.slice(key.lastIndexOf(".") + 1) : key;
    const box = element("div", { class: "field" }, element("label", { for: id }, name.replaceAll("_", " ")), control);
    const slider = sliderOf(key, about, types, (value) => {
      control.value = value;
      change(key, value);
    });
    if (slider) box.append(slider.input);
    box.append(element("p", { class: "about", id: `${id}-about` }, about.description || ""), wrong);
    const show = (given, resolved) => {
      box.classList.toggle("given", given !== undefined);
      const value = given === undefined ? "" : String(given);
      if (document.activeElement !== control || words) control.value = value;
      const settled = resolved === undefined ? about.default : resolved;
      if (words) control.firstChild.textContent = settled === undefined ? "default" : `default: ${settled}`;
      else control.placeholder = settled === undefined ? "" : String(settled);
      if (slider && document.activeElement !== slider.input) slider.show(Number(given ?? settled));
    };
    const blame = (text) => {
      wrong.textContent = text;
      box.classList.toggle("bad", Boolean(text));
      control.setAttribute("aria-invalid", Boolean(text));
    };
    fields.set(key, { show, blame, control });
    return box;
  }

  /** A slider for a number whose ends are known, or null. */
  function sliderOf(key, about, types, moved) {
    const [low, high] = [about.minimum ?? about.exclusiveMinimum, about.maximum ?? about.exclusiveMaximum];
    const whole = types[0] === "integer";
    const known = SLIDERS[key];
    if (!known && !(/number|integer/.test(types[0]) && high - low <= 400 && types.length === 1)) return null;
    const { low: from, high: to, log, step } = known || { low, high, step: whole ? 1 : (high - low) / 200 };
    const ends = log ? [Math.log10(from), Math.log10(to)] : [from, to];
    const [min, max] = ends;
    const input = element("input", {
      type: "range",
      min,
      max,
      step: log ? 0.01 : step,
      "aria-label": `${key}, slider`,
      oninput: () => {
        const value = log ? 10 ** Number(input.value) : Number(input.value);
        moved(whole ? String(Math.round(value)) : inToml(Number(value.toPrecision(3))));
      },
    });
    const show = (value) => {
      if (Number.isFinite(value)) input.value = log ? Math.log10(value) : value;
    };
    return { input, show };
  }

  /** A real number in TOML. */
  function inToml(value) {
    const text = String(value);
    return /[.e]/.test(text) ? text : `${text}.0`;
  }

  /** The fields of a section and of those within it, in a part that opens. */
  function sectionOf(name, about) {
    const inner = element("div");
    const members = Object.entries(about.properties || {});
    for (const [key, member] of members) {
      const path = name ? `${name}.${key}` : key;
      if (member.properties) inner.append(sectionOf(path, member));
      else if (!COMMON.includes(path)) inner.append(fieldOf(path, member));
    }
    return element("details", {}, element("summary", { title: about.description || "" }, name), inner);
  }

  function memberOf(path) {
    return path.split(".").reduce((about, name) => about && about.properties && about.properties[name], schema);
  }

  function buildFields() {
    const [input, file, place] = [byId("section"), byId("file"), document.querySelector(".drop")];
    input.addEventListener("change", () => input.value.trim() && change("section", input.value.trim()));
    file.addEventListener("change", () => file.files[0] && drop(file.files[0]));
    byId("fields").append(
      ...COMMON.filter(memberOf).map((path) => fieldOf(path, memberOf(path))),
      ...Object.entries(schema.properties)
        .filter(([name, member]) => member.properties && !LEFT_OUT.includes(name))
        .map(([name, member]) => sectionOf(name, member)),
    );
    byId("fields").addEventListener("submit", (event) => event.preventDefault());
    for (const kind of ["dragover", "dragleave", "drop"]) {
      document.addEventListener(kind, (event) => {
        event.preventDefault();
        place.classList.toggle("over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files[0]) drop(event.dataTransfer.files[0]);
      });
    }
  }

  /** Takes the contents of a file of coordinates for the section. */
  async function drop(file) {
    const answer = await post("section", { name: file.name, content: await file.text() });
    if (!answer.ok) return say(`${file.name}: ${await answer.text()}`);
    const { file: path, error } = await answer.json();
    if (error) return say(error.message);
    return change("geometry.file", JSON.stringify(path));
  }

  // ---------------------------------------------------------------- buttons

  async function write() {
    say("the files are written …");
    const { error, files = [], verdict } = await (await post("write", { text: state.text })).json();
    say(error ? `${error.message}. ${error.hint || ""}` : `${verdict}; ${files.length} files written`);
    byId("report").disabled = !files.some((file) => file.endsWith("report.html"));
    if (!error) byId("notes").replaceChildren(...files.map((file) => element("li", {}, file)));
  }

  function save() {
    const name = (/^\s*name\s*=\s*["']([^"']+)/m.exec(state.text) || [])[1] || "case";
    offer(`${name}.toml`, new Blob([state.text]));
  }

  async function stop() {
    await post("stop", {});
    document.body.replaceChildren(
      element("p", { style: "padding: 2rem" }, "gridgen has ended. This window can be closed."),
    );
  }

  function start() {
    buildFields();
    const [undo, redo, report] = [() => move(-1), () => move(1), () => open("report")];
    const work = { undo, redo, save, write, stop, report, drawing: toggleDrawing };
    for (const [id, does] of Object.entries(work)) byId(id).addEventListener("click", does);
    byId("text").value = START;
    let later = 0;
    byId("text").addEventListener("input", () => {
      clearTimeout(later);
      later = setTimeout(() => replace(byId("text").value), 250);
    });
    // Each press of the mouse begins a change that is taken back by itself.
    document.addEventListener("pointerdown", () => Object.assign(past, { key: "" }), true);
    document.addEventListener("keydown", (event) => {
      const undoes = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
      if (!undoes || event.target.matches("input[type='text'], textarea")) return;
      event.preventDefault();
      move(event.shiftKey ? 1 : -1);
    });
    ask();
    Object.assign(window, {
      gridgenUi: { state, change, replace, fields, move, editor: () => editor, handles: () => handles },
    });
  }
  start();
})();
