// tools.tsx: what is above the views: search, thread, colours, and what is left out.
import { useMemo } from "preact/hooks";
import { count, things } from "../common/format";
import type { Go, Place } from "../common/place";
import { patternOf } from "../common/search";
import { visibleText } from "../common/visible";
import type { Coloring } from "./color";
import type { Index } from "./data";
import { timeOf } from "./flat";
import { type Measure, measuresOf, nameOf } from "./measure";
import { type Filter, refolded } from "./place";
import type { Tree } from "./tree";
import { share } from "./units";

/** Methods whose name, module or file a search fits; undefined: there is no search. */
export function useMatching(index: Index, text: string): Set<number> | undefined {
    return useMemo(() => {
        if (!text) return undefined;
        const { expression } = patternOf(text);
        const fits = (part: string) => expression.test(part);
        const fitting = index.methods.filter((m) => m.index > 0 && (fits(m.name) || fits(m.file) || fits(m.module)));
        return new Set(fitting.map((m) => m.index));
    }, [text]);
}

export function SearchField({ index, text, matching, tree, filter, go }: {
    index: Index;
    text: string;
    matching: Set<number> | undefined;
    tree: Tree | undefined;
    filter: Filter;
    go: Go;
}) {
    const found = useMemo(
        () => (tree && matching ? timeOf(tree, filter.thread, matching) : 0),
        [tree, matching, filter.thread],
    );
    const { plainBecause } = patternOf(text);
    return (
        <span class="search-field">
            <input
                id="search"
                type="search"
                aria-label="Search functions"
                placeholder="Search  /"
                value={text}
                onInput={(event) => go({ with: { search: event.currentTarget.value } })}
                onKeyDown={(event) => {
                    if (event.key === "Escape") go({ with: { search: "" } });
                    if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
                }}
            />
            {matching && (
                <span class="dim" role="status" title={plainBecause && `taken as plain text: ${plainBecause}`}>
                    {things(matching.size, "function")}, {share(index.run, found)}
                    {plainBecause && " (plain text)"}
                </span>
            )}
            {matching && matching.size > 0 && (
                <button
                    type="button"
                    class="plain"
                    title="Give their time to their callers"
                    onClick={() => {
                        const hidden = [...new Set([...filter.hidden, ...matching])];
                        go({ with: { ...refolded({ hidden }), search: "" } });
                    }}
                >
                    Hide
                </button>
            )}
        </span>
    );
}

export function ThreadChoice({ index, filter, go }: { index: Index; filter: Filter; go: Go }) {
    if (index.threads.length < 2) return null;
    return (
        <select
            aria-label="Thread"
            title="Thread ([ and ])"
            value={String(filter.thread)}
            onChange={(event) => go({ with: { thread: event.currentTarget.value, at: "", open: "" } })}
        >
            <option value="0">All threads</option>
            {index.threads.map((thread) => (
                <option key={thread.root} value={String(thread.root)}>
                    {visibleText(thread.name.slice(0, 60))}
                </option>
            ))}
        </select>
    );
}

export function MeasureChoice({ index, measure, go }: { index: Index; measure: Measure; go: Go }) {
    const offered = measuresOf(index);
    if (offered.length < 2) return null;
    return (
        <select
            aria-label="Measure"
            title="What is shown (v)"
            value={measure}
            onChange={(event) => go({ with: { measure: event.currentTarget.value, sort: "" } })}
        >
            {offered.map((id) => (
                <option key={id} value={id}>
                    {nameOf(index, id)}
                </option>
            ))}
        </select>
    );
}

const colorings: [Coloring, string][] = [
    ["module", "Colour: file"],
    ["time", "Colour: self time"],
    ["change", "Colour: change"],
];

export const nextColoring = (index: Index, coloring: Coloring): Coloring => {
    const offered = colorings.map(([id]) => id).filter((id) => id !== "change" || index.base);
    return offered[(offered.indexOf(coloring) + 1) % offered.length];
};

export function ColorChoice({ index, coloring, go }: { index: Index; coloring: Coloring; go: Go }) {
    return (
        <select
            aria-label="Colours"
            title="Colours (c)"
            value={coloring}
            onChange={(event) => go({ with: { color: event.currentTarget.value } })}
        >
            {colorings
                .filter(([id]) => id !== "change" || index.base)
                .map(([id, name]) => (
                    <option key={id} value={id}>
                        {name}
                    </option>
                ))}
        </select>
    );
}

export function RecursionChoice({ filter, go }: { filter: Filter; go: Go }) {
    return (
        <button
            type="button"
            class="plain"
            aria-pressed={filter.joinsRecursion}
            title="A call inside another call of its function is shown at the outer one (e)"
            onClick={() => go({ with: refolded({ joinsRecursion: !filter.joinsRecursion }) })}
        >
            Collapse recursion
        </button>
    );
}

export function SideChoice({ filter, go }: { filter: Filter; go: Go }) {
    return (
        <select
            aria-label="Run"
            title="Run (w)"
            value={filter.isBase ? "base" : ""}
            onChange={(event) => go({ with: { side: event.currentTarget.value } })}
        >
            <option value="">Run: after</option>
            <option value="base">Run: before</option>
        </select>
    );
}

function Chip({ label, name, onRemove }: { label: string; name: string; onRemove: () => void }) {
    return (
        <button type="button" class="chip" title={`Take away: ${label.toLowerCase()} ${visibleText(name)}`} onClick={onRemove}>
            <span class="dim">{label}</span> <span class="fn-name">{visibleText(name)}</span> {"\u00d7"}
        </button>
    );
}

const MOST_CHIPS = 6;

/** What is left out, each with a way back. */
export function Chips({ index, filter, place, go }: { index: Index; filter: Filter; place: Place; go: Go }) {
    const { focus, hidden, thread, joinsRecursion } = filter;
    if (!focus && !hidden.length && !thread && !joinsRecursion) return null;
    const name = (method: number) => index.methods[method].name.slice(0, 80);
    const inView = place.view === "run" || place.view === "threads" || place.view === "source";
    return (
        <p class="chips" aria-label="What is shown">
            {thread > 0 && (
                <Chip
                    label="Thread"
                    name={index.threads.find((t) => t.root === thread)!.name}
                    onRemove={() => go({ with: { thread: "", at: "", open: "" } })}
                />
            )}
            {focus > 0 && <Chip label="Focus" name={name(focus)} onRemove={() => go({ with: refolded({ focus: 0 }) })} />}
            {hidden.slice(0, MOST_CHIPS).map((method) => (
                <Chip
                    key={method}
                    label="Hidden"
                    name={name(method)}
                    onRemove={() => go({ with: refolded({ hidden: hidden.filter((m) => m !== method) }) })}
                />
            ))}
            {hidden.length > MOST_CHIPS && <span class="dim">and {count(hidden.length - MOST_CHIPS)} more</span>}
            {joinsRecursion && <Chip label="Recursion" name="collapsed" onRemove={() => go({ with: refolded({ joinsRecursion: false }) })} />}
            {hidden.length + Number(focus > 0) + Number(joinsRecursion) > 1 && (
                <button
                    type="button"
                    class="link"
                    title="r"
                    onClick={() => go({ with: refolded({ focus: 0, hidden: [], joinsRecursion: false }) })}
                >
                    Show all
                </button>
            )}
            {inView && <span class="dim">(this view is about the whole run)</span>}
        </p>
    );
}
