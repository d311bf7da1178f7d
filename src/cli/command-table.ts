import type { CliCommand } from './cli-context.ts'

export interface CommandLine {
  /** Name and words, as commander reads them. */
  readonly usage: string
  readonly description: string
  readonly options?: readonly (readonly [flags: string, description: string])[]
  readonly hidden?: true
  /** Loads only what this command needs. */
  readonly load: () => Promise<CliCommand>
}

const commandId = ['--command-id <id>', 'a repeat with the same id gives the first receipt'] as const

const turns: readonly CommandLine[] = [
  {
    usage: 'run [input]',
    description: 'run one turn and print its final answer; - reads the input from standard input',
    options: [commandId],
    load: async () => (await import('./commands/turns.ts')).run,
  },
  {
    usage: 'chat',
    description: 'a session at the terminal: turns, steering, approvals and answers while it works; /help says how',
    load: async () => (await import('./commands/chat.ts')).chat,
  },
  {
    usage: 'follow-up [input]',
    description: 'queue a turn behind what the session has, and wait for its outcome',
    options: [['--requires <success>', 'only if the turn before it completes'], commandId],
    load: async () => (await import('./commands/turns.ts')).followUp,
  },
  {
    usage: 'supersede [input]',
    description: 'replace the active turn by another one, and wait for its outcome',
    options: [['--task <id>', 'refuse unless this is the active task'], commandId],
    load: async () => (await import('./commands/turns.ts')).supersede,
  },
  {
    usage: 'start [input]',
    description: 'serve this folder, with the bundled script unless a model is named; with an input, one turn of it',
    options: [
      ['--once', 'end after the first turn'],
      ['--host <host>', 'where to listen'],
      ['--port <port>', 'where to listen; 0 is any that is free'],
    ],
    hidden: true,
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    usage: 'serve',
    description: 'the protocol over HTTP, until it is interrupted',
    options: [
      ['--host <host>', 'where to listen (default: the loopback)'],
      ['--port <port>', 'where to listen (default: 4180); 0 is any that is free'],
      ['--jwks <place>', 'a file or URL with the public keys that tokens are checked with'],
      ['--issuer <name>', 'what tokens must name as their issuer'],
      ['--audience <name>', 'what tokens must name as their audience'],
      ['--log <level>', 'lines about what happens on standard error: debug, info, warn or error'],
    ],
    load: async () => (await import('./commands/serve.ts')).serve,
  },
]

const operators: readonly CommandLine[] = [
  {
    usage: 'steer [input]',
    description: 'add to the active turn',
    options: [['--task <id>', 'the task that is meant'], ['--mode <mode>', 'boundary or interrupt'], commandId],
    load: async () => (await import('./commands/operators.ts')).steer,
  },
  {
    usage: 'cancel [task]',
    description: 'cancel the active turn, or the named task',
    options: [
      ['--task <id>', 'the task that is meant'],
      ['--reason <text>', 'why, for the log'],
      ['--steering <fate>', 'inherit or expire'],
      commandId,
    ],
    load: async () => (await import('./commands/operators.ts')).cancel,
  },
  {
    usage: 'pause',
    description: 'let the active turn rest as soon as nothing of it is in flight',
    options: [['--task <id>', 'the task that is meant'], commandId],
    load: async () => (await import('./commands/operators.ts')).pause,
  },
  {
    usage: 'resume <token>',
    description: 'settle a pause; show lists the open ones',
    options: [
      ['--decision <decision>', 'approve, reject, resume or timeout'],
      ['--input <text>', 'the answer'],
      commandId,
    ],
    load: async () => (await import('./commands/operators.ts')).resume,
  },
  {
    usage: 'confirm <confirmation> <decision>',
    description: 'allow or deny a call that waits for approval',
    options: [commandId],
    load: async () => (await import('./commands/operators.ts')).confirm,
  },
  {
    usage: 'unblock <task>',
    description: 'let a pending task start although its predecessor did not complete',
    options: [commandId],
    load: async () => (await import('./commands/operators.ts')).unblock,
  },
  {
    usage: 'replace <task> [input]',
    description: 'give a pending task another input',
    options: [commandId],
    load: async () => (await import('./commands/operators.ts')).replace,
  },
  {
    usage: 'acknowledge <calls...>',
    description: 'end the quarantine for the named calls, or for all',
    options: [commandId],
    load: async () => (await import('./commands/operators.ts')).acknowledge,
  },
  ...(['close', 'erase'] as const).map((name) => ({
    usage: name,
    description: name === 'close' ? 'take no more work' : 'close for ever and remove all content; the facts stay',
    options: [['--cancel', 'cancel what is active first'], ['--reason <text>', 'why, for the log'], commandId] as const,
    load: async () => (await import('./commands/operators.ts'))[name],
  })),
  {
    usage: 'restore <file>',
    description: 'go on with the session of a checkpoint, under the name of this one; - reads it from standard input',
    load: async () => (await import('./commands/checkpoints.ts')).restore,
  },
  {
    usage: 'memory [key] [value]',
    description: 'list the notes, print one, or keep one; a value is JSON, or else a text',
    options: [['--of <scope>', 'whose: session, user or tenant'], ['--remove', 'take the note away'], commandId],
    load: async () => (await import('./commands/memory.ts')).memory,
  },
  {
    usage: 'reopen',
    description: 'take work again after a close',
    options: [commandId],
    load: async () => (await import('./commands/operators.ts')).reopen,
  },
]

const page = [
  ['--after <seq>', 'begin after this seq'],
  ['--limit <n>', 'so many at most'],
] as const

const reads: readonly CommandLine[] = [
  {
    usage: 'sessions',
    description: 'list the sessions of the user',
    load: async () => (await import('./commands/reads.ts')).sessions,
  },
  {
    usage: 'show',
    description: 'the state of the session: turns, queue, usage',
    load: async () => (await import('./commands/reads.ts')).show,
  },
  {
    usage: 'tasks',
    description: 'list the tasks of the session',
    load: async () => (await import('./commands/reads.ts')).tasks,
  },
  {
    usage: 'messages',
    description: 'the conversation, with its content',
    options: page,
    load: async () => (await import('./commands/reads.ts')).messages,
  },
  {
    usage: 'log',
    description: 'the facts of the session, one JSON object a line',
    options: [...page, ['--follow', 'go on with what is to come']],
    load: async () => (await import('./commands/log.ts')).log,
  },
  {
    usage: 'replay',
    description: 'the state of the session as it was after a fact',
    options: [['--at <seq>', 'seq of the fact']],
    load: async () => (await import('./commands/reads.ts')).replay,
  },
  {
    usage: 'patch',
    description: 'what the session changed in its workspace, as a patch that git apply takes',
    load: async () => (await import('./commands/reads.ts')).patch,
  },
  {
    usage: 'checkpoint',
    description: 'the session as one portable document',
    options: [['--at <seq>', 'as it was after this fact']],
    load: async () => (await import('./commands/checkpoints.ts')).checkpoint,
  },
  {
    usage: 'ledger',
    description: 'what was called, decided, cancelled and quarantined',
    options: page,
    load: async () => (await import('./commands/checkpoints.ts')).ledger,
  },
  {
    usage: 'verify',
    description: 'check chain, heads, invariants, content and every request; reads only',
    options: [
      ['--all', 'all tenants and users'],
      ['--head <file>', 'heads kept elsewhere: a file with what verify printed once'],
    ],
    load: async () => (await import('./commands/verify.ts')).verify,
  },
]

const tools: readonly CommandLine[] = [
  {
    usage: 'machines [name]',
    description: 'the charts of session, task, call and group, or those of a module of your own',
    options: [
      ['--format <format>', 'mermaid, svg or json'],
      ['--open', 'show them in a browser, with a simulator'],
    ],
    load: async () => (await import('./commands/machines.ts')).machines,
  },
  {
    usage: 'doctor',
    description: 'what works on this machine, and why not',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    usage: 'bench',
    description: 'measure against the floor of the same machine',
    options: [
      ['--quick', 'fewer repetitions'],
      ['--long', 'more repetitions'],
      ['--only <names>', 'cases, separated by commas'],
    ],
    load: async () => (await import('./commands/bench.ts')).bench,
  },
]

export const commandTable: readonly CommandLine[] = [...turns, ...operators, ...reads, ...tools]
