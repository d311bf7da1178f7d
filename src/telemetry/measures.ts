/** What is measured: the names of OpenTelemetry, with GenAI conventions where there are any. Labels hold no scope and no id. */
export const measures = {
  tokens: {
    name: 'gen_ai.client.token.usage',
    kind: 'histogram',
    unit: '{token}',
    help: 'Tokens of model requests.',
    bounds: [1, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576],
  },
  requests: {
    name: 'gen_ai.client.operation.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Model requests, from the fact that sends one to the fact that ends it.',
    bounds: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  calls: {
    name: 'landfall.call.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Calls that started, from start to outcome.',
    bounds: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300],
  },
  tasks: {
    name: 'landfall.task.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Tasks, from their creation to their one end.',
    bounds: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600],
  },
  served: {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Requests that the server has answered.',
    bounds: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
  },
  facts: { name: 'landfall.facts', kind: 'counter', unit: '{fact}', help: 'Facts that this process has written.' },
  retries: {
    name: 'landfall.model.retries',
    kind: 'counter',
    unit: '{request}',
    help: 'Model requests that failed and are tried again.',
  },
  refused: { name: 'landfall.calls.refused', kind: 'counter', unit: '{call}', help: 'Calls that were not started.' },
  withheld: {
    name: 'landfall.redaction.failures',
    kind: 'counter',
    unit: '{failure}',
    help: 'Values that were withheld because the redactor failed.',
  },
  queued: { name: 'landfall.tasks.queued', kind: 'gauge', unit: '{task}', help: 'Tasks that wait for their start.' },
  active: { name: 'landfall.tasks.active', kind: 'gauge', unit: '{task}', help: 'Tasks that have started.' },
  quarantined: {
    name: 'landfall.calls.quarantined',
    kind: 'gauge',
    unit: '{call}',
    help: 'Changes with unknown outcome that nobody has acknowledged.',
  },
  pauses: { name: 'landfall.pauses.open', kind: 'gauge', unit: '{pause}', help: 'Pauses that wait for somebody.' },
} as const satisfies { readonly [name: string]: Measure }

export interface Measure {
  readonly name: string
  readonly kind: 'counter' | 'histogram' | 'gauge'
  readonly unit: string
  readonly help: string
  /** Upper bounds of the buckets of a histogram. */
  readonly bounds?: readonly number[]
}

export type MeasureName = keyof typeof measures
export type Labels = { readonly [name: string]: string }
