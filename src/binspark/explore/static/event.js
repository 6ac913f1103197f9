// One event: its bytes in the middle, its fields on the right. Pointing at one lights the other.
import { count, make, time } from "./dom.js";

const isNarrow = matchMedia("(max-width: 640px)");

export class EventView {
  constructor(bytes, fields, { onField, onMore }) {
    this.bytes = bytes;
    this.fields = fields;
    this.onField = onField;
    this.onMore = onMore;
    this.event = null;
    for (const pane of [bytes, fields]) {
      pane.addEventListener("pointerover", (event) => this.light(fieldOf(event.target)));
      pane.addEventListener("pointerleave", () => this.light(this.picked ?? null));
      pane.addEventListener("click", (event) => {
        const field = fieldOf(event.target);
        if (field !== null) this.pick(field);
      });
    }
    fields.addEventListener("focusin", (event) => this.light(fieldOf(event.target)));
    for (const pane of [bytes, fields]) pane.addEventListener("keydown", (event) => this.pressed(event));
  }

  clear(element) {
    this.event = null;
    this.bytes.replaceChildren(element);
    this.fields.replaceChildren();
    document.body.classList.add("no-event");
  }

  show(event, name, picked = null) {
    document.body.classList.remove("no-event");
    this.event = event;
    this.picked = picked;
    const where = event.inner === null ? `${name}:${event.pos}` : `${name}:${event.pos} #${event.inner}`;
    const about = [time(event.time), `${count(event.size)} bytes`, `checksum ${event.checksum}`].filter(Boolean).join(" · ");
    this.bytes.replaceChildren(
      make("h2", {}, `${event.type} `, make("span", { class: "soft" }, where)),
      make("p", { class: event.damaged ? "bad" : "soft" }, event.error ?? about),
      hexOf(event),
      make("p", { class: "sections", "aria-hidden": "true" }, ...[...new Set(event.fields.map((field) => field.section))].map((name) => make("span", { class: name }, name))),
      this.more(event),
    );
    this.bytes.scrollTop = 0;
    this.fields.replaceChildren(
      make("h2", {}, "Fields"),
      event.summary ? make("p", { class: "soft" }, event.summary) : "",
      tableOf(event),
    );
    this.fields.scrollTop = 0;
    if (picked !== null) this.pick(picked, { tell: false });
  }

  more(event) {
    const shown = event.bytes.length / 2;
    if (shown >= event.size) return "";
    const button = make("button", { type: "button" }, `Show more of ${count(event.size)} bytes`);
    button.addEventListener("click", () => this.onMore(shown * 4));
    return make("p", {}, `${count(shown)} bytes are shown. `, button);
  }

  light(field) {
    for (const element of document.querySelectorAll(".lit")) element.classList.remove("lit");
    if (field === null) return;
    for (const element of document.querySelectorAll(`[data-field="${field}"]`)) element.classList.add("lit");
  }

  pick(field, { tell = true } = {}) {
    this.picked = field;
    for (const element of document.querySelectorAll(".picked, .row-image")) element.classList.remove("picked", "row-image");
    this.markImage(field);
    const row = this.fields.querySelector(`[data-field="${field}"]`);
    row?.classList.add("picked");
    const block = tell ? "nearest" : "center"; // what was chosen here is in view, what an address names may be far away
    row?.scrollIntoView({ block });
    this.bytes.querySelector(`[data-field="${field}"]`)?.scrollIntoView({ block });
    this.light(field);
    if (tell) this.onField(field);
  }

  // Mark all fields of the row image that a field is in.
  markImage(field) {
    const image = imageOf(this.event.fields[field]);
    if (image === null) return;
    const isIn = this.event.fields.map((each) => imageOf(each) === image);
    for (const element of document.querySelectorAll("[data-field]")) if (isIn[element.dataset.field]) element.classList.add("row-image");
  }

  pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !this.event) return;
    event.preventDefault();
    const last = this.event.fields.length - 1;
    this.pick(Math.max(0, Math.min(last, (this.picked ?? -step) + step)));
    if (this.fields.contains(document.activeElement)) this.fields.querySelector(".picked")?.focus();
  }
}

function fieldOf(target) {
  const element = target.closest?.("[data-field]");
  return element ? Number(element.dataset.field) : null;
}

function hexOf(event) {
  const data = event.bytes.match(/../g) ?? [];
  const hex = make("div", { class: "hex" });
  const width = isNarrow.matches ? 8 : 16;
  const spans = event.fields.map((field, index) => ({ start: field.offset - event.base, end: field.offset - event.base + field.length, index, section: field.section, title: `${field.field} = ${shown(field.value)}` })).filter((span) => span.end > span.start);
  let at = 0; // of the first span that is not yet complete
  for (let start = 0; start < data.length; start += width) {
    const end = Math.min(start + width, data.length);
    const line = make("div", { class: "line" });
    const ascii = make("div", { class: "line ascii", "aria-hidden": "true" });
    while (at < spans.length && spans[at].end <= start) at++;
    for (let each = at; each < spans.length && spans[each].start < end; each++) {
      const span = spans[each];
      const from = Math.max(start, span.start);
      const to = Math.min(end, span.end);
      if (to <= from) continue;
      const part = data.slice(from, to);
      const edges = `${span.start < start ? " goes" : ""}${span.end > end ? " opens" : ""}`;
      line.append(make("span", { "data-field": span.index, class: span.section + edges, title: span.title }, part.join(" ")));
      if (to < end) line.append(" ");
      ascii.append(make("span", { "data-field": span.index, class: span.section }, part.map(character).join("")));
    }
    hex.append(make("div", { class: "at" }, (event.base + start).toString(16).padStart(8, "0")), line, ascii);
  }
  return hex;
}

function character(byte) {
  const code = parseInt(byte, 16);
  return code >= 32 && code < 127 ? String.fromCharCode(code) : "·";
}

export function shown(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const imageOf = (field) => ROW.exec(field?.field ?? "")?.[0] ?? null;
const ROW = /^row\[(\d+)\]\.(before|after)\./;

function tableOf(event) {
  const body = make("tbody");
  let heading = null;
  event.fields.forEach((field, index) => {
    const row = ROW.exec(field.field);
    const title = row ? `row ${row[1]}, ${row[2]} image` : field.section;
    if (title !== heading) {
      heading = title;
      body.append(make("tr", { class: field.section }, make("th", { colspan: 3, scope: "colgroup" }, title)));
    }
    body.append(
      make(
        "tr",
        { "data-field": index, class: field.section, tabindex: 0, title: field.field },
        make("td", {}, make("span", {}, field.field.replace(ROW, "")), make("div", { class: "soft num" }, field.length ? `at ${field.offset}, ${field.length} B` : "no bytes here")),
        make("td", { class: "mono" }, shown(field.value)),
        make("td", { class: "soft" }, field.meaning),
      ),
    );
  });
  const head = make("tr", {}, ...["field", "value", "meaning"].map((name) => make("th", { scope: "col" }, name)));
  return make("table", {}, make("thead", {}, head), body);
}
