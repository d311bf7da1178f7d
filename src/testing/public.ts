/** What users import to test their own embeddings. */

export type { Invariant, Violation } from './check-log/violation.ts'
export {
  type CheckResult,
  checkLog,
  createLogChecker,
  type LogChecker,
  type LogCheckerOptions,
} from './check-log.ts'
export type { StoreInvariant, StoreViolation } from './verify-store/findings.ts'
export type { SessionFilter } from './verify-store/session-list.ts'
export type { KeptHead, SessionVerdict } from './verify-store/verdict.ts'
export { type VerifyOptions, verifyStore } from './verify-store.ts'
