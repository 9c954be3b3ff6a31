// tabs.tsx: the views of a page.

export interface TabsProps {
    views: { id: string; name: string }[];
    /** The id of the one that is shown. */
    current: string;
    onChoose: (id: string) => void;
}

export function Tabs({ views, current, onChoose }: TabsProps) {
    return (
        <div class="tabs" role="tablist">
            {views.map(({ id, name }) => (
                <button type="button" role="tab" key={id} aria-selected={id === current} onClick={() => onChoose(id)}>
                    {name}
                </button>
            ))}
        </div>
    );
}
