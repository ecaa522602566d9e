/**
 * What proves a thought to the provider that had it. A provider refuses what
 * another one made, so a proof that travels through a caller of another format
 * says whose it is: a word, a colon, the proof. Only Claude's stand as they
 * are, and hold no colon. `sealed-thinking.ts` has the marks that this gateway
 * puts around proofs in the items of Responses.
 */
const marks = {
  /** `encrypted_content` of Responses. */
  response: 'openai:encrypted:',
  /** Gemini's signature of a thought. */
  geminiThought: 'google:thought:',
  /** Gemini's signature of the call that follows the thought. */
  geminiCall: 'google:call:',
  /** Gemini's signature of the text that follows the thought. */
  geminiText: 'google:text:',
  /** Gemini's signature of the text before, which a stream tells when the text is told. */
  geminiTold: 'google:told:',
  /** An entry of `reasoning_details` without its text, as JSON. */
  detail: 'chat:detail:',
} as const;

export type ProofOf = keyof typeof marks;

export function markProof(of: ProofOf, proof: string): string {
  return marks[of] + proof;
}

/** The proof as its provider wrote it; undefined when it is another's. */
export function openProof(of: ProofOf, marked: string | undefined): string | undefined {
  const mark = marks[of];
  return marked?.startsWith(mark) ? marked.slice(mark.length) : undefined;
}

/** Undefined unless Claude wrote it: an empty one proves nothing, a marked one is another's. */
export function proofOfClaude(marked: string | undefined): string | undefined {
  return isClaudes(marked) ? marked : undefined;
}

function isClaudes(marked: string | undefined): boolean {
  return marked !== undefined && marked !== '' && !/^[a-z]+:/.test(marked);
}
