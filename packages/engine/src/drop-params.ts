/** A parsed path of `drop_params`: names, indexes, or every entry of an array. */
export type DropPath = readonly (string | number | typeof everyEntry)[];

export const everyEntry = Symbol('[*]');
