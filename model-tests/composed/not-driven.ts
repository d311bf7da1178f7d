/**
 * States and transitions that no session of the walk goes through, by the end or the whole of their names, with the reason. The
 * test wants every one that is not reached to be in here, and every line of it to be needed.
 */
export const notDriven: readonly (readonly [reason: string, names: RegExp])[] = [
  [
    'children end as cancelled in the step in which a barrier begins, or behind their own',
    /^task\.(cancelling|quiescing) task\.(created|completed|failed|superseded) \[isDescendants\]$/,
  ],
  ['only turns end as superseded', /^task\.(running|paused) task\.superseded \[isDescendants\]$/],
  [
    'a boundary that rests waits for a retry: no child ends just then',
    /^task\.running\.boundary task\.completed \[isDesc/,
  ],
  ['members of a cancelled group end as cancelled', /^group\.cancelled task\.(completed|failed)$/],
  ['summary requests: compaction asks no model', /\[isSummary\]/],
  ['restored sessions', /session\.restored|\[holdsQuarantine\]/],
  ['settings that change: no command does that', /^session settings\.changed$/],
  ['a paused task has nothing in flight that an owner could lose', /^task\.paused run\.resumed$/],
  ['steering is inherited in the step of the start, when nothing is paused', /^task\.paused steering\.inherited$/],
  ['calls are held when they are admitted, and a paused task admits none', /^task\.paused call\.held$/],
  ['every started call is told to stop before the barrier rests', /^task\.quiescing call\.aborting$/],
]
