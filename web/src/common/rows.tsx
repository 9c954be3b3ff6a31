// rows.tsx: a scrolling list of which only the visible rows exist. All rows have one height, so that
// a million of them cost as much as fifty. Printing shows them all, up to a limit.
import { type ComponentChildren, type RefObject, options } from "preact";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";

const PRINTED_ROWS = 20000;
const MARGIN_ROWS = 8;

export interface RowsHandle {
    /** Scroll so far that the row is seen; in the middle, if it was out of sight and so wanted. */
    show(index: number, isCentred?: boolean): void;
    /** Rows that fit the window. */
    page(): number;
    focus(): void;
}

/** True while the browser prints; the change is drawn before it looks. */
export function useIsPrinting(): boolean {
    const [isPrinting, setPrinting] = useState(false);
    useEffect(() => {
        const media = matchMedia("print");
        const set = (value: boolean) => {
            const later = options.debounceRendering;
            options.debounceRendering = (draw) => draw();
            setPrinting(value);
            options.debounceRendering = later;
        };
        const before = () => set(true);
        const after = () => set(false);
        const change = () => set(media.matches);
        addEventListener("beforeprint", before);
        addEventListener("afterprint", after);
        media.addEventListener("change", change);
        return () => {
            removeEventListener("beforeprint", before);
            removeEventListener("afterprint", after);
            media.removeEventListener("change", change);
        };
    }, []);
    return isPrinting;
}

interface Window {
    top: number;
    height: number;
    width: number;
}

function useWindow(box: RefObject<HTMLDivElement>): Window {
    const [seen, setSeen] = useState<Window>({ top: 0, height: 600, width: 1000 });
    useLayoutEffect(() => {
        const element = box.current!;
        const look = () => {
            const { scrollTop, clientHeight, clientWidth } = element;
            setSeen((was) =>
                was.top === scrollTop && was.height === clientHeight && was.width === clientWidth
                    ? was
                    : { top: scrollTop, height: clientHeight, width: clientWidth },
            );
        };
        const observer = new ResizeObserver(look);
        observer.observe(element);
        element.addEventListener("scroll", look, { passive: true });
        look();
        return () => {
            observer.disconnect();
            element.removeEventListener("scroll", look);
        };
    }, []);
    return seen;
}

export interface RowsProps {
    count: number;
    /** Of a row, in pixels. */
    height: number;
    /** Of the head, which stays at the top, in pixels. */
    headHeight?: number;
    head?: (width: number) => ComponentChildren;
    row: (index: number, width: number) => ComponentChildren;
    /** Index and id of the selected row, for screen readers; they learn of it while it exists. */
    active?: [index: number, id: string];
    handle?: RefObject<RowsHandle>;
    /** Least width of a row, in characters: what is wider scrolls. */
    characters?: number;
    [attribute: string]: unknown;
}

export function Rows(props: RowsProps) {
    const { count, height, headHeight = 0, head, row, active, handle, characters, ...attributes } = props;
    const box = useRef<HTMLDivElement>(null);
    const seen = useWindow(box);
    const isPrinting = useIsPrinting();
    const space = () => (box.current?.clientHeight ?? seen.height) - headHeight;

    useImperativeHandle(handle ?? { current: null }, () => ({
        show(index, isCentred) {
            const element = box.current;
            if (!element) return;
            const top = index * height;
            const isAbove = top < element.scrollTop;
            const isBelow = top + height > element.scrollTop + space();
            if (!isAbove && !isBelow) return;
            if (isCentred) element.scrollTop = top - (space() - height) / 2;
            else element.scrollTop = isAbove ? top : top + height - space();
        },
        page: () => Math.max(1, Math.floor(space() / height) - 1),
        focus: () => box.current?.focus({ preventScroll: true }),
    }));

    let first = Math.max(0, Math.floor(seen.top / height) - MARGIN_ROWS);
    let last = Math.min(count, Math.ceil((seen.top + seen.height) / height) + MARGIN_ROWS);
    if (isPrinting) [first, last] = [0, Math.min(count, PRINTED_ROWS)];
    const isThere = active && active[0] >= first && active[0] < last;
    const rows = [];
    for (let index = first; index < last; index++) rows.push(row(index, seen.width));
    return (
        <div {...attributes} ref={box} class={`rows ${attributes.class ?? ""}`} aria-activedescendant={isThere ? active[1] : undefined}>
            {head && <div class="rows-head">{head(seen.width)}</div>}
            <div
                role="presentation"
                class="rows-all"
                style={{
                    height: isPrinting ? "auto" : `${count * height}px`,
                    minWidth: characters ? `${characters}ch` : "100%",
                }}
            >
                <div
                    role="presentation"
                    class="rows-seen"
                    style={{ transform: isPrinting ? "none" : `translateY(${first * height}px)` }}
                >
                    {rows}
                </div>
            </div>
        </div>
    );
}
