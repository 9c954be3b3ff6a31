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
    if (run.unit !== "ns") return count(value);
    for (const [size, unit] of scales)
        if (value >= size) return `${(value / size).toFixed(3)} ${unit}`;
    return `${count(Math.round(value))} ns`;
}

/** Part of all that was recorded. */
export function share(run: Run, value: number): string {
    const percent = percentage(value, run.total);
    return Number.isNaN(percent) ? "\u2013" : `${percent.toFixed(1)} %`;
}
