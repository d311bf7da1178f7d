import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

export interface Tab<N extends string> {
  readonly name: N
  readonly label: string
  readonly show: () => ComponentChildren
}

interface TabsOf<N extends string> {
  readonly label: string
  readonly tabs: readonly Tab<N>[]
  readonly chosen: N
  readonly onChoose: (name: N) => void
}

/** Panels of which one is shown; arrow keys move between their names. */
export function Tabs<N extends string>({ label, tabs, chosen, onChoose }: TabsOf<N>) {
  const list = useRef<HTMLDivElement>(null)
  const at = Math.max(
    tabs.findIndex(({ name }) => name === chosen),
    0,
  )
  const go = (index: number) => {
    const next = tabs[(index + tabs.length) % tabs.length]
    if (next === undefined) return
    onChoose(next.name)
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
            onClick={() => onChoose(tab.name)}
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
