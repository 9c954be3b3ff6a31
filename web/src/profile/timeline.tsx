// timeline.tsx: what happened when, thread by thread: from the whole run down to a nanosecond.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useIsLoaded } from "../common/data";
import { count, things } from "../common/format";
import { useIsPrinting } from "../common/rows";
import type { Theme } from "../common/theme";
import { visible } from "../common/visible";
import { STRIP, activityOf, drawHead, headHeight, moment } from "./axis";
import { contextOf, lookOf, useSize } from "./canvas";
import { functionColors } from "./color";
import type { Index } from "./data";
import { type Lane, ROW, drawLanes, heightOf, laneAt, lanesOf, topOf } from "./lanes";
import type { ViewProps } from "./lists";
import { type Moves, type Selected, closeTo, closedOf, movesOf, rangeOf, selectedOf, selectionOf, useTimelineKeys } from "./moves";
import { AboutCall, Selection } from "./selection";
import { type Mark, type Range, type Timeline, readTimeline, wholeSlices } from "./spans";
import { fresh } from "./place";

const STRIP_PARTS = 400;
/** Of a drag; less is a click. */
const DRAG_PIXELS = 4;
const WHEEL_ZOOM = 1.0018;
const MOST_PRINTED = 16000;

let unpacked: Promise<Timeline | undefined> | undefined;

/** Unpacked once, when it is first drawn. */
function useTimeline(index: Index): Timeline | undefined {
    const [timeline, setTimeline] = useState<Timeline>();
    const isLoaded = useIsLoaded();
    useEffect(() => {
        if (isLoaded) (unpacked ??= readTimeline(index)).then(setTimeline);
    }, [isLoaded]);
    return timeline;
}

/** What the page cannot show, in a sentence. */
function leftOut(timeline: Timeline): string {
    const parts = [];
    if (timeline.nLost) parts.push(`${things(timeline.nLost, "record")} ${timeline.about ? "of it" : "of the trace"} are missing`);
    if (timeline.nCallsLeftOut) parts.push(`the ${count(timeline.nCallsLeftOut)} shortest calls are left out${timeline.slice ? " of the picture; the table counts them" : ""}`);
    if (timeline.nPausesLeftOut) parts.push(`the ${count(timeline.nPausesLeftOut)} shortest pauses are left out${timeline.slice ? " of the picture" : ""}`);
    if (timeline.nPointsLeftOut) parts.push(`${things(timeline.nPointsLeftOut, "marker or value", "markers or values")} are left out`);
    const description = parts.join("; ");
    return description && `${description[0].toUpperCase()}${description.slice(1)}.`;
}

const momentAt = ({ from, to }: Range, part: number) => from + part * (to - from);

// ---- the mouse -------------------------------------------------------------------------------------

interface Pointer {
    range: Range;
    width: number;
    moves: Moves;
}

/** Ctrl and wheel: closer or farther; shift and wheel, or sideways: along. The wheel alone scrolls. */
function useWheel(box: { current: HTMLElement | null }, pointer: Pointer) {
    const current = useRef(pointer);
    current.current = pointer;
    useEffect(() => {
        const turn = (event: WheelEvent) => {
            const { range, width, moves } = current.current;
            const along = event.shiftKey ? event.deltaY : event.deltaX;
            if (event.ctrlKey || event.metaKey) {
                const x = event.clientX - box.current!.getBoundingClientRect().left;
                moves.zoom(WHEEL_ZOOM ** -event.deltaY, momentAt(range, x / width));
            } else if (along) moves.pan(along / width);
            else return;
            event.preventDefault();
        };
        box.current!.addEventListener("wheel", turn, { passive: false });
        return () => box.current?.removeEventListener("wheel", turn);
    }, []);
}

/** A drag gives the part of the width that it went over, a click where it was. */
function useDrag(onDrag: (from: number, to: number, isDone: boolean) => void, onClick: (event: PointerEvent) => void) {
    const start = useRef<number>();
    const isDrag = useRef(false);
    const part = (event: PointerEvent) => {
        const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
        return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    };
    const ends = (event: PointerEvent) => [start.current!, part(event)].sort((a, b) => a - b);
    return {
        onPointerDown: (event: PointerEvent) => {
            if (event.button !== 0) return;
            start.current = part(event);
            isDrag.current = false;
            (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        },
        onPointerMove: (event: PointerEvent) => {
            if (start.current === undefined) return;
            const wide = Math.abs(part(event) - start.current) * (event.currentTarget as HTMLElement).clientWidth;
            isDrag.current ||= wide >= DRAG_PIXELS;
            const [from, to] = ends(event);
            if (isDrag.current) onDrag(from, to, false);
        },
        onPointerUp: (event: PointerEvent) => {
            if (start.current === undefined) return;
            const [from, to] = ends(event);
            start.current = undefined;
            if (isDrag.current) onDrag(from, to, true);
            else onClick(event);
        },
    };
}

// ---- pictures --------------------------------------------------------------------------------------

interface PictureProps extends ViewProps {
    timeline: Timeline;
    range: Range;
    selection: Range | undefined;
    moves: Moves;
    theme: Theme;
}

type HeadProps = PictureProps & { mark: Mark | undefined; setMark: (mark: Mark) => void };

function HeadPicture({ index, timeline, range, selection, moves, mark, setMark, theme }: HeadProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const box = useRef<HTMLDivElement>(null);
    const { width } = useSize(box);
    const height = headHeight(timeline);
    const activity = useMemo(() => activityOf(timeline, STRIP_PARTS), [timeline]);
    useLayoutEffect(() => {
        if (!canvas.current || !width) return;
        const context = contextOf(canvas.current, { width, height });
        drawHead(context, { timeline, activity, range, selection, width, isTime: index.run.unit === "ns", mark }, lookOf());
    });
    const isStrip = useRef(false);
    const inRange = (part: number) => momentAt(range, part);
    const drag = useDrag(
        (from, to, isDone) => {
            if (!isStrip.current) moves.mark({ from: inRange(from), to: inRange(to) });
            else if (isDone) moves.show({ from: momentAt(timeline.whole, from), to: momentAt(timeline.whole, to) });
        },
        (event) => {
            const part = event.offsetX / width;
            if (isStrip.current) {
                const half = (range.to - range.from) / 2;
                const middle = momentAt(timeline.whole, part);
                moves.show({ from: middle - half, to: middle + half });
                return;
            }
            const perPixel = (range.to - range.from) / width;
            const near = timeline.marks.filter((one) => Math.abs(one.at - inRange(part)) < 8 * perPixel);
            if (near.length) setMark(near[0]);
        },
    );
    useWheel(box, { range, width, moves });
    return (
        <div class="timeline-head" ref={box}>
            <canvas
                ref={canvas}
                data-theme={theme}
                style={{ width: `${width}px`, height: `${height}px` }}
                {...drag}
                onPointerDown={(event) => {
                    isStrip.current = event.offsetY < STRIP;
                    drag.onPointerDown(event);
                }}
            />
        </div>
    );
}

interface LaneProps extends PictureProps {
    lanes: Lane[];
    selected: Selected | undefined;
    toggle: (lane: Lane) => void;
}

function LanePicture(props: LaneProps) {
    const { index, lanes, range, selection, selected, matching, moves, theme, toggle } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [top, setTop] = useState(0);
    const isPrinting = useIsPrinting();
    const colors = useMemo(() => functionColors(index, theme), [index, theme]);
    const all = heightOf(lanes);
    const height = isPrinting ? Math.min(all, MOST_PRINTED) : Math.min(size.height, all);
    const from = isPrinting ? 0 : Math.max(0, Math.min(top, all - height));
    const { width } = size;
    useLayoutEffect(() => {
        if (!canvas.current || !width) return;
        const context = contextOf(canvas.current, { width, height }, from);
        drawLanes(context, { index, lanes, range, selection, size: { width, height }, top: from, colors, selected, matching, look: lookOf() });
    });
    useEffect(() => {
        const lane = selected && lanes.find(({ track }) => track === selected.track);
        if (!lane || !box.current) return;
        const { scrollTop, clientHeight } = box.current;
        const y = topOf(lane, selected.track.depth[selected.span]);
        if (y < scrollTop || y + ROW > scrollTop + clientHeight) box.current.scrollTop = y - clientHeight / 2;
    }, [selected?.track, selected?.span]);
    useWheel(box, { range, width, moves });
    const inRange = (part: number) => momentAt(range, part);
    const callAt = (event: MouseEvent): Selected | undefined => {
        const at = canvas.current!.getBoundingClientRect();
        const found = laneAt(lanes, event.clientY - at.top + from);
        if (found?.depth === undefined) return undefined;
        const { track } = found.lane;
        const [left, right] = [inRange((event.clientX - at.left) / width), inRange((event.clientX - at.left + 1) / width)];
        const span = track.at(found.depth, left) ?? track.at(found.depth, right);
        return span === undefined ? undefined : { track, span };
    };
    const drag = useDrag(
        (left, right) => moves.mark({ from: inRange(left), to: inRange(right) }),
        (event) => {
            const found = laneAt(lanes, event.offsetY + from);
            const call = callAt(event);
            if (found && event.offsetY + from < topOf(found.lane, 0)) toggle(found.lane);
            else moves.select(call);
        },
    );
    return (
        <div class="flame-box timeline-box" ref={box} tabIndex={0} role="application" aria-label="Timeline" onScroll={() => setTop(box.current!.scrollTop)}>
            <div style={{ height: `${all}px` }}>
                <canvas
                    ref={canvas}
                    style={{ width: `${width}px`, height: `${height}px` }}
                    {...drag}
                    onDblClick={(event) => {
                        const call = callAt(event);
                        if (call) moves.show(closeTo(call));
                    }}
                />
            </div>
        </div>
    );
}

// ---- the view --------------------------------------------------------------------------------------

function Loaded({ timeline, ...props }: ViewProps & { timeline: Timeline; theme: Theme }) {
    const { index, place, go, root, matching } = props;
    const [mark, setMark] = useState<Mark>();
    const names = useMemo(() => new Map(index.threads.map((thread) => [thread.root, thread.name])), [index]);
    const closed = closedOf(place);
    const lanes = useMemo(
        () => lanesOf(timeline.tracks.filter((track) => !root || track.root === root), names, closed),
        [timeline, root, place.with.closed],
    );
    const tracks = useMemo(() => lanes.map((lane) => lane.track), [lanes]);
    const range = rangeOf(timeline, place);
    const moves = movesOf(timeline, range, go);
    const selected = selectedOf(timeline, place);
    const marked = selectionOf(place);
    const call = selected && { from: selected.track.begin[selected.span], to: selected.track.end[selected.span] };
    const onOpen = (method: number) => go({ view: "function", what: String(method), with: { ...fresh, t: "", call: "", range: "" } });
    useTimelineKeys({ timeline, lanes, range, selected, hasSelection: !!(selected || marked), matching, moves, mark, setMark, onOpen });
    const toggle = ({ track, isClosed }: Lane) => {
        const next = new Set(closed);
        if (isClosed) next.delete(track.root);
        else next.add(track.root);
        go({ with: { closed: [...next].join("~") } });
    };
    const picture = { ...props, timeline, range, selection: marked ?? call, moves };
    const missing = leftOut(timeline);
    const about = call ?? marked ?? range;
    return (
        <div class="timeline">
            {timeline.about && <p class="note">{visible(timeline.about)}</p>}
            {missing && <p class="note">{missing}</p>}
            <div class="flame">
                <div class="flame-head">
                    {selected && <AboutCall index={index} selected={selected} threadName={names.get(selected.track.root) ?? ""} />}
                    {!selected && mark && (
                        <p class="flame-about" role="status">
                            <b>{visible(mark.name)}</b>
                            <span>at {moment(mark.at, 1, index.run.unit === "ns")}</span>
                        </p>
                    )}
                    {!selected && !mark && <p class="flame-about dim">Drag to select a time, click for a call; ctrl and wheel, + and − zoom</p>}
                </div>
                <HeadPicture {...picture} mark={mark} setMark={setMark} />
                <LanePicture {...picture} lanes={lanes} selected={selected} toggle={toggle} />
            </div>
            <Selection
                index={index}
                tracks={selected ? [selected.track] : tracks}
                range={wholeSlices(timeline, about)}
                slice={timeline.slice}
                name={selected ? "The call" : marked ? "The selected time" : "All that is seen"}
                matching={matching}
                onOpen={onOpen}
            />
        </div>
    );
}

export function TimelineView(props: ViewProps & { theme: Theme }) {
    const timeline = useTimeline(props.index);
    if (!timeline) return <p class="nothing">Unpacking the timeline …</p>;
    return <Loaded key={props.root} {...props} timeline={timeline} />;
}
