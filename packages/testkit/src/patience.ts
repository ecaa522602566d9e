/**
 * When tests give up. What hangs ends here, and nothing is measured by it: on a machine of a third of the
 * usual speed an installation starts in a minute, and an export of ten logs takes as long. Where a time is what
 * a test proves it has a time of its own, and another one to be told from.
 */

/** ms until what is waited for is missed. */
export const waitMs = 100_000;
/** ms of a test, in which several waits stand, and of what stands before and after tests. */
export const testMs = 300_000;
