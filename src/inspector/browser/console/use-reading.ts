import { useEffect, useState } from 'preact/hooks'
import { ApiProblem } from './api.ts'
import { after } from './browser-timers.ts'

const restMs = 150

export interface Reading<T> {
  /** What it is of; while another one is on its way it is of the one before. */
  readonly key: string | null
  readonly value: T | null
  readonly problem: string
}

/** Something of the server, read again when its key is another one. While keys change quickly nothing is asked for. */
export function useReading<T>(key: string | null, read: (signal: AbortSignal) => Promise<T>): Reading<T> {
  const [found, setFound] = useState<Reading<T>>({ key: null, value: null, problem: '' })
  useEffect(() => {
    if (key === null) return
    const over = new AbortController()
    const callOff = after(restMs, () => {
      read(over.signal)
        .then((value) => setFound({ key, value, problem: '' }))
        .catch((error: unknown) => {
          if (over.signal.aborted) return
          const problem = error instanceof ApiProblem ? `${error.code}: ${error.message}` : 'It could not be read.'
          setFound({ key, value: null, problem })
        })
    })
    return () => {
      callOff()
      over.abort()
    }
    // The key says what is read, so a new reader of the same is none.
  }, [key])
  return found
}
