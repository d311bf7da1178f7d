import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type PageData, pageDataId } from '../page-data.ts'
import { ChartDrawing } from './chart-drawing.tsx'
import './page.css'
import './chart-page.css'
import { CommandList } from './command-list.tsx'
import { EventList } from './event-list.tsx'
import { HistoryList } from './history-list.tsx'
import { createPageStore, type PageStore, play, playedEvents, type Theme } from './page-store.ts'
import { StatePanel } from './state-panel.tsx'

function usePage(store: PageStore) {
  const [state, setState] = useState(store.getSnapshot().context)
  useEffect(() => {
    const subscription = store.subscribe(({ context }) => setState(context))
    return () => subscription.unsubscribe()
  }, [store])
  return state
}

function ChartPage({ store }: { store: PageStore }) {
  const state = usePage(store)
  const { chart, simulation, problem } = state
  const events = playedEvents(state)
  const last = simulation?.steps.at(-1)
  useEffect(() => {
    if (state.theme === 'auto') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = state.theme
  }, [state.theme])
  return (
    <>
      <PageHeader store={store} />
      <main>
        <section class="drawing" aria-label={`The ${chart.name} chart`}>
          {chart.description === null ? null : <p class="description">{chart.description}</p>}
          {'problem' in chart.drawing ? (
            <p class="undrawn">{chart.drawing.problem}</p>
          ) : (
            <ChartDrawing
              svg={chart.drawing.svg}
              zoom={state.zoom}
              active={last?.active ?? []}
              took={last?.took ?? []}
              onEvent={(type) => {
                const found = simulation?.choices.filter(({ event }) => event.type === type) ?? []
                const choice = found.find(({ leads }) => leads === 'on') ?? found[0]
                if (choice !== undefined) void play(store, [...events, choice.event])
              }}
            />
          )}
        </section>
        <aside aria-label="Simulator">
          <p class="problem" role="alert">
            {problem}
          </p>
          <StatePanel step={last ?? null} unbegun={state.unbegun} />
          <CommandList
            choices={simulation?.commands ?? []}
            due={simulation?.due ?? null}
            onEvent={(event) => void play(store, [...events, event])}
          />
          <EventList
            choices={simulation?.choices ?? []}
            isOver={last !== undefined && last.status !== 'active'}
            onEvent={(event) => void play(store, [...events, event])}
          />
          <HistoryList
            steps={simulation?.steps ?? []}
            input={state.input}
            onGo={(count) => void play(store, events.slice(0, count))}
            onBegin={(input) => void play(store, [], input)}
          />
        </aside>
      </main>
    </>
  )
}

const themes: readonly Theme[] = ['auto', 'light', 'dark']
const zooms = [
  { zoom: 0, label: 'Fit' },
  { zoom: 0.5, label: '50 %' },
  { zoom: 1, label: '100 %' },
] as const

function PageHeader({ store }: { store: PageStore }) {
  const { charts, chart, theme, zoom } = usePage(store)
  return (
    <header>
      <h1>Charts</h1>
      <nav aria-label="Charts">
        {charts.map((each) => (
          <button
            type="button"
            key={each.name}
            aria-current={each === chart ? 'page' : undefined}
            onClick={() => store.trigger.choose({ chart: each })}
          >
            {each.name}
          </button>
        ))}
      </nav>
      <fieldset class="choice">
        <legend>Size</legend>
        {zooms.map((each) => (
          <label key={each.label}>
            <input
              type="radio"
              name="zoom"
              checked={zoom === each.zoom}
              onChange={() => store.trigger.zoom({ zoom: each.zoom })}
            />
            {each.label}
          </label>
        ))}
      </fieldset>
      <fieldset class="choice">
        <legend>Colours</legend>
        {themes.map((each) => (
          <label key={each}>
            <input
              type="radio"
              name="theme"
              checked={theme === each}
              onChange={() => store.trigger.theme({ theme: each })}
            />
            {each}
          </label>
        ))}
      </fieldset>
    </header>
  )
}

const place = document.getElementById('page')
const { charts }: PageData = JSON.parse(document.getElementById(pageDataId)?.textContent ?? '{"charts":[]}')
const [first] = charts
if (place !== null && first !== undefined) render(<ChartPage store={createPageStore(charts, first)} />, place)
