/** When everything happens that is tried out. */
export const sampleTime = '2026-01-01T00:00:00.000Z'
