// flame.tsx: the flame graph. Every frame is as wide as its part of the time; what would be less than
// half a pixel is not drawn, so that a million call paths cost as much as a few thousand.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { things } from "../common/format";
import { useKeys } from "../common/keys";
import { visible, visibleText } from "../common/visible";
import type { Index, Tree } from "./data";
import { share, time } from "./units";

const ROW = 19;
const LEAST_WIDTH = 0.5;
const NAMED_WIDTH = 24;

interface Frame {
    node: number;
    depth: number;
    x: number;
    width: number;
}

/** Frames from the zoomed one on; its callers lie above it in full width. */
function layout(tree: Tree, zoom: number, width: number): Frame[] {
    const frames: Frame[] = [];
    const above = zoom ? tree.path(zoom).slice(0, -1) : [];
    above.forEach((node, depth) => frames.push({ node, depth, x: 0, width }));
    const scale = width / (tree.total[zoom] || 1);
    const waiting: Frame[] = zoom
        ? [{ node: zoom, depth: above.length, x: 0, width }]
        : placed(tree, { node: 0, depth: -1, x: 0, width }, scale);
    while (waiting.length) {
        const frame = waiting.pop()!;
        frames.push(frame);
        waiting.push(...placed(tree, frame, scale));
    }
    return frames;
}

/** The callees of a frame, the longest first, as far as they can be seen. */
function placed(tree: Tree, under: Frame, scale: number): Frame[] {
    const frames: Frame[] = [];
    let { x } = under;
    for (const child of tree.children(under.node)) {
        const width = tree.total[child] * scale;
        if (width < LEAST_WIDTH) break;
        frames.push({ node: child, depth: under.depth + 1, x, width });
        x += width;
    }
    return frames;
}

/** One of a few colours by where the code is; lightness differs, too. */
function colorOf(where: string, isDark: boolean): string {
    let hash = 0;
    for (let i = 0; i < where.length; i++) hash = (hash * 31 + where.charCodeAt(i)) >>> 0;
    const hues = [210, 28, 45, 190, 260, 330, 14, 170];
    const hue = hues[hash % hues.length];
    const lightness = (isDark ? 28 : 76) + ((hash >>> 8) % 4) * 3;
    return `hsl(${hue} ${isDark ? 34 : 56}% ${lightness}%)`;
}

interface Look {
    isDark: boolean;
    text: string;
    dim: string;
    page: string;
    accent: string;
    mark: string;
}

function lookOf(isDark: boolean): Look {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    return {
        isDark,
        text: color("--text"),
        dim: color("--soft"),
        page: color("--card"),
        accent: color("--accent"),
        mark: color("--mark"),
    };
}

function draw(canvas: HTMLCanvasElement, frames: Frame[], index: Index, tree: Tree, look: Look, of: {
    selected: number;
    matching: Set<number> | undefined;
    width: number;
}) {
    const scale = devicePixelRatio || 1;
    const height = canvas.clientHeight;
    canvas.width = Math.round(of.width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d")!;
    context.scale(scale, scale);
    context.font = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
    context.textBaseline = "middle";
    const characterWidth = context.measureText("m").width;
    for (const frame of frames) {
        const method = index.methods[tree.method[frame.node]];
        const y = frame.depth * ROW;
        if (of.matching) context.fillStyle = of.matching.has(method.index) ? look.mark : look.dim;
        else context.fillStyle = colorOf(method.file || method.module, look.isDark);
        context.fillRect(frame.x, y, Math.max(frame.width - (frame.width > 3 ? 1 : 0), LEAST_WIDTH), ROW - 1);
        if (frame.node === of.selected) {
            context.strokeStyle = look.accent;
            context.lineWidth = 2;
            context.strokeRect(frame.x + 1, y + 1, Math.max(1, frame.width - 3), ROW - 3);
        }
        if (frame.width < NAMED_WIDTH) continue;
        const room = Math.floor((frame.width - 8) / characterWidth);
        const name = visibleText(frameName(index, tree, frame.node));
        context.fillStyle = look.text;
        context.fillText(name.length > room ? `${name.slice(0, Math.max(1, room - 1))}\u2026` : name, frame.x + 4, y + ROW / 2);
    }
}

export function frameName(index: Index, tree: Tree, node: number): string {
    const thread = index.threads.find((t) => t.root === node);
    return thread ? thread.name : index.methods[tree.method[node]].name;
}

export interface FlameProps {
    index: Index;
    tree: Tree;
    /** The node that fills the width; 0: the whole run. */
    zoom: number;
    /** Methods that a search fits; undefined: there is none. */
    matching: Set<number> | undefined;
    isDark: boolean;
    onZoom: (node: number) => void;
    onOpen: (method: number) => void;
}

/** What the selected frame is, in words; read out when it changes. */
function About({ index, tree, node }: { index: Index; tree: Tree; node: number }) {
    const method = index.methods[tree.method[node]];
    return (
        <p class="flame-about" role="status">
            <b>{visible(frameName(index, tree, node))}</b>
            <span>
                {time(index.run, tree.total[node])} ({share(index.run, tree.total[node])}) in all,{" "}
                {time(index.run, tree.self[node])} itself, {things(tree.calls[node], "call")}
            </span>
            {method.file && (
                <span class="dim">
                    {visible(method.file)}
                    {method.line > 0 && `:${method.line}`}
                </span>
            )}
        </p>
    );
}

function useWidth(box: { current: HTMLElement | null }): number {
    const [width, setWidth] = useState(1000);
    useEffect(() => {
        const look = () => setWidth(box.current!.clientWidth);
        const observer = new ResizeObserver(look);
        observer.observe(box.current!);
        look();
        return () => observer.disconnect();
    }, []);
    return width;
}

export function Flame(props: FlameProps) {
    const { index, tree, zoom, matching, isDark } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const box = useRef<HTMLDivElement>(null);
    const width = useWidth(box);
    const [selected, setSelected] = useState(zoom || tree.children(0)[0] || 0);
    const frames = useMemo(() => layout(tree, zoom, width), [tree, zoom, width]);
    const height = (Math.max(0, ...frames.map((frame) => frame.depth)) + 1) * ROW;
    const look = useMemo(() => lookOf(isDark), [isDark]);

    useEffect(() => {
        if (canvas.current) draw(canvas.current, frames, index, tree, look, { selected, matching, width });
    }, [frames, look, selected, matching]);
    useEffect(() => {
        if (zoom) setSelected(zoom);
    }, [zoom]);

    const frameAt = (event: MouseEvent) => {
        const { left, top } = canvas.current!.getBoundingClientRect();
        const [x, depth] = [event.clientX - left, Math.floor((event.clientY - top) / ROW)];
        return frames.find((f) => f.depth === depth && f.x <= x && x < f.x + f.width);
    };
    const sibling = (step: number) => {
        const row = tree.children(tree.parent[selected]);
        const next = row[row.indexOf(selected) + step];
        if (next) setSelected(next);
    };
    const up = () => {
        if (tree.parent[selected]) setSelected(tree.parent[selected]);
    };
    const down = () => {
        const [child] = tree.children(selected);
        if (child) setSelected(child);
    };
    useKeys({
        ArrowUp: up,
        k: up,
        ArrowDown: down,
        j: down,
        ArrowLeft: () => sibling(-1),
        h: () => sibling(-1),
        ArrowRight: () => sibling(1),
        l: () => sibling(1),
        Enter: () => props.onZoom(selected),
        u: () => props.onZoom(tree.parent[zoom]),
        Backspace: () => props.onZoom(tree.parent[zoom]),
        o: () => props.onOpen(tree.method[selected]),
    });
    return (
        <div class="flame">
            {selected > 0 && <About index={index} tree={tree} node={selected} />}
            <div class="flame-box" ref={box} tabIndex={0} role="application" aria-label="Flame graph">
                <canvas
                    ref={canvas}
                    style={{ width: `${width}px`, height: `${height}px` }}
                    onMouseMove={(event) => {
                        const frame = frameAt(event);
                        if (frame) setSelected(frame.node);
                    }}
                    onClick={(event) => {
                        const frame = frameAt(event);
                        if (frame) props.onZoom(frame.node);
                    }}
                />
            </div>
        </div>
    );
}
