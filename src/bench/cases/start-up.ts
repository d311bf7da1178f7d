import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { sized } from '../environment.ts'
import { elapsedMs, interleave, median } from '../measure.ts'
import { entryPoints } from '../product.ts'
import { figureRow, type Row } from '../result.ts'

const commandFile = fileURLToPath(new URL('../../cli/main.js', import.meta.url))
const packageFolder = fileURLToPath(new URL('.', import.meta.url))

/** From spawn to exit of a process that must succeed. */
function processMs(args: readonly string[]): Promise<number> {
  return elapsedMs(
    () =>
      new Promise<void>((done, fail) => {
        const child = spawn(process.execPath, args, { cwd: packageFolder, stdio: 'ignore' })
        child.once('error', fail)
        child.once('exit', (code) =>
          code === 0 ? done() : fail(new Error(`node ${args.join(' ')} exited with ${code}`)),
        )
      }),
  )
}

const evaluate = (source: string): readonly string[] => ['--input-type=module', '--eval', source]

/** What a subject costs over bare node, in each round; the floor's column is bare node itself. */
function overBareNode(
  head: { what: string; goal: string },
  subject: readonly number[] | null,
  bare: readonly number[],
): Row {
  const over = subject && median(subject.map((ms, round) => ms - (bare[round] ?? Number.NaN)))
  return { ...figureRow({ ...head, unit: 'ms' }, over, median(bare)), ratio: null }
}

export const startUp: BenchCase = {
  name: 'start-up',
  run: async (env) => {
    const rounds = sized(env, { quick: 3, normal: 15 })
    const command = existsSync(commandFile)
    const samples = await interleave<'bare' | 'library' | 'command'>(
      { rounds },
      {
        bare: () => processMs(evaluate('')),
        library: productOf(env) && (() => processMs(evaluate(`import '${entryPoints.library}'`))),
        command: command ? () => processMs([commandFile, '--version']) : null,
      },
    )
    const bare = samples.bare ?? []
    return resultOf(env, {
      name: 'start-up',
      conditions: `whole processes, ${rounds} interleaved rounds; product: over bare node, floor: bare node`,
      rows: [
        overBareNode({ what: `import '${entryPoints.library}'`, goal: 'product ≤ 100' }, samples.library, bare),
        overBareNode({ what: 'landfall --version', goal: 'product ≤ 150' }, samples.command, bare),
      ],
    })
  },
}
