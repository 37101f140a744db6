// Addresses: links are ordinary links, and pages change without loading the program again.

import { useEffect, useState } from "preact/hooks";

const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());

export function go(to: string, replace = false): void {
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  changed();
  if (!replace) scrollTo(0, 0);
}

/** Takes over clicks on links within the pages. */
export function listen(): void {
  addEventListener("popstate", changed);
  document.addEventListener("click", (click) => {
    const link = (click.target as Element | null)?.closest?.("a");
    if (!link || click.defaultPrevented || click.button !== 0) return;
    if (click.metaKey || click.ctrlKey || click.shiftKey || click.altKey) return;
    if (link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.hash !== "" || /^\/(api|metrics)/.test(link.pathname)) return;
    click.preventDefault();
    go(link.pathname + link.search);
  });
}

export function useAddress(): { path: string; query: URLSearchParams } {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** Changes one part of the query and keeps the rest. */
export function setQuery(name: string, value: string): void {
  const query = new URLSearchParams(location.search);
  if (value === "") query.delete(name);
  else query.set(name, value);
  const text = query.toString();
  go(location.pathname + (text === "" ? "" : `?${text}`), true);
}

export const toMachine = (name: string) => `/machines/${encodeURIComponent(name)}`;
export const toEvent = (id: string) => `/events/${encodeURIComponent(id)}`;
