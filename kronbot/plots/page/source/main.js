// The page: what is shown when, and what keys and hands do to it. All text comes as data and goes in as text.
import { ArrowHelper, BufferAttribute, BufferGeometry, Color, Line, LineBasicMaterial, LineSegments, Mesh, MeshLambertMaterial, Points, PointsMaterial, SphereGeometry, Vector3 } from "three";
import uplotStyle from "uplot/dist/uPlot.min.css";
import ownStyle from "./style.css";
import { Arm, around, COLOURS, framed, place, triad } from "./arm.js";
import { Charts, short } from "./charts.js";
import { Stage } from "./stage.js";

void uplotStyle, void ownStyle;
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const { robot, steps, modes, curves, measured } = data;
const n = robot.coordinates.length;
const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
// Ends of the slider of exaggeration, as powers of ten; shares of the size that a mode swings; s of one swing.
const MOST = 3, SWING = 0.1, PERIOD = 2, TRAIL = 400, CASE = 0.5;
// Letters of a case in its list.
const BRIEF = 36;
// Where names change sides, of -1 (left) to 1.
const ASIDE = 0.7;
// What a key turns the view by, rad, and how much nearer one goes; s that all cases take at the most.
const TURN = Math.PI / 24, NEARER = 1.15, ALL = 20;
// ms until a trail is drawn anew, which takes longer than a picture; a cosine of a pitch that is rounding, as in Python.
const SOON = 50, LOCK = 1e-12;
// Shares of the size, and of a turn, that are rounding where they are written.
const NOTHING = 1e-12;
// Shares of the size: axes of the base with their letters, those of frames, and what is around points that have to fit.
const AXES = 0.14, FRAME = 0.15, WIDTH = 0.03;
const state = {
  at: 0, playing: false, loop: true, speed: 1, factor: 1, mode: 0, phase: Math.PI / 2, q: Float64Array.from(data.q),
  ghost: Boolean(modes || data.ghost), trail: Boolean(steps) && !steps.apart, bodies: !data.ellipsoids, axes: Boolean(data.axes), names: false, parallel: data.flat,
  points: true,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
};
let dirty = true, last = null, charts = null;
const touch = () => { dirty = true; };

// Coordinates with the same joints where nothing is deformed, and what is drawn for q.
function undeformed(q) {
  const found = Float64Array.from(robot.u);
  robot.rigid.forEach((place, k) => { for (let i = 0; i < n; i++) found[i] += robot.U[i][k] * q[place]; });
  return found;
}
function exaggerated(q, factor) {
  if (factor === 1) return q;
  const rest = undeformed(q);
  return rest.map((value, i) => value + factor * (q[i] - value));
}
function between(x) {
  const { values, states } = steps;
  let k = 0;
  while (k + 2 < values.length && values[k + 1] <= x) k++;
  if (values.length === 1) return Float64Array.from(states[0]);
  const share = Math.min(Math.max((x - values[k]) / (values[k + 1] - values[k]), 0), 1);
  if (share === 0 || steps.apart) return Float64Array.from(states[share < 0.5 ? k : k + 1]);
  if (share === 1) return Float64Array.from(states[k + 1]);
  return Float64Array.from(states[k], (value, i) => value + share * (states[k + 1][i] - value));
}
function current() {
  if (steps) return between(steps.values[0] + state.at);
  return modes && modes.list.length ? swung(state.mode, Math.sin(state.phase)) : state.q;
}
// A mode at a share of its amplitude.
function swung(k, share) {
  const { direction, most } = modes.list[k], way = (state.factor * SWING * robot.size * share) / (most || 1);
  return Float64Array.from(data.q, (value, i) => value + way * direction[i]);
}

// --- the stage
const up = new Vector3().fromArray(data.up);
// On the left of the first view.
const right = new Vector3().crossVectors(up, new Vector3().fromArray(data.eye)).normalize();
const gravityAt = new Vector3().copy(up).multiplyScalar(0.1 * robot.size).addScaledVector(right, -0.25 * robot.size);
const PULL = 0.18, pull = new Vector3().fromArray(robot.gravity ?? [0, 0, 0]).normalize();
// Pixels above and below the robot that the buttons and the note take.
const edges = () => [$("looks").offsetTop + $("looks").offsetHeight + 4, 26];
let stage, arm, ghost, trail, cloud, arrows = [], ellipsoids = [], others = [];
try {
  stage = new Stage($("canvas"), up, data.flat ? new Vector3().fromArray(data.eye).normalize() : up, edges, touch);
} catch (error) {
  $("names").hidden = true;
  for (const button of document.querySelectorAll("#looks button:not([data-do=dark], [data-do=help])")) button.hidden = true;
}
function note(text) {
  $("note").textContent = [text, stage ? "" : "This browser draws no WebGL: curves and numbers only."].filter(Boolean).join("; ");
}
arm = new Arm(robot, window.kronbotScene, false);
if (stage) {
  ghost = new Arm(robot, window.kronbotScene, true);
  stage.scene.add(arm.group, ghost.group);
  const base = triad(0.12 * robot.size);
  stage.scene.add(base);
  const count = steps ? Math.min(TRAIL, steps.states.length) : 0;
  if (count > 1) {
    trail = new Line(new BufferGeometry(), new LineBasicMaterial({ color: COLOURS.endpoint }));
    trail.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * count), 3));
    trail.frustumCulled = false;
    trail.rows = [...Array(count).keys()].map((k) => Math.round((k * (steps.states.length - 1)) / (count - 1)));
    stage.scene.add(trail);
  }
  if (robot.gravity) {
    const arrow = new ArrowHelper(pull, gravityAt, PULL * robot.size, COLOURS.gravity, 0.05 * robot.size, 0.03 * robot.size);
    stage.scene.add(arrow);
  }
  // Forces are to one scale, so are moments, forces along beams, and reactions.
  const largest = {};
  for (const { kind, vectors } of data.arrows) largest[kind] = Math.max(largest[kind] ?? 0, ...vectors.map((v) => Math.hypot(...v)));
  arrows = data.arrows.flatMap((each) =>
    (each.along === undefined ? [null] : [0, 0.25, 0.5, 0.75, 1]).map((share) => {
      const arrow = new ArrowHelper(new Vector3(1, 0, 0), new Vector3(), 1, COLOURS[each.kind]);
      stage.scene.add(arrow);
      return { ...each, share, arrow, largest: largest[each.kind] };
    }),
  );
  for (const each of data.ellipsoids ?? []) {
    const outer = framed();
    place(outer, [...each.centre, ...each.R], 0);
    const mesh = new Mesh(new SphereGeometry(1, 32, 20), new MeshLambertMaterial({ color: COLOURS[each.kind], transparent: true, opacity: 0.35, depthWrite: false }));
    mesh.scale.fromArray(each.half.map((a) => Math.max(a, 0.002 * robot.size)));
    outer.add(mesh);
    outer.updateMatrixWorld(true);
    ellipsoids.push(outer);
    stage.scene.add(outer);
  }
  for (const each of data.frames ?? []) {
    const outer = framed();
    place(outer, [...each.r, ...each.R], 0);
    outer.add(triad(FRAME * robot.size));
    stage.scene.add(outer);
  }
  if (measured) {
    for (const each of measured.points) {
      each.ball = new Mesh(new SphereGeometry(0.012 * robot.size, 16, 12), new MeshLambertMaterial({ color: COLOURS.measured }));
      each.way = lines(COLOURS.measured, 2);
      stage.scene.add(each.ball, each.way);
    }
    const count = measured.points.length * steps.states.length, colours = new Float32Array(3 * count), colour = new Color();
    for (let k = 0; k < count; k++) colour.set(measured.fitted[k % steps.states.length] ? COLOURS.measured : COLOURS.held).toArray(colours, 3 * k);
    cloud = new Points(new BufferGeometry(), new PointsMaterial({ size: 4 * Math.min(devicePixelRatio, 2), sizeAttenuation: false, vertexColors: true }));
    cloud.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * count), 3));
    cloud.geometry.setAttribute("color", new BufferAttribute(colours, 3));
    cloud.frustumCulled = false;
    cloud.ways = lines(COLOURS.measured, 2 * count);
    stage.scene.add(cloud, cloud.ways);
  }
  for (const q of data.others ?? []) {
    const other = new Arm(robot, window.kronbotScene, true);
    other.pose(Float64Array.from(q));
    others.push(other);
    stage.scene.add(other.group);
  }
}

// Errors of measured points are exaggerated as deflections are: measured points, from where they are computed.
function lines(colour, count) {
  const found = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: colour }));
  found.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * count), 3));
  found.frustumCulled = false;
  return found;
}
function measuredAt(each, row, computed) {
  return computed.clone().addScaledVector(new Vector3().fromArray(each.errors[row].map((e) => e ?? 0)), -state.factor);
}
const isMeasured = (each, row) => each.errors[row].some((e) => e !== null);
const computedAt = (each) => (each.at === "endpoint" ? arm.tip() : arm.point(each.at));
function drawCloud() {
  if (!cloud) return;
  const points = cloud.geometry.attributes.position, ways = cloud.ways.geometry.attributes.position, count = steps.states.length;
  steps.states.forEach((q, row) => {
    arm.pose(exaggerated(Float64Array.from(q), state.factor));
    measured.points.forEach((each, i) => {
      const k = i * count + row, computed = computedAt(each), there = measuredAt(each, row, computed);
      if (!isMeasured(each, row)) there.setScalar(NaN);
      there.toArray(points.array, 3 * k);
      computed.toArray(ways.array, 6 * k);
      (isMeasured(each, row) ? there : computed).toArray(ways.array, 6 * k + 3);
    });
  });
  points.needsUpdate = ways.needsUpdate = true;
  touch();
}

function drawTrail() {
  drawCloud();
  if (!trail) return;
  const { position } = trail.geometry.attributes, was = current();
  trail.rows.forEach((row, k) => {
    arm.pose(exaggerated(Float64Array.from(steps.states[row]), state.factor));
    arm.tip().toArray(position.array, 3 * k);
  });
  arm.pose(exaggerated(was, state.factor));
  position.needsUpdate = true;
  touch();
}

// What has to fit: the robot in all that is shown of it, exaggerated as it is, and what stands beside it.
function fitting() {
  const found = [], add = (...points) => { for (const point of points) found.push(...point); };
  const posed = (q, row) => {
    arm.pose(modes ? q : exaggerated(q, state.factor));
    arm.outline(found, state.bodies);
    for (const each of arrows) {
      const { from, way, long } = arrowAt(each, row);
      if (long) add(from, from.clone().addScaledVector(way, long));
    }
    for (const each of measured?.points ?? []) if (isMeasured(each, row)) add(measuredAt(each, row, computedAt(each)));
    if (!ghost || !state.ghost) return;
    ghost.pose(modes ? Float64Array.from(data.q) : undeformed(q));
    ghost.outline(found);
  };
  if (steps) {
    const every = Math.ceil(steps.states.length / TRAIL), last = steps.states.length - 1;
    steps.states.forEach((q, row) => { if (row % every === 0 || row === last) posed(Float64Array.from(q), row); });
  } else if (modes) {
    for (let k = 0; k < modes.list.length; k++) for (const sign of [-1, 1]) posed(swung(k, sign), 0);
  }
  if (!steps) posed(modes ? Float64Array.from(data.q) : state.q, 0);
  for (const other of others) other.outline(found);
  for (const each of ellipsoids) around(each, found);
  const axes = (length, r = [0, 0, 0], R = [1, 0, 0, 0, 1, 0, 0, 0, 1]) => {
    for (const k of [0, 3, 6]) add(new Vector3().fromArray(r).addScaledVector(new Vector3().fromArray(R, k), length * robot.size));
  };
  axes(AXES);
  for (const { r, R } of data.frames ?? []) axes(FRAME, r, R);
  if (robot.gravity) add(gravityAt, gravityAt.clone().addScaledVector(pull, PULL * robot.size));
  touch();
  // Beams and drums have some width.
  return [found, WIDTH * robot.size];
}

// Where an arrow begins, its direction and length, of which 0 is none; the robot is posed.
function arrowAt({ vectors, largest, at, along, share }, row) {
  const way = new Vector3().fromArray(vectors[Math.min(row, vectors.length - 1)]), size = way.length();
  if (!(size > 1e-12 * largest)) return { long: 0 };
  const from = along !== undefined ? arm.along(along, share) : at === "endpoint" ? arm.tip() : at === "base" ? new Vector3() : arm.point(at);
  return { from, size, way: way.divideScalar(size), long: ((along === undefined ? 0.3 : 0.12) * robot.size * size) / largest };
}

function show() {
  const q = current(), drawn = steps || !modes ? exaggerated(q, state.factor) : q;
  arm.pose(drawn, q);
  if (ghost) {
    ghost.group.visible = state.ghost;
    if (state.ghost) ghost.pose(modes ? Float64Array.from(data.q) : undeformed(q));
  }
  const row = steps ? nearest() : 0;
  if (trail) {
    trail.visible = state.trail;
    trail.geometry.setDrawRange(0, trail.rows.filter((each) => each <= row).length);
  }
  for (const each of arrows) {
    const { from, way, long, size } = arrowAt(each, row), { arrow } = each, head = Math.min(0.05 * robot.size, 0.4 * long);
    arrow.visible = long > 0;
    each.head = long && from.clone().addScaledVector(way, long);
    if (each.named && long) each.named.textContent = `${each.kind === "line" ? "force" : each.kind} ${short(size)} ${UNITS[each.kind]}`;
    if (!long) continue;
    arrow.position.copy(from);
    arrow.setDirection(way);
    arrow.setLength(long, head, head / 2);
  }
  for (const each of measured?.points ?? []) {
    if (!each.ball) continue;
    each.ball.visible = each.way.visible = isMeasured(each, row);
    const computed = computedAt(each), { position } = each.way.geometry.attributes;
    each.ball.position.copy(measuredAt(each, row, computed));
    computed.toArray(position.array, 0);
    each.ball.position.toArray(position.array, 3);
    position.needsUpdate = true;
  }
  if (cloud) cloud.visible = cloud.ways.visible = state.points;
  for (const each of arm.bodies) each.visible = state.bodies;
  for (const each of arm.frames) each.visible = state.axes;
  const { position, angles } = pose();
  const written = [...position, ...angles].map((value, i) => short(Math.abs(value) < NOTHING * (i < 3 ? robot.size : 1) ? 0 : value));
  $("where").textContent = `endpoint drawn at ${written.slice(0, 3).join(", ")} m`;
  told.forEach((cell, i) => { cell.textContent = written[i]; });
  if (steps) {
    const x = steps.values[0] + state.at;
    $("step").value = state.at;
    $("case").selectedIndex = row;
    $("now").textContent = steps.labels ? steps.labels[row] : `${steps.name} = ${x.toFixed(steps.digits)} ${steps.unit}`;
    charts?.follow(steps.apart ? steps.values[row] : x);
  }
}

// Of the endpoint as it is drawn: x, y, z (m) and the angles of Rz(yaw) Ry(pitch) Rx(roll) (rad), those of
// kronbot kinematics: half a turn is pi, whichever sign rounding gives it.
const told = [], turned = (y, x) => { const angle = Math.atan2(y, x); return angle + 2 * Math.PI * (angle < LOCK - Math.PI); };
function pose() {
  const e = arm.endpoint.matrixWorld.elements;
  const upright = Math.hypot(e[6], e[10]), roll = upright < LOCK ? 0 : turned(e[6], e[10]);
  const c = Math.cos(roll), s = Math.sin(roll), yaw = turned(s * e[8] - c * e[4], c * e[5] - s * e[9]);
  return { position: arm.tip().toArray(), angles: [roll, Math.atan2(-e[2], upright), yaw] };
}
function readout() {
  heading("endpoint");
  const element = document.createElement("table");
  ["x [m]", "y [m]", "z [m]", "roll [rad]", "pitch [rad]", "yaw [rad]"].forEach((name) => {
    const row = element.insertRow();
    row.insertCell().textContent = name;
    told.push(row.insertCell());
  });
  $("side").append(element);
}

// A case by its first entries: the whole of it stands below.
function brief(text) {
  const [found, ...more] = text.split(", ");
  let told = found;
  for (const each of more) {
    if (told.length + each.length > BRIEF) return `${told}, ...`;
    told += `, ${each}`;
  }
  return told;
}

function nearest() {
  const x = steps.values[0] + state.at;
  let best = 0;
  steps.values.forEach((value, k) => { if (Math.abs(value - x) < Math.abs(steps.values[best] - x)) best = k; });
  return best;
}

// --- names, over the canvas as text
const labels = [];
function label(text, kind, where) {
  const span = document.createElement("span");
  span.textContent = text;
  span.className = kind;
  $("names").append(span);
  labels.push({ span, kind, where });
  return span;
}
["x", "y", "z"].forEach((name, i) => label(name, "axis", () => new Vector3().setComponent(i, AXES * robot.size)));
robot.links.forEach((link, i) => link.label && label(link.label, "link", () => arm.root(i)));
const UNITS = { force: "N", moment: "N m", line: "N/m", "reaction force": "N", "reaction moment": "N m" };
for (const each of arrows) if (each.share === null || each.share === 1) each.named = label("", "axis", () => each.head && each.head.clone());
if (robot.gravity) label("g", "axis", () => gravityAt.clone());
function write() {
  const { clientWidth: width, clientHeight: height } = $("canvas");
  stage.camera.updateMatrixWorld();
  for (const { span, kind, where } of labels) {
    const at = (kind === "axis" || state.names) && where();
    span.hidden = !at;
    if (!at) continue;
    at.project(stage.camera);
    // What is far on the right has its name on its left.
    const behind = at.x > ASIDE, x = ((at.x + 1) / 2) * width + (behind ? -4 : 4);
    span.style.transform = `translate(${x}px, ${((1 - at.y) / 2) * height - 8}px)${behind ? " translateX(-100%)" : ""}`;
  }
}

// --- time
function seek(at) {
  const end = steps.values.at(-1) - steps.values[0];
  state.at = Math.min(Math.max(at, 0), end);
  touch();
}
function stepBy(count) {
  if (!steps) return;
  state.playing = false;
  const k = Math.min(Math.max(nearest() + count, 0), steps.values.length - 1);
  seek(steps.values[k] - steps.values[0]);
}
function frame(now) {
  requestAnimationFrame(frame);
  const passed = last === null ? 0 : Math.min((now - last) / 1000, 0.25);
  last = now;
  if (state.playing && steps) {
    const end = steps.values.at(-1) - steps.values[0];
    let at = state.at + passed * state.speed * (steps.apart ? Math.max(1 / CASE, end / ALL) : 1);
    if (at > end) {
      if (state.loop) at = end ? at % end : 0;
      else [at, state.playing] = [end, false];
      press();
    }
    seek(at);
  } else if (state.playing && modes) {
    state.phase += (passed * state.speed * 2 * Math.PI) / PERIOD;
    touch();
  }
  stage?.controls.update();
  redraw();
}
let drawn = 0;
function redraw() {
  if (!dirty) return;
  dirty = false;
  show();
  if (stage) {
    write();
    stage.draw();
    drawn++;
  }
}

// --- buttons and keys
const actions = {
  play: ["space", "play, stop", () => { state.playing = !state.playing; if (state.playing && steps && state.at >= steps.values.at(-1) - steps.values[0]) seek(0); }],
  back: ["left, shift", "a step back, ten", () => stepBy(-1)],
  on: ["right, shift", "a step on, ten", () => stepBy(1)],
  first: ["home", "to the start", () => steps && seek(0)],
  end: ["end", "to the end", () => steps && seek(Infinity)],
  loop: ["l", "begin again at the end", () => { state.loop = !state.loop; }],
  x: ["x, shift", "seen along x, from behind", () => view(0)],
  y: ["y, shift", "seen along y, from behind", () => view(1)],
  z: ["z, shift", "seen along z, from behind", () => view(2)],
  left: ["h", "turned to the left", () => stage?.orbit(-TURN, 0)],
  right: ["k", "turned to the right", () => stage?.orbit(TURN, 0)],
  over: ["u", "seen from higher", () => stage?.orbit(0, TURN)],
  under: ["j", "seen from lower", () => stage?.orbit(0, -TURN)],
  nearer: ["+", "nearer", () => stage?.approach(NEARER)],
  farther: ["-", "farther", () => stage?.approach(1 / NEARER)],
  fit: ["f", "fit to the window", () => stage?.fit(...fitting())],
  parallel: ["o", "parallel projection", () => { state.parallel = !state.parallel; stage?.project(state.parallel); }],
  ghost: ["g", "ghost of the undeformed robot", () => { state.ghost = !state.ghost; }],
  trail: ["t", "trail of the endpoint", () => { state.trail = !state.trail; }],
  bodies: ["b", "bodies by mass and inertia", () => { state.bodies = !state.bodies; }],
  points: ["m", "measured points of all rows", () => { state.points = !state.points; }],
  axes: ["a", "frames of the links", () => { state.axes = !state.axes; }],
  names: ["n", "names of the links", () => { state.names = !state.names; }],
  less: ["[", "less exaggeration", () => exaggerate(Math.log10(state.factor) - 0.1)],
  more: ["]", "more exaggeration", () => exaggerate(Math.log10(state.factor) + 0.1)],
  one: ["1", "deflections as they are", () => exaggerate(0)],
  dark: ["d", "dark, light", () => { state.dark = !state.dark; paint(); }],
  help: ["?", "these keys", () => $("help").showModal()],
};
const keys = { " ": "play", ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "end", "?": "help" };
for (const [word, [key]] of Object.entries(actions)) if (key[0].length === 1 && /^.(,|$)/.test(key)) keys[key[0]] = word;
let behind = false;
function view(axis) {
  const away = new Vector3().setComponent(axis, behind ? -1 : 1);
  // What looks along the upward axis keeps another one upwards.
  if (Math.abs(away.dot(up)) > 0.9) away.addScaledVector(new Vector3(0, up.z ? -1 : 0, up.y ? 1 : 0), 1e-4);
  stage?.look(away, ...fitting());
}
function press() {
  for (const button of document.querySelectorAll("button[data-do]")) {
    const word = button.dataset.do;
    const on = word === "play" ? state.playing : state[word];
    if (typeof on === "boolean") button.setAttribute("aria-pressed", String(on));
    if (word === "play") button.textContent = state.playing ? "stop" : "play";
  }
}
function act(word) {
  actions[word][2]();
  press();
  touch();
}
for (const button of document.querySelectorAll("button[data-do]")) button.addEventListener("click", (event) => {
  behind = event.shiftKey;
  act(button.dataset.do);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const { target } = event;
  if (target.matches?.("input[type=search], input[type=number], select, textarea")) return;
  if (target.matches?.("input[type=range]") && /^(Arrow|Home|End)/.test(event.key)) return;
  if (target.matches?.("button, input[type=checkbox], summary") && event.key === " ") return;
  const word = keys[event.key] ?? keys[event.key.toLowerCase()];
  if (!word) return;
  event.preventDefault();
  behind = event.shiftKey;
  if (event.shiftKey && (word === "back" || word === "on")) stepBy(word === "on" ? 10 : -10);
  else act(word);
  press();
});

// --- exaggeration, 1 is marked
const factor = $("factor");
Object.assign(factor, { min: modes ? -1 : 0, max: modes ? 1 : MOST, step: 0.01, value: 0 });
const mark = document.createElement("option");
mark.value = "0";
mark.label = "x1";
$("one").append(mark);
function exaggerate(power) {
  factor.value = power;
  state.factor = 10 ** Number(factor.value);
  const times = state.factor === 1 ? "x 1" : `x ${short(Number(state.factor.toPrecision(2)))}`;
  $("times").textContent = modes ? times : `${times}${state.factor === 1 ? ", as it is" : ", exaggerated"}`;
  clearTimeout(exaggerate.then);
  exaggerate.then = setTimeout(drawTrail, SOON);
  touch();
}
factor.addEventListener("input", () => exaggerate(factor.value));
const scaled = [...(robot.flexible ? ["deflection"] : []), ...(measured ? ["error"] : [])];
$("scaled").textContent = modes ? "amplitude" : scaled.join(", ");
if (!scaled.length && !modes) factor.parentElement.hidden = $("times").hidden = true;

// --- the side: sliders of coordinates, modes, numbers
function heading(text) {
  const h = document.createElement("h2");
  h.textContent = text;
  $("side").append(h);
  $("side").hidden = false;
}
function sliders() {
  heading("coordinates");
  const rows = [];
  const values = { rigid: state.q, bent: state.q.map((value, i) => value - undeformed(state.q)[i]) };
  const moved = () => {
    const rest = undeformed(values.rigid);
    state.q = rest.map((value, i) => value + (robot.rigid.includes(i) ? 0 : values.bent[i]));
    for (const each of rows) each();
    touch();
  };
  robot.coordinates.forEach(({ name, unit, low, high }, i) => {
    const rigid = robot.rigid.includes(i), row = document.createElement("div"), title = document.createElement("span");
    const range = document.createElement("input"), box = document.createElement("input");
    const source = rigid ? values.rigid : values.bent;
    const [least, most] = rigid ? [low, high] : reach(i);
    row.className = "row";
    // Links behind shafts, by what is left to them beside their motors.
    title.textContent = `${name}${!rigid && robot.U[i].some(Boolean) ? ", yielding" : ""} [${unit}]`;
    Object.assign(range, { type: "range", min: least, max: most, step: "any", value: source[i] });
    Object.assign(box, { type: "number", step: "any", value: short(source[i]) });
    range.setAttribute("aria-label", name);
    box.setAttribute("aria-label", `${name}, number`);
    const set = (value) => {
      if (!Number.isFinite(value)) return;
      source[i] = value;
      moved();
    };
    range.addEventListener("input", () => set(range.valueAsNumber));
    box.addEventListener("change", () => set(box.valueAsNumber));
    rows.push(() => {
      if (document.activeElement !== range) range.value = source[i];
      if (document.activeElement !== box) box.value = short(source[i]);
    });
    row.append(title, box, range);
    $("side").append(row);
  });
  const reset = document.createElement("button");
  reset.textContent = "back to the start";
  reset.addEventListener("click", () => {
    values.rigid.set(data.q);
    const rest = undeformed(values.rigid);
    for (let i = 0; i < n; i++) values.bent[i] = data.q[i] - rest[i];
    moved();
  });
  $("side").append(reset);
}
// What bends a beam by a fifth of the robot, or turns its sections by half a radian.
function reach(i) {
  const rest = new Float64Array(robot.numbers), moved = new Float64Array(robot.numbers), step = 1e-4;
  const q = undeformed(state.q);
  window.kronbotScene(q, rest);
  q[i] += step;
  window.kronbotScene(q, moved);
  let way = 0, turned = 0;
  for (const { at } of robot.links) {
    for (let k = 0; k < 3; k++) way = Math.max(way, Math.abs(moved[at + 18 + k] - rest[at + 18 + k]) / step);
    for (let k = 0; k < 9; k++) turned = Math.max(turned, Math.abs(moved[at + 21 + k] - rest[at + 21 + k]) / step);
  }
  const most = Math.min(way ? (0.2 * robot.size) / way : Infinity, turned ? 0.5 / turned : Infinity);
  return Number.isFinite(most) ? [-most, most] : [-1, 1];
}
function list() {
  heading(modes.list.length ? "modes" : "no mode swings");
  const buttons = modes.list.map((mode, k) => {
    const button = document.createElement("button");
    button.className = "mode";
    button.textContent = mode.label;
    button.addEventListener("click", () => {
      state.mode = k;
      buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(i === k)));
      note(mode.label);
      touch();
    });
    $("side").append(button);
    return button;
  });
  buttons[0]?.click();
}
// How far a mode moves a point of the robot, per unit.
function measure() {
  const size = robot.numbers, up = new Float64Array(size), down = new Float64Array(size), step = 1e-4;
  for (const mode of modes.list) {
    const largest = Math.max(...mode.direction.map(Math.abs)) || 1, h = step / largest;
    window.kronbotScene(Float64Array.from(data.q, (v, i) => v + h * mode.direction[i]), up);
    window.kronbotScene(Float64Array.from(data.q, (v, i) => v - h * mode.direction[i]), down);
    let most = 0, turned = 0;
    const change = (k) => Math.hypot(up[k] - down[k], up[k + 1] - down[k + 1], up[k + 2] - down[k + 2]) / (2 * h);
    for (const { at, sections } of robot.links) {
      for (const k of [6, 18]) most = Math.max(most, change(at + k));
      for (const k of [21, 24, 27]) turned = Math.max(turned, change(at + k));
      for (let s = 0; s < sections; s++) most = Math.max(most, change(at + 30 + 12 * s));
    }
    // Torsion alone moves no line: its angles are worth a fifth of the size.
    mode.most = Math.max(most, 0.2 * robot.size * turned);
  }
}
function table() {
  heading("numbers");
  const element = document.createElement("table");
  for (const [name, text, kind] of data.numbers) {
    const row = element.insertRow(), first = row.insertCell();
    first.textContent = name;
    row.insertCell().textContent = text;
    if (kind) Object.assign(first.style, { borderLeft: `6px solid #${new Color(COLOURS[kind]).getHexString()}`, paddingLeft: "6px" });
  }
  $("side").append(element);
}

// --- everything at once
function paint() {
  document.documentElement.dataset.theme = state.dark ? "dark" : "light";
  stage?.background(state.dark ? 0x14171b : 0xffffff);
  stage?.floor(robot.size, state.dark ? 0x4a5460 : 0xaab2bb);
  charts?.repaint();
  touch();
}
$("title").textContent = document.title = data.title;
$("model").textContent = data.model;
if (data.warnings.length) {
  $("told").hidden = false;
  $("told").querySelector("summary").textContent = data.warnings.length === 1 ? "1 warning" : `${data.warnings.length} warnings`;
  for (const text of data.warnings) $("told").querySelector("ul").append(Object.assign(document.createElement("li"), { textContent: text }));
}
for (const [key, text] of Object.values(actions)) {
  $("help").querySelector("dl").append(
    Object.assign(document.createElement("dt"), { textContent: key }), Object.assign(document.createElement("dd"), { textContent: text }),
  );
}
for (const speed of [0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10]) {
  $("speed").append(Object.assign(document.createElement("option"), { value: speed, textContent: `x ${speed}`, selected: speed === 1 }));
}
$("speed").addEventListener("change", () => { state.speed = Number($("speed").value); });
note(data.note);
for (const word of [...(trail ? [] : ["trail"]), ...(measured ? [] : ["points"])]) document.querySelector(`[data-do=${word}]`).hidden = true;
if (steps) {
  $("time").hidden = steps.values.length < 2;
  $("now").classList.toggle("told", Boolean(steps.labels));
  $("case").hidden = !steps.labels;
  for (const text of steps.labels ?? []) $("case").append(Object.assign(document.createElement("option"), { textContent: brief(text) }));
  $("case").addEventListener("change", () => { state.playing = false; press(); seek(steps.values[$("case").selectedIndex] - steps.values[0]); });
  Object.assign($("step"), { min: 0, max: steps.values.at(-1) - steps.values[0], step: steps.apart ? 1 : "any", value: 0 });
  $("step").addEventListener("input", () => { state.playing = false; press(); seek($("step").valueAsNumber); });
}
if (modes) {
  measure();
  list();
  $("time").hidden = !modes.list.length;
  for (const id of ["step", "now"]) $(id).hidden = true;
  for (const word of ["back", "on", "loop"]) document.querySelector(`[data-do=${word}]`).hidden = true;
  state.playing = !reduced;
}
if (data.sliders) sliders(), readout();
if (data.numbers?.length) table();
if (curves) {
  $("curves").hidden = false;
  charts = new Charts(curves, $("charts"), $("list"), $("search"), (x) => { state.playing = false; press(); seek(x - steps.values[0]); });
}
exaggerate(0);
paint();
press();
if (stage) {  // when all else has taken its place
  stage.resize();
  stage.project(state.parallel);
  stage.look(new Vector3().fromArray(data.eye), ...fitting());
  // Another size empties the canvas, after what is drawn for this frame.
  new ResizeObserver(() => { stage.resize(); redraw(); }).observe($("stage"));
}
requestAnimationFrame(frame);

// For who tests the page, or writes to its console.
window.kronbot = {
  state, data, seek, act, exaggerate,
  measured: () => { show(); return measured.points.map((each) => each.ball.position.toArray()); },
  arrows: () => { show(); return arrows.filter((each) => each.head).map(({ named, arrow, head }) => [named?.textContent ?? "", head.distanceTo(arrow.position)]); },
  tip: () => { show(); return arm.tip().toArray(); },
  pose: () => { show(); return pose(); },
  trail: () => Array.from(trail.geometry.attributes.position.array),
  eye: () => stage.camera.position.clone().sub(stage.controls.target).toArray(),
  drawn: () => drawn,
  // The least and the most of x and y of all that is drawn of the robot, from -1 to 1 in the picture.
  span: () => {
    show();
    stage.camera.updateMatrixWorld();
    const point = new Vector3(), found = [[Infinity, -Infinity], [Infinity, -Infinity]];
    arm.group.traverseVisible(({ isMesh, geometry, matrixWorld }) => {
      for (let i = 0; isMesh && i < geometry.attributes.position.count; i++) {
        point.fromBufferAttribute(geometry.attributes.position, i).applyMatrix4(matrixWorld).project(stage.camera);
        found.forEach((each, k) => { each[0] = Math.min(each[0], point.getComponent(k)); each[1] = Math.max(each[1], point.getComponent(k)); });
      }
    });
    return found;
  },
  draw: () => { show(); if (stage) write(), stage.draw(); },
};
