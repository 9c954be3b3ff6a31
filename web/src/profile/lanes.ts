// lanes.ts: the threads of the timeline, one below the other: where each is, and how its calls are drawn.
// What would be less than a pixel is drawn as one with its neighbours, so that half a million calls cost
// as much as a few thousand.
import { visibleText } from "../common/visible";
import { type Look, type Size, fitted } from "./canvas";
import type { Index } from "./data";
import { type Range, type Row, type Track, firstAfter } from "./spans";

export const ROW = 18;
const NAME = 22;
const GAP = 6;
const LEAST_WIDTH = 1;
const NAMED_WIDTH = 24;

/** A thread on the page. */
export interface Lane {
    track: Track;
    name: string;
    top: number;
    height: number;
    isClosed: boolean;
}

export function lanesOf(tracks: Track[], names: Map<number, string>, closed: Set<number>): Lane[] {
    let top = 0;
    return tracks.map((track) => {
        const isClosed = closed.has(track.root);
        const height = NAME + (isClosed ? 0 : track.rows.length * ROW) + GAP;
        const lane = { track, name: names.get(track.root) ?? "", top, height, isClosed };
        top += height;
        return lane;
    });
}

export const heightOf = (lanes: Lane[]) => lanes.reduce((all, lane) => all + lane.height, 0);

export const topOf = (lane: Lane, depth: number) => lane.top + NAME + depth * ROW;

/** What is at a height: a thread's name, or a depth of it. */
export function laneAt(lanes: Lane[], y: number): { lane: Lane; depth: number | undefined } | undefined {
    const lane = lanes.find((one) => y < one.top + one.height);
    if (!lane || y < 0) return undefined;
    const depth = Math.floor((y - lane.top - NAME) / ROW);
    return { lane, depth: depth >= 0 && depth < lane.track.rows.length && !lane.isClosed ? depth : undefined };
}

export interface Scene {
    index: Index;
    lanes: Lane[];
    range: Range;
    selection: Range | undefined;
    size: Size;
    /** Of what is scrolled to. */
    top: number;
    colors: string[];
    selected: { track: Track; span: number } | undefined;
    matching: Set<number> | undefined;
    look: Look;
}

/** Hatched, over the calls that were open: the thread's clock was stopped. */
function drawPauses(context: CanvasRenderingContext2D, { range, size, look }: Scene, lane: Lane) {
    const { begin, end } = lane.track.pauses;
    const perUnit = size.width / (range.to - range.from);
    const high = lane.height - NAME - GAP;
    context.strokeStyle = look.text;
    context.lineWidth = 0.4;
    for (let i = firstAfter(end, range.from); i < begin.length && begin[i] < range.to; i++) {
        const [x, to] = [Math.max(0, (begin[i] - range.from) * perUnit), Math.min(size.width, (end[i] - range.from) * perUnit)];
        if (to - x < 3) continue;
        context.save();
        context.beginPath();
        context.rect(x, lane.top + NAME, to - x, high);
        context.clip();
        context.beginPath();
        for (let at = x - high; at < to; at += 7) {
            context.moveTo(at, lane.top + NAME + high);
            context.lineTo(at + high, lane.top + NAME);
        }
        context.stroke();
        context.restore();
    }
}

/** The calls of one depth, by what can be seen: each in full, or those of a pixel as one. */
function* visibleSpans(row: Row, range: Range, perUnit: number): Generator<{ first: number; last: number; x: number; width: number }> {
    for (let i = firstAfter(row.end, range.from); i < row.span.length && row.begin[i] < range.to; ) {
        const x = (row.begin[i] - range.from) * perUnit;
        const width = (row.end[i] - row.begin[i]) * perUnit;
        let last = i;
        if (width < LEAST_WIDTH) last = Math.max(i, firstAfter(row.end, range.from + (Math.floor(x) + 1) / perUnit) - 1);
        yield { first: i, last, x, width: Math.max(width, LEAST_WIDTH) };
        i = last + 1;
    }
}

function drawRow(context: CanvasRenderingContext2D, scene: Scene, lane: Lane, depth: number, characterWidth: number) {
    const { range, size, colors, matching, selected, look, index } = scene;
    const row = lane.track.rows[depth];
    const y = topOf(lane, depth);
    const isMatch = (i: number) => matching!.has(lane.track.method[row.span[i]]);
    for (const { first, last, x, width } of visibleSpans(row, range, size.width / (range.to - range.from))) {
        const span = row.span[first];
        const [from, to] = [Math.max(0, x), Math.min(size.width, x + width)];
        let fits = !matching;
        for (let i = first; !fits && i <= last; i++) fits = isMatch(i);
        context.fillStyle = !fits ? look.soft : matching ? look.mark : colors[lane.track.method[span]];
        context.fillRect(from, y, Math.max(LEAST_WIDTH, to - from - (width > 3 ? 1 : 0)), ROW - 1);
        if (selected?.track === lane.track && selected.span === span) {
            context.strokeStyle = look.accent;
            context.lineWidth = 2;
            context.strokeRect(from + 1, y + 1, Math.max(1, to - from - 3), ROW - 3);
        }
        if (to - from < NAMED_WIDTH) continue;
        context.fillStyle = look.text;
        context.fillText(fitted(index.methods[lane.track.method[span]].name, to - from - 8, characterWidth), from + 4, y + ROW / 2);
    }
}

export function drawLanes(context: CanvasRenderingContext2D, scene: Scene) {
    const { lanes, size, top, range, selection, look } = scene;
    const characterWidth = context.measureText("m").width;
    const bottom = top + size.height;
    for (const lane of lanes) {
        if (lane.top + lane.height <= top || lane.top >= bottom) continue;
        context.fillStyle = look.dim;
        context.fillText(`${lane.isClosed ? "\u25b8" : "\u25be"} ${visibleText(lane.name.slice(0, 80))}`, 6, lane.top + NAME / 2);
        if (lane.isClosed) continue;
        const first = Math.max(0, Math.floor((top - lane.top - NAME) / ROW));
        const last = Math.min(lane.track.rows.length, Math.ceil((bottom - lane.top - NAME) / ROW));
        for (let depth = first; depth < last; depth++) drawRow(context, scene, lane, depth, characterWidth);
        drawPauses(context, scene, lane);
    }
    if (!selection) return;
    const x = (at: number) => ((at - range.from) / (range.to - range.from)) * size.width;
    context.fillStyle = look.veil;
    context.fillRect(x(selection.from), top, Math.max(1, x(selection.to) - x(selection.from)), size.height);
}
