// search.tsx: one field for everything. A regular expression; any other text is taken literally.
// Small letters also find capitals; a capital letter is meant as one.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { count } from "./format";
import { Dialog } from "./help";
import { Rows, type RowsHandle } from "./rows";

export interface Pattern {
    expression: RegExp;
    /** Why it was taken as plain text; "": it was not. */
    plainBecause: string;
}

export function patternOf(text: string): Pattern {
    const flags = /\p{Lu}/u.test(text.replace(/\\./g, "")) ? "" : "i";
    try {
        return { expression: new RegExp(text, flags), plainBecause: "" };
    } catch (error) {
        const why = String((error as Error).message).replace(/^.*: /, "");
        const literal = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
        return { expression: new RegExp(literal, flags), plainBecause: why };
    }
}

export interface Found {
    kind: string;
    /** What was found, and the part of it that fits. */
    text: string;
    from: number;
    to: number;
    where: string;
    open: () => void;
}

/** Gives what fits, source by source; each step is short, so that the page stays awake. */
export type Finder = (pattern: RegExp) => Generator<Found | undefined>;

const MOST = 2000;
const SLICE_MS = 12;
const SHOWN_CHARACTERS = 200;

interface Search {
    found: Found[];
    isDone: boolean;
    isCut: boolean;
}

function useSearch(text: string, pattern: Pattern, finder: Finder): Search {
    const [search, setSearch] = useState<Search>({ found: [], isDone: true, isCut: false });
    useEffect(() => {
        const found: Found[] = [];
        if (!text) {
            setSearch({ found, isDone: true, isCut: false });
            return undefined;
        }
        const all = finder(pattern.expression);
        let timer = 0;
        const slice = () => {
            const end = performance.now() + SLICE_MS;
            let isDone = false;
            while (!isDone && found.length < MOST && performance.now() < end) {
                const next = all.next();
                isDone = !!next.done;
                if (next.value) found.push(next.value);
            }
            const isCut = found.length >= MOST;
            setSearch({ found: found.slice(), isDone: isDone || isCut, isCut });
            if (!isDone && !isCut) timer = setTimeout(slice, 0) as unknown as number;
        };
        timer = setTimeout(slice, 0) as unknown as number;
        return () => clearTimeout(timer);
    }, [text]);
    return search;
}

/** Name and line of what was found, the fitting part marked. */
function Marked({ item, show }: { item: Found; show: (text: string) => ComponentChildren }) {
    const begin = Math.max(0, item.from - 40);
    return (
        <span class="found-text">
            {begin > 0 && "\u2026"}
            {show(item.text.slice(begin, item.from))}
            <mark>{show(item.text.slice(item.from, Math.min(item.to, item.from + SHOWN_CHARACTERS)))}</mark>
            {show(item.text.slice(item.to, item.to + SHOWN_CHARACTERS))}
        </span>
    );
}

function summary(text: string, pattern: Pattern, search: Search): string {
    if (!text) return "Files, functions and source text; regular expressions work.";
    const parts = [];
    if (search.isCut) parts.push(`the first ${count(MOST)} of more`);
    else parts.push(`${count(search.found.length)} found${search.isDone ? "" : " so far \u2026"}`);
    if (pattern.plainBecause) parts.push(`taken as plain text: ${pattern.plainBecause}`);
    return parts.join("; ");
}

const ITEM_HEIGHT = 44;

export function SearchDialog({ finder, show, onClose }: {
    finder: Finder;
    /** How a name of unknown origin is shown. */
    show: (text: string) => ComponentChildren;
    onClose: () => void;
}) {
    const [text, setText] = useState("");
    const [selected, setSelected] = useState(0);
    const rows = useRef<RowsHandle>(null);
    const pattern = useMemo(() => patternOf(text), [text]);
    const search = useSearch(text, pattern, finder);
    const select = (index: number) => {
        const inside = Math.max(0, Math.min(search.found.length - 1, index));
        setSelected(inside);
        rows.current?.show(inside);
    };
    const open = (index: number) => {
        if (!search.found[index]) return;
        onClose();
        search.found[index].open();
    };
    const press = (event: KeyboardEvent) => {
        const step: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
        if (event.key in step) select(selected + step[event.key]);
        else if (event.key === "Enter") open(selected);
        else return;
        event.preventDefault();
    };
    return (
        <Dialog label="Search" onClose={onClose}>
            <div class="search" onKeyDown={press}>
                <input
                    type="text"
                    role="combobox"
                    aria-label="Search files, functions and source text"
                    aria-expanded="true"
                    aria-controls="found"
                    aria-activedescendant={search.found.length ? `found-${selected}` : undefined}
                    placeholder="Search"
                    spellcheck={false}
                    autocomplete="off"
                    autofocus
                    value={text}
                    onInput={(event) => {
                        setText(event.currentTarget.value);
                        setSelected(0);
                    }}
                />
                <p class="search-summary" role="status">
                    {summary(text, pattern, search)}
                </p>
                <Rows
                    class="found"
                    id="found"
                    role="listbox"
                    aria-label="Found"
                    count={search.found.length}
                    height={ITEM_HEIGHT}
                    handle={rows}
                    row={(index) => {
                        const item = search.found[index];
                        return (
                            <div
                                role="option"
                                key={index}
                                id={`found-${index}`}
                                aria-selected={index === selected}
                                class={`found-item ${index === selected ? "is-selected" : ""}`}
                                onClick={() => open(index)}
                            >
                                <span class={`found-kind kind-${item.kind}`}>{item.kind}</span>
                                <Marked item={item} show={show} />
                                <span class="found-where">{show(item.where)}</span>
                            </div>
                        );
                    }}
                />
            </div>
        </Dialog>
    );
}
