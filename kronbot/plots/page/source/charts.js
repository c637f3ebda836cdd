// Curves under the robot: one chart a unit, with a cursor that follows and can be dragged.
import uPlot from "uplot";

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999"];
const DASHES = [[], [8, 4], [2, 3], [8, 3, 2, 3]];
const HEIGHT = 170, WIDEST = 560, MOST = 6, TOLD = 100;
// Steps of a scale of cases, between which there is none.
const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((each) => each * 10 ** power));

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const short = (value) => (value === null || value === undefined ? "" : Number(value.toPrecision(5)).toString());

export class Charts {
  // `curves`: over {name, unit, values}, series [{name, unit, values, shown}]; `moved(x)`: the cursor was dragged.
  constructor(curves, area, list, search, moved) {
    Object.assign(this, { curves, area, list, moved, plots: [], at: curves.over.values[0] });
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
    const units = new Map();
    for (const each of this.curves.series) {
      if (!this.chosen.has(each.name)) continue;
      const open = units.get(each.unit)?.at(-1);
      if (open && open.length < MOST) open.push(each);
      else units.set(each.unit, [...(units.get(each.unit) ?? []), [each]]);
    }
    const groups = [...units.values()].flat();
    const columns = Math.max(1, Math.min(groups.length, Math.round(width / WIDEST)));
    this.plots = groups.map((group) => this.plot(group, Math.floor(width / columns) - 4));
    this.follow(this.at);
  }

  plot(group, width) {
    const { over } = this.curves, axis = { stroke: () => css("--ink"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line") } };
    const named = (name, unit) => (unit && unit !== "1" ? `${name} [${unit}]` : name);
    const series = group.map((each, i) => ({
      label: each.name, stroke: COLOURS[i % COLOURS.length], dash: DASHES[i % DASHES.length], width: 1.5, pxAlign: 0, points: { show: over.values.length < 3 },
    }));
    const plot = new uPlot(
      {
        width, height: HEIGHT, series: [{ label: named(over.name, over.unit) }, ...series], legend: { show: true, live: false },
        scales: { x: { time: false } }, cursor: { show: false },
        axes: [{ ...axis, size: 34, ...(over.values.every(Number.isInteger) ? { incrs: WHOLE } : {}) }, { ...axis, size: 62, label: group[0].unit, labelSize: 16, values: (u, ticks) => ticks.map(short) }],
      },
      [over.values, ...group.map((each) => each.values)],
      this.area,
    );
    const line = document.createElement("div");
    line.className = "now";
    plot.over.append(line);
    const drag = (event) => {
      if (!(event.buttons & 1)) return;
      const x = event.clientX - plot.over.getBoundingClientRect().left;
      this.moved(plot.posToVal(Math.min(Math.max(x, 0), plot.over.clientWidth), "x"));
    };
    plot.over.addEventListener("pointerdown", (event) => {
      plot.over.setPointerCapture(event.pointerId);
      drag(event);
    });
    plot.over.addEventListener("pointermove", drag);
    return { plot, line };
  }

  // The cursor, and the numbers under it.
  follow(x) {
    this.at = x;
    for (const { plot, line } of this.plots) line.style.transform = `translateX(${plot.valToPos(x, "x")}px)`;
    const { values } = this.curves.over;
    let low = 0, high = values.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (values[middle] <= x) low = middle;
      else high = middle;
    }
    const nearest = x - values[low] <= values[high] - x ? low : high;
    this.nearest = nearest;
    // Numbers that change faster than they are read would cost more than the picture.
    this.told ??= setTimeout(() => {
      this.told = undefined;
      for (const { each, value } of this.rows) value.textContent = short(each.values[this.nearest]);
    }, TOLD);
  }

  repaint() {
    for (const { plot } of this.plots) plot.redraw();
  }
}
