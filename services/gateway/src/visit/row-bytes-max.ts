/** A row of results: vectors may be in it. */
export const rowBytesMax = 16 * 1024 * 1024;
