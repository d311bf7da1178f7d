import { after } from './browser-timers.ts'
import { type ConsoleStore, type Place, type View, views } from './console-store.ts'

/** Browsers refuse to write an address too often, and a slider moves often. */
const restMs = 250

/** Where the reader is, as it stands in the address: it can be linked to, and a reload leads there again. */
export function placeInAddress(): Place {
  const [, name = '', query = ''] = /^#\/([^?]+)(?:\?(.*))?$/.exec(location.hash) ?? []
  const given = new URLSearchParams(query)
  const at = Number(given.get('at'))
  const view = views.find((each) => each === given.get('view'))
  try {
    const session = name === '' ? null : decodeURIComponent(name)
    return { session, at: Number.isSafeInteger(at) && at > 0 ? at : null, view }
  } catch {
    return { session: null }
  }
}

/** Browsers fold these names out of a path, however they are written. */
export function isFolded(session: string): boolean {
  return session === '.' || session === '..'
}

export function addressOf({ session, at, view }: Place): string {
  if (session === null) return '#'
  const query = new URLSearchParams()
  if (at != null) query.set('at', String(at))
  if (view !== undefined && view !== views[0]) query.set('view', view)
  return `#/${encodeURIComponent(session)}${query.size === 0 ? '' : `?${query}`}`
}

/** Keeps the address at what is shown, without a step in the history for each moment that is passed. */
export function keepAddress(store: ConsoleStore): void {
  let callOff = () => {}
  let written: readonly unknown[] = []
  store.subscribe(({ context: { session, at, wanted, view } }) => {
    const place = [session, at ?? wanted, view] as const
    if (place.every((each, index) => each === written[index])) return
    written = place
    callOff()
    callOff = after(restMs, () => history.replaceState(null, '', addressOf({ session, at: place[1], view })))
  })
}

/** The address was changed by a link or by the reader. */
export function onAddress(store: ConsoleStore, open: (place: Place) => void): void {
  addEventListener('hashchange', () => {
    const place = placeInAddress()
    const { session, at } = store.getSnapshot().context
    if (place.session !== session) return open(place)
    const view: View | undefined = place.view
    if (view !== undefined) store.trigger.view({ view })
    if (place.at !== undefined && place.at !== at) store.trigger.look({ at: place.at })
  })
}
