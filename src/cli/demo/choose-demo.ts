import { isLandfallError } from '../../facts/errors.ts'
import { limits } from '../../facts/limits.ts'
import type { Script } from '../../models/script.ts'
import { copySource } from '../../workspace/copy-source.ts'
import { openSandbox } from '../../workspace/open-workspace.ts'
import type { Settings } from '../settings.ts'
import { demoScript } from './demo-script.ts'
import { repairScript } from './repair-script.ts'

export interface Demo {
  readonly script: Script
  readonly question: string
  readonly settings: Settings
  readonly workspace: string
  /** What is worth saying before it and after it. */
  readonly before: string | null
  readonly after: string | null
}

/** What is made from other files of a folder, and not worth a copy. */
const exclude = ['node_modules', 'dist', 'build', 'coverage']

/** Where programs can be isolated the demonstration changes a copy of the folder and tests it; elsewhere it reads, and says so. */
export async function chooseDemo(settings: Settings, ownModel = false): Promise<Demo> {
  const workspace = settings.workspace ?? '.'
  const question = 'What is in this folder?'
  // What a model of the user's own will do is not known, so nothing is chosen for it.
  if (ownModel) return { script: demoScript, question, settings, workspace, before: null, after: null }
  const why = await whyReadOnly(workspace, settings)
  if (why === null)
    return {
      script: repairScript,
      question: 'Write a program, and test it.',
      settings: { ...settings, exclude },
      workspace,
      before: null,
      after: 'The folder was not touched. What changed in its copy, as a patch: npx landfall patch',
    }
  return {
    script: demoScript,
    question,
    settings: { ...settings, isolation: 'none' },
    workspace,
    before: `This demonstration only reads the folder: ${why}`,
    after: null,
  }
}

/** null: a copy of the folder can be worked on. */
async function whyReadOnly(from: string, settings: Settings): Promise<string | null> {
  const { isolation = 'auto', image } = settings
  if (isolation === 'none') return '--isolation none says so.'
  const sandbox = await openSandbox({ from, isolation, ...(image === undefined ? {} : { image }) }, limits)
  if (sandbox === null)
    return 'there is no sandbox here to change files and run programs in. On Linux: apt-get install -y bubblewrap. See landfall doctor.'
  try {
    await copySource(from, limits, exclude)
    return null
  } catch (error) {
    if (isLandfallError(error, 'LIMIT_EXCEEDED')) return `it is too large to copy. ${error.message}`
    throw error
  }
}
