import { z } from 'zod'
import { count, digest, freeText, idText, nameText, sessionSettings, ulid, ulids, usage } from './atoms.ts'

const because = z.strictObject({ reason: z.exactOptional(freeText) })

const episode = z.strictObject({
  episode: idText,
  kind: z.enum(['exploration', 'action']),
  basedOn: z.exactOptional(z.array(idText)),
  concludedBy: z.exactOptional(ulid),
})

export const sessionSchemas = {
  'session.opened': z.strictObject({
    title: z.exactOptional(freeText),
    settings: sessionSettings,
    restores: z.exactOptional(digest),
  }),
  'session.restored': z.strictObject({
    from: digest,
    turns: count,
    revision: count,
    usage,
    quarantined: ulids,
    warned: z.exactOptional(z.array(count)),
    episodes: z.exactOptional(z.array(episode)),
  }),
  'session.owned': z.strictObject({ owner: idText, epoch: count }),
  'session.closing': z.strictObject({ then: z.enum(['close', 'erase']), reason: z.exactOptional(freeText) }),
  'session.closed': because,
  'session.reopened': because,
  'session.erased': because,
  'settings.changed': z.strictObject({ before: sessionSettings, after: sessionSettings }),
  'command.accepted': z.strictObject({
    command: idText,
    name: nameText,
    body: digest,
    result: z.enum(['applied', 'queued', 'joined', 'too_late']),
    target: z.exactOptional(idText),
    replacement: z.exactOptional(ulid),
    superseded: z.exactOptional(ulid),
  }),
}
