// SPDX-License-Identifier: GPL-2.0-or-later
// The trial browser: one trial's window, RTT, queue and bins over one time axis, drawn as SVG from the page's own data.
"use strict";
(() => {
  const root = document.getElementById("browser");
  if (!root) return;
  const browsed = JSON.parse(document.getElementById("browser-data").textContent);
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const MOMENTS = [
    ["true_capacity_s", "true capacity", "capacity", "1.5 3"],
    ["lasting_s", "lasting capacity", "capacity", "1.5 6"],
    ["capacity_s", "capacity by", "capacity", "9 4"], // and the rule of the scenario
    ["exit_s", "exit", "exit", "6 3"],
    ["loss_s", "first loss", "loss", "2 3 8 3"],
  ];
  const LEFT = 58, RIGHT = 10, ROW = 15, GAP = 26, BOTTOM = 34, LEAST_MS = 2, STEPS = 20;
  const state = { entry: null, data: null, view: [0, 1], at: null };

  // ---- data -------------------------------------------------------------------------------------------------------
  async function unpack(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  function summed(differences, step) {
    let value = 0;
    return differences.map((each) => (each === null ? null : (value += each) * step));
  }
  async function load(entry) {
    const raw = await unpack(entry.data);
    const series = {};
    for (const [name, of] of Object.entries(raw.series)) {
      series[name] = { low: summed(of.low, of.step), high: summed(of.high, of.step) };
    }
    return { ...raw, series };
  }
  const known = (entry) =>
    MOMENTS.map(([key, name, colour, dash]) => ({ name: key === "capacity_s" ? `${name} ${entry.rule}` : name, colour, dash, ms: entry.moments[key] === null ? null : entry.moments[key] * 1e3 }));
  const seconds = (ms, digits = 2) => `${(ms / 1e3).toFixed(digits)} s`;
  function inWords(entry) {
    return known(entry).map(({ name, ms }) => (ms === null ? `no ${name}` : `${name} at ${seconds(ms, 3)}`)).join(", ");
  }
  const bucketAt = (ms) => Math.min(Math.max(state.data.edges.findIndex((edge) => edge > ms) - 1, 0), state.data.edges.length - 2);

  // ---- lists ------------------------------------------------------------------------------------------------------
  function fill(select, options, value) {
    select.replaceChildren(...options.map(([key, text]) => new Option(text, key, false, String(key) === String(value))));
  }
  const distinct = (values) => [...new Set(values)];
  const label = (cca) => browsed.senders[cca].label;
  const picked = (name) => part(name).value;
  const of = (group, cca) => browsed.trials.filter((entry) => entry.group === group && entry.cca === cca);
  function option(entry) {
    const left = entry.moments.exit_s === null ? "never left slow start" : `exit ${entry.moments.exit_s.toFixed(2)} s`;
    return `${entry.trial}: ${left}${entry.exit_class ? `, ${entry.exit_class}` : ""}${entry.valid ? "" : " (invalid)"}`;
  }
  function list(group, cca, trial) {
    const groups = distinct(browsed.trials.map((entry) => entry.group));
    fill(part("group"), groups.map((name) => [name, name]), group);
    part("group").closest("label").hidden = groups.length < 2;
    const senders = distinct(browsed.trials.filter((entry) => entry.group === picked("group")).map((entry) => entry.cca));
    fill(part("cca"), senders.map((name) => [name, label(name)]), senders.includes(cca) ? cca : senders.find((name) => name.startsWith("search")) ?? senders[0]);
    const trials = of(picked("group"), picked("cca"));
    fill(part("trial"), trials.map((entry) => [entry.trial, option(entry)]), trial);
  }
  async function show() {
    const entry = of(picked("group"), picked("cca")).find((each) => String(each.trial) === picked("trial"));
    state.entry = entry;
    const data = await load(entry);
    if (state.entry !== entry) return; // another was picked meanwhile
    Object.assign(state, { data, at: null });
    look(0, entry.end_s * 1e3);
    root.dataset.shown = `${entry.group}/${entry.cca}-${entry.trial}`;
  }
  function step(by) {
    const select = part("trial");
    const next = select.selectedIndex + by;
    if (next < 0 || next >= select.options.length) return;
    select.selectedIndex = next;
    show();
  }

  // ---- view -------------------------------------------------------------------------------------------------------
  function look(from, to) {
    const whole = state.entry.end_s * 1e3;
    const span = Math.min(Math.max(to - from, LEAST_MS), whole);
    const begin = Math.min(Math.max(from, 0), whole - span);
    state.view = [begin, begin + span];
    draw();
  }
  function zoom(factor) {
    const [from, to] = state.view;
    const middle = state.at ?? (from + to) / 2, span = (to - from) * factor;
    look(middle - span * ((middle - from) / (to - from)), middle + span * ((to - middle) / (to - from)));
  }
  function pan(share) {
    const [from, to] = state.view;
    look(from + share * (to - from), to + share * (to - from));
  }
  function slowStart() {
    const last = Math.max(...known(state.entry).map(({ ms }) => ms ?? 0));
    look(0, last ? 1.2 * last : state.entry.end_s * 1e3);
  }
  function read(share) {
    const [from, to] = state.view;
    const at = (state.at ?? (from + to) / 2) + share * (to - from);
    state.at = Math.min(Math.max(at, from), to);
    draw();
  }
  const ACTIONS = {
    in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.2), right: () => pan(0.2),
    whole: () => look(0, state.entry.end_s * 1e3), start: slowStart,
    previous: () => step(-1), next: () => step(1), save,
  };
  const KEYS = {
    ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", 0: "whole", Home: "whole", s: "start",
    PageUp: "previous", PageDown: "next",
  };

  // ---- drawing ----------------------------------------------------------------------------------------------------
  function svg(name, given, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  function ticks(low, high, about) {
    const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
    const width = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
    const first = Math.ceil(low / width - 1e-9);
    return Array.from({ length: Math.floor(high / width - first + 1e-9) + 1 }, (_, n) => Number(((first + n) * width).toPrecision(9)));
  }
  const plain = (value) => value.toLocaleString("en", { maximumFractionDigits: 3 });
  function range({ low, high }, floor) {
    const { edges } = state.data, [from, to] = state.view;
    let bottom = floor, top = -Infinity;
    for (let n = 0; n < low.length; n++) {
      if (low[n] === null || edges[n + 1] < from || edges[n] > to) continue;
      bottom = Math.min(bottom, low[n]);
      top = Math.max(top, high[n]);
    }
    return top === -Infinity ? null : [bottom, Math.max(top, bottom + 1e-9 + Math.abs(bottom) * 1e-6) * 1.05];
  }
  function path({ low, high }, x, y) {
    const { edges } = state.data, [from, to] = state.view;
    let drawn = "", before = false;
    for (let n = 0; n < low.length; n++) {
      if (low[n] === null || edges[n + 1] < from || edges[n] > to) continue;
      const at = x((edges[n] + edges[n + 1]) / 2).toFixed(1);
      drawn += `${before ? "L" : "M"}${at} ${y(low[n]).toFixed(1)}${high[n] === low[n] ? "" : `L${at} ${y(high[n]).toFixed(1)}`}`;
      before = true;
    }
    return drawn;
  }
  function marks({ ms }, x, top, kind) {
    const [from, to] = state.view;
    const drawn = ms.filter((at) => at >= from && at <= to).map((at) => `M${x(at).toFixed(1)} ${top}v7`).join("");
    return svg("path", { d: drawn, class: `mark ${kind}` });
  }
  function panel(quantity, box, x) {
    const values = state.data.series[quantity.name], limits = range(values, quantity.name === "norm" ? -10 : 0);
    if (limits && quantity.name === "norm") limits[1] = Math.max(limits[1], 40);
    const group = svg("g", {}, svg("text", { x: LEFT, y: box.top - 7, class: "name" }, `${quantity.label} (${quantity.unit})`));
    group.append(svg("rect", { x: LEFT, y: box.top, width: box.width, height: box.height, class: "frame" }));
    if (!limits) {
      group.append(svg("text", { x: LEFT + 8, y: box.top + box.height / 2, class: "none" }, "no value in view"));
      return group;
    }
    if (quantity.name === "norm") limits[0] = Math.max(limits[0], -100);
    const y = (value) => box.top + box.height * (1 - (value - limits[0]) / (limits[1] - limits[0]));
    for (const value of ticks(limits[0], limits[1], 3)) {
      group.append(svg("line", { x1: LEFT, x2: LEFT + box.width, y1: y(value), y2: y(value), class: "grid" }));
      group.append(svg("text", { x: LEFT - 6, y: y(value) + 4, class: "tick end" }, plain(value)));
    }
    const threshold = state.entry.threshold_pct;
    if (quantity.name === "norm" && threshold !== null && limits[1] > threshold) {
      group.append(svg("line", { x1: LEFT, x2: LEFT + box.width, y1: y(threshold), y2: y(threshold), class: "level" }));
      group.append(svg("text", { x: LEFT + 6, y: y(threshold) - 4, class: "tick" }, `threshold ${threshold} %`));
    }
    const line = svg("path", { d: path(values, x, y), class: "series", "clip-path": `url(#browser-clip-${quantity.name})` });
    line.style.stroke = browsed.senders[state.entry.cca].colour;
    const clip = svg("clipPath", { id: `browser-clip-${quantity.name}` });
    clip.append(svg("rect", { x: LEFT, y: box.top, width: box.width, height: box.height }));
    group.append(clip, line);
    return group;
  }
  function moments(x, top, bottom) {
    const [from, to] = state.view, right = x(to);
    const inside = known(state.entry).filter(({ ms }) => ms !== null && ms >= from && ms <= to).sort((a, b) => a.ms - b.ms);
    return inside.map(({ name, colour, dash, ms }, row) => {
      const at = x(ms), leftwards = at > right - 170, height = top - 34 - ROW * (inside.length - 1 - row);
      return svg("g", { class: `moment ${colour}` },
        svg("line", { x1: at, x2: at, y1: height, y2: bottom, "stroke-dasharray": dash }),
        svg("text", { x: at + (leftwards ? -5 : 5), y: height + 9, class: leftwards ? "end" : "" }, `${name} ${seconds(ms, 3)}`));
    });
  }
  function draw() {
    const chart = part("chart"), width = Math.max(chart.clientWidth, 260);
    const height = width < 480 ? 84 : 116, head = 40 + ROW * MOMENTS.length;
    const [from, to] = state.view, inner = width - LEFT - RIGHT;
    const x = (ms) => LEFT + (inner * (ms - from)) / (to - from);
    const quantities = browsed.quantities.filter(({ name }) => name !== "norm" || state.data.series[name].low.some((value) => value !== null));
    const boxes = quantities.map((_, n) => ({ top: head + n * (height + GAP), width: inner, height }));
    const bottom = boxes.at(-1).top + height;
    const drawn = svg("svg", { viewBox: `0 0 ${width} ${bottom + BOTTOM}`, width, height: bottom + BOTTOM, role: "img", "aria-labelledby": "browser-title" });
    drawn.append(svg("title", { id: "browser-title" }, describe()));
    quantities.forEach((quantity, n) => drawn.append(panel(quantity, boxes[n], x)));
    for (const ms of ticks(from, to, Math.max(Math.floor(inner / 90), 2))) {
      drawn.append(svg("line", { x1: x(ms), x2: x(ms), y1: bottom, y2: bottom + 5, class: "axis" }));
      drawn.append(svg("text", { x: x(ms), y: bottom + 18, class: "tick middle" }, plain(ms / 1e3)));
    }
    drawn.append(svg("text", { x: LEFT + inner, y: bottom + 32, class: "tick end" }, "time since the SYN (s)"));
    const queue = boxes[quantities.findIndex(({ name }) => name === "queue")];
    drawn.append(marks(state.data.resent, x, boxes[0].top + boxes[0].height - 8, "resent"));
    drawn.append(marks(state.data.drops, x, queue.top + 1, "dropped"));
    drawn.append(...moments(x, head, bottom));
    if (state.at !== null) drawn.append(svg("line", { x1: x(state.at), x2: x(state.at), y1: head, y2: bottom, class: "cursor" }));
    chart.replaceChildren(drawn);
    summarise();
    table();
  }
  function valueAt(name, ms) {
    const n = bucketAt(ms), { low, high } = state.data.series[name];
    return low[n] === null ? "\u2013" : low[n] === high[n] ? plain(low[n]) : `${plain(low[n])} to ${plain(high[n])}`;
  }
  function describe() {
    const { entry } = state, [from, to] = state.view;
    return `${label(entry.cca)}, ${entry.group}, trial ${entry.trial}: ${inWords(entry)}. Shown from ${seconds(from, 3)} to ${seconds(to, 3)}.`;
  }
  function summarise() {
    const { entry, data, at } = state;
    const zone = entry.exit_class === "chokepoint" ? "at the chokepoint" : entry.exit_class;
    const judged = zone ? `. By the true queue, once it stands for good, the exit is ${zone}` : "";
    part("summary").textContent = `${label(entry.cca)}, trial ${entry.trial}${entry.valid ? "" : " (invalid)"}: ${inWords(entry)}${judged}. ` +
      `Samples of the queue with drops: ${data.drops.count}; retransmitted buffers: ${data.resent.count}.`;
    part("view").textContent = at === null
      ? `Shown: ${seconds(state.view[0], 3)} to ${seconds(state.view[1], 3)}.`
      : `At ${seconds(at, 3)}: ` + browsed.quantities.map(({ name, label: of_, unit }) => `${of_.toLowerCase()} ${valueAt(name, at)} ${unit}`).join(", ") + ".";
  }
  function table() {
    const [from, to] = state.view, body = part("rows");
    body.replaceChildren(...Array.from({ length: STEPS + 1 }, (_, n) => {
      const ms = from + ((to - from) * n) / STEPS, row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = (ms / 1e3).toFixed(3);
      row.append(head, ...browsed.quantities.map(({ name }) => Object.assign(document.createElement("td"), { textContent: valueAt(name, ms) })));
      return row;
    }));
  }
  function save() {
    const copy = part("chart").querySelector("svg").cloneNode(true);
    const from = [part("chart").querySelector("svg"), ...part("chart").querySelectorAll("svg *")];
    [copy, ...copy.querySelectorAll("*")].forEach((each, n) => {
      const style = getComputedStyle(from[n]);
      for (const key of ["fill", "stroke", "stroke-width", "font", "text-anchor"]) each.style.setProperty(key, style.getPropertyValue(key));
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const link = document.createElement("a");
    link.href = `data:image/svg+xml,${encodeURIComponent(copy.outerHTML)}`;
    link.download = `${state.entry.group}-${state.entry.cca}-${state.entry.trial}.svg`;
    link.click();
  }

  // ---- hands ------------------------------------------------------------------------------------------------------
  function bind() {
    for (const name of ["group", "cca", "trial"]) {
      part(name).addEventListener("change", () => {
        list(picked("group"), picked("cca"), name === "trial" ? picked("trial") : undefined);
        show();
      });
    }
    for (const button of root.querySelectorAll("button[data-do]")) button.addEventListener("click", () => ACTIONS[button.dataset.do]());
    const chart = part("chart");
    chart.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.shiftKey && event.key.startsWith("Arrow")) read(event.key === "ArrowLeft" ? -0.02 : 0.02);
      else if (event.key === "Escape" && state.at !== null) { state.at = null; draw(); }
      else if (KEYS[event.key]) ACTIONS[KEYS[event.key]]();
      else return;
      event.preventDefault();
    });
    const timeOf = (event) => {
      const box = chart.getBoundingClientRect(), [from, to] = state.view;
      return from + ((to - from) * (event.clientX - box.left - LEFT)) / (box.width - LEFT - RIGHT);
    };
    let pressed = null;
    chart.addEventListener("pointerdown", (event) => { pressed = timeOf(event); });
    chart.addEventListener("pointerup", (event) => {
      const at = timeOf(event), [from, to] = state.view;
      if (pressed !== null && Math.abs(at - pressed) > 0.02 * (to - from)) look(Math.min(at, pressed), Math.max(at, pressed));
      else if (at >= from && at <= to) { state.at = at; draw(); }
      pressed = null;
    });
    chart.addEventListener("dblclick", () => { state.at = null; ACTIONS.whole(); });
    new ResizeObserver(() => state.data && chart.firstChild?.getAttribute("width") != Math.max(chart.clientWidth, 260) && draw()).observe(chart);
  }
  bind();
  list();
  show().catch((error) => { part("summary").textContent = `This browser cannot show the trials: ${error.message}`; });
})();
