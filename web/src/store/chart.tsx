// chart.tsx: a line for each service and version: what one profile has, by the hour or the day.
import { count } from "../common/format";
import { visibleText } from "../common/visible";
import { time } from "../profile/units";
import { type Line, type SeriesRow, store } from "./data";

const momentOf = ([key]: SeriesRow) => Date.parse(`${key.replace(" ", "T")}${key.length > 10 ? "" : "T00:00"}Z`);

const nameOf = ({ service, version }: Line) => visibleText([service, version].filter(Boolean).join(" "));

export function Chart() {
    const { lines = [], nLines: n = 0, unit = "ns", step } = store;
    const hasTimes = lines.some(({ rows }) => rows.some(([, , , self]) => self > 0));
    const valueOf = ([, , , , calls, self]: SeriesRow) => (hasTimes ? self : (calls ?? 0));
    const text = (value: number) => (hasTimes ? time({ unit }, value) : `${count(value)} calls`);
    const known = lines.map((line) => ({ line, rows: line.rows.filter(([key]) => key !== "unknown") }));
    const all = known.flatMap(({ rows }) => rows);
    if (!all.length) return null;
    const moments = all.map(momentOf);
    const [first, last] = [Math.min(...moments), Math.max(...moments)];
    const most = Math.max(...all.map(valueOf), 1);
    const x = (row: SeriesRow) => (last > first ? (96 * (momentOf(row) - first)) / (last - first) + 2 : 50);
    const y = (row: SeriesRow) => 94 - (88 * valueOf(row)) / most;
    const ends = [...all].sort((a, b) => momentOf(a) - momentOf(b));
    const what = `${hasTimes ? "Time" : "Calls"} of one profile, by the ${step}`;
    return (
        <section class="panel-part chart" aria-label={what}>
            <h2>{what}</h2>
            <div class="chart-area">
                <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
                    <path class="chart-base" d="M0 94H100" />
                    {known.map(({ line, rows }, i) => (
                        <polyline key={nameOf(line)} class={`line-${i}`} points={rows.map((row) => `${x(row)},${y(row)}`).join(" ")} />
                    ))}
                </svg>
                <span class="chart-most dim">{text(most)}</span>
                {known.map(({ line, rows }, i) =>
                    rows.map((row) => (
                        <span
                            key={`${i}-${row[0]}`}
                            class={`dot line-${i}`}
                            style={{ left: `${x(row)}%`, top: `${y(row)}%` }}
                            title={`${nameOf(line)}, ${row[0]}: ${text(valueOf(row))} in each of ${count(row[1])}`}
                        />
                    )),
                )}
            </div>
            <p class="chart-ends dim">
                <span>{ends[0][0]}</span>
                {last > first && <span>{ends[ends.length - 1][0]} UTC</span>}
            </p>
            <ul class="legend">
                {known.map(({ line, rows }, i) => (
                    <li key={nameOf(line)}>
                        <span class={`dot line-${i}`} aria-hidden="true" />
                        {nameOf(line) || "without a name"}
                        <span class="dim"> {rows.length > 0 && text(valueOf(rows[rows.length - 1]))}</span>
                    </li>
                ))}
                {n > lines.length && <li class="dim">{`and ${count(n - lines.length)} more services and versions`}</li>}
            </ul>
        </section>
    );
}
