/**
 * A process of its own that subscribes many times over HTTP, so that reading the streams is not the block that is measured.
 * Arguments: the address of the server, subscribers, sessions, turns of each session. Says `ready` when every stream has begun,
 * and at last one line of JSON: what was delivered, and how many facts were missing or came twice.
 */
import { get, type IncomingMessage } from 'node:http'
import { owner, scopeOf } from './workload.ts'

const [address = '', ...figures] = process.argv.slice(2)
const [subscribers = 0, sessions = 0, turns = 0] = figures.map(Number)
const headers = { 'x-landfall-tenant': owner.tenant, 'x-landfall-user': owner.user }

let deliveries = 0
let faults = 0

/** Ends when the stream has shown the end of every turn. */
function follow(response: IncomingMessage): Promise<void> {
  let rest = ''
  let seq = 0
  let ended = 0
  response.setEncoding('utf8')
  return new Promise((resolve, reject) => {
    response.on('error', reject)
    response.on('end', () => reject(new Error('a stream ended too early')))
    response.on('data', (part: string) => {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === 'event: task.completed') ended += 1
        if (!line.startsWith('data: ')) continue
        const found = Number(/"seq":(\d+)/.exec(line)?.[1])
        if (found !== seq + 1) faults += 1
        seq = found
        deliveries += 1
      }
      // An event is whole when nothing is left of it.
      if (ended < turns || rest !== '') return
      response.removeAllListeners()
      response.on('error', () => {})
      response.destroy()
      resolve()
    })
  })
}

function subscribe(index: number): Promise<IncomingMessage> {
  const { session } = scopeOf(index % sessions)
  return new Promise((resolve, reject) => {
    const request = get(
      `${address}/v1/sessions/${session}/events?ephemeral=false`,
      { headers, agent: false },
      (response) => {
        if (response.statusCode === 200) resolve(response)
        else reject(new Error(`a subscriber was answered with ${response.statusCode}`))
      },
    )
    request.on('error', reject)
  })
}

const together = 50
const responses: IncomingMessage[] = []
for (let first = 0; first < subscribers; first += together) {
  const some = Array.from({ length: Math.min(together, subscribers - first) }, (_, at) => subscribe(first + at))
  responses.push(...(await Promise.all(some)))
}
const followed = Promise.all(responses.map(follow))
process.stdout.write('ready\n')
await followed
process.stdout.write(`${JSON.stringify({ deliveries, faults })}\n`)
