// tabs.tsx: the views of a page; on a narrow screen a row that scrolls.
import { useLayoutEffect, useRef } from "preact/hooks";

export interface TabsProps {
    views: { id: string; name: string }[];
    /** The id of the one that is shown. */
    current: string;
    onChoose: (id: string) => void;
}

export function Tabs({ views, current, onChoose }: TabsProps) {
    const list = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }, [current]);
    return (
        <div class="tabs" role="tablist" ref={list}>
            {views.map(({ id, name }) => (
                <button type="button" role="tab" key={id} aria-selected={id === current} onClick={() => onChoose(id)}>
                    {name}
                </button>
            ))}
        </div>
    );
}
