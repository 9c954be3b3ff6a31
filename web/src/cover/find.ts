// find.ts: what the search goes through: names of files, names of functions, then all sources.
import type { Go } from "../common/place";
import type { Finder, Found } from "../common/search";
import { type Index, functions, sourceOf } from "./data";

export function finderOf(index: Index, go: Go): Finder {
    const openAt = (file: number, line: number) => () =>
        go({ view: "file", what: index.files[file].path, with: { at: "", sort: "", line: String(line || "") } });
    return function* find(pattern): Generator<Found | undefined> {
        const fitting = (kind: string, text: string, where: string, open: () => void) => {
            const match = pattern.exec(text);
            if (!match) return undefined;
            const from = match.index;
            return { kind, text, from, to: from + match[0].length, where, open };
        };
        for (const file of index.files) yield fitting("file", file.path, "", openAt(file.index, 0));
        for (const fn of functions()) {
            const where = `${index.files[fn.file].path}${fn.firstLine ? `:${fn.firstLine}` : ""}`;
            yield fitting("function", fn.name, where, openAt(fn.file, fn.firstLine));
        }
        for (const file of index.files) {
            const lines = sourceOf(file.index)?.lines ?? [];
            for (let i = 0; i < lines.length; i++) {
                const found = fitting("line", lines[i], `${file.path}:${i + 1}`, openAt(file.index, i + 1));
                if (found || i % 500 === 0) yield found;
            }
        }
    };
}
