// measure.ts: what frames are as wide as, and lists are about: time, the part of it on the processor or off
// it, or what was allocated.
import { type Index, type Recording, type Run, type SideColumns, tickOf } from "./data";
import { type Recorded, Tree } from "./tree";

export type Measure = "time" | "run" | "wait" | "bytes" | "objects";

interface Words {
    /** In the list of measures. */
    name: string;
    /** Of the columns: of a function itself, and with all that it called. */
    self: string;
    total: string;
}

const words: Record<Measure, Words> = {
    time: { name: "Time", self: "Self", total: "Total" },
    run: { name: "Run time", self: "Self run", total: "Total run" },
    wait: { name: "Waiting", self: "Self wait", total: "Total wait" },
    bytes: { name: "Allocated bytes", self: "Bytes", total: "Bytes total" },
    objects: { name: "Allocated objects", self: "Objects", total: "Objects total" },
};

/** Whether reports distinguish run time from elapsed time: 1 % of one run was off the processor. */
export const isWaiting = ({ recorded, hasWaits }: Pick<Index, "recorded" | "hasWaits">) =>
    hasWaits && recorded.some((run) => run.off > 0 && run.total / run.off <= 100);

export function measuresOf(index: Index): Measure[] {
    if (!index.hasTree) return ["time"];
    return [
        "time",
        ...(index.hasTimes && isWaiting(index) ? (["run", "wait"] as const) : []),
        ...(index.hasMemory ? (["bytes", "objects"] as const) : []),
    ];
}

/** What "time" is in a run that counted something else, or calls alone. */
export function nameOf(index: Index, measure: Measure): string {
    const { unit } = index.run;
    if (measure !== "time" || unit === "ns") return words[measure].name;
    return unit[0].toUpperCase() + unit.slice(1);
}

export const headsOf = ({ measure }: Index) => words[measure];

function sideOf(columns: SideColumns, index: Index, run: Run, measure: Measure): Recorded {
    const { calls, self, off, bytes, objects } = columns;
    const tick = tickOf(run);
    if (measure === "bytes") return { calls, self: bytes!, tick: 1 };
    if (measure === "objects") return { calls, self: objects!, tick: 1 };
    if (measure === "wait") return { calls, self: off!, tick };
    if (measure === "run") return { calls, self: self.map((ticks, node) => ticks - off![node]), tick };
    if (!index.hasTimes) return { calls, self: calls, tick: 1 };
    return { calls, self, off: isWaiting(index) ? off : undefined, tick };
}

export function treeOf(recording: Recording, index: Index, measure: Measure): Tree {
    const { parent, method, now, base } = recording;
    return new Tree(parent, method, sideOf(now, index, index.run, measure), base && sideOf(base, index, index.base!, measure));
}

/** The runs in units of a measure. @param tree  of it */
export function measured(index: Index, tree: Tree, measure: Measure): Index {
    if (measure === "time") return index;
    const isTime = measure === "run" || measure === "wait";
    const of = (run: Run, total: number): Run => ({ ...run, total, unit: isTime ? run.unit : measure, isEstimated: false });
    return {
        ...index,
        measure,
        run: of(index.run, tree.total[0]),
        base: index.base && of(index.base, tree.base!.total[0]),
        hasTimes: true,
    };
}
