// data.ts: the JSON blocks of the page. Each is parsed when it is asked for first.
//
// The program of the page runs before the browser has read the blocks after it, so that the first
// picture does not wait for them; a block counts as there when something follows it.
import { useEffect, useState } from "preact/hooks";

const parsed = new Map<string, unknown>();

/** The block with this id; undefined: the browser has not read that far, or there is none. */
export function block<T>(id: string): T | undefined {
    if (!parsed.has(id)) {
        const element = document.getElementById(id);
        const isWhole = element?.nextElementSibling || document.readyState !== "loading";
        if (!element || !isWhole) return undefined;
        parsed.set(id, JSON.parse(element.textContent || "null"));
    }
    return parsed.get(id) as T;
}

/** Is the page read to its end? A component that asks is drawn again when it is. */
export function useIsLoaded(): boolean {
    const [isLoaded, setLoaded] = useState(document.readyState !== "loading");
    useEffect(() => {
        if (isLoaded) return undefined;
        const done = () => setLoaded(true);
        if (document.readyState !== "loading") done();
        document.addEventListener("DOMContentLoaded", done);
        return () => document.removeEventListener("DOMContentLoaded", done);
    }, [isLoaded]);
    return isLoaded;
}
