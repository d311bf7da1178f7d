import type { AnyStateNode } from 'xstate'
import { childNodes, isMeant } from './chart-edges.ts'

/**
 * Whether a state never lets an event (`null`: an eventless transition) through to the state around it, because it always takes
 * the event itself, or forbids it, which is to take it and do nothing.
 */
export function keeps(node: AnyStateNode, event: string | null): boolean {
  const own = event === null ? (node.always ?? []) : meant(node, event)
  if (own.some(({ guard }) => guard === undefined)) return true
  const inside = childNodes(node).filter(({ type }) => type !== 'history')
  if (inside.length === 0) return false
  // One region that takes an event is enough; eventless transitions are asked for from every region by itself.
  const each = (child: AnyStateNode) => keeps(child, event)
  return node.type === 'parallel' && event !== null ? inside.some(each) : inside.every(each)
}

function meant(node: AnyStateNode, event: string): AnyStateNode['on'][string] {
  return [...node.transitions].flatMap(([descriptor, alternatives]) => (isMeant(descriptor, event) ? alternatives : []))
}
