/** For vi.waitFor and vi.waitUntil: long enough for a machine that does much else; their own second is not. */
export const PATIENT = { timeout: 60_000, interval: 20 };
