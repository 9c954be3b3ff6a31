// flame.tsx: flame graphs, from above and from below. Every frame is as wide as its part of the time;
// what would be less than half a pixel is not drawn, so that a million call paths cost as much as a
// few thousand.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { things } from "../common/format";
import { useKeys } from "../common/keys";
import { useIsPrinting } from "../common/rows";
import type { Theme } from "../common/theme";
import { PlaceOf, visible } from "../common/visible";
import { type Look, type Size, contextOf, fitted, lookOf, useSize } from "./canvas";
import { type Coloring, changeColor, heatColor, painter } from "./color";
import type { Index } from "./data";
import type { ViewProps } from "./lists";
import { type Paths, sidesOf } from "./tree";
import { amount, changeOf, share, time } from "./units";

const ROW = 19;
const LEAST_WIDTH = 0.5;
const NAMED_WIDTH = 24;
/** Browsers draw no higher canvas, and one is as high as all rows when it is printed. */
const PRINTED_ROWS = 800;
/** Browsers scroll no farther. */
const MOST_ROWS = 800000;
const PAGE_ROWS = 20;
const SLICE_MS = 8;
/** The picture is drawn before the rows below it are laid out. */
const PICTURE_MS = 50;

interface Frame {
    node: number;
    x: number;
    width: number;
}

/** Frames by row, from the zoomed one on; what it lies below is above it in full width. Rows are laid
 * out when they are looked at: the first picture does not wait for those below the window. */
class Layout {
    readonly rows: Frame[][];
    private readonly scale: number;

    constructor(private readonly paths: Paths, zoom: number, root: number, width: number) {
        const path = paths.path(zoom).filter((node) => node >= root);
        this.rows = path.map((node) => [{ node, x: 0, width }]);
        this.scale = width / (paths.total[zoom] || 1);
        if (!path.length) this.rows.push(this.below([{ node: 0, x: 0, width }]));
    }

    get isWhole(): boolean {
        return this.rows[this.rows.length - 1].length === 0;
    }

    /** The last row that has frames. */
    get nRows(): number {
        return this.rows.length - Number(this.isWhole);
    }

    /** What lies below a row, the longest first below each frame, as far as it can be seen. */
    private below(row: Frame[]): Frame[] {
        const frames: Frame[] = [];
        for (const above of row) {
            let { x } = above;
            for (const node of this.paths.children(above.node)) {
                const width = this.paths.total[node] * this.scale;
                if (width < LEAST_WIDTH) break;
                frames.push({ node, x, width });
                x += width;
            }
        }
        return frames;
    }

    upTo(nRows: number) {
        const most = Math.min(nRows, MOST_ROWS);
        while (this.rows.length < most && !this.isWhole) this.rows.push(this.below(this.rows[this.rows.length - 1]));
    }
}

/** @param seen  rows that are needed now; the others follow while the page stays awake */
function useLayout(paths: Paths, zoom: number, root: number, width: number, seen: number): Layout {
    const layout = useMemo(() => new Layout(paths, zoom, root, width), [paths, zoom, root, width]);
    const [, setRows] = useState(0);
    layout.upTo(seen);
    useEffect(() => {
        let timer = 0;
        const slice = () => {
            const end = performance.now() + SLICE_MS;
            while (!layout.isWhole && layout.nRows < MOST_ROWS && performance.now() < end) layout.upTo(layout.rows.length + 1);
            setRows(layout.nRows);
            if (!layout.isWhole && layout.nRows < MOST_ROWS) timer = setTimeout(slice, 0) as unknown as number;
        };
        timer = setTimeout(slice, PICTURE_MS) as unknown as number;
        return () => clearTimeout(timer);
    }, [layout]);
    return layout;
}

interface Picture {
    index: Index;
    paths: Paths;
    rows: Frame[][];
    size: Size;
    /** Of what is scrolled to. */
    top: number;
    paint: (node: number) => string;
    selected: number;
    matching: Set<number> | undefined;
}

function drawName(context: CanvasRenderingContext2D, picture: Picture, frame: Frame, y: number, characterWidth: number) {
    const name = frameName(picture.index, picture.paths, frame.node);
    context.fillText(fitted(name, frame.width - 8, characterWidth), frame.x + 4, y + ROW / 2);
}

function drawFrame(context: CanvasRenderingContext2D, picture: Picture, look: Look, frame: Frame, y: number) {
    const { x, width, node } = frame;
    const isMatch = picture.matching?.has(picture.paths.method[node]);
    context.fillStyle = picture.matching ? (isMatch ? look.mark : look.soft) : picture.paint(node);
    context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), LEAST_WIDTH), ROW - 1);
    if (node === picture.selected) {
        context.strokeStyle = look.accent;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(1, width - 3), ROW - 3);
    }
}

function draw(canvas: HTMLCanvasElement, picture: Picture) {
    const look = lookOf();
    const { size, top } = picture;
    const context = contextOf(canvas, size, top);
    const characterWidth = context.measureText("m").width;
    const last = Math.min(picture.rows.length, Math.ceil((top + size.height) / ROW));
    for (let row = Math.floor(top / ROW); row < last; row++)
        for (const frame of picture.rows[row]) {
            drawFrame(context, picture, look, frame, row * ROW);
            context.fillStyle = look.text;
            if (frame.width >= NAMED_WIDTH) drawName(context, picture, frame, row * ROW, characterWidth);
        }
}

export function frameName(index: Index, paths: Paths, node: number): string {
    const method = paths.method[node];
    if (method) return index.methods[method].name;
    return index.threads.find((t) => t.root === node)?.name ?? "";
}

/** What the selected frame is, in words; read out when it changes. */
function About({ index, paths, node, isUp }: { index: Index; paths: Paths; node: number; isUp: boolean }) {
    const method = index.methods[paths.method[node]];
    const { run } = index;
    const total = paths.total[node];
    return (
        <p class="flame-about" role="status">
            <b>{visible(frameName(index, paths, node))}</b>
            {index.hasTimes && (
                <span>
                    {amount(run, total)} ({share(run, total)}) {isUp ? "of its own when called so" : "in all"}
                    {!isUp && `, ${time(run, paths.self[node])} itself`}
                    {!!paths.offTotal?.[node] && `; waiting ${time(run, paths.offTotal[node])}`}
                </span>
            )}
            {!index.hasTimes && <span>{things(total, "call")} in all</span>}
            {method.index > 0 && run.hasCalls && (
                <span>
                    {things(paths.calls[node], "call")}
                    {!index.hasTimes && " of its own"}
                </span>
            )}
            {paths.base && <span class="change">{changeOf(run, ...sidesOf(paths, "total", node))}</span>}
            <PlaceOf method={method} />
        </p>
    );
}

const scales: Record<Coloring, [string, string]> = {
    module: ["", ""],
    time: ["nothing of its own", "most"],
    change: ["less of its own", "more"],
};

/** What the colours say. */
function Legend({ coloring, theme }: { coloring: Coloring; theme: Theme }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [from, to] = scales[coloring];
    useEffect(() => {
        const context = canvas.current?.getContext("2d");
        if (!context) return;
        for (let x = 0; x < 96; x++) {
            context.fillStyle = coloring === "time" ? heatColor(x / 95, theme) : changeColor(x / 47.5 - 1, theme);
            context.fillRect(x, 0, 1, 10);
        }
    }, [coloring, theme]);
    if (coloring === "module") return <span class="legend dim">colours tell files apart</span>;
    return (
        <span class="legend dim">
            {from} <canvas ref={canvas} width={96} height={10} aria-hidden="true" /> {to}
        </span>
    );
}

export interface FlameProps extends Pick<ViewProps, "index" | "matching" | "onFocus" | "onHide" | "onSource"> {
    paths: Paths;
    /** The node that is the whole width at first: a thread's root, or 0. */
    root: number;
    /** The node that fills the width. */
    zoom: number;
    /** From a function up to its callers. */
    isUp: boolean;
    coloring: Coloring;
    theme: Theme;
    onZoom: (node: number) => void;
    onOpen: (method: number) => void;
}

/** Moves from frame to frame. */
function useFlameKeys(props: FlameProps, selected: number, select: (node: number) => void) {
    const { paths, zoom, root } = props;
    const sibling = (step: number) => {
        const row = paths.children(paths.parent[selected]);
        const next = row[row.indexOf(selected) + step];
        if (next) select(next);
    };
    const up = (levels: number) => {
        let to = selected;
        for (let i = 0; i < levels && to !== root; i++) to = paths.parent[to] || to;
        select(to);
    };
    /** The first callee, and its first one. */
    const down = (levels: number) => {
        let to = selected;
        for (let i = 0; i < levels; i++) to = paths.children(to)[0] ?? to;
        if (to) select(to);
    };
    const out = () => props.onZoom(zoom === root ? root : Math.max(root, paths.parent[zoom]));
    const method = paths.method[selected];
    useKeys({
        ArrowUp: () => up(1),
        k: () => up(1),
        PageUp: () => up(PAGE_ROWS),
        ArrowDown: () => down(1),
        j: () => down(1),
        PageDown: () => down(PAGE_ROWS),
        ArrowLeft: () => sibling(-1),
        h: () => sibling(-1),
        ArrowRight: () => sibling(1),
        l: () => sibling(1),
        Enter: () => props.onZoom(selected),
        u: out,
        Backspace: out,
        Home: () => props.onZoom(root),
        o: () => props.onOpen(method),
        f: () => props.onFocus(method),
        x: () => props.onHide(method),
        s: () => props.onSource(method),
    });
}

/** The frame that the head speaks of. Other paths have other numbers: what was selected is let go. */
function useSelected(paths: Paths, zoom: number) {
    const [wanted, setWanted] = useState({ paths, node: zoom });
    const node = wanted.paths === paths ? wanted.node : zoom;
    const select = (to: number) => to !== node && setWanted({ paths, node: to });
    useEffect(() => setWanted({ paths, node: zoom }), [zoom, paths]);
    return { selected: node || zoom || paths.children(0)[0] || 0, select };
}

export function Flame(props: FlameProps) {
    const { index, paths, zoom, root, matching, coloring, theme } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const box = useRef<HTMLDivElement>(null);
    const seen = useSize(box);
    const { width } = seen;
    const [top, setTop] = useState(0);
    const isPrinting = useIsPrinting();
    const { selected, select } = useSelected(paths, zoom);
    const seenRows = isPrinting ? PRINTED_ROWS : Math.ceil((top + seen.height) / ROW) + 1;
    const { rows, nRows } = useLayout(paths, zoom, root, width, seenRows);
    const paint = useMemo(() => painter(index, paths, coloring, theme), [paths, coloring, theme]);
    const height = isPrinting ? Math.min(nRows, PRINTED_ROWS) * ROW : Math.min(seen.height, nRows * ROW);
    const from = isPrinting ? 0 : Math.max(0, Math.min(top, nRows * ROW - height));

    useLayoutEffect(() => {
        if (canvas.current && width) draw(canvas.current, { index, paths, rows, size: { width, height }, top: from, paint, selected, matching });
    }, [rows, paint, selected, matching, height, from]);
    useFlameKeys(props, selected, select);
    useEffect(() => {
        if (!box.current) return;
        const { scrollTop, clientHeight } = box.current;
        const y = (paths.path(selected).length - 1) * ROW;
        if (y < scrollTop || y + ROW > scrollTop + clientHeight) box.current.scrollTop = y - clientHeight / 2;
    }, [selected, nRows]);

    const frameAt = (event: MouseEvent) => {
        const at = canvas.current!.getBoundingClientRect();
        const [x, y] = [event.clientX - at.left, event.clientY - at.top + from];
        return rows[Math.floor(y / ROW)]?.find((f) => f.x <= x && x < f.x + f.width);
    };
    const isEmpty = paths.total[root] === 0;
    return (
        <div class="flame">
            <div class="flame-head">
                {selected > 0 && !isEmpty && <About index={index} paths={paths} node={selected} isUp={props.isUp} />}
                <Legend coloring={coloring} theme={theme} />
            </div>
            {isEmpty && <p class="nothing">Nothing was recorded here.</p>}
            <div
                class="flame-box"
                ref={box}
                tabIndex={0}
                role="application"
                aria-label="Flame graph"
                onScroll={() => setTop(box.current!.scrollTop)}
            >
                <div style={{ height: `${nRows * ROW}px` }}>
                    <canvas
                        ref={canvas}
                        style={{ width: `${width}px`, height: `${height}px` }}
                        onMouseMove={(event) => {
                            const frame = frameAt(event);
                            if (frame) select(frame.node);
                        }}
                        onClick={(event) => {
                            const frame = frameAt(event);
                            if (frame) props.onZoom(frame.node);
                        }}
                    />
                </div>
            </div>
        </div>
    );
}
