import type { BusEvent } from './events.ts'

/** Takes events one after the other: `next` waits for one, `takeNow` takes what has come already and is undefined when nothing has. */
export interface EventIterator extends AsyncIterableIterator<BusEvent> {
  takeNow(): BusEvent | undefined
}
