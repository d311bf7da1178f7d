import { type DestinationStream, destination, type Logger as PinoLogger, pino } from 'pino'

export interface PinoLoggerOptions {
  /** Absent: `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
  /** Absent: standard error. */
  readonly stream?: DestinationStream
}

/** A logger for `openRuntime` and for `telemetry`: one JSON object a line. A pino logger of the host's own does as well. */
export function pinoLogger({ level = 'info', stream }: PinoLoggerOptions = {}): PinoLogger {
  return pino({ name: 'landfall', level, base: null }, stream ?? destination({ dest: 2, sync: true }))
}
