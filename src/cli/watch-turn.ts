import { LandfallError } from '../facts/errors.ts'
import type { Output } from './output.ts'
import type { Settings } from './settings.ts'

interface ServedEvent {
  readonly type: string
  readonly task?: string | null
  readonly seq?: number
  readonly text?: string
  readonly data?: { readonly name?: string }
}

export interface ServedTask {
  readonly id: string
  readonly status?: string
  readonly outcome?: { readonly message?: string }
}

/**
 * A turn as every client of the server has it: it listens, starts the turn, and shows the events as they come until the end. What is
 * printed has gone over the wire.
 */
export async function watchTurn(
  url: string,
  input: string,
  about: { settings: Settings; output: Output },
): Promise<ServedTask> {
  const { settings, output } = about
  const session = `${url}/v1/sessions/${encodeURIComponent(settings.session)}`
  const headers = { 'x-landfall-tenant': settings.tenant, 'x-landfall-user': settings.user }
  const listening = new AbortController()
  const events = await fetch(`${session}/events?after=now`, { headers, signal: listening.signal })
  const { task } = await asked<{ task: string }>(`${session}/tasks`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ action: 'follow_up', input }),
  })
  let inWords = false
  for await (const event of eventsOf(events)) {
    if (event.task !== task) continue
    const isWord = event.type === 'model.delta'
    if (inWords && !isWord) output.live?.write('\n')
    inWords = isWord && output.live !== null
    if (isWord) output.live?.write(event.text ?? '')
    else output.note(`  ${event.type}${event.data?.name === undefined ? '' : ` ${event.data.name}`}`)
    if (/^task\.(completed|failed|cancelled|superseded)$/.test(event.type)) break
  }
  listening.abort()
  return asked<ServedTask>(`${session}/tasks/${task}`, { headers })
}

async function asked<T>(address: string, init: RequestInit): Promise<T> {
  const response = await fetch(address, init)
  const body = (await response.json()) as T & { code?: string; detail?: string }
  if (!response.ok) throw new LandfallError(body.code ?? 'INTERNAL', body.detail ?? 'The server refused.')
  return body
}

async function* eventsOf(response: Response): AsyncGenerator<ServedEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true })
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (data !== undefined) yield JSON.parse(data) as ServedEvent
    }
  }
}
