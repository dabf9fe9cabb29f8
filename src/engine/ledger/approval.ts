/** The error code of a paused run that waits until a person approves what it would write. */
export const AWAITS_CONFIRMATION = 'AWAITS_CONFIRMATION';

/** The error code of a cancelled run that a person did not approve. */
export const NOT_APPROVED = 'NOT_APPROVED';
