// What is shown, as the part of the address after #, so that every view can be shared.
const listeners = [];
let current = read();

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

export const shown = () => current;

export function show(changes, { replace = false } = {}) {
  const next = { ...current, ...changes };
  for (const name of Object.keys(next)) if (next[name] === null || next[name] === undefined || next[name] === "") delete next[name];
  for (const name of Object.keys(next)) next[name] = String(next[name]);
  const before = current;
  current = next;
  const hash = `#${new URLSearchParams(next)}`;
  if (hash !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", hash);
  for (const listener of listeners) listener(current, before);
}

export function onShown(listener) {
  listeners.push(listener);
}

function changed() {
  const before = current;
  current = read();
  for (const listener of listeners) listener(current, before);
}
addEventListener("popstate", changed);
addEventListener("hashchange", () => {
  if (location.hash !== `#${new URLSearchParams(current)}`) changed();
});
