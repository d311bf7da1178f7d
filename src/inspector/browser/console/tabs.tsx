import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'

export interface Tab {
  readonly name: string
  readonly label: string
  readonly show: () => ComponentChildren
}

/** Panels of which one is shown; arrow keys move between their names. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(tabs[0]?.name)
  const list = useRef<HTMLDivElement>(null)
  const at = Math.max(
    tabs.findIndex(({ name }) => name === chosen),
    0,
  )
  const go = (index: number) => {
    const next = tabs[(index + tabs.length) % tabs.length]
    if (next === undefined) return
    setChosen(next.name)
    list.current?.querySelector<HTMLElement>(`#tab-${next.name}`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }
    const to = moves[event.key]
    if (to === undefined) return
    event.preventDefault()
    go(to)
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab, index) => (
          <button
            type="button"
            role="tab"
            key={tab.name}
            id={`tab-${tab.name}`}
            aria-selected={index === at}
            aria-controls={`panel-${tab.name}`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setChosen(tab.name)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      {tabs.map((tab, index) => (
        <div
          role="tabpanel"
          key={tab.name}
          id={`panel-${tab.name}`}
          aria-labelledby={`tab-${tab.name}`}
          hidden={index !== at}
        >
          {index === at ? tab.show() : null}
        </div>
      ))}
    </div>
  )
}
