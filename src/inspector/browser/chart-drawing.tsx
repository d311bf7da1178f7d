import { useEffect, useRef } from 'preact/hooks'
import { edgesIn } from '../edge-list.ts'

interface Drawing {
  readonly svg: string
  readonly zoom: number
  readonly active: readonly string[]
  readonly took: readonly string[]
  /** Whether it brings what is active into sight; absent: it does, wherever the reader is. */
  readonly follows?: boolean
  /** The name of an event in the drawing was clicked. */
  readonly onEvent: (type: string) => void
}

/** The drawn chart, with what is active and what was taken marked in it. */
export function ChartDrawing({ svg, zoom, active, took, follows = true, onEvent }: Drawing) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (place.current !== null) mark(place.current, new Set(active), new Set(took))
  }, [svg, active, took])
  useEffect(() => {
    const drawn = place.current?.querySelector('svg')
    if (drawn == null) return
    const width = Number(drawn.viewBox.baseVal.width)
    drawn.style.width = zoom === 0 ? '100%' : `${Math.round(width * zoom)}px`
    drawn.style.maxWidth = zoom === 0 ? `${width}px` : 'none'
  }, [svg, zoom])
  useEffect(() => {
    if (zoom === 0 || !follows) return
    const innermost = [...(place.current?.querySelectorAll('.atomic.active, .final.active') ?? [])][0]
    if (innermost !== undefined && !isWellInside(innermost, place.current?.parentElement))
      innermost.scrollIntoView({ block: 'center', inline: 'center' })
  }, [active, zoom, follows])
  useEffect(() => {
    const drawn = place.current
    if (drawn === null) return
    const clicked = ({ target }: MouseEvent) => {
      const words = target instanceof Element ? target.closest('.event') : null
      if (words !== null) onEvent((words.textContent ?? '').trim().replace(/,$/, ''))
    }
    drawn.addEventListener('click', clicked)
    return () => drawn.removeEventListener('click', clicked)
  }, [onEvent])
  // The drawing comes from the server of this page, which escapes every name in it.
  return <div class="chart" ref={place} dangerouslySetInnerHTML={{ __html: svg }} />
}

const edge = 24

function isWellInside(state: Element, around: Element | null | undefined): boolean {
  if (around == null) return true
  const [inner, outer] = [state.getBoundingClientRect(), around.getBoundingClientRect()]
  return (
    inner.left >= outer.left + edge &&
    inner.right <= outer.right - edge &&
    inner.top >= outer.top + edge &&
    inner.bottom <= Math.min(outer.bottom, innerHeight) - edge
  )
}

function mark(place: HTMLElement, active: ReadonlySet<string>, took: ReadonlySet<string>): void {
  for (const state of place.querySelectorAll<SVGElement>('[data-state]'))
    state.classList.toggle('active', active.has(state.dataset.state ?? ''))
  for (const told of place.querySelectorAll<SVGElement>('.arrow, .label'))
    told.classList.toggle(
      'taken',
      edgesIn(told.dataset.edges ?? '').some((edge) => took.has(edge)),
    )
}
