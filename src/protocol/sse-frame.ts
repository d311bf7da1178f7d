import { type BusEvent, isFact } from '../bus/events.ts'

const encoder = new TextEncoder()

/** Every subscriber is given the same frozen object, so its frame is made once for all of them. */
const frames = new WeakMap<BusEvent, Uint8Array>()

export function frameOf(event: BusEvent): Uint8Array {
  const known = frames.get(event)
  if (known !== undefined) return known
  const frame = encoder.encode(`${idOf(event)}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  frames.set(event, frame)
  return frame
}

/** A client that is cut off goes on behind the last id: for lost facts that is the position before them. */
function idOf(event: BusEvent): string {
  return isFact(event) || event.type === 'bus.dropped' ? `id: ${event.resume}\n` : ''
}

/** Sets where a client goes on from before it has seen an event. */
export function positionFrame(position: string): Uint8Array {
  return encoder.encode(`id: ${position}\n\n`)
}

export function commentFrame(remark: string): Uint8Array {
  return encoder.encode(`: ${remark}\n\n`)
}

export function retryFrame(ms: number): Uint8Array {
  return encoder.encode(`retry: ${ms}\n\n`)
}

interface Joined {
  readonly frames: readonly Uint8Array[]
  readonly bytes: Uint8Array
}

/** By the first frame: what was last joined behind it. */
const joins = new WeakMap<Uint8Array, Joined>()

/** Subscribers of one session are mostly given the same frames at once, so these are put together once for all of them. */
export function joinedFrames(frames: readonly Uint8Array[]): Uint8Array {
  const first = frames[0]
  if (first === undefined) return new Uint8Array()
  if (frames.length === 1) return first
  const known = joins.get(first)
  if (known?.frames.length === frames.length && frames.every((frame, at) => frame === known.frames[at]))
    return known.bytes
  const bytes = Buffer.concat(frames)
  joins.set(first, { frames, bytes })
  return bytes
}
