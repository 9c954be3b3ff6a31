// units.ts: times as the command line shows them.
import { count, percentage } from "../common/format";
import type { Run } from "./data";

const scales: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
];

/** 1234567 ns as "1.235 ms"; counts as they are. */
export function time(run: Run, value: number): string {
    if (run.unit !== "ns") return count(Math.round(value));
    for (const [size, unit] of scales)
        if (value >= size) return `${(value / size).toFixed(3)} ${unit}`;
    return `${count(Math.round(value))} ns`;
}

/** Part of all that was recorded. */
export function share(run: Run, value: number): string {
    const percent = percentage(value, run.total);
    return Number.isNaN(percent) ? "\u2013" : `${percent.toFixed(1)} %`;
}

/** "+9.000 ms", "\u22123 calls"; nothing of what is alike. */
export function signed(change: number, text: (size: number) => string): string {
    return change === 0 ? "0" : `${change < 0 ? "\u2212" : "+"}${text(Math.abs(change))}`;
}

/** "20.0 %" of base; from ten times on without decimals. */
export function growth(size: number, base: number): string {
    const percent = percentage(size, base);
    return `${percent < 1000 ? percent.toFixed(1) : count(Math.round(percent))} %`;
}

/** New against base: "+9.000 ms (+20.0 %)". */
export function changeOf(run: Run, base: number, now: number): string {
    const change = now - base;
    if (change === 0) return "as before";
    const text = signed(change, (size) => time(run, size));
    if (!base) return `${text} (new)`;
    if (!now) return `${text} (gone)`;
    return `${text} (${signed(change, (size) => growth(size, base))})`;
}
