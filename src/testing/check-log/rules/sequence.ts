import { bounds } from '../bounds.ts'
import type { Judged, Rule } from '../rule.ts'

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** INV-07: `seq` of a session is 1..n without a hole; `cursor` is strictly increasing, in a session in seq order (page 6). */
function order({ view, fact, report }: Judged): void {
  if (fact.seq !== view.lastSeq + 1) report('INV-07', `seq ${fact.seq} follows seq ${view.lastSeq}`)
  if (!(fact.cursor > view.lastCursor)) report('INV-07', `cursor ${fact.cursor} does not follow ${view.lastCursor}`)
  if (!ulid.test(fact.id)) report('INV-07', 'the id is no ULID')
  else if (fact.id <= view.lastId) report('INV-07', 'ids of a session strictly increase')
}

/** INV-09: `session.opened` is always seq 1 (page 6, Catalogue). The control stream belongs to no session and opens none. */
function opening({ view, fact, report }: Judged): void {
  if (view.control) return
  if ((fact.type === 'session.opened') !== (fact.seq === 1)) {
    report('INV-09', `${fact.type} at seq ${fact.seq}: session.opened is seq 1 and nothing else`)
  }
}

/** INV-17: owner epochs never decrease; no fact of an old owner after a new one's first (page 5). The control stream has no owner. */
function ownership({ view, fact, report }: Judged): void {
  const { owner } = fact
  if (view.control) return
  if (view.owner !== null && owner !== null) {
    if (owner.epoch < view.owner.epoch) report('INV-17', `epoch ${owner.epoch} after epoch ${view.owner.epoch}`)
    else if (owner.epoch === view.owner.epoch && owner.id !== view.owner.id) {
      report('INV-17', `two owners have epoch ${owner.epoch}`)
    }
  }
  if (view.owner !== null && view.step.count > 0 && owner?.epoch !== view.owner.epoch) {
    report('INV-17', 'one step has two owners')
  }
  if (fact.type !== 'session.owned') return
  if (fact.data.owner !== owner?.id || fact.data.epoch !== owner.epoch) {
    report('INV-17', 'session.owned does not name the owner that wrote it')
  }
}

/** INV-17: `attempt` counts resumptions of a run (page 1, Vocabulary), so it grows. */
function resumption({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'run.resumed' || task === undefined) return
  if (fact.owner !== null && view.announced !== fact.owner.epoch) {
    report('INV-17', 'a run is resumed by an owner that has not said that it is')
  }
  if (task.state === 'pending') report('INV-17', 'a run that never started is resumed')
  if (fact.data.attempt <= task.attempt) report('INV-17', `attempt ${fact.data.attempt} follows ${task.attempt}`)
}

/**
 * INV-17: `session.owned` and `run.resumed` are written with the first effect of a new owner on what was unfinished (page 3,
 * Recovery). A session with nothing unfinished is not announced, nor is a step without an effect; an await that the old
 * owner began is as it was, so its settling may take the place of a resumption.
 */
function announced({ fact, task, report }: Judged): void {
  if (fact.type !== 'model.requested' && fact.type !== 'call.started') return
  const epoch = fact.owner?.epoch
  if (task === undefined || task.epoch === null || epoch === undefined || task.epoch === epoch) return
  report('INV-17', 'a run goes on under a new owner and is not resumed')
}

/** INV-23: facts a step 1,024 · id strings 128 (page 4, Limits). */
function sizes({ view, fact, report }: Judged): void {
  if (view.step.count >= bounds.factsPerStep) report('INV-23', `more than ${bounds.factsPerStep} facts in a step`)
  for (const id of [fact.tenant, fact.user, fact.session, fact.command ?? '-']) {
    if (id.length === 0 || id.length > bounds.idCharacters) report('INV-23', 'an id is empty or longer than 128')
  }
}

export const sequenceRule: Rule = {
  fact(judged) {
    order(judged)
    opening(judged)
    ownership(judged)
    resumption(judged)
    announced(judged)
    sizes(judged)
  },
}
