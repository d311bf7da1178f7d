import type { BenchCase } from './case.ts'
import { cancelWaiting } from './cases/cancel-waiting.ts'
import { concurrentSessions } from './cases/concurrent-sessions.ts'
import { consoleScrub } from './cases/console-scrub.ts'
import { conversationLength } from './cases/conversation-length.ts'
import { diskBytes } from './cases/disk-bytes.ts'
import { fanOut } from './cases/fan-out.ts'
import { httpSubscribers } from './cases/http-subscribers.ts'
import { idleHeap } from './cases/idle-heap.ts'
import { idleStart } from './cases/idle-start.ts'
import { loopBlock } from './cases/loop-block.ts'
import { readyAfterKill } from './cases/ready-after-kill.ts'
import { replay } from './cases/replay.ts'
import { sandboxStart } from './cases/sandbox-start.ts'
import { sequentialTurn } from './cases/sequential-turn.ts'
import { startUp } from './cases/start-up.ts'

/** Every case, in the order of the table of goals. */
export const cases: readonly BenchCase[] = [
  sequentialTurn,
  conversationLength,
  concurrentSessions,
  diskBytes,
  readyAfterKill,
  idleStart,
  idleHeap,
  replay,
  loopBlock,
  fanOut,
  httpSubscribers,
  consoleScrub,
  cancelWaiting,
  startUp,
  sandboxStart,
]
