import { expect } from 'vitest'
import type { Script } from '../../../src/models/script.ts'
import { post, type Served } from './served.ts'

export const base = ({ url }: Served) => `${url}/v1/sessions/one`
export const hang: Script = { name: 'hang', everyTurn: [{ hang: true }] }

/** Begins a turn and gives its id. */
export async function begun(on: Served, body: object = {}): Promise<string> {
  const answer = await post(`${base(on)}/tasks`, { action: 'start', input: 'x', ...body })
  expect(answer.status).toBe(201)
  return answer.body.task
}
