// place.ts: what the address says about the profile page.
import type { Place } from "../common/place";
import type { Coloring } from "./color";
import type { Index } from "./data";
import { type Measure, measuresOf } from "./measure";

/** What is left out of all views. */
export interface Filter {
    /** Root of the chosen thread; 0: all. */
    thread: number;
    /** Method; 0: none. */
    focus: number;
    hidden: number[];
    /** Calls inside another call of the same function are at the outer one. */
    joinsRecursion: boolean;
    /** Frames are as wide as in the run that is compared with. */
    isBase: boolean;
}

const numbers = (text: string | undefined) => (text ?? "").split(".").filter(Boolean).map(Number);

export function filterOf(index: Index, place: Place): Filter {
    const isMethod = (n: number) => n > 0 && !!index.methods[n];
    const thread = Number(place.with.thread);
    const focus = Number(place.with.focus);
    return {
        thread: index.threads.some((t) => t.root === thread) ? thread : 0,
        focus: isMethod(focus) ? focus : 0,
        hidden: numbers(place.with.hide).filter(isMethod),
        joinsRecursion: place.with.recursion === "collapsed",
        isBase: !!index.base && place.with.side === "base",
    };
}

export function coloringOf(index: Index, place: Place): Coloring {
    const { color } = place.with;
    if (color === "module" || color === "time") return color;
    return index.base ? "change" : "module";
}

/** What the views of call paths are about. Runs that wait are compared by run time, as qprof diff does. */
export function measureOf(index: Index, place: Place): Measure {
    const offered = measuresOf(index);
    const first = index.base && offered.includes("run") ? "run" : "time";
    return offered.find((measure) => measure === place.with.measure) ?? first;
}

/** What does not go along to another view. */
export const fresh = { at: "", sort: "", open: "", line: "" };

/** The same paths are elsewhere once functions are left out. */
export const refolded = (filter: { focus?: number; hidden?: number[]; joinsRecursion?: boolean }) => ({
    ...(filter.focus === undefined ? {} : { focus: filter.focus ? String(filter.focus) : "" }),
    ...(filter.hidden === undefined ? {} : { hide: filter.hidden.join(".") }),
    ...(filter.joinsRecursion === undefined ? {} : { recursion: filter.joinsRecursion ? "collapsed" : "" }),
    at: "",
    open: "",
});
