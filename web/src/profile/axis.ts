// axis.ts: the part of the timeline above the threads: the whole run in a strip, the scale, marks, counters.
import { visibleText } from "../common/visible";
import type { Look } from "./canvas";
import type { Counter, Mark, Range, Timeline } from "./spans";
import { firstAfter } from "./spans";

export const STRIP = 26;
const SCALE = 22;
const MARKS = 27;
const COUNTER = 34;
const LABEL_GAP = 100;

const units: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
    [1, "ns"],
];

/** The distance of labels: 1, 2 or 5 times a power of ten, and one unit at least. */
function stepOf({ from, to }: Range, width: number): number {
    const least = ((to - from) / width) * LABEL_GAP;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least)!;
    return Math.max(1, step);
}

/** A moment, as exactly as steps of this size tell it: "1.234567 s". */
export function moment(at: number, step: number, isTime: boolean): string {
    if (!isTime) return Math.round(at).toLocaleString("en-US");
    const [size, unit] = units.find(([n]) => Math.max(at, step) >= n) ?? units[3];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
    return `${(at / size).toFixed(Math.min(9, digits))} ${unit}`;
}

/** How busy each thread was, together, in as many parts of the run. */
export function activityOf(timeline: Timeline, parts: number): Float64Array {
    const busy = new Float64Array(parts);
    const { from: begin, to: end } = timeline.whole;
    const size = (end - begin) / parts;
    for (const { rows } of timeline.tracks) {
        const [outermost] = rows;
        for (let i = 0; outermost && i < outermost.span.length; i++) {
            const [from, to] = [Math.max(0, outermost.begin[i] - begin), outermost.end[i] - begin];
            const last = Math.min(parts - 1, Math.floor(to / size));
            for (let part = Math.floor(from / size); part <= last; part++)
                busy[part] += Math.max(0, Math.min(to, (part + 1) * size) - Math.max(from, part * size)) / size;
        }
    }
    return busy;
}

export interface Head {
    timeline: Timeline;
    activity: Float64Array;
    range: Range;
    selection: Range | undefined;
    width: number;
    isTime: boolean;
    /** The mark that was gone to last. */
    mark: Mark | undefined;
}

export const headHeight = (timeline: Timeline) =>
    STRIP + SCALE + (timeline.marks.length ? MARKS : 0) + timeline.counters.length * COUNTER;

function drawStrip(context: CanvasRenderingContext2D, { timeline, activity, range, width }: Head, look: Look) {
    const most = activity.reduce((all, n) => Math.max(all, n), 0) || 1;
    context.fillStyle = look.soft;
    context.fillRect(0, 0, width, STRIP);
    context.fillStyle = look.hit;
    activity.forEach((n, i) => {
        const height = Math.round((n / most) * (STRIP - 4));
        context.fillRect((i / activity.length) * width, STRIP - height, width / activity.length + 0.5, height);
    });
    const { whole } = timeline;
    const x = (at: number) => ((at - whole.from) / (whole.to - whole.from)) * width;
    context.fillStyle = look.shade;
    context.fillRect(0, 0, x(range.from), STRIP);
    context.fillRect(x(range.to), 0, width - x(range.to), STRIP);
    context.strokeStyle = look.accent;
    context.lineWidth = 2;
    context.strokeRect(x(range.from) + 1, 1, Math.max(1, x(range.to) - x(range.from) - 2), STRIP - 2);
}

function drawScale(context: CanvasRenderingContext2D, { range, width, isTime }: Head, look: Look) {
    const step = stepOf(range, width);
    const perUnit = width / (range.to - range.from);
    context.fillStyle = look.dim;
    for (let at = Math.ceil(range.from / step) * step; at <= range.to; at += step) {
        const x = (at - range.from) * perUnit;
        context.fillRect(Math.round(x), STRIP + SCALE - 6, 1, 6);
        context.fillText(moment(at, step, isTime), x + 4, STRIP + SCALE / 2);
    }
}

function drawMarks(context: CanvasRenderingContext2D, head: Head, look: Look, top: number) {
    const { timeline, range, width, mark } = head;
    const perUnit = width / (range.to - range.from);
    let free = -Infinity; // labels do not overlap
    for (const one of timeline.marks) {
        if (one.at < range.from || one.at > range.to) continue;
        const x = (one.at - range.from) * perUnit;
        context.fillStyle = one === mark ? look.more : look.accent;
        context.beginPath();
        context.moveTo(x - 4, top + 2);
        context.lineTo(x + 4, top + 2);
        context.lineTo(x, top + 10);
        context.fill();
        if (x < free) continue;
        const name = visibleText(one.name.slice(0, 60));
        context.fillStyle = look.text;
        context.fillText(name, x - 4, top + 18); // below them all
        free = x + 6 + context.measureText(name).width;
    }
}

export function valueAt(counter: Counter, at: number): number | undefined {
    const i = firstAfter(counter.at, at) - 1;
    return i < 0 ? undefined : counter.values[i];
}

/** Steps; where several values are in one pixel, the largest of them. */
function drawCounter(context: CanvasRenderingContext2D, counter: Counter, head: Head, look: Look, top: number) {
    const { range, width } = head;
    const perPixel = (range.to - range.from) / width;
    const high = COUNTER - 6;
    const span = counter.most - counter.least || 1;
    const zero = top + COUNTER - 2 + (counter.least / span) * high;
    const number = (n: number) => n.toLocaleString("en-US");
    const reach = counter.least < 0 ? `${number(counter.least)} to ${number(counter.most)}` : `up to ${number(counter.most)}`;
    context.fillStyle = look.warm;
    let i = Math.max(0, firstAfter(counter.at, range.from) - 1);
    for (let x = 0; x < width; x++) {
        const to = range.from + (x + 1) * perPixel;
        let far = counter.at[i] < to ? counter.values[i] : 0;
        while (i + 1 < counter.at.length && counter.at[i + 1] < to) {
            const value = counter.values[++i];
            if (Math.abs(value) > Math.abs(far)) far = value;
        }
        const height = (far / span) * high;
        context.fillRect(x, zero - Math.max(0, height), 1, Math.abs(height));
    }
    const label = `${visibleText(counter.name.slice(0, 60))}: ${reach}`;
    context.fillStyle = look.card;
    context.fillRect(2, top + 1, context.measureText(label).width + 4, 15);
    context.fillStyle = look.text;
    context.fillText(label, 4, top + 9);
}

export function drawHead(context: CanvasRenderingContext2D, head: Head, look: Look) {
    const { timeline, selection, range, width } = head;
    context.textBaseline = "middle";
    context.font = "11.5px system-ui, sans-serif";
    context.clearRect(0, 0, width, headHeight(timeline));
    drawStrip(context, head, look);
    drawScale(context, head, look);
    let top = STRIP + SCALE;
    if (timeline.marks.length) {
        drawMarks(context, head, look, top);
        top += MARKS;
    }
    for (const counter of timeline.counters) {
        drawCounter(context, counter, head, look, top);
        top += COUNTER;
    }
    if (!selection) return;
    const x = (at: number) => ((at - range.from) / (range.to - range.from)) * width;
    context.fillStyle = look.veil;
    context.fillRect(x(selection.from), STRIP, Math.max(1, x(selection.to) - x(selection.from)), top - STRIP);
}
