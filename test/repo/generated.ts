import type { AnyStateMachine } from 'xstate'
import { callMachine, groupMachine, sessionMachine, taskMachine } from '../../machines/public.ts'
import { factCatalogue } from '../../src/facts/schemas.ts'
import { chartGraph } from '../../src/inspector/chart-graph.ts'
import { layoutChart } from '../../src/inspector/chart-layout.ts'
import { chartSvg } from '../../src/inspector/chart-svg.ts'
import { mermaidOf } from '../../src/inspector/mermaid.ts'

const anew = '`UPDATE=1 npx vitest run test/repo/generated.test.ts` writes it anew.'

/** Documents that are made from the code, by path. */
export async function generatedDocuments(): Promise<Readonly<Record<string, string>>> {
  return {
    'machines/session.md': chartDocument('session', sessionMachine),
    'machines/session.svg': await chartPicture('session', sessionMachine),
    'machines/task.md': chartDocument('task', taskMachine),
    'machines/task.svg': await chartPicture('task', taskMachine),
    'machines/call.md': chartDocument('call', callMachine),
    'machines/call.svg': await chartPicture('call', callMachine),
    'machines/group.md': chartDocument('group', groupMachine),
    'machines/group.svg': await chartPicture('group', groupMachine),
    'src/facts/catalogue.md': catalogueDocument(),
  }
}

export function chartDocument(name: string, machine: AnyStateMachine): string {
  return `# The ${name} chart

Drawn from \`${name}.machine.ts\`; ${anew}
The same as a picture: [${name}.svg](${name}.svg).

An arrow is labelled with the facts that lead along it, the guard in brackets and, after a slash, what the chart asks for.
Inside a state, or in a note beside it, stands what it does without being left. Every transition also folds its fact.

\`\`\`mermaid
${mermaidOf(machine)}\`\`\`
`
}

export async function chartPicture(name: string, machine: AnyStateMachine): Promise<string> {
  return chartSvg(await layoutChart(chartGraph(machine)), { title: `The ${name} chart` })
}

function catalogueDocument(): string {
  const rows = factCatalogue().map(({ type, fields }) => {
    const data = fields.map(({ name, optional }) => `\`${name}${optional ? '?' : ''}\``)
    return `- \`${type}\`${data.length === 0 ? '' : `: ${data.join(' ')}`}`
  })
  return `# Catalogue of facts

Made from the schemas in this folder; ${anew}

Each type with the fields of its \`data\`; what has a question mark may be absent. Types and fields are stored for ever: they
are added to, never renamed.

${rows.join('\n')}
`
}
