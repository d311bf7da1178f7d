import { createStore } from '@xstate/store'

interface Progress {
  /** Words of the answer that is coming. */
  readonly text: string
  /** Names of the calls that were asked for, by id. */
  readonly names: { readonly [call: string]: string }
  /** Tasks whose end has been shown. */
  readonly ended: readonly string[]
  /** What each paused task waits for. */
  readonly waitsFor: { readonly [task: string]: string }
}

const nothingYet: Progress = { text: '', names: {}, ended: [], waitsFor: {} }

/** What a terminal knows of the work that it looks on at: a projection of the session's events, like every other view. */
export function progressStore() {
  return createStore({
    context: nothingYet,
    on: {
      words: (context, event: { text: string }) => ({ ...context, text: context.text + event.text }),
      said: (context) => ({ ...context, text: '' }),
      asked: (context, event: { call: string; name: string }) => ({
        ...context,
        names: { ...context.names, [event.call]: event.name },
      }),
      paused: (context, event: { task: string; reasons: string }) => ({
        ...context,
        waitsFor: { ...context.waitsFor, [event.task]: event.reasons },
      }),
      resumed: (context, event: { task: string }) => {
        const { [event.task]: _over, ...waitsFor } = context.waitsFor
        return { ...context, waitsFor }
      },
      ended: (context, event: { task: string }) => ({ ...context, ended: [...context.ended, event.task] }),
    },
  })
}

export type ProgressStore = ReturnType<typeof progressStore>

/** Resolves with the first answer that is not null, now or when the progress changes. */
export function whenProgress<T>(store: ProgressStore, ask: (progress: Progress) => T | null): Promise<T> {
  return new Promise((resolve) => {
    const now = ask(store.getSnapshot().context)
    if (now !== null) return resolve(now)
    const subscription = store.subscribe(({ context }) => {
      const answer = ask(context)
      if (answer === null) return
      subscription.unsubscribe()
      resolve(answer)
    })
  })
}
