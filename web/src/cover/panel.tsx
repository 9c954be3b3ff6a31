// panel.tsx: what is known of one line: blocks, ways of its conditions, contexts that hit it.
import { count, things } from "../common/format";
import type { Go } from "../common/place";
import { visible } from "../common/visible";
import type { Branch, Index, Line } from "./data";
import { contextName } from "./filter";

function Blocks({ blocks }: { blocks: number[] }) {
    if (blocks.length < 2) return null;
    return (
        <div class="facts">
            <h3>Blocks</h3>
            <ol class="blocks">
                {blocks.map((times, i) => (
                    <li key={i} class={times > 0 ? "" : "is-missed"}>
                        {times > 0 ? count(times) : "missed"}
                    </li>
                ))}
            </ol>
        </div>
    );
}

function wayText(branch: Branch, line: number): string {
    const way = `way ${branch.way + 1}`;
    if (!branch.toLine) return way;
    return `${way}, to ${branch.toLine === line ? "this line" : `line ${count(branch.toLine)}`}`;
}

function Branches({ branches, line }: { branches: Branch[]; line: number }) {
    if (!branches.length) return null;
    const conditions = Math.max(...branches.map((branch) => branch.condition)) + 1;
    return (
        <div class="facts">
            <h3>Branches</h3>
            <table>
                <tbody>
                    {branches.map((branch, i) => (
                        <tr key={i} class={branch.count > 0 ? "" : "is-missed"}>
                            {conditions > 1 && (
                                <td>{branch.way === 0 && `condition ${branch.condition + 1}`}</td>
                            )}
                            <td>{wayText(branch, line)}</td>
                            <td class="is-number">
                                {branch.count > 0
                                    ? count(branch.count)
                                    : branch.isReached
                                      ? "never taken"
                                      : "never reached"}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function hitBy(n: number): string {
    if (n === 0) return "Hit outside all contexts";
    return n === 1 ? "Hit by this context only" : `Hit by ${things(n, "context")}`;
}

const SHOWN_CONTEXTS = 200;

function Contexts({ index, line, context, go }: {
    index: Index;
    line: Line;
    context: number;
    go: Go;
}) {
    const hits = line.touches.filter((touch) => touch.count > 0);
    if (!index.contexts.length || !line.isHit) return null;
    hits.sort((a, b) => b.count - a.count);
    return (
        <div class="facts contexts">
            <h3>{hitBy(hits.length)}</h3>
            <ul>
                {hits.slice(0, SHOWN_CONTEXTS).map((touch) => (
                    <li key={touch.context}>
                        <button
                            type="button"
                            aria-pressed={touch.context === context}
                            title="Show only what this context hit"
                            onClick={() =>
                                go({ with: { context: touch.context === context ? "" : String(touch.context) } })
                            }
                        >
                            <span>{visible(contextName(index.contexts[touch.context]))}</span>
                            <span class="is-number">{count(touch.count)}</span>
                        </button>
                    </li>
                ))}
            </ul>
            {hits.length > SHOWN_CONTEXTS && <p class="dim">and {count(hits.length - SHOWN_CONTEXTS)} more</p>}
        </div>
    );
}

export function LinePanel({ index, number, line, description, context, go }: {
    index: Index;
    number: number;
    line: Line | undefined;
    description: string;
    context: number;
    go: Go;
}) {
    return (
        <section class="panel-part" aria-label={`Line ${number}`} aria-live="polite" tabIndex={0}>
            <h2>Line {count(number)}</h2>
            <p class="line-description">{description[0].toUpperCase() + description.slice(1)}</p>
            {line && <Blocks blocks={line.blocks} />}
            {line && <Branches branches={line.branches} line={number} />}
            {line && <Contexts index={index} line={line} context={context} go={go} />}
        </section>
    );
}
