import type { Step } from './step.ts'

/** A system text that a command brought: content of the session, under its digest. */
export function sharedSystem(step: Step, system: string): string {
  const digest = step.digest(system)
  step.shared.set(digest, { digest, body: system })
  step.base.bodies.systems.set(digest, system)
  return digest
}
