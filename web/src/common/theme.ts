// theme.ts: light or dark, as the system says or as the reader chose.
import { useEffect } from "preact/hooks";

export type Theme = "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");

export function themeOf(chosen: string | undefined): Theme {
    if (chosen === "light" || chosen === "dark") return chosen;
    return system.matches ? "dark" : "light";
}

/** Styles go by the attribute; without one they follow the system. */
export function useTheme(chosen: string | undefined): void {
    useEffect(() => {
        if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
        else delete document.documentElement.dataset.theme;
    }, [chosen]);
}
