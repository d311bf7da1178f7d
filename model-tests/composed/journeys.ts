import type { RigOptions } from '../../test/runtime/kit/rig.ts'
import type { Move } from './driven-session.ts'

/**
 * Shortest paths to what lies too deep for a bounded walk, or needs a host of its own. Each is named by what is found at its end.
 */
export interface Path {
  readonly name: string
  readonly moves: readonly Move[]
  readonly options?: RigOptions
}

const path = (name: string, moves: string, options?: RigOptions): Path => ({
  name,
  moves: moves.split(' '),
  ...(options === undefined ? {} : { options }),
})

const shortTurn: RigOptions = { limits: { turnMs: 5_000 } }

export const paths: readonly Path[] = [
  path('a closed session opens again', 'start followUp close reopen'),
  path('a closed session is erased', 'start close erase'),
  path('a turn whose time is over ends behind a barrier', 'start calls:order wait:5001 wait:11000', shortTurn),
  path('a turn whose time is over ends at once', 'start wait:5001', shortTurn),
  path(
    'two changes are quarantined and acknowledged one by one',
    'start calls:order,order lose:order lose:order acknowledge:one acknowledge',
  ),
  path('a back-off is cut by an interrupt', 'start fail:retry interrupt'),
  path('a back-off is not cut by a steer', 'start fail:retry steer wait:60000'),
  path('a back-off is paused over', 'start fail:retry pause resume:resume wait:60000 final'),
  path('a request fails for good', 'start fail:final'),
  path('a deadline aborts a call', 'start calls:slow wait:1001 wait:11000'),
  path('a lost change is probed in vain', 'start calls:probed lose:probed wait:6000'),
  path('a probe finds that it was done', 'start calls:probed cancel wait:10001 probe:succeeded'),
  path('a probe finds that it failed', 'start calls:probed cancel wait:10001 probe:failed'),
  path('a probe in a barrier runs out of time', 'start calls:probed cancel wait:10001 wait:6000'),
  path('a call returns while it is probed', 'start calls:probed cancel wait:10001 return:probed'),
  path('a call acknowledges while it is probed', 'start calls:probed cancel wait:10001 stop:probed'),
  path(
    'a paused task is steered, and its own pause rejected',
    'start calls:look pause return:look steer resume:reject',
  ),
  path(
    'an approval under an own pause waits for it',
    'start calls:pay pause resumeOldest:approve resume:resume return:pay',
  ),
  path(
    'a rejection under an own pause refuses the call',
    'start calls:pay pause resumeOldest:reject resume:resume final',
  ),
  path('a lost attempt under an own pause is given up by an interrupt', 'start calls:order,note pause crash interrupt'),
  path('a lost attempt under an own pause is given up by a cancel', 'start calls:order,note pause crash cancel'),
  path('a lost attempt in a hold is given up by a cancel', 'start calls:order,note crash cancel'),
  path('an answer of planner tools alone is answered at once', 'start calls:tools_load final'),
  path(
    'a question is asked, answered and asked again',
    'start calls:look,operator_ask return:look resume:resume final',
  ),
  path('a question is withdrawn by an interrupt', 'start calls:operator_ask,tools_load interrupt final'),
  path('a question is turned down', 'start calls:operator_ask crash resume:reject'),
  path('a question ends with a cancel', 'start calls:operator_ask cancel'),
  path('a turn waits for its child', 'start spawn turnCalls:task_await final turnFinal'),
  path('an await is paused over', 'start spawn turnCalls:task_await pause resume:resume final turnFinal'),
  path(
    'an await ends while its task is paused',
    'start spawn turnCalls:task_await pause final resume:resume turnFinal',
  ),
  path('an await is interrupted', 'start spawn turnCalls:task_await interrupt turnFinal'),
  path('an await is cancelled', 'start spawn turnCalls:task_await cancel'),
  path('a paused await is cancelled', 'start spawn turnCalls:task_await pause crash cancel'),
  path(
    'children end beside a turn',
    'start spawn spawn spawn spawn:isolate final fail:final cancelChild turnFinal final',
  ),
  path(
    'children end beside a turn that rests',
    'start spawn spawn turnCalls:operator_ask spawn final fail:final cancelChild',
  ),
  path('a barrier waits for a child', 'start spawn calls:order cancel stop:order'),
  path('children of a replaced turn', 'start spawn calls:look supersede return:look wait:11000 turnFinal'),
  path('a job tells of its progress', 'spawn calls:look progress:look return:look final'),
  path('a job is carried on, and closed', 'spawn calls:order crash acknowledge close'),
  path('a group is sealed and resolves', 'group spawn spawn spawn seal final fail:final cancelChild'),
  path('a group is sealed when all has ended', 'group spawn spawn spawn final fail:final cancelChild seal'),
  path('a group fails fast while it is open', 'group:failFast spawn spawn fail:final seal'),
  path('a group fails fast when it is sealed', 'group:failFast spawn spawn seal fail:final'),
  path('an open group is cancelled', 'group spawn calls:order spawn cancelGroup stop:order'),
  path('a sealed group is cancelled', 'group spawn calls:order seal cancelGroup stop:order'),
  path('an unknown name is refused', 'start calls:nosuch'),
  path(
    'an approved change is held by the quarantine',
    'start calls:order lose:order calls:pay resume:approve acknowledge return:pay',
  ),
  path('a call asks and gets its answer', 'start calls:order ask:order resume:approve return:order final'),
  path('a call that threw before its abort has failed', 'start calls:order throwAndCancel:order'),
  path('a deaf call comes back late', 'start calls:order cancel wait:11000 return:order'),
]
