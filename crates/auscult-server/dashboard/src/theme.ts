// Light or dark: as the device says, or as chosen here.

import { Store } from "./store";

export type Theme = "system" | "light" | "dark";
const KEY = "auscult-theme";

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

/** Counts changes; canvases are drawn again. */
export const themeChanges = new Store(0);
const changed = () => themeChanges.set(themeChanges.value + 1);

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = stored();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
export const theme = stored;
export function chooseTheme(value: Theme): void {
  localStorage.setItem(KEY, value);
  document.documentElement.dataset["theme"] = value;
  changed();
}

/** A colour of the style sheet as canvases understand it. */
export function colour(name: string): string {
  const probe = document.createElement("i");
  probe.className = `probe ${name}`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
