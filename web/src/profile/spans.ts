// spans.ts: what happened when: calls by thread and time, as src/export/page/timeline.c writes them, and
// what is asked of a part of the time. Times count from the beginning of the run.
import { inflated, Varints } from "../common/blob";
import { block } from "../common/data";
import type { Figures, Index } from "./data";

type Point = [root: number, at: number, value: number, name: string];

interface TimelineBlock {
    begin: number;
    end: number;
    lost: number;
    /** What it is of, if not the run. */
    about?: string;
    callsLeftOut: number;
    pausesLeftOut: number;
    pointsLeftOut: number;
    /** Width of a slice of time; 0: all calls are here, and figures come from them. */
    slice: number;
    ticks50: number;
    threads: [root: number, nCalls: number, nPauses: number, nRows: number][];
    marks: Point[];
    counters: Point[];
}

/** A part of the time. */
export interface Range {
    from: number;
    to: number;
}

export interface Mark {
    /** Of the thread; 0: the whole run. */
    root: number;
    at: number;
    name: string;
}

/** Each value holds up to the next. */
export interface Counter {
    root: number;
    name: string;
    at: number[];
    values: number[];
    least: number; // 0 or below
    most: number;
}

/** The first of ascending numbers that is more than a value. */
export function firstAfter(numbers: ArrayLike<number>, value: number): number {
    let [low, high] = [0, numbers.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (numbers[middle] > value) high = middle;
        else low = middle + 1;
    }
    return low;
}

/** Intervals in which the thread's clock was stopped. */
class Pauses {
    /** Paused before each of them. */
    private readonly before: Float64Array;

    constructor(readonly begin: Float64Array, readonly end: Float64Array) {
        this.before = new Float64Array(begin.length + 1);
        for (let i = 0; i < begin.length; i++) this.before[i + 1] = this.before[i] + end[i] - begin[i];
    }

    /** How much of the time before a moment was paused. */
    upTo(at: number): number {
        const next = firstAfter(this.begin, at);
        return next ? this.before[next] - Math.max(0, this.end[next - 1] - at) : 0;
    }
}

/** What functions did in slices of the time, in which also calls count that are not shown: rows by slice. */
export interface Slices {
    width: number;
    slice: Uint32Array;
    method: Uint32Array;
    began: Float64Array;
    ended: Float64Array;
    self: Float64Array;
    total: Float64Array;
}

/** The calls of one depth: they do not overlap. */
export interface Row {
    span: Uint32Array;
    begin: Float64Array;
    end: Float64Array;
}

/** The calls of one thread, callers before callees. */
export class Track {
    readonly n: number;
    readonly rows: Row[];

    constructor(
        readonly root: number,
        readonly depth: Uint32Array,
        readonly method: Uint32Array,
        readonly begin: Float64Array,
        readonly end: Float64Array,
        readonly pauses: Pauses,
        private readonly exactSelf?: Float64Array,
        readonly slices?: Slices,
    ) {
        this.n = depth.length;
        const sizes: number[] = [];
        for (const level of depth) sizes[level] = (sizes[level] ?? 0) + 1;
        this.rows = Array.from(sizes, (n = 0) => ({
            span: new Uint32Array(n), begin: new Float64Array(n), end: new Float64Array(n),
        }));
        const next = new Uint32Array(sizes.length);
        for (let i = 0; i < this.n; i++) {
            const at = next[depth[i]]++;
            const row = this.rows[depth[i]];
            row.span[at] = i;
            row.begin[at] = begin[i];
            row.end[at] = end[i];
        }
    }

    /** What the thread's clock says of an interval. */
    time({ from, to }: Range): number {
        return to - from - (this.pauses.upTo(to) - this.pauses.upTo(from));
    }

    spanTime(span: number): number {
        return this.time({ from: this.begin[span], to: this.end[span] });
    }

    /** The call at a moment and a depth; undefined: there is none. */
    at(depth: number, moment: number): number | undefined {
        const row = this.rows[depth];
        const i = row ? firstAfter(row.begin, moment) - 1 : -1;
        return i >= 0 && moment < Math.max(row.end[i], row.begin[i] + 1e-9) ? row.span[i] : undefined;
    }

    /** The call before or after one, of the same depth. */
    neighbour(span: number, step: number): number | undefined {
        const row = this.rows[this.depth[span]];
        return row.span[firstAfter(row.span, span) - 1 + step];
    }

    caller(span: number): number | undefined {
        for (let depth = this.depth[span] - 1; depth >= 0; depth--) {
            const above = this.at(depth, this.begin[span]);
            if (above !== undefined) return above;
        }
        return undefined;
    }

    /** The call that it made first. */
    callee(span: number): number | undefined {
        const next = span + 1;
        const isInside = next < this.n && this.depth[next] > this.depth[span] && this.begin[next] <= this.end[span];
        return isInside ? next : undefined;
    }

    /** Self time of one call. */
    self(span: number): number {
        if (this.exactSelf) return this.exactSelf[span];
        let [own, covered] = [this.spanTime(span), this.begin[span]];
        for (let i = span + 1; i < this.n && this.depth[i] > this.depth[span]; i++) {
            if (this.begin[i] < covered) continue;
            own -= this.spanTime(i);
            covered = this.end[i];
        }
        return own;
    }

    /** Adds what functions did in a part of the time: calls that were open in it, and time as far as it lies
     * in it, as `qprof trace stat --since --until` does. A recursive function's total is that of its
     * outermost calls. Where not all calls are shown the ends of the part are those of slices.
     * @returns how many of the calls began in it */
    addFigures(range: Range, figures: Map<number, Figures>): number {
        return this.slices ? addRows(this.slices, range, figures) : this.addCalls(range, figures);
    }

    private addCalls({ from, to }: Range, figures: Map<number, Figures>): number {
        let began = 0;
        const stack: number[] = [];
        const open = new Map<number, number>();
        for (let i = 0; i < this.n && this.begin[i] < to; i++) {
            if (this.end[i] < from) continue;
            while (stack.length && this.depth[stack[stack.length - 1]] >= this.depth[i]) {
                const left = this.method[stack.pop()!];
                open.set(left, open.get(left)! - 1);
            }
            const of = this.method[i];
            const time = this.time({ from: Math.max(from, this.begin[i]), to: Math.min(to, this.end[i]) });
            let own = figures.get(of);
            if (!own) figures.set(of, (own = { calls: 0, self: 0, total: 0 }));
            own.self += time;
            if (stack.length) figures.get(this.method[stack[stack.length - 1]])!.self -= time;
            own.calls++;
            if (this.begin[i] >= from) began++;
            const isOpen = open.get(of) ?? 0;
            if (!isOpen) own.total += time;
            open.set(of, isOpen + 1);
            stack.push(i);
        }
        return began;
    }

    /** The next call of one of these functions; the last one before, if step is -1. */
    find(methods: Set<number>, from: number, step: 1 | -1): number | undefined {
        for (let i = from; i >= 0 && i < this.n; i += step) if (methods.has(this.method[i])) return i;
        return undefined;
    }
}

function addRows(rows: Slices, { from, to }: Range, figures: Map<number, Figures>): number {
    const [first, end] = [Math.round(from / rows.width), Math.round(to / rows.width)];
    const figuresOf = (method: number) => {
        let own = figures.get(method);
        if (!own) figures.set(method, (own = { calls: 0, self: 0, total: 0 }));
        return own;
    };
    const open = new Map<number, number>();
    let [i, began] = [0, 0];
    for (; i < rows.slice.length && rows.slice[i] < first; i++)
        open.set(rows.method[i], (open.get(rows.method[i]) ?? 0) + rows.began[i] - rows.ended[i]);
    for (const [method, n] of open) if (n) figuresOf(method).calls += n;
    for (; i < rows.slice.length && rows.slice[i] < end; i++) {
        const own = figuresOf(rows.method[i]);
        own.calls += rows.began[i];
        own.self += rows.self[i];
        own.total += rows.total[i];
        began += rows.began[i];
    }
    return began;
}

export interface Timeline {
    /** Width of the slices that figures come from; 0: of all calls. */
    slice: number;
    /** Of what is known. */
    whole: Range;
    nLost: number;
    about: string;
    nCallsLeftOut: number;
    nPausesLeftOut: number;
    nPointsLeftOut: number;
    tracks: Track[];
    marks: Mark[];
    counters: Counter[];
}

function countersOf(points: Point[]): Counter[] {
    const counters: Counter[] = [];
    for (const [root, at, value, name] of points) {
        let last = counters[counters.length - 1];
        if (last?.name !== name || last.root !== root) counters.push((last = { root, name, at: [], values: [], least: 0, most: 0 }));
        last.at.push(at);
        last.values.push(value);
        last.least = Math.min(last.least, value);
        last.most = Math.max(last.most, value);
    }
    return counters;
}

type Column = <Numbers extends Uint32Array | Float64Array>(to: Numbers) => Numbers;

/** The rows of each thread. */
function slicesOf(raw: TimelineBlock, column: Column): Slices[] {
    const n = raw.threads.reduce((sum, [, , , rows]) => sum + rows, 0);
    const [slice, method] = [column(new Uint32Array(n)), column(new Uint32Array(n))];
    const [began, ended] = [column(new Float64Array(n)), column(new Float64Array(n))];
    const [self, total] = [column(new Float64Array(n)), column(new Float64Array(n))];
    const tick = raw.ticks50 / 2 ** 50;
    for (let i = 0; i < n; i++) {
        self[i] *= tick;
        total[i] *= tick;
    }
    let first = 0;
    return raw.threads.map(([, , , rows]) => {
        const end = first + rows;
        for (let i = first + 1; i < end; i++) slice[i] += slice[i - 1];
        const part = <Numbers extends Uint32Array | Float64Array>(of: Numbers) => of.subarray(first, end) as Numbers;
        const own = {
            width: raw.slice, slice: part(slice), method: part(method), began: part(began), ended: part(ended), self: part(self), total: part(total),
        };
        first = end;
        return own;
    });
}

/** The part of the time that figures are of: whole slices. */
export function wholeSlices({ slice }: Timeline, { from, to }: Range): Range {
    return slice ? { from: Math.floor(from / slice) * slice, to: Math.ceil(to / slice) * slice } : { from, to };
}

/** undefined: the run has none. */
export async function readTimeline(index: Index): Promise<Timeline | undefined> {
    const raw = index.hasTimeline && block<TimelineBlock>("timeline");
    if (!raw) return undefined;
    const numbers = new Varints(await inflated("spans"));
    const column: Column = (to) => {
        for (let i = 0; i < to.length; i++) to[i] = numbers.next();
        return to;
    };
    /** Of all threads: distances to the one before on the same thread, and durations. */
    const intervals = (sizes: number[]) => {
        const n = sizes.reduce((all, size) => all + size, 0);
        const [begin, duration] = [column(new Float64Array(n)), column(new Float64Array(n))];
        let at = 0;
        return sizes.map((size) => {
            const first = at;
            for (at = first + 1; at < first + size; at++) begin[at] += begin[at - 1];
            at = first + size;
            const own = begin.slice(first, at);
            return { begin: own, end: own.map((from, i) => from + duration[first + i]) };
        });
    };
    const nCalls = raw.threads.map(([, n]) => n);
    const all = nCalls.reduce((sum, n) => sum + n, 0);
    const [depth, method] = [column(new Uint32Array(all)), column(new Uint32Array(all))];
    const calls = intervals(nCalls);
    const pauses = intervals(raw.threads.map(([, , n]) => n));
    const selves = raw.slice ? column(new Float64Array(all)) : undefined;
    const rows = raw.slice ? slicesOf(raw, column) : [];
    let first = 0;
    const tracks = raw.threads.map(([root, n], i) => {
        const part = (of: Uint32Array) => of.subarray(first, first + n);
        const { begin, end } = calls[i];
        const track = new Track(root, part(depth), part(method), begin, end, new Pauses(pauses[i].begin, pauses[i].end), selves?.subarray(first, first + n), rows[i]);
        first += n;
        return track;
    });
    return {
        slice: raw.slice,
        whole: { from: raw.begin, to: Math.max(raw.end, raw.begin + 1) },
        nLost: raw.lost,
        about: raw.about ?? "",
        nCallsLeftOut: raw.callsLeftOut,
        nPausesLeftOut: raw.pausesLeftOut,
        nPointsLeftOut: raw.pointsLeftOut,
        tracks,
        marks: raw.marks.map(([root, at, , name]) => ({ root, at, name })),
        counters: countersOf(raw.counters),
    };
}
