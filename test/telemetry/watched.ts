import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import type { Logger } from '../../src/facts/ports.ts'
import type { Runtime } from '../../src/runtime/open-runtime.ts'
import { pinoLogger } from '../../src/telemetry/pino-logger.ts'
import { SpanIds } from '../../src/telemetry/span-ids.ts'
import { type Telemetry, telemetry } from '../../src/telemetry/telemetry.ts'

export interface Watched {
  readonly telemetry: Telemetry
  readonly lines: Record<string, unknown>[]
  spans(): ReadableSpan[]
  span(name: string): ReadableSpan
  metrics(): Promise<unknown>
}

/** Telemetry of a runtime into memory, through the real pino and the real SDK. */
export async function watch(runtime: Runtime, options: { content?: boolean } = {}): Promise<Watched> {
  const spanIds = new SpanIds()
  const spans = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ idGenerator: spanIds, spanProcessors: [new SimpleSpanProcessor(spans)] })
  const numbers = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: numbers, exportIntervalMillis: 2 ** 30 })
  const meters = new MeterProvider({ readers: [reader] })
  const lines: Record<string, unknown>[] = []
  const logger: Logger = pinoLogger({ level: 'debug', stream: { write: (line) => void lines.push(JSON.parse(line)) } })
  const [tracer, meter] = [provider.getTracer('test'), meters.getMeter('test')]
  const watching = await telemetry(runtime, { logger, tracer, meter, spanIds, ...options })
  return {
    telemetry: watching,
    lines,
    spans: () => spans.getFinishedSpans(),
    span: (name) => {
      const found = spans.getFinishedSpans().find((each) => each.name === name)
      if (found === undefined)
        throw new Error(`no span ${name} in ${spans.getFinishedSpans().map((each) => each.name)}`)
      return found
    },
    metrics: async () => {
      await reader.forceFlush()
      const all =
        numbers
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
      await meters.shutdown()
      return all
    },
  }
}
