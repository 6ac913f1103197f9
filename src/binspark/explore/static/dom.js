// Making elements. Everything that comes from a log becomes text, never HTML.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "on") for (const [type, call] of Object.entries(value)) element.addEventListener(type, call);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

export function svg(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export const byId = (id) => document.getElementById(id);

export function time(seconds, fractions = true) {
  if (seconds === null || seconds === undefined) return "";
  const text = new Date(seconds * 1000).toISOString().replace("T", " ").replace("Z", "");
  return fractions && seconds % 1 ? text : text.slice(0, 19);
}

export const count = (number) => (number === null || number === undefined ? "?" : number.toLocaleString("en-US"));

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  while (value >= 1024 && units.length > 1) {
    value /= 1024;
    units.shift();
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[0]}`;
}

export function say(text, isError = false) {
  const status = byId("status");
  status.textContent = text;
  status.title = text;
  status.className = isError ? "error" : "";
}
