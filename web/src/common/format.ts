// format.ts: numbers as people read them, the same way as the command line shows them.

/** 1234567 as "1,234,567". */
export function count(n: number): string {
    return n.toLocaleString("en-US");
}

/** Part of whole, 0 to 100; NaN of nothing. */
export function percentage(part: number, whole: number): number {
    return whole > 0 ? (100 * part) / whole : NaN;
}

/** "87.3 %", rounded down: what is not all is never shown as 100. */
export function percent(part: number, whole: number): string {
    if (!(whole > 0)) return "\u2013";
    return `${(Math.floor((1000 * part) / whole) / 10).toFixed(1)} %`;
}

/** "1 line", "12 lines". */
export function things(n: number, thing: string, several = `${thing}s`): string {
    return `${count(n)} ${n === 1 ? thing : several}`;
}
