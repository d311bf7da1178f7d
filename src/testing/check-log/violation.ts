/** The invariants of the product that something in facts can contradict; the others need content or a running system. */
export type Invariant =
  | 'INV-01'
  | 'INV-02'
  | 'INV-03'
  | 'INV-04'
  | 'INV-05'
  | 'INV-06'
  | 'INV-07'
  | 'INV-08'
  | 'INV-09'
  | 'INV-10'
  | 'INV-11'
  | 'INV-12'
  | 'INV-13'
  | 'INV-15'
  | 'INV-16'
  | 'INV-17'
  | 'INV-18'
  | 'INV-19'
  | 'INV-20'
  | 'INV-21'
  | 'INV-22'
  | 'INV-23'
  | 'INV-24'

export interface Violation {
  readonly invariant: Invariant
  readonly seq: number
  readonly session: string
  /** Names, counts and states only: a violation can be printed without showing anything of the conversation. */
  readonly message: string
}

export type Report = (invariant: Invariant, seq: number, message: string) => void
