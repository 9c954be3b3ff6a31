// units.ts: times as the command line shows them.
import { count, percentage } from "../common/format";
import type { Run } from "./data";

const scales: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
];

/** The power of ten of an interval's second digit; 1 of an exact figure. */
function stepOf(half: number): number {
    let step = 1;
    while (half / step >= 100) step *= 10;
    return step;
}

/**
 * 1234567 ns as "1.235 ms"; counts as they are. Of an estimate, without the digits that its interval
 * leaves open: those below the second digit of half.
 */
export function time(run: Pick<Run, "unit">, value: number, half = 0): string {
    const step = stepOf(half);
    const known = Math.round(value / step) * step;
    if (run.unit !== "ns") return count(Math.round(known));
    for (const [size, unit] of scales)
        if (known >= size) {
            const decimals = [3, 2, 1, 0].find((n) => size / 10 ** n >= step) ?? 0;
            return `${(known / size).toFixed(decimals)} ${unit}`;
        }
    return `${count(Math.round(known))} ns`;
}

/** The same with its unit, if it is no time: "1,234 bytes". */
export function amount(run: Run, value: number): string {
    return run.unit === "ns" ? time(run, value) : `${time(run, value)} ${run.unit}`;
}

/** An estimate with its interval: "83 ms ± 12 ms". */
export function around(run: Run, value: number, half: number): string {
    return half ? `${time(run, value, half)} \u00b1 ${time(run, half, half)}` : time(run, value);
}

/** What is certain of an estimate: the lower end of its interval; of those that have the same, the larger one. */
export function certain(value: number, half = 0): number {
    return half ? Math.max(0, value - half) + value * 1e-9 : value;
}

/** Part of all that was recorded. */
export function share(run: Run, value: number, half = 0): string {
    const percent = percentage(value, run.total);
    return Number.isNaN(percent) ? "\u2013" : `${percent.toFixed(percentage(half, run.total) < 10 ? 1 : 0)} %`;
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
