// canvas.ts: what pictures share: the page's colours, a canvas in the screen's own pixels, names in frames.
import { useEffect, useState } from "preact/hooks";
import { visibleText } from "../common/visible";

/** Colours of the page, as it is now: light or dark. */
export interface Look {
    text: string;
    dim: string;
    soft: string;
    card: string;
    accent: string;
    mark: string;
    hit: string;
    warm: string;
    more: string;
    shade: string;
    veil: string;
}

export function lookOf(): Look {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
    return {
        text: color("text"), dim: color("dim"), soft: color("soft"), card: color("card"), accent: color("accent"),
        mark: color("mark"), hit: color("hit"), warm: color("missed"), more: color("missed-text"),
        shade: color("shade"), veil: color("veil"),
    };
}

export interface Size {
    width: number;
    height: number;
}

export function useSize(box: { current: HTMLElement | null }): Size {
    const [size, setSize] = useState<Size>({ width: 0, height: 0 });
    useEffect(() => {
        const look = () => {
            const { clientWidth: width, clientHeight: height } = box.current!;
            setSize((was) => (was.width === width && was.height === height ? was : { width, height }));
        };
        const observer = new ResizeObserver(look);
        observer.observe(box.current!);
        look();
        return () => observer.disconnect();
    }, []);
    return size;
}

/** The canvas, empty, for drawing in the page's pixels. */
export function contextOf(canvas: HTMLCanvasElement, { width, height }: Size, top = 0): CanvasRenderingContext2D {
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, -top * scale);
    context.font = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
    context.textBaseline = "middle";
    return context;
}

/** As much of a name as there is room for. */
export function fitted(name: string, width: number, characterWidth: number): string {
    const room = Math.floor(width / characterWidth);
    const text = visibleText(name.slice(0, room + 1));
    return text.length > room ? `${text.slice(0, Math.max(1, room - 1))}\u2026` : text;
}
