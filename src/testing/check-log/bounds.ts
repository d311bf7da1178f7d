/**
 * The published bounds, written down a second time: a checker that read the product's own limits file would agree with
 * any mistake in it. Hosts may lower them, so these are what no log may pass.
 */
export const bounds = {
  steeringBytes: 256 * 1024,
  pendingSteeringPerTask: 1024,
  queuedPerSession: 256,
  parallelCalls: 16,
  callsPerTurn: 128,
  stepsPerTurn: 64,
  childDepth: 8,
  livingChildrenPerSession: 64,
  factBytes: 64 * 1024,
  messageBytes: 16 * 1024 * 1024,
  factsPerStep: 1024,
  openPausesPerSession: 64,
  idCharacters: 128,
  freeTextCharacters: 200,
} as const
