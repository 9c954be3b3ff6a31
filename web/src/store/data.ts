// data.ts: what src/cli/serve/pages.c writes into a page of a store.
import { block } from "../common/data";

/** profiles, calls, self, and of one profile on average: calls, self; of a key. Calls are null where they were not counted. */
export type SeriesRow = [key: string, profiles: number, calls: number | null, self: number, callsEach: number | null, selfEach: number];

export interface Line {
    service: string;
    version: string;
    rows: SeriesRow[];
}

export type Dead = [name: string, module: string, file: string, line: number];

/** elapsed, waiting: ns; begun: ms since 1970 */
export type Slow = [
    number: number, elapsed: number, waiting: number, calls: number, begun: number,
    outcome: string, endpoint: string, service: string, version: string, host: string, trace: string,
];

export interface Store {
    view: "start" | "dead" | "slow" | "trouble";
    /** The start page, with what is chosen here. */
    home: string;
    store: string;
    /** What the tool has to say; "": nothing. */
    note: string;
    // what is chosen; "": nothing
    service: string;
    version: string;
    since: string;
    until: string;
    base: string;
    new: string;
    labels: string[];
    isForced: boolean;
    /** Profiles that are chosen. */
    profiles?: number;
    // the start page
    all?: number;
    services?: string[];
    versions?: string[];
    hosts?: string[];
    by?: string;
    unit?: string;
    hasCalls?: boolean;
    /** Absent: they do not add up, and `note` says why. */
    series?: SeriesRow[];
    step?: "hour" | "day";
    /** The first of them. */
    lines?: Line[];
    nLines?: number;
    // dead code
    functions?: number;
    isCoverage?: boolean;
    dead?: Dead[];
    // slow requests
    /** Globs that were chosen. */
    endpoints?: string[];
    /** The slowest of them. */
    slow?: Slow[];
    requests?: number;
}

export const store = block<Store>("index")!;

/** The address of a page, with the choice of this one changed; "" takes away. */
export function addressOf(path: string, change: Record<string, string>): string {
    const { service, version, since, until, by = "" } = store;
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries({ service, version, since, until, by, ...change })) if (value) query.append(key, value);
    for (const label of store.labels) query.append("label", label);
    if (change.label) query.append("label", change.label);
    for (const endpoint of store.endpoints ?? []) query.append("endpoint", endpoint);
    if (store.isForced) query.append("force-merge", "1");
    return `${path}?${query}`;
}
