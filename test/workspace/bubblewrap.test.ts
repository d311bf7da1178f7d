import { afterAll, describe } from 'vitest'
import { containmentContract } from '../contract/containment-contract.ts'
import { hostileContract } from '../contract/hostile-contract.ts'
import { openHarness } from '../contract/kit/sandboxes.ts'
import { sandboxContract } from '../contract/sandbox-contract.ts'

const harness = await openHarness('bubblewrap')

// A machine without it says so when the harness is opened, and fails there under CI.
describe.skipIf(typeof harness === 'string')('the bubblewrap sandbox', { timeout: 60_000 }, () => {
  if (typeof harness === 'string') return
  afterAll(() => harness.dispose())
  sandboxContract(harness)
  containmentContract(harness)
  hostileContract(harness)
})
