import { scriptedModel } from '../../models/scripted-model.ts'
import { type CliContext, textArgument } from '../cli-context.ts'
import { chooseDemo } from '../demo/choose-demo.ts'
import { turn } from './turns.ts'

/** A real turn on the folder at hand, with a model that needs no key and no network. It leaves an ordinary log. */
export async function demo(context: CliContext): Promise<number> {
  const { output } = context
  const { script, question, settings, workspace, before, after } = await chooseDemo(context.settings)
  const asked = { ...context, settings, args: [textArgument(context, 0) ?? question] }
  if (before !== null) output.note(before)
  const options = { model: scriptedModel(script), workspace }
  const code = await turn(asked, ({ session }, text) => session.start(text), options)
  if (after !== null) output.note(after)
  output.note(`The log is in ${settings.db}. Check it with: npx landfall verify`)
  output.note('Then: npx landfall log, npx landfall show, npx landfall replay --at 5, npx landfall machines')
  return code
}
