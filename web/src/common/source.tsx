// source.tsx: annotated source: a line each, figures at its left that the page gives, and a ruler at
// the right that shows the whole file at once.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { things } from "./format";
import { useKeys } from "./keys";
import { Rows, type RowsHandle } from "./rows";
import { languageOf, openAtLines, tokensOf } from "./syntax";
import { visible } from "./visible";

export const LINE_HEIGHT = 20;
/** Of a longer line only so much is shown: laying out megabytes stops the browser. */
const SHOWN_CHARACTERS = 2000;

export interface SourceProps {
    label: string;
    /** Its ending says the language. */
    path: string;
    /** Line i + 1; what is missing is shown as an empty line. */
    lines: string[];
    /** The number of lines, if more have figures than the text has. */
    count: number;
    /** The line that the keyboard is on, from 1. */
    selected: number;
    onSelect: (line: number) => void;
    gutter: (line: number) => ComponentChildren;
    gutterHead: ComponentChildren;
    lineClass: (line: number) => string;
    /** The colour of a line in the ruler; undefined: none. */
    ruler: (line: number) => string | undefined;
    /** When these change, the ruler is drawn anew. */
    rulerOf: unknown[];
    /** What a line says to those who do not see its colour. */
    description: (line: number) => string;
}

function Text({ text, colored }: { text: string; colored: (text: string) => ComponentChildren }) {
    if (text.length <= SHOWN_CHARACTERS) return <>{colored(text)}</>;
    return (
        <>
            {visible(text.slice(0, SHOWN_CHARACTERS))}
            <span class="line-rest">
                {" "}
                … {things(text.length - SHOWN_CHARACTERS, "more character")}
            </span>
        </>
    );
}

/** Colours the text of a line. */
function useColored(path: string, lines: string[]): (index: number) => (text: string) => ComponentChildren {
    const language = languageOf(path);
    const open = useMemo(() => openAtLines(language, lines), [path, lines]);
    return (index) => (text) => {
        if (!language || !open) return visible(text);
        return tokensOf(language, text, open[index]).tokens.map((token) =>
            token.kind ? <span class={`syntax-${token.kind}`}>{visible(token.text)}</span> : visible(token.text),
        );
    };
}

function drawRuler(canvas: HTMLCanvasElement, props: SourceProps) {
    const scale = devicePixelRatio || 1;
    const height = Math.max(1, Math.round(canvas.clientHeight * scale));
    const width = Math.max(1, Math.round(canvas.clientWidth * scale));
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    if (!context) return;
    const perLine = Math.min(height / Math.max(1, props.count), 4 * scale);
    for (let line = 1; line <= props.count; line++) {
        const color = props.ruler(line);
        if (!color) continue;
        context.fillStyle = color;
        context.fillRect(0, Math.floor((line - 1) * perLine), width, Math.max(scale, perLine));
    }
}

/** The whole file in one strip; a click goes there. */
function Ruler({ source, rows }: { source: SourceProps; rows: RefObject<RowsHandle> }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    useEffect(() => {
        const draw = () => canvas.current && drawRuler(canvas.current, source);
        const observer = new ResizeObserver(draw);
        observer.observe(canvas.current!);
        return () => observer.disconnect();
    }, [source.count, ...source.rulerOf]);
    const jump = (event: MouseEvent) => {
        const box = canvas.current!.getBoundingClientRect();
        const perLine = Math.min(box.height / Math.max(1, source.count), 4);
        const line = Math.floor((event.clientY - box.top) / perLine) + 1;
        const inside = Math.max(1, Math.min(source.count, line));
        source.onSelect(inside);
        rows.current?.show(inside - 1, true);
    };
    return <canvas ref={canvas} class="ruler" aria-hidden="true" onClick={jump} />;
}

const columnsOf = (text: string) =>
    Math.min(text.length, SHOWN_CHARACTERS + 30) + 3 * (text.match(/\t/g)?.length ?? 0);

export function Source(props: SourceProps) {
    const { lines, count, selected } = props;
    const rows = useRef<RowsHandle>(null);
    const select = (line: number) => props.onSelect(Math.max(1, Math.min(count, line)));
    const page = () => rows.current?.page() ?? 20;
    useKeys({
        j: () => select(selected + 1),
        ArrowDown: () => select(selected + 1),
        k: () => select(selected - 1),
        ArrowUp: () => select(selected - 1),
        PageDown: () => select(selected + page()),
        PageUp: () => select(selected - page()),
        Home: () => select(1),
        End: () => select(count),
    });
    const first = useRef(true);
    useEffect(() => {
        rows.current?.show(selected - 1, true);
        if (first.current) rows.current?.focus();
        first.current = false;
    }, [selected, lines]);
    const widest = useMemo(
        () => lines.reduce((most, line) => Math.max(most, columnsOf(line)), 40),
        [lines],
    );

    const colored = useColored(props.path, lines);

    const row = (index: number) => {
        const line = index + 1;
        const isSelected = line === selected;
        return (
            <div
                role="row"
                key={line}
                id={`line-${line}`}
                aria-rowindex={line}
                aria-selected={isSelected}
                aria-label={`line ${line}: ${props.description(line)}`}
                class={`line ${props.lineClass(line)} ${isSelected ? "is-selected" : ""}`}
                onClick={() => select(line)}
            >
                <span class="gutter" role="presentation">
                    <span role="gridcell" class="line-number">
                        {line}
                    </span>
                    {props.gutter(line)}
                </span>
                <code role="gridcell">
                    <Text text={lines[index] ?? ""} colored={colored(index)} />
                </code>
            </div>
        );
    };
    return (
        <div class="source">
            <Rows
                class="source-rows"
                role="grid"
                aria-label={props.label}
                aria-rowcount={count}
                active={[selected - 1, `line-${selected}`]}
                tabIndex={0}
                count={count}
                height={LINE_HEIGHT}
                headHeight={24}
                head={() => (
                    <div class="line line-head" role="presentation">
                        <span class="gutter">
                            <span class="line-number">Line</span>
                            {props.gutterHead}
                        </span>
                        <code>Source</code>
                    </div>
                )}
                row={row}
                handle={rows}
                characters={widest + 30}
            />
            <Ruler source={props} rows={rows} />
        </div>
    );
}
