/** Ids sort by time and differ at their end, so that is what a reader needs of them. */
export function shortId(id: string): string {
  return id.length > 12 ? `…${id.slice(-6)}` : id
}

/** Made once: making one takes longer than drawing a row. */
const clock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })

export function clockTime(at: string): string {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? at : clock.format(time)
}

export function plural(count: number, one: string, more = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : more}`
}

export function asJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}
