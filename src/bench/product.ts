/**
 * The part of the public library that the cases drive, as pages for users describe it. It is found at run time under the
 * names that a user imports, so that the harness measures the installed package, runs without it, and says so.
 */
export interface Scope {
  readonly tenant: string
  readonly user: string
  readonly session: string
}

export interface Outcome {
  readonly status: string
  readonly calls: { readonly total: number; readonly failed: number }
}

export interface Task {
  readonly id: string
  outcome(): Promise<Outcome>
}

export interface Fact {
  readonly seq: number
  readonly type: string
  readonly task: string | null
  readonly call: string | null
}

export interface Session {
  start(input: string): Promise<Task>
  cancel(command: { readonly task: string }): Promise<unknown>
  state(options?: { readonly at: number }): Promise<{ readonly seq: number }>
  log(range: { readonly after: number; readonly limit: number }): Promise<readonly Fact[]>
}

export interface Events {
  subscribe(observer: { readonly next: (fact: Fact) => void }): { unsubscribe(): void }
}

export interface Runtime {
  session(scope: Scope): Session
  sessions(filter: { readonly tenant: string; readonly user: string }): Promise<readonly unknown[]>
  events(scope: Scope): Events
  close(): Promise<void>
}

export interface RuntimeOptions {
  readonly log: unknown
  readonly model: unknown
  readonly catalog: readonly unknown[]
  readonly context: { readonly windowTokens: number }
}

export interface Product {
  openRuntime(options: RuntimeOptions): Promise<Runtime>
  scriptedModel(script: object): unknown
  defineTool(definition: object): unknown
  sqliteLog(file: string, options: { readonly synchronous: 'FULL' | 'NORMAL' }): unknown
}

export type Loaded<T> = { readonly found: T } | { readonly missing: string }

export const entryPoints = {
  library: 'landfall',
  sqlite: 'landfall/sqlite',
  server: 'landfall/server',
  machines: 'landfall/machines',
} as const

/** Imports a module under its public name; `missing` says why it cannot be had. */
export async function loadModule(specifier: string): Promise<Loaded<Readonly<Record<string, unknown>>>> {
  try {
    return { found: (await import(specifier)) as Readonly<Record<string, unknown>> }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return { missing: `import '${specifier}' fails with ${code}` }
  }
}

export async function loadProduct(): Promise<Loaded<Product>> {
  const library = await loadModule(entryPoints.library)
  if ('missing' in library) return library
  const sqlite = await loadModule(entryPoints.sqlite)
  if ('missing' in sqlite) return sqlite
  const product = { ...library.found, ...sqlite.found }
  return isProduct(product) ? { found: product } : { missing: `not exported: ${missingNames(product).join(', ')}` }
}

const productNames = ['openRuntime', 'scriptedModel', 'defineTool', 'sqliteLog'] as const satisfies (keyof Product)[]

function missingNames(module: Readonly<Record<string, unknown>>): string[] {
  return productNames.filter((name) => typeof module[name] !== 'function')
}

function isProduct(module: object): module is Product {
  return missingNames({ ...module }).length === 0
}
