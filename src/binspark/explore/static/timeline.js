// The log over time: bars, which are zoomed by dragging over them. A click jumps to a time.
import { byId, count, make, size, svg, time } from "./dom.js";

const WIDTH = 1000;
const HEIGHT = 64;

export class Timeline {
  constructor(element, { onJump, onZoom }) {
    this.element = element;
    this.onJump = onJump;
    this.onZoom = onZoom;
    this.data = { times: [], width: 1 };
    this.range = null;
    this.mark = null;
    this.picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", tabindex: "0", "aria-label": "Activity over time; + and − zoom, 0 shows everything" });
    this.from = make("span");
    this.to = make("span");
    this.about = make("span", { role: "status" });
    this.metric = make("select", { "aria-label": "What is shown over time" }, ...["transactions", "rows", "bytes"].map((name) => make("option", { value: name }, name)));
    this.reset = make("button", { type: "button", hidden: true }, "All of the log");
    element.append(this.picture, make("div", { class: "axis" }, this.from, make("span", {}, this.metric, " ", this.reset, " ", this.about), this.to));
    this.metric.addEventListener("change", () => this.draw());
    this.reset.addEventListener("click", () => this.onZoom(null));
    this.picture.addEventListener("pointerdown", (event) => this.begin(event));
    this.picture.addEventListener("pointermove", (event) => this.moved(event));
    this.picture.addEventListener("pointerup", (event) => this.end(event));
    this.picture.addEventListener("pointerleave", () => (this.about.textContent = ""));
  }

  setData(data) {
    this.data = data;
    this.element.hidden = data.times.length === 0;
    this.draw();
  }

  setRange(range) {
    this.range = range;
    this.draw();
  }

  setMark(seconds) {
    this.mark = seconds;
    this.draw();
  }

  get bounds() {
    const { times, width } = this.data;
    return this.range ?? [times[0] ?? 0, (times[times.length - 1] ?? 0) + width];
  }

  draw() {
    const { times, width } = this.data;
    const [from, to] = this.bounds;
    const values = this.data[this.metric.value] ?? [];
    const scale = WIDTH / Math.max(to - from, 1e-9);
    const inside = times.map((start, index) => [start, values[index]]).filter(([start, value]) => value && start + width > from && start < to);
    const most = Math.max(1, ...inside.map(([, value]) => value));
    const bars = inside.map(([start, value]) => {
      const height = Math.max(1.5, (value / most) * (HEIGHT - 4));
      const left = Math.max(0, (start - from) * scale);
      return svg("rect", { class: "bar", x: left, y: HEIGHT - height, width: Math.max(1, width * scale * 0.9), height });
    });
    if (this.mark !== null && this.mark >= from && this.mark <= to) {
      const x = (this.mark - from) * scale;
      bars.push(svg("line", { class: "mark", x1: x, x2: x, y1: 0, y2: HEIGHT }));
    }
    if (this.dragged) {
      const [one, other] = this.dragged.map((seconds) => (seconds - from) * scale).sort((a, b) => a - b);
      bars.push(svg("rect", { class: "brush", x: one, y: 0, width: Math.max(1, other - one), height: HEIGHT }));
    }
    this.picture.replaceChildren(...bars);
    this.from.textContent = time(from);
    this.to.textContent = `${time(to)} UTC`;
    this.reset.hidden = this.range === null;
  }

  secondsAt(event) {
    const box = this.picture.getBoundingClientRect();
    const [from, to] = this.bounds;
    return from + (Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (to - from));
  }

  begin(event) {
    this.picture.setPointerCapture(event.pointerId);
    const at = this.secondsAt(event);
    this.dragged = [at, at];
    this.pressedAt = event.clientX;
  }

  moved(event) {
    const at = this.secondsAt(event);
    if (this.dragged) {
      this.dragged[1] = at;
      this.draw();
    }
    const { times, width } = this.data;
    const index = times.findIndex((start) => at >= start && at < start + width);
    const value = index < 0 ? 0 : this.data[this.metric.value][index];
    this.about.textContent = `${time(at, false)}: ${this.metric.value === "bytes" ? size(value) : `${count(value)} ${this.metric.value}`}`;
  }

  end(event) {
    const dragged = this.dragged;
    this.dragged = null;
    if (!dragged) return;
    if (Math.abs(event.clientX - this.pressedAt) < 4) this.onJump(this.secondsAt(event));
    else this.onZoom(dragged.sort((one, other) => one - other));
    this.draw();
  }

  zoom(factor) {
    const [from, to] = this.bounds;
    const middle = this.mark !== null && this.mark >= from && this.mark <= to ? this.mark : (from + to) / 2;
    this.onZoom(factor ? [middle - (middle - from) * factor, middle + (to - middle) * factor] : null);
  }
}

export const timelineElement = () => byId("timeline");
