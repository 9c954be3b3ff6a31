// moves.ts: where one is on the timeline, what the address says of it, and what the keyboard does.
import { useKeys } from "../common/keys";
import type { Go, Place } from "../common/place";
import type { Lane } from "./lanes";
import type { Mark, Range, Timeline, Track } from "./spans";

/** Of what is seen: a nanosecond. */
const LEAST_RANGE = 1;
const ZOOM = 1.6;

/** A call. */
export interface Selected {
    track: Track;
    span: number;
}

// ---- what the address says -------------------------------------------------------------------------

const numbersOf = (text: string | undefined) => (text ?? "").split("~").filter(Boolean).map(Number);
const isRange = ([from, to]: number[]) => from >= 0 && to >= from;
const textOf = ({ from, to }: Range) => `${Number(from.toFixed(3))}~${Number(to.toFixed(3))}`;

/** Inside the whole, and wide enough. */
function clamped({ from, to }: Range, whole: Range): Range {
    const width = Math.min(Math.max(to - from, LEAST_RANGE), whole.to - whole.from);
    const begin = Math.max(whole.from, Math.min(from, whole.to - width));
    return { from: begin, to: begin + width };
}

export function rangeOf(timeline: Timeline, place: Place): Range {
    const numbers = numbersOf(place.with.t);
    return isRange(numbers) ? clamped({ from: numbers[0], to: numbers[1] }, timeline.whole) : timeline.whole;
}

export function selectionOf(place: Place): Range | undefined {
    const numbers = numbersOf(place.with.range);
    return isRange(numbers) ? { from: numbers[0], to: numbers[1] } : undefined;
}

export function selectedOf(timeline: Timeline, place: Place): Selected | undefined {
    const [root, span] = numbersOf(place.with.call);
    const track = timeline.tracks.find((t) => t.root === root);
    return track && span < track.n ? { track, span } : undefined;
}

export const closedOf = (place: Place) => new Set(numbersOf(place.with.closed));

// ---- moving ----------------------------------------------------------------------------------------

export interface Moves {
    show: (range: Range) => void;
    /** Larger than 1: closer, around a moment. */
    zoom: (factor: number, around: number) => void;
    /** By a part of what is seen. */
    pan: (part: number) => void;
    select: (selected: Selected | undefined) => void;
    mark: (range: Range | undefined) => void;
}

export function movesOf(timeline: Timeline, range: Range, go: Go): Moves {
    const { whole } = timeline;
    const show = (to: Range) => {
        const next = clamped(to, whole);
        const isWhole = next.from === whole.from && next.to === whole.to;
        go({ with: { t: isWhole ? "" : textOf(next) } });
    };
    return {
        show,
        zoom: (factor, around) => {
            const width = Math.max(LEAST_RANGE, (range.to - range.from) / factor);
            const part = (around - range.from) / (range.to - range.from);
            show({ from: around - part * width, to: around + (1 - part) * width });
        },
        pan: (part) => {
            const by = (range.to - range.from) * part;
            show({ from: range.from + by, to: range.to + by });
        },
        select: (selected) => go({ with: { call: selected ? `${selected.track.root}~${selected.span}` : "", range: "" } }),
        mark: (to) => go({ with: { range: to ? textOf(to) : "", call: "" } }),
    };
}

/** A call with a little of what is beside it. */
export function closeTo({ track, span }: Selected): Range {
    const [from, to] = [track.begin[span], track.end[span]];
    const margin = Math.max((to - from) * 0.05, LEAST_RANGE / 2);
    return { from: from - margin, to: to + margin };
}

/** As much as is needed to see the call. */
function seen(range: Range, { track, span }: Selected): Range | undefined {
    const [from, to] = [track.begin[span], track.end[span]];
    if (to >= range.from && from <= range.to) return undefined;
    const middle = (from + Math.min(to, from + range.to - range.from)) / 2;
    const half = (range.to - range.from) / 2;
    return { from: middle - half, to: middle + half };
}

export interface KeyProps {
    timeline: Timeline;
    lanes: Lane[];
    range: Range;
    selected: Selected | undefined;
    hasSelection: boolean;
    matching: Set<number> | undefined;
    moves: Moves;
    mark: Mark | undefined;
    setMark: (mark: Mark) => void;
    onOpen: (method: number) => void;
}

/** The next call that a search found, on whatever thread. */
function nextFound({ lanes, range, selected, matching }: KeyProps, step: 1 | -1): Selected | undefined {
    if (!matching) return undefined;
    const tracks = lanes.map((lane) => lane.track);
    const first = Math.max(0, tracks.findIndex((track) => track === selected?.track));
    for (let i = 0; i <= tracks.length; i++) {
        const track = tracks[(first + step * i + tracks.length * 2) % tracks.length];
        const start = i > 0 ? (step > 0 ? 0 : track.n - 1) : selected ? selected.span + step : track.begin.findIndex((at) => at >= range.from);
        const span = track.find(matching, start, step);
        if (span !== undefined) return { track, span };
    }
    return undefined;
}

export function useTimelineKeys(props: KeyProps) {
    const { timeline, lanes, range, selected, moves, mark } = props;
    const middle = (range.from + range.to) / 2;
    const center = selected ? Math.max(range.from, Math.min(range.to, selected.track.begin[selected.span])) : middle;
    const first = (): Selected | undefined => {
        const lane = lanes.find(({ track }) => track.n > 0);
        return lane && { track: lane.track, span: 0 };
    };
    const select = (next: Selected | undefined) => {
        if (!next) return;
        moves.select(next);
        const to = seen(range, next);
        if (to) moves.show(to);
    };
    const step = (of: (from: Selected) => number | undefined) => () => {
        const span = selected && of(selected);
        if (!selected) select(first());
        else if (span !== undefined) select({ track: selected.track, span });
    };
    const goToMark = (by: 1 | -1) => () => {
        const { marks } = timeline;
        if (!marks.length) return false;
        const at = mark ? marks.indexOf(mark) + by : by > 0 ? marks.findIndex((m) => m.at >= range.from) : marks.length - 1;
        const next = marks[(at + marks.length) % marks.length];
        props.setMark(next);
        const half = (range.to - range.from) / 2;
        if (next.at < range.from || next.at > range.to) moves.show({ from: next.at - half, to: next.at + half });
        return true;
    };
    const neighbour = (by: number) => step(({ track, span }) => track.neighbour(span, by));
    const caller = step(({ track, span }) => track.caller(span));
    const callee = step(({ track, span }) => track.callee(span));
    useKeys({
        ArrowLeft: neighbour(-1),
        ArrowRight: neighbour(1),
        ArrowUp: caller,
        ArrowDown: callee,
        "+": () => moves.zoom(ZOOM, center),
        "=": () => moves.zoom(ZOOM, center),
        "-": () => moves.zoom(1 / ZOOM, center),
        ",": () => moves.pan(-0.3),
        ".": () => moves.pan(0.3),
        Home: () => moves.show(timeline.whole),
        Enter: () => (selected ? moves.show(closeTo(selected)) : false),
        n: () => select(nextFound(props, 1)),
        p: () => select(nextFound(props, -1)),
        m: goToMark(1),
        M: goToMark(-1),
        o: () => (selected ? props.onOpen(selected.track.method[selected.span]) : false),
        Escape: () => (props.hasSelection ? moves.select(undefined) : false),
    });
}
