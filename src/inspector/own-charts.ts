import { callMachine } from '../../machines/call.machine.ts'
import { groupMachine } from '../../machines/group.machine.ts'
import { sessionMachine } from '../../machines/session.machine.ts'
import { taskMachine } from '../../machines/task.machine.ts'
import { type ChartStateJson, chartJson } from './chart-json.ts'

/** The charts that decide, by name, as plain data. */
export function ownCharts(): { readonly [name: string]: ChartStateJson } {
  return {
    session: chartJson(sessionMachine),
    task: chartJson(taskMachine),
    call: chartJson(callMachine),
    group: chartJson(groupMachine),
  }
}
