// syntax.ts: which parts of a line are comment, string, keyword or number. Enough to read by, for the
// languages below; a file of another one stays plain.

export type Kind = "comment" | "string" | "keyword" | "number" | "";
export interface Token {
    kind: Kind;
    text: string;
}

interface Language {
    lineComments: string[];
    /** What goes over several lines: how it begins, and by that how it ends. */
    spans: { kind: Kind; open: RegExp; close: (open: RegExpExecArray) => string }[];
    quotes: string;
    keywords: Set<string>;
}

/** What a line begins in: a span that is still open. */
export interface Open {
    kind: Kind;
    close: string;
}

const words = (text: string) => new Set(text.split(" "));

const lua: Language = {
    lineComments: ["--"],
    spans: [
        { kind: "comment", open: /--\[(=*)\[/y, close: (open) => `]${open[1]}]` },
        { kind: "string", open: /\[(=*)\[/y, close: (open) => `]${open[1]}]` },
    ],
    quotes: "\"'",
    keywords: words(
        "and break do else elseif end false for function goto if in local nil not or repeat " +
            "return then true until while",
    ),
};

const cLike: Language = {
    lineComments: ["//"],
    spans: [{ kind: "comment", open: /\/\*/y, close: () => "*/" }],
    quotes: "\"'`",
    keywords: words(
        "async await break case catch class const continue default delete do else enum export " +
            "extends false finally for function if import in int interface let new null return " +
            "static struct super switch this throw true try typeof unsigned var void while yield",
    ),
};

const python: Language = {
    lineComments: ["#"],
    spans: [{ kind: "string", open: /"""|'''/y, close: (open) => open[0] }],
    quotes: "\"'",
    keywords: words(
        "False None True and as assert async await break class continue def del elif else except " +
            "finally for from global if import in is lambda nonlocal not or pass raise return try " +
            "while with yield",
    ),
};

const byEnding: Record<string, Language> = { lua, py: python };
for (const ending of "c cc cpp cs go h java js jsx kt mjs php rs swift ts tsx".split(" "))
    byEnding[ending] = cLike;

export function languageOf(path: string): Language | undefined {
    return byEnding[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];
}

const word = /[A-Za-z_]\w*/y;
const number = /\d[\w.]*/y;
const quoted: Record<string, RegExp> = {
    '"': /"(?:\\.|[^"\\])*"?/y,
    "'": /'(?:\\.|[^'\\])*'?/y,
    "`": /`(?:\\.|[^`\\])*`?/y,
};

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(line);
}

/** The token that begins at a place of a line, and the span that it leaves open. */
function tokenAt(language: Language, line: string, at: number): { token: Token; open?: Open } {
    for (const span of language.spans) {
        const open = matchAt(span.open, line, at);
        if (!open) continue;
        const close = span.close(open);
        const end = line.indexOf(close, at + open[0].length);
        if (end < 0)
            return { token: { kind: span.kind, text: line.slice(at) }, open: { kind: span.kind, close } };
        return { token: { kind: span.kind, text: line.slice(at, end + close.length) } };
    }
    if (language.lineComments.some((mark) => line.startsWith(mark, at)))
        return { token: { kind: "comment", text: line.slice(at) } };
    if (language.quotes.includes(line[at]))
        return { token: { kind: "string", text: matchAt(quoted[line[at]], line, at)![0] } };
    const name = matchAt(word, line, at);
    if (name) return { token: { kind: language.keywords.has(name[0]) ? "keyword" : "", text: name[0] } };
    const digits = matchAt(number, line, at);
    if (digits) return { token: { kind: "number", text: digits[0] } };
    return { token: { kind: "", text: line[at] } };
}

/** The tokens of a line, neighbours of one kind joined, and what the next line begins in. */
export function tokensOf(language: Language, line: string, begin?: Open): { tokens: Token[]; open?: Open } {
    const tokens: Token[] = [];
    let at = 0;
    let open: Open | undefined;
    if (begin) {
        const end = line.indexOf(begin.close);
        at = end < 0 ? line.length : end + begin.close.length;
        open = end < 0 ? begin : undefined;
        tokens.push({ kind: begin.kind, text: line.slice(0, at) });
    }
    while (at < line.length) {
        const next = tokenAt(language, line, at);
        const last = tokens[tokens.length - 1];
        if (last && last.kind === next.token.kind) last.text += next.token.text;
        else tokens.push(next.token);
        at += next.token.text.length;
        open = next.open;
    }
    return { tokens, open };
}

const MOST_CHARACTERS = 2000000;

/** What each line begins in; undefined: the file stays plain. */
export function openAtLines(language: Language | undefined, lines: string[]): (Open | undefined)[] | undefined {
    const n = lines.reduce((sum, line) => sum + line.length, 0);
    if (!language || n > MOST_CHARACTERS) return undefined;
    const all: (Open | undefined)[] = [];
    let open: Open | undefined;
    for (const line of lines) {
        all.push(open);
        ({ open } = tokensOf(language, line, open));
    }
    return all;
}
