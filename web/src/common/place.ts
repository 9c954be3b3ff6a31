// place.ts: where the reader is, kept in the address after the '#': a link restores the view.
//
//     #VIEW/WHAT?KEY=VALUE&KEY=VALUE        every part percent-encoded; WHAT may be absent
import { useEffect, useState } from "preact/hooks";

export interface Place {
    view: string;
    what: string;
    /** Sort order, line, filter, theme: what is absent has its default. */
    with: Record<string, string>;
}

/** Change of place; a value of undefined is left as it is, "" takes a key away. */
export interface Move {
    view?: string;
    what?: string;
    with?: Record<string, string>;
}

function decoded(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

export function placeOf(hash: string): Place {
    const [path, query = ""] = hash.replace(/^#/, "").split("?", 2);
    const slash = path.indexOf("/");
    const view = slash < 0 ? path : path.slice(0, slash);
    const place: Place = {
        view: decoded(view),
        what: slash < 0 ? "" : decoded(path.slice(slash + 1)),
        with: {},
    };
    for (const pair of query.split("&").filter(Boolean)) {
        const [key, value = ""] = pair.split("=", 2);
        place.with[decoded(key)] = decoded(value);
    }
    return place;
}

export function hashOf(place: Place): string {
    const query = Object.entries(place.with)
        .filter(([, value]) => value !== "")
        .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
    const what = place.what.split("/").map(encodeURIComponent).join("/");
    const path = encodeURIComponent(place.view) + (what ? `/${what}` : "");
    return `#${path}${query.length ? `?${query.join("&")}` : ""}`;
}

function moved(from: Place, move: Move): Place {
    return {
        view: move.view ?? from.view,
        what: move.what ?? (move.view === undefined ? from.what : ""),
        with: { ...from.with, ...move.with },
    };
}

/** Go somewhere. A new view is a step of the browser's history, a detail of the same one is not. */
export type Go = (move: Move) => void;

export function usePlace(): [Place, Go] {
    const [place, setPlace] = useState(() => placeOf(location.hash));
    useEffect(() => {
        const read = () => setPlace(placeOf(location.hash));
        addEventListener("hashchange", read);
        addEventListener("popstate", read);
        return () => {
            removeEventListener("hashchange", read);
            removeEventListener("popstate", read);
        };
    }, []);
    const go = (move: Move) => {
        const from = placeOf(location.hash);
        const to = moved(from, move);
        const isStep = to.view !== from.view || to.what !== from.what;
        history[isStep ? "pushState" : "replaceState"](null, "", hashOf(to));
        setPlace(to);
    };
    return [place, go];
}
