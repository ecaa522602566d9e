/** Whose word something is: an admin's, who saved it, or the caller's, who sent it along. */
export type Author = 'admin' | 'caller';
