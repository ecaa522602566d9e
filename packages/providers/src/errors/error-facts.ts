/** An upstream's error in the words of the unified envelope. */
export interface ErrorFacts {
  message: string;
  type: string | null;
  param: string | null;
  code: string | null;
}
