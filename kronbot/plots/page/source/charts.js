// Curves under the robot: one chart a unit, and one of small movements, with a cursor that follows and can be dragged.
import uPlot from "uplot";

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999"];
const DASHES = [[], [8, 4], [2, 3], [8, 3, 2, 3]];
const HEIGHT = 186, WIDEST = 560, MOST = 6, TOLD = 100, FEW = 60;
const HERTZ = 1 / (2 * Math.PI);
// Steps of a scale of cases, between which there is none: of more than so many the usual ones are whole.
const WHOLE = [1, 2, 5, 10, 20, 50], MANY = 100;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const short = (value) => {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  return size && (size < 1e-4 || size >= 1e6) ? Number(value.toPrecision(5)).toExponential() : Number(value.toPrecision(5)).toString();
};
// A number under the cursor, of frequencies in Hz, too.
const told = ({ hertz }, value) => `${short(value)}${hertz && Number.isFinite(value) ? `, ${short(HERTZ * value)} Hz` : ""}`;

export class Charts {
  // `curves`: over {name, unit, values}, series [{name, unit, small, values, shown, hertz}]; `moved(x)`: the cursor was dragged.
  // Of a sweep `rows` of its table, slice by slice over the same values, 0 where there is none: x is one of them, and
  // its slice is drawn.
  constructor(curves, area, list, search, moved) {
    const { rows, over } = curves;
    Object.assign(this, { curves, area, list, moved, plots: [], at: rows ? rows.find(Boolean) : over.values[0], slice: 0 });
    this.places = rows && new Map(rows.map((row, k) => [row, k]));
    this.chosen = new Set(curves.series.filter((each) => each.shown).map((each) => each.name));
    this.rows = curves.series.map((each) => {
      const label = document.createElement("label"), box = document.createElement("input");
      const name = document.createElement("span"), value = document.createElement("output");
      box.type = "checkbox";
      box.checked = this.chosen.has(each.name);
      box.addEventListener("change", () => {
        if (box.checked) this.chosen.add(each.name);
        else this.chosen.delete(each.name);
        this.build();
      });
      name.textContent = each.unit && each.unit !== "1" ? `${each.name} [${each.unit}]` : each.name;
      label.append(box, name, value);
      list.append(label);
      return { each, label, value };
    });
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/);
      for (const { each, label } of this.rows) {
        label.hidden = !words.every((word) => each.name.toLowerCase().includes(word));
      }
    });
    new ResizeObserver(() => this.build()).observe(area);
    this.build();
  }

  build() {
    const width = this.area.clientWidth;
    if (!width) return;
    for (const { plot } of this.plots) plot.destroy();
    this.area.replaceChildren();
    const kinds = new Map();
    for (const each of this.curves.series) {
      if (!this.chosen.has(each.name)) continue;
      const kind = `${each.small} ${each.unit}`, open = kinds.get(kind)?.at(-1);
      if (open && open.length < MOST) open.push(each);
      else kinds.set(kind, [...(kinds.get(kind) ?? []), [each]]);
    }
    const groups = [...kinds.values()].flat();
    const columns = Math.max(1, Math.min(groups.length, Math.round(width / WIDEST)));
    this.plots = groups.map((group) => this.plot(group, Math.floor(width / columns) - 4));
    this.follow(this.at);
  }

  plot(group, width) {
    const { over, rows } = this.curves, few = over.values.length < (rows ? FEW : 3), axis = { stroke: () => css("--ink"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line") } };
    const upright = { size: 62, labelSize: 16, values: (u, ticks) => ticks.map(short) }, hertz = group.every((each) => each.hertz);
    const whole = over.values.every(Number.isInteger) && over.values.at(-1) - over.values[0] < MANY;
    const named = (name, unit) => (unit && unit !== "1" ? `${name} [${unit}]` : name);
    const series = group.map((each, i) => ({
      label: each.name, stroke: COLOURS[i % COLOURS.length], dash: DASHES[i % DASHES.length], width: 1.5, pxAlign: 0, points: { show: few, size: 5 },
    }));
    const plot = new uPlot(
      {
        width, height: HEIGHT, series: [{ label: named(over.name, over.unit) }, ...series], legend: { show: true, live: false },
        scales: { x: { time: false }, y: { range: (u, low, high) => this.range(rows ? group : [], low, high) }, ...(hertz ? { hertz: { from: "y", range: (u, low, high) => [HERTZ * low, HERTZ * high] } } : {}) }, cursor: { show: false },
        axes: [
          { ...axis, size: 34, space: 64, label: named(over.name, over.unit), labelSize: 16, values: (u, ticks) => ticks.map(short), ...(whole ? { incrs: WHOLE } : {}) },
          { ...axis, ...upright, label: group[0].unit },
          ...(hertz ? [{ ...axis, ...upright, label: "Hz", side: 1, scale: "hertz", grid: { show: false } }] : []),
        ],
      },
      this.data(group),
      this.area,
    );
    const line = document.createElement("div");
    line.className = "now";
    plot.over.append(line);
    const drag = (event) => {
      if (!(event.buttons & 1)) return;
      const x = event.clientX - plot.over.getBoundingClientRect().left;
      this.drag(plot.posToVal(Math.min(Math.max(x, 0), plot.over.clientWidth), "x"));
    };
    plot.over.addEventListener("pointerdown", (event) => {
      plot.over.setPointerCapture(event.pointerId);
      drag(event);
    });
    plot.over.addEventListener("pointermove", drag);
    const found = { plot, line, group };
    // It has its scales when it is drawn, somewhat later.
    plot.hooks.draw = [() => this.mark(found)];
    return found;
  }

  // What is drawn of curves: all of it, or the slice.
  data(group) {
    const { values } = this.curves.over, begin = this.slice * values.length;
    return [values, ...group.map((each) => each.values.slice(begin, begin + values.length))];
  }

  // Of a scale: slices are to one, and what is level lies in its middle.
  range(group, low, high) {
    for (const { values } of group) for (const value of values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
    const room = low === high ? 0.1 * Math.abs(low) || 1 : 0;
    return room ? [low - room, low + room] : uPlot.rangeNum(low, high, 0.1, true);
  }

  // The cursor was dragged to a value: of a sweep, to the nearest one that the slice has a row of.
  drag(value) {
    const { over, rows } = this.curves;
    if (!rows) return this.moved(value);
    const own = rows.slice(this.slice * over.values.length, (this.slice + 1) * over.values.length);
    let best = -1;
    own.forEach((row, k) => {
      if (row && (best < 0 || Math.abs(over.values[k] - value) < Math.abs(over.values[best] - value))) best = k;
    });
    if (best >= 0) this.moved(own[best]);
  }

  // Where x is among the values that are drawn, and the nearest of them; that of a row without a place is -1.
  find(x) {
    const { values } = this.curves.over;
    if (this.places) {
      const place = this.places.get(x) ?? -1, slice = Math.max(0, Math.floor(place / values.length));
      if (slice !== this.slice) {
        this.slice = slice;
        for (const { plot, group } of this.plots) plot.setData(this.data(group));
      }
      const nearest = place < 0 ? place : place % values.length;
      return [values[nearest], nearest];
    }
    let low = 0, high = values.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (values[middle] <= x) low = middle;
      else high = middle;
    }
    return [x, x - values[low] <= values[high] - x ? low : high];
  }

  // The cursor, and the numbers under it.
  follow(x) {
    this.at = x;
    const [value, nearest] = this.find(x);
    this.value = nearest < 0 ? null : value;
    for (const each of this.plots) this.mark(each);
    this.nearest = nearest < 0 ? -1 : this.slice * this.curves.over.values.length + nearest;
    // Numbers that change faster than they are read would cost more than the picture.
    this.told ??= setTimeout(() => {
      this.told = undefined;
      for (const { each, value } of this.rows) value.textContent = told(each, each.values[this.nearest]);
    }, TOLD);
  }

  mark({ plot, line }) {
    line.hidden = this.value === null;
    if (!line.hidden) line.style.transform = `translateX(${plot.valToPos(this.value, "x")}px)`;
  }

  repaint() {
    for (const { plot } of this.plots) plot.redraw();
  }
}
