/** A record that is not fit to be a row; the message says why. */
export class UnfitRecord extends Error {}
