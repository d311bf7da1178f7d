import { scriptedModel } from '../../models/scripted-model.ts'
import { type CliContext, textArgument } from '../cli-context.ts'
import { demoScript } from '../demo/demo-script.ts'
import { turn } from './turns.ts'

/** A real turn on the folder at hand, with a model that needs no key and no network. It leaves an ordinary log. */
export async function demo(context: CliContext): Promise<number> {
  const { output, settings } = context
  const input = textArgument(context, 0) ?? 'What is in this folder?'
  const asked = { ...context, args: [input] }
  const options = { model: scriptedModel(demoScript), workspace: settings.workspace ?? '.' }
  const code = await turn(asked, ({ session }, text) => session.start(text), options)
  output.note(`The log is in ${settings.db}. Check it with: npx landfall verify`)
  output.note('Then: npx landfall log, npx landfall show, npx landfall replay --at 5, npx landfall machines')
  return code
}
