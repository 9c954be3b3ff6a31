// color.ts: what the colours of a flame graph say. Hues differ for every kind of colour vision, and
// nothing is shown by colour alone: what is pointed at is described in words.
import type { Index } from "./data";
import { type Paths, sidesOf } from "./tree";
import type { Theme } from "../common/theme";

export type Coloring = "module" | "time" | "change";

/** Sky, orange, green, yellow, violet, rose, sand, slate: apart in lightness as well. */
const hues: Record<Theme, string[]> = {
    light: ["#9ccbf2", "#f6bd7c", "#93d6bf", "#f2e28a", "#c9b6f0", "#f3b4c9", "#dccfb4", "#b9c4d2"],
    dark: ["#1f4f7d", "#7d4a0c", "#12604a", "#635812", "#50408a", "#7b3350", "#5a4d33", "#43505f"],
};

/** Of functions: one for all of a file, or one for each. */
export const fileColors = (index: Index, theme: Theme) => index.methods.map((m) => hueOf(m.file || m.module, theme));
export const functionColors = (index: Index, theme: Theme) => index.methods.map((m) => hueOf(m.name, theme));

function hueOf(text: string, theme: Theme): string {
    let hash = 0;
    for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
    return hues[theme][hash % hues[theme].length];
}

const mixed = (from: number[], to: number[], part: number) =>
    `rgb(${from.map((n, i) => Math.round(n + (to[i] - n) * part)).join(" ")})`;

/** From nothing to most; and from less over alike to more. */
const heat: Record<Theme, number[][]> = {
    light: [[240, 242, 246], [240, 130, 40]],
    dark: [[38, 46, 58], [178, 84, 10]],
};
const changes: Record<Theme, number[][]> = {
    light: [[92, 158, 232], [232, 235, 240], [240, 130, 40]],
    dark: [[36, 92, 166], [42, 50, 62], [178, 84, 10]],
};

export function heatColor(part: number, theme: Theme): string {
    const [none, most] = heat[theme];
    return mixed(none, most, Math.sqrt(Math.max(0, Math.min(1, part))));
}

/** @param part  -1 to 1 */
export function changeColor(part: number, theme: Theme): string {
    const [less, alike, more] = changes[theme];
    const size = Math.sqrt(Math.min(1, Math.abs(part)));
    return mixed(alike, part < 0 ? less : more, size);
}

function change(paths: Paths, node: number): number {
    const [before, after] = sidesOf(paths, "self", node);
    return after - before;
}

/** The largest self time, or change of it, of a path: the value of the strongest colour. */
function most(paths: Paths, coloring: Coloring): number {
    let size = 0;
    for (let node = 1; node < paths.self.length; node++) {
        const value = coloring === "change" ? Math.abs(change(paths, node)) : paths.self[node];
        if (value > size) size = value;
    }
    return size || 1;
}

/** Colours frames. */
export function painter(index: Index, paths: Paths, coloring: Coloring, theme: Theme): (node: number) => string {
    if (coloring === "module") {
        const colors = fileColors(index, theme);
        return (node) => colors[paths.method[node]];
    }
    const all = most(paths, coloring);
    if (coloring === "time") return (node) => heatColor(paths.self[node] / all, theme);
    return (node) => changeColor(change(paths, node) / all, theme);
}
